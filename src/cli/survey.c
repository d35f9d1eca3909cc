/*  survey.c - how the hosts of the cluster are, as far as one of them knows
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The router knows who is linked, the lock service who is a member and who is
 *  heard; each host is asked for the rest.
 */

#include "cli/survey.h"

#include "util/hash.h"
#include "wire/message_frame.h"
#include "wire/object_key.h"

#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZONE_MS 5000 /* its host may ask the others */

/*  -------------------------------------------------------- hosts */

static lk_survey_host *
find_host (lk_survey *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->host[i].name, name) == 0) {
            return &self->host[i];
        }
    }
    return NULL;
}

/*  NULL: there are too many. */
static lk_survey_host *
need_host (lk_survey *self, const char *name)
{
    lk_survey_host *host = find_host (self, name);
    if (host == NULL && self->count < LK_SURVEY_HOSTS) {
        host = &self->host[self->count++];
        *host = (lk_survey_host) {.leader = -1};
        snprintf (host->name, sizeof host->name, "%s", name);
    }
    return host;
}

static bool
is_state (const lk_message *link, const char *state)
{
    const char *text = lk_message_text (link, "state");
    return text != NULL && strcmp (text, state) == 0;
}

/*  One of two links to a host is a double, and has nothing to tell. A host
 *  whose name nobody knows yet goes by its address. */
static void
add_link (lk_survey *self, lk_message **link_p)
{
    const char *name = lk_message_text (*link_p, "host");
    if (name == NULL || name[0] == '\0') {
        name = lk_message_text (*link_p, "address");
    }
    lk_survey_host *host = NULL;
    if (name != NULL && !is_state (*link_p, "ourselves")
        && !is_state (*link_p, "double")) {
        host = need_host (self, name);
    }
    if (host != NULL && !host->here
        && (host->link == NULL || is_state (*link_p, "live"))) {
        lk_message_destroy (&host->link);
        host->link = *link_p;
        host->live = is_state (*link_p, "live");
        *link_p = NULL;
    }
    lk_message_destroy (link_p);
}

static void
add_links (lk_survey *self)
{
    lk_message *link;
    for (size_t i = 0;
         self->router != NULL
         && (link = lk_message_row (self->router, "links", i)) != NULL;
         i++) {
        add_link (self, &link);
    }
}

static bool
has_view (const lk_message *lock)
{
    return lock != NULL && lk_message_item_count (lock, "members") > 0;
}

/*  That of the latest term, if there is no lock service here, or it knows of
 *  no cluster yet. */
static const lk_message *
find_view (const lk_survey *self)
{
    const lk_message *view = NULL;
    if (has_view (self->lock)) {
        return self->lock;
    }
    for (size_t i = 0; i < self->count; i++) {
        const lk_message *lock = self->host[i].lock;
        if (has_view (lock)
            && (view == NULL
                || lk_message_number (lock, "term", 0)
                       > lk_message_number (view, "term", 0))) {
            view = lock;
        }
    }
    return view;
}

static bool
has_item (const lk_message *message, const char *field, const char *name)
{
    const char *item;
    size_t i = 0;
    do {
        item = lk_message_item (message, field, i++);
    } while (item != NULL && strcmp (item, name) != 0);
    return item != NULL;
}

static void
add_members (lk_survey *self)
{
    const char *name;
    lk_survey_host *host;
    for (size_t i = 0;
         self->view != NULL
         && (name = lk_message_item (self->view, "members", i)) != NULL;
         i++) {
        host = need_host (self, name);
        if (host != NULL) {
            host->is_member = true;
        }
    }
    for (size_t i = 0;
         self->view != NULL
         && (name = lk_message_item (self->view, "leaders", i)) != NULL;
         i++) {
        host = need_host (self, name);
        if (host != NULL) {
            host->leader = (int) i;
        }
    }
    for (size_t i = 0; i < self->count && self->view != NULL; i++) {
        self->host[i].is_arbiter =
            has_item (self->view, "arbiters", self->host[i].name);
    }
}

static int
by_name (const void *one, const void *other)
{
    const lk_survey_host *a = one, *b = other;
    return a->here != b->here ? (a->here ? -1 : 1) : strcmp (a->name, b->name);
}

/*  -------------------------------------------------------- questions */

static void
drop_complaint (lk_message **answer_p)
{
    if (*answer_p != NULL && lk_message_is_complaint (*answer_p)) {
        lk_message_destroy (answer_p);
    }
}

static lk_message *
copy_question (const lk_message *question, const char *host)
{
    static const char *const numbers[] = {"after", "count"};
    static const char *const texts[] = {"object", "object_hex", "context",
                                        "zone"};
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "lock@%s", host);
    lk_message *copy = lk_message_new (to, lk_message_command (question));
    for (size_t i = 0; i < 2; i++) {
        if (lk_message_has (question, numbers[i])) {
            lk_message_set_number (copy, numbers[i],
                                   lk_message_number (question, numbers[i], 0));
        }
    }
    for (size_t i = 0; i < 4; i++) {
        const char *text = lk_message_text (question, texts[i]);
        if (text != NULL) {
            lk_message_set_text (copy, texts[i], text);
        }
    }
    return copy;
}

