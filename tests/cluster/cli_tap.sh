# shellcheck shell=bash
#   cli_tap.sh - what the tests of the command line share (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced. A test that needs a cluster begins with `in_sandbox "$0"`.

set -u
export LC_ALL=C
BUILD=${BUILD:-$PWD/build}
export BUILD
lockkeeper=$BUILD/lockkeeper
cases=0 bad=0 hopeless=
[ -x "$lockkeeper" ] || {
    echo "not ok 1 - $lockkeeper is built"
    exit 1
}

#   Runs the script $1 again in a sandbox with these options, unless it is in
#   one. With $LK_HOSTED=1 its routers host the lock services.
in_sandbox () {
    local script=$1
    shift
    [ -z "${LOCKKEEPER_SANDBOX:-}" ] || return 0
    rm -rf "$work"
    exec "$lockkeeper" sandbox ${LK_HOSTED:+--hosted} "$@" -- bash "$script"
}

#   The daemons among `router` and `lockd`, one per line: where lock services
#   are hosted, what is done to one is done to its router.
daemons () {
    if [ -n "${LK_HOSTED:-}" ]; then
        printf '%s\n' "${@/#lockd/router}" | sort -u
    else
        printf '%s\n' "$@"
    fi
}

#   check TITLE COMMAND...: the command has to succeed.
check () {
    local title=$1
    shift
    cases=$((cases + 1))
    if "$@" >"$work/out" 2>&1; then
        echo "ok $cases - $title"
    else
        echo "not ok $cases - $title"
        echo "# $*"
        sed 's/^/# /' "$work/out"
        bad=$((bad + 1))
        ! declare -F look_around >/dev/null || look_around
    fi
    [ -z "$hopeless" ] || give_up
}

#   Who gets no answer sets $hopeless to why: all that follows would fail, each
#   after a wait of its own.
give_up () {
    cases=$((cases + 1)) bad=$((bad + 1))
    echo "not ok $cases - what follows is left out: $hopeless"
    hopeless=
    ! declare -F finish_test >/dev/null || finish_test
    done_checking
}

#   code N COMMAND...: the command has to end with that code.
code () {
    local wanted=$1 got
    shift
    "$@"
    got=$?
    [ "$got" = "$wanted" ] || {
        echo "exit code $got, not $wanted"
        return 1
    }
}

#   says N TEXT COMMAND...: ends with that code and says so on stderr or out.
says () {
    local wanted=$1 text=$2
    shift 2
    code "$wanted" "$@" >"$work/said" 2>&1 || {
        cat "$work/said"
        return 1
    }
    grep -qF -- "$text" "$work/said" || {
        echo "does not say '$text':"
        cat "$work/said"
        return 1
    }
}

#   await COMMAND...: until it succeeds. A test that waits for longer than this
#   hangs; nothing that follows is waited for as long.
hang_s=90
await () {
    local until=$((SECONDS + hang_s)) nap_ms=20
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || {
            hang_s=30
            return 1
        }
        nap "$nap_ms"
        nap_ms=$((nap_ms < 200 ? nap_ms * 5 / 4 : nap_ms))
    done
}

#   nap MS: less than a second, without a process of its own.
nap () {
    local ms=$((1000 + $1))
    read -rt "0.${ms:1}" -u "$never"
}
exec {never}<> <(:)

#   As who counts seconds.
within () {
    await "${@:2}"
}

now_ms () {
    echo $(($(date +%s%N) / 1000000))
}

#   on HOST VERB...: lockkeeper, as on that host of the sandbox.
on () {
    local host=$1
    shift
    LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/$host/router \
        "$lockkeeper" "$@"
}

#   One that comes late becomes a leader some time after locks can be had.
three_lead () {
    [ "$(on h1 status | grep -cE '^h[123] +(first )?leader ')" = 3 ]
}

#   start_on HOST VERB...: the same in the background; $! is its number.
start_on () {
    local endpoint=ipc://$LOCKKEEPER_SANDBOX/$1/router
    shift
    LOCKKEEPER_ENDPOINT=$endpoint "$lockkeeper" "$@" &
}

#   is_listed PATTERN OBJECT: some ticket for it is. What processes of two
#   hosts ask for comes in any order, so who needs one waits for that.
is_listed () {
    on h1 list --object "$2" 2>/dev/null | grep -q "$1"
}

gone () {
    ! kill -0 "$1" 2>/dev/null
}

#   ended PID: it is gone, or nobody has asked for its exit code yet.
ended () {
    gone "$1" || grep -q '^[0-9]* ([^)]*) Z' "/proc/$1/stat" 2>/dev/null ||
        gone "$1"
}

done_checking () {
    echo "1..$cases"
    rm -rf "$work"
    [ "$bad" = 0 ]
    exit
}

work=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX") || exit 2
