/*  arguments.h - the command line of a daemon, above its configuration
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Most options are settings: each has the name of a key in the daemon's
 *  section of lockkeeper.conf(5). What the settings mean, the daemon knows.
 */

#ifndef LK_ARGUMENTS_H
#define LK_ARGUMENTS_H

#include "net/config.h"

#include <getopt.h>

/*  Exit code for what is wrong with options or configuration. */
#define LK_ARGUMENTS_WRONG 2

/*  What an option is, as its `val`. */
typedef enum {
    LK_ARGUMENT_KEY,    /* sets the key of its name */
    LK_ARGUMENT_YES,    /* sets it to "yes" */
    LK_ARGUMENT_CONFIG, /* the file to read */
    LK_ARGUMENT_HELP,
    LK_ARGUMENT_VERSION
} lk_argument;

typedef struct {
    const char *program;          /* "lockkeeper-router" */
    const char *section;          /* "router" */
    const char *usage;            /* for --help */
    const struct option *options; /* as getopt_long wants them */
} lk_arguments;

/*  Sets in `config` what the command line says, and *path to the file of
 *  --config, NULL if there is none. -1: go on; else the exit code, and all is
 *  said: the help or version, or what is wrong. */
int lk_arguments_read (const lk_arguments *self, lk_config *config,
                       const char **path, int argc, char **argv);

/*  What the settings of a daemon come to, in its own struct. */
typedef lk_err lk_arguments_reader (void *options, lk_config *config,
                                    lk_problem *problem);

/*  Command line and configuration of those keys, for a daemon that reads them
 *  once. -1: go on; else the exit code, and all is said. */
int lk_arguments_load (const lk_arguments *self, const lk_config_key *keys,
                       lk_arguments_reader *reader, void *options, int argc,
                       char **argv);

/*  Says on stderr what is wrong: all mistakes of the config, or the problem if
 *  it has none. Returns LK_ARGUMENTS_WRONG. */
int lk_arguments_complain (const lk_arguments *self, const lk_config *config,
                           const lk_problem *problem);

#endif
