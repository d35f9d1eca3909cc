/*  login.h - log-ins, passed on to a service that issues credentials
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The issuer of this host is asked first, then those of others, one after the
 *  other as long as they do not issue for that zone. Passwords go to another
 *  host with keys only. lockkeeper-protocol(7), 5.
 */

#ifndef LK_LOGIN_H
#define LK_LOGIN_H

#include "router.h"

#include "wire/frame.h"

/*  The service that issues, and commands of it. */
#define LK_ISSUER_SERVICE "issuer"
#define LK_LOGIN "LOGIN"
#define LK_LOGIN_RENEW "RENEW"
#define LK_LOGIN_FAILED "LOGINFAILED"

/*  LOGIN: a question, answered with LOGIN or LOGINFAILED; or an issuer's answer.
 */
void lk_login_on_login (lk_router *self, const lk_source *source,
                        const lk_message *message);

/*  RENEW, of a session that has a credential of a log-in; answered likewise. */
void lk_login_on_renew (lk_router *self, const lk_source *source,
                        const lk_message *message);

/*  LOGINFAILED; and a complaint, of an issuer or its router, which may have
 *  none. */
void lk_login_on_failed (lk_router *self, const lk_source *source,
                         const lk_message *message);
void lk_login_on_complaint (lk_router *self, const lk_source *source,
                            const lk_message *message);

/*  Ends those whose time is over. */
void lk_login_work (lk_router *self);

/*  The password of a LOGIN is neither left in the frame that it came in nor in
 *  the message that was read from it, which may be NULL. */
void lk_login_wipe (const lk_frame_header *header, lk_message *message);

#endif
