/*  config_connect.c - `lockkeeper config verify --connect`: who answers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Tries what the configuration says of keys and connections, as this host's
 *  router would: its own endpoint, and each neighbour.
 */

#include "cli/setup/config.h"

#include "cli/ask.h"
#include "cli/setup/probe.h"
#include "net/curve_ring.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ATTACH_MS 2000

typedef struct {
    const lk_router_options *router;
    lk_curve_ring ring;
    bool json;
    bool is_wrong;
} trial;

/*  `host` is there; NULL: `what` is wrong there. */
static void
tell (trial *self, const char *where, const char *host, const char *what)
{
    self->is_wrong |= host == NULL;
    lk_cli_tell_trial (self->json, where, host, what);
}

/*  -------------------------------------------------------- trying */

static void
try_own (trial *self)
{
    const char *endpoint = self->router->endpoint;
    lk_problem problem = {0};
    lk_requester *asker = lk_requester_new (endpoint, ATTACH_MS, &problem);
    if (asker == NULL) {
        tell (self, endpoint, NULL, problem.text);
        return;
    }
    tell (self, endpoint, lk_requester_host (asker), "for its own processes");
    lk_requester_destroy (&asker);
}

/*  By the same ways, and in the same order, as the router does. */
static lk_message *
ask (const trial *self, const char *address, bool plain, lk_problem *problem)
{
    lk_curve_calls ways = {.plain = plain};
    if (!plain) {
        lk_curve_ring_calls (&self->ring, "", address, &ways);
    }
    lk_message *question = lk_message_new ("router@.", "GOSSIP");
    lk_message *answer = lk_probe_ask (address, &ways, &question, problem);
    lk_curve_calls_clear (&ways);
    return answer;
}

/*  Some answer without keys alone, or with keys alone: that is told. */
static void
try_neighbour (trial *self, const char *address)
{
    const lk_security security = self->router->security;
    lk_problem problem = {0};
    lk_message *answer = NULL;
    const char *means = "with keys";
    if (security != LK_SECURITY_NONE) {
        answer = ask (self, address, false, &problem);
    }
    if (answer == NULL && security != LK_SECURITY_CURVE) {
        means = "without keys";
        answer = ask (self, address, true, &problem);
    }
    tell (self, address, answer != NULL ? lk_text_of (answer, "host") : NULL,
          answer != NULL ? means : problem.text);
    lk_message_destroy (&answer);
}

static lk_err
read_keys (trial *self)
{
    lk_problem problem = {0};
    if (self->router->security == LK_SECURITY_NONE) {
        return LK_OK;
    }
    const lk_err error =
        lk_curve_ring_read (&self->ring, self->router->keys, &problem);
    if (error != LK_OK) {
        tell (self, self->router->keys, NULL, problem.text);
    } else if (!self->json) {
        lk_show (stdout, self->router->keys);
        puts (": right: keys of this host's router");
    }
    return error;
}

int
lk_cli_config_connect (const lk_router_options *router, bool json)
{
    trial self = {.router = router, .json = json};
    if (read_keys (&self) == LK_OK) {
        try_own (&self);
        for (size_t i = 0; router->neighbour[i] != NULL; i++) {
            try_neighbour (&self, router->neighbour[i]);
        }
    }
    explicit_bzero (&self.ring, sizeof self.ring);
    return self.is_wrong ? LK_EXIT_NO : LK_EXIT_OK;
}
