/*  notify.c - see notify.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TEXT_SIZE 1024

static char status[LK_NOTIFY_PARTS][TEXT_SIZE];
static bool owes_status; /* the manager had no room for it */
static int64_t patience_ms;

/*  -------------------------------------------------------- sending */

/*  The size of the address; 0: nobody is to be told. */
static socklen_t
find_manager (struct sockaddr_un *address)
{
    const char *path = getenv ("NOTIFY_SOCKET");
    const size_t size = path ? strlen (path) : 0;
    if (size < 2 || size >= sizeof address->sun_path
        || (path[0] != '/' && path[0] != '@')) {
        return 0;
    }
    memset (address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy (address->sun_path, path, size);
    if (path[0] == '@') {
        address->sun_path[0] = '\0'; /* in no file system */
    }
    return (socklen_t) (offsetof (struct sockaddr_un, sun_path) + size);
}

/*  False: it was not taken, but may be later. */
static bool
tell (const char *text, int flags)
{
    struct sockaddr_un address;
    const socklen_t size = find_manager (&address);
    if (size == 0) {
        return true;
    }
    const int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd == -1) {
        return false;
    }
    const ssize_t sent = sendto (fd, text, strlen (text), flags | MSG_NOSIGNAL,
                                 (const struct sockaddr *) &address, size);
    const bool later = sent == -1 && (errno == EAGAIN || errno == ENOBUFS);
    close (fd);
    return !later;
}

/*  -------------------------------------------------------- status */

static void
tell_status (void)
{
    char text[LK_NOTIFY_PARTS * TEXT_SIZE + 16];
    const char *router = status[LK_NOTIFY_ROUTER];
    const char *lock = status[LK_NOTIFY_LOCK];
    snprintf (text, sizeof text, "STATUS=%s%s%s", router,
              *router && *lock ? "; " : "", lock);
    owes_status = !tell (text, MSG_DONTWAIT);
}

/*  Peers' texts are in it, and a line of its own would be another command. */
static void
disarm (char *text)
{
    for (unsigned char *at = (unsigned char *) text; *at; at++) {
        if (*at < ' ' || *at == 0x7f) {
            *at = '?';
        }
    }
}

void
lk_notify_status (lk_notifier part, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (text, sizeof text, format, arguments);
    va_end (arguments);
    disarm (text);
    if (strcmp (status[part], text) != 0) {
        snprintf (status[part], TEXT_SIZE, "%s", text);
        tell_status ();
    }
}

/*  -------------------------------------------------------- life */

void
lk_notify_ready (void)
{
    (void) tell ("READY=1", 0);
}

void
lk_notify_stopping (int64_t most_ms)
{
    char text[80];
    snprintf (text, sizeof text, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld",
              (long long) most_ms * 1000);
    (void) tell (text, MSG_DONTWAIT);
}

/*  What the manager's watchdog waits for; 0: there is none. */
static int64_t
watchdog_ms (void)
{
    const char *usec = getenv ("WATCHDOG_USEC");
    const char *pid = getenv ("WATCHDOG_PID");
    if (usec == NULL
        || (pid != NULL && strtol (pid, NULL, 10) != (long) getpid ())) {
        return 0;
    }
    const int64_t ms = strtoll (usec, NULL, 10) / 1000;
    return ms <= 0 ? 0 : ms > patience_ms ? ms : patience_ms;
}

/*  Two of three may be late or lost. */
int64_t
lk_notify_interval_ms (void)
{
    const int64_t ms = watchdog_ms ();
    return ms > 0 && ms < 3 ? 1 : ms / 3;
}

void
lk_notify_alive (void)
{
    (void) tell ("WATCHDOG=1", MSG_DONTWAIT);
    if (owes_status) {
        tell_status ();
    }
}

void
lk_notify_patience (int64_t least_ms)
{
    char text[80];
    const int64_t before = watchdog_ms ();
    if (least_ms > patience_ms) {
        patience_ms = least_ms;
    }
    const int64_t now = watchdog_ms ();
    if (now > before) {
        snprintf (text, sizeof text, "WATCHDOG_USEC=%lld",
                  (long long) now * 1000);
        (void) tell (text, 0);
    }
}
