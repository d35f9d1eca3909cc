/*  log.h - one line per thing that an operator may want to know
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A line is a message and key=value pairs: `session: none -> up
 *  service=backup pid=4711`. Bytes that could forge a line are shown
 *  as '?'. The client library never logs.
 */

#ifndef LK_LOG_H
#define LK_LOG_H

#include <stdbool.h>

typedef enum {
    LK_LOG_ERROR,   /* it does not work */
    LK_LOG_WARNING, /* it works, but somebody should look */
    LK_LOG_NOTICE,  /* a change of state: the default */
    LK_LOG_INFO,    /* what leads to changes */
    LK_LOG_DEBUG    /* everything */
} lk_log_level;

/*  Where lines go from now on, and who writes them: to stderr as
 *  `time program: level: line` (UTC) or, if journald reads that, as
 *  `<priority>line`; or to syslog (facility daemon). Before it, lines up to
 *  NOTICE go to stderr as from "lockkeeper", without the time. */
void lk_log_open (const char *program, bool to_syslog);
bool lk_log_is_open (void);

/*  Whether journald reads stderr. */
bool lk_log_to_journal (void);

/*  Lines from now on are those of a part of the program, and begin with its
 *  name: `lock: `; NULL: with none. Returns the one before, to be set again.
 *  The name is borrowed. */
const char *lk_log_as (const char *part);

void lk_log_set_level (lk_log_level level);
lk_log_level lk_log_get_level (void);

/*  Their words, as a choice in a table of lk_config_key. */
#define LK_LOG_LEVELS "error|warning|notice|info|debug"

/*  The level of a word; false if it is none of them. */
bool lk_log_level_from_word (const char *word, lk_log_level *level);
const char *lk_log_level_word (lk_log_level level);

/*  For tests: lines go to `sink` instead, NULL for back again. */
typedef void lk_log_sink (lk_log_level level, const char *line);
void lk_log_set_sink (lk_log_sink *sink);

void lk_log_write (lk_log_level level, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/*  Arguments are not evaluated below the level. */
#define LK_LOG(level, ...)                                                     \
    do {                                                                       \
        if ((level) <= lk_log_get_level ()) {                                  \
            lk_log_write ((level), __VA_ARGS__);                               \
        }                                                                      \
    } while (0)

#define lk_log_error(...) LK_LOG (LK_LOG_ERROR, __VA_ARGS__)
#define lk_log_warning(...) LK_LOG (LK_LOG_WARNING, __VA_ARGS__)
#define lk_log_notice(...) LK_LOG (LK_LOG_NOTICE, __VA_ARGS__)
#define lk_log_info(...) LK_LOG (LK_LOG_INFO, __VA_ARGS__)
#define lk_log_debug(...) LK_LOG (LK_LOG_DEBUG, __VA_ARGS__)

#endif
