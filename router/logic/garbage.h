/*  garbage.h - other machines that say what no program of ours says
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A frame that cannot be read is enough, three of the rest within a minute
 *  are: the connection is closed, and its key shut out. Its address is shut out
 *  as well if the settings do not have its key, since such keys cost nothing.
 */

#ifndef LK_GARBAGE_H
#define LK_GARBAGE_H

#include "router.h"

#include "wire/frame.h"

typedef enum {
    LK_GARBAGE_FRAME,   /* it cannot be read, or is none */
    LK_GARBAGE_LIE,     /* somebody else's address as its sender */
    LK_GARBAGE_COMMAND, /* one that the router does not know */
    LK_GARBAGE_BODY,    /* too large for a stranger, no JSON, or packed */
    LK_GARBAGE_HURRY    /* too many messages of a stranger */
} lk_garbage;

/*  Whether who has that key, or comes from there, may not connect now. */
bool lk_garbage_is_out (const lk_router *self, const char *public_key,
                        const char *address);

/*  A key that counts was let in from there. */
void lk_garbage_admitted (lk_router *self, const char *address);

/*  Such a one, or another, has begun a session. */
void lk_garbage_began (lk_router *self, const char *address);

/*  A connection from there has ended that had no session. */
void lk_garbage_ended (lk_router *self, const char *address);

/*  Whether a message is to be looked at: of a stranger not more than ten in a
 *  second, nor any if its key is shut out. Of other sources all are. */
bool lk_garbage_is_heard (lk_router *self, const lk_source *source);

/*  Counts what came from another machine; what comes from elsewhere is nothing
 *  to it. */
void lk_garbage_note (lk_router *self, const lk_source *source,
                      lk_garbage what);

/*  Closes the connection if what was noted since is too much, and ends its
 *  session: true. */
bool lk_garbage_cut (lk_router *self, const lk_source *source);

#endif
