/* DESIGN: two rings of bits over [low, low + LEDGER_SPAN), indexed by the offset itself. Moving low costs time only for
 * the offsets that it passes, and bits are never shifted.
 *
 * In the text the map starts at low and ends with its last nonzero byte. Its length depends only on the offsets, and
 * not on which of them are finished or open, so no pattern makes it too long. It has at most 2,048 bytes, after a head
 * of 84 bytes. In base64, 2,048 bytes are 2,732 characters.
 *
 *    "assay-once1 " base64( head, map, check )
 *
 * All numbers are little endian. The check is XXH32 of all bytes before it.
 */
#include "proto/bus/kafka/exactly_once/ledger.h"

#include <glib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char magic[] = "assay-once1 ";
enum { MAGIC_LEN = sizeof magic - 1, HEAD = 84, MAP = LEDGER_SPAN / 8, CHECK = 4, RAW = HEAD + MAP + CHECK };
_Static_assert(MAGIC_LEN + (RAW + 2) / 3 * 4 < LEDGER_TEXT, "the text fits");

/* --- bits --- */

static bool bit_get(const uint64_t *map, int64_t offset)
{
    return map[(uint64_t)offset % LEDGER_SPAN / 64] >> ((uint64_t)offset % 64) & 1;
}

static void bit_set(uint64_t *map, int64_t offset, bool value)
{
    uint64_t bit = UINT64_C(1) << ((uint64_t)offset % 64), *word = &map[(uint64_t)offset % LEDGER_SPAN / 64];
    *word = value ? *word | bit : *word & ~bit;
}

static bool is_inside(const struct ledger *ledger, int64_t offset)
{
    return offset >= ledger->low && offset - ledger->low < LEDGER_SPAN;
}

/* Moves low up to the lowest open offset. If none is open, moves it up to `next`. */
static void advance(struct ledger *ledger)
{
    while (ledger->low < ledger->next && !bit_get(ledger->open, ledger->low)) {
        bit_set(ledger->finished, ledger->low, false);
        ledger->low++;
    }
}

void ledger_init(struct ledger *ledger, uint64_t log_id, int64_t low, int64_t position)
{
    *ledger = (struct ledger){
        .low = low, .next = low, .reopen_end = low, .position = position, .probe = -1, .log_id = log_id};
}

uint64_t ledger_log_id(const char *cluster, const char *topic, int32_t partition)
{
    uint64_t hash = XXH3_64bits(cluster, strlen(cluster) + 1);
    hash = XXH3_64bits_withSeed(topic, strlen(topic) + 1, hash);
    return XXH3_64bits_withSeed(&partition, sizeof partition, hash);
}

/* --- events --- */

enum ledger_place ledger_read(struct ledger *ledger, int64_t offset)
{
    if (offset < ledger->low) return LEDGER_FINISHED;
    if (ledger->n_open == 0) ledger_read_to(ledger, offset); /* skips a hole, which may be wider than the span */
    if (!is_inside(ledger, offset)) return LEDGER_BEYOND;    /* INVARIANT I1: never opens an offset beyond the map */
    bool finished = bit_get(ledger->finished, offset);
    if (!finished && !bit_get(ledger->open, offset)) {
        uint64_t word = (uint64_t)offset % LEDGER_SPAN / 64;
        bool again = offset < ledger->reopen_end; /* its results may have any offset from the old r on */
        if (!ledger->open[word] && !again) ledger->since[word] = ledger->position;
        bit_set(ledger->open, offset, true);
        ledger->n_open++;
    }
    if (offset >= ledger->next) ledger->next = offset + 1;
    advance(ledger);
    return finished ? LEDGER_FINISHED : LEDGER_NEW;
}

