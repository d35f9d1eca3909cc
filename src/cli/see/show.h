/*  show.h - one lock: what was found out, and how it looks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SHOW_H
#define LK_SHOW_H

#include "cli/cli.h"
#include "cli/see/past.h"
#include "cli/survey.h"

#define LK_SHOWN_TICKETS 500 /* tickets; `list --object` has all */

typedef struct {
    const lk_options *options;
    const char *name;
    lk_requester *asker;
    lk_survey survey;
    bool own; /* no leader tells: this is what this host itself knows */
    lk_message *ticket[LK_SHOWN_TICKETS];
    size_t count, all;
    lk_past_list past;
} lk_shower;

void lk_show_for_people (const lk_shower *self);

/*  The tickets and events go into what is printed. */
void lk_show_json (lk_shower *self);

#endif
