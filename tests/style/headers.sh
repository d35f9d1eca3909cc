#!/bin/bash
#   headers.sh - each header compiles alone, the installed ones in C++ too
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"
warnings='-Wall -Wextra -Werror -fsyntax-only'
deps=$(pkg-config --cflags libzmq jansson 2>/dev/null)

#   compile HEADER COMPILER FLAGS...: its complaints about HEADER, included
#   twice.
compile () {
    local header=$1
    shift
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$@" 2>&1 | grep -E 'error|warning' | head -5
}

mapfile -t public < <(files_of include -name '*.h')
verdict 'public headers compile alone as strict C11' "$(
    for header in "${public[@]}"; do
        # shellcheck disable=SC2086
        compile "$PWD/$header" "$CC" -x c -std=c11 -pedantic $warnings \
            -Iinclude -
    done)"

if command -v g++ >/dev/null; then
    for std in c++11 c++20; do
        verdict "public headers compile alone as $std" "$(
            for header in "${public[@]}"; do
                # shellcheck disable=SC2086
                compile "$PWD/$header" g++ -x c++ -std=$std -pedantic \
                    $warnings -Iinclude -
            done)"
    done
else
    skip 'public headers compile alone as C++' 'no g++'
fi

core_rooms=$(printf -- '-I%s ' plugins/lock/core/*/)
mapfile -t private < <(for f in src router plugins arbiter tests; do
    files_of "$f" -name '*.h'
done)
verdict 'private headers compile alone' "$(
    for header in "${private[@]}"; do
        # shellcheck disable=SC2086
        compile "$PWD/$header" "$CC" -x c -std=gnu11 -D_GNU_SOURCE \
            $warnings \
            -Wno-unused-function -Isrc -Iinclude -Irouter/tables \
            -Irouter/logic -Irouter/shell -Iplugins/lock \
            -Iplugins/lock/keep -Iplugins/lock/out -Iplugins/lock/look \
            -Iplugins/lock/in -Iplugins/issuer -Iarbiter \
            $core_rooms -Itests $deps -
    done)"
done_checking
