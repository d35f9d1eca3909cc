#!/bin/bash
#   cli_usage.sh - lockkeeper(1) without a cluster: usage, init, no router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

#   ------------------------------------------------------------ usage

check 'version' says 0 'lockkeeper 0.' "$lockkeeper" version
check '--version' says 0 'lockkeeper 0.' "$lockkeeper" --version
check 'help lists the verbs' says 0 'sandbox' "$lockkeeper" help
check 'no verb: help' says 0 'sandbox' "$lockkeeper"
for verb in run lock unlock check acquire release status list show watch top \
    wait-ready init cluster forget leave sandbox decode; do
    check "help $verb" says 0 "usage: lockkeeper $verb" \
        "$lockkeeper" help "$verb"
    check "$verb --help" says 0 "usage: lockkeeper $verb" \
        "$lockkeeper" "$verb" --help
    check "$verb --nonsense" says 125 "'--nonsense' is no option" \
        "$lockkeeper" "$verb" --nonsense
done

#   all_taken VERB: each option that help tells of is one; one that lacks its
#   value says so, and a flag is passed over.
all_taken () {
    local option
    "$lockkeeper" help "$1" --json >"$work/rows"
    sed -n 's/.*"option": *"\([a-z-]*\)".*"value".*/\1/p' "$work/rows" |
        while read -r option; do
            says 125 "option '--$option' needs a value" \
                "$lockkeeper" "$1" "--$option" || exit 1
        done || return 1
    grep -v -e '"value"' -e '"option": *"help"' "$work/rows" |
        sed -n 's/.*"option": *"\([a-z-]*\)".*/\1/p' |
        while read -r option; do
            says 125 "'--nonsense' is no option" \
                "$lockkeeper" "$1" "--$option" --nonsense || exit 1
        done
}
#   usage_fits VERB: what the usage names are options of the verb.
usage_fits () {
    local option
    "$lockkeeper" help "$1" | sed -n '1,/^$/p' | grep -oE -e '--[a-z-]+' |
        while read -r option; do
            "$lockkeeper" help "$1" | grep -qE "^  $option " || {
                echo "$option is in the usage alone"
                exit 1
            }
        done
}
for verb in $("$lockkeeper" help --json |
    sed -n 's/.*"verb": *"\([a-z-]*\)".*/\1/p'); do
    check "$verb takes the options that its help has" all_taken "$verb"
    check "usage of $verb has no other options" usage_fits "$verb"
done
check 'unknown verb' says 125 "there is no verb 'nonsense'" \
    "$lockkeeper" nonsense
check 'run without a command' says 125 'needs the name' \
    "$lockkeeper" run x
check 'wait that is no number' says 125 'needs seconds' \
    "$lockkeeper" run x --wait soon -- true
check 'duration of nothing' says 125 'needs seconds' \
    "$lockkeeper" run x --duration 0 -- true
check 'option without its value' says 125 'needs a value' \
    "$lockkeeper" run x --wait
check 'unlock without a key' says 125 'and its key' "$lockkeeper" unlock x
check 'unlock with what is no key' says 125 'is no key' \
    "$lockkeeper" unlock x hello

#   misused TEXT VERB ARGUMENTS...: said before a router is looked for.
misused () {
    local text=$1
    shift
    check "$*" says 125 "$text" timeout 90 "$lockkeeper" "$@"
}
misused '--semaphore needs a number of holders' run x --semaphore 0 -- true
misused '--bound needs a number of holders' run x --bound many -- true
misused '1000000000 at most' run x --bound 1000000001 -- true
misused 'does not go with --semaphore' run x --shared --bound 1 -- true
misused '--policy needs one of hard and soft' run x --policy tender -- true
misused 'are for exclusive locks' run x --policy soft --shared -- true
misused 'are for exclusive locks' lock x --quiet 1 --semaphore 2
misused '--quiet needs seconds' run x --quiet 0 -- true
misused '--quiet is a day at most' run x --quiet 86401 -- true
misused '--quiet makes a soft policy' run x --policy hard --quiet 1 -- true
misused '--lenient needs a --duration' run x --lenient -- true
misused '--on-busy needs an exit code' run x --on-busy 256 -- true
misused '--on-jeopardy needs a signal' run x --on-jeopardy FEAR -- true
misused 'several names need --all' run x y -- true
misused "'run' needs '--' ahead of the command" run --all x y true
misused "'run' needs '--' ahead of the command" run x true
misused "'run' needs '--' ahead of the command" run x --wait 1 ls /
misused "'run' needs '--' ahead of the command" run x psql -h db1
misused "'run' needs '--' ahead of the command" run psql -h db1
misused "'run' needs '--' ahead of the command" run x rsync -a /a /b
misused 'needs the name of a lock and a command' run --all x y --
for option in '--lenient --duration 1' '--quiet 1'; do
    # shellcheck disable=SC2086
    misused '--all does not go with' run --all x y $option -- true
