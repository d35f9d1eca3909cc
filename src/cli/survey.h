/*  survey.h - how the hosts of the cluster are, as far as one of them knows
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SURVEY_H
#define LK_SURVEY_H

#include "cli/ask.h"
#include "wire/domain.h"

#define LK_SURVEY_HOSTS 64

typedef struct {
    char name[LK_HOST_LEN_MAX + 1];
    bool here;        /* it is the one that is asked */
    bool live;        /* its router is linked, or it is here */
    bool is_member;   /* by the latest decree; */
    bool is_arbiter;  /* has a vote at most, by the settings */
    int leader;       /* its place among the leaders; -1: none */
    lk_message *link; /* row of ROUTERSTATUS; NULL: none */
    lk_message *lock; /* LOCKREADY or NOLOCK; NULL: no answer */

    char domain[LK_DOMAIN_LEN_MAX + 1]; /* "": not known, or not asked for */
    char told_domain[LK_DOMAIN_LEN_MAX + 1]; /* by its own file, if the settings
                                                have another one; else "" */
} lk_survey_host;

/*  Of a zone of its own only `lock`, and one host: that of who asks, ".". */
typedef struct {
    bool is_zoned;
    lk_message *router;     /* ROUTERSTATUS of the host that is asked; NULL */
    lk_message *lock;       /* LOCKREADY or NOLOCK of it; NULL */
    const lk_message *view; /* who is a member and who leads, as that says, or
                               another host if it does not; NULL: nobody */
    lk_survey_host host[LK_SURVEY_HOSTS]; /* that one first, by name */
    size_t count;
} lk_survey;

/*  Asks all of them, within about `wait_ms`. */
void lk_survey_take (lk_survey *self, lk_requester *asker, int wait_ms);
void lk_survey_clear (lk_survey *self);

/*  Asks the lock service whose view that is for the hosts' location domains. */
void lk_survey_take_domains (lk_survey *self, lk_requester *asker, int wait_ms);

bool lk_survey_is_ready (const lk_survey *self);

/*  Why locks cannot be had on this host, a sentence. */
const char *lk_survey_reason (const lk_survey *self);

/*  The same question to the lock services of all live hosts; answers in their
 *  places, which the caller owns, NULL: none. Complaints are none. */
void lk_survey_ask (const lk_survey *self, lk_requester *asker,
                    const lk_message *question,
                    lk_message *answers[LK_SURVEY_HOSTS], int wait_ms);

/*  The leader that orders the tickets of a name; NULL if there is none. */
const char *lk_survey_home (const lk_survey *self, const char *zone,
                            const char *context, const char *object);

#endif