void
lk_survey_ask (const lk_survey *self, lk_requester *asker,
               const lk_message *question, lk_message *answers[LK_SURVEY_HOSTS],
               int wait_ms)
{
    lk_message *questions[LK_SURVEY_HOSTS];
    for (size_t i = 0; i < self->count; i++) {
        questions[i] = self->host[i].live
                           ? copy_question (question, self->host[i].name)
                           : NULL;
    }
    lk_requester_ask_all (asker, questions, answers, self->count,
                          self->is_zoned ? ZONE_MS : wait_ms);
    for (size_t i = 0; i < self->count; i++) {
        drop_complaint (&answers[i]);
    }
}

/*  A zone does not hear of hosts. */
static void
take_zone (lk_survey *self, lk_requester *asker)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKSTATUS");
    *self = (lk_survey) {.is_zoned = true};
    self->lock = lk_requester_ask (asker, &question, ZONE_MS);
    drop_complaint (&self->lock);
    lk_survey_host *here = need_host (self, ".");
    here->here = here->live = true;
}

void
lk_survey_take (lk_survey *self, lk_requester *asker, int wait_ms)
{
    if (lk_requester_is_zoned (asker)) {
        take_zone (self, asker);
        return;
    }
    lk_message *questions[] = {lk_message_new ("router@.", "ROUTERSTATUS"),
                               lk_message_new ("lock@.", "LOCKSTATUS")};
    lk_message *answers[2];
    *self = (lk_survey) {0};
    lk_requester_ask_all (asker, questions, answers, 2, wait_ms);
    drop_complaint (&answers[0]);
    drop_complaint (&answers[1]);
    self->router = answers[0];
    self->lock = answers[1];
    lk_survey_host *here = need_host (self, lk_requester_host (asker));
    here->here = here->live = true;
    add_links (self);
    lk_message *locks[LK_SURVEY_HOSTS];
    lk_message *question = lk_message_new ("lock@.", "LOCKSTATUS");
    lk_survey_ask (self, asker, question, locks, wait_ms);
    for (size_t i = 0; i < self->count; i++) {
        self->host[i].lock = locks[i];
    }
    self->view = find_view (self);
    add_members (self);
    qsort (self->host, self->count, sizeof *self->host, by_name);
    lk_message_destroy (&question);
}

static void
set_domain (lk_survey *self, const lk_message *row)
{
    const char *name = lk_message_text (row, "host");
    const char *domain = lk_message_text (row, "domain");
    const char *told = lk_message_text (row, "told_domain");
    lk_survey_host *host = name != NULL ? find_host (self, name) : NULL;
    if (host != NULL && domain != NULL) {
        snprintf (host->domain, sizeof host->domain, "%s", domain);
        snprintf (host->told_domain, sizeof host->told_domain, "%s",
                  told != NULL ? told : "");
    }
}

void
lk_survey_take_domains (lk_survey *self, lk_requester *asker, int wait_ms)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    const char *host =
        self->view != NULL ? lk_message_text (self->view, "host") : NULL;
    if (host == NULL) {
        return;
    }
    snprintf (to, sizeof to, "lock@%s", host);
    lk_message *question = lk_message_new (to, "LOCKMEMBERS"), *row;
    lk_message *answer = lk_requester_ask (asker, &question, wait_ms);
    for (size_t i = 0;
         answer != NULL && (row = lk_message_row (answer, "members", i)); i++) {
        set_domain (self, row);
        lk_message_destroy (&row);
    }
    lk_message_destroy (&answer);
}

void
lk_survey_clear (lk_survey *self)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_message_destroy (&self->host[i].link);
        lk_message_destroy (&self->host[i].lock);
    }
    lk_message_destroy (&self->router);
    lk_message_destroy (&self->lock);
    self->view = NULL;
    self->count = 0;
}

/*  -------------------------------------------------------- what it says */

bool
lk_survey_is_ready (const lk_survey *self)
{
    return self->lock != NULL && lk_message_is (self->lock, "LOCKREADY");
}

const char *
lk_survey_reason (const lk_survey *self)
{
    if (self->lock == NULL) {
        return self->is_zoned ? "no lock service answers"
                              : "there is no lock service on this host; start "
                                "lockkeeper-lockd";
    }
    return lk_complaint_of (self->lock);
}

const char *
lk_survey_home (const lk_survey *self, const char *zone, const char *context,
                const char *object)
{
    const size_t leaders =
        self->view == NULL ? 0 : lk_message_item_count (self->view, "leaders");
    const size_t size = strlen (object);
    if (leaders == 0 || size > LK_OBJECT_LEN_MAX) {
        return NULL;
    }
    char buffer[LK_NAME_SIZE_MAX];
    const lk_name name = {object, (uint16_t) size};
    lk_name key = lk_object_key (zone != NULL ? lk_zone_plain (zone) : "",
                                 context, name, buffer, sizeof buffer);
    if (key.data == NULL) {
        return NULL;
    }
    return lk_message_item (self->view, "leaders",
                            lk_hash64 (key.data, key.size) % leaders);
}
