/*  login.c - LOGIN and RENEW: what is asked, and what is answered
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A refusal tells neither which of zone, user and password is wrong nor by
 *  its time: it leaves when a whole second is over. lockkeeper-protocol(7),
 *  8.8.
 */

#include "issuing.h"

#include "net/curve.h"
#include "net/log.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#define WAIT_MS 5000     /* without a verdict, of a zone that is nowhere */
#define NOT_READY_S 2    /* until settings may be known */
#define ADDRESS_SIZE 128 /* as it is told */

struct lk_login {
    char from[LK_ADDRESS_LEN_MAX + 1]; /* the router */
    uint64_t serial;
    bool is_renewal;
    bool is_last;                   /* nobody else can be asked */
    char zone[LK_ZONE_LEN_MAX + 1]; /* "": that is none */
    char user[LK_USER_LEN_MAX + 1]; /* likewise */
    char key[LK_CURVE_TEXT_SIZE];
    char address[ADDRESS_SIZE];
    int64_t since; /* RENEW: of its log-in */

    char by_user[LK_THROTTLE_WHO_SIZE]; /* counted so; "": not counted */
    char by_address[LK_THROTTLE_WHO_SIZE];

    int64_t began_ms;
    int64_t until_ms;    /* the verdict has to be there, */
    lk_pool_item *asked; /* of that; NULL: it was */
    const char *unasked; /* why nobody was asked; NULL: somebody was */
    int64_t refuse_ms;   /* when the refusal leaves; 0: there is none */
    lk_login *prev, *next;
};

/*  -------------------------------------------------------- the log */

/*  A zone's log has what is about it, if there is such a zone. */
static const char *
zone_of (const lk_issuing *self, const lk_login *login)
{
    lk_issuing_way way;
    return login->zone[0] != '\0'
                   && lk_known_find (&self->known, login->zone, &way)
                          != LK_ISSUED_NOWHERE
               ? login->zone
               : NULL;
}

static void
audit_refusal (lk_issuing *self, const lk_login *login, const char *why)
{
    char fingerprint[LK_FINGERPRINT_SIZE];
    lk_curve_fingerprint (login->key, fingerprint);
    lk_zone_file_notice (
        &self->zone_file, zone_of (self, login),
        "audit: %s refused who=%s zone=%s from=%s key=%s why=%s",
        login->is_renewal ? "renew" : "login", lk_user_shown (login->user),
        lk_user_shown (login->zone), lk_user_shown (login->address),
        fingerprint, why);
}

static void
audit_issue (lk_issuing *self, const lk_login *login,
             const lk_credential *credential)
{
    char fingerprint[LK_FINGERPRINT_SIZE];
    lk_curve_fingerprint (login->key, fingerprint);
    lk_zone_file_notice (&self->zone_file, login->zone,
                         "audit: %s ok who=%s zone=%s from=%s role=%s key=%s "
                         "serial=%016" PRIx64 " until=%" PRId64,
                         login->is_renewal ? "renew" : "login", login->user,
                         login->zone, lk_user_shown (login->address),
                         lk_role_words[credential->role], fingerprint,
                         credential->serial, credential->not_after);
}

/*  -------------------------------------------------------- answers */

static lk_message *
new_answer (const lk_login *self, const char *command)
{
    lk_message *answer = lk_message_new (self->from, command);
    lk_message_set_serial (answer, self->serial);
    return answer;
}

static void
fail (lk_issuing *self, const lk_login *login, lk_err error, const char *reason,
      int64_t wait_s)
{
    lk_message *answer = new_answer (login, "LOGINFAILED");
    lk_message_set_text (answer, "error", lk_err_word (error));
    lk_message_set_text (answer, "reason", reason);
    if (wait_s > 0) {
        lk_message_set_number (answer, "wait", wait_s);
    }
    (void) lk_bus_send (self->bus, &answer);
}

