/*  lock_wire.c - test: the core cannot tell the wire from a copy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The simulator hands the core's messages over as copies, the daemon by way
 *  of the codec. So the same story is played both ways, five hosts with
 *  faults, and must be the same word by word: a field that the core relies on
 *  and the codec does not carry shows here.
 */

#include "lib/corrupt.h"
#include "lib/example.h"
#include "lib/lock_copy.h"
#include "util/alloc.h"
#include "util/rng.h"
#include "wire/message_frame.h"

#include "node.h"

#include "lib/suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 5
#define FLIGHTS_MAX 512
#define OBJECTS 4
#define END_MS 60000
#define DROPPED 15 /* of a thousand messages */

typedef struct {
    int64_t at;
    uint64_t order;
    lk_lock_message message; /* as a copy */
    lk_message *bus;         /* or by the codec */
} flight;

typedef struct {
    lk_node *node; /* NULL: down */
    lk_facts disk;
    lk_hostmap hostmap;
    uint64_t key[OBJECTS];
    uint64_t serial; /* of its application's last request */
} host;

typedef lk_message *writer (const lk_lock_message *message,
                            const lk_hostmap *hostmap, lk_host self);

typedef struct {
    writer *write; /* the codec's; NULL: copies */
    int64_t now;
    lk_rng rng;
    host hosts[HOSTS];
    flight flights[FLIGHTS_MAX];
    size_t flight_count;
    uint64_t orders;
    bool cut[HOSTS][HOSTS]; /* nothing arrives from first to second */
    size_t kinds[LK_MSG_COUNT];
    size_t relayed;
    lk_bytes story;
} world;

static void
tell (world *w, const char *format, ...)
{
    char line[1024];
    va_list values;
    va_start (values, format);
    const int size = vsnprintf (line, sizeof line, format, values);
    va_end (values);
    lk_bytes_add (&w->story, line,
                  (size_t) size < sizeof line ? (size_t) size : sizeof line);
    lk_bytes_add (&w->story, "\n", 1);
}

/*  -------------------------------------------------------- the network */

static lk_message *
encode (const world *w, writer *write, const lk_lock_message *message,
        lk_host from)
{
    char address[LK_ADDRESS_LEN_MAX + 1];
    const lk_hostmap *hostmap = &w->hosts[from].hostmap;
    snprintf (address, sizeof address, "lock@%s",
              lk_hostmap_name (hostmap, from));
    lk_message *bus = write (message, hostmap, from);
    lk_message_set_from (bus, address);
    return bus;
}

static void
send (world *w, const lk_lock_message *message, lk_host from)
{
    lk_message *bus = encode (w, lk_lock_encode, message, from);
    tell (w, "%" PRId64 " %s %s %s %s", w->now, lk_message_from (bus),
          lk_message_to (bus), lk_message_command (bus), lk_message_body (bus));
    w->kinds[message->kind]++;
    w->relayed += message->destination != LK_NOBODY
                  && message->destination != message->to;
    const bool lost = lk_rng_between (&w->rng, 0, 999) < DROPPED;
    const int64_t delay = lk_rng_between (&w->rng, 1, 9);
    if (lost || w->cut[from][message->to] || w->flight_count == FLIGHTS_MAX) {
        lk_message_destroy (&bus);
        return;
    }
    flight *one = &w->flights[w->flight_count++];
    *one = (flight) {.at = w->now + delay, .order = w->orders++};
    lk_message_destroy (&bus);
    if (w->write) {
        one->message.to = message->to;
        one->bus = encode (w, w->write, message, from);
    } else {
        lk_lock_message_copy (&one->message, message);
    }
}

/*  The one that arrives next; NULL if there is none. */
static flight *
next_flight (world *w)
{
    flight *best = NULL;
    for (size_t i = 0; i < w->flight_count; i++) {
        flight *one = &w->flights[i];
        if (!best || one->at < best->at
            || (one->at == best->at && one->order < best->order)) {
            best = one;
        }
    }
    return best;
}

/*  -------------------------------------------------------- hosts */

