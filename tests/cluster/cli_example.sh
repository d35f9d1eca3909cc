#!/bin/bash
#   cli_example.sh - the example for the library compiles and works
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 1

check 'it compiles with nothing but the public headers' "${CC:-gcc}" -Wall \
    -Wextra -Iinclude -o "$work/watch" examples/watch.c "-L$BUILD" \
    "-Wl,-rpath,$BUILD" -l:liblockkeeper.so.1
says_line () {
    (
        sleep 0.5
        echo hello
    ) | "$work/watch" a-lock >"$work/line" 2>"$work/notes"
    grep -qE '^[0-9]+ hello$' "$work/line" || {
        cat "$work/line" "$work/notes"
        return 1
    }
}
check 'it says a line under its lock' says_line
check 'and gave it back' says 0 'nobody holds' on h1 list
done_checking
