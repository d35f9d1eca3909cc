/*  curve.c - keys: their file, and who is let in by them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/curve.h"

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

static lk_curve_ring
ring_of (size_t count)
{
    lk_curve_ring self = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        lk_curve_pair pair;
        lk_curve_make (&pair);
        ck_assert_int_eq (lk_curve_ring_use (&self, &pair, &problem), LK_OK);
        ck_assert_str_eq (self.pair[0].public_key, pair.public_key);
    }
    return self;
}

START_TEST (a_ring_is_kept)
{
    lk_curve_ring ring = ring_of (LK_CURVE_PAIRS_MAX), again;
    struct stat status;
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_UNKNOWN);
    ck_assert_int_eq (lk_curve_ring_write (&ring, path, &problem), LK_OK);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_uint_eq (status.st_mode & 0777, 0600);
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_OK);
    ck_assert_mem_eq (&again, &ring, sizeof ring);
    ck_assert (lk_curve_ring_has (&ring, ring.pair[3].public_key));
    ck_assert_int_eq (lk_curve_ring_use (&ring, &ring.pair[1], &problem),
                      LK_OVERLOADED);
    lk_curve_ring_withdraw (&ring);
    ck_assert_uint_eq (ring.count, 1);
    ck_assert (!lk_curve_ring_has (&ring, again.pair[3].public_key));
    ck_assert_int_eq (chmod (path, 0640), 0);
    ck_assert_int_eq (lk_curve_ring_read (&again, path, &problem), LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "others may read"));
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
}
END_TEST

/*  -------------------------------------------------------- connections */

static lk_loop *loop;
static lk_listener *near, *far;
static lk_keyring keyring;
static char told[64], user[64];
static int over, denied;

static bool
may_come (void *asked, const char *public_key, const char *address,
          char name[LK_ZAP_USER_SIZE])
{
    ck_assert_ptr_eq (asked, &keyring);
    ck_assert_str_eq (address, "127.0.0.1");
    return lk_keyring_admit (&keyring, public_key, 1000, name);
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
    lk_listener_set_calls (near, ways);
    lk_listener_dial (near, strchr (lk_listener_endpoint (far), '1'),
                      &identity);
    while (told[0] == '\0' && over == 0 && lk_clock_ms () < until) {
        lk_loop_once (loop, 50);
    }
    return strcmp (told, "hello") == 0;
}

START_TEST (who_has_a_key_is_let_in)
{
    const lk_curve_ring other = ring_of (1);
    lk_curve_calls ways = {.count = 0};
    loop = lk_loop_new ();
    keyring = (lk_keyring) {.ring = ring_of (2)};
    lk_zap *zap = lk_zap_new (loop, may_come, &keyring, &problem);
    ck_assert_ptr_nonnull (zap);
    near = lk_listener_new (loop, &calls, NULL);
    far = lk_listener_new (loop, &calls, NULL);
    ck_assert_int_eq (lk_listener_bind_tcp (far, "tcp://127.0.0.1:*",
                                            &keyring.ring.pair[0], &problem),
                      LK_OK);
    lk_curve_ring_calls (&keyring.ring, &ways);
    ck_assert (is_heard (&ways));
    ck_assert_str_eq (user, LK_KEYRING_MEMBER);
    lk_curve_ring_calls (&other, &ways);
    ck_assert (!is_heard (&ways));
    ck_assert_int_ge (denied, 1);
    ways = (lk_curve_calls) {.plain = true};
    ck_assert (!is_heard (&ways));
    /*  With the right server's key, but none of ours: ZAP says no. */
    lk_curve_ring_calls (&other, &ways);
    snprintf (ways.call[0].server_key, LK_CURVE_TEXT_SIZE, "%s",
              keyring.ring.pair[0].public_key);
    ways.plain = false;
    ck_assert (!is_heard (&ways));
    /*  As a guest, then. */
    const lk_invitation *invitation = lk_keyring_invite (&keyring, 1, 1000);
    ways.call[0].own = invitation->pair;
    ck_assert (is_heard (&ways));
    ck_assert (lk_keyring_redeem (&keyring, user, 1000));
    ck_assert (!is_heard (&ways));
    lk_listener_destroy (&near, 0);
    lk_listener_destroy (&far, 0);
    lk_zap_destroy (&zap);
    lk_loop_destroy (&loop);
}
END_TEST

/*  -------------------------------------------------------- invitations */

START_TEST (invitations_end)
{
    lk_keyring ring = {.ring = ring_of (1)};
    char name[64];
    const lk_invitation *first = lk_keyring_invite (&ring, 1, 0);
    const lk_curve_pair pair = first->pair;
    ck_assert (lk_keyring_admit (&ring, pair.public_key, MINUTE_MS - 1, name));
    ck_assert (!lk_keyring_admit (&ring, pair.public_key, MINUTE_MS, name));
    ck_assert (!lk_keyring_redeem (&ring, name, MINUTE_MS));
    ck_assert (!lk_keyring_redeem (&ring, LK_KEYRING_MEMBER, 0));
    ck_assert (!lk_keyring_redeem (&ring, NULL, 0));
    for (size_t i = 0; i < LK_INVITATIONS_MAX; i++) {
        ck_assert_ptr_nonnull (lk_keyring_invite (&ring, 60, MINUTE_MS));
    }
    ck_assert_ptr_null (lk_keyring_invite (&ring, 60, MINUTE_MS));
    ck_assert_uint_eq (lk_keyring_invited (&ring, 61 * MINUTE_MS), 0);
    ck_assert_ptr_nonnull (lk_keyring_invite (&ring, 60, 61 * MINUTE_MS));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("curve");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 120);
    tcase_add_test (tcase, a_ring_is_kept);
    tcase_add_test (tcase, a_file_that_is_none);
    tcase_add_test (tcase, who_has_a_key_is_let_in);
    tcase_add_test (tcase, invitations_end);
    Suite *suite = suite_create ("curve");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
