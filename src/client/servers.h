/*  servers.h - the hosts of a cluster that a machine without a router may use
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Connects with those that are wanted, two at a time, and hangs up on those
 *  that are not needed any more; hears from each which others there are. It
 *  knows no lock; far.c says when another server is wanted, and what is said to
 *  which. known_servers.c knows which one comes first.
 */

#ifndef LK_SERVERS_H
#define LK_SERVERS_H

#include "client/way.h"
#include "net/client_file.h"
#include "net/credential_file.h"
#include "net/problem.h"

#include <lockkeeper/message.h>

typedef struct lk_servers lk_servers;

/*  A message came from that one: a number from 0, and never another one's. */
typedef void (lk_servers_fn) (void *user, int server,
                              const lk_message *message);

/*  `name`: that all of them know us by. NULL and problem: no descriptors. */
lk_servers *lk_servers_new (const lk_client_file *file, const char *name,
                            lk_servers_fn *fn, void *user, lk_problem *problem);

/*  Takes leave of all. NULL-safe, nulls the pointer. */
void lk_servers_destroy (lk_servers **self_p);

/*  False in a child of their process. */
bool lk_servers_are_ours (const lk_servers *self);

/*  The name of that host; "": not known yet. */
const char *lk_servers_host (const lk_servers *self, int server);

/*  Whether it is connected. */
bool lk_servers_is_up (const lk_servers *self, int server);

/*  -------------------------------------------------------- choosing */

/*  Connects with another one if one is wanted, or one that is nearer than
 *  `latest`, which is used (-1: none is), is there. Returns one that is to be
 *  registered with now, or -1. */
int lk_servers_choose (lk_servers *self, bool is_wanted, int latest,
                       int64_t now_ms);

/*  It is no use for that reason, errno-like in `number`; NULL: it is. */
void lk_servers_note (lk_servers *self, int server, const char *why,
                      int number);

/*  It stops, or has no room: it comes last for a while. */
void lk_servers_note_move (lk_servers *self, int server, int64_t now_ms);

/*  Why none of them can be had, each by name. */
void lk_servers_problem (const lk_servers *self, lk_way_problem *problem);

/*  Whether each of those of the client file has said that our credential does
 *  not count, or that one is needed: it is of no use to wait. */
bool lk_servers_deny_credential (const lk_servers *self);

/*  -------------------------------------------------------- credential */

/*  The file that has it. */
lk_credential_file *lk_servers_credential (lk_servers *self);

/*  When that which the server knows ends (boot clock, ms); INT64_MAX: never. */
int64_t lk_servers_credential_ends_ms (const lk_servers *self, int server);

/*  Registers once more with all that are connected, by what the file has; what
 *  they all said of the former one counts no more. */
void lk_servers_show_credential (lk_servers *self);

/*  -------------------------------------------------------- to and fro */

/*  As lk_attach_send. */
void lk_servers_send (lk_servers *self, int server, lk_message **message_p);
void lk_servers_flush (lk_servers *self);

/*  Hears all of them; for a poll of the caller's own, as of an attach. */
void lk_servers_work (lk_servers *self);
int lk_servers_fd (const lk_servers *self);
int64_t lk_servers_deadline (const lk_servers *self);

#endif
