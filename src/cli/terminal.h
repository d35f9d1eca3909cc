/*  terminal.h - texts of others on a terminal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TERMINAL_H
#define LK_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*  Prints a text: control characters, and what is no UTF-8, as \xHH. */
void lk_show (FILE *file, const char *text);

/*  The same for any bytes. */
void lk_show_bytes (FILE *file, const char *data, size_t size);

/*  A name as short as a message wants it; `...` stands for the rest. */
typedef struct {
    char text[84];
} lk_shown;

lk_shown lk_shown_name (const char *name);

/*  Prints as much of it, as lk_show does, as `width` characters have room for;
 *  "..." stands for what does not fit. */
void lk_show_last (const char *data, size_t size, int width);

/*  A time for a column of ten characters: "1.5 s", "2:03:04", "12 d"; "-" if it
 *  is less than 0. */
typedef struct {
    char text[32];
} lk_span_text;

lk_span_text lk_span (int64_t ms);

#define LK_UTC_SIZE 32
/*  That, s since 1970, in UTC; "-" if it is no time. */
const char *lk_utc_text (int64_t when_s, char text[LK_UTC_SIZE]);

/*  Columns of the terminal that is stdout; if it is none, LK_WIDTH_ANY. */
#define LK_WIDTH_ANY INT16_MAX
int lk_terminal_width (void);

/*  ... and its lines. */
int lk_terminal_height (void);

/*  Colours, if stdout is a terminal that has some and NO_COLOR is not set;
 *  else both are empty. */
typedef enum { LK_GOOD, LK_BAD, LK_HEAD } lk_color;

const char *lk_color_begin (lk_color color);
const char *lk_color_end (void);

/*  Asks at the terminal of this process, whatever stdin is, for what is not
 *  shown there. False and errno: there is none, or no answer (ECANCELED), or
 *  one that has no room. A signal that ends us leaves the terminal as it was.
 */
bool lk_terminal_ask_secret (const char *question, char *answer, size_t size)
    __attribute__ ((warn_unused_result));

#endif
