#include "lib/text/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const WORDS[] = {"first",   "second", "third", "fourth", "fifth",    "sixth",
                                    "seventh", "eighth", "ninth", "tenth",  "eleventh", "twelfth"};
static const char *const SUFFIXES[] = {"st", "nd", "rd", "th"};

unsigned text_ordinal(const char *word)
{
    enum { MOST = 1000 };
    size_t len = strcspn(word, "-");
    for (unsigned i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strlen(WORDS[i]) == len && memcmp(word, WORDS[i], len) == 0) return i + 1;
    char *end;
    unsigned long number = *word >= '0' && *word <= '9' ? strtoul(word, &end, 10) : 0;
    if (!number || number > MOST || word + len != end + 2) return 0;
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
        if (memcmp(end, SUFFIXES[i], 2) == 0) return (unsigned)number;
    return 0;
}
