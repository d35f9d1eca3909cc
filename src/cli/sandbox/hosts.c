/*  hosts.c - the daemons of a sandbox: started, ended, collected
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/sandbox/sandbox.h"
#include "cli/setup/genesis.h"
#include "net/curve_ring.h"
#include "net/random.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT_LOW 10240
#define PORT_TRIES 1000
#define PORT_LIMIT 32768 /* if the kernel does not tell what it gives */
#define STOP_MS 2000     /* from TERM to another one, and from that to KILL */
#define POLL_MS 10
#define PATH_SIZE 160
#define ARGUMENTS_MAX (8 + LK_SANDBOX_HOSTS_MAX)
#define ARGUMENT_SIZE 512

const char *
lk_daemon_name (lk_daemon daemon)
{
    return daemon == LK_ROUTER ? "router" : "lockd";
}

bool
lk_sandbox_has (const lk_sandbox *self, lk_daemon daemon)
{
    return daemon == LK_ROUTER || !self->hosted;
}

void
lk_sandbox_endpoint (const lk_sandbox *self, size_t host, char *text,
                     size_t size)
{
    snprintf (text, size, "ipc://%s/%s/router", self->dir,
              self->host[host].name);
}

static void
path_of (const lk_sandbox *self, size_t host, lk_daemon daemon,
         const char *suffix, char *path)
{
    snprintf (path, PATH_SIZE, "%s/%s/%s%s", self->dir, self->host[host].name,
              lk_daemon_name (daemon), suffix);
}

/*  -------------------------------------------------------- ports */

/*  Ports that the kernel gives to outgoing connections are no good: while a
 *  router is down somebody's connection may sit on its port. */
static int
port_limit (void)
{
    int low = 0;
    FILE *file = fopen ("/proc/sys/net/ipv4/ip_local_port_range", "r");
    if (file != NULL) {
        if (fscanf (file, "%d", &low) != 1) {
            low = 0;
        }
        fclose (file);
    }
    return low > PORT_LOW + PORT_TRIES ? low : PORT_LIMIT;
}

static bool
is_free (int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons ((uint16_t) port)};
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    bool is = bind (fd, (struct sockaddr *) &address, sizeof address) == 0;
    close (fd);
    return is;
}

static bool
is_taken (const lk_sandbox *self, size_t count, int port)
{
    for (size_t i = 0; i < count; i++) {
        if (self->host[i].port == port) {
            return true;
        }
    }
    return false;
}

static int
find_port (const lk_sandbox *self, size_t count)
{
    int limit = port_limit ();
    for (int i = 0; i < PORT_TRIES; i++) {
        uint32_t random;
        lk_random_fill (&random, sizeof random);
        int port = PORT_LOW + (int) (random % (uint32_t) (limit - PORT_LOW));
        if (!is_taken (self, count, port) && is_free (port)) {
            return port;
        }
    }
    return 0;
}

bool
lk_sandbox_choose_ports (lk_sandbox *self)
{
    for (size_t i = 0; i < self->count; i++) {
        self->host[i].port = find_port (self, i);
        if (self->host[i].port == 0) {
            lk_cli_fail (0, "found no free port on 127.0.0.1");
            return false;
        }
    }
    return true;
}

bool
lk_sandbox_ports_are_free (const lk_sandbox *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (!is_free (self->host[i].port)) {
            return false;
        }
    }
    return true;
}

/*  -------------------------------------------------------- preparation */

static bool
prepare_host (lk_sandbox *self, size_t host, const char *members)
{
    char dir[PATH_SIZE], problem[256];
    lk_sandbox_host *it = &self->host[host];
    snprintf (dir, sizeof dir, "%s/%s", self->dir, it->name);
    if (mkdir (dir, 0700) != 0 && errno != EEXIST) {
        lk_cli_fail (0, "cannot make '%s': %m", dir);
        return false;
    }
    if (host < self->members
        && !lk_genesis_write (dir, "sandbox", members, it->name, problem,
                              sizeof problem)) {
        lk_cli_fail (0, "%s", problem);
        return false;
    }
    return true;
}

/*  The programs beside ourselves, else those in PATH. */
static void
find_programs (lk_sandbox *self)
{
    char path[sizeof self->programs + 32];
    ssize_t size =
        readlink ("/proc/self/exe", self->programs, sizeof self->programs - 1);
    bool whole = size > 0 && (size_t) size < sizeof self->programs - 1;
    self->programs[whole ? size : 0] = '\0';
    char *slash = strrchr (self->programs, '/');
    if (slash != NULL) {
        slash[0] = '\0';
    }
    snprintf (path, sizeof path, "%s/lockkeeper-router", self->programs);
    if (access (path, X_OK) != 0) {
        self->programs[0] = '\0';
    }
}

