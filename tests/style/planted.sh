#!/bin/bash
#   planted.sh - the style checks see what they are there to see
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Plants one violation at a time in a scratch copy of the tree and expects
#   the check to complain of the very file. With PARTS=3 a third of them, drawn.

# shellcheck source=tests/lib/style.sh
. "$(dirname "$0")/../lib/style.sh"
root=$PWD
LIB_DIR=$root/tests/lib
export LIB_DIR
parts=${PARTS:-1}
part=$((RANDOM % parts))
seen=0
work=$(mktemp -d "${TMPDIR:-/tmp}/planted.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

#   A small tree that every check likes.
fresh () {
    rm -rf "$work/tree"
    mkdir -p "$work/tree"
    (cd "$work/tree" && mkdir -p include/lockkeeper src/{util,wire,net} \
        src/client src/cli/see router/{tables,logic} \
        plugins/lock/{keep,out,look,in} \
        plugins/lock/core/{base,table,leader,proxy,election,node} \
        plugins/greeter tests/{unit,lib,sim} man \
        build/plugins/lock/core/base build/src/util build/src/wire)
    cp "$root"/include/lockkeeper/*.h "$work/tree/include/lockkeeper/"
    cp "$root"/src/util/*.[ch] "$work/tree/src/util/"
    cp "$root"/src/wire/lock_{message,state}.h "$work/tree/src/wire/"
    for room in base table leader proxy election node; do
        cp "$root"/plugins/lock/core/$room/*.h \
            "$work/tree/plugins/lock/core/$room/"
    done
    write plugins/lock/core/base/planted.c 'int lk_planted (int a);' '' \
        'int' 'lk_planted (int a)' '{' '    return a;' '}'
}

#   write FILE LINES...: a C file with our head.
write () {
    local file=$work/tree/$1
    local base=${1##*/}
    shift
    {
        echo "/*  $base - planted"
        echo ' *'
        echo ' *  SPDX-License-Identifier: MPL-2.0'
        echo ' */'
        echo
        printf '%s\n' "$@"
    } >"$file"
}

#   looks CHECK: what it says of the tree.
looks () {
    STYLE_ROOT=$work/tree BUILD=$work/tree/build \
        bash "$root/tests/style/$1.sh" 2>&1
}

#   sees NAME CHECK PATTERN: it must fail, with a complaint like PATTERN.
sees () {
    local output
    seen=$((seen + 1))
    [ $((seen % parts)) -eq "$part" ] || {
        fresh
        return
    }
    output=$(looks "$2")
    if [ $? -eq 0 ]; then
        verdict "$2.sh sees $1" 'not seen'
    elif ! grep -qE "^# .*($3)" <<<"$output"; then
        verdict "$2.sh sees $1" "failed, but not for that: $output"
    else
        verdict "$2.sh sees $1" ''
    fi
    fresh
}

compile () {
    local object=$work/tree/build/${1%.c}.o
    (cd "$work/tree" && "$CC" -std=gnu11 -Isrc -Iinclude \
        -Iplugins/lock/core/base -c -o "$object" "$1") 2>&1 | sed 's/^/# /'
}

fresh
for check in layers text; do
    if output=$(looks $check); then
        verdict "$check.sh likes the clean tree" ''
    else
        verdict "$check.sh likes the clean tree" "$output"
    fi
done
compile plugins/lock/core/base/planted.c
if output=$(looks purity); then
    verdict 'purity.sh likes a pure core' ''
else
    verdict 'purity.sh likes a pure core' "$output"
fi

#   ------------------------------------------------------------ layers

