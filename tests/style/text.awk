#   text.awk - what can be seen in a C file line by line
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Prints "RULE file:line: what". Counts on our own layout: a function's
#   name, its opening and its closing brace stand in the first column.

function complain(rule, what)
{
    print rule, FILENAME ":" FNR ": " what
}

#   The line without comments, texts and characters.
function strip(line,    at)
{
    if (in_comment) {
        at = index(line, "*/")
        if (!at) {
            return ""
        }
        line = substr(line, at + 2)
        in_comment = 0
    }
    gsub(/\\\\/, "", line)
    gsub(/\\"/, "", line)
    gsub(/"[^"]*"/, "\"\"", line)
    gsub(/'[^']*'/, "0", line)
    while ((at = index(line, "/*")) > 0) {
        rest = substr(line, at + 2)
        line = substr(line, 1, at - 1)
        at = index(rest, "*/")
        if (!at) {
            in_comment = 1
            break
        }
        line = line " " substr(rest, at + 2)
    }
    return line
}

function file_ends()
{
    if (file != "" && length_of > 800) {
        print "size", file ":1: " length_of " lines, at most 800"
    }
}

FNR == 1 {
    file_ends()
    file = FILENAME
    in_comment = 0
    in_function = 0
    signature = ""
    base = file
    sub(/.*\//, "", base)
    if (index($0, "/*  " base " - ") != 1) {
        complain("head", "does not begin with '/*  " base " - what it is'")
    }
}

{
    length_of = FNR
    wide = $0
    gsub(/[\200-\277]/, "", wide)
    if (length(wide) > 80) {
        complain("columns", length(wide) " columns, at most 80")
    }
    if (index($0, "\t")) {
        complain("columns", "a tab")
    }
    if ($0 ~ /[ \r]$/) {
        complain("columns", "white space at the end")
    }
    code = strip($0)
}

code ~ /\/\// {
    complain("layout", "a comment with //")
}

#   Definitions: everything from the first column on until the brace.
/^[A-Za-z_]/ && !in_function {
    first = FNR
    signature = code
}
/^[ \t)]/ && !in_function && signature != "" {
    signature = signature code
}
/^([#}\/]|$)/ && !in_function {
    signature = ""
}

/^\{/ && !in_function {
    in_function = 1
    began = FNR
    if (signature ~ /\(/) {
        name = signature
        sub(/ *\(.*/, "", name)
        if (name ~ /[ *]/) {
            print "layout", file ":" first \
                ": the return type is not on a line of its own"
        }
        inner = signature
        sub(/^[^(]*\(/, "", inner)
        while (inner ~ /\([^()]*\)/) {
            sub(/\([^()]*\)/, "", inner)
        }
        if (gsub(/,/, ",", inner) > 5) {
            print "size", file ":" first ": more than 6 parameters"
        }
    }
    signature = ""
}
/^\}/ && in_function {
    if (FNR - began - 1 > 70) {
        print "size", file ":" began ": a function of " FNR - began - 1 \
            " lines, at most 70"
    }
    in_function = 0
}

#   A branch or loop without braces: its line ends with the parenthesis.
in_function && code ~ /^ *(if|while|for) \(.*;$/ {
    opened = gsub(/\(/, "(", code)
    if (opened == gsub(/\)/, ")", code)) {
        complain("layout", "a branch without braces")
    }
}
code ~ /(^|[^A-Za-z0-9_])(if|while|for|switch|return)\(/ {
    complain("layout", "no space before the parenthesis")
}

code ~ /(^|[^A-Za-z0-9_>.])(strcpy|strcat|strncpy|strncat|sprintf|vsprintf|gets|strtok|ato[ilf]+|tmpnam|tempnam|mktemp|alloca|gethostbyname) \(/ {
    complain("banned", "a banned function: " $0)
}
code ~ /(^|[^A-Za-z0-9_>.])(system|popen|s?rand|random|localtime|gmtime|ctime|asctime|setjmp|longjmp|usleep) \(/ \
    && file !~ /^tests\// {
    complain("banned", "a banned function: " $0)
}
code ~ /(^|[^A-Za-z0-9_>.])pthread_create \(/ \
    && file !~ /(src\/net\/(lookup|zprocess)|keep\/journal|issuer\/pool)\.c$/ && file !~ /^tests\// {
    complain("banned", "one thread; lookup.c, journal.c and pool.c have helpers")
}
code ~ /(^|[^A-Za-z0-9_>.])(malloc|calloc|realloc|strdup|strndup) \(/ \
    && file !~ /src\/util\/alloc\.c$/ && file !~ /^tests\// {
    complain("banned", "memory comes from util/alloc.h")
}

END {
    file_ends()
}
