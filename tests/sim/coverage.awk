#   coverage.awk - branches of the core that were not taken
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   awk -v listed=unreached.txt -f coverage.awk UNIT SIM
#
#   UNIT and SIM are what gcov -b -c -t says of the core after its unit tests
#   and after the simulator. Branches of assertions do not count, since the
#   false one is our own mistake, nor do those inside of uthash's and utlist's
#   macros. Prints each branch that only unit tests take; each that nobody
#   takes and that is not listed, as a line to be listed; what is listed and
#   taken; and a table by file. The status is 1 if there are any of the two.

function trim(text) {
    gsub (/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function read_list(    text, place, branches, numbers, count, i) {
    while ((getline text < listed) > 0) {
        if (text ~ /^#/ || text !~ /[^ \t]/) {
            continue
        }
        if (text ~ /^ /) {
            for (i = 1; i <= count; i++) {
                reason[place, numbers[i]] = reason[place, numbers[i]] text
            }
            continue
        }
        match (text, /^[^ ]+ [^ ]+ /)
        place = substr (text, 1, RLENGTH)
        text = substr (text, RLENGTH + 1)
        branches = text
        sub (/: .*/, "", branches)
        sub (/^[0-9,]+: /, "", text)
        place = place text
        count = split (branches, numbers, ",")
        for (i = 1; i <= count; i++) {
            reason[place, numbers[i]] = ""
        }
    }
}

function begin_file(path) {
    file = path
    sub (/.*\//, "", file)
    within = 0
    if (!(file in total) && file ~ /\.c$/) {
        files[++file_count] = file
        total[file] = hit[file] = unit[file] = known[file] = missed[file] = 0
    }
}

function judge(    place) {
    place = file " " name " " source
    total[file]++
    if (taken > 0) {
        hit[file]++
    } else if ((file, line, branch) in by_unit) {
        unit[file]++
        print "only by unit tests: " file ":" line ": branch " branch ": " \
            source
    } else if ((place, branch) in reason) {
        known[file]++
        used[place, branch] = 1
    } else {
        missed[file]++
        print "not taken (line " line "): " file " " name " " branch ": " \
            source
        bad++
    }
}

BEGIN {
    read_list()
}

FNR == 1 {
    pass++
}

/^function / {
    name = $2
    next
}

#   "        5:  123:    source" or "    #####:  123:    source"
/^ *[-#=0-9*]+: *[0-9]+:/ {
    line = $0
    sub (/^[^:]*: */, "", line)
    source = line
    sub (/:.*/, "", line)
    sub (/^[0-9]+:/, "", source)
    branch = -1
    if (line == 0) {
        if (source ~ /^Source:/) {
            begin_file(source)
        }
        next
    }
    source = trim(source)
    if (source ~ /LK_ASSERT|HASH_(ADD|DEL|FIND)|DL_[A-Z]/) {
        within = 1
    }
    quiet = within
    if (source ~ /[;{}]$/) {
        within = 0
    }
    next
}

/^branch / && !quiet && file ~ /\.c$/ {
    branch++
    taken = $3 == "taken" ? $4 : 0
    if (pass == 2) {
        judge()
    } else if (taken > 0) {
        by_unit[file, line, branch] = 1
    }
}

END {
    for (key in reason) {
        split (key, part, SUBSEP)
        if (!(key in used)) {
            print "listed, but taken or gone: " part[1] ": branch " part[2]
            bad++
        } else if (reason[key] == "") {
            print "listed without a reason: " part[1]
            bad++
        }
    }
    form = "%-16s %9s %9s %11s %9s %9s\n"
    printf form, "file", "branches", "simulator", "only unit", "listed", \
        "not taken"
    for (i = 1; i <= file_count; i++) {
        f = files[i]
        printf form, f, total[f], hit[f], unit[f], known[f], missed[f]
        all += total[f]; all_hit += hit[f]; all_unit += unit[f]
        all_known += known[f]; all_missed += missed[f]
    }
    printf form, "all", all, all_hit, all_unit, all_known, all_missed
    exit !(all > 0) || bad > 0
}
