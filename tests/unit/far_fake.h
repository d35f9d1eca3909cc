/*  far_fake.h - servers for a machine without a router, played by a thread, and
 *  a session with them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each server is a router with a lock service; behind them is one home, which
 *  knows a lock by its serial. For one test program each.
 */

#ifndef LK_FAR_FAKE_H
#define LK_FAR_FAKE_H

#include "lib/foreign.h"
#include "net/client_file.h"
#include "net/clock.h"
#include "util/bytes.h"
#include "wire/message_frame.h"

#include <check.h>
#include <lockkeeper/lockkeeper.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAKE __attribute__ ((unused)) static

/*  Client files say so, unless the test has said otherwise ahead. */
#ifndef FAKE_ORDER
#define FAKE_ORDER "    order = listed\n"
#endif

#define SERVERS 2
#define LOCKS_MAX 8
#define NAMES_MAX 4
#define HANG_MS 30000 /* what comes is waited for no longer */
#define LOG_SIZE 100000

typedef struct {
    lk_curve_pair pair;
    char host[8];
    char endpoint[64];
    lk_socket *socket; /* NULL: it is dead */
    lk_identity client;
    char name[64];  /* of the client */
    int64_t number; /* of its registration; 0: none */
    uint64_t drawn;
    bool is_silent;     /* it hears nothing */
    bool is_bare;       /* its router has no lock service */
    bool is_unheard;    /* no leader vouches for it */
    const char *domain; /* that it is told of with; NULL: it is not told of */
    int leases;         /* it was asked for one so often */
    int64_t clock;      /* the client's, as it said last */
    char log[LOG_SIZE]; /* "LOCK 12 {...}\n" */
} server;

typedef struct {
    uint64_t serial; /* 0: none */
    int64_t number;
    bool is_held;
    bool is_static;
    char type[16];
    char name[NAMES_MAX][8]; /* of a set */
    size_t count;            /* ... so many; 0: it is none */
    uint64_t token;          /* of the first one */
    int64_t turn;            /* the latest that was made */
} home_lock;

static struct {
    char dir[32];
    char file[64];
    char credential[80];
    lk_context *context;
    pthread_t thread;
    pthread_mutex_t mutex;
    bool is_over;
    lk_curve_pair client;
    server server[SERVERS];
    home_lock lock[LOCKS_MAX];
    int64_t lease_ms;
    int64_t late_ms;         /* a leader vouches so long after it is asked */
    int64_t duration_ms;     /* that is left of what is granted; -1 */
    bool is_full;            /* nothing is granted, no type changed */
    bool is_dumb;            /* a change of type is made, and nothing said */
    bool is_late;            /* what is given back was over before */
    uint64_t kept;           /* LOCK of which no UNLOCK is answered */
    int64_t left_s;          /* of the client's credential; 0: it has no end */
    const char *claim_error; /* by which all claims fail; NULL */
    const char *refusal;     /* of REGISTER, but by `renewed`; NULL: READY */
    const char *renewed;     /* the answer to RENEW, ... */
    const char *unrenewed;   /* ... or why it fails */
    int64_t renewed_s;       /* left of what is renewed */
} fake;

#define WITH_LOCK(statement)                                                   \
    do {                                                                       \
        pthread_mutex_lock (&fake.mutex);                                      \
        statement;                                                             \
        pthread_mutex_unlock (&fake.mutex);                                    \
    } while (0)

/*  -------------------------------------------------------- a server */

FAKE void
send_back (server *self, lk_message *message, const char *service)
{
    char from[32];
    lk_bytes frame = {0};
    lk_part part;
    snprintf (from, sizeof from, "%s@%s", service, self->host);
    lk_message_set_from (message, from);
    ck_assert_int_eq (lk_message_write (message, &frame), LK_OK);
    lk_part_init (&part);
    lk_part_fill (&part, frame.data, frame.size);
    (void) lk_socket_send (self->socket, &self->client, &part);
    lk_part_clear (&part);
    lk_bytes_clear (&frame);
    lk_message_destroy (&message);
}

/*  Its lock service says that of the registration; unasked for, if `serial` is
 *  that of a LOCK. */
FAKE lk_message *
new_word (server *self, const char *command, uint64_t serial)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "%s@%s", self->name, self->host);
    lk_message *message = lk_message_new (to, command);
    lk_message_set_serial (message, serial);
    lk_message_set_number (message, "registration", self->number);
    lk_message_set_hex (message, "drawn", self->drawn);
    return message;
}

/*  Its router tells of all servers that are to be told of; of none at all if
 *  there are none. */