static void
carry_out (world *w, lk_host self, const lk_effect *effect)
{
    const lk_answer *answer = &effect->answer;
    switch (effect->type) {
    case LK_DO_PERSIST:
        w->hosts[self].disk = effect->facts;
        tell (w, "%d persist %" PRIu64, self, effect->facts.session);
        break;
    case LK_DO_KEEP:
    case LK_DO_RECORD:
        break;
    case LK_DO_SEND:
        send (w, effect->message, self);
        break;
    case LK_DO_TELL:
        tell (w, "%d tell %d %u %" PRIu64 " %d %" PRIx64 " %" PRIx64, self,
              answer->kind, answer->app, answer->serial, answer->error,
              answer->token, answer->key);
        if (answer->kind == LK_ANSWER_LOCKED) {
            w->hosts[self].key[answer->app % OBJECTS] = answer->key;
        }
        break;
    case LK_DO_LEASE:
        tell (w, "%d lease %" PRId64, self, effect->lease_until_ms);
        break;
    case LK_DO_ALERT:
    case LK_DO_TRACE:
        tell (w, "%d trace %s", self, effect->text);
        break;
    case LK_DO_CHANGED:
    case LK_DO_DROPPED:
    case LK_DO_ENDED:
    case LK_DO_STATUS:
        break;
    }
}

static void
step (world *w, lk_host self, lk_event *event)
{
    lk_effects effects;
    if (w->hosts[self].node) {
        event->now_ms = w->now;
        lk_node_step (w->hosts[self].node, event, &effects);
        for (size_t i = 0; i < effects.count; i++) {
            carry_out (w, self, &effects.item[i]);
        }
    }
}

static void
arrive (world *w, flight *one)
{
    const lk_host to = one->message.to;
    lk_lock_message message = one->message;
    lk_message *bus = one->bus;
    w->now = one->at;
    *one = w->flights[--w->flight_count];
    if (bus) {
        const lk_err error =
            lk_lock_decode (bus, &w->hosts[to].hostmap, to, &message);
        ck_assert_msg (error == LK_OK, "not decoded: %s: %s",
                       lk_message_command (bus), lk_message_body (bus));
        lk_message_destroy (&bus);
    }
    lk_event event = {.type = LK_ON_MESSAGE, .message = &message};
    step (w, to, &event);
    lk_lock_message_clear (&message);
}

static void
start (world *w, lk_host self)
{
    lk_node_config config;
    lk_node_config_init (&config);
    config.self = self;
    config.id = lk_hostmap_id (&w->hosts[self].hostmap, self);
    config.member = true;
    config.candidate.random = self;
    config.seed[0] = 1 + self;
    config.facts = w->hosts[self].disk;
    w->hosts[self].node = lk_node_new (&config, w->now);
    for (lk_host to = 0; to < HOSTS; to++) {
        lk_lock_message message = {.kind = LK_MSG_STARTED,
                                   .from = self,
                                   .to = to,
                                   .origin = LK_NOBODY,
                                   .destination = LK_NOBODY};
        message.as.started =
            (lk_msg_started) {.candidate = config.candidate,
                              .eligible = true,
                              .incarnation = config.facts.session + 1,
                              .active = config.facts.active};
        if (to != self) {
            send (w, &message, self);
        }
    }
}

static void
stop (world *w, lk_host self)
{
    lk_node_destroy (&w->hosts[self].node);
    tell (w, "%d ends", self);
    for (lk_host other = 0; other < HOSTS; other++) {
        lk_event event = {.type = LK_ON_HOST_GONE, .host = self};
        if (other != self) {
            step (w, other, &event);
        }
    }
}

/*  -------------------------------------------------------- the story */

