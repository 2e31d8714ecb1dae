/* Finds the cues of a question: words that ask for an operator, an aggregate, an order, a negation and so on.
 *
 * The rules are the rows of CUES, which are patterns of words (lib/question/pattern.h). At each token, the pattern that
 * matches the most tokens wins, and no other pattern can match these tokens. So a longer row hides a shorter one, and
 * IDIOM rows exist only to hide others. To add a cue, add a row and a test case. */
#include "lib/question/pattern.h"
#include "lib/question/read.h"

#include "lib/sql/ast.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>

enum { NUMBER_REACH = 4, ROWS_REACH = 6, MAX_ROWS = 50, MAX_TOP = 1000 };

/* Flags of a row:
 * - F_LOOSE: both a strict and an inclusive operator fit.
 * - F_WEAK: the words often have another meaning.
 * - F_LAST: does not match if another number or "than" follows ("3 or above 5" has two bounds).
 * - F_NOUN: weak if it follows a noun ("phone number of").
 * - F_NEVER: means that not one counts (never, without any).
 * - F_PART: means that some are left out, but not all (not every).
 * - F_HUNDRED: a ratio in per cent.
 * - F_YIELD: does not match if a longer cue begins with its last word ("with no more than"). */
enum { F_LOOSE = 1, F_WEAK = 2, F_LAST = 4, F_NOUN = 8, F_NEVER = 16, F_PART = 32, F_HUNDRED = 64, F_YIELD = 128 };

#define UP                                                                                                             \
    "more|greater|higher|larger|bigger|older|taller|longer|heavier|later|wider|deeper|faster|stronger|richer|better|"  \
    "thicker|warmer|hotter|farther"
#define DOWN    "less|fewer|lower|smaller|younger|shorter|lighter|earlier|cheaper|slower|narrower|colder|thinner|closer"
#define OR_UP   "more|above|higher|greater|older|later|larger|over|longer|after|up|bigger|taller|heavier|upwards|better"
#define OR_DOWN "less|fewer|below|lower|younger|earlier|under|smaller|shorter|before|lighter|cheaper"
#define MOST                                                                                                           \
    "most|highest|largest|greatest|biggest|longest|tallest|heaviest|richest|widest|deepest|farthest|furthest|"         \
    "strongest|busiest|costliest|priciest|dearest|hottest|warmest"
#define LEAST                                                                                                          \
    "least|lowest|fewest|smallest|shortest|cheapest|lightest|rarest|narrowest|weakest|poorest|coldest|shallowest"
#define NTH                                                                                                            \
    "second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|2nd|3rd|4th|5th|6th|7th|8th|9th|10th|penultimate"
#define MONTHS                                                                                                         \
    "january|february|april|june|july|august|september|october|november|december|jan|feb|apr|jun|jul|aug|sept|oct|"    \
    "nov|dec"
#define DAYS                                                                                                           \
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|mondays|tuesdays|wednesdays|thursdays|fridays|"          \
    "saturdays|sundays|weekend|weekends|weekday|weekdays"
#define THOSE      "those|ones|any|anyone|anything|everyone|people|members|items"
#define EITHER_WAY "best|worst|fastest|slowest|quickest|closest|nearest"
#define OLD        "oldest|eldest|earliest"
#define NEW        "youngest|latest|newest"
#define ADVERB                                                                                                         \
    "common|commonly|popular|frequent|frequently|often|used|expensive|number|amount|famous|visited|wanted|busy|"       \
    "powerful|important|valuable|successful|times"

