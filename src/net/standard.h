/*  standard.h - stdin, stdout and stderr are there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_STANDARD_H
#define LK_STANDARD_H

/*  Who was started with one of them closed gets one that nothing can be read
 *  from or written to: else the next socket or file would have its number, and
 *  get what is printed. For main (), first of all. */
void lk_standard_open (void);

#endif
