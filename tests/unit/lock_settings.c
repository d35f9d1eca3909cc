/*  lock_settings.c - the settings of a cluster, as people ask a lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What the core wants kept is on the disk before its facts, with those before
 *  it; a change is one event of the core, and its end is told to who asked.
 */

#include "lock_fake.h"

#include "text_hash.h"

#define APP "cli-7@h2"
#define LOCKED_TO_H2 "settings\n    lock = h2\n"

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
}

static void
keep (lk_settings_id id, const char *text)
{
    add_effect ((lk_effect) {
        .type = LK_DO_KEEP, .settings_id = id, .settings = text_named (text)});
    tick ();
}

static void
persist (lk_settings_id id)
{
    lk_effect effect = {.type = LK_DO_PERSIST, .facts = lockd.state.facts};
    effect.facts.active = node.status.decree;
    effect.facts.active.settings = id;
    effect.facts.promised = effect.facts.active.term;
    add_effect (effect);
    tick ();
}

/*  Version `version` has that text, and is the active one. */
static lk_settings_id
have (uint64_t version, const char *text)
{
    static char last[256];
    const lk_settings_id id = lk_text_id (version, text_named (text));
    snprintf (last, sizeof last, "%s", text);
    keep (id, text);
    persist (id);
    node.status.settings = id;
    node.status.settings_text = text_named (last);
    node.status.decree.settings = id;
    return id;
}

/*  With what is on the disk. */
static void
restart (void)
{
    lk_lockd_clear (&lockd);
    forget_sent ();
    open_lockd ();
    attach ();
}

static lk_message *
question (uint64_t serial)
{
    return new_message (APP, "LOCKSETTINGS", serial);
}

