/*  ask.c - questions to routers and lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/ask.h"

#include "cli/access.h"
#include "cli/cli.h"
#include "net/attach.h"
#include "net/beacon.h"
#include "net/client_file.h"
#include "net/clock.h"
#include "net/random.h"
#include "net/where.h"
#include "util/alloc.h"
#include "wire/announcement.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINGER_MS 100

struct lk_requester {
    lk_attach *attach;
    uint64_t serial;      /* the last one */
    uint64_t first;       /* of those that are waited for */
    lk_message **answers; /* theirs, `missing` of them are not there; NULL */
    size_t count, missing;
    bool is_once;    /* each of its addresses is tried once */
    bool is_visitor; /* it does not register */
    lk_credential_file credential;
};

/*  What we are given is borrowed. */
static lk_message *
copy_message (const lk_message *message)
{
    lk_bytes frame = {0};
    lk_frame_header header;
    const char *broken;
    char problem[128];
    size_t at = 0;
    lk_message *copy = NULL;
    if (lk_message_write (message, &frame) == LK_OK
        && lk_frame_next (frame.data, frame.size, &at, &header, &broken)
               == LK_FRAME_MESSAGE) {
        copy = lk_message_read (&header, problem, sizeof problem);
    }
    lk_bytes_clear (&frame);
    return copy;
}

/*  Answers have the question's serial. */
static void
on_message (void *user, const lk_message *message)
{
    lk_requester *self = user;
    const uint64_t place = lk_message_serial (message) - self->first;
    if (place < self->count && self->answers[place] == NULL) {
        self->answers[place] = copy_message (message);
        self->missing--;
    }
}

static const lk_attach_calls calls = {.message = on_message};

/*  A server that does not answer may be followed by one that does; a name may
 *  have several addresses. */
#define SERVER_MS 5000
#define PAUSE_MS 100 /* until all are tried again */
#define MORE "; and others"
#define MORE_SIZE 20 /* with what is between two of them */

/*  One of several that is there in vain is not waited for. */
static bool
await_router (lk_requester *self, int64_t until_ms)
{
    lk_attach_state state;
    while ((state = lk_attach_get_state (self->attach)) != LK_ATTACH_READY
           && state != LK_ATTACH_REFUSED && lk_clock_ms () < until_ms
           && (!self->is_once || lk_attach_rounds (self->attach) == 0)) {
        lk_attach_wait (self->attach, until_ms);
    }
    return state == LK_ATTACH_READY;
}

/*  False: it cannot. `call`: NULL, or the keys for a server. */
static bool
attach_to (lk_requester *self, const char *head, const char *endpoint,
           const lk_curve_call *call, int wait_ms, lk_problem *problem)
{
    static unsigned count;
    char name[LK_SERVICE_LEN_MAX + 1];
    snprintf (name, sizeof name, "%slockkeeper-%d-a%u", head, (int) getpid (),
              ++count);
    const lk_attach_options options = {.endpoint = endpoint,
                                       .call = call,
                                       .name = name,
                                       .version = LK_VERSION,
                                       .application = true,
                                       .is_visitor = self->is_visitor,
                                       .credential = &self->credential,
                                       .linger_ms = LINGER_MS};
    self->attach = lk_attach_new (&options, &calls, self, problem);
    if (self->attach != NULL && await_router (self, lk_clock_ms () + wait_ms)) {
        return true;
    }
    if (self->attach != NULL && problem != NULL) {
        lk_attach_problem (self->attach, problem);
    }
    lk_attach_destroy (&self->attach);
    return false;
}

/*  Of many servers not all have room. A key that is not known is what somebody
 *  can do something about. */
static void
add_problem (lk_problem *all, const char *endpoint, const lk_problem *one)
{
    const lk_problem before = *all;
    const size_t size = strlen (before.text);
    if (size == 0) {
        (void) lk_problem_set (all, LK_SYSTEM, "no server serves us: '%s': %s",
                               endpoint, one->text);
    } else if (size + strlen (endpoint) + strlen (one->text) + MORE_SIZE
               < sizeof all->text) {
        (void) lk_problem_set (all, LK_SYSTEM, "%s; '%s': %s", before.text,
                               endpoint, one->text);
    } else if (strcmp (before.text + size - strlen (MORE), MORE) != 0) {
        (void) lk_problem_set (all, LK_SYSTEM, "%s" MORE, before.text);
    }
    all->number =
        lk_cli_is_forbidden (before.number) ? before.number : one->number;
}

