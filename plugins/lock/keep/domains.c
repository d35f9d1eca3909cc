/*  domains.c - what is said of hosts, for the core, the router and people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "domains.h"

#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define LEVELS_MAX 15 /* that tell; the masks are ahead of all of them */
#define MASK (LEVELS_MAX + 1)

_Static_assert(LEVELS_MAX + 2 * MASK * LK_LEADER_MASKS_MAX <= UINT8_MAX,
               "a score fits");

/*  -------------------------------------------------------- told */

void
lk_domain_write (const lk_lockd *self, lk_message *message)
{
    if (self->options.domain[0] != '\0') {
        lk_message_set_text (message, "domain", self->options.domain);
    }
}

bool
lk_domain_read (const lk_message *message, const char **domain)
{
    *domain = lk_message_text (message, "domain");
    if (*domain == NULL) {
        *domain = "";
        return !lk_message_has (message, "domain");
    }
    return lk_domain_is_valid (*domain);
}

/*  One that had the name before, and another state file, is no more. */
static void
forget_others (lk_lockd *self, lk_host host)
{
    const char *name = lk_hostmap_name (&self->hostmap, host);
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if (i != host
            && strcmp (lk_hostmap_name (&self->hostmap, (lk_host) i), name)
                   == 0) {
            self->told_domain[i][0] = '\0';
        }
    }
}

void
lk_lockd_note_domain (lk_lockd *self, lk_host host, const char *domain)
{
    char *told = self->told_domain[host];
    forget_others (self, host);
    if (strcmp (told, domain) != 0) {
        snprintf (told, sizeof self->told_domain[host], "%s", domain);
        self->keys_are_old = true; /* the router is told of it with them */
    }
    self->places_are_old = true;
}

/*  -------------------------------------------------------- what counts */

size_t
lk_lockd_domains (const lk_lockd *self, const char *text,
                  lk_host_domain domains[LK_LOCKD_DOMAINS])
{
    size_t count =
        text != NULL ? lk_common_settings_domains (text, domains) : 0;
    for (size_t i = 0; i < self->hostmap.count; i++) {
        const char *name = lk_hostmap_name (&self->hostmap, (lk_host) i);
        if (self->told_domain[i][0] != '\0'
            && lk_host_domain_of (domains, count, name) == NULL) {
            lk_host_domain *place = &domains[count++];
            snprintf (place->host, sizeof place->host, "%s", name);
            memcpy (place->domain, self->told_domain[i], sizeof place->domain);
        }
    }
    return count;
}

/*  By host: "" where it is not known. */
typedef struct {
    const char *domain[LK_HOSTS_MAX];
    uint8_t wish[LK_HOSTS_MAX]; /* masks from the first that it fits on */
} place_list;

static uint8_t
find_score (const place_list *list, size_t one, size_t other)
{
    const size_t levels =
        lk_domain_score (list->domain[one], list->domain[other]);
    return levels == 0 ? 0
                       : (uint8_t) ((levels < LEVELS_MAX ? levels : LEVELS_MAX)
                                    + MASK
                                          * (size_t) (list->wish[one]
                                                      + list->wish[other]));
}

void
lk_lockd_find_places (const lk_lockd *self, const lk_node_status *status,
                      lk_places *places)
{
    const char *text = lk_lockd_settings_text (status);
    lk_host_domain *domains = lk_alloc (LK_LOCKD_DOMAINS * sizeof *domains);
    const size_t count = lk_lockd_domains (self, text, domains);
    const size_t hosts = self->hostmap.count;
    place_list list;
    *places = (lk_places) {.arbiters = lk_lockd_find_arbiters (self, status)};
    for (size_t i = 0; i < hosts; i++) {
        const lk_host_domain *place = lk_host_domain_of (
            domains, count, lk_hostmap_name (&self->hostmap, (lk_host) i));
        list.domain[i] = place != NULL ? place->domain : "";
        list.wish[i] = lk_common_settings_wish (text, list.domain[i]);
        for (size_t other = 0; other < i; other++) {
            places->score[i][other] = places->score[other][i] =
                find_score (&list, i, other);
        }
    }
    lk_free (domains);
}
