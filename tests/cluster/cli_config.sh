#!/bin/bash
#   cli_config.sh - lockkeeper config, and what daemons make of its mistakes
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX") || exit 1
conf=$work/lk.conf
mkdir "$work/state" "$work/run"
trap 'rm -rf "$work"' EXIT
config () {
    "$lockkeeper" config "$@" --config "$conf"
}

#   is TEXT COMMAND...: that and nothing else is printed.
is () {
    local text=$1
    shift
    "$@" >"$work/said"
    [ "$(cat "$work/said")" = "$text" ] || {
        cat "$work/said"
        return 1
    }
}

#   ------------------------------------------------------------ get

check 'no such file' says 125 "cannot open '$conf'" config get
cat >"$conf" <<end
#   the first line
router
    dead-after = 500    # quick
    neighbour = "127.0.0.1:7001"
lock
    state = "$work/state"
    run = "$work/run"
end
mkdir "$conf.d"
printf 'router\n    neighbour = "192.0.2.1:7001"\n' >"$conf.d/10-more.conf"
check 'one value' is 500 config get router/dead-after
check 'one that is by default' is 0660 config get router/mode
check 'all values of a list' is \
    "$(printf '127.0.0.1:7001\n192.0.2.1:7001')" config get router/neighbour
check 'where it comes from' is "500  # $conf:3" \
    config get router/dead-after --origin
check 'a drop-in' says 0 "# $conf.d/10-more.conf:2" \
    config get router/neighbour --origin
check 'a default' says 0 'router/mode = 0660  # default' \
    config get router --origin
check 'the own address' is tcp://127.0.0.1:7001 config get router/listen
check 'all of a section' says 0 "lock/run = $work/run" config get lock
check 'none of another' bash -c \
    "! '$lockkeeper' config get lock --config '$conf' | grep router/"
check 'as JSON' says 0 "\"file\":\"$conf\",\"line\":3" \
    config get router/dead-after --json
printf 'host = h7\n' >"$work/state/identity"
printf 'router\n    identity = "%s"\n' "$work/state/identity" \
    >"$conf.d/z.conf"
check 'the name that is kept' says 0 \
    "router/host = h7  # $work/state/identity" config get router --origin
check 'who looks leaves nothing behind' is identity ls "$work/state"
rm "$conf.d/z.conf" "$work/state/identity"
check 'a key without a value' is '' code 1 config get router/group
check 'what was meant' says 125 "did you mean 'router/neighbour'" \
    config get router/neighbor
check 'no key at all' says 125 'config keys' config get elephants
check 'keys' says 0 'lock/host-lease' "$lockkeeper" config keys
check 'keys as JSON' says 0 '"default":"8000"' "$lockkeeper" config keys --json

#   ------------------------------------------------------------ set

check 'another value, in its place' says 0 "600  # $conf:3" \
    config set router/dead-after 600
check 'its comment stays' grep -qx '    dead-after = 600    # quick' "$conf"
check 'and so does all else' is '#   the first line' head -1 "$conf"
check 'what to do then' says 0 'systemctl restart lockkeeper-lockd' \
    config set lock/priority 3
check 'it is in its section' is '    priority = 3' sed -n 8p "$conf"
check 'to be reloaded' says 0 'systemctl reload lockkeeper-router' \
    config set router/log-level info
check 'on all hosts' says 0 'on all hosts' config set lock/host-lease 9000
check 'said already' says 0 'nothing to do' config set lock/host-lease 9000
cp "$conf" "$work/before"
check 'no value of it' says 1 'no value' config set lock/leaders 4
check 'not with another one' says 1 'three times' \
    config set lock/leader-lease 4000
check 'no address' says 1 'HOST:PORT' config set router/neighbour h2
check 'several, of what is no list' says 125 'has one value' \
    config set router/mode 0600 0660
check 'no value' says 125 'needs a value' config set router/mode
check 'no key' says 125 'did you mean' config set router/mod 0660
check 'lines' says 1 'quotes' config set router/host $'a\nb'
check 'none of these wrote' cmp "$work/before" "$conf"
check 'a list goes where it is' says 0 "127.0.0.1:9  # $conf.d/10-more.conf:3" \
    config set router/neighbour 127.0.0.1:9
