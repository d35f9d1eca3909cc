/*  actor.c - an application with the library that does what it is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for the tests beside it, not a test. It reads lines and answers each
 *  with one. H is a word for a lock; in names, \xNN is a byte, and \e
 *  is nothing.
 *
 *      get H NAME... [OPTION...]   waits; several names are a set
 *      ask H NAME... [OPTION...]   does not
 *      change|begin H TYPE WAIT    another type; begin does not wait
 *      give|forget|leave H
 *      held|token|key|type|ordinal|reason H
 *      event MS                    the next one, or "none"
 *      unlock NAME KEY [wait=MS], force NAME TOKEN REASON [wait=MS]
 *      check NAME TOKEN
 *      take|back NAME MAX-PER RESOURCES
 *
 *  Options are those of lk_lock_options: wait=MS duration=MS type=T limit=N
 *  bound=N quiet=MS linger=MS context=C key=K soft lenient static reentrant.
 *
 *  Between lines it does nothing; but with a client file it goes on working for
 *  its session, or that would end.
 */

#include <lockkeeper/canal.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANDLES_MAX = 64, WORDS_MAX = 160, LINE_SIZE = 16384, KEPT_MAX = 64 };

typedef struct {
    char name[32];
    lk_lock *lock;
} handle;

static lk_session *session;
static handle handles[HANDLES_MAX];
static char *word[WORDS_MAX + 1];
static size_t words;
static lk_lock_event kept[KEPT_MAX]; /* heard between lines */
static size_t kept_count;

/*  -------------------------------------------------------- words */

/*  Turns \xNN into bytes, and \e into none, in place. */
static size_t
unescape (char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        unsigned byte;
        if (sscanf (from, "\\x%2x", &byte) == 1) {
            *to++ = (char) byte;
            from += 4;
        } else if (from[0] == '\\' && from[1] == 'e') {
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return (size_t) (to - text);
}

static void
split (char *line)
{
    char *next;
    words = 0;
    while ((next = strsep (&line, " \n")) != NULL && words < WORDS_MAX) {
        if (next[0] != '\0') {
            word[words++] = next;
        }
    }
    word[words] = NULL;
}

static int64_t
number_of (const char *text)
{
    return strtoll (text, NULL, 10);
}

static lk_lock_type
type_of (const char *text)
{
    return strcmp (text, "shared") == 0      ? LK_SHARED
           : strcmp (text, "semaphore") == 0 ? LK_SEMAPHORE
                                             : LK_EXCLUSIVE;
}

/*  -------------------------------------------------------- handles */

/*  The handle of that word, or a free one; there are always enough. */
static handle *
find (const char *name)
{
    handle *empty = NULL;
    for (size_t i = 0; i < HANDLES_MAX; i++) {
        if (strcmp (handles[i].name, name) == 0) {
            return &handles[i];
        }
        if (empty == NULL && handles[i].lock == NULL) {
            empty = &handles[i];
        }
    }
    if (empty == NULL) {
        exit (2);
    }
    snprintf (empty->name, sizeof empty->name, "%s", name);
    return empty;
}

static const char *
name_of (const lk_lock *lock)
{
    for (size_t i = 0; i < HANDLES_MAX; i++) {
        if (handles[i].lock == lock) {
            return handles[i].name;
        }
    }
    return "?";
}

static void
say (lk_err error)
{
    printf ("%s\n", lk_err_word (error));
}

/*  -------------------------------------------------------- events */

/*  Of what was given back nobody hears any more. */
static void
drop_kept (const lk_lock *lock)
{
    size_t left = 0;
    for (size_t i = 0; i < kept_count; i++) {
        if (kept[i].lock != lock) {
            kept[left++] = kept[i];
        }
    }
    kept_count = left;
}

static lk_event_kind
next_event (int wait_ms, lk_lock_event *event)
{
    if (kept_count == 0) {
        return lk_session_poll (session, wait_ms, event);
    }
    *event = kept[0];
    memmove (&kept[0], &kept[1], --kept_count * sizeof kept[0]);
    return event->kind;
}

static void
take_event (void)
{
    static const char *const kinds[] = {"none",      "granted",  "failed",
                                        "lost",      "released", "changed",
                                        "unchanged", "jeopardy", "safe"};
    lk_lock_event event;
    if (next_event ((int) number_of (word[1]), &event) == LK_EVENT_NONE) {
        printf ("none\n");
        return;
    }
    printf ("%s %s %s\n", kinds[event.kind], name_of (event.lock),
            lk_err_word (event.error));
}

/*  Until there is a line. */
static void
work (void)
{
    struct pollfd look[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = lk_session_fd (session), .events = POLLIN}};
    while (look[0].revents == 0) {
        while (kept_count < KEPT_MAX
               && lk_session_poll (session, 0, &kept[kept_count])
                      != LK_EVENT_NONE) {
            kept_count++;
        }
        poll (look, 2, lk_session_timeout (session));
    }
}

