/*  wish.c - whether what a user asks for makes sense
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/wish.h"

#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

#define CONTEXT_LEN_MAX 255

/*  -------------------------------------------------------- names */

const char *
lk_wish_check_name (const char *object, size_t len)
{
    return object != NULL && len > 0 && len <= LK_OBJECT_LEN_MAX
               ? NULL
               : "the name of a lock is 1 to 4096 bytes";
}

const char *
lk_wish_check_context (const char *context)
{
    const size_t len = context != NULL ? strlen (context) : 0;
    return len <= CONTEXT_LEN_MAX && lk_utf8_is_text (context, len)
               ? NULL
               : "a context is up to 255 bytes of UTF-8 text";
}

bool
lk_wish_is_reason (const char *reason)
{
    const size_t len = reason != NULL ? strlen (reason) : 0;
    return len <= LK_REASON_MAX && lk_utf8_is_text (reason, len);
}

/*  -------------------------------------------------------- options */

static bool
is_time (int64_t ms)
{
    return ms >= 0 && ms <= LK_WISH_TIME_MAX;
}

static const char *
check_semaphore (const lk_lock_mode *mode)
{
    if (mode->limit == 0 && mode->bound == 0) {
        return "a semaphore needs a limit or a bound";
    }
    return mode->limit <= LK_LIMIT_MAX && mode->bound <= LK_LIMIT_MAX
               ? NULL
               : "a semaphore has up to 1000000000 units";
}

static const char *
check_mode (const lk_lock_mode *mode)
{
    if (mode->type >= LK_LOCK_TYPE_COUNT) {
        return "there is no such type of lock";
    }
    if (mode->type == LK_SEMAPHORE) {
        const char *problem = check_semaphore (mode);
        if (problem != NULL) {
            return problem;
        }
    } else if (mode->limit != 0 || mode->bound != 0) {
        return "only a semaphore has a limit or a bound";
    }
    if (mode->soft && mode->type != LK_EXCLUSIVE) {
        return "only an exclusive request can be soft";
    }
    if (mode->quiet_ms > 0 && !mode->soft) {
        return "only a soft request has a quiet time";
    }
    return mode->quiet_ms <= LK_QUIET_MAX_MS ? NULL
                                             : "a quiet time is up to a day";
}

const char *
lk_wish_check_options (const lk_lock_options *options)
{
    if ((options->wait_ms != LK_FOREVER && !is_time (options->wait_ms))
        || !is_time (options->duration_ms) || !is_time (options->linger_ms)) {
        return "a wait or duration is out of range";
    }
    if (options->mode.lenient && options->duration_ms == 0) {
        return "a lenient lock needs a duration";
    }
    if (options->mode.lenient && options->mode.is_static) {
        return "a static lock is not lenient: its holder may not be there to "
               "be asked for it";
    }
    const char *problem = lk_wish_check_context (options->context);
    return problem != NULL ? problem : check_mode (&options->mode);
}

/*  -------------------------------------------------------- sets */

static size_t
name_len (const lk_object_name *name)
{
    return name->len > 0 || name->object == NULL ? name->len
                                                 : strlen (name->object);
}

static int
compare (const void *one_p, const void *other_p)
{
    const lk_object_name *one = *(const lk_object_name *const *) one_p;
    const lk_object_name *other = *(const lk_object_name *const *) other_p;
    const size_t one_len = name_len (one), other_len = name_len (other);
    const int order = memcmp (one->object, other->object,
                              one_len < other_len ? one_len : other_len);
    return order != 0 ? order : (one_len > other_len) - (one_len < other_len);
}

static bool
has_double (const lk_object_name *names, size_t count)
{
    const lk_object_name *sorted[LK_SET_MAX];
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &names[i];
    }
    qsort (sorted, count, sizeof sorted[0], compare);
    for (size_t i = 1; i < count; i++) {
        if (compare (&sorted[i - 1], &sorted[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *
lk_wish_check_set (const lk_object_name *names, size_t count,
                   const lk_lock_options *options)
{
    const lk_lock_mode *mode = &options->mode;
    if (count == 0 || count > LK_SET_MAX) {
        return "a set has 1 to 128 names";
    }
    for (size_t i = 0; i < count; i++) {
        const char *problem =
            lk_wish_check_name (names[i].object, name_len (&names[i]));
        if (problem != NULL) {
            return problem;
        }
    }
    if (has_double (names, count)) {
        return "a set has no name twice";
    }
    if (mode->lenient || mode->is_static || mode->quiet_ms > 0
        || options->reentrant || options->key != 0) {
        return "a set is not lenient, static or re-entrant, has no quiet time, "
               "and is not taken over with a key";
    }
    return NULL;
}
