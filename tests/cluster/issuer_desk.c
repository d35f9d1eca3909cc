/*  issuer_desk.c - an issuer whose bus is a pipe
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  issuer_desk serve KEYS AUTHORITIES SETTINGS
 *      A line of standard input is a message, "COMMAND FROM SERIAL" and then
 *      NAME=VALUE, each behind a tab; SETTINGS and RELOAD have the files read
 *      again. Each message that is sent is a line of standard output, likewise.
 *  issuer_desk key FILE
 *      Makes one, and tells its public key.
 *  issuer_desk user FILE NAME PASSWORD ZONE:ROLE
 *      Enters one into a file of passwords.
 */

#include "issuing.h"

#include "net/clock.h"
#include "people/issuer_file.h"
#include "people/passwords.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/message_frame.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST "h1"

/*  -------------------------------------------------------- its bus */

struct lk_bus {
    int64_t wake_ms;
    int fd;
    void (*fn) (void *user);
    void *user;
};

static lk_bus bus = {.wake_ms = INT64_MAX, .fd = -1};

static void
print (const char *name, const char *value)
{
    if (value != NULL) {
        printf ("\t%s=%s", name, value);
    }
}

/*  Prints what the line says, if all of it is as it was signed. */
static void
print_credential (const char *line)
{
    lk_credential it;
    lk_problem problem;
    if (line == NULL || lk_credential_read (&it, line, &problem) != LK_OK) {
        return;
    }
    print ("zone", it.zone);
    print ("user", it.user);
    print ("role", lk_role_words[it.role]);
    print ("key", it.key);
    printf ("\tttl=%lld\tsince=%lld",
            (long long) (it.not_after - it.not_before), (long long) it.since);
    print ("issuer", it.issuer);
}

lk_err
lk_bus_send (lk_bus *self, lk_message **message_p)
{
    const lk_message *it = *message_p;
    (void) self;
    printf ("%s\t%s\t%llu", lk_message_command (it), lk_message_to (it),
            (unsigned long long) lk_message_serial (it));
    print ("error", lk_message_text (it, "error"));
    print ("reason", lk_message_text (it, "reason"));
    if (lk_message_has (it, "wait")) {
        printf ("\twait=%lld", (long long) lk_message_number (it, "wait", 0));
    }
    print_credential (lk_message_text (it, "credential"));
    printf ("\n");
    lk_message_destroy (message_p);
    return LK_OK;
}

const char *
lk_bus_host (const lk_bus *self)
{
    (void) self;
    return HOST;
}

int64_t
lk_bus_now (const lk_bus *self)
{
    (void) self;
    return lk_clock_ms ();
}

void
lk_bus_wake_at (lk_bus *self, int64_t when_ms)
{
    self->wake_ms = when_ms;
}

void
lk_bus_watch (lk_bus *self, int fd, void (*fn) (void *user), void *user)
{
    self->fd = fd;
    self->fn = fn;
    self->user = user;
}

void
lk_bus_stop (lk_bus *self, int exit_code)
{
    (void) self;
    exit (exit_code);
}

/*  -------------------------------------------------------- what it hears */

static lk_issuing issuing;

/*  If they are there: a cluster may not have told them yet. */
static void
give_settings (const char *path)
{
    static char text[65536];
    FILE *file = fopen (path, "r");
    static int version;
    if (file == NULL) {
        return;
    }
    text[fread (text, 1, sizeof text - 1, file)] = '\0';
    fclose (file);
    lk_message *answer = lk_message_new ("issuer@" HOST, "LOCKSETTINGS");
    lk_message_set_from (answer, "lock@" HOST);
    lk_message_set_text (answer, "text", text);
    lk_message_set_number (answer, "version", ++version);
    lk_issuing_service.message (&issuing, answer);
    lk_message_destroy (&answer);
}

