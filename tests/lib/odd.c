/*  odd.c - names, commands and bodies of every sort, as a fuzzer wants them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/odd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof (array)[0])
#define FIELDS_MAX 8
#define DEPTH_MAX 3
#define LONG_SIZE 300

#define EVENTS 8 /* those that a router tells, which come first */

static const lk_odd_command commands[] = {
    {"STATUS", "service status pid version application reason"},
    {"NEWREMOTECONNECTION", "host address"},
    {"HANGUP", "host reason"},
    {"DISCONNECTED", "host"},
    {"CLUSTERUP", "total live"},
    {"CLUSTERDOWN", "total live"},
    {"CLUSTERCOMPLETE", "total live"},
    {"STOP", NULL},
    {"REGISTER", "service version pid application subscribe"},
    {"UNREGISTER", NULL},
    {"SUBSCRIBE", "commands"},
    {"ALIVE", NULL},
    {"ABSOLUTELY", NULL},
    {"CONNECT", "host address version incarnation"},
    {"ACCEPT", "host address version incarnation"},
    {"REFUSE", "reason id host incarnation"},
    {"LOG", "level"},
    {"SHUTDOWN", NULL},
    {"CLUSTERSTATUS", NULL},
    {"ROUTERSTATUS", NULL},
    {"COMMANDS", NULL},
    {"RELOADCONFIG", NULL},
    {"SERVICESTATUS", "service"},
    {"READY", "host version address"},
    {"GOSSIP", "host address version incarnation cluster hosts"},
    {"FORGET", "name"},
    {"CLUSTER", "name"},
    {"UNKNOWN", "command reason"},
    {"INVALID", "reason"},
    {"TRANSMISSIONREPORT", "command to error reason"},
    {"LOCK", "object type limit wait duration pid"},
    {"LOCK", "object token key lease_until static linger"},
    {"UNLOCK", "object request key force token"},
    {"LOCKCHECK", "object token"},
    {"LOCKSTATUS", "object"},
    {"LOCKLIST", "object cursor own"},
    {"LOCKMEMBERS", "add"},
    {"LOCKMEMBERS", "remove"},
    {"LOCKOWNERS", "tickets"},
    {"LOCKHISTORY", "after count object"},
    {"LOCKTOP", "count"},
    {"LOCKSTARTED",
     "protocol cluster leader_lease host_lease genesis packed id"},
    {"LOCKPING", NULL},
    {"ELECTION_DATE", NULL},
    {"VOTE", NULL},
    {"DESIST", NULL},
    {"RETIRE", NULL},
    {"RERUN", NULL},
    {"LOCKLEADERS", NULL},
    {"LOCKENTERING", NULL},
    {"LOCKENTERED", NULL},
    {"GETMAXTICKET", NULL},
    {"MAXTICKET", NULL},
    {"ADDTICKET", NULL},
    {"TICKETADDED", NULL},
    {"LOCKEXITING", NULL},
    {"LOCKREADY", NULL},
    {"LOCKHOST", NULL},
    {"LOCKED", NULL},
    {"UNLOCKED", NULL},
    {"LOCKFAILED", NULL},
    {"LOCKTICKETS", NULL},
    {"LOCKALERT", NULL},
    {"DROPTICKET", NULL},
    {"ACTIVATELOCK", NULL},
    {"LOCKJEOPARDY", NULL},
    {"HELLO", NULL},
};

static const char *const fields[] = {
    "service",  "version",      "pid",        "application", "subscribe",
    "commands", "name",         "host",       "address",     "incarnation",
    "reason",   "status",       "hosts",      "level",       "cluster",
    "total",    "live",         "error",      "text",        "command",
    "to",       "object",       "object_hex", "zone",        "context",
    "type",     "limit",        "bound",      "wait",        "duration",
    "linger",   "policy",       "quiet",      "static",      "lenient",
    "key",      "token",        "request",    "turn",        "locks",
    "force",    "ordinal",      "session",    "lease_until", "resume",
    "add",      "remove",       "cursor",     "own",         "after",
    "count",    "tickets",      "serial",     "id",          "to_id",
    "term",     "decree",       "at",         "echo",        "active",
    "promised", "table",        "ready",      "well",        "sees",
    "closed",   "vouch",        "origin",     "destination", "ops",
    "op",       "home",         "sequence",   "hash",        "protocol",
    "genesis",  "leader_lease", "host_lease", "packed",      "members",
    "leaders",  "served_by",    "eligible",   "answer",      "holder",
    "previous", "stage",        "cause",      "expected",    "by"};

/*  What makes sense there; a blank between them. */
static const struct {
    const char *field, *values;
} usual[] = {{"service", "a@h1 b@h1 lock@h1 lock@h2 a@h2 b lock"},
             {"status", "up down unknown"},
             {"host", "h1 h2 h3 h9"},
             {"address", "h2.e:1 h3.e:1 h2:1 1:1"},
             {"object", "o p"},
             {"name", "h2 h3 blue"},
             {"add", "h2 h3 h9"},
             {"remove", "h1 h2 h3"},
             {"type", "exclusive shared semaphore"},
             {"incarnation", "0000000000000002 0000000000000003"},
             {"version", "1"}};

static const char *const texts[] = {"h1",
                                    "h2",
                                    "a b",
                                    "@",
                                    "*",
                                    "?",
                                    ".",
                                    "..",
                                    "",
                                    "a@h1",
                                    "lock@h2",
                                    "router@h1",
                                    "lock",
                                    "router",
                                    "h2@h3",
                                    "h2 ",
                                    "connection ended",
                                    "0",
                                    "process ended",
                                    "ff",
                                    "\\u0001",
                                    "\\\"",
                                    "\\u00e4",
                                    "h1/1/1",
                                    "1:0000000000000002",
                                    "name is taken by process 7"};

