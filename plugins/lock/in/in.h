/*  in.h - what a lock service hears: a message becomes an event, or an answer
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      requests.c        what applications ask;  request_fields.c  its fields
 *      peer_messages.c   what other lock services say
 *      members.c         LOCKMEMBERS: who is a member, and changes of that
 *      edits.c           LOCKSETTINGS: the cluster's settings, and changes
 *      edit_rules.c      which of these are not taken
 *      recover.c         LOCKRECOVER: the cluster begins anew
 *      draining.c        LOCKDRAIN: others are to lead
 *      joining.c         this host becomes one by itself
 *      far.c             applications on other machines, their registrations
 *      host_keys.c       HOSTKEYS and CLIENTKEYS, for the router and from it
 */

#ifndef LK_IN_H
#define LK_IN_H

#include "keep.h"
#include "request_fields.h"

/*  What a message comes to for the core, with all that the event points to. */
typedef struct {
    lk_event event;
    bool asks; /* there is an `ask` */
    lk_ask ask;
    lk_lock_message heard;
    char *text; /* of settings; NULL */
} lk_input;

/*  From an application, `local`: of this host; from the lock service of `host`.
 *  True: give the core the event. Either way lk_input_clear () follows. */
bool lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local,
                        lk_input *input);
bool lk_lockd_from_peer (lk_lockd *self, const char *host,
                         const lk_message *message, lk_input *input);
void lk_input_clear (lk_input *self);

/*  The core has made the change, or says why not. */
void lk_lockd_changed (lk_lockd *self, lk_err error, const char *text);

/*  This host is to become a member if a file says so; asks for that if it is
 *  time. */
void lk_lockd_begin_joining (lk_lockd *self);
void lk_lockd_join (lk_lockd *self);

/*  Tells the router which keys the settings have; asks it for those that they
 *  lack if it is time. */
void lk_lockd_tell_keys (lk_lockd *self);
void lk_lockd_list_keys (lk_lockd *self);

/*  HOSTKEYS of our router: keys that the settings are to have; true: give the
 *  core the event, which borrows from `text`, the caller's (lk_free). */
bool lk_lockd_take_keys (lk_lockd *self, const lk_message *message,
                         lk_event *event, char **text);

/*  Whether that answers what we asked a first leader for, ourselves maybe;
 *  takes it. */
bool lk_lockd_take_keys_answer (lk_lockd *self, const lk_message *message);

#endif
