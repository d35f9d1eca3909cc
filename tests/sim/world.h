/*  world.h - a cluster in one process: hosts with clocks, disks and services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One seed is one run: a storm, then a calm in which all must come right.
 *  Each host runs the very core of the daemon (lk_node), as in any world
 *  (lib/world.h), and is its shell. Applications believe what they were told
 *  although their lock service died, until their host ends.
 *
 *  The rest of the world, each in a file of its own: host (the shell around
 *  one service), network (messages on their way), apps (who wants locks), calls
 *  (their words on the way), ballast (who wants very many), dining
 *  (who wants several at once), storm (faults at
 *  random), ambush (faults placed on single messages), script (orders of
 *  faults told by hand), checker (the judge), calm (what must hold in the
 *  end), story (for people).
 */

#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "ambush.h"
#include "apps.h"
#include "arbiter.h"
#include "ballast.h"
#include "calls.h"
#include "checker.h"
#include "client.h"
#include "desk.h"
#include "dice.h"
#include "dining.h"
#include "drain.h"
#include "faults.h"
#include "forget.h"
#include "generation.h"
#include "network.h"
#include "node.h"
#include "places.h"
#include "queue.h"
#include "remote.h"
#include "script.h"
#include "storm.h"
#include "story.h"
#include "totals.h"

#include "lib/world.h"
#include "util/rng.h"

typedef enum {
    SIM_EVENT_TICK,      /* a service's deadline */
    SIM_EVENT_LETTER,    /* a message arrives: what = letter */
    SIM_EVENT_CALL,      /* an application's call arrives: what = call */
    SIM_EVENT_APP,       /* an application does something: what = place */
    SIM_EVENT_CLIENT,    /* an application with the library wakes up */
    SIM_EVENT_DESK,      /* a service reads what clients said */
    SIM_EVENT_ERRAND,    /* to a register or back: what = visit */
    SIM_EVENT_INTRODUCE, /* a service tells all others of itself */
    SIM_EVENT_BALLAST,   /* the application with many locks */
    SIM_EVENT_UP,        /* a service starts (again) */
    SIM_EVENT_HALT,      /* it stops, for so long */
    SIM_EVENT_GONE,      /* the router reports the end of `what`'s service */
    SIM_EVENT_STORM,     /* the next fault at random */
    SIM_EVENT_CALM,      /* the storm is over */
    SIM_EVENT_WATCH,     /* nobody waits in vain, in the calm */
    SIM_EVENT_DRY,       /* in a drought: nothing is granted any more */
    SIM_EVENT_RAIN,      /* the end of a drought */
    SIM_EVENT_APPS_END,  /* applications give back all and ask no more */
    SIM_EVENT_END,
    SIM_EVENT_DINER,  /* what = place */
    SIM_EVENT_FLUSH,  /* the end of a service's wake-up */
    SIM_EVENT_FORGET, /* somebody forgets a host */
    SIM_EVENT_RECORD, /* records get to the disk */
    SIM_EVENT_OATH,   /* an operator looks who is dead */
    SIM_EVENT_REMOTE, /* an application on another machine wakes up */
    SIM_EVENT_MAIL,   /* a letter between one and a host: what = letter */
    SIM_EVENT_DRAIN,  /* it drains, and stops then, for so long */
    SIM_EVENT_MOVE,   /* a host is elsewhere */
    SIM_EVENT_COUNT
} sim_event_type;

