/*  places.c - what is said of hosts, and how well leaders are spread
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "places.h"

#include "decree.h"
#include "util/assert.h"

/*  Two sets of as many scores each, sorted like that, stay in their order
 *  whatever is added to both: so an exchange that is better for one place is
 *  better for all of the leaders. Protocol 9.5.4. */
uint64_t
lk_places_spread (const lk_places *self, lk_hosts leaders, lk_host host)
{
    uint8_t scores[LK_LEADERS_MAX];
    uint64_t spread = 0;
    size_t count = 0;
    while (leaders) {
        const uint8_t score = self->score[host][lk_hosts_take (&leaders)];
        size_t i = count++;
        LK_ASSERT (count < LK_LEADERS_MAX);
        for (; i > 0 && scores[i - 1] > score; i--) {
            scores[i] = scores[i - 1];
        }
        scores[i] = score;
    }
    for (size_t i = 0; i < count; i++) {
        spread = spread << 8 | scores[i];
    }
    return spread;
}

void
lk_places_forget (lk_places *self, lk_host host)
{
    self->arbiters &= ~LK_HOST_BIT (host);
    for (size_t other = 0; other < LK_HOSTS_MAX; other++) {
        self->score[host][other] = self->score[other][host] = 0;
    }
}

void
lk_places_check (const lk_places *self)
{
    for (size_t a = 0; a < LK_HOSTS_MAX; a++) {
        for (size_t b = 0; b <= a; b++) {
            LK_ASSERT (self->score[a][b] == self->score[b][a]);
        }
    }
}
