#include "lib/base/invisible.h"

bool is_invisible(uint32_t character)
{
    /* in ascending order */
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0000, 0x001F},   /* C0 */
        {0x007F, 0x009F},   /* DEL, C1 */
        {0x00AD, 0x00AD},   /* soft hyphen */
        {0x034F, 0x034F},   /* combining grapheme joiner */
        {0x061C, 0x061C},   /* Arabic letter mark */
        {0x115F, 0x1160},   /* Hangul fillers */
        {0x17B4, 0x17B5},   /* Khmer inherent vowels */
        {0x180B, 0x180F},   /* Mongolian selectors and vowel separator */
        {0x200B, 0x200F},   /* zero width space, joiners, direction marks */
        {0x2028, 0x202E},   /* separators, embeddings and overrides of direction */
        {0x2060, 0x206F},   /* word joiner, invisible operators, isolates, deprecated controls */
        {0x3164, 0x3164},   /* Hangul filler */
        {0xFE00, 0xFE0F},   /* variation selectors */
        {0xFEFF, 0xFEFF},   /* byte-order mark */
        {0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
        {0xFFF0, 0xFFFB},   /* interlinear annotation */
        {0xFFFE, 0xFFFF},   /* not characters; XML cannot represent them */
        {0x1BCA0, 0x1BCA3}, /* shorthand controls */
        {0x1D173, 0x1D17A}, /* musical controls */
        {0xE0000, 0xE0FFF}, /* tags, more variation selectors */
    };
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges && ranges[i].first <= character; i++)
        if (character <= ranges[i].last) return true;
    return false;
}
