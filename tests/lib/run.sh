#!/bin/bash
#   run.sh - runs the tests and counts every case of them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   run.sh SUITE...       style style_fast unit corpus model simulator python
#                         cluster cluster_long (see the Makefile; BUILD is set)
#
#   It looks at the machine, and at who hangs, each BEAT_S seconds.
#
#   With TEST='NAME...' only these are run, TIMES=n times each; a name is as
#   in a line of the report, with its suite or without (cluster/cli_see,
#   cli_see), and may be a pattern. If one is that of no test nothing is run;
#   with NAMES_ONLY=1 nothing is run at all, and nothing has to be built.
#
#   Tests are found by their sources, so one that was not built fails. Each
#   writes to a log of its own in $BUILD/check; what it printed is counted:
#   "N passed, N failed", Check's summary or TAP. Only a script may print
#   none: it is one case, as is a run of the simulator. A line ends with how
#   long it took, and how long processors were busy with it. The last line is
#   the sum.
#
#   Some tests work, and some wait for the most part; all suites that were
#   asked for are begun together, so that neither waits for the other:
#
#   working   burns processors, and no clock matters to it: one per processor,
#             and niced, so that the tests that wait come first
#   waiting   real processes and real time: five per processor
#
#   These are fewer while programs of others run (rooms), and none that waits is
#   begun while too many want to run, ours or not (is_swamped): machines differ
#   by ten times in how fast a process starts. No test has a limit in time, as
#   nobody knows how busy the machine is: a test hangs if it has written nothing
#   for a while (look), a working one, or one of a unit (Check has an eye on
#   these), only if it uses no processor either. Each is a session of its own,
#   so that the kernel shares the processors out among tests and other programs
#   fairly.

set -u
cd "$(dirname "$0")/../.." || exit 2
export BUILD=${BUILD:-$PWD/build}
export CC=${CC:-gcc}
export LC_ALL=C
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-10}
run=run-$$-$RANDOM     # in the environment of all that we start, with the
export LK_CHECK_RUN=$run.0      # number of the test
slots=$(nproc 2>/dev/null || echo 2)
[ "$slots" -le 8 ] || slots=8
logs=$BUILD/check
scratch=$(mktemp -d /tmp/lk.XXXXXX) || exit 2
chmod 711 "$scratch"     # some tests act as another user
began=$(date +%s)
read -ra wanted <<<"${TEST:-*}"
times=${TIMES:-1}
unset TEST TIMES
passed=0 failed=0 skipped=0 number=0
silent_s=${SILENT_S:-180}      # then it hangs; `await` gives up before that
beat_s=${BEAT_S:-5}                  # how often we look
beat=''                        # the process that tells us to
others=${OTHERS:-}     # programs of others that want to run, in hundredths
crowd=${CROWD:-8}      # per processor: so many may want to run, of ours
declare -A job_name=() job_kind=() job_log=() job_start=() job_pool=() \
    job_number=() job_seen=() job_heard=() job_hangs=()
declare -A rooms=([working]=$slots [waiting]=$((5 * slots)))
declare -A room=()     # of these, as long as others want to run, too
declare -A used=([working]=0 [waiting]=0)
declare -A asked=([working]=0 [waiting]=0)
declare -A begun=([working]=0 [waiting]=0)
declare -A todo=() # what was asked for, by POOL.NUMBER
declare -A found=()     # names that were asked for, and are those of tests
known=()                # tests
ended=()           # names of tests, by their numbers in LK_CHECK_RUN

mkdir -p "$logs"

