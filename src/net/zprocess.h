/*  zprocess.h - what libzmq and CZMQ are to this process as a whole
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One context with one I/O thread, CZMQ's, shared by all sockets of the
 *  process. CZMQ begins it with the first socket, and ends it as the process
 *  exits; a child after fork has none of it, and may begin its own.
 */

#ifndef LK_ZPROCESS_H
#define LK_ZPROCESS_H

#include "net/problem.h"

/*  Ahead of each new socket: sets CZMQ up so that it leaves signals, standard
 *  output and random () to the program, and looks whether there are
 *  descriptors and threads enough, since both libraries abort where there are
 *  not. LK_SYSTEM and problem: there are not. Any thread may call it. */
lk_err lk_zprocess_prepare (lk_problem *problem);

#endif
