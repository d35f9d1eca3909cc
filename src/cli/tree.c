/*  tree.c - all that a command has started, whatever became of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/tree.h"

#include "util/alloc.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ENVIRONMENT_SIZE 131072 /* that is looked through */

typedef struct {
    pid_t pid;
    pid_t parent; /* 0: it is gone, or dead */
    pid_t group;
    bool below; /* of the root */
} process;

typedef struct {
    process *item;
    size_t count;
    size_t size;
} processes;

void
lk_tree_adopt (void)
{
    (void) prctl (PR_SET_CHILD_SUBREAPER, 1);
}

/*  A file of that process; its size, 0 if there is none. A NUL follows. */
static size_t
read_file (pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf (path, sizeof path, "/proc/%d/%s", (int) pid, name);
    FILE *file = fopen (path, "re");
    const size_t got = file != NULL ? fread (text, 1, size - 1, file) : 0;
    if (file != NULL) {
        fclose (file);
    }
    text[got] = '\0';
    return got;
}

/*  The name may have blanks and brackets: what counts is behind its last
 *  one. */
static process
look_at (pid_t pid)
{
    char text[512], state = 'Z';
    int parent = 0, group = 0;
    (void) read_file (pid, "stat", text, sizeof text);
    const char *end = strrchr (text, ')');
    if (end != NULL
        && sscanf (end + 1, " %c %d %d", &state, &parent, &group) == 3
        && (state == 'Z' || state == 'X')) {
        parent = 0;
    }
    return (process) {.pid = pid, .parent = parent, .group = group};
}

bool
lk_tree_is_below (pid_t root)
{
    pid_t pid = getpid ();
    while (pid > 1 && pid != root) {
        pid = look_at (pid).parent;
    }
    return pid == root && root != getpid ();
}

static void
add (processes *self, pid_t pid)
{
    if (self->count == self->size) {
        self->size = self->size == 0 ? 256 : 2 * self->size;
        self->item = lk_realloc (self->item, self->size * sizeof *self->item);
    }
    self->item[self->count++] = look_at (pid);
}

static void
list (processes *self)
{
    DIR *dir = opendir ("/proc");
    const struct dirent *entry;
    *self = (processes) {.count = 0};
    while (dir != NULL && (entry = readdir (dir)) != NULL) {
        if (isdigit ((unsigned char) entry->d_name[0])) {
            add (self, (pid_t) strtol (entry->d_name, NULL, 10));
        }
    }
    if (dir != NULL) {
        closedir (dir);
    }
}

/*  Whether one more was found below the root. */
static bool
spread (processes *self, pid_t root, pid_t spared)
{
    bool found = false;
    for (size_t i = 0; i < self->count; i++) {
        process *it = &self->item[i];
        bool below = it->parent == root;
        for (size_t j = 0; !below && it->parent > 0 && j < self->count; j++) {
            below = self->item[j].below && self->item[j].pid == it->parent;
        }
        if (below && !it->below && it->pid != spared) {
            it->below = found = true;
        }
    }
    return found;
}

/*  `group`: which is left out; 0: none. */
static size_t
signal_below (pid_t root, pid_t spared, pid_t group, int signal)
{
    processes all;
    size_t count = 0;
    list (&all);
    while (spread (&all, root, spared)) {
    }
    for (size_t i = 0; i < all.count; i++) {
        const process *it = &all.item[i];
        if (it->below && (group == 0 || it->group != group)) {
            (void) kill (it->pid, signal);
            count++;
        }
    }
    lk_free (all.item);
    return count;
}

size_t
lk_tree_signal (pid_t root, pid_t spared, int signal)
{
    return signal_below (root, spared, 0, signal);
}

size_t
lk_tree_signal_strays (pid_t root, pid_t spared, pid_t group, int signal)
{
    return signal_below (root, spared, group, signal);
}

/*  By the kernel's list, where it has one. */
bool
lk_tree_has_children (pid_t spared)
{
    char path[64];
    long pid;
    bool found = false;
    snprintf (path, sizeof path, "/proc/self/task/%d/children",
              (int) getpid ());
    FILE *file = fopen (path, "re");
    if (file == NULL) {
        return lk_tree_signal (getpid (), spared, 0) > 0;
    }
    while (!found && fscanf (file, "%ld", &pid) == 1) {
        found = pid != spared && look_at ((pid_t) pid).parent != 0;
    }
    fclose (file);
    return found;
}

static bool
is_marked (pid_t pid, const char *mark)
{
    static char text[ENVIRONMENT_SIZE];
    const size_t size = read_file (pid, "environ", text, sizeof text);
    for (size_t i = 0; i < size; i += strlen (text + i) + 1) {
        if (strcmp (text + i, mark) == 0) {
            return true;
        }
    }
    return false;
}

size_t
lk_tree_signal_marked (const char *mark, int signal)
{
    processes all;
    size_t count = 0;
    list (&all);
    for (size_t i = 0; i < all.count; i++) {
        const process *it = &all.item[i];
        if (it->parent != 0 && it->pid != getpid ()
            && is_marked (it->pid, mark)) {
            (void) kill (it->pid, signal);
            count++;
        }
    }
    lk_free (all.item);
    return count;
}
