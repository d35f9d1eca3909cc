/*  config.h - what the parts of `lockkeeper config` share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CLI_CONFIG_H
#define LK_CLI_CONFIG_H

#include "cli/cli.h"
#include "net/config.h"
#include "settings/lock.h"
#include "settings/router.h"

/*  All that is wrong, on `file`, each in a line; returns how much that is. */
size_t lk_cli_tell_mistakes (FILE *file, const lk_config *config,
                             const char *start);

/*  The configuration at `path`, which may be missing if `may_lack`, and what it
 *  comes to; the caller's. NULL: said all that is wrong with it. */
lk_config *lk_cli_host_config (const char *path, bool may_lack,
                               lk_router_options *router,
                               lk_lockd_options *lock);

/*  LK_EXIT_OK if there is such a key; else said, with what may be meant. */
int lk_cli_check_key (const char *key);

/*  Whether the router hosts the lock service. */
bool lk_cli_is_hosted (const lk_config *config);

/*  Which service has to be told of a change of that key, and how: systemctl's
 *  words, or more. Returns `text`. */
const char *lk_cli_how_to_apply (const lk_config *config,
                                 const lk_config_key *key, char *text,
                                 size_t size);

int lk_cli_config_get (const lk_options *options);
int lk_cli_config_set (const lk_options *options);
int lk_cli_config_verify (const lk_options *options);

/*  The outcome of a trial: that host is there, and `what` it does; NULL: `what`
 *  is wrong there. */
void lk_cli_tell_trial (bool json, const char *where, const char *host,
                        const char *what);

/*  Says what is wrong with the client file that the options name, or with
 *  servers in it. */
int lk_cli_config_client (const lk_options *options);

/*  Tries the keys and connections of a configuration that is right, and says
 *  what came of each. */
int lk_cli_config_connect (const lk_router_options *router, bool json);

#endif
