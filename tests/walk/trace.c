/*  trace.c - notes each function that a process enters, while a gate is open
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Linked into programs that were compiled with -finstrument-functions, and not
 *  compiled so itself. With WALK_DIR each process writes to WALK_DIR/PID: a
 *  header, then a record for each entry while the number in WALK_DIR/gate, that
 *  of the walk, is not 0. Other threads than ours enter nothing of ours.
 */

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RECORDS_MAX 2000000

typedef struct {
    uint64_t walk;
    uint64_t at_ns;
    uint64_t function;
} record;

typedef struct {
    uint64_t count;
    uint64_t lost;
    record record[];
} trace_file;

static const volatile uint32_t *gate;
static trace_file *notes;

void __cyg_profile_func_enter (void *function, void *site);
void __cyg_profile_func_exit (void *function, void *site);

/*  NULL: it cannot be had. */
static void *
map (const char *folder, const char *name, size_t size, int flags)
{
    char path[PATH_MAX];
    snprintf (path, sizeof path, "%s/%s", folder, name);
    const int fd = open (path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0 || (flags != 0 && ftruncate (fd, (off_t) size) != 0)) {
        return NULL;
    }
    void *at = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close (fd);
    return at != MAP_FAILED ? at : NULL;
}

__attribute__ ((constructor)) static void
begin (void)
{
    char name[32];
    const char *folder = getenv ("WALK_DIR");
    if (folder == NULL) {
        return;
    }
    snprintf (name, sizeof name, "%d", (int) getpid ());
    notes =
        map (folder, name,
             sizeof *notes + RECORDS_MAX * sizeof notes->record[0], O_CREAT);
    gate = map (folder, "gate", sizeof *gate, 0);
}

static uint64_t
now_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

void
__cyg_profile_func_enter (void *function, void *site)
{
    (void) site;
    if (gate == NULL || notes == NULL || *gate == 0) {
        return;
    }
    if (notes->count == RECORDS_MAX) {
        notes->lost++;
        return;
    }
    notes->record[notes->count++] = (record) {
        .walk = *gate, .at_ns = now_ns (), .function = (uint64_t) function};
}

void
__cyg_profile_func_exit (void *function, void *site)
{
    (void) function;
    (void) site;
}
