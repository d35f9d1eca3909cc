#!/bin/bash
#   kinds_readers.sh - readers and writers on several hosts, with all policies
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source=tests/cluster/kinds_tap.sh
. "$(dirname "$0")/kinds_tap.sh"
make_hosts 3
client r1 h1
client r2 h2
client r3 h3
client w h2
client w2 h3

#   ------------------------------------------------------------ hard

expect 'locked 1' r1 get a doc shared
expect 'locked 2' r2 get a doc shared
expect full w get a doc
expect full w get a doc soft
expect full w get a doc semaphore limit=9
check 'w waits' queued 1 w a doc wait=-1
expect full r3 get a doc shared
expect timedout r3 get a doc shared wait=200
check 'r3 waits behind it' queued 2 r3 a doc shared wait=-1
expect ok r1 release a
expect nothing w wait a 200
expect ok r2 release a
expect granted w wait a
expect nothing r3 wait a 200
expect ok w release a
expect granted r3 wait a
expect ok r3 release a

#   A writer that gives up lets in who came behind it.
expect 'locked 1' r1 get a doc shared
check 'w waits' queued 1 w a doc wait=10000
expect ok r3 ask a doc shared wait=-1
expect 'failed timedout' w wait a
expect granted r3 wait a
expect ok r1 release a
expect ok r3 release a

#   ------------------------------------------------------------ soft

expect 'locked 1' r1 get a doc shared
check 'w waits' queued 1 w a doc soft wait=-1
expect 'locked 2' r2 get a doc shared
expect ok r1 release a
expect 'locked 2' r3 get a doc shared
expect nothing w wait a 200
expect ok r2 release a
expect ok r3 release a
expect granted w wait a
expect full r1 get a doc shared
#   It passes nobody who excludes it, and nobody passes those.
expect ok w2 ask a doc wait=-1
expect ok w release a
expect granted w2 wait a
expect ok w2 release a

#   ------------------------------------------------------------ quiet

expect 'locked 1' r1 get a doc shared
expect full w get a doc soft quiet=100
check 'w waits' queued 1 w a doc soft quiet=8000 wait=-1
expect ok r1 release a
expect nothing w wait a 300
expect 'locked 1' r2 get a doc shared
expect ok r2 release a
expect nothing w wait a 1000
expect granted w wait a
expect ok w release a
expect timedout w get a doc soft quiet=800 wait=300
expect 'locked 1' w get a doc soft quiet=300 wait=-1
expect ok w release a

#   ------------------------------------------------------------ changes

expect 'locked 1' r1 get a doc shared
expect 'locked 2' r2 get a doc shared
expect full r1 change a exclusive 0
expect timedout r1 change a exclusive 300
expect yes r1 held a
expect shared r1 type a
token=$(reply r1 token a)
expect ok r2 release a
expect ok r1 change a exclusive 0
expect exclusive r1 type a
check 'its token is a new one' test "$(reply r1 token a)" -gt "$token"
expect full r2 get a doc shared
expect ok r2 ask a doc shared wait=-1
expect ok r1 change a shared 0
expect granted r2 wait a
#   Of two upgraders one is refused at once, while the other waits on.
echo 'change a exclusive 60000' >&"${client_in[r1]}"
check 'r1 waits for that' await is_listed upgrade doc
expect deadlock r2 change a exclusive 60000
expect ok r2 release a
read -rt 90 line <&"${client_out[r1]}"
check 'r1 is exclusive when the other is gone' test "$line" = ok
expect exclusive r1 type a
expect ok r1 release a

#   ------------------------------------------------------------ refusals

expect invalid w get a doc semaphore
expect invalid w get a doc shared soft
expect invalid w get a doc quiet=100
expect invalid w get a doc limit=2
expect invalid w get a doc shared bound=2
expect invalid w get a doc quiet=86400001 soft wait=-1
expect invalid w get a doc semaphore limit=1000000001
expect invalid w get a doc wait=-2
expect invalid w get a doc duration=-1
expect invalid w get a doc lenient
expect invalid w all a n1 n2 n1
expect invalid w all a n1 n2 -- static
expect invalid w all a n1 n2 -- lenient duration=1000
expect invalid w all a n1 n2 -- soft quiet=100 wait=-1
expect invalid w all a n1 n2 -- reentrant
check 'a refusal leaves nothing' no_tickets
for app in r1 r2 r3 w w2; do
    end_client $app
done
finish_test
