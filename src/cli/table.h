/*  table.h - the verbs of lockkeeper(1), and all options that there are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A verb says in its own file which of the options it takes. From that come
 *  what the command line may say, `lockkeeper help` for people and with --json
 *  for programs, and so what shells complete and what man.sh compares with
 *  the pages.
 */

#ifndef LK_CLI_TABLE_H
#define LK_CLI_TABLE_H

/*  X (NAME): lk_verb_NAME, in the order in which `help` lists them. */
#define LK_VERBS(X)                                                            \
    X (run)                                                                    \
    X (lock)                                                                   \
    X (unlock)                                                                 \
    X (status)                                                                 \
    X (check)                                                                  \
    X (acquire)                                                                \
    X (release)                                                                \
    X (list)                                                                   \
    X (init)                                                                   \
    X (cluster)                                                                \
    X (settings)                                                               \
    X (backup)                                                                 \
    X (restore)                                                                \
    X (forget)                                                                 \
    X (leave)                                                                  \
    X (config)                                                                 \
    X (sandbox)                                                                \
    X (client)                                                                 \
    X (login)                                                                  \
    X (decode)                                                                 \
    X (show)                                                                   \
    X (watch)                                                                  \
    X (invite)                                                                 \
    X (keys)                                                                   \
    X (clients)                                                                \
    X (key)                                                                    \
    X (credential)                                                             \
    X (zone)                                                                   \
    X (user)                                                                   \
    X (top)                                                                    \
    X (wait_ready)                                                             \
    X (version)                                                                \
    X (help)

/*  X (ID, word, what its value is): what an option or an argument may be. The
 *  word is for programs; "needs" and the last one are said of a wrong value. */
#define LK_VALUES(X)                                                           \
    X (FLAG, "flag", "")                                                       \
    X (TEXT, "text", "")                                                       \
    X (LOCK, "lock", "")                                                       \
    X (HOST, "host", "")                                                       \
    X (CLIENT, "client", "")                                                   \
    X (ZONE, "zone", "")                                                       \
    X (VERB, "verb", "")                                                       \
    X (KEY_OF_CONFIG, "setting", "")                                           \
    X (FILE, "file", "")                                                       \
    X (FILES, "file", "to be there 32 times at most")                          \
    X (FOLDER, "folder", "")                                                   \
    X (WORD, "word", "")                                                       \
    X (SECONDS, "seconds", "seconds, like 10 or 0.5")                          \
    X (SOME_SECONDS, "seconds", "seconds, like 10 or 0.5")                     \
    X (SPAN, "span", "a time, like 90s, 30m, 12h or 7d")                       \
    X (SOME_SPAN, "span", "a time, like 90s, 30m, 12h or 7d")                  \
    X (DATE, "date", "a time in UTC, like 2030-12-31T23:59:59Z")               \
    X (MOST, "number", "a number, or 0 for no limit")                          \
    X (NUMBER, "number", "a number")                                           \
    X (MINUTES, "number", "a number from 1 to 60")                             \
    X (HOLDERS, "number", "a number of holders")                               \
    X (PROCESS, "process", "the number of a process")                          \
    X (TOKEN, "token", "the token of a holder")                                \
    X (KEY, "key", "the key of a lock, up to 16 hexadecimal digits")           \
    X (CODE, "number", "an exit code, 0 to 255")                               \
    X (SIGNAL, "signal", "a signal, like USR1 or 10")                          \
    X (SETTING, "setting", "to be there 32 times at most")

/*  X (name): signals that may be asked for. */
#define LK_SIGNALS(X)                                                          \
    X (HUP)                                                                    \
    X (INT)                                                                    \
    X (QUIT)                                                                   \
    X (USR1)                                                                   \
    X (USR2)                                                                   \
    X (ALRM)                                                                   \
    X (TERM)                                                                   \
    X (CONT)                                                                   \
    X (URG)                                                                    \
    X (WINCH)
#define LK_SIGNAL_WORD(name) #name " "

/*  X (ID, name, kind of value, its name in the help, field of lk_options, its
 *  default, what help says unless the verb has a text of its own); flags come
 *  last, so that the fields lie close. */