#   include FILE HEADER: plants it and expects layers.sh to see it.
include () {
    write "$1" "#include $2"
    sees "$2 in $1" layers "${1//./\\.}:"
}
include src/util/planted.c '"wire/lock_message.h"'
include src/util/planted.h '<czmq.h>'
include src/wire/planted.c '"net/loop.h"'
include src/wire/planted.c '<zmq.h>'
include src/net/planted.c '<jansson.h>'
include src/net/planted.c '<zmq.h>'
include src/net/planted.c '"net/zsocket.h"'
include src/net/dealer.c '<jansson.h>'
include src/net/planted.c '"client/session.h"'
include src/client/planted.c '<czmq.h>'
include src/cli/planted.c '<jansson.h>'
include src/cli/planted.c '<libsmartcols.h>'
include src/cli/see/planted.c '<libsmartcols.h>'
include src/cli/columns.c '<jansson.h>'
include src/cli/columns.h '<libsmartcols.h>'
include src/cli/planted.c '"cli/run/guard.h"'
include src/cli/see/planted.c '"cli/lock/agent.h"'
include router/logic/planted.c '<czmq.h>'
include router/logic/planted.c '"../plugins/lock/core/node/node.h"'
include router/tables/planted.c '"planted.h"'
include plugins/lock/planted.c '<zmq.h>'
include plugins/lock/keep/planted.c '"out.h"'
include plugins/lock/out/planted.c '"look.h"'
include plugins/lock/look/planted.c '"in.h"'
include plugins/lock/in/planted.c '"lockd.h"'
include plugins/lock/in/planted.c '"proxy.h"'
include plugins/lock/core/base/planted.c '<time.h>'
include plugins/lock/core/base/planted.c '"net/clock.h"'
include plugins/lock/core/base/planted.c '"wire/lock_codec.h"'
include plugins/lock/core/base/planted.c '<lockkeeper/message.h>'
include plugins/lock/core/base/planted.c '"table.h"'
include plugins/lock/core/table/planted.c '"leader.h"'
include plugins/lock/core/leader/planted.c '"proxy.h"'
include plugins/lock/core/proxy/planted.c '"election.h"'
include plugins/lock/core/election/planted.c '"proxy.h"'
include plugins/lock/core/election/planted.c '"leader_private.h"'
include plugins/lock/core/proxy/planted.c '"node.h"'
include plugins/greeter/planted.c '"net/loop.h"'
include plugins/greeter/planted.c '<sys/socket.h>'
include include/lockkeeper/planted.h '<czmq.h>'
include tests/lib/grant_model.c '"grant.h"'
include plugins/lock/core/proxy/planted.c '"leader_view.h"'
include tests/unit/planted.c '"leader_private.h"'
include tests/lib/corrupt.c '"node_private.h"'
include tests/sim/planted.c '"demand.h"'

#   ------------------------------------------------------------ sockets

#   opens FILE CODE: plants it and expects sockets.sh to see it.
opens () {
    write "$1" 'void' 'lk_planted (void)' '{' "    $2" '}'
    sees "$2 in $1" sockets "${1//./\\.}:"
}
opens src/net/planted.c 'int fd = socket (1, 1, 0);'
opens src/client/planted.c 'return (int) connect (fd, &at, size);'
opens router/logic/planted.c 'if (listen (fd, 1) != 0) {'
opens plugins/lock/planted.c 'x = accept4 (fd, NULL, NULL, 0);'

#   ------------------------------------------------------------ purity

#   call CODE SYMBOL: a core whose function does CODE.
call () {
    write plugins/lock/core/base/planted.c '#include <stdlib.h>' \
        '#include <stdio.h>' '#include <time.h>' \
        'long lk_planted (void);' 'void lk_net_send (void);' '' \
        'long' 'lk_planted (void)' '{' "    $1" '}'
    compile plugins/lock/core/base/planted.c
    sees "$2 () in the core" purity "planted\\.o:? calls $2\$"
}
call 'return (long) time (NULL);' time
call 'return (long) random ();' random
call 'return (long) getenv ("HOME");' getenv
call 'return printf ("%ld", 1L);' printf
call 'lk_net_send (); return 0;' lk_net_send
sees 'a file of the core that was not compiled' purity 'no object|no objects'

#   ------------------------------------------------------------ circles

