/*  shut_out.h - who sends garbage from other machines, and is shut out
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: time comes in. Offences are counted by the public key of a connection
 *  and by the place that it comes from, an address or a network of IPv6. The
 *  shell closes connections, and accepts none of those that are shut out.
 */

#ifndef LK_SHUT_OUT_H
#define LK_SHUT_OUT_H

#include "bounds.h"

#include "net/curve.h"
#include "util/map.h"

#define LK_SHUT_OUT_MAX 1024 /* keys, and places: the longest silent goes */
#define LK_SHUT_OUT_MS 10000 /* for the first time, doubled each time */
#define LK_SHUT_OUT_MOST_MS 600000    /* up to that, */
#define LK_SHUT_OUT_FORGET_MS 3600000 /* and forgotten so long after it */
#define LK_OFFENCES_MAX 3             /* at which one is shut out, */
#define LK_OFFENCES_MS 60000          /* within that time */
#define LK_HANDSHAKES_MAX 10          /* that went nowhere, likewise, */
#define LK_HANDSHAKES_MS 10000        /* within that time */
#define LK_VISITOR_MESSAGES_MAX 10    /* a second, of one key */

/*  A place as text: an address of IPv4, or "2001:db8:0:1::/64". */
#define LK_PLACE_SIZE 64

/*  The place of an address in numbers; false, and "": it is of this machine
 *  itself, or no address. Such are never shut out. */
bool lk_place_of (const char *address, char place[LK_PLACE_SIZE]);

/*  A key or a place. */
typedef struct {
    char name[LK_PLACE_SIZE];
    bool is_place;
    unsigned offences; /* since then */
    int64_t offences_ms;
    unsigned nowhere, somewhere; /* handshakes since then, by what became of
                                    them */
    int64_t handshakes_ms;
    unsigned admitted; /* handshakes that are not over, of keys that count */
    unsigned messages; /* of a visitor, since then */
    int64_t messages_ms;
    unsigned times; /* it was shut out */
    int64_t until_ms;
    char reason[LK_REASON_LEN_MAX + 1];
    UT_hash_handle hh;
} lk_offender;

typedef struct {
    lk_offender *all; /* who was seen last behind */
    uint64_t count;   /* how often anybody was shut out */
    bool is_told;     /* the shell knows which places are shut out */
} lk_shut_out;

void lk_shut_out_clear (lk_shut_out *self);

/*  Notes an offence of that key or place; `at_once`: it is one too many by
 *  itself. True: it is shut out now, and was not. */
bool lk_shut_out_offend (lk_shut_out *self, const char *name, bool is_place,
                         bool at_once, const char *reason, int64_t now_ms);

/*  Whether a message of a visitor by that key is one too many, in this second;
 *  `is_first`: the first such. */
bool lk_shut_out_hurries (lk_shut_out *self, const char *key, int64_t now_ms,
                          bool *is_first);

/*  A handshake from that place was let in by a key that counts; such a
 *  connection has begun a session; a connection has ended that had none, true:
 *  the place is shut out now, and was not. Places that fail less often than not
 *  are never. */
void lk_shut_out_admitted (lk_shut_out *self, const char *place,
                           int64_t now_ms);
void lk_shut_out_began (lk_shut_out *self, const char *place, int64_t now_ms);
bool lk_shut_out_ended (lk_shut_out *self, const char *place, int64_t now_ms);

/*  The row of a key or place that is shut out; NULL: it is not. */
const lk_offender *lk_shut_out_find (const lk_shut_out *self, const char *name,
                                     int64_t now_ms);
bool lk_offender_is_out (const lk_offender *self, int64_t now_ms);

/*  How many are. */
size_t lk_shut_out_now (const lk_shut_out *self, int64_t now_ms);

/*  Other keys count than before: handshakes that failed may not fail again. */
void lk_shut_out_forgive (lk_shut_out *self);

#endif