/*  Application n of a host is for object n. */
static void
ask (world *w, lk_host self, lk_event_type type, uint32_t app, int64_t wait_ms)
{
    char key[8] = {'\0', '\0', (char) ('a' + app % OBJECTS)};
    lk_event event = {.type = type};
    event.request = (lk_app_request) {.app = app,
                                      .serial = ++w->hosts[self].serial,
                                      .object = {key, 3},
                                      .owner = {"app@h", 5},
                                      .pid = 4711,
                                      .wait_ms = wait_ms};
    if (type == LK_ON_UNLOCK_BY_KEY) {
        const lk_host holder = (lk_host) lk_rng_between (&w->rng, 0, HOSTS - 1);
        event.request.key = w->hosts[holder].key[app % OBJECTS];
        event.request.wait_ms = 1000;
    } else if (type == LK_ON_LOCK && app == 3) {
        event.request.duration_ms = 700;
    }
    step (w, self, &event);
}

static void
act (world *w)
{
    const lk_host self = (lk_host) lk_rng_between (&w->rng, 0, HOSTS - 1);
    const uint32_t app = (uint32_t) lk_rng_between (&w->rng, 0, OBJECTS - 1);
    switch (lk_rng_between (&w->rng, 0, 9)) {
    case 0:
        ask (w, self, LK_ON_UNLOCK_BY_KEY, app, 0);
        break;
    case 1:
    case 2: {
        lk_event event = {.type = LK_ON_APP_GONE, .request = {.app = app}};
        step (w, self, &event);
        break;
    }
    case 3:
        ask (w, self, LK_ON_LOCK, app, 0);
        break;
    case 4:
        ask (w, self, LK_ON_CHECK, app, 1000);
        break;
    default:
        ask (w, self, LK_ON_LOCK, app, -1);
    }
}

static lk_decree
latest_decree (const world *w)
{
    const lk_decree *active = &w->hosts[0].disk.active;
    for (int i = 1; i < HOSTS; i++) {
        if (w->hosts[i].disk.active.term.number > active->term.number) {
            active = &w->hosts[i].disk.active;
        }
    }
    return *active;
}

/*  So many leaders end at once. After all of them did, nobody has the table. */
static void
stop_leaders (world *w, int count)
{
    const lk_decree decree = latest_decree (w);
    for (int i = 0; i < decree.leader_count && i < count; i++) {
        if (w->hosts[decree.leader[i]].node) {
            stop (w, decree.leader[i]);
        }
    }
}

/*  The second leader lags behind the third, which then has to be asked. */
static void
cut_leaders (world *w)
{
    const lk_decree decree = latest_decree (w);
    if (decree.leader_count > 1) {
        w->cut[decree.leader[0]][decree.leader[1]] = true;
    }
}

/*  Every leader hears of it, and so does every other host. */
static void
corrupt_leader (world *w)
{
    const lk_decree decree = latest_decree (w);
    lk_node *node = w->hosts[decree.leader[0]].node;
    if (node) {
        (void) lk_corrupt (node, LK_CORRUPT_CHAIN, 0, 0);
    }
}

static void
start_all (world *w)
{
    memset (w->cut, 0, sizeof w->cut);
    for (lk_host self = 0; self < HOSTS; self++) {
        if (!w->hosts[self].node) {
            start (w, self);
        }
    }
}

/*  What happens at a given time, besides the applications. */
static void
turn (world *w, int64_t tenths)
{
    const int a = (int) lk_rng_between (&w->rng, 0, HOSTS - 1);
    const int b = (int) lk_rng_between (&w->rng, 0, HOSTS - 1);
    switch (tenths) {
    case 60:
    case 400:
        w->cut[a][b] = true;
        break;
    case 115:
    case 315:
        cut_leaders (w);
        break;
    case 120:
    case 260:
    case 320:
        stop_leaders (w, 1);
        break;
    case 200:
        stop_leaders (w, LK_LEADERS_MAX);
        break;
    case 450:
        corrupt_leader (w);
        break;
    case 460:
        stop_leaders (w, 2);
        break;
    case 160:
    case 210:
    case 290:
    case 350:
    case 520:
        start_all (w);
        break;
    default:
        break;
    }
}

static int64_t
next_deadline (const world *w, lk_host *whose)
{
    int64_t first = INT64_MAX;
    for (lk_host self = 0; self < HOSTS; self++) {
        if (w->hosts[self].node
            && lk_node_deadline (w->hosts[self].node) < first) {
            first = lk_node_deadline (w->hosts[self].node);
            *whose = self;
        }
    }
    return first > w->now ? first : w->now;
}

