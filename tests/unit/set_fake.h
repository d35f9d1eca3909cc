/*  set_fake.h - a proxy that is asked for sets, among homes that the test plays
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Application 11 asks for sets (proxied.h), of names that are one letter
 *  each; the test is all homes. For one test program each.
 */

#ifndef SET_FAKE_H
#define SET_FAKE_H

#include "proxied.h"

#include <stdio.h>

/*  -------------------------------------------------------- names */

static char letters[26]; /* that each name is a pointer into */

FAKE lk_name
name_of (char letter)
{
    letters[letter - 'a'] = letter;
    return (lk_name) {&letters[letter - 'a'], 1};
}

FAKE int
home_of (char letter)
{
    return lk_home_of (&decree, name_of (letter));
}

/*  Letters in their order, the home of each as `homes` says: "00" are the
 *  first two of the home at place 0, "01" one of each, ... */
FAKE const char *
pick (const char *homes)
{
    static char picked[27];
    size_t count = 0;
    for (char letter = 'a'; letter <= 'z' && homes[count]; letter++) {
        if (home_of (letter) == homes[count] - '0') {
            picked[count++] = letter;
        }
    }
    ck_assert (!homes[count]);
    picked[count] = '\0';
    return picked;
}

/*  -------------------------------------------------------- asking */

FAKE void
ask_set (uint64_t serial, const char *names, int64_t wait, int64_t duration)
{
    lk_name rest[26];
    const size_t count = strlen (names) - 1;
    for (size_t i = 0; i < count; i++) {
        rest[i] = name_of (names[i + 1]);
    }
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = serial,
                                        .object = name_of (names[0]),
                                        .rest = rest,
                                        .rest_count = count,
                                        .owner = {"app@h0", 6},
                                        .wait_ms = wait,
                                        .duration_ms = duration}};
    step (&event);
}

/*  What the proxy sends in the last step, LOCKs or UNLOCKs: "abc>1 d>2". */
FAKE const char *
sent_names (lk_lock_kind kind)
{
    static char text[512];
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type != LK_DO_SEND || effect->message->kind != kind) {
            continue;
        }
        const lk_msg_request *request = &effect->message->as.request;
        size +=
            (size_t) snprintf (text + size, sizeof text - size, "%s%c",
                               size ? " " : "", *request->ticket.object.data);
        for (size_t k = 0; k < request->rest_count; k++) {
            size += (size_t) snprintf (text + size, sizeof text - size, "%c",
                                       *request->rest[k].object.data);
        }
        const lk_host to = effect->message->destination != LK_NOBODY
                               ? effect->message->destination
                               : effect->message->to;
        size += (size_t) snprintf (text + size, sizeof text - size, ">%d", to);
    }
    return text;
}

/*  As sent_names says it: each letter of `names` in a message of its own to
 *  its home. */
FAKE const char *
each (const char *names)
{
    static char text[512];
    size_t size = 0;
    for (; *names; names++) {
        size += (size_t) snprintf (text + size, sizeof text - size, "%s%c>%d",
                                   size ? " " : "", *names,
                                   decree.leader[home_of (*names)]);
    }
    return text;
}

FAKE lk_lock_message
reply_for (lk_lock_kind kind, uint64_t serial, char letter)
{
    lk_lock_message message = reply_of (kind, serial);
    message.as.reply.object = name_of (letter);
    message.as.reply.token = TOKEN + serial;
    message.as.reply.key = KEY + serial;
    return message;
}

FAKE const lk_answer *
got (uint64_t serial, char letter)
{
    lk_lock_message message = reply_for (LK_MSG_LOCKED, serial, letter);
    give (decree.leader[0], &message);
    return told ();
}

FAKE const lk_answer *
over (uint64_t serial, char letter, lk_err error)
{
    lk_lock_message message = reply_for (LK_MSG_UNLOCKED, serial, letter);
    message.as.reply.error = (int) error;
    give (decree.leader[0], &message);
    return told ();
}

FAKE const lk_answer *
refused (uint64_t serial, char letter, lk_err error)
{
    lk_lock_message message = reply_for (LK_MSG_LOCKFAILED, serial, letter);
    message.as.reply.error = (int) error;
    give (decree.leader[0], &message);
    return told ();
}

FAKE void
hold (const char *names)
{
    ask_set (1, names, -1, 0);
    for (size_t i = 0; names[i]; i++) {
        got (i + 1, names[i]);
    }
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
}

/*  What the proxy says that it gives back, and that nothing is left when its
 *  homes have said so. */
FAKE const lk_answer *
all_goes_back (const char *names)
{
    const size_t count = strlen (names);
    ck_assert_str_eq (sent_names (LK_MSG_UNLOCK), each (names));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            ck_assert_ptr_null (told ());
        }
        over (i + 1, names[i], LK_OK);
    }
    ck_assert_uint_eq (proxy ().sets, 0);
    ck_assert_uint_eq (proxy ().requests, 0);
    ck_assert_uint_eq (proxy ().first.serial, 0);
    return told ();
}

FAKE void
app_says (lk_event_type type, uint64_t serial)
{
    const lk_event event = {.type = type,
                            .now_ms = now_ms,
                            .request = {.app = APP, .serial = serial}};
    step (&event);
}

FAKE void
keep_alive (int64_t ms)
{
    for (; ms > 0; ms -= 500) {
        wait_ms (500);
        vouch (2);
    }
}

#endif
