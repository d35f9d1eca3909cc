/*  init_join.c - `lockkeeper init --join`: is the cluster there, and may we
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One address has to be that of a router that answers. What would go wrong
 *  later, in a log, is said now: a wrong port, a name that is taken.
 */

#include "cli/setup/init.h"

#include "cli/setup/probe.h"
#include "net/hostport.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*  What to look at, by what went wrong. */
static const char *
advice (const lk_problem *problem)
{
    switch (problem->number) {
    case ECONNREFUSED:
        return "start lockkeeper-router there, or look for its port: "
               "`lockkeeper status` there shows its address";
    case EHOSTUNREACH:
    case ENETUNREACH:
        return "look at the routes and the network; `ip route get` shows the "
               "way";
    case ETIMEDOUT:
        return "is that host up, and does a firewall let its port through?";
    default:
        return "give the address that `lockkeeper status` shows there";
    }
}

/*  Once it is known who is there: whether all is as it should be. */
static bool
judge (lk_init *self, const char *address, const lk_message *answer)
{
    char where[LK_ADDRESS_LEN_MAX + 1];
    const char *cluster = lk_message_text (answer, "cluster");
    if (lk_probe_has_host (answer, self->host, self->address, where)) {
        lk_cli_fail (0,
                     "a host '%s' is there already, at '%s': give this one "
                     "another name by --host, or stop that one first",
                     self->host, where);
        return false;
    }
    if (cluster != NULL && self->cluster[0] != '\0'
        && strcmp (cluster, self->cluster) != 0) {
        lk_cli_fail (0,
                     "'%s' is of cluster '%s', another address of cluster "
                     "'%s': a host joins one",
                     address, cluster, self->cluster);
        return false;
    }
    if (cluster != NULL) {
        snprintf (self->cluster, sizeof self->cluster, "%s", cluster);
    }
    return true;
}

/*  False: said why this host may not join. */
static bool
look_at (lk_init *self, const char *address)
{
    lk_problem problem = {0};
    lk_message *answer = lk_probe (address, &problem);
    bool good = true;
    if (answer == NULL) {
        lk_cli_fail (0, "no router at '%s': %s; %s", address, problem.text,
                     advice (&problem));
    } else {
        self->answered++;
        good = judge (self, address, answer);
    }
    lk_message_destroy (&answer);
    return good;
}

/*  -------------------------------------------------------- keys */

/*  A pair that all hosts of that cluster have had from before. */
static bool
add_pairs (lk_curve_ring *ring, const lk_message *answer)
{
    const char *secret;
    lk_problem problem;
    for (size_t i = 0; (secret = lk_message_item (answer, "keys", i)) != NULL;
         i++) {
        lk_curve_key key = {.host = ""};
        if (!lk_curve_from_secret (&key.pair, secret)
            || lk_curve_ring_append (ring, &key, &problem) != LK_OK) {
            return false;
        }
    }
    return true;
}

static bool
add_host (lk_curve_ring *ring, const lk_message *row)
{
    const char *host = lk_message_text (row, "host");
    const char *text = lk_message_text (row, "key");
    const char *address = lk_message_text (row, "address");
    lk_curve_key key = {.pending_ms = 0};
    lk_problem problem;
    if (host == NULL || !lk_address_is_name (lk_slice_of (host)) || text == NULL
        || !lk_curve_is_key (text)) {
        return false;
    }
    snprintf (key.host, sizeof key.host, "%s", host);
    snprintf (key.pair.public_key, sizeof key.pair.public_key, "%s", text);
    if (address != NULL && lk_hostport_is_valid (address)) {
        snprintf (key.address, sizeof key.address, "%s", address);
    }
    return lk_curve_ring_append (ring, &key, &problem) == LK_OK;
}

/*  Beside the one that we have made. */
static const char *
take_keys (lk_curve_ring *ring, const lk_message *answer)
{
    bool makes_sense = add_pairs (ring, answer);
    lk_message *row;
    for (size_t i = 0;
         makes_sense && (row = lk_message_row (answer, "hosts", i)) != NULL;
         i++) {
        makes_sense = add_host (ring, row);
        lk_message_destroy (&row);
    }
    return makes_sense && ring->count > 1 ? NULL : "it does not tell its keys";
}

/*  Uses the invitation up. */
bool
lk_init_enrol (lk_init *self)
{
    lk_curve_calls ways = {.call = &self->ticket.call, .count = 1};
    lk_problem problem = {0};
    lk_message *question = lk_message_new ("router@.", "ENROL");
    lk_init_make_keys (self);
    lk_message_set_text (question, "host", self->host);
    lk_message_set_text (question, "key", self->ring.key[0].pair.public_key);
    lk_message *answer =
        lk_probe_ask (self->ticket.address, &ways, &question, &problem);
    const char *reason =
        answer != NULL ? lk_message_text (answer, "reason") : problem.text;
    if (reason == NULL) {
        reason = take_keys (&self->ring, answer);
    }
    if (reason != NULL) {
        lk_cli_fail (0, "cannot join by '%s': %s; ask for another invitation",
                     self->ticket.address, reason);
    }
    lk_message_destroy (&answer);
    return reason == NULL;
}

/*  -------------------------------------------------------- addresses */

bool
lk_init_look (lk_init *self)
{
    size_t asked = 0;
    if (self->ticket.address[0] != '\0') {
        return true; /* who invited us is there */
    }
    if (self->way != LK_INIT_JOIN || self->options->unseen) {
        return true;
    }
    for (size_t i = 0; i < self->join_count; i++) {
        if (strcmp (self->join[i], self->address) == 0) {
            continue;
        }
        asked++;
        if (!look_at (self, self->join[i])) {
            return false;
        }
    }
    if (asked > 0 && self->answered == 0) {
        lk_cli_fail (0, "nothing was written; with --unseen it is, without "
                        "looking whether a router is there");
        return false;
    }
    if (asked == 0 && self->join_count > 0) {
        lk_cli_fail (0,
                     "'%s' is the address of this host: --join needs that of "
                     "one that is in the cluster",
                     self->address);
        return false;
    }
    return true;
}
