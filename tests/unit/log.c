/*  log.c - levels, lines, and what may not get into one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/log.h"

#include "lib/suite.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static char last_line[4096];
static lk_log_level last_level;
static int line_count;

static void
sink (lk_log_level level, const char *line)
{
    snprintf (last_line, sizeof last_line, "%s", line);
    last_level = level;
    line_count++;
}

static int
side_effect (int *counter)
{
    return ++*counter;
}

/*  -------------------------------------------------------- libc's syslog */

static char syslog_name[64], syslog_line[200];
static int syslog_options, syslog_facility, syslog_priority, syslog_count;

void
openlog (const char *name, int options, int facility)
{
    snprintf (syslog_name, sizeof syslog_name, "%s", name);
    syslog_options = options;
    syslog_facility = facility;
}

void
closelog (void)
{
    syslog_name[0] = '\0';
}

void
syslog (int priority, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (syslog_line, sizeof syslog_line, format, arguments);
    va_end (arguments);
    syslog_priority = priority;
    syslog_count++;
}

/*  -------------------------------------------------------- tests */

START_TEST (lines_of_a_part_begin_with_its_name)
{
    lk_log_set_sink (sink);
    ck_assert_ptr_null (lk_log_as ("lock"));
    lk_log_notice ("leading: term=%d", 2);
    ck_assert_str_eq (last_line, "lock: leading: term=2");
    ck_assert_str_eq (lk_log_as (NULL), "lock");
    lk_log_notice ("router: up");
    ck_assert_str_eq (last_line, "router: up");
}
END_TEST

START_TEST (levels_have_words)
{
    lk_log_level level = LK_LOG_ERROR;
    ck_assert (lk_log_level_from_word ("debug", &level));
    ck_assert_int_eq (level, LK_LOG_DEBUG);
    ck_assert (!lk_log_level_from_word ("loud", &level));
    ck_assert (!lk_log_level_from_word (NULL, &level));
    ck_assert_int_eq (level, LK_LOG_DEBUG);
    ck_assert_str_eq (lk_log_level_word (LK_LOG_NOTICE), "notice");
}
END_TEST

START_TEST (level_filters_and_evaluates_nothing)
{
    int evaluated = 0;
    lk_log_set_sink (sink);
    line_count = 0;
    lk_log_set_level (LK_LOG_WARNING);
    lk_log_notice ("n=%d", side_effect (&evaluated));
    ck_assert_int_eq (line_count, 0);
    ck_assert_int_eq (evaluated, 0);
    lk_log_warning ("n=%d", side_effect (&evaluated));
    ck_assert_int_eq (line_count, 1);
    ck_assert_int_eq (last_level, LK_LOG_WARNING);
    ck_assert_str_eq (last_line, "n=1");
}
END_TEST

START_TEST (nobody_forges_a_line)
{
    lk_log_set_sink (sink);
    lk_log_error ("name=%s", "x\nerror: all is lost\033[2J\t\x7f");
    ck_assert_str_eq (last_line, "name=x?error: all is lost?[2J??");
    lk_log_error ("name=%s", "Zo\xc3\xab");
    ck_assert_str_eq (last_line, "name=Zo\xc3\xab");
}
END_TEST