typedef struct {
    int64_t rate;         /* of its clock: 900..1100 ms in a true second */
    int64_t offset;       /* of its clock at true time 0 */
    uint32_t process;     /* how many services have run here */
    int64_t paused_until; /* true time; the service's process only */
    int64_t frozen_until; /* ... and everything on the host */
    int64_t tick_at;      /* true time of the next valid TICK */
    int spins;            /* TICKs in a row that were due at once */
    int batch_ms;         /* a wake-up takes so long; -1: one for each event */
    int batch;            /* events of this wake-up */
    bool doom_reboot;     /* when it has met its doom */
    int64_t doom_away;
    bool leaving;         /* was told to stop ... */
    int64_t leave_away;   /* ... for so long */
    bool drains;          /* was told to drain ahead of that, ... */
    bool drained;         /* ... has, or was given up, ... */
    int64_t drains_until; /* ... which is by its clock then */
    bool gone_for_good;
    bool dried;           /* stays away till the end of a drought */
    int changes;          /* that it was asked for and has not answered */
    int disk_ms;          /* until a record is written, at most */
    bool sealed;          /* its table is its journal's, or was before its last
                             step ... */
    bool late;            /* ... and may lack the last operations, ... */
    bool whole;           /* ... but is in no reclaim */
    lk_term filled;       /* of the decree that filled it */
    uint64_t elected;     /* number of the last decree that was looked at */
    lk_settings_id edits; /* that it is asked for; version 0: none */
    uint8_t machine;      /* its number in the first generation */
    size_t generation;    /* see generation.h */
    bool reserved;        /* for one who has not heard of that yet */
    bool sworn_dead;      /* and stays away meanwhile */
} sim_host;

_Static_assert(SIM_HOSTS_MAX <= LK_WORLD_HOSTS_MAX, "a place for each");

/*  What a run is to be like; the same options and seed are the same run. */
typedef struct {
    int members;                 /* 0: the seed says */
    int others;                  /* hosts that are not members; -1: the same */
    const sim_script *script;    /* NULL: a random storm */
    const sim_fault_set *faults; /* only these happen; NULL: all */
    uint64_t apps;               /* only these, as bits (see sim_app_bit) */
    int64_t storm_ms;            /* 0: the seed says */
    int64_t gap_ms;              /* at most, after a fault that is left out */
    int leaders;                 /* 0: the seed says */
    int journal;                 /* lk_journal_mode of all; -1: the same */
    int remotes;                 /* on other machines; -1: the seed says */
    bool story;                  /* tell what happens ... */
    bool verbose;                /* ... and each message */
} sim_options;

typedef struct sim_world {
    lk_world base;
    sim_options options;
    uint64_t seed;
    uint64_t dice_seed;
    lk_rng rng; /* the die that is in use */
    sim_dice dice;
    sim_fault_set faults;  /* that happened */
    int64_t now;           /* true time, ms */
    uint64_t digest;       /* of all that happened */
    lk_node_config common; /* what all hosts have in common */
    bool mixed_journals;
    bool extreme_clocks;
    bool wrong_clocks;
    bool fair_clocks; /* wrong by 3 % at most */
    sim_queue queue;
    sim_host host[SIM_HOSTS_MAX];
    size_t member_count;
    lk_hosts arbiters;   /* see arbiter.h */
    int64_t arbiter_way; /* in a thousandth of the leader lease */
    bool forgetful;      /* see forget.h */
    bool drains;         /* see drain.h */
    sim_places places;
    uint64_t stops;                /* that might have been so */
    uint32_t lives[SIM_HOSTS_MAX]; /* hosts that had the number before */
    int stepping; /* host whose effects are being carried out, or -1 */
    bool stormy;  /* until the calm */
    int late_ms;  /* ticks come up to so much late */
    int64_t storm_end;
    uint64_t dry_grants; /* when no quorum was left for long */
    sim_network network;
    sim_apps apps;
    sim_calls calls;
    sim_ballast ballast;
    sim_dining dining;
    sim_clients clients;
    sim_desk *desk[SIM_HOSTS_MAX];
    sim_registers registers;
    sim_remotes remotes;
    sim_generations generations;
    sim_storm storm;
    sim_ambush ambush;
    sim_plot plot;
    uint32_t edits; /* texts of settings that were made */
    sim_checker checker;
    sim_totals totals; /* of this run */
} sim_world;

/*  The seed alone says what the run is like. */
#define SIM_OPTIONS_NONE                                                       \
    {                                                                          \
        .others = -1, .apps = UINT64_MAX, .gap_ms = SIM_FOREVER,               \
        .journal = -1, .remotes = -1                                           \
    }

void sim_world_init (sim_world *self);
void sim_world_clear (sim_world *self);

/*  One run. True if nothing was violated; else checker.failure tells. */
bool sim_world_run (sim_world *self, const sim_options *options, uint64_t seed);

