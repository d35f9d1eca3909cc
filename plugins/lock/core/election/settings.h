/*  settings.h - the text of the cluster's settings, as decrees name it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A member takes no decree as the active one before the text that this names
 *  is on its disk: so whoever votes with a decree can give its text to others.
 *  lockkeeper-protocol(7), 9.17.
 */

#ifndef LK_SETTINGS_H
#define LK_SETTINGS_H

#include "election.h"

typedef struct {
    lk_settings_id id;
    char *data; /* NULL: there is none, or it is lacking */
    uint16_t size;
} lk_settings_text;

typedef struct {
    lk_settings_text active; /* what the active decree names */
    lk_settings_text next;   /* on disk, too: what a later one may name */

    /*  A decree that waits for its text; no leaders: none does. */
    lk_decree wanted;
    lk_host told_by;   /* by whom it was told */
    bool acknowledges; /* ... who waits for an answer */
    int64_t asked_ms;  /* when anybody was asked for a text last */
} lk_settings;

void lk_settings_init (lk_settings *self, const lk_core *core);
void lk_settings_clear (lk_settings *self);

/*  Of a text that is to have that version. */
lk_settings_id lk_settings_id_of (const lk_core *core, uint64_t version,
                                  lk_name text);

lk_name lk_settings_name (const lk_settings_text *self);
void lk_settings_set (lk_settings_text *self, lk_settings_id id, lk_name text);
void lk_settings_unset (lk_settings_text *self);

/*  Whether a decree with these can be taken as the active one. Who lacks the
 *  text of its own active decree can take no other text from it. */
bool lk_settings_suffice (const lk_election *election, lk_settings_id id);

/*  Asks the host that told of that decree for its text; it is taken when that
 *  comes. */
void lk_settings_want (lk_election *election, lk_host from,
                       const lk_decree *decree);

/*  The host waits for an answer: it is told if that decree is taken later. */
void lk_settings_acknowledge (lk_election *election, lk_host from,
                              const lk_decree *decree);

/*  Has a text on disk that the next decree may name. */
void lk_settings_keep (lk_election *election, lk_settings_id id, lk_name text);

/*  Takes a text that is wanted, or lacking; true if a decree waited for it. */
bool lk_settings_take (lk_election *election, lk_settings_id id, lk_name text);

/*  The active decree is another one now. */
void lk_settings_adopted (lk_election *election);

#endif
