/*  arbiter.c - two false hosts of each of very many clusters, for one arbiter
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  arbiter STATE COUNT: makes a folder with keys for each cluster in the
 *  arbiter's folder STATE, and says "made". Then it does what its input says:
 *
 *  dial ADDRESS KEY  all hosts connect with the arbiter, by keys of their own,
 *                    and say what hosts do whose cluster is at rest: "linked"
 *                    when the arbiter is a member of each
 *  vote COUNT        has it vote so often, of one cluster after the other:
 *                    "vote P50 P99", in ms
 *  flood COUNT       the same of all but the first, whose first host says
 *                    votes without end meanwhile
 *
 *  With the end of the input it ends.
 */

#include "net/clock.h"
#include "net/listener.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

enum {
    PING_MS = 250,
    TURN_MS = 10,
    AGAIN_MS = 300,
    FLOOD = 200,
    DIALS_MAX = 16,
    OVER_MAX = 5000
};
enum { H1, H2, A1 }; /* in each cluster */
#define PROTOCOL 7

typedef struct cluster cluster;

typedef struct {
    cluster *of;
    lk_host self;
    lk_identity identity;
    lk_curve_pair pair;
    UT_hash_handle hh;
} member;

struct cluster {
    char name[32];
    lk_hostmap hostmap;
    member host[2];
    bool is_linked;
    uint64_t term;
};

typedef struct {
    lk_loop *loop;
    lk_listener *listener;
    lk_reader *input;
    lk_timer turn, again;
    cluster *cluster;
    size_t count, dialled, linked, pinged, over;
    member *by_identity;
    char address[LK_ADDRESS_LEN_MAX + 1], key[LK_CURVE_TEXT_SIZE];

    size_t votes, voted; /* wanted, and had: */
    double *took_ms;
    double asked_ms;
    bool floods;
} bench;

static double
exact_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

/*  -------------------------------------------------------- saying */

static void
say (bench *self, member *from, lk_message **message_p)
{
    lk_bytes bytes = {0};
    lk_part part;
    const lk_err error = lk_message_write (*message_p, &bytes);
    LK_ASSERT (error == LK_OK);
    lk_part_init (&part);
    lk_part_fill (&part, bytes.data, bytes.size);
    (void) lk_listener_send (self->listener, &from->identity, &part);
    lk_part_clear (&part);
    lk_bytes_clear (&bytes);
    lk_message_destroy (message_p);
}

static const char *
name_of (const member *self)
{
    return lk_hostmap_name (&self->of->hostmap, self->self);
}

static void
say_connect (bench *self, member *from)
{
    char address[LK_ADDRESS_LEN_MAX + 1];
    lk_message *message = lk_message_new ("router@.", "CONNECT");
    snprintf (address, sizeof address, "router@%s", name_of (from));
    lk_message_set_from (message, address);
    lk_message_set_text (message, "host", name_of (from));
    lk_message_set_text (message, "address",
                         from->self == H1 ? "10.0.0.1:7411" : "10.0.0.2:7411");
    lk_message_set_text (message, "version", "1");
    lk_message_set_hex (message, "incarnation", 7);
    lk_message_set_flag (message, "privileged", true);
    say (self, from, &message);
}

static lk_lock_message
new_message (const member *from, lk_lock_kind kind)
{
    return (lk_lock_message) {.kind = kind,
                              .from = from->self,
                              .to = A1,
                              .origin = LK_NOBODY,
                              .destination = LK_NOBODY};
}

static void
say_lock (bench *self, member *from, const lk_lock_message *what)
{
    char address[LK_ADDRESS_LEN_MAX + 1];
    lk_message *message =
        what->kind == LK_MSG_STARTED
            ? lk_lock_encode (what, &from->of->hostmap, from->self)
            : lk_lock_pack (what, &from->of->hostmap, from->self);
    snprintf (address, sizeof address, "lock@%s", name_of (from));
    lk_message_set_from (message, address);
    if (what->kind == LK_MSG_STARTED) {
        lk_message_set_number (message, "protocol", PROTOCOL);
        lk_message_set_text (message, "cluster", from->of->name);
        lk_message_set_number (message, "leader_lease", 2000);
        lk_message_set_number (message, "host_lease", 8000);
        lk_message_set_number (message, "packed", LK_PACKED_LEVEL);
        lk_message_add_item (message, "genesis", "h1");
        lk_message_add_item (message, "genesis", "h2");
    }
    say (self, from, &message);
}

/*  h1 and h2 lead, and the arbiter is a member. */
static lk_decree
decree_of (const cluster *self)
{
    return (lk_decree) {
        .term = {self->term, lk_hostmap_id (&self->hostmap, H1)},
        .members = LK_HOST_BIT (H1) | LK_HOST_BIT (H2) | LK_HOST_BIT (A1),
        .leader = {H1, H2},
        .leader_count = 2};
}

