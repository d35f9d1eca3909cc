/*  canal.c - `lockkeeper acquire` and `release`: units for a shell
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/lock/agent.h"

#include <stdlib.h>
#include <string.h>

static bool
read_count (const char *text, uint32_t *count)
{
    char *end;
    const unsigned long long number = strtoull (text, &end, 10);
    *count = (uint32_t) number;
    return strspn (text, "0123456789") == strlen (text) && end != text
           && number > 0 && number <= LK_LIMIT_MAX;
}

static int
run_with (const lk_verb *verb, lk_agent_deed deed, int argc, char **argv)
{
    static lk_agent_question question;
    lk_options options;
    int code;
    if (!lk_options_read (&options, verb, argc, argv, &code)) {
        return code;
    }
    if (options.count != 3) {
        return lk_cli_misused (verb,
                               "'%s' needs a name, how many units a resource "
                               "has, and how many resources there are",
                               verb->name);
    }
    question.deed = deed;
    question.json = options.json;
    for (int i = 1; i < 3; i++) {
        if (!read_count (options.argument[i],
                         i == 1 ? &question.max_per : &question.resources)) {
            return lk_cli_misused (verb, "'%s' is no number from 1 on",
                                   lk_shown_name (options.argument[i]).text);
        }
    }
    if ((uint64_t) question.max_per * question.resources > LK_LIMIT_MAX) {
        return lk_cli_misused (verb, "there are %d units at most",
                               LK_LIMIT_MAX);
    }
    if (lk_cli_check_name (options.argument[0]) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    memcpy (question.name, options.argument[0],
            strlen (options.argument[0]) + 1);
    return lk_agent_ask (&options, &question);
}

static int
run_acquire (int argc, char **argv)
{
    return run_with (&lk_verb_acquire, LK_AGENT_ACQUIRE, argc, argv);
}

static int
run_release (int argc, char **argv)
{
    return run_with (&lk_verb_release, LK_AGENT_RELEASE, argc, argv);
}

static const lk_verb_option acquire_takes[] = {
    LK_TAKES (PID), LK_TAKES (JSON), LK_TAKES (ENDPOINT), LK_TAKES_END};

const lk_verb lk_verb_acquire = {
    .name = "acquire",
    .usage = "NAME MAX-PER RESOURCES [options]",
    .summary = "Takes a unit for the calling shell, at once or not at all",
    .options = acquire_takes,
    .help =
        "Prints 'acquired N', N units being out then, or 'full' if MAX-PER x "
        "RESOURCES are\n"
        "out already. The shell has the unit until `lockkeeper release`, or "
        "until it ends.\n"
        "\n"
        "Exit code: 0 acquired; 1 full; 124 no answer in time; 125 failed.\n",
    .arguments = lk_follows_lock,
    .is_far = true,
    .run = run_acquire,
};
static const lk_verb_option release_takes[] = {
    LK_TAKES_AS (PID, "of process PID instead"), LK_TAKES (JSON),
    LK_TAKES (ENDPOINT), LK_TAKES_END};

const lk_verb lk_verb_release = {
    .name = "release",
    .usage = "NAME MAX-PER RESOURCES [options]",
    .summary = "Gives back the newest unit of the calling shell",
    .options = release_takes,
    .help = "Prints 'ok'. MAX-PER and RESOURCES are as in `acquire`; they may "
            "differ from those\n"
            "that the unit was acquired with.\n"
            "\n"
            "Exit code: 0 released; 1 this shell holds no unit of that name; "
            "122 one was lost\n"
            "before; 124 not confirmed in time; 125 failed.\n",
    .arguments = lk_follows_lock,
    .is_far = true,
    .run = run_release,
};
