#!/bin/bash
#   sections.sh - what cites a section of a page cites one that there is
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The sections of lockkeeper-protocol(7) have numbers, and code cites them;
#   sections.py says in which forms.

script=$(cd "$(dirname "$0")" && pwd)/sections.py
# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

page=man/lockkeeper-protocol.7
mapfile -t citing < <(
    c_files
    sh_files
    files_of man -name '*.[1-8]'
    files_of python -name '*.py'
    files_of tests -name '*.py' -o -name '*.rb' -o -name '*.pml' \
        -o -name '*.case' -o -name 'README'
    for file in README CONTRIBUTING; do
        [ ! -f $file ] || echo $file
    done)
#   What carries the rules out, and what judges it.
mapfile -t rules < <(
    files_of plugins/lock/core -name '*.c'
    files_of tests/sim -name 'checker*.c' -o -name 'calm.h')

sections () {
    [ ! -f $page ] || python3 "$script" "$1" $page "${@:2}" 2>&1
}

verdict 'sections of lockkeeper-protocol(7): each has a number of its own' \
    "$(sections numbers)"
verdict 'no dead reference to a section' "$(sections dead "${citing[@]}")"
verdict 'each rule of lockkeeper-protocol(7) is cited where it is kept' "$(
    [ ${#rules[@]} -eq 0 ] || sections uncited "${rules[@]}")"
done_checking
