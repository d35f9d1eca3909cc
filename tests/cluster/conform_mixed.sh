#!/bin/bash
#   conform_mixed.sh - the conformance cases, with another client on each host
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

exec python3 "$(dirname "$0")/../conformance/run.py" --may-skip c ruby python