FAKE void
send_list (server *self)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "%s@%s", self->name, self->host);
    lk_message *list = lk_message_new (to, "SERVERS");
    for (size_t i = 0; i < SERVERS; i++) {
        const server *it = &fake.server[i];
        if (it->domain != NULL) {
            lk_message *row = lk_message_row_new ();
            lk_message_set_text (row, "host", it->host);
            lk_message_set_text (row, "address", it->endpoint + 6);
            lk_message_set_text (row, "key", it->pair.public_key);
            lk_message_set_text (row, "domain", it->domain);
            lk_message_add_row (list, "servers", &row);
        }
    }
    if (lk_message_has (list, "servers")) {
        send_back (self, list, "router");
    } else {
        lk_message_destroy (&list);
    }
}

static bool
is_by_renewed (const lk_message *message)
{
    const char *line = lk_message_text (message, "credential");
    return line != NULL && fake.renewed != NULL
           && strcmp (line, fake.renewed) == 0;
}

static void
answer_registration (server *self, const lk_message *message)
{
    lk_message *answer = lk_message_reply (message, "READY");
    lk_message_set_text (answer, "host", self->host);
    if (fake.left_s > 0) {
        lk_message_set_text (answer, "zone", "corp");
        lk_message_set_number (answer, "credential_left",
                               is_by_renewed (message) ? fake.renewed_s
                                                       : fake.left_s);
    }
    snprintf (self->name, sizeof self->name, "%s",
              lk_message_text (message, "service"));
    send_back (self, answer, "router");
    send_list (self);
}

static void
answer_router (server *self, const lk_message *message)
{
    if (lk_message_is (message, "REGISTER") && fake.refusal != NULL
        && !is_by_renewed (message)) {
        lk_message *answer = lk_message_reply (message, "REFUSE");
        lk_message_set_text (answer, "reason", fake.refusal);
        send_back (self, answer, "router");
    } else if (lk_message_is (message, "REGISTER")) {
        answer_registration (self, message);
    } else if (lk_message_is (message, "RENEW")) {
        const bool is_done = fake.unrenewed == NULL;
        lk_message *answer =
            lk_message_reply (message, is_done ? "LOGIN" : "LOGINFAILED");
        lk_message_set_text (answer, is_done ? "credential" : "error",
                             is_done ? fake.renewed : fake.unrenewed);
        send_back (self, answer, "router");
    }
}

static void
answer_register (server *self, const lk_message *message)
{
    self->number = lk_message_number (message, "registration", 0);
    self->drawn += 0x1000;
    lk_message *answer =
        new_word (self, "LOCKREGISTER", lk_message_serial (message));
    lk_message_set_number (answer, "lease", fake.lease_ms);
    send_back (self, answer, "lock");
}

static void
answer_lease (server *self, const lk_message *message)
{
    self->leases++;
    if (self->is_unheard) {
        return;
    }
    self->clock = lk_message_number (message, "sent", 0);
    lk_message *answer =
        new_word (self, "LOCKLEASE", lk_message_serial (message));
    lk_message_set_number (answer, "sent", self->clock - fake.late_ms);
    lk_message_set_number (answer, "left", fake.lease_ms);
    send_back (self, answer, "lock");
}

FAKE home_lock *
home_find (uint64_t serial)
{
    for (size_t i = 0; i < LOCKS_MAX; i++) {
        if (fake.lock[i].serial == serial) {
            return &fake.lock[i];
        }
    }
    return NULL;
}

/*  A set is told in another order than it was asked for. */
static void
add_granted (lk_message *answer, const home_lock *lock)
{
    for (size_t i = lock->count; i-- > 0;) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "object", lock->name[i]);
        lk_message_set_hex (row, "token", lock->token + i);
        lk_message_set_hex (row, "key", 0x37 + i);
        lk_message_add_row (answer, "locks", &row);
    }
}

FAKE void
grant (server *self, uint64_t serial)
{
    static const home_lock plain = {.type = "exclusive", .token = 7777};
    const home_lock *lock = home_find (serial);
    lk_message *answer = new_word (self, "LOCKED", serial);
    lock = lock != NULL ? lock : &plain;
    if (lock->count > 0) {
        add_granted (answer, lock);
    } else {
        lk_message_set_hex (answer, "token", lock->token);
        lk_message_set_hex (answer, "key", 0x37);
    }
    lk_message_set_text (answer, "type", lock->type);
    if (lock->turn > 0) {
        lk_message_set_number (answer, "turn", lock->turn);
    }
    if (lock->is_static) {
        lk_message_set_flag (answer, "static", true);
    }
    lk_message_set_number (answer, "ordinal", 1);
    lk_message_set_number (answer, "left", fake.duration_ms);
    lk_message_set_number (answer, "as_of", self->clock);
    send_back (self, answer, "lock");
}

