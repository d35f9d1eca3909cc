/*  client_fake.h - a router with a lock service, played by a thread, and a
 *  session with them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The test plays the lock service: `serve` is called in the thread. For one
 *  test program each.
 */

#ifndef CLIENT_FAKE_H
#define CLIENT_FAKE_H

#include "lib/foreign.h"
#include "net/clock.h"
#include "net/lease_page.h"
#include "net/loop.h"
#include "util/bytes.h"
#include "wire/message_frame.h"

#include <check.h>
#include <lockkeeper/lockkeeper.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAKE __attribute__ ((unused)) static

#define HANG_MS 60000 /* what comes is waited for no longer */

/*  LOCK, UNLOCK and all else for the lock service. */
static void (*serve) (const lk_message *message);

/*  -------------------------------------------------------- the other side */

static struct {
    char dir[32];
    char endpoint[64];
    char page_path[64];
    lk_lease_page *page;
    pthread_t thread;
    int stop[2];
    lk_loop *loop;
    lk_context *context;
    lk_socket *socket;
    lk_identity client;
    atomic_int registered;
} fake;

static void
send_back (lk_message *message, const char *from)
{
    lk_bytes frame = {0};
    lk_part part;
    lk_message_set_from (message, from);
    ck_assert_int_eq (lk_message_write (message, &frame), LK_OK);
    lk_part_init (&part);
    lk_part_fill (&part, frame.data, frame.size);
    (void) lk_socket_send (fake.socket, &fake.client, &part);
    lk_part_clear (&part);
    lk_bytes_clear (&frame);
    lk_message_destroy (&message);
}

static void
answer_register (const lk_message *message)
{
    lk_message *answer = lk_message_reply (message, "READY");
    lk_message_set_text (answer, "host", "h1");
    lk_message_set_text (answer, "version", "0");
    lk_message_set_text (answer, "address", "h1:1");
    atomic_fetch_add (&fake.registered, 1);
    send_back (answer, "router@h1");
}

static void
on_socket (void *user)
{
    lk_part part;
    char problem[128];
    const char *broken;
    (void) user;
    lk_part_init (&part);
    while (lk_socket_receive (fake.socket, &fake.client, &part) == LK_IO_DONE) {
        size_t at = 0;
        lk_frame_header header;
        while (lk_frame_next (lk_part_data (&part), lk_part_size (&part), &at,
                              &header, &broken)
               == LK_FRAME_MESSAGE) {
            lk_message *message =
                lk_message_read (&header, problem, sizeof problem);
            if (lk_message_is (message, "REGISTER")) {
                answer_register (message);
            } else {
                serve (message);
            }
            lk_message_destroy (&message);
        }
    }
    lk_part_clear (&part);
}

static void
on_stop (void *user)
{
    (void) user;
    lk_loop_stop (fake.loop, 0);
}

static void *
run_fake (void *user)
{
    lk_loop_run (fake.loop);
    return user;
}

static void
start_fake (void)
{
    const lk_socket_options options = {.linger_ms = 100};
    fake.context = lk_context_new ();
    fake.socket = lk_socket_router_new (fake.context, &options);
    lk_socket_bind (fake.socket, fake.endpoint);
    fake.loop = lk_loop_new ();
    ck_assert_int_eq (pipe (fake.stop), 0);
    lk_loop_add_fd (fake.loop, lk_socket_fd (fake.socket), on_socket, NULL);
    lk_loop_add_hook (fake.loop, on_socket, NULL);
    lk_loop_add_fd (fake.loop, fake.stop[0], on_stop, NULL);
    ck_assert_int_eq (pthread_create (&fake.thread, NULL, run_fake, NULL), 0);
}

static void
stop_fake (void)
{
    ck_assert_int_eq (write (fake.stop[1], "x", 1), 1);
    pthread_join (fake.thread, NULL);
    lk_loop_destroy (&fake.loop);
    lk_socket_destroy (&fake.socket);
    lk_context_destroy (&fake.context);
    close (fake.stop[0]);
    close (fake.stop[1]);
}

FAKE void
set_lease (int64_t left_ms)
{
    lk_lease_page_set (fake.page, 3, lk_clock_ms () + left_ms);
}

FAKE void
set_up (void)
{
    lk_problem problem = {0};
    memset (&fake, 0, sizeof fake);
    snprintf (fake.dir, sizeof fake.dir, "/tmp/lk-test-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (fake.dir));
    snprintf (fake.endpoint, sizeof fake.endpoint, "ipc://%s/router", fake.dir);
    snprintf (fake.page_path, sizeof fake.page_path, "%s/lease", fake.dir);
    fake.page = lk_lease_page_new (fake.page_path, &problem);
    ck_assert_ptr_nonnull (fake.page);
    set_lease (60000);
    start_fake ();
}

FAKE void
tear_down (void)
{
    stop_fake ();
    lk_lease_page_destroy (&fake.page);
    unlink (fake.page_path);
    unlink (fake.endpoint + strlen ("ipc://"));
    ck_assert_int_eq (rmdir (fake.dir), 0);
}

/*  -------------------------------------------------------- the session */

FAKE lk_session *
open_session (void)
{
    lk_session_options options = {.endpoint = fake.endpoint, .name = "a b"};
    lk_session *session = lk_session_new (&options);
    ck_assert_ptr_nonnull (session);
    return session;
}

#endif
