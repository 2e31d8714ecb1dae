/* models/words.lex, linked in: see lib/text/lexicon.h. In assembly, since C17 has no #embed; a generated array of 4 MB
 * takes a compiler half a minute. */
#include "lib/text/internal.h"

__asm__(".pushsection .rodata,\"a\",%progbits\n"
        ".balign 64\n"
        ".globl assay_lexicon_data\n"
        ".hidden assay_lexicon_data\n"
        ".type assay_lexicon_data, %object\n"
        "assay_lexicon_data:\n"
        ".incbin \"" LEXICON_FILE "\"\n"
        ".globl assay_lexicon_end\n"
        ".hidden assay_lexicon_end\n"
        "assay_lexicon_end:\n"
        ".byte 0\n"
        ".size assay_lexicon_data, . - assay_lexicon_data\n"
        ".popsection\n");

extern const char assay_lexicon_data[], assay_lexicon_end[];

const char *lexicon_data(size_t *size)
{
    *size = (size_t)(assay_lexicon_end - assay_lexicon_data);
    return assay_lexicon_data;
}
