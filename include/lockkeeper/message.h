/*  message.h - a message of the bus, as services see it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A message goes from `service@host` to `service@host`, says one command,
 *  and carries a JSON object of named fields. lockkeeper-protocol(7) lists
 *  the commands. Nothing here does I/O.
 */

#ifndef LOCKKEEPER_MESSAGE_H
#define LOCKKEEPER_MESSAGE_H

#include <lockkeeper/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LK_SERVICE_LEN_MAX 63          /* bytes of a service's name */
#define LK_HOST_LEN_MAX 63             /* bytes of a host's name */
#define LK_ADDRESS_LEN_MAX 127         /* bytes of service@host */
#define LK_COMMAND_LEN_MAX 31          /* bytes of a command */
#define LK_BODY_SIZE_MAX (1024 * 1024) /* bytes of a body as JSON text */

typedef struct lk_message lk_message;

/*  A new message for `to` ("lock@h2", "lock@.", "*@*"), with an empty body.
 *  Names and commands are of A-Z a-z 0-9 . _ - and within the limits above;
 *  what is not is a caller's mistake and asserts, so check what comes from
 *  others. Never NULL; the caller owns it. */
lk_message *lk_message_new (const char *to, const char *command);

/*  An answer to `request`, which was received: its sender as receiver, its
 *  serial. The caller owns it. */
lk_message *lk_message_reply (const lk_message *request, const char *command);

/*  Frees the message and sets the pointer to NULL; NULL is fine. */
void lk_message_destroy (lk_message **self_p);

/*  The envelope. The strings belong to the message. `from` is empty in a
 *  message that was not sent yet. */
const char *lk_message_to (const lk_message *self);
const char *lk_message_from (const lk_message *self);
const char *lk_message_command (const lk_message *self);
bool lk_message_is (const lk_message *self, const char *command);

/*  A number that the sender chooses and that answers repeat; 0 if none. */
uint64_t lk_message_serial (const lk_message *self);
void lk_message_set_serial (lk_message *self, uint64_t serial);

/*  How long the router may keep it for a receiver that is not there, seconds,
 *  up to 255; 0, as in a new message: not at all. Then, or when that is over,
 *  TRANSMISSIONREPORT with its serial comes back. */
unsigned lk_message_ttl (const lk_message *self);
void lk_message_set_ttl (lk_message *self, unsigned seconds);

/*  The fields of the body. A field that is absent or of another type reads
 *  as NULL, `otherwise` or false. Texts belong to the message, until their
 *  field is set again; a text has no NUL inside and is valid UTF-8. */
const char *lk_message_text (const lk_message *self, const char *name);
int64_t lk_message_number (const lk_message *self, const char *name,
                           int64_t otherwise);
bool lk_message_flag (const lk_message *self, const char *name);

/*  A text in a list of texts: NULL behind its end or if it is none. */
const char *lk_message_item (const lk_message *self, const char *name,
                             size_t position);

/*  Sets a field in place of one of that name; add_item adds to a list of texts,
 *  which it begins if need be. Names and texts are UTF-8 and copied. A text
 *  that is NULL or no UTF-8 unsets the field, or is not added. */
void lk_message_set_text (lk_message *self, const char *name, const char *text);
void lk_message_set_number (lk_message *self, const char *name, int64_t number);
void lk_message_set_flag (lk_message *self, const char *name, bool flag);
void lk_message_add_item (lk_message *self, const char *name, const char *text);

/*  64-bit keys and tokens travel as 16 hexadecimal digits, since many JSON
 *  readers know only doubles. Returns false if absent or not such a text. */
bool lk_message_hex (const lk_message *self, const char *name, uint64_t *value);
void lk_message_set_hex (lk_message *self, const char *name, uint64_t value);

/*  The body as JSON text, for printing; belongs to the message, valid until
 *  it is changed or destroyed. */
const char *lk_message_body (const lk_message *self);

#ifdef __cplusplus
}
#endif

#endif
