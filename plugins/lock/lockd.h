/*  lockd.h - the shell around the core: one lock service of one host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What comes from the bus becomes an event for the core (plugins/lock/core),
 *  and its effects are carried out in their order: to the state file, the bus,
 *  the lease page and the log. It decides nothing about locks.
 *
 *      main.c      the process: options, then lk_service_run
 *      options.c   configuration
 *      shell.c     callbacks of a service -> events
 *      effects.c   effects -> the world
 *      state.c     the state file, and the node that begins with it
 *      requests.c  what applications ask;  request_fields.c  its fields
 *      replies.c   what they are told
 *      status.c    LOCKSTATUS
 *      list.c      LOCKLIST, LOCKOWNERS
 *      journal.c   what happened of late;  past.c  LOCKHISTORY
 *      top.c       LOCKTOP
 *      hosts.c     hosts-min: as many hosts as have to be
 *      alerts.c    LOCKALERT
 *      members.c   LOCKMEMBERS: who is a member, and changes of that
 *      joining.c   this host becomes one by itself
 *      manager.c   what the service manager hears
 *      start.c     LOCKSTARTED, REFUSE, and whose messages count
 *      room.c      hosts that are gone and hold nothing make room
 *      apps.c      table of applications;  peers.c  table of lock services
 */

#ifndef LK_LOCKD_H
#define LK_LOCKD_H

#include "apps.h"
#include "journal.h"
#include "node.h"
#include "peers.h"
#include "settings/lock.h"
#include "wire/lock_state.h"

#include "net/lease_page.h"
#include "net/state_file.h"
#include "util/arena.h"

#include <lockkeeper/service.h>

/*  After the router came back, so long until applications that it does not
 *  report are gone. */
#define LK_LOCKD_RETURN_MS 2000

/*  Why locks cannot be had, in words. */
#define LK_LOCKD_REASON_SIZE (160 + LK_PEERS_PROBLEM_SIZE)

/*  A change of members that the core is at, and whom to answer then. */
typedef struct {
    char asker[LK_ADDRESS_LEN_MAX + 1]; /* "": there is none */
    uint64_t serial;                    /* of its latest question */
    char host[LK_HOST_LEN_MAX + 1];
    bool add; /* else remove */
} lk_asked_change;

typedef struct {
    lk_lockd_options options;
    lk_bus *bus;
    bool alone;    /* a process of its own, hosted by nobody */
    bool attached; /* the bus has a router */
    bool leaving;  /* was told to stop */
    bool failed;   /* could not write, or has left: does nothing any more */

    lk_state_file *file;
    lk_lock_state state;
    lk_roster roster;
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
    lk_hosts packs; /* those of them that read packed bodies */
    lk_arena heard; /* what one of them says, while it is taken */
    lk_apps apps;
    lk_journal *journal;
    lk_asked_change change;
    uint32_t attachment;  /* counts routers found */
    int64_t return_at_ms; /* look for lost applications; INT64_MAX */
    int64_t resend_at_ms; /* answers that the bus did not take; INT64_MAX */
    int64_t alive_at_ms;  /* tell the service manager; INT64_MAX */
    int64_t join_at_ms;   /* ask to become a member; INT64_MAX: no such wish */
    char join_why[160];   /* it was refused, for the log */
    bool was_ready;       /* as told last, */
    int64_t ready_ms;     /* since then; 0: nothing was told yet */
    bool short_of_hosts;  /* fewer than hosts-min are there */
    bool status_changed;  /* to be pushed when the step is carried out */
    bool stepped;         /* in this wake-up: what waits is to be sent */
    uint64_t dropped;     /* messages that made no sense, */
    uint64_t refused;     /* those that named one host too many, */
    uint64_t returned;    /* and those that made none to the router */
    uint64_t alerts;      /* tables that were wrong, of any leader */
    char alert[320];      /* the last one, with its time (UTC) */
} lk_lockd;

/*  -------------------------------------------------------- life */

/*  Opens nothing yet. */
void lk_lockd_init (lk_lockd *self, const lk_lockd_options *options);
void lk_lockd_clear (lk_lockd *self);

/*  Opens the state file, reads it or makes a fresh one. False: said why in
 *  the log. */
bool lk_lockd_open (lk_lockd *self);

/*  The callbacks, for lk_service_run. */
extern const lk_service lk_lockd_service;

/*  Begins the node when the host's name is known. False: logged. */
bool lk_lockd_begin (lk_lockd *self);

/*  Writes the state file; false: it could not, and everything is over. */
bool lk_lockd_persist (lk_lockd *self);

/*  Writes the charter of our peers into the state file: it is that of the
 *  cluster that we have joined. False: it could not, and everything is over. */
bool lk_lockd_keep_charter (lk_lockd *self);

/*  Whether we are a member by that decree. */
bool lk_lockd_is_member (const lk_lockd *self, const lk_decree *decree);

/*  -------------------------------------------------------- steps */

/*  Gives the core an event (now_ms is filled in) and does what it says; what
 *  travels together waits for the end of the wake-up. */
void lk_lockd_step (lk_lockd *self, lk_event *event);

/*  Carries out the effects of a step. */
void lk_lockd_carry_out (lk_lockd *self, const lk_effects *effects);

/*  Sends and destroys; false: the bus did not take it. */
bool lk_lockd_send (lk_lockd *self, lk_message *message);

/*  Tells an application what the core answers. */
void lk_lockd_tell (lk_lockd *self, const lk_answer *answer);

/*  Answers to an application that the bus did not take, again. */
void lk_lockd_resend (lk_lockd *self, lk_app *app);

