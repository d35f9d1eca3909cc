#!/bin/bash
#   conform_far_python.sh - the conformance cases, with the Python module on
#   machines without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo "there is no python3-zmq"
    exit 77
}
exec python3 "$(dirname "$0")/../conformance/run.py" --remote python
