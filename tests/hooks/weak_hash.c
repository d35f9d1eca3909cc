/*  weak_hash.c - a hash that most names share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The linker puts it in place of lk_hash64 (--wrap, see the Makefile) in a
 *  second simulator, in build/tests/hooks: all must stay apart there, although
 *  there are four hashes for all names.
 */

#include "util/hash.h"

uint64_t __real_lk_hash64 (const void *data, size_t size);
uint64_t __wrap_lk_hash64 (const void *data, size_t size);

uint64_t
__wrap_lk_hash64 (const void *data, size_t size)
{
    return __real_lk_hash64 (data, size) & 3;
}
