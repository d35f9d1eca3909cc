/*  router_fake.h - a whole router without its sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Frames go in as from local processes and neighbours, what is in the
 *  outboxes of their connections can be taken. For one test program each.
 */

#ifndef LK_ROUTER_FAKE_H
#define LK_ROUTER_FAKE_H

#include "forward.h"
#include "neighbour.h"
#include "session.h"

#include "net/log.h"
#include "wire/message_frame.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_USER 7

static lk_router router;
static int opened, closed, stopped, reloaded;
static bool reachable;

/*  The frame that was looked at last, how far, and whose it is. */
static lk_bytes rest;
static size_t rest_at;
static char rest_of[32];

static inline void
open_link (void *shell, lk_mesh_link *link)
{
    (void) shell;
    lk_identity identity;
    char text[32];
    snprintf (text, sizeof text, "out%d", ++opened);
    lk_identity_set (&identity, text, strlen (text));
    lk_hop_init (&link->out, LK_SIDE_MESH, &identity);
}

static inline void
close_link (void *shell, lk_mesh_link *link)
{
    (void) shell;
    (void) link;
    closed++;
}

static inline lk_err
watch (void *shell, lk_local *local)
{
    (void) shell;
    return local->pid == 666 ? LK_UNKNOWN : LK_OK;
}

static inline void
unwatch (void *shell, lk_local *local)
{
    (void) shell;
    (void) local;
}

/*  What process is there is known of "known" alone. "over" is over, "root" is
 *  root's, and those that begin with "user" are another user's. */
static inline bool
find_peer (void *shell, const lk_identity *identity, lk_peer_cred *peer)
{
    char name[32];
    (void) shell;
    snprintf (name, sizeof name, "%.*s", (int) identity->size,
              (const char *) identity->bytes);
    *peer = (lk_peer_cred) {.pid = strcmp (name, "known") == 0 ? 17 : 0,
                            .uid = strcmp (name, "root") == 0       ? 0
                                   : strncmp (name, "user", 4) == 0 ? 1000
                                                                    : OWN_USER};
    return strcmp (name, "over") != 0;
}

/*  Beside the primary one, "userN" alone has group 50. */
static inline size_t
find_groups (void *shell, const lk_peer_cred *peer, gid_t groups[LK_GROUPS_MAX])
{
    (void) shell;
    groups[0] = peer->gid;
    groups[1] = 50;
    return peer->uid == 1000 ? 2 : 1;
}

static inline bool
reach (void *shell, lk_hop *hop)
{
    (void) shell;
    lk_outbox_clear (&hop->box);
    return reachable;
}

static inline void
stop (void *shell)
{
    (void) shell;
    stopped++;
}

static inline void
reload (void *shell)
{
    (void) shell;
    reloaded++;
}

/*  "guest" is one; keys are written nowhere. All others come as that, or
 *  without keys if it is NULL. */
static const char *guest, *all_others;

static const char *
user_of (void *shell, const lk_identity *identity)
{
    (void) shell;
    return identity->size == 5 && memcmp (identity->bytes, "guest", 5) == 0
               ? guest
               : all_others;
}

/*  By which key all come that are applications on other machines; whose
 *  connections were closed, the last one's. */
static const char *caller_key;
static unsigned hung_up;

static inline const char *
client_of (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    return caller_key;
}

static inline void
hang_up (void *shell, lk_local *local)
{
    (void) shell;
    (void) local;
    hung_up++;
}

/*  From where all of them come; those without a session that were cut, and
 *  heard. */
static const char *caller_address;
static unsigned cut_count, heard_count;

static inline const char *
address_of (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    return caller_address;
}

static inline void
cut (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    cut_count++;
}

static inline void
heard (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    heard_count++;
}

/*  Whose connections stay. */
static unsigned met_count;

static void
met (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    met_count++;
}

static lk_err
save_keys (void *shell, lk_problem *problem)
{
    (void) shell;
    (void) problem;
    return LK_OK;
}

static const lk_router_calls calls = {
    .open = open_link,
    .close = close_link,
    .watch = watch,
    .unwatch = unwatch,
    .peer = find_peer,
    .groups = find_groups,
    .user = user_of,
    .met = met,
    .client = client_of,
    .address = address_of,
    .hang_up = hang_up,
    .cut = cut,
    .heard = heard,
    .save_keys = save_keys,
    .reach = reach,
    .stop = stop,
    .reload = reload,
};