finish () {
    local pid
    for pid in "${!job_name[@]}"; do
        kill -TERM -- "-$pid" 2>/dev/null
    done
    wait
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

#   "passed failed skipped" of a log, or nothing if it has no count.
count () {
    awk '
        match ($0, /[0-9]+ passed, [0-9]+ failed/) {
            split (substr ($0, RSTART, RLENGTH), n, / passed, | failed/)
            plain = 1; plain_ok = n[1]; plain_bad = n[2]; plain_skip = 0
            if (match ($0, /[0-9]+ skipped/)) {
                plain_skip = substr ($0, RSTART) + 0
            }
        }
        /^seeds [0-9]+, failures [0-9]+/ {
            plain = 1; plain_ok = $2 + 0 > 0 && $4 + 0 == 0
            plain_bad = !plain_ok
        }
        /^[0-9]+%: Checks: / {
            gsub (/,/, ""); check = 1
            check_ok += $3 - $5 - $7; check_bad += $5 + $7
        }
        /^ok/ && /# *[Ss][Kk][Ii][Pp]/ { tap_skip++; seen++; next }
        /^ok/ { tap_ok++; seen++ }
        /^not ok/ { tap_bad++; seen++ }
        /^1\.\.[0-9]+/ { planned = substr ($1, 4) + 0; plan = 1 }
        END {
            if (plain) {
                print plain_ok, plain_bad, plain_skip + 0
            } else if (check) {
                print check_ok, check_bad, 0
            } else if (seen || plan) {
                if (plan && planned != seen) { tap_bad++ }
                print tap_ok + 0, tap_bad + 0, tap_skip + 0
            }
        }' "$1"
}

#   Processes that tests which have ended left behind: "pid number-of-test".
strays () {
    local file test
    for file in $(grep -lsz "^LK_CHECK_RUN=$run\\." /proc/[0-9]*/environ); do
        test=$(tr '\0' '\n' 2>/dev/null <"$file" |
            sed -n "s/^LK_CHECK_RUN=$run\\.//p")
        [ -z "${ended[test]:-}" ] || echo "$(basename "${file%/*}") $test"
    done
}

#   judge PID STATUS: counts what a job printed.
judge () {
    local name=${job_name[$1]} kind=${job_kind[$1]} log=${job_log[$1]}
    local status=$2 ok=0 bad=0 skip=0 word=ok seconds result
    result=$(count "$log")
    seconds=$(($(date +%s) - ${job_start[$1]}))
    if [ -n "$result" ]; then
        read -r ok bad skip <<<"$result"
    elif [ "$kind" = script ] && [ "$status" = 77 ]; then
        skip=1
    elif [ "$kind" = script ] && [ "$status" = 0 ]; then
        ok=1
    elif [ "$kind" = script ]; then
        bad=1
    else
        echo "run.sh: '$name' printed no count of its cases" >>"$log"
        bad=1
    fi
    case $status in
        0 | 77) ;;
        *) [ "$bad" != 0 ] ||
            echo "run.sh: '$name' ended with status $status" >>"$log" ;;
    esac
    if [ "$bad" = 0 ] && [ "$status" != 0 ] && [ "$status" != 77 ]; then
        bad=1
    fi
    [ "$bad" = 0 ] || word=FAIL
    passed=$((passed + ok)) failed=$((failed + bad))
    skipped=$((skipped + skip))
    printf '%-4s  %-36s %5d passed' "$word" "$name" "$ok"
    [ "$bad" = 0 ] || printf ', %d failed' "$bad"
    [ "$skip" = 0 ] || printf ', %d skipped' "$skip"
    printf '  %d s%s\n' "$seconds" "$(processor_time "${job_number[$1]}")"
    if [ "$word" = FAIL ]; then
        grep -aE '^not ok|^#|:[EF]:|run.sh:|ERROR|rror:' "$log" | head -40 |
            sed 's/^/      | /'
        tail -n 15 "$log" | sed 's/^/      : /'
        echo "      the whole log: $log"
    else
        grep -aE '^(measured: |(seeds|took) [0-9]|faults: )' "$log" |
            sed 's/^/      /'
    fi
    ended[${job_number[$1]}]=$name
    used[${job_pool[$1]}]=$((used[${job_pool[$1]}] - 1))
    unset "job_name[$1]" "job_kind[$1]" "job_log[$1]" "job_start[$1]" \
        "job_pool[$1]" "job_number[$1]" "job_seen[$1]" "job_heard[$1]" \
        "job_hangs[$1]"
}

#   Waits for the end of a test, or for the next beat.
reap () {
    local pid status
    [ -n "$beat" ] || {
        sleep "$beat_s" &
        beat=$!
    }
    wait -n -p pid "${!job_name[@]}" "$beat"
    status=$?
    if [ "${pid:-}" = "$beat" ]; then
        beat=
        look
    elif [ -n "${pid:-}" ]; then
        judge "$pid" "$status"
    fi
}

#   ------------------------------------------------------------ the machine

#   processes: "PID PARENT SESSION STATE TICKS" of each, with those of its
#   children that have ended.
processes () {
    cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^\([0-9]*\) .*) /\1 /' |
        awk '{ print $1, $3, $5, $2, $13 + $14 + $15 + $16 }'
}

#   How many of others want to run now; $1 is what processes says. Threads of
#   the kernel do not count.
runnable_others () {
    awk '$4 == "R" && $2 != 2 { print "/proc/" $1 "/environ" }' <<<"$1" |
        xargs -r grep -Lsz "^LK_CHECK_RUN=$run\\." 2>/dev/null | wc -l
}

#   make_room OTHERS: the more want to run now, the fewer of ours. $OTHERS is
#   what to believe instead.
make_room () {
    local pool
    [ -n "${OTHERS:-}" ] || others=$(((${others:-$1 * 100} * 3 + $1 * 100) / 4))
    for pool in "${!rooms[@]}"; do
        room[$pool]=$((rooms[$pool] * 100 / (100 + others * 2 / 3 / slots)))
        [ "${room[$pool]}" -gt 0 ] || room[$pool]=1
    done
}

#   Whether more want to run, on the average of the last minute, than leave the
#   tests that wait their time; but there is always one for each processor.
is_swamped () {
    local load
    [ "${used[waiting]}" -ge "$slots" ] || return 1
    read -r load _ </proc/loadavg
    [ "${load%.*}" -gt $((crowd * slots + others / 100)) ]
}

#   look: at the machine, and which tests go on.
look () {
    local all pid seen
    all=$(processes)
    make_room "$(runnable_others "$all")"
    for pid in "${!job_name[@]}"; do
        seen=$(stat -c %s "${job_log[$pid]}")
        [[ ${job_pool[$pid]} != working && ${job_name[$pid]} != unit/* ]] ||
            seen+=" $(awk -v s="$pid" \
                '$3 == s { t += $5 } END { print t }' <<<"$all")"
        if [ "$seen" != "${job_seen[$pid]}" ]; then
            job_seen[$pid]=$seen
            job_heard[$pid]=$SECONDS
        elif [ $((SECONDS - job_heard[$pid])) -gt "$silent_s" ]; then
            end_hanging "$pid"
        fi
    done
}

#   end_hanging PID: its log gets what it was doing. It may be deaf.
end_hanging () {
    local signal=KILL
    [ -n "${job_hangs[$1]:-}" ] || {
        signal=TERM
        echo "run.sh: '${job_name[$1]}' hangs: nothing for $silent_s s"
        ps -eo pid,ppid,sid,stat,wchan:20,etime,args |
            awk -v s="$1" 'NR == 1 || $3 == s' | cut -c 1-160
    } >>"${job_log[$1]}"
    kill "-$signal" -- "-$1"
    job_hangs[$1]=$signal
    job_heard[$1]=$((SECONDS - silent_s + 10))
}

#   ------------------------------------------------------------ one test

#   Runs "$@"; the file $0 gets its user and system time. Told to end, it waits
#   for its command, which is told, too.
timed='TIMEFORMAT="%3U %3S"
trap : TERM
exec 3>&2 2>"$0"
time "$@" 2>&3 3>&-'

#   processor_time TEST: what it took of that, as ", N.N s busy".
processor_time () {
    local ms times
    times=$(tail -n 1 "$scratch/$1.times" 2>/dev/null)
    [[ $times =~ ^([0-9]+)\.([0-9]+)\ ([0-9]+)\.([0-9]+)$ ]] || return
    ms=$((10#${BASH_REMATCH[1]}${BASH_REMATCH[2]} +
        10#${BASH_REMATCH[3]}${BASH_REMATCH[4]}))
    echo ", $((ms / 1000)).$((ms / 100 % 10)) s busy"
}

#   start POOL KIND NAME COMMAND... A shell has its jobs ignore what comes from
#   a terminal, and tests send that.
start () {
    local pool=$1 kind=$2 name=$3 log tmp as=(env "--default-signal=INT,QUIT")
    shift 3
    [ "$pool" != working ] || as+=(nice -n 19 prlimit --cpu=1200)
    number=$((number + 1))
    log=$logs/${name//[\/ ]/-}.log
    tmp=$scratch/$number
    mkdir "$tmp"
    LK_CHECK_RUN=$run.$number TMPDIR=$tmp setsid "${as[@]}" \
        bash -c "$timed" "$tmp.times" "$@" >"$log" 2>&1 </dev/null &
    job_name[$!]=$name job_kind[$!]=$kind job_log[$!]=$log
    job_pool[$!]=$pool job_number[$!]=$number
    job_start[$!]=$(date +%s) job_heard[$!]=$SECONDS job_seen[$!]=''
    used[$pool]=$((used[$pool] + 1))
}

is_wanted () {
    local pattern wanted_by=0
    for pattern in "${wanted[@]}"; do
        # shellcheck disable=SC2053
        if [[ $1 = $pattern || $1 = */$pattern ]]; then
            found[$pattern]=yes
            wanted_by=$((wanted_by + 1))
        fi
    done
    [ $wanted_by -gt 0 ]
}

