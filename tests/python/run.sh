#!/bin/bash
#   run.sh - runs the tests of the Python module that a file has (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   run.sh NAME        tests/python/NAME.py, with a Python that has pyzmq; of
#                      these NAME.CLASS or NAME.CLASS.METHOD

set -u
cd "$(dirname "$0")/../.." || exit 2
export BUILD=${BUILD:-$PWD/build}
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
export LC_ALL=C.UTF-8

for python in "${PYTHON:-python3}" /usr/bin/python3; do
    if "$python" -c 'import zmq' 2>/dev/null; then
        exec "$python" tests/python/tap.py "$1"
    fi
done
echo "ok 1 - $1 # SKIP there is no python3-zmq"
echo 1..1