bool
lk_sandbox_prepare (lk_sandbox *self)
{
    char members[16 * LK_SANDBOX_HOSTS_MAX] = "";
    for (size_t i = 0; i < self->count; i++) {
        lk_sandbox_host *host = &self->host[i];
        snprintf (host->name, sizeof host->name, "h%d", (int) i + 1);
        size_t size = strlen (members);
        if (i < self->members) {
            snprintf (members + size, sizeof members - size, "%s%s",
                      i > 0 ? "," : "", host->name);
        }
    }
    for (size_t i = 0; i < self->count; i++) {
        if (!prepare_host (self, i, members)) {
            return false;
        }
    }
    find_programs (self);
    return true;
}

/*  -------------------------------------------------------- keys */

/*  All of them; secrets are those of `own` alone. */
static bool
write_keys (const lk_sandbox *self, const lk_curve_ring *all, size_t own)
{
    char path[LK_SANDBOX_PATH_MAX + 32];
    lk_curve_ring ring = *all;
    lk_problem problem;
    for (size_t i = 0; i < ring.count; i++) {
        if (i != own) {
            ring.key[i].pair.secret_key[0] = '\0';
        }
    }
    snprintf (path, sizeof path, "%s/%s/keys", self->dir, self->host[own].name);
    if (lk_curve_ring_write (&ring, path, &problem) != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    return true;
}

bool
lk_sandbox_write_keys (const lk_sandbox *self)
{
    lk_curve_ring all = {.count = self->plain ? 0 : self->count};
    bool done = true;
    for (size_t i = 0; i < all.count; i++) {
        lk_curve_key *key = &all.key[i];
        lk_curve_make (&key->pair);
        snprintf (key->host, sizeof key->host, "%s", self->host[i].name);
        snprintf (key->address, sizeof key->address, "127.0.0.1:%d",
                  self->host[i].port);
    }
    for (size_t i = 0; i < all.count && done; i++) {
        done = write_keys (self, &all, i);
    }
    return done;
}

/*  -------------------------------------------------------- starting */

typedef struct {
    char *argument[ARGUMENTS_MAX];
    char text[ARGUMENTS_MAX][ARGUMENT_SIZE];
    int count;
} arguments;

static void __attribute__ ((format (printf, 2, 3)))
add_argument (arguments *self, const char *format, ...)
{
    va_list list;
    va_start (list, format);
    char *text = self->text[self->count];
    vsnprintf (text, sizeof self->text[0], format, list);
    va_end (list);
    self->argument[self->count++] = text;
}

static void
fill_arguments (const lk_sandbox *self, size_t host, lk_daemon daemon,
                arguments *line)
{
    char endpoint[PATH_SIZE];
    const lk_sandbox_host *it = &self->host[host];
    lk_sandbox_endpoint (self, host, endpoint, sizeof endpoint);
    add_argument (line, "%s%slockkeeper-%s", self->programs,
                  self->programs[0] != '\0' ? "/" : "",
                  lk_daemon_name (daemon));
    add_argument (line, "--config=%s/%s/lockkeeper.conf", self->dir, it->name);
    add_argument (line, "--endpoint=%s", endpoint);
    if (daemon == LK_LOCKD) {
        return;
    }
    add_argument (line, "--host=%s", it->name);
    add_argument (line, "--listen=tcp://127.0.0.1:%d", it->port);
    for (size_t i = 0; i < self->count; i++) { /* the same list for all */
        add_argument (line, "--neighbour=127.0.0.1:%d", self->host[i].port);
    }
}

/*  In the child: dies with the sandbox, and says all in its log. */
static _Noreturn void
become (pid_t parent, char **argv, int null_fd, int log_fd)
{
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    setpgid (0, 0);
    dup2 (null_fd, STDIN_FILENO);
    dup2 (log_fd, STDOUT_FILENO);
    dup2 (log_fd, STDERR_FILENO);
    lk_watch_unblock ();
    if (getppid () == parent) {
        execvp (argv[0], argv);
        dprintf (STDERR_FILENO, "cannot run '%s': %s\n", argv[0],
                 strerror (errno));
    }
    _exit (LK_EXIT_NOT_FOUND);
}

static void
write_pid (const lk_sandbox *self, size_t host, lk_daemon daemon)
{
    char path[PATH_SIZE];
    path_of (self, host, daemon, ".pid", path);
    FILE *file = fopen (path, "we");
    if (file != NULL) {
        fprintf (file, "%d\n", (int) self->host[host].pid[daemon]);
        fclose (file);
    }
}

bool
lk_sandbox_start (lk_sandbox *self, size_t host, lk_daemon daemon)
{
    char path[PATH_SIZE];
    arguments line = {.count = 0};
    fill_arguments (self, host, daemon, &line);
    path_of (self, host, daemon, ".log", path);
    int log_fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int null_fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_t parent = getpid ();
    pid_t pid = log_fd < 0 ? -1 : fork ();
    if (pid == 0) {
        become (parent, line.argument, null_fd, log_fd);
    }
    if (pid < 0) {
        lk_cli_fail (0, "cannot start the %s of %s: %m",
                     lk_daemon_name (daemon), self->host[host].name);
    } else {
        self->host[host].pid[daemon] = pid;
        write_pid (self, host, daemon);
    }
    close (log_fd);
    close (null_fd);
    return pid > 0;
}

bool
lk_sandbox_start_all (lk_sandbox *self)
{
    for (size_t i = 0; i < self->count; i++) {
        for (lk_daemon it = 0; it < LK_DAEMON_COUNT; it++) {
            if (lk_sandbox_has (self, it) && !lk_sandbox_start (self, i, it)) {
                return false;
            }
        }
    }
    return true;
}

/*  -------------------------------------------------------- ending */

static void
say_ended (const lk_sandbox *self, size_t host, lk_daemon daemon, int status)
{
    const char *name = self->host[host].name;
    const char *what = lk_daemon_name (daemon);
    if (self->quiet) {
        return;
    }
    if (WIFSIGNALED (status)) {
        lk_cli_fail (0,
                     "the %s of %s was ended by signal %d (%s); "
                     "`lockkeeper sandbox restart %s %s --dir %s` starts it "
                     "again",
                     what, name, WTERMSIG (status),
                     strsignal (WTERMSIG (status)), name, what, self->dir);
    } else {
        lk_cli_fail (0,
                     "the %s of %s ended with code %d; its log is "
                     "%s/%s/%s.log",
                     what, name, WEXITSTATUS (status), self->dir, name, what);
    }
}

static bool
collect (lk_sandbox *self, size_t host, lk_daemon daemon, bool say)
{
    int status;
    pid_t *pid = &self->host[host].pid[daemon];
    if (*pid == 0 || waitpid (*pid, &status, WNOHANG) != *pid) {
        return false;
    }
    *pid = 0;
    self->host[host].ended[daemon] =
        WIFEXITED (status) ? WEXITSTATUS (status) : LK_EXIT_SIGNAL;
    if (say) {
        say_ended (self, host, daemon, status);
    }
    return true;
}

size_t
lk_sandbox_reap (lk_sandbox *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        for (lk_daemon it = 0; it < LK_DAEMON_COUNT; it++) {
            count += collect (self, i, it, true);
        }
    }
    return count;
}

