/*  whole.h - whether all of a frame can be read
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_WHOLE_H
#define LK_WHOLE_H

#include "wire/frame.h"

/*  Else *problem says why not. */
static inline bool
lk_frame_is_whole (const void *frame, size_t size, const char **problem)
{
    lk_frame_header header;
    lk_frame_result result;
    size_t at = 0;
    do {
        result = lk_frame_next (frame, size, &at, &header, problem);
    } while (result == LK_FRAME_MESSAGE);
    return result == LK_FRAME_END;
}

#endif
