/*  frame.c - fuzz target: any bytes as a frame
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is read lies within the input, and written anew it is the same.
 */

#include "wire/frame.h"
#include "util/assert.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_inside (lk_slice slice, lk_slice whole)
{
    LK_ASSERT (slice.data >= whole.data);
    LK_ASSERT (slice.size <= whole.size);
    LK_ASSERT ((size_t) (slice.data - whole.data) <= whole.size - slice.size);
}

static void
check_inside_all (const lk_frame_header *header)
{
    const lk_slice parts[] = {header->to,
                              header->to_parts.service,
                              header->to_parts.host,
                              header->from,
                              header->from_parts.service,
                              header->from_parts.host,
                              header->body,
                              header->command};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        check_inside (parts[i], header->whole);
    }
}

static void
check_writing (const lk_frame_header *header)
{
    char to[LK_ADDRESS_LEN_MAX + 1], from[LK_ADDRESS_LEN_MAX + 1];
    char command[LK_COMMAND_LEN_MAX + 1];
    lk_slice_keep (header->to, to, sizeof to);
    lk_slice_keep (header->from, from, sizeof from);
    lk_slice_keep (header->command, command, sizeof command);
    const lk_frame_envelope envelope = {to,
                                        from,
                                        command,
                                        header->serial,
                                        header->ttl_s,
                                        header->crossed,
                                        header->privileged,
                                        header->body_kind == LK_BODY_PACKED};
    lk_bytes out = {0};
    const size_t start = lk_frame_begin (&out, &envelope);
    lk_bytes_add (&out, header->body.data, header->body.size);
    const lk_err error = lk_frame_finish (&out, start);
    LK_ASSERT (error == LK_OK);
    LK_ASSERT (lk_slice_equal (header->whole, (lk_slice) {out.data, out.size}));
    lk_bytes_clear (&out);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    lk_frame_result result;
    while ((result = lk_frame_next (data, size, &at, &header, &problem))
           == LK_FRAME_MESSAGE) {
        LK_ASSERT (at <= size);
        check_inside (header.whole, (lk_slice) {(const char *) data, size});
        check_inside_all (&header);
        check_writing (&header);
    }
    LK_ASSERT ((result == LK_FRAME_BROKEN) == (problem != NULL));
    return 0;
}
