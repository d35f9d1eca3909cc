/*  status_advice.c - what is wrong in a cluster, and what to do about it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/status.h"

#include "wire/message_frame.h"

#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

#define NAMES_SIZE 300

/*  -------------------------------------------------------- words */

/*  Hosts that something is so of. */
typedef bool is_so (const lk_survey *survey, const lk_survey_host *host);

typedef struct {
    size_t count;
    char text[NAMES_SIZE];
} names;

static void
add_name (names *self, const char *name)
{
    const size_t used = strlen (self->text);
    const bool fits = used + strlen (name) + 6 < sizeof self->text;
    const bool full = used > 3 && strcmp (self->text + used - 3, "...") == 0;
    self->count++;
    if (!full) {
        snprintf (self->text + used, sizeof self->text - used, "%s%s",
                  used > 0 ? " " : "", fits ? name : "...");
    }
}

static names
names_of (const lk_survey *survey, is_so *is)
{
    names self = {.text = ""};
    for (size_t i = 0; i < survey->count; i++) {
        if (is (survey, &survey->host[i])) {
            add_name (&self, survey->host[i].name);
        }
    }
    return self;
}

/*  -------------------------------------------------------- hosts */

static bool
lost_vote (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return lk_status_lost_vote (host);
}

static bool
is_missing (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return host->is_member && (!host->live || host->lock == NULL);
}

static bool
is_unlinked (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return !host->live && !host->is_member;
}

/*  Its router answers. */
static bool
lacks_service (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return host->live && host->lock == NULL;
}

static bool
is_not_ready (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return host->live && host->lock != NULL && !host->is_arbiter
           && !lk_message_is (host->lock, "LOCKREADY");
}

static bool
is_guest (const lk_survey *survey, const lk_survey_host *host)
{
    return survey->view != NULL && host->live && host->lock != NULL
           && !host->is_member;
}

static bool
is_endangered (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return host->lock != NULL
           && lk_message_number (host->lock, "jeopardy", 0) > 0;
}

static bool
is_of_other_version (const lk_survey *survey, const lk_survey_host *host)
{
    const char *own = survey->router != NULL
                          ? lk_message_text (survey->router, "version")
                          : NULL;
    const char *version =
        host->link != NULL ? lk_message_text (host->link, "version") : NULL;
    return host->live && own != NULL && version != NULL && version[0] != '\0'
           && strcmp (own, version) != 0;
}

static bool
could_lead (const lk_survey *survey, const lk_survey_host *host)
{
    return host->is_member && !is_missing (survey, host)
           && !lost_vote (survey, host)
           && lk_message_flag (host->lock, "may_lead");
}

/*  -------------------------------------------------------- leaders */

static size_t
count_leaders (const lk_survey *survey)
{
    return survey->lock != NULL
               ? lk_message_item_count (survey->lock, "leaders")
               : 0;
}

/*  As many as there are votes for, and hosts that may. */
static size_t
count_possible (const lk_survey *survey)
{
    const size_t could = names_of (survey, could_lead).count;
    const int64_t most =
        survey->lock != NULL
            ? lk_message_number (survey->lock, "leaders_max", 0)
            : 0;
    return (int64_t) could < most ? could : (size_t) most;
}

/*  A member without which the cluster is less than it may be; one that knows
 *  another decree may know better. */
static bool
is_wanting (const lk_survey *survey, const lk_survey_host *host)
{
    return host->is_member
           && (is_missing (survey, host) || lost_vote (survey, host)
               || is_not_ready (survey, host)
               || lk_message_number (host->lock, "term", 0)
                      != lk_message_number (survey->view, "term", 0));
}

bool
lk_status_is_full (const lk_survey *survey, char *why, size_t size)
{
    const names wanting = names_of (survey, is_wanting);
    const size_t leaders = count_leaders (survey);
    const size_t possible = count_possible (survey);
    if (wanting.count > 0) {
        snprintf (why, size, "members are missing, or not ready: %s",
                  wanting.text);
    } else if (leaders < possible) {
        snprintf (why, size, "%zu leaders, and there could be %zu", leaders,
                  possible);
    }
    return wanting.count == 0 && leaders >= possible;
}

/*  -------------------------------------------------------- advice */

