#!/bin/bash
#   conform_far_ruby.sh - the conformance cases on machines without a router,
#   with a client from the page
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Those in which most is said; all with ROUNDS.

folder=$(dirname "$0")/../conformance
cases=("$folder"/{kinds,remote}.case)
[ -z "${ROUNDS:-}" ] || cases=("$folder"/*.case)
exec python3 "$folder/run.py" --remote ruby --cases "${cases[@]}"
