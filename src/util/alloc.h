/*  alloc.h - memory that is there, or the end of the program
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Limits elsewhere keep peers from using it up.
 */

#ifndef LK_ALLOC_H
#define LK_ALLOC_H

#include <stddef.h>

void *lk_alloc (size_t size); /* zeroed */
void *lk_realloc (void *memory, size_t size);
void lk_free (void *memory);
char *lk_strdup (const char *text);
void *lk_memdup (const void *data, size_t size); /* a NUL behind it */

#endif