/*  -------------------------------------------------------- asking */

static bool
take_flag (const char *text, lk_lock_options *options)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"soft", &options->mode.soft},
                 {"lenient", &options->mode.lenient},
                 {"static", &options->mode.is_static},
                 {"reentrant", &options->reentrant}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp (text, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

static bool
take_value (const char *text, lk_lock_options *options)
{
    const char *value = strchr (text, '=');
    if (value++ == NULL) {
        return take_flag (text, options);
    }
    const size_t len = (size_t) (value - text);
    const int64_t number = number_of (value);
    if (strncmp (text, "wait=", len) == 0) {
        options->wait_ms = number;
    } else if (strncmp (text, "duration=", len) == 0) {
        options->duration_ms = number;
    } else if (strncmp (text, "linger=", len) == 0) {
        options->linger_ms = number;
    } else if (strncmp (text, "quiet=", len) == 0) {
        options->mode.quiet_ms = (uint32_t) number;
    } else if (strncmp (text, "limit=", len) == 0) {
        options->mode.limit = (uint32_t) number;
    } else if (strncmp (text, "bound=", len) == 0) {
        options->mode.bound = (uint32_t) number;
    } else if (strncmp (text, "type=", len) == 0) {
        options->mode.type = type_of (value);
    } else if (strncmp (text, "context=", len) == 0) {
        options->context = value;
    } else if (strncmp (text, "key=", len) == 0) {
        options->key = strtoull (value, NULL, 16);
    } else {
        return false;
    }
    return true;
}

static lk_err
ask_for (const lk_object_name *names, size_t count,
         const lk_lock_options *options, lk_lock **lock_p)
{
    const bool waits = strcmp (word[0], "get") == 0;
    if (count == 1) {
        return (waits ? lk_lock_acquire : lk_lock_request) (
            session, names[0].object, names[0].len, options, lock_p);
    }
    return (waits ? lk_lock_acquire_all : lk_lock_request_all) (
        session, names, count, options, lock_p);
}

static void
ask (void)
{
    lk_object_name names[WORDS_MAX];
    lk_lock_options options = {.wait_ms = LK_FOREVER};
    size_t count = 0;
    handle *it = find (word[1]);
    for (size_t i = 2; i < words; i++) {
        if (!take_value (word[i], &options)) {
            names[count].len = unescape (word[i]);
            names[count++].object = word[i];
        }
    }
    say (ask_for (names, count, &options, &it->lock));
}

/*  -------------------------------------------------------- one lock */

static void
show_tokens (const lk_lock *lock)
{
    for (size_t i = 0; i < lk_lock_count (lock); i++) {
        printf ("%s%" PRIu64, i > 0 ? " " : "", lk_lock_token_at (lock, i));
    }
    printf ("\n");
}

static void
show (const char *what, const lk_lock *lock)
{
    static const char *const types[] = {
#define LK_LOCK_TYPE_WORD(number, text) [number] = (text),
        LK_LOCK_TYPES (LK_LOCK_TYPE_WORD)
#undef LK_LOCK_TYPE_WORD
    };
    if (strcmp (what, "held") == 0) {
        printf ("%s\n", lk_lock_held (lock) ? "yes" : "no");
    } else if (strcmp (what, "token") == 0) {
        show_tokens (lock);
    } else if (strcmp (what, "key") == 0) {
        printf ("%016" PRIx64 "\n", lk_lock_key (lock));
    } else if (strcmp (what, "type") == 0) {
        printf ("%s\n", types[lk_lock_get_type (lock)]);
    } else if (strcmp (what, "ordinal") == 0) {
        printf ("%" PRIu32 "\n", lk_lock_ordinal (lock));
    } else if (strcmp (what, "reason") == 0) {
        printf ("%s\n", lk_lock_reason (lock));
    } else {
        printf ("what is '%s'?\n", what);
    }
}

static void
do_with_lock (void)
{
    handle *it = find (word[1]);
    if (it->lock == NULL) {
        printf ("there is no '%s'\n", word[1]);
    } else if (strcmp (word[0], "change") == 0) {
        say (lk_lock_change (it->lock, type_of (word[2]), number_of (word[3])));
    } else if (strcmp (word[0], "begin") == 0) {
        say (lk_lock_change_start (it->lock, type_of (word[2]),
                                   number_of (word[3])));
    } else if (strcmp (word[0], "give") == 0) {
        drop_kept (it->lock);
        say (lk_lock_release (&it->lock));
    } else if (strcmp (word[0], "leave") == 0) {
        drop_kept (it->lock);
        say (lk_lock_leave (&it->lock));
    } else if (strcmp (word[0], "forget") == 0) {
        drop_kept (it->lock);
        lk_lock_forget (&it->lock);
        say (LK_OK);
    } else {
        show (word[0], it->lock);
    }
}

/*  -------------------------------------------------------- others */

static void
do_with_others (void)
{
    const lk_lock_name name = {.len = unescape (word[1]), .object = word[1]};
    lk_lock_options options = {.wait_ms = 30000};
    uint64_t newest = 0;
    take_value (word[words - 1], &options);
    if (strcmp (word[0], "unlock") == 0) {
        say (lk_session_unlock (session, &name, strtoull (word[2], NULL, 16),
                                NULL, options.wait_ms));
    } else if (strcmp (word[0], "force") == 0) {
        const lk_taking how = {.token = strtoull (word[2], NULL, 10),
                               .reason = word[3]};
        say (lk_session_force (session, &name, &how, options.wait_ms));
    } else {
        lk_err error = lk_session_check (
            session, &name, strtoull (word[2], NULL, 10), 30000, &newest);
        printf ("%s %" PRIu64 "\n", lk_err_word (error), newest);
    }
}

static void
do_with_canal (void)
{
    const uint32_t max_per = (uint32_t) number_of (word[2]);
    const uint32_t resources = (uint32_t) number_of (word[3]);
    uint32_t ordinal = 0;
    if (strcmp (word[0], "back") == 0) {
        say (lk_canal_release (session, word[1], max_per, resources));
        return;
    }
    lk_err error =
        lk_canal_acquire (session, word[1], max_per, resources, &ordinal);
    printf ("%s %" PRIu32 "\n", lk_err_word (error), ordinal);
}

/*  -------------------------------------------------------- lines */

static void
obey (void)
{
    static const struct {
        const char *verb;
        size_t words;
        void (*act) (void);
    } verbs[] = {
        {"get", 3, ask},
        {"ask", 3, ask},
        {"event", 2, take_event},
        {"change", 4, do_with_lock},
        {"begin", 4, do_with_lock},
        {"unlock", 3, do_with_others},
        {"force", 4, do_with_others},
        {"check", 3, do_with_others},
        {"take", 4, do_with_canal},
        {"back", 4, do_with_canal},
    };
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp (word[0], verbs[i].verb) == 0 && words >= verbs[i].words) {
            verbs[i].act ();
            return;
        }
    }
    if (words == 2) {
        do_with_lock ();
    } else {
        printf ("what is '%s'?\n", word[0]);
    }
}

static bool
next_line (char *line)
{
    if (getenv ("LOCKKEEPER_CLIENT") != NULL) {
        work ();
    }
    return fgets (line, LINE_SIZE, stdin) != NULL;
}

int
main (void)
{
    static char line[LINE_SIZE];
    setvbuf (stdin, NULL, _IONBF, 0);
    setvbuf (stdout, NULL, _IOLBF, 0);
    session = lk_session_new (NULL);
    if (session == NULL) {
        printf ("no router: %s\n", strerror (errno));
        return 1;
    }
    while (next_line (line)) {
        split (line);
        if (words > 0) {
            obey ();
        }
    }
    lk_session_destroy (&session);
    return 0;
}
