/*  curve.c - keys: their file, and who is let in by them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/curve_ring.h"

#include "keyring.h"
#include "lib/suite.h"
#include "net/clock.h"
#include "net/listener.h"
#include "net/zap.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANG_MS 60000
#define MINUTE_MS 60000

static char dir[64], path[128];
static lk_problem problem;

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-curve-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/keys", dir);
}

static void
tear_down (void)
{
    char command[160];
    snprintf (command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq (system (command), 0);
}

/*  -------------------------------------------------------- the file */

static void
add (lk_curve_ring *self, const char *host, bool ours)
{
    lk_curve_key key = {.pending_ms = 0};
    lk_curve_make (&key.pair);
    snprintf (key.host, sizeof key.host, "%s", host);
    if (!ours) {
        key.pair.secret_key[0] = '\0';
    }
    ck_assert_int_eq (lk_curve_ring_add (self, &key, &problem), LK_OK);
    ck_assert_str_eq (self->key[0].pair.public_key, key.pair.public_key);
}

/*  Pairs of the whole cluster. */
static lk_curve_ring
ring_of (size_t count)
{
    lk_curve_ring self = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        add (&self, "", true);
    }
    return self;
}

static void
assert_same (const lk_curve_key *one, const lk_curve_key *other)
{
    ck_assert_str_eq (one->pair.public_key, other->pair.public_key);
    ck_assert_str_eq (one->pair.secret_key, other->pair.secret_key);
    ck_assert_str_eq (one->host, other->host);
    ck_assert_str_eq (one->address, other->address);
    ck_assert_int_eq (one->pending_ms, other->pending_ms);
}

START_TEST (a_ring_is_kept)
{
    lk_curve_ring ring = ring_of (1), again;
    struct stat status;
    add (&ring, "h1", true);
    add (&ring, "h2", false);
    add (&ring, "h1", true);
    ring.key[0].pending_ms = INT64_MAX;
    snprintf (ring.key[1].address, sizeof ring.key[1].address, "10.0.0.2:1");
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_UNKNOWN);
    ck_assert_int_eq (lk_curve_ring_write (&ring, path, &problem), LK_OK);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_uint_eq (status.st_mode & 0777, 0600);
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_OK);
    ck_assert_uint_eq (again.count, ring.count);
    for (size_t i = 0; i < ring.count; i++) {
        assert_same (&again.key[i], &ring.key[i]);
    }
    /*  Until when a key is pending is not written. */
    add (&ring, "h3", false);
    ring.key[0].pending_ms = 1000;
    ck_assert_int_eq (lk_curve_ring_write (&ring, path, &problem), LK_OK);
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_OK);
    ck_assert_uint_eq (again.count, ring.count);
    ring.key[0].pending_ms = INT64_MAX;
    assert_same (&again.key[0], &ring.key[0]);
    ck_assert_int_eq (chmod (path, 0640), 0);
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "others may read"));
}
END_TEST

START_TEST (a_ring_has_bounds)
{
    lk_curve_ring ring = ring_of (LK_CURVE_PAIRS_MAX), again;
    lk_curve_key more = ring.key[0];
    ck_assert_int_eq (lk_curve_ring_add (&ring, &more, &problem),
                      LK_OVERLOADED);
    ck_assert_ptr_nonnull (strstr (problem.text, "4 pairs of keys already"));
    while (ring.count < LK_CURVE_KEYS_MAX) {
        add (&ring, "h2", false);
    }
    more.pair.secret_key[0] = '\0';
    ck_assert_int_eq (lk_curve_ring_append (&ring, &more, &problem),
                      LK_OVERLOADED);
    ck_assert_ptr_nonnull (strstr (problem.text, "140 keys already"));
    ck_assert_int_eq (lk_curve_ring_write (&ring, path, &problem), LK_OK);
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_OK);
    ck_assert_uint_eq (again.count, ring.count);
    lk_curve_ring_remove (&ring, &ring.key[0]);
    ck_assert_int_eq (lk_curve_ring_append (&ring, &more, &problem), LK_OK);
}
END_TEST

/*  "SERVER<OWN ..." of all ways, by their places in the ring. */
static const char *
ways_to (lk_curve_ring *ring, const char *host, const char *address)
{
    static char text[128];
    lk_curve_calls calls = {.plain = false};
    size_t used = 0;
    lk_curve_ring_calls (ring, host, address, &calls);
    text[0] = '\0';
    for (size_t i = 0; i < calls.count; i++) {
        const lk_curve_call *call = &calls.call[i];
        char user[LK_CURVE_USER_SIZE];
        const lk_curve_key *server =
            lk_curve_ring_find (ring, call->server_key);
        const lk_curve_key *own =
            lk_curve_ring_find (ring, call->own.public_key);
        lk_curve_key_user (server, user);
        ck_assert_str_eq (call->user, user);
        used += (size_t) snprintf (text + used, sizeof text - used, "%s%d<%d",
                                   i > 0 ? " " : "", (int) (server - ring->key),
                                   (int) (own - ring->key));
    }
    lk_curve_calls_clear (&calls);
    return text;
}