static void
signal_daemon (const lk_sandbox *self, size_t host, lk_daemon daemon,
               int signal)
{
    pid_t pid = self->host[host].pid[daemon];
    if (pid > 0) {
        (void) kill (pid, signal);
        (void) kill (pid, SIGCONT);
    }
}

/*  A set of daemons: one, or those of one kind on all hosts. A second TERM has
 *  them wait no more for others who might lead. */
static void
await_end (lk_sandbox *self, size_t first, size_t end, lk_daemon daemon,
           int patience_ms)
{
    struct timespec pause = {0, POLL_MS * 1000000L};
    for (int waited = 0;; waited += POLL_MS) {
        size_t left = 0;
        for (size_t i = first; i < end; i++) {
            collect (self, i, daemon, false);
            left += self->host[i].pid[daemon] != 0;
            if (waited == patience_ms) {
                signal_daemon (self, i, daemon, SIGTERM);
            } else if (waited >= patience_ms + STOP_MS) {
                signal_daemon (self, i, daemon, SIGKILL);
            }
        }
        if (left == 0) {
            return;
        }
        nanosleep (&pause, NULL);
    }
}

void
lk_sandbox_stop (lk_sandbox *self, size_t host, lk_daemon daemon)
{
    signal_daemon (self, host, daemon, SIGTERM);
    await_end (self, host, host + 1, daemon, STOP_MS);
}

/*  Lock services first, so that none is left without its router. */
void
lk_sandbox_stop_all (lk_sandbox *self)
{
    static const lk_daemon order[] = {LK_LOCKD, LK_ROUTER};
    for (size_t k = 0; k < LK_DAEMON_COUNT; k++) {
        for (size_t i = 0; i < self->count; i++) {
            signal_daemon (self, i, order[k], SIGTERM);
        }
        await_end (self, 0, self->count, order[k], 2 * POLL_MS);
    }
}
