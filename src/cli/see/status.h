/*  status.h - how a host and its cluster are: what to say of a survey
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_STATUS_H
#define LK_STATUS_H

#include "cli/survey.h"

/*  -------------------------------------------------------- hosts */

/*  A text of a message that may be NULL; the other one if it is not there, or
 *  empty. */
const char *lk_status_text (const lk_message *message, const char *field,
                            const char *otherwise);

const char *lk_status_role (const lk_survey *survey,
                            const lk_survey_host *host);

/*  Whether a member has its name, and its lock service says that it is none: it
 *  has another state than that member had. */
bool lk_status_lost_vote (const lk_survey_host *host);

/*  Why it is not as it should be; NULL: all is well. */
const char *lk_status_trouble (const lk_survey_host *host);

/*  Its link's state, or what there is instead of one. */
const char *lk_status_link (const lk_survey_host *host);

/*  Whether all members are there, with their votes and locks to be had, and as
 *  many lead as can; else why not. */
bool lk_status_is_full (const lk_survey *survey, char *why, size_t size);

/*  -------------------------------------------------------- what is to do */

#define LK_ADVICE_SIZE 600
#define LK_ADVICES 24

typedef struct {
    const char *label; /* "alerts": of a table that was wrong; "warning": of
                          what is not as it should be; "note" */
    char text[LK_ADVICE_SIZE];
} lk_advice;

typedef struct {
    lk_advice item[LK_ADVICES];
    size_t count;
} lk_advices;

/*  Adds a sentence, if there is room. */
void lk_advise (lk_advices *self, const char *label, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/*  Asks all routers whom they refuse, within about `wait_ms`. */
void lk_status_advise (const lk_survey *survey, lk_requester *asker,
                       int wait_ms, lk_advices *advices);
void lk_status_add_refused (const lk_survey *survey, lk_requester *asker,
                            int wait_ms, lk_advices *advices);

/*  Looks where the members are. */
void lk_status_add_domain (const lk_survey *survey, lk_advices *advices);

/*  Looks which hosts drain: a warning if one does for 10 minutes. */
void lk_status_add_leavers (const lk_survey *survey, lk_advices *advices);

/*  -------------------------------------------------------- for people */

/*  All of it; `object` may be NULL. */
void lk_status_print (const lk_survey *survey, const lk_advices *advices,
                      const char *object);

/*  -------------------------------------------------------- zones */

/*  Prints what a zone is told of itself, for people or programs; returns the
 *  exit code. */
int lk_status_print_zone (const lk_survey *survey, const lk_requester *asker,
                          bool json);

/*  The use of all zones, where the lock service tells it; else nothing: the
 *  number of lines that it takes, and prints them. */
size_t lk_status_zone_lines (const lk_message *lock);
void lk_status_print_zones (const lk_message *lock);

#endif
