/*  registration_private.h - what the files of registrations share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      registration_parts.c  how one is found, its times, its clock
 *      registration_until.c  the end of its credential
 *      registration.c        its life, and the answers to LEASE
 */

#ifndef LK_REGISTRATION_PRIVATE_H
#define LK_REGISTRATION_PRIVATE_H

#include "proxy_private.h"
#include "registration.h"

/*  That of the same owner and number; that whose requests are that
 *  application's; NULL. */
lk_registration *lk_registration_of_owner (const lk_proxy *proxy,
                                           const lk_registered *id);
lk_registration *lk_registration_of_app (const lk_proxy *proxy, uint32_t app);

/*  Its credential ends then; it is never looked at again. */
void lk_registration_note_until (lk_proxy *proxy, lk_registration *self,
                                 int64_t until_ms);
void lk_registration_look_no_more (lk_proxy *proxy, lk_registration *self);

/*  Tells of those that end soon, and fails what waits by those that have
 *  ended. */
void lk_registrations_look (lk_proxy *proxy);

/*  Whether it has ended; and what was held by it is told to be lost. */
bool lk_registration_has_expired (const lk_proxy *proxy,
                                  const lk_registration *self);
void lk_registration_tell_lost (lk_proxy *proxy, const lk_registration *self);

/*  The lease that it is given now: not beyond the end of its credential; 0:
 *  none. */
int64_t lk_registration_lease (const lk_proxy *proxy,
                               const lk_registration *self);

/*  Silence comes no sooner than said before, nor before a quarter more than
 *  that. */
void lk_registration_stay (lk_proxy *proxy, lk_registration *self,
                           int64_t left_ms);

/*  It waits for a ping to be vouched for; or for none any more. */
void lk_registration_await_ping (lk_proxy *proxy, lk_registration *self);
void lk_registration_await_no_more (lk_proxy *proxy, lk_registration *self);

/*  A ping is sent at once, if none is under way for others. */
void lk_registrations_hurry (lk_proxy *proxy);

/*  Its application's clock showed that. */
void lk_registration_note_clock (const lk_proxy *proxy, lk_registration *self,
                                 int64_t sent);

#endif
