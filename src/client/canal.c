/*  canal.c - so many at once for each resource, and the rest turned away
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A unit is a lock of a semaphore, which the session keeps for its user.
 */

#include "client/session.h"

#include <lockkeeper/canal.h>
#include <string.h>

/*  How many there may be; 0 if that makes no sense. */
static uint32_t
limit_of (uint32_t max_per, uint32_t resources)
{
    const uint64_t limit = (uint64_t) max_per * resources;
    return limit <= LK_LIMIT_MAX ? (uint32_t) limit : 0;
}

static lk_err
fail_limit (lk_session *session)
{
    return lk_session_fail (session, LK_INVALID,
                            "a canal has 1 to 1000000000 units");
}

lk_err
lk_canal_acquire (lk_session *session, const char *name, uint32_t max_per,
                  uint32_t resources, uint32_t *ordinal_p)
{
    const uint32_t limit = limit_of (max_per, resources);
    const lk_lock_options options = {
        .mode = {.type = LK_SEMAPHORE, .limit = limit}};
    lk_lock *unit = NULL;
    if (limit == 0) {
        return fail_limit (session);
    }
    lk_err error =
        lk_lock_acquire (session, name, strlen (name), &options, &unit);
    if (error != LK_OK) {
        return error;
    }
    unit->is_unit = true;
    if (ordinal_p != NULL) {
        *ordinal_p = lk_lock_ordinal (unit);
    }
    return LK_OK;
}

lk_err
lk_canal_release (lk_session *session, const char *name, uint32_t max_per,
                  uint32_t resources)
{
    if (limit_of (max_per, resources) == 0) {
        return fail_limit (session);
    }
    lk_lock *unit = lk_book_newest_unit (session->book, name);
    if (unit == NULL) {
        return lk_session_fail (session, LK_UNKNOWN,
                                "this session has no unit of that name");
    }
    return lk_lock_release (&unit);
}
