/*  lanes.c - so many requests under way at any time, by hand on the wire
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/lanes.h"

#include "util/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ANSWER_MS 10000

typedef struct {
    uint64_t serial; /* of its last message; 0: at rest */
    uint64_t lock;   /* of its LOCK */
    uint64_t token;
    int64_t since_ns;
} lane;

typedef struct {
    lk_raw *raw;
    const lk_lanes_options *options;
    lk_lanes_result *result;
    lane *lanes;
    int busy;
    int pid;
} work;

/*  On a machine that is busy the time may be over before there are figures. */
static bool
is_over (const work *self, int64_t now)
{
    const lk_lanes_result *result = self->result;
    const bool has_figures =
        (self->options->is_try ? result->failed : result->ended) > 0;
    return now >= self->options->end_ns && has_figures;
}

static bool
counts (work *self, int64_t now)
{
    const bool does = now >= self->options->start_ns && !is_over (self, now);
    if (does && now > self->result->end_ns) {
        self->result->end_ns = now;
    }
    return does;
}

/*  -------------------------------------------------------- asking */

static uint64_t
next_serial (work *self, const lane *it)
{
    return lk_raw_number (self->raw) << LK_RAW_BITS
           | (uint64_t) (it - self->lanes);
}

static void
ask (work *self, lane *it, int64_t now)
{
    const lk_lanes_options *options = self->options;
    char limit[32] = "";
    if (options->limit > 0) {
        snprintf (limit, sizeof limit, ",\"limit\":%d", options->limit);
    }
    it->serial = it->lock = next_serial (self, it);
    it->since_ns = now;
    lk_raw_say (self->raw, "lock@.", "LOCK", it->serial,
                "{\"object\":\"%s\",\"wait\":%d,\"pid\":%d,\"type\":\"%s\"%s}",
                options->names[it - self->lanes], options->is_try ? 0 : -1,
                self->pid, options->type, limit);
}

static void
give_back (work *self, lane *it, int64_t now)
{
    it->serial = next_serial (self, it);
    it->since_ns = now;
    lk_raw_say (self->raw, "lock@.", "UNLOCK", it->serial, "{\"request\":%llu}",
                (unsigned long long) it->lock);
}

static void
go_on (work *self, lane *it, int64_t now)
{
    if (!is_over (self, now) && !self->options->once) {
        ask (self, it, now);
    } else {
        it->serial = 0;
        self->busy--;
    }
}

/*  -------------------------------------------------------- checking */

static void
guard_enter (lk_lanes_guard *guard, uint64_t token)
{
    if (guard != NULL) {
        if (atomic_fetch_add (&guard->held, 1) != 0) {
            lk_raw_fail ("two hold the lock");
        }
        if (token <= atomic_exchange (&guard->token, token)) {
            lk_raw_fail ("a token that does not grow");
        }
    }
}

static void
guard_leave (lk_lanes_guard *guard)
{
    if (guard != NULL) {
        atomic_fetch_sub (&guard->held, 1);
    }
}

/*  Each lane's tokens grow, whoever else has the name. */
static void
check_token (work *self, lane *it, const lk_frame_header *message)
{
    const uint64_t token =
        strtoull (lk_raw_field (message, "token").data, NULL, 16);
    if (token == 0 || token < it->token) {
        lk_raw_fail ("a wrong token");
    }
    it->token = token;
    guard_enter (self->options->guard, token);
}

static _Noreturn void
fail (const lk_frame_header *message)
{
    lk_raw_fail ("%.*s %.*s", (int) message->command.size,
                 message->command.data, (int) message->body.size,
                 message->body.data);
}

/*  -------------------------------------------------------- answers */

static void
granted (work *self, lane *it, const lk_frame_header *message, int64_t now)
{
    if (self->options->is_try || it->serial != it->lock) {
        fail (message);
    }
    check_token (self, it, message);
    if (counts (self, now)) {
        self->result->granted++;
        lk_samples_add (&self->result->lock, now - it->since_ns);
    }
    guard_leave (self->options->guard);
    give_back (self, it, lk_figures_now_ns ());
}

static void
ended (work *self, lane *it, const lk_frame_header *message, int64_t now)
{
    if (lk_raw_field (message, "error").size > 0) {
        fail (message);
    }
    if (counts (self, now)) {
        self->result->ended++;
        lk_samples_add (&self->result->unlock, now - it->since_ns);
    }
    go_on (self, it, lk_figures_now_ns ());
}

static void
failed (work *self, lane *it, const lk_frame_header *message, int64_t now)
{
    if (!self->options->is_try
        || !lk_slice_is (lk_raw_field (message, "error"), "full")) {
        fail (message);
    }
    if (counts (self, now)) {
        self->result->failed++;
        lk_samples_add (&self->result->lock, now - it->since_ns);
    }
    go_on (self, it, lk_figures_now_ns ());
}

static void
handle (work *self, const lk_frame_header *message, int64_t now)
{
    lane *it = &self->lanes[message->serial & ((1 << LK_RAW_BITS) - 1)];
    self->result->messages += counts (self, now);
    if (it >= self->lanes + self->options->count
        || it->serial != message->serial) {
        return; /* not for a lane */
    }
    if (lk_slice_is (message->command, "LOCKED")) {
        granted (self, it, message, now);
    } else if (lk_slice_is (message->command, "UNLOCKED")) {
        ended (self, it, message, now);
    } else if (lk_slice_is (message->command, "LOCKFAILED")) {
        failed (self, it, message, now);
    } else {
        fail (message);
    }
}

void
lk_lanes_run (lk_raw *raw, const lk_lanes_options *options,
              lk_lanes_result *result)
{
    work self = {.raw = raw,
                 .options = options,
                 .result = result,
                 .busy = options->count,
                 .pid = (int) getpid ()};
    self.lanes = lk_alloc ((size_t) options->count * sizeof *self.lanes);
    result->end_ns = options->end_ns;
    for (int i = 0; i < options->count; i++) {
        ask (&self, &self.lanes[i], lk_figures_now_ns ());
    }
    while (self.busy > 0) {
        const lk_frame_header *message = lk_raw_hear (raw, ANSWER_MS);
        if (message == NULL) {
            lk_raw_fail ("%d requests have no answer", self.busy);
        }
        handle (&self, message, lk_figures_now_ns ());
    }
    lk_free (self.lanes);
}
