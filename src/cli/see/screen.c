/*  screen.c - a terminal as a screen that is drawn anew, and its keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#define OTHER_SCREEN "\033[?1049h\033[?25l"
#define USUAL_SCREEN "\033[?25h\033[?1049l"
#define CLEAR "\033[H\033[2J"
#define LINES_USUAL 24
#define COLUMNS_USUAL 80

static struct termios before;
static sigset_t signals_before;
static int signals = -1;

bool
lk_screen_is_there (void)
{
    const char *terminal = getenv ("TERM");
    return isatty (STDIN_FILENO) && isatty (STDOUT_FILENO) && terminal != NULL
           && strcmp (terminal, "dumb") != 0;
}

/*  Those that end us are read with the keys, so that the terminal is left as
 *  it was. */
static int
open_signals (void)
{
    sigset_t set;
    sigemptyset (&set);
    sigaddset (&set, SIGINT);
    sigaddset (&set, SIGTERM);
    sigaddset (&set, SIGHUP);
    sigaddset (&set, SIGQUIT);
    sigaddset (&set, SIGTSTP);
    sigaddset (&set, SIGWINCH);
    sigprocmask (SIG_BLOCK, &set, &signals_before);
    return signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool
lk_screen_begin (void)
{
    if (tcgetattr (STDIN_FILENO, &before) != 0) {
        return false;
    }
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    signals = open_signals ();
    if (signals < 0 || tcsetattr (STDIN_FILENO, TCSANOW, &raw) != 0) {
        return false;
    }
    fputs (OTHER_SCREEN, stdout);
    return true;
}

void
lk_screen_end (void)
{
    fputs (USUAL_SCREEN, stdout);
    fflush (stdout);
    (void) tcsetattr (STDIN_FILENO, TCSANOW, &before);
    close (signals);
    signals = -1;
    sigprocmask (SIG_SETMASK, &signals_before, NULL);
}

lk_screen_size
lk_screen_get_size (void)
{
    struct winsize size;
    if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0
        || size.ws_row == 0) {
        return (lk_screen_size) {LINES_USUAL, COLUMNS_USUAL};
    }
    return (lk_screen_size) {size.ws_row, size.ws_col};
}

void
lk_screen_clear (void)
{
    fputs (CLEAR, stdout);
}

/*  Ctrl-Z: the shell gets the terminal as it was. */
static int
pause_here (void)
{
    lk_screen_end ();
    (void) raise (SIGSTOP);
    return lk_screen_begin () ? 0 : LK_SCREEN_END;
}

static int
take_signal (void)
{
    struct signalfd_siginfo info;
    if (read (signals, &info, sizeof info) != sizeof info) {
        return LK_SCREEN_END;
    }
    return info.ssi_signo == SIGWINCH  ? 0
           : info.ssi_signo == SIGTSTP ? pause_here ()
                                       : LK_SCREEN_END;
}

int
lk_screen_key (int wait_ms)
{
    char key;
    struct pollfd fds[2] = {{STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}};
    if (poll (fds, 2, wait_ms) <= 0) {
        return 0;
    }
    if (fds[1].revents != 0) {
        return take_signal ();
    }
    return read (STDIN_FILENO, &key, 1) == 1 ? key : LK_SCREEN_END;
}