static void
say_failed (server *self, const lk_message *message, const char *error)
{
    lk_message *answer =
        new_word (self, "LOCKFAILED", lk_message_serial (message));
    lk_message_set_text (answer, "error", error);
    send_back (self, answer, "lock");
}

static void
take_names (home_lock *lock, const lk_message *message)
{
    lock->count = lk_message_item_count (message, "locks");
    for (size_t i = 0; i < lock->count && i < NAMES_MAX; i++) {
        lk_message *row = lk_message_row (message, "locks", i);
        snprintf (lock->name[i], sizeof lock->name[i], "%s",
                  lk_message_text (row, "object"));
        lk_message_destroy (&row);
    }
}

static home_lock *
new_lock (const lk_message *message)
{
    const uint64_t serial = lk_message_serial (message);
    home_lock *lock = home_find (0);
    *lock = (home_lock) {.serial = serial,
                         .token = 7000 + serial % 1000,
                         .is_static = lk_message_flag (message, "static")};
    snprintf (lock->type, sizeof lock->type, "%s",
              lk_message_text (message, "type"));
    take_names (lock, message);
    return lock;
}

/*  From shared to exclusive it has a later token. */
static void
answer_turn (server *self, home_lock *lock, const lk_message *message)
{
    const char *type = lk_message_text (message, "type");
    if (fake.is_full) {
        return;
    }
    lock->token += strcmp (type, lock->type) != 0 && type[0] == 'e' ? 100 : 0;
    snprintf (lock->type, sizeof lock->type, "%s", type);
    lock->turn = lk_message_number (message, "turn", 0);
    if (!fake.is_dumb) {
        grant (self, lock->serial);
    }
}

/*  A change that its application did not hear of is taken back. */
static void
note_claim (home_lock *lock, const lk_message *message)
{
    snprintf (lock->type, sizeof lock->type, "%s",
              lk_message_text (message, "type"));
    lock->turn = 0;
}

static void
answer_lock (server *self, const lk_message *message)
{
    const uint64_t serial = lk_message_serial (message);
    const bool is_claim =
        strstr (lk_message_body (message), "\"token\":") != NULL;
    home_lock *lock = home_find (serial);
    if (lk_message_has (message, "turn")) {
        answer_turn (self, lock, message);
        return;
    }
    if (is_claim && (lock == NULL || fake.claim_error != NULL)) {
        say_failed (self, message, lock == NULL ? "unknown" : fake.claim_error);
        return;
    }
    if (lock == NULL) {
        lock = new_lock (message);
    }
    if (is_claim) {
        note_claim (lock, message);
    }
    lock->number = self->number;
    lock->is_held = lock->is_held || !fake.is_full;
    if (lock->is_held) {
        grant (self, serial);
    }
}

static void
answer_unlock (server *self, const lk_message *message)
{
    const uint64_t serial =
        (uint64_t) lk_message_number (message, "request", 0);
    home_lock *lock = home_find (serial);
    if (serial != 0 && serial == fake.kept) {
        return;
    }
    if (lock != NULL) {
        *lock = (home_lock) {0};
    }
    lk_message *answer =
        new_word (self, "UNLOCKED", lk_message_serial (message));
    if (fake.is_late) {
        lk_message_set_flag (answer, "late", true);
    }
    send_back (self, answer, "lock");
}

/*  Whether it is of the registration that there is; else it is answered so. */
static bool
is_known (server *self, const lk_message *message)
{
    uint64_t drawn = 0;
    (void) lk_message_hex (message, "drawn", &drawn);
    if (drawn == self->drawn
        && lk_message_number (message, "registration", 0) == self->number) {
        return true;
    }
    lk_message *answer = lk_message_reply (message, "LOCKUNREGISTERED");
    lk_message_set_number (answer, "registration",
                           lk_message_number (message, "registration", 0));
    lk_message_set_hex (answer, "drawn", drawn);
    send_back (self, answer, "lock");
    return false;
}

