/*  agent.c - who holds units for a shell, and does what its commands want
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The question comes with our stdout and stderr, and the answer is an exit
 *  code, so that the agent says things as any verb does.
 */

#include "cli/lock/agent.h"

#include "cli/descriptors.h"
#include "net/clock.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <lockkeeper/canal.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDLE_MS 10000 /* how long an agent without units stays */
#define ANSWER_S 20   /* its own waits are shorter */
#define TRIES 3
#define BACKLOG 64

/*  Units of a name that were lost, and not released yet. */
typedef struct loss {
    struct loss *next;
    char *name;
    size_t count;
    lk_err error;
} loss;

typedef struct {
    const lk_options *options;
    lk_session *session; /* NULL: until the first question */
    int listen_fd, owner_fd;
    pid_t owner;
    size_t units;
    int64_t idle_since;
    loss *losses;
} agent;

/*  -------------------------------------------------------- its address */

/*  When the process was started, in the clock ticks of /proc; 0: it is gone. */
static unsigned long long
start_of (pid_t pid)
{
    char path[64], text[1024];
    unsigned long long start = 0;
    snprintf (path, sizeof path, "/proc/%d/stat", (int) pid);
    FILE *file = fopen (path, "re");
    if (file == NULL) {
        return 0;
    }
    text[fread (text, 1, sizeof text - 1, file)] = '\0';
    fclose (file);
    const char *end = strrchr (text, ')');
    if (end == NULL
        || sscanf (end + 1,
                   " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                   "%*s %*s %*s %*s %*s %llu",
                   &start)
               != 1) {
        return 0;
    }
    return start;
}

static pid_t
owner_of (const lk_options *options)
{
    return options->pid != 0 ? (pid_t) options->pid : getppid ();
}

/*  The size of the address; 0: there is no such owner. */
static socklen_t
make_address (const lk_options *options, pid_t owner,
              struct sockaddr_un *address)
{
    const unsigned long long start = start_of (owner);
    const char *where = options->endpoint != NULL
                            ? options->endpoint
                            : getenv ("LOCKKEEPER_CLIENT");
    *address = (struct sockaddr_un) {.sun_family = AF_UNIX};
    const int size = snprintf (
        address->sun_path + 1, sizeof address->sun_path - 1,
        "lockkeeper/%u/%d/%llu/%016llx", (unsigned) geteuid (), (int) owner,
        start, (unsigned long long) lk_hash64 (where, strlen (where)));
    return start == 0 ? 0
                      : (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1
                                     + (size_t) size);
}

/*  The other side is our own user's: anybody may take such an address. */
static bool
is_ours (int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
           && peer.uid == geteuid ();
}

/*  -------------------------------------------------------- losses */

static void
note_loss (agent *self, const char *name, lk_err error)
{
    loss *it = self->losses;
    while (it != NULL && strcmp (it->name, name) != 0) {
        it = it->next;
    }
    if (it == NULL) {
        it = lk_alloc (sizeof *it);
        it->name = lk_strdup (name);
        it->next = self->losses;
        self->losses = it;
    }
    it->count++;
    it->error = error;
}

/*  Whether one of the units of that name was lost; that is told once. */
static bool
take_loss (agent *self, const char *name, lk_err *error)
{
    for (loss *it = self->losses; it != NULL; it = it->next) {
        if (it->count > 0 && strcmp (it->name, name) == 0) {
            it->count--;
            *error = it->error;
            return true;
        }
    }
    return false;
}

static void
take_events (agent *self)
{
    lk_lock_event event;
    while (self->session != NULL
           && lk_session_poll (self->session, 0, &event) != LK_EVENT_NONE) {
        if (event.kind == LK_EVENT_LOST) {
            note_loss (self, lk_lock_object (event.lock), event.error);
        }
    }
}

/*  -------------------------------------------------------- what it does */

