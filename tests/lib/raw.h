/*  raw.h - a session on the wire by hand, as lockkeeper-protocol(7) has it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For benchmarks: libzmq's socket, a header and a body by snprintf, and the
 *  cheapest reading that is honest. Of lockkeeper's own code it has the
 *  reader of headers only. What fails ends the program.
 */

#ifndef LK_RAW_H
#define LK_RAW_H

#include "wire/frame.h"

typedef struct lk_raw lk_raw;

/*  Registers under the name "PREFIX-pid-number". Nothing of it may be used
 *  after a fork. */
lk_raw *lk_raw_open (const char *endpoint, const char *prefix);
void lk_raw_close (lk_raw **self_p);

/*  A number that it has not had yet: for the higher bits of a serial, as the
 *  LK_RAW_BITS lower ones are the caller's. */
#define LK_RAW_BITS 16
uint64_t lk_raw_number (lk_raw *self);

/*  Sends a message, its body made as by printf. */
void lk_raw_say (lk_raw *self, const char *to, const char *command,
                 uint64_t serial, const char *format, ...)
    __attribute__ ((format (printf, 5, 6)));

/*  The next message, borrowed until the next call. Takes what is there; if
 *  nothing is, waits so long. */
const lk_frame_header *lk_raw_hear (lk_raw *self, int wait_ms);

/*  That field of a body, if its value is a text without escapes or a number;
 *  for a list what is between its brackets. Empty if there is none. */
lk_slice lk_raw_field (const lk_frame_header *message, const char *name);

/*  A field of the answer to a question without a body, as a text of NUL at
 *  its end. */
void lk_raw_ask (lk_raw *self, const char *to, const char *command,
                 const char *name, char *text, size_t size);

/*  Asks the lock service for something and waits until it is done; no answer,
 *  or an error, is a failure. Returns the serial; the next one is free. */
uint64_t lk_raw_demand (lk_raw *self, const char *command, const char *format,
                        ...) __attribute__ ((format (printf, 3, 4)));

_Noreturn void lk_raw_fail (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

#endif
