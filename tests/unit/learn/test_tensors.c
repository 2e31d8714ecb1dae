/* Tests safetensors files. Written files can be read, half precision rounds correctly, and files of other programs are
 * validated. */
#include "lib/learn/tensors.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void begin(void)
{
    snprintf(path, sizeof path, "/tmp/assay-tensors-%d", (int)getpid());
}

static void finish(void)
{
    remove(path);
}

TestSuite(tensors, .init = begin, .fini = finish);

Test(tensors, halves_round_trip_and_others_round_to_nearest)
{
    for (uint32_t half = 0; half < 0x10000; half++) {
        float value = tensor_from_half((uint16_t)half);
        if (isnan(value)) continue;
        cr_assert_eq(tensor_to_half(value), half, "%x", half);
    }
    cr_assert_eq(tensor_from_half(0x3C00), 1.0F);
    cr_assert_eq(tensor_from_half(0x0001), ldexpf(1, -24));
    cr_assert_eq(tensor_from_half(0x7BFF), 65504.0F);
    cr_assert_eq(tensor_to_half(65519.0F), 0x7BFF);
    cr_assert_eq(tensor_to_half(65520.0F), 0x7C00, "past the greatest: infinity");
    cr_assert_eq(tensor_to_half(1 + ldexpf(1, -11)), 0x3C00, "a tie goes to the even one");
    cr_assert_eq(tensor_to_half(1 + 3 * ldexpf(1, -11)), 0x3C02);
    cr_assert(isnan(tensor_from_half(tensor_to_half(NAN))));
}

Test(tensors, written_file_is_read_back)
{
    struct tensors *t = NULL;
    struct err err = {0};
    const float numbers[] = {1, -2.5F, 3, 4, 0.125F, 6};
    float row[3];
    struct tensors_writer *w = tensors_writer_new();
    tensors_writer_metadata(w, "format", "test/1");
    tensors_writer_add(w, "wide", TENSOR_F32, numbers, 2, 3);
    tensors_writer_add(w, "half", TENSOR_F16, numbers, 3, 2);
    tensors_writer_add(w, "none", TENSOR_F16, numbers, 0, 2);
    cr_assert_eq(tensors_writer_save(w, path, &err), ERR_OK, "%s", err.text);
    tensors_writer_free(w);
    cr_assert_eq(tensors_open(path, &t, &err), ERR_OK, "%s", err.text);
    cr_assert_str_eq(tensors_metadata(t, "format"), "test/1");
    cr_assert_null(tensors_metadata(t, "other"));
    const struct tensor *wide = tensors_find(t, "wide"), *half = tensors_find(t, "half");
    cr_assert(wide && half && !tensors_find(t, "hal"));
    cr_assert_eq(tensors_row(t, wide, 1, row, &err), ERR_OK);
    cr_assert_arr_eq(row, numbers + 3, sizeof row);
    cr_assert_eq(tensors_row(t, half, 2, row, &err), ERR_OK);
    cr_assert_arr_eq(row, numbers + 4, 2 * sizeof *row);
    cr_assert_eq(tensors_row(t, half, 3, row, &err), ERR_MALFORMED);
    cr_assert_eq(tensors_find(t, "none")->rows, 0);
    tensors_close(t);
}

/* Writes a file with this header, followed by `behind` bytes. The header's stated length is `said`. */
static void write_file(const char *header, uint64_t said, size_t behind)
{
    GString *out = g_string_new(NULL);
    for (int i = 0; i < 8; i++) g_string_append_c(out, (char)(said >> (8 * i)));
    g_string_append(out, header);
    for (size_t i = 0; i < behind; i++) g_string_append_c(out, '\x7C'); /* a NaN in half precision */
    cr_assert(g_file_set_contents(path, out->str, (gssize)out->len, NULL));
    g_string_free(out, TRUE);
}

static void refused(const char *header, size_t behind, const char *part)
{
    struct tensors *t = NULL;
    struct err err = {0};
    write_file(header, strlen(header), behind);
    enum err_code code = tensors_open(path, &t, &err);
    cr_assert(code && !t && strstr(err.text, part), "%s: %d %s", header, (int)code, err.text);
}

Test(tensors, invalid_files_are_refused_with_reason)
{
    refused("[]", 0, "not a JSON object");
    refused("{\"a\":{\"dtype\":\"I64\",\"shape\":[1,1],\"data_offsets\":[0,8]}}", 8, "F16 or F32");
    refused("{\"a\":{\"dtype\":\"F16\",\"shape\":[1,2,3],\"data_offsets\":[0,12]}}", 12, "dimensions");
    refused("{\"a\":{\"dtype\":\"F16\",\"shape\":[-1,2],\"data_offsets\":[0,4]}}", 4, "dimensions");
    refused("{\"a\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[0,8]}}", 7, "truncated");
    refused("{\"a\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[8,0]}}", 8, "truncated");
    refused("{\"a\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[0,6]}}", 8, "do not match");
    refused("{\"a\":{\"dtype\":\"F16\",\"shape\":[1099511627776,1048576],\"data_offsets\":[0,0]}}", 8, "do not match");
    struct tensors *t = NULL;
    struct err err = {0};
    write_file("{}", UINT64_MAX, 0);
    cr_assert_eq(tensors_open(path, &t, &err), ERR_MALFORMED);
    write_file("", 0, 0);
    cr_assert_eq(tensors_open(path, &t, &err), ERR_MALFORMED);
    cr_assert_eq(tensors_open("/nonexistent", &t, &err), ERR_IO);
}

Test(tensors, nan_row_and_shrunken_file_are_reported)
{
    struct tensors *t = NULL;
    struct err err = {0};
    float row[2];
    const char *header = "{\"a\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[0,8]}}";
    write_file(header, strlen(header), 8);
    cr_assert_eq(tensors_open(path, &t, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(tensors_row(t, tensors_find(t, "a"), 1, row, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, "row 1"), "%s", err.text);
    cr_assert_eq(truncate(path, (off_t)strlen(header) + 8 + 6), 0);
    cr_assert_eq(tensors_row(t, tensors_find(t, "a"), 1, row, &err), ERR_IO);
    tensors_close(t);
}