/*  Says what was done, or not; `out`: units that are out now, 0: not told. */
static void
print_json (const lk_agent_question *question, const char *deed, bool done,
            uint32_t out)
{
    lk_message *row = lk_message_row_new ();
    lk_cli_set_object (row, question->name);
    lk_message_set_flag (row, deed, done);
    lk_message_set_any (row, "out", out);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static void
print_acquired (const lk_agent_question *question, uint32_t out)
{
    if (question->json) {
        print_json (question, "acquired", out > 0, out);
    } else if (out > 0) {
        printf ("acquired %u\n", out);
    } else {
        puts ("full");
    }
}

static void
print_released (const lk_agent_question *question)
{
    if (question->json) {
        print_json (question, "released", true, 0);
    } else {
        puts ("ok");
    }
}

static int
acquire (agent *self, const lk_agent_question *question)
{
    uint32_t ordinal = 0;
    const lk_err error =
        lk_canal_acquire (self->session, question->name, question->max_per,
                          question->resources, &ordinal);
    switch (error) {
    case LK_OK:
        self->units++;
        print_acquired (question, ordinal);
        return LK_EXIT_OK;
    case LK_FULL:
        print_acquired (question, 0);
        return LK_EXIT_NO;
    default:
        return lk_cli_fail (error == LK_TIMEDOUT ? LK_EXIT_LATE
                                                 : LK_EXIT_FAILED,
                            "did not get a unit of '%s': %s; `lockkeeper "
                            "status` shows how the lock service is",
                            lk_shown_name (question->name).text,
                            lk_session_problem (self->session));
    }
}

static int
release (agent *self, const lk_agent_question *question)
{
    const lk_shown shown = lk_shown_name (question->name);
    const lk_err error = lk_canal_release (
        self->session, question->name, question->max_per, question->resources);
    lk_err lost = error;
    if (error == LK_UNKNOWN) {
        return lk_cli_fail (LK_EXIT_NO, "this shell holds no unit of '%s'",
                            shown.text);
    }
    self->units -= error != LK_INVALID && self->units > 0;
    if (error == LK_TIMEDOUT || error == LK_INVALID) {
        return lk_cli_fail (error == LK_TIMEDOUT ? LK_EXIT_LATE
                                                 : LK_EXIT_FAILED,
                            "did not release a unit of '%s': %s", shown.text,
                            lk_session_problem (self->session));
    }
    if (take_loss (self, question->name, &lost) || error != LK_OK) {
        return lk_cli_fail (LK_EXIT_LOST, "a unit of '%s' was lost: %s",
                            shown.text, lk_err_text (lost));
    }
    print_released (question);
    return LK_EXIT_OK;
}

static int
serve (agent *self, const lk_agent_question *question)
{
    if (self->session == NULL) {
        self->session =
            lk_cli_session_for (self->options->endpoint, NULL, self->owner);
    }
    if (self->session == NULL) {
        return LK_EXIT_FAILED;
    }
    take_events (self);
    return question->deed == LK_AGENT_ACQUIRE ? acquire (self, question)
                                              : release (self, question);
}

/*  -------------------------------------------------------- its clients */

/*  With two descriptors; false: that is no question. */
static bool
receive (int fd, lk_agent_question *question, int out[2])
{
    union {
        char text[CMSG_SPACE (2 * sizeof (int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {question, sizeof *question};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.text,
                             .msg_controllen = sizeof control.text};
    const ssize_t size = recvmsg (fd, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *header = CMSG_FIRSTHDR (&message);
    if (size < 0 || header == NULL || header->cmsg_type != SCM_RIGHTS
        || header->cmsg_len != CMSG_LEN (2 * sizeof (int))) {
        return false;
    }
    memcpy (out, CMSG_DATA (header), 2 * sizeof (int));
    return size == sizeof *question;
}

static void
speak_to (int out, int error)
{
    fflush (stdout);
    dup2 (out, STDOUT_FILENO);
    dup2 (error, STDERR_FILENO);
}

static void
attend_client (agent *self, int nowhere)
{
    static lk_agent_question question;
    int out[2] = {-1, -1};
    const struct timeval patience = {.tv_sec = 1};
    const int fd = accept4 (self->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    (void) setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (is_ours (fd) && receive (fd, &question, out)) {
        speak_to (out[0], out[1]);
        const unsigned char code = (unsigned char) serve (self, &question);
        speak_to (nowhere, nowhere);
        (void) !send (fd, &code, 1, MSG_NOSIGNAL);
    }
    for (int i = 0; i < 2; i++) {
        if (out[i] >= 0) {
            close (out[i]);
        }
    }
    close (fd);
    self->idle_since = lk_clock_ms ();
}

static int
time_to_sleep (const agent *self)
{
    int sleep_ms = -1;
    if (self->units == 0) {
        sleep_ms = lk_clock_poll_ms (self->idle_since + IDLE_MS);
    }
    const int due =
        self->session != NULL ? lk_session_timeout (self->session) : -1;
    return due >= 0 && (sleep_ms < 0 || due < sleep_ms) ? due : sleep_ms;
}

static _Noreturn void
run_agent (agent *self)
{
    const int kept[2] = {self->listen_fd, self->owner_fd};
    prctl (PR_SET_NAME, "lk-agent");
    setsid ();
    lk_descriptors_keep (kept, 2);
    const int nowhere = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    self->idle_since = lk_clock_ms ();
    for (;;) {
        struct pollfd fds[3] = {
            {self->owner_fd, POLLIN, 0},
            {self->listen_fd, POLLIN, 0},
            {self->session != NULL ? lk_session_fd (self->session) : -1, POLLIN,
             0},
        };
        (void) poll (fds, 3, time_to_sleep (self));
        if (fds[0].revents != 0
            || (self->units == 0 && fds[1].revents == 0
                && lk_clock_ms () >= self->idle_since + IDLE_MS)) {
            break;
        }
        if (fds[1].revents != 0) {
            attend_client (self, nowhere);
        }
        take_events (self);
    }
    close (self->listen_fd);
    lk_session_destroy (&self->session);
    _exit (0);
}

/*  -------------------------------------------------------- starting it */

/*  0, also if there is one already; else errno. */
static int
start (const lk_options *options, pid_t owner,
       const struct sockaddr_un *address, socklen_t size)
{
    agent self = {.options = options};
    self.listen_fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (self.listen_fd < 0) {
        return errno;
    }
    if (bind (self.listen_fd, (const struct sockaddr *) address, size) != 0
        || listen (self.listen_fd, BACKLOG) != 0) {
        const int error = errno == EADDRINUSE ? 0 : errno;
        close (self.listen_fd);
        return error;
    }
    self.owner = owner;
    self.owner_fd = (int) syscall (SYS_pidfd_open, owner, 0);
    const pid_t child = self.owner_fd < 0 ? -1 : fork ();
    if (child == 0) {
        run_agent (&self);
    }
    const int error = child < 0 ? errno : 0;
    close (self.listen_fd);
    if (self.owner_fd >= 0) {
        close (self.owner_fd);
    }
    return error;
}

/*  -------------------------------------------------------- the client */

static bool
put_question (int fd, const lk_agent_question *question)
{
    const int out[2] = {STDOUT_FILENO, STDERR_FILENO};
    union {
        char text[CMSG_SPACE (sizeof out)];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {(void *) (uintptr_t) question, sizeof *question};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.text,
                             .msg_controllen = sizeof control.text};
    struct cmsghdr *header = CMSG_FIRSTHDR (&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN (sizeof out);
    memcpy (CMSG_DATA (header), out, sizeof out);
    return sendmsg (fd, &message, MSG_NOSIGNAL) == (ssize_t) sizeof *question;
}

/*  Its answer, or that there is none. -1: it ended just now. */
static int
await_code (int fd)
{
    const struct timeval patience = {.tv_sec = ANSWER_S};
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    unsigned char code;
    (void) setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const ssize_t got = recv (fd, &code, 1, 0);
    if (got == 1) {
        return code;
    }
    if (got == 0 || errno != EAGAIN) {
        return -1;
    }
    (void) getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return lk_cli_fail (LK_EXIT_LATE,
                        "our agent, process %d, does not answer: is it "
                        "stopped? `kill -CONT %d` lets it go on",
                        (int) peer.pid, (int) peer.pid);
}

/*  Its exit code; -1: there is no agent, or it ended just now. */
static int
ask_once (const struct sockaddr_un *address, socklen_t size,
          const lk_agent_question *question)
{
    int answer = -1;
    const int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect (fd, (const struct sockaddr *) address, size) == 0) {
        if (!is_ours (fd)) {
            answer = lk_cli_fail (LK_EXIT_FAILED, "another user has taken the "
                                                  "address of our agent");
        } else if (put_question (fd, question)) {
            answer = await_code (fd);
        }
    }
    if (fd >= 0) {
        close (fd);
    }
    return answer;
}

int
lk_agent_ask (const lk_options *options, const lk_agent_question *question)
{
    struct sockaddr_un address;
    const pid_t owner = owner_of (options);
    const socklen_t size = make_address (options, owner, &address);
    if (size == 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "there is no process %d",
                            (int) owner);
    }
    for (int i = 0; i < TRIES; i++) {
        const int code = ask_once (&address, size, question);
        if (code >= 0) {
            return code;
        }
        const int error = start (options, owner, &address, size);
        if (error != 0) {
            errno = error;
            return lk_cli_fail (LK_EXIT_FAILED, "cannot start an agent: %m");
        }
    }
    return lk_cli_fail (LK_EXIT_FAILED, "our agent ends as soon as it begins");
}