/*  4 is the pair of all, 3 that of h1, where we are, 2 and 1 those of h2 and
 *  h3, 0 a new one of h1. */
START_TEST (ways_to_others)
{
    lk_curve_ring ring = ring_of (1);
    add (&ring, "h1", true);
    add (&ring, "h2", false);
    add (&ring, "h3", false);
    add (&ring, "h1", true);
    ring.key[0].pending_ms = INT64_MAX;
    snprintf (ring.key[2].address, sizeof ring.key[2].address, "10.0.0.2:1");
    ck_assert_str_eq (ways_to (&ring, "h2", "10.0.0.9:1"), "2<3 2<4 4<3 4<4");
    ck_assert_str_eq (ways_to (&ring, "h4", "10.0.0.2:1"), "4<3 4<4");
    ck_assert_str_eq (ways_to (&ring, "", "10.0.0.2:1"),
                      "2<3 2<4 1<3 1<4 0<3 0<4 3<3 3<4 4<3 4<4");
    ck_assert_ptr_eq (lk_curve_ring_used (&ring), &ring.key[3].pair);
    ck_assert_ptr_eq (lk_curve_ring_served (&ring, false), &ring.key[4].pair);
    ck_assert_ptr_eq (lk_curve_ring_served (&ring, true), &ring.key[3].pair);
    ring.key[0].pending_ms = 0;
    ck_assert_ptr_eq (lk_curve_ring_used (&ring), &ring.key[0].pair);
    lk_curve_ring_remove (&ring, &ring.key[4]);
    ck_assert_str_eq (ways_to (&ring, "h2", "10.0.0.9:1"), "2<0 2<3");
    ck_assert_str_eq (ways_to (&ring, "h4", "10.0.0.2:1"), "");
    ck_assert_ptr_eq (lk_curve_ring_served (&ring, false), &ring.key[0].pair);
}
END_TEST

static void
write_file (const char *text)
{
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fputs (text, file);
    fclose (file);
    ck_assert_int_eq (chmod (path, 0600), 0);
}

START_TEST (a_file_that_is_none)
{
    static const char *const wrong[] = {
        "",
        "curve\n",
        "nonsense\n",
        "curve\n    public-key = \"short\"\n",
        "curve\n    secret-key = "
        "\"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\"\n",
        "curve\n    public-key = \"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\"\n"
        "    secret-key = \"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\"\n",
        "accepted\n    host = h2\n    public-key = "
        "\"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n",
        "curve\n    host = \"a b\"\n",
        "curve\n    public-key = \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n"
        "    secret-key = \"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\"\n"
        "accepted\n    public-key = "
        "\"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\"\n",
    };
    lk_curve_ring ring;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_file (wrong[i]);
        ck_assert_int_eq (lk_curve_ring_read (&ring, path, &problem),
                          LK_INVALID);
    }
    write_file (
        "curve\n    public-key = \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n"
        "    secret-key = \"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\"\n");
    ck_assert_int_eq (lk_curve_ring_read (&ring, path, &problem), LK_OK);
    ck_assert_str_eq (ring.key[0].host, "");
}
END_TEST

/*  -------------------------------------------------------- connections */

static lk_loop *loop;
static lk_listener *near, *far;
static lk_keyring keyring;
static char told[64], user[LK_CURVE_USER_SIZE];
static char server[LK_CURVE_USER_SIZE]; /* who is dialled */
static int over, denied;
static int clients_asked;      /* about whom was asked as a client */
static const char *client_key; /* which may come */

static bool
may_come (void *asked, const lk_zap_caller *caller,
          char name[LK_CURVE_USER_SIZE])
{
    ck_assert_ptr_eq (asked, &keyring);
    ck_assert_str_eq (caller->address, "127.0.0.1");
    if (caller->is_client) {
        clients_asked++;
        snprintf (name, LK_CURVE_USER_SIZE, "client %s", caller->public_key);
        return strcmp (caller->public_key, client_key) == 0;
    }
    return lk_keyring_admit (&keyring, caller->public_key, 1000, name);
}

