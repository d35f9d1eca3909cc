/*  remembered.c - learned neighbours, over a restart of the router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "remembered.h"
#include "gossip.h"

#include "net/log.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "settings/edit.h"
#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char head[] =
    "#   Neighbours that lockkeeper-router was linked with and that are in no\n"
    "#   configuration; `lockkeeper forget HOST` takes one out.\n";

/*  -------------------------------------------------------- reading */

void
lk_remembered_begin (lk_remembered *self, const char *path, lk_router *router)
{
    lk_zpl zpl;
    lk_zpl_line line;
    lk_problem problem = {0};
    char host[LK_HOST_LEN_MAX + 1];
    *self = (lk_remembered) {.path = path};
    self->text = path[0] != '\0' ? lk_edit_read (path, &problem) : NULL;
    if (self->text == NULL) {
        if (path[0] != '\0') {
            lk_log_warning ("neighbour: none is remembered: %s", problem.text);
        }
        return;
    }
    lk_zpl_init (&zpl, self->text);
    while (lk_zpl_next (&zpl, &line)) {
        if (line.has_value && line.name.size <= LK_HOST_LEN_MAX) {
            lk_slice_keep (line.name, host, sizeof host);
            lk_gossip_remember (router, host, line.value);
        }
    }
}

/*  -------------------------------------------------------- writing */

/*  The caller's (lk_free). */
static char *
text_of (const lk_mesh *mesh)
{
    lk_bytes text = {0};
    char line[LK_HOST_LEN_MAX + LK_ADDRESS_LEN_MAX + 8];
    lk_bytes_add (&text, head, strlen (head));
    for (size_t i = 0; i < mesh->count; i++) {
        const lk_mesh_link *link = mesh->link[i];
        if (lk_mesh_link_is_memorable (link)) {
            snprintf (line, sizeof line, "%s = \"%s\"\n", link->host,
                      link->address);
            lk_bytes_add (&text, line, strlen (line));
        }
    }
    lk_bytes_add (&text, "", 1);
    char *copy = lk_strdup (text.data);
    lk_bytes_clear (&text);
    return copy;
}

static bool
write_all (const char *path, const char *text)
{
    const int fd = open (
        path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd == -1) {
        return false;
    }
    const bool done = lk_file_write (fd, text, strlen (text));
    const int number = errno;
    close (fd);
    errno = number;
    return done;
}

/*  Either the old or the new one is there, on any disk that is not torn from
 *  its power at this moment. */
static bool
replace (const char *path, const char *text)
{
    char other[PATH_MAX + 8];
    snprintf (other, sizeof other, "%s.new", path);
    return write_all (other, text) && rename (other, path) == 0;
}

void
lk_remembered_keep (lk_remembered *self, lk_router *router)
{
    if (!router->is_memory_old) {
        return;
    }
    router->is_memory_old = false;
    if (self->path == NULL || self->path[0] == '\0') {
        return;
    }
    char *text = text_of (&router->mesh);
    const char *old = self->text != NULL ? self->text : "";
    if (strcmp (text, old) == 0
        || (old[0] == '\0' && strcmp (text, head) == 0)) {
        lk_free (text);
        return;
    }
    if (replace (self->path, text)) {
        self->is_said = false;
    } else if (!self->is_said) {
        self->is_said = true;
        lk_problem problem;
        (void) lk_problem_errno (&problem, "cannot write '%s'", self->path);
        lk_log_warning ("neighbour: %s; neighbours that were learned are "
                        "forgotten at the end of this router",
                        problem.text);
    }
    lk_free (self->text);
    self->text = text;
}

void
lk_remembered_clear (lk_remembered *self)
{
    lk_free (self->text);
    self->text = NULL;
}