/*  -------------------------------------------------------- time */

/*  The host's own clock, now. */
int64_t sim_host_clock (const sim_world *self, uint8_t host);

/*  The first true time at which the host's clock shows `clock` or more;
 *  SIM_FOREVER stays that. */
int64_t sim_true_time (const sim_world *self, uint8_t host, int64_t clock);

void sim_post (sim_world *self, int64_t at, sim_event_type type, uint8_t host,
               uint32_t what);

/*  -------------------------------------------------------- hosts */

/*  Before the first of them: what becomes of their effects. */
void sim_hosts_init (sim_world *self);

/*  Sends LOCKSTARTED, now and every so often. */
void sim_host_introduce (sim_world *self, uint8_t host);

/*  Which journals the hosts have (journal.c), all the same or each another; and
 *  that of a host. */
void sim_journal_begin (sim_world *self);
void sim_journal_draw_host (sim_world *self, uint8_t host);

/*  Whether its journal, if it has one, names another host; which it forgets. */
bool sim_journal_names (const sim_world *self, uint8_t host, uint8_t other);
void sim_journal_forget (sim_world *self, uint8_t host, uint8_t other);

/*  Its service has started, with what its journal has. */
void sim_journal_loaded (sim_world *self, uint8_t host);

/*  A record of it waits for the disk. */
void sim_journal_record (sim_world *self, uint8_t host);

/*  Its service ends: what waits is written in part, or all of it, as in good
 *  order; and the disk may be damaged. */
void sim_journal_end (sim_world *self, uint8_t host, bool in_order);

/*  It has made a step: a decree may be elected, and where its table comes from
 *  shows only now. */
void sim_journal_look (sim_world *self, uint8_t host);

/*  Makes a host that has never been there, though another one may have had its
 *  number; its service starts at `up_at`. */
void sim_host_draw (sim_world *self, uint8_t host, bool member, int64_t up_at);

/*  Starts its service unless it runs. */
void sim_host_up (sim_world *self, uint8_t host);

/*  Gives the service of a host an event and carries out the effects. The
 *  event's time is filled in. */
void sim_host_step (sim_world *self, uint8_t host, lk_event *event);

/*  All records that wait are on the disk, if that process still runs. */
void sim_journal_arrive (sim_world *self, uint8_t host, uint32_t process);

/*  The end of a wake-up: what was to travel together does. */
void sim_host_flush (sim_world *self, uint8_t host);

bool sim_host_is_up (const sim_world *self, uint8_t host);
bool sim_host_is_paused (const sim_world *self, uint8_t host);
void sim_host_pause (sim_world *self, uint8_t host, int64_t duration);

/*  Pauses the whole host; its clock goes on. */
void sim_host_freeze (sim_world *self, uint8_t host, int64_t duration);
void sim_host_suspend (sim_world *self, uint8_t host, int64_t duration);
bool sim_host_is_frozen (const sim_world *self, uint8_t host);

/*  Ends the service; with `reboot` the host and its applications too. It
 *  starts again after `away` ms (SIM_FOREVER: never). */
void sim_host_crash (sim_world *self, uint8_t host, bool reboot, int64_t away);

/*  A host comes that nobody knows, in `away` ms, with a number that was just
 *  found for it; `former`: what it was before as another one, or LK_NOBODY. */
void sim_host_arrive (sim_world *self, uint8_t host, uint8_t former,
                      int64_t away);

/*  Ends the host, which does not come back; or comes back without its disk: as
 *  another one, for which there has to be a number. */
void sim_host_lose (sim_world *self, uint8_t host);
void sim_host_lose_disk (sim_world *self, uint8_t host, int64_t away);

/*  The same in good order: nobody there holds anything any more, or it goes on
 *  with the next service. */
void sim_host_stop (sim_world *self, uint8_t host, bool for_good, int64_t away);

/*  The leaders of the highest active decree on any disk, as a set. */
lk_hosts sim_leaders (const sim_world *self, lk_decree *decree);

/*  -------------------------------------------------------- trace */

/*  A line of the story, if anybody listens. `host` -1: of the world. */
void sim_tell (sim_world *self, int host, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

#endif
