#!/bin/bash
#   runner.sh - the runner counts what it should, and is not easily pleased
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A scratch tree with made-up tests, one behaviour each.

# shellcheck source=tests/lib/style.sh
. "$(dirname "$0")/../lib/style.sh"
root=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/runner.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

#   fake KIND NAME LINES...: a test, and its source where it has one.
fake () {
    local kind=$1 name=$2 file
    shift 2
    mkdir -p "$work/tests/$kind" "$work/build/tests/$kind"
    file=$work/tests/$kind/$name
    if [ "$kind" != cluster ]; then
        : >"$file.c"
        file=$work/build/tests/$kind/$name
    fi
    printf '%s\n' '#!/bin/sh' "$@" >"$file"
    chmod +x "$file"
}

#   expect WHAT LAST-LINE STATUS [TEXT]: runs all suites over the made-up tests;
#   TEXT is said, too.
expect () {
    local output status
    mkdir -p "$work/tests/lib"
    cp "$root/tests/lib/run.sh" "$work/tests/lib/"
    output=$(OTHERS=${others-0} BEAT_S=1 BUILD=$work/build \
        bash "$work/tests/lib/run.sh" unit corpus simulator cluster 2>&1)
    status=$?
    if [ "$(tail -n 1 <<<"$output")" = "$2" ] && [ "$status" = "$3" ] &&
            grep -qF -- "${4:-}" <<<"$output"; then
        verdict "$1" ''
    else
        verdict "$1" \
            "expected '$2${4:+, $4}' and status $3, got $status: $output"
    fi
    rm -rf "$work/tests" "$work/build"
}

summary='100%: Checks: 5, Failures: 0, Errors: 0'
fake unit a "echo '$summary'"
expect "Check's summary is counted" '5 passed, 0 failed' 0
fake unit a "echo '60%: Checks: 5, Failures: 1, Errors: 1'" 'exit 2'
expect "Check's failures and errors are counted" '3 passed, 2 failed' 1
fake unit a "echo '$summary'" 'exit 1'
expect 'a bad status fails in spite of a good summary' \
    '5 passed, 1 failed' 1
fake unit a "echo '$summary'" 'kill -SEGV $$'
expect 'so does a crash, and its time is known' '5 passed, 1 failed' 1 ' s busy'
fake unit a 'echo nothing'
expect 'a test that counts nothing fails' '0 passed, 1 failed' 1
fake unit a "echo '$summary'"
rm "$work/build/tests/unit/a"
expect 'so does one that was not built' '0 passed, 1 failed' 1
fake cluster a.sh 'echo 1..3' 'echo ok 1' 'echo ok 2 "# SKIP no"' \
    'echo not ok 3'
expect 'TAP is counted' '1 passed, 1 failed, 1 skipped' 1
fake cluster a.sh 'echo 1..3' 'echo ok 1'
expect 'a broken plan fails' '1 passed, 1 failed' 1
fake cluster a.sh 'exit 0'
fake cluster test_b 'exit 3'
expect 'a script is one case' '1 passed, 1 failed' 1
fake cluster a.sh 'trap "exit 0" INT' 'kill -INT $$' 'exit 1'
expect 'a test may be interrupted' '1 passed, 0 failed' 0
fake cluster a.sh 'sleep 20 >/dev/null 2>&1 &'
expect 'what a test left behind fails and is killed' '1 passed, 1 failed' 1 \
    'FAIL  cluster/a left a process behind: '

#   meet MINE OTHER: says that MINE is there, and waits for OTHER.
meet="cd '$work'"'
    meet () {
        echo >"$1"
        for _ in $(seq 100); do
            [ ! -e "$2" ] || return 0
            sleep 0.05
        done
        return 1
    }'
fake fuzz a "$meet" 'meet fuzz unit && echo 1 passed, 0 failed'
fake unit a "$meet" "meet unit fuzz && echo '$summary'"
expect 'who works and who waits do not wait for each other' \
    '6 passed, 0 failed' 0