/* Clears the bits of passed offsets one by one. If the jump is wider than the map, clears the whole map. */
void ledger_read_to(struct ledger *ledger, int64_t offset)
{
    if (offset <= ledger->next) return;
    if (ledger->n_open == 0 && offset - ledger->low >= LEDGER_SPAN) {
        memset(ledger->finished, 0, sizeof ledger->finished);
        ledger->low = offset;
    }
    bool open_below = ledger->n_open > 0 && offset - ledger->low > LEDGER_SPAN;
    ledger->next = open_below ? ledger->low + LEDGER_SPAN : offset;
    advance(ledger);
}

void ledger_finish(struct ledger *ledger, int64_t offset)
{
    if (!is_inside(ledger, offset)) return;
    if (bit_get(ledger->open, offset)) {
        bit_set(ledger->open, offset, false);
        ledger->n_open--;
    }
    bit_set(ledger->finished, offset, true);
    /* without this, the text would have no bit for the offset */
    if (offset >= ledger->next && offset >= ledger->reopen_end) ledger->reopen_end = offset + 1;
    advance(ledger);
}

bool ledger_is_finished(const struct ledger *ledger, int64_t offset)
{
    return offset < ledger->low || (is_inside(ledger, offset) && bit_get(ledger->finished, offset));
}

int64_t ledger_results_from(const struct ledger *ledger)
{
    if (ledger->low < ledger->next || ledger->low < ledger->reopen_end)
        return ledger->since[(uint64_t)ledger->low % LEDGER_SPAN / 64];
    return ledger->position;
}

uint64_t ledger_skip_to(struct ledger *ledger, int64_t start)
{
    uint64_t lost = 0;
    for (int64_t offset = ledger->low; offset < start && is_inside(ledger, offset); offset++)
        lost += !bit_get(ledger->finished, offset);
    if (start - ledger->low > LEDGER_SPAN) lost += (uint64_t)(start - ledger->low - LEDGER_SPAN);
    ledger_read_to(ledger, start);
    return lost;
}

/* --- text --- */

static uint8_t *put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) *at++ = (uint8_t)(value >> (8 * i));
    return at;
}

static uint64_t get(const uint8_t **at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t) * (*at)++ << (8 * i);
    return value;
}

/* Returns the end of the offsets that were opened. The next owner opens the unfinished ones below it again before it
 * reads results. */
static int64_t opened_end(const struct ledger *ledger)
{
    return ledger->next > ledger->reopen_end ? ledger->next : ledger->reopen_end;
}

size_t ledger_encode(const struct ledger *ledger, char *text)
{
    uint8_t raw[RAW] = {0}, *at = raw;
    size_t map = 0;
    for (int64_t i = 0; i < LEDGER_SPAN && ledger->low + i < opened_end(ledger); i++)
        if (bit_get(ledger->finished, ledger->low + i)) {
            raw[HEAD + i / 8] |= (uint8_t)(1U << (i % 8));
            map = (size_t)i / 8 + 1;
        }
    at = put(at, LEDGER_VERSION, 2);
    at = put(at, map, 2);
    at = put(at, ledger->log_id, 8);
    at = put(at, (uint64_t)ledger->low, 8);
    at = put(at, (uint64_t)(opened_end(ledger) - ledger->low), 8);
    at = put(at, (uint64_t)ledger_results_from(ledger), 8);
    for (unsigned i = 0; i < LEDGER_OUTPUTS; i++) at = put(at, (uint64_t)ledger->outputs[i], 8);
    at = put(at, ledger->writer, 8);
    at = put(at, (uint64_t)ledger->probe, 8);
    at = put(at, ledger->probes, 4);
    at = put(at, ledger->crashes, 4);
    put(at, 0, (unsigned)(raw + HEAD - at)); /* reserved bytes of the head */
    put(raw + HEAD + map, XXH32(raw, HEAD + map, 0), CHECK);
    gint state = 0, save = 0;
    memcpy(text, magic, MAGIC_LEN);
    size_t len = MAGIC_LEN + g_base64_encode_step(raw, HEAD + map + CHECK, FALSE, text + MAGIC_LEN, &state, &save);
    len += g_base64_encode_close(FALSE, text + len, &state, &save);
    text[len] = '\0';
    return len;
}