static void
answer_service (server *self, const lk_message *message)
{
    if (self->is_bare) {
        lk_message *answer = lk_message_reply (message, "TRANSMISSIONREPORT");
        lk_message_set_text (answer, "reason", "nobody is called lock");
        send_back (self, answer, "router");
    } else if (lk_message_is (message, "LOCKREGISTER")) {
        answer_register (self, message);
    } else if (!is_known (self, message)) {
        return;
    } else if (lk_message_is (message, "LOCKLEASE")) {
        answer_lease (self, message);
    } else if (lk_message_is (message, "LOCK")) {
        answer_lock (self, message);
    } else if (lk_message_is (message, "UNLOCK")) {
        answer_unlock (self, message);
    }
}

static void
note (server *self, const lk_message *message)
{
    const size_t used = strlen (self->log);
    snprintf (self->log + used, sizeof self->log - used, "%s %d %s\n",
              lk_message_command (message),
              (int) (lk_message_serial (message) % 1000),
              lk_message_body (message));
}

static void
take (server *self, lk_part *part)
{
    size_t at = 0;
    lk_frame_header header;
    const char *broken;
    char problem[128];
    while (lk_frame_next (lk_part_data (part), lk_part_size (part), &at,
                          &header, &broken)
           == LK_FRAME_MESSAGE) {
        lk_message *message =
            lk_message_read (&header, problem, sizeof problem);
        note (self, message);
        if (strncmp (lk_message_to (message), "router@", 7) == 0) {
            answer_router (self, message);
        } else {
            answer_service (self, message);
        }
        lk_message_destroy (&message);
    }
}

static void
serve (server *self)
{
    lk_part part;
    lk_part_init (&part);
    while (self->socket != NULL
           && lk_socket_receive (self->socket, &self->client, &part)
                  == LK_IO_DONE) {
        if (!self->is_silent) {
            take (self, &part);
        }
    }
    lk_part_clear (&part);
}

static void *
run_fake (void *user)
{
    bool is_over = false;
    while (!is_over) {
        WITH_LOCK (for (size_t i = 0; i < SERVERS; i++) {
            serve (&fake.server[i]);
        } is_over = fake.is_over);
        (void) poll (NULL, 0, 2);
    }
    return user;
}

/*  -------------------------------------------------------- all of them */

FAKE void
open_server (size_t place)
{
    const lk_socket_options options = {.linger_ms = 0};
    server *self = &fake.server[place];
    self->socket = lk_socket_router_new (fake.context, &options);
    lk_socket_serve (self->socket, &self->pair);
    lk_socket_bind (self->socket, self->endpoint[0] != '\0'
                                      ? self->endpoint
                                      : "tcp://127.0.0.1:*");
    snprintf (self->endpoint, sizeof self->endpoint, "%s",
              lk_socket_endpoint (self->socket));
}

FAKE void
kill_server (size_t place)
{
    WITH_LOCK (lk_socket_destroy (&fake.server[place].socket));
}

static void
write_file (void)
{
    lk_client_file file;
    lk_problem problem;
    snprintf (fake.file, sizeof fake.file, "%s/client", fake.dir);
    snprintf (fake.credential, sizeof fake.credential, "%s.credential",
              fake.file);
    (void) unlink (fake.file);
    ck_assert_int_eq (lk_client_file_make (&file, fake.file, &problem), LK_OK);
    fake.client = file.pair;
    FILE *out = fopen (fake.file, "w");
    fprintf (out, "client\n    public-key = \"%s\"\n    secret-key = \"%s\"\n",
             file.pair.public_key, file.pair.secret_key);
    fputs (FAKE_ORDER, out);
    for (size_t i = 0; i < SERVERS; i++) {
        fprintf (out, "    server = \"%s %s\"\n", fake.server[i].endpoint,
                 fake.server[i].pair.public_key);
    }
    ck_assert_int_eq (fclose (out), 0);
}

