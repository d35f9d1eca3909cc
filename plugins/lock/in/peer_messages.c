/*  peer_messages.c - what other lock services say, if they are of our cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nothing of a service counts before it has passed the check of its
 *  LOCKSTARTED. lockkeeper-protocol(7), 8.1.
 */

#include "domains.h"
#include "edits.h"
#include "in.h"
#include "members.h"
#include "out.h"
#include "quota.h"
#include "relay.h"

#include "net/log.h"
#include "util/utf8.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ASK_AGAIN_MS 250 /* the same service to introduce itself */

/*  -------------------------------------------------------- checking */

/*  Counts what makes no sense; logs it ever more seldom. */
static void
drop (lk_lockd *self, const char *host, const lk_message *message)
{
    self->dropped++;
    if ((self->dropped & (self->dropped - 1)) == 0) {
        lk_log_warning ("dropped what makes no sense command=%s "
                        "host=%s count=%llu",
                        lk_message_command (message), host,
                        (unsigned long long) self->dropped);
    }
}

/*  At most every ASK_AGAIN_MS to each: true if now is the time. */
static bool
may_ask (const lk_lockd *self, lk_other *other)
{
    int64_t now = lk_bus_now (self->bus);
    if (other->asked && now - other->asked_ms < ASK_AGAIN_MS) {
        return false;
    }
    other->asked = true;
    other->asked_ms = now;
    return true;
}

/*  A message that is not heard before its sender has said who it is. */
static void
ask_for_start (lk_lockd *self, lk_other *other)
{
    if (other->state == LK_OTHER_NEW && may_ask (self, other)) {
        lk_lockd_announce (self, other->host);
    }
}

static void
refuse (lk_lockd *self, lk_other *other, const char *problem)
{
    if (!other->said) {
        other->said = true;
        lk_log_error ("refused lock service host=%s: %s", other->host, problem);
    }
    if (may_ask (self, other)) {
        lk_lockd_refuse (self, other->host, problem);
    }
}

/*  Its cluster is ours from now on, also after a restart: nobody hears of us
 *  as one of it before that is on disk. */
static bool
join (lk_lockd *self, const lk_other *other)
{
    if (!lk_lockd_keep_charter (self)) {
        self->failed = true;
        lk_bus_stop (self->bus, 1);
        return false;
    }
    lk_log_notice ("of cluster '%s' now, heard from host=%s",
                   self->state.cluster, other->host);
    lk_lockd_announce (self, "*");
    lk_lockd_tell_cluster (self);
    return true;
}

/*  Of another generation nothing else is read. Protocol 9.19.5. */
static void
take_generation (lk_lockd *self, lk_other *other, const lk_charter *theirs,
                 lk_peer_news news)
{
    bool done = true;
    if (news == LK_NEWS_EARLIER) {
        if (may_ask (self, other)) {
            lk_lockd_announce (self, other->host);
        }
        return;
    }
    if (news == LK_NEWS_LATER) {
        done = lk_lockd_enter (self, &theirs->generation);
    } else if (self->state.has_rival) {
        return;
    } else {
        lk_lockd_announce (self, other->host);
        done = lk_lockd_stand_still (self);
    }
    self->failed = true;
    lk_bus_stop (self->bus, done ? LK_SERVICE_AGAIN : 1);
}

static void
turn_away (lk_lockd *self, lk_other *other, const lk_charter *theirs,
           lk_peer_news news, const char *problem)
{
    if (news == LK_NEWS_NONE) {
        refuse (self, other, problem);
        return;
    }
    if (!other->said) {
        other->said = true;
        if (news == LK_NEWS_RIVAL) {
            lk_log_error ("locks stand still: %s", problem);
        } else {
            lk_log_notice ("%s", problem);
        }
    }
    take_generation (self, other, theirs, news);
}

/*  Whether the LOCKSTARTED is one of this cluster. */
static bool
check_started (lk_lockd *self, lk_other *other, const lk_message *message)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    lk_charter theirs;
    lk_peer_news news;
    uint8_t level;
    const char *domain;
    lk_other_state before = other->state;
    if (!lk_charter_read (&theirs, message) || !lk_level_read (message, &level)
        || !lk_domain_read (message, &domain)) {
        drop (self, other->host, message);
        return false;
    }
    if (lk_peers_judge (&self->peers, other, &theirs, &news, problem)
        == LK_OTHER_REFUSED) {
        turn_away (self, other, &theirs, news, problem);
        return false;
    }
    if (news == LK_NEWS_JOINED && !join (self, other)) {
        return false;
    }
    if (before != LK_OTHER_ACCEPTED) {
        lk_lockd_tell_use_anew (self);
        lk_log_info ("lock service host=%s id=%016llx: new -> known",
                     other->host, (unsigned long long) other->id);
    }
    return true;
}

