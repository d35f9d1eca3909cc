/*  cli.h - what the verbs of lockkeeper(1) share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each verb is one file with one lk_verb; main.c has the table of them.
 *  What is printed for others goes to stdout, what went wrong to stderr.
 */

#ifndef LK_CLI_H
#define LK_CLI_H

#include "cli/ask.h"
#include "cli/show.h"

#include <getopt.h>
#include <lockkeeper/lockkeeper.h>
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

typedef struct {
    const char *name;
    const char *arguments; /* "NAME [--wait S] -- CMD" */
    const char *summary;   /* one line */
    const char *help;      /* options and what else there is to say */
    int (*run) (int argc, char **argv); /* argv[0] is the verb */
} lk_verb;

extern const lk_verb lk_verb_run, lk_verb_lock, lk_verb_unlock, lk_verb_status,
    lk_verb_list, lk_verb_init, lk_verb_cluster, lk_verb_sandbox,
    lk_verb_version, lk_verb_help;

/*  The verb of that name, NULL if there is none; by position, NULL behind
 *  the last. */
const lk_verb *lk_verb_find (const char *name);
const lk_verb *lk_verb_at (size_t position);

/*  Says "lockkeeper: ..." on stderr, as lk_show does, and returns `code`. */
int lk_cli_fail (int code, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/*  Says what is wrong with the usage and how it is right; LK_EXIT_FAILED. */
int lk_cli_misused (const lk_verb *verb, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

void lk_cli_print_help (const lk_verb *verb);

/*  -------------------------------------------------------- options */

/*  Options that verbs may take, each as a bit. */
enum {
    LK_OPT_ENDPOINT = 1 << 0,
    LK_OPT_JSON = 1 << 1,
    LK_OPT_WAIT = 1 << 2,
    LK_OPT_DURATION = 1 << 3,
    LK_OPT_BACKGROUND = 1 << 4, /* --background, --pid */
    LK_OPT_OBJECT = 1 << 5,
    LK_OPT_INIT = 1 << 6,   /* --cluster, --members, --host, --state */
    LK_OPT_SANDBOX = 1 << 7 /* --hosts, --members, ... */
};

#define LK_SETTINGS_MAX 32 /* times that --set may be there */

typedef struct {
    const char *endpoint; /* never NULL */
    bool json;
    int64_t wait_ms;     /* LK_FOREVER */
    int64_t duration_ms; /* 0 */
    bool background;
    int64_t pid; /* 0: none */
    const char *object, *cluster, *members, *host, *state, *dir;
    int64_t hosts; /* 3 */
    bool keep;
    char *set[LK_SETTINGS_MAX + 1]; /* NULL at its end */
    int count;                 /* what is not an option */
    char **argument;           /* NULL at its end */
} lk_options;

/*  Reads the options of `verb`. False: all is said and done, and *code is
 *  how to exit (usage, --help). Texts belong to argv or the environment. */
bool lk_options_read (lk_options *self, const lk_verb *verb, unsigned takes,
                      int argc, char **argv, int *code);

/*  -------------------------------------------------------- sessions */

/*  LK_EXIT_OK, or LK_EXIT_FAILED after having said what names a lock. */
int lk_cli_check_name (const char *name);

/*  A session at that endpoint; NULL after having said why not. */
lk_session *lk_cli_session (const char *endpoint);

/*  Questions at that endpoint; NULL after having said why not. */
lk_asker *lk_cli_asker (const char *endpoint);

/*  Asks for the lock that the first argument names, with --wait and
 *  --duration. LK_EXIT_OK, or the exit code after having said why not. */
int lk_cli_request (lk_session *session, const lk_options *options,
                    lk_lock **lock_p);

/*  Why a command cannot be run (errno), said; the exit code for it. */
int lk_cli_say_not_run (const char *command);

/*  Why a lock was not obtained, said; the exit code for it. */
int lk_cli_say_failed (const lk_session *session, const char *name,
                       lk_err error);

/*  Why it was lost, said; LK_EXIT_LOST. */
int lk_cli_say_lost (const char *name, lk_err error);

#endif
