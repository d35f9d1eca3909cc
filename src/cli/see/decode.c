/*  decode.c - `lockkeeper decode`: what the bytes of a frame say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For who has caught some of them on their way.
 */

#include "cli/cli.h"
#include "util/digits.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- reading */

/*  All of the file, but no more than a byte over the size of a frame in digits
 *  that stand apart. */
static bool
read_all (FILE *file, lk_bytes *bytes)
{
    const size_t size_max = 3 * (size_t) LK_FRAME_SIZE_MAX;
    size_t size = 1;
    while (size > 0 && bytes->size <= size_max) {
        char part[16384];
        size = fread (part, 1, sizeof part, file);
        lk_bytes_add (bytes, part, size);
    }
    return !ferror (file);
}

static bool
is_space (char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*  Hexadecimal digits in place of what they mean; anything else stays. */
static void
read_digits (lk_bytes *bytes)
{
    lk_bytes digits = {0}, raw = {0};
    for (size_t i = 0; i < bytes->size; i++) {
        if (!is_space (bytes->data[i])) {
            lk_bytes_add (&digits, &bytes->data[i], 1);
        }
    }
    uint8_t *place = (uint8_t *) lk_bytes_grow (&raw, digits.size / 2);
    if (digits.size > 0
        && lk_hex_bytes_parse (digits.data, digits.size, place)) {
        lk_bytes_clear (bytes);
        *bytes = raw;
    } else {
        lk_bytes_clear (&raw);
    }
    lk_bytes_clear (&digits);
}

/*  -------------------------------------------------------- printing */

static const char *
form_of (const lk_frame_header *header)
{
    static const char *const forms[] = {
        [LK_BODY_NONE] = "no body",
        [LK_BODY_JSON] = "JSON",
        [LK_BODY_PACKED] = "packed",
    };
    return forms[header->body_kind];
}

static bool
decode_message (const lk_frame_header *header)
{
    char problem[128];
    lk_message *message = lk_message_read (header, problem, sizeof problem);
    if (!message) {
        lk_cli_fail (LK_EXIT_FAILED, "cannot read the body: %s", problem);
        return false;
    }
    printf ("%s > %s  %s  serial %" PRIu64 ", %s%s\n",
            lk_message_from (message), lk_message_to (message),
            lk_message_command (message), header->serial, form_of (header),
            header->crossed ? ", crossed the mesh" : "");
    if (header->body_kind != LK_BODY_NONE) {
        lk_show (stdout, lk_message_body (message));
        putchar ('\n');
    }
    lk_message_destroy (&message);
    return true;
}

static int
decode_frame (const lk_bytes *frame)
{
    lk_frame_header header;
    lk_frame_result result;
    const char *problem;
    bool good = true;
    size_t at = 0;
    while ((result = lk_frame_next (frame->data, frame->size, &at, &header,
                                    &problem))
           == LK_FRAME_MESSAGE) {
        good = decode_message (&header) && good;
    }
    if (result == LK_FRAME_BROKEN) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "cannot read the frame from byte %zu on: %s", at,
                            problem);
    }
    return good ? LK_EXIT_OK : LK_EXIT_FAILED;
}

static int
decode_file (const char *name)
{
    const bool from_stdin = strcmp (name, "-") == 0;
    FILE *file = from_stdin ? stdin : fopen (name, "rb");
    lk_bytes bytes = {0};
    const bool good = file && read_all (file, &bytes);
    int code = LK_EXIT_OK;
    if (!good) {
        code = lk_cli_fail (LK_EXIT_FAILED, "cannot read '%s': %m", name);
    }
    if (file && !from_stdin) {
        fclose (file);
    }
    if (good) {
        read_digits (&bytes);
        code = decode_frame (&bytes);
    }
    lk_bytes_clear (&bytes);
    return code;
}

static int
run_decode (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_decode, argc, argv, &code)) {
        return code;
    }
    if (options.count != 1) {
        return lk_cli_misused (&lk_verb_decode,
                               "'decode' takes the name of a file, or -");
    }
    return decode_file (options.argument[0]);
}

static const lk_verb_argument follows[] = {LK_FOLLOWS (NULL, FILE),
                                           LK_FOLLOWS_END};

const lk_verb lk_verb_decode = {
    .name = "decode",
    .usage = "FILE|-",
    .summary = "Prints the messages of a frame, packed ones as JSON",
    .help = "FILE has the bytes of a frame as they travel, or their "
            "hexadecimal digits; -\n"
            "is stdin.\n"
            "\n"
            "Exit code: 0 printed; 125 failed, or there is no frame.\n",
    .arguments = follows,
    .run = run_decode,
};
