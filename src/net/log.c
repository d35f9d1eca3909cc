/*  log.c - see log.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 2048
#define TIME_SIZE 40

static const struct {
    const char *word;
    int priority;
} levels[] = {
    [LK_LOG_ERROR] = {"error", LOG_ERR},
    [LK_LOG_WARNING] = {"warning", LOG_WARNING},
    [LK_LOG_NOTICE] = {"notice", LOG_NOTICE},
    [LK_LOG_INFO] = {"info", LOG_INFO},
    [LK_LOG_DEBUG] = {"debug", LOG_DEBUG},
};

#define LEVEL_COUNT (sizeof levels / sizeof levels[0])

/*  Of the program. libzmq's thread logs, too (router/shell/accept.c): what may
 *  change meanwhile is its own, or atomic. syslog keeps the pointer to its
 *  name, hence static. */
static char program_name[64] = "lockkeeper";
static _Atomic lk_log_level level_max = LK_LOG_NOTICE;
static bool is_open;
static bool uses_syslog;
static bool uses_journal;
static lk_log_sink *test_sink;
static _Thread_local const char *part_name; /* NULL: none */

void
lk_log_open (const char *program, bool to_syslog)
{
    snprintf (program_name, sizeof program_name, "%s", program);
    if (uses_syslog) {
        closelog ();
    }
    is_open = true;
    uses_journal = lk_log_to_journal ();
    uses_syslog = to_syslog;
    if (to_syslog) {
        openlog (program_name, LOG_PID, LOG_DAEMON);
    }
}

/*  A daemon of journald's may have had its standard error led elsewhere. */
bool
lk_log_to_journal (void)
{
    const char *stream = getenv ("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat file;
    return stream && sscanf (stream, "%llu:%llu", &device, &inode) == 2
           && fstat (STDERR_FILENO, &file) == 0 && file.st_dev == device
           && file.st_ino == inode;
}

bool
lk_log_is_open (void)
{
    return is_open;
}

const char *
lk_log_as (const char *part)
{
    const char *before = part_name;
    part_name = part;
    return before;
}

void
lk_log_set_level (lk_log_level level)
{
    level_max = level;
}

lk_log_level
lk_log_get_level (void)
{
    return level_max;
}

bool
lk_log_level_from_word (const char *word, lk_log_level *level)
{
    for (size_t i = 0; word && i < LEVEL_COUNT; i++) {
        if (strcmp (levels[i].word, word) == 0) {
            *level = (lk_log_level) i;
            return true;
        }
    }
    return false;
}

const char *
lk_log_level_word (lk_log_level level)
{
    return (size_t) level < LEVEL_COUNT ? levels[level].word : "unknown";
}

void
lk_log_set_sink (lk_log_sink *sink)
{
    test_sink = sink;
}

/*  Peers' texts are in the lines: what could end one, or play with a
 *  terminal, does not get through. UTF-8 does. */
static void
disarm (char *line)
{
    for (unsigned char *at = (unsigned char *) line; *at; at++) {
        if (*at < ' ' || *at == 0x7f) {
            *at = '?';
        }
    }
}

/*  The time of a daemon's line, UTC, so that the logs of several hosts can be
 *  laid side by side. */
static void
write_time (char text[TIME_SIZE])
{
    struct timespec now;
    struct tm utc;
    text[0] = '\0';
    if (!is_open || clock_gettime (CLOCK_REALTIME, &now) == -1
        || !gmtime_r (&now.tv_sec, &utc)) {
        return;
    }
    size_t size = strftime (text, TIME_SIZE, "%FT%T", &utc);
    snprintf (text + size, TIME_SIZE - size, ".%03ldZ ", now.tv_nsec / 1000000);
}

/*  journald has its own time, and knows the program; the number it takes for
 *  the priority. */
static int
format_line (char *text, size_t size, lk_log_level level, const char *line)
{
    char time[TIME_SIZE];
    if (uses_journal) {
        return snprintf (text, size, "<%d>%s\n", levels[level].priority, line);
    }
    write_time (time);
    return snprintf (text, size, "%s%s: %s: %s\n", time, program_name,
                     levels[level].word, line);
}

/*  One write per line, so that the lines of processes that share a terminal
 *  or a file do not mix. A line that cannot be written is lost. */
static void
write_stderr (lk_log_level level, const char *line)
{
    char text[LINE_SIZE + 160];
    int size = format_line (text, sizeof text, level, line);
    if (size >= (int) sizeof text) {
        size = (int) sizeof text - 1;
    }
    ssize_t written = write (STDERR_FILENO, text, (size_t) size);
    (void) written;
}

void
lk_log_write (lk_log_level level, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    int at = 0;

    if (part_name) {
        at = snprintf (line, sizeof line, "%.64s: ", part_name);
    }
    va_start (arguments, format);
    vsnprintf (line + at, sizeof line - (size_t) at, format, arguments);
    va_end (arguments);
    disarm (line);
    if (test_sink) {
        test_sink (level, line);
    } else if (uses_syslog) {
        syslog (levels[level].priority, "%s", line);
    } else {
        write_stderr (level, line);
    }
}
