/*  lockkeeper.pml - how lock services agree, for SPIN to try in every order
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Election, takeover, activation, a change of members by one, and one
 *  operation on the table; see lockkeeper-protocol(7) for the rules and
 *  lockkeeper-internals(7), THE MODEL, for what is left out. run.sh runs it.
 *
 *  There are no messages. What was said stays said: it can be heard at any
 *  time, by anybody, more than once, or never. So all that a network may do is
 *  in it: loss, repetition, any order, any delay. There is no time either: a
 *  host that crashed is one that takes no more steps.
 *
 *  Each step is one event of the core, with what it writes to disk. The
 *  assertions are what must always hold.
 */

/*  -------------------------------------------------------- what to try */

/*  HOSTS       2 to 4; the first MEMBERS of them are members at the start
 *  LEADERS     of a decree, at most; 0: decrees alone, without tables
 *  TERMS       the last term; the cluster begins in term 1, which is in force
 *  TWIN        if not 0, terms TWIN and TWIN + 1 have one number, and differ
 *              in their proposers
 *  CHANGE      up to this term an election may add or remove one member
 *  UNMARKED    0: no proposer restarts before its own decree is on its disk
 *  OPERATION   1: with the operation
 *  GENESIS     1: term 1 is genesis, members without leaders
 *  MISTAKE     one of those below
 *  GOAL        1: claims that the last term never comes into force. SPIN must
 *              find that wrong: else nothing happens here at all. */
#ifndef TWIN
#define TWIN 0
#endif
#ifndef CHANGE
#define CHANGE 0
#endif
#ifndef OPERATION
#define OPERATION 0
#endif
#ifndef GENESIS
#define GENESIS 0
#endif
#ifndef UNMARKED
#define UNMARKED 1
#endif
#ifndef MISTAKE
#define MISTAKE 0
#endif
#ifndef GOAL
#define GOAL 0
#endif

#define NOT_SEALED 1      /* a leader goes on, though it promised more */
#define SERVES_EARLY 2    /* ... once it is filled: before in force */
#define LEADS_AGAIN 3     /* ... in a term promised before its start */
#define ONE_ANSWER 4      /* the home waits for no other leader */
#define PROMISE_LOST 5    /* a restart goes back to the active term */
#define TWO_VOTES 6       /* one number, two proposers: votes for both */
#define CHANGE_AT_ONCE 7  /* a change off a decree that is not in force */
#define OLD_QUORUM 8      /* in force without a quorum of the new members */
#define NEW_QUORUM 9      /* in force without a quorum of the old members */
#define NO_QUORUM 10      /* in force when the proposer has it */

/*  -------------------------------------------------------- sets of hosts */

#define bit(i) (1 << (i))
#define has(set, i) ((set) >> (i) & 1)
#define size(set) \
    (((set) & 1) + ((set) >> 1 & 1) + ((set) >> 2 & 1) + ((set) >> 3 & 1))
#define is_quorum(members, set) \
    (2 * size ((set) & (members)) > size (members))

/*  -------------------------------------------------------- the state */

/*  A decree is known by its term. Its proposer works through the stages. */
#define UNUSED 0
#define VOTING 1  /* asks for votes */
#define ELECTED 2 /* told what follows from them; the holder's turn */
#define FILLING 3 /* the holder gave its table */
#define MARKING 4 /* all leaders have it: to disk as the active decree */
#define OVER 5    /* its proposer gave up before it was elected */

typedef Decree {
    byte stage;
    byte proposer;
    byte change;             /* the host to add or to remove, or NOBODY */
    byte voted;              /* whose votes the proposer has, and in them */
    byte vote_active[HOSTS]; /* ... the term of their active decree */
    byte vote_table[HOSTS];  /* ... and of their table */
    byte previous;           /* D, from here on as elected */
    byte members;
    byte leaders;
    byte holders;            /* who voted with the latest table */
    bit tickets;             /* what the holder gave: has it the operation? */
    byte filled;             /* leaders that have the table */
    byte on_disk;            /* who has it as active, until it is in force */
    bit in_force
}
Decree decree[TERMS + 1];