static enum err_code read_head(struct ledger *ledger, uint64_t log_id, int64_t low, const uint8_t *at, struct err *err)
{
    uint64_t found_part = get(&at, 8), found_low = get(&at, 8), width = get(&at, 8), position = get(&at, 8);
    if (found_part != log_id)
        return err_set(err, ERR_CONFIG,
                       "the committed offset belongs to another cluster, topic or partition (offsets copied by a "
                       "mirror are not valid)");
    if (found_low != (uint64_t)low || width > LEDGER_SPAN || low < 0 || low > INT64_MAX / 2 || position > INT64_MAX)
        return err_set(err, ERR_MALFORMED, "the commit's metadata belongs to another offset");
    ledger_init(ledger, log_id, low, (int64_t)position);
    ledger->reopen_end = low + (int64_t)width;
    for (unsigned i = 0; i < LEDGER_WORDS; i++) ledger->since[i] = (int64_t)position;
    for (unsigned i = 0; i < LEDGER_OUTPUTS; i++) ledger->outputs[i] = (int64_t)get(&at, 8);
    ledger->writer = get(&at, 8);
    ledger->probe = (int64_t)get(&at, 8);
    ledger->probes = (uint32_t)get(&at, 4);
    ledger->crashes = (uint32_t)get(&at, 4);
    for (unsigned i = 0; i < LEDGER_OUTPUTS; i++)
        if (ledger->outputs[i] < 0) return err_set(err, ERR_MALFORMED, "the commit's metadata has a negative offset");
    return ERR_OK;
}

/* Decodes the bytes between the magic text and the check into `raw`. */
static enum err_code unwrap(const char *text, size_t len, uint8_t *raw, size_t *map, struct err *err)
{
    gint state = 0;
    guint save = 0;
    if (len < MAGIC_LEN || memcmp(text, magic, MAGIC_LEN) != 0)
        return err_set(err, ERR_VERSION, "the commit's metadata was not written by a coordinator: '%.*s'",
                       (int)(len < 20 ? len : 20), text);
    if (len >= LEDGER_TEXT) return err_set(err, ERR_MALFORMED, "the commit's metadata is too long");
    const uint8_t *at = raw;
    size_t n = g_base64_decode_step(text + MAGIC_LEN, len - MAGIC_LEN, raw, &state, &save);
    uint64_t version = get(&at, 2);
    *map = (size_t)get(&at, 2);
    if (n < 2 || version != LEDGER_VERSION)
        return err_set(err, ERR_VERSION, "unsupported commit version %llu, expected %d", (unsigned long long)version,
                       LEDGER_VERSION);
    if (*map > MAP || n != HEAD + *map + CHECK)
        return err_set(err, ERR_MALFORMED, "the commit's metadata is truncated");
    at = raw + n - CHECK;
    if (get(&at, CHECK) != XXH32(raw, n - CHECK, 0))
        return err_set(err, ERR_MALFORMED, "the commit's metadata has a wrong checksum");
    return ERR_OK;
}

enum err_code ledger_decode(struct ledger *ledger, uint64_t log_id, int64_t low, const char *text, size_t len,
                            struct err *err)
{
    uint8_t raw[LEDGER_TEXT] = {0};
    size_t map = 0;
    enum err_code code = unwrap(text ? text : "", text ? len : 0, raw, &map, err);
    if (!code) code = read_head(ledger, log_id, low, raw + 4, err);
    if (code) return code;
    for (int64_t i = 0; i < (int64_t)map * 8; i++) {
        if (!(raw[HEAD + i / 8] >> (i % 8) & 1)) continue;
        if (low + i >= ledger->reopen_end)
            return err_set(err, ERR_MALFORMED, "the commit's metadata marks an unread request as finished");
        bit_set(ledger->finished, low + i, true);
    }
    return ERR_OK;
}
