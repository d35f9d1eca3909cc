#!/bin/sh
#   build.sh - builds the Debian packages from this tree; `make deb` calls it
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   build.sh VERSION DIR
#
#   They are made of a copy of the tree elsewhere, so that nothing here changes,
#   and lie in DIR then. debian/changelog is written here: what changed is in
#   CHANGES, and the version in the Makefile.

set -eu
version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/lockkeeper-$version
cd "$(dirname "$0")/.."

#   What git knows; all but what was built, where there is no git.
list_files () {
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -co --exclude-standard
    else
        find . -path './build*' -prune -o -type f -print
    fi | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done
}

rm -f "$out"/*lockkeeper*.deb
mkdir "$copy"
list_files | tar -cf - -T - | tar -C "$copy" -xf -
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
date=$(date -R -u -d "@$epoch")
maintainer=$(sed -n 's/^Maintainer: //p' debian/control)
cat >"$copy/debian/changelog" <<CHANGELOG
lockkeeper ($version) unstable; urgency=medium

  * Built from the tree; /usr/share/doc/lockkeeper/CHANGES.gz has what
    changed.

 -- $maintainer  $date
CHANGELOG
#   The same tree gives the same packages, whenever it was cloned.
find "$copy" -exec touch -h -d "$date" {} +

log=$out/build.log
unset MAKEFLAGS MAKELEVEL MFLAGS VERSION B
(cd "$copy" && dpkg-buildpackage -b -us -uc) >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    echo "The packages could not be built; all of it is in $log" >&2
    exit 1
}
grep 'dpkg-gensymbols: warning' "$log" >&2 || true
rm -rf "$copy"
mv "$work"/* "$out"
ls "$out"/*.deb
