/*  lock_state.c - tests of the text form of what a lock service keeps
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/lock_state.h"
#include "lib/example.h"
#include "lib/suite.h"
#include "util/alloc.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static lk_hostmap hostmap;
static lk_lock_state state;
static lk_bytes text;
static char problem[128];

static void
set_up (void)
{
    lk_hostmap_init (&hostmap);
    memset (&state, 0, sizeof state);
    problem[0] = '\0';
}

static void
tear_down (void)
{
    lk_bytes_clear (&text);
}

static lk_err
decode (void)
{
    return lk_lock_state_decode (text.data, text.size, &hostmap, &state,
                                 problem, sizeof problem);
}

static void
take (const char *name)
{
    text = lk_vector_file (name);
    ck_assert_msg (decode () == LK_OK, "%s: %s", name, problem);
}

/*  -------------------------------------------------------- good ones */

START_TEST (values)
{
    take ("state.json");
    ck_assert_uint_eq (state.id, ID1);
    ck_assert_str_eq (state.cluster, "demo");
    ck_assert_uint_eq (hostmap.count, 3);
    ck_assert_uint_eq (state.genesis, 7);
    ck_assert_uint_eq (lk_hostmap_find (&hostmap, "h3", ID3), 2);
    ck_assert_uint_eq (state.facts.promised.number, 8);
    ck_assert_uint_eq (state.facts.promised.proposer, ID2);
    ck_assert_uint_eq (state.facts.active.term.number, 7);
    ck_assert_uint_eq (state.facts.active.term.proposer, ID1);
    ck_assert_uint_eq (state.facts.active.members, 7);
    ck_assert_int_eq (state.facts.active.leader_count, 3);
    ck_assert_int_eq (state.facts.active.leader[0], 1);
    ck_assert_int_eq (state.facts.active.leader[1], 0);
    ck_assert_int_eq (state.facts.active.leader[2], 2);
    ck_assert (!state.facts.active.reclaim);
    ck_assert_uint_eq (state.facts.session, 3);
}
END_TEST

START_TEST (fresh)
{
    take ("state-fresh.json");
    ck_assert_str_eq (state.cluster, "");
    ck_assert_uint_eq (state.genesis, 0);
    ck_assert_uint_eq (state.facts.session, 0);
    ck_assert_uint_eq (hostmap.count, 0);
}
END_TEST

/*  Whether encode writes exactly that text again. The decree has bound the
 *  genesis' names to ids by then, so the first example is not its own. */
START_TEST (byte_for_byte)
{
    take ("state-fresh.json");
    char *again = lk_lock_state_encode (&state, &hostmap);
    ck_assert_str_eq (again, text.data);
    lk_free (again);
}
END_TEST

START_TEST (round_trip)
{
    take ("state.json");
    lk_lock_state first = state;
    char *once = lk_lock_state_encode (&state, &hostmap);
    ck_assert_ptr_nonnull (strstr (once, "\"h1:1f0e6a5b9c3d2871\""));
    ck_assert_int_eq (once[strlen (once) - 1], '\n');
    memset (&state, 0xff, sizeof state);
    lk_hostmap_init (&hostmap);
    ck_assert_int_eq (lk_lock_state_decode (once, strlen (once), &hostmap,
                                            &state, problem, sizeof problem),
                      LK_OK);
    char *twice = lk_lock_state_encode (&state, &hostmap);
    ck_assert_str_eq (once, twice);
    ck_assert_uint_eq (first.genesis, state.genesis);
    ck_assert_str_eq (first.cluster, state.cluster);
    lk_free (once);
    lk_free (twice);
}
END_TEST

/*  A genesis is written before any id but the own one is known. */
START_TEST (genesis_of_names)
{
    state.id = ID1;
    memcpy (state.cluster, "c", 2);
    state.genesis = LK_HOST_BIT (lk_hostmap_intern (&hostmap, "h1", ID1))
                    | LK_HOST_BIT (lk_hostmap_intern (&hostmap, "h2", 0));
    state.facts.active.members = state.genesis;
    char *written = lk_lock_state_encode (&state, &hostmap);
    lk_hostmap other;
    lk_lock_state read;
    lk_hostmap_init (&other);
    ck_assert_int_eq (lk_lock_state_decode (written, strlen (written), &other,
                                            &read, problem, sizeof problem),
                      LK_OK);
    ck_assert_uint_eq (lk_hostmap_id (&other, 0), ID1);
    ck_assert_uint_eq (lk_hostmap_id (&other, 1), 0);
    ck_assert_uint_eq (read.facts.active.members, 3);
    lk_free (written);
}
END_TEST

/*  Promised to another proposer of that number, as a host that is removed may
 *  have; lockkeeper-protocol(7), 9.15. */
