#!/bin/bash
#   run.sh - has SPIN try the model in every order, and prints a table
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   BUILD=build bash tests/model/run.sh [quick]
#
#   A line per configuration: those that must be without a violation, goals
#   (that the end of the model is reached at all), and planted mistakes, which
#   SPIN must find. quick: one of each. Prints TAP, too.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
model=$PWD/tests/model/lockkeeper.pml
mkdir -p "${BUILD:-build}"
work=$(cd "${BUILD:-build}" && pwd)/model
rows=${1:-all}
cases=0
failed=0

if ! command -v spin >/dev/null; then
    echo '1..0 # SKIP spin is not installed'
    exit 77
fi

#   figure PATTERN FIELD: a number in what SPIN printed.
figure () {
    awk -v pattern="$1" -v field="$2" '$0 ~ pattern { print $field; exit }' \
        out
}

#   verdict EXPECTED: what came out, and whether it had to.
verdict () {
    local errors result
    errors=$(awk '/errors: / { print $NF }' out)
    if grep -q 'assertion violated' out; then
        result='violation found'
    elif [ "$errors" = 0 ] && ! grep -qE 'max search depth|-DMEMLIM' out; then
        result='none in all states'
    else
        result='not finished'
    fi
    printf '%s' "$result"
    case $1/$result in
        holds/none* | found/violation*) return 0 ;;
        *) return 1 ;;
    esac
}

#   try EXPECTED NAME CONSTANT...: holds or found. `order` and `depth` are for
#   what would take SPIN long to find in its own order.
try () {
    local expected=$1 name=$2 word=ok result
    shift 2
    cases=$((cases + 1))
    rm -rf "${work:?}/$cases" && mkdir -p "$work/$cases" &&
        cd "$work/$cases" || exit 2
    {
        spin "${@/#/-D}" -a "$model" &&
            ${CC:-gcc} -O1 -w -DSAFETY -DNOREDUCE -DVECTORSZ=1024 \
                -DMEMLIM=6000 ${order:-} -o pan pan.c &&
            ./pan -m"${depth:-10000}" -w22
    } >out 2>&1
    result=$(verdict "$expected") || word='not ok'
    printf '# %-50s %9s %5s %5s %6s  %s\n' "${*/MISTAKE=*/}" \
        "$(figure 'states, stored' 1)" \
        "$(sed -n 's/.*depth reached \([0-9]*\).*/\1/p' out)" \
        "$(figure 'total actual memory' 1 | cut -d. -f1)" \
        "$(figure 'elapsed time' 4)" "$result"
    echo "$word $cases - $name"
    if [ "$word" != ok ]; then
        failed=$((failed + 1))
        tail -n 5 out | sed 's/^/# /'
        tell_story "$@"
    fi
}

#   What happened, line by line.
tell_story () {
    [ ! -f lockkeeper.pml.trail ] ||
        spin "${@/#/-D}" -B -T -k lockkeeper.pml.trail -t "$model" 2>&1 |
        sed 's/^/# /'
}

#   slow EXPECTED NAME CONSTANT...: not in a quick run.
slow () {
    [ "$rows" = quick ] || try "$@"
}

printf '# %-50s %9s %5s %5s %6s  %s\n' configuration states depth MB s \
    violation

three="HOSTS=3 MEMBERS=3"
four="HOSTS=4 MEMBERS=4"
add="HOSTS=4 MEMBERS=3"
# shellcheck disable=SC2086
{
    try holds 'three members, one leader' \
        $three LEADERS=1 TERMS=3 OPERATION=1
    slow holds 'three members, two leaders' \
        $three LEADERS=2 TERMS=3 OPERATION=1
    slow holds 'one leader, one election more' \
        $three LEADERS=1 TERMS=4 OPERATION=1
    slow holds 'genesis' \
        $three LEADERS=2 TERMS=3 OPERATION=1 GENESIS=1
    slow holds 'terms of one number' \
        $three LEADERS=1 TERMS=4 OPERATION=1 TWIN=2
    slow holds 'one of four hosts is added or removed' \
        $add LEADERS=1 TERMS=3 OPERATION=1 CHANGE=3
    slow holds 'the decrees of four hosts, three members first' \
        $add LEADERS=0 TERMS=4 CHANGE=4
    slow holds 'the decrees of four hosts, all members first' \
        $four LEADERS=0 TERMS=4 CHANGE=4
    order=-DCOLLAPSE \
        slow holds 'the same with one election more, changes in two' \
        $four LEADERS=0 TERMS=5 CHANGE=3 UNMARKED=0

    slow found 'goal: told in term 1 or 2, term 3 in force' \
        $three LEADERS=2 TERMS=3 OPERATION=1 GOAL=1
    slow found 'goal: members changed, term 4 in force' \
        $add LEADERS=0 TERMS=4 CHANGE=4 GOAL=1

    try found 'mistake: leads in a term promised before its start' \
        $three LEADERS=2 TERMS=3 OPERATION=1 MISTAKE=LEADS_AGAIN
    slow found 'mistake: not sealed' \
        $three LEADERS=2 TERMS=3 OPERATION=1 MISTAKE=NOT_SEALED
    slow found 'mistake: serves before the decree is in force' \
        $three LEADERS=2 TERMS=3 OPERATION=1 MISTAKE=SERVES_EARLY
    slow found 'mistake: one acknowledgement is taken for all' \
        $three LEADERS=2 TERMS=3 OPERATION=1 MISTAKE=ONE_ANSWER
    slow found 'mistake: a promise is not on disk' \
        $three LEADERS=2 TERMS=3 OPERATION=1 MISTAKE=PROMISE_LOST
    slow found 'mistake: two votes of one number' \
        $three LEADERS=0 TERMS=3 TWIN=2 MISTAKE=TWO_VOTES
    slow found 'mistake: in force without a quorum' \
        $three LEADERS=0 TERMS=3 MISTAKE=NO_QUORUM
    order=-DT_REVERSE depth=50 \
        slow found 'mistake: a change off a decree that is not in force' \
        $four LEADERS=0 TERMS=5 CHANGE=3 UNMARKED=0 MISTAKE=CHANGE_AT_ONCE
}
echo "1..$cases"
[ "$failed" = 0 ]