#   chain NAME...: each file calls the next one, and the last one none.
chain () {
    while [ $# -gt 1 ]; do
        write "src/util/$1.c" "int lk_$1 (void);" "int lk_$2 (void);" '' \
            'int' "lk_$1 (void)" '{' "    return lk_$2 ();" '}'
        compile "src/util/$1.c"
        shift
    done
}
chain one two three
if output=$(looks circles); then
    verdict 'circles.sh likes files that call others below them' ''
else
    verdict 'circles.sh likes files that call others below them' "$output"
fi
fresh
chain one two three one
sees 'three files in a circle' circles 'src/util/two$'
sees 'that nothing was compiled' circles 'no objects'

#   ------------------------------------------------------------ text

plant () {
    local name=$1 pattern=$2 file=$3
    shift 3
    write "$file" "$@"
    sees "$name" text "$pattern"
}
mapfile -t lines < <(for i in {1..71}; do echo "    a += $i;"; done)
plant 'a long function' 'planted\.c:.*function of 7[0-9] lines' \
    router/logic/planted.c 'int' 'planted (int a)' '{' "${lines[@]}" '}'
mapfile -t lines < <(for i in {1..800}; do echo "int a$i;"; done)
plant 'a long file' 'planted\.c:1: 80[0-9] lines' router/logic/planted.c \
    "${lines[@]}"
plant 'seven parameters' 'more than 6 parameters' router/logic/planted.c 'int' \
    'planted (int a, int b, int c,' '         int d, int e, int f, int g)' \
    '{' '    return a;' '}'
plant 'a long line' '81 columns' router/logic/planted.c \
    "$(printf 'int %077d' 0)"
plant 'a tab' 'a tab' router/logic/planted.c "$(printf '\tint a;')"
plant 'a return type beside the name' 'return type' router/logic/planted.c \
    'static int planted (int a)' '{' '    return a;' '}'
plant 'a branch without braces' 'without braces' router/logic/planted.c 'int' \
    'planted (int a)' '{' '    if (a) return 1;' '    return a;' '}'
plant 'strcpy' 'banned function' src/net/planted.c 'void' \
    'planted (char *a)' '{' '    strcpy (a, "b");' '}'
plant 'sprintf' 'banned function' src/net/planted.c 'void' \
    'planted (char *a)' '{' '    sprintf (a, "b");' '}'
plant 'system' 'banned function' src/net/planted.c 'void' \
    'planted (void)' '{' '    (void) system ("b");' '}'
plant 'malloc' 'util/alloc' src/net/planted.c 'void *' \
    'planted (void)' '{' '    return malloc (1);' '}'
plant 'a mark for later' 'planted\.c:' src/net/planted.c \
    "/*  TO""DO: more */"
echo 'int a;' >"$work/tree/router/logic/planted.c"
sees 'a file without a head' text 'planted\.c:1: does not begin'
echo '/*  planted.c - here */' >"$work/tree/router/logic/planted.c"
sees 'a file without SPDX' text 'router/logic/planted\.c$'
write src/util/planted.h '#ifndef LK_BYTES_H' '#define LK_BYTES_H' '#endif'
sees 'a guard that is there twice' text 'planted\.h: LK_BYTES_H'
write src/util/planted.h 'typedef struct {' '    int a;' '} lk_bytes;'
sees 'a type that is there twice' text 'planted\.h: lk_bytes is'

#   ------------------------------------------------------------ pages

printf '%s\n' 'void lk_planted (void);' \
    >"$work/tree/include/lockkeeper/canal.h"
sees 'a function without a page' man 'in the page: lk_planted'
echo 'complain (self, "x", "is green");' \
    >"$work/tree/plugins/lock/in/request_fields.c"
: >"$work/tree/man/lockkeeper-protocol.7"
sees 'a refusal without a page' man "no refusal that 'is green'"
mkdir "$work/tree/examples"
printf '%s\n' 'int a;' 'int b;' >"$work/tree/examples/a.c"
page () {
    printf '%s\n' '.\" from examples/a.c' '.Bd -literal' "$@" '.Ed' \
        >"$work/tree/man/a.3"
}
page 'int a;' 'int b; '
sees 'an example that is not that of its file' man 'a\.3:3: this is not in'
mkdir "$work/tree/examples"
page
sees 'an example of nothing' man 'a\.3:3: this is not in'
printf '%s\n' '.Bd -literal' 'int a;' '.Ed' >"$work/tree/man/a.3"
sees 'an example of no file' man 'a\.3:1: of which file'

#   All that the pages tell of, with many mistakes at once, and a program that
#   behaves as the real one but for some cases of its arguments.
whole () {
    rm -rf "${work:?}"/tree/{src,router,plugins,include,man}
    cp -r "$root"/{src,router,plugins,include,man,examples} "$work/tree/"
    printf '%s\n' '#!/bin/sh' "case \$* in ${1:-}" 'esac' \
        "exec '$BUILD/lockkeeper' \"\$@\"" >"$work/tree/build/lockkeeper"
    printf '%s\n' '#!/bin/sh' "'$BUILD/lockkeeper-lockd' \"\$@\" |
        sed 's/(10000)/(10001)/; s/--leaders N /--leader N  /'" \
        >"$work/tree/build/lockkeeper-lockd"
    chmod +x "$work/tree/build/"lockkeeper*
}
planted=()
#   edited FILE SED TITLE PATTERN: plants it; seen_all CHECK looks for the
#   pattern in what that says.
edited () {
    sed -i "$2" "$work/tree/$1"
    ! cmp -s "$root/$1" "$work/tree/$1" || echo "# $1 is as it was: $2"
    planted+=("$3" "$4")
}
seen_all () {
    local output i
    output=$(looks "$1")
    for ((i = 0; i < ${#planted[@]}; i += 2)); do
        verdict "$1.sh sees ${planted[i]}" "$(
            grep -qE "^# .*(${planted[i + 1]})" <<<"$output" || echo 'not seen')"
    done
    planted=()
    fresh
}
if [ -x "$BUILD/lockkeeper" ]; then
    whole "'help sandbox --json') '$BUILD/lockkeeper' help sandbox --json |
            grep -v hosted; exit ;;
        'help run') '$BUILD/lockkeeper' help run | grep -v -e --bound; exit ;;
        'help --json') '$BUILD/lockkeeper' help --json | grep -v show; exit ;;
        'config keys --json') '$BUILD/lockkeeper' config keys --json |
            sed -e '/router.syslog/d' -e '/lock.digest/s/10000\"/1000\"/' \\
                -e '/lock.leader-l/s/600000/6000000/' \\
                -e '/router.mode/s/\"a file.*777/\"yes or no/' \\
                -e '/router.security/s/both/back/' \\
                -e '/router.keys/s/1 to 4095/1 to 63/' \\
                -e '/router.group/s/\"list\":false/\"list\":true/' \\
                -e '/lock.host-l/s/everywhere/restart/' \\
                -e '/lock.run/s/\"restart/\"reload/'
            exit ;;"
    edited man/lockkeeper.1 '/^\.Op Fl -keep/d' \
        'an option that is told of no more' 'in the page: sandbox --keep'
    edited man/lockkeeper.1 '/^\.It Fl -now$/d' \
        'an option that is in the synopsis alone' 'in the page: --now$'
    edited man/lockkeeper.1 's/^\.Op Fl -minutes Ar n$/.Op Fl -minutes/' \
        'an option without its value' 'in the page: invite --minutes=$'
    edited man/lockkeeper.1 's/^\.It Cm unlock$/.It Cm lock/' \
        'a verb that is told of no more' 'in the page: unlock$'
    edited man/lockkeeper.conf.5 '/^\.It Cm grace/d' \
        'a key without a page' 'in the page: lock/grace'
    edited router/logic/control.c '$a static const char *planted = "PLANTED";' \
        'a message without a page' "no message 'PLANTED'"
    edited src/wire/lock_message.h \
        '/LK_MSG_PENDING, /s/)/) X (LK_MSG_B2, "B2", 0)/' \
        'a kind of message with a digit' 'in the page: b2: B2'
    edited man/lockkeeper-protocol.7 '/^\.It Sy SHUTDOWN/s/$/ , SHUTUP/' \
        'a message that nobody knows' 'nobody knows SHUTUP'
    edited man/lockkeeper-protocol.7 '/^\.It rerun:/d' \
        'a kind of message without a page' 'in the page: rerun: RERUN'
    edited src/wire/lock_shape.c 's/"in_ms"/"planted"/' \
        'a field without a page' "no field 'planted'"
    edited man/lockkeeper-router.8 '/^\.\\" limit REMOTES/d' \
        'a limit without a page' 'in the page: REMOTES'
    edited src/wire/lock_message.h 's/\(LK_REPORT_MAX\) *8192/\1 8193/' \
        'another limit' 'REPORT is 8193'
    edited man/lockkeeper.1 '/^\.It 122/d' \
        'an exit code without a page' 'in the page: 122'
    edited src/cli/cli.h '/LK_EXIT_NOT_RUN/d' \
        'an exit code that is no more' 'in the code: 126'
    edited src/net/log.c 's/getenv ("JOURNAL_STREAM")/getenv ("PLANTED")/' \
        'a variable without a page' 'in the page: PLANTED'
    edited include/lockkeeper/error.h '/LK_FORCED/d' \
        'an error that is no more' 'in the code: forced'
    edited src/cli/see/show.c "s/'show' needs the name/'show' wants the name/" \
        'an error without a page' "in no page: 'show' wants the name"
    edited man/lockkeeper-router.8 's/^\.It there is no plug-in.*/.It lo/' \
        'an error that is told of no more' 'in no page: there is no plug-in'
    edited man/lockkeeper-internals.7 's/ book_life\.c/ book_lives.c/' \
        'a station of the walk that is no file' 'no src/client/book_lives\.c'
    edited man/lockkeeper-lockd.8 's/^\.It ALERT.*/&\n.It the moon is down/' \
        'an error that is no more' 'nobody says: the moon is down'
    edited src/settings/lock.c 's/is less than two times/is too small for/' \
        'a mistake of the configuration without a page' \
        "in no page: 'lock/leader-lease' is too small"
    edited plugins/lock/in/peer_messages.c \
        's/dropped what makes no/took leave of/' \
        'a warning in the log without a page' 'in no page: took leave of'
    edited src/cli/run/run.c 's/several names need --all/names are too many/' \
        'an error that is handed on' 'in no page: names are too many'
    edited man/lockkeeper_set.3 '0,/^\.Nm/s/^\.Nm .*/.Nm lk_planted/' \
        'a function that is no more' 'in the code: lk_planted'
    planted+=('an option that is no more' 'in the code: sandbox --hosted'
        'an option without help' 'in the page: run --bound'
        'a verb that is no more' 'in the code: show$'
        'a key that is no more' 'in the code: router/syslog'
        'another default' 'default of lock/digest is 1000$'
        'another range' 'lock/leader-lease is .*6000000,'
        'another default of a daemon' 'default of lock/digest is .*, not 10001'
        'an option of a daemon that is no key' 'lock/leader is no setting'
        'another type' 'router/mode is yes or no,'
        'another word' 'router/security is one of none.back.curve,'
        'another length' 'router/keys is a text of 1 to 63 bytes,'
        'a list' 'router/group is .*: true$'
        'another time' 'in the code: lock/host-lease everywhere'
        'a time without a page' 'in the page: lock/run reload')
    seen_all man