static void
on_frame (void *self, const lk_identity *from, lk_part *frame)
{
    (void) self;
    snprintf (told, sizeof told, "%.*s", (int) lk_part_size (frame),
              (const char *) lk_part_data (frame));
    snprintf (user, sizeof user, "%s", lk_listener_user (far, from));
}

static void
on_up (void *self, const lk_identity *to)
{
    lk_part part;
    (void) self;
    snprintf (server, sizeof server, "%s", lk_listener_user (near, to));
    lk_part_init (&part);
    lk_part_fill (&part, "hello", 5);
    ck_assert_int_eq (lk_listener_send (near, to, &part), LK_IO_DONE);
    lk_part_clear (&part);
}

static void
on_over (void *self, const lk_identity *from, const lk_problem *why)
{
    (void) self;
    (void) from;
    (void) why;
    over++;
}

static void
on_denied (void *self)
{
    (void) self;
    denied++;
}

static const lk_listener_calls calls = {.frame = on_frame,
                                        .up = on_up,
                                        .over = on_over,
                                        .denied = on_denied};

/*  Whether `far`, which has the first of the keyring, hears who calls so. */
static bool
is_heard (const lk_curve_calls *ways)
{
    const int64_t until = lk_clock_ms () + HANG_MS;
    lk_identity identity;
    told[0] = '\0';
    over = 0;
    lk_listener_dial (near, strchr (lk_listener_endpoint (far), '1'), ways,
                      &identity);
    while (told[0] == '\0' && over == 0 && lk_clock_ms () < until) {
        lk_loop_once (loop, 50);
    }
    return strcmp (told, "hello") == 0;
}

/*  By the first of these rings, at that address. */
static bool
is_heard_by (lk_curve_ring *ring, const char *host)
{
    lk_curve_calls ways = {.plain = false};
    lk_curve_ring_calls (ring, host, "", &ways);
    const bool heard = is_heard (&ways);
    lk_curve_calls_clear (&ways);
    return heard;
}

static void
open_for (lk_zap **zap, const lk_listener_calls *far_calls)
{
    loop = lk_loop_new ();
    *zap = lk_zap_new (loop, may_come, &keyring, &problem);
    ck_assert_ptr_nonnull (*zap);
    near = lk_listener_new (loop, &calls, NULL);
    far = lk_listener_new (loop, far_calls, NULL);
    ck_assert_int_eq (lk_listener_bind_tcp (far, "tcp://127.0.0.1:*",
                                            lk_curve_ring_used (&keyring.ring),
                                            &problem),
                      LK_OK);
}

static void
open_both (lk_zap **zap)
{
    open_for (zap, &calls);
}

static void
close_both (lk_zap **zap)
{
    lk_listener_destroy (&near, 0);
    lk_listener_destroy (&far, 0);
    lk_zap_destroy (zap);
    lk_loop_destroy (&loop);
}

START_TEST (who_has_a_key_is_let_in)
{
    lk_curve_ring other = ring_of (1), own = ring_of (2);
    lk_curve_call call;
    lk_zap *zap;
    keyring = (lk_keyring) {.ring = own};
    open_both (&zap);
    ck_assert (is_heard_by (&own, ""));
    ck_assert_str_eq (user, LK_CURVE_MEMBER);
    ck_assert (keyring.ring.key[0].is_used);
    ck_assert (!is_heard_by (&other, ""));
    ck_assert_int_ge (denied, 1);
    lk_curve_calls ways = {.plain = true};
    ck_assert (!is_heard (&ways));
    /*  Not a way at all: it does not fall back to clear. */
    ways.plain = false;
    ck_assert (!is_heard (&ways));
    /*  With the right server's key, but none of ours: ZAP says no. */
    call = (lk_curve_call) {.own = other.key[0].pair};
    snprintf (call.server_key, LK_CURVE_TEXT_SIZE, "%s",
              keyring.ring.key[0].pair.public_key);
    ways = (lk_curve_calls) {.call = &call, .count = 1};
    ck_assert (!is_heard (&ways));
    /*  As a guest, then. */
    const lk_invitation *invitation = lk_keyring_invite (&keyring, 1, 1000);
    call.own = invitation->pair;
    ck_assert (is_heard (&ways));
    ck_assert (lk_keyring_redeem (&keyring, user, 1000));
    ck_assert (!is_heard (&ways));
    close_both (&zap);
}
END_TEST

