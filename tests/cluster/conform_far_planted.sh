#!/bin/bash
#   conform_far_planted.sh - the conformance cases find mistakes in a client on
#   a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/planted_tap.sh
. "$(dirname "$0")/planted_tap.sh"
plant_in remote.rb --remote
dies='a server that is killed'
stops='a server that stops, and locks of all kinds go elsewhere'

check 'a lease that is not looked at' found \
    's/ || now < believed_until(it)/ || true/' \
    remote 'a machine that sleeps for longer than its lease'
check 'a duration that no clock is looked at for' found \
    "/return 'timedout' if/d; s/ : super$/ : it.state == :asked \&\& super/" \
    exclusive 'a duration ends it for who looks at no event'
check 'a server whose silence is not noticed' found \
    's/silent = .*/silent = false/' remote "$dies"
check 'what is held is not claimed' found \
    's/it.next = 0 if it.next || claims?(it)/it.next = 0 if it.next/' \
    remote "$dies"
check 'registrations that have one number' found \
    's/@number += 1/@number += 1}-#{@number = 1/' remote "$dies"
check 'a static lock that ends with its server' found \
    's/ unless static || now/ unless now/' remote "$stops"
check 'a change of type that is forgotten when it moves' found \
    's/, (0 if it.change)$/, nil/' remote "$stops"
check 'nothing is said at the end' found \
    '/LOCKGOODBYE.* if link/d' \
    exclusive 'what a process held is free when it leaves in good order'
done_checking