else
    skip 'man.sh sees what is planted in the pages' 'nothing is built'
fi

#   ------------------------------------------------------------ messages

whole
mkdir -p "$work/tree/tests"
cp -r "$root"/tests/{lib,vectors,fuzz} "$work/tree/tests/"
edited src/wire/lock_shape.c '/\[LK_MSG_AUDIT\] = /d' \
    'a kind without a shape' 'LK_MSG_AUDIT: no row in shapes'
edited man/lockkeeper-protocol.7 \
    's/^39 pending/38 pending/; s/^alerted, /forgotten, /' \
    'a kind under another number' '39 pending: no row'
planted+=('a kind that nobody may say' 'alerted: no row in the table of 9\.3')
edited tests/lib/hostile.c 's/K (FILLED)/K (OPS)/g' \
    'a kind that is never hostile' 'filled: no row in fields'
edited tests/vectors/make.py 's/"chunk": 1, "more"/"chunk": 2, "more"/' \
    'an example that is another one' 'lock-fill\.txt: run tests/vectors/make'
seen_all messages

#   ------------------------------------------------------------ sections

#   cites COMMENT PATTERN: plants it beside the page that it cites.
cites () {
    cp "$root/man/lockkeeper-protocol.7" "$work/tree/man/"
    write plugins/lock/core/base/planted.c "/*  $1 */"
    sees "'$1'" sections "$2"
}
#   They are put together here, so that this file cites nothing.
cites 'protocol 9.''99' 'planted\.c:6: there is no 9\.99'
cites 'protocol 9.1, 9.''99' 'planted\.c:6: there is no 9\.99'
cites 'protocol 9.5.''99' 'planted\.c:6: there is no 9\.5\.99'
cites 'protocol 9.10: ''Noise' "planted\.c:6: 9\.10 has no paragraph 'Noise'"
cites 'lockkeeper-protocol(7), ''The moon' "no section is called 'The moon'"
cites 'protocol 9.1' 'no code cites 9\.2 Pings'
sed 's/^\.Ss 9\.2 /.Ss 9.1 /' "$root/man/lockkeeper-protocol.7" \
    >"$work/tree/man/lockkeeper-protocol.7"