/*  h1 hears h2, each known by its own. */
START_TEST (who_comes_is_known)
{
    lk_curve_ring h2 = {.count = 0};
    lk_zap *zap;
    keyring = (lk_keyring) {.ring = {.count = 0}};
    add (&keyring.ring, "h1", true);
    add (&h2, "h2", true);
    lk_curve_key *own = &h2.key[0];
    lk_curve_key seen = *own;
    seen.pair.secret_key[0] = '\0';
    ck_assert_int_eq (lk_curve_ring_append (&keyring.ring, &seen, &problem),
                      LK_OK);
    seen = keyring.ring.key[0];
    seen.pair.secret_key[0] = '\0';
    ck_assert_int_eq (lk_curve_ring_append (&h2, &seen, &problem), LK_OK);
    open_both (&zap);
    ck_assert (is_heard_by (&h2, "h1"));
    ck_assert_str_eq (user, LK_CURVE_MEMBER " h2");
    ck_assert_str_eq (server, LK_CURVE_MEMBER " h1");
    ck_assert_ptr_null (lk_keyring_objection (&keyring, user, "h2"));
    ck_assert_str_eq (lk_keyring_objection (&keyring, user, "h3"),
                      "its key is that of another host");
    /*  Withdrawn, it is neither let in nor believed. */
    lk_curve_ring_remove (&keyring.ring, &keyring.ring.key[1]);
    ck_assert_str_eq (lk_keyring_objection (&keyring, user, "h2"),
                      "its key is withdrawn");
    ck_assert (!is_heard_by (&h2, "h1"));
    close_both (&zap);
}
END_TEST

/*  An application on another machine. */
static void
be_client (lk_curve_call *call)
{
    keyring = (lk_keyring) {.ring = ring_of (2)};
    *call = (lk_curve_call) {.user = ""};
    lk_curve_make (&call->own);
    client_key = call->own.public_key;
    snprintf (call->server_key, LK_CURVE_TEXT_SIZE, "%s",
              lk_curve_ring_used (&keyring.ring)->public_key);
    clients_asked = 0;
}

START_TEST (clients_alone_come_by_their_port)
{
    const lk_listener_calls client_calls = {.domain = LK_ZAP_CLIENTS,
                                            .frame = on_frame,
                                            .up = on_up,
                                            .over = on_over,
                                            .denied = on_denied};
    lk_curve_call call;
    const lk_curve_calls ways = {.call = &call, .count = 1};
    lk_zap *zap;
    be_client (&call);
    open_for (&zap, &client_calls);
    ck_assert (is_heard (&ways));
    ck_assert_int_eq (clients_asked, 1);
    ck_assert_mem_eq (user, "client ", 7);
    ck_assert_str_eq (user + 7, client_key);
    ck_assert (!is_heard_by (&keyring.ring, ""));
    close_both (&zap);
}
END_TEST

START_TEST (clients_do_not_come_by_that_of_routers)
{
    lk_curve_call call;
    const lk_curve_calls ways = {.call = &call, .count = 1};
    lk_zap *zap;
    be_client (&call);
    open_both (&zap);
    ck_assert (!is_heard (&ways));
    ck_assert_int_eq (clients_asked, 0);
    ck_assert (is_heard_by (&keyring.ring, ""));
    close_both (&zap);
}
END_TEST

/*  -------------------------------------------------------- settings */

static void
line (lk_host_key *self, const char *host, const lk_curve_key *key)
{
    snprintf (self->host, sizeof self->host, "%s", host);
    snprintf (self->key, sizeof self->key, "%s", key->pair.public_key);
}

START_TEST (settings_say_which_count)
{
    lk_keyring self = {.ring = {.count = 0}};
    lk_host_key lines[3];
    char name[LK_CURVE_USER_SIZE];
    add (&self.ring, "h1", true);
    add (&self.ring, "h2", false);
    const lk_curve_key *h2 = &self.ring.key[0];
    ck_assert_ptr_null (lk_keyring_withdrawn (&self, lines, 0));
    line (&lines[0], "h1", &self.ring.key[1]);
    ck_assert_ptr_eq (lk_keyring_withdrawn (&self, lines, 1), h2);
    line (&lines[1], "h3", h2);
    ck_assert_ptr_eq (lk_keyring_withdrawn (&self, lines, 2), h2);
    line (&lines[1], "h2", h2);
    ck_assert_ptr_null (lk_keyring_withdrawn (&self, lines, 2));
    lk_keyring_settle (&self, lines, 2);
    ck_assert (!self.is_old);
    /*  One that is expected counts for an hour, or for good. */
    lk_curve_ring h3 = ring_of (1);
    line (&lines[2], "h3", &h3.key[0]);
    ck_assert_ptr_null (lk_keyring_doubt (&self, "h3", lines[2].key));
    ck_assert_ptr_nonnull (lk_keyring_doubt (&self, "h2", lines[2].key));
    ck_assert_ptr_nonnull (lk_keyring_doubt (&self, "h3", lines[1].key));
    ck_assert_ptr_nonnull (lk_keyring_doubt (&self, "h 3", lines[2].key));
    ck_assert (!lk_keyring_expects (&self, 0));
    ck_assert_int_eq (lk_keyring_expect (&self, &lines[2], 0, &problem), LK_OK);
    ck_assert (lk_keyring_expects (&self, 60 * MINUTE_MS - 1));
    ck_assert_ptr_null (lk_keyring_withdrawn (&self, lines, 2));
    ck_assert (lk_keyring_admit (&self, lines[2].key, 1, name));
    ck_assert (!lk_keyring_admit (&self, lines[2].key, 60 * MINUTE_MS, name));
    ck_assert_int_eq (lk_keyring_expect (&self, &lines[2], 0, &problem), LK_OK);
    lk_keyring_settle (&self, lines, 3);
    ck_assert (self.is_old);
    ck_assert (lk_keyring_admit (&self, lines[2].key, 60 * MINUTE_MS, name));
    ck_assert_ptr_eq (lk_keyring_withdrawn (&self, lines, 2),
                      &self.ring.key[0]);
}
END_TEST

