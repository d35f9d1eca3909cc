/*  greeter.c - an example of a service: says hello
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  HELLO {name} to greeter@HOST is answered with GREETING {text, hosts}. Read
 *  it from the end: the table there is the service. It includes nothing but
 *  <lockkeeper/service.h>, has no socket, no thread and no clock, and is
 *  called by one thread, so it needs no lock of its own.
 */

#include "greeter.h"

#include <stdio.h>

#define REPORT_MS 10000

/*  What we want to be told by the router. It pushes the present state of the
 *  cluster right after the subscription, and then each change. */
static const char *const subscriptions[] = {
    "CLUSTERUP", "CLUSTERDOWN", "CLUSTERCOMPLETE", "CLUSTERINCOMPLETE", NULL,
};

/*  Called once the router knows us, and again after it was away: so nothing
 *  is set up here that would be there twice. */
static void
attach (void *self, lk_bus *bus)
{
    greeter *me = self;

    me->bus = bus;
    printf ("greeting as greeter@%s\n", lk_bus_host (bus));
}

/*  The answer goes to whoever asked, on whatever host, with the serial of the
 *  question, so that the asker can tell what it is an answer to. */
static void
greet (greeter *me, const lk_message *hello)
{
    const char *name = lk_message_text (hello, "name");
    lk_message *answer = lk_message_reply (hello, "GREETING");
    char text[200];

    snprintf (text, sizeof text, "Hello, %.100s. This is %s.",
              name ? name : "stranger", lk_bus_host (me->bus));
    lk_message_set_text (answer, "text", text);
    lk_message_set_number (answer, "hosts", me->hosts);

    /*  The message is the bus's now, whatever the result. It fails when the
     *  router is gone or its queue is full; the asker will see that it got no
     *  answer and ask again, so there is nothing that we had to do. */
    (void) lk_bus_send (me->bus, &answer);
}

/*  A timer for the first greeting after a quiet time: a service that has
 *  nothing to do is not woken. */
static void
note_greeting (greeter *me)
{
    if (me->greeted++ == 0) {
        lk_bus_wake_at (me->bus, lk_bus_now (me->bus) + REPORT_MS);
    }
}

/*  Anybody may send anything: what is not understood is answered, as
 *  services do, with UNKNOWN. But complaints themselves never are, or two
 *  services could go on like that for ever. */
static void
refuse (greeter *me, const lk_message *message)
{
    if (lk_message_is (message, "UNKNOWN") || lk_message_is (message, "INVALID")
        || lk_message_is (message, "TRANSMISSIONREPORT")) {
        return;
    }
    lk_message *answer = lk_message_reply (message, "UNKNOWN");
    lk_message_set_text (answer, "command", lk_message_command (message));
    lk_message_set_text (answer, "reason", "greeter knows HELLO only");
    (void) lk_bus_send (me->bus, &answer);
}

static void
message (void *self, const lk_message *message)
{
    greeter *me = self;

    if (lk_message_is (message, "HELLO")) {
        greet (me, message);
        note_greeting (me);
    } else {
        refuse (me, message);
    }
}

/*  All four cluster events tell the same numbers. Other messages of a router
 *  come here too: if it could not deliver what we sent, for example. */
static void
event (void *self, const lk_message *event)
{
    greeter *me = self;
    int64_t live = lk_message_number (event, "live", 0);

    if (live > 0 && live != me->hosts) {
        me->hosts = live;
        printf ("hosts alive: %lld of %lld\n", (long long) live,
                (long long) lk_message_number (event, "total", live));
    }
}

static void
timer (void *self)
{
    greeter *me = self;

    printf ("greeted: %u\n", me->greeted);
    me->greeted = 0;
}

/*  "router lost": attach follows when it is back. Anything else is the end,
 *  and what is sent here is the last that leaves. */
static void
detach (void *self, const char *reason)
{
    (void) self;
    printf ("detached: %s\n", reason);
}

const lk_service greeter_service = {
    .name = "greeter",
    .version = "1",
    .subscriptions = subscriptions,
    .attach = attach,
    .message = message,
    .event = event,
    .timer = timer,
    .detach = detach,
};
