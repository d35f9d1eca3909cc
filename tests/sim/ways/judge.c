/*  judge.c - whether what is heard is what was said, and ends were told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A stream is what one process of a host says to one of another: each message
 *  is heard once, in order, and as it was said; or it was reported back, or the
 *  end of the other host was told in between to one of the two.
 */

#include "ways.h"

#include "util/alloc.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned ends; /* of the receiver, that were told to the sender then */
    bool is_heard, is_reported;
} saying;

struct stream {
    unsigned boot;
    int speaker, to;
    saying *said; /* from number 1 on */
    uint64_t count, room;
    unsigned ends;

    /*  The last that was heard: number, by which process, and how many ends of
     *  its sender that one had been told. */
    uint64_t last;
    unsigned last_boot, last_ends;
    stream *next;
};

void
judge_wrong (world *self, const char *format, ...)
{
    va_list rest;
    if (self->wrong[0] == '\0') {
        va_start (rest, format);
        vsnprintf (self->wrong, sizeof self->wrong, format, rest);
        va_end (rest);
        world_trace (self, "WRONG: %s", self->wrong);
    }
}

/*  -------------------------------------------------------- messages */

static stream *
find_stream (host *from, unsigned boot, int speaker, int to)
{
    stream *one = from->streams;
    while (one != NULL
           && (one->boot != boot || one->speaker != speaker || one->to != to)) {
        one = one->next;
    }
    return one;
}

uint64_t
judge_said (host *from, int speaker, host *to)
{
    stream *one = find_stream (from, from->boot, speaker, to->index);
    if (one == NULL) {
        one = lk_alloc (sizeof *one);
        one->boot = from->boot;
        one->speaker = speaker;
        one->to = to->index;
        one->ends = from->ends[to->index];
        one->next = from->streams;
        from->streams = one;
    }
    if (one->count == one->room) {
        one->room = 2 * one->room + 64;
        one->said = lk_realloc (one->said, one->room * sizeof *one->said);
    }
    one->said[one->count++] = (saying) {.ends = one->ends};
    from->world->said++;
    return one->count;
}

void
judge_reported (host *at, int speaker, uint64_t number, host *to)
{
    stream *one = find_stream (at, at->boot, speaker, to->index);
    at->world->reported++;
    if (one == NULL || number == 0 || number > one->count) {
        judge_wrong (at->world, "%s was reported %llu, which it never said",
                     at->name, (unsigned long long) number);
    } else if (one->said[number - 1].is_heard) {
        judge_wrong (at->world,
                     "%s was reported %llu to %s, which was heard there",
                     at->name, (unsigned long long) number, to->name);
    } else {
        one->said[number - 1].is_reported = true;
    }
}

/*  Whether there is a reason that this number was not heard ahead of a later
 *  one. */
static bool
is_excused (const stream *one, uint64_t number, const host *at,
            const host *from)
{
    const saying *missed = &one->said[number - 1];
    return missed->is_reported || missed->ends != one->ends
           || one->last_boot != at->boot
           || one->last_ends != at->ends[from->index];
}

static void
take_number (host *at, host *from, stream *one, uint64_t number)
{
    if (one->said[number - 1].is_heard || number <= one->last) {
        judge_wrong (at->world, "%s heard %llu of %s (%u, %d) after %llu",
                     at->name, (unsigned long long) number, from->name,
                     one->boot, one->speaker, (unsigned long long) one->last);
        return;
    }
    if (one->said[number - 1].is_reported) {
        judge_wrong (at->world, "%s heard %llu of %s, which was reported",
                     at->name, (unsigned long long) number, from->name);
    }
    for (uint64_t missed = one->last + 1; missed < number; missed++) {
        if (!is_excused (one, missed, at, from)) {
            judge_wrong (at->world,
                         "%s heard %llu of %s (%u, %d), and not %llu", at->name,
                         (unsigned long long) number, from->name, one->boot,
                         one->speaker, (unsigned long long) missed);
            return;
        }
    }
    one->said[number - 1].is_heard = true;
    one->last = number;
    one->last_boot = at->boot;
    one->last_ends = at->ends[from->index];
    at->world->heard++;
}

void
judge_heard (host *at, int speaker, const lk_frame_header *header)
{
    world *self = at->world;
    char name[LK_HOST_LEN_MAX + 1], body[256];
    unsigned boot = 0;
    lk_slice_keep (header->from_parts.host, name, sizeof name);
    host *from = host_find (self, name);
    const uint64_t number = header->serial & 0xffffffffffffu;
    const size_t size =
        header->body.size < sizeof body ? header->body.size : sizeof body - 1;
    lk_slice_keep ((lk_slice) {header->body.data, size}, body, sizeof body);
    stream *one = NULL;
    if (from != NULL && sscanf (body, "{\"boot\":%u,", &boot) == 1) {
        one = find_stream (from, boot, speaker, at->index);
    }
    if (one == NULL || number == 0 || number > one->count
        || strstr (body, MARKER "\"}") == NULL) {
        judge_wrong (self, "%s heard %llu of %s, which nobody said: %s",
                     at->name, (unsigned long long) number, name, body);
    } else if (header->privileged != (speaker == SERVICE)) {
        judge_wrong (self, "%s heard %llu of %s with another privilege",
                     at->name, (unsigned long long) number, name);
    } else {
        take_number (at, from, one, number);
    }
}

