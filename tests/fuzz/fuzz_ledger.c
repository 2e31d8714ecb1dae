/* Reads the metadata of an offset commit. Another process or an operator may have written it. Reading must end in a
 * usable ledger or in an error. The first byte chooses between a whole text and inner bytes, to which the target adds a
 * valid checksum. A fuzzer could not find the checksum. */
#include "proto/bus/kafka/exactly_once/ledger.h"

#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HOME = 7, MAX_RAW = 2200 };

static void must(bool holds)
{
    if (!holds) abort();
}

/* Acts as the next owner of the partition: reads the ledger, finishes some requests, commits. */
static void use(struct ledger *ledger)
{
    char text[LEDGER_TEXT];
    struct ledger again;
    for (int64_t i = 0; i < 300; i++) {
        int64_t offset = ledger->low + i * 61;
        enum ledger_place place = ledger_read(ledger, offset);
        must(place != LEDGER_NEW || !ledger_is_finished(ledger, offset));
        if (place == LEDGER_NEW && i % 3) ledger_finish(ledger, offset);
        must(i % 3 == 0 || place == LEDGER_BEYOND || ledger_is_finished(ledger, offset));
    }
    size_t len = ledger_encode(ledger, text);
    must(len < LEDGER_TEXT && strlen(text) == len);
    must(ledger_decode(&again, HOME, ledger->low, text, len, NULL) == ERR_OK);
    must(again.low == ledger->low && again.position == ledger_results_from(ledger));
    for (int64_t i = 0; i < LEDGER_SPAN; i += 17)
        must(ledger_is_finished(&again, again.low + i) == ledger_is_finished(ledger, ledger->low + i));
}

static int64_t low_of(const uint8_t *raw, size_t n)
{
    int64_t low = 0;
    if (n >= 20) memcpy(&low, raw + 12, sizeof low);
    return low;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ledger ledger;
    struct err err;
    if (size < 1) return 0;
    if (data[0] & 1) {
        if (ledger_decode(&ledger, HOME, 0, (const char *)data + 1, size - 1, &err) == ERR_OK) use(&ledger);
        return 0;
    }
    uint8_t raw[MAX_RAW + 4];
    size_t n = size - 1 < MAX_RAW ? size - 1 : MAX_RAW;
    memcpy(raw, data + 1, n);
    uint64_t log_id = HOME;
    if (n >= 12) memcpy(raw + 4, &log_id, sizeof log_id);
    uint32_t check = XXH32(raw, n, 0);
    memcpy(raw + n, &check, sizeof check);
    gchar *inside = g_base64_encode(raw, n + sizeof check), *text = g_strconcat("assay-once1 ", inside, NULL);
    if (ledger_decode(&ledger, HOME, low_of(raw, n), text, strlen(text), &err) == ERR_OK) use(&ledger);
    g_free(inside);
    g_free(text);
    return 0;
}
