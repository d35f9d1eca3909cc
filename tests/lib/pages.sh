# shellcheck shell=bash
#   pages.sh - what the code has and what the man pages have, as lists
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced by tests/style/man.sh behind style.sh. Each function prints one
#   thing per line: code_X and program_X what there is, page_X what the pages
#   tell of it. A list of which the code or the page is not there is empty.

cli_page=man/lockkeeper.1
lockkeeper=$BUILD/lockkeeper

#   both_ways WHAT HAVE TOLD: two lists that have to be the same.
both_ways () {
    local have told
    have=$(sort -u "$2")
    told=$(sort -u "$3")
    verdict "$1: the pages tell of all, and of nothing else" "$(
        comm -23 <(echo "$have") <(echo "$told") | sed '/^$/d
            s/^/not in the page: /'
        comm -13 <(echo "$have") <(echo "$told") | sed '/^$/d
            s/^/not in the code: /')"
}

#   page_section PAGE NAME: the lines of that .Sh.
page_section () {
    [ ! -f "$1" ] || awk -v name="$2" '
        /^\.Sh / { inside = substr ($0, 5) == name; next } inside' "$1"
}

#   texts FILES...: all of it as one line, with blanks for line ends and
#   without the gaps between parts of a string.
texts () {
    cat /dev/null "$@" | tr -s ' \n' ' ' | sed 's/" "//g'
}

#   ------------------------------------------------------------ verbs

#   help_rows FIELD [VERB]: that field of what `help --json` lists.
help_rows () {
    [ ! -x "$lockkeeper" ] || "$lockkeeper" help ${2:+"$2"} --json |
        sed -n 's/.*"'"$1"'": *"\([^"]*\)".*/\1/p'
}

program_verbs () {
    help_rows verb
}

#   Those of the list of verbs; the synopsis has to show them, too.
page_verbs () {
    page_section $cli_page DESCRIPTION |
        sed -n '/^The verbs:/,/^The options:/s/^\.It Cm //p' |
        sed 's/ , /\n/g' | awk '{ print $1 }'
}

#   synopsis: "verb option" of each block that begins with .Nm; "--option="
#   has a value.
synopsis () {
    page_section $cli_page SYNOPSIS | awk '
        /^\.Nm/ { count = 0; next }
        /^Where/ { count = 1; verb[1] = "kind" }
        /^\.Cm/ && count == 0 {
            for (i = 2; i <= NF; i += 2) {
                verb[++count] = $i
                if ($(i + 1) != "|") { break }
            }
            for (i = 1; i <= count; i++) { print verb[i] }
        }
        /^\.Op Ar kind/ {
            for (i = 1; i <= count; i++) { print verb[i], "kind" }
        }
        {
            line = $0
            while (match (line, /Fl -[a-z][a-z-]*( Ar)?/)) {
                option = substr (line, RSTART + 4, RLENGTH - 4)
                sub (/ Ar$/, "=", option)
                for (i = 1; i <= count; i++) { print verb[i], "--" option }
                line = substr (line, RSTART + RLENGTH)
            }
        }'
}

#   Those of the list of options.
page_options_told () {
    page_section $cli_page DESCRIPTION | sed -nE '/^The options:/,$ {
        s/^\.It Fl -([a-z-]+) Ar .*/--\1=/p; t
        s/^\.It Fl -([a-z-]+)$/--\1/p
    }'
}

page_options_of_verbs () {
    synopsis | awk '
        $1 == "kind" { kind[$2] = 1; next }
        $2 == "kind" { takes[$1] = 1; next }
        NF == 2 { print }
        END { for (verb in takes) { for (o in kind) { print verb, o } } }'
}

#   getopt_long is given the same rows; tests/cluster/cli_usage.sh tries it.
program_options () {
    local verb
    program_verbs | while read -r verb; do
        "$lockkeeper" help "$verb" --json | sed -nE "
            s/.*\"option\": *\"([^\"]*)\".*\"value\".*/$verb --\1=/p; t
            s/.*\"option\": *\"([^\"]*)\".*/$verb --\1/p"
    done | grep -v ' --help$'
}

help_options () {
    local verb
    program_verbs | while read -r verb; do
        "$lockkeeper" help "$verb" 2>&1 |
            sed -nE "
            s/^  (--[a-z][a-z-]*) [A-Z].*/$verb \1=/p; t
            s/^  (--[a-z][a-z-]*) .*/$verb \1/p"
    done
}

#   ------------------------------------------------------------ config keys

#   key_rows: "section/key;values;list;when;default" of the table, as the
#   program lists it.
key_rows () {
    [ ! -x "$lockkeeper" ] || "$lockkeeper" config keys --json | sed -E '
        s/"about": *"[^"]*",//; s/[{"]//g; s/}$//
        s/key: *//; s/,(values|list|when|default): */;/g
        s/^([^;]*;[^;]*;[^;]*;[^;]*)$/\1;/'
}

