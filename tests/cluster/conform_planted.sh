#!/bin/bash
#   conform_planted.sh - the conformance cases find mistakes in a client
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/planted_tap.sh
. "$(dirname "$0")/planted_tap.sh"
plant_in lockkeeper.rb

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
