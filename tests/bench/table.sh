#!/bin/bash
#   table.sh - one table of all figures, beside the bare bus and the peers
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   table.sh FILE...      files of figures, see lib.sh; the later ones count
#
#   A column x NAME is lockkeeper's figure divided by that one's: below 1 is
#   good for times, above 1 for rates. It is the median of ratios of single
#   rounds where there is one (of the bare bus NAME.ratio; of a peer, which is
#   measured in turn with lock.library, peer.WHO.KEY.ratio, and hosted.ratio),
#   else the ratio of the two medians. The peers' keys are lockkeeper's names
#   without lock., hosted., library., home. and lockd.: peer.etcd.latency.p50
#   stands beside lock.home.latency.p50.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat "$@" | awk "$base"'
    $1 != "figure" || NF != 4 { next }
    $2 ~ /\.ratio$/ { ratio[substr ($2, 1, length ($2) - 6)] = $3; next }
    {
        if (!($2 in value)) { order[++count] = $2 }
        value[$2] = $3; unit[$2] = $4
    }
    $2 ~ /^peer\./ {
        split ($2, part, ".")
        if (!seen[part[2]]++) { who[++peers] = part[2] }
    }

    function key (name) {
        sub (/^lock\./, "", name)
        sub (/^hosted\./, "", name)
        sub (/^(home|library)\./, "", name)
        sub (/^failover\.lockd\./, "failover.", name)
        return name
    }

    function over (name, other) {
        if (!(other in value) || value[other] + 0 == 0) { return "" }
        return sprintf ("%.2f", value[name] / value[other])
    }

    function peer (name, who, with) {
        who = "peer." who "." key(name)
        with = who (name ~ /^lock\.hosted/ ? ".hosted" : "")
        if (name ~ /^lock\.(hosted\.)?library\./ && with in ratio) {
            return sprintf ("%.2f", ratio[with])
        }
        return over(name, who)
    }

    function bare (name) {
        if (name in ratio) { return sprintf ("%.2f", ratio[name]) }
        return over(name, base(name))
    }

    END {
        printf "%-41s %12s %-8s %8s", "figure", "value", "", "x bare"
        for (p = 1; p <= peers; p++) { printf " %12s", "x " who[p] }
        print ""
        for (i = 1; i <= count; i++) {
            name = order[i]
            if (name ~ /^peer\./) { continue }
            line = sprintf ("%-41s %12.6g %-8s %8s", name, value[name],
                unit[name], bare(name))
            for (p = 1; p <= peers; p++) {
                line = line sprintf (" %12s", peer(name, who[p]))
            }
            sub (/ +$/, "", line)
            print line
        }
    }'
