/*  far_crowd.c - many sessions of a machine without a router, through faults
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  far_crowd FILE PAIRS [NUMBER]
 *
 *  Of each pair one session holds a lock, and the other one waits for it; the
 *  locks of a crowd with another number are others. Says
 *  "ready" when all do, and then to each line of its input
 *
 *  look    "held N waiting N lost N failed N", with what was lost and why
 *  at HOST     "at HOST N": how many sessions are served by that one
 *  end     nothing, and ends, as it does with its input
 *  pass    the same, when all holders have given back and all others hold
 *
 *  A token that changed, or a waiter that was not next, counts as lost.
 */

#include "lib/sessions.h"
#include "net/clock.h"
#include "util/alloc.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 60000

typedef struct {
    lk_sessions all;
    bool *held;
    uint64_t *token;
    size_t held_count;
    size_t released, lost, failed;
    char prefix[20]; /* of their names */
    bool passes;     /* holders give back: the others may have it */
} crowd;

static void
lose (crowd *self, size_t place, const char *why)
{
    self->lost++;
    printf ("# %zu: %s\n", place, why);
}

static void
on_event (void *user, size_t place, const lk_lock_event *event)
{
    crowd *self = user;
    switch (event->kind) {
    case LK_EVENT_GRANTED:
        self->held[place] = true;
        self->held_count++;
        self->token[place] = lk_lock_token (event->lock);
        if (place % 2 == 1 && !self->passes) {
            lose (self, place, "held while the other one holds");
        }
        break;
    case LK_EVENT_LOST:
        self->held_count--;
        self->held[place] = false;
        lose (self, place, lk_err_text (event->error));
        break;
    case LK_EVENT_FAILED:
        self->failed++;
        printf ("# %zu: %s\n", place, lk_err_text (event->error));
        break;
    case LK_EVENT_RELEASED:
        self->released++;
        break;
    default:
        break;
    }
}

/*  Until so many hold, and so many have given back; false: for too long. */
static bool
await (crowd *self, size_t held, size_t released)
{
    const int64_t until_ms = lk_clock_ms () + PATIENCE_MS;
    while (self->held_count < held || self->released < released) {
        if (lk_clock_ms () >= until_ms) {
            return false;
        }
        lk_sessions_serve (&self->all);
    }
    return true;
}

static void
ask (crowd *self, size_t place)
{
    char name[60];
    lk_sessions_member *member = &self->all.member[place];
    snprintf (name, sizeof name, "crowd/%s%zu", self->prefix, place / 2);
    if (lk_lock_request (member->session, name, strlen (name), NULL,
                         &member->lock)
        != LK_OK) {
        lk_sessions_die ("cannot ask", member->session);
    }
}

static void
ask_all (crowd *self)
{
    const size_t pairs = self->all.count / 2;
    for (size_t i = 0; i < self->all.count; i += 2) {
        ask (self, i);
    }
    if (!await (self, pairs, 0)) {
        puts ("# not all have their locks");
    }
    for (size_t i = 1; i < self->all.count; i += 2) {
        ask (self, i);
    }
}

/*  Its token is the one that it was told first. */
static void
check_tokens (crowd *self)
{
    for (size_t i = 0; i < self->all.count; i++) {
        lk_lock *lock = self->all.member[i].lock;
        if (self->held[i]
            && (!lk_lock_held (lock)
                || lk_lock_token (lock) != self->token[i])) {
            lose (self, i, "not held, or with another token");
        }
    }
}

static void
look (crowd *self)
{
    check_tokens (self);
    const size_t others =
        self->held_count + self->released + self->lost + self->failed;
    printf ("held %zu waiting %td lost %zu failed %zu\n", self->held_count,
            (ptrdiff_t) (self->all.count - others), self->lost, self->failed);
    fflush (stdout);
}

static void
count_at (const crowd *self, const char *host)
{
    size_t count = 0;
    for (size_t i = 0; i < self->all.count; i++) {
        count +=
            strcmp (lk_session_host (self->all.member[i].session), host) == 0;
    }
    printf ("at %s %zu\n", host, count);
    fflush (stdout);
}

static void
pass (crowd *self)
{
    const size_t pairs = self->all.count / 2;
    self->passes = true;
    for (size_t i = 0; i < self->all.count; i += 2) {
        self->held[i] = false;
        self->held_count--;
        (void) lk_lock_release_start (self->all.member[i].lock);
    }
    (void) await (self, pairs, pairs);
    look (self);
}

/*  False: there are no more. */
static bool
obey (crowd *self)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[80];
    if (poll (&input, 1, 0) <= 0) {
        return true;
    }
    if (fgets (line, sizeof line, stdin) == NULL
        || strcmp (line, "end\n") == 0) {
        return false;
    }
    if (strcmp (line, "look\n") == 0) {
        look (self);
    } else if (strcmp (line, "pass\n") == 0) {
        pass (self);
    } else if (strncmp (line, "at ", 3) == 0) {
        line[strcspn (line, "\n")] = '\0';
        count_at (self, line + 3);
    }
    return true;
}

int
main (int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fputs ("usage: far_crowd FILE PAIRS [NUMBER]\n", stderr);
        return 2;
    }
    const size_t count = 2 * strtoul (argv[2], NULL, 10);
    crowd self = {.all = {.event = on_event, .user = &self},
                  .held = lk_alloc (count * sizeof (bool)),
                  .token = lk_alloc (count * sizeof (uint64_t))};
    if (argc == 4) {
        snprintf (self.prefix, sizeof self.prefix, "%s/", argv[3]);
    }
    setvbuf (stdin, NULL, _IONBF, 0);
    lk_sessions_open (&self.all, count, argv[1]);
    ask_all (&self);
    puts ("ready");
    fflush (stdout);
    while (obey (&self)) {
        lk_sessions_serve (&self.all);
    }
    lk_sessions_close (&self.all);
    lk_free (self.held);
    lk_free (self.token);
    return 0;
}
