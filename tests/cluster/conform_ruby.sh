#!/bin/bash
#   conform_ruby.sh - the conformance cases, with a client written from the page
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

exec python3 "$(dirname "$0")/../conformance/run.py" ruby
