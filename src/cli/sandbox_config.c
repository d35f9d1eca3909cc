/*  sandbox_config.c - the configuration that a sandbox's daemons share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  DIR/lockkeeper.conf, from what --set says; which keys there are is for the
 *  daemons to know. What makes a host what it is they get as options.
 */

#include "cli/cli.h"
#include "cli/sandbox.h"

#include <stdio.h>
#include <string.h>

static const char *const sections[] = {"router", "lock"};

#define SECTION_COUNT (sizeof sections / sizeof sections[0])

/*  "KEY=VALUE" of a setting "SECTION/KEY=VALUE"; NULL: of no such section. */
static const char *
key_of (const char *setting, const char *section)
{
    size_t size = strlen (section);
    return strncmp (setting, section, size) == 0 && setting[size] == '/'
               ? setting + size + 1
               : NULL;
}

static bool
is_setting (const char *setting)
{
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const char *key = key_of (setting, sections[i]);
        if (key != NULL && strchr (key, '=') != NULL) {
            return strpbrk (key, "\"\n") == NULL;
        }
    }
    return false;
}

static void
write_section (FILE *file, const char *section, char *const *settings)
{
    fprintf (file, "%s\n", section);
    for (; *settings != NULL; settings++) {
        const char *key = key_of (*settings, section);
        if (key != NULL) {
            int size = (int) strcspn (key, "=");
            fprintf (file, "    %.*s = \"%s\"\n", size, key, key + size + 1);
        }
    }
}

bool
lk_sandbox_write_config (const lk_sandbox *self, char *const *settings)
{
    char path[LK_SANDBOX_PATH_MAX + 32];
    for (size_t i = 0; settings[i] != NULL; i++) {
        if (!is_setting (settings[i])) {
            lk_cli_fail (0,
                         "--set needs KEY=VALUE, with a key as in "
                         "lockkeeper.conf(5) like lock/host-lease, not '%s'",
                         settings[i]);
            return false;
        }
    }
    snprintf (path, sizeof path, "%s/lockkeeper.conf", self->dir);
    FILE *file = fopen (path, "we");
    if (file == NULL) {
        lk_cli_fail (0, "cannot write '%s': %m", path);
        return false;
    }
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        write_section (file, sections[i], settings);
    }
    if (fclose (file) != 0) {
        lk_cli_fail (0, "cannot write '%s': %m", path);
        return false;
    }
    return true;
}