code_keys () {
    key_rows | cut -d ';' -f 1
}

#   page_key_items: "section/key" and all that is told of it, as one line.
page_key_items () {
    awk '
        function finish () {
            for (i = 1; i <= count; i++) { print section "/" key[i], text }
            count = 0
        }
        /^\.S[sh]/ { finish(); section = /^\.Ss Section/ ? $3 : "" }
        /^\.El/ { finish() }
        /^\.It Cm/ && section != "" {
            finish()
            text = substr ($0, 4)
            for (i = 2; i <= NF; i++) {
                if ($i == "Cm") { key[++count] = $(i + 1) }
            }
            next
        }
        /^\./ { sub (/^\.[A-Z][a-z] /, "") }
        { text = text " " $0 }' man/lockkeeper.conf.5 2>/dev/null
}

page_keys () {
    page_key_items | cut -d ' ' -f 1
}

#   is_range TOLD VALUES LIST: whether the page tells of these values. Words may
#   be a range, "1|2|3"; how long a text is, the page tells by kinds: (NAME).
is_range () {
    local least='' most='' word text
    [ "$3" = false ] || [[ $1 =~ 'once for each'|[0-9]' times' ]] || return
    case $2 in
        'a number from '*) least=${2#a number from } most=${2#* to } ;;
        'one of '*'|1|2|3|'*) least=1 most=${2##*|} ;;
        'one of '*)
            for word in $(tr '|' ' ' <<<"${2#one of }"); do
                [[ $1 =~ (^|[^0-9a-z])$word([^0-9a-z]|$) ]] || return
            done
            ;;
        'a text of '*)
            word=${1#* = Ar } word=${word%% *} most=${2% bytes}
            text=$(tr '\n' ' ' <man/lockkeeper.conf.5)
            [[ $text =~ ${most#a text of }[^\(]*\([^\)]*${word##*//}[,\)] ]]
            return
            ;;
        'yes or no') [[ $1 == *' = Ar FLAG '* ]] || return ;;
        'a file mode'*) [[ $1 == *' = Ar OCTAL '* ]] || return ;;
    esac
    [ -z "$least" ] ||
        [[ $1 =~ (^|[^0-9])${least%% *}' to '$most([^0-9]|$) ]]
}

#   What the page says of it has to have its range and default.
key_texts () {
    local key values list _ value told items
    items=$(page_key_items)
    while IFS=';' read -r key values list _ value; do
        told=$(sed -n "s#^$key ##p" <<<"$items")
        case $told in '' | *'As in section'*) continue ;; esac
        is_range "$told" "$values" "$list" ||
            echo "lockkeeper.conf(5): $key is $values, many times: $list"
        [ -z "$value" ] || case "$told " in
            *"Default: $value"[\ .\;,:]*) ;;
            *) echo "lockkeeper.conf(5): the default of $key is $value" ;;
        esac
    done < <(key_rows)
}

#   daemon_options SECTION PROGRAM: "section/key" of each option of its --help,
#   and the default in parentheses at the end of what that says, if any.
daemon_options () {
    [ ! -x "$BUILD/$2" ] || "$BUILD/$2" --help | awk -v section="$1" '
        function finish () {
            if (key != "") {
                sub (/[^)]$/, "&()", text)
                sub (/^.*\(/, "", text)
                sub (/(: .*)?\)$/, "", text)
                print section "/" key, text
            }
            key = ""
        }
        /^  --[a-z]/ {
            finish()
            key = substr ($1, 3)
            sub (/,.*/, "", key)
            text = ""
        }
        /^[^ ]/ { finish() }
        { text = text " " $0 }
        END { finish() }' | grep -vE '/(config|help|version) '
}

#   The daemons tell names and defaults of their settings themselves, too.
daemon_texts () {
    local key told value rows
    rows=$(key_rows)
    while read -r key told; do
        value=$(sed -n "s#^$key;.*;##p" <<<"$rows")
        if ! grep -q "^$key;" <<<"$rows"; then
            echo "$key is no setting"
        elif [ -n "$value" ] && [ "${told:-$value}" != "$value" ]; then
            echo "--help: the default of $key is $value, not $told"
        fi
    done < <(daemon_options router lockkeeper-router
        daemon_options lock lockkeeper-lockd
        daemon_options issuer lockkeeper-issuer
        daemon_options arbiter lockkeeper-arbiter)
}

#   "section/key when" of those that a restart is not right for.
code_effects () {
    key_rows | cut -d ';' -f 1,4 | tr ';' ' ' | grep -v ' restart$'
}

page_effects () {
    awk '
        /^\.S[sh]/ { inside = /When a change counts/ }
        !inside { next }
        /^\.It/ { when = /reload/ ? "reload" : /stopped/ ? "everywhere" : "?" }
        /^\.Cm/ {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /\//) { print $i, when }
            }
        }' man/lockkeeper.conf.5 2>/dev/null
}

#   ------------------------------------------------------------ messages

