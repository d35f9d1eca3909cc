#!/bin/bash
#   kill_five.sh - the rounds of kill_rounds.sh, fewer, on five hosts
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   kill_five.sh [SEED]

KILL_HOSTS=5 KILL_ROUNDS=12 KILL_END=INT \
    exec "$(dirname "$0")/kill_rounds.sh" "$@"
