/*  proxied.h - a proxy among three leaders that the test plays
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is no member; hosts 1, 2 and 3 lead term 7. Application 11 asks for
 *  locks. For one test program each.
 */

#ifndef PROXIED_H
#define PROXIED_H

#include "core_fake.h"

#define MEMBERS 0xe
#define APP 11
#define TOKEN (((uint64_t) 7 << 32) | 5)
#define KEY 99

static lk_decree decree;

FAKE void
ping_with (lk_host from, const lk_decree *table, uint64_t vouch, int64_t at)
{
    lk_lock_message message = ping_of (from, 0xf);
    message.as.ping.active = *table;
    message.as.ping.promised = table->term;
    message.as.ping.table = *table;
    message.as.ping.ready = true;
    message.as.ping.well = true;
    message.as.ping.vouch = vouch;
    message.as.ping.echo_at = at;
    give (from, &message);
}

FAKE void
vouch (lk_host from)
{
    ping_with (from, &decree, lk_node_core (node)->facts.session, now_ms);
}

FAKE void
set_up (void)
{
    lk_decree none = {0};
    decree = decree_of (term_of (7, 1), MEMBERS, 1, 2, 3);
    start_with ((lk_term) {0, 0}, &none);
    give_decree (1, LK_MSG_READY, &decree);
    vouch (1);
    vouch (2);
    vouch (3);
    ck_assert (proxy ().live);
}

/*  -------------------------------------------------------- what it is told */

/*  The last thing that it told the application, of danger if there was nothing
 *  else; NULL: nothing. */
FAKE const lk_answer *
told (void)
{
    const lk_answer *found = NULL;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_answer *answer = &effects.item[i].answer;
        if (effects.item[i].type == LK_DO_TELL
            && (!found || answer->kind != LK_ANSWER_JEOPARDY)) {
            found = answer;
        }
    }
    return found;
}

/*  What comes of that at once. */
FAKE const lk_answer *
put (lk_event_type type, lk_app_request request)
{
    const lk_event event = {.type = type, .now_ms = now_ms, .request = request};
    step (&event);
    return told ();
}

FAKE void
app (lk_event_type type, uint64_t serial, int64_t wait, int64_t duration)
{
    const lk_event event = {.type = type,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = serial,
                                        .object = {"x", 1},
                                        .owner = {"app@h0", 6},
                                        .wait_ms = wait,
                                        .duration_ms = duration,
                                        .key = KEY}};
    step (&event);
}

FAKE void
ask (uint64_t serial)
{
    app (LK_ON_LOCK, serial, -1, 0);
}

FAKE lk_lock_message
reply_of (lk_lock_kind kind, uint64_t serial)
{
    lk_lock_message message = message_of (kind, decree.term);
    message.as.reply = (lk_msg_reply) {
        .request = {.session = lk_node_core (node)->facts.session,
                    .serial = serial},
        .object = {"x", 1},
        .token = TOKEN,
        .key = KEY,
        .as_of = now_ms,
        .left_ms = -1};
    return message;
}

FAKE const lk_answer *
locked (uint64_t serial)
{
    lk_lock_message message = reply_of (LK_MSG_LOCKED, serial);
    give (1, &message);
    return told ();
}

FAKE const lk_answer *
unlocked (uint64_t serial, lk_err error, uint64_t token)
{
    lk_lock_message message = reply_of (LK_MSG_UNLOCKED, serial);
    message.as.reply.error = (int) error;
    message.as.reply.token = token;
    give (1, &message);
    return told ();
}

/*  To any leader. */
FAKE const lk_lock_message *
sent_to_any (lk_lock_kind kind)
{
    for (lk_host host = 1; host < 4; host++) {
        if (sent (kind, host)) {
            return sent (kind, host);
        }
    }
    return NULL;
}

#endif
