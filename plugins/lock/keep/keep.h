/*  keep.h - what a lock service keeps: one host's, in memory and on disk
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The lowest room of plugins/lock: it sends nothing and gives the core no
 *  event.
 *
 *      state.c      the state file, and the node that begins with it
 *      situation.c  the decree, hosts-min, and why locks cannot be had
 *      room.c       hosts that are gone and hold nothing make room
 *      notes.c      what happens to locks, for recent.c
 *      shares.c     limits of zones, and their use;  relays.c  questions
 *      audit.c      who was refused;  zone_log.c  a log for each zone
 *      texts.c      the cluster's settings, and those before
 *      domains.c    where hosts are
 *      recorded.c   the journal; journal.c writes it, journal_file.c has it
 *      apps.c       table of applications;  peers.c  table of lock services
 *      unsent.c     answers that the router did not take
 */

#ifndef LK_KEEP_H
#define LK_KEEP_H

#include "apps.h"
#include "journal.h"
#include "node.h"
#include "peers.h"
#include "recent.h"
#include "relays.h"
#include "settings/lock.h"
#include "shares.h"
#include "texts.h"
#include "wire/domain.h"
#include "wire/lock_state.h"
#include "wire/object_key.h"

#include "net/lease_page.h"
#include "net/state_file.h"
#include "net/zone_file.h"
#include "util/arena.h"

#include <lockkeeper/service.h>

/*  Why locks cannot be had, in words. */
#define LK_LOCKD_REASON_SIZE (160 + LK_PEERS_PROBLEM_SIZE)

/*  The asker of a question, and what may be shown to it. */
typedef struct {
    lk_who who;
    const lk_app *app; /* NULL: it is of another host */
    bool all_zones;    /* else of one: */
    char zone[LK_OBJECT_PART_LEN_MAX + 1];
} lk_view;

/*  A change of members, or of settings, that the core is at, and whom to answer
 *  then. */
typedef struct {
    char asker[LK_ADDRESS_LEN_MAX + 1]; /* "": there is none */
    uint64_t serial;                    /* of its latest question */
    char host[LK_HOST_LEN_MAX + 1];
    bool add;              /* else remove */
    bool edits;            /* of settings: */
    lk_settings_id wanted; /* to these */
} lk_demand_change;

typedef struct {
    lk_lockd_options options;
    lk_bus *bus;
    bool alone;    /* a process of its own, hosted by nobody */
    bool attached; /* the bus has a router */
    bool leaving;  /* was told to stop */
    bool failed;   /* could not write, or has left: does nothing any more */

    lk_state_file *file;
    lk_texts *texts;
    lk_lock_state state;
    lk_hostmap hostmap;
    lk_host self;

    lk_node *node;
    lk_candidate candidate;
    bool eligible;        /* may lead, as a member: priority is not off */
    uint64_t incarnation; /* session that this process began with */

    lk_lease_page *page;
    char page_path[PATH_MAX + 16];
    uint64_t session;
    int64_t lease_until_ms;

    lk_peers peers;
    uint8_t level[LK_HOSTS_MAX]; /* of packed bodies that they read; 0: none */
    char told_domain[LK_HOSTS_MAX][LK_DOMAIN_LEN_MAX + 1]; /* where they say
                       that they are, our own file too; "": they do not say */
    lk_arena heard; /* what one of them says, while it is taken */
    lk_apps apps;
    lk_shares *shares;
    lk_relays relays;
    lk_recent *recent;
    lk_journal_file *journal_file; /* until the node begins */
    lk_journal *journal;           /* since then; NULL: off */
    lk_record_head recorded;       /* the table that it began with */
    lk_arena recorded_names;       /* of a ticket of that */
    lk_demand_change change;
    uint32_t attachment;  /* counts routers found */
    int64_t return_at_ms; /* look for lost applications; INT64_MAX */
    int64_t resend_at_ms; /* answers that the bus did not take; INT64_MAX */
    int64_t leaves_at_ms; /* halts then at the latest; INT64_MAX */
    int64_t drains_since; /* ms; INT64_MAX: the node does not */
    int64_t alive_at_ms;  /* tell the service manager; INT64_MAX */
    int64_t join_at_ms;   /* ask to become a member; INT64_MAX: no such wish */
    char join_why[160];   /* it was refused, for the log */
    int64_t keys_at_ms;   /* have keys put into the settings; INT64_MAX */
    int64_t use_at_ms;    /* tell what zones use; INT64_MAX: no limits */
    char *use_told;       /* ... as it was told last; NULL: tell it */
    bool keys_are_due;    /* those that the router tells next */
    bool keys_are_old;    /* the settings have changed: tell it theirs */
    bool places_are_old;  /* the core is to be told what is said of hosts */
    lk_hosts placed;      /* hosts known when it was told */
    char keys_why[160];   /* it was refused, for the log */
    bool was_ready;       /* as told last, */
    int64_t ready_ms;     /* since then; 0: nothing was told yet */
    bool short_of_hosts;  /* fewer than hosts-min are there */
    bool status_changed;  /* to be pushed when the step is carried out */
    bool stepped;         /* in this wake-up: what waits is to be sent */
    uint64_t dropped;     /* messages that made no sense, */
    uint64_t refused;     /* those that named one host too many, */
    uint64_t returned;    /* and those that made none to the router */
    lk_zone_file zone_file;
    uint64_t audited[2]; /* what somebody wanted to change last, as a hash */
    int64_t refusals_second;  /* of people, in that second: */
    uint64_t refusals;        /* so many, */
    uint64_t refusals_unsaid; /* and those that no line has yet */
    uint64_t alerts;          /* tables that were wrong, of any leader */
    char alert[320];          /* the last one, with its time (UTC) */
} lk_lockd;