code_stages () {
    texts src/wire/lock_message.h |
        grep -oE 'X \(LK_MSG_[A-Z0-9]+, "[A-Z0-9_]+"' |
        sed -E 's/X \(LK_MSG_([A-Z0-9]+), "(.*)"/\L\1\E: \2/'
}

page_stages () {
    sed -nE 's/^\.It ([a-z0-9]+: )Sy ([A-Z0-9_]+).*/\1\2/p' \
        man/lockkeeper-protocol.7 2>/dev/null
}

strange_messages () {
    local message
    grep -E '^\.It.* Sy [A-Z_]{3}' /dev/null man/lockkeeper-protocol.7 |
        grep -oE '\b[A-Z][A-Z0-9_]{2,}\b' | sort -u |
        while read -r message; do
            grep -qF "\"$message\"" /dev/null "${code[@]}" ||
                echo "man/lockkeeper-protocol.7: nobody knows $message"
        done
}

#   ------------------------------------------------------------ errors

code_errors () {
    sed -nE 's/^ *X \(LK_[A-Z]+, "([a-z]+)".*/\1/p' include/lockkeeper/error.h
}

page_errors () {
    page_section man/lockkeeper-protocol.7 '11 ERROR WORDS' |
        sed -n 's/^\.It //p'
}

#   ------------------------------------------------------------ limits

#   Nobody meets these: sizes of steps, buffers and what is derived.
inner='BULK_SIZE|COUNT|DRAIN|DRAIN_SIZE|DUES|FLIGHT|IDENTITY_SIZE|JSON_DEPTH
LOCK_STATE_SIZE|NAME_SIZE|PACK_SIZE|SANDBOX_PATH|SOUND|STREAM|TERM_NUMBER|WISH_TIME|ZPL_DEPTH'

#   limit_rows: "NAME value" of the constants.
limit_rows () {
    sed -nE 's/^#define LK_([A-Z_]+)_MAX +([^\/]*[^\/ ]).*/\1 \2/p' /dev/null \
        "${code[@]}" include/lockkeeper/*.h |
        grep -vE "^(${inner//$'\n'/|}) " |
        sed -E 's/\(size_t\)|INT64_C|\(int64_t\)//g' | sort -u
}

code_limits () {
    limit_rows | cut -d ' ' -f 1
}

#   A comment `.\" limit NAME` stands ahead of the line that tells it.
page_limits () {
    grep -hoE '^\.\\" limit [A-Z_ ]+' /dev/null "${pages[@]}" |
        cut -d ' ' -f 3- | tr ' ' '\n'
}

limit_values () {
    local name value
    while read -r name value; do
        echo "$name $((value))"
    done < <(limit_rows) | awk '
        rows { size[$1] = $2; next }
        FNR == 1 { limits = 0 }
        limits && /^[^.]|^\.It/ {
            gsub (/[.,;:]$/, "")
            line = " " $0 " "
            gsub (/[,;:]? /, " ", line)
            for (i = 1; i <= limits; i++) {
                value = size[limit[i]]
                if (index (line, " " value " ") == 0 &&
                        index (line, " " value / 1024 " KiB ") == 0 &&
                        index (line, " " value / 1048576 " MiB ") == 0) {
                    print FILENAME ":" FNR ": " limit[i] " is " value
                }
            }
            limits = 0
        }
        /^\.\\" limit/ {
            for (i = 3; i <= NF; i++) {
                if ($i in size) { limit[++limits] = $i }
            }
        }' rows=1 - rows=0 /dev/null "${pages[@]}"
}

#   ------------------------------------------------------------ exit codes

#   Of lockkeeper(1); 128 stands for "and the signal's number".
code_exits () {
    sed -nE 's/^ *LK_EXIT_[A-Z_]+ = ([0-9]+).*/\1/p' src/cli/cli.h 2>/dev/null
}

page_exits () {
    page_section $cli_page 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+).*/\1/p'
}

#   ------------------------------------------------------------ environment

#   Read or set by what we install.
code_variables () {
    grep -hoE 'getenv \("[A-Z_]+"|"LOCKKEEPER_[A-Z]+[_=]?' \
        /dev/null "${code[@]}" | tr -cd 'A-Z_\n' | sed 's/_$//'
}

page_variables () {
    grep -hE '^\.(It )?Ev ' $cli_page "${pages[@]/*internals*/$cli_page}" |
        grep -oE '\b[A-Z][A-Z_]{3,}\b' | sed 's/_$//'
}

#   ------------------------------------------------------------ the library

code_functions () {
    sed -n 's/^[a-z].*[ *]\(lk_[a-z0-9_]*\) (.*/\1/p' /dev/null \
        include/lockkeeper/{lockkeeper,canal}.h 2>/dev/null
}

page_functions () {
    sed -nE 's/^\.Nm (lk_[a-z0-9_]+)( ,)?$/\1/p' /dev/null "${library[@]}"
}