/*  -------------------------------------------------------- invitations */

START_TEST (invitations_end)
{
    lk_keyring ring = {.ring = ring_of (1)};
    char name[LK_CURVE_USER_SIZE];
    const lk_invitation *first = lk_keyring_invite (&ring, 1, 0);
    const lk_curve_pair pair = first->pair;
    ck_assert (lk_keyring_admit (&ring, pair.public_key, MINUTE_MS - 1, name));
    ck_assert (!lk_keyring_admit (&ring, pair.public_key, MINUTE_MS, name));
    ck_assert (!lk_keyring_redeem (&ring, name, MINUTE_MS));
    ck_assert (!lk_keyring_redeem (&ring, LK_CURVE_MEMBER, 0));
    ck_assert (!lk_keyring_redeem (&ring, NULL, 0));
    for (size_t i = 0; i < LK_INVITATIONS_MAX; i++) {
        ck_assert_ptr_nonnull (lk_keyring_invite (&ring, 60, MINUTE_MS));
    }
    ck_assert_ptr_null (lk_keyring_invite (&ring, 60, MINUTE_MS));
    ck_assert_uint_eq (lk_keyring_invited (&ring, 61 * MINUTE_MS), 0);
    ck_assert_ptr_nonnull (lk_keyring_invite (&ring, 60, 61 * MINUTE_MS));
}
END_TEST

/*  Not at once, as long as the former one counts. */
START_TEST (a_new_one_is_served)
{
    lk_keyring self = {.ring = ring_of (1), .serve_ms = INT64_MAX};
    self.served = self.ring.key[0].pair;
    ck_assert (!lk_keyring_serve (&self, 100));
    add (&self.ring, "h1", true);
    ck_assert (!lk_keyring_serve (&self, 100));
    ck_assert_int_eq (self.serve_ms, INT64_MAX);
    self.serves_own = true;
    ck_assert (!lk_keyring_serve (&self, 100));
    ck_assert_int_eq (self.serve_ms, 5100);
    ck_assert (!lk_keyring_serve (&self, 5099));
    ck_assert (lk_keyring_serve (&self, 5100));
    ck_assert_str_eq (self.served.public_key, self.ring.key[0].pair.public_key);
    ck_assert (!lk_keyring_serve (&self, 5100));
    ck_assert_int_eq (self.serve_ms, INT64_MAX);
    /*  At once, since nobody may come by the former one. */
    add (&self.ring, "h1", true);
    ck_assert (!lk_keyring_serve (&self, 6000));
    lk_curve_ring_remove (&self.ring, &self.ring.key[1]);
    ck_assert (lk_keyring_serve (&self, 6000));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("curve");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 120);
    tcase_add_test (tcase, a_ring_is_kept);
    tcase_add_test (tcase, a_ring_has_bounds);
    tcase_add_test (tcase, ways_to_others);
    tcase_add_test (tcase, a_file_that_is_none);
    tcase_add_test (tcase, who_has_a_key_is_let_in);
    tcase_add_test (tcase, who_comes_is_known);
    tcase_add_test (tcase, clients_alone_come_by_their_port);
    tcase_add_test (tcase, clients_do_not_come_by_that_of_routers);
    tcase_add_test (tcase, settings_say_which_count);
    tcase_add_test (tcase, a_new_one_is_served);
    tcase_add_test (tcase, invitations_end);
    Suite *suite = suite_create ("curve");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
