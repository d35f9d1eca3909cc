/*  options.c - what a lock service can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { SET_TEXT, SET_TIME, SET_PRIORITY, SET_LEADERS } setting_kind;

typedef struct {
    const char *name; /* as in the config; "-" for "_" on the command line */
    setting_kind kind;
    size_t offset;
    size_t size;      /* TEXT */
    int64_t low;      /* TIME, ms */
    int64_t high;
} setting;

#define TEXT(name, field)                                                      \
    { name, SET_TEXT, offsetof (lk_lockd_options, field),                      \
      sizeof ((lk_lockd_options *) NULL)->field, 0, 0 }
#define TIME(name, field, low, high)                                           \
    { name, SET_TIME, offsetof (lk_lockd_options, field), 0, low, high }

static const setting settings[] = {
    TEXT ("endpoint", endpoint),
    TEXT ("state", state_dir),
    TEXT ("run", run_dir),
    TEXT ("log_level", log_level),
    TIME ("dead_after", dead_after_ms, 300, 60000),
    TIME ("leader_lease", leader_lease_ms, 600, 600000),
    TIME ("host_lease", host_lease_ms, 1900, 3600000),
    TIME ("grace", grace_ms, 0, 86400000),
    { "priority", SET_PRIORITY, 0, 0, 0, 0 },
    { "leaders", SET_LEADERS, 0, 0, 0, 0 },
};

#define SETTING_COUNT (sizeof settings / sizeof settings[0])

void
lk_lockd_options_init (lk_lockd_options *self)
{
    *self = (lk_lockd_options) {
        .endpoint = "ipc:///run/lockkeeper/router",
        .state_dir = "/var/lib/lockkeeper",
        .run_dir = "/run/lockkeeper",
        .log_level = "info",
        .eligible = true,
        .priority = 8,
        .leaders_max = 3,
        .dead_after_ms = 1000,
        .leader_lease_ms = 2000,
        .host_lease_ms = 8000,
        .grace_ms = 60000,
    };
}

/*  "dead-after" is "dead_after". */
static bool
same_name (const char *setting_name, const char *name)
{
    size_t i = 0;
    while (setting_name[i]
           && (setting_name[i] == name[i]
               || (setting_name[i] == '_' && name[i] == '-'))) {
        i++;
    }
    return setting_name[i] == '\0' && name[i] == '\0';
}

static const setting *
find_setting (const char *name)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (same_name (settings[i].name, name)) {
            return &settings[i];
        }
    }
    return NULL;
}

static bool
parse_number (const char *value, int64_t low, int64_t high, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll (value, &end, 10);
    return errno == 0 && end != value && *end == '\0' && *number >= low
           && *number <= high;
}

static bool
set_text (lk_lockd_options *self, const setting *which, const char *value,
          char problem[LK_LOCKD_PROBLEM_SIZE])
{
    if (value[0] == '\0' || strlen (value) >= which->size) {
        snprintf (problem, LK_LOCKD_PROBLEM_SIZE, "'%s' is %s", which->name,
                  value[0] ? "too long" : "empty");
        return false;
    }
    strcpy ((char *) self + which->offset, value);
    return true;
}

static bool
set_time (lk_lockd_options *self, const setting *which, const char *value,
          char problem[LK_LOCKD_PROBLEM_SIZE])
{
    int64_t number;
    if (!parse_number (value, which->low, which->high, &number)) {
        snprintf (problem, LK_LOCKD_PROBLEM_SIZE,
                  "'%s' is '%s', not %" PRId64 "..%" PRId64
                  " milliseconds", which->name, value, which->low,
                  which->high);
        return false;
    }
    memcpy ((char *) self + which->offset, &number, sizeof number);
    return true;
}

static bool
set_priority (lk_lockd_options *self, const char *value,
              char problem[LK_LOCKD_PROBLEM_SIZE])
{
    int64_t number = 1;
    self->eligible = strcmp (value, "off") != 0;
    if (self->eligible && !parse_number (value, 1, 15, &number)) {
        snprintf (problem, LK_LOCKD_PROBLEM_SIZE,
                  "'priority' is '%s', neither 1..15 nor 'off'", value);
        return false;
    }
    self->priority = (uint8_t) number;
    return true;
}

static bool
set_leaders (lk_lockd_options *self, const char *value,
             char problem[LK_LOCKD_PROBLEM_SIZE])
{
    int64_t number;
    if (!parse_number (value, 1, 5, &number) || number % 2 == 0) {
        snprintf (problem, LK_LOCKD_PROBLEM_SIZE,
                  "'leaders' is '%s', not 1, 3 or 5", value);
        return false;
    }
    self->leaders_max = (uint8_t) number;
    return true;
}

bool
lk_lockd_options_set (lk_lockd_options *self, const char *name,
                      const char *value,
                      char problem[LK_LOCKD_PROBLEM_SIZE])
{
    const setting *which = find_setting (name);
    if (!which) {
        snprintf (problem, LK_LOCKD_PROBLEM_SIZE, "there is no '%s'", name);
        return false;
    }
    switch (which->kind) {
    case SET_TEXT:
        return set_text (self, which, value, problem);
    case SET_TIME:
        return set_time (self, which, value, problem);
    case SET_PRIORITY:
        return set_priority (self, value, problem);
    case SET_LEADERS:
        return set_leaders (self, value, problem);
    }
    return false;
}

bool
lk_lockd_options_check (const lk_lockd_options *self,
                        char problem[LK_LOCKD_PROBLEM_SIZE])
{
    if (self->leader_lease_ms < 2 * self->dead_after_ms) {
        snprintf (problem, LK_LOCKD_PROBLEM_SIZE,
                  "'leader_lease' is %" PRId64 ", less than two times "
                  "'dead_after'", self->leader_lease_ms);
        return false;
    }
    if (self->host_lease_ms <= 3 * self->leader_lease_ms) {
        snprintf (problem, LK_LOCKD_PROBLEM_SIZE,
                  "'host_lease' is %" PRId64 ", not more than three times "
                  "'leader_lease'", self->host_lease_ms);
        return false;
    }
    return true;
}