static inline void
begin (const char *host, const char *address, uint64_t incarnation)
{
    const lk_router_identity own = {host, address,       incarnation,
                                    1000, {60, 3, 4096}, OWN_USER};
    lk_log_set_level (LK_LOG_ERROR);
    lk_router_init (&router, &own, &calls, NULL);
    router.now_ms = 5000;
    opened = closed = stopped = reloaded = 0;
    hung_up = cut_count = heard_count = 0;
    reachable = true;
    lk_bytes_clear (&rest);
    rest_at = 0;
}

static inline void
set_up (void)
{
    begin ("h1", "10.0.0.1:1", 11);
}

static inline void
tear_down (void)
{
    lk_router_clear (&router);
}

/*  -------------------------------------------------------- the log */

/*  Lines since keep_log: notices and worse ones. */
static char log_text[8192];

static inline void
keep_line (lk_log_level level, const char *line)
{
    const size_t used = strlen (log_text);
    (void) level;
    snprintf (log_text + used, sizeof log_text - used, "%s\n", line);
}

static inline void
keep_log (void)
{
    log_text[0] = '\0';
    lk_log_set_level (LK_LOG_NOTICE);
    lk_log_set_sink (keep_line);
}

/*  How often it has that. */
static inline int
count_logged (const char *text)
{
    int count = 0;
    for (const char *at = log_text; (at = strstr (at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

#define assert_logged(text)                                                    \
    ck_assert_msg (count_logged (text) == 1, "not once '%s' in: %s", (text),   \
                   log_text)

/*  -------------------------------------------------------- in and out */

static inline lk_identity
by (const char *connection)
{
    lk_identity identity;
    lk_identity_set (&identity, connection, strlen (connection));
    return identity;
}

static inline void
put (lk_side side, const char *connection, const lk_bytes *frame)
{
    const lk_identity identity = by (connection);
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, frame->data, frame->size);
    lk_forward_frame (&router, side, &identity, &part);
    lk_part_clear (&part);
}

static inline void
add (lk_bytes *frame, const char *from, const char *to, const char *command,
     uint64_t serial, const char *body)
{
    const lk_frame_envelope envelope = {
        .to = to, .from = from, .command = command, .serial = serial};
    const size_t start = lk_frame_begin (frame, &envelope);
    lk_bytes_add (frame, body, strlen (body));
    ck_assert_int_eq (lk_frame_finish (frame, start), LK_OK);
}

static inline void
say (lk_side side, const char *connection, const char *from, const char *to,
     const char *command, const char *body)
{
    lk_bytes frame = {0};
    add (&frame, from, to, command, 42, body);
    put (side, connection, &frame);
    lk_bytes_clear (&frame);
}

static inline bool
has_more (const lk_hop *hop)
{
    return hop->box.count > 0
           || (hop->channel != NULL && hop->channel->counted
               && lk_outbox_behind (&hop->channel->kept, hop->channel->sent)
                      != NULL);
}

/*  The hop with something for a connection, also of a stranger's: what is of
 *  the link leaves ahead of what is of its channel. */
static inline lk_hop *
hop_of (const char *connection)
{
    const lk_identity identity = by (connection);
    lk_hop *found = NULL;
    for (lk_hop *hop = router.hops.first; hop != NULL; hop = hop->next) {
        const lk_hop *way = hop->channel != NULL ? hop->channel->way : hop;
        if (lk_identity_equal (&way->identity, &identity) && has_more (hop)
            && (found == NULL || found->channel != NULL)) {
            found = hop;
        }
    }
    return found;
}

/*  Whether something waits for a connection; then it is at rest_at. */
static inline bool
fetch (const char *connection)
{
    if (rest_at < rest.size && strcmp (rest_of, connection) == 0) {
        return true;
    }
    lk_hop *hop = hop_of (connection);
    lk_channel *channel = hop != NULL ? hop->channel : NULL;
    uint64_t number;
    lk_part *part = hop == NULL       ? NULL
                    : channel != NULL ? lk_channel_first (channel, &number)
                                      : lk_outbox_first (&hop->box);
    if (part == NULL) {
        return false;
    }
    lk_bytes_cut (&rest, 0);
    lk_bytes_add (&rest, lk_part_data (part), lk_part_size (part));
    rest_at = 0;
    if (channel != NULL) {
        lk_channel_sent (channel);
    } else {
        lk_outbox_drop (&hop->box);
    }
    if (!has_more (hop)) {
        lk_hops_remove (&router.hops, hop);
    }
    snprintf (rest_of, sizeof rest_of, "%s", connection);
    return true;
}

/*  Takes the next message that waits for a connection; false if there is none.
 *  It is valid until the next one is taken. */
static inline bool
next_header (const char *connection, lk_frame_header *header)
{
    const char *problem;
    if (!fetch (connection)) {
        return false;
    }
    ck_assert_int_eq (
        lk_frame_next (rest.data, rest.size, &rest_at, header, &problem),
        LK_FRAME_MESSAGE);
    return true;
}

/*  The same as "from > to COMMAND serial body"; "" if there is none. */
static inline const char *
next (const char *connection)
{
    static char text[2048];
    lk_frame_header header;
    if (!next_header (connection, &header)) {
        return "";
    }
    snprintf (text, sizeof text, "%.*s > %.*s %.*s %llu%s%.*s",
              (int) header.from.size, header.from.data, (int) header.to.size,
              header.to.data, (int) header.command.size, header.command.data,
              (unsigned long long) header.serial,
              header.body.size > 0 ? " " : "", (int) header.body.size,
              header.body.data);
    return text;
}

#define assert_next(connection, wanted)                                        \
    ck_assert_str_eq (next (connection), (wanted))

static inline void
assert_starts (const char *text, const char *start)
{
    ck_assert_msg (strncmp (text, start, strlen (start)) == 0,
                   "'%s' does not start with '%s'", text, start);
}

static inline void
drain (const char *connection)
{
    while (next (connection)[0] != '\0') {
        continue;
    }
}

static inline void
enter (const char *name, const char *subscribe)
{
    char from[80], body[256];
    snprintf (from, sizeof from, "%s@.", name);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"version\":\"1\",\"pid\":%d,"
              "\"application\":false,\"subscribe\":[%s]}",
              name, 1000 + (int) name[0], subscribe);
    say (LK_SIDE_LOCAL, name, from, "router@.", "REGISTER", body);
    char ready[80];
    snprintf (ready, sizeof ready, "router@h1 > %s@. READY 42 ", name);
    assert_starts (next (name), ready);
}

/*  Our own connection of that name stands, or is over. */
static inline void
our_own (const char *connection, bool stands)
{
    lk_identity identity;
    lk_identity_set (&identity, connection, strlen (connection));
    if (stands) {
        lk_neighbour_connected (&router, &identity);
    } else {
        lk_neighbour_disconnected (&router, &identity, NULL);
    }
}

/*  That of a neighbour is over. */
static inline void
neighbour_left (const char *connection)
{
    lk_identity identity;
    lk_identity_set (&identity, connection, strlen (connection));
    lk_neighbour_left (&router, &identity);
}

/*  Links a host whose connection to us is `in`, and ours to it "outN", which
 *  is returned. */
static inline const char *
link_by (const char *host, const char *in)
{
    static char out[32];
    char from[80], body[256];
    snprintf (from, sizeof from, "router@%s", host);
    snprintf (body, sizeof body,
              "{\"host\":\"%s\",\"address\":\"%s.example:1\","
              "\"version\":\"1\",\"incarnation\":\"00000000000000%c%c\"}",
              host, host, host[1], host[1]);
    say (LK_SIDE_MESH, in, from, "router@.", "CONNECT", body);
    snprintf (out, sizeof out, "out%d", opened);
    assert_starts (next (in), "router@h1 > router@. ACCEPT 0 ");
    our_own (out, true);
    assert_starts (next (out), "router@h1 > router@. CONNECT 0 ");
    say (LK_SIDE_MESH, out, from, "router@.", "ACCEPT", body);
    drain (out);
    return out;
}

static inline const char *
link_host (const char *host)
{
    char in[32];
    snprintf (in, sizeof in, "in-%s", host);
    return link_by (host, in);
}

static inline bool
is_privileged (const char *connection)
{
    lk_frame_header header;
    ck_assert (next_header (connection, &header));
    return header.privileged;
}

/*  A message with the flag, whether or not its sender may set it. */
static inline void
say_flagged (lk_side side, const char *connection, const char *from,
             const char *to, const char *command, const char *text)
{
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {.to = to,
                                        .from = from,
                                        .command = command,
                                        .serial = 42,
                                        .privileged = true};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, text, strlen (text));
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    put (side, connection, &frame);
    lk_bytes_clear (&frame);
}

/*  A service that knows the flag. */
static inline void
enter_keeper (void)
{
    say (LK_SIDE_LOCAL, "keeper", "keeper@.", "router@.", "REGISTER",
         "{\"service\":\"keeper\",\"version\":\"1\",\"pid\":9,"
         "\"application\":false,\"privileged\":true,\"subscribe\":[\"NEWS\"]}");
    assert_starts (next ("keeper"), "router@h1 > keeper@. READY ");
}

#endif
