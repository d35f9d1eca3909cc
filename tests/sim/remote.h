/*  remote.h - applications on other machines, which move between servers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each is around the library's own part (src/client/roam.c), has a clock of
 *  its own, and links to all hosts that lose, delay, repeat and are cut. It
 *  registers now here, now there, holds locks for a while and moves with them;
 *  at times it sleeps or dies. For the judge each is a host of its own, behind
 *  the real ones: no lease ends what it has but its own reckoning.
 *  lockkeeper-protocol(7), 9.20.
 */

#ifndef SIM_REMOTE_H
#define SIM_REMOTE_H

#include "checker.h"
#include "node.h"

#include "client/roam.h"

struct sim_world;

#define SIM_REMOTE_SET_MAX 3

/*  Its wish for an object, or for several at once. */
typedef struct {
    lk_roam_lock *lock; /* NULL: nothing */
    lk_lock_type type;  /* as it is, or may be, held */
    uint64_t serial;
    int64_t until; /* true time: it is given back then */
    bool told;     /* the judge has a claim of it */
    uint8_t object[SIM_REMOTE_SET_MAX];
    size_t count; /* of these; more than one: a set */
    lk_claim held[SIM_REMOTE_SET_MAX];
    bool is_static;
    int64_t duration_ms;
    int64_t ends_ms; /* by its clock, as it was told */
    int64_t linger_ms;
    lk_lock_type asked_type; /* by the present turn */
    int64_t turn_wait_ms;
} sim_want;

typedef struct {
    uint32_t life; /* 0: there is none */
    uint8_t server_count;
    int64_t rate; /* of its clock: 900..1100 ms in a true second */
    int64_t offset;
    lk_roam *roam;
    sim_want want[SIM_OBJECTS_MAX];
    int64_t paused_until; /* true times */
    int64_t born_at;      /* it is dead until then */
    int64_t deed_at;
    int64_t move_at;
    int64_t wake_at;
    int64_t ends_at;       /* its credential, by the true time; SIM_FOREVER */
    int64_t renew_at;      /* it gets another one */
    int64_t first_end;     /* of all credentials of this life, ... */
    int64_t last_end;      /* ... the latest */
    int64_t shut_out_till; /* it tries to register no sooner */
    bool clings; /* it gives nothing back any more when that has ended */
    int64_t cut_from[SIM_HOSTS_MAX]; /* until: it hears nothing of that host */
    int64_t cut_to[SIM_HOSTS_MAX];   /* ... says nothing to it */
} sim_remote;

/*  How they behave in this run. */
typedef struct {
    int64_t lease_ms;
    int64_t hold_ms; /* about so long, or several times that */
    int64_t move_ms;
    int64_t pause_ms; /* between two deeds */
    int lost;         /* per mille of letters */
    int repeated;
    int slow;
    int very_slow;
    int trouble; /* per mille of deeds: it is cut off, sleeps or dies */
    int shared;  /* ... of locks */
    int special; /* ... are sets, static, have a duration, or linger */
    int servers; /* they go to the last ones alone, so many; 0: to all */
    int change;  /* ... of deeds with what is held: it gets another type */
    int impatient;
    int credentials; /* per mille of lives whose credential ends */
} sim_remote_habits;

/*  A letter on its way between one and a host. */
typedef struct sim_mail {
    lk_roam_letter letter;
    lk_lock_type type;
    lk_err error;  /* FAILED, UNKNOWN */
    bool refused;  /* FAILED: LOCK was not taken */
    sim_want want; /* LOCK, UNLOCK: what it says of that; LOCKED: .held alone */
    uint8_t remote;
    uint8_t host;
    bool to_host;
    uint32_t life;
    int64_t sent_at;
    uint32_t next_free;
} sim_mail;

/*  A registration, as a host's shell knows it, by its number there. */
typedef struct {
    uint8_t remote;
    uint32_t life;
    lk_registered id;
    int64_t until_ms; /* its credential's end, as that host was told last;
                         INT64_MAX */
    int64_t noted_at; /* ... then, and of several times at once ... */
    int64_t least_ms; /* ... the least and the most, with what was known */
    int64_t most_ms;
    int64_t earliest_ms; /* of all */
    bool over; /* its application was told UNKNOWN: by LEASE its host learns
                  nothing any more */
} sim_route;