/*  The message of a table that was wrong is the same on all hosts. */
static void
look_at_tables (const lk_survey *survey, lk_advices *advices)
{
    for (size_t i = 0; i < survey->count; i++) {
        const lk_message *lock = survey->host[i].lock;
        const int64_t alerts =
            lock != NULL ? lk_message_number (lock, "alerts", 0) : 0;
        const char *alert = lock != NULL ? lk_message_text (lock, "alert") : "";
        if (alerts > 0) {
            lk_advise (advices, "alerts",
                       "%" PRId64 " times a leader's table was wrong; at last "
                       "%s; it was filled anew; check that host's memory",
                       alerts, alert != NULL ? alert : "?");
            return;
        }
    }
}

static bool
is_member (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return host->is_member;
}

static bool
is_away (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return !host->live;
}

/*  Nobody who is there has a cluster. */
static void
look_at_cluster (const lk_survey *survey, lk_advices *advices)
{
    const names away = names_of (survey, is_away);
    if (survey->lock != NULL && names_of (survey, is_member).count == 0) {
        lk_advise (advices, "warning",
                   "this host is in no cluster: %s%s%sstop the daemons, have "
                   "`lockkeeper init --first --cluster NAME` make it the first "
                   "of one, or `lockkeeper init --join ADDRESS` join that of "
                   "another host, and start them again",
                   away.count > 0 ? "start " : "", away.text,
                   away.count > 0 ? ", which may have one; else " : "");
    }
}

/*  How many more may be lost. */
static void
look_at_members (const lk_survey *survey, lk_advices *advices)
{
    const size_t members = names_of (survey, is_member).count;
    const names missing = names_of (survey, is_missing);
    const names voteless = names_of (survey, lost_vote);
    const size_t voters = members - missing.count - voteless.count;
    const size_t needed = members / 2 + 1;
    if (voters < members) {
        lk_advise (advices, "warning",
                   "%zu of %zu members can vote, and %zu are needed%s%s%s%s",
                   voters, members, needed,
                   voters < needed    ? ": nobody gets a lock before"
                   : voters == needed ? ": one more loss stops all locks"
                                      : "",
                   missing.count > 0 ? "; missing: " : "", missing.text,
                   missing.count == 0 ? ""
                   : voters < needed
                       ? "; start their daemons, or mend the network"
                       : "; start their daemons, or `lockkeeper cluster "
                         "remove` them and add others");
    } else if (members > 0 && members < 3) {
        lk_advise (advices, "note",
                   "%zu of %zu members needed: one loss stops all locks; of "
                   "three, one may be lost",
                   needed, members);
    }
}

static void
look_at_votes (const lk_survey *survey, lk_advices *advices)
{
    const names voteless = names_of (survey, lost_vote);
    if (voteless.count > 0) {
        lk_advise (advices, "warning",
                   "no vote, though a member is called so: %s; its state file "
                   "was lost or is another's: `lockkeeper cluster remove` the "
                   "lost member, then `lockkeeper cluster add` it",
                   voteless.text);
    }
}

static void
look_at_hosts (const lk_survey *survey, lk_advices *advices)
{
    const names unlinked = names_of (survey, is_unlinked);
    const names bare = names_of (survey, lacks_service);
    const names unready = names_of (survey, is_not_ready);
    if (unlinked.count > 0) {
        lk_advise (advices, "warning",
                   "not linked with this host, though no members: %s; start "
                   "their routers or mend the network",
                   unlinked.text);
    }
    if (bare.count > 0) {
        lk_advise (
            advices, "warning",
            "linked, but no lock service answers: %s; start "
            "lockkeeper-lockd there; its log tells why it ended, maybe a full "
            "disk",
            bare.text);
    }
    if (unready.count > 0) {
        lk_advise (advices, "warning", "locks cannot be had on: %s",
                   unready.text);
    }
}

static void
look_at_leaders (const lk_survey *survey, lk_advices *advices)
{
    const size_t leaders = count_leaders (survey);
    const size_t possible = count_possible (survey);
    if (lk_survey_is_ready (survey) && leaders < possible) {
        lk_advise (advices, "warning",
                   "%zu leaders, and there could be %zu; that should last "
                   "seconds only: if "
                   "it stays so, see the lock services' logs",
                   leaders, possible);
    }
}

