/*  kinds_client.c - an application that does what it is told, line by line
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for the scripts beside it, not a test. Reads a command per line and
 *  answers each with one line; L is a word that the script chooses for a
 *  lock:
 *
 *      get L NAME [OPTION...]      asks, and waits for the answer
 *      ask L NAME [OPTION...]      asks, and does not
 *      all L NAME... [-- OPTION...]  as get, all or nothing
 *      wait L [MS]                 the next that is told of it but jeopardy, or
 *                                  "nothing" in that time
 *      change L TYPE MS, release L, leave L
 *      held L, token L, key L, ordinal L, type L, left L, reason L
 *      unlock NAME KEY [context=C], force NAME [REASON], check NAME TOKEN
 *      quit
 *
 *  OPTION: shared, semaphore, soft, lenient, static, reentrant, limit=N,
 *  bound=N, quiet=MS, wait=MS (-1: for ever; the default is 0), duration=MS,
 *  linger=MS, context=C, key=HEX. NAME is a word, or hex:DIGITS, or big:N for
 *  one of N bytes.
 */

#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOCKS_MAX 256
#define WORDS_MAX 160
#define EVENTS_MAX 16
#define HANG_MS 60000 /* without another limit */

typedef struct {
    char name[32];
    lk_lock *lock;
    lk_lock_event event[EVENTS_MAX];
    size_t events;
} slot;

typedef struct {
    char data[LK_OBJECT_LEN_MAX + 2];
    size_t len;
} name;

static lk_session *session;
static slot slots[LOCKS_MAX];
static char *word[WORDS_MAX];
static int words;

/*  -------------------------------------------------------- reading */

static name
name_of (const char *text)
{
    name it = {.len = 0};
    if (strncmp (text, "big:", 4) == 0) {
        it.len = strtoul (text + 4, NULL, 10);
        memset (it.data, 'x', sizeof it.data);
    } else if (strncmp (text, "hex:", 4) == 0) {
        for (text += 4; text[0] && text[1]; text += 2) {
            const char digits[3] = {text[0], text[1], '\0'};
            it.data[it.len++] = (char) strtoul (digits, NULL, 16);
        }
    } else {
        it.len = strlen (text);
        memcpy (it.data, text, it.len);
    }
    return it;
}

/*  The lock of that word; a new one if there is none. */
static slot *
slot_of (const char *text)
{
    slot *found = NULL;
    for (slot *it = slots; it < slots + LOCKS_MAX && !found; it++) {
        if (strcmp (it->name, text) == 0 || it->name[0] == '\0') {
            found = it;
        }
    }
    if (!found) {
        fprintf (stderr, "too many locks\n");
        exit (1);
    }
    snprintf (found->name, sizeof found->name, "%s", text);
    return found;
}

static bool
is_flag (const char *text, lk_lock_options *options)
{
    lk_lock_mode *mode = &options->mode;
    if (strcmp (text, "shared") == 0) {
        mode->type = LK_SHARED;
    } else if (strcmp (text, "semaphore") == 0) {
        mode->type = LK_SEMAPHORE;
    } else if (strcmp (text, "soft") == 0) {
        mode->soft = true;
    } else if (strcmp (text, "lenient") == 0) {
        mode->lenient = true;
    } else if (strcmp (text, "static") == 0) {
        mode->is_static = true;
    } else if (strcmp (text, "reentrant") == 0) {
        options->reentrant = true;
    } else {
        return false;
    }
    return true;
}

static void
read_number (const char *text, const char *value, lk_lock_options *options)
{
    const long long number = strtoll (value, NULL, 10);
    lk_lock_mode *mode = &options->mode;
    switch (text[0]) {
    case 'w':
        options->wait_ms = number;
        break;
    case 'd':
        options->duration_ms = number;
        break;
    case 'q':
        mode->quiet_ms = (uint32_t) number;
        break;
    case 'b':
        mode->bound = (uint32_t) number;
        break;
    default:
        if (text[2] == 'm') {
            mode->limit = (uint32_t) number;
        } else {
            options->linger_ms = number;
        }
    }
}

