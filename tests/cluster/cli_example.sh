#!/bin/bash
#   cli_example.sh - the examples for the library compile and work
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   As who installed the library does it: with the public headers and the shared
#   library alone. The pages of section 3 show parts of them.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 1

compile () {
    "${CC:-gcc}" -Wall -Wextra -Werror -Iinclude -o "$work/$1" \
        "examples/$1.c" "-L$BUILD" "-Wl,-rpath,$BUILD" \
        -l:liblockkeeper.so.1
}

for example in examples/*.c; do
    example=$(basename "${example%.c}")
    check "$example.c compiles with nothing but the public headers" \
        compile "$example"
done

#   prints TEXT COMMAND...: all that it prints, numbers of tokens as T.
prints () {
    local wanted=$1 got
    shift
    got=$("$@" 2>&1 | sed -E 's/token [0-9]+/token T/')
    [ "$got" = "$wanted" ] || {
        printf 'not as wanted:\n%s\n' "$got"
        return 1
    }
}

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
check 'watch says a line under its lock' says_line
check 'and gave it back' says 0 'nobody holds' on h1 list

check 'exclusive does its steps' prints 'step 1, token T
step 2, token T
step 3, token T' "$work/exclusive" job
check 'shared reads and writes' prints 'reading, token T
writing, token T
reading, token T' "$work/shared" page
check 'set has both' prints 'left, token T
right, token T' "$work/set"

#   Two units are held: of two more at once one has to wait.
two_held () {
    [ "$(on h1 list --object pool | grep -c '^held')" = 2 ]
}
four_at_work () {
    local holders=() workers=()
    for _ in 1 2; do
        start_on h1 run pool --bound 3 -- sleep 1000
        holders+=($!)
    done
    await two_held
    for _ in 1 2; do
        "$work/semaphore" pool &
        workers+=($!)
    done
    wait "${workers[@]}"
    kill "${holders[@]}"
    wait "${holders[@]}"
    return 0
}
check 'semaphore lets three in' prints 'at work, 3 of 3
at work, 3 of 3' four_at_work

outlives () {
    local key
    key=$("$work/static" site) && says 0 site on h1 list &&
        "$work/static" site "$key" && says 0 'nobody holds' on h1 list
}
check 'static takes a lock, and gives it back later' outlives

#   The thirteen steps of the ancestor, but for the first two.
canal () {
    "$work/canal" <<'END'
acquire db 3 1
acquire db 3 1
acquire db 3 1
acquire db 3 1
acquire db 3 2
acquire db 3 1
release db 3 1
acquire db 3 1
release db 3 2
acquire db 3 1
acquire db 3 1
END
}
check 'canal counts' prints 'acquired 1
acquired 2
acquired 3
full
acquired 4
full
ok
full
ok
acquired 3
full' canal

guarded () {
    # shellcheck disable=SC2016
    on h1 run file -- sh -c '
        printf "%s first\n%s second\n" "$LOCKKEEPER_TOKEN" \
            $((LOCKKEEPER_TOKEN - 1)) | "$1" file' - "$work/check"
}
check 'check refuses an old token' prints 'first: done
second: denied' guarded
done_checking
