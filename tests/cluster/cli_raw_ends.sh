#!/bin/bash
#   cli_raw_ends.sh - how locks end, by bare messages
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3

rm -rf "$work"
where=ipc://$LOCKKEEPER_SANDBOX
exec "$BUILD/tests/cluster/raw_ends" "$where/h1/router" "$where/h2/router" \
    "$where/h3/router"