/*  All words from `first` on. */
static lk_lock_options
options_from (int first)
{
    lk_lock_options options = {.wait_ms = 0};
    for (int i = first; i < words; i++) {
        const char *value = strchr (word[i], '=');
        if (is_flag (word[i], &options)) {
            continue;
        }
        if (!value) {
            fprintf (stderr, "unknown option '%s'\n", word[i]);
            exit (1);
        }
        if (word[i][0] == 'c') {
            options.context = value + 1;
        } else if (word[i][0] == 'k') {
            options.key = strtoull (value + 1, NULL, 16);
        } else {
            read_number (word[i], value + 1, &options);
        }
    }
    return options;
}

/*  -------------------------------------------------------- locks */

static void
say (const char *text)
{
    printf ("%s\n", text);
    fflush (stdout);
}

static void
say_error (lk_err error)
{
    say (lk_err_word (error));
}

static void
say_got (slot *it, lk_err error)
{
    if (error != LK_OK) {
        say_error (error);
        return;
    }
    lk_lock_set_user (it->lock, it);
    printf ("locked %" PRIu32 "\n", lk_lock_ordinal (it->lock));
    fflush (stdout);
}

static void
get (void)
{
    slot *it = slot_of (word[1]);
    const name object = name_of (word[2]);
    const lk_lock_options options = options_from (3);
    lk_lock_forget (&it->lock);
    it->events = 0;
    say_got (it, lk_lock_acquire (session, object.data, object.len, &options,
                                  &it->lock));
}

static void
ask (void)
{
    slot *it = slot_of (word[1]);
    const name object = name_of (word[2]);
    const lk_lock_options options = options_from (3);
    lk_lock_forget (&it->lock);
    it->events = 0;
    const lk_err error =
        lk_lock_request (session, object.data, object.len, &options, &it->lock);
    if (error == LK_OK) {
        lk_lock_set_user (it->lock, it);
    }
    say_error (error);
}

static void
get_all (void)
{
    static lk_object_name objects[WORDS_MAX];
    slot *it = slot_of (word[1]);
    size_t count = 0;
    int next = 2;
    for (; next < words && strcmp (word[next], "--") != 0; next++) {
        objects[count++].object = word[next];
    }
    const lk_lock_options options = options_from (next + 1);
    lk_lock_forget (&it->lock);
    it->events = 0;
    say_got (
        it, lk_lock_acquire_all (session, objects, count, &options, &it->lock));
}

static int64_t
now_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C (1000) + now.tv_nsec / 1000000;
}

/*  Keeps what is told of a lock until it is asked for; jeopardy is not. */
static void
poll_events (int64_t wait_ms)
{
    lk_lock_event event;
    const lk_event_kind kind =
        lk_session_poll (session, wait_ms < 0 ? 0 : (int) wait_ms, &event);
    if (kind == LK_EVENT_NONE || kind == LK_EVENT_JEOPARDY
        || kind == LK_EVENT_SAFE) {
        return;
    }
    slot *it = lk_lock_user (event.lock);
    if (it && it->events < EVENTS_MAX) {
        it->event[it->events++] = event;
    }
}

static void
say_event (const lk_lock_event *event)
{
    static const char *const kinds[] = {"none",      "granted",  "failed",
                                        "lost",      "released", "changed",
                                        "unchanged", "jeopardy", "safe"};
    if (event->error == LK_OK) {
        say (kinds[event->kind]);
    } else {
        printf ("%s %s\n", kinds[event->kind], lk_err_word (event->error));
        fflush (stdout);
    }
}

static void
wait_event (void)
{
    slot *it = slot_of (word[1]);
    const int64_t until_ms =
        now_ms () + (words > 2 ? strtol (word[2], NULL, 10) : HANG_MS);
    do {
        poll_events (it->events > 0 ? 0 : until_ms - now_ms ());
    } while (it->events == 0 && now_ms () < until_ms);
    if (it->events == 0) {
        say ("nothing");
        return;
    }
    say_event (&it->event[0]);
    it->events--;
    memmove (it->event, it->event + 1, it->events * sizeof it->event[0]);
}

