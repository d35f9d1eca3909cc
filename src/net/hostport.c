/*  hostport.c - HOST:PORT, where a router can be dialled
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/hostport.h"

#include <ctype.h>
#include <lockkeeper/message.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MAX 65535

static bool
is_host (const char *text, const char *end)
{
    for (const char *at = text; at < end; at++) {
        if (!isalnum ((unsigned char) *at) && !strchr (".-_:[]%", *at)) {
            return false;
        }
    }
    return text < end;
}

static bool
is_port (const char *text)
{
    char *end;
    const long port = strtol (text, &end, 10);
    return isdigit ((unsigned char) *text) && *end == '\0' && port >= 1
           && port <= PORT_MAX;
}

bool
lk_hostport_is_valid (const char *text)
{
    const char *colon = strrchr (text, ':');
    return strlen (text) <= LK_ADDRESS_LEN_MAX && colon != NULL
           && is_host (text, colon) && is_port (colon + 1);
}

bool
lk_hostport_is_open (const char *text)
{
    const char *colon = strrchr (text, ':');
    return strlen (text) <= LK_ADDRESS_LEN_MAX && colon != NULL
           && (is_host (text, colon) || (text[0] == '*' && colon == text + 1))
           && (is_port (colon + 1) || strcmp (colon, ":*") == 0);
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
