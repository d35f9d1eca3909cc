/*  terminal.c - texts of others on a terminal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Names are what applications say, files what editors left: a terminal must
 *  not take any of it for commands.
 */

#include "cli/terminal.h"

#include "util/escape.h"
#include "util/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NAME_SIZE_MAX 80
#define ROOM_MAX 1024 /* of a line that is cut */

void
lk_show (FILE *file, const char *text)
{
    lk_show_bytes (file, text, strlen (text));
}

void
lk_show_bytes (FILE *file, const char *data, size_t size)
{
    char shown[LK_ESCAPE_SIZE];
    size_t done;
    while ((done = lk_escape_first (data, size, shown)) > 0) {
        fputs (shown, file);
        data += done;
        size -= done;
    }
}

/*  Between two characters, if it has some. */
lk_shown
lk_shown_name (const char *name)
{
    lk_shown shown;
    size_t size = strlen (name), used = 0;
    if (size <= NAME_SIZE_MAX) {
        snprintf (shown.text, sizeof shown.text, "%s", name);
        return shown;
    }
    while (used < NAME_SIZE_MAX) {
        const size_t next = lk_utf8_first (name + used, size - used);
        if (used + next > NAME_SIZE_MAX) {
            break;
        }
        used += next + (next == 0);
    }
    snprintf (shown.text, sizeof shown.text, "%.*s...", (int) used, name);
    return shown;
}

/*  At least what "..." takes; more than fits into the room is no line. */
void
lk_show_last (const char *data, size_t size, int width)
{
    char room[ROOM_MAX];
    const size_t wanted = width < 4 ? 4 : (size_t) width + 1;
    if (wanted > ROOM_MAX) {
        lk_show_bytes (stdout, data, size);
    } else {
        fputs (lk_escape (data, size, room, wanted), stdout);
    }
}

lk_span_text
lk_span (int64_t ms)
{
    lk_span_text span = {"-"};
    if (ms >= 0 && ms < 100000) {
        snprintf (span.text, sizeof span.text, "%.1f s", (double) ms / 1000);
    } else if (ms >= 0 && ms < 99 * INT64_C (3600000)) {
        snprintf (span.text, sizeof span.text,
                  "%" PRId64 ":%02" PRId64 ":%02" PRId64, ms / 3600000,
                  ms / 60000 % 60, ms / 1000 % 60);
    } else if (ms >= 0) {
        snprintf (span.text, sizeof span.text, "%" PRId64 " d", ms / 86400000);
    }
    return span;
}

const char *
lk_utc_text (int64_t when_s, char text[LK_UTC_SIZE])
{
    const time_t when = (time_t) when_s;
    struct tm utc;
    if (when == 0 || gmtime_r (&when, &utc) == NULL) {
        return "-";
    }
    strftime (text, LK_UTC_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

int
lk_terminal_width (void)
{
    struct winsize size;
    return ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? size.ws_col
               : LK_WIDTH_ANY;
}

int
lk_terminal_height (void)
{
    struct winsize size;
    return ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0
               ? size.ws_row
               : INT16_MAX;
}

/*  -------------------------------------------------------- colours */

static bool
has_colors (void)
{
    static int has = -1;
    if (has < 0) {
        const char *none = getenv ("NO_COLOR");
        const char *terminal = getenv ("TERM");
        has = isatty (STDOUT_FILENO) && (none == NULL || none[0] == '\0')
              && terminal != NULL && strcmp (terminal, "dumb") != 0;
    }
    return has == 1;
}

const char *
lk_color_begin (lk_color color)
{
    static const char *const code[] = {
        [LK_GOOD] = "\033[32m", [LK_BAD] = "\033[1;31m", [LK_HEAD] = "\033[1m"};
    return has_colors () ? code[color] : "";
}

const char *
lk_color_end (void)
{
    return has_colors () ? "\033[0m" : "";
}

/*  -------------------------------------------------------- secrets */

static volatile sig_atomic_t last_signal;

static void
note_signal (int number)
{
    last_signal = number;
}

static const int fatal[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
enum { FATALS = sizeof fatal / sizeof fatal[0] };

/*  Those that would end us end the waiting for a line, and are blocked but
 *  for that: none comes ahead of it, unseen. Or all is as it was. */
static void
catch_signals (struct sigaction former[FATALS], sigset_t *mask, bool begins)
{
    const struct sigaction noting = {.sa_handler = note_signal};
    sigset_t blocked;
    sigemptyset (&blocked);
    for (size_t i = 0; i < FATALS; i++) {
        sigaddset (&blocked, fatal[i]);
    }
    if (begins) {
        (void) sigprocmask (SIG_BLOCK, &blocked, mask);
    } else {
        (void) sigprocmask (SIG_SETMASK, mask, NULL);
    }
    for (size_t i = 0; i < FATALS; i++) {
        (void) sigaction (fatal[i], begins ? &noting : &former[i],
                          begins ? &former[i] : NULL);
    }
}

/*  As read. A signal takes away what was typed: a line that poll told of may
 *  be gone. */
static ssize_t
read_typed (int fd, char *answer, size_t size, const sigset_t *mask)
{
    struct pollfd typed = {.fd = fd, .events = POLLIN};
    ssize_t got = -1;
    if (fcntl (fd, F_SETFL, O_NONBLOCK) == 0) {
        do {
            got = ppoll (&typed, 1, NULL, mask) == 1 ? read (fd, answer, size)
                                                     : -1;
        } while (got == -1 && errno == EAGAIN);
    }
    return got;
}

/*  A line without its end. False and errno. */
static bool
read_line (int fd, char *answer, size_t size, const sigset_t *mask)
{
    const ssize_t got = read_typed (fd, answer, size - 1, mask);
    if (got <= 0) {
        errno = ECANCELED;
        return false;
    }
    answer[got] = '\0';
    char *end = strchr (answer, '\n');
    if (end == NULL) {
        errno = (size_t) got == size - 1 ? EMSGSIZE : ECANCELED;
        return false;
    }
    *end = '\0';
    return true;
}

static bool
ask_hidden (int fd, const char *question, char *answer, size_t size)
{
    struct termios former, hidden;
    struct sigaction actions[FATALS];
    sigset_t mask;
    if (tcgetattr (fd, &former) != 0) {
        return false;
    }
    hidden = former;
    hidden.c_lflag &= ~(tcflag_t) ECHO;
    last_signal = 0;
    catch_signals (actions, &mask, true);
    bool is_done = tcsetattr (fd, TCSADRAIN, &hidden) == 0
                   && dprintf (fd, "%s: ", question) > 0
                   && read_line (fd, answer, size, &mask);
    const int number = errno;
    (void) tcsetattr (fd, TCSADRAIN, &former);
    (void) dprintf (fd, "\n");
    catch_signals (actions, &mask, false);
    if (last_signal != 0) {
        (void) raise (last_signal);
        is_done = false;
    }
    errno = number;
    return is_done;
}

bool
lk_terminal_ask_secret (const char *question, char *answer, size_t size)
{
    const int fd = open ("/dev/tty", O_RDWR | O_CLOEXEC);
    if (fd == -1) {
        return false;
    }
    const bool is_done = ask_hidden (fd, question, answer, size);
    const int number = errno;
    close (fd);
    errno = number;
    return is_done;
}