/*  -------------------------------------------------------- state */

/*  Opens nothing yet. */
void lk_lockd_init (lk_lockd *self, const lk_lockd_options *options);
void lk_lockd_clear (lk_lockd *self);

/*  Opens the state file, reads it or makes a fresh one. False: said why in
 *  the log. */
bool lk_lockd_open (lk_lockd *self);

/*  Makes the node when the host's name is known; its first step is to come.
 *  False: logged. */
bool lk_lockd_begin (lk_lockd *self);

/*  Writes the state file; false: it could not, and everything is over. */
bool lk_lockd_persist (lk_lockd *self);

/*  Writes the charter of our peers into the state file: it is that of the
 *  cluster that we have joined. False: it could not, and everything is over. */
bool lk_lockd_keep_charter (lk_lockd *self);

/*  Goes into a later generation: that is on disk, and the session is over. What
 *  runs has to begin anew: nothing of it is so any more. False: it could not,
 *  and everything is over. */
bool lk_lockd_enter (lk_lockd *self, const lk_generation *generation);

/*  The same for who has heard of another generation of the same number: is no
 *  member any more until there is a later one. */
bool lk_lockd_stand_still (lk_lockd *self);

/*  -------------------------------------------------------- journal */

/*  Opens it as the state file, the options say, or sees that there is none.
 *  False: logged. */
bool lk_lockd_open_journal (lk_lockd *self);

/*  The table that it has, for a node that begins. */
void lk_lockd_give_table (lk_lockd *self, lk_node_config *config);

/*  The node has taken that: from now on it is written. False: logged. */
bool lk_lockd_start_journal (lk_lockd *self);
void lk_lockd_record (lk_lockd *self, const lk_record *record);

/*  -------------------------------------------------------- situation */

/*  The latest decree in force; before any is known to be, the one on disk: it
 *  may be the genesis. */
const lk_decree *lk_lockd_decree (const lk_lockd *self,
                                  const lk_node_status *status);

/*  The settings in force; NULL: their text is not here. */
const char *lk_lockd_settings_text (const lk_node_status *status);

/*  Those that the settings name as arbiters, members or not; and this one, if
 *  it is one. */
lk_hosts lk_lockd_find_arbiters (const lk_lockd *self,
                                 const lk_node_status *status);

/*  Whether we are a member by that decree; whether the host is a member or a
 *  leader. */
bool lk_lockd_is_member (const lk_lockd *self, const lk_decree *decree);
bool lk_lockd_is_of (const lk_decree *decree, lk_host host);

/*  Whether we lead first, and so make changes. */
bool lk_lockd_is_first_leader (const lk_lockd *self,
                               const lk_node_status *status);

/*  The node's, but ready only if there are as many hosts as have to be. */
void lk_lockd_get_status (const lk_lockd *self, lk_node_status *status);

/*  Looks whether there are fewer now. */
void lk_lockd_watch_hosts (lk_lockd *self);

/*  Why this host's requests wait. */
void lk_lockd_describe_wait (const lk_lockd *self, const lk_node_status *status,
                             char *reason, size_t size);

/*  -------------------------------------------------------- hosts */

/*  Reads a message of the lock service of `host`, of that id, as
 *  lk_lock_read (); hosts that are gone and hold nothing are forgotten if it
 *  names others. LK_FULL, logged: there is no such host. */
lk_err lk_lockd_read (lk_lockd *self, const char *host, uint64_t id,
                      const lk_message *message, lk_lock_message *read);

/*  Forgets a host that is gone and holds nothing; if it is urgent, one that
 *  holds nothing. False: there is none. */
bool lk_lockd_make_room (lk_lockd *self, bool urgent);

/*  -------------------------------------------------------- notes */

/*  An application is told something; is gone; is silent, one that it asked for;
 *  an operator asks to take a lock away; a home gave up the host of a holder.
 */
void lk_lockd_note_answer (lk_lockd *self, const lk_app *app,
                           const lk_answer *answer);
void lk_lockd_note_end (lk_lockd *self, const lk_app *app);
void lk_lockd_note_silent (lk_lockd *self, const lk_answer *answer);
void lk_lockd_note_force (lk_lockd *self, const lk_app *app,
                          const lk_app_request *demand);
void lk_lockd_note_dropped (lk_lockd *self, const lk_ticket *ticket);

#endif
