# shellcheck shell=bash
#   errors_tap.sh - that errors are told as in the pages (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced, in a sandbox. An item of DIAGNOSTICS is met when a command fails
#   and what it says begins so; "..." stands for anything. In the end each item
#   of the pages was met.

pages=$(cd "$(dirname "$0")/../../man" && pwd) || exit 1
#   items PAGE: those of it, made once.
items () {
    [ -e "$work/items.$1" ] || python3 "$pages/../tests/style/errors.py" \
        --items "$pages/$1" >"$work/items.$1"
    cat "$work/items.$1"
}
: >"$work/met"

#   as_pattern ITEM: for [[.
as_pattern () {
    local pattern=${1//\\/\\\\}
    pattern=${pattern//[/\\[}
    pattern=${pattern//\*/\\*}
    echo "${pattern//.../*}"
}

#   note PAGE ITEM: it is met now, and has to be in that page.
note () {
    echo "$1 $2" >>"$work/met"
    items "$1" | grep -xF -- "$2" >/dev/null || {
        echo "not in the page: $2"
        return 1
    }
}

#   met PAGE CODE ITEM COMMAND...: nothing is on stdout, and stderr begins so.
met () {
    local page=$1 wanted=$2 item=$3 line got
    shift 3
    note "$page" "$item" || return 1
    if declare -F "$1" >/dev/null; then
        "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
    else
        timeout 90 "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
    fi
    got=$?
    [ "$got" = "$wanted" ] || {
        echo "exit code $got, not $wanted"
        cat "$work/stdout" "$work/stderr"
        return 1
    }
    [ ! -s "$work/stdout" ] || {
        echo 'on stdout:'
        cat "$work/stdout"
        return 1
    }
    line=$(head -n 1 "$work/stderr" | sed -E 's/^20[-0-9T:.Z]+ //')
    line=${line#lockkeeper*: }
    # shellcheck disable=SC2053
    [[ ${line#error: } == $(as_pattern "$item")* ]] || {
        echo "not as in the page: $line"
        return 1
    }
}

#   logged PAGE ITEM FILE [LEVEL]: a file has it, as a warning or an error of a
#   daemon (or another LEVEL), in the end.
logged () {
    local page=$1 item=$2 file=$3 level=${4-@(error|warning): }
    note "$page" "$item" || return 1
    await has_line "$level*$(as_pattern "$item")" "$file" || {
        cat "$file"
        return 1
    }
}
has_line () {
    local line
    while IFS= read -r line; do
        # shellcheck disable=SC2053
        [[ $line == *$1* ]] && return 0
    done <"$2"
    return 1
}

#   unmet PAGE ITEM...: cannot be provoked by this user or on this machine.
unmet () {
    local page=$1
    shift
    printf "$page %s\n" "$@" >>"$work/met"
}

#   all_met PAGES...: each of their items.
all_met () {
    local page
    for page in "$@"; do
        items "$page" | sed "s/^/$page /"
    done | sort >"$work/told"
    check 'all that the pages have was met' sh -c "
        sort -u '$work/met' | comm -13 - '$work/told' | grep . && exit 1 || :"
}