/*  On disk: promised and active. The rest is gone with a restart. */
typedef Host {
    byte promised;
    byte activated;          /* active (a word of Promela) */
    byte table;              /* the term that filled it; 0: none */
    bit tickets;             /* the table has the operation */
    bit forgot               /* restarted since it promised that */
}
Host host[HOSTS];

/*  One operation stands for all: none looks at another. If any can be lost,
 *  then this one, since it may begin at any time. */
typedef Operation {
    byte term;               /* 0: not yet begun */
    byte home;
    byte acked;              /* leaders that have it, or had */
    bit late;                /* begun when a later decree was in force */
    bit told
}
Operation op;

#define NOBODY HOSTS
hidden byte w, x, y, z;      /* of use within a step only */

/*  -------------------------------------------------------- promises */

/*  Terms are in order: by number, then by proposer. */
#define number(t) ((t) - ((t) > TWIN))
#define is_above(t, u) \
    (MISTAKE == TWO_VOTES -> (t) > (u) : number (t) > number (u))
#define fits(i, t) (host[i].promised == t || is_above (t, host[i].promised))
#define serves(i, t) (host[i].table == t && \
    (host[i].promised == t || MISTAKE == NOT_SEALED) && \
    (decree[t].in_force || MISTAKE == SERVES_EARLY))

/*  A proposer that promises another term, or forgets, gives up. */
inline give_up (i, t)
{
    if
    :: decree[t].stage == VOTING && decree[t].proposer == i ->
        decree[t].stage = OVER;
        decree[t].change = 0;
        clear_votes (t)
    :: else
    fi
}

inline clear_votes (t)
{
    decree[t].voted = 0;
    for (z : 0 .. HOSTS - 1) {
        decree[t].vote_active[z] = 0;
        decree[t].vote_table[z] = 0
    }
}

/*  An operation whose home serves no more is never told, so it may be lost:
 *  another one can be looked at. */
inline look_away ()
{
    if
    :: op.term && !op.told && !serves (op.home, op.term) ->
        op.term = 0;
        op.home = 0;
        op.acked = 0;
        op.late = 0;
        for (z : 0 .. HOSTS - 1) {
            host[z].tickets = 0
        }
        for (z : 1 .. TERMS) {
            decree[z].tickets = 0
        }
    :: else
    fi
}

/*  What is not on disk is gone. */
inline forget (i)
{
    host[i].table = 0;
    host[i].tickets = 0;
    host[i].forgot = 1;
    look_away ()
}

inline promise (i, t)
{
    if
    :: host[i].promised != t ->
        give_up (i, host[i].promised);
        host[i].promised = t;
        host[i].forgot = 0;
        look_away ()
    :: else
    fi
}

/*  -------------------------------------------------------- what must hold */

/*  Decrees in force are a chain: of any two, one came from the other; so no
 *  two of them have one number. */
inline check_chain (t)
{
    for (x : 1 .. TERMS) {
        if
        :: x != t && decree[x].in_force ->
            assert (number (x) != number (t));
            y = (x > t -> x : t);
            do
            :: y > x || y > t ->
                if
                :: y == x && y > t -> y = decree[y].previous
                :: y == t && y > x -> y = decree[y].previous
                :: y > x && y < t -> y = decree[y].previous
                :: y > t && y < x -> y = decree[y].previous
                :: else -> break
                fi
            :: else -> break
            od;
            assert (y == (x > t -> t : x))
        :: else
        fi
    }
}

/*  What was told is in the table of each later decree in force. */
#define has_told(t) (!op.told || !decree[t].in_force || t <= op.term || \
    decree[t].tickets)

/*  -------------------------------------------------------- election */

/*  Members may be changed by who made the decree before, in force, which did
 *  not change them. */
