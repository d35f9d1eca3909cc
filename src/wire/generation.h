/*  generation.h - a new beginning of a cluster that lost its majority for good
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An operator swears that hosts are dead, and names the members that go on
 *  without them. Those have other ids then, so that nothing that was said
 *  before counts any more. Pure values; lockkeeper-protocol(7), 9.19.
 */

#ifndef LK_GENERATION_H
#define LK_GENERATION_H

#include "wire/lock_message.h"

#include <lockkeeper/message.h>

/*  The core's own facts: fsynced before any message reveals them. */
typedef struct {
    lk_term promised;
    lk_decree active;
    uint64_t session; /* the last one that was used */
} lk_facts;

#define LK_GENERATION_TEXT_SIZE 2048

/*  Numbers of terms that the old majority may use up, in case it lives, before
 *  it could give a token that is not below all new ones. */
#define LK_GENERATION_GAP 65536

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    uint64_t former; /* its id in the generation before */
    uint64_t id;     /* ... and in this one */
} lk_generation_member;

typedef struct {
    uint64_t number;         /* 0: the one that `lockkeeper init` began */
    uint64_t id;             /* random */
    uint64_t above;          /* its terms have numbers above that */
    lk_settings_id settings; /* that it begins with */
    size_t count;
    lk_generation_member member[LK_MEMBERS_MAX];
} lk_generation;

/*  How another's generation stands to that of a host. */
typedef enum {
    LK_GENERATION_SAME,
    LK_GENERATION_EARLIER, /* it is to hear of ours */
    LK_GENERATION_FOLLOW,  /* a later one, of which we are a member */
    LK_GENERATION_RETIRE,  /* a later one, without us */
    LK_GENERATION_RIVAL    /* another one of the same number: nobody can say
                              which of them is right */
} lk_generation_relation;

/*  To the host of that name and id, whose generation is `ours`. */
lk_generation_relation lk_generation_relate (const lk_generation *ours,
                                             const char *host, uint64_t id,
                                             const lk_generation *theirs);

/*  The member of that name whose id was, or is, that one; NULL. */
const lk_generation_member *lk_generation_find_former (
    const lk_generation *self, const char *host, uint64_t former);
const lk_generation_member *lk_generation_find (const lk_generation *self,
                                                const char *host, uint64_t id);

/*  The facts with which a host begins in it, from those that it had: a member
 *  with its members, whose numbers these are, the others with 0. Sessions, and
 *  a member's terms, go on. */
void lk_generation_begin (const lk_generation *self, lk_hosts members,
                          lk_facts *facts);

bool lk_generation_equal (const lk_generation *one, const lk_generation *other);

/*  One line without a line's end, for files and messages:
 *
 *      NUMBER ID ABOVE VERSION HASH HOST:FORMER:ID ...
 *
 *  "" for number 0. HASH is that of the settings, zeros for version 0. */
void lk_generation_write (const lk_generation *self,
                          char text[LK_GENERATION_TEXT_SIZE]);

/*  False: it makes no sense. */
bool lk_generation_read (lk_generation *self, const char *text);

#endif
