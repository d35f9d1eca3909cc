/*  announcer.c - see announcer.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "announcer.h"

#include "net/clock.h"
#include "net/curve.h"
#include "net/log.h"
#include "wire/announcement.h"

#include <stdio.h>
#include <string.h>

#define LOOK_MS 1000   /* whether there is something else to say */
#define AGAIN_MS 10000 /* whether there is a network now */

/*  The name of the cluster may become known later. */
static void
say (lk_announcer *self)
{
    const lk_router *router = self->router;
    lk_announcement word;
    char line[LK_ANNOUNCEMENT_SIZE];
    snprintf (word.cluster, sizeof word.cluster, "%s", router->cluster_name);
    snprintf (word.host, sizeof word.host, "%s", router->host);
    snprintf (word.address, sizeof word.address, "%s", router->clients_address);
    lk_curve_fingerprint (router->clients_key, word.fingerprint);
    if (lk_announcement_write (&word, line) && strcmp (line, self->said) != 0) {
        snprintf (self->said, sizeof self->said, "%s", line);
        lk_beacon_say (self->beacon, line);
    }
}

/*  The network may come up later than we do: that is logged once. */
static void
look (void *user)
{
    lk_announcer *self = user;
    lk_problem problem;
    if (self->beacon == NULL) {
        self->beacon = lk_beacon_new (self->port, &problem);
        if (self->beacon == NULL && !self->is_told) {
            lk_log_warning ("beacon: %s", problem.text);
            self->is_told = true;
        }
    }
    if (self->beacon != NULL) {
        say (self);
    }
    lk_timer_set (&self->timer,
                  lk_clock_ms () + (self->beacon != NULL ? LOOK_MS : AGAIN_MS));
}

void
lk_announcer_begin (lk_announcer *self, lk_loop *loop, const lk_router *router,
                    int port)
{
    self->router = router;
    self->port = port;
    lk_timer_init (&self->timer, loop, look, self);
    if (port != 0 && router->clients_address[0] != '\0') {
        lk_timer_set (&self->timer, 0);
    }
}

void
lk_announcer_clear (lk_announcer *self)
{
    lk_timer_clear (&self->timer);
    lk_beacon_destroy (&self->beacon);
}
