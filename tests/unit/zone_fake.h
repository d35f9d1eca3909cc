/*  zone_fake.h - sessions of zones, and settings with zones, for lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ZONE_FAKE_H
#define LK_ZONE_FAKE_H

#include "lock_fake.h"

#include "text_hash.h"

#define KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

static lk_host h2;

/*  The router tells of a session; `far`: of another machine. */
static inline void
report_who (const char *service, const char *zone, const char *user,
            const char *role, int64_t until)
{
    lk_message *event = lk_message_new ("lock@h1", "STATUS");
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "service", service);
    lk_message_set_text (event, "status", "up");
    lk_message_set_number (event, "pid", 50);
    lk_message_set_text (event, "zone", zone);
    lk_message_set_text (event, "user", user);
    lk_message_set_text (event, "role", role);
    lk_message_set_any (event, "until", until);
    if (strncmp (service, "far-", 4) == 0) {
        lk_message_set_text (event, "key", KEY);
    }
    lk_lockd_service.event (&lockd, event);
    lk_message_destroy (&event);
    settle ();
}

/*  h1, h2 and h3 are members, h2 leads and is heard. */
static inline void
set_up_zones (void)
{
    set_up ();
    stranger_pid = -1;
    h2 = lk_hostmap_intern (&lockd.hostmap, "h2", 0x22);
    lk_peers_intern (&lockd.peers, "h2", 0x22)->state = LK_OTHER_ACCEPTED;
    node.status.decree = (lk_decree) {.term = {6, 0x22},
                                      .members = lockd.state.genesis,
                                      .leader_count = 1,
                                      .leader = {h2}};
    node.status.sees = LK_HOST_BIT (h2) | LK_HOST_BIT (lockd.self);
}

/*  These are the settings in force. */
static inline void
have_settings (const char *text)
{
    const lk_name name = {text, (uint16_t) strlen (text)};
    const lk_settings_id id = lk_text_id (1, name);
    lk_effect effect = {.type = LK_DO_PERSIST, .facts = lockd.state.facts};
    effect.facts.active.settings = id;
    add_effect (
        (lk_effect) {.type = LK_DO_KEEP, .settings_id = id, .settings = name});
    add_effect (effect);
    tick ();
    node.status.settings = id;
    node.status.settings_text = name;
    forget_sent ();
    node.count = 0;
}

/*  Refused with that error and sentence; it went nowhere. */
static inline void
check_refused (const char *to, const char *error, const char *text)
{
    check_text (only_sent (to, "LOCKFAILED"), "error", error);
    check_text (bus.sent[0], "text", text);
    ck_assert_uint_eq (node.count, 0);
    forget_sent ();
}

static inline void
check_turned_down (const char *to)
{
    check_text (only_sent (to, "INVALID"), "reason",
                "that is not yours to say");
    forget_sent ();
}

/*  The last LOCK was of that key. */
static inline void
check_key (const char *key, size_t size)
{
    const lk_app_request *request = &last_event (LK_ON_LOCK)->request;
    ck_assert_uint_eq (request->object.size, size);
    ck_assert_mem_eq (request->object.data, key, size);
    node.count = 0;
}

#endif