static void
fail_denied (lk_issuing *self, const lk_login *login)
{
    fail (self, login, LK_DENIED,
          login->is_renewal ? "it cannot be renewed: log in again"
                            : "wrong zone, user or password",
          0);
}

static void
count (lk_issuing *self, const lk_login *login, lk_guess guess)
{
    const int64_t now = lk_bus_now (self->bus);
    if (login->by_user[0] != '\0') {
        lk_throttle_end (&self->users, login->by_user, guess, now);
        lk_throttle_end (&self->addresses, login->by_address, guess, now);
    }
}

static void
drop (lk_issuing *self, lk_login *login)
{
    if (login->asked != NULL) {
        lk_pool_give_up (self->pool, &login->asked);
    }
    DL_DELETE (self->logins, login);
    self->login_count--;
    lk_free (login);
}

/*  It leaves later. */
static void
refuse (lk_issuing *self, lk_login *login, const char *why)
{
    const int64_t spent = lk_bus_now (self->bus) - login->began_ms;
    count (self, login, LK_GUESS_WRONG);
    audit_refusal (self, login, why);
    login->refuse_ms =
        login->began_ms
        + (spent / LK_LOGIN_REFUSAL_MS + 1) * LK_LOGIN_REFUSAL_MS;
}

static lk_issued
find (const lk_issuing *self, const lk_login *login, lk_issuing_way *way)
{
    *way = (lk_issuing_way) {0};
    return login->zone[0] != '\0'
               ? lk_known_find (&self->known, login->zone, way)
               : LK_ISSUED_NOWHERE;
}

/*  Admins are of the zone default alone. */
static lk_role
role_in (const char *zone, lk_role role)
{
    return role == LK_ROLE_ADMIN && lk_zone_plain (zone)[0] != '\0'
               ? LK_ROLE_OPERATOR
               : role;
}

static void
issue (lk_issuing *self, lk_login *login, lk_role role)
{
    lk_issuing_way way;
    char line[LK_CREDENTIAL_SIZE];
    const int64_t now = (int64_t) time (NULL);
    lk_credential credential = {.role = role_in (login->zone, role),
                                .not_before = now,
                                .since =
                                    login->is_renewal ? login->since : now};
    if (find (self, login, &way) != LK_ISSUED_HERE) {
        fail (self, login, LK_UNKNOWN, "this host does not issue for it", 0);
        count (self, login, LK_GUESS_UNDECIDED);
        drop (self, login);
        return;
    }
    credential.not_after = now + way.zone->ttl_s;
    snprintf (credential.zone, sizeof credential.zone, "%s", login->zone);
    snprintf (credential.user, sizeof credential.user, "%s", login->user);
    snprintf (credential.key, sizeof credential.key, "%s", login->key);
    lk_credential_sign (&credential, way.pair, line);
    lk_message *answer = new_answer (login, "LOGIN");
    lk_message_set_text (answer, "credential", line);
    (void) lk_bus_send (self->bus, &answer);
    count (self, login, LK_GUESS_RIGHT);
    audit_issue (self, login, &credential);
    drop (self, login);
}

static void
say_no_answer (lk_issuing *self, lk_login *login, const char *why)
{
    lk_log_warning ("authority: does not answer zone=%s: %s", login->zone, why);
    audit_refusal (self, login, "no-answer");
    count (self, login, LK_GUESS_UNDECIDED);
    fail (self, login, LK_TIMEDOUT,
          "who knows the zone's users does not answer", 0);
    drop (self, login);
}

static void
take_verdict (lk_issuing *self, lk_login *login,
              const lk_authority_answer *verdict)
{
    static const char *const words[LK_SAYINGS] = {
        [LK_SAYS_NO_USER] = "no-user",
        [LK_SAYS_NO_ONE_USER] = "several-users",
        [LK_SAYS_WRONG_PASSWORD] = "wrong-password",
        [LK_SAYS_NO_ROLE] = "no-role",
    };
    if (verdict->saying == LK_SAYS_ROLE) {
        issue (self, login, verdict->role);
    } else if (verdict->saying == LK_SAYS_NO_ANSWER) {
        say_no_answer (self, login, verdict->why);
    } else {
        refuse (self, login,
                login->unasked != NULL ? login->unasked
                                       : words[verdict->saying]);
    }
}

