/*  status_leavers.c - hosts that are to lead no more, and since when
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/status.h"
#include "cli/terminal.h"

#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define LONG_MS 600000 /* a restart takes no longer */
#define TEXT_SIZE 400

/*  How long it has drained; -1: it does not. */
static int64_t
drains_for (const lk_survey_host *host)
{
    return host->lock != NULL && lk_message_flag (host->lock, "draining")
               ? lk_message_number (host->lock, "draining_ms", 0)
               : -1;
}

/*  By themselves, or as somebody wanted, and maybe forgot. */
void
lk_status_add_leavers (const lk_survey *survey, lk_advices *advices)
{
    char text[TEXT_SIZE] = "";
    int64_t longest = -1;
    for (size_t i = 0; i < survey->count; i++) {
        const int64_t ms = drains_for (&survey->host[i]);
        const size_t used = strlen (text);
        longest = ms > longest ? ms : longest;
        if (ms >= 0) {
            snprintf (text + used, sizeof text - used, "%s%s for %s",
                      used > 0 ? ", " : "", survey->host[i].name,
                      lk_span (ms).text);
        }
    }
    if (longest >= 0) {
        lk_advise (advices, longest < LONG_MS ? "note" : "warning",
                   "leave, and do not lead: %s; `lockkeeper leave --undo` has "
                   "a host lead again",
                   text);
    }
}
