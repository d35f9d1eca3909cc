/*  error.h - what can go wrong, as a number, a word and a sentence
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The word is what travels in the field "error" of LOCKFAILED and UNLOCKED
 *  and what --json prints; the sentence is for people.
 */

#ifndef LOCKKEEPER_ERROR_H
#define LOCKKEEPER_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define LK_ERRORS(X)                                                           \
    X (LK_OK, "ok", "no error")                                                \
    X (LK_TIMEDOUT, "timedout", "the time for it is over")                     \
    X (LK_FULL, "full", "somebody else holds the lock")                        \
    X (LK_DENIED, "denied", "that is not yours to do: wrong or missing key")   \
    X (LK_INVALID, "invalid", "the request makes no sense")                    \
    X (LK_OVERLOADED, "overloaded", "a limit is reached, try again later")     \
    X (LK_SHUTDOWN, "shutdown", "the lock service is stopping")                \
    X (LK_ISOLATED, "isolated", "this host lost touch with the leaders")       \
    X (LK_DISCONNECTED, "disconnected", "the router or lock service ended")    \
    X (LK_RELEASED, "released", "somebody else released it with its key")      \
    X (LK_LOST, "lost", "no surviving leader knew of the lock")                \
    X (LK_UNKNOWN, "unknown", "nobody knows of that")                          \
    X (LK_REFUSED, "refused", "the other side refused")                        \
    X (LK_LATE, "late", "it was given back after its time was over")           \
    X (LK_FORCED, "forced", "an operator took the lock away")                  \
    X (LK_QUORUM, "quorum", "too few hosts of the cluster are left")           \
    X (LK_DEADLOCK, "deadlock", "both would wait for each other for ever")     \
    X (LK_SYSTEM, "system", "the operating system refused")                    \
    X (LK_OUTDATED, "outdated", "it was changed meanwhile")                    \
    X (LK_CREDENTIAL, "credential", "its credential has ended")

#define LK_ERROR_NUMBER(number, word, text) number,
typedef enum { LK_ERRORS (LK_ERROR_NUMBER) LK_ERROR_COUNT } lk_err;
#undef LK_ERROR_NUMBER

/*  The word of an error ("timedout"); "unknown" for a number out of range.
 *  Static storage. */
const char *lk_err_word (lk_err error);

/*  The sentence of an error. Static storage. */
const char *lk_err_text (lk_err error);

/*  The error that a word names; LK_UNKNOWN if there is none. */
lk_err lk_err_from_word (const char *word);

#ifdef __cplusplus
}
#endif

#endif
