/*  lock_codec.c - fuzz target: any bytes as a message between lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is decoded can be encoded, and that says the same when it is decoded
 *  again. Bytes are frames; if they begin with a brace they are a body alone,
 *  whose length no header has to fit.
 */

#include "lib/decode.h"
#include "util/assert.h"
#include "wire/message_frame.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/*  The message as its sender would send it. */
static lk_message *
encode (const lk_lock_message *message, const lk_hostmap *hostmap,
        const char *from)
{
    lk_message *bus = lk_lock_encode (message, hostmap, message->from);
    lk_message_set_from (bus, from);
    return bus;
}

static void
check_again (const lk_lock_message *message, lk_hostmap *hostmap, lk_host self,
             const char *from)
{
    lk_lock_message copy, again;
    lk_message *once = encode (message, hostmap, from);
    const lk_err error = lk_lock_decode (once, hostmap, self, &again);
    LK_ASSERT (error == LK_OK);
    lk_lock_message_copy (&copy, &again);
    lk_lock_message_clear (&again);
    lk_message *twice = encode (&copy, hostmap, from);
    LK_ASSERT (lk_message_is (once, lk_message_command (twice)));
    LK_ASSERT (strcmp (lk_message_body (once), lk_message_body (twice)) == 0);
    lk_message_destroy (&once);
    lk_message_destroy (&twice);
    lk_lock_message_clear (&copy);
}

static void
decode (const lk_message *bus)
{
    lk_hostmap hostmap;
    lk_lock_message message;
    lk_hostmap_init (&hostmap);
    const lk_host self =
        lk_hostmap_intern (&hostmap, "h1", 0x1f0e6a5b9c3d2871u);
    if (lk_lock_decode (bus, &hostmap, self, &message) == LK_OK) {
        check_again (&message, &hostmap, self, lk_message_from (bus));
        lk_lock_message_clear (&message);
    }
}

static void
decode_frames (const uint8_t *data, size_t size)
{
    lk_frame_header header;
    const char *why;
    char problem[128];
    size_t at = 0;
    while (lk_frame_next (data, size, &at, &header, &why) == LK_FRAME_MESSAGE) {
        lk_message *bus = lk_message_read (&header, problem, sizeof problem);
        if (bus) {
            decode (bus);
            lk_message_destroy (&bus);
        }
    }
}

/*  The body under each command that there is: its "stage" fits few. */
static void
decode_body (const uint8_t *data, size_t size)
{
#define COMMAND(kind, command, name) command,
    static const char *const commands[] = {LK_LOCK_KINDS (COMMAND) "DROPTICKET",
                                           "ACTIVATELOCK"};
#undef COMMAND
    lk_bytes frame = {0};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const lk_frame_envelope envelope = {
            .to = "lock@h1", .from = "lock@h2", .command = commands[i]};
        if (i > 0 && strcmp (commands[i], commands[i - 1]) == 0) {
            continue;
        }
        lk_bytes_cut (&frame, 0);
        const size_t start = lk_frame_begin (&frame, &envelope);
        lk_bytes_add (&frame, data, size);
        if (lk_frame_finish (&frame, start) == LK_OK) {
            decode_frames ((const uint8_t *) frame.data, frame.size);
        }
    }
    lk_bytes_clear (&frame);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == '{') {
        decode_body (data, size);
    } else {
        decode_frames (data, size);
    }
    return 0;
}
