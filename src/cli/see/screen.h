/*  screen.h - a terminal as a screen that is drawn anew, and its keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SCREEN_H
#define LK_SCREEN_H

#include <stdbool.h>

#define LK_SCREEN_END                                                          \
    (-1) /* as a key: a signal asks for the end, or stdin
                              is at its end */

typedef struct {
    int lines, columns;
} lk_screen_size;

/*  Whether stdin and stdout are a terminal that can be used so. */
bool lk_screen_is_there (void);

/*  Takes keys one by one, without showing them, on the other screen, until
 *  lk_screen_end, which leaves the terminal as it was. False and errno if it
 *  cannot. */
bool lk_screen_begin (void);
void lk_screen_end (void);

lk_screen_size lk_screen_get_size (void);

/*  Empty, and begun at its top. */
void lk_screen_clear (void);

/*  The next key, LK_SCREEN_END, or 0 after that time or a change of size. */
int lk_screen_key (int wait_ms);

#endif
