#!/bin/bash
#   init_links.sh - `lockkeeper init` as root spoils nothing that the daemons'
#   user points it to
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The folder of the state is that user's, who may put links there: to a file
#   of root's, the canary, or to where there is none.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
[ "$(id -u)" = 0 ] || {
    rm -rf "$work"
    echo 'it takes root'
    exit 77
}
user=65534
canary=$work/canary/file
first=(--first --cluster one --host h1 --address 127.0.0.1)
join=(--unseen --join 127.0.0.2 --host h1 --address 127.0.0.1)

#   A folder of that user, and a configuration that is root's.
prepare () {
    rm -rf "$work/state" "$work/canary" "$work/conf"
    mkdir "$work/state" "$work/canary"
    chown "$user" "$work/state"
    echo 'of root' >"$canary"
    chmod 640 "$canary"
    cat >"$work/conf" <<end
router
    identity = "$work/state/identity"
    endpoint = "ipc://$work/router"
lock
    state = "$work/state"
    run = "$work/state"
end
}

#   It says why not, or does not need what is there.
init () {
    timeout 60 "$lockkeeper" init --config "$work/conf" "$@" </dev/null
    [ $? != 124 ]
}

unspoiled () {
    [ "$(cat "$canary")" = 'of root' ] &&
        [ "$(stat -c '%u %g %a' "$canary")" = '0 0 640' ] &&
        [ "$(ls "$work/canary")" = file ] || {
        ls -l "$work/canary"
        return 1
    }
}

#   try NAME OPTIONS...: with a link of that name, of each kind.
try () {
    local name=$1 kind
    shift
    for kind in link nowhere hard; do
        prepare
        case $kind in
            link) ln -s "$canary" "$work/state/$name" ;;
            nowhere) ln -s "$work/canary/new" "$work/state/$name" ;;
            hard) ln "$canary" "$work/state/$name" ;;
        esac
        check "$name ($kind): init ends" init "$@"
        check "$name ($kind): what is root's is as it was" unspoiled
    done
}

for name in lock.state lock.state.new lock.state.lock identity identity.new \
    identity.lock; do
    try "$name" "${first[@]}"
done
try join "${join[@]}"

#   Beside the configuration, too.
prepare
ln -s "$canary" "$work/conf.new"
check 'conf.new (link): init ends' code 0 init "${first[@]}"
check 'conf.new (link): what is root'"'"'s is as it was' unspoiled

are_users () {
    local file
    for file in "$@"; do
        [ "$(stat -c '%u %a' "$work/state/$file")" = "$user 600" ] || {
            ls -l "$work/state"
            return 1
        }
    done
}

prepare
echo rubbish >"$work/state/lock.state.new"
check 'without links' code 0 init "${first[@]}"
check 'what it made is the user of the folder' \
    are_users lock.state lock.state.lock identity identity.lock
prepare
check 'who joins' "$lockkeeper" init --config "$work/conf" "${join[@]}"
check 'the wish is that user, too' are_users join identity
done_checking