fake fuzz a 'echo 7 passed, 0 failed'
fake unit b "echo '$summary'"
fake_simulators () {    # ANSWER
    fake sim sim "echo \"$1\""
    fake hooks sim "echo \"$1\""
    fake sim/ways ways "echo \"$1\""
}
fake_simulators 'seeds $4, failures 0, steps 9'
expect 'everything is added up' '18 passed, 0 failed' 0
fake_simulators 'seeds $4, failures 1, steps 9'
expect 'a seed that fails, fails' '0 passed, 6 failed' 1
fake_simulators 'seeds 0, failures 0, steps 9'
expect 'a simulator without seeds fails' '0 passed, 6 failed' 1

export SILENT_S=2
fake cluster a.sh 'echo begun' 'sleep 20'
expect 'one that says nothing any more hangs, and is ended' \
    '0 passed, 1 failed' 1 "'cluster/a' hangs"
fake cluster a.sh 'trap "" TERM' 'sleep 20; sleep 20'
expect 'although it is deaf' '0 passed, 1 failed' 1 "'cluster/a' hangs"
fake cluster a.sh 'for i in 1 2 3 4 5 6 7 8; do echo; sleep 0.5; done'
fake fuzz a 'for i in $(seq 40); do head -c 4000000 /dev/urandom; sleep 0.1
    done >/dev/null' 'echo 1 passed, 0 failed'
expect 'not who writes, nor who works' '2 passed, 0 failed' 0
unset SILENT_S

fake unit a "echo '$summary'"
fake unit b "echo '$summary'" 'exit 1'
TEST='unit/[a] ?nit/a' TIMES=3 expect 'only what is asked for, so many times' \
    '15 passed, 0 failed' 0 'unit/a 3'
fake cluster cli_a.sh 'exit 0'
fake cluster cli_b.sh 'exit 1'
TEST=cli_a expect 'also without its suite' '1 passed, 0 failed' 0
fake cluster cli_a.sh 'exit 0'
TEST='cli_a unit/cli' expect 'a name of none is told, and what is near it' \
    'run.sh: but there is: cluster/cli_a' 2 "there is no test 'unit/cli'"
fake unit a "echo '$summary'"
TEST='a b' expect 'all of them have to be there' \
    "run.sh: there is no test 'b'" 2

#   Two are at work at one time, but for programs of others.
alone='[ ! -e alone ] && echo >alone && sleep 2 && rm alone'
fake cluster a.sh "cd '$work'" "$alone"
fake cluster b.sh "cd '$work'" "$alone"
expect 'tests wait beside each other' '1 passed, 1 failed' 1
rm -f "$work/alone"
fake cluster a.sh "cd '$work'" "$alone"
fake cluster b.sh "cd '$work'" "$alone"
loops=()
for ((i = 0; i < 8 * $(nproc); i++)); do
    nice -n 19 timeout 60 sh -c 'echo >>"$0"; while :; do :; done' \
        "$work/loops" &
    loops+=($!)
done
until [ "$(wc -l <"$work/loops")" = ${#loops[@]} ]; do
    sleep 0.1
done
others='' expect 'one by one when others want to run' '2 passed, 0 failed' 0
kill "${loops[@]}"
wait

#   As many tests as there are processors, and two; a test fails that sees more
#   beside it than it may.
many=$(($(nproc) + 2))
fake_many () {
    local i
    for ((i = 0; i < many; i++)); do
        fake cluster "$i.sh" "cd '$work'" 'touch here.$$' 'sleep 1' \
            'n=$(ls here.* | wc -l)' 'sleep 1' 'rm here.$$' \
            "[ \"\$n\" -lt $many ]"
    done
}
if [ "$many" -le 10 ]; then
    fake_many
    CROWD=-1 expect 'one for each processor where too many want to run' \
        "$many passed, 0 failed" 0
    fake_many
    CROWD=1000 expect 'all at once else' "0 passed, $many failed" 1
fi

mkdir -p "$work/tests"
expect 'no test at all is a failure' '0 passed, 0 failed' 1
done_checking
