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

typedef struct {
    const char *name;
    const char *arguments; /* "NAME [--wait S] -- CMD" */
    const char *summary;   /* one line */
    const char *help;      /* options and what else there is to say */
    int (*run) (int argc, char **argv); /* argv[0] is the verb */
} lk_verb;

extern const lk_verb lk_verb_run, lk_verb_lock, lk_verb_unlock, lk_verb_check,
    lk_verb_acquire, lk_verb_release, lk_verb_status, lk_verb_list,
    lk_verb_init, lk_verb_invite, lk_verb_keys, lk_verb_cluster, lk_verb_forget,
    lk_verb_config, lk_verb_sandbox, lk_verb_decode, lk_verb_show,
    lk_verb_watch, lk_verb_top, lk_verb_wait_ready, lk_verb_version,
    lk_verb_help;

/*  What `run` and `lock` have in common. */
#define LK_HELP_KIND                                                           \
    "  --wait S       give up after S seconds; 0: do not queue (default: "     \
    "wait for ever)\n"                                                         \
    "  --duration S   the lock ends S seconds after it was got\n"              \
    "  --lenient      but only when somebody waits for it\n"                   \
    "  --shared       together with other shared holders\n"                    \
    "  --semaphore N  together with others, N at most at a time\n"             \
    "  --bound N      likewise, but kept with the lock: the first one counts " \
    "for all\n"                                                                \
    "  --policy P     hard: shared requests do not pass us while we wait "     \
    "(default);\n                 soft: they do\n"                             \
    "  --quiet S      soft, and only S seconds after the last shared holder\n" \
    "  --context C    the name means another lock in each context\n"           \
    "  --on-busy N    exit with N instead of 124 if it was not obtained\n"

/*  The verb of that name, NULL if there is none; by position, NULL behind
 *  the last. */
const lk_verb *lk_verb_find (const char *name);
const lk_verb *lk_verb_at (size_t position);

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

/*  Options that verbs may take, each as a bit. */
enum {
    LK_OPT_ENDPOINT = 1 << 0,
    LK_OPT_JSON = 1 << 1,
    LK_OPT_WAIT = 1 << 2,
    LK_OPT_KIND = 1 << 3,     /* --shared, --duration, --all, ... */
    LK_OPT_CONTEXT = 1 << 4,  /* --context */
    LK_OPT_JEOPARDY = 1 << 5, /* --on-jeopardy */
    LK_OPT_HOLD = 1 << 6,     /* --background, --static, --linger, ... */
    LK_OPT_OWNER = 1 << 7,    /* --pid */
    LK_OPT_FORCE = 1 << 8,    /* --force, --now, --reason, --token */
    LK_OPT_OBJECT = 1 << 9,
    LK_OPT_INIT = 1 << 10,    /* --first, --join, --cluster, --host, ... */
    LK_OPT_SANDBOX = 1 << 11, /* --hosts, --members, ... */
    LK_OPT_HELP = 1 << 12,    /* which all of them take */
    LK_OPT_TIMEOUT = 1 << 13,
    LK_OPT_LIST = 1 << 15, /* --held, --host, --kind, ... */
    LK_OPT_SORT = 1 << 16,
    LK_OPT_ONCE = 1 << 17,
    LK_OPT_COMMAND = 1 << 18, /* a command, behind "--" */
    LK_OPT_INVITE = 1 << 19,  /* --minutes */
    LK_OPT_CONFIG = 1 << 14   /* --config, --origin, --unset, --drop-in */
};

#define LK_SETTINGS_MAX 32 /* times that --set may be there */

typedef struct {
    const char *endpoint; /* never NULL */
    bool json;
    int64_t wait_ms;    /* LK_FOREVER */
    int64_t timeout_ms; /* LK_FOREVER */

    /*  How a lock is wanted. */
    int64_t duration_ms; /* 0 */
    bool shared;
    int64_t limit, bound; /* 0: not there */
    const char *policy;
    int64_t quiet_ms;
    bool lenient, is_static, all;
    const char *context;
    int64_t linger_ms;
    bool guarded; /* `run` */
    uint64_t key; /* 0: none */

    int64_t on_busy;     /* LK_EXIT_LATE */
    int64_t on_jeopardy; /* 0: no signal */
    bool background;
    int64_t pid; /* 0: none */
    bool force;
    bool now;
    const char *reason;
    uint64_t token; /* 0: none */

    bool held, waiting, own, once;
    const char *kind, *sort;
    const char *user, *command; /* NULL: any */
    int64_t longer_ms;          /* 0 */

    const char *object, *cluster, *members, *host, *state, *dir;
    const char *config, *drop_in; /* NULL: not there */
    bool origin, unset;
    bool first, join, dry_run, proxy, unseen;
    const char *address, *invitation;
    int64_t minutes; /* 0: not there */
    int64_t hosts;   /* 3 */
    bool hosted;     /* routers host the lock services */
    bool plain;      /* they speak without keys */
    bool keep, help;
    char *set[LK_SETTINGS_MAX + 1]; /* NULL at its end */
    int count;                      /* what is not an option */
    char **argument;                /* NULL at its end */
    bool is_split;                  /* there was a "--" */
    int names; /* how many are before it; all, if there was none */
} lk_options;

/*  Reads the options of `verb`. False: all is said and done, and *code is
 *  how to exit (usage, --help). Texts belong to argv or the environment. */
bool lk_options_read (lk_options *self, const lk_verb *verb, unsigned takes,
                      int argc, char **argv, int *code);

/*  A fencing token; an unlock key. False if it is none. */
bool lk_cli_read_token (const char *text, uint64_t *token);
bool lk_cli_read_key (const char *text, uint64_t *key);

/*  -------------------------------------------------------- sessions */

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

/*  Asks for the lock, or the locks, that the first `names` arguments name,
 *  with all that the options say. LK_EXIT_OK, or the exit code after having
 *  said why not. */
int lk_cli_request (lk_session *session, const lk_options *options,
                    lk_lock **lock_p);

/*  Whether those options go together; else says what is wrong. */
bool lk_cli_check_kind (const lk_verb *verb, const lk_options *options);

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

/*  That "what 'name'" was not done in time, and why, as far as the lock service
 *  at `endpoint` tells it, said; `code`. */
int lk_cli_say_late (int code, const char *endpoint, const char *what,
                     const char *name);

/*  Why it was lost, said, with what the lock says of that if there is one;
 *  LK_EXIT_LOST. */
int lk_cli_say_lost (const lk_options *options, const lk_lock *lock,
                     lk_err error);

#endif
