/*  change.h - one member more or less, or other settings
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Somebody wants another host to be a member, or one to be none any more: what
 *  is wanted, when to hold the two elections that it takes, and what it makes
 *  of a decree's members. Or other settings, which take one election.
 *  lockkeeper-protocol(7), 9.15 and 9.17.
 */

#ifndef LK_CHANGE_H
#define LK_CHANGE_H

#include "settings.h"

typedef enum {
    LK_WISH_NONE,
    LK_WISH_ADD,    /* a member */
    LK_WISH_REMOVE, /* a member */
    LK_WISH_SETTINGS,
    LK_WISHES
} lk_wish;

typedef struct {
    lk_wish wish;
    lk_host host;          /* ADD, REMOVE; else LK_NOBODY */
    lk_settings_id base;   /* SETTINGS: what was edited */
    lk_settings_text text; /* SETTINGS: what has come of it */
    int64_t until_ms;
    int64_t next_ms; /* the next election for it, at the earliest */
    lk_term plain;   /* last own decree with unchanged members that was
                        brought into force; {0, 0} */
} lk_change;

void lk_change_init (lk_change *self);
void lk_change_clear (lk_change *self);

/*  Takes what somebody asks for; false if that is answered already, and no
 *  election is needed. */
bool lk_change_begin (lk_election *election, const lk_event *event);

/*  It is time for an election on its behalf. */
bool lk_change_is_due (const lk_election *election);

/*  That election begins. */
void lk_change_try (lk_election *election);

/*  The members of the own decree that follows on D. Only off the last own
 *  decree, with unchanged members and in force, may they differ: two changes
 *  half-made off one decree would have quorums that share nobody. */
lk_hosts lk_change_members (const lk_election *election,
                            const lk_decree *previous);

/*  The settings of the own decree that follows on D: others than D's if those
 *  that were edited are D's. */
lk_settings_id lk_change_settings (const lk_election *election,
                                   const lk_decree *previous);

/*  The own decree that follows on D came into force. */
void lk_change_in_force (lk_election *election, const lk_decree *decree,
                         const lk_decree *previous);

/*  Answers what is under way: the service stops. */
void lk_change_stop (lk_election *election);

/*  All members of the decrees that are known, and who is to be one. */
lk_hosts lk_election_members (const lk_election *election);

#endif
