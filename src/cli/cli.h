/*  cli.h - what the verbs of lockkeeper(1) share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each verb is one file with one lk_verb; table.h names them, and all options.
 *  What is printed for others goes to stdout, what went wrong to stderr.
 */

#ifndef LK_CLI_H
#define LK_CLI_H

#include "cli/ask.h"
#include "cli/table.h"
#include "cli/terminal.h"

#include <getopt.h>
#include <lockkeeper/lockkeeper.h>
#include <lockkeeper/message.h>
#include <stdbool.h>
#include <stdint.h>

/*  Exit codes of our own; `run` passes on those of its command. */
typedef enum {
    LK_EXIT_OK = 0,
    LK_EXIT_NO = 1,       /* wrong key; not ready */
    LK_EXIT_LOST = 122,   /* the lock was lost before it was given back */
    LK_EXIT_LATE = 124,   /* not in time */
    LK_EXIT_FAILED = 125, /* wrong usage, no router, our own failure */
    LK_EXIT_NOT_RUN = 126,
    LK_EXIT_NOT_FOUND = 127,
    LK_EXIT_SIGNAL = 128 /* and the signal's number */
} lk_exit;

/*  -------------------------------------------------------- verbs */

typedef enum {
#define X(id, word, needs) LK_VALUE_##id,
    LK_VALUES (X)
#undef X
        LK_VALUE_COUNT
} lk_value;

typedef enum {
    LK_OPT_NONE,
#define X(id, ...) LK_OPT_##id,
    LK_OPTIONS (X)
#undef X
        LK_OPT_COUNT
} lk_option;

/*  An option that a verb takes. */
typedef struct {
    lk_option option;
    const char *about; /* instead of the table's; NULL: as there */
    const char *words; /* that it may be, with blanks between them, or NULL */
} lk_verb_option;

/*  An argument that a shell may complete: a word, and the value behind it; or
 *  only a value if the word is NULL. The verb itself checks its arguments. */
typedef struct {
    const char *word;
    lk_value value; /* LK_VALUE_FLAG: nothing */
    const char *words;
} lk_verb_argument;

typedef struct {
    const char *name;
    const char *usage;   /* "NAME [options] -- CMD..."; a form per line */
    const char *summary; /* one line */
    const char *intro;   /* what help says ahead of the options, or NULL */
    const lk_verb_option *options;     /* as help has them; NULL: none */
    const char *help;                  /* ... and behind them, or NULL */
    const lk_verb_argument *arguments; /* ends with nothing; NULL: none */
    bool needs_command;                /* behind "--" */
    bool is_far;                       /* also on a machine without a router */
    bool is_zoned; /* there, if in a zone of its own; asks by lk_cli_looker */
    int (*run) (int argc, char **argv); /* argv[0] is the verb */
} lk_verb;

#define X(id) extern const lk_verb lk_verb_##id;
LK_VERBS (X)
#undef X

/*  Rows of a verb: an option with the table's text, with another, and with the
 *  words that it may be. */
#define LK_TAKES(id)                                                           \
    {                                                                          \
        LK_OPT_##id, NULL, NULL                                                \
    }
#define LK_TAKES_AS(id, about)                                                 \
    {                                                                          \
        LK_OPT_##id, about, NULL                                               \
    }
#define LK_TAKES_WORD(id, about, words)                                        \
    {                                                                          \
        LK_OPT_##id, about, words                                              \
    }
#define LK_TAKES_END                                                           \
    {                                                                          \
        LK_OPT_NONE, NULL, NULL                                                \
    }
#define LK_FOLLOWS(word, value)                                                \
    {                                                                          \
        word, LK_VALUE_##value, NULL                                           \
    }
#define LK_FOLLOWS_END                                                         \
    {                                                                          \
        NULL, LK_VALUE_FLAG, NULL                                              \
    }

/*  What `run` and `lock` have in common. */
#define LK_TAKES_KIND                                                          \
    LK_TAKES (WAIT), LK_TAKES (DURATION), LK_TAKES (LENIENT),                  \
        LK_TAKES (SHARED), LK_TAKES (SEMAPHORE), LK_TAKES (BOUND),             \
        LK_TAKES_WORD (POLICY, NULL, "hard soft"), LK_TAKES (QUIET),           \
        LK_TAKES_AS (CONTEXT, "the name means another lock in each context"),  \
        LK_TAKES (ON_BUSY)

/*  The first argument is the name of a lock. */
extern const lk_verb_argument lk_follows_lock[];

/*  The verb of that name, NULL if there is none. */
const lk_verb *lk_verb_find (const char *name);

/*  That there is no verb of that name, said; LK_EXIT_FAILED. */
int lk_cli_say_no_verb (const char *name);

