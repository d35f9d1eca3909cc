/*  await.c - waits until a sandbox serves locks, or says why not
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/sandbox/sandbox.h"
#include "net/clock.h"

#include <stdio.h>

#define READY_MS 20000
#define ASK_MS 1000
#define PAUSE_MS 30
#define TAIL_LINES 8
#define LINE_SIZE 512

/*  -------------------------------------------------------- complaints */

static void
show_tail (const char *path)
{
    char line[TAIL_LINES][LINE_SIZE];
    size_t count = 0;
    FILE *file = fopen (path, "re");
    if (file == NULL) {
        return;
    }
    while (fgets (line[count % TAIL_LINES], LINE_SIZE, file) != NULL) {
        count++;
    }
    fclose (file);
    fprintf (stderr, "  the end of %s:\n", path);
    for (size_t i = count > TAIL_LINES ? count - TAIL_LINES : 0; i < count;
         i++) {
        fprintf (stderr, "    %s", line[i % TAIL_LINES]);
    }
}

static void
log_path (const lk_sandbox *self, size_t host, lk_daemon daemon, char *path,
          size_t size)
{
    snprintf (path, size, "%s/%s/%s.log", self->dir, self->host[host].name,
              lk_daemon_name (daemon));
}

static void
show_logs (const lk_sandbox *self)
{
    char path[LK_SANDBOX_PATH_MAX + 32];
    for (size_t i = 0; i < self->count; i++) {
        for (lk_daemon it = 0;
             it < LK_DAEMON_COUNT && lk_sandbox_has (self, it); it++) {
            log_path (self, i, it, path, sizeof path);
            show_tail (path);
        }
    }
}

static void
say_missing (const lk_sandbox *self, size_t host, const lk_message *answer)
{
    const char *reason =
        answer == NULL ? NULL : lk_message_text (answer, "reason");
    lk_cli_fail (0, "%s does not get ready within %d s: %s",
                 self->host[host].name, READY_MS / 1000,
                 answer == NULL   ? "no answer from its router"
                 : reason != NULL ? reason
                                  : "no reason told");
    show_logs (self);
}

/*  The first daemon that ended by itself, and what it said last. */
static void
say_ended (const lk_sandbox *self)
{
    char path[LK_SANDBOX_PATH_MAX + 32];
    for (size_t i = 0; i < self->count; i++) {
        for (lk_daemon it = 0; it < LK_DAEMON_COUNT; it++) {
            if (self->host[i].ended[it] != 0) {
                lk_cli_fail (0, "the %s of %s does not run: code %d",
                             lk_daemon_name (it), self->host[i].name,
                             self->host[i].ended[it]);
                log_path (self, i, it, path, sizeof path);
                show_tail (path);
                return;
            }
        }
    }
}

/*  -------------------------------------------------------- waiting */

/*  False: something ended it, be it a daemon's death or a signal. */
static bool
still_good (lk_sandbox *self, int pause_ms)
{
    while (lk_watch_next (&self->watch, pause_ms) == LK_SAW_SIGNAL) {
        if (lk_watch_is_end (self->watch.signal)) {
            self->interrupted = self->watch.signal;
            return false;
        }
        pause_ms = 0;
    }
    self->quiet = true;
    const size_t ended = lk_sandbox_reap (self);
    self->quiet = false;
    if (ended > 0) {
        say_ended (self);
        return false;
    }
    return true;
}

static lk_requester *
attach (lk_sandbox *self, size_t host, int64_t until_ms)
{
    char endpoint[LK_SANDBOX_PATH_MAX + 32];
    lk_sandbox_endpoint (self, host, endpoint, sizeof endpoint);
    lk_requester *asker = NULL;
    while (asker == NULL && lk_clock_ms () < until_ms && still_good (self, 0)) {
        asker = lk_requester_new (endpoint, ASK_MS, NULL);
    }
    return asker;
}

/*  True as soon as the host's lock service says LOCKREADY. */
static bool
await_ready (lk_sandbox *self, size_t host, lk_requester *asker,
             int64_t until_ms)
{
    lk_message *answer = NULL;
    bool ready = false, good = true;
    do {
        lk_message_destroy (&answer);
        lk_message *question = lk_message_new ("lock@.", "LOCKSTATUS");
        answer = lk_requester_ask (asker, &question, ASK_MS);
        ready = answer != NULL && lk_message_is (answer, "LOCKREADY");
    } while (!ready && lk_clock_ms () < until_ms
             && (good = still_good (self, PAUSE_MS)));
    if (!ready && good) {
        say_missing (self, host, answer);
    }
    lk_message_destroy (&answer);
    return ready;
}

bool
lk_sandbox_await (lk_sandbox *self)
{
    int64_t until_ms = lk_clock_ms () + READY_MS;
    bool ready = true;
    for (size_t i = 0; ready && i < self->count; i++) {
        lk_requester *asker = attach (self, i, until_ms);
        if (asker != NULL) {
            ready = await_ready (self, i, asker, until_ms);
        } else {
            ready = false;
            if (lk_clock_ms () >= until_ms) {
                say_missing (self, i, NULL);
            }
        }
        lk_requester_destroy (&asker);
    }
    return ready && self->interrupted == 0;
}