check 'and is all of it' is 127.0.0.1:9 config get router/neighbour
check 'a drop-in of its own' says 0 "# $conf.d/local.conf:2" \
    config set router/group root --drop-in local
check 'which all may read' is 644 stat -c %a "$conf.d/local.conf"
printf 'lock\n    grace = 5\n' >"$conf.d/z.conf"
check 'that a later file hides' says 1 'has the last word' \
    config set lock/grace 6 --drop-in a
check 'was not made' test ! -e "$conf.d/a.conf"
check 'no name of a drop-in' says 125 'is no name of a drop-in' \
    config set lock/grace 6 --drop-in ../a
check 'unset' says 0 'lock/grace = 60000  # default' \
    config set lock/grace --unset
check 'unset what is not' says 0 'nothing to do' config set lock/grace --unset
chmod 640 "$conf"
check 'its mode stays' bash -c "
    '$lockkeeper' config set lock/digest 700 --config '$conf' &&
    [ \$(stat -c %a '$conf') = 640 ]"
check 'of many at once none is lost' bash -c "
    for key in grace=701 digest=702 dead-after=703 priority=4 leaders=5; do
        '$lockkeeper' config set lock/\${key%=*} \${key#*=} \
            --config '$conf' &
    done
    wait
    [ \$('$lockkeeper' config get lock --config '$conf' |
        grep -cE '= (70[123]|4|5)\$') = 5 ]"
check 'a full disk' bash -c "
    cp '$conf' '$work/before'
    (ulimit -f 0; trap '' XFSZ
        '$lockkeeper' config set lock/digest 800 --config '$conf')
    [ \$? = 125 ] && cmp '$work/before' '$conf' && [ ! -e '$conf.new' ]"
check 'nothing is left' is '' find "$work" -name '*.new'

#   ------------------------------------------------------------ verify

check 'all is right' says 0 "right: $conf, $conf.d/10-more.conf" config verify
cat >"$work/bad" <<end
router
    prot = 1
    dead-after = 1
    neighbour = 192.0.2.7
    neighbour = "192.0.2.7:1"
    neighbour = "192.0.2.7:1"
  host = h1
    group = nobody-has-this-group
    listen = "tcp://192.0.2.7:1"
lock
    state = "$work/nowhere"
    leader-lease = 1000
end
chmod o+w "$work/bad"
check 'what is wrong' code 1 bash -c \
    "'$lockkeeper' config verify '$work/bad' >'$work/wrong'"
#   wrong LINE TEXT
wrong () {
    check "mistakes: $2" grep -qF -- "'$work/bad'$1: $2" "$work/wrong"
}
wrong ', line 2' "there is no setting 'router/prot'"
wrong ', line 3' "'1' is no value for 'router/dead-after': a number from 100"
wrong ', line 4' "'192.0.2.7' is no value for 'router/neighbour': HOST:PORT"
wrong ', line 6' "'192.0.2.7:1' is no value for 'router/neighbour': it is there"
wrong ', line 7' 'indented by spaces that are not four'
wrong ', line 8' "there is no group 'nobody-has-this-group': addgroup"
wrong ', line 9' "'tcp://192.0.2.7:1' is no value for 'router/listen': it is no"
wrong ', line 11' "there is no folder '$work/nowhere': make it"
wrong ', line 12' "'lock/leader-lease' is less than two times"
wrong '' 'anybody may write to it: chmod o-w'
check 'and nothing else' is 10 grep -c . "$work/wrong"
check 'as JSON' says 1 '"line":2,"mistake":"there is no' \
    "$lockkeeper" config verify "$work/bad" --json
check 'no own address' says 1 'is an address of this host, which has' bash -c "
    printf 'router\n    neighbour = \"192.0.2.7:1\"\n' >'$work/strange'
    '$lockkeeper' config verify '$work/strange'"
check 'a file that is not there' says 125 'cannot open' \
    "$lockkeeper" config verify "$work/none"
check 'get tells mistakes, and what is right' says 1 'router/mode = 0660' \
    "$lockkeeper" config get --config "$work/bad"

#   One setting says where the router is.
cat >"$work/moved" <<end
router
    endpoint = "ipc://$work/moved.router"
    identity = "$work/state/identity"
    listen = "tcp://127.0.0.1:*"
    address = "127.0.0.1:*"
lock
    state = "$work/state"
    run = "$work/run"
end
check 'the lock service follows the router' is \
    "lock/endpoint = ipc://$work/moved.router  # as router/endpoint" \
    bash -c "'$lockkeeper' config get --origin --config '$work/moved' |
        grep lock/endpoint"
check 'that is right' says 0 'right: ' "$lockkeeper" config verify "$work/moved"
sed 's#moved.router#nowhere#; s#ipc:#tcp:#' "$work/moved" >"$work/bad.moved"
check 'one mistake is told once' is "'$work/bad.moved', line 2: 'tcp://$work/\
nowhere' is no value for 'router/endpoint': ipc://PATH" bash -c \
    "'$lockkeeper' config verify '$work/bad.moved' | grep /nowhere"
sed '$a\    endpoint = "ipc:///run/lockkeeper/router"' "$work/moved" \
    >"$work/two.moved"
check 'where they disagree' says 1 "', line 9: the lock service would seek \
the router at 'ipc:///run/lockkeeper/router', and it is at 'ipc://$work/" \
    "$lockkeeper" config verify "$work/two.moved"

#   ------------------------------------------------------------ daemons

sed '/^  host/d; /nobody/d; /192.0.2.7:1/d' "$work/bad" >"$work/less"
for daemon in router lockd; do
    check "$daemon: the same words" says 2 "$(
        "$lockkeeper" config verify "$work/less" | sed -n 2p)" \
        "$BUILD/lockkeeper-$daemon" --config "$work/less"
    check "$daemon: all of them" grep -q "line 2: there is no" "$work/said"