static lk_lock_type
type_of (const char *text)
{
    return strcmp (text, "shared") == 0 ? LK_SHARED : LK_EXCLUSIVE;
}

static void
say_number (uint64_t number)
{
    printf ("%" PRIu64 "\n", number);
    fflush (stdout);
}

/*  A question about a lock; false if it is none. */
static bool
answer (const slot *it)
{
    const lk_lock *lock = it->lock;
    if (strcmp (word[0], "held") == 0) {
        say (lock && lk_lock_held (lock) ? "yes" : "no");
    } else if (strcmp (word[0], "token") == 0) {
        say_number (lk_lock_token (lock));
    } else if (strcmp (word[0], "ordinal") == 0) {
        say_number (lk_lock_ordinal (lock));
    } else if (strcmp (word[0], "left") == 0) {
        printf ("%" PRId64 "\n", lk_lock_left (lock));
        fflush (stdout);
    } else if (strcmp (word[0], "key") == 0) {
        printf ("%016" PRIx64 "\n", lk_lock_key (lock));
        fflush (stdout);
    } else if (strcmp (word[0], "reason") == 0) {
        say (lk_lock_reason (lock));
    } else if (strcmp (word[0], "type") == 0) {
        static const char *const types[] = {"exclusive", "shared", "semaphore"};
        say (types[lk_lock_get_type (lock)]);
    } else {
        return false;
    }
    return true;
}

/*  -------------------------------------------------------- others' locks */

static void
unlock (void)
{
    const name object = name_of (word[1]);
    const lk_lock_options options = options_from (3);
    const lk_lock_name it = {object.data, object.len, options.context};
    say_error (lk_session_unlock (session, &it, strtoull (word[2], NULL, 16),
                                  NULL, HANG_MS));
}

static void
force (void)
{
    const name object = name_of (word[1]);
    const lk_lock_name it = {object.data, object.len, NULL};
    const lk_taking how = {.reason = words > 2 ? word[2] : NULL};
    say_error (lk_session_force (session, &it, &how, HANG_MS));
}

static void
check_token (void)
{
    uint64_t newest = 0;
    const name object = name_of (word[1]);
    const lk_lock_name it = {object.data, object.len, NULL};
    const lk_err error = lk_session_check (
        session, &it, strtoull (word[2], NULL, 10), HANG_MS, &newest);
    printf ("%s %" PRIu64 "\n", lk_err_word (error), newest);
    fflush (stdout);
}

/*  -------------------------------------------------------- commands */

static void
do_command (void)
{
    static const struct {
        const char *verb;
        void (*handler) (void);
    } verbs[] = {{"get", get},           {"ask", ask},       {"all", get_all},
                 {"wait", wait_event},   {"unlock", unlock}, {"force", force},
                 {"check", check_token}, {NULL, NULL}};
    for (int i = 0; verbs[i].verb; i++) {
        if (strcmp (word[0], verbs[i].verb) == 0) {
            verbs[i].handler ();
            return;
        }
    }
    slot *it = slot_of (words > 1 ? word[1] : "?");
    if (answer (it)) {
        return;
    }
    if (strcmp (word[0], "release") == 0) {
        it->events = 0;
        say_error (lk_lock_release (&it->lock));
    } else if (strcmp (word[0], "leave") == 0) {
        say_error (lk_lock_leave (&it->lock));
    } else if (strcmp (word[0], "change") == 0) {
        say_error (lk_lock_change (it->lock, type_of (word[2]),
                                   strtoll (word[3], NULL, 10)));
    } else {
        say ("unknown command");
    }
}

int
main (void)
{
    static char line[32768];
    session = lk_session_new (NULL);
    if (!session) {
        perror ("no session");
        return 1;
    }
    while (fgets (line, sizeof line, stdin)) {
        words = 0;
        for (char *at = line, *next;
             words < WORDS_MAX && (next = strsep (&at, " \n")) != NULL;) {
            if (next[0]) {
                word[words++] = next;
            }
        }
        if (words > 0 && strcmp (word[0], "quit") == 0) {
            break;
        }
        if (words > 0) {
            do_command ();
        }
    }
    lk_session_destroy (&session);
    return 0;
}
