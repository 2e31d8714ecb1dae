/* Reads values from their bytes, as msgpack-c writes them. */
#include "proto/message/wire.h"

#include <criterion/criterion.h>
#include <msgpack.h>

static msgpack_sbuffer written;
static msgpack_packer packer;

static void start(void)
{
    msgpack_sbuffer_init(&written);
    msgpack_packer_init(&packer, &written, msgpack_sbuffer_write);
}

static void stop(void)
{
    msgpack_sbuffer_destroy(&written);
}

TestSuite(wire, .init = start, .fini = stop);

/* Reads the last value that was written. It must use all of its bytes. */
static struct wire_value read_back(void)
{
    struct wire_value read;
    const uint8_t *bytes = (const uint8_t *)written.data;
    cr_assert_eq(wire_read(bytes, &read), bytes + written.size);
    msgpack_sbuffer_clear(&written);
    return read;
}

static void check_number(int64_t value)
{
    msgpack_pack_int64(&packer, value);
    struct wire_value read = read_back();
    cr_assert_eq((int64_t)read.bits, value);
    cr_assert_eq(read.kind, value < 0 ? WIRE_SIGNED : WIRE_UNSIGNED);
}

Test(wire, integers_round_trip)
{
    for (unsigned bits = 0; bits < 63; bits++)
        for (int64_t off = -1; off <= 1; off++) {
            check_number((INT64_C(1) << bits) + off);
            check_number(-(INT64_C(1) << bits) + off);
        }
    check_number(INT64_MAX);
    check_number(INT64_MIN);
}

Test(wire, non_negative_integers_are_unsigned)
{
    static const uint8_t forms[][9] = {{0xd0, 5}, {0xd1, 0, 5}, {0xd2, 0, 0, 0, 5}, {0xd3, 0, 0, 0, 0, 0, 0, 0, 5}};
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct wire_value read;
        cr_assert_eq(wire_read(forms[i], &read), forms[i] + 1 + (1U << i));
        cr_assert_eq(read.kind, WIRE_UNSIGNED);
        cr_assert_eq(read.bits, 5);
    }
}

Test(wire, lengths_round_trip)
{
    static const struct {
        const char *what;
        int (*pack)(msgpack_packer *, size_t);
        enum wire_kind kind;
    } rows[] = {{"str", msgpack_pack_str, WIRE_STR},
                {"bin", msgpack_pack_bin, WIRE_BIN},
                {"array", msgpack_pack_array, WIRE_ARRAY},
                {"map", msgpack_pack_map, WIRE_MAP}};
    static const uint32_t lengths[] = {0, 15, 16, 31, 32, 255, 256, 65535, 65536, UINT32_MAX};
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++)
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            struct wire_value read;
            rows[r].pack(&packer, lengths[i]);
            wire_read((const uint8_t *)written.data, &read);
            cr_assert_eq(read.kind, rows[r].kind, "%s", rows[r].what);
            cr_assert_eq(read.bits, lengths[i], "%s", rows[r].what);
            msgpack_sbuffer_clear(&written);
        }
}

Test(wire, reals_round_trip)
{
    msgpack_pack_float(&packer, -1.5F);
    struct wire_value narrow = read_back();
    cr_assert(wire_real(&narrow) == -1.5);
    msgpack_pack_double(&packer, 1e-300);
    struct wire_value wide = read_back();
    cr_assert(wire_real(&wide) == 1e-300);
}

Test(wire, skip_passes_nested_values)
{
    /* {1: [{"a": 2}, [], nil], "b": bin}, then the number 7 */
    static const uint8_t bytes[] = {0x82, 1, 0x93, 0x81, 0xa1, 'a', 2, 0x90, 0xc0, 0xa1, 'b', 0xc4, 2, 0xff, 0xff, 7};
    struct wire_value read;
    const uint8_t *next = wire_read(bytes, &read);
    cr_assert_eq(wire_skip(next, &read), bytes + sizeof bytes - 1);
    next = wire_read(bytes + sizeof bytes - 1, &read);
    cr_assert_eq(wire_skip(next, &read), bytes + sizeof bytes);
}
