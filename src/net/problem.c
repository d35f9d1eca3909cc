/*  problem.c - see problem.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/problem.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

lk_err
lk_problem_set (lk_problem *self, lk_err error, const char *format, ...)
{
    if (self) {
        va_list arguments;
        va_start (arguments, format);
        self->number = 0;
        vsnprintf (self->text, sizeof self->text, format, arguments);
        va_end (arguments);
    }
    return error;
}

static const char *
advice (int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return "; make room there";
    case EROFS:
        return "; mount it for writing, or take another place";
    case EIO:
        return "; the disk may be broken, the kernel's log tells more";
    case EMFILE:
        return "; allow this process more of them (LimitNOFILE, ulimit -n)";
    case ENFILE:
        return "; allow more of them (sysctl fs.file-max)";
    default:
        return "";
    }
}

/*  The system's texts begin with a capital letter, which ours do not. */
void
lk_problem_reason (int number, char *text, size_t size)
{
    const char *reason = strerror (number);
    const bool is_word = isupper ((unsigned char) reason[0])
                         && islower ((unsigned char) reason[1]);
    const int used =
        snprintf (text, size, "%c%s%s",
                  is_word ? tolower ((unsigned char) reason[0]) : reason[0],
                  reason + 1, advice (number));

    if ((number == EACCES || number == EPERM) && (size_t) used < size) {
        snprintf (text + used, size - (size_t) used, " to user %u",
                  (unsigned) geteuid ());
    }
}

lk_err
lk_problem_errno (lk_problem *self, const char *format, ...)
{
    int number = errno;

    if (self) {
        va_list arguments;
        va_start (arguments, format);
        vsnprintf (self->text, sizeof self->text, format, arguments);
        va_end (arguments);
        const size_t size = strlen (self->text);
        snprintf (self->text + size, sizeof self->text - size, ": ");
        lk_problem_reason (number, self->text + strlen (self->text),
                           sizeof self->text - strlen (self->text));
        self->number = number;
    }
    errno = number;
    return LK_SYSTEM;
}
