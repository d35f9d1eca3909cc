/*  joining.c - a host that is to join becomes a member by itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  `lockkeeper init --join` leaves a file beside the state: the wish to be a
 *  member. As long as it is there, and we are none, the first leader is asked
 *  for that, as `lockkeeper cluster add` would; then it goes.
 */

#include "in.h"
#include "members.h"
#include "out.h"

#include "net/log.h"
#include "net/paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*  Who leads is not known yet; the leader was asked; it has refused. */
enum { SOON_MS = 500, AGAIN_MS = 3000, REFUSED_MS = 60000 };

static void
path_of (const lk_lockd *self, char *path, size_t size)
{
    snprintf (path, size, "%s/%s", self->options.state_dir, LK_PATH_JOIN_FILE);
}

void
lk_lockd_begin_joining (lk_lockd *self)
{
    char path[PATH_MAX + 16];
    path_of (self, path, sizeof path);
    if (access (path, F_OK) == 0) {
        self->join_at_ms = lk_bus_now (self->bus) + SOON_MS;
    }
}

/*  It is done: who is removed later is not to come back. */
static void
end_joining (lk_lockd *self)
{
    char path[PATH_MAX + 16];
    path_of (self, path, sizeof path);
    self->join_at_ms = INT64_MAX;
    if (unlink (path) != 0 && errno != ENOENT) {
        lk_problem problem;
        (void) lk_problem_errno (&problem,
                                 "cannot remove '%s', which has this host "
                                 "become a member again if it is removed",
                                 path);
        lk_log_warning ("%s", problem.text);
    }
    lk_log_notice ("joined: a member of cluster '%s' now", self->state.cluster);
}

static void
ask_leader (lk_lockd *self, const lk_decree *decree)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "lock@%s",
              lk_hostmap_name (&self->hostmap, decree->leader[0]));
    lk_message *message = lk_message_new (to, "LOCKMEMBERS");
    lk_message_set_text (message, "add", lk_bus_host (self->bus));
    (void) lk_lockd_send (self, message);
}

void
lk_lockd_join (lk_lockd *self)
{
    lk_node_status status;
    const int64_t now = lk_bus_now (self->bus);
    if (self->join_at_ms == INT64_MAX) {
        return;
    }
    lk_node_get_status (self->node, &status);
    const lk_decree *decree = lk_lockd_decree (self, &status);
    if (decree->members != 0 && lk_lockd_is_member (self, decree)) {
        end_joining (self);
    } else if (now < self->join_at_ms) {
        return;
    } else if (decree->leader_count > 0 && self->attached) {
        self->join_at_ms = now + AGAIN_MS;
        ask_leader (self, decree);
    } else {
        self->join_at_ms = now + SOON_MS;
    }
}

/*  Why it takes so long is told once for each reason. */
void
lk_lockd_not_joined (lk_lockd *self, const char *host,
                     const lk_message *message)
{
    if (self->join_at_ms == INT64_MAX) {
        return;
    }
    const char *text = lk_message_text (message, "text");
    const char *word = lk_message_text (message, "error");
    text = text != NULL ? text : "it does not say why";
    if (word != NULL && lk_err_from_word (word) == LK_REFUSED) {
        self->join_at_ms = lk_bus_now (self->bus) + REFUSED_MS;
    }
    if (strncmp (self->join_why, text, sizeof self->join_why - 1) != 0) {
        snprintf (self->join_why, sizeof self->join_why, "%s", text);
        lk_log_warning ("joining: no member yet, only a proxy: %s; `lockkeeper "
                        "cluster add %s` tries it, too leader=%s",
                        self->join_why, lk_bus_host (self->bus), host);
    }
}
