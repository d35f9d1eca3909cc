/*  shut_out.c - who sends garbage from other machines, and is shut out
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "shut_out.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define SECOND_MS 1000
#define NOWHERE "handshakes that go nowhere"

/*  -------------------------------------------------------- places */

static bool
place_of_4 (const struct in_addr *address, char place[LK_PLACE_SIZE])
{
    const bool is_own =
        ntohl (address->s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
    return !is_own
           && inet_ntop (AF_INET, address, place, LK_PLACE_SIZE) != NULL;
}

/*  A machine has a whole network of addresses, but on its own link. */
static bool
place_of_6 (struct in6_addr *address, char place[LK_PLACE_SIZE])
{
    struct in_addr mapped;
    if (IN6_IS_ADDR_V4MAPPED (address)) {
        memcpy (&mapped, address->s6_addr + 12, sizeof mapped);
        return place_of_4 (&mapped, place);
    }
    if (IN6_IS_ADDR_LOOPBACK (address)) {
        return false;
    }
    const bool is_network = !IN6_IS_ADDR_LINKLOCAL (address);
    if (is_network) {
        memset (address->s6_addr + 8, 0, 8);
    }
    if (inet_ntop (AF_INET6, address, place, LK_PLACE_SIZE) == NULL) {
        return false;
    }
    if (is_network) {
        const size_t size = strlen (place);
        snprintf (place + size, LK_PLACE_SIZE - size, "/64");
    }
    return true;
}

bool
lk_place_of (const char *address, char place[LK_PLACE_SIZE])
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr four;
    struct in6_addr six;
    bool is_one = false;
    /*  Without the name of an interface. */
    snprintf (text, sizeof text, "%.*s", (int) strcspn (address, "%"), address);
    if (inet_pton (AF_INET, text, &four) == 1) {
        is_one = place_of_4 (&four, place);
    } else if (inet_pton (AF_INET6, text, &six) == 1) {
        is_one = place_of_6 (&six, place);
    }
    if (!is_one) {
        place[0] = '\0';
    }
    return is_one;
}

/*  -------------------------------------------------------- rows */

static lk_offender *
find (const lk_shut_out *self, const char *name)
{
    lk_offender *found;
    HASH_FIND (hh, self->all, name, strlen (name), found);
    return found;
}

bool
lk_offender_is_out (const lk_offender *self, int64_t now_ms)
{
    return now_ms < self->until_ms;
}

static void
drop (lk_shut_out *self, lk_offender *it)
{
    HASH_DEL (self->all, it);
    lk_free (it);
}

/*  Those that are shut out last. */
static void
make_room (lk_shut_out *self, int64_t now_ms)
{
    lk_offender *it = self->all;
    while (it != NULL && lk_offender_is_out (it, now_ms)) {
        it = it->hh.next;
    }
    drop (self, it != NULL ? it : self->all);
}

/*  The row of that name, as that which was seen last. */
static lk_offender *
see (lk_shut_out *self, const char *name, bool is_place, int64_t now_ms)
{
    lk_offender *it = find (self, name);
    if (it != NULL) {
        HASH_DEL (self->all, it);
    } else {
        if (HASH_COUNT (self->all) >= LK_SHUT_OUT_MAX) {
            make_room (self, now_ms);
        }
        it = lk_alloc (sizeof *it);
        *it = (lk_offender) {.is_place = is_place,
                             .offences_ms = now_ms,
                             .handshakes_ms = now_ms,
                             .messages_ms = now_ms};
        snprintf (it->name, sizeof it->name, "%s", name);
    }
    HASH_ADD (hh, self->all, name, strlen (it->name), it);
    return it;
}

void
lk_shut_out_clear (lk_shut_out *self)
{
    lk_offender *it, *next;
    HASH_ITER (hh, self->all, it, next) {
        drop (self, it);
    }
}

/*  -------------------------------------------------------- shutting out */

