/*  hostport.c - HOST:PORT, where a router can be dialled
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "hostport.h"

#include <ctype.h>
#include <lockkeeper/message.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MAX 65535

bool
lk_hostport_is_valid (const char *text)
{
    const char *colon = strrchr (text, ':');
    if (strlen (text) > LK_ADDRESS_LEN_MAX || colon == NULL || colon == text) {
        return false;
    }
    for (const char *at = text; at < colon; at++) {
        if (!isalnum ((unsigned char) *at) && !strchr (".-_:[]%", *at)) {
            return false;
        }
    }
    char *end;
    const long port = strtol (colon + 1, &end, 10);
    return isdigit ((unsigned char) colon[1]) && *end == '\0' && port >= 1
           && port <= PORT_MAX;
}

bool
lk_hostport_has_name (const char *text)
{
    const char *colon = strrchr (text, ':');
    return text[0] != '['
           && strspn (text, "0123456789.") != (size_t) (colon - text);
}

bool
lk_hostport_is_wildcard (const char *text)
{
    static const char *const wildcards[] = {"*:", "0.0.0.0:", "[::]:"};
    for (size_t i = 0; i < sizeof wildcards / sizeof wildcards[0]; i++) {
        if (strncmp (text, wildcards[i], strlen (wildcards[i])) == 0) {
            return true;
        }
    }
    return false;
}
