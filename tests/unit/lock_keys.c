/*  lock_keys.c - keys of hosts, between the router, the settings and a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lock_fake.h"

#include "text_hash.h"

#include <time.h>

#define APP "cli-7@h1"
#define ROUTER "router@."

#define K1 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define K2 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define K3 "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
#define K4 "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
#define LINE(host, key) "    key = \"" host " " key "\"\n"

static lk_host h2;

static lk_name
text_named (const char *text)
{
    return (lk_name) {text, (uint16_t) strlen (text)};
}

/*  h1, h2 and h3 are members, h1 leads. */
static void
set_up_cluster (void)
{
    set_up ();
    h2 = lk_hostmap_intern (&lockd.hostmap, "h2", 0x22);
    node.status.decree = (lk_decree) {.term = {6, OWN_ID},
                                      .members = lockd.state.genesis,
                                      .leader_count = 2,
                                      .leader = {lockd.self, h2}};
    lockd.state.facts.active = node.status.decree;
}

/*  The settings have that text, since long ago. */
static lk_settings_id
have (uint64_t version, const char *text)
{
    static char last[1024];
    const lk_settings_id id = lk_text_id (version, text_named (text));
    lk_effect effect = {.type = LK_DO_PERSIST, .facts = lockd.state.facts};
    snprintf (last, sizeof last, "%s", text);
    add_effect ((lk_effect) {
        .type = LK_DO_KEEP, .settings_id = id, .settings = text_named (text)});
    tick ();
    effect.facts.active = node.status.decree;
    effect.facts.active.settings = id;
    effect.facts.promised = effect.facts.active.term;
    node.status.settings = id;
    node.status.settings_text = text_named (last);
    node.status.decree.settings = id;
    add_effect (effect);
    tick ();
    lk_texts_adopt (lockd.texts, id, 1);
    return id;
}

/*  The router says these, up to two each; NULL: none. */
static void
router_says (const char *const pending[2], const char *const accepted[2])
{
    lk_message *event = lk_message_new ("lock@h1", "HOSTKEYS");
    lk_message_set_from (event, "router@h1");
    for (size_t i = 0; i < 2; i++) {
        if (pending[i]) {
            lk_message_add_item (event, "pending", pending[i]);
        }
        if (accepted[i]) {
            lk_message_add_item (event, "accepted", accepted[i]);
        }
    }
    lk_lockd_service.event (&lockd, event);
    lk_message_destroy (&event);
    settle ();
}

static const char *const nothing[2] = {NULL, NULL};

/*  Once gathered, they are asked for anew. */
static void
gather (const char *const pending[2], const char *const accepted[2])
{
    router_says (pending, accepted);
    ck_assert_uint_eq (bus.count, 0);
    bus.now_ms += 1000;
    tick ();
    (void) only_sent (ROUTER, "HOSTKEYS");
    forget_sent ();
    router_says (pending, accepted);
}

static void
set_keys (const char *from, lk_settings_id base, const char *text)
{
    char hash[33];
    lk_message *message = new_message (from, "LOCKSETTINGS", 5);
    snprintf (hash, sizeof hash, "%016llx%016llx",
              (unsigned long long) base.hash[0],
              (unsigned long long) base.hash[1]);
    lk_message_set_number (message, "base", (int64_t) base.version);
    if (base.version != 0) {
        lk_message_set_text (message, "hash", hash);
    }
    lk_message_set_text (message, "text", text);
    give (message);
}

/*  -------------------------------------------------------- telling */

START_TEST (tells_the_router)
{
    lk_lockd_service.detach (&lockd, "router lost");
    attach ();
    const lk_message *told = NULL;
    for (size_t i = 0; i < bus.count; i++) {
        told = lk_message_is (bus.sent[i], "HOSTKEYS") ? bus.sent[i] : told;
    }
    ck_assert_ptr_nonnull (told);
    ck_assert (lk_message_flag (told, "open"));
    ck_assert_uint_eq (lk_message_item_count (told, "keys"), 0);
    forget_sent ();
    (void) have (1, "settings\n    lock = h2\nrouter\n" LINE ("h1", K1)
                        LINE ("*", K2));
    told = bus.sent[bus.count - 2];
    ck_assert (lk_message_is (told, "HOSTKEYS"));
    ck_assert (!lk_message_flag (told, "open"));
    ck_assert_str_eq (lk_message_item (told, "keys", 0), "h1 " K1);
    ck_assert_str_eq (lk_message_item (told, "keys", 1), "* " K2);
    told = bus.sent[bus.count - 1];
    ck_assert (lk_message_is (told, "CLIENTKEYS"));
    ck_assert_uint_eq (lk_message_item_count (told, "keys"), 0);
    (void) have (2, "clients\n" LINE ("m1", K1) LINE ("m2", K2));
    told = bus.sent[bus.count - 1];
    ck_assert (lk_message_is (told, "CLIENTKEYS"));
    ck_assert_uint_eq (lk_message_item_count (told, "keys"), 2);
    ck_assert_str_eq (lk_message_item (told, "keys", 1), "m2 " K2);
    (void) have (3, "hosts\n    arbiter = \"a1 10.0.0.7:1 " K1 "\"\n");
    told = bus.sent[bus.count - 2];
    ck_assert_str_eq (lk_message_item (told, "arbiters", 0),
                      "a1 10.0.0.7:1 " K1);
    /*  Of settings that it lacks it knows nothing. */
    forget_sent ();
    node.status.settings_text.data = NULL;
    lk_lockd_service.detach (&lockd, "router lost");
    attach ();
    for (size_t i = 0; i < bus.count; i++) {
        ck_assert (!lk_message_is (bus.sent[i], "HOSTKEYS"));
    }
}
END_TEST