#define may_change(i, t) (decree[t].proposer == i && decree[t].in_force && \
    decree[decree[t].previous].members == decree[t].members)

/*  Hosts of one kind are alike, so the lowest may have the first turn. */
#define is_first_of_kind(i) \
    (i == 0 || (!GENESIS && (i == LEADERS || (CHANGE && i == 1))))

inline start (t, who)
{
    d_step {
        (decree[t].stage == UNUSED ||
         (decree[t].proposer == i && decree[t].stage != MARKING)) &&
        is_above (t, host[i].promised) &&
        has (decree[host[i].activated].members, i) &&
        (t != 2 || is_first_of_kind (i)) &&
        (t != TWIN || decree[TWIN + 1].stage == UNUSED ||
         i < decree[TWIN + 1].proposer) &&
        (t != TWIN + 1 || decree[TWIN].stage == UNUSED ||
         i > decree[TWIN].proposer) &&
        (who == NOBODY || (who < HOSTS && t <= CHANGE &&
         (MISTAKE == CHANGE_AT_ONCE || may_change (i, host[i].activated)))) ->
        printf ("%d asks for votes for term %d, change of %d\n", i, t, who);
        assert (decree[t].stage == UNUSED); /* no two decrees of one term */
        decree[t].stage = VOTING;
        decree[t].proposer = i;
        decree[t].change = who;
        promise (i, t);
        note_vote (i, t)
    }
}

inline note_vote (i, t)
{
    decree[t].voted = decree[t].voted | bit (i);
    decree[t].vote_active[i] = host[i].activated;
    decree[t].vote_table[i] = host[i].table
}

#define is_counting(t) (decree[t].stage == VOTING && \
    host[decree[t].proposer].promised == t && \
    !host[decree[t].proposer].forgot)

/*  A vote that does not arrive only takes possibilities from the voter, so
 *  it is not looked at. */
inline vote (t)
{
    d_step {
        is_counting (t) && fits (i, t) &&
        !(has (decree[t].voted, i) &&
          decree[t].vote_active[i] == host[i].activated &&
          decree[t].vote_table[i] == host[i].table) ->
        printf ("%d votes in term %d: active %d, table %d\n", i, t,
            host[i].activated, host[i].table);
        promise (i, t);
        note_vote (i, t)
    }
}

/*  The proposer has votes enough, or has not: then nothing happens. Any set of
 *  voters may lead, as anybody may be out of sight. */
inline elect (t, set)
{
    d_step {
        is_counting (t) && decree[t].proposer == i &&
        size (set) <= LEADERS && (size (set) > 0 || LEADERS == 0) &&
        (set & ~decree[t].voted) == 0 ->
        x = 0; /* D */
        for (z : 0 .. HOSTS - 1) {
            x = (has (decree[t].voted, z) && decree[t].vote_active[z] > x ->
                decree[t].vote_active[z] : x)
        }
        y = decree[x].members ^
            (decree[t].change == NOBODY -> 0 : bit (decree[t].change));
        if
        :: is_above (t, x) && (set & ~y) == 0 &&
           is_quorum (decree[x].members, decree[t].voted) &&
           is_quorum (y, decree[t].voted) &&
           (decree[t].change == NOBODY || MISTAKE == CHANGE_AT_ONCE ||
            may_change (i, x)) ->
            find_holders (t);
            if
            :: decree[t].holders || decree[x].leaders == 0 ->
                printf ("%d elects term %d: D %d, members %d, leaders %d\n",
                    i, t, x, y, set);
                decree[t].stage = (decree[t].holders -> ELECTED : FILLING);
                decree[t].previous = x;
                decree[t].members = y;
                decree[t].leaders = set;
                decree[t].change = 0;
                clear_votes (t)
            :: else /* a reclaim: not here */
            fi
        :: else
        fi
    }
}