static void
ask_to_set (const char *from, uint64_t serial, lk_settings_id base,
            const char *text)
{
    char hash[33];
    lk_message *message = new_message (from, "LOCKSETTINGS", serial);
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

static void
fails (const char *error, const char *part)
{
    const lk_message *failed = only_sent (APP, "LOCKFAILED");
    check_text (failed, "error", error);
    ck_assert_msg (strstr (lk_message_text (failed, "text"), part) != NULL,
                   "%s", lk_message_text (failed, "text"));
    forget_sent ();
}

/*  -------------------------------------------------------- disk */

START_TEST (starts_with_what_it_has)
{
    const lk_settings_id id = have (1, LOCKED_TO_H2);
    restart ();
    ck_assert (lk_settings_id_equal (node.config.facts.active.settings, id));
    ck_assert_uint_eq (node.config.settings.size, strlen (LOCKED_TO_H2));
    ck_assert_mem_eq (node.config.settings.data, LOCKED_TO_H2,
                      strlen (LOCKED_TO_H2));
    ck_assert_ptr_null (node.config.next.data);
}
END_TEST

/*  Kept, but not active yet. */
START_TEST (starts_with_the_next_one)
{
    const lk_settings_id next = lk_text_id (2, text_named ("# b\n"));
    (void) have (1, "# a\n");
    keep (next, "# b\n");
    restart ();
    ck_assert_uint_eq (node.config.settings.size, 4);
    ck_assert (lk_settings_id_equal (node.config.next_id, next));
    ck_assert_mem_eq (node.config.next.data, "# b\n", 4);
}
END_TEST

/*  A byte of its text is another one. */
START_TEST (starts_without_what_is_damaged)
{
    char path[PATH_MAX + 32];
    char text[4096];
    (void) have (1, LOCKED_TO_H2);
    snprintf (path, sizeof path, "%s/lock.settings", lockd.options.state_dir);
    FILE *file = fopen (path, "r+");
    ck_assert_ptr_nonnull (file);
    const size_t size = fread (text, 1, sizeof text - 1, file);
    text[size] = '\0';
    char *at = strstr (text, "lock = h2");
    ck_assert_ptr_nonnull (at);
    ck_assert_int_eq (fseek (file, at + 8 - text, SEEK_SET), 0);
    ck_assert_int_eq (fputc ('3', file), '3');
    fclose (file);
    restart ();
    ck_assert_ptr_null (node.config.settings.data);
    ck_assert_uint_eq (node.config.facts.active.settings.version, 1);
}
END_TEST

START_TEST (keeps_the_last_ones)
{
    char text[32];
    for (unsigned i = 1; i <= LK_SETTINGS_KEPT + 4; i++) {
        snprintf (text, sizeof text, "# %u\n", i);
        (void) have (i, text);
    }
    ck_assert_ptr_null (lk_texts_of_version (lockd.texts, 4));
    ck_assert_ptr_nonnull (lk_texts_of_version (lockd.texts, 5));
    ck_assert_ptr_null (lk_texts_at (lockd.texts, LK_SETTINGS_KEPT));
}
END_TEST

/*  -------------------------------------------------------- asking */

START_TEST (tells_what_it_has)
{
    (void) have (1, LOCKED_TO_H2);
    forget_sent ();
    give (question (5));
    const lk_message *told = only_sent (APP, "LOCKSETTINGS");
    ck_assert_uint_eq (lk_message_serial (told), 5);
    check_text (told, "text", LOCKED_TO_H2);
    ck_assert_int_eq (lk_message_number (told, "version", 0), 1);
}
END_TEST

START_TEST (tells_of_none)
{
    give (question (5));
    const lk_message *told = only_sent (APP, "LOCKSETTINGS");
    check_text (told, "text", "");
    ck_assert_int_eq (lk_message_number (told, "version", 7), 0);
    ck_assert (!lk_message_has (told, "hash"));
}
END_TEST

START_TEST (tells_of_former_ones)
{
    (void) have (1, "# a\n");
    (void) have (2, "# b\n");
    forget_sent ();
    lk_message *message = question (5);
    lk_message_set_number (message, "version", 1);
    give (message);
    check_text (only_sent (APP, "LOCKSETTINGS"), "text", "# a\n");
    forget_sent ();
    message = question (6);
    lk_message_set_number (message, "version", 9);
    give (message);
    fails ("unknown", "never had that version");
    message = question (7);
    lk_message_set_flag (message, "history", true);
    give (message);
    const lk_message *told = only_sent (APP, "LOCKSETTINGS");
    lk_message *row = lk_message_row (told, "versions", 1);
    ck_assert_int_eq (lk_message_number (row, "version", 0), 2);
    ck_assert (lk_message_flag (row, "active"));
    lk_message_destroy (&row);
    ck_assert_ptr_null (lk_message_row (told, "versions", 2));
}
END_TEST

/*  -------------------------------------------------------- changes */

START_TEST (changes_them)
{
    const lk_settings_id base = have (1, "# a\n");
    forget_sent ();
    ask_to_set (APP, 5, base, LOCKED_TO_H2);
    const lk_event *event = last_event (LK_ON_CHANGE);
    ck_assert_uint_eq (event->host, LK_NOBODY);
    ck_assert (lk_settings_id_equal (event->base, base));
    ask_to_set (APP, 6, base, LOCKED_TO_H2); /* it did not hear yet */
    ck_assert_uint_eq (bus.count, 0);
    add_effect (
        (lk_effect) {.type = LK_DO_CHANGED, .error = LK_OK, .text = "done"});
    tick ();
    const lk_message *told = only_sent (APP, "LOCKSETTINGS");
    ck_assert_uint_eq (lk_message_serial (told), 6);
    ck_assert (lk_message_has (told, "text"));
}
END_TEST

START_TEST (one_at_a_time)
{
    const lk_settings_id base = have (1, "# a\n");
    forget_sent ();
    ask_to_set (APP, 5, base, "# b\n");
    ask_to_set (APP, 7, base, "# c\n");
    fails ("overloaded", "another change is under way");
    lk_message *members = new_message (APP, "LOCKMEMBERS", 9);
    lk_message_set_text (members, "add", "h4");
    give (members);
    fails ("overloaded", "another change is under way");
}
END_TEST

START_TEST (says_why_not)
{
    const lk_settings_id base = have (1, "# a\n");
    forget_sent ();
    ask_to_set (APP, 5, base, "# b\n");
    add_effect ((lk_effect) {.type = LK_DO_CHANGED,
                             .error = LK_OUTDATED,
                             .text = "they were changed"});
    tick ();
    fails ("outdated", "they were changed");
}
END_TEST

START_TEST (refuses_what_makes_no_sense)
{
    const lk_settings_id base = have (1, "# a\n");
    forget_sent ();
    ask_to_set (APP, 5, base, "settings\n    look = h2\n");
    fails ("refused", "line 2: there is no setting 'settings/look'");
    ask_to_set (APP, 5, base, "settings\n    lock = no host\n");
    fails ("refused", "line 2");
    ask_to_set (APP, 5, base, "settings\n    lock = h9\n");
    fails ("refused", "names no member");
    lk_message *message = question (6);
    lk_message_set_text (message, "text", "# b\n");
    give (message);
    fails ("invalid", "name the 'text', and the 'base' and 'hash'");
}
END_TEST

/*  Only from h2. */
START_TEST (is_locked)
{
    const lk_settings_id base = have (1, LOCKED_TO_H2);
    forget_sent ();
    ask_to_set ("cli-9@h3", 5, base, "# b\n");
    check_text (only_sent ("cli-9@h3", "LOCKFAILED"), "error", "refused");
    forget_sent ();
    ask_to_set (APP, 5, base, "# b\n");
    ck_assert_uint_eq (bus.count, 0);
    ck_assert (last_event (LK_ON_CHANGE)->settings.size > 0);
}
END_TEST

/*  A question that comes again when its change is in force, which shut its
 *  asker out. */
START_TEST (what_is_so_already_is_told)
{
    const lk_settings_id base = have (1, LOCKED_TO_H2);
    forget_sent ();
    ask_to_set ("cli-9@h3", 5, (lk_settings_id) {.version = 0}, LOCKED_TO_H2);
    ck_assert_uint_eq (bus.count, 0);
    ck_assert (last_event (LK_ON_CHANGE)->base.version < base.version);
}
END_TEST

START_TEST (names_the_first_leader)
{
    const lk_settings_id base = have (1, "# a\n");
    forget_sent ();
    node.status.decree.leader[0] = h2;
    ask_to_set (APP, 5, base, "# b\n");
    const lk_message *told = only_sent (APP, "LOCKSETTINGS");
    ck_assert (!lk_message_has (told, "text"));
    ck_assert_str_eq (lk_message_item (told, "leaders", 0), "h2");
}
END_TEST

/*  -------------------------------------------------------- status */

START_TEST (status_tells_who_is_behind)
{
    (void) have (3, "# a\n");
    forget_sent ();
    node.status.behind = LK_HOST_BIT (h2);
    give (new_message (APP, "LOCKSTATUS", 3));
    ck_assert_uint_eq (bus.count, 1);
    ck_assert_int_eq (lk_message_number (bus.sent[0], "settings", 0), 3);
    ck_assert_str_eq (lk_message_item (bus.sent[0], "behind", 0), "h2");
}
END_TEST

int
main (void)
{
    const TTest *const disk[] = {
        starts_with_what_it_has, starts_with_the_next_one,
        starts_without_what_is_damaged, keeps_the_last_ones};
    const TTest *const asking[] = {tells_what_it_has, tells_of_none,
                                   tells_of_former_ones,
                                   status_tells_who_is_behind};
    const TTest *const changes[] = {changes_them,
                                    one_at_a_time,
                                    says_why_not,
                                    refuses_what_makes_no_sense,
                                    is_locked,
                                    what_is_so_already_is_told,
                                    names_the_first_leader};
    const group groups[] = {
        GROUP ("disk", disk, set_up_cluster),
        GROUP ("asking", asking, set_up_cluster),
        GROUP ("changes", changes, set_up_cluster),
    };
    return run_groups ("lock_settings", groups,
                       sizeof groups / sizeof groups[0]);
}