/*  -------------------------------------------------------- history */

/*  An application is told something; is gone; an operator asks to take a lock
 *  away; a home gave up the host of a holder. */
void lk_lockd_note_answer (lk_lockd *self, const lk_app *app,
                           lk_request *request, const lk_answer *answer);
void lk_lockd_note_end (lk_lockd *self, const lk_app *app);
void lk_lockd_note_force (lk_lockd *self, const lk_app *app,
                          const lk_app_request *asked);
void lk_lockd_note_dropped (lk_lockd *self, const lk_ticket *ticket);

/*  -------------------------------------------------------- its manager */

/*  The service manager that started us hears that we have a router, that we
 *  are alive (if that is due), that we end, and what the state is. */
void lk_lockd_say_ready (lk_lockd *self);
void lk_lockd_say_alive (lk_lockd *self);
void lk_lockd_say_stopping (const lk_lockd *self, bool for_good);
void lk_lockd_say_status (const lk_lockd *self, const lk_node_status *status);

/*  -------------------------------------------------------- messages */

/*  From applications. `local`: of this host. */
void lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local);

/*  Answers LOCKFAILED invalid or overloaded, or UNKNOWN, with a sentence. */
void lk_lockd_fail (lk_lockd *self, const lk_message *request, lk_err error,
                    const char *text);

/*  The present state, as an answer to `request` or, if that is NULL, to
 *  everybody on this host who wants to know. */
void lk_lockd_tell_status (lk_lockd *self, const lk_message *request);

/*  The node's, but ready only if there are as many hosts as have to be. */
void lk_lockd_get_status (const lk_lockd *self, lk_node_status *status);

/*  Whether there are fewer; notes and tells when that changes; refuses a new
 *  request because of it. */
bool lk_lockd_is_short (const lk_lockd *self, const lk_node_status *status);
void lk_lockd_watch_hosts (lk_lockd *self);
void lk_lockd_refuse_short (lk_lockd *self, const lk_message *request);

/*  Why this host's requests wait. */
void lk_lockd_describe_wait (const lk_lockd *self, const lk_node_status *status,
                             char *reason, size_t size);

/*  A leader's table was wrong: for the log, LOCKSTATUS and who has subscribed
 *  to LOCKALERT. */
void lk_lockd_alert (lk_lockd *self, const lk_effect *effect);

/*  Answers LOCKLIST with the tickets, or with the leaders that have them. */
void lk_lockd_tell_list (lk_lockd *self, const lk_message *request);

/*  Answers LOCKOWNERS, LOCKHISTORY and LOCKTOP. */
void lk_lockd_tell_owners (lk_lockd *self, const lk_message *request);
void lk_lockd_tell_history (lk_lockd *self, const lk_message *request);
void lk_lockd_tell_top (lk_lockd *self, const lk_message *request);

/*  Writes the name of what is locked, and its zone and context, into a row;
 *  false: the key is none. */
bool lk_lockd_set_key (lk_message *row, lk_name key);

/*  A text of up to LK_REASON_MAX bytes; one that is empty or longer is left
 *  out. */
void lk_lockd_set_text (lk_message *message, const char *field, lk_name text);

/*  Reads it; NULL after having answered that it makes no sense. `key` is empty
 *  if there is none. */
bool lk_lockd_get_key (lk_lockd *self, const lk_message *request, char *room,
                       lk_name *key);

/*  Answers LOCKMEMBERS, at once or when the change is made. */
void lk_lockd_tell_members (lk_lockd *self, const lk_message *request);

/*  The router is told which cluster that is, for who wants to join it. */
void lk_lockd_tell_cluster (lk_lockd *self);

/*  This host is to become a member if a file says so: asks for that if it is
 *  time; takes what lock services say to each other of members, false if it is
 *  something else. */
void lk_lockd_begin_joining (lk_lockd *self);
void lk_lockd_join (lk_lockd *self);
bool lk_lockd_hear_of_members (lk_lockd *self, const char *host,
                               const lk_message *message);

/*  The core has made the change of members, or says why not. */
void lk_lockd_changed (lk_lockd *self, lk_err error, const char *text);

/*  The latest decree in force; before any is known to be, the one on disk: it
 *  may be the genesis. */
const lk_decree *lk_lockd_decree (const lk_lockd *self,
                                  const lk_node_status *status);

/*  Lists the names of its leaders in the field "leaders". */
void lk_lockd_add_leaders (const lk_lockd *self, lk_message *message,
                           const lk_decree *decree);

/*  From the lock service of `host`. */
void lk_lockd_from_peer (lk_lockd *self, const char *host,
                         const lk_message *message);

/*  Reads a message of the lock service of `host`, of that id, as
 *  lk_lock_read (); hosts that are gone and hold nothing are forgotten if it
 *  names others. LK_FULL, logged: there is no such host. */
lk_err lk_lockd_read (lk_lockd *self, const char *host, uint64_t id,
                      const lk_message *message, lk_lock_message *read);

/*  Forgets a host that is gone and holds nothing; if it is urgent, one that
 *  holds nothing. False: there is none. */
bool lk_lockd_make_room (lk_lockd *self, bool urgent);

/*  Whether the host is a member or a leader. */
bool lk_lockd_is_of (const lk_decree *decree, lk_host host);

/*  Writes into a LOCKSTARTED what is not the core's. */
void lk_lockd_sign (const lk_lockd *self, lk_message *started);

/*  LOCKSTARTED to the lock service of `host`, "*" for all. */
void lk_lockd_announce (lk_lockd *self, const char *host);

#endif
