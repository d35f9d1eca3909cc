/*  request.c - asking for a lock as the options say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "util/alloc.h"

#include <string.h>

static bool
is_soft (const lk_options *options)
{
    return options->quiet_ms > 0
           || (options->policy != NULL
               && strcmp (options->policy, "soft") == 0);
}

static bool
is_semaphore (const lk_options *options)
{
    return options->limit > 0 || options->bound > 0;
}

/*  What is wrong with them, NULL if nothing is. */
static const char *
find_problem (const lk_options *options)
{
    const char *policy = options->policy;
    if (options->shared && is_semaphore (options)) {
        return "--shared does not go with --semaphore and --bound";
    }
    if ((options->shared || is_semaphore (options))
        && (policy != NULL || options->quiet_ms > 0)) {
        return "--policy and --quiet are for exclusive locks";
    }
    if (policy != NULL && strcmp (policy, "hard") == 0
        && options->quiet_ms > 0) {
        return "--quiet makes a soft policy";
    }
    if (options->quiet_ms > LK_QUIET_MAX_MS) {
        return "--quiet is a day at most";
    }
    if (options->limit > LK_LIMIT_MAX || options->bound > LK_LIMIT_MAX) {
        return "--semaphore and --bound are 1000000000 at most";
    }
    if (options->lenient && options->duration_ms == 0) {
        return "--lenient needs a --duration";
    }
    if (options->lenient && options->is_static) {
        return "--lenient does not go with --static: that one's holder may not "
               "be "
               "there to be asked for it";
    }
    if (options->key != 0 && options->wait_ms != LK_FOREVER) {
        return "--key does not go with --wait: that lock is there or not";
    }
    if (options->all
        && (options->lenient || options->is_static || options->quiet_ms > 0
            || options->linger_ms > 0 || options->key != 0)) {
        return "--all does not go with --lenient, --static, --quiet, --linger "
               "and --key";
    }
    return NULL;
}

bool
lk_cli_check_kind (const lk_options *options)
{
    const char *problem = find_problem (options);
    if (problem != NULL) {
        (void) lk_cli_misused (options->verb, "%s", problem);
    }
    return problem == NULL;
}

static lk_lock_options
wish_of (const lk_options *options)
{
    const bool takes_over = options->key != 0;
    return (lk_lock_options) {.wait_ms = takes_over ? 0 : options->wait_ms,
                              .duration_ms = options->duration_ms,
                              .context = options->context,
                              .linger_ms = options->linger_ms,
                              .guarded = options->guarded,
                              .key = options->key,
                              .mode = {.type = options->shared ? LK_SHARED
                                               : is_semaphore (options)
                                                   ? LK_SEMAPHORE
                                                   : LK_EXCLUSIVE,
                                       .soft = is_soft (options),
                                       .quiet_ms = (uint32_t) options->quiet_ms,
                                       .limit = (uint32_t) options->limit,
                                       .bound = (uint32_t) options->bound,
                                       .lenient = options->lenient,
                                       .is_static = options->is_static}};
}

int
lk_cli_request (lk_session *session, const lk_options *options,
                lk_lock **lock_p)
{
    const lk_lock_options wish = wish_of (options);
    const size_t count = (size_t) options->names;
    lk_err error;
    if (options->all) {
        lk_object_name *name = lk_alloc (count * sizeof *name);
        for (size_t i = 0; i < count; i++) {
            name[i] = (lk_object_name) {.object = options->argument[i]};
        }
        error = lk_lock_request_all (session, name, count, &wish, lock_p);
        lk_free (name);
    } else {
        const char *name = options->argument[0];
        error = lk_lock_request (session, name, strlen (name), &wish, lock_p);
    }
    return error == LK_OK ? LK_EXIT_OK
                          : lk_cli_say_failed (session, options, error);
}
