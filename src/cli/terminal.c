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
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
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

/*  -------------------------------------------------------- secrets */

static volatile sig_atomic_t caught;

static void
on_signal (int number)
{
    caught = number;
}

/*  The line, as far as there is room; -1 and errno. */
static int
read_secret (int fd, char *buffer, size_t size)
{
    size_t used = 0;
    char next = '\0';
    while (next != '\n') {
        const ssize_t got = read (fd, &next, 1);
        if (got <= 0 || caught != 0) {
            errno = got == 0 ? ENXIO : EINTR;
            return -1;
        }
        if (used < size) {
            buffer[used++] = next;
        }
    }
    if (buffer[used - 1] != '\n') {
        errno = EMSGSIZE;
        return -1;
    }
    buffer[used - 1] = '\0';
    return 0;
}

/*  What is typed is shown again whatever comes. */
static int
ask_unseen (int fd, const char *prompt, char *buffer, size_t size)
{
    struct termios before, unseen;
    if (tcgetattr (fd, &before) != 0) {
        return -1;
    }
    unseen = before;
    unseen.c_lflag &= ~(tcflag_t) (ECHO | ECHONL);
    (void) tcsetattr (fd, TCSAFLUSH, &unseen);
    (void) !write (fd, prompt, strlen (prompt));
    const int result = read_secret (fd, buffer, size);
    const int number = errno;
    (void) tcsetattr (fd, TCSAFLUSH, &before);
    (void) !write (fd, "\n", 1);
    errno = number;
    return result;
}

int
lk_terminal_ask_secret (const char *prompt, char *buffer, size_t size)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    struct sigaction before[5];
    const struct sigaction catch = {.sa_handler = on_signal};
    const int fd = open ("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd == -1) {
        return -1;
    }
    caught = 0;
    for (size_t i = 0; i < 5; i++) {
        (void) sigaction (numbers[i], &catch, &before[i]);
    }
    const int result = ask_unseen (fd, prompt, buffer, size);
    const int number = errno;
    for (size_t i = 0; i < 5; i++) {
        (void) sigaction (numbers[i], &before[i], NULL);
    }
    close (fd);
    if (result != 0) {
        explicit_bzero (buffer, size);
    }
    if (caught != 0) {
        (void) raise (caught);
    }
    errno = number;
    return result;
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
