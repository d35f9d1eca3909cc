/*  status_words.c - what is said of a host, and the sentences of advice
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/status.h"

#include "wire/message_frame.h"

#include <stdarg.h>
#include <stdio.h>

/*  -------------------------------------------------------- hosts */

const char *
lk_status_text (const lk_message *message, const char *field,
                const char *otherwise)
{
    const char *text =
        message != NULL ? lk_message_text (message, field) : NULL;
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

bool
lk_status_lost_vote (const lk_survey_host *host)
{
    return host->is_member && host->lock != NULL
           && !lk_message_flag (host->lock, "member");
}

const char *
lk_status_role (const lk_survey *survey, const lk_survey_host *host)
{
    return lk_status_lost_vote (host) ? "no vote"
           : host->leader == 0        ? "first leader"
           : host->leader > 0         ? "leader"
           : host->is_arbiter         ? "arbiter"
           : host->is_member          ? "member"
           : survey->view != NULL     ? "proxy"
                                      : "unknown";
}

const char *
lk_status_trouble (const lk_survey_host *host)
{
    if (!host->live) {
        return lk_status_text (host->link, "reason",
                               host->link == NULL
                                   ? "its router is in no list here"
                                   : "its router does not answer");
    }
    if (host->lock == NULL) {
        return "no lock service answers there";
    }
    return host->is_arbiter || lk_message_is (host->lock, "LOCKREADY")
               ? NULL
               : lk_status_text (host->lock, "reason", "no reason told");
}

const char *
lk_status_link (const lk_survey_host *host)
{
    return host->here           ? "here"
           : host->link != NULL ? lk_status_text (host->link, "state", "?")
                                : "unknown";
}

/*  -------------------------------------------------------- advice */

void
lk_advise (lk_advices *self, const char *label, const char *format, ...)
{
    if (self->count < LK_ADVICES) {
        lk_advice *it = &self->item[self->count++];
        va_list arguments;
        it->label = label;
        va_start (arguments, format);
        vsnprintf (it->text, sizeof it->text, format, arguments);
        va_end (arguments);
    }
}
