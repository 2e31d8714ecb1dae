/* Links models/words.lex into the program (lib/text/lexicon.h). This needs assembly: C17 has no #embed, and a compiler
 * takes half a minute for a generated array of 4 MB. */
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