done
for option in --static '--linger 1' '--key 1'; do
    # shellcheck disable=SC2086
    misused '--all does not go with' lock --all x y $option
done
misused '--lenient does not go with --static' \
    lock x --static --lenient --duration 1
misused '--linger needs seconds' lock x --linger 0
misused '--key needs the key of a lock' lock x --key hello
misused '--key does not go with --wait' lock x --key 1 --wait 5
misused '--all takes several' lock x y
misused 'needs the name of one lock' lock
misused 'is no option' lock x --on-jeopardy USR1
misused 'is no option' run x --static -- true
misused 'needs a --reason' unlock x --force
misused 'go with --force' unlock x 1 --reason why
misused 'go with --force' unlock x 1 --token 1
misused 'and no key' unlock x 1 --force --reason why
misused '--token needs the token' unlock x --force --reason why --token 0
misused 'needs the name of a lock and a token' check x
misused 'a token is a number' check x y
misused 'how many units a resource has' acquire x 1
misused 'how many units a resource has' release x 1 2 3
misused 'is no number from 1 on' acquire x 0 1
misused 'is no number from 1 on' release x 1 -- -1
misused '1000000000 units at most' acquire x 100000 10001
misused 'there is no process 2147483647' acquire x 1 1 --pid 2147483647
check 'a value that looks like the end of options' says 125 \
    'needs the name of a lock and a command' \
    "$lockkeeper" run --context -- x
check 'sandbox of too many hosts' says 125 'at most 15' \
    "$lockkeeper" sandbox --hosts 16
check 'sandbox of too many members' says 125 '--members needs a number' \
    "$lockkeeper" sandbox --members 4
check 'sandbox without members' says 125 '--members needs a number' \
    "$lockkeeper" sandbox --members 0
check 'cluster of nothing' says 125 "'add', 'remove' or 'recover'" \
    "$lockkeeper" cluster
check 'cluster add of nobody' says 125 'needs the name of one host' \
    "$lockkeeper" cluster add
check 'cluster remove of two' says 125 'needs the name of one host' \
    "$lockkeeper" cluster remove h1 h2
check 'cluster members of one' says 125 'takes nothing more' \
    "$lockkeeper" cluster members h1
check 'cluster add of what is no name' says 125 'is no name of a host' \
    "$lockkeeper" cluster add 'h 1'
check 'wait in hexadecimal' says 125 'needs seconds' \
    "$lockkeeper" run x --wait 0x10 -- true
check 'wait with a blank' says 125 'needs seconds' \
    "$lockkeeper" run x --wait ' 1' -- true
check 'process with a sign' says 125 'number of a process' \
    "$lockkeeper" lock x --background --pid +1
check 'version --json' says 0 '{"version":"0.' "$lockkeeper" version --json
check 'version takes nothing' says 125 "takes no 'x'" "$lockkeeper" version x
check 'version --nonsense' says 125 "'--nonsense' is no option" \
    "$lockkeeper" version --nonsense
check 'restart without a sandbox' says 125 'cannot reach a sandbox' \
    "$lockkeeper" sandbox restart h1 --dir "$work"

#   ------------------------------------------------------------ no router

export LOCKKEEPER_ENDPOINT=ipc://$work/none
none="no router at 'ipc://$work/none': no such file or directory;"
none="$none is lockkeeper-router running there? --endpoint or"
while IFS='|' read -r verb rest; do
    # shellcheck disable=SC2086
    code 125 "$lockkeeper" $verb $rest >"$work/none.$verb" 2>&1 &
    for endpoint in '' nowhere tcp://127.0.0.1:7411 ipc://; do
        # shellcheck disable=SC2086
        check "$verb --endpoint '$endpoint'" says 125 \
            "'$endpoint' is no endpoint of a router: one looks like ipc:///" \
            timeout 90 "$lockkeeper" $verb --endpoint "$endpoint" $rest
    done
done <<'end'
run|x -- true
lock|x
unlock|x 1
check|x 1
acquire|x 1 1
status|
list|
show|x
watch|
top|
cluster|members
end
wait
for verb in run lock unlock check acquire status list show watch top cluster; do
    check "no router: $verb" test "$(grep -cF -- "$none" \
        "$work/none.$verb") $(wc -l <"$work/none.$verb")" = '1 1'
done
#   A terminal has a line meanwhile, which goes away.
script -qec "'$lockkeeper' list" /dev/null \
    >"$work/none.terminal" 2>&1 </dev/null
