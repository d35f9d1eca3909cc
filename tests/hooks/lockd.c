/*  lockd.c - LOCKCORRUPT for a lock service that only tests run
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The linker puts this between shell.c and requests.c (--wrap, see the
 *  Makefile) of a second lockkeeper-lockd, in build/tests/hooks; nothing of it
 *  is in the one that is installed.
 *
 *      LOCKCORRUPT {kind, home, nth} -> LOCKCORRUPT {done}
 */

#include "in.h"
#include "out.h"

#include "lib/corrupt.h"
#include "wire/message_frame.h"

bool __real_lk_lockd_from_app (lk_lockd *self, const lk_message *message,
                               bool local, lk_input *input);
bool __wrap_lk_lockd_from_app (lk_lockd *self, const lk_message *message,
                               bool local, lk_input *input);

static void
corrupt (lk_lockd *self, const lk_message *message)
{
    const char *word = lk_message_text (message, "kind");
    int64_t home = lk_message_number (message, "home", 0);
    int64_t nth = lk_message_number (message, "nth", 0);
    lk_corrupt_kind kind = lk_corrupt_find (word ? word : "");
    bool done =
        kind != LK_CORRUPT_COUNT
        && lk_corrupt (self->node, kind, (uint8_t) home, (uint64_t) nth);
    lk_message *answer = lk_message_reply (message, "LOCKCORRUPT");
    lk_message_set_flag (answer, "done", done);
    (void) lk_lockd_send (self, answer);
}

bool
__wrap_lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local,
                          lk_input *input)
{
    if (!lk_message_is (message, "LOCKCORRUPT")) {
        return __real_lk_lockd_from_app (self, message, local, input);
    }
    corrupt (self, message);
    input->asks = false;
    input->text = NULL;
    return false;
}