#define LK_OPTIONS(X)                                                          \
    X (ENDPOINT, "endpoint", TEXT, "E", endpoint, lk_cli_default_endpoint (),  \
       "where the router is")                                                  \
    X (WAIT, "wait", SECONDS, "S", wait_ms, LK_FOREVER,                        \
       "give up after S seconds; 0: do not queue (default: wait for ever)")    \
    X (TIMEOUT, "timeout", SECONDS, "S", timeout_ms, LK_FOREVER,               \
       "give up after S seconds; 0: look once (default: wait for ever)")       \
    X (DURATION, "duration", SOME_SECONDS, "S", duration_ms, 0,                \
       "the lock ends S seconds after it was got")                             \
    X (FOR, "for", SOME_SECONDS, "S", for_ms, 0,                               \
       "it may lead again after S seconds (default: 600)")                     \
    X (SEMAPHORE, "semaphore", HOLDERS, "N", limit, 0,                         \
       "together with others, N at most at a time")                            \
    X (BOUND, "bound", HOLDERS, "N", bound, 0,                                 \
       "likewise, but kept with the lock: the first one counts for all")       \
    X (POLICY, "policy", WORD, "P", policy, NULL,                              \
       "hard: shared requests do not pass us while we wait (default); soft: "  \
       "they do")                                                              \
    X (QUIET, "quiet", SOME_SECONDS, "S", quiet_ms, 0,                         \
       "soft, and only S seconds after the last shared holder")                \
    X (CONTEXT, "context", TEXT, "C", context, NULL, "the name's context")     \
    X (ON_BUSY, "on-busy", CODE, "N", on_busy, LK_EXIT_LATE,                   \
       "exit with N instead of 124 if it was not obtained")                    \
    X (ON_JEOPARDY, "on-jeopardy", SIGNAL, "SIGNAL", on_jeopardy, 0,           \
       "send it to CMD when the lock may soon be lost")                        \
    X (PID, "pid", PROCESS, "PID", pid, 0, "for process PID instead")          \
    X (LINGER, "linger", SOME_SECONDS, "S", linger_ms, 0,                      \
       "keep it for S seconds after that")                                     \
    X (KEY, "key", KEY, "KEY", key, 0,                                         \
       "take over the lock that has KEY and lingers on this host, or fail at " \
       "once")                                                                 \
    X (REASON, "reason", TEXT, "TEXT", reason, NULL,                           \
       "why: up to 255 bytes, which they are told")                            \
    X (TOKEN, "token", TOKEN, "T", token, 0,                                   \
       "only from who holds it with that fencing token")                       \
    X (TOKEN_ABOVE, "token-above", TOKEN, "T", token_above, 0,                 \
       "only if all tokens will be above T")                                   \
    X (COMMAND, "command", TEXT, "C", command, NULL,                           \
       "... of the programs whose name is like that pattern")                  \
    X (USER, "user", TEXT, "U", user, NULL,                                    \
       "... of that user, a name of this host or a number")                    \
    X (KIND, "kind", WORD, "K", kind, NULL, "exclusive, shared or semaphore")  \
    X (LONGER_THAN, "longer-than", SECONDS, "S", longer_ms, 0,                 \
       "held, or waited for, for at least S seconds")                          \
    X (OBJECT, "object", LOCK, "NAME", object, NULL,                           \
       "only that name, whatever characters it has")                           \
    X (SORT, "sort", WORD, "KEY", sort, NULL, "in the order of that column")   \
    X (INVITATION, "invitation", FILE, "F", invitation, NULL,                  \
       "by what `lockkeeper invite` printed there, which has its address; - "  \
       "is standard input")                                                    \
    X (CLUSTER, "cluster", TEXT, "NAME", cluster, NULL, "the cluster's name")  \
    X (HOST, "host", HOST, "HOST", host, NULL,                                 \
       "this host's name (default: the machine's, up to its first dot)")       \
    X (ADDRESS, "address", TEXT, "A", address, NULL,                           \
       "where the others reach this host, A or A:PORT (port 7411)")            \
    X (MEMBERS, "members", TEXT, "M", members, NULL,                           \
       "only the first M are members (default: all); `lockkeeper cluster "     \
       "add` makes another one a member")                                      \
    X (STATE, "state", FOLDER, "DIR", state, NULL,                             \
       "where to make it (default: " LK_PATH_STATE_DIR ")")                    \
    X (MINUTES, "minutes", MINUTES, "N", minutes, 60,                          \
       "it is good for so long, 1 to 60 (default: 60)")                        \
    X (CONFIG, "config", FILE, "FILE", config, NULL,                           \
       "that file and FILE.d/*.conf, not those of /etc/lockkeeper")            \
    X (CLIENT, "client", FILE, "FILE", client, NULL,                           \
       "that client file, not the configuration of this host")                 \
    X (DROP_IN, "drop-in", TEXT, "NAME", drop_in, NULL,                        \
       "write lockkeeper.conf.d/NAME.conf, for this host alone")               \
    X (HOSTS, "hosts", NUMBER, "N", hosts, 3,                                  \
       "so many hosts, h1 to hN (default: 3, at most 15)")                     \
    X (DIR, "dir", FOLDER, "DIR", dir, NULL,                                   \
       "in this directory, new or empty (default: a new one in $TMPDIR)")      \
    X (SET, "set", SETTING, "K=V", set, {NULL},                                \
       "a setting of lockkeeper.conf(5), like lock/host-lease=3000")           \
    X (ZONE, "zone", ZONE, "Z", zone, NULL, "the zone")                        \
    X (ROLE, "role", WORD, "R", role, NULL, "what may be done there")          \
    X (PUBLIC_KEY, "key", TEXT, "KEY", public_key, NULL,                       \
       "the public key of the client")                                         \
    X (TTL, "ttl", SOME_SPAN, "T", ttl_s, LK_UNSET,                            \
       "it ends so long after that: 90s, 30m, 12h, 7d")                        \
    X (RENEWAL, "renew", SPAN, "T", renew_s, LK_UNSET,                         \
       "renewed for so long after a log-in; 0: never (default: 7d)")           \
    X (NOT_BEFORE, "not-before", DATE, "D", not_before_s, LK_UNSET,            \
       "it counts from that time on, in UTC (default: from now on)")           \
    X (UNTIL, "until", DATE, "D", until_s, LK_UNSET,                           \
       "when it ends, in UTC (default: as the file says)")                     \
    X (ISSUER, "issuer", FILES, "KEY", issuer, {NULL},                         \
       "credentials of that issuer count, a public key or the file of a pair") \
    X (DROP_ISSUER, "drop-issuer", FILES, "KEY", drop_issuer, {NULL},          \
       "... and of that one no more")                                          \
    X (LOCKS, "locks", MOST, "N", locks, LK_UNSET,                             \
       "so many are held or waited for at a time (default: no limit)")         \
    X (SESSIONS, "sessions", MOST, "N", sessions, LK_UNSET,                    \
       "so many registered processes at a time, likewise")                     \
    X (REQUESTS, "requests", MOST, "N", requests, LK_UNSET,                    \
       "so many requests a second, likewise")                                  \
    X (BYTES, "bytes", MOST, "N", bytes, LK_UNSET,                             \
       "so many bytes of names of locks, likewise")                            \
    X (AUTHORITY, "authority", TEXT, "A", authority, NULL,                     \
       "log-ins are checked by that authority; '': nobody can log in")         \
    X (FILE, "file", FILE, "FILE", file, NULL, "that password file")           \
    X (PASSWORD_FILE, "password-file", FILE, "FILE", password_file, NULL,      \
       "the password is its first line; - is standard input (default: "        \
       "it is asked for)")                                                     \
    X (JSON, "json", FLAG, "", json, false, "print a JSON object")             \
    X (HELP, "help", FLAG, "", help, false, "tells about the verb")            \
    X (LENIENT, "lenient", FLAG, "", lenient, false,                           \
       "but only when somebody waits for it")                                  \
    X (SHARED, "shared", FLAG, "", shared, false,                              \
       "together with other shared holders")                                   \
    X (ALL, "all", FLAG, "", all, false, "several names, all or none of them") \
    X (BACKGROUND, "background", FLAG, "", background, false,                  \
       "return as soon as it is held; a child holds on until the calling "     \
       "shell ends")                                                           \
    X (STATIC, "static", FLAG, "", is_static, false,                           \
       "print and return: it is held until it is unlocked, or all leaders "    \
       "are down at once")                                                     \
    X (FORCE, "force", FLAG, "", force, false,                                 \
       "take it away from all who hold it, without a key")                     \
    X (NOW, "now", FLAG, "", now, false,                                       \
       "do not wait for the holder to stop: the next one may have it at "      \
       "once, beside a holder that still works")                               \
    X (HELD, "held", FLAG, "", held, false, "only who holds one")              \
    X (WAITING, "waiting", FLAG, "", waiting, false, "only who waits for one") \
    X (OWN, "own", FLAG, "", own, false,                                       \
       "what this host itself knows of its programs, with leaders or without") \
    X (ONCE, "once", FLAG, "", once, false, "print the table and return")      \
    X (FULL, "full", FLAG, "", full, false,                                    \
       "and all members are there, and as many lead as can")                   \
    X (UNDO, "undo", FLAG, "", undo, false, "it may lead again")               \
    X (FIRST, "first", FLAG, "", first, false,                                 \
       "the first and only host of a new cluster")                             \
    X (JOIN, "join", FLAG, "", join, false,                                    \
       "join the cluster of the host with that address, which runs; of "       \
       "several, one has to")                                                  \
    X (PLAIN, "plain", FLAG, "", plain, false,                                 \
       "a cluster without keys, whose routers speak in clear")                 \
    X (PROXY, "proxy", FLAG, "", proxy, false,                                 \
       "but become no member: locks, and no vote")                             \
    X (UNSEEN, "unseen", FLAG, "", unseen, false,                              \
       "do not look whether a router is there")                                \
    X (DRY_RUN, "dry-run", FLAG, "", dry_run, false,                           \
       "only show what would be written")                                      \
    X (ORIGIN, "origin", FLAG, "", origin, false,                              \
       "and where each value comes from")                                      \
    X (CONNECT, "connect", FLAG, "", connect, false,                           \
       "and try its keys and connections")                                     \
    X (REPLACE, "replace", FLAG, "", replace, false,                           \
       "and the keys that NAME had are taken out")                             \
    X (UNSET, "unset", FLAG, "", unset, false,                                 \
       "take it out of the file, so that its default is back")                 \
    X (HOSTED, "hosted", FLAG, "", hosted, false,                              \
       "routers host the lock services: one process per host, no lockd")       \
    X (KEEP, "keep", FLAG, "", keep, false, "leave the directory behind")      \
    X (RENEW, "renew", FLAG, "", renew, false,                                 \
       "the credential that is there, without a password")                     \
    X (SHOW, "show", FLAG, "", show, false,                                    \
       "print what the credential that is there says")

#endif
