#!/bin/bash
#   hosted_kill.sh - the rounds of kill_rounds.sh, fewer, with hosted services
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

export LK_HOSTED=1 KILL_ROUNDS=${KILL_ROUNDS:-12}
exec bash "$(dirname "$0")/kill_rounds.sh" "$@"
