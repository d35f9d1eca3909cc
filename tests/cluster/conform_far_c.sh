#!/bin/bash
#   conform_far_c.sh - the conformance cases on machines without a router,
#   with liblockkeeper
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

exec python3 "$(dirname "$0")/../conformance/run.py" --remote c
