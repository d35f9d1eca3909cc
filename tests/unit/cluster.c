/*  cluster.c - tests of router/tables/cluster.c
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cluster.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>

START_TEST (alone_is_up_and_complete)
{
    lk_cluster cluster;
    lk_cluster_init (&cluster);
    ck_assert (lk_cluster_up (&cluster));
    ck_assert (lk_cluster_complete (&cluster));
    ck_assert (!lk_cluster_set (&cluster, 1, 1));
}
END_TEST

static const struct {
    size_t total, live;
    const char *up, *complete;
} counts[] = {
    {2, 1, "CLUSTERDOWN", "CLUSTERINCOMPLETE"},
    {2, 2, "CLUSTERUP", "CLUSTERCOMPLETE"},
    {3, 1, "CLUSTERDOWN", "CLUSTERINCOMPLETE"},
    {3, 2, "CLUSTERUP", "CLUSTERINCOMPLETE"},
    {3, 3, "CLUSTERUP", "CLUSTERCOMPLETE"},
    {4, 2, "CLUSTERDOWN", "CLUSTERINCOMPLETE"},
    {4, 3, "CLUSTERUP", "CLUSTERINCOMPLETE"},
    {5, 2, "CLUSTERDOWN", "CLUSTERINCOMPLETE"},
    {5, 3, "CLUSTERUP", "CLUSTERINCOMPLETE"},
    {64, 32, "CLUSTERDOWN", "CLUSTERINCOMPLETE"},
    {64, 33, "CLUSTERUP", "CLUSTERINCOMPLETE"},
};

START_TEST (more_than_half_is_up)
{
    lk_cluster cluster;
    lk_cluster_init (&cluster);
    ck_assert (lk_cluster_set (&cluster, counts[_i].total, counts[_i].live));
    ck_assert_str_eq (lk_cluster_up_command (&cluster), counts[_i].up);
    ck_assert_str_eq (lk_cluster_complete_command (&cluster),
                      counts[_i].complete);
}
END_TEST

START_TEST (every_change_of_a_count_is_told_once)
{
    lk_cluster cluster;
    lk_cluster_init (&cluster);
    ck_assert (lk_cluster_set (&cluster, 3, 1));
    ck_assert (lk_cluster_set (&cluster, 3, 2));
    ck_assert (!lk_cluster_set (&cluster, 3, 2));
    ck_assert (lk_cluster_set (&cluster, 4, 2));
    ck_assert (lk_cluster_set (&cluster, 1, 1));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("cluster");
    tcase_add_test (tcase, alone_is_up_and_complete);
    tcase_add_loop_test (tcase, more_than_half_is_up, 0,
                         sizeof counts / sizeof counts[0]);
    tcase_add_test (tcase, every_change_of_a_count_is_told_once);
    Suite *suite = suite_create ("cluster");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
