/*  frame.c - the binary header of a message, read in place
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/frame.h"
#include "util/assert.h"

#include <string.h>

/*  Where things are in the header. */
enum {
    AT_TAG = 0,
    AT_VERSION = 2,
    AT_FLAGS = 3,
    AT_SIZE = 4,
    AT_SERIAL = 8,
    AT_TO_LEN = 16,
    AT_FROM_LEN = 17,
    AT_COMMAND_LEN = 18,
    AT_TTL = 19
};

enum { VERSION = 1, FLAG_BODY = 3, FLAG_CROSSED = 4, FLAG_ADMIN = 8 };

/*  -------------------------------------------------------- reading */

static uint8_t
byte_at (const char *message, size_t at)
{
    return (uint8_t) message[at];
}

/*  Takes the fixed part: NULL, or what is wrong with it. */
static const char *
read_fixed (const char *message, size_t left, lk_frame_header *header)
{
    if (left < LK_FRAME_HEADER_SIZE) {
        return "shorter than a header";
    }
    if (memcmp (message + AT_TAG, "LK", 2) != 0) {
        return "no tag";
    }
    if (byte_at (message, AT_VERSION) != VERSION) {
        return "another version of the protocol";
    }
    header->serial = lk_bytes_get64 (message + AT_SERIAL);
    const uint8_t flags = byte_at (message, AT_FLAGS);
    if (flags & ~(FLAG_BODY | FLAG_CROSSED | FLAG_ADMIN)) {
        return "reserved bits are set";
    }
    if ((flags & FLAG_BODY) > LK_BODY_PACKED) {
        return "a body of an unknown kind";
    }
    header->body_kind = flags & FLAG_BODY;
    header->ttl_s = byte_at (message, AT_TTL);
    if (header->ttl_s > 0 && header->body_kind == LK_BODY_PACKED) {
        return "what lock services say to each other is never cached";
    }
    header->crossed = flags & FLAG_CROSSED;
    header->privileged = flags & FLAG_ADMIN;
    header->whole = (lk_slice) {message, lk_bytes_get32 (message + AT_SIZE)};
    return header->whole.size > left ? "cut short" : NULL;
}

static lk_slice
take (const char **place, size_t size)
{
    const lk_slice slice = {*place, size};
    *place += size;
    return slice;
}

static size_t
body_size_max (lk_slice command, bool packed)
{
    return LK_BODY_SIZE_MAX
           + (packed && lk_slice_is (command, LK_RELAY) ? LK_RELAY_EXTRA_MAX
                                                        : 0);
}

/*  Takes texts and body out of `whole`. */
static const char *
read_parts (lk_frame_header *header)
{
    const char *message = header->whole.data;
    const size_t to_len = byte_at (message, AT_TO_LEN);
    const size_t from_len = byte_at (message, AT_FROM_LEN);
    const size_t command_len = byte_at (message, AT_COMMAND_LEN);
    const size_t texts = LK_FRAME_HEADER_SIZE + to_len + from_len + command_len;
    if (header->whole.size < texts) {
        return "its parts are longer than the whole";
    }
    const char *place = message + LK_FRAME_HEADER_SIZE;
    header->to = take (&place, to_len);
    header->from = take (&place, from_len);
    header->command = take (&place, command_len);
    header->body = take (&place, header->whole.size - texts);
    if (header->body.size > body_size_max (
            header->command, header->body_kind == LK_BODY_PACKED)) {
        return "the body is over its limit";
    }
    if ((header->body.size == 0) != (header->body_kind == LK_BODY_NONE)) {
        return "the body is not of its kind";
    }
    return NULL;
}

static const char *
check_texts (lk_frame_header *header)
{
    if (!lk_address_split (header->to, &header->to_parts)) {
        return "the receiver is no address";
    }
    if (!lk_address_split_sender (header->from, &header->from_parts)) {
        return "the sender is no address";
    }
    return lk_address_is_command (header->command) ? NULL
                                                   : "the command is no name";
}

static const char *
read_message (const char *message, size_t left, lk_frame_header *header)
{
    const char *problem = read_fixed (message, left, header);
    if (!problem) {
        problem = read_parts (header);
    }
    return problem ? problem : check_texts (header);
}

lk_frame_result
lk_frame_next (const void *frame, size_t size, size_t *at,
               lk_frame_header *header, const char **problem)
{
    *header = (lk_frame_header) {0};
    *problem = NULL;
    LK_ASSERT (*at <= size);
    if (*at == size && size) {
        return LK_FRAME_END;
    }
    if (!size || size > LK_FRAME_SIZE_MAX) {
        *problem = size ? "the frame is over its limit" : "an empty frame";
        return LK_FRAME_BROKEN;
    }
    *problem = read_message ((const char *) frame + *at, size - *at, header);
    if (*problem) {
        *header = (lk_frame_header) {.serial = header->serial};
        return LK_FRAME_BROKEN;
    }
    *at += header->whole.size;
    return LK_FRAME_MESSAGE;
}

