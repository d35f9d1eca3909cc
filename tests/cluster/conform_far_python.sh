#!/bin/bash
<<<<<<< HEAD
#   conform_far_python.sh - the conformance cases on machines without a router,
#   with the Python module
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Those in which most goes wrong; all with ROUNDS.
=======
#   conform_far_python.sh - the conformance cases, with the Python module on
#   machines without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
>>>>>>> wc

/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo "there is no python3-zmq"
    exit 77
}
<<<<<<< HEAD
folder=$(dirname "$0")/../conformance
cases=("$folder"/{kinds,loss}.case)
[ -z "${ROUNDS:-}" ] || cases=("$folder"/*.case)
exec python3 "$folder/run.py" --remote python --cases "${cases[@]}"
=======
exec python3 "$(dirname "$0")/../conformance/run.py" --remote python
>>>>>>> wc
