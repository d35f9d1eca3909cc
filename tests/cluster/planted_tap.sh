# shellcheck shell=bash
#   planted_tap.sh - mistakes in a client, and cases that have to find them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced with no arguments; it starts the script anew in a sandbox. Each
#   mistake is put into a copy of the Ruby client, of which conform_ruby.sh and
#   conform_far_ruby.sh show that it is right without.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=4000 \
    --set 'router/listen-clients=tcp://127.0.0.1:*'
tests=$(cd "$(dirname "$0")/.." && pwd)
cp -r "$tests/clients/ruby" "$work"

#   plant_in FILE [OPTIONS...]: mistakes are in that one from now on, and cases
#   are played with these options.
plant_in () {
    file=$1
    shift
    options=("$@")
}

#   found SCRIPT FILE CASE: the client is another one after sed's script, and
#   the case of that title, which is played alone, fails.
found () {
    local result sound=$tests/clients/ruby/$file
    awk -v title="case: $3" '/^case: / { on = $0 == title } on' \
        "$tests/conformance/$2.case" >"$work/some.case"
    sed "$1" "$sound" >"$work/ruby/$file"
    if cmp "$sound" "$work/ruby/$file"; then
        return 1
    fi
    ruby -c "$work/ruby/$file" || return 1
    code 1 python3 "$tests/conformance/run.py" --patience 5 "${options[@]}" \
        "$work/ruby" --cases "$work/some.case" >"$work/played"
    result=$?
    cp "$sound" "$work/ruby/$file"
    cat "$work/played"
    [ $result = 0 ] && grep '^not ok 1 - ' "$work/played"
}
