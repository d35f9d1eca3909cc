#!/bin/bash
#   man.sh - the pages are well formed, and tell of all that the code has
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   groff and mandoc must have no complaint (mandoc's "STYLE" left out). Each
#   option, verb, message, error word, config key, limit, exit code, variable
#   of the environment and public function in the code is in its page, and
#   what the pages have of them is in the code. What the programs say of
#   themselves (--help) is asked of those in BUILD. Each example of the library
#   is in a file that is compiled.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"
# shellcheck source=tests/lib/pages.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/pages.sh"

protocol=man/lockkeeper-protocol.7
style=${LIB_DIR:-$PWD/tests/lib}/../style
mapfile -t pages < <(files_of man -name '*.[1-8]')
mapfile -t code < <(c_files | grep -E '^(src|router|arbiter|plugins)/')

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
program lockkeeper-router.8 router/*/*.[ch] "${daemon[@]}"
program lockkeeper-lockd.8 plugins/lock/*.c "${daemon[@]}"
program lockkeeper-issuer.8 plugins/issuer/*.c "${daemon[@]}"
program lockkeeper-arbiter.8 arbiter/*.c "${daemon[@]}"

#   missing WHAT PAGE WORDS: which of them are not in the page.
missing () {
    local word
    while read -r word; do
        [ -z "$word" ] || grep -qwF -- "$word" "$2" 2>/dev/null ||
            echo "$2: no $1 '$word'"
    done
}

#   table.h has names of values, and tables have heads.
verdict 'lockkeeper-protocol(7) has every message' "$(
    grep -hvE 'getenv|zsock_send|\.head = "' /dev/null "${code[@]/src\/cli\/table.h/\/dev\/null}" |
        grep -oE '"[A-Z][A-Z0-9_]{2,}"' | tr -d '"' | sort -u |
        grep -vE '^(CURVE|ABCDEF.*|LOCKKEEPER_[A-Z_]+|NOTIFY_SOCKET|HOME|TMPDIR|PATH)$' |
        missing message $protocol)"

verdict 'lockkeeper-protocol(7) has every field' "$(
    grep -hoE 'lk_field_[a-z]+ \(f, "[a-z_]+"' /dev/null \
        src/wire/lock_shape*.c | sed 's/.*"\(.*\)"/\1/' | sort -u |
        missing field $protocol)"

#   As the fields of requests are refused; the page's lines are one.
verdict 'lockkeeper-protocol(7) has every refusal' "$(
    told=$(tr -s '\n' ' ' 2>/dev/null <$protocol)
    grep -hoE '"(is|has|names|needs|makes|cannot) [^"]*"' /dev/null \
        plugins/lock/in/request_fields.c src/wire/object_name.c |
        tr -d '"' | sort -u |
        while read -r what; do
            case $told in
                *"$what"*) ;;
                *) echo "$protocol: no refusal that '$what'" ;;
            esac
        done)"

#   Of the library and the daemons, too; what plug-ins answer to requests is
#   above.
mapfile -t saying < <(printf '%s\n' "${code[@]}" | grep '\.c$' |
    grep -vE '^(src/(util|wire)|plugins/greeter)/|/request_fields\.c$')
mapfile -t diagnoses < <(printf '%s\n' "${pages[@]}" |
    grep -E '/(lockkeeper|lockkeeper-router|lockkeeper-lockd|lockkeeper-issuer|lockkeeper-arbiter|lockkeeper.conf)\.')
verdict 'all errors are in a table of DIAGNOSTICS, and none else' "$(
    python3 "$style/errors.py" "${saying[@]}" -- "${diagnoses[@]}" 2>&1)"

mapfile -t library < <(printf '%s\n' "${pages[@]}" | grep '\.3$')
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

#   walk_files: of the stations that `make walk` has put there.
walk_files () {
    [ ! -f man/lockkeeper-internals.7 ] || awk '
        /^\.\\" walk/ { inside = 1 }
        /^\.\\" end of the walk/ { inside = 0 }
        inside && $1 ~ /^[a-z\/]+:$/ {
            room = substr ($1, 1, length ($1) - 1)
            for (i = 2; i <= NF; i++) { print room "/" $i }
        }' man/lockkeeper-internals.7
}
verdict 'the stations of the walk are files' "$(
    walk_files | sort -u | while read -r file; do
        [ -f "$file" ] || echo "lockkeeper-internals(7): there is no $file"
    done)"

#   ------------------------------------------------------------ both ways

both_ways 'verbs' <(program_verbs) <(page_verbs)
both_ways 'options of the verbs' <(program_options) <(page_options_of_verbs)
both_ways 'options, below "The options:"' \
    <(program_options | sed 's/.* //'; [ ! -x "$lockkeeper" ] || echo --help) \
    <(page_options_told)
both_ways 'options as `lockkeeper help VERB` tells them' \
    <(program_options) <(help_options)
both_ways 'config keys' <(code_keys) <(page_keys)
verdict 'config keys: ranges and defaults' "$(key_texts)"
verdict 'config keys: as --help of the daemons has them' "$(daemon_texts)"
both_ways 'config keys: when a change counts' <(code_effects) <(page_effects)
both_ways 'messages between lock services' <(code_stages) <(page_stages)
verdict 'messages in the pages' "$(strange_messages)"
both_ways 'errors' <(code_errors) <(page_errors)
both_ways 'limits' <(code_limits) <(page_limits)
verdict 'limits: as they are' "$(limit_values)"
both_ways 'exit codes' <(code_exits) <(page_exits)
both_ways 'environment' <(code_variables) <(page_variables)
both_ways 'functions of the library' <(code_functions) <(page_functions)
done_checking
