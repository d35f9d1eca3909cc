/*  history.c - what applications did with locks and what they were told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/history.h"

#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 256

#define WORD(name, word) word,
static const char *const words[] = {LK_HISTORY_KINDS (WORD)};
#undef WORD

int64_t
lk_history_now (void)
{
    struct timespec now;
    clock_gettime (CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

const char *
lk_history_word (lk_history_kind kind)
{
    return words[kind];
}

/*  -------------------------------------------------------- writing */

int
lk_history_open (const char *path)
{
    return open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void
lk_history_note (int fd, const lk_history_event *event)
{
    char line[LINE_SIZE];
    const int64_t ns = event->ns != 0 ? event->ns : lk_history_now ();
    const int size = snprintf (
        line, sizeof line, "%" PRId64 " %s %s %" PRIu64 " %s %" PRId64 " %s\n",
        ns, event->process, words[event->kind], event->request,
        event->object[0] != '\0' ? event->object : "-", event->number,
        event->word[0] != '\0' ? event->word : "-");
    if (write (fd, line, (size_t) size) != size) {
        fprintf (stderr, "cannot write a history: %s\n", strerror (errno));
        abort ();
    }
}

/*  -------------------------------------------------------- reading */

static void
add_event (lk_history *self, const lk_history_event *event)
{
    if (self->count == self->size) {
        self->size = self->size * 2 + 1024;
        self->event =
            lk_realloc (self->event, self->size * sizeof *self->event);
    }
    self->event[self->count++] = *event;
}

static bool
find_kind (const char *word, lk_history_kind *kind)
{
    for (int i = 0; i < LK_HISTORY_KIND_COUNT; i++) {
        if (strcmp (words[i], word) == 0) {
            *kind = (lk_history_kind) i;
            return true;
        }
    }
    return false;
}

static bool
read_line (const char *line, lk_history_event *event)
{
    char kind[16];
    *event = (lk_history_event) {.ns = 0};
    return sscanf (line,
                   "%" SCNd64 " %31s %15s %" SCNu64 " %31s %" SCNd64 " %23s",
                   &event->ns, event->process, kind, &event->request,
                   event->object, &event->number, event->word)
               == 7
           && find_kind (kind, &event->kind);
}

/*  Events of one moment stay in the order of request and kind. */
static int
by_time (const void *left, const void *right)
{
    const lk_history_event *a = left, *b = right;
    if (a->ns != b->ns) {
        return a->ns < b->ns ? -1 : 1;
    }
    if (a->request != b->request) {
        return a->request < b->request ? -1 : 1;
    }
    return (a->kind > b->kind) - (a->kind < b->kind);
}

bool
lk_history_read (lk_history *self, const char *path, const char *only)
{
    char line[LINE_SIZE];
    lk_history_event event;
    FILE *file = fopen (path, "re");
    bool good = file != NULL;
    for (int number = 1; good && fgets (line, sizeof line, file) != NULL;
         number++) {
        if (only != NULL && strstr (line, only) == NULL) {
            continue;
        }
        good = read_line (line, &event);
        if (good) {
            add_event (self, &event);
        } else {
            fprintf (stderr, "%s:%d: no event: %s", path, number, line);
        }
    }
    if (file == NULL) {
        fprintf (stderr, "cannot read '%s': %s\n", path, strerror (errno));
    } else {
        fclose (file);
    }
    if (self->count > 0) {
        qsort (self->event, self->count, sizeof *self->event, by_time);
    }
    return good;
}

void
lk_history_clear (lk_history *self)
{
    lk_free (self->event);
    *self = (lk_history) {.count = 0};
}