check 'no router: at a terminal' grep -qP \
    '^\rno router yet, waiting for it for 5 s \.\.\.\r +\rlockkeeper: no rou' \
    "$work/none.terminal"

several="no router at 'ipc://$work/a': no such file or directory;"
several="$several none at 'ipc:///dev/null': connection refused; is lockkeeper-"
check 'of several all are named' says 125 "$several" \
    "$lockkeeper" status --endpoint "ipc://$work/a, ipc:///dev/null"
check 'and each is looked at' says 125 "'tcp://h1:1' is no endpoint of a" \
    "$lockkeeper" status --endpoint "ipc://$work/a tcp://h1:1"

#   ------------------------------------------------------------ names

#   Refused before a router is looked for.
while IFS='|' read -r verb rest; do
    for name in '' "$(printf '%04097d' 7)"; do
        # shellcheck disable=SC2086
        check "$verb: a name of ${#name} bytes" says 125 \
            'cannot name a lock: that takes 1 to 4096 bytes' \
            timeout 90 "$lockkeeper" $verb "$name" $rest
        check 'which is not said at length' \
            test "$(wc -c <"$work/said")" -lt 250
    done
done <<'end'
run|-- true
lock|
unlock|1
unlock --force --reason why|
check|1
acquire|1 1
release|1 1
run --all x|-- true
status --object|
list --object|
show|
end
#   raw TEXT: what was said has that.
raw () {
    grep -qaF -- "$1" "$work/said"
}
# shellcheck disable=SC2034
escape=$'esc\e[31mred\xff\xc2\x9bz'
check 'a name with control characters is shown' says 125 \
    'esc\x1b[31mred\xff\xc2\x9bz' "$lockkeeper" status "$escape"
check 'and none of them goes out' code 1 raw $'\e'
check 'nor in what is no verb' says 125 'esc\x1b' "$lockkeeper" "$escape"
check 'letters are letters' says 125 "'Käse" "$lockkeeper" 'Käse'

#   ------------------------------------------------------------ decode

#   The frame of an example, in digits, and what the example says of it.
vectors=$(dirname "$0")/../vectors
digits () {
    grep -xE '([0-9a-f]{2,4} ?)+' "$vectors/$1.txt"
}
#   decodes NAME FORM [TEXT]: in digits and in bytes.
decodes () {
    local name=$1 form=$2 text=${3:-}
    digits "$name" >"$work/digits"
    digits "$name" | tr -d ' \n' | sed 's/../\\x&/g' >"$work/escaped"
    printf '%b' "$(cat "$work/escaped")" >"$work/bytes"
    for file in digits bytes; do
        check "decode $name in $file" says 0 "$form" \
            "$lockkeeper" decode "$work/$file"
        [ -z "$text" ] || check "its body" code 0 raw "$text"
    done
}
decodes packed-acked 'lock@h3 > lock@h1  TICKETADDED  serial 0, packed' \
    '"sequence":9,"hash":"9e1c5ad2037b84f6"}'
decodes lock-acked 'lock@h3 > lock@h1  TICKETADDED  serial 0, JSON' \
    '"sequence":9,"hash":"9e1c5ad2037b84f6"}'
decodes hello-mesh 'serial 16, JSON, crossed the mesh'
decodes alive 'ALIVE  serial 4, no body'
{ digits packed-vote; digits app-lock; } >"$work/two"
check 'decode two messages, of stdin' says 0 'LOCK  serial 1, JSON' \
    "$lockkeeper" decode - <"$work/two"
check 'both of them' code 0 raw 'VOTE  serial 0, packed'
check 'decode what is no frame' says 125 'cannot read the frame from byte 0' \
    "$lockkeeper" decode /dev/null
check 'decode what is not there' says 125 "cannot read '$work/none'" \
    "$lockkeeper" decode "$work/none"
check 'decode a folder' says 125 "cannot read '$work'" \
    "$lockkeeper" decode "$work"
check 'decode nothing' says 125 "takes the name of a file" \
    "$lockkeeper" decode
digits app-lock | sed 's/7b22/7b23/' >"$work/odd"
check 'decode a body that is broken' says 125 'cannot read the body' \
    "$lockkeeper" decode "$work/odd"

#   ------------------------------------------------------------ init

members=h1,h2,h3
check 'init' says 0 'lockkeeper-lockd' "$lockkeeper" init --cluster one \
    --members $members --host h2 --state "$work/state"
check 'its state is for us alone' \
    test "$(stat -c %a "$work/state/lock.state")" = 600
cp "$work/state/lock.state" "$work/before"
check 'init does not overwrite' says 125 'not overwritten' "$lockkeeper" \
    init --cluster two --members $members --host h2 --state "$work/state"