static void
look_at_locks (const lk_survey *survey, lk_advices *advices)
{
    const names endangered = names_of (survey, is_endangered);
    int64_t locks = 0;
    for (size_t i = 0; i < survey->count; i++) {
        locks += survey->host[i].lock != NULL
                     ? lk_message_number (survey->host[i].lock, "jeopardy", 0)
                     : 0;
    }
    if (endangered.count > 0) {
        lk_advise (advices, "warning",
                   "%" PRId64
                   " locks may soon be lost, since their hosts do not "
                   "hear the leaders: %s",
                   locks, endangered.text);
    }
}

/*  What members lack, as some host sees it. */
static void
look_at_settings (const lk_survey *survey, lk_advices *advices)
{
    names behind = {.text = ""};
    const char *host;
    for (size_t i = 0; i < survey->count && behind.count == 0; i++) {
        const lk_message *lock = survey->host[i].lock;
        for (size_t k = 0;
             lock != NULL
             && (host = lk_message_item (lock, "behind", k)) != NULL;
             k++) {
            add_name (&behind, host);
        }
    }
    if (behind.count > 0) {
        lk_advise (advices, "warning",
                   "%zu members have other settings than those in force, or "
                   "lack them: %s; they fetch them; see the logs there if this "
                   "stays",
                   behind.count, behind.text);
    }
}

static bool
has_dropped (const lk_survey *survey, const lk_survey_host *host)
{
    (void) survey;
    return host->lock != NULL
           && lk_message_number (host->lock, "dropped", 0) > 0;
}

/*  Of the first that tells, the last one. */
static void
look_at_senders (const lk_survey *survey, lk_advices *advices)
{
    const names hosts = names_of (survey, has_dropped);
    const lk_message *lock = NULL;
    int64_t messages = 0;
    for (size_t i = survey->count; i-- > 0;) {
        if (has_dropped (survey, &survey->host[i])) {
            lock = survey->host[i].lock;
            messages += lk_message_number (lock, "dropped", 0);
        }
    }
    if (lock != NULL) {
        const char *from = lk_message_text (lock, "dropped_from");
        const char *command = lk_message_text (lock, "dropped_command");
        lk_advise (advices, "warning",
                   "%s dropped %" PRId64 " messages of lock services that may "
                   "not send them, such as %s of %s: find out what runs there; "
                   "lockkeeper-protocol(7), 9.3",
                   hosts.text, messages, command != NULL ? command : "?",
                   from != NULL ? from : "a host that is gone");
    }
}

static void
look_at_versions (const lk_survey *survey, lk_advices *advices)
{
    const names other = names_of (survey, is_of_other_version);
    if (other.count > 0) {
        lk_advise (advices, "note", "routers of other versions than here: %s",
                   other.text);
    }
}

static void
look_at_guests (const lk_survey *survey, lk_advices *advices)
{
    const names guests = names_of (survey, is_guest);
    if (guests.count > 0) {
        lk_advise (
            advices, "note",
            "no members, so that they have no vote: %s; `lockkeeper cluster "
            "add` makes a host one",
            guests.text);
    }
}

/*  Of this host; the others have the same, or are not linked. */
static void
look_at_security (const lk_survey *survey, lk_advices *advices)
{
    const char *security = survey->router != NULL
                               ? lk_message_text (survey->router, "security")
                               : NULL;
    if (security != NULL && strcmp (security, "curve") != 0) {
        lk_advise (advices, "warning",
                   "routers speak in clear, and with whoever says to be one: "
                   "give the cluster keys; lockkeeper-router(8), KEYS");
    }
}

void
lk_status_advise (const lk_survey *survey, lk_requester *asker, int wait_ms,
                  lk_advices *advices)
{
    advices->count = 0;
    look_at_tables (survey, advices);
    look_at_cluster (survey, advices);
    look_at_members (survey, advices);
    look_at_votes (survey, advices);
    look_at_hosts (survey, advices);
    lk_status_add_refused (survey, asker, wait_ms, advices);
    look_at_leaders (survey, advices);
    look_at_locks (survey, advices);
    lk_status_add_leavers (survey, advices);
    look_at_settings (survey, advices);
    look_at_senders (survey, advices);
    look_at_security (survey, advices);
    lk_status_add_domain (survey, advices);
    look_at_versions (survey, advices);
    look_at_guests (survey, advices);
}
