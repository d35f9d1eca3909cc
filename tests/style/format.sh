#!/bin/bash
#   format.sh - the C files are as clang-format 14 writes them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Where that is not installed nothing is looked at: other versions break
#   lines elsewhere. `make format` mends all of it.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

rule='C files are formatted'
rules=${LIB_DIR:-tests/lib}/../../.clang-format
format=$(command -v clang-format-14 clang-format | head -n 1)
if [ -z "$format" ] || ! "$format" --version | grep -q ' version 14\.'; then
    skip "$rule" 'no clang-format 14'
else
    mapfile -t files < <(c_files)
    verdict "$rule" "$("$format" --style="file:$rules" --dry-run \
        --ferror-limit=1 "${files[@]}" 2>&1 | grep 'clang-formatted')"
fi
done_checking