static const struct cue_row {
    const char *pattern;
    enum question_cue_kind kind;
    uint8_t op, flags;
} CUES[] = {
    {"most of ?the", QUESTION_CUE_EXTREME, SQL_DESC, F_WEAK},
    {"most|. most * had|have|has|did|do|never|only|got|get|just", QUESTION_CUE_IDIOM, 0, 0},
    {"at all", QUESTION_CUE_IDIOM, 0, 0},
    {"not only", QUESTION_CUE_IDIOM, 0, 0},
    {"whether or not", QUESTION_CUE_IDIOM, 0, 0},
    {"or not", QUESTION_CUE_IDIOM, 0, 0},
    {"no matter", QUESTION_CUE_IDIOM, 0, 0},
    {"in order to", QUESTION_CUE_IDIOM, 0, 0},
    {"each other", QUESTION_CUE_IDIOM, 0, 0},
    {"in total", QUESTION_CUE_IDIOM, 0, 0},
    {"in no particular order", QUESTION_CUE_IDIOM, 0, 0},
    {"no particular order", QUESTION_CUE_IDIOM, 0, 0},
    {"first|last|middle|family|given name|names", QUESTION_CUE_IDIOM, 0, 0},
    {"first and|or|, ?and last", QUESTION_CUE_IDIOM, 0, 0},
    {"last and|or|, ?and first", QUESTION_CUE_IDIOM, 0, 0},
    {"first , middle ?, and last", QUESTION_CUE_IDIOM, 0, 0},
    {"no . #", QUESTION_CUE_IDIOM, 0, 0},
    {"after that", QUESTION_CUE_IDIOM, 0, 0},
    {"per capita|cent|gallon|hour|day|unit|share", QUESTION_CUE_IDIOM, 0, 0},
    {"miles per gallon|hour", QUESTION_CUE_IDIOM, 0, 0},
    {"what|does|do mean", QUESTION_CUE_IDIOM, 0, 0},
    {"even|if|when not", QUESTION_CUE_IDIOM, 0, 0},
    {"not just|merely|simply|necessarily", QUESTION_CUE_IDIOM, 0, 0},
    {"at the same time", QUESTION_CUE_IDIOM, 0, 0},
    {"first of all", QUESTION_CUE_IDIOM, 0, 0},
    {"for the most part", QUESTION_CUE_IDIOM, 0, 0},
    {"last but not least", QUESTION_CUE_IDIOM, 0, 0},
    {"before|after tax|taxes", QUESTION_CUE_IDIOM, 0, 0},
    {"second|seconds|third|fourth half|quarter|period|floor|name|names|grade|year|semester", QUESTION_CUE_IDIOM, 0, 0},
    {"second|third|fourth|fifth|sixth|2nd|3rd|4th|5th", QUESTION_CUE_IDIOM, 0, 0},
    {"number one", QUESTION_CUE_IDIOM, 0, 0},

    {"including|include|includes|even|also|counting ?the ?all " THOSE
     " ?who|that|which ?with|have|has|had|do|did ?have|not|never no|not|none|zero|never|without|0 ?yet ?any",
     QUESTION_CUE_INCLUDE, 0, 0},
    {"including|include|includes|even|counting ?the ?all|any * ?who|that|which with|have|has|had no|none|zero|0 ?yet "
     "?any",
     QUESTION_CUE_INCLUDE, 0, 0},
    {"including|include|includes|even|counting ?the ?all|any * ?who|that|which without|never ?any",
     QUESTION_CUE_INCLUDE, 0, 0},
    {"even|also|including if|when|where|with|though ?there|they|it|he|she|that ?is|are|have|has|had|was|were "
     "not|no|none|zero|nothing|never|0 ?any",
     QUESTION_CUE_INCLUDE, 0, 0},
    {"zero|0 if|when|for ?there|they|those|the|it ?is|are|have|has|with none|no|not|without", QUESTION_CUE_INCLUDE, 0,
     0},
    {"whether|if or not they|it|he|she|there|we|anyone ?have|has|had|are|is ?any", QUESTION_CUE_INCLUDE, 0, 0},
    {"regardless of whether|if ?or ?not", QUESTION_CUE_INCLUDE, 0, 0},
    {"if|where any|available|applicable|present", QUESTION_CUE_INCLUDE, 0, F_WEAK},
    {"zero|zeros|zeroes|0 for ?the ?all those|people|ones|anyone|* ?who|that|which|with|without ?have|has|had "
     "no|never|not|none|without|nothing|0",
     QUESTION_CUE_INCLUDE, 0, 0},
    {"also|include|including|even ?show|list|give ?the ones|those who|that|which * none|nobody|nothing|no",
     QUESTION_CUE_INCLUDE, 0, 0},
    {"ones|those who|that|which * none|nobody|nothing ?in ?there ?as too|well|included", QUESTION_CUE_INCLUDE, 0, 0},
    {"without|never any as|too ?well", QUESTION_CUE_INCLUDE, 0, 0},
    {"ones too|included", QUESTION_CUE_INCLUDE, 0, 0},
    {"none included", QUESTION_CUE_INCLUDE, 0, 0},
    {"keep|include|including ?the * nobody|nothing|without|none", QUESTION_CUE_INCLUDE, 0, 0},
    {"without|never any should|must|are|is|stay|shown|listed|included ?be|to|also|still ?listed|shown|included",
     QUESTION_CUE_INCLUDE, 0, 0},
    {"not stand|wait|help", QUESTION_CUE_IDIOM, 0, 0},
    {", not", QUESTION_CUE_NOT, 0, F_WEAK},
    {"and not the|a|an|just|their|its|his|her", QUESTION_CUE_NOT, 0, F_WEAK},

    {NTH " " MOST " ?number|numbers|amount|total|quantity ?of", QUESTION_CUE_NTH, SQL_DESC, 0},
    {NTH " " LEAST " ?number|numbers|amount|total|quantity ?of", QUESTION_CUE_NTH, SQL_ASC, 0},
    {NTH " most " ADVERB, QUESTION_CUE_NTH, SQL_DESC, 0},
    {NTH " least " ADVERB, QUESTION_CUE_NTH, SQL_ASC, 0},
    {NTH " " EITHER_WAY "|" OLD "|" NEW, QUESTION_CUE_NTH, 0, 0},
    {NTH " most recent|recently", QUESTION_CUE_NTH, 0, 0},
    {NTH " to last", QUESTION_CUE_NTH, 0, 0},
    {"second-highest|second-largest|second-biggest|second-most|second-longest|third-highest|third-largest",
     QUESTION_CUE_NTH, SQL_DESC, 0},
    {"second-lowest|second-smallest|second-cheapest|second-shortest|third-lowest|third-smallest", QUESTION_CUE_NTH,
     SQL_ASC, 0},
    {"runner-up|runners-up", QUESTION_CUE_NTH, SQL_DESC, 0},
    {"runner up", QUESTION_CUE_NTH, SQL_DESC, 0},

    {MONTHS, QUESTION_CUE_PERIOD, 0, 0},
    {"in|during|of|this|every|each|since|until march|may", QUESTION_CUE_PERIOD, 0, 0},
    {DAYS, QUESTION_CUE_PERIOD, 0, 0},
    {"monthly|yearly|annual|annually|daily|weekly|quarterly", QUESTION_CUE_PERIOD, 0, F_WEAK},

    {UP " than", QUESTION_CUE_COMPARE, SQL_OP_GT, 0},
    {UP " * than", QUESTION_CUE_COMPARE, SQL_OP_GT, 0},
    {DOWN " than", QUESTION_CUE_COMPARE, SQL_OP_LT, 0},
    {DOWN " * than", QUESTION_CUE_COMPARE, SQL_OP_LT, 0},
    {"less expensive|popular|frequent than", QUESTION_CUE_COMPARE, SQL_OP_LT, 0},
    {"no|not " UP " than", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"no|not " DOWN " than", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {UP " than or|and equal|equals ?to", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {DOWN " than or|and equal|equals ?to", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {UP " or equal|equals than|to", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {DOWN " or equal|equals than|to", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"equal to or " UP " than", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"equal to or " DOWN " than", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"above|over|after or equal ?to", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"below|under|before or equal ?to", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"at least", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"# at the least|earliest", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"at most", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"# at the most|latest", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"minimum|minimal of #", QUESTION_CUE_COMPARE, SQL_OP_GE, F_WEAK},
    {"maximum of #", QUESTION_CUE_COMPARE, SQL_OP_LE, F_WEAK},
    {"a minimum|min of #", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"a maximum|max of #", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"up to #", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"up to and including", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"within #", QUESTION_CUE_COMPARE, SQL_OP_LE, F_WEAK},
    {"capped at", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"not over|above|exceed|exceeding|beyond|after|past", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"not under|below|before", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"in|on|at|during or before|under|below|until", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"in|on|at|during or after|over|above|since", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"before|until or|and in|on|at|during|by", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"after|since or|and in|on|at|during", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"before , or in|on|at|during", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"after , or in|on|at|during", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"by or before", QUESTION_CUE_COMPARE, SQL_OP_LE, 0},
    {"from # on|onwards|onward|forward|forwards|upwards|upward|up", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"# onwards|onward|upwards", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"# and|or up|upwards|onwards", QUESTION_CUE_COMPARE, SQL_OP_GE, 0},
    {"starting|beginning from|in|at #", QUESTION_CUE_COMPARE, SQL_OP_GE, F_WEAK},
    {"upwards|north of", QUESTION_CUE_COMPARE, SQL_OP_GT, F_LOOSE},
    {"strictly over|above|after", QUESTION_CUE_COMPARE, SQL_OP_GT, 0},
    {"strictly under|below|before", QUESTION_CUE_COMPARE, SQL_OP_LT, 0},
    {"past #", QUESTION_CUE_COMPARE, SQL_OP_GT, F_LOOSE | F_WEAK},
    {"only|just #", QUESTION_CUE_COMPARE, SQL_OP_EQ, F_WEAK},
    {"not exactly", QUESTION_CUE_NOT, 0, 0},
    {"multiple|several times", QUESTION_CUE_COMPARE, SQL_OP_GT, F_WEAK},
    {"repeatedly", QUESTION_CUE_COMPARE, SQL_OP_GT, F_WEAK},
    {"# or|and " OR_UP, QUESTION_CUE_COMPARE, SQL_OP_GE, F_LAST},
    {"# * or|and " OR_UP, QUESTION_CUE_COMPARE, SQL_OP_GE, F_LAST},
    {"# or|and " OR_DOWN, QUESTION_CUE_COMPARE, SQL_OP_LE, F_LAST},
    {"# * or|and " OR_DOWN, QUESTION_CUE_COMPARE, SQL_OP_LE, F_LAST},
    {"over|above|exceed|exceeds|exceeding|exceeded|surpass|surpassing|beyond", QUESTION_CUE_COMPARE, SQL_OP_GT,
     F_LOOSE},
    {"in excess of", QUESTION_CUE_COMPARE, SQL_OP_GT, F_LOOSE},
    {"under|below", QUESTION_CUE_COMPARE, SQL_OP_LT, F_LOOSE},
    {"before", QUESTION_CUE_COMPARE, SQL_OP_LT, F_LOOSE},
    {"prior to", QUESTION_CUE_COMPARE, SQL_OP_LT, F_LOOSE},
    {"after", QUESTION_CUE_COMPARE, SQL_OP_GT, F_LOOSE},
    {"since", QUESTION_CUE_COMPARE, SQL_OP_GE, F_LOOSE},
    {"until", QUESTION_CUE_COMPARE, SQL_OP_LE, F_LOOSE},
    {"exactly|precisely #", QUESTION_CUE_COMPARE, SQL_OP_EQ, 0},
    {"equal|equals ?to #", QUESTION_CUE_COMPARE, SQL_OP_EQ, 0},
    {"not equal ?to", QUESTION_CUE_NOT, 0, 0},
    {"between # and|to #", QUESTION_CUE_BETWEEN, 0, 0},
    {"between ?the years|ages # and|to #", QUESTION_CUE_BETWEEN, 0, 0},
    {"between # * and #", QUESTION_CUE_BETWEEN, 0, 0},
    {"from # to #", QUESTION_CUE_BETWEEN, 0, F_WEAK},
    {"from # through|till|until ?and ?including #", QUESTION_CUE_BETWEEN, 0, 0},
    {"from # up to #", QUESTION_CUE_BETWEEN, 0, 0},
    {"# through #", QUESTION_CUE_BETWEEN, 0, F_WEAK},
    {"aged|ages # to|through #", QUESTION_CUE_BETWEEN, 0, 0},
    {"strictly between # and|to #", QUESTION_CUE_BETWEEN, SQL_OP_GT, 0},
    {"between # and|to # exclusive|exclusively", QUESTION_CUE_BETWEEN, SQL_OP_GT, 0},
    {"between # and|to # , exclusive|exclusively", QUESTION_CUE_BETWEEN, SQL_OP_GT, 0},
    {"between # and|to # ( exclusive|exclusively", QUESTION_CUE_BETWEEN, SQL_OP_GT, 0},
    {"between # and|to # inclusive|inclusively", QUESTION_CUE_BETWEEN, SQL_OP_GE, 0},
    {"between # and|to # , inclusive|inclusively", QUESTION_CUE_BETWEEN, SQL_OP_GE, 0},
    {"between # and|to # ( inclusive|inclusively", QUESTION_CUE_BETWEEN, SQL_OP_GE, 0},
    {"in|within ?the range of|from|between # and|to #", QUESTION_CUE_BETWEEN, 0, 0},
    {"ranges|ranging|range from|between # to|and #", QUESTION_CUE_BETWEEN, 0, 0},
    {"differences|difference|gap between|in", QUESTION_CUE_RATIO, SQL_OP_SUB, 0},

    {"how many", QUESTION_CUE_COUNT, 0, 0},
    {"hom many", QUESTION_CUE_COUNT, 0, 0},
    {"total number|numbers of", QUESTION_CUE_COUNT, 0, 0},
    {"number of", QUESTION_CUE_COUNT, 0, F_NOUN},
    {"numbers of", QUESTION_CUE_COUNT, 0, F_WEAK},
    {"?the number ?of times", QUESTION_CUE_COUNT, 0, 0},
    {"how often|frequently", QUESTION_CUE_COUNT, 0, 0},
    {"tally|headcount", QUESTION_CUE_COUNT, 0, 0},
    {"head count", QUESTION_CUE_COUNT, 0, 0},
    {"count|counts ?the ?total ?number ?of", QUESTION_CUE_COUNT, 0, 0},
    {"?total count|counts ?of", QUESTION_CUE_COUNT, 0, 0},
    {"number", QUESTION_CUE_COUNT, 0, F_WEAK},
    {"frequency", QUESTION_CUE_COUNT, 0, F_WEAK},
    {"how much", QUESTION_CUE_QUANTITY, 0, 0},
    {"?total amount|quantity ?of", QUESTION_CUE_QUANTITY, 0, 0},
    {"average|averages|avg", QUESTION_CUE_AVERAGE, 0, 0},
    {"?the average number of", QUESTION_CUE_AVERAGE, 0, 0},
    {"mean", QUESTION_CUE_AVERAGE, 0, F_WEAK},
    {"the mean ?of|value", QUESTION_CUE_AVERAGE, 0, 0},
    {"typical|typically|usual|usually|normally", QUESTION_CUE_AVERAGE, 0, F_WEAK},
    {"on average", QUESTION_CUE_AVERAGE, 0, 0},
    {"total|sum|totals|altogether|cumulative", QUESTION_CUE_TOTAL, 0, 0},
    {"total sum", QUESTION_CUE_TOTAL, 0, 0},
    {"overall|combined", QUESTION_CUE_TOTAL, 0, F_WEAK},
    {"all together", QUESTION_CUE_TOTAL, 0, F_WEAK},
    {"taken together", QUESTION_CUE_TOTAL, 0, F_WEAK},
    {"add|adds|added|adding up", QUESTION_CUE_TOTAL, 0, 0},
    {"how much in|all total|all|together", QUESTION_CUE_TOTAL, 0, F_WEAK},
    {"maximum|max|maximal ?number ?of", QUESTION_CUE_MAXIMUM, SQL_DESC, 0},
    {"minimum|min|minimal ?number ?of", QUESTION_CUE_MINIMUM, SQL_ASC, 0},
    {"percentage|percentages|percent|percents|pct", QUESTION_CUE_RATIO, 0, F_HUNDRED},
    {"% of", QUESTION_CUE_RATIO, 0, F_HUNDRED},
    {"what|which %", QUESTION_CUE_RATIO, 0, F_HUNDRED},
    {"ratio|proportion|fraction", QUESTION_CUE_RATIO, 0, 0},
    {"share of", QUESTION_CUE_RATIO, 0, F_WEAK},
    {"out of ?all", QUESTION_CUE_RATIO, 0, F_WEAK},
    {"how much " UP, QUESTION_CUE_RATIO, SQL_OP_SUB, F_WEAK},
    {"per", QUESTION_CUE_RATIO, 0, F_WEAK},

    {MOST, QUESTION_CUE_EXTREME, SQL_DESC, 0},
    {"most " ADVERB " ?of ?times", QUESTION_CUE_EXTREME, SQL_DESC, 0},
    {MOST " number|numbers|amount|total|quantity ?of", QUESTION_CUE_EXTREME, SQL_DESC, 0},
    {MOST " total number ?of", QUESTION_CUE_EXTREME, SQL_DESC, 0},
    {LEAST, QUESTION_CUE_EXTREME, SQL_ASC, 0},
    {"least " ADVERB, QUESTION_CUE_EXTREME, SQL_ASC, 0},
    {LEAST " number|numbers|amount|total|quantity ?of", QUESTION_CUE_EXTREME, SQL_ASC, 0},
    {EITHER_WAY, QUESTION_CUE_EXTREME, 0, F_WEAK},
    {"peak|peaks|peaked", QUESTION_CUE_EXTREME, SQL_DESC, F_WEAK},
    {OLD, QUESTION_CUE_FIRST, SQL_ASC, 0},
    {NEW, QUESTION_CUE_FIRST, SQL_DESC, 0},
    {"most recent|recently|current", QUESTION_CUE_FIRST, SQL_DESC, 0},
    {"first", QUESTION_CUE_FIRST, SQL_ASC, F_WEAK},
    {"last", QUESTION_CUE_FIRST, SQL_DESC, F_WEAK},
    {"least recent|recently", QUESTION_CUE_FIRST, SQL_ASC, 0},
    {"longest ago", QUESTION_CUE_FIRST, SQL_ASC, 0},
    {"longest ?- standing|serving|established|running", QUESTION_CUE_FIRST, SQL_ASC, 0},
    {"here|around|us ?the longest", QUESTION_CUE_FIRST, SQL_ASC, 0},
    {"top #", QUESTION_CUE_TOP, SQL_DESC, 0},
    {MOST " #", QUESTION_CUE_TOP, SQL_DESC, F_WEAK},
    {LEAST " #", QUESTION_CUE_TOP, SQL_ASC, F_WEAK},
    {OLD "|" NEW "|" EITHER_WAY " #", QUESTION_CUE_TOP, 0, F_WEAK},
    {"most recent #", QUESTION_CUE_TOP, 0, F_WEAK},
    {"last #", QUESTION_CUE_TOP, 0, F_WEAK},
    {"top", QUESTION_CUE_EXTREME, SQL_DESC, F_WEAK},
    {"bottom #", QUESTION_CUE_TOP, SQL_ASC, F_WEAK},
    {"first #", QUESTION_CUE_TOP, 0, F_WEAK},
    {"# " MOST " ?number ?of", QUESTION_CUE_TOP, SQL_DESC, 0},
    {"# most " ADVERB, QUESTION_CUE_TOP, SQL_DESC, 0},
    {"# " LEAST " ?number ?of", QUESTION_CUE_TOP, SQL_ASC, 0},
    {"# least " ADVERB, QUESTION_CUE_TOP, SQL_ASC, 0},
    {"# " OLD "|" NEW "|" EITHER_WAY, QUESTION_CUE_TOP, 0, 0},
    {"# most recent", QUESTION_CUE_TOP, 0, 0},

    {"sorted|ordered|sort|order|arranged|arrange|ranked|rank ?them|it|results|result|these|those|in|the by",
     QUESTION_CUE_SORT, 0, 0},
    {"sorted|arranged", QUESTION_CUE_SORT, 0, 0},
    {"ordered", QUESTION_CUE_SORT, 0, F_WEAK},
    {"starting|beginning with|from the " OLD "|" NEW "|" MOST "|" LEAST, QUESTION_CUE_DIRECTION, 0, 0},
    {"sort|arrange|rank", QUESTION_CUE_SORT, 0, F_WEAK},
    {"in ?the order of|by", QUESTION_CUE_SORT, 0, 0},
    {"in order by|of", QUESTION_CUE_SORT, 0, 0},
    {"order by", QUESTION_CUE_SORT, 0, 0},
    {"?in ?the ?an "
     "ascending|increasing|alphabetical|alphabetic|lexicographical|lexicographic|lexicographically|chronological|"
     "alphabetically|chronologically|ascendingly ?alphabetical|lexicographical|lexicographically ?order",
     QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"?in ?the ?a descending|decreasing|reverse|reversed|descendingly "
     "?alphabetical|alphabetic|lexicographical|lexicographic|chronological|alphabetically ?order",
     QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"?from ?the high|highest|large|largest|big|biggest|most|greatest|longest|long|more|tallest|latest|best to ?the "
     "low|lowest|small|smallest|least|fewest|shortest|short|less|earliest|worst",
     QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"?from ?the low|lowest|small|smallest|least|fewest|shortest|short|less|earliest|early|cheapest|worst to ?the "
     "high|highest|large|largest|big|biggest|most|greatest|longest|long|more|tallest|latest|late|best",
     QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"?from ?the cheapest to ?the most expensive", QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"?from ?the most expensive to ?the cheapest|least", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"?from ?the old|oldest|young|youngest|new|newest to ?the old|oldest|young|youngest|new|newest",
     QUESTION_CUE_DIRECTION, 0, 0},
    {"?from ?the most recent to", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {MOST " ?ones first", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {LEAST " ?ones first", QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"most expensive|popular|frequent|recent ?ones first", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"from ?the " MOST " ?* to ?the " LEAST, QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"from ?the " LEAST " ?* to ?the " MOST, QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {MOST " ?ones at|on ?the top", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {LEAST " ?ones at|on ?the top", QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"newest|latest ?ones first", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"oldest|earliest|youngest|best|worst ?ones first", QUESTION_CUE_DIRECTION, 0, 0},
    {"from a to z", QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"a to z", QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"z to a", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"a-z", QUESTION_CUE_DIRECTION, SQL_ASC, 0},
    {"z-a", QUESTION_CUE_DIRECTION, SQL_DESC, 0},
    {"from z to a", QUESTION_CUE_DIRECTION, SQL_DESC, 0},

    {"not|without|except|excluding|exclude|excludes|cannot|excepting|omit|omits|omitting", QUESTION_CUE_NOT, 0, 0},
    {"never|none|neither|nor", QUESTION_CUE_NOT, 0, F_NEVER},
    {"not|never a|one|even single|one|once", QUESTION_CUE_NOT, 0, F_NEVER},
    {"not|without ?ever|have|has|had|own|got any", QUESTION_CUE_NOT, 0, F_NEVER},
    {"not even a|one|once", QUESTION_CUE_NOT, 0, F_NEVER},
    {"not ever|once", QUESTION_CUE_NOT, 0, F_NEVER},
    {"without a single", QUESTION_CUE_NOT, 0, F_NEVER},
    {"without|no * at all", QUESTION_CUE_NOT, 0, F_NEVER},
    {"have|has|had|having|with|got no", QUESTION_CUE_NOT, 0, F_WEAK | F_NEVER | F_YIELD},
    {"no single", QUESTION_CUE_NOT, 0, F_NEVER},
    {"at no time", QUESTION_CUE_NOT, 0, F_NEVER},
    {"there is|are|was|were no", QUESTION_CUE_NOT, 0, F_WEAK | F_NEVER | F_YIELD},
    {"not all|every|each|everyone|everybody|everything|always", QUESTION_CUE_NOT, 0, F_PART},
    {"all|anything|anyone|everything|everyone|everybody|any but", QUESTION_CUE_NOT, 0, 0},
    {"all|anything|anyone|everything|everyone|any except|excluding ?for", QUESTION_CUE_NOT, 0, 0},
    {"any|every|each kind|kinds|sort|sorts|type|types but", QUESTION_CUE_NOT, 0, 0},
    {"apart|aside from", QUESTION_CUE_NOT, 0, 0},
    {"with the exception of", QUESTION_CUE_NOT, 0, 0},
    {"leaving|leave|leaves out", QUESTION_CUE_NOT, 0, F_WEAK},
    {"ignore|ignoring|disregard|disregarding|skip|skipping", QUESTION_CUE_NOT, 0, F_WEAK},
    {"no", QUESTION_CUE_NOT, 0, F_WEAK},
    {"no longer", QUESTION_CUE_NOT, 0, F_WEAK},
    {"nobody|nothing|non|besides|lack|lacks|lacking|missing|absent|fail|failed|unable|outside|instead|rather|opposite|"
     "unassigned|unused",
     QUESTION_CUE_NOT, 0, F_WEAK},
    {"other than", QUESTION_CUE_NOT, 0, 0},
    {"different from|than", QUESTION_CUE_NOT, 0, F_WEAK},
    {"except for", QUESTION_CUE_NOT, 0, 0},
    {"do|did|does|is|are|have|has|don|didn|doesn|isn|aren|haven ' t", QUESTION_CUE_NOT, 0, 0},
    {"don|didn|doesn|isn|aren|haven|hasn|wasn|weren t", QUESTION_CUE_NOT, 0, 0},
    {"both", QUESTION_CUE_BOTH, 0, 0},
    {"in common", QUESTION_CUE_BOTH, 0, F_WEAK},
    {"simultaneously", QUESTION_CUE_BOTH, 0, F_WEAK},
    {"only|solely|exclusively|purely", QUESTION_CUE_ONLY, 0, F_WEAK},
    {"nothing but|else", QUESTION_CUE_ONLY, 0, 0},
    {"no|nobody other|else", QUESTION_CUE_ONLY, 0, F_WEAK},
    {"no one else", QUESTION_CUE_ONLY, 0, 0},
    {"only once", QUESTION_CUE_COMPARE, SQL_OP_EQ, F_WEAK},
    {"either", QUESTION_CUE_EITHER, 0, 0},
    {"or", QUESTION_CUE_EITHER, 0, 0},
    {"each|every", QUESTION_CUE_EACH, 0, 0},
    {"broken|break|split|grouped|group|segmented|categorized|aggregated|aggregate ?it|them|results ?down|up by",
     QUESTION_CUE_EACH, 0, 0},
    {"breakdown by|of", QUESTION_CUE_EACH, 0, 0},
    {"year by year", QUESTION_CUE_EACH, 0, 0},
    {"month by month", QUESTION_CUE_EACH, 0, 0},
    {"day by day", QUESTION_CUE_EACH, 0, 0},
    {"respectively|corresponding", QUESTION_CUE_EACH, 0, F_WEAK},
    {"different|distinct|unique|distinctive|differing|non-repetitive", QUESTION_CUE_DISTINCT, 0, 0},
    {"without duplicate|duplicates|repetition|repetitions|repeats|duplication|repeating", QUESTION_CUE_DISTINCT, 0, 0},
    {"without|no any duplicate|duplicates|repeats", QUESTION_CUE_DISTINCT, 0, 0},
    {"no duplicate|duplicates|repeats|repetitions", QUESTION_CUE_DISTINCT, 0, 0},
    {"not repeat|repeated|duplicate|duplicated", QUESTION_CUE_DISTINCT, 0, 0},
    {"remove|removing|drop|dedupe|deduplicate ?the|any|all duplicates", QUESTION_CUE_DISTINCT, 0, 0},
    {"each|every|listed|list|shown|show * once", QUESTION_CUE_DISTINCT, 0, F_WEAK},
};

#undef UP
#undef DOWN
#undef OR_UP
#undef OR_DOWN
#undef MOST
#undef LEAST
#undef EITHER_WAY
#undef OLD
#undef NEW
#undef ADVERB
#undef NTH
#undef MONTHS
#undef DAYS
#undef THOSE

static const struct pattern_table *rules;

static void compile_rules(void)
{
    rules = pattern_compile(CUES, sizeof *CUES, G_N_ELEMENTS(CUES));
}

static void rules_ready(void)
{
    static pthread_once_t built = PTHREAD_ONCE_INIT; /* not g_once: ThreadSanitizer does not see into GLib */
    pthread_once(&built, compile_rules);
}

/* The tokens of the question, prepared for the rules. */
struct cue_scan {
    struct reader *reader;
    const struct text_tokens *tokens;
    struct pattern_text text;
    const int *value_at; /* by token: index of the question's value that is a number and begins there, or -1 */
};

/* True if another number or "than" begins at `token`, the token after the match. */
static bool goes_on(const struct pattern_text *text, uint32_t token)
{
    const struct text_tokens *tokens = &text->question->tokens;
    return token < tokens->n && (text->value_at[token] >= 0 || strcmp(tokens->items[token].norm, "than") == 0);
}

/* True if a longer cue begins at `last`, the last word of the match. */
static bool yields(const struct pattern_text *text, uint32_t last)
{
    uint32_t taken = 0;
    return pattern_at(text, last, &taken) >= 0 && taken > 1;
}

static bool accept_cue(const struct pattern_text *text, uint32_t row, uint32_t first, uint32_t n_tokens)
{
    if (CUES[row].flags & F_LAST && goes_on(text, first + n_tokens)) return false;
    return !(n_tokens > 1 && CUES[row].flags & F_YIELD && yields(text, first + n_tokens - 1));
}

static bool is_negated_verb(const char *norm)
{
    size_t n = strlen(norm);
    return n > 3 && norm[n - 1] == 't' &&
           (strcmp(norm + n - 3, "n't") == 0 || (n > 5 && strcmp(norm + n - 5, "n\xE2\x80\x99t") == 0));
}

/* Sets the numbers of the cue. They are the numbers inside the cue, or, for a comparison, a number that closely follows
 * it. */
static void bind_numbers(const struct cue_scan *scan, struct question_cue *cue)
{
    for (uint32_t i = cue->first; i < cue->first + cue->n_tokens; i++) {
        if (scan->value_at[i] < 0) continue;
        if (cue->number < 0)
            cue->number = scan->value_at[i];
        else
            cue->number2 = scan->value_at[i];
    }
    if (cue->number >= 0 || cue->kind != QUESTION_CUE_COMPARE) return;
    uint32_t from = cue->first + cue->n_tokens;
    for (uint32_t i = from; i < scan->tokens->n && i < from + NUMBER_REACH; i++) {
        const struct text_token *t = &scan->tokens->items[i];
        if (scan->value_at[i] >= 0) {
            cue->number = scan->value_at[i];
            return;
        }
        bool other_cue = strcmp(t->norm, "least") == 0 || strcmp(t->norm, "most") == 0;
        bool skip = (t->is_stop && !other_cue) || (t->kind == TEXT_PUNCT && t->norm[0] == '$') ||
                    strcmp(t->norm, "year") == 0 || strcmp(t->norm, "age") == 0 || strcmp(t->norm, "usd") == 0 ||
                    strcmp(t->norm, "years") == 0;
        if (!skip) return;
    }
}

/* True if the name has the word, or a short or long form of the word (max, maximum). Synonyms do not count. */
static bool word_of_name(const struct text_tokens *words, const char *norm)
{
    for (uint32_t i = 0; i < words->n; i++)
        if (text_word_similarity(words->items[i].norm, norm) > 0.9) return true;
    return false;
}

/* True if a word of the cue belongs to the name of a mentioned column. For example, "maximum speed" mentions
 * "max_speed", and "total points" mentions "total_points". */
static bool is_named(const struct reader *reader, const struct question_cue *cue)
{
    const struct question *out = reader->out;
    for (uint32_t m = 0; m < out->n_mentions && out->mentions[m].first < cue->first + cue->n_tokens; m++) {
        const struct question_mention *mention = &out->mentions[m];
        if (mention->column < 0 || mention->score < 0.6 || mention->first + mention->n_tokens <= cue->first) continue;
        const struct text_tokens *words = &reader->schema->columns[mention->id]->words;
        for (uint32_t i = cue->first; i < cue->first + cue->n_tokens; i++) {
            const struct text_token *t = &out->tokens.items[i];
            bool plain = t->is_stop && cue->kind != QUESTION_CUE_EXTREME && cue->kind != QUESTION_CUE_FIRST;
            if (!plain && t->kind == TEXT_WORD && word_of_name(words, t->norm)) return true;
        }
    }
    return false;
}

/* Words in the order of their ranks: months, days of the week from Monday, and ordinals from "second". */
static const char *const RANKED[][4] = {
    {"january", "jan", "monday", "mondays"},
    {"february", "feb", "tuesday", "tuesdays"},
    {"march", "mar", "wednesday", "wednesdays"},
    {"april", "apr", "thursday", "thursdays"},
    {"may", "may", "friday", "fridays"},
    {"june", "jun", "saturday", "saturdays"},
    {"july", "jul", "sunday", "sundays"},
    {"august", "aug", "", ""},
    {"september", "sept", "", ""},
    {"october", "oct", "", ""},
    {"november", "nov", "", ""},
    {"december", "dec", "", ""},
};
static const char *const ORDINALS[][4] = {
    {"second", "2nd", "runner", "penultimate"},
    {"third", "3rd", "", ""},
    {"fourth", "4th", "", ""},
    {"fifth", "5th", "", ""},
    {"sixth", "6th", "", ""},
    {"seventh", "7th", "", ""},
    {"eighth", "8th", "", ""},
    {"ninth", "9th", "", ""},
    {"tenth", "10th", "", ""},
};

/* Returns the rank, from 1, of a word or of its part before a hyphen ("second-highest"). Returns 0 if the table lacks
 * it. */
static uint8_t rank_in(const char *const (*table)[4], size_t rows, const char *norm)
{
    size_t len = strcspn(norm, "-");
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < G_N_ELEMENTS(table[r]); k++)
            if (len && strlen(table[r][k]) == len && strncmp(table[r][k], norm, len) == 0) return (uint8_t)(r + 1);
    return 0;
}

static void bind_rank(const struct cue_scan *scan, struct question_cue *cue)
{
    for (uint32_t i = cue->first; i < cue->first + cue->n_tokens && !cue->rank; i++) {
        const char *norm = scan->tokens->items[i].norm;
        if (cue->kind == QUESTION_CUE_PERIOD) {
            cue->rank = rank_in(RANKED, G_N_ELEMENTS(RANKED), norm);
        } else if (cue->kind == QUESTION_CUE_NTH) {
            cue->rank = rank_in(ORDINALS, G_N_ELEMENTS(ORDINALS), norm);
            cue->rank = (uint8_t)(cue->rank + (cue->rank > 0));
        }
    }
}

/* True for a content word that no earlier cue contains. */
static bool is_noun(const struct cue_scan *scan, uint32_t token)
{
    const struct question *out = scan->reader->out;
    if (scan->tokens->items[token].kind != TEXT_WORD || scan->tokens->items[token].is_stop) return false;
    const struct question_cue *last = out->n_cues > 1 ? &out->cues[out->n_cues - 2] : NULL;
    return !last || last->first + last->n_tokens <= token;
}

/* Sets `rows` of a superlative to the number before its noun: "which three countries have the most ...". */
static void bind_rows(const struct cue_scan *scan, struct question_cue *cue)
{
    static const char *const LEADS[] = {"which", "what", "the", "show", "list", "find", "name", "give", "me"};
    uint32_t from = cue->first > ROWS_REACH ? cue->first - ROWS_REACH : 1;
    if (cue->number >= 0 || (cue->kind != QUESTION_CUE_EXTREME && cue->kind != QUESTION_CUE_FIRST)) return;
    for (uint32_t i = from; i < cue->first; i++) {
        if (scan->value_at[i] < 0 || scan->reader->out->values[scan->value_at[i]].number > MAX_ROWS) continue;
        for (size_t w = 0; w < G_N_ELEMENTS(LEADS); w++)
            if (strcmp(scan->tokens->items[i - 1].norm, LEADS[w]) == 0) cue->rows = scan->value_at[i];
    }
}

/* Turns "top" with a number over MAX_TOP into a comparison: "salaries that top 220,000". */
static void mend_top(const struct cue_scan *scan, struct question_cue *cue)
{
    if (cue->kind != QUESTION_CUE_TOP || cue->number < 0) return;
    if (scan->reader->out->values[cue->number].number <= MAX_TOP) return;
    cue->kind = QUESTION_CUE_COMPARE;
    cue->op = SQL_OP_GT;
    cue->weak = cue->loose = true;
}

static void push_cue(const struct cue_scan *scan, const struct cue_row *row, uint32_t first, uint32_t n)
{
    struct question *out = scan->reader->out;
    if (out->n_cues == READ_MAX_CUES) return;
    struct question_cue *cue = &out->cues[out->n_cues++];
    *cue = (struct question_cue){.kind = row->kind,
                                 .op = row->op,
                                 .loose = row->flags & F_LOOSE,
                                 .weak = row->flags & F_WEAK,
                                 .never = row->flags & F_NEVER,
                                 .part = row->flags & F_PART,
                                 .hundred = row->flags & F_HUNDRED,
                                 .first = first,
                                 .n_tokens = n,
                                 .number = -1,
                                 .number2 = -1,
                                 .rows = -1};
    if (row->flags & F_NOUN && first > 0 && is_noun(scan, first - 1)) cue->weak = true;
    bind_numbers(scan, cue);
    bind_rank(scan, cue);
    bind_rows(scan, cue);
    mend_top(scan, cue);
    cue->named = is_named(scan->reader, cue);
    out->cue_kinds |= 1U << cue->kind;
    if (!cue->named) out->cue_counts[cue->kind]++;
}

/* True if the token is part of a proper name that the database holds ("Most Wanted"). Such a word is no cue. */
static bool in_proper_value(const struct question *out, uint32_t token)
{
    for (uint32_t i = 0; i < out->n_values; i++) {
        const struct question_value *value = &out->values[i];
        if (value->kind == QUESTION_VALUE_DATABASE && value->capital && !value->is_name && token >= value->first &&
            token < value->first + value->n_tokens)
            return true;
    }
    return false;
}

/* Returns the number of a word. A hyphenated word that the table lacks gets the number of its superlative:
 * "lowest-numbered", "highest-paid". */
static uint32_t hyphen_id(const char *norm)
{
    static const char *const HEADS[] = {"highest",  "lowest",  "longest",  "shortest", "largest",
                                        "smallest", "biggest", "most",     "least",    "best",
                                        "worst",    "oldest",  "youngest", "newest",   "latest"};
    uint32_t whole = pattern_word(rules, norm);
    const char *dash = strchr(norm, '-');
    for (size_t i = 0; whole == PATTERN_NO_WORD && dash && i < G_N_ELEMENTS(HEADS); i++)
        if (strlen(HEADS[i]) == (size_t)(dash - norm) && strncmp(HEADS[i], norm, (size_t)(dash - norm)) == 0)
            return pattern_word(rules, HEADS[i]);
    return whole;
}

static bool scan_init(struct cue_scan *scan, struct reader *reader)
{
    const struct question *out = reader->out;
    *scan = (struct cue_scan){.reader = reader, .tokens = &out->tokens};
    if (!pattern_read(&scan->text, reader->arena, rules, out)) return false;
    scan->text.accept = accept_cue;
    scan->value_at = scan->text.value_at;
    for (uint32_t i = 0; i < out->tokens.n; i++) {
        const struct text_token *t = &out->tokens.items[i];
        if (t->kind != TEXT_QUOTED) scan->text.ids[i] = hyphen_id(is_negated_verb(t->norm) ? "not" : t->norm);
    }
    return true;
}

bool read_cues(struct reader *reader)
{
    struct question *out = reader->out;
    struct cue_scan scan;
    rules_ready();
    out->cues = arena_new_array(reader->arena, READ_MAX_CUES, struct question_cue);
    if (!out->cues || !scan_init(&scan, reader)) return false;
    for (uint32_t i = 0; i < out->tokens.n;) {
        uint32_t taken = 0;
        int row = in_proper_value(out, i) ? -1 : pattern_at(&scan.text, i, &taken);
        if (row >= 0) push_cue(&scan, &CUES[row], i, taken);
        i += row >= 0 ? taken : 1;
    }
    return true;
}
