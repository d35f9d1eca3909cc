#!/bin/bash
#   text.sh - sizes, columns, heads, banned words and functions
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

awk_program=$(cd "$(dirname "$0")" && pwd)/text.awk
# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

mapfile -t c < <(c_files)
mapfile -t sh < <(sh_files)
mapfile -t man < <(files_of man -name '*.[1-8]')
mapfile -t all < <(printf '%s\n' "${c[@]}" "${sh[@]}" "${man[@]}" \
    Makefile configure.ac config.mk.in | while read -r f; do
        [ -f "$f" ] && echo "$f"
    done)

findings=$(awk -f "$awk_program" "${c[@]}" </dev/null)
of_rule () {
    printf '%s\n' "$findings" | sed -n "s/^$1 //p"
}
verdict 'files, functions and parameter lists have their size' \
    "$(of_rule size)"
verdict '80 columns, no tabs, no white space at the end' "$(of_rule columns)"
verdict 'return types, braces and comments are laid out our way' \
    "$(of_rule layout)"
verdict 'each C file says in its first line what it is' "$(of_rule head)"
verdict 'no banned function' "$(of_rule banned)"

#   Of two headers with one guard, one is empty where both are included.
verdict 'no guard of a header is there twice' "$(
    grep -E '^#ifndef [A-Z0-9_]+_H$' /dev/null "${c[@]}" |
        awk '{ where = $1; sub (/:.*/, "", where) }
            $2 in first { print where ": " $2 " is that of " first[$2] }
            { first[$2] = where }')"

#   Where it is defined, by its last brace or its tag. A test may define what is
#   behind a handle for itself.
verdict 'no type is there twice' "$(
    grep -E '^(\} lk_[a-z0-9_]+;|(struct|union|enum) lk_[a-z0-9_]+ \{)' \
        /dev/null "${c[@]}" | grep -v '^tests/.*:struct ' |
        sed -E 's/^([^:]*):(\}|struct|union|enum) (lk_[a-z0-9_]+).*/\1 \3/' |
        awk '$2 in first { print $1 ": " $2 " is that of " first[$2] }
            { first[$2] = $1 }')"

verdict 'scripts keep to 80 columns and 800 lines' "$(
    awk 'FNR == 801 { print FILENAME ":801: over 800 lines" }
        length ($0) > 80 && !/https?:|sed -|grep -|case |\||^ *\047s\// {
            print FILENAME ":" FNR ": " length ($0) " columns"
        }' /dev/null "${sh[@]}")"

verdict 'each file has an SPDX line' "$(
    grep -L 'SPDX-License-Identifier: MPL-2\.0' /dev/null "${all[@]}" |
        grep -v /dev/null)"

#   The words are put together here, so that this file may have them.
marks="TO""DO|FIX""ME|XX""X|HA""CK"
verdict 'nothing is left for later' "$(
    grep -nE "(^|[^A-Za-z0-9_])($marks)([^A-Za-z0-9_]|\$)" \
        /dev/null "${all[@]}")"

verdict 'no folder for odds and ends' "$(
    find . -name .git -prune -o -type d \
        \( -name misc -o -name common -o -name helpers -o -name utils \
        -o -name include-private \) -print)"
done_checking
