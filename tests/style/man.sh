#!/bin/bash
#   man.sh - the pages are well formed, and tell of all that the code has
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   groff and mandoc must have no complaint (mandoc's "STYLE" left out). Each
#   option, verb, message, error word, config key and public function in the
#   code is in its page; each option in a page is in the code, and each example
#   of the library in a file that is compiled.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

protocol=man/lockkeeper-protocol.7
conf=man/lockkeeper.conf.5
mapfile -t pages < <(files_of man -name '*.[1-8]')
mapfile -t code < <(c_files | grep -E '^(src|router|plugins)/')

verdict 'the pages are there' "$(
    for page in lockkeeper.1 lockkeeper-router.8 lockkeeper-lockd.8 \
            lockkeeper.conf.5 lockkeeper-protocol.7 lockkeeper-internals.7; do
        [ -f "man/$page" ] || echo "man/$page is missing"
    done)"

if command -v groff >/dev/null; then
    verdict 'groff has no complaint' "$(
        for page in "${pages[@]}"; do
            groff -ww -mandoc -Tutf8 -z "$page" 2>&1
        done)"
else
    skip 'groff has no complaint' 'not installed'
fi
if command -v mandoc >/dev/null; then
    verdict 'mandoc has no complaint' "$(
        for page in "${pages[@]}"; do
            mandoc -T lint -W warning "$page" 2>&1
        done)"
else
    skip 'mandoc has no complaint' 'not installed'
fi

#   long_options FILES...: the names in tables for getopt_long.
long_options () {
    cat /dev/null "$@" | tr '\n' ' ' |
        grep -oE '"[a-z][a-z-]+", *(required|no|optional)_argument' |
        sed 's/^"\([^"]*\)".*/\1/' | sort -u
}

page_options () {
    [ -f "$1" ] || return 0
    grep -oE 'Fl (-|Fl )[a-z][a-z-]+' "$1" | sed -E 's/^Fl (-|Fl )//' |
        sort -u
}

#   program PAGE FILES...: its options are in the page, and none else.
program () {
    local page=$1 files=() file
    shift
    for file in "$@"; do
        [ ! -f "$file" ] || files+=("$file")
    done
    verdict "$page has the options of its program" "$(
        comm -23 <(long_options "${files[@]}") <(page_options "man/$page") |
            sed 's/^/not in the page: --/'
        comm -13 <(long_options "${files[@]}") <(page_options "man/$page") |
            sed 's/^/not in the code: --/')"
}
mapfile -t daemon < <(grep -lE '(required|no)_argument' src/net/*.[ch] \
    2>/dev/null)
program lockkeeper.1 src/cli/*.[ch]
program lockkeeper-router.8 router/*.[ch] "${daemon[@]}"
program lockkeeper-lockd.8 plugins/lock/*.[ch] "${daemon[@]}"

#   missing WHAT PAGE WORDS: which of them are not in the page.
missing () {
    local word
    while read -r word; do
        [ -z "$word" ] || grep -qwF -- "$word" "$2" 2>/dev/null ||
            echo "$2: no $1 '$word'"
    done
}

verdict 'lockkeeper(1) has every verb' "$(
    sed -n '/^extern const lk_verb/,/;/p' src/cli/cli.h |
        grep -oE 'lk_verb_[a-z]+' | sed 's/lk_verb_//' | sort -u | missing verb man/lockkeeper.1)"

verdict 'lockkeeper-protocol(7) has every message' "$(
    grep -hvE 'getenv' /dev/null "${code[@]}" |
        grep -oE '"[A-Z][A-Z_]{2,}"' | tr -d '"' | sort -u |
        grep -vE '^(ABCDEF.*|LOCKKEEPER_[A-Z_]+|NOTIFY_SOCKET|HOME|TMPDIR|PATH)$' |
        missing message $protocol)"

verdict 'lockkeeper-protocol(7) has every error' "$(
    sed -nE 's/^ *X \(LK_[A-Z]+, "([a-z]+)".*/\1/p' \
        include/lockkeeper/error.h | missing error $protocol)"

#   As the fields of requests are refused; the page's lines are one.
verdict 'lockkeeper-protocol(7) has every refusal' "$(
    told=$(tr -s '\n' ' ' 2>/dev/null <$protocol)
    grep -hoE '"(is|has|names|needs|makes|cannot) [^"]*"' /dev/null \
        plugins/lock/request_fields.c src/wire/object_name.c |
        tr -d '"' | sort -u |
        while read -r what; do
            case $told in
                *"$what"*) ;;
                *) echo "$protocol: no refusal that '$what'" ;;
            esac
        done)"

verdict 'lockkeeper.conf(5) has every key' "$(
    grep -hoE '"(router|lock|log|mesh|cluster)/[a-z_-]+"' /dev/null \
        "${code[@]}" |
        tr -d '"' | sed 's/.*\///' | sort -u | missing key $conf)"

mapfile -t library < <(printf '%s\n' "${pages[@]}" | grep '\.3$')
verdict 'every function of the library is in a page' "$(
    sed -n 's/^[a-z].*[ *]\(lk_[a-z0-9_]*\) (.*/\1/p' \
        include/lockkeeper/{lockkeeper,canal}.h | sort -u |
        while read -r function; do
            grep -qsE "^\.Nm $function( ,)?\$" /dev/null "${library[@]}" ||
                echo "man: no page of section 3 has '$function'"
        done)"

#   An example says in a comment of which file it is a part.
verdict 'examples of the library are lines of the files that they name' "$(
    awk '
        function text_of(file, line, text) {
            while ((getline line <file) > 0) { text = text line "\n" }
            close (file)
            return text
        }
        /^\.Ed/ && shows {
            if (index (text_of(file), block) == 0 || block == "") {
                print FILENAME ":" begin ": this is not in " file
            }
            shows = 0
            file = ""
        }
        shows { gsub (/\\e/, "\\"); block = block $0 "\n" }
        /^\.Bd -literal/ {
            if (file == "") { print FILENAME ":" FNR ": of which file?" }
            begin = FNR + 1
            block = ""
            shows = file != ""
        }
        /^\.\\" from / { file = $3 }' /dev/null "${library[@]}")"
done_checking