check 'what was there is still there' \
    cmp "$work/before" "$work/state/lock.state"

#   no_init SAYS OPTIONS...
no_init () {
    local text=$1
    shift
    check "init: $text" says 125 "$text" "$lockkeeper" init \
        --state "$work/other" "$@"
}
no_init 'not among the members' --cluster c --members $members --host h4
no_init "is no name of a host" --cluster c --members 'h1,,h2' --host h1
no_init "is no name of a host" --cluster c --members 'h1,h@2' --host h1
no_init "is no name of a cluster" --cluster 'c c' --members h1 --host h1
no_init "has 'h1' twice" --cluster c --members h1,h1 --host h1
no_init 'more than 15' --cluster c --host a \
    --members a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p
no_init 'needs --cluster' --members h1 --host h1
check 'none of these wrote anything' test ! -e "$work/other/lock.state"
check 'init of fifteen' says 0 'member' "$lockkeeper" init --cluster c \
    --members a,b,c,d,e,f,g,h,i,j,k,l,m,n,o --host o --state "$work/many"
check 'init of one' says 0 'Next: start lockkeeper-router' "$lockkeeper" \
    init --cluster c --members a --host a --state "$work/one"
check 'two of one cluster differ' bash -c "
    '$lockkeeper' init --cluster c --members h1,h2 --host h1 --state $work/1
    '$lockkeeper' init --cluster c --members h1,h2 --host h2 --state $work/2
    ! cmp -s $work/1/lock.state $work/2/lock.state"

#   ------------------------------------------------------------ init, a proxy

proxy=$work/proxy
mkdir "$proxy"
# shellcheck disable=SC2317
init_proxy () {
    "$lockkeeper" init --cluster one --members "$members" \
        --host h1 --state "$proxy"
}
field () {
    sed -n "s/^ *\"$1\": \([^,]*\),*$/\1/p" "$proxy/lock.state"
}

"$BUILD/lockkeeper-lockd" --endpoint "ipc://$work/none" --state "$proxy" \
    --run "$proxy" >"$work/lockd" 2>&1 &
lockd=$!
await test -s "$proxy/lock.state"
check 'init while lockd runs' says 125 'stop lockkeeper-lockd first' init_proxy
kill "$lockd"
wait "$lockd"
cp "$proxy/lock.state" "$work/fresh"
sed -i 's/"session": 0/"session": 7/' "$proxy/lock.state"
id=$(field id)
check 'init of what lockd made' says 0 'now a member' init_proxy
check 'it keeps its id' test "$(field id)" = "$id"
check 'it keeps its session' test "$(field session)" = 7
check 'it has a cluster' test "$(field cluster)" = '"one"'
check 'init does not overwrite that' says 125 "of a host of cluster 'one'" \
    init_proxy
"$BUILD/lockkeeper-lockd" --endpoint "ipc://$work/none" --state "$proxy" \
    --run "$proxy" >"$work/lockd" 2>&1 &
lockd=$!
await grep -q 'no router at' "$work/lockd"
check 'lockd goes on with it' kill "$lockd"
wait "$lockd"
check 'as a member' bash -c "! grep 'no cluster' '$work/lockd'"

#   not_over SAYS SED: the state of a proxy, changed so, is refused.
not_over () {
    sed "$2" "$work/fresh" >"$proxy/lock.state"
    cp "$proxy/lock.state" "$work/before"
    check "init: $1" says 125 "$1" init_proxy
    check 'what was there is still there' \
        cmp "$work/before" "$proxy/lock.state"
}
#   It has heard of a cluster, but not of its leaders: that may be this one.
sed -e 's/"cluster": ""/"cluster": "two"/' \
    -e 's/"genesis": \[\]/"genesis": [ "h7" ]/' \
    "$work/fresh" >"$proxy/lock.state"
check 'init of a proxy that heard of a cluster' says 0 'now a member' init_proxy
check 'it has this cluster' test "$(field cluster)" = '"one"'
not_over 'has followed the leaders' \
    's/"promised": "0:0*"/"promised": "7:1f0e6a5b9c3d2871"/'
not_over 'makes no sense' 's/"format": 1/"format": 2/'
not_over 'makes no sense' 's/"id"/"di"/'

#   A pipe with O_DIRECT gives back what one write put into it.
whole_lines () {
    python3 -c '
import os, subprocess, sys
out, into = os.pipe2(os.O_DIRECT)
subprocess.Popen(sys.argv[1:], stderr=into)
os.close(into)
said = iter(lambda: os.read(out, 4096), b"")
sys.exit(not all(piece.endswith(b"\n") for piece in said))' "$@"
}
check 'of an error each line is whole' whole_lines "$lockkeeper" check x y z
done_checking