START_TEST (long_lines_are_cut)
{
    char text[6000];
    memset (text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    lk_log_set_sink (sink);
    lk_log_error ("%s", text);
    ck_assert_uint_gt (strlen (last_line), 1000);
    ck_assert_uint_lt (strlen (last_line), sizeof text - 1);
}
END_TEST

/*  What one line is on stderr. */
static void
print (char *text, size_t size)
{
    int ends[2];
    ck_assert_int_eq (pipe (ends), 0);
    int saved = dup (STDERR_FILENO);
    dup2 (ends[1], STDERR_FILENO);
    lk_log_notice ("event: old -> new host=%s", "h1");
    dup2 (saved, STDERR_FILENO);
    memset (text, 0, size);
    ck_assert_int_gt (read (ends[0], text, size - 1), 0);
    close (saved);
    close (ends[0]);
    close (ends[1]);
}

START_TEST (stderr_gets_time_program_and_level)
{
    static const char line[] = "tester: notice: event: old -> new host=h1\n";
    char text[200];
    struct tm utc;
    ck_assert (!lk_log_is_open ());
    lk_log_open ("tester", false);
    ck_assert (lk_log_is_open ());
    unsetenv ("JOURNAL_STREAM");
    print (text, sizeof text);
    const char *rest = strptime (text, "%Y-%m-%dT%H:%M:%S", &utc);
    ck_assert_ptr_nonnull (rest);
    ck_assert_int_eq (rest[0], '.');
    ck_assert_str_eq (rest + strlen (".123Z "), line);
}
END_TEST

/*  What journald would say of that descriptor. */
static void
say_journal (int fd)
{
    char stream[60];
    struct stat file;
    ck_assert_int_eq (fstat (fd, &file), 0);
    snprintf (stream, sizeof stream, "%llu:%llu",
              (unsigned long long) file.st_dev,
              (unsigned long long) file.st_ino);
    setenv ("JOURNAL_STREAM", stream, 1);
}

/*  It has its own time, and knows the program. */
START_TEST (journald_gets_priority_and_line)
{
    char text[200];
    say_journal (STDERR_FILENO);
    lk_log_open ("tester", false);
    print (text, sizeof text);
    ck_assert_str_eq (text, "<5>event: old -> new host=h1\n");
    int other[2];
    ck_assert_int_eq (pipe (other), 0);
    say_journal (other[0]);
    lk_log_open ("tester", false); /* stderr was led elsewhere */
    print (text, sizeof text);
    ck_assert_ptr_nonnull (strstr (text, "Z tester: notice: event"));
    setenv ("JOURNAL_STREAM", "none", 1);
    lk_log_open ("tester", false);
    print (text, sizeof text);
    ck_assert_ptr_nonnull (strstr (text, "Z tester: notice: event"));
}
END_TEST

START_TEST (syslog_gets_level_and_line)
{
    lk_log_open ("tester", true);
    ck_assert_str_eq (syslog_name, "tester");
    ck_assert_int_eq (syslog_options, LOG_PID);
    ck_assert_int_eq (syslog_facility, LOG_DAEMON);
    lk_log_set_level (LK_LOG_DEBUG);
    lk_log_notice ("name=%s", "100%s\n");
    ck_assert_str_eq (syslog_line, "name=100%s?");
    ck_assert_int_eq (syslog_priority, LOG_NOTICE);
    lk_log_error ("x");
    ck_assert_int_eq (syslog_priority, LOG_ERR);
    lk_log_warning ("x");
    ck_assert_int_eq (syslog_priority, LOG_WARNING);
    lk_log_info ("x");
    ck_assert_int_eq (syslog_priority, LOG_INFO);
    lk_log_debug ("x");
    ck_assert_int_eq (syslog_priority, LOG_DEBUG);
    ck_assert_int_eq (syslog_count, 5);
    lk_log_open ("tester", false);
    ck_assert_str_eq (syslog_name, ""); /* closed */
    char text[200];
    print (text, sizeof text);
    ck_assert_int_eq (syslog_count, 5);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("log");
    tcase_add_test (tcase, lines_of_a_part_begin_with_its_name);
    tcase_add_test (tcase, levels_have_words);
    tcase_add_test (tcase, level_filters_and_evaluates_nothing);
    tcase_add_test (tcase, nobody_forges_a_line);
    tcase_add_test (tcase, long_lines_are_cut);
    tcase_add_test (tcase, stderr_gets_time_program_and_level);
    tcase_add_test (tcase, journald_gets_priority_and_line);
    tcase_add_test (tcase, syslog_gets_level_and_line);
    Suite *suite = suite_create ("log");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
