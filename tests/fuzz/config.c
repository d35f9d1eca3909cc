/*  config.c - fuzz target: any bytes as lockkeeper.conf
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Both daemons read it: what they take they take again, and what they do not
 *  is refused with a sentence and changes nothing. What is set in it then is in
 *  effect.
 */

#include "settings/edit.h"
#include "settings/keys.h"
#include "settings/lock.h"
#include "settings/router.h"

#include "lib/memory_file.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define SIZE_MAX_READ (256 * 1024)

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
    LK_ASSERT (error == LK_OK
               || lk_config_origin_of (config, key, 0).source != LK_FROM_FILE);
    const lk_err again = lk_config_load (config, file.path, &problem);
    LK_ASSERT (again == error);
    read (config);
    lk_config_destroy (&config);
}

/*  What is set is in effect then, whatever else is in the file. */
static void
edit (const uint8_t *data, size_t size)
{
    static const char *const mode[] = {"0751", NULL};
    lk_problem problem = {0};
    char *text = lk_memdup (data, size);
    char *edited = lk_edit_text (text, "router/mode", mode);
    lk_memory_file_set (&file, edited, strlen (edited));
    lk_config *config = lk_config_new (lk_settings);
    lk_config_be_lenient (config);
    const lk_err error = lk_config_load (config, file.path, &problem);
    LK_ASSERT (is_told (error, &problem));
    LK_ASSERT (strlen (edited) > SIZE_MAX_READ
               || lk_config_number (config, "router/mode") == 0751);
    lk_config_destroy (&config);
    lk_free (edited);
    lk_free (text);
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
    edit (data, size);
    return 0;
}