static void
begin (world *w, writer *write, uint64_t seed)
{
    *w = (world) {.write = write, .now = 1000};
    lk_rng_init (&w->rng, seed);
    for (lk_host self = 0; self < HOSTS; self++) {
        for (lk_host other = 0; other < HOSTS; other++) {
            char name[8];
            snprintf (name, sizeof name, "h%d", other);
            lk_hostmap_intern (&w->hosts[self].hostmap, name, 0x1000u + other);
        }
        w->hosts[self].disk.active.members = LK_HOST_BIT (HOSTS) - 1;
    }
    start_all (w);
}

static void
play (world *w)
{
    int64_t beat = w->now;
    while (w->now < END_MS) {
        lk_host whose = 0;
        flight *one = next_flight (w);
        const int64_t deadline = next_deadline (w, &whose);
        if (beat <= deadline && (!one || beat <= one->at)) {
            w->now = beat;
            if (beat % 100 == 0) {
                turn (w, beat / 100);
            }
            act (w);
            beat += 50;
        } else if (one && one->at <= deadline) {
            arrive (w, one);
        } else {
            lk_event event = {.type = LK_ON_TICK};
            w->now = deadline;
            step (w, whose, &event);
        }
    }
}

static void
end (world *w)
{
    for (int i = 0; i < HOSTS; i++) {
        lk_node_destroy (&w->hosts[i].node);
    }
    for (size_t i = 0; i < w->flight_count; i++) {
        lk_message_destroy (&w->flights[i].bus);
        if (!w->write) {
            lk_lock_message_clear (&w->flights[i].message);
        }
    }
    lk_bytes_clear (&w->story);
}

/*  -------------------------------------------------------- the test */

static world copied, coded;

/*  Ends the test with the first line that differs. */
static void
compare (void)
{
    const char *one = copied.story.data, *other = coded.story.data;
    size_t at = 0, line = 0;
    while (at < copied.story.size && at < coded.story.size
           && one[at] == other[at]) {
        at++;
        line = one[at - 1] == '\n' ? at : line;
    }
    ck_assert_msg (at == copied.story.size && at == coded.story.size,
                   "copied: %.*s\ncoded:  %.*s",
                   (int) strcspn (one + line, "\n"), one + line,
                   (int) strcspn (other + line, "\n"), other + line);
}

/*  In either notation. */
START_TEST (same_story)
{
    begin (&copied, NULL, 1 + (uint64_t) _i / 2);
    begin (&coded, _i % 2 ? lk_lock_pack : lk_lock_encode,
           1 + (uint64_t) _i / 2);
    play (&copied);
    play (&coded);
    lk_bytes_add (&copied.story, "", 1);
    lk_bytes_add (&coded.story, "", 1);
    compare ();
    end (&copied);
    end (&coded);
}
END_TEST

/*  Else the story would prove little. */
START_TEST (story_has_all)
{
    size_t kinds[LK_MSG_COUNT] = {0}, relayed = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        begin (&copied, NULL, seed);
        play (&copied);
        for (int kind = 0; kind < LK_MSG_COUNT; kind++) {
            kinds[kind] += copied.kinds[kind];
        }
        relayed += copied.relayed;
        end (&copied);
    }
    for (int kind = 0; kind < LK_MSG_COUNT; kind++) {
        const bool rare = kind == LK_MSG_RERUN || kind == LK_MSG_DESIST
                          || kind == LK_MSG_GETMAX || kind == LK_MSG_MAXTICKET
                          || kind == LK_MSG_WANTING || kind == LK_MSG_SETTINGS;
        ck_assert_msg (kinds[kind] || rare, "no '%s' was sent",
                       lk_lock_kind_name ((lk_lock_kind) kind));
    }
    ck_assert_uint_gt (relayed, 0);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_wire");
    tcase_set_timeout (tests, 60);
    tcase_add_loop_test (tests, same_story, 0, 8);
    tcase_add_test (tests, story_has_all);

    Suite *suite = suite_create ("lock_wire");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
