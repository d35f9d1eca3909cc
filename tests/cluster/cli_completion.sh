#!/bin/bash
#   cli_completion.sh - what bash and zsh complete
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
folder=$(cd "$(dirname "$0")/../../completions" && pwd) || exit 1
in_sandbox "$0" --hosts 2 --set 'router/listen-clients=tcp://127.0.0.1:*'
# shellcheck source=completions/lockkeeper.bash
. "$folder/lockkeeper.bash"

#   offers WANTED WORDS...: completing the last word has to offer WANTED, each
#   of them; with "-" ahead: it must not. Nothing: it offers nothing.
offers () {
    await offers_now "$@"
}
offers_now () {
    local wanted=$1 it
    shift
    COMP_WORDS=("$lockkeeper" "$@") COMP_CWORD=$#
    _lockkeeper
    printf '%s\n' "${COMPREPLY[@]}" >"$work/offered"
    [ -n "$wanted" ] || {
        [ ${#COMPREPLY[@]} = 0 ]
        return
    }
    for it in $wanted; do
        case $it in
            -[a-z]*) ! grep -qxF -- "${it#-}" "$work/offered" ;;
            *) grep -qxF -- "$it" "$work/offered" ;;
        esac || {
            echo "$it:"
            cat "$work/offered"
            return 1
        }
    done
}

check 'verbs' offers 'run lock unlock status cluster sandbox' ''
check 'verbs, begun' offers 'unlock -lock' un
for verb in $("$lockkeeper" help --json | _lockkeeper_field verb); do
    check "the verb $verb" offers "$verb" "${verb:0:2}"
    check "options of $verb" offers --help "$verb" --
done
check 'options' offers '--wait --shared --on-jeopardy --all' run x --
check 'options, begun' offers '--duration' run x --dur
check 'those of another verb are not there' offers '--force' unlock --f
check 'not for run' offers '' run x --forc
check 'values' offers 'hard soft' run x --policy ''
check 'a number cannot be guessed' offers '' run x --wait ''
check 'verbs for help' offers 'run unlock' help ''
check 'cluster' offers 'members add remove' cluster ''
check 'hosts' offers 'h1 h2' cluster remove ''
check 'sandbox' offers restart sandbox ''
check 'a command behind --' offers true run x -- tru
touch "$work/some_file"
check 'files' offers "$work/some_file" decode "$work/some"
check 'folders' offers "$work/some_file" sandbox --dir "$work/some"
check 'no lock yet' offers '' unlock ''
start_on h1 run nightly-backup -- sleep 1000
holder=$!
start_on h2 run 'with blank' -- sleep 1000
await is_listed '^held' nightly-backup
check 'names of locks' offers nightly-backup unlock ''
check 'begun' offers nightly-backup run nigh
check 'for list' offers nightly-backup list ''
check 'for show' offers nightly-backup show ''
check 'values of --sort' offers 'host left' list --sort ''
check 'others for another verb' offers 'grants -left' top --sort ''
check 'values of an option are no arguments' offers -nightly-backup \
    list --sort ''
check 'signals' offers 'USR1 WINCH' run x --on-jeopardy ''
check 'verbs for help' offers unlock help un
check 'keys to set' offers lock/host-lease sandbox --set lock/
check 'files of --config' offers "$work/some_file" \
    config get --config "$work/some"
check 'files to verify' offers "$work/some_file" config verify "$work/some"
check 'ahead of the verb' offers --client --
check 'a client file' offers "$work/some_file" --client "$work/some"
check 'a client file behind =' offers "$work/some_file" --client = "$work/some"
check 'verbs behind it' offers 'run unlock' --client "$work/some_file" ''
check 'what they take' offers '--shared -run' \
    --client = "$work/some_file" run x --
check 'new' offers new client ''
check 'a file for it' offers "$work/some_file" client new "$work/some"
check 'clients' offers 'list add remove' clients ''
"$lockkeeper" client new "$work/m1" 2>/dev/null >"$work/m1.key"
"$lockkeeper" clients add m1 - <"$work/m1.key" >>"$work/m1" 2>/dev/null
check 'which there are' offers m1 clients remove ''
check 'what that takes' offers '--replace --json' clients --
#   There are ten seconds between two changes of settings.
check 'a zone' "$lockkeeper" zone add acme
check 'zones' offers 'list add set remove' zone ''
check 'which zones there are' offers acme zone remove ''
check 'zones for --zone' offers acme credential issue --zone ''
check 'roles' offers 'observer admin' credential issue --role ''
check 'a file of an issuer' offers "$work/some_file" \
    zone set --issuer "$work/some"
check 'a file of a user' offers "$work/some_file" \
    user list --file "$work/some"
check 'names of locks, by a client file' offers nightly-backup \
    --client "$work/m1" unlock ''
check 'not by another one' offers '' --client "$work/some_file" unlock ''
#   Bash would run what a name says.
evil="\$(touch\${IFS}$work/ran)"
start_on h2 run "$evil" -- sleep 1000
check 'a name that is a command' await is_listed '^held' "$evil"
check 'no name is run' offers nightly-backup unlock ''
check '... nor was it' test ! -e "$work/ran"
check 'not for sandbox' offers -nightly-backup sandbox ''
check 'keys' offers 'router/listen lock/host-lease' config get ''
check 'for --object' offers nightly-backup status --object ''
# shellcheck disable=SC2034
LOCKKEEPER_ENDPOINT=ipc://$work/none
began=$(now_ms)
check 'no router: no names' offers '' unlock ''
check "quickly: $(($(now_ms) - began)) ms" test $(($(now_ms) - began)) -lt 4500

#   zsh has no COMP_WORDS: it is looked at through a terminal of its own.
if command -v zsh >/dev/null; then
    check 'zsh: parses' zsh -n "$folder/_lockkeeper"
    cat >"$work/type.zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; path=($BUILD \$path); fpath=($1 \$fpath)"
zpty -w shell 'autoload -Uz compinit; compinit -u -D; echo is ready'
zpty -r shell line '*is ready*is ready*'
zpty -n -w shell "$2"$'\t\t'
for ((i = 0; i < 300; i++)); do
    [[ $said != *$3* ]] || break
    zpty -r -t shell line && said+=$line || sleep 0.2
done
print -rn -- $said
zpty -d shell
END
    #   zsh_offers WANTED LINE
    # shellcheck disable=SC2317
    zsh_offers () {
        timeout 90 zsh -f "$work/type.zsh" "$folder" "$2" "$1" \
            >"$work/typed" 2>&1
        grep -qF -- "$1" "$work/typed" || {
            cat -v "$work/typed"
            return 1
        }
    }
    check 'zsh: verbs' zsh_offers wait-ready 'lockkeeper '
    check 'zsh: options' zsh_offers --on-jeopardy 'lockkeeper run x --'
    check 'zsh: with what they are for' zsh_offers 'as an operator' \
        'lockkeeper '
    check 'zsh: --client' zsh_offers --on-jeopardy \
        "lockkeeper --client $work/m1 run x --"
    check 'zsh: names by it' zsh_offers nightly-backup \
        "lockkeeper --client $work/m1 unlock n"
    check 'zsh: clients' zsh_offers remove 'lockkeeper clients '
    check 'zsh: zones' zsh_offers remove 'lockkeeper zone '
    check 'zsh: cluster' zsh_offers members 'lockkeeper cluster '
fi
kill $holder %2 %3 2>/dev/null
wait
done_checking