void
lk_frame_set_crossed (void *frame, lk_frame_header *header)
{
    char *message =
        (char *) frame + (header->whole.data - (const char *) frame);
    message[AT_FLAGS] = (char) (byte_at (message, AT_FLAGS) | FLAG_CROSSED);
    header->crossed = true;
}

void
lk_frame_set_privileged (void *frame, lk_frame_header *header, bool privileged)
{
    char *message =
        (char *) frame + (header->whole.data - (const char *) frame);
    const uint8_t others = byte_at (message, AT_FLAGS) & ~FLAG_ADMIN;
    message[AT_FLAGS] = (char) (others | (privileged ? FLAG_ADMIN : 0));
    header->privileged = privileged;
}

void
lk_frame_set_ttl (void *frame, lk_frame_header *header, uint8_t ttl_s)
{
    char *message =
        (char *) frame + (header->whole.data - (const char *) frame);
    message[AT_TTL] = (char) ttl_s;
    header->ttl_s = ttl_s;
}

lk_slice
lk_frame_request (const lk_frame_header *header)
{
    LK_ASSERT (header->ttl_s == 0);
    const char *start = header->whole.data + AT_SERIAL;
    const char *end = header->command.data + header->command.size;
    return (lk_slice) {start, (size_t) (end - start)};
}

/*  -------------------------------------------------------- writing */

size_t
lk_frame_begin (lk_bytes *out, const lk_frame_envelope *envelope)
{
    lk_address parts;
    LK_ASSERT (lk_address_split (lk_slice_of (envelope->to), &parts));
    LK_ASSERT (lk_address_split_sender (lk_slice_of (envelope->from), &parts));
    LK_ASSERT (lk_address_is_command (lk_slice_of (envelope->command)));
    return lk_frame_begin_checked (out, envelope);
}

size_t
lk_frame_begin_checked (lk_bytes *out, const lk_frame_envelope *envelope)
{
    const lk_slice to = lk_slice_of (envelope->to);
    const lk_slice from = lk_slice_of (envelope->from);
    const lk_slice command = lk_slice_of (envelope->command);
    const size_t start = out->size;
    char *header = lk_bytes_grow (out, LK_FRAME_HEADER_SIZE);
    memset (header, 0, LK_FRAME_HEADER_SIZE);
    memcpy (header + AT_TAG, "LK", 2);
    header[AT_VERSION] = VERSION;
    header[AT_FLAGS] =
        (char) ((envelope->crossed ? FLAG_CROSSED : 0)
                | (envelope->privileged ? FLAG_ADMIN : 0)
                | (envelope->packed ? LK_BODY_PACKED : LK_BODY_JSON));
    lk_bytes_put64 (header + AT_SERIAL, envelope->serial);
    header[AT_TO_LEN] = (char) to.size;
    header[AT_FROM_LEN] = (char) from.size;
    header[AT_COMMAND_LEN] = (char) command.size;
    header[AT_TTL] = (char) envelope->ttl_s;
    lk_bytes_add (out, to.data, to.size);
    lk_bytes_add (out, from.data, from.size);
    lk_bytes_add (out, command.data, command.size);
    return start;
}

static lk_slice
command_of (const char *header)
{
    return (lk_slice) {header + LK_FRAME_HEADER_SIZE
                           + byte_at (header, AT_TO_LEN)
                           + byte_at (header, AT_FROM_LEN),
                       byte_at (header, AT_COMMAND_LEN)};
}

static size_t
texts_size (const char *header)
{
    return LK_FRAME_HEADER_SIZE + byte_at (header, AT_TO_LEN)
           + byte_at (header, AT_FROM_LEN) + byte_at (header, AT_COMMAND_LEN);
}

lk_err
lk_frame_finish (lk_bytes *out, size_t start)
{
    char *header = out->data + start;
    const size_t size = out->size - start;
    const size_t body_size = size - texts_size (header);
    const bool packed =
        (byte_at (header, AT_FLAGS) & FLAG_BODY) == LK_BODY_PACKED;
    if (body_size > body_size_max (command_of (header), packed)
        || out->size > LK_FRAME_SIZE_MAX) {
        lk_bytes_cut (out, start);
        return LK_OVERLOADED;
    }
    if (!body_size) {
        header[AT_FLAGS] = (char) (byte_at (header, AT_FLAGS) & ~FLAG_BODY);
    }
    lk_bytes_put32 (header + AT_SIZE, (uint32_t) size);
    return LK_OK;
}
