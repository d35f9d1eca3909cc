#!/bin/sh
#   canaries.sh - breaks one rule of the core at a time, and sees it noticed
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   BUILD=build sh tests/sim/canaries.sh [NAME...]
#
#   Those that need more than a thousand seeds are run by name only, or with
#   SEEDS_MAX=100000 (make canaries).
#
#   Each canary is a copy of one file of the core with a mistake in it, linked
#   with the other objects of the simulator. The simulator has to fail within
#   the seeds (or the script) that are said here; a mistake that can no longer
#   be made, because the core has changed, fails too. Prints TAP.

cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
compiler=${CC:-cc}
jobs=$(nproc 2>/dev/null || echo 2)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/canaries.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
seeds_max=${SEEDS_MAX:-1000}
number=0
failed=0
wanted=" $* "

say () {    # ok|not ok, name, what
    number=$((number + 1))
    [ "$1" = ok ] || failed=$((failed + 1))
    echo "$1 $number - $2: $3"
}

#   All objects of the simulator, the changed one in place of the core's.
link_with () {    # file of the core
    objects=$(tr ' ' '\n' <"$build/tests/sim/objects" \
        | sed "s|.*/plugins/lock/core/${1%.c}.o\$|$scratch/changed.o|")
    # shellcheck disable=SC2086
    $compiler -o "$scratch/sim" $objects -ljansson -lm
}

canary () {    # name, seeds or script, file of the core, sed expression
    case $wanted in
    "  " | *" $1 "*) ;;
    *) return ;;
    esac
    case $2 in
    *[!0-9]*) ;;
    *) [ "$2" -le "$seeds_max" ] || [ "$wanted" != "  " ] || return ;;
    esac
    sed -z "$4" "plugins/lock/core/$3" >"$scratch/changed.c"
    if cmp -s "$scratch/changed.c" "plugins/lock/core/$3"; then
        say 'not ok' "$1" "$3 has no place for this mistake any more"
        return
    fi
    if ! $compiler -std=gnu11 -O2 -w -Isrc -Iinclude -Iplugins/lock/core \
        -c -o "$scratch/changed.o" "$scratch/changed.c" || ! link_with "$3"
    then
        say 'not ok' "$1" 'does not compile'
        return
    fi
    case $2 in
    *[!0-9]*) "$scratch/sim" --script "$2" --runs 300 --jobs "$jobs" \
        --no-shrink ;;
    *) "$scratch/sim" --runs "$2" --jobs "$jobs" --no-shrink ;;
    esac >"$scratch/out" 2>"$scratch/error"
    if [ $? -eq 0 ]; then
        say 'not ok' "$1" "not noticed ($2)"
    else
        say ok "$1" "$(cat "$scratch/out" "$scratch/error" \
            | grep -m 1 -e '^seed ' -e mistake)"
    fi
}

#   ------------------------------------------------------------ on disk first

canary promise-not-persisted 100 promise.c \
    's/lk_out_persist (node);//'
canary active-not-persisted 100 promise.c \
    's/lk_out_persist (node);//2'
canary two-votes-of-one-number 100 promise.c \
    's/term\.number > node->facts\.promised\.number;/lk_term_compare (term, node->facts.promised) > 0;/'
canary leads-what-it-promised-before late-fill promise.c \
    's/return lk_term_compare (term, node->promised_before_start) > 0;/return true;/'

#   ------------------------------------------------------------ decrees

canary in-force-without-a-quorum 100 activation.c \
    's/if (!lk_is_quorum (self->previous/if (0 \&\& !lk_is_quorum (self->previous/; s/|| !lk_is_quorum (self->decree/\&\& !lk_is_quorum (self->decree/'
canary no-sealing 8000 peer.c \
    's/&& lk_term_equal (node->facts\.promised, node->table\.decree\.term)\n           && lk_node_place/\&\& lk_node_place/'
canary few-leaders-for-ever 100 election.c \
    's/if (!leaders_are_few (node))/if (!leaders_are_few (node) || 1)/'
canary first-chunk-only many-tickets transfer.c \
    's/chunk->more = lk_transfer_next (chunk) < table->count;/chunk->more = false;/'

#   ------------------------------------------------------------ leases

canary no-margin 300 node.c \
    's/return ms + ms \/ 4;/return ms * 95 \/ 100;/'
canary vouches-without-lease 30000 peer.c \
    's/!node->ready || !lk_lease_holds (node)/!node->ready/'
canary vouches-after-silent heard-by-another peer.c \
    's/session <= peer->condemned ||/0 ||/'
canary time-left-from-arrival 3000 answers.c \
    's/reply->as_of + reply->left_ms/node->now_ms + reply->left_ms/'
canary restart-closes 500 node.c \
    's/lk_outlet_init (&node->outlet);/&\n    node->proxy.closed = config->facts.session;/'

#   ------------------------------------------------------------ streams

canary one-acknowledgement-for-all 100 stream.c \
    's/if (place != own && self->follower\[place\]\.acked < acked) {/if (place != own \&\& self->follower[place].acked == acked) {\n            break;\n        }\n        if (0) {/'
canary repeated-lock-not-confirmed 100 home.c \
    's/confirm (node, ticket, entry->ticket\.token);/lk_tell now = {.request = ticket->request,\n                           .token = entry->ticket.token};\n            tell_locked (node, \&now);/'
canary last-come-first-served 100 table.c \
    's/DL_APPEND (entry->queue->first, entry);\n    activate/DL_PREPEND (entry->queue->first, entry);\n    activate/'
canary any-key 200 home.c \
    's/holder->ticket\.key != ticket->key/0/'
canary no-grace 200 upkeep.c \
    's/return ticket->duration_ms + grace;/return ticket->duration_ms;/'

#   ------------------------------------------------------------ proxies

canary session-ignored 6000 answers.c \
    's/&& reply->request\.session == node->facts\.session//'
canary answers-of-older-terms late-locked answers.c \
    's/&& lk_term_compare (message->term, node->proxy\.decree\.term) >= 0;/;/'
canary unlocked-before-acknowledged 100 requests.c \
    's/asked->tell_unlocked = true;/lk_asked_tell (node, asked, LK_ANSWER_UNLOCKED, LK_OK);/'
canary no-audit 500 upkeep.c \
    's/return node->now_ms - entry->since_ms > lease_ms/return 0 \&\& node->now_ms > lease_ms/'

echo "1..$number"
[ "$failed" -eq 0 ]
