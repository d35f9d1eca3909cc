/*  replay.c - a fuzz target's main without a fuzzer
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Gives the target every file that is named, and every file of a folder that
 *  is named (by default tests/fuzz/corpus/<name of the program>): as it is,
 *  and 25 times with bytes changed, cut or doubled. The same on
 *  every run. What does not end the program has passed; what does is written
 *  to a file, to be given to it alone.
 */

#include "util/alloc.h"
#include "util/hash.h"
#include "util/rng.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIANTS 25

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static size_t file_count;
static size_t input_count;

/*  What the target has now, and where that goes if it does not come back. */
static const uint8_t *tried;
static size_t tried_size;
static char finding[4096];

static void
keep_finding (int number)
{
    static const char said[] = "replay: the input is kept in ";
    const int fd = open (finding, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0 && write (fd, tried, tried_size) == (ssize_t) tried_size) {
        (void) !write (STDERR_FILENO, said, sizeof said - 1);
        (void) !write (STDERR_FILENO, finding, strlen (finding));
        (void) !write (STDERR_FILENO, "\n", 1);
    }
    signal (number, SIG_DFL);
    raise (number);
}

/*  In memory of exactly that size, so that a sanitizer sees its end. */
static void
try_input (const uint8_t *data, size_t size)
{
    uint8_t *copy = lk_realloc (NULL, size);
    if (size) {
        memcpy (copy, data, size);
    }
    tried = copy;
    tried_size = size;
    LLVMFuzzerTestOneInput (copy, size);
    lk_free (copy);
    input_count++;
}

/*  -------------------------------------------------------- variants */

static size_t
draw (lk_rng *rng, size_t below)
{
    return (size_t) lk_rng_between (rng, 0, (int64_t) below - 1);
}

static uint8_t
odd_byte (lk_rng *rng)
{
    static const uint8_t odd[] = {0,   1,   0x7f, 0x80, 0xff, '"', '\\',
                                  '{', '}', '[',  ']',  ':',  ',', '-',
                                  '0', '9', '@',  '*',  '.',  '/'};
    return odd[draw (rng, sizeof odd)];
}

/*  One to four changes; `room` is twice the size. Returns the new size. */
static size_t
change (lk_rng *rng, uint8_t *data, size_t size)
{
    const size_t room = 2 * size;
    for (size_t left = 1 + draw (rng, 4); left && size; left--) {
        const size_t at = draw (rng, size);
        switch (draw (rng, 5)) {
        case 0:
            data[at] ^= (uint8_t) (1u << draw (rng, 8));
            break;
        case 1:
            data[at] = odd_byte (rng);
            break;
        case 2:
            size = at;
            break;
        case 3: /* a piece goes */
            memmove (data + at, data + at + 1, size - at - 1);
            size--;
            break;
        default: /* the rest comes twice */
            if (size + (size - at) <= room) {
                memmove (data + size, data + at, size - at);
                size += size - at;
            }
        }
    }
    return size;
}

static void
try_variants (const uint8_t *data, size_t size)
{
    lk_rng rng;
    lk_rng_init (&rng, lk_hash64 (data, size));
    uint8_t *copy = lk_alloc (2 * size);
    for (int i = 0; i < VARIANTS && size; i++) {
        memcpy (copy, data, size);
        try_input (copy, change (&rng, copy, size));
    }
    lk_free (copy);
}

/*  -------------------------------------------------------- files */

static void
try_file (const char *path)
{
    FILE *file = fopen (path, "rb");
    struct stat facts;
    if (!file || fstat (fileno (file), &facts) != 0) {
        fprintf (stderr, "cannot read '%s'\n", path);
        exit (EXIT_FAILURE);
    }
    const size_t size = (size_t) facts.st_size;
    uint8_t *data = lk_alloc (size);
    if (fread (data, 1, size, file) != size) {
        fprintf (stderr, "cannot read all of '%s'\n", path);
        exit (EXIT_FAILURE);
    }
    fclose (file);
    try_input (data, size);
    try_variants (data, size);
    lk_free (data);
    file_count++;
}

static int
is_visible (const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void
try_path (const char *path)
{
    struct dirent **entries;
    const int count = scandir (path, &entries, is_visible, alphasort);
    if (count < 0) {
        try_file (path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf (inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        try_path (inner);
        free (entries[i]);
    }
    free (entries);
}

int
main (int argc, char **argv)
{
    const char *slash = strrchr (argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    char folder[4096];
    snprintf (folder, sizeof folder, "tests/fuzz/corpus/%s", name);
    snprintf (finding, sizeof finding, "%s-finding", argv[0]);
    signal (SIGABRT, keep_finding);
    if (argc < 2) {
        try_path (folder);
    }
    for (int i = 1; i < argc; i++) {
        try_path (argv[i]);
    }
    printf ("%zu passed, 0 failed (%zu inputs)\n", file_count, input_count);
    return file_count ? EXIT_SUCCESS : EXIT_FAILURE;
}