/*  The last that the core was told. */
static lk_hosts
told_arbiters (void)
{
    const lk_event *event = last_event (LK_ON_PLACES);
    node.status.arbiters = event->arbiters;
    return event->arbiters;
}

/*  As the settings name them; also one that shows up later. */
START_TEST (the_core_is_told_of_arbiters)
{
    (void) have (1, "hosts\n    arbiter = \"h2 10.0.0.7:1 " K1 "\"\n"
                    "    arbiter = \"a1 10.0.0.8:1 " K2 "\"\n");
    ck_assert_uint_eq (told_arbiters (), LK_HOST_BIT (h2));
    const lk_host a1 = lk_hostmap_intern (&lockd.hostmap, "a1", 0x55);
    tick ();
    ck_assert_uint_eq (told_arbiters (), LK_HOST_BIT (h2) | LK_HOST_BIT (a1));
    const size_t count = node.count;
    tick ();
    ck_assert_uint_eq (node.count, count + 1);
    (void) have (2, "");
    ck_assert_uint_eq (told_arbiters (), 0);
}
END_TEST

/*  -------------------------------------------------------- listing */

START_TEST (the_first_ones_are_all)
{
    const char *const pending[] = {"h4 " K4, NULL};
    const char *const accepted[] = {"h1 " K1, "* " K2};
    gather (pending, accepted);
    const lk_event *event = last_event (LK_ON_CHANGE);
    ck_assert_uint_eq (event->base.version, 0);
    ck_assert_ptr_nonnull (
        strstr (node.text, LINE ("h4", K4) LINE ("h1", K1) LINE ("*", K2)));
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  A key that is lacking and not pending was withdrawn. */
START_TEST (later_ones_are_the_new_ones)
{
    const char *const pending[] = {"h4 " K4, "h1 " K1};
    const char *const accepted[] = {"h3 " K3, NULL};
    (void) have (1, "# a\nrouter\n" LINE ("h1", K1) LINE ("h2", K2));
    forget_sent ();
    gather (pending, accepted);
    (void) last_event (LK_ON_CHANGE);
    ck_assert_str_eq (node.text, "# a\nrouter\n" LINE ("h4", K4) LINE ("h1", K1)
                                     LINE ("h2", K2));
}
END_TEST

START_TEST (asks_the_first_leader)
{
    const char *const pending[] = {"h4 " K4, NULL};
    const char *const accepted[] = {"h1 " K1, NULL};
    node.status.decree.leader[0] = h2;
    gather (pending, accepted);
    const lk_message *asked = only_sent ("lock@h2", "LOCKSETTINGS");
    ck_assert_uint_eq (lk_message_serial (asked), 1);
    ck_assert_int_eq (lk_message_number (asked, "base", 7), 0);
    forget_sent ();
    /*  And again, until the router says no more of it. */
    bus.now_ms += 5000;
    tick ();
    (void) only_sent (ROUTER, "HOSTKEYS");
    forget_sent ();
    router_says (pending, accepted);
    (void) only_sent ("lock@h2", "LOCKSETTINGS");
    forget_sent ();
    /*  It refuses: so not before a minute. */
    lk_message *failed = new_message ("lock@h2", "LOCKFAILED", 1);
    lk_message_set_text (failed, "error", "refused");
    lk_message_set_text (failed, "text", "no");
    give (failed);
    ck_assert_str_eq (lockd.keys_why, "no");
    bus.now_ms += 59000;
    tick ();
    ck_assert_uint_eq (bus.count, 0);
    bus.now_ms += 1000;
    tick ();
    (void) only_sent (ROUTER, "HOSTKEYS");
    forget_sent ();
    router_says (nothing, nothing);
    bus.now_ms += 600000;
    tick ();
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  The core would wait for 10 s, and hold up changes of members. */
START_TEST (waits_for_the_last_change)
{
    const char *const pending[] = {"h4 " K4, NULL};
    const lk_settings_id id = have (1, "router\n" LINE ("h1", K1));
    lk_texts_adopt (lockd.texts, id, (int64_t) time (NULL) - 4);
    forget_sent ();
    router_says (pending, nothing);
    bus.now_ms += 5000;
    tick ();
    ck_assert_uint_eq (bus.count, 0);
    bus.now_ms += 3000;
    tick ();
    (void) only_sent (ROUTER, "HOSTKEYS");
    forget_sent ();
    /*  Another one was made meanwhile. */
    node.count = 0;
    node.status.decree.members = LK_HOST_BIT (lockd.self);
    lk_texts_adopt (lockd.texts, id, (int64_t) time (NULL));
    router_says (pending, nothing);
    for (size_t i = 0; i < node.count; i++) {
        ck_assert (node.event[i].type != LK_ON_CHANGE);
    }
}
END_TEST

/*  A leader hears other lock services, like people. */
START_TEST (a_leader_is_asked)
{
    const lk_settings_id base = have (1, "router\n" LINE ("h1", K1));
    forget_sent ();
    set_keys ("lock@h2", base, "router\n" LINE ("h2", K2));
    check_text (only_sent ("lock@h2", "LOCKFAILED"), "error", "refused");
    forget_sent ();
    set_keys ("lock@h2", base, "router\n" LINE ("h2", K2) LINE ("h1", K1));
    ck_assert_uint_eq (bus.count, 0);
    (void) last_event (LK_ON_CHANGE);
}
END_TEST

/*  -------------------------------------------------------- rules */

/*  Why one text is not changed to the other; NULL: it is. */
static void
judge (const char *from, const char *to, const char *problem)
{
    const lk_settings_id base =
        from ? have (lockd.state.facts.active.settings.version + 1, from)
             : (lk_settings_id) {.version = 0};
    forget_sent ();
    memset (&lockd.change, 0, sizeof lockd.change);
    set_keys (APP, base, to);
    if (problem) {
        const lk_message *failed = only_sent (APP, "LOCKFAILED");
        ck_assert_msg (strstr (lk_message_text (failed, "text"), problem)
                           != NULL,
                       "%s", lk_message_text (failed, "text"));
    } else {
        ck_assert_uint_eq (bus.count, 0);
    }
    forget_sent ();
}

#define A LINE ("h1", K1)
#define B LINE ("h2", K2)
#define C LINE ("h3", K3)
#define D LINE ("h1", K4)
#define ANY LINE ("*", K4)
#define ARBITER(key) "hosts\n    arbiter = \"h3 10.0.0.7:1 " key "\"\n"

START_TEST (who_is_shut_out)
{
    static const char half[] = "half of the members or more";
    judge (NULL, "router\n" A, half);
    judge (NULL, "router\n" A B, NULL);
    judge (NULL, "router\n" A ANY, NULL);
    judge ("router\n" A B C, "router\n" A C, NULL);
    judge ("router\n" A B C, "router\n" C, half);
    judge ("router\n" A B C, "", half);
    judge ("router\n" A B C, "router\n" D A B C, NULL);
    judge ("router\n" D A B C, "router\n" D B C, NULL);
    /*  Not at once, where it is one of two that are left. */
    judge ("router\n" A B, "router\n" D B, half);
    /*  Those of others do not count. */
    judge ("router\n" A B, "router\n" LINE ("h2", K1) LINE ("h1", K2), half);
    judge ("router\n" ANY A B, "router\n" A B, "no key of its own yet");
    judge ("router\n" ANY A B C, "router\n" A B C, NULL);
    judge ("router\n" ANY A B C, "router\n" ANY, NULL);
    /*  Half of two. */
    node.status.decree.members = LK_HOST_BIT (lockd.self) | LK_HOST_BIT (h2);
    judge ("router\n" A B, "router\n" D B, half);
    judge ("router\n" A B, "router\n" D A B, NULL);
    /*  One that had been alone, and the other has come. */
    judge ("router\n" A, "router\n" A B, NULL);
    judge ("router\n" A, "router\n" B, half);
    /*  Of hosts that are no members. */
    judge ("router\n" C, "router\n" A B C, NULL);
    /*  A third vote that is an arbiter's goes on to be dialled; not by another
     *  key. */
    node.status.decree.members = lockd.state.genesis;
    judge ("router\n" A B ARBITER (K3), "router\n" A ARBITER (K3), NULL);
    judge ("router\n" A B ARBITER (K3), "router\n" A ARBITER (K4), half);
    judge ("router\n" ANY A B ARBITER (K3), "router\n" A B ARBITER (K3), NULL);
}
END_TEST

int
main (void)
{
    const TTest *const all[] = {
        tells_the_router,       the_core_is_told_of_arbiters,
        the_first_ones_are_all, later_ones_are_the_new_ones,
        asks_the_first_leader,  waits_for_the_last_change,
        a_leader_is_asked,      who_is_shut_out};
    const group groups[] = {GROUP ("keys", all, set_up_cluster)};
    return run_groups ("lock_keys", groups, sizeof groups / sizeof groups[0]);
}