static const int64_t numbers[] = {0,
                                  1,
                                  2,
                                  -1,
                                  60000,
                                  INT32_MAX,
                                  (int64_t) INT32_MAX + 1,
                                  (int64_t) UINT32_MAX + 1,
                                  INT64_C (1) << 53,
                                  INT64_MAX,
                                  INT64_MIN};

const lk_odd_command *
lk_odd_draw (lk_fuel *fuel)
{
    const uint8_t which = lk_fuel_byte (fuel);
    return &commands[which % (which < 128 ? COUNT (commands) : EVENTS)];
}

void
lk_odd_address (lk_fuel *fuel, char address[96])
{
    static const char *const services[] = {"lock", "router", "a", "b",
                                           "x-7",  "*",      "",  "a b"};
    static const char *const hosts[] = {"h1", ".", "h2", "h3",
                                        "*",  "?", "h9", ".."};
    const uint8_t which = lk_fuel_byte (fuel);
    snprintf (address, 96, "%s@%s", services[which % 8], hosts[which / 8 % 8]);
}

/*  -------------------------------------------------------- values */

static void
add (lk_bytes *body, const char *text)
{
    lk_bytes_add (body, text, strlen (text));
}

static void
add_text (lk_fuel *fuel, lk_bytes *body)
{
    const uint8_t which = lk_fuel_byte (fuel);
    add (body, "\"");
    if (which == 255) {
        memset (lk_bytes_grow (body, LONG_SIZE), 'a', LONG_SIZE);
    } else {
        add (body, texts[which % COUNT (texts)]);
    }
    add (body, "\"");
}

static void
add_number (lk_fuel *fuel, lk_bytes *body)
{
    char text[32];
    const uint8_t which = lk_fuel_byte (fuel);
    snprintf (text, sizeof text, "%" PRId64,
              which < 2 * COUNT (numbers) ? numbers[which % COUNT (numbers)]
                                          : (int64_t) which);
    add (body, text);
}

static void add_object (lk_fuel *fuel, lk_bytes *body, int depth);
static void add_value (lk_fuel *fuel, lk_bytes *body, int depth);

static void
add_list (lk_fuel *fuel, lk_bytes *body, int depth)
{
    const size_t count = lk_fuel_below (fuel, 4);
    add (body, "[");
    for (size_t i = 0; i < count; i++) {
        add (body, i > 0 ? "," : "");
        add_value (fuel, body, depth + 1);
    }
    add (body, "]");
}

static void
add_value (lk_fuel *fuel, lk_bytes *body, int depth)
{
    static const char *const words[] = {"true", "false", "null", "1.5"};
    const uint8_t sort = lk_fuel_byte (fuel);
    if (sort < 128) {
        add_text (fuel, body);
    } else if (sort < 192) {
        add_number (fuel, body);
    } else if (sort < 216 || depth >= DEPTH_MAX) {
        add (body, words[sort % COUNT (words)]);
    } else if (sort < 236) {
        add_list (fuel, body, depth);
    } else {
        add_object (fuel, body, depth + 1);
    }
}

/*  NULL: anything may. */
static const char *
usual_of (lk_slice name)
{
    for (size_t i = 0; i < COUNT (usual); i++) {
        if (lk_slice_is (name, usual[i].field)) {
            return usual[i].values;
        }
    }
    return NULL;
}

static void
add_usual (lk_fuel *fuel, lk_bytes *body, const char *values)
{
    size_t left = lk_fuel_byte (fuel);
    const char *at = values;
    while (left-- > 0) {
        at += strcspn (at, " ");
        at = *at == ' ' ? at + 1 : values;
    }
    add (body, "\"");
    lk_bytes_add (body, at, strcspn (at, " "));
    add (body, "\"");
}

static void
add_field (lk_fuel *fuel, lk_bytes *body, lk_slice name, int depth)
{
    const char *values = usual_of (name);
    add (body, body->data[body->size - 1] == '{' ? "\"" : ",\"");
    lk_bytes_add (body, name.data, name.size);
    add (body, "\":");
    if (values != NULL && lk_fuel_byte (fuel) < 192) {
        add_usual (fuel, body, values);
    } else {
        add_value (fuel, body, depth);
    }
}

static void
add_object (lk_fuel *fuel, lk_bytes *body, int depth)
{
    const size_t count = lk_fuel_below (fuel, FIELDS_MAX);
    add (body, "{");
    for (size_t i = 0; i < count; i++) {
        const char *name = fields[lk_fuel_byte (fuel) % COUNT (fields)];
        add_field (fuel, body, lk_slice_of (name), depth);
    }
    add (body, "}");
}

/*  With all fields that it should have. */
static void
add_shape (lk_fuel *fuel, lk_bytes *body, const char *names)
{
    add (body, "{");
    while (*names != '\0') {
        const size_t size = strcspn (names, " ");
        add_field (fuel, body, (lk_slice) {names, size}, 0);
        names += size + (names[size] == ' ');
    }
    add (body, "}");
}

void
lk_odd_body (lk_fuel *fuel, const lk_odd_command *command, lk_bytes *body)
{
    const uint8_t kind = lk_fuel_byte (fuel);
    if (kind < 192 && command->fields != NULL) {
        add_shape (fuel, body, command->fields);
    } else if (kind < 240) {
        add_object (fuel, body, 0);
    } else if (kind < 250) {
        size_t size;
        const uint8_t *bytes = lk_fuel_bytes (fuel, &size);
        lk_bytes_add (body, bytes, size);
    }
}