/*  One whose domain is not known may be asked where it is. */
static bool
attach_to_server (lk_requester *self, const lk_client_file *file, size_t place,
                  int wait_ms, lk_problem *problem)
{
    const lk_client_server *server = &file->server[place];
    char head[LK_CLIENT_HEAD_SIZE];
    lk_curve_call call;
    if (server->domain[0] != '\0'
        && !lk_client_limit_allows (file->limit, server->domain, problem)) {
        return false;
    }
    lk_client_file_head (file, head);
    lk_client_file_call (file, server->key, &call);
    lk_credential_file_init (&self->credential, file->credential);
    const bool is_there =
        attach_to (self, head, server->endpoint, &call, wait_ms, problem);
    explicit_bzero (&call, sizeof call);
    return is_there;
}

/*  Whether there are others behind its address: another attempt may lead to
 *  it. */
static bool
is_shared (const lk_client_file *file, size_t place)
{
    size_t count = 0;
    for (size_t i = 0; i < file->count; i++) {
        count += strcmp (file->server[i].endpoint, file->server[place].endpoint)
                 == 0;
    }
    return count > 1;
}

/*  Where a round begins: any place if the first ones share an address, since
 *  what shares connections out may go round as we do. */
static size_t
first_place (const lk_client_file *file)
{
    uint64_t drawn = 0;
    if (!is_shared (file, 0)) {
        return 0;
    }
    lk_random_fill (&drawn, sizeof drawn);
    return drawn % file->count;
}

/*  To the first of its servers that answers; each tries its addresses once. */
static bool
attach_once (lk_requester *self, const lk_client_file *file, int each_ms,
             lk_problem *why)
{
    const size_t first = first_place (file);
    bool is_there = false;
    *why = (lk_problem) {.number = 0};
    for (size_t i = 0; !is_there && i < file->count; i++) {
        const size_t place = (first + i) % file->count;
        lk_problem one = {.number = 0};
        is_there = attach_to_server (self, file, place, each_ms, &one);
        if (!is_there) {
            add_problem (why, file->server[place].endpoint, &one);
        }
    }
    return is_there;
}

static bool
has_server (const lk_client_file *file, const lk_client_server *server)
{
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp (file->server[i].endpoint, server->endpoint) == 0
            && strcmp (file->server[i].key, server->key) == 0) {
            return true;
        }
    }
    return false;
}

/*  Adds servers that were heard of. */
static void
hear (lk_client_file *file, lk_beacon *beacon)
{
    char line[LK_BEACON_SIZE];
    lk_client_server server;
    size_t size;
    while (beacon != NULL && (size = lk_beacon_next (beacon, line)) > 0) {
        if (lk_client_file_hears (file, line, size, &server)
            && !has_server (file, &server)) {
            (void) !lk_client_file_add (file, &server);
        }
    }
}

/*  Where there are servers it is no matter if there is no network for it. */
static bool
open_beacon (lk_beacon **beacon_p, const lk_client_file *file,
             lk_problem *problem)
{
    lk_problem ignored;
    *beacon_p = NULL;
    if (file->beacon != 0) {
        *beacon_p =
            lk_beacon_new (file->beacon, file->count > 0 ? &ignored : problem);
    }
    if (*beacon_p != NULL) {
        lk_beacon_listen (*beacon_p, LK_ANNOUNCEMENT_BEGIN);
    }
    return *beacon_p != NULL || file->count > 0;
}

/*  Until one does, or that time is over; each was tried then. */
static bool
attach_to_any (lk_requester *self, lk_client_file *file, int wait_ms,
               lk_problem *problem)
{
    const int64_t until_ms = lk_clock_ms () + wait_ms;
    const int each_ms = wait_ms < SERVER_MS ? wait_ms : SERVER_MS;
    lk_beacon *beacon;
    bool is_there = false;
    if (!open_beacon (&beacon, file, problem)) {
        return false;
    }
    self->is_once = true;
    while (!(is_there = attach_once (self, file, each_ms, problem))
           && lk_clock_ms () + PAUSE_MS < until_ms) {
        (void) poll (NULL, 0, PAUSE_MS);
        hear (file, beacon);
    }
    lk_beacon_destroy (&beacon);
    if (!is_there && file->count == 0) {
        (void) lk_problem_set (problem, LK_TIMEDOUT,
                               "no beacon was heard of a server whose key we "
                               "have");
        problem->number = ETIMEDOUT;
    }
    return is_there;
}

static bool
attach_far (lk_requester *self, const char *path, const char *endpoint,
            int wait_ms, lk_problem *problem)
{
    lk_client_file *file = lk_alloc (sizeof *file);
    const bool is_there =
        lk_client_file_read (file, path, problem) == LK_OK
        && (endpoint == NULL
            || lk_client_file_redirect (file, endpoint, problem) == LK_OK)
        && lk_client_file_check_servers (file, problem) == LK_OK
        && attach_to_any (self, file, wait_ms, problem);
    lk_client_file_clear (file);
    lk_free (file);
    return is_there;
}