static void
give_message (char *line)
{
    const char *command = strsep (&line, "\t");
    const char *from = strsep (&line, "\t");
    const char *serial = strsep (&line, "\t");
    char *field;
    lk_message *message = lk_message_new ("issuer@" HOST, command);
    lk_message_set_from (message, from);
    lk_message_set_serial (message, strtoull (serial, NULL, 10));
    while ((field = strsep (&line, "\t")) != NULL) {
        char *value = strchr (field, '=');
        LK_ASSERT (value != NULL);
        *value++ = '\0';
        if (strcmp (field, "since") == 0) {
            lk_message_set_number (message, field, strtoll (value, NULL, 10));
        } else if (strcmp (field, "last") == 0) {
            lk_message_set_flag (message, field, true);
        } else {
            lk_message_set_text (message, field, value);
        }
    }
    (strcmp (from, "router@" HOST) == 0
         ? lk_issuing_service.event
         : lk_issuing_service.message) (&issuing, message);
    lk_message_destroy (&message);
}

/*  False at the end of its input. */
static bool
hear (const char *settings)
{
    static char line[8192];
    if (fgets (line, sizeof line, stdin) == NULL) {
        return false;
    }
    line[strcspn (line, "\n")] = '\0';
    if (strcmp (line, "SETTINGS") == 0) {
        give_settings (settings);
    } else if (strcmp (line, "RELOAD") == 0) {
        lk_issuing_service.reload (&issuing);
    } else {
        give_message (line);
    }
    return true;
}

/*  -------------------------------------------------------- deeds */

static int
serve (char **argv)
{
    lk_issuer_options options = {.log_level = LK_LOG_INFO};
    bool goes_on = true;
    snprintf (options.keys, sizeof options.keys, "%s", argv[2]);
    snprintf (options.authorities, sizeof options.authorities, "%s", argv[3]);
    lk_log_open ("issuer_desk", false);
    lk_log_set_level (LK_LOG_DEBUG);
    setvbuf (stdin, NULL, _IONBF, 0);
    setvbuf (stdout, NULL, _IOLBF, 0);
    lk_issuing_init (&issuing, &options);
    lk_issuing_service.attach (&issuing, &bus);
    give_settings (argv[4]);
    while (goes_on) {
        struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = bus.fd, .events = POLLIN}};
        (void) poll (fds, 2, lk_clock_poll_ms (bus.wake_ms));
        if (fds[1].revents != 0) {
            bus.fn (bus.user);
        }
        if (bus.wake_ms <= lk_clock_ms ()) {
            bus.wake_ms = INT64_MAX;
            lk_issuing_service.timer (&issuing);
        }
        if (fds[0].revents != 0) {
            goes_on = hear (argv[4]);
        }
    }
    lk_issuing_service.detach (&issuing, "stop");
    lk_issuing_clear (&issuing);
    return 0;
}

static int
make_key (const char *path)
{
    lk_issuer pair;
    lk_problem problem;
    if (lk_issuer_file_make (&pair, path, &problem) != LK_OK) {
        fprintf (stderr, "%s\n", problem.text);
        return 1;
    }
    printf ("%s\n", pair.public_key);
    return 0;
}

static int
enter_user (char **argv)
{
    lk_passwords file = {0};
    lk_password_user user = {.count = 0};
    lk_problem problem;
    char *role = strchr (argv[5], ':');
    LK_ASSERT (role != NULL);
    *role++ = '\0';
    lk_err error = lk_passwords_read (&file, argv[2], &problem);
    if (error == LK_OK || error == LK_UNKNOWN) {
        snprintf (user.user, sizeof user.user, "%s", argv[3]);
        lk_password_user_set (&user, argv[4]);
        error = lk_password_user_give (&user, argv[5], lk_role_from_word (role))
                        && lk_passwords_put (&file, &user)
                    ? lk_passwords_write (&file, argv[2], &problem)
                    : LK_FULL;
    }
    lk_passwords_clear (&file);
    return error == LK_OK ? 0 : 1;
}

int
main (int argc, char **argv)
{
    if (argc == 5 && strcmp (argv[1], "serve") == 0) {
        return serve (argv);
    }
    if (argc == 3 && strcmp (argv[1], "key") == 0) {
        return make_key (argv[2]);
    }
    return argc == 6 && strcmp (argv[1], "user") == 0 ? enter_user (argv) : 2;
}
