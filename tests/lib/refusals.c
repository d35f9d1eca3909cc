/*  refusals.c - what applications may not ask, and what they are told then
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/refusals.h"

#include "util/assert.h"
#include "wire/message_frame.h"

#include <string.h>

/*  -------------------------------------------------------- messages */

lk_message *
lk_refusal_message (const char *from, const char *command, uint64_t serial,
                    const char *body)
{
    lk_bytes frame = {0};
    lk_frame_header header;
    const char *why;
    char problem[128];
    size_t at = 0;
    const lk_frame_envelope envelope = {
        .to = "lock@.", .from = from, .command = command, .serial = serial};
    const size_t start = lk_frame_begin (&frame, &envelope);
    for (size_t i = 0; i < strlen (body); i++) {
        lk_bytes_add (&frame, body[i] == '\'' ? "\"" : body + i, 1);
    }
    LK_ASSERT (lk_frame_finish (&frame, start) == LK_OK);
    LK_ASSERT (lk_frame_next (frame.data, frame.size, &at, &header, &why)
               == LK_FRAME_MESSAGE);
    lk_message *message = lk_message_read (&header, problem, sizeof problem);
    LK_ASSERT (message != NULL);
    lk_bytes_clear (&frame);
    return message;
}

/*  -------------------------------------------------------- refusals */

#define LOCK(fields, text)                                                     \
    {                                                                          \
        "LOCK", "{" fields "}", text                                           \
    }
#define PLAIN(fields, text) LOCK ("'object': 'o', " fields, text)
#define SET(fields, text)                                                      \
    LOCK ("'locks': [{'object': 'o'}, {'object': 'p'}], " fields, text)
#define UNLOCK(fields, text)                                                   \
    {                                                                          \
        "UNLOCK", "{" fields "}", text                                         \
    }
#define FORCE(fields, text)                                                    \
    UNLOCK ("'object': 'o', 'force': true, " fields, text)
#define CHECK(fields, text)                                                    \
    {                                                                          \
        "LOCKCHECK", "{" fields "}", text                                      \
    }

#define FIELD(name, what) "the field '" name "' " what
#define NO_TEXT(name) FIELD (name, "is no text")
#define NO_NUMBER(name) FIELD (name, "is no whole number")
#define NO_RANGE(name) FIELD (name, "is out of range")
#define NO_FLAG(name) FIELD (name, "is neither true nor false")
#define NO_HEX(name) FIELD (name, "is not 16 hexadecimal digits")
#define NO_SET(name) FIELD (name, "is not for several locks at once")
#define CLAIM "'token': '00000000000000aa', 'key': '00000000000000bb'"
#define NO_CLAIM                                                               \
    FIELD ("locks", "has an item without a token and a key of 16 hexadecimal " \
                    "digits each")
#define LONG(name) FIELD (name, "is too long")
#define BOTH(name, other) FIELD (name, "is there, and so is '" other "'")
#define NO_NAME FIELD ("object", "is missing or empty")
#define NO_PAIRS                                                               \
    FIELD ("object_hex", "is not two hexadecimal digits for each byte")

#define X16 "xxxxxxxxxxxxxxxx"
#define X256 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16
#define X4096                                                                  \
    X256 X256 X256 X256 X256 X256 X256 X256 X256 X256 X256 X256 X256 X256 X256 \
        X256
#define ITEMS4 "{'object': 'a'}, {'object': 'b'}, {'object': 'c'}, {}, "
#define ITEMS32 ITEMS4 ITEMS4 ITEMS4 ITEMS4 ITEMS4 ITEMS4 ITEMS4 ITEMS4

