/*  zmtp.c - fuzz target: any bytes from the other end of a connection
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is read lies within what came, and is the same however that was cut
 *  into pieces; after an error there is nothing any more.
 */

#include "net/zmtp.h"
#include "util/assert.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE_MAX_HERE 30000 /* what a socket takes at once */

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/*  All messages in a row, each behind its size; X for an error. */
static lk_io
note_all (lk_zmtp *it, lk_bytes *seen)
{
    lk_slice message;
    lk_io io;

    while ((io = lk_zmtp_next (it, &message)) == LK_IO_DONE
           || io == LK_IO_BROKEN) {
        if (io == LK_IO_BROKEN) {
            lk_bytes_add (seen, "B", 1);
            continue;
        }
        LK_ASSERT (message.data >= it->in.data);
        LK_ASSERT (message.data + message.size <= it->in.data + it->at);
        LK_ASSERT (it->at <= it->in.size);
        lk_bytes_put32 (lk_bytes_grow (seen, 4), (uint32_t) message.size);
        lk_bytes_add (seen, message.data, message.size);
    }
    LK_ASSERT (lk_zmtp_next (it, &message) == io);
    return io;
}

static void
read_in_pieces (const uint8_t *data, size_t size, size_t piece, lk_bytes *seen)
{
    int pair[2];
    lk_zmtp it = {.state = LK_ZMTP_NONE};
    lk_io io = LK_IO_WAIT;

    int rc = socketpair (AF_UNIX, SOCK_STREAM, 0, pair);
    LK_ASSERT (rc == 0);
    lk_zmtp_begin (&it, pair[0], "DEALER");
    for (size_t at = 0; at < size && io == LK_IO_WAIT; at += piece) {
        const size_t now = size - at < piece ? size - at : piece;
        LK_ASSERT (write (pair[1], data + at, now) == (ssize_t) now);
        LK_ASSERT (lk_zmtp_read (&it) != LK_IO_ERROR);
        io = note_all (&it, seen);
    }
    if (io == LK_IO_ERROR) {
        lk_bytes_add (seen, "X", 1);
    }
    lk_zmtp_clear (&it);
    close (pair[1]);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    lk_bytes whole = {0}, pieces = {0};

    if (size == 0 || size > SIZE_MAX_HERE) {
        return 0;
    }
    read_in_pieces (data, size, size, &whole);
    read_in_pieces (data, size, 1 + data[size - 1] % 31, &pieces);
    LK_ASSERT (whole.size == pieces.size);
    LK_ASSERT (whole.size == 0
               || memcmp (whole.data, pieces.data, whole.size) == 0);
    lk_bytes_clear (&whole);
    lk_bytes_clear (&pieces);
    return 0;
}
