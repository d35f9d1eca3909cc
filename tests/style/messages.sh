#!/bin/bash
#   messages.sh - each message between lock services is everywhere it has to be
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   CONTRIBUTING says where; a missing function does not link, and
#   tests/unit/core_senders.c has a row for each.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

page=man/lockkeeper-protocol.7

#   NUMBER NAME, in the order of the kinds.
kinds () {
    sed -n 's/^    X (LK_MSG_\([A-Z]*\), "[A-Z_]*", "\([a-z]*\)").*/\1 \2/p' \
        src/wire/lock_message.h | awk '{ print NR - 1, $1, $2 }'
}

#   A part of the page, from a line that begins so to the end of its display.
display () {
    FROM=$1 awk 'index ($0, ENVIRON["FROM"]) == 1 { on = 1 } on
        on && /^\.(\\" end|Ed)/ { exit }' "$page"
}

#   missing TEXT WHAT: each kind's name is a word of it.
missing () {
    kinds | while read -r _ _ name; do
        grep -qw -- "$name" <<<"$1" || echo "$name: no row in $2"
    done
}

verdict 'each kind has a row in shapes[]' "$(
    kinds | while read -r _ kind _; do
        grep -q "^    \[LK_MSG_$kind\] = " src/wire/lock_shape.c ||
            echo "LK_MSG_$kind: no row in shapes[] of src/wire/lock_shape.c"
    done)"
verdict 'and in the table of 8.7, under its number' "$(
    table=$(display '.\" messages')
    kinds | while read -r number _ name; do
        grep -q "^ *$number $name\b" <<<"$table" ||
            echo "$number $name: no row in the messages of 8.7"
    done)"
verdict 'and in that of 9.3' "$(
    missing "$(display 'kind                          who may' |
        cut -c1-30)" 'the table of 9.3')"
verdict 'and its fields in tests/lib/hostile.c' "$(
    fields=$(sed -n '/^#define .* K (/p;/^#define [A-Z]* /,/[^\\]$/p
                     /^static const field fields/,/^};/p' tests/lib/hostile.c)
    kinds | while read -r _ kind name; do
        grep -q "^    \[LK_MSG_$kind\] = no_fields," src/wire/lock_shape.c ||
            grep -qw "K ($kind)" <<<"$fields" ||
            echo "$name: no row in fields[] of tests/lib/hostile.c"
    done)"
verdict 'the examples are what tests/vectors/make.py writes' "$(
    made=$(mktemp -d)
    python3 tests/vectors/make.py "$made" 2>&1
    (cd "$made" && find -- * -type f) | while read -r file; do
        cmp -s "$made/$file" "tests/$file" ||
            echo "tests/$file: run tests/vectors/make.py"
    done
    rm -r "$made")"
done_checking