/*  Says "lockkeeper: ..." on stderr, as lk_show does, and returns `code`. */
int lk_cli_fail (int code, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/*  Returns the last text of lk_cli_fail, "" if there is none. */
const char *lk_cli_last_problem (void);

/*  Says in the same way what is no error; a notice, only to who sits at a
 *  terminal. */
void lk_cli_hint (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));
void lk_cli_notice (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/*  Says what is wrong with the usage and how it is right; LK_EXIT_FAILED. */
int lk_cli_misused (const lk_verb *verb, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

void lk_cli_print_help (const lk_verb *verb);

/*  -------------------------------------------------------- options */

/*  The table's row of an option. */
typedef struct {
    const char *name;
    lk_value value;
    const char *value_name;
    const char *about;
} lk_option_row;

const lk_option_row *lk_option_at (lk_option option);

#define LK_SETTINGS_MAX 32 /* times that --set may be there */
#define LK_UNSET (-1)      /* of a number that 0 is one of */

/*  The type of a field, by the kind of its value. */
#define LK_FIELD_FLAG(field) bool field
#define LK_FIELD_TEXT(field) const char *field
#define LK_FIELD_LOCK(field) const char *field
#define LK_FIELD_HOST(field) const char *field
#define LK_FIELD_FILE(field) const char *field
#define LK_FIELD_FILES(field) char *field[LK_SETTINGS_MAX + 1]
#define LK_FIELD_ZONE(field) const char *field
#define LK_FIELD_FOLDER(field) const char *field
#define LK_FIELD_WORD(field) const char *field
#define LK_FIELD_SECONDS(field) int64_t field /* ms */
#define LK_FIELD_SOME_SECONDS(field) int64_t field
#define LK_FIELD_SPAN(field) int64_t field /* s */
#define LK_FIELD_SOME_SPAN(field) int64_t field
#define LK_FIELD_DATE(field) int64_t field /* s since 1970 */
#define LK_FIELD_MOST(field) int64_t field
#define LK_FIELD_NUMBER(field) int64_t field
#define LK_FIELD_MINUTES(field) int64_t field
#define LK_FIELD_HOLDERS(field) int64_t field
#define LK_FIELD_PROCESS(field) int64_t field
#define LK_FIELD_CODE(field) int64_t field
#define LK_FIELD_SIGNAL(field) int64_t field
#define LK_FIELD_TOKEN(field) uint64_t field
#define LK_FIELD_KEY(field) uint64_t field
#define LK_FIELD_SETTING(field) char *field[LK_SETTINGS_MAX + 1]

/*  The values of the command line, or else the defaults of table.h. */
typedef struct {
#define X(id, name, value, value_name, field, ...) LK_FIELD_##value (field);
    LK_OPTIONS (X)
#undef X
    const lk_verb *verb; /* whose they are */
    bool guarded;        /* `run` */
    bool is_split;       /* there was a "--" */
    int names;           /* how many are before it; all, if there was none */
    int count;           /* what is not an option */
    char **argument;     /* NULL at its end */
} lk_options;

/*  Reads the options of `verb`. False: all is said and done, and *code is
 *  how to exit (usage, --help). Texts belong to argv or the environment. */
bool lk_options_read (lk_options *self, const lk_verb *verb, int argc,
                      char **argv, int *code);

/*  A fencing token; an unlock key. False if it is none. */
bool lk_cli_read_token (const char *text, uint64_t *token);
bool lk_cli_read_key (const char *text, uint64_t *key);

/*  -------------------------------------------------------- sessions

    On a machine without a router an endpoint is NULL, or tcp://. */

/*  Where the router of this host is; NULL: there is a client file. */
const char *lk_cli_default_endpoint (void);

/*  Whether that is a way by the client file. */
bool lk_cli_is_far (const char *endpoint);

/*  LK_EXIT_OK, or LK_EXIT_FAILED after having said what names a lock. */
int lk_cli_check_name (const char *name);

/*  Whether it looks like one; else says it. */
bool lk_cli_is_endpoint (const char *endpoint);

/*  A session at that endpoint; NULL after having said why not. */
lk_session *lk_cli_session (const char *endpoint);

/*  Likewise; people see its requests as those of the program `name` and the
 *  process `pid`. NULL: named after that process; 0: ours. */
lk_session *lk_cli_session_for (const char *endpoint, const char *name,
                                int64_t pid);

/*  Questions at that endpoint; NULL after having said why not. */
lk_requester *lk_cli_asker (const char *endpoint);

/*  The same of a verb that looks at all hosts, or in a zone of its own at that
 *  zone: elsewhere it is not to be had by a client file. */
lk_requester *lk_cli_looker (const lk_options *options);

/*  Whether the router knows us as an admin, or is from before roles; else says
 *  that the verb needs one. */
bool lk_cli_needs_admin (const lk_requester *asker, const lk_verb *verb);

/*  That a verb, or an option, is for hosts of the cluster, said. */
void lk_cli_say_for_hosts (const char *what);

/*  Asks for the lock, or the locks, that the first `names` arguments name,
 *  with all that the options say. LK_EXIT_OK, or the exit code after having
 *  said why not. */
int lk_cli_request (lk_session *session, const lk_options *options,
                    lk_lock **lock_p);

/*  Whether those options go together; else says what is wrong. */
bool lk_cli_check_kind (const lk_options *options);

/*  A name from the command line, into a message. */
void lk_cli_set_object (lk_message *message, const char *name);

/*  Whether these are names of locks: LK_EXIT_OK, or says it. */
int lk_cli_check_names (char **name, int count);

/*  Why a command cannot be run (errno), said; the exit code for it. */
int lk_cli_say_not_run (const char *command);

/*  That the lock of --key is not there to be taken over, said; LK_EXIT_NO. */
int lk_cli_say_other (const lk_options *options);

/*  Why a lock was not obtained, said; the exit code for it. */
int lk_cli_say_failed (const lk_session *session, const lk_options *options,
                       lk_err error);

/*  Whether the leaders have what they know on disk, as the lock service of this
 *  host says. */
bool lk_cli_has_journal (const char *endpoint);

/*  That "what 'name'" was not done in time, and why, as far as the lock service
 *  at `endpoint` tells it, said; `code`. */
int lk_cli_say_late (int code, const char *endpoint, const char *what,
                     const char *name);

/*  Why it was lost, said, as the session and the lock, if there is one, tell
 *  it; LK_EXIT_LOST. */
int lk_cli_say_lost (const lk_session *session, const lk_options *options,
                     const lk_lock *lock, lk_err error);

#endif