sees 'a number that is there twice' sections "9\.1 is 'Decrees'"

#   ------------------------------------------------------------ scripts

#   script NAME: one that cannot be executed.
script () {
    mkdir -p "$work/tree/tests/cluster"
    printf '%s\n' '#!/bin/sh' 'true' >"$work/tree/tests/cluster/$1"
}
script planted.sh
sees 'a test that is never run' shell 'cluster/planted\.sh:1: begins'
if command -v shellcheck >/dev/null; then
    script planted.sh
    printf '%s\n' '# shellcheck shell=bash' 'echo "$patience" "$name"' \
        >"$work/tree/tests/cluster/shared.sh"
    printf '%s\n' '#!/bin/bash' '# shellcheck source=tests/cluster/shared.sh' \
        '. ./shared.sh' 'patience=1' 'nam=2' \
        >"$work/tree/tests/cluster/planted.sh"
    chmod +x "$work/tree/tests/cluster/planted.sh"
    sees 'a setting of another script that has no such' shell \
        'cluster/planted\.sh:5:.*nam appears unused'
else
    skip 'shell.sh sees a setting of another script that has no such' \
        'no shellcheck'
fi

#   ------------------------------------------------------------ commits

#   commit LINES MESSAGE: of that many lines; the tree becomes a repository.
commit () {
    seq "$1" >>"$work/tree/planted"
    git -C "$work/tree" init -q
    git -C "$work/tree" add planted
    git -C "$work/tree" -c user.name=a -c user.email=b commit -q \
        --no-verify --cleanup=verbatim -m "$2"
}
#   refuses NAME LINES MESSAGE PATTERN: sees it in one.
refuses () {
    commit "$2" "$3"
    sees "$1" commit "$4"
}
#   likes NAME: the tree as it is.
likes () {
    verdict "commit.sh likes $1" "$(looks commit | grep -v '^ok\|^1\.\.')"
    fresh
}
if command -v git >/dev/null; then
    long=$(printf 'word %.0s' {1..20})
    refuses 'a long subject' 1 "${long:0:73}d" 'subject of 7[34] characters'
    refuses 'a full stop' 1 'It is done.' 'a full stop'
    refuses 'two topics' 1 'One thing; another' 'two topics'
    refuses 'what is not done yet' 1 'wip: more' 'not done yet'
    refuses 'no blank line' 1 $'A subject\nand its body' 'no blank line'
    refuses 'a change without a word' 11 'A subject' '11 lines change'
    refuses 'a signature that is no word' 11 \
        $'A subject\n\nSigned-off-by: me' '11 lines change'
    refuses 'a long line' 1 $'A subject\n\n'"$long" 'line 3 of 100 characters'
    commit 1 'What others have.'
    git -C "$work/tree" update-ref refs/remotes/origin/main HEAD
    commit 1 'What is new, too.'
    commit 1 'What is new'
    sees 'the last but one, too' commit 'a full stop'
    commit 11 $'A subject\n\nWhy, see\n'"https://example.org/${long// /-}"
    likes 'a good one'
    commit 10 'A small one'
    likes 'a small one'
    commit 1 'What others have.'
    git -C "$work/tree" update-ref refs/remotes/origin/main HEAD
    commit 1 'What is new'
    likes 'what it need not look at'
else
    skip 'commit.sh sees what commits lack' 'no git'
fi
likes 'a tree without any'

#   ------------------------------------------------------------ format

if looks format | grep -q SKIP; then
    skip 'format.sh sees a missing blank' 'no clang-format 14'
else
    printf '%s\n' 'int' 'lk_planted(int a);' >"$work/tree/src/util/planted.h"
    sees 'a missing blank' format 'src/util/planted\.h:[0-9]'
fi

#   ------------------------------------------------------------ folders

mkdir "$work/tree/src/helpers"
sees 'a folder for odds and ends' text 'src/helpers'
done_checking
