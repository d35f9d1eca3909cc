#!/bin/bash
#   conform_far_mixed.sh - the conformance cases, with applications of hosts
#   beside those of other machines, and each in another language
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   a is on its host; b and d, and c, are not. Without those of loss.case, in
#   which all clients are alone.

folder=$(dirname "$0")/../conformance
exec python3 "$folder/run.py" c remote:ruby remote:python \
    --cases "$folder"/[!l]*.case
