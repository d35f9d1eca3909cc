#!/bin/bash
#   cli_tutorial_hosts.sh - lockkeeper-tutorial(7), THREE HOSTS, ANOTHER MACHINE
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/tutorial_tap.sh
. "$(dirname "$0")/tutorial_tap.sh"

machine m1 9 lockkeeper
at m1 sh -c 'echo : >/usr/local/bin/apt-get; chmod +x /usr/local/bin/*'
cd "$work" || exit 1
try_page 'THREE HOSTS' 'GIVE A TEAM ITS ZONE'
check "more than thirty commands were tried: $cases" test "$cases" -gt 30
done_checking
