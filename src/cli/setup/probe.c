/*  probe.c - who is at an address that is said to be a router's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/probe.h"

#include "net/clock.h"
#include "net/listener.h"
#include "util/bytes.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  A name may have several addresses, each of which is tried. */
#define CONNECT_MS 8000
#define ANSWER_MS 3000

typedef struct {
    lk_loop *loop;
    lk_listener *listener;
    lk_timer timer;
    lk_message *question, *answer;
    lk_problem *problem;
    bool stands;
} probe;

/*  -------------------------------------------------------- the question */

static void
send_question (probe *self, const lk_identity *to)
{
    lk_bytes bytes = {0};
    lk_part frame;
    lk_message_set_from (self->question, "router@.");
    lk_message_set_serial (self->question, 1);
    lk_part_init (&frame);
    if (lk_message_write (self->question, &bytes) == LK_OK) {
        lk_part_fill (&frame, bytes.data, bytes.size);
        (void) lk_listener_send (self->listener, to, &frame);
    }
    lk_part_clear (&frame);
    lk_bytes_clear (&bytes);
}

static void
on_up (void *user, const lk_identity *to)
{
    probe *self = user;
    self->stands = true;
    lk_timer_set (&self->timer, lk_clock_ms () + ANSWER_MS);
    send_question (self, to);
}

/*  -------------------------------------------------------- the answer */

static void
on_frame (void *user, const lk_identity *from, lk_part *frame)
{
    probe *self = user;
    lk_frame_header header;
    const char *broken;
    char why[128];
    size_t at = 0;
    (void) from;
    if (self->answer == NULL
        && lk_frame_next (lk_part_data (frame), lk_part_size (frame), &at,
                          &header, &broken)
               == LK_FRAME_MESSAGE) {
        self->answer = lk_message_read (&header, why, sizeof why);
    }
    lk_loop_stop (self->loop, 0);
}

static void
on_over (void *user, const lk_identity *from, const lk_problem *problem)
{
    probe *self = user;
    (void) from;
    if (problem != NULL) {
        *self->problem = *problem;
    }
    lk_loop_stop (self->loop, 0);
}

static void
on_time (void *user)
{
    probe *self = user;
    lk_loop_stop (self->loop, 0);
}

static const lk_listener_calls calls = {.frame = on_frame,
                                        .up = on_up,
                                        .over = on_over};

/*  -------------------------------------------------------- all of it */

lk_message *
lk_probe_ask (const char *address, const lk_curve_calls *ways,
              lk_message **question_p, lk_problem *problem)
{
    probe self = {
        .loop = lk_loop_new (), .question = *question_p, .problem = problem};
    lk_identity identity;
    (void) lk_problem_set (problem, LK_TIMEDOUT, "it does not answer");
    self.listener = lk_listener_new (self.loop, &calls, &self);
    lk_timer_init (&self.timer, self.loop, on_time, &self);
    lk_timer_set (&self.timer, lk_clock_ms () + CONNECT_MS);
    lk_listener_dial (self.listener, address, ways, &identity);
    (void) lk_loop_run (self.loop);
    if (self.answer == NULL && self.stands) {
        (void) lk_problem_set (problem, LK_TIMEDOUT,
                               "it does not answer as a router does");
    }
    lk_timer_clear (&self.timer);
    lk_listener_destroy (&self.listener, 0);
    lk_loop_destroy (&self.loop);
    lk_message_destroy (question_p);
    return self.answer;
}

lk_message *
lk_probe (const char *address, lk_problem *problem)
{
    const lk_curve_calls ways = {.plain = true};
    lk_message *question = lk_message_new ("router@.", "GOSSIP");
    return lk_probe_ask (address, &ways, &question, problem);
}

bool
lk_probe_has_host (const lk_message *answer, const char *host,
                   const char *address, char where[LK_ADDRESS_LEN_MAX + 1])
{
    const char *its_name = lk_message_text (answer, "host");
    const char *its_address = lk_message_text (answer, "address");
    lk_message *row;
    bool found = its_name != NULL && its_address != NULL
                 && strcmp (its_name, host) == 0
                 && strcmp (its_address, address) != 0;
    if (found) {
        snprintf (where, LK_ADDRESS_LEN_MAX + 1, "%s", its_address);
    }
    for (size_t i = 0;
         !found && (row = lk_message_row (answer, "hosts", i)) != NULL; i++) {
        its_name = lk_message_text (row, "host");
        its_address = lk_message_text (row, "address");
        if (its_name != NULL && its_address != NULL
            && strcmp (its_name, host) == 0
            && strcmp (its_address, address) != 0) {
            snprintf (where, LK_ADDRESS_LEN_MAX + 1, "%s", its_address);
            found = true;
        }
        lk_message_destroy (&row);
    }
    return found;
}