typedef struct {
    int count;
    sim_remote_habits habits;
    sim_remote item[SIM_REMOTES_MAX];
    uint32_t last_life;
    uint64_t letters;      /* so far: each has a die of its own */
    uint8_t acting;        /* whose part of the library says something ... */
    const sim_mail *heard; /* ... since it hears that; NULL */
    sim_mail *mail;
    uint32_t mail_count;
    uint32_t first_free;
    int64_t wall[SIM_HOSTS_MAX]; /* what hosts' wall clocks are ahead */
    uint64_t credentials;        /* so far: each has a die of its own */
    sim_route *route;
    uint32_t route_count;
    uint32_t route_room;
} sim_remotes;

void sim_remotes_begin (struct sim_world *world);
void sim_remotes_clear (struct sim_world *world);

/*  All register with that host now. */
void sim_remotes_go_to (struct sim_world *world, uint8_t host);

/*  One wakes up; a letter arrives. */
void sim_remote_wake (struct sim_world *world, uint8_t remote);
void sim_mail_arrive (struct sim_world *world, uint32_t letter);

/*  A host's service answers; false: somebody else. */
bool sim_remote_answered (struct sim_world *world, uint8_t host,
                          const lk_answer *answer);

/*  remote_kinds.c: what it asks for is drawn; what it holds may be to be of
 *  another type; what it has asked for is said in a letter. */
void sim_remote_wish (struct sim_world *world, const sim_remote *self,
                      uint8_t object, sim_want *want);
bool sim_remote_changes (struct sim_world *world, sim_remote *self,
                         sim_want *want);
sim_who sim_remote_who (const struct sim_world *world, const sim_remote *self,
                        const sim_want *want);
sim_grant sim_remote_grant (const struct sim_world *world,
                            const sim_remote *self, const sim_want *want,
                            size_t place);
void sim_remote_tell_granted (struct sim_world *world, const sim_remote *self,
                              sim_want *want);
void sim_remote_tell_resumed (struct sim_world *world, const sim_remote *self,
                              sim_want *want);
void sim_remote_tell_turned (struct sim_world *world, const sim_remote *self,
                             sim_want *want, bool made);

/*  It holds what is static, and is gone: somebody is to end that. */
void sim_remote_leaves (struct sim_world *world, const sim_remote *self,
                        const sim_want *want);

/*  The true time at which its clock shows that. */
int64_t sim_remote_true_time (const sim_remote *self, int64_t clock);

/*  Whether it asks for that, or gives it back. */
bool sim_remote_knows (const struct sim_world *world, const lk_far_id *remote,
                       lk_name object);

/*  In the end nothing is left. */
void sim_remotes_check_calm (struct sim_world *world);

/*  -------------------------------------------------------- letters */

/*  remote_mail.c: between one and a host, as chance and cuts will. */
void sim_mail_send (struct sim_world *world, sim_mail *mail);
void sim_mail_deliver_at (struct sim_world *world, const sim_mail *mail,
                          int64_t at);
void sim_remote_hear (struct sim_world *world, const sim_mail *mail);

/*  -------------------------------------------------------- credentials */

/*  remote_credential.c: the run's habits; a life begins with one, or with none
 *  that ends; time passes, true: its life is to end; when it is to act. */
void sim_credentials_begin (struct sim_world *world);
void sim_remote_get_credential (struct sim_world *world, sim_remote *self);
bool sim_remote_credential_act (struct sim_world *world, sim_remote *self);
void sim_remote_credential_wake (struct sim_world *world, uint8_t remote);

/*  Whether it asks for more, or only says that it is there; whether a lock may
 *  be lost by its end; it hears that nobody takes it. */
bool sim_remote_may_ask (const struct sim_world *world, const sim_remote *self);
bool sim_remote_clings (const struct sim_world *world, const sim_remote *self);
void sim_remote_note_clinging (struct sim_world *world, const sim_remote *self,
                               const sim_want *want);
bool sim_remote_may_lose (const struct sim_world *world,
                          const sim_remote *self);
void sim_remote_shut_out (struct sim_world *world, sim_remote *self,
                          const sim_mail *mail);

/*  The words of a host's shell to its core. */
int64_t sim_remote_until (const struct sim_world *world, const sim_remote *self,
                          uint8_t host);

/*  The judge: what a host knows of it, and tells; until when it believes. */
void sim_remote_note_until (struct sim_world *world, sim_route *route,
                            int64_t until_ms);
void sim_remote_check_told (struct sim_world *world, uint8_t host,
                            const sim_route *route, const lk_answer *answer);
void sim_remote_check_belief (struct sim_world *world, const sim_remote *self,
                              int64_t until);

int64_t sim_remote_clock (const struct sim_world *world, uint8_t remote);
void sim_remote_wake_at (struct sim_world *world, uint8_t remote, int64_t at);

#endif
