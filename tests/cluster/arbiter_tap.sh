# shellcheck shell=bash
#   arbiter_tap.sh - an arbiter beside hosts of own_hosts_tap.sh
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   It is a1, at address 7 of the test's.

mkdir -p "$work/a/state" "$work/a/run"

#   member H NAME: H says that NAME is one.
member () {
    at "$1" cluster members | grep -q "^$2 .*\(leader\|member\|arbiter\)"
}
#   linked H NAME
linked () {
    at "$1" status | grep -q "^$2 .* live "
}
#   take_keys CLUSTER HOST...: by hand, into its folder.
take_keys () {
    local folder=$work/a/state/$1 host
    shift
    mkdir -p "$folder"
    (umask 077 && : >"$folder/keys")
    for host; do
        printf 'accepted\n    host = "%s"\n    public-key = "%s"\n' \
            "$host" "$(key_of "$host")" >>"$folder/keys"
    done
}
#   It is there when it has told how it is.
start_arbiter () {
    rm -f "$work/a/run/status"
    "$BUILD/lockkeeper-arbiter" --host a1 --listen "tcp://$net.7:7417" \
        --state "$work/a/state" --run "$work/a/run" 2>>"$work/a/log" &
    arbiter=$!
    pids+=($!)
    check 'the arbiter is up' await test -s "$work/a/run/status"
}
kill_arbiter () {
    kill -9 "$arbiter"
    wait "$arbiter" 2>/dev/null
    true
}
#   reports TEXT: its report has that, once it has read its folder again.
reports () {
    kill -HUP "$arbiter" && sleep 0.2 && grep -qF -- "$1" "$work/a/run/status"
}
key_of_arbiter () {
    sed -n 's/^arbiter=.* key=\([^ ]*\) .*/\1/p' "$work/a/run/status"
}
#   end_host H: at once.
end_host () {
    kill -9 "${lockd[${1#h}]}" "${router[${1#h}]}"
    wait "${lockd[${1#h}]}" "${router[${1#h}]}" 2>/dev/null
    true
}
#   granted H NAME: a lock is had there.
granted () {
    at "$1" run --wait 60 "$2" -- true
}
