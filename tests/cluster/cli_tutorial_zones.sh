#!/bin/bash
#   cli_tutorial_zones.sh - lockkeeper-tutorial(7), zones and credentials
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   GIVE A TEAM ITS ZONE and MACHINES THAT LIVE FOR A DAY, on the hosts that
#   THREE HOSTS and ANOTHER MACHINE, A port, have made.

# shellcheck source=tests/cluster/tutorial_tap.sh
. "$(dirname "$0")/tutorial_tap.sh"

number=9
for it in m1 m2 ci day; do
    machine $it $number lockkeeper
    at $it sh -c 'echo : >/usr/local/bin/apt-get; chmod +x /usr/local/bin/*'
    number=$((number + 1))
done
cd "$work" || exit 1
try_page 'THREE HOSTS' 'A client file'
try_page 'GIVE A TEAM ITS ZONE' 'WHEN SOMETHING IS WRONG'
check "more than forty commands were tried: $cases" test "$cases" -gt 40
done_checking