FAKE void
set_up (void)
{
    memset (&fake, 0, sizeof fake);
    pthread_mutex_init (&fake.mutex, NULL);
    fake.lease_ms = 2000;
    fake.duration_ms = -1;
    snprintf (fake.dir, sizeof fake.dir, "/tmp/lk-test-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (fake.dir));
    fake.context = lk_context_new ();
    for (size_t i = 0; i < SERVERS; i++) {
        snprintf (fake.server[i].host, sizeof fake.server[i].host, "h%zu",
                  i + 1);
        lk_curve_make (&fake.server[i].pair);
        fake.server[i].drawn = i + 1;
        open_server (i);
    }
    write_file ();
    ck_assert_int_eq (pthread_create (&fake.thread, NULL, run_fake, NULL), 0);
}

FAKE void
tear_down (void)
{
    WITH_LOCK (fake.is_over = true);
    pthread_join (fake.thread, NULL);
    for (size_t i = 0; i < SERVERS; i++) {
        lk_socket_destroy (&fake.server[i].socket);
    }
    lk_context_destroy (&fake.context);
    unlink (fake.file);
    unlink (fake.credential);
    ck_assert_int_eq (rmdir (fake.dir), 0);
}

/*  -------------------------------------------------------- what was heard */

/*  How often that text is in what it heard. */
FAKE int
heard (size_t place, const char *text)
{
    int count = 0;
    pthread_mutex_lock (&fake.mutex);
    const char *at = fake.server[place].log;
    while ((at = strstr (at, text)) != NULL) {
        count++;
        at += strlen (text);
    }
    pthread_mutex_unlock (&fake.mutex);
    return count;
}

FAKE void
hears (size_t place, const char *text)
{
    const int64_t end_ms = lk_clock_ms () + HANG_MS;
    while (heard (place, text) == 0 && lk_clock_ms () < end_ms) {
        (void) poll (NULL, 0, 5);
    }
    ck_assert_int_gt (heard (place, text), 0);
}

/*  The rest of the first line with that, for strstr; "". */
FAKE const char *
line_of (size_t place, const char *text)
{
    static char line[2000];
    pthread_mutex_lock (&fake.mutex);
    const char *at = strstr (fake.server[place].log, text);
    at += at != NULL && at[0] == '\n';
    snprintf (line, sizeof line, "%.*s",
              at != NULL ? (int) strcspn (at, "\n") : 0, at != NULL ? at : "");
    pthread_mutex_unlock (&fake.mutex);
    return line;
}

/*  -------------------------------------------------------- the session */

static void
forget_heard (void)
{
    for (size_t i = 0; i < SERVERS; i++) {
        fake.server[i].log[0] = '\0';
    }
}

/*  By the first server, unless that is closed: on a busy machine another may be
 *  tried as well. */
FAKE lk_session *
open_session (void)
{
    const lk_session_options options = {.client = fake.file, .name = "a b"};
    lk_session *session;
    bool is_other;
    do {
        session = lk_session_new (&options);
        ck_assert_msg (session != NULL, "%s", lk_session_problem (NULL));
        is_other = FAKE_ORDER[0] != '\0' && fake.server[0].socket != NULL
                   && heard (1, "LOCKREGISTER");
        if (is_other) {
            lk_session_destroy (&session);
            WITH_LOCK (forget_heard ());
        }
    } while (is_other);
    return session;
}

FAKE lk_lock *
get_lock (lk_session *session)
{
    lk_lock *lock = NULL;
    ck_assert_int_eq (lk_lock_wait (session, "thing", 10000, &lock), LK_OK);
    return lock;
}

/*  Nothing is told until that is heard, so often. */
FAKE void
quiet_until_often (lk_session *session, size_t place, const char *text,
                   int count)
{
    lk_lock_event event;
    const int64_t end_ms = lk_clock_ms () + HANG_MS;
    while (heard (place, text) < count && lk_clock_ms () < end_ms) {
        ck_assert_int_eq (lk_session_poll (session, 20, &event), LK_EVENT_NONE);
    }
    ck_assert_int_ge (heard (place, text), count);
}

FAKE void
quiet_until (lk_session *session, size_t place, const char *text)
{
    quiet_until_often (session, place, text, 1);
}

FAKE void
quiet_for (lk_session *session, int64_t ms)
{
    lk_lock_event event;
    const int64_t end_ms = lk_clock_ms () + ms;
    while (lk_clock_ms () < end_ms) {
        ck_assert_int_eq (lk_session_poll (session, 20, &event), LK_EVENT_NONE);
    }
}

FAKE lk_lock_event
next_event (lk_session *session)
{
    lk_lock_event event;
    (void) lk_session_poll (session, HANG_MS, &event);
    return event;
}

/*  The first server says that what it heard first has failed; 0: no turn. */
FAKE void
fail_lock (const char *error, int64_t turn)
{
    lk_message *word;
    WITH_LOCK (
        word = new_word (&fake.server[0], "LOCKFAILED", fake.lock[0].serial);
        lk_message_set_text (word, "error", error); if (turn > 0) {
            lk_message_set_number (word, "turn", turn);
        } send_back (&fake.server[0], word, "lock"));
}

/*  -------------------------------------------------------- suites */

/*  Of so many tests, each with servers of its own. */
FAKE TCase *
add_case (Suite *suite, const char *name)
{
    TCase *tcase = tcase_create (name);
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 2 * HANG_MS / 1000);
    suite_add_tcase (suite, tcase);
    return tcase;
}

#endif