START_TEST (promised_in_vain)
{
    state.id = ID1;
    state.facts.promised = (lk_term) {7, 1};
    state.facts.active = (lk_decree) {.term = {7, 2}, .leader_count = 1};
    state.facts.active.leader[0] = lk_hostmap_intern (&hostmap, "h1", ID1);
    state.facts.active.members = LK_HOST_BIT (state.facts.active.leader[0]);
    char *written = lk_lock_state_encode (&state, &hostmap);
    lk_bytes_add (&text, written, strlen (written));
    lk_free (written);
    ck_assert_int_eq (decode (), LK_OK);
    ck_assert_uint_eq (state.facts.promised.proposer, 1);
}
END_TEST

/*  -------------------------------------------------------- broken ones */

static const struct {
    const char *object; /* where the field is; NULL: at the top */
    const char *field;
    const char *value; /* NULL: left out */
    const char *problem;
} broken[] = {
    {NULL, "format", NULL, "field 'format': missing"},
    {NULL, "format", "0", "field 'format': unknown"},
    {NULL, "format", "2", "field 'format': out of range"},
    {NULL, "id", NULL, "field 'id': missing"},
    {NULL, "id", "5", "field 'id': of a wrong type"},
    {NULL, "id", "\"5\"", "field 'id': not 16 hexadecimal digits"},
    {NULL, "id", "\"0000000000000000\"", "field 'id': must not be zero"},
    {NULL, "cluster", NULL, "field 'cluster': missing"},
    {NULL, "cluster", "\"\"",
     "field 'genesis': cluster and genesis go together"},
    {NULL, "cluster",
     "\"1234567890123456789012345678901234567890123456789012345678901234\"",
     "field 'cluster': too long"},
    {NULL, "genesis", NULL, "field 'genesis': not a list of so many hosts"},
    {NULL, "genesis", "[]", "field 'genesis': cluster and genesis go together"},
    {NULL, "genesis", "[\"h1\", \"h1\"]",
     "field 'genesis': a host is there twice"},
    {NULL, "promised", NULL, "field 'promised': missing"},
    {NULL, "promised", "\"7\"", "field 'promised': not a term"},
    {NULL, "promised", "\"6:ffffffffffffffff\"",
     "field 'promised': below the active decree's term"},
    {NULL, "active", NULL, "field 'active': missing"},
    {"active", "members", "[\"h1\"]", "field 'active': a leader is no member"},
    {"active", "leaders", "[]",
     "field 'active': leaders do not fit to the term"},
    {NULL, "session", NULL, "field 'session': missing"},
    {NULL, "session", "-1", "field 'session': out of range"},
};

/*  Neither state nor hostmap are touched then. */
START_TEST (one_field_broken)
{
    const lk_hostmap empty = hostmap;
    const lk_lock_state zero = state;
    lk_bytes good = lk_vector_file ("state.json");
    json_t *all = lk_json_read ((lk_slice) {good.data, good.size}, problem,
                                sizeof problem);
    json_t *object =
        broken[_i].object ? json_object_get (all, broken[_i].object) : all;
    if (broken[_i].value) {
        json_object_set_new (
            object, broken[_i].field,
            json_loads (broken[_i].value, JSON_DECODE_ANY, NULL));
    } else {
        json_object_del (object, broken[_i].field);
    }
    lk_json_write (&text, all);
    ck_assert_int_eq (decode (), LK_INVALID);
    ck_assert_str_eq (problem, broken[_i].problem);
    ck_assert_mem_eq (&hostmap, &empty, sizeof hostmap);
    ck_assert_mem_eq (&state, &zero, sizeof state);
    json_decref (all);
    lk_bytes_clear (&good);
}
END_TEST

START_TEST (no_json)
{
    static const char *const bad[] = {"", "{", "[]", "\xff", "{} {}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        problem[0] = '\0';
        lk_bytes_cut (&text, 0);
        lk_bytes_add (&text, bad[i], strlen (bad[i]));
        ck_assert_int_eq (decode (), LK_INVALID);
        ck_assert_str_ne (problem, "");
    }
}
END_TEST

/*  What a crash in the middle of writing would leave is never taken. */
START_TEST (every_cut)
{
    text = lk_vector_file ("state.json");
    for (size_t size = text.size - 2; size > 0; size--) {
        lk_bytes_cut (&text, size);
        ck_assert_int_eq (decode (), LK_INVALID);
    }
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_state");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, values);
    tcase_add_test (tests, fresh);
    tcase_add_test (tests, byte_for_byte);
    tcase_add_test (tests, round_trip);
    tcase_add_test (tests, genesis_of_names);
    tcase_add_test (tests, promised_in_vain);
    tcase_add_loop_test (tests, one_field_broken, 0,
                         sizeof broken / sizeof broken[0]);
    tcase_add_test (tests, no_json);
    tcase_add_test (tests, every_cut);

    Suite *suite = suite_create ("lock_state");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
