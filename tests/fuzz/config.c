/*  config.c - fuzz target: any bytes as lockkeeper.conf
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Both daemons read it: what they take they take again, and what they do not
 *  is refused with a sentence and changes nothing.
 */

#include "settings/keys.h"
#include "settings/lock.h"
#include "settings/router.h"

#include "lib/memory_file.h"
#include "util/assert.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static lk_memory_file file;

/*  Whether the problem is a sentence if, and only if, there is one. */
static bool
is_told (lk_err error, const lk_problem *problem)
{
    return error == LK_OK
           || (problem->text[0] != '\0'
               && memchr (problem->text, '\0', sizeof problem->text) != NULL
               && strchr (problem->text, '\n') == NULL);
}

static void
read_router (lk_config *config)
{
    lk_router_options options;
    lk_problem problem = {0};
    const lk_err error = lk_router_options_read (&options, config, &problem);
    LK_ASSERT (is_told (error, &problem));
    if (error == LK_OK) {
        char address[LK_ADDRESS_LEN_MAX + 1];
        const lk_err found = lk_router_options_address (
            &options, "tcp://10.0.0.1:4040", address, sizeof address, &problem);
        LK_ASSERT (is_told (found, &problem));
        LK_ASSERT (options.dead_after_ms >= 100);
        LK_ASSERT (options.mode <= 0777);
    }
}

static void
read_lockd (lk_config *config)
{
    lk_lockd_options options;
    lk_problem problem = {0};
    const lk_err error = lk_lockd_options_read (&options, config, &problem);
    LK_ASSERT (is_told (error, &problem));
    LK_ASSERT (error != LK_OK
               || options.host_lease_ms > 3 * options.leader_lease_ms);
}

static void
load (lk_config *config, const char *key, void (*read) (lk_config *))
{
    lk_problem problem = {0};
    const lk_err error = lk_config_load (config, file.path, &problem);
    LK_ASSERT (is_told (error, &problem));
    LK_ASSERT (error == LK_OK || !lk_config_is_set (config, key));
    const lk_err again = lk_config_load (config, file.path, &problem);
    LK_ASSERT (again == error);
    read (config);
    lk_config_destroy (&config);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (file.path[0] == '\0') {
        lk_memory_file_open (&file);
    }
    lk_memory_file_set (&file, data, size);
    load (lk_config_new (lk_settings), "router/dead-after", read_router);
    load (lk_config_new (lk_settings), "lock/dead-after", read_lockd);
    return 0;
}