/*  The voters with the latest table, if that is D's or a later one. */
inline find_holders (t)
{
    w = x;
    for (z : 0 .. HOSTS - 1) {
        w = (decree[t].vote_table[z] > w -> decree[t].vote_table[z] : w)
    }
    for (z : 0 .. HOSTS - 1) {
        if
        :: has (decree[t].voted, z) && decree[x].leaders &&
           decree[t].vote_table[z] == w ->
            decree[t].holders = decree[t].holders | bit (z)
        :: else
        fi
    }
}

/*  -------------------------------------------------------- takeover */

/*  GETMAXTICKET, answered by a holder that is still sealed for this term. */
inline give (t)
{
    d_step {
        decree[t].stage == ELECTED && has (decree[t].holders, i) &&
        host[i].promised == t && host[i].table >= decree[t].previous &&
        host[i].table < t ->
        printf ("%d gives its table of term %d\n", i, host[i].table);
        decree[t].tickets = host[i].tickets;
        decree[t].holders = 0;
        decree[t].stage = FILLING
    }
}

/*  ADDTICKET of the whole table; maybe late, and maybe once more. */
inline fill (t)
{
    d_step {
        (decree[t].stage == FILLING || decree[t].stage == MARKING) &&
        has (decree[t].leaders, i) && fits (i, t) && host[i].table != t &&
        (host[i].promised != t || !host[i].forgot ||
         MISTAKE == LEADS_AGAIN) ->
        printf ("%d is filled for term %d\n", i, t);
        promise (i, t);
        host[i].table = t;
        host[i].tickets = decree[t].tickets;
        decree[t].filled = (decree[t].stage == FILLING ->
            decree[t].filled | bit (i) : 0)
    }
}

#define is_passed(t) (decree[t].stage == FILLING && decree[t].proposer == i && \
    decree[t].filled == decree[t].leaders && \
    host[i].promised == t && !host[i].forgot)

inline mark (t)
{
    decree[t].stage = MARKING;
    decree[t].filled = 0;
    decree[t].proposer = (CHANGE -> i : 0)
}

/*  LOCKEXITING came: the proposer says so to all, and writes it down. */
inline activate (t)
{
    d_step {
        is_passed (t) ->
        mark (t);
        adopt (i, t)
    }
}

/*  ... or has said so, and restarts before that is on its disk. */
inline activate_and_restart (t)
{
    d_step {
        UNMARKED && is_passed (t) ->
        printf ("%d restarts before it has term %d on disk\n", i, t);
        mark (t);
        forget (i)
    }
}

/*  LOCKLEADERS, or any other message that has the decree. */
inline hear (t)
{
    d_step {
        decree[t].stage == MARKING && t > host[i].activated && fits (i, t) ->
        adopt (i, t)
    }
}

#define is_now_in_force(t) ( \
    (is_quorum (decree[decree[t].previous].members, decree[t].on_disk) || \
     MISTAKE == NEW_QUORUM || MISTAKE == NO_QUORUM) && \
    (is_quorum (decree[t].members, decree[t].on_disk) || \
     MISTAKE == OLD_QUORUM || MISTAKE == NO_QUORUM))

inline adopt (i, t)
{
    printf ("%d has term %d on disk as active\n", i, t);
    promise (i, t);
    host[i].activated = t;
    if
    :: !decree[t].in_force ->
        decree[t].on_disk = decree[t].on_disk | bit (i);
        if
        :: is_now_in_force (t) ->
            printf ("term %d is in force\n", t);
            decree[t].in_force = 1;
            decree[t].on_disk = 0;
            check_chain (t);
            assert (has_told (t));
            assert (!GOAL || t < TERMS ||
                (OPERATION && !op.told) ||
                (CHANGE && decree[t].members == decree[1].members))
        :: else
        fi
    :: else
    fi
}

/*  -------------------------------------------------------- the operation */

