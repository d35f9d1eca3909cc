/*  message.c - fuzz target: any bytes as messages of the bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is read can be asked for any field, written, and read again. Bytes
 *  are frames; if they begin with a brace they are a body alone.
 */

#include "util/assert.h"
#include "wire/message_frame.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static lk_message *
read_one (const void *data, size_t size, size_t *at)
{
    lk_frame_header header;
    const char *why;
    char problem[128] = "";
    if (lk_frame_next (data, size, at, &header, &why) != LK_FRAME_MESSAGE) {
        return NULL;
    }
    lk_message *message = lk_message_read (&header, problem, sizeof problem);
    LK_ASSERT (!message == (problem[0] != '\0'));
    return message;
}

static void
ask (const lk_message *message)
{
    static const char *const names[] = {"a", "b", "service", "subscribe", ""};
    uint64_t hex;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = lk_message_text (message, names[i]);
        LK_ASSERT (!text || strlen (text) < LK_BODY_SIZE_MAX);
        (void) lk_message_number (message, names[i], 0);
        (void) lk_message_flag (message, names[i]);
        (void) lk_message_hex (message, names[i], &hex);
        (void) lk_message_item (message, names[i], 0);
        lk_message *row = lk_message_row (message, names[i], 0);
        lk_message_destroy (&row);
    }
}

static void
check_again (const lk_message *message)
{
    lk_bytes frame = {0};
    size_t at = 0;
    if (lk_message_write (message, &frame) == LK_OK) {
        lk_message *again = read_one (frame.data, frame.size, &at);
        LK_ASSERT (again && at == frame.size);
        LK_ASSERT (strcmp (lk_message_body (message), lk_message_body (again))
                   == 0);
        LK_ASSERT (lk_message_serial (message) == lk_message_serial (again));
        LK_ASSERT (lk_message_is (message, lk_message_command (again)));
        lk_message_destroy (&again);
    }
    lk_bytes_clear (&frame);
}

static void
read_frames (const uint8_t *data, size_t size)
{
    size_t at = 0;
    lk_message *message;
    while ((message = read_one (data, size, &at)) != NULL) {
        ask (message);
        check_again (message);
        lk_message_destroy (&message);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    const lk_frame_envelope envelope = {
        .to = "a@h1", .from = "b@h2", .command = "HELLO", .serial = 1};
    lk_bytes frame = {0};
    if (size == 0 || data[0] != '{') {
        read_frames (data, size);
        return 0;
    }
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, data, size);
    if (lk_frame_finish (&frame, start) == LK_OK) {
        read_frames ((const uint8_t *) frame.data, frame.size);
    }
    lk_bytes_clear (&frame);
    return 0;
}