done

#   A router whose file gets worse while it runs.
cat >"$work/good" <<end
router
    identity = "$work/state/identity"
    listen = "tcp://127.0.0.1:*"
    endpoint = "ipc://$work/router"
end
"$BUILD/lockkeeper-router" --config "$work/good" 2>"$work/log" &
pid=$!
trap 'kill $pid 2>/dev/null; rm -rf "$work"' EXIT
check 'it makes its identity' await grep -q 'identity: made' "$work/log"
check 'which is for it alone' is 600 stat -c %a "$work/state/identity"
check 'and it starts' await grep -q 'down -> up' "$work/log"
echo '    log-level = loud' >>"$work/good"
kill -HUP $pid
check 'a bad file is not taken' await grep -q \
    "not reloaded: '$work/good', line 5: 'loud' is no value" "$work/log"
check 'and it goes on' kill -0 $pid
kill $pid
wait $pid
"$BUILD/lockkeeper-router" --config "$work/moved" 2>"$work/log" &
pid=$!
"$BUILD/lockkeeper-lockd" --config "$work/moved" 2>"$work/lockd.log" &
lockd=$!
trap 'kill $pid $lockd 2>/dev/null; rm -rf "$work"' EXIT
check 'the lock service finds a router that was moved' await says 1 \
    'no member of a cluster' \
    "$lockkeeper" cluster members --endpoint "ipc://$work/moved.router"
kill $pid $lockd
wait $pid $lockd
sed -i '/loud/d' "$work/good"
printf 'host = elsewhere\nmachine = 0123456789abcdef\n' >"$work/state/identity"
[ ! -s /etc/machine-id ] ||
    check 'an identity of another machine' says 1 "remove its line 'machine'" \
        timeout 90 "$BUILD/lockkeeper-router" --config "$work/good"
echo 'nonsense here' >"$work/state/identity"
check 'an identity that makes no sense' says 1 'identity'\'', line 1' \
    timeout 90 "$BUILD/lockkeeper-router" --config "$work/good"
rm "$work/state/identity"
said=$(ulimit -f 0; trap '' XFSZ
    timeout 90 "$BUILD/lockkeeper-router" --config "$work/good" 2>&1)
check 'no room for it' grep -q "cannot write '$work/state/identity'" <<<"$said"
rm -r "${work:?}/state"
check 'no folder for it' says 1 "there is no folder '$work/state'; make it" \
    timeout 90 "$BUILD/lockkeeper-router" --config "$work/good"
done_checking