const lk_refused_row lk_refusals[] = {
    /*  names */
    LOCK ("", NO_NAME),
    LOCK ("'object': ''", NO_NAME),
    LOCK ("'object': 1", NO_TEXT ("object")),
    LOCK ("'object': '" X4096 "x'", LONG ("object")),
    LOCK ("'object_hex': ''", FIELD ("object_hex", "is empty")),
    LOCK ("'object_hex': false", NO_TEXT ("object_hex")),
    LOCK ("'object_hex': '0'", NO_PAIRS),
    LOCK ("'object_hex': '0g'", NO_PAIRS),
    LOCK ("'object_hex': '" X4096 X4096 "x'", LONG ("object_hex")),
    PLAIN ("'object_hex': '00'", BOTH ("object_hex", "object")),
    PLAIN ("'zone': true", NO_TEXT ("zone")),
    PLAIN ("'zone': '" X256 "'", LONG ("zone")),
    PLAIN ("'context': []", NO_TEXT ("context")),
    PLAIN ("'context': '" X256 "'", LONG ("context")),

    /*  times and numbers */
    PLAIN ("'wait': '10'", NO_NUMBER ("wait")),
    PLAIN ("'wait': -2", NO_RANGE ("wait")),
    PLAIN ("'wait': 35184372088833", NO_RANGE ("wait")),
    PLAIN ("'duration': 1.5", NO_NUMBER ("duration")),
    PLAIN ("'duration': -1", NO_RANGE ("duration")),
    PLAIN ("'duration': 35184372088833", NO_RANGE ("duration")),
    PLAIN ("'pid': null", NO_NUMBER ("pid")),
    PLAIN ("'pid': -1", NO_RANGE ("pid")),
    PLAIN ("'pid': 4294967296", NO_RANGE ("pid")),
    PLAIN ("'linger': {}", NO_NUMBER ("linger")),
    PLAIN ("'linger': -1", NO_RANGE ("linger")),
    PLAIN ("'guarded': 1", NO_FLAG ("guarded")),
    PLAIN ("'heir': true", FIELD ("heir", "needs 'token', and one lock")),
    PLAIN ("'turn': true", NO_NUMBER ("turn")),
    PLAIN ("'turn': -1", NO_RANGE ("turn")),
    PLAIN ("'turn': 4294967296", NO_RANGE ("turn")),
    PLAIN ("'key': 7", NO_HEX ("key")),
    PLAIN ("'key': '0x7'", NO_HEX ("key")),

    /*  kinds of locks */
    PLAIN ("'type': 1", NO_TEXT ("type")),
    PLAIN ("'type': '" X256 "'", LONG ("type")),
    PLAIN ("'type': 'common'",
           FIELD ("type", "is none of 'exclusive', 'shared' and 'semaphore'")),
    PLAIN ("'policy': 0", NO_TEXT ("policy")),
    PLAIN ("'policy': 'firm'",
           FIELD ("policy", "is neither 'hard' nor 'soft'")),
    PLAIN ("'type': 'shared', 'policy': 'soft'",
           FIELD ("policy", "is 'soft', which only an exclusive lock can be")),
    PLAIN ("'quiet': 'long'", NO_NUMBER ("quiet")),
    PLAIN ("'policy': 'soft', 'quiet': -1", NO_RANGE ("quiet")),
    PLAIN ("'policy': 'soft', 'quiet': 86400001", NO_RANGE ("quiet")),
    PLAIN ("'quiet': 1", FIELD ("quiet", "needs the policy 'soft'")),
    PLAIN ("'policy': 'hard', 'quiet': 1",
           FIELD ("quiet", "needs the policy 'soft'")),
    PLAIN ("'type': 'semaphore', 'limit': '3'", NO_NUMBER ("limit")),
    PLAIN ("'type': 'semaphore', 'limit': -1", NO_RANGE ("limit")),
    PLAIN ("'type': 'semaphore', 'limit': 1000000001", NO_RANGE ("limit")),
    PLAIN ("'type': 'semaphore', 'bound': '3'", NO_NUMBER ("bound")),
    PLAIN ("'type': 'semaphore', 'bound': -1", NO_RANGE ("bound")),
    PLAIN ("'type': 'semaphore', 'bound': 1000000001", NO_RANGE ("bound")),
    PLAIN ("'limit': 3", FIELD ("limit", "needs the type 'semaphore'")),
    PLAIN ("'type': 'shared', 'bound': 3",
           FIELD ("bound", "needs the type 'semaphore'")),
    PLAIN ("'type': 'semaphore'",
           FIELD ("limit", "is missing, and so is 'bound'")),
    PLAIN ("'type': 'semaphore', 'limit': 0, 'bound': 0",
           FIELD ("limit", "is missing, and so is 'bound'")),
    PLAIN ("'lenient': 1", NO_FLAG ("lenient")),
    PLAIN ("'static': 'yes'", NO_FLAG ("static")),
    PLAIN ("'static': true, 'linger': 1",
           FIELD ("linger",
                  "makes no sense for a static lock, which stays anyway")),
    PLAIN ("'static': true, 'lenient': true, 'duration': 9",
           FIELD ("lenient", "is not for a static lock, whose holder may not "
                             "be there to be asked for it")),

    /*  changes of type */
    PLAIN ("'turn': 1, 'type': 'semaphore', 'limit': 2",
           FIELD ("type", "cannot be changed to 'semaphore'")),
    PLAIN ("'turn': 1, 'type': 'shared', 'key': '00000000000000aa'",
           FIELD ("key", "makes no sense with 'turn'")),
    PLAIN ("'token': '0000000000000000', 'lease_until': 9, "
           "'key': '00000000000000aa'",
           FIELD ("token", "is 0, which is none")),
    PLAIN ("'token': '00000000000000aa', 'key': '00000000000000aa'",
           FIELD ("lease_until", "is missing, and 'token' is there")),
    PLAIN ("'lease_until': 9", FIELD ("lease_until", "needs 'token'")),
    PLAIN ("'token': '00000000000000aa', 'lease_until': 9",
           FIELD ("token", "needs 'key'")),
    PLAIN ("'token': '00000000000000aa', 'lease_until': 9, 'turn': 1, "
           "'type': 'shared', 'key': '00000000000000aa'",
           FIELD ("key", "makes no sense with 'turn'")),
    PLAIN ("'token': '00000000000000aa', 'lease_until': 9, 'static': true, "
           "'key': '00000000000000aa'",
           FIELD ("token", "makes no sense for a static lock, which stays "
                           "anyway")),

    /*  sets */
    LOCK ("'locks': 'o'", FIELD ("locks", "is no list, or an empty one")),
    LOCK ("'locks': []", FIELD ("locks", "is no list, or an empty one")),
    LOCK ("'locks': [" ITEMS32 ITEMS32 ITEMS32 ITEMS32 "{}]",
          FIELD ("locks", "names more than 128 locks")),
    LOCK ("'locks': [{'object': 'o'}, 'p']",
          FIELD ("locks", "has an item that is no object")),
    LOCK ("'locks': [{'object': 'o'}, {}]", NO_NAME),
    LOCK ("'locks': [{'object_hex': '0'}]", NO_PAIRS),
    LOCK ("'locks': [{'object': 'o'}, {'object': 'p'}, {'object_hex': '6f'}]",
          FIELD ("locks", "names a lock twice")),
    LOCK ("'locks': [{'object': 'o'}], 'zone': 1", NO_TEXT ("zone")),
    SET ("'object': 'q'", BOTH ("object", "locks")),
    SET ("'object_hex': '00'", BOTH ("object_hex", "locks")),
    SET ("'turn': 1", NO_SET ("turn")),
    SET ("'key': '00000000000000aa'", NO_SET ("key")),
    LOCK ("'locks': [{'object': 'o', 'token': '00000000000000aa'}]", NO_CLAIM),
    LOCK ("'locks': [{'object': 'o', 'token': '0000000000000000', "
          "'key': '00000000000000aa'}]",
          NO_CLAIM),
    LOCK ("'locks': [{'object': 'o', " CLAIM "}, {'object': 'p'}], "
          "'lease_until': 1",
          FIELD ("locks", "has items with a token, and some without")),
    LOCK ("'locks': [{'object': 'o', " CLAIM "}, {'object': 'p', " CLAIM "}]",
          FIELD ("lease_until", "is missing, and 'token' is there")),
    SET ("'token': '00000000000000aa', 'lease_until': 1", NO_SET ("token")),
    SET ("'policy': 'soft', 'quiet': 1", NO_SET ("quiet")),
    SET ("'lenient': true", NO_SET ("lenient")),
    SET ("'static': true", NO_SET ("static")),
    SET ("'type': 'semaphore'",
         FIELD ("limit", "is missing, and so is 'bound'")),

    /*  UNLOCK */
    UNLOCK ("", NO_NAME),
    UNLOCK ("'object': 'o'",
            FIELD ("request", "is missing, and so are 'key' and 'force'")),
    UNLOCK ("'object': 'o', 'request': 0", NO_RANGE ("request")),
    UNLOCK ("'object': 'o', 'request': '1'", NO_NUMBER ("request")),
    UNLOCK ("'object': 'o', 'key': '0xzz'", NO_HEX ("key")),
    UNLOCK ("'key': '00000000000000aa'", NO_NAME),
    UNLOCK ("'object': 'o', 'request': 1, 'wait': -2", NO_RANGE ("wait")),
    UNLOCK ("'force': true", NO_NAME),
    UNLOCK ("'object': 'o', 'force': 1", NO_FLAG ("force")),
    UNLOCK ("'object': 'o', 'force': true, 'now': 1", NO_FLAG ("now")),
    UNLOCK ("'object': 'o', 'request': 1, 'now': true",
            FIELD ("now", "needs 'key' or 'force'")),
    FORCE ("'key': '00000000000000aa'", BOTH ("key", "force")),
    FORCE ("'request': 1", BOTH ("request", "force")),
    FORCE ("'token': 'aa'", NO_HEX ("token")),
    FORCE ("'reason': 1", NO_TEXT ("reason")),
    FORCE ("'reason': '" X256 "'", LONG ("reason")),
    UNLOCK ("'object': 'o', 'request': 1, 'reason': 'r'",
            FIELD ("reason", "needs 'force'")),
    UNLOCK ("'object': 'o', 'request': 1, 'token': '00000000000000aa'",
            FIELD ("token", "needs 'force'")),

    /*  LOCKCHECK */
    CHECK ("'token': '00000000000000aa'", NO_NAME),
    CHECK ("'object': 'o'", FIELD ("token", "is missing")),
    CHECK ("'object': 'o', 'token': 7", NO_HEX ("token")),
    CHECK ("'object': 'o', 'token': '00000000000000aa', 'wait': -2",
           NO_RANGE ("wait")),
};

const size_t lk_refusal_count = sizeof lk_refusals / sizeof lk_refusals[0];