static void
say_started (bench *self, member *from)
{
    lk_lock_message message = new_message (from, LK_MSG_STARTED);
    message.as.started.candidate.priority = 8;
    message.as.started.eligible = true;
    message.as.started.incarnation = 1;
    message.as.started.active.members = LK_HOST_BIT (H1) | LK_HOST_BIT (H2);
    say_lock (self, from, &message);
}

static void
say_ping (bench *self, member *from)
{
    lk_lock_message message = new_message (from, LK_MSG_PING);
    lk_msg_ping *ping = &message.as.ping;
    ping->at = lk_clock_ms ();
    ping->incarnation = 1;
    ping->active = ping->table = decree_of (from->of);
    ping->promised = ping->active.term;
    ping->ready = ping->well = ping->eligible = true;
    ping->sees = ping->active.members;
    ping->session = 1;
    say_lock (self, from, &message);
}

static void
say_vote (bench *self, member *from)
{
    lk_lock_message message = new_message (from, LK_MSG_VOTE);
    message.term = decree_of (from->of).term;
    say_lock (self, from, &message);
}

/*  -------------------------------------------------------- votes */

static member *
voter_of (const bench *self)
{
    const size_t first = self->floods ? 1 : 0;
    return &self->cluster[first + self->voted % (self->count - first)].host[H1];
}

/*  As a host does that is not answered. */
static void
ask_again (void *user)
{
    bench *self = user;
    say_vote (self, voter_of (self));
    lk_timer_set (&self->again, lk_clock_ms () + AGAIN_MS);
}

static void
ask (bench *self)
{
    self->asked_ms = exact_ms ();
    voter_of (self)->of->term++;
    ask_again (self);
}

static int
compare (const void *one, const void *other)
{
    const double a = *(const double *) one, b = *(const double *) other;
    return a < b ? -1 : a > b;
}

static void
take_vote (bench *self, const member *to)
{
    if (self->voted == self->votes || to != voter_of (self)) {
        return;
    }
    self->took_ms[self->voted++] = exact_ms () - self->asked_ms;
    lk_timer_clear (&self->again);
    if (self->voted < self->votes) {
        ask (self);
        return;
    }
    qsort (self->took_ms, self->votes, sizeof *self->took_ms, compare);
    printf ("vote %.3f %.3f\n", self->took_ms[self->votes / 2],
            self->took_ms[self->votes * 99 / 100]);
    self->floods = false;
}

static void
begin_votes (bench *self, size_t votes, bool floods)
{
    self->votes = votes;
    self->voted = 0;
    self->floods = floods;
    lk_free (self->took_ms);
    self->took_ms = lk_alloc (votes * sizeof *self->took_ms);
    ask (self);
}

/*  -------------------------------------------------------- hearing */

/*  Its id is known: all others can be told that it is a member. */
static void
take_started (bench *self, member *to, const lk_frame_header *header)
{
    char problem[128];
    uint64_t id;
    cluster *of = to->of;
    lk_message *message = lk_message_read (header, problem, sizeof problem);
    if (message != NULL && lk_message_hex (message, "id", &id) && !of->is_linked
        && lk_hostmap_intern (&of->hostmap, "a1", id) == A1) {
        of->is_linked = true;
        if (++self->linked == self->count) {
            puts ("linked");
        }
    }
    lk_message_destroy (&message);
}

static void
take_message (bench *self, member *to, const lk_frame_header *header)
{
    if (lk_slice_is (header->command, "ACCEPT")) {
        say_started (self, to);
    } else if (lk_slice_is (header->command, "LOCKSTARTED")) {
        take_started (self, to, header);
    } else if (lk_slice_is (header->command, "VOTE")) {
        take_vote (self, to);
    }
}

static void
take_frame (void *user, const lk_identity *from, lk_part *frame)
{
    bench *self = user;
    lk_frame_header header;
    const char *why;
    size_t at = 0;
    member *to;
    HASH_FIND (hh, self->by_identity, from, sizeof *from, to);
    while (to != NULL
           && lk_frame_next (lk_part_data (frame), lk_part_size (frame), &at,
                             &header, &why)
                  == LK_FRAME_MESSAGE) {
        take_message (self, to, &header);
    }
}

static void
take_up (void *user, const lk_identity *to)
{
    bench *self = user;
    member *it;
    HASH_FIND (hh, self->by_identity, to, sizeof *to, it);
    if (it != NULL) {
        say_connect (self, it);
    }
}

static void
dial (bench *self, member *it)
{
    lk_curve_calls ways = {.call = NULL};
    lk_curve_call call = {.own = it->pair};
    memcpy (call.server_key, self->key, sizeof self->key);
    lk_curve_calls_add (&ways, &call);
    lk_listener_dial (self->listener, self->address, &ways, &it->identity);
    lk_curve_calls_clear (&ways);
    HASH_ADD (hh, self->by_identity, identity, sizeof it->identity, it);
}

