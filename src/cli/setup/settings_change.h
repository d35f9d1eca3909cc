/*  settings_change.h - the cluster's settings, asked for and changed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Questions go to the lock service of this host, changes to the first leader.
 */

#ifndef LK_SETTINGS_CHANGE_H
#define LK_SETTINGS_CHANGE_H

#include "cli/ask.h"
#include "cli/terminal.h"

#include <stdbool.h>
#include <stdint.h>

#define LK_SETTINGS_SERVICE "lock@."

/*  That version, as this host had it; 0: the one in force, with its text. NULL:
 *  said why, and *code is how to exit. */
lk_message *lk_settings_ask (lk_requester *asker, int64_t version, int *code);

/*  The same, maybe without its text. */
lk_message *lk_settings_ask_any (lk_requester *asker, int64_t version,
                                 int *code);

/*  Says that the answer (NULL: there is none) is none; the exit code. */
int lk_settings_say_no_answer (const lk_message *answer);

/*  Since when an answer's settings were there, in UTC. */
const char *lk_settings_time (const lk_message *message,
                              char text[LK_UTC_SIZE]);

/*  An answer as one JSON object. */
void lk_settings_print (const lk_message *answer);

typedef struct {
    const lk_message *base; /* what was edited */
    const char *text;       /* what has come of it */
    bool json;
    bool is_aside; /* what was done is said on stderr */
    int64_t wait_ms;
} lk_settings_edit;

/*  Has them changed; what makes no sense is not asked for. Says what came of
 *  it; the exit code. */
int lk_settings_change (lk_requester *asker, const lk_settings_edit *it);

#endif