/*  As much as there is room for, in whole characters. */
static void
keep_reason (lk_other *other, const char *reason)
{
    snprintf (other->why, sizeof other->why, "%s", reason);
    for (size_t size = strlen (other->why); !lk_utf8_is_text (other->why, size);
         size--) {
        other->why[size - 1] = '\0';
    }
}

/*  The other side refuses us; it says why, and we say so once. Before it has
 *  said again who it is we do not hear it either. */
static void
take_refuse (lk_other *other, const lk_message *message)
{
    const char *reason = lk_message_text (message, "reason");
    keep_reason (other, reason ? reason : "it does not say why");
    if (other->state == LK_OTHER_ACCEPTED) {
        other->state = LK_OTHER_NEW;
    }
    if (!other->said) {
        other->said = true;
        lk_log_error ("the lock service of host=%s refuses us: %s", other->host,
                      other->why);
    }
}

/*  Whether the message may be read on. */
static bool
may_enter (lk_lockd *self, lk_other *other, const lk_message *message)
{
    if (lk_message_is (message, "REFUSE")) {
        take_refuse (other, message);
        return false;
    }
    if (lk_message_is (message, "LOCKSTARTED")) {
        return check_started (self, other, message);
    }
    ask_for_start (self, other);
    return other->state == LK_OTHER_ACCEPTED;
}

/*  What it is sent from now on, and where it is. */
static void
note_started (lk_lockd *self, const lk_lock_message *read,
              const lk_message *message)
{
    const char *domain;
    if (read->kind == LK_MSG_STARTED
        && lk_level_read (message, &self->level[read->from])
        && lk_domain_read (message, &domain)) {
        lk_lockd_note_domain (self, read->from, domain);
    }
}

/*  Of members or settings, as an operator would say it. */
static bool
is_of_changes (const lk_message *message)
{
    uint64_t id;
    return lk_message_is (message, "LOCKMEMBERS")
           || ((lk_message_is (message, "LOCKSETTINGS")
                || lk_message_is (message, "LOCKFAILED"))
               && !lk_lock_sender (message, &id));
}

static bool
hear_of_changes (lk_lockd *self, const char *host, const lk_message *message,
                 lk_input *input)
{
    if (lk_lockd_take_keys_answer (self, message)) {
        return false;
    }
    if (lk_message_is (message, "LOCKFAILED")) {
        lk_lockd_not_joined (self, host, message);
        return false;
    }
    if (lk_message_has (message, "served_by")) {
        return false;
    }
    return lk_message_is (message, "LOCKSETTINGS")
               ? lk_lockd_ask_settings (self, message, NULL, &input->event,
                                        &input->text)
               : lk_lockd_ask_members (self, message, &input->event);
}

/*  Whether the message counts; its sender's id. */
static bool
is_heard (lk_lockd *self, const char *host, const lk_message *message,
          uint64_t *id)
{
    lk_other *other = lk_lock_sender (message, id)
                          ? lk_peers_intern (&self->peers, host, *id)
                          : NULL;
    if (!other) {
        drop (self, host, message);
        return false;
    }
    return may_enter (self, other, message);
}

/*  Between lock services, of zones; the core does not hear it. */
static bool
take_of_zones (lk_lockd *self, const char *host, const lk_message *message)
{
    if (lk_message_is (message, "LOCKZONES")) {
        lk_shares_take (self->shares, host, message);
        return true;
    }
    if (lk_lockd_is_relayed (message)) {
        lk_lockd_take_relayed (self, host, message);
        return true;
    }
    return false;
}

bool
lk_lockd_from_peer (lk_lockd *self, const char *host, const lk_message *message,
                    lk_input *input)
{
    uint64_t id;
    input->asks = false;
    input->text = NULL;
    if (is_of_changes (message)) {
        return hear_of_changes (self, host, message, input);
    }
    if (lk_message_is_complaint (message) /* of the router, or a service
                                             without our commands */
        || !is_heard (self, host, message, &id)) {
        return false;
    }
    if (take_of_zones (self, host, message)) {
        return false;
    }
    const lk_err error = lk_lockd_read (self, host, id, message, &input->heard);
    if (error == LK_OK) {
        note_started (self, &input->heard, message);
        input->event =
            (lk_event) {.type = LK_ON_MESSAGE, .message = &input->heard};
        return true;
    }
    if (error == LK_INVALID) {
        drop (self, host, message);
    } /* else it is to our predecessor, whose state file is gone; or there is
         no room for its sender, or for whom it names */
    return false;
}