/*  False: it is already. */
static bool
shut (lk_shut_out *self, lk_offender *it, const char *reason, int64_t now_ms)
{
    int64_t ms = LK_SHUT_OUT_MS;
    it->offences = 0;
    it->nowhere = 0;
    if (lk_offender_is_out (it, now_ms)) {
        return false;
    }
    if (now_ms >= it->until_ms + LK_SHUT_OUT_FORGET_MS) {
        it->times = 0;
    }
    for (unsigned i = 0; i < it->times && ms < LK_SHUT_OUT_MOST_MS; i++) {
        ms *= 2;
    }
    it->times++;
    it->until_ms =
        now_ms + (ms < LK_SHUT_OUT_MOST_MS ? ms : LK_SHUT_OUT_MOST_MS);
    snprintf (it->reason, sizeof it->reason, "%s", reason);
    self->count++;
    self->is_told = self->is_told && !it->is_place;
    return true;
}

bool
lk_shut_out_offend (lk_shut_out *self, const char *name, bool is_place,
                    bool at_once, const char *reason, int64_t now_ms)
{
    lk_offender *it = see (self, name, is_place, now_ms);
    if (now_ms >= it->offences_ms + LK_OFFENCES_MS) {
        it->offences = 0;
        it->offences_ms = now_ms;
    }
    it->offences++;
    return (at_once || it->offences >= LK_OFFENCES_MAX)
           && shut (self, it, reason, now_ms);
}

bool
lk_shut_out_hurries (lk_shut_out *self, const char *key, int64_t now_ms,
                     bool *is_first)
{
    lk_offender *it = see (self, key, false, now_ms);
    if (now_ms >= it->messages_ms + SECOND_MS) {
        it->messages = 0;
        it->messages_ms = now_ms;
    }
    it->messages++;
    *is_first = it->messages == LK_VISITOR_MESSAGES_MAX + 1;
    return it->messages > LK_VISITOR_MESSAGES_MAX;
}

/*  -------------------------------------------------------- handshakes */

static lk_offender *
see_handshakes (lk_shut_out *self, const char *place, int64_t now_ms)
{
    lk_offender *it = see (self, place, true, now_ms);
    if (now_ms >= it->handshakes_ms + LK_HANDSHAKES_MS) {
        it->nowhere = 0;
        it->somewhere = 0;
        it->handshakes_ms = now_ms;
    }
    return it;
}

void
lk_shut_out_admitted (lk_shut_out *self, const char *place, int64_t now_ms)
{
    lk_offender *it = see_handshakes (self, place, now_ms);
    it->admitted++;
    it->somewhere++;
}

void
lk_shut_out_began (lk_shut_out *self, const char *place, int64_t now_ms)
{
    lk_offender *it = see_handshakes (self, place, now_ms);
    if (it->admitted > 0) {
        it->admitted--;
    } else {
        it->somewhere++;
    }
}

bool
lk_shut_out_ended (lk_shut_out *self, const char *place, int64_t now_ms)
{
    lk_offender *it = see_handshakes (self, place, now_ms);
    if (it->admitted > 0) {
        it->admitted--;
        return false;
    }
    it->nowhere++;
    return it->nowhere >= LK_HANDSHAKES_MAX && it->nowhere > it->somewhere
           && shut (self, it, NOWHERE, now_ms);
}

/*  -------------------------------------------------------- looking */

const lk_offender *
lk_shut_out_find (const lk_shut_out *self, const char *name, int64_t now_ms)
{
    const lk_offender *it = find (self, name);
    return it != NULL && lk_offender_is_out (it, now_ms) ? it : NULL;
}

size_t
lk_shut_out_now (const lk_shut_out *self, int64_t now_ms)
{
    size_t count = 0;
    for (const lk_offender *it = self->all; it != NULL; it = it->hh.next) {
        count += lk_offender_is_out (it, now_ms);
    }
    return count;
}

void
lk_shut_out_forgive (lk_shut_out *self)
{
    for (lk_offender *it = self->all; it != NULL; it = it->hh.next) {
        if (strcmp (it->reason, NOWHERE) == 0) {
            it->until_ms = 0;
            it->times = 0;
            it->reason[0] = '\0';
        }
        it->nowhere = 0;
    }
    self->is_told = false;
}
