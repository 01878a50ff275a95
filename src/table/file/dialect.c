#include "dialect.h"

#include <string.h>
#include <strings.h>

static const char candidate[] = {',', '\t', ';', '|'};
enum { N_CANDIDATES = sizeof candidate };

static bool ends_with(const char *text, size_t n, const char *ending)
{
    size_t n_ending = strlen(ending);
    return n >= n_ending && strncasecmp(text + n - n_ending, ending, n_ending) == 0;
}

char cofi_delimiter_of_name(const char *name)
{
    size_t n = strlen(name);
    if (ends_with(name, n, ".gz")) n -= 3;
    if (ends_with(name, n, ".zst")) n -= 4;
    return ends_with(name, n, ".tsv") || ends_with(name, n, ".tab") ? '\t' : 0;
}

/* Processes one byte outside quotes. A quote opens a quoted cell only where a cell can begin, or it is the
 * second of a doubled quote. Every candidate delimiter may begin a cell, because the right one is not
 * known yet. */
static void feed_unquoted(cofi_guess *guess, char byte)
{
    const char *hit = memchr(candidate, byte, N_CANDIDATES);
    if (byte == '"' && (!guess->within || guess->closed)) {
        guess->quoted = true;
    } else if (byte == '\n' || byte == '\r') {
        guess->done = guess->begun;
        return;
    }
    if (hit != NULL) guess->n[hit - candidate]++;
    guess->within = hit == NULL;
    guess->closed = false;
    guess->begun = true;
}

bool cofi_guess_feed(cofi_guess *guess, const char *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes && !guess->done; i++) {
        if (!guess->quoted) {
            feed_unquoted(guess, bytes[i]);
        } else if (bytes[i] == '"') {
            guess->quoted = false;
            guess->closed = true;
        }
    }
    return guess->done;
}

char cofi_guess_delimiter(const cofi_guess *guess)
{
    size_t best = 0;
    if (guess->n[0] > 0) return ',';
    for (size_t c = 1; c < N_CANDIDATES; c++)
        if (guess->n[c] > guess->n[best]) best = c;
    return candidate[best];
}
