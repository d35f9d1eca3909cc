#!/bin/bash
#   purity.sh - the core calls nothing but itself, util and plain memory
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   What the objects of plugins/lock/core leave undefined must be on the list
#   below or be defined by the core, by util or by wire/lock_message. A clock,
#   a file, a socket or a random number in there would make the simulator
#   lie.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

allowed='mem(cpy|move|set|cmp|chr)|str(n?cmp|n?len|n?chr|rchr|str)'
allowed+='|v?snprintf|qsort|bsearch|abort|__assert_fail|__stack_chk_fail'
allowed+='|_GLOBAL_OFFSET_TABLE_|__(asan|ubsan|lsan|gcov|sanitizer)_.*'
allowed+='|__popcountdi2'

shopt -s nullglob
core=("$BUILD"/plugins/lock/core/*/*.o)
friends=("$BUILD"/src/util/*.o "$BUILD"/src/wire/lock_message.o)

if [ ${#core[@]} -eq 0 ]; then
    verdict 'the core was built' "no objects in $BUILD/plugins/lock/core"
    done_checking
fi

#   Every source has its object: else something was not looked at.
verdict 'every file of the core was looked at' "$(
    for source in plugins/lock/core/*/*.c; do
        [ -f "$BUILD/${source%.c}.o" ] || echo "$source: no object"
    done)"

defined=$(nm --defined-only -g "${core[@]}" "${friends[@]}" 2>/dev/null |
    awk 'NF == 3 { print $3 }' | sort -u)
verdict 'the core is pure' "$(
    nm -A -u "${core[@]}" | awk '{ print $1, $NF }' |
    while read -r object symbol; do
        [[ $symbol =~ ^($allowed)$ ]] && continue
        grep -qxF -- "$symbol" <<<"$defined" && continue
        echo "${object#"$BUILD"/} calls $symbol"
    done)"

#   util and the plain structs that the core stands on: they may end the
#   program and get memory, and know no time and no input.
friend='getenv|time|clock.*|gettimeofday|nanosleep|open.*|fopen|read|socket'
friend+='|connect|send.*|recv.*|getpid|rand.*|srand.*|poll|epoll.*|pthread.*'
verdict 'what the core stands on knows no clock, file or socket' "$(
    nm -A -u "${friends[@]}" 2>/dev/null | awk '{ print $1, $NF }' |
    while read -r object symbol; do
        [[ $symbol =~ ^($friend)$ ]] || continue
        echo "${object#"$BUILD"/} calls $symbol"
    done)"
done_checking
