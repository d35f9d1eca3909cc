#!/bin/bash
#   conform_far_python.sh - the conformance cases on machines without a router,
#   with the Python module
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Those in which most goes wrong; all with ROUNDS.

/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo "there is no python3-zmq"
    exit 77
}
folder=$(dirname "$0")/../conformance
cases=("$folder"/{kinds,loss}.case)
[ -z "${ROUNDS:-}" ] || cases=("$folder"/*.case)
exec python3 "$folder/run.py" --remote python --cases "${cases[@]}"