lk_requester *
lk_requester_new (const char *endpoint, int wait_ms, lk_problem *problem)
{
    lk_requester *self = lk_alloc (sizeof *self);
    lk_problem ignored;
    const char *client = lk_where_client (NULL, &endpoint);
    if (client != NULL
            ? !attach_far (self, client, endpoint, wait_ms,
                           problem != NULL ? problem : &ignored)
            : !attach_to (self, "", endpoint, NULL, wait_ms, problem)) {
        lk_requester_destroy (&self);
    }
    return self;
}

lk_requester *
lk_requester_far (const char *client, bool is_visitor, int wait_ms,
                  lk_problem *problem)
{
    lk_requester *self = lk_alloc (sizeof *self);
    const char *endpoint = NULL;
    (void) lk_where_client (client, &endpoint);
    self->is_visitor = is_visitor;
    if (!attach_far (self, client, endpoint, wait_ms, problem)) {
        lk_requester_destroy (&self);
    }
    return self;
}

lk_requester *
lk_requester_by (const lk_client_file *file, size_t place, int wait_ms,
                 lk_problem *problem)
{
    lk_requester *self = lk_alloc (sizeof *self);
    self->is_once = !is_shared (file, place);
    if (!attach_to_server (self, file, place, wait_ms, problem)) {
        lk_requester_destroy (&self);
    }
    return self;
}

void
lk_requester_destroy (lk_requester **self_p)
{
    lk_requester *self = *self_p;
    if (self != NULL) {
        lk_attach_destroy (&self->attach);
        lk_free (self);
        *self_p = NULL;
    }
}

const char *
lk_requester_host (const lk_requester *self)
{
    return lk_attach_host (self->attach);
}

lk_requester_person
lk_requester_who (const lk_requester *self)
{
    const int64_t ends_ms = lk_attach_credential_ends_ms (self->attach);
    const int64_t left_ms = ends_ms - lk_clock_ms ();
    return (lk_requester_person) {.zone = lk_attach_zone (self->attach),
                                  .user = lk_attach_user (self->attach),
                                  .role = lk_attach_role (self->attach),
                                  .left_ms = ends_ms == INT64_MAX ? -1
                                             : left_ms > 0        ? left_ms
                                                                  : 0};
}

bool
lk_requester_is_zoned (const lk_requester *self)
{
    return lk_attach_zone (self->attach)[0] != '\0';
}

void
lk_requester_ask_all (lk_requester *self, lk_message **questions,
                      lk_message **answers, size_t count, int wait_ms)
{
    const int64_t until_ms = lk_clock_ms () + wait_ms;
    self->first = self->serial + 1;
    self->answers = answers;
    self->count = self->missing = count;
    for (size_t i = 0; i < count; i++) {
        self->serial++;
        answers[i] = NULL;
        if (questions[i] != NULL) {
            lk_message_set_serial (questions[i], self->serial);
            (void) lk_attach_send (self->attach, &questions[i]);
        } else {
            self->missing--;
        }
    }
    lk_attach_flush (self->attach);
    while (self->missing > 0 && lk_clock_ms () < until_ms) {
        lk_attach_wait (self->attach, until_ms);
    }
    self->answers = NULL;
    self->count = 0;
}

lk_message *
lk_requester_ask (lk_requester *self, lk_message **question_p, int wait_ms)
{
    lk_message *answer;
    lk_requester_ask_all (self, question_p, &answer, 1, wait_ms);
    return answer;
}

/*  -------------------------------------------------------- answers */

const char *
lk_text_of (const lk_message *message, const char *field)
{
    const char *text = lk_message_text (message, field);
    return text != NULL ? text : "?";
}

const char *
lk_complaint_of (const lk_message *answer)
{
    const bool is_failure = lk_message_is (answer, "LOCKFAILED");
    const char *reason =
        lk_message_text (answer, is_failure ? "text" : "reason");
    return reason != NULL ? reason : "no reason told";
}

int
lk_say_no_service (const lk_message *answer)
{
    if (answer != NULL && lk_message_is (answer, "LOCKFAILED")) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", lk_complaint_of (answer));
    }
    return answer == NULL
               ? lk_cli_fail (LK_EXIT_LATE,
                              "the lock service of this host does not answer; "
                              "`lockkeeper status` shows how it is")
               : lk_cli_fail (LK_EXIT_FAILED,
                              "%s; is lockkeeper-lockd running on this host?",
                              lk_text_of (answer, "reason"));
}
