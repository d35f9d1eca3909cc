/*  config.c - the configuration of a sandbox's daemons
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  DIR/HOST/lockkeeper.conf, from what --set says; which keys there are is for
 *  the daemons to know. The rest of what makes a host what it is they get as
 *  options.
 */

#include "cli/cli.h"
#include "cli/sandbox/sandbox.h"

#include <stdio.h>
#include <string.h>

static const char *const sections[] = {"router", "local", "lock"};

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
write_own (const lk_sandbox *self, size_t host, FILE *file, const char *section)
{
    const char *name = self->host[host].name;
    fprintf (file, "%s\n", section);
    if (strcmp (section, "local") == 0) {
        return;
    }
    if (strcmp (section, "lock") == 0) {
        fprintf (file, "    state = \"%s/%s\"\n", self->dir, name);
        fprintf (file, "    run = \"%s/%s\"\n", self->dir, name);
        return;
    }
    fprintf (file, "    clients-keys = \"%s/%s/clients-keys\"\n", self->dir,
             name);
    if (self->hosted) {
        fprintf (file, "    plugin = lock\n");
    }
    if (!self->plain) {
        fprintf (file, "    security = curve\n    keys = \"%s/%s/keys\"\n",
                 self->dir, name);
    }
}

static void
write_settings (FILE *file, const char *section, char *const *settings)
{
    for (; *settings != NULL; settings++) {
        const char *key = key_of (*settings, section);
        if (key != NULL) {
            int size = (int) strcspn (key, "=");
            fprintf (file, "    %.*s = \"%s\"\n", size, key, key + size + 1);
        }
    }
}

static bool
write_host (const lk_sandbox *self, size_t host, char *const *settings)
{
    char path[LK_SANDBOX_PATH_MAX + 48];
    snprintf (path, sizeof path, "%s/%s/lockkeeper.conf", self->dir,
              self->host[host].name);
    FILE *file = fopen (path, "we");
    if (file == NULL) {
        lk_cli_fail (0, "cannot write '%s': %m", path);
        return false;
    }
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        write_own (self, host, file, sections[i]);
        write_settings (file, sections[i], settings);
    }
    if (fclose (file) != 0) {
        lk_cli_fail (0, "cannot write '%s': %m", path);
        return false;
    }
    return true;
}

bool
lk_sandbox_write_config (const lk_sandbox *self, char *const *settings)
{
    for (size_t i = 0; settings[i] != NULL; i++) {
        if (!is_setting (settings[i])) {
            lk_cli_fail (0,
                         "--set needs KEY=VALUE, with a key as in "
                         "lockkeeper.conf(5) like lock/host-lease, not '%s'",
                         settings[i]);
            return false;
        }
    }
    for (size_t i = 0; i < self->count; i++) {
        if (!write_host (self, i, settings)) {
            return false;
        }
    }
    return true;
}
