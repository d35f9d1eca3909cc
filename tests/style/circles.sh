#!/bin/bash
#   circles.sh - no two files call each other, on whatever way
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   By the names that the compiled files define and need: what a file calls is
#   below it, within a room, too. Calls through pointers are not seen.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

objects=()
while read -r file; do
    object=$BUILD/${file%.c}.o
    [ ! -e "$object" ] || objects+=("$object")
done < <(for folder in src router plugins arbiter; do
    files_of "$folder" -name '*.c'
done)
if [ ${#objects[@]} = 0 ]; then
    verdict 'files were compiled' "no objects in $BUILD"
    done_checking
fi

#   calls: "CALLER CALLED" of all files.
calls () {
    nm -A -g -P "${objects[@]}" 2>/dev/null | awk -v top="$BUILD/" '
        { sub (/\.o: *$/, "", $1); $1 = substr ($1, length (top) + 1) }
        $3 == "U" { needs[$1 " " $2]; next }
        { of[$2] = $1 }
        END {
            for (it in needs) {
                split (it, n, " ")
                if (n[2] in of) { print n[1], of[n[2]] }
            }
        }' | sort
}

verdict 'files call others below them' "$(calls | tsort 2>&1 >/dev/null |
    sed 's/^tsort: -:/a circle:/; s/^tsort: //')"
done_checking
