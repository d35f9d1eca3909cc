/*  small.h - a small cluster: whole cores in one process, one seed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For tests of what a user is promised: the world of world.h with one clock.
 *  Nothing here knows what should happen: a test asks as applications do, lets
 *  things come to rest and looks at what was told. What was said arrives in
 *  the order of each link; which link goes first is left to chance, and with
 *  `delay_ms` the time it takes, too.
 */

#ifndef LK_SMALL_H
#define LK_SMALL_H

#include "lib/world.h"
#include "util/rng.h"

#define LK_SMALL_HOSTS_MAX 6

/*  What an application was told; names are copies. */
typedef struct {
    lk_host host;
    int64_t at_ms;
    lk_answer answer;
} lk_small_told;

typedef struct {
    uint32_t letter;
    int64_t at_ms;
} lk_small_flight;

typedef struct {
    size_t hosts;
    uint8_t leaders; /* 1, 3, 5; 0: 3 */
    uint64_t seed;
    int64_t delay_ms;      /* a message takes 0..delay_ms */
    int64_t host_lease_ms; /* 0: 8000 */
    int64_t grace_ms;      /* 0: 60000 */
    int64_t digest_ms;     /* 0: as usual, -1: none */
    lk_journal_mode journal;
} lk_small_plan;

typedef struct lk_small lk_small;

struct lk_small {
    lk_world base;
    int64_t now_ms;
    int64_t delay_ms;
    lk_rng rng;
    bool cut[LK_SMALL_HOSTS_MAX][LK_SMALL_HOSTS_MAX]; /* [from][to] */
    int64_t last_ms[LK_SMALL_HOSTS_MAX][LK_SMALL_HOSTS_MAX];
    lk_small_flight *flight;
    size_t flights;
    size_t flight_room;
    lk_small_told *told; /* since lk_small_forget */
    size_t told_count;
    size_t told_room;
    uint64_t sent[LK_MSG_COUNT];        /* messages of each kind, ever */
    bool stuck[LK_SMALL_HOSTS_MAX];     /* its disk writes nothing */
    size_t records[LK_SMALL_HOSTS_MAX]; /* that were given to it, ever */
    uint64_t alerts[LK_SMALL_HOSTS_MAX];
    lk_msg_alert alert[LK_SMALL_HOSTS_MAX]; /* the last of these */
};

/*  -------------------------------------------------------- life */

/*  All start, and lead, and are ready. */
void lk_small_init (lk_small *self, const lk_small_plan *plan);
void lk_small_clear (lk_small *self);

/*  The event's time is set here. For a process that is gone: nothing. */
void lk_small_step (lk_small *self, lk_host host, lk_event *event);

/*  All that came has been seen: what the lock service gathered goes now. */
void lk_small_flush (lk_small *self, lk_host host);

/*  Carries what was said, and what that brings about, while no time passes;
 *  with a delay only what is due. */
void lk_small_settle (lk_small *self);

/*  All that is under way arrives, of each host in one wake-up; what that brings
 *  about is under way then. Returns how many messages arrived. */
size_t lk_small_wave (lk_small *self);

/*  Lets so much time pass. */
void lk_small_run (lk_small *self, int64_t ms);

/*  Lets time pass until nothing is under way between hosts but what they say
 *  of themselves all the time, nor will be in a moment; at most `ms`. */
void lk_small_rest (lk_small *self, int64_t ms);

/*  -------------------------------------------------------- faults */

/*  The lock service of a host ends without a word; its disk stays. `seen`:
 *  the other routers tell their lock services. */
void lk_small_kill (lk_small *self, lk_host host, bool seen);
void lk_small_start (lk_small *self, lk_host host);

/*  Nobody hears it any more, and it nobody. */
void lk_small_isolate (lk_small *self, lk_host host, bool cut);

/*  Until all that run are ready, with all the leaders there can be; false:
 *  they are not after `ms`. */
bool lk_small_wait_ready (lk_small *self, int64_t ms);

/*  Until no leader's table has a ticket of an older session of the host. */
bool lk_small_wait_gone (lk_small *self, lk_host host, int64_t ms);

/*  -------------------------------------------------------- applications */

/*  A plain request, exclusive, that waits for ever; for the caller to
 *  change. `object` ends with NUL. */
lk_app_request lk_small_request (uint32_t app, uint64_t serial,
                                 const char *object);

void lk_small_ask (lk_small *self, lk_host host, lk_event_type type,
                   const lk_app_request *request);

void lk_small_forget (lk_small *self);

/*  The last that (host, app, serial) was told since then; NULL: nothing. */
const lk_answer *lk_small_last (const lk_small *self, lk_host host,
                                uint32_t app, uint64_t serial);

/*  -------------------------------------------------------- questions */

/*  The latest decree in force that anybody knows. */
const lk_decree *lk_small_leaders (const lk_small *self);

/*  The home of a name, now. */
lk_host lk_small_home (const lk_small *self, lk_name object);

/*  Tickets that leaders have of an object, in the order of its queue, in the
 *  table of its home; borrowed until the next step. Returns how many there
 *  are. */
size_t lk_small_tickets (const lk_small *self, lk_name object,
                         lk_ticket *tickets, size_t room);

/*  How many tickets there are in all tables of leaders; each leader has all
 *  of them, so they must agree: -1 if they do not. */
long lk_small_count (const lk_small *self);

#endif