#   Tells of names that are those of no test, and ends; but it is no mistake to
#   ask for all where there are none.
check_wanted () {
    local name near missing=0
    for name in "${wanted[@]}"; do
        [ "$name" != '*' ] && [ -z "${found[$name]:-}" ] || continue
        missing=1
        echo "run.sh: there is no test '$name'" >&2
        near=$(printf '%s\n' "${known[@]}" | grep -F -- "${name##*/}" | sort -u |
            head -n 5 | paste -sd ' ')
        [ -z "$near" ] || echo "run.sh: but there is: $near" >&2
    done
    [ "$missing" = 0 ] || exit 2
}

#   job POOL KIND NAME COMMAND...: is started when there is room for it.
job () {
    local pool=$1 kind=$2 name=$3 turn
    shift 3
    known+=("$name")
    is_wanted "$name" || return 0
    for ((turn = 1; turn <= times; turn++)); do
        asked[$pool]=$((asked[$pool] + 1))
        todo[$pool.${asked[$pool]}]="$kind ${name@Q} ${*@Q}"
        name=${name% *}\ $((turn + 1))
    done
}

#   fill POOL: begins what there is room for, in the order of the calls of job.
fill () {
    local pool=$1 words
    while [ "${used[$pool]}" -lt "${room[$pool]}" ] &&
            [ "${begun[$pool]}" -lt "${asked[$pool]}" ] &&
            { [ "$pool" = working ] || ! is_swamped; }; do
        begun[$pool]=$((begun[$pool] + 1))
        eval "words=(${todo[$pool.${begun[$pool]}]})"
        start "$pool" "${words[@]}"
    done
}