/*  -------------------------------------------------------- ends */

/*  Whether packets have come through, both ways and at once, for so long. */
static bool
is_whole (const world *self, const host *one, const host *other, int64_t ms)
{
    return host_is_awake (one) && host_is_awake (other)
           && !self->cut[one->index][other->index]
           && !self->cut[other->index][one->index]
           && self->whole_us[one->index][other->index] + ms * MS
                  <= self->now_us;
}

/*  A process has lost an end: all that it said before may be lost, too. */
static void
note_end (host *at, host *other)
{
    at->ends[other->index]++;
    for (stream *one = at->streams; one != NULL; one = one->next) {
        if (one->boot == at->boot && one->to == other->index) {
            one->ends++;
        }
    }
}

#define STEADY_MS (3 * DEAD_AFTER_MS)

/*  A link that is reset is dialled at once, and goes on; if it is reset again
 *  while that is under way it may be given up. */
static bool
was_reset_twice (const world *self, const host *one, const host *other)
{
    const int low = one->index < other->index ? one->index : other->index;
    const int high = one->index < other->index ? other->index : one->index;
    return self->now_us - self->reset_us[low][high] < STEADY_MS * MS
           && self->reset_us[low][high] > 0;
}

void
judge_event (host *at, const char *command, host *other)
{
    world *self = at->world;
    const bool is_here = strcmp (command, "NEWREMOTECONNECTION") == 0;
    world_trace (self, "%s is told %s %s", at->name, command, other->name);
    if (at->lives[other->index] == is_here) {
        judge_wrong (self, "%s was told %s %s twice", at->name, command,
                     other->name);
    }
    at->lives[other->index] = is_here;
    at->lives_us[other->index] = self->now_us;
    if (!is_here) {
        self->hung_up++;
        note_end (at, other);
        if (is_whole (self, at, other, STEADY_MS)
            && !was_reset_twice (self, at, other)) {
            judge_wrong (self, "%s was told %s %s, whom it could reach",
                         at->name, command, other->name);
        }
    }
}

/*  -------------------------------------------------------- at any time */

#define LATE_MS 2800 /* to tell an end: both directions, by a slow clock */

/*  Since when that host could not be heard, or it not hear us, by whatever. */
static bool
is_lost_for (const world *self, const host *at, const host *other, int64_t ms)
{
    return self->lost_us[at->index][other->index] + ms * MS <= self->now_us;
}

static void
look_at (world *self, host *at, host *other)
{
    int64_t *lost_us = &self->lost_us[at->index][other->index];
    if (!host_is_awake (at) || is_whole (self, at, other, 0)) {
        *lost_us = self->now_us;
    } else if (at->lives[other->index]
               && is_lost_for (self, at, other, LATE_MS)) {
        judge_wrong (self, "%s was not told that %s is out of reach", at->name,
                     other->name);
    }
}

void
judge_look (world *self)
{
    for (int i = 0; i < self->count; i++) {
        for (int k = 0; k < self->count; k++) {
            if (i != k) {
                look_at (self, &self->host[i], &self->host[k]);
            }
        }
    }
}

/*  -------------------------------------------------------- at the end */

/*  All that was sent was heard, and that was told. */
static void
look_at_channels (world *self, host *at)
{
    for (size_t i = 0; i < at->router.mesh.count; i++) {
        const lk_mesh_link *link = at->router.mesh.link[i];
        if (link->channel.kept.count > 0 || link->channel.out.box.count > 0) {
            judge_wrong (self,
                         "%s keeps %zu frames for %s in the calm, and %zu wait",
                         at->name, link->channel.kept.count, link->host,
                         link->channel.out.box.count);
        }
    }
}

void
judge_calm (world *self)
{
    for (int i = 0; i < self->count; i++) {
        host *at = &self->host[i];
        look_at_channels (self, at);
        for (int k = 0; k < self->count; k++) {
            if (i != k && !at->lives[k]) {
                judge_wrong (self, "%s and %s are not linked in the calm",
                             at->name, self->host[k].name);
            }
        }
        for (const stream *one = at->streams; one != NULL; one = one->next) {
            if (one->boot == at->boot && !one->said[one->count - 1].is_heard) {
                judge_wrong (self, "%s never heard %llu of %s in the calm",
                             self->host[one->to].name,
                             (unsigned long long) one->count, at->name);
            }
        }
    }
}

void
judge_clear (host *self)
{
    memset (self->lives, 0, sizeof self->lives);
    memset (self->ends, 0, sizeof self->ends);
}

void
judge_end (host *self)
{
    while (self->streams != NULL) {
        stream *one = self->streams;
        self->streams = one->next;
        lk_free (one->said);
        lk_free (one);
    }
}
