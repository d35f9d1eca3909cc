/*  invitation.c - an invitation as a text, that a person carries
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/invitation.h"

#include "net/hostport.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "wire/address.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define SIZE_MAX_TEXT 4096

void
lk_invitation_text_print (const lk_invitation_text *self, int64_t minutes,
                          FILE *file)
{
    fprintf (file,
             "#   Lets one host into cluster '%s', once, within %" PRId64
             " minutes. It is\n"
             "#   secret: hand it over by a safe way. On that host, as root:\n"
             "#       lockkeeper init --join --invitation FILE\n"
             "invitation\n"
             "    cluster = \"%s\"\n"
             "    address = \"%s\"\n"
             "    server-key = \"%s\"\n"
             "    secret-key = \"%s\"\n",
             self->cluster, minutes, self->cluster, self->address,
             self->call.server_key, self->call.own.secret_key);
}

/*  -------------------------------------------------------- reading */

static void
keep (char *place, size_t size, const char *value)
{
    snprintf (place, size, "%s", value);
}

/*  False: a line that makes no sense. */
static bool
take_line (lk_invitation_text *self, const lk_zpl_line *line)
{
    if (lk_slice_is (line->name, "cluster")) {
        keep (self->cluster, sizeof self->cluster, line->value);
        return line->value[0] == '\0'
               || lk_address_is_name (lk_slice_of (line->value));
    }
    if (lk_slice_is (line->name, "address")) {
        keep (self->address, sizeof self->address, line->value);
        return lk_hostport_is_valid (line->value);
    }
    if (lk_slice_is (line->name, "server-key")) {
        keep (self->call.server_key, sizeof self->call.server_key, line->value);
        return lk_curve_is_key (line->value);
    }
    if (lk_slice_is (line->name, "secret-key")) {
        return lk_curve_from_secret (&self->call.own, line->value);
    }
    return line->name.size == 0 || lk_slice_is (line->name, "invitation");
}

static lk_err
parse (lk_invitation_text *self, const char *path, const char *text,
       lk_problem *problem)
{
    lk_zpl zpl;
    lk_zpl_line line;
    *self = (lk_invitation_text) {.cluster = ""};
    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        if (line.wrong != NULL || !take_line (self, &line)) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'%s', line %u, is of no invitation", path,
                                   line.number);
        }
    }
    return self->address[0] != '\0' && self->call.server_key[0] != '\0'
                   && self->call.own.secret_key[0] != '\0'
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "'%s' is no invitation: `lockkeeper invite` "
                                 "on a host of the cluster makes one",
                                 path);
}

lk_err
lk_invitation_text_read (lk_invitation_text *self, const char *path,
                         lk_problem *problem)
{
    char text[SIZE_MAX_TEXT + 1];
    const bool is_input = strcmp (path, "-") == 0;
    const int fd = is_input ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd != -1 ? lk_file_read (fd, text, SIZE_MAX_TEXT) : -1;
    if (size < 0) {
        (void) lk_problem_errno (problem, "cannot read '%s'", path);
    }
    if (fd != -1 && !is_input) {
        close (fd);
    }
    if (size < 0) {
        return LK_SYSTEM;
    }
    text[size] = '\0';
    const lk_err error = parse (self, path, text, problem);
    explicit_bzero (text, sizeof text);
    return error;
}