#   Does all that is asked for.
work () {
    make_room "$(runnable_others "$(processes)")"
    while :; do
        fill working
        fill waiting
        [ ${#job_name[@]} -gt 0 ] || break
        reap
    done
    clean_up
}

#   What tests left running is a failure, and is ended; but they may end by
#   themselves, for a moment.
clean_up () {
    local try left pid test
    for try in 1 2 3 4 5; do
        left=$(strays)
        [ -n "$left" ] || return
        sleep 0."$try"
    done
    while read -r pid test; do
        echo "FAIL  ${ended[test]} left a process behind:" \
            "$pid $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
        kill -9 "$pid" 2>/dev/null
    done <<<"$left"
    failed=$((failed + 1))
}

#   ------------------------------------------------------------ the suites

style_fast () {
    local script
    for script in layers circles sockets purity text format headers symbols \
        man sections messages commit shell; do
        job working tap "style/$script" bash "tests/style/$script.sh"
    done
}

#   The slow ones too: checks of the checks, and what we ship.
style () {
    local script
    style_fast
    job waiting tap style/runner bash tests/style/runner.sh
    for script in planted python package; do
        job working tap "style/$script" env PARTS=5 \
            bash "tests/style/$script.sh"
    done
}

#   Many of these wait more than they work.
unit () {
    local source
    for source in tests/unit/*.c; do
        [ -e "$source" ] || continue
        job waiting count "unit/$(basename "$source" .c)" \
            "$BUILD/${source%.c}"
    done
}

corpus () {
    local source name
    for source in tests/fuzz/*.c; do
        [ -e "$source" ] || continue
        name=$(basename "$source" .c)
        job working count "fuzz/$name" "$BUILD/tests/fuzz/$name" \
            "tests/fuzz/corpus/$name"
    done
}

#   A small part of `make model`.
model () {
    [ ! -f tests/model/run.sh ] ||
        job working tap model/quick bash tests/model/run.sh quick
}

#   Random seeds, and the scripts that place faults on single messages.
simulator () {
    local sim=$BUILD/tests/sim/sim steps=${STEPS:-3000000} seed=${SEED:-1}
    local script
    ls tests/sim/*.c >/dev/null 2>&1 || return
    for script in canaries shrinking repeatable; do
        [ -f "tests/sim/$script.sh" ] || continue
        job working tap "sim/$script" env CC="$CC ${SANITIZE:-}" PARTS=9 \
            sh "tests/sim/$script.sh"
    done
    job working sim sim/equal_hashes "$BUILD/tests/hooks/sim" \
        --seed "$seed" --runs 40 --jobs "$slots"
    job working sim sim/scripts "$sim" --script all --seed "$seed" \
        --runs $((1 + steps / 1000000)) --jobs "$slots"
    for script in two-hosts two-hosts-far; do    # 60 seeds are its table
        job working sim "sim/$script" "$sim" --script "$script" \
            --seed "$seed" --runs 120 --jobs "$slots"
    done
    job working sim sim/ways "$BUILD/tests/sim/ways/ways" --seed "$seed" \
        --runs 60
    job working sim sim/seeds "$sim" --seed "$seed" --steps "$steps" \
        --jobs "$slots"
}

#   The cluster tests: executables, and test_*.c. Names that do not begin
#   with test_ (or end in .sh) are what these tests share. Those that take
#   longest first.
cluster_tests () {
    local test
    for test in tests/cluster/{cli_err,library_lost,bench_,hosted,kill_}* \
            tests/cluster/{conform_,faults_run,cli_see,cut_,latency_}* \
            tests/cluster/cli_faults* \
            tests/cluster/{manager,library_,faults_,daemon_}* \
            tests/cluster/*; do
        case $test in
            tests/cluster/test_*.c) echo "$BUILD/${test%.c}" ;;
            *.sh | tests/cluster/test_*) [ ! -x "$test" ] || echo "$test" ;;
        esac
    done | awk '!seen[$0]++'
}

#   Real processes and real time.
cluster () {
    local test
    while IFS= read -r test; do
        job waiting script "cluster/$(basename "${test%.sh}")" "$test"
    done < <(cluster_tests)
}

#   The Python module.
python () {
    local test
    for test in tests/python/test_*.py; do
        [ -e "$test" ] || continue
        job waiting tap "python/$(basename "$test" .py)" \
            bash tests/python/run.sh "$(basename "$test" .py)"
    done
}

#   Faults of real processes alone, for as long as $ROUNDS makes them. A round
#   of kill_handover is a fault of each kind: half as many; and faults_run has
#   16 kinds. conform_far_* play all their cases.
cluster_long () {
    local test rounds
    rooms[waiting]=2
    while IFS= read -r test; do
        rounds=$ROUNDS
        case ${test##*/} in
            kill_handover.sh) rounds=$(((ROUNDS + 1) / 2)) ;;
            faults_run.sh) [ "$rounds" -ge 16 ] || rounds=16 ;;
            faults_* | kill_* | conform_far_*) ;;
            *) continue ;;
        esac
        job waiting script "cluster/$(basename "${test%.sh}")" \
            env ROUNDS="$rounds" KILL_ROUNDS="$rounds" "$test"
    done < <(cluster_tests)
}

for suite in "$@"; do
    case $suite in
        style | style_fast | unit | corpus | model | simulator | python | \
            cluster | cluster_long)
            "$suite"
            ;;
        *)
            echo "run.sh: unknown suite '$suite'" >&2
            exit 2
            ;;
    esac
done
check_wanted
[ -z "${NAMES_ONLY:-}" ] || exit 0
rm -f "$logs"/*.log
work

echo "took $(($(date +%s) - began)) s"
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
