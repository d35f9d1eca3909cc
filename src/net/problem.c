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

/*  The system's texts begin with a capital letter, which ours do not. */
static void
add_reason (char *text, size_t room, int number)
{
    const char *reason = strerror (number);
    bool is_word = isupper ((unsigned char) reason[0])
                   && islower ((unsigned char) reason[1]);

    snprintf (text, room, ": %c%s",
              is_word ? tolower ((unsigned char) reason[0]) : reason[0],
              reason + 1);
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
        size_t size = strlen (self->text);
        add_reason (self->text + size, sizeof self->text - size, number);
        self->number = number;
    }
    errno = number;
    return LK_SYSTEM;
}