inline begin (t)
{
    d_step {
        OPERATION && op.term == 0 && t < TERMS &&
        has (decree[t].leaders, i) && serves (i, t) ->
        printf ("%d begins an operation in term %d\n", i, t);
        op.term = t;
        op.home = i;
        op.acked = bit (i);
        host[i].tickets = 1;
        for (x : t + 1 .. TERMS) {
            op.late = op.late || decree[x].in_force
        }
        tell (t)
    }
}

inline acknowledge (t)
{
    d_step {
        op.term == t && !op.told && has (decree[t].leaders, i) &&
        host[i].table == t && !host[i].tickets && serves (op.home, t) &&
        (host[i].promised == t || MISTAKE == NOT_SEALED) ->
        printf ("%d acknowledges it\n", i);
        host[i].tickets = 1;
        op.acked = op.acked | bit (i);
        tell (t)
    }
}

/*  As soon as all leaders have it: if it can be told later, then now. */
inline tell (t)
{
    if
    :: op.acked == decree[t].leaders || MISTAKE == ONE_ANSWER ->
        printf ("it is told\n");
        assert (!op.late);
        op.told = 1;
        op.home = 0;
        op.acked = 0;
        for (x : t + 1 .. TERMS) {
            assert (has_told (x))
        }
    :: else
    fi
}

/*  -------------------------------------------------------- a restart */

/*  Who has no table forgets only what it was about to do: that is the same as
 *  not doing it. */
inline restart ()
{
    d_step {
        host[i].table || (MISTAKE == PROMISE_LOST && !host[i].forgot) ->
        printf ("%d restarts\n", i);
        give_up (i, host[i].promised);
        forget (i);
        host[i].promised = (MISTAKE == PROMISE_LOST ->
            host[i].activated : host[i].promised)
    }
}

/*  -------------------------------------------------------- all steps */

/*  Promela has no "for some": each term, host and set is written out. */
#define paste(a, b) a##b
#define terms_of(n, step) paste (terms_, n) (step)
#define terms_2(step) :: step (2)
#define terms_3(step) terms_2 (step) :: step (3)
#define terms_4(step) terms_3 (step) :: step (4)
#define terms_5(step) terms_4 (step) :: step (5)
#define terms_6(step) terms_5 (step) :: step (6)
#define for_some_term(step) terms_of (TERMS, step)

#define with_hosts(t) start (t, 0) :: start (t, 1) :: start (t, 2) \
    :: start (t, 3)
#define with_sets(t) elect (t, 0) \
    :: elect (t, 1) :: elect (t, 2) :: elect (t, 3) :: elect (t, 4) \
    :: elect (t, 5) :: elect (t, 6) :: elect (t, 7) :: elect (t, 8) \
    :: elect (t, 9) :: elect (t, 10) :: elect (t, 11) :: elect (t, 12) \
    :: elect (t, 13) :: elect (t, 14) :: elect (t, 15)

#define start_plain(t) start (t, NOBODY)

proctype service (byte i)
{
end:
    do
    for_some_term (start_plain)
#if CHANGE
    for_some_term (with_hosts)
#endif
    for_some_term (vote)
    for_some_term (with_sets)
    for_some_term (give)
    for_some_term (fill)
    for_some_term (activate)
    for_some_term (activate_and_restart)
    for_some_term (hear)
    :: begin (1)
    for_some_term (begin)
    :: acknowledge (1)
    for_some_term (acknowledge)
    :: restart ()
    od
}

init
{
    byte i;
    d_step {
        decree[1].stage = MARKING;
        decree[1].previous = 1;
        decree[1].members = bit (MEMBERS) - 1;
        decree[1].leaders = (GENESIS -> 0 : bit (LEADERS) - 1);
        decree[1].in_force = 1;
        for (i : 0 .. HOSTS - 1) {
            host[i].promised = 1;
            host[i].activated = 1;
            host[i].table = has (decree[1].leaders, i)
        }
    }
    atomic {
        for (i : 0 .. HOSTS - 1) {
            run service (i)
        }
        i = 0
    }
}