/*  It comes again, as a host does. */
static void
take_over (void *user, const lk_identity *from, const lk_problem *problem)
{
    bench *self = user;
    member *it;
    HASH_FIND (hh, self->by_identity, from, sizeof *from, it);
    if (it == NULL || ++self->over > OVER_MAX) {
        fprintf (stderr, "arbiter: too many connections are over: %s\n",
                 problem != NULL ? problem->text : "closed");
        exit (1);
    }
    HASH_DEL (self->by_identity, it);
    dial (self, it);
}

/*  All are pinged in PING_MS, some in each turn. They come one by one, as each
 *  costs the arbiter some writes. */
static void
have_turn (void *user)
{
    bench *self = user;
    const size_t all = 2 * self->count;
    while (self->dialled < all
           && self->dialled < 2 * self->linked + DIALS_MAX) {
        dial (self, &self->cluster[self->dialled / 2].host[self->dialled % 2]);
        self->dialled++;
    }
    for (size_t i = 0; i < (all * TURN_MS + PING_MS - 1) / PING_MS; i++) {
        cluster *of = &self->cluster[self->pinged / 2];
        if (of->is_linked) {
            say_ping (self, &of->host[self->pinged % 2]);
        }
        self->pinged = (self->pinged + 1) % all;
    }
    for (size_t i = 0; self->floods && i < FLOOD; i++) {
        self->cluster[0].term++;
        say_vote (self, &self->cluster[0].host[H1]);
    }
    lk_timer_set (&self->turn, lk_clock_ms () + TURN_MS);
}

/*  -------------------------------------------------------- begin */

static void
make_cluster (cluster *self, const char *state, size_t number)
{
    char path[256];
    snprintf (self->name, sizeof self->name, "c%zu", number);
    snprintf (path, sizeof path, "%s/%s", state, self->name);
    LK_ASSERT (mkdir (path, 0700) == 0);
    snprintf (path, sizeof path, "%s/%s/keys", state, self->name);
    FILE *file = fopen (path, "w");
    LK_ASSERT (file != NULL && chmod (path, 0600) == 0);
    lk_hostmap_init (&self->hostmap);
    for (lk_host i = H1; i <= H2; i++) {
        member *it = &self->host[i];
        const char *name = i == H1 ? "h1" : "h2";
        it->of = self;
        it->self = lk_hostmap_intern (&self->hostmap, name, 0x10 + i);
        lk_curve_make (&it->pair);
        fprintf (file, "accepted\n    host = \"%s\"\n    public-key = \"%s\"\n",
                 name, it->pair.public_key);
    }
    (void) lk_hostmap_intern (&self->hostmap, "a1", 0); /* not known yet */
    self->term = 5;
    LK_ASSERT (fclose (file) == 0);
}

static void
take_line (void *user)
{
    bench *self = user;
    char line[256];
    size_t count;
    if (fgets (line, sizeof line, stdin) == NULL) {
        lk_loop_stop (self->loop, 0);
    } else if (sscanf (line, "dial %127s %40s", self->address, self->key)
               == 2) {
        have_turn (self);
    } else if (sscanf (line, "vote %zu", &count) == 1) {
        begin_votes (self, count, false);
    } else if (sscanf (line, "flood %zu", &count) == 1) {
        begin_votes (self, count, true);
    }
}

int
main (int argc, char **argv)
{
    static const lk_listener_calls calls = {
        .frame = take_frame, .up = take_up, .over = take_over};
    bench self = {.loop = lk_loop_new ()};
    self.count = argc == 3 ? (size_t) strtoul (argv[2], NULL, 10) : 0;
    if (self.count == 0) {
        fprintf (stderr, "usage: arbiter STATE COUNT\n");
        return 2;
    }
    setvbuf (stdout, NULL, _IOLBF, 0);
    setvbuf (stdin, NULL, _IONBF, 0); /* the loop looks at the descriptor */
    self.cluster = lk_alloc (self.count * sizeof *self.cluster);
    for (size_t i = 0; i < self.count; i++) {
        make_cluster (&self.cluster[i], argv[1], i);
    }
    puts ("made");
    self.listener = lk_listener_new (self.loop, &calls, &self);
    lk_timer_init (&self.turn, self.loop, have_turn, &self);
    lk_timer_init (&self.again, self.loop, ask_again, &self);
    self.input = lk_loop_add_fd (self.loop, STDIN_FILENO, take_line, &self);
    (void) lk_loop_run (self.loop);
    HASH_CLEAR (hh, self.by_identity);
    lk_loop_remove (self.loop, &self.input);
    lk_timer_clear (&self.turn);
    lk_timer_clear (&self.again);
    lk_listener_destroy (&self.listener, 0);
    lk_loop_destroy (&self.loop);
    lk_free (self.took_ms);
    lk_free (self.cluster);
    return 0;
}
