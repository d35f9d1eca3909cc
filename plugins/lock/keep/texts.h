/*  texts.h - the cluster's settings on this host's disk, and those before
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  DIR/lock.settings. A text whose hash is not its own was damaged, and counts
 *  as not there: the core fetches it from another host.
 */

#ifndef LK_TEXTS_H
#define LK_TEXTS_H

#include "net/problem.h"
#include "wire/settings_file.h"

#include <stdbool.h>

typedef struct lk_texts lk_texts;

/*  Reads what is there; logs what is damaged. NULL and problem: the folder
 *  cannot be used. */
lk_texts *lk_texts_new (const char *dir, lk_problem *problem);
void lk_texts_destroy (lk_texts **self_p);

/*  Writes a text; the oldest one goes, but for that of `active`. False: said
 *  why in the log. */
bool lk_texts_keep (lk_texts *self, lk_settings_id id, lk_name text,
                    lk_settings_id active);

/*  This host has these settings from now on. */
void lk_texts_adopt (lk_texts *self, lk_settings_id id, int64_t now_s);

/*  NULL: it is not there. Borrowed until the next change. */
const lk_settings_row *lk_texts_find (const lk_texts *self, lk_settings_id id);

/*  The one that this host had last under that version. */
const lk_settings_row *lk_texts_of_version (const lk_texts *self,
                                            uint64_t version);

/*  The one that was kept last, but for `active`; NULL. */
const lk_settings_row *lk_texts_last (const lk_texts *self,
                                      lk_settings_id active);

/*  Row by row, the oldest first; NULL behind the last. */
const lk_settings_row *lk_texts_at (const lk_texts *self, size_t i);

#endif
