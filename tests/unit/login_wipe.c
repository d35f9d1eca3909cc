/*  login_wipe.c - tests that an issuer leaves no password in what it received
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "bus_fake.h"

#include "issuing.h"

#include "net/log.h"

#include "lib/suite.h"

#include <string.h>

static lk_issuing issuing;

/*  It has neither keys nor authorities. */
static void
hush (lk_log_level level, const char *line)
{
    (void) level;
    (void) line;
}

static void
set_up (void)
{
    static const lk_issuer_options options;
    lk_log_set_sink (hush);
    lk_issuing_init (&issuing, &options);
    issuing.bus = &bus;
}

static void
tear_down (void)
{
    lk_issuing_clear (&issuing);
    forget_sent ();
    lk_log_set_sink (NULL);
}

/*  `told`: in this way of the service. */
static void
leaves_none (void (*told) (void *self, const lk_message *message),
             const char *from, const char *answer)
{
    lk_message *login = lk_message_new ("issuer@h1", "LOGIN");
    lk_message_set_from (login, from);
    lk_message_set_text (login, "user", "ann");
    lk_message_set_text (login, "password", "ann-secret");
    told (&issuing, login);
    ck_assert_str_eq (lk_message_text (login, "user"), "ann");
    ck_assert (!lk_message_has (login, "password"));
    ck_assert_ptr_null (lk_message_text (only_sent (from, answer), "password"));
    lk_message_destroy (&login);
}

START_TEST (of_a_router)
{
    leaves_none (lk_issuing_service.message, "router@h1", "LOGINFAILED");
}
END_TEST

START_TEST (of_all)
{
    leaves_none (lk_issuing_service.event, "router@h1", "LOGINFAILED");
}
END_TEST

START_TEST (of_somebody_else)
{
    leaves_none (lk_issuing_service.message, "thief@h1", "INVALID");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("wipe");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, of_a_router);
    tcase_add_test (tests, of_all);
    tcase_add_test (tests, of_somebody_else);
    Suite *suite = suite_create ("login_wipe");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
