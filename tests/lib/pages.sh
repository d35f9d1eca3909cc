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

program_verbs () {
    [ ! -x "$lockkeeper" ] || "$lockkeeper" help |
        sed -n 's/^  \([a-z][a-z-]*\)  *[A-Z].*/\1/p'
}

#   Those of the list of verbs; the synopsis has to show them, too.
page_verbs () {
    page_section $cli_page DESCRIPTION |
        sed -n '/^The verbs:/,/^The options:/s/^\.It Cm //p' |
        sed 's/ , /\n/g' | awk '{ print $1 }'
}

#   synopsis: "verb option" of each block that begins with .Nm.
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
            while (match (line, /Fl -[a-z][a-z-]*/)) {
                for (i = 1; i <= count; i++) {
                    print verb[i], "--" substr (line, RSTART + 4, RLENGTH - 4)
                }
                line = substr (line, RSTART + RLENGTH)
            }
        }'
}

page_options_of_verbs () {
    synopsis | awk '
        $1 == "kind" { kind[$2] = 1; next }
        $2 == "kind" { takes[$1] = 1; next }
        NF == 2 { print }
        END { for (verb in takes) { for (o in kind) { print verb, o } } }'
}

#   known_options: "name required|no" of the table of lockkeeper(1).
known_options () {
    texts src/cli/options.c |
        grep -oE '\{"[a-z][a-z-]*", *(required|no)_argument' |
        sed -E 's/^\{"([a-z-]*)", *(required|no)_.*/\1 \2/'
}

#   Whether it takes an option is asked so that nothing is done: without its
#   value, or ahead of an option that no verb has.
ask_for_options () {
    local verb option value options
    [ -x "$lockkeeper" ] || return
    options=$(known_options | grep -v '^help ')
    program_verbs | while read -r verb; do
        while read -r option value; do
            if [ "$value" = required ]; then
                set -- 'needs a value' "--$option"
            else
                set -- "'--nonsense' is no option" "--$option" --nonsense
            fi
            case $("$lockkeeper" "$verb" "${@:2}" 2>&1 </dev/null) in
                *"$1"*) echo "$verb --$option" ;;
            esac
        done <<<"$options"
    done
}

#   $asked_options are from ask_for_options: that is a thousand processes.
program_options () {
    echo "$asked_options"
}

help_options () {
    local verb
    program_verbs | while read -r verb; do
        "$lockkeeper" help "$verb" 2>&1 |
            sed -nE "s/^ +(--[a-z][a-z-]*).*/$verb \1/p"
    done
}

#   ------------------------------------------------------------ config keys

#   key_rows: "section/key|TYPE|min|max|default" of the tables.
key_rows () {
    texts "${code[@]}" |
        grep -oE '\{"[a-z]+/[a-z-]+", LK_CONFIG_[A-Z]+,[^}]*\}' |
        sed -E 's/^\{"([^"]*)", LK_CONFIG_([A-Z]+), *([^,]*), *([^,]*), *("[^"]*"|[^,]*), *("[^"]*"|[^,]*), .*\}$/\1|\2|\3|\4|\6/'
}

code_keys () {
    key_rows | cut -d '|' -f 1
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
            text = ""
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

#   path_of NAME: a constant of paths.h, which may be made of others.
path_of () {
    sed 's#/\*.*##' src/net/paths.h | awk -v wanted="$1" '
        $1 == "#define" && NF > 2 {
            text = $0
            sub (/^#define [A-Z_]+ /, "", text)
            for (name in path) { gsub (name, path[name], text) }
            gsub (/[" ]/, "", text)
            path[$2] = text
        }
        END { print path[wanted] }'
}

#   What the page says of it has to have its range and default.
key_texts () {
    local key type least most value told items
    items=$(page_key_items)
    while IFS='|' read -r key type least most value; do
        told=$(sed -n "s#^$key ##p" <<<"$items")
        case $told in '' | *'As in section'*) continue ;; esac
        if [ "$type" = NUMBER ]; then
            [[ $told =~ (^|[^0-9])$least\ to\ $most([^0-9]|$) ]] ||
                echo "lockkeeper.conf(5): $key is $least to $most"
        fi
        case $value in
            LK_PATH_*) value=$(path_of "$value") ;;
        esac
        [ "$value" = NULL ] || [[ $told == *Default:*${value//\"/}* ]] ||
            echo "lockkeeper.conf(5): the default of $key is $value"
    done < <(key_rows)
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
