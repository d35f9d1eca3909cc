#!/bin/bash
#   conform_planted.sh - the conformance cases find mistakes in a client
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Each mistake is put into a copy of the Ruby client, of which conform_ruby.sh
#   shows that it is right without.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=4000
tests=$(cd "$(dirname "$0")/.." && pwd)
sound=$tests/clients/ruby/lockkeeper.rb
mkdir "$work/ruby"
cp "$tests/clients/ruby/driver" "$tests/clients/ruby/remote.rb" "$work/ruby"

#   found SCRIPT FILE CASE: the client is another one after sed's script, and
#   the case of that title, which is played alone, fails.
found () {
    awk -v title="case: $3" '/^case: / { on = $0 == title } on' \
        "$tests/conformance/$2.case" >"$work/some.case"
    sed "$1" "$sound" >"$work/ruby/lockkeeper.rb"
    if cmp "$sound" "$work/ruby/lockkeeper.rb"; then
        return 1
    fi
    ruby -c "$work/ruby/lockkeeper.rb" || return 1
    code 1 python3 "$tests/conformance/run.py" --patience 5 \
        "$work/ruby" --cases "$work/some.case" >"$work/played"
    result=$?
    cat "$work/played"
    [ $result = 0 ] && grep '^not ok 1 - ' "$work/played"
}

check 'a refusal that is not listened to' found \
    "s/, 'LOCKFAILED' => %i.over unchanged.//" \
    exclusive 'one holder, and who does not wait is told so'
check 'a serial that is used again' found \
    's/@serial += 1, command/@serial = 1, command/' \
    exclusive 'who gives it back does not wait for those who want it'
check 'a duration that no clock is looked at for' found \
    '/between?(0, now)/d; s/, body) if it$/, body) if it\&.state == :asked/' \
    exclusive 'a duration ends it for who looks at no event'
check 'a lock that is kept although it was taken away' found \
    's/, body) if it$/, body) if it\&.state == :asked/' \
    others 'taken away by force, and told why'
check 'a change of type that has the number of the last one' found \
    "/turn = lock/s/to_i + 1/to_i.clamp(1, 1)/" \
    kinds 'from shared to exclusive and back'
check 'a change that is refused is taken for a loss' found \
    's/%i.over unchanged./%i[over lost]/' \
    kinds 'a change that does not come is taken back'
check 'a reentrant lock that is given back by the first release' found \
    's/return {} if (lock.users.*/lock.users -= 1/' \
    others 're-entrance is the client'"'"'s own affair'
check 'a name that is cut' found \
    's/JSON.generate(fields)/&.sub(\/00ff\\h*\/, "")/' \
    names 'names are bytes'
check 'a request that is said once' found \
    's/it.next, fields = now + 1000/it.next, fields = 1 << 60/' \
    loss 'who waits while the lock service is killed'
check 'REGISTER that is said once' found \
    's/link.next = now + 500/link.next = 1 << 60/' \
    loss 'a restarted router knows who only holds, and has the news'
check 'a lease page that is opened once' found \
    "s/@pages\[told\['session'\]\]/@pages[0]/" \
    loss 'a lock service that is killed and comes back when its lease is over'
check 'a lease that is not looked at' found \
    's/ && loss(it)/ \&\& false/' \
    loss 'a host that stands still for longer than its lease'
done_checking