/*  -------------------------------------------------------- questions */

static void
read_text (const lk_message *message, const char *field, char *text,
           size_t size)
{
    const char *value = lk_message_text (message, field);
    snprintf (text, size, "%s",
              value != NULL && strlen (value) < size ? value : "");
}

/*  The router puts in some fields; the rest is anybody's. */
static bool
read_login (const lk_message *message, lk_login *self)
{
    read_text (message, "zone", self->zone, sizeof self->zone);
    read_text (message, "user", self->user, sizeof self->user);
    read_text (message, "key", self->key, sizeof self->key);
    read_text (message, "address", self->address, sizeof self->address);
    if (!lk_message_text (message, "zone")) {
        snprintf (self->zone, sizeof self->zone, LK_ZONE_DEFAULT);
    } else if (!lk_address_is_name (lk_slice_of (self->zone))) {
        self->zone[0] = '\0';
    }
    if (!lk_user_is_name (self->user)) {
        self->user[0] = '\0';
    }
    self->since = lk_message_number (message, "since", 0);
    self->is_last = lk_message_flag (message, "last");
    return lk_curve_is_key (self->key);
}

static char
lower (char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

/*  After how many seconds it may be tried again; 0: now. LDAP takes Ann and ANN
 *  for one. */
static int64_t
throttle (lk_issuing *self, lk_login *login)
{
    const int64_t now = lk_bus_now (self->bus);
    char user[LK_THROTTLE_WHO_SIZE], address[LK_THROTTLE_WHO_SIZE];
    snprintf (user, sizeof user, "%s %s", login->zone, login->user);
    for (char *c = user; *c != '\0'; c++) {
        *c = lower (*c);
    }
    lk_throttle_address (login->address, address);
    int64_t wait_ms = lk_throttle_begin (&self->users, user, now);
    if (wait_ms == 0) {
        wait_ms = lk_throttle_begin (&self->addresses, address, now);
        if (wait_ms > 0) {
            lk_throttle_end (&self->users, user, LK_GUESS_UNDECIDED, now);
        }
    }
    if (wait_ms == 0) {
        memcpy (login->by_user, user, sizeof user);
        memcpy (login->by_address, address, sizeof address);
    }
    return (wait_ms + 999) / 1000;
}

/*  Whether it is too late to renew what began with that log-in. */
static bool
is_over (const lk_zone *zone, int64_t since)
{
    const int64_t now = (int64_t) time (NULL);
    return since <= 0 || since > now + LK_CREDENTIAL_AHEAD_S
           || now - since >= zone->renew_s;
}

static const char *
why_unasked (const lk_login *self, const lk_issuing_way *way,
             const char *password)
{
    if (way->authority == NULL) {
        return self->is_last ? "no-issuer" : "no-zone";
    }
    if (self->user[0] == '\0') {
        return "no-user";
    }
    return self->is_renewal
                   || (password[0] != '\0'
                       && strlen (password) < LK_PASSWORD_SIZE)
               ? NULL
               : "no-password";
}

/*  Puts it to the zone's authority, if there is something to ask. */
static void
ask (lk_issuing *self, lk_login *login, const lk_issuing_way *way,
     const char *password)
{
    lk_question question = {.is_renewal = login->is_renewal};
    login->unasked = why_unasked (login, way, password);
    const bool asks = login->unasked == NULL;
    login->until_ms =
        login->began_ms + (asks ? way->authority->timeout_ms : WAIT_MS);
    question.until_ms = login->until_ms;
    question.authority = asks ? lk_authority_hold (way->authority) : NULL;
    snprintf (question.zone, sizeof question.zone, "%s", login->zone);
    snprintf (question.user, sizeof question.user, "%s", login->user);
    snprintf (question.password, sizeof question.password, "%s",
              asks && !login->is_renewal ? password : "-");
    login->asked = lk_pool_put (self->pool, &question);
    explicit_bzero (question.password, sizeof question.password);
    if (login->asked == NULL) {
        lk_authority_let_go (&question.authority);
        audit_refusal (self, login, "busy");
        count (self, login, LK_GUESS_UNDECIDED);
        fail (self, login, LK_OVERLOADED, "too many log in just now", 1);
        drop (self, login);
    }
}

/*  -------------------------------------------------------- log-ins */

static void
begin (lk_issuing *self, lk_login *login, const char *password)
{
    lk_issuing_way way;
    const lk_issued where = find (self, login, &way);
    if (where == LK_ISSUED_ELSEWHERE && !login->is_last) {
        fail (self, login, LK_UNKNOWN, "this host does not issue for it", 0);
        drop (self, login);
        return;
    }
    if (where == LK_ISSUED_ELSEWHERE) {
        way = (lk_issuing_way) {0};
    }
    if (login->is_renewal
        && (where == LK_ISSUED_NOWHERE || is_over (way.zone, login->since))) {
        audit_refusal (self, login, "too-late");
        fail_denied (self, login);
        drop (self, login);
        return;
    }
    const int64_t wait_s = login->is_renewal ? 0 : throttle (self, login);
    if (wait_s > 0) {
        audit_refusal (self, login, "wait");
        fail (self, login, LK_OVERLOADED, "too many wrong log-ins: wait",
              wait_s);
        drop (self, login);
        return;
    }
    ask (self, login, &way, password);
}

void
lk_login_take (lk_issuing *self, const lk_message *message)
{
    const char *password = lk_message_text (message, "password");
    lk_login *login = lk_alloc (sizeof *login);
    snprintf (login->from, sizeof login->from, "%s", lk_message_from (message));
    login->serial = lk_message_serial (message);
    login->is_renewal = lk_message_is (message, "RENEW");
    login->began_ms = lk_bus_now (self->bus);
    DL_APPEND (self->logins, login);
    self->login_count++;
    if (!read_login (message, login)) {
        fail (self, login, LK_INVALID, "a log-in needs the key of its client",
              0);
        drop (self, login);
    } else if (self->login_count > LK_LOGINS_MAX) {
        audit_refusal (self, login, "busy");
        fail (self, login, LK_OVERLOADED, "too many log in just now", 1);
        drop (self, login);
    } else if (self->known.zones == NULL) {
        audit_refusal (self, login, "not-ready");
        fail (self, login, LK_OVERLOADED,
              "this host does not know the zones of its cluster yet",
              NOT_READY_S);
        drop (self, login);
    } else {
        begin (self, login, password != NULL ? password : "");
    }
}

void
lk_login_answer_all (lk_issuing *self)
{
    const int64_t now = lk_bus_now (self->bus);
    lk_login *login, *next;
    lk_authority_answer verdict;
    DL_FOREACH_SAFE (self->logins, login, next) {
        if (login->refuse_ms != 0) {
            if (login->refuse_ms <= now) {
                fail_denied (self, login);
                drop (self, login);
            }
        } else if (lk_pool_take (self->pool, &login->asked, &verdict)) {
            take_verdict (self, login, &verdict);
        } else if (login->until_ms <= now) {
            say_no_answer (self, login, "its time is over");
        }
    }
}

int64_t
lk_login_deadline (const lk_issuing *self)
{
    int64_t when = INT64_MAX;
    const lk_login *login;
    DL_FOREACH (self->logins, login) {
        const int64_t its =
            login->refuse_ms != 0 ? login->refuse_ms : login->until_ms;
        when = its < when ? its : when;
    }
    return when;
}

void
lk_login_give_up_all (lk_issuing *self)
{
    while (self->logins != NULL) {
        drop (self, self->logins);
    }
}
