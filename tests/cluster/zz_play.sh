. "$(dirname "$0")/cli_tap.sh"
. "$(dirname "$0")/own_hosts_tap.sh"
. "$(dirname "$0")/login_tap.sh"
serve_users ann bob dora
list_users carl
begin_cluster "${A:-ttl=3600}" "${C:-ttl=3600 renew=0}"
. /tmp/yl/cmds
