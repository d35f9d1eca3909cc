#!/bin/bash
#   conform_mixed.sh - the conformance cases, with another client on each host
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Without those of loss.case, in which all clients are alone.

folder=$(dirname "$0")/../conformance
exec python3 "$folder/run.py" c ruby python \
    --cases "$folder"/[!l]*.case
