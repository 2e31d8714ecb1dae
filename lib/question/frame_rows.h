/* The rows of the frame: X(pattern, kind, kinds of which one must precede, or 0). This file has no include guard.
 * Define X, then include it.
 *
 * Rows are grouped by kind. A row that must win against rows of another kind is in the group of that kind. */
#define UNIT                                                                                                           \
    "day|week|month|quarter|year|season|period|hour|night|shift|term|semester|fortnight|decade|minute|date|january|"   \
    "monday|midnight|morning|century"
#define UNITS    "days|weeks|months|quarters|years|seasons|periods|hours|nights|shifts|terms|semesters|minutes|decades"
#define PERIODLY "daily|weekly|monthly|quarterly|yearly|annual|hourly|nightly|seasonal|annually"
/* words for one of a series of rows */
#define EVENT                                                                                                          \
    "one|row|entry|record|line|event|order|visit|session|trip|call|time|purchase|payment|reading|game|match|round|"    \
    "booking|invoice|value|stay|step|run|position|point|race|sale|delivery|job|measurement|appointment|item|version"
#define SUM  "total|totals|sum|sums|count|counts|balance|tally|figure|figures|subtotal|subtotals|amount|score"
#define MEAN "average|averages|mean|means|median|medians|avg|norm"
#define AVG  MEAN "|typical|usual|maximum|minimum|max|min|total|totals|sum|best|top|peak"
#define GROUP                                                                                                          \
    "customer|client|account|department|employee|region|city|country|branch|store|shop|team|category|product|group|"   \
    "class|district|driver|patient|member|supplier|station|site|pit|depot|player|user|person|company|warehouse|brand|" \
    "type|genre|school|project|machine|device|vehicle|author|artist|agent|seller|room|peers|sector|division|league"
#define THE     "the|a|an|this|that|its|their|his|her|each|every"
#define BEFORE  "before|preceding|previous|prior|earlier"
#define AT_ONCE "right|just|immediately|directly|straight|shortly"
#define NIL     "0|zero|zeros|zeroes|nil|nought|naught"
#define NONE    "without|no|none|zero|nothing|nobody|never|lacking"
#define EMPTY                                                                                                          \
    "empty|unused|idle|inactive|unsold|unvisited|unbooked|unassigned|vacant|quiet|dormant|unrented|closed|zero-count"
#define NONE_OR_NOT   NONE "|not|0"
#define NONE_OR_EMPTY NONE "|" EMPTY
#define WITH_NONE     NONE_OR_NOT "|neither|childless|non-givers|non-buyers|" EMPTY
#define MISSING                                                                                                        \
    "missing|empty|blank|null|unknown|absent|unrated|unset|unfilled|unrecorded|unanswered|undefined|"                  \
    "unmeasured|unscored|ungraded|unreported|unpaid|unplayed|unspecified|unavailable|incomplete|absentees|no-shows|"   \
    "dash|failed|unweighed|unfinished|untimed|unreviewed|missed|nan"
#define KNOWN                                                                                                          \
    "rated|known|recorded|filled|answered|measured|available|scored|graded|reported|non-null|non-missing|non-empty|"   \
    "non-blank|valid|actual|given|entered|present|completed|existing|real|noted"
#define TIE "tie|ties|tied|tying|draw|draws|level|equal|equals|equality|joint|deadlock|stalemate"
#define PICK                                                                                                           \
    "lower|lowest|smaller|smallest|higher|highest|larger|largest|earlier|earliest|first|later|latest|younger|"         \
    "youngest|older|oldest|shorter|longer|newer|newest|cheaper|alphabetically|alphabetical|any|either|whichever"
#define TOP                                                                                                            \
    "highest|lowest|largest|smallest|biggest|cheapest|best|longest|shortest|latest|earliest|oldest|youngest|newest|"   \
    "greatest|worst|dearest|heaviest|fastest|slowest|priciest|tallest|most|least|top"
#define PLACE "place|places|rank|ranks|ranking|position|number|numbering|spot"
#define PCT   "percent|percentage|percentages|%|pct|relative|percentual|percentagewise|proportional"
#define GROWTH                                                                                                         \
    "growth|increase|increases|rise|rises|gain|decline|drop|decrease|fall|"                                            \
    "reduction|expansion|loss|losses|change|development|shrinkage|jump|slump|raise|evolution|uplift"
#define GREW                                                                                                           \
    "grew|grow|grown|growing|shrink|shrank|shrunk|rise|rose|risen|fall|fell|fallen|drop|dropped|"                      \
    "increase|increased|decrease|decreased|decline|declined|change|changed|climbed|jumped|expanded"
#define MORE                                                                                                           \
    "more|less|fewer|higher|lower|larger|smaller|bigger|greater|cheaper|older|younger|longer|shorter|later|earlier|"   \
    "better|worse|faster|slower|heavier|lighter"

#define AFTER(kind) 1U << FRAME_##kind
/* words that resemble an element but are not one */
X("named|titled|entitled|called *", IDIOM, 0)
X("no|without|not ?any lines|rows|entries|line|row|entry ?with|of|that ?have ?a|an|any zero|zeros|zeroes|0|nothing",
  NO_ZEROS, 0)
X("and|plus|with ?the # ?* that|which ?just|right come|came|follow|follows|followed|precede|preceded "
  "?right|just|directly "
  "?after|before|next ?it|that|this",
  MOVING, 0)
X("running shoe|water|cost|time|times|club|event|race|hour|hours", IDIOM, 0)
X(MEAN "|sum|total ?* of|over that|this|each|it ?* and|plus|with ?the # ?* that|which ?just|right "
       "come|came|follow|follows|followed ?right|just|directly ?after|before ?it|that|this",
  MOVING, 0)
X(MEAN "|sum|total ?* of|over that|this|each|it ?* and|plus|with the next|following|subsequent # ?*", MOVING, 0)
X("previous|prior|preceding one", PREVIOUS, 0)
X("next|following|subsequent one", NEXT, 0)
X("next|previous|following|prior|preceding|subsequent # ?" UNIT "|" UNITS, IDIOM, 0)
X("next to|door|day", IDIOM, 0)
X("next entry id|ids|name|names", IDIOM, 0)
X("next of kin", IDIOM, 0)
X("due|scheduled|planned|expected|starting|happening|for|in|on next " UNIT, IDIOM, 0)
X("previous|former|prior owner|employer|name|names|address|page|conviction|"
  "authorisation|authorization|approval|experience|knowledge|notice|school|education|job|title|"
  "x's|occupation|work|to",
  IDIOM, 0)
X("from|between the date to", IDIOM, 0)
X("up|leading to each|every|that|this ?* ?*", IDIOM, AFTER(MOVING))
X("to dates", IDIOM, 0)
X("date|up|from|according|related|compared to date", IDIOM, 0)
X("standard deviation", IDIOM, 0)
X("in excess of", IDIOM, 0)
X("less|fewer than|expensive|popular|important", IDIOM, 0)
X("minus #", IDIOM, 0)
X("# %|percent|pct", IDIOM, 0)
X("# per cent", IDIOM, 0)
X("many|of shares", IDIOM, 0)
X("share price|holder|certificate|capital|class|id|ids|value|values", IDIOM, 0)
X("who|that|they|students|people|both|do|not|to share|shares", IDIOM, 0)
X("which share|shares the|a|an|their", IDIOM, 0)
X("from " UNIT " to ?the ?next " UNIT, IDIOM, AFTER(CHANGE))
X("portion size", IDIOM, 0)
X("gap year|years|insurance|analysis", IDIOM, 0)
X("growth hormone|stage|stages|fund|chart", IDIOM, 0)
X("entire|whole list|number|name|names|milk|grain|wheat", IDIOM, 0)
X("no|without ?any|the duplicate|duplicates|repeats|repetitions|repetition", IDIOM, 0)
X("have|has|had|having|with|takes|take|took|in|from|by|than|at|of|belong|speak|own|exactly|is|are|was|"
  "were only|exactly|just|precisely one|1|single",
  IDIOM, 0)

/* a total that grows from row to row */
X("running ?* ?* " SUM "|" MEAN "|maximum|minimum|max|min", RUNNING, 0)
X("running number|value|volume ?of", RUNNING, 0)
X("running revenue|sales|spend|spending|quantity|stock|mileage|points|turnover", RUNNING, 0)
X("cumulative|cumulatively|cumulated|accumulate|accumulative|accumulation|"
  "cumulating|cumulation|cum ?*",
  RUNNING, 0)
X("ytd|mtd|qtd|wtd|year-to-date|month-to-date|quarter-to-date|week-to-date|season-to-date|life-to-date|"
  "career-to-date|day-to-date",
  RUNNING, 0)
X("so|thus far", RUNNING, 0)
X("?year|month|quarter|week|season|career|life to date", RUNNING, 0)
X("up to|until|till it|then|that|now|each|every|this ?* ?point|day|date|month|week|year|moment|time|one|row|entry",
  RUNNING, 0)
X("until|till|through then|now|that|each|every|this ?point|day|date|month|week|year|moment|time|one|row|entry", RUNNING,
  0)
X("to that|this|each|every|the|a ?given ?same point|day|date|moment", RUNNING, 0)
X("up to and including ?" THE "|then|it", RUNNING, 0)
X("up to and including #", IDIOM, 0)
X("up to|until ?and|or ?including the|its current|same|given|respective|* ?* ?in question|row|one|date|day|month",
  RUNNING, 0)
X("by|at|until|till the end|close of each|every|that *", RUNNING, 0)
X("at|by each|every|any point|moment ?in ?time", RUNNING, 0)
X("as|it|they ?it|they stood|stands|was|is after|at|by each|every *", RUNNING, 0)
X("growing|grow|grew|rising|climbing|adding|summing|added|adds|add|built|builds ?up " UNIT " by|after|on " UNIT,
  RUNNING, 0)
X("by then", RUNNING, 0)
X("by|as ?of that point|time|date|day|stage|moment", RUNNING, 0)
X("as of|at each|every ?* ?* ?'s|end|close", RUNNING, 0)
X(SUM "|* at|by|after|through|as ?of|to that|each|every|this point|stage|moment", RUNNING, 0)
X("?the ?account|stock|new|resulting " SUM "|stock|level after each|every|it ?*", RUNNING, 0)
X("added|summed|counted|totalled|totaled|adding|summing|totting|piling ?* ?* ?up since|along|until|till ?the ?*",
  RUNNING, 0)
X("added|summed|counted|totalled|totaled|adding|summing ?* ?up in|by|from ?the|their ?* "
  "order|sequence|date|time|start|beginning|first",
  RUNNING, 0)
X("added|summed|adding|summing|add|adds|counting|counted ?up|together * by *", RUNNING, 0)
X("added|summed|adding|summing|add|adds|counting|counted ?up|together as|along|with we|you|they|it|time|each|every "
  "?go|goes|*",
  RUNNING, 0)
X("piling|pile|built|build|builds|mounting|mount|stacking|"
  "stack|racked|racking|add|adds|adding|clocked|notched up",
  RUNNING, 0)
X("add|adds|adding|add|build|builds up to # ?*", IDIOM, 0)
X("adding|added|add|adds|piling|stacking|putting one|each|every ?* on|onto|to ?top ?of another|the|it|others|last",
  RUNNING, 0)
X("added|adding|adds|add to|onto what|all|everything|the ?* ?came|was|went "
  "before|earlier|already|previous|preceding|far ?*",
  RUNNING, 0)
X("adding|added|add|adds each|every ?* to|onto the|what ?* ?so|of|* ?" BEFORE "|far", RUNNING, 0)
X("counting|including|adding|plus|with|and ?in all|everything|every ?of ?the ?those|its|their ?* " BEFORE " ?*",
  RUNNING, 0)
X("counting|including|adding|plus|with|and|all ?all ?the ?* ?that|which came|went|come|happened|were before", RUNNING,
  0)
X("all|everything ?* ?* before it|that|then", RUNNING, 0)
X("sum|total ?* ?of|over all|the|these " BEFORE " *", RUNNING, 0)
X("brought|carry|carrying|bring ?the|it|them ?* forward", RUNNING, 0)
X("since the|its|their|his|her ?very start|beginning|launch|opening|outset|inception|founding|kick-off|first|opened",
  RUNNING, 0)
X("since the|its|their|his|her * opened|began|started|launched|kicked", RUNNING, 0)
X("since launch|inception|opening|founding|start|kick-off|foundation", RUNNING, 0)
X("since|from day|week|month|year one|1", RUNNING, 0)
X("since|from the|its|their start|beginning|opening|launch|outset ?of #", IDIOM, 0)
X("from|since the|its|their ?very start|beginning|outset|first ?* on|onward|up|to|until|through", RUNNING, 0)
X("since the|each|every start|beginning of the|each|every|its|that ?* ?" UNIT, RUNNING, 0)
X("growing|ever-growing|snowballing|progressive|progressively|mounting|ever-increasing|ongoing|rolled-up ?* " SUM,
  RUNNING, 0)
X("?a rolling|moving|rolled ?* " SUM " since|from|until|up|to", RUNNING, 0)
X("snowball|snowballing|accrue", RUNNING, 0)
X("keep|keeps|kept|keeping ?on|a adding|growing|climbing|summing|running", RUNNING, 0)
X("lifetime|all-time total|sum|count to|until|at|up ?date|then|that", RUNNING, 0)
X("total|totals|totalled up|progressively", RUNNING, 0)
X("progressively", RUNNING, 0)

/* the running total begins again for each period or group */
#define RESET "restart|reset|zeroed|zeroing|renewed|renewing"
#define BEGIN "start|starts|starting|begin|begins|beginning|count|counting|counted|go|goes|going|commence|run|running"
#define AGAIN "again|over|afresh|anew|fresh|new"
X(RESET " ?itself ?back ?again ?at|with|on|for|to|when|from ?the ?a " UNIT "|" UNITS
        "|each|every|per|zero|0|1|one|nil|new|scratch|first|*",
  RESTART, AFTER(RUNNING))
X(RESET " ?itself ?at|with|on|for|to|when|whenever|from ?the ?start ?of each|every|per|zero|0|nil|scratch|whenever",
  RESTART, 0)
X(PERIODLY " reset|restart", RESTART, 0)
X("reset|restart " PERIODLY "|annually", RESTART, 0)
X(BEGIN " ?all|out|back " AGAIN " ?again ?at|from|with|for|in|on|when|by|per ?the ?zero|0|1|one|scratch|nil "
        "?each|every|new|* ?" UNIT "|" GROUP,
  RESTART, 0)
X(BEGIN "|drop|fall|set|back|returns|returning|turned ?back|again "
        "?down to|at|from zero|0|nothing|nil|scratch|one|1 again|each|every|at|for|per|with|when|on",
  RESTART, 0)
X("back to|at zero|0|nothing|nil|scratch|one|1 ?at|each|every|on|with|for ?*", RESTART, 0)
X("from|at zero|0|scratch|nil|nothing ?again each|every|per|for|with|in|when|at|on ?*", RESTART, 0)
X("again from zero|0|nil|scratch|one|1", RESTART, 0)
X("from one|1|zero|scratch again", RESTART, 0)
X("from scratch", RESTART, AFTER(RUNNING))
X("each|every|per|with ?* anew|afresh", RESTART, 0)
X("anew|afresh", RESTART, 0)
X("new|fresh|anew|again|over for|with|in|at each|every|the ?* ?" UNIT "|" GROUP, RESTART, AFTER(RUNNING))
X("within|inside|in each|every ?calendar|fiscal|financial|school|business|single ?* " UNIT, RESTART, AFTER(RUNNING))
X("within ?each|every|the|a|one|its|their ?calendar|fiscal|financial|* *", RESTART, AFTER(RUNNING))
X("separately|separate|independently|individually for|by|per|in|within|on ?each|every|one|the ?*", RESTART, 0)
X("for|per|by|within|in each|every|one * separately|individually|independently|alone", RESTART, 0)
X("for|per|by|within * separately|individually|independently", RESTART, 0)
X("separately|independently|separate", RESTART, AFTER(RUNNING))
X("each|every|per|one * has|have|gets|get|having|with|keeps|keeping|on|by ?its|their|his|her ?an|a "
  "own|separate|itself "
  "?running ?* ?" SUM "|series|counter",
  RESTART, AFTER(RUNNING))
X("its|their|his|her|an own " SUM "|series|counter|running", RESTART, AFTER(RUNNING))
X("one|a|own separate|new|fresh|own|individual|single " SUM "|series|counter|one|start", RESTART, AFTER(RUNNING))
X("one|a ?new|separate " SUM "|series|counter|line|chain for|per|each|every|with|by *", RESTART, AFTER(RUNNING))
X("each|every|a ?new|change * ?of ?* is|means|starts|begins|brings|gets|opens|triggers ?with a|the|it|over "
  "?new|fresh|from|own|again "
  "?" SUM "|series|start|zero",
  RESTART, AFTER(RUNNING))
X("new|fresh|each|every " UNIT "|" GROUP "|* ?, ?means|gets|brings|is|has ?a ?with new|fresh|own|separate " SUM
  "|start|series|counter",
  RESTART, 0)
X("not|never|without|no|nothing ?be ?is|are|being carry|carrying|carryover|rolled|rolling|spill|run "
  "?over|across|into|on|forward|between|from ?from ?* ?*",
  RESTART, 0)
X("partition by", RESTART, 0)
X("wiped|cleared|emptied|zeroed ?clean|out|to|back each|every|at|on|with|when|for|per ?*", RESTART, 0)
X("by|per|for|within ?each|every ?* and|, ?each|every ?calendar|fiscal|financial|school|tax|business "
  "year|month|week|season",
  RESTART, AFTER(RUNNING))
X("per|by ?each|every|one|any|a " GROUP, RESTART, AFTER(RUNNING))
X("for|in|at|of each|every|any " GROUP, RESTART, AFTER(RUNNING))

/* a value over the last rows or periods */
#define ROLL "moving|rolling|sliding|trailing|gliding|floating"
#define LAST "last|latest|previous|preceding|past|prior|most-recent|foregoing"
X("?a ?n-day " ROLL " ?* ?n-day " MEAN "|sum|total|totals|sums|window|count|counts|maximum|minimum|max|min|basis|frame",
  MOVING, 0)
X("and|plus|with the one ?* before ?it|that|this", PREVIOUS, 0)
X("and|plus|with ?the|its # * ahead ?of ?it|that", MOVING, 0)
X(MEAN "|sum|total ?* of|over that|this|each|it * and|plus|with the|its # ?* " BEFORE " ?*", MOVING, 0)
X(ROLL " # *", MOVING, 0)
X(ROLL " n-day ?" MEAN "|sum|total|window|*", MOVING, 0)
X("rolling|trailing year|month|week|quarter|twelve|hour|day", MOVING, 0)
X("n-day " ROLL "|running ?" MEAN "|sum|total|*", MOVING, 0)
X("n-day " MEAN "|sum|sums|total|totals|window|count|maximum|minimum|smoothing|smoothed", MOVING, 0)
X("window of|covering|over|spanning # *", MOVING, 0)
X("# " UNIT "|" UNITS "|" EVENT " window|average|mean", MOVING, 0)
X("running mean|average|avg|sum|total|median of|over ?the ?last|" LAST " #|n-day *", MOVING, 0)
X("ttm|ltm|trailing-twelve-month|trailing-12-month|last-twelve-months", MOVING, 0)
X("smoothed|smoothing|smooth over|across|by|using|with|on|out ?the ?last #|n-day ?*", MOVING, 0)
X("smoothed|smoothing", MOVING, 0)
X("and|plus|with|including ?the|its|their|his|her # * ?that|which|immediately|just|right|directly|came|come " BEFORE
  " ?it|that|this|them",
  MOVING, 0)
X("and|plus|with|including|over|of ?the|its|their # preceding|previous|prior|earlier *", MOVING, 0)
X("and|plus|with|including ?the|its|their|his|her last|previous|preceding|prior # *", MOVING, 0)
X("?" MEAN
  "|sum|total ?of|over|across|in that|this|it|each|every|itself|current ?* and|plus|with|, ?the|its # ?* " BEFORE " ?*",
  MOVING, 0)
X("over|across|of|in|from|for the|its|their most recent # * ?up|including|ending ?*", MOVING, 0)
X(MEAN " ?* ?* across|over|of|for|from the|its|their|his|her " LAST " #|n-day *", MOVING, 0)
X("over|across its|their|his|her " LAST " # *", MOVING, 0)
X("?the " LAST " # * up|including|ending|inclusive|incl|counting|at|before|as ?to ?that|this|each|every|it|then",
  MOVING, 0)
X("# " UNITS "|* up|ending|ended|leading|running ?up to|on|at|in|with|before each|every|that|this|it|the|then ?*",
  MOVING, 0)
X("# " UNITS " to|through|before|until each|every|that|it ?*", MOVING, 0)
X("n-day|# * "
  "ending|window|period|span ?ending ?on|at|with|in each|every|that ?*",
  MOVING, 0)
X("in|over any|each|every n-day window|period|span|stretch", MOVING, 0)
X("over|across|in any|each|every # " UNITS "|consecutive|successive ?*", MOVING, 0)
X("every|each|any|over|of|across ?the ?all # consecutive|successive|adjacent|neighbouring|neighboring *", MOVING, 0)
X("?from|between # * before to|and|until|through # ?* after|later ?*", MOVING, 0)
X("# ?* before and|, ?the ?# ?* after", MOVING, 0)
X("?# ?* on either|both|each side", MOVING, 0)
X("mean|average|avg|median of|over|across ?the|every # " UNITS
  "|consecutive|successive|adjacent|readings|blasts|games|rows|entries|values|"
  "orders|calls|visits|matches|races|measurements|rounds|trips|sessions|batches|shifts|points|runs",
  MOVING, 0)

/* the value of the previous row, event or period */
X("previous|prior|preceding|following #", IDIOM, 0)
X("previous|preceding|prior|foregoing ?*", PREVIOUS, 0)
X("preceded|precedes it|that|this|them|him|her|each|the|every", PREVIOUS, 0)
X("?" UNIT "|" EVENT " that|which preceded|precedes ?it|that|them", PREVIOUS, 0)
X("the|that|one|its|their|his|her " UNIT "|" EVENT " before|earlier|prior|previously|preceding ?it|that|this", PREVIOUS,
  0)
X("the * before and|or|in|for|on|at|as|to|it|that|this|them|him|too|with|is|was|of|per", PREVIOUS, 0)
X("the * before *|#", IDIOM, 0)
X("the * before", PREVIOUS, 0)
X("an|a|one|1 * earlier|back", PREVIOUS, 0)
X("a|one|1 " UNIT "|step|row|place|line before", PREVIOUS, 0)
X("# " UNITS "|rows|steps|places|lines|entries earlier|back|prior|previously", PREVIOUS, 0)
X("one|row|line|entry above|up|earlier|prior", PREVIOUS, 0)
X("not|even|place one up|earlier", IDIOM, 0)
X("before|preceding it|that|this|them|him ?one|event|order|visit", PREVIOUS, 0)
X("before that|this day|date|time|year|month", IDIOM, 0)
X(AT_ONCE " before ?*", PREVIOUS, 0)
X(AT_ONCE " before|after # ?*", IDIOM, 0)
X("came|come|comes|coming|went|goes|gone|ran|held|happened|stood|occurred|used|had|was|were|did|lived|worked "
  "?" AT_ONCE " before|previously|beforehand ?it|that|this",
  PREVIOUS, 0)
X("came|come|comes|went|goes|ran|held|happened|occurred|had|was|were before|after #|THE", IDIOM, 0)
X("since|than|after|against|over|versus|vs|between the|its|their|his|her ?own|x's|very last|latest|earlier *", PREVIOUS,
  0)
X("from the last|latest " EVENT, PREVIOUS, 0)
X("its|their|his|her earlier *", PREVIOUS, 0)
X("the|its|their|his|her|an earlier " EVENT, PREVIOUS, 0)
X("?as|than|since|from|the last time ?*", PREVIOUS, 0)
X("than|against|versus|vs|over|same last year|month|week|quarter|season|time", PREVIOUS, 0)
X("same|corresponding " UNIT " ?of|in ?the last|before|earlier ?year|month|week", PREVIOUS, 0)
X("lag value|by|of|values|one", PREVIOUS, 0)
X(AT_ONCE " earlier", PREVIOUS, 0)
X("lag", PREVIOUS, 0)
X("day|week|month|year before last", IDIOM, 0)
X("it|they|this|he|she replaced|replaces|superseded|supersedes|succeeded|succeeds|followed|follows|overtook", PREVIOUS,
  0)
X("it|they|he|she came|come|comes|changed|moved|switched|went from", PREVIOUS, 0)
X("it|they|he|she ?was|were|had|held|used|did|stood ?had|been|have ?at|in|on ?* "
  "before|previously|beforehand|earlier",
  PREVIOUS, 0)
X("valid|applicable|applied|current|effective|force|use|charged|held|used|standing|that ?had ?been "
  "until|till|before|up "
  "?to then|that|it|this|now ?* ?point",
  PREVIOUS, 0)
X("predecessor|x's predecessor", PREVIOUS, 0)
X("from|between one|a|each|every * to|and|until|till the|its next|another|following ?*", PREVIOUS, 0)
X("from " UNIT " to " UNIT, PREVIOUS, 0)
X("between|separate|separated|of|in|any|each|for|every|and|with|to ?two|any|each|every|its|their|the|all ?* "
  "consecutive|successive|adjacent|neighbouring|neighboring|back-to-back *",
  PREVIOUS, 0)
X("consecutive|successive|adjacent " PLACE, NO_GAPS, 0)
X("without ?a|any hole|holes", NO_GAPS, 0)
X("successive|adjacent|neighbouring|back-to-back|consecutive *", PREVIOUS, 0)
X("#|# consecutive|successive|straight|back-to-back *", IDIOM, 0)
X("what|which|who|whatever came|was|went|ran|stood ?" AT_ONCE " before", PREVIOUS, 0)

/* the value of the next row, event or period */
X("in|during|for the following week", IDIOM, 0)
X("the|these|those following :|,|codes|names|columns|fields|information|details|products|items|things|list|"
  "criteria|conditions|questions|data|attributes|types|countries|cities|are|categories|people|tables|years|is|ids",
  IDIOM, 0)
X("next|subsequent|succeeding|ensuing ?*", NEXT, 0)
X("the|its|their|his|her|each|that|and|of|x's following *", NEXT, 0)
X("following " UNIT "|" EVENT, NEXT, 0)
X("the|its|their|his|her upcoming|coming " UNIT "|" EVENT "|one's|*", NEXT, 0)
X("upcoming one|one's|x's", NEXT, 0)
X("with|to|than|against|and|versus next " UNIT, NEXT, 0)
X("until|till|before|and|to ?and the|its|their|his|her next ?*", NEXT, 0)
X("the|that|one|its|their " UNIT "|" EVENT " after|later|afterwards|following|further|ahead ?it|that|this", NEXT, 0)
X("a|an " UNIT "|" EVENT " later|afterwards|further|ahead", NEXT, 0)
X("the * after and|or|in|for|on|at|as|to|it|that|this|them|him|too|with|is|was|of|per", NEXT, 0)
X("the * after *|#", IDIOM, 0)
X("the * after", NEXT, 0)
X("an|a|one|1 * later|afterwards|further|ahead", NEXT, 0)
X("# " UNITS "|rows|steps|places|lines|entries later|ahead|further|afterwards", NEXT, 0)
X("after it|this|them|him ?one|event|order|visit", NEXT, 0)
X("after that one|order|visit|event", NEXT, 0)
X(AT_ONCE "|soon afterwards|after|next|following|thereafter ?*", NEXT, 0)
X("?is|are|was|were|* afterwards|thereafter|subsequently", NEXT, 0)
X("came|come|comes|coming|went|goes|happens|happened|follows|followed|ran|held|plays|played|used|had|takes|did "
  "?" AT_ONCE " next|afterwards",
  NEXT, 0)
X("came|come|comes|coming|went|goes|happens|happened|follows|followed|ran|held|plays|played ?" AT_ONCE
  " after it|that|this|each|every ?one",
  NEXT, 0)
X(AT_ONCE " behind", NEXT, 0)
X("what|which|who|whatever|that follows|followed|follow ?it|this|that|them", NEXT, 0)
X("that|which|who succeeded|succeeds|followed|follows|replaced|replaces|superseded ?it|that|this|him|her|them|each",
  NEXT, 0)
X("replaced|succeeded|superseded by", NEXT, 0)
X("replaced|succeeded|superseded it|them|him|her", NEXT, 0)
X("it|they|he|she ?then|later|next went|moved|changed|turned|switched|goes|moves|passed|became to|into|next|on", NEXT,
  0)
X("come|came|comes|coming|return|returns ?back again|next", NEXT, 0)
X("comes|come|came|return again", NEXT, 0)
X("until|till * * ?* ?* ?* ?* ?* again|anew", NEXT, 0)
X("successor", NEXT, 0)
X("lead value|of|by one|1|value", NEXT, 0)

/* a comparison within the group of the row */
#define VERSUS "than|above|below|over|under|beat|exceed|against|versus|vs|outperform|beyond"
X("own ?* ?* " AVG, OWN, 0)
X("own " GROUP "|x's", OWN, 0)
X("within|inside its|their|his|her ?own|respective *", OWN, 0)
X("among|amongst its|their|his|her ?own peers|class|group|colleagues|kind|type|category", OWN, 0)
X("within|inside the|that|each|every ?own same|respective|" GROUP " ?*", OWN, 0)
X("within|in its|their|his|her budget|range|limit|name|names|title|lifetime|career|life", IDIOM, 0)
X(AVG "|others|rest|peers|colleagues ?* ?* within|in|on|at|inside|among|across its|their|his|her ?own|respective *",
  OWN, 0)
X(AVG "|others|rest|peers|colleagues ?* ?* within|in|on|at|of|for|from|among|across the|that|a same *", OWN, 0)
X(MEAN "|maximum|minimum|typical|usual|rest ?* of|for its|their|his|her ?own|respective *", OWN, 0)
X(MEAN "|total|sum|maximum|minimum ?* of|for|in its|their|his|her age|salary|weight|heights|price|"
       "scores|score|length|budget|points|sales|capacity|attendance|number|rating|ratings",
  IDIOM, 0)
X(MEAN "|typical|usual|norm ?* ?* for|of|in|at that|this ?same|* ?*", OWN, 0)
X("rest|others|peers ?* of|in|from its|their|his|her|the|that ?same *", OWN, 0)
X("other|comparable|similar * in|of|from|at|on|with its|their|his|her|the|that ?same *", OWN, 0)
X("its|their|his|her peers|group|class|category|department|colleagues|x's " MEAN "|total|maximum|minimum|sum|norm", OWN,
  0)
X(VERSUS "|to|of|from|with|by its|their|his|her|that|the|a ?* x's ?* ?* " AVG, OWN, 0)
X("its|their|his|her|that|the x's ?* ?* " MEAN "|total|typical|usual", OWN, 0)
X(VERSUS " its|their|his|her|that|this * ?* " MEAN, OWN, 0)
X(VERSUS " the|that|each " GROUP " " MEAN "|total|maximum|minimum", OWN, 0)
X(MEAN "|typical|usual|total|maximum|minimum ?* of|for|in|at the|its * it|he|she|they|they're|it's|he's|she's "
       "?belong|are|is|in|works|from|comes|at|sits",
  OWN, 0)
X("it|they|he|she belong to|in", OWN, AFTER(DIFFERENCE) | AFTER(SHARE) | AFTER(OWN))
X("of|in|for|to|within|from|on|at its|their|his|her|that|this|the ?own|same|respective|given x's ?* ?*", OWN,
  AFTER(SHARE))
X("of|in|for|to|within|from|on|at its|their|his|her ?own|respective *", OWN, AFTER(SHARE))
X("of|within that|this *", OWN, AFTER(SHARE))
X("of|in|for|to|within|from|on|at the|that same|respective|corresponding *", OWN, AFTER(SHARE))
X("of|among ?the|all * in|of|at|for|from|on its|their|his|her|that ?same|own *", OWN, AFTER(SHARE))
X("of|within the|each|every|that|a " GROUP " total|sum|overall|x's", OWN, AFTER(SHARE))
X("within the|each|every|that|a " GROUP "|" UNIT, OWN, AFTER(SHARE))
X(MEAN " for|of|in|within ?the same *", OWN, 0)
X("of|by|for|from|in|at|with|within ?exactly the ?very same " GROUP, OWN,
  AFTER(PREVIOUS) | AFTER(NEXT) | AFTER(RUNNING))
X("of|by|for|from|within the ?very same *", OWN, AFTER(PREVIOUS) | AFTER(NEXT) | AFTER(RUNNING))
X("of|by|for|from|within the|that same *", OWN, AFTER(PREVIOUS) | AFTER(NEXT))

/* a comparison with all rows together */
X("overall length|width|height|size|weight|rating|grade|condition", IDIOM, 0)
X("overall ?* " AVG "|share|figure|rate|level|value|result", OVERALL, 0)
X("grand total|totals|sum|average|mean", OVERALL, 0)
X(MEAN " overall *", IDIOM, 0)
X(MEAN "|total|sum|figure overall", OVERALL, 0)
X("x-wide|nationwide|companywide|citywide|all-site|all-store|all-branch|all-team|all-club|all-region|company-level",
  OVERALL, 0)
X("worldwide|global|national|countrywide|statewide|general|common|collective|universal ?* " MEAN, OVERALL, 0)
X("whole|entire|full|complete x's ?* ?*", OVERALL, 0)
X("?of|in|across|over|for|to|within|against|than|among the|our whole|entire *", OVERALL, 0)
X("of|to|in|from the|a|our|its ?* "
  "full|complete|overall|grand|combined|total|general|whole|entire|joint|global|company ?*",
  OVERALL, AFTER(SHARE))
X("of|to|in overall|total|grand|combined|global *", OVERALL, AFTER(SHARE))
X("of|in|among|across|to|from|over all|everything|everyone|everybody ?the ?*", OVERALL, AFTER(SHARE))
X("of the|a total|whole|lot|overall|pie|sum|entirety", OVERALL, AFTER(SHARE))
X("all|whole|entire * together|combined|pooled|overall|put|jointly", OVERALL, 0)
X("compared|compare|comparison|relative|with|to|than|against|versus|vs|of ?with|to all ?the * ?taken|put "
  "together|combined|overall",
  OVERALL, 0)
X("compared|relative|comparison|measured with|to|against all|everyone|everybody|everything ?* ?*", OVERALL, 0)
X(MEAN " ?taken|computed|measured of|for|among all|everyone|everybody|everything ?* ?*", OVERALL, 0)
X(MEAN " ?taken|computed|measured over|across all|every|everyone|everybody|any|everything ?* ?*", OVERALL, 0)
X(VERSUS " the|an ?* ?* " MEAN " ?* ?* of|over|across|for|among|by all|every|everyone|everybody|everything ?*", OVERALL,
  0)
X("mean|average|taken over|across any|all|every ?and ?all *", OVERALL, 0)
X("everyone's|everybody's ?* " AVG, OVERALL, 0)
X(VERSUS "|to ?. the total|sum ?* of|over|across all ?*", OVERALL, 0)
X("across the board", OVERALL, 0)
X("across|over the ?* whole|entire|board|network|company|portfolio|fleet|chain", OVERALL, 0)
X("company|fleet|network|chain|school|hospital|store|firm|group|league|city|country as a whole", OVERALL, 0)
X("as a whole", OVERALL, 0)

/* entities without related rows may be left out */
#define VALUE                                                                                                          \
    "value|values|rating|ratings|score|scores|entry|data|date|price|figure|result|reading|measurement|record|time|"    \
    "answer|grade|mark|weight|height|age|amount"
#define DROP                                                                                                           \
    "leave|skip|skipping|drop|omit|exclude|hide|remove|removing|ignore|"                                               \
    "suppress"
X("no " PLACE " ?should|is|are|may|must|gets|get|to|being|has ?been ?be|been|left "
  "skipped|missing|left|lost|omitted|empty|unused|free|out",
  NO_GAPS, 0)
X("ignore|disregard|exclude|skip|skipping|omit|discard ?the|any|all|those|ones|* ?* "
  "?with|who|that|which|have|has without|no|lacking ?a|an|any ?known|recorded|entered|given " VALUE,
  SKIP_MISSING, 0)
X("not|without|never count|counting|considering|including|consider|include ?the|those|* ?who|that|with|which "
  "?have|has no|without|lacking ?a|an|any " VALUE,
  SKIP_MISSING, 0)
X("not include|count|consider|use ?the|any " MISSING
  " values|value|entries|fields|ratings|scores|cells|rows|ones|records",
  SKIP_MISSING, 0)
X("only|just ?the ?for|those|ones|* ?* ?* that|who|which|with|where|having ?we ?there "
  "actually|really|ever|have|has|had|did|were|was|"
  "are|any|some|at|appear|sold|ordered ?*",
  NO_ZEROS, 0)
X("only|just ?the|those ?* we ?really|actually|ever have|had|sell|sold", NO_ZEROS, 0)
X(DROP " ?out ?the|any|all|those|ones|people|anyone|everyone ?* ?who|that|which|with|for|ones "
       "?have|has|had|did|are|is " NONE_OR_NOT " ?*",
  NO_ZEROS, 0)
X(DROP " ?out ?the|any|all * ?* ?that|which|who|with ?* " NONE_OR_NOT " ?*", NO_ZEROS, 0)
X("leave|drop|hide|omit|remove|skip|skipping|exclude|suppress ?out ?the|any|all " EMPTY
  "|zeros|zeroes|0s|non-givers|childless ?*",
  NO_ZEROS, 0)
X("leave ?the|any|those|* ?* ?* without|no|empty|idle|unused ?* ?* out|off|away", NO_ZEROS, 0)
X(NONE_OR_NOT " ?* ?* ?also can|may|could|might|should|need ?also ?be|stay|just "
              "skipped|omitted|left|dropped|missing|absent|hidden|excluded|out|away|"
              "ignored ?out|away|off",
  NO_ZEROS, 0)
X(NONE_OR_NOT " ?* ?* ?do|need|should|must|are not|needn't ?have|need ?to ?be "
              "listed|shown|appear|included|show|there|counted|in ?there",
  NO_ZEROS, 0)
X("can|may|could|might|should|shall|will ?also ?be|stay|just "
  "skipped|omitted|left|dropped|missing|absent|hidden|excluded|"
  "away|ignored|disregarded|suppressed ?out|away|off",
  NO_ZEROS, 0)
X("needn't ?be show|appear|shown|listed|included|mentioned|displayed|there", NO_ZEROS, 0)
X("not need|have|want|required|necessary ?to ?be "
  "show|appear|appearing|shown|listed|included|mentioned|displayed|see",
  NO_ZEROS, 0)
X("need not ?be show|appear|shown|listed|included|mentioned|displayed", NO_ZEROS, 0)
X("not show|list|include|display|want|need|mention|report|bother|return ?with|about|me|to|see ?the|any|those|ones|* "
  "?* ?who|that|with " NONE_OR_NOT "|" EMPTY " ?*",
  NO_ZEROS, 0)
X("do not show|list|include|display|return|print|give ?the|any|me * ?* ?* ?that|who|with|having "
  "without|no|zero|never",
  NO_ZEROS, 0)
X("no need|interest|point for|in|to|of ?list|show|listing|showing ?the ?*", NO_ZEROS, 0)
X("not interested|needed|necessary|wanted|required|relevant|interesting ?in|here ?*", NO_ZEROS, 0)
X("are|is|be unnecessary|superfluous|irrelevant|unneeded|unwanted|optional", NO_ZEROS, 0)
X("of no interest|relevance|use", NO_ZEROS, 0)
X(NONE_OR_NOT " ?* ?* ?* not|do ?not matter|interest|concern|count|needed|wanted|appear|show|belong|listed", NO_ZEROS,
  0)
X("not matter|interest|care", NO_ZEROS, 0)
X("as long as ?that they|it|there|he|she|any|some", NO_ZEROS, 0)
X("provided|providing|assuming ?that they|it|there|he|she ?*", NO_ZEROS, 0)
X("where|if|when|wherever|whenever ?there was|were|is|are any|some|something|anything|one", NO_ZEROS, 0)
X("where|if|when|wherever|whenever they|it|he|she had|have|has|did any|some|something|anything|one", NO_ZEROS, 0)
X("where|wherever|if applicable", NO_ZEROS, 0)
X("non-zero|nonzero|non-empty|nonempty ?*", NO_ZEROS, 0)
X("without|no zero|zeros|zeroes|0s ?rows|counts|lines|*", NO_ZEROS, 0)
X("but|and not|no|without|never ?the ?those|ones|any|* ?who|that|with without|none|no|empty|never|idle ?*", NO_ZEROS, 0)
X("except|besides|save ?for|the|those ?* ?who|with|that without|no|none|empty|idle|never ?*", NO_ZEROS, 0)

/* entities without related rows are shown */
#define SHOW                                                                                                           \
    "show|showing|give|giving|put|print|display|list|write|report|return|returns|"                                     \
    "say|name|names|include|keep|output"
#define SHOWN                                                                                                          \
    "shown|listed|displayed|printed|appear|appears|appearing|show|showing|included|kept|stay|remain|"                  \
    "reported|given|present|visible|counted|in|belong|retained|figure"
#define INCL "including|include|incl|even|also"
X("without|no|lacking|missing ?a|an|any " VALUE " get|gets|have|has|receive|receives|score|scores|given|count|"
  "counts|counted|go|goes|enter ?in ?as|with|at ?a|an " NIL,
  AS_ZERO, 0)
X(SHOW "|get|gets|receive|receives|use|with ?us|me|them|those|it|as|at|up|just|a|an|the ?a " NIL
       " for|where|when|if|instead|there|next|beside|against|otherwise ?" THE "|those|them|they|there|any ?*",
  ZEROS, 0)
X(NIL "|0s for|where|when|if|in|wherever|whenever ?case ?all|any "
      "the|those|them|there|they|it|none|nobody|nothing|no|missing|"
      "empty|without|anyone|people|any|all|ones|idle|unused",
  ZEROS, 0)
X("?should|shall|must|to ?be "
  "shown|listed|appear|appears|appearing|displayed|printed|reported|show|showing|come|comes|coming "
  "?up|out ?there as|with|at ?a|an " NIL,
  ZEROS, 0)
X("get|gets a|an|the " NIL, ZEROS, 0)
X(NIL " for those|ones|the|all ?* that|who|which|without * ?none|nothing|any", ZEROS, 0)
X("on the list with " NIL, ZEROS, 0)
X(NONE " ?* ?* ?* with|at|as|get|gets|have|has|show|at ?a|an|the " NIL, ZEROS, 0)
X("otherwise|else ?show|give|print|just ?a " NIL, ZEROS, 0)
X("zeros|zeroes|0s ?should|must|are|to ?be included|too|also|shown|kept|listed|as|matter", ZEROS, 0)
X("zero counts|rows|values|entries|ones|groups|totals ?should|must|are ?be included|too|also|shown|kept|listed", ZEROS,
  0)
X("include|including|with|keep|keeping|show|showing|even ?the ?any|all zeros|zeroes|0s", ZEROS, 0)
X(INCL " ?for ?if|the|those|any|all|. ?* ?who|that|which|with|in|where|having "
       "?have|has|had|did|do|are|is|were|was|which " WITH_NONE " ?*",
  ZEROS, 0)
X(INCL " ?for ?the|those|any|all * * ?has|have|had " WITH_NONE " ?*", ZEROS, 0)
X(INCL "|incl ?. ?the|those|any|all * in|for|on|at|with|of|by|to|from which|whom|where|that ?there ?was|were " WITH_NONE
       " ?*",
  ZEROS, 0)
X("also show|list|include|give|want|keep ?me ?the|all|any ?* that|who|which|with|without "
  "?have|has|had|do|did|are|were " WITH_NONE " ?*",
  ZEROS, 0)
X(INCL " ?the|those|any * who|that|which ?* ?* " WITH_NONE " ?*", ZEROS, 0)
X(NIL " for ?the|all|any|those * who|that|which|with|without|having ?*", ZEROS, 0)
X(NONE_OR_EMPTY
  " ?* ?* should|must|shall ?also|still|all ?be show|appear|shown|listed|included|there|present|visible|come ?up "
  "?too",
  ZEROS, 0)
X("even if|when|where|though|those|ones|for ?* ?* ?* " WITH_NONE " ?*", ZEROS, 0)
X("include|including|also|even nobody|none|nothing|" EMPTY " ?*", ZEROS, 0)
X("also|and|plus ?the|those|ones|anyone|* who|that|which|with ?have|has|had|did|do|were|was|are " WITH_NONE
  " ?* ?* too|included|also",
  ZEROS, 0)
X("not ?* ?* should|shall|must|to ?also ?be included|listed|shown|appear|kept|retained", ZEROS, 0)
X("not ?* ?* ?being as|too|also well|too|included", ZEROS, 0)
X("not * ?* too", ZEROS, 0)
X(NONE_OR_EMPTY
  " ?* ?* ?* ?should|shall|must|to|are|is|also|still|get ?also|still|be included|too|listed|shown|appear|kept|well|"
  "retained|remain|stay|belong",
  ZEROS, 0)
X(NONE_OR_EMPTY " ?* ?* ?being ?as well|too|included|also", ZEROS, 0)
X(WITH_NONE " ?* ?* should|shall|must|do|count|also|may|can|still be|also|count|come|go|have|still ?in ?be "
            "?too|included|shown|also|listed",
  ZEROS, 0)
X(NONE_OR_EMPTY " ?* ?* count|counts|matter|go|belong|come too|also|in|as", ZEROS, 0)
X("without|with ?any ?no ?* included|too|also", ZEROS, 0)
X("all|every|each|any ?of ?the * must|should|shall|has|have|need|ought ?to ?all|be ?also|be ?there " SHOWN, ZEROS, 0)
X("must|should|shall|has|have|need ?all|each|every|to ?be appear|listed|shown even|regardless|anyway "
  "?if|when|those|*",
  ZEROS, 0)
X("?a|one row|line for|per every|each|all ?*", ZEROS, 0)
X("not|never|without leave ?the|any|* out", ZEROS, 0)
X("not|never|without ?to drop|lose|omit|hide|forget|exclude|skip|"
  "skipping ?the|any|those|out",
  ZEROS, 0)
X("not ?be|get ?be omitted|hidden|left|forgotten|excluded|missed|dropped ?out", ZEROS, 0)
X("whether ?or ?not|if they|it|there|he|she|anyone|anything|any|someone|something|a|the ?* ?* ?* ?* or not", ZEROS, 0)
X("whether or not they|it|there|he|she|anyone|anything|any|someone|something|a|the ?*", ZEROS, 0)
X(", ?whether sold|used|rented|visited|booked|busy|active|borrowed|played|ordered or "
  "not|idle|inactive|unsold|unused",
  ZEROS, 0)
X("leave|leaves|left|leaving ?it ?them ?that|the ?* ?* blank|empty", ZEROS, 0)
X("blank|empty|dash|null for|if|when|where ?the|those|there|it|they|none|no|not ?is|are|was|were ?none|no|not ?*",
  ZEROS, 0)
X("also|even|and|plus for the|those ?ones ?* where|that|who|which|with|without ?has|have " WITH_NONE " ?* ?*", ZEROS, 0)
X("listed|shown|given|reported|entered|printed|counted|displayed as|with|at|by ?a " NIL, ZEROS, 0)
X("not|never a single one|*", ZEROS, 0)
X("with or without ?any *", ZEROS, 0)
X("ones|those included|too", ZEROS, 0)
X("not known|recorded|reported|confirmed|marked|flagged|registered to|as be|have|being|having|* ?*", ZEROS, 0)
X("not|never known|recorded|reported|confirmed to be|have", ZEROS, 0)
X("play|plays|have|has|matter|matters no part|role|place", NO_ZEROS, 0)
X("are|is|were|was not of interest|relevance|importance", NO_ZEROS, 0)
X("are|is|were|was not relevant|interesting|needed|wanted|required|important", NO_ZEROS, 0)
X("stay|stays|remain|remains|keep|kept|are|is off ?of ?the ?this ?our list|report|table", NO_ZEROS, 0)
X("among|of people|those|customers|clients|the|* ?* who|that|which have|has|had ?* ?* ?* at all", NO_ZEROS, 0)
X("if|when|where|should several|many|more|two|some|multiple|others|people ?* ?* ?* ?* ?* ?i|we ?want ?need ?show ?list "
  "?give ?me ?name ?include all ?of ?them",
  TIES, 0)
X("if|when|where|should|in ?there several|many|more|two|some|multiple ?* "
  "reach|reached|have|has|had|get|got|share|match|matched ?* ?* same",
  TIES, 0)
X("no|not ?a ?any step|level|rung|place|rank|number ?is|are ?ever left|skipped|lost|missed ?out", NO_GAPS, 0)
X("equal|same * share|get|have|occupy a|one|the ?same step|level|rung|tier", TIES, 0)
X("looking|look only|just|solely at|on those|the|ones ?with|that|which ?have ?a|an ?" KNOWN, SKIP_MISSING, 0)
X("must|should|may|shall|do|does|would not ?to drag|pull|lower|raise|distort|dilute|affect|influence|bias",
  SKIP_MISSING, 0)
X("regardless|irrespective of whether ?or|if|they|there|it|any ?they|there|it|any ?*", ZEROS, 0)
X("no matter whether|if they|there|it|any ?*", ZEROS, 0)
X("if|when|where ?there|they|it|* ?is|are|was|were|have|had|has none|no|nothing ?* ?* ?, "
  "?then|show|print|give|put|say ?a " NIL,
  ZEROS, 0)

/* a missing value counts as 0 */
#define TREAT                                                                                                          \
    "treat|count|counting|counts|counted|take|taking|takes|taken|consider|considering|"                                \
    "considered|regard|regarding|use|using|read|reading|set|score|scored|valued|"                                      \
    "valuing|enter|entered|assume|assuming|put|recorded|go|goes|going|come|comes|stand|stands|"                        \
    "replace|replaced|fill|filled|substitute|turn|turned|convert|"                                                     \
    "impute|rate|rated|figure|feature|interpret|"                                                                      \
    "default"
X(TREAT " ?in|up|down as|with|at|to|by|like|for|be|into|being|that ?a|an|the|it|if ?they ?were|was " NIL, AS_ZERO, 0)
X(TREAT " ?a|an|the|any|all|them|those|it|these ?* ?* ?* as|with|at|to|by|like|into|being ?if ?a|an|it|they|being "
        "?was|were " NIL "|nothing",
  AS_ZERO, 0)
X(TREAT " ?in as nothing|none", AS_ZERO, 0)
X(MISSING
  " ?* ?* ?* ?* means|mean|is|are|=|:|equals|equal|be|being|was|were|as|gets|got|get|for|-|counts ?a|as|for ?as " NIL
  "|nothing",
  AS_ZERO, 0)
X(MISSING " ?* ?* ?* ?should|must|will|do|to ?" TREAT " ?as|with|at|to|for|be ?a " NIL "|nothing", AS_ZERO, 0)
X("no|none|nothing|without|lacking ?a|an|any ?* ?* ?* "
  "=|means|equals|is|are|counts|be|spent|paid|earned|cost|as|mean|for ?a|as " NIL "|nothing",
  AS_ZERO, 0)
X("should|shall|must|to be|become " NIL, AS_ZERO, 0)
X("if|when|where|wherever ?a|an|the|no|it ?* ?is|are|was|were ?not " MISSING
  "|given|recorded ?, ?then|take|use|count|put|assume|it ?it|a ?as " NIL,
  AS_ZERO, 0)
X("if|when|where no|nothing|none ?* ?* ?* ?, ?then take|use|count|put|assume|set ?it ?as|to " NIL, AS_ZERO, 0)
X("take|use|put|assume|insert|substitute|taking|using|putting|assuming ?a|an " NIL
  " for|if|when|where|instead|in|there|*",
  AS_ZERO, 0)
X(NIL " ?* instead|rather|in ?of|than|place ?of ?a|the|any " MISSING "|nothing|no", AS_ZERO, 0)
X(NIL " for|in|where|when|if ?the|a|any|it|there ?* ?is|are|has ?a " MISSING " ?*", AS_ZERO, 0)
X("zero-fill|zerofill|coalesce", AS_ZERO, 0)
X("got|receive|earn|earned|score|scored|scores nought|nil|zero", AS_ZERO, AFTER(AS_ZERO))
X("with|give|a a|the|nought|zero ?nought|zero for missing *", ZEROS, 0)

/* a missing value is excluded from the calculation */
#define SKIP                                                                                                           \
    "ignore|ignored|disregard|exclude|skip|skipping|omit|"                                                             \
    "drop|discard|discount|without|minus|except|neglect|"                                                              \
    "remove|removing"
X("leave out|aside ?the|any|all|those ?* ?* ?with|that|which|whose|where|of|for ?is|are|a|an " MISSING " ?*",
  SKIP_MISSING, 0)
X(SKIP " ?out|aside ?the|any|all|those|these ?with|where " MISSING " ?ones|values|*", SKIP_MISSING, 0)
X(SKIP " ?out ?the|any|all|those * ?with|that|which|whose|where|of|for ?the|a|their ?* ?is|are|a|an " MISSING " ?*",
  SKIP_MISSING, 0)
X("leave out ?the|any|all|those|ones|* ?* without|no|lacking ?a|an|any|no ?known|recorded|entered|given " VALUE,
  SKIP_MISSING, 0)
X("leave|set|put|putting ?the|any|all|those ?* " MISSING " ?* ?ones out|aside|away|apart", SKIP_MISSING, 0)
X("not|never|without|no ?to "
  "count|counting|considering|consider|including|include|included|use|using|taking|regarding|average|averaging "
  "?over|in|into ?the|any|those|all ?* " MISSING " ?*",
  SKIP_MISSING, 0)
X(MISSING
  " ?* ?* ?should|must|do|does|may|are|is|to|can|shall|will|would not|never ?to|be ?be count|counted|counting|enter|"
  "matter|included|used|considered|affect|influence|part|in|taken|weigh|pull|averaged",
  SKIP_MISSING, 0)
X(MISSING " ?* ?* ?should|must|do|may|are|is|to|can|shall|have ?be ?being "
          "left|set|kept|put|excluded|ignored|skipped|omitted|dropped|"
          "disregarded|discarded|removed|out|aside ?out|aside|away|apart",
  SKIP_MISSING, 0)
X(MISSING " ?* ?* play|plays|have|has|get|gets|with no part|role|influence|weight|say|effect", SKIP_MISSING, 0)
X("no|without|lacking ?a|an recorded|known|valid|entered|given|noted * ?should|must|are|is|to|being ?be "
  "excluded|ignored|skipped|omitted|"
  "disregarded|discarded|dropped|aside|left ?out",
  SKIP_MISSING, 0)
X("no|without|lacking ?a|an ?recorded|known|valid|entered|given " VALUE
  " ?should|must|are|is|to|do ?be left|not ?out|count|enter|aside",
  SKIP_MISSING, 0)
X("only|just ?count|counting|consider|considering|taking|take|using|use|based|include "
  "?on|over|of|across|among|for|from|those|the|where|with "
  "?the|those|* " KNOWN " ?*",
  SKIP_MISSING, 0)
X("taking|using|considering|counting|over|across|from|of|among ?only|just ?the|those "
  "rated|known|recorded|filled|answered|measured|scored|"
  "graded|reported|non-null|non-missing|non-empty|non-blank *",
  SKIP_MISSING, 0)
X("taking|using|considering|counting|over|across|based ?on only|just ?the|those|on ?* ?* " KNOWN, SKIP_MISSING, 0)
X("based|only|just ?on|over|across|those|for|from ?only|just|the|those ?* with|having|that ?have a|an|any|some "
  "?known|recorded|valid|actual " VALUE,
  SKIP_MISSING, 0)
X("where some|any * is|are available", IDIOM, 0)
X("where|wherever|when|if|whenever|provided ?that it|one|they|a|an|there|the|* ?* "
  "is|are|was|were|has|have|exists|exist ?been "
  "known|recorded|filled|available|measured|given|present|entered|reported|noted|set",
  SKIP_MISSING, 0)
X("only|just|over|across ?the|those ?* with|having|that|whose|where ?have|has|is|are ?a|an|any " KNOWN " ?*",
  SKIP_MISSING, 0)
X("over|only|just|across ?the|those ?* with|having|that|where ?have|has|they ?have a|an|any " VALUE, SKIP_MISSING, 0)
X(MEAN " ?* of|over ?the|all available|known|recorded|existing|filled|non-null *", SKIP_MISSING, 0)
X("for which|whom a|an|the|* ?* is|are|was|were|exists known|recorded|available|filled|given|measured|reported",
  SKIP_MISSING, 0)
X("of|over|for those|ones that|which|who have|has|had|were|are|got ?been "
  "rated|known|recorded|measured|answered|filled|scored|graded",
  SKIP_MISSING, 0)
X("where|wherever|when|if|whenever known|recorded|available|given|present|filled|measured", SKIP_MISSING, 0)
X("where|wherever|when|if there is|was a|an|some|any ?recorded|known " VALUE, SKIP_MISSING, 0)
X("non-null|non-missing|nonnull|non-blank", SKIP_MISSING, 0)
#define UNMEASURED                                                                                                     \
    "measured|recorded|rated|known|filled|answered|scored|graded|reported|entered|noted|weighed|reviewed|tested|"      \
    "marked|assessed|taken|given|submitted|available|determined"
X("leave|leaving|left|set|put out|aside ?the|any|all|those|ones|* ?* ?* that|which|who|whose|where ?the|a|nobody|* ?* "
  "?has|have|had|was|were|is|are not|never|n't ?yet ?been " UNMEASURED " ?yet",
  SKIP_MISSING, 0)
X(SKIP " ?out|aside ?the|any|all|those|ones|* ?* ?* that|which|who|whose|where ?the|a|nobody|* ?* "
       "?has|have|had|was|were|is|are not|never|n't ?yet ?been " UNMEASURED " ?yet",
  SKIP_MISSING, 0)
X("leave|leaving|left|set|put out|aside ?the|any|all|those|ones|* ?* ?* that|which|who|whose nobody|none|never "
  "?has|have|had|was|were ?been " UNMEASURED " ?yet",
  SKIP_MISSING, 0)
X(SKIP " ?out|aside ?the|any|all|those|ones|* ?* ?* that|which|who|whose nobody|none|never ?has|have|had|was|were "
       "?been " UNMEASURED " ?yet",
  SKIP_MISSING, 0)
X("have|has|had|with|without|lack|lacks no|a|an|any|* ?* ?* ;|,|. ?please ?just ?so ?and "
  "leave|leaving|set ?them|those|these|it|they out|aside",
  SKIP_MISSING, 0)
X("have|has|had|with no ?* * ;|,|. ?please ?just ?so ?and ignore|skip|omit|exclude|disregard|drop "
  "them|those|these|it",
  SKIP_MISSING, 0)
#undef UNMEASURED

/* all tied rows are shown */
#define ALL   "all|everyone|everybody|each|both|every|anyone|whoever|several"
#define COND  "if|when|where|should|in|on|upon|with|for|at|whenever|case"
#define LISTS "show|list|give|return|name|include|keep|print|want|report|display|take|output|tell|mention|us|me"
X(COND " ?case|event|there|they|several|two|more|some|many|any|a|it|of ?* ?of ?are|is|be|were|happen ?a|an|on|for " TIE
       " ?, ?please|then|just ?" LISTS "|i|we|them ?me|us|want|of|need ?the|them " ALL "|them",
  TIES, 0)
X(COND " ?* ?* ?* " TIE " ?, i|we|please ?want|need|would|like ?like ?to ?see " ALL "|them", TIES, 0)
X(ALL " one ?of ?them when|if|in|should ?there ?* ?is ?of ?a " TIE, TIES, 0)
X("winner|leader|champion or winners|leaders|champions|several|more", TIES, 0)
X("every|all|each|any ?* ?* that|who|which reach|attain|hit|equals ?the|that|this "
  "highest|maximum|top|best|record|lowest|minimum",
  TIES, 0)
X(COND " ?* ?* " TIE " ?* ?, " LISTS " ?me|us|them|of ?the|of|them " ALL, TIES, 0)
X(COND " ?more ?than ?* ?* share|shares|match|matches|reach|has|have ?the|a "
       "?same|first|top|maximum|minimum|highest|lowest ?* ?* ?, " LISTS " ?me|them ?the " ALL,
  TIES, 0)
X(ALL " ?of ?them|those|these|the ?* if|when|in|on|should|for|where|with "
      "?there|they|several|it|case|any|more|two|some|than|is ?one|* "
      "?are|is|of|be ?a|an " TIE,
  TIES, 0)
X(ALL " ?of ?them|those|the ?* if|when|should ?there|they ?is|are several|more|two|some|many ?than ?one ?*", TIES, 0)
X(ALL " ?of ?them|those|the ?* if|when they|several|two|some tie|share|draw|match|equal ?*", TIES, 0)
X("ties leave ?a|empty gap|gaps|hole|holes|places|ranks", GAPS, 0)
X("with ties leave ?a|empty gap|gaps|hole|holes|places|ranks", GAPS, 0)
X("with|including|include|incl|plus|keep|keeping|show|showing|list|listing|count|allow|and ?all|any|the|possible|of "
  "?the|possible ties|tied|equals|draws|co-holders|co-winners|co-leaders ?ones",
  TIES, 0)
X("ties|draws|equals|tied ?ones|places|results|rows ?should|must|to|are|is|all|also ?all|be|also "
  "included|shown|kept|listed|allowed|count|too|stay|welcome|"
  "permitted|ok|okay",
  TIES, 0)
X("?who|that|they share|shares|sharing ?the|a|that|this|joint "
  "first|top|second|third|last|best|highest|lowest|maximum|minimum|record|lead|crown|title|honour|honor|"
  "most ?place|spot|rank|position|*",
  TIES, 0)
X("?who|that|they share|shares|sharing|take the|a|that|this|one|same place|spot|rank|position|lead", TIES, 0)
X("shared first|top|best|lead ?place|spot|rank|position", TIES, 0)
X("joint|jointly|equally|equal " TOP "|first|last|winner|winners|leader|leaders|record|holder|second|third", TIES, 0)
X("joint-top|equal-first|joint-first|joint-highest|equal-top|co-holders|co-winners|co-leaders|co-champions|co-"
  "record",
  TIES, 0)
X("there|it|they may|might|could|can|will ?well|also ?be more|several|multiple|many|two|ties ?than ?one", TIES, 0)
X("may|might|could|can be more|several|multiple|tied ?than ?one", TIES, 0)
X("more than one|1 ?* ?is|are|may|if|possible|allowed|where|when ?be "
  "fine|ok|okay|possible|allowed|tied|level|equal|needed|necessary",
  TIES, 0)
X("or|possibly|maybe|perhaps several|more|all|both|multiple if|when|in|should ?there|they|case|of|are|tied|equal "
  "?are|a ?tied|tie|equal|level",
  TIES, 0)
X("possibly|maybe|perhaps several|more|multiple ?than ?one", TIES, 0)
X("all ?the " TOP "|tied|equal ones", TIES, 0)
X("list|show|name|give|keep|want|return all|every|both ?the ?of ?the "
  "highest|lowest|largest|smallest|cheapest|best|longest|winners|leaders|"
  "record-holders|top|first|joint|tied|equal|level|minimum|maximum",
  TIES, 0)
X("all|every|each ?the|of ?the winners|leaders|record-holders|champions|frontrunners", TIES, 0)
X("those|any|others|everyone|anyone|whoever|ones|all ?others ?who|that ?is|are|did|does|have|has "
  "just|equally|exactly as|full|good|high|many|"
  "low|much|well|often ?*",
  TIES, 0)
X("whoever|anyone|everyone|everybody|those|any|ones|others ?else ?who|that|which ?is "
  "equals|equal|ties|tie|tying|level|tied ?with ?the ?that|same ?*",
  TIES, 0)
X("whoever|anyone|everyone|everybody|those|ones|others ?else matching|matches|sharing|shares ?the ?that|same ?*", TIES,
  0)
X("keep|include|including|list|and|plus|with|show any|all|every|whoever|those|others ?* ?who|that|which|with "
  "?has|have the|same|an|equal "
  "same|equal|identical|very|score",
  TIES, 0)
X("along|together with ?the|any|all|its|those equals|ties|tied|co-holders|rivals|equal", TIES, 0)
X("more|several|multiple|extra|two|both|all ?the rows|names|results|winners|lines|ones|entries "
  "on|if|when|for|in|with|at ?case|there|a|of|an "
  "?of|are ?a equal|ties|tied|equality|level|tie|draw",
  TIES, 0)
X("no|never matter|mind how many ?* ?*", TIES, 0)
X("however many ?* ?tie|share|there|are", TIES, 0)
X("regardless|irrespective of how many ?*", TIES, 0)
X("not|rather ?than|to|pick|choose|stop ?at|just just|only|at|single|out ?a ?the one|1|first|winner|single", TIES, 0)
X("not cut|break|split|resolve|separate ?off ?the|any ties|tie|equals", TIES, 0)
X("without breaking|cutting ?off ?the|any ties|tie", TIES, 0)
X("everyone|everybody|all ?* ?that|who ?is|are tied|joint|level|equal|tying ?for|on|at|first", TIES, 0)
X("every|each * that|who is|are tied|joint|level|equal ?for|on|at|first", TIES, 0)
X("every|each|all|any * ?that|who|is|are joint|jointly|joint-top|joint-first|joint-highest|equal-top ?*", TIES, 0)
X("tied|tie|ties for|on|at ?the first|top|most|best|highest|lowest|place|lead|same|second|third ?*", TIES, 0)
X("everybody|everyone|whoever|all ?who|that has|have|had|hold|got|reached|did ?reached the|that|this|so "
  "highest|most|top|maximum|record|"
  "lowest|best|many|first",
  TIES, 0)

/* one row is shown, even if several tie */
X("just|only|exactly|precisely|simply one|1|single "
  "please|name|row|result|value|title|answer|of|line|record|entry|winner|if|even|is|will|suffices|"
  "per|in|when|regardless",
  ONE, 0)
X("one|1|single name|row|result|record|answer|entry|line|value|winner|* only|please|suffices|enough|max|maximum", ONE,
  0)
X("a|one|1 single ?row|line|record|entry|name|result per|for", ONE, 0)
X("a|one|1 single row|line|record|entry|name|result|winner|answer", ONE, 0)
X("one|1 only", ONE, 0)
X(LISTS "|pick|choose|select|need ?me|us|out just|only|exactly|precisely ?a|the one|1|single ?*", ONE, 0)
X(LISTS "|pick|choose|select|need|only|just ?me|us|just|only a|one|the single *", ONE, 0)
X(",|.|-|;|:|(|?|! ?but ?and ?please just|only|exactly|precisely|simply ?a|the one|1|single|first ?*", ONE, 0)
X("but|and|please just|only|exactly ?a|the one|1|single ?*", ONE, 0)
X("one row|name|line|result|record|answer|winner|entry is|will|suffices|would|only|at|enough|please ?be "
  "?enough|do|fine|sufficient|most",
  ONE, 0)
X(COND " ?case|event ?of ?there|they|several|two|more|some|many|any|a|it|than ?one|are|is ?are|is|be|of|a ?a " TIE
       " ?* ?* ?, "
       "?then|just|only ?take|pick|use|choose|keep|give|show|prefer|list|name|favour|favor ?the|only|just|by|one|a "
       "?one|* " PICK "|random",
  ONE, 0)
X(COND " ?* ?* " TIE
       " ?, ?then|just|please take|pick|use|choose|keep|give|show|prefer|list|name ?me ?only|just|any one|1|random",
  ONE, 0)
X("have|has|share|shares|with the same|equal ?* , ?take|pick|show|then|use|choose|keep the ?one ?with|* ?the " PICK,
  ONE, 0)
X(COND " ?* ?* have|has|share|shares the same|equal ?* , ?* ?the ?one ?with ?the " PICK, ONE, 0)
X(COND " ?* " TIE " ?* ?, ?then ?take|pick|use|choose|keep|give|show|prefer|list|name ?the ?one|* ?with|* ?the " PICK,
  ONE, 0)
X(COND " ?the equal|same|identical|matching|tied|level * ?, ?take|pick|then|use|choose|prefer|: ?the ?* " PICK
       "|random",
  ONE, 0)
X("same|equal|identical|tied * =|:|,|means|-|then|goes ?to|take|pick|use|choose|keep|the ?the ?* " PICK, ONE, 0)
X("tie|ties|tied|draws|equals|draw ?* ?should|must|to|are|is|get|gets|can|will|: ?be ?being "
  "broken|decided|resolved|settled|sorted|go|goes|by|separated|"
  "cut ?by|to|in|with|on ?the ?*",
  ONE, 0)
X("tie|ties|tied|draws|draw|equals ?* ?:|,|=|-|then ?to|by|take|pick|use|choose|prefer ?the " PICK, ONE, 0)
X("break|breaking|breaks|broken|resolve|settle|decide|separate|split ?the|any|all|possible "
  "ties|tie|equals|draws|deadlocks "
  "?by|with|on ?the ?*",
  ONE, 0)
X("equal|same|tied numbers|amounts|values|counts|totals|scores|dates|times go|goes|ordered|sorted by *", ONE, 0)
X("if|when two|several|some|more ?* share the first|last|same|latest|earliest * , the " PICK, ONE, 0)
X("tie|ties at ?the place|rank|position # :|, ?the " PICK, ONE, 0)
X("without|never ?ever sharing|share a|the|any place|places|rank|ranks|position", ONE, 0)
X("equal ?* * give|gives|mean|means difference|zero|0 ?*", IDIOM, 0)
X("tie-break|tiebreak|tie-breaker|tiebreaker", ONE, 0)
X("decides|wins|prevails|settles|counts|breaks|goes between|among|if|on|in|when|it|for|at|first ?*", ONE, AFTER(ONE))
X("decides|settles|breaks|prevails ?between|among|if|on|in|when|it|for|at|the|any ?* ?*", ONE, 0)
X("the " PICK " ?* ?* wins|decides|prevails|counts|goes|comes|breaks|gets ?first", ONE, 0)
X("win|wins ?on|in|for equal|equals|ties|tie", ONE, 0)
X("any|either|whichever ?one ?of ?them|these|those|the ?* will|would|is|suffices|does|goes|can|may ?be "
  "fine|do|ok|okay|enough|good|suffice|work",
  ONE, 0)
X("any|either|whichever ?one will|suffices|does|goes", ONE, 0)
X("whichever ?one|of ?them|* comes|came|is|was|appears|sorts|has ?listed|the|a "
  "first|earlier|lower|lowest|smallest|earliest",
  ONE, 0)
X("at random|will", ONE, 0)
X("randomly|arbitrary|arbitrarily", ONE, 0)
X("pick|choose|select any|whichever|either|one ?of|one ?them", ONE, 0)
X("take|taking|give|show any|whichever|either one|of ?of ?them", ONE, 0)
X("never|not|no two|several|more|multiple|twice|both ?than ?one|1|* per|for|each|in|from|with ?*", ONE, 0)
X("not|never list|show|give|want|return|name|need|listing|returning|print|output ?me "
  "several|two|more|multiple|both|all|ties ?* ?*",
  ONE, 0)
X("no|not|never more than|one one|1 ?per|name|row|result|line|record|answer|entry|each|of|for|please", ONE, 0)
X("at most one|1 per|row|name|result|record|line|answer|entry|for|each", ONE, 0)
X("no|without|not|never ?any|the|showing|listing ties|equals|co-winners|co-leaders|shared|joint ?*", ONE, 0)
X("alphabetically|alphabetical|lexicographically first|earlier|earliest|smallest|lowest", ONE, 0)
X("first ?one ?in|by alphabetically|alphabet|alphabetical ?order", ONE, 0)
X("even|also|though if|when|though several|ties|tied|more|equal|others|two|there|many ?are "
  "?tied|tie|ties|level|equal|same",
  ONE, AFTER(ONE))

/* ranks after ties are skipped */
X("1 ?,|then|and|- 1 ?,|then|and|- ?then|and 3", GAPS, 0)
X("1 ?,|then|and|- 1 ?,|then|and|- 1 ?,|then|and|- ?then|and 4", GAPS, 0)
X("?1 ?,|then|and|- 2 ?,|then|and|- 2 ?,|then|and|- ?then|and 4", GAPS, 0)
X("2 ?,|then|and|- 3 ?,|then|and|- 3 ?,|then|and|- ?then|and 5", GAPS, 0)
X("1-1-3|1-2-2-4|1-1-1-4|1-1-3-4|1224|1-2-2-4-5|1-2-3-3-5|1134", GAPS, 0)
X("?just as|like in|at|with ?the|most|a ?* sport|olympics|competition|athletics|tournament|golf|skiing|"
  "championships|contest",
  GAPS, 0)
X("olympic|olympics|competition|sport|tournament ?standard "
  "style|ranking|rules|way|fashion|scheme|manner|method|numbering|placing",
  GAPS, 0)
X("competition-style|olympic-style|sports-style|tournament-style|olympics-style|sport-style", GAPS, 0)
X("skip|skips|skipping|skipped|lose|leave|vacate ?out|empty|over ?as ?many|the|a|some|next|that "
  "?many|following " PLACE "|place ?empty|free|out|vacant|unused|open",
  GAPS, 0)
X(PLACE " ?* ?* ?should|must|then|that|which|will|may ?be ?then stay|remain|is|are|be|go|goes|going|gets|get ?left "
        "free|empty|vacant|"
        "unused|skipped|missing|unfilled|open|lost|unassigned|unawarded",
  GAPS, 0)
X(PLACE " ?after|behind ?ties|them|it|a ?tie skipped|omitted|lost", GAPS, 0)
X("firsts|seconds|golds|winners ?,|then|there|comes|and|so|make|mean|means|are|is|follows "
  "?comes|is|follows|the|followed|by|a|no ?a|the|by|by "
  "third|fourth|fifth|3|4|3rd|4th|bronze",
  GAPS, 0)
X("seconds ?,|then|there|comes|and|so|make|mean|means|are|is|follows ?comes|is|follows|the|followed|by|a|no "
  "?a|the|by third|3|3rd|bronze",
  NO_GAPS, 0)
X("seconds|silvers ?,|then|there|and|so|means|mean there's|is|no|means ?no|there no|third|bronze ?third|bronze", GAPS,
  0)
X("firsts|golds|seconds|silvers|winners ?,|then|there|and|so|means|mean ?there|there's|is ?is no "
  "second|silver|third|bronze|2nd",
  GAPS, 0)
X("there's|is|and|then|with no second|bronze|silver|third ?place|rank|prize", GAPS, 0)
X("with|leave|has|have|allow|keep|keeping ?a|the gaps|gap|holes|hole|jumps ?in|after|behind|between|for|where|when "
  "?*",
  GAPS, 0)
X("gaps|holes|hole|gap|jump|jumps after|behind ?each|every|the|a ties|tie|equals|shared|equal|tied", GAPS, 0)
X("gaps|holes ?in|between|after ?the ?ranks|ranking|numbering|places|ties are|is|may ?be "
  "fine|ok|okay|allowed|wanted|expected|welcome|possible",
  GAPS, 0)
X(PLACE "|count jumps|jump|skips|skipping ?ahead|on|by|after|over|forward ?*", GAPS, 0)
X("one|1|# plus|more|+ ?the|than|how ?the ?number|many|how ?of|many ?* ?* ?is|are|were|did|who|that "
  "better|ahead|above|faster|higher|beat|worse|more",
  GAPS, 0)
X("use|take|takes|taking|using|eat|consume|occupy up ?the|a ?* " PLACE, GAPS, 0)
X("use|take|takes|taking|using|eat|consume|occupy ?up ?the|as following|next|many|subsequent " PLACE, GAPS, 0)
X("push|shift|shifts|move others|everyone|those|rest|the|next|following|later ?next|one|rest|following|* down|back",
  GAPS, 0)
X("?share|shares|tie|tied ?for|on|the ?first|second|third ?place|rank|spot ?, ?the next|following "
  "?one|place|rank|person|* ?is|gets|comes|becomes|takes|would "
  "?be|at|in|as third|fourth|4th|fifth|3rd|4|3|5",
  GAPS, 0)
X("?and ?the next|following|subsequent " PLACE " ?is|are|gets|being ?then skipped|empty|left|missing|lost ?out|empty",
  GAPS, 0)
X("two|2|three|3|both ?shared|joint|tied|equal first|second|firsts|seconds ?places|place|ranks ?, ?the ?next ?one "
  "?is third|fourth|3|4|3rd|4th",
  GAPS, 0)
X("nobody|no-one|none is|comes|gets|takes second|third|fourth|2nd|3rd|4th", GAPS, 0)
X("rank (", GAPS, 0)

/* ranks after ties are not skipped */
X("1 ?,|then|and|- 1 ?,|then|and|- ?then|and 2", NO_GAPS, 0)
X("?1 ?,|then|and|- 2 ?,|then|and|- 2 ?,|then|and|- ?then|and 3", NO_GAPS, 0)
X("1-1-2|1-2-2-3|1-1-2-3|1-1-1-2|1223|1-2-2-3-4|1123|1-2-3-3-4", NO_GAPS, 0)
X("dense|densely rank|ranking|ranks|numbering|numbered|places|order", NO_GAPS, 0)
X("dense_rank|dense-rank|rank|ranks|ranking|numbered densely|dense", NO_GAPS, 0)
X("dense_rank|dense-rank", NO_GAPS, 0)
X("no|without|avoid|not|never ?any|leave|have|having|with|there|are|be ?no|any|the|be "
  "gap|gaps|holes|hole|jump|jumps ?in|after|between|left "
  "?*",
  NO_GAPS, 0)
X("no|without|not|never|avoid ?any|ever|to|be|should "
  "skip|skips|skipping|skipped|leave|lose|miss|missing|jump|omit|lost ?out|over "
  "?any|the|a " PLACE " ?empty|free|out",
  NO_GAPS, 0)
X("no ?one|a " PLACE " ?should|is|are|may|must|gets|get|to|being|has ?been ?be|been|left "
  "skipped|missing|left|lost|omitted|empty|unused|free|out",
  NO_GAPS, 0)
X("no missing|skipped|empty|lost|unused|free " PLACE, NO_GAPS, 0)
X(PLACE " ?should|must|are|is|do|does not|never ?be|to skip|skipped|jump|missed|lost|left|omitted", NO_GAPS, 0)
X("gapless|gap-free|gap-less|unbroken|uninterrupted|seamless ?* ?*", NO_GAPS, 0)
X("continuous|contiguous|consecutive|sequential|successive " PLACE, NO_GAPS, 0)
X(PLACE " ?should|must|that|which|to|all ?stay|are|remain|run|running|be|kept|go "
        "consecutive|continuous|unbroken|contiguous|dense|"
        "consecutively|gapless|continuously",
  NO_GAPS, 0)
X("# " TOP " ?and ?* different|distinct|unique|separate *", NO_GAPS, 0)
X("# different|distinct|unique|separate " TOP " *", NO_GAPS, 0)
X("# " TOP " ?* ?* levels|values|tiers|bands|steps|years", NO_GAPS, 0)
X("top|bottom|first|best|highest|lowest # ?* distinct|different|unique|levels|values|tiers ?*", NO_GAPS, 0)
X("second|third|fourth|fifth|sixth|nth|2nd|3rd|4th|5th|second-highest|second-lowest|third-highest|third-lowest ?" TOP
  " ?* distinct|different|unique *",
  NO_GAPS, 0)
X("second|third|fourth|fifth|nth|2nd|3rd|4th distinct|different|unique ?" TOP " *", NO_GAPS, 0)
X("equal|same|tied|shared|identical * occupy|take|takes|use|count|counts|share|fill|get ?up|as|only|just ?only|just "
  "one|1|single ?single " PLACE,
  NO_GAPS, 0)
X("?the next|following " PLACE
  " ?always|simply|then|just goes|is|increases|rises|continues ?up ?by one|1|on ?more|higher|up",
  NO_GAPS, 0)
X("next|following ?one|" PLACE "|* after|behind|below|following ?a|the|each|two|* ?tie|ties|tied|equals ?* "
  "?then|just|simply counts|goes|continues|"
  "follows|comes|carries|continue|is|gets|runs ?on|directly|immediately|straight|right|next|up|second|third",
  NO_GAPS, 0)
X(PLACE " ?simply|just|then ?then continues|continue|carries|goes|counts "
        "on|directly|without|straight|up|after|immediately",
  NO_GAPS, 0)
X("?and ?the next|following ?one|person|player|team|* gets|takes|has|receives|is ?given ?simply the next|following "
  "?" PLACE,
  NO_GAPS, 0)
X("next|following ?one|place|rank|person|* ?is|gets|comes|becomes|takes|would ?be|at|in|as second|2nd|2", NO_GAPS, 0)
X("firsts|golds|winners ?,|then|there|comes|and|so|make|mean|means|are|is|follows "
  "?comes|is|follows|the|followed|by|a|next ?a|the|by "
  "second|2|2nd|silver",
  NO_GAPS, 0)

/* a ratio of totals */
#define TOT "total|totals|sum|sums|summed|all|whole|entire|complete|overall|aggregate|combined"
X(TOT " ?of ?the|* ?* ?* over|divided|against|/|through|÷ ?by ?the|its|their "
      "total|sum|all|whole|entire|complete|summed|overall|combined ?*",
  POOLED, 0)
X("total|sum|all|whole|entire|complete ?of * by|per all|total|whole|entire|complete *", POOLED, 0)
X("all ?* ?* * as ?a|the share|percentage|fraction|proportion|part of all|total ?its|their|the *", POOLED, 0)
X("all * taken|lumped|pooled|thrown|added|summed|put together", POOLED, 0)
X("taken|lumped|lumping|pooling|pooled|thrown|throwing|added|adding|summed|put together ?as|into|first|before|then "
  "?one|*",
  POOLED, 0)
X("lump|lumping|pooling|pooled|lumped|merging ?all|everything|the|* ?* ?* ?together|into|in|as ?one|a ?single "
  "?ratio|pot",
  POOLED, 0)
X("pool|lump|throw all|everything|the|them|these ?* ?together|into|first", POOLED, 0)
X("weighted ?by|average|mean|with|for|according|median ?*", POOLED, 0)
X("weighting by *", POOLED, 0)
X("volume-weighted|size-weighted|quantity-weighted|population-weighted|blended|pooled ?*", POOLED, 0)
X("not|no|never|without|rather|instead|nor ?than|of ?by|the|an|a averaging|averages ?of|over ?the|* ?*", POOLED, 0)
X("not|rather|instead ?than|of ?as the|an|a average|mean of ?the|all|* ?* ?*", POOLED, 0)
X("not|never ?to average|averaged ?of|over|the|out|up ?* ?* ?per|rates|ratios|percentages|figures", POOLED, 0)
X("one|a|single|as|the ratio|quotient|fraction|division of|from|between ?the|* ?season|grand|overall "
  "totals|sums|total|sum|aggregates",
  POOLED, 0)
X("computed|calculated|derived|worked|taken ?out from|on|using|with ?the|their ?* totals|sums|aggregates", POOLED, 0)
X("ratio|quotient of ?the ?two ?* totals|sums|aggregates", POOLED, 0)
X("into|as|in one|a ?single ratio|quotient|pot|division|go", POOLED, 0)
X("one single ratio|quotient|division|overall", POOLED, 0)
X("totals ?only|* over|divided|by|/|against ?by ?the totals|total|sums", POOLED, 0)
X("summed|totalled|totaled|added|sum|add|total|summing|adding ?up ?* ?* ?up ?first ?, before|then|and ?then "
  "divided|divide|division|taking",
  POOLED, 0)
X("before|only|then|and ?then ?the divided|divide|division ?*", POOLED, 0)
X("divided|divide ?only|once|at ?the|by ?end|total|totals|sum|last|grand ?*", POOLED, 0)
X("numerator|denominator", POOLED, 0)
X("should|must|shall|to|that count|counts|matter more|accordingly", POOLED, 0)
X("weigh|counts more|accordingly|heavier|proportionally|proportionately", POOLED, 0)
X("in one pot|go|lump|bucket", POOLED, 0)

/* an average of the values of each entity */
#define AVERAGES "totals|averages|means|sums|medians|rates|ratios|percentages|subtotals|counts|shares|quotients"
X("average|mean|median|avg|averaging|averaged of|over|across|out ?the|their|these|its|all|each|his|her " PERIODLY
  " ?* ?*",
  MEAN_EACH, 0)
X("average|mean|median|avg|averaging|averaged of|over|across|out ?the|their|these|its|all|those|* ?* " AVERAGES
  "|figures",
  MEAN_EACH, 0)
X("averaging ?the|their|all|those ?* ?' own|individual|single|separate|" AVERAGES " ?*", MEAN_EACH, 0)
X("average|mean|median|avg daily|weekly|monthly|quarterly|yearly|annual|hourly ?* "
  "total|totals|count|number|sum|takings|turnover|volume",
  MEAN_EACH, 0)
X("average|mean of|over ?the|their|its individual|separate|respective *", MEAN_EACH, 0)
X("average|mean|median|avg ?value over|across ?all ?the " UNITS " ?* ?of ?the ?* " SUM "|summed|added|count|counted",
  MEAN_EACH, 0)
X("average|mean|median|avg " SUM
  "|revenue|spend|sales|volume|takings|turnover|number ?of ?* ?* per|a|each day|week|month|quarter|year|season",
  MEAN_EACH, 0)
X("each|every|all * ?should|must|shall|to|is counts|count|counted|weigh|counting|weighted ?in|for|exactly "
  "the|equally|equal|same|once|alike|as|one "
  "?same|equal|much ?*",
  MEAN_EACH, 0)
X("each|every|all|* ?* has|have|having|with|gets|given|giving|carrying|carries|at ?the|an|one "
  "equal|same|identical|even weight|weighting|vote|say|influence",
  MEAN_EACH, 0)
X("equal|identical weight|weighting ?for|per|to ?*", MEAN_EACH, 0)
X("weighted|weighed|weighting|weight|counted equally|alike|evenly", MEAN_EACH, 0)
X("equally|evenly weighted|weighed|counted", MEAN_EACH, 0)
X("unweighted|equal-weight|equally-weighted|non-weighted ?*", MEAN_EACH, 0)
X("simple|plain|straight|unweighted average|mean of|over|across ?the ?*", MEAN_EACH, 0)
X("?average|mean|avg|rate|ratio|compute|* ?it per|by|for|within|of ?each|every|the|one * ?first ?, ?and "
  "then|afterwards|finally ?take|by|compute ?the|an "
  "over|across|average|averaged|averaging|mean|overall|those|these",
  MEAN_EACH, 0)
X("average|mean|avg|rate ?it per|by|for|within ?each|every|the|one * first", MEAN_EACH, 0)
X("then|afterwards|finally|next ?take|compute|calculate|work|form ?out ?the|an averaged|averaging|average|mean "
  "?of|over|across ?the|those|these|them|that|all|* "
  "?*",
  MEAN_EACH, 0)
X("each|every|per * , ?then|and average the|those|these|them|over|across ?*", MEAN_EACH, 0)
X("each|every|per * ?, ?then|and averaged|averaging ?the|over|across|those|these|of ?*", MEAN_EACH, 0)
X("each|every|per * ?, then|afterwards ?take ?the|an average ?over|across|of|those|these", MEAN_EACH, 0)
X("each|every|per * ?, then|afterwards ?take ?the mean|median|over|across ?the|of|over|across|those ?*", MEAN_EACH, 0)
X("average|averaging the|these|those|all|their ?* " AVERAGES, MEAN_EACH, 0)
X("and afterwards|then|finally over|across|between|among ?all|the *", MEAN_EACH, 0)
X("and|then|, average|averaging ?out them|these|those|over|across|up", MEAN_EACH, 0)
X("average|mean ?* of|over ?the * ' " AVERAGES, MEAN_EACH, 0)
X("mean|average over|across ?the * of their|its|the mean|average|total|own ?*", MEAN_EACH, 0)
X("in two|2 steps|stages|rounds|levels|passes", MEAN_EACH, 0)
X("two|2 steps|stages : *", MEAN_EACH, 0)
X("averaged ?out|up|it over|across|between ?the|all|these|those|its|their *", MEAN_EACH, 0)
X("not|no|never ?be ?to ?have|get|carry weigh|count|matter|counting|more more|heavier|extra|weight|double ?than|*",
  MEAN_EACH, 0)
X("regardless|irrespective|independent|whatever ?of ?its|their|how|the size|big|large|volume|busy", MEAN_EACH, 0)
X("no matter how big|large|small|busy|full", MEAN_EACH, 0)
X("big|large|small|busy ?* ?and|or small|big|quiet ?* alike|equally|same", MEAN_EACH, 0)
X("average|mean|median|averaging ?of|over ?* each|every x's ?own ?* average|mean|total|totals|rate|share|own ?*",
  MEAN_EACH, 0)
X("average|mean of ?the averages|means|average|mean", MEAN_EACH, 0)

/* growth since an earlier period, relative to that period */
X(GROWTH "|growth ?* ?of|in|as|by ?a " PCT "|%", CHANGE, 0)
X(GROWTH " ?* ?in|of|as per cent", CHANGE, 0)
X("?in ?as ?a " PCT " ?* " GROWTH, CHANGE, 0)
X(PCT " " GROWTH " from " UNIT "|one ?* to " UNIT "|the ?next", CHANGE, 0)
X("per cent " GROWTH, CHANGE, 0)
X("yearly|annual|monthly|weekly|quarterly|daily growth|increase|decrease|decline|rise|drop|change "
  "?rate|rates|percentage|in|% ?%|percent",
  CHANGE, 0)
X(GROWTH " rate|rates|factor|percentage", CHANGE, 0)
X("rate of change|growth|increase|decline|decrease", CHANGE, 0)
X("growth", CHANGE, 0)
X("?by ?how|what many|much|percentage ?in percent|percentage|%|per|pct ?cent ?did|has|have|do|does|is ?* ?* ?* "
  "?* " GREW "|more|less|higher|lower",
  CHANGE, 0)
X("by how many percent|per|% ?cent", CHANGE, 0)
X("by what|which percentage|percent|rate", CHANGE, 0)
X("how much " MORE " ?, in|as percent|%|pct|percentage|per", CHANGE, 0)
X("how strongly|fast|quickly|sharply|rapidly|steeply ?did|has|have|is|are|do ?* ?* ?* " GREW, CHANGE, 0)
X("?by how much did|has|have|do ?* ?* ?* grow|grown|shrink|shrunk", CHANGE, 0)
X("grew|grow|grown|shrank|shrink|shrunk|rose|risen|fell|fallen|increased|decreased|dropped|declined|climbed|jumped|"
  "gained|lost|up|down ?* ?* ?by "
  "?over|more|at|less|under|about ?than|least # %|percent|pct|per",
  CHANGE, 0)
X("grew|grow|grown|shrank|shrink|shrunk|rose|risen|rise|fell|fallen|fall|increased|increase|decreased|dropped|drop|"
  "declined|develop|changed|"
  "change ?* ?* ?, in percent|%|pct|percentage|per|relative",
  CHANGE, 0)
X("month-over-month|month-on-month|week-over-week|week-on-week|year-over-year|year-on-year|quarter-over-quarter|"
  "quarter-on-quarter|"
  "day-over-day|day-on-day|yoy|mom|wow|qoq|month-to-month|year-to-year|week-to-week|season-on-season|season-over-"
  "season",
  CHANGE, 0)
X(UNIT " over|on " UNIT, CHANGE, 0)
X("doubled|tripled|halved|quadrupled|doubling|tripling", CHANGE, 0)

/* a part of a whole */
X("in|as ?a percent|%|pct|percentage", IDIOM, AFTER(CHANGE))
X("in per cent", IDIOM, AFTER(CHANGE))
X("shared by|with|room", IDIOM, 0)
X("share|shares", SHARE, AFTER(SHARE))
X("show|give|list|and|with|percentage|sales|of|in share|shares", SHARE, 0)
X("share|shares of", SHARE, 0)
X("what|which part number|name|names|id|ids|type|types", IDIOM, 0)
X("percentage|percentages|percent|proportion|pct|percentual|%", SHARE, 0)
X("in|as percent|%|pct", SHARE, 0)
X("fraction|portion|quota|slice|chunk", SHARE, 0)
X("what|which|a|the|x's|its|their|each|as|his|her ?* fraction|portion|slice|chunk|quota|cut", SHARE, 0)
X("what|which share", SHARE, 0)
X("a|the|x's|its|their|as|his|her ?* share", SHARE, 0)
X("share|shares held|belonging|going|by|per|for|as|that", SHARE, 0)
X("market|largest|biggest|greatest|highest|lowest|smallest|relative|respective|percentage|percent|budget|vacancy|"
  "revenue|sales|time|cost share|shares",
  SHARE, 0)
X("what|which part|portion|slice|chunk|cut|quota", SHARE, 0)
X("big|large|great|small a part|slice|portion|chunk|share|fraction", SHARE, 0)
X("which|what part of", SHARE, 0)
X("share|shares of ?* ?* ?* stock|company", IDIOM, 0)
X("the|a|its|their|x's|average|maximum|minimum|total ?* share|shares price|count|counts|value|values|class|id", IDIOM,
  0)
X("part number|name|names|id|ids|type|types|fault", IDIOM, 0)
X("x|y|#|so|how|many|much|a ?many out of y|#|every|all|how|the|total", SHARE, 0)
X("out of every|all|how|y|total", SHARE, 0)
X("one|1|# ?* in|out ?of how many", SHARE, 0)
X("how many|much ?* ?* in|of|out|per|from ?of|every ?a|each|every hundred|ten|100|10|thousand|1000", SHARE, 0)
X("how many|much percent|per|% ?cent", SHARE, 0)
X("per cent|hundred", SHARE, 0)
X("how much|many|strongly ?* ?* ?* contribute", SHARE, 0)
X("contribution ?* ?of|in|as|to %|percent|pct|per|percentage|the|total|overall ?cent|total|whole|overall", SHARE, 0)
X("contribute to|towards the|all ?our total|overall|whole|grand|entire|all ?*", OVERALL, AFTER(SHARE))
X("contribute to|towards the total|overall|whole|grand|all", SHARE, 0)
X("accounted|accounting for", SHARE, 0)
X("make|made up", SHARE, 0)
X("relative weight", SHARE, 0)

/* one amount minus another */
X("minus|difference|differ|discrepancy|disparity|shortfall|surplus|"
  "deficit|deviation|deviate|deduct|deducting|subtract|subtracting ?between",
  DIFFERENCE, 0)
X("less "
  "goals|cost|expenses|returns|refunds|discount|fees|tax|deductions|withdrawals|spending|the|its|their|any|all|what|"
  "losses|payments|"
  "cancellations|outgoing|commission ?*",
  DIFFERENCE, 0)
X("net "
  "of|profit|gain|result|change|flow|balance|inflow|loss|effect|movement|difference|intake|migration|revenue|sales|"
  "earnings",
  DIFFERENCE, 0)
X("net out|against|off|balance", DIFFERENCE, 0)
X("after|once|with ?* deducting|subtracting|taking|removing|deduction|deductions|subtraction ?off|away|of ?the ?*",
  DIFFERENCE, 0)
X("taken|taking|take|takes away|off ?from", DIFFERENCE, 0)
X("take|taking off ?from ?at", IDIOM, 0)
X("gap|gaps between|in|to|from|of|is|was", DIFFERENCE, 0)
X("excess of|over ?*", DIFFERENCE, 0)
X("margin ?of|between|in ?* over|between|above|to", DIFFERENCE, 0)
X("spread|range|span|margin between|from ?* ?* to|and", DIFFERENCE, 0)
X("by what|which ?* margin|amount|number|distance|difference", DIFFERENCE, 0)
X("?by how many|much percentage points", DIFFERENCE, 0)
X("by how many|much|far ?* ?* ?* ?* ?* exceed|beat|outnumber|outweigh|differ|surpass|miss|missed", DIFFERENCE, 0)
X("by how much|many|far", DIFFERENCE, 0)
X("how much|far|long ?is|was|are ?* ?* ?* " MORE " ?than", DIFFERENCE, 0)
X("how many more|fewer|less|extra ?*", DIFFERENCE, 0)
X("by|how many " UNITS "|points|percentage|* " MORE, DIFFERENCE, 0)
X("how much|far ?is|are|was|were|did ?* ?* ?* ?* above|below|over|under|behind|ahead|short|off|apart ?or|of "
  "?above|below|under",
  DIFFERENCE, 0)
X("how much did|has|have|does ?* ?* ?* "
  "rise|risen|fall|fallen|drop|dropped|increase|increased|decrease|decreased|decline|declined|change|changed",
  DIFFERENCE, 0)
X("above|over or below|under", DIFFERENCE, 0)
X("what|how ?much|many remain|is|are|left|remaining ?left|remaining of|after|over|from|once|when", DIFFERENCE, 0)
X("remaining after|once|over", DIFFERENCE, 0)
X("left over", DIFFERENCE, 0)
X("leftover|left-over", DIFFERENCE, 0)
X("percentage points|point", DIFFERENCE, 0)
X("advantage|lead|edge over", DIFFERENCE, 0)

/* an amount counts with the opposite sign */
X("count|counts|counted|counting|treat|treated|treating|enter|entered|taken|booked|shown|are|is|be|as ?as|with|in ?a "
  "negative|negatives|negatively|minus ?amount|amounts|number|numbers|sign|value|values|one|ones",
  NEGATIVE, 0)
X("negative amount|amounts|value|values of|for", NEGATIVE, 0)
X("with|has|have ?a|the opposite|reversed|inverse sign", NEGATIVE, 0)
X("negated|sign-reversed", NEGATIVE, 0)
X("return|returns|repeat|repeats|duplicate|duplicates count|counts|counted|counting ?as ?a negative|minus|negatively",
  NEGATIVE, 0)

/* the columns follow the order of the words */
X("in ?exactly ?just this|that ?same order", IN_ORDER, 0)
X("in the same|given|stated|named order", IN_ORDER, 0)
X("respectively", IN_ORDER, 0)

/* something happened after or before the planned time */
#define PLAN "schedule|plan|planned|scheduled|expected|promised|agreed|due|deadline|target|estimated|announced|promise"
X("late|too|of night|at|in|the|last|pays|fee|fees|charge|penalty|shift|eighties|nineties", IDIOM, 0)
X("as|at|the late|latest as|of|by", IDIOM, 0)
X("early|too morning|bird|shift|retirement|access|stage|years|days", IDIOM, 0)
X("late|overdue|tardy|belated|delayed|belatedly", LATE, 0)
X("not on|in time|schedule", LATE, 0)
X("later than|as " PLAN, LATE, 0)
X("behind|after ?the|its|their " PLAN " ?date|day|time", LATE, 0)
X("missed|missing|past|exceeded|broke ?the|its|their " PLAN " ?date|day|time", LATE, 0)
X("early|punctual|punctually", EARLY, 0)
X("on|in time", EARLY, 0)
X("earlier|sooner than " PLAN, EARLY, 0)
X("ahead of|before ?the|its|their|of " PLAN " ?date|day|time", EARLY, 0)
X("before ?the|its|their " PLAN " ?date|day|time", EARLY, 0)
X("a|an|one|1|the * ahead of|before ?the|its|their|of " PLAN " ?date|day|time", EARLY, 0)
X("not late|overdue|delayed", EARLY, 0)

/* each occurrence counts, even if an equal one was counted already */
#define REPEAT "duplicates|repeats|repetitions|dupes|re-entries|revisits|repeat|recurring|returners|multiples|double"
#define COUNTS "count|counting|counts|counted"
X("count|counting each|every|all single|individual *", REPEATS, 0)
X("count|counting each|every " EVENT "|passage|occurrence|instance|appearance|attendance|entry|loan|ticket|borrowing|*",
  REPEATS, 0)
X("count|counting|counted|count ?a|the|all ?* ?once|again each|every|any|per|for|at ?each|every "
  "time|occasion|visit|occurrence|instance|appearance ?they|he|it|she",
  REPEATS, 0)
X(COUNTS " ?as|for ?once|one ?per|each|every ?again twice|repeatedly|again|double|separately|individually|anew|afresh",
  REPEATS, 0)
X(COUNTS " ?as|for multiple|several|many|three|two ?times|ones", REPEATS, 0)
X(COUNTS " ?as|for more than once", REPEATS, 0)
X("may|can|could|should|might be counted|included|listed more|several|multiple|twice|again|repeatedly|many "
  "?times|than",
  REPEATS, 0)
X("twice|double|again|thrice counts|count|is|are|counted ?as|for ?* ?twice|two|double|2", REPEATS, 0)
X("each|every|any|all * counts|count|is|are|counted|counting|adds|add|being|a|should ?as|a|for|be ?as|counted|a "
  "?an|a new|separate|one|anew|again|"
  "separately|individually|own|afresh|count",
  REPEATS, 0)
X("each|every|any " EVENT "|occurrence|passage|appearance|instance counts|count|counted|counting", REPEATS, 0)
X("with|including|include|incl|keep|keeping|allow|count|counting ?the|any|all|possible ?any|the " REPEAT " ?*", REPEATS,
  0)
X(REPEAT " ?* ?should|are|is|being|may|to|do|also|can|must|all ?be|being|also "
         "included|kept|count|counts|counted|allowed|stay|welcome|fine|ok|okay|too|wanted",
  REPEATS, 0)
X("not|never|no|without ?to|be|need|just|any "
  "remove|removing|drop|dedupe|deduplicate|deduplication|merge|merging|collapse|eliminate|"
  "filter|dedup|de-duplicate|de-duplication|throw|leave|exclude|ignore|skip|omit ?out|away ?the|any " REPEAT,
  REPEATS, 0)
X("not|never|no|without ?to|be|need|just|any dedupe|deduplicate|deduplication|dedup|de-duplicate|de-duplication|"
  "deduplicating ?*",
  REPEATS, 0)
X("not count|counting|use ?only|just ?the distinct|unique|different ?*", REPEATS, 0)
X("not ?just|only|necessarily ?the unique|distinct|different ?*", REPEATS, 0)
X("rather|instead than|of ?just ?unique|distinct|different|individual "
  "people|persons|heads|individuals|customers|unique|distinct|visitors",
  REPEATS, 0)
X("non-unique|non-distinct", REPEATS, 0)
X("once|one|again|anew for|per|with|each|every each|every|time|occurrence|visit|* ?time|visit|* "
  "they|he|she|it|someone",
  REPEATS, 0)
X("once|again|anew for|per|with each|every|time ?time|*", REPEATS, 0)
X("add|adds|count|counts|counting|counted one|once|1|again per|for|each|every|with ?each|every *", REPEATS, 0)
X("as often|many ?times as ?they|it|he|she|a|the|* ?*", REPEATS, 0)
X("matter|of how often ?*", REPEATS, 0)
X("however often ?*", REPEATS, 0)
X("?no matter how many times ?*", REPEATS, 0)
X("regardless|irrespective of how many|often ?times ?*", REPEATS, 0)
X("however many times", REPEATS, 0)
X("even|also if|when|though|for|where|with ?it|they|he|she|the|a|someone|somebody|that|one|* ?* "
  "?is|was|were|are|been|came|come|seen|had|has "
  "?the|been|already|seen|came same|again|twice|before|already|repeatedly|earlier|repeat",
  REPEATS, 0)
X("the same * again|twice|more|several|repeatedly|may|can|multiple|counts|counted|count|coming|showing|appearing ?* "
  "?*",
  REPEATS, 0)
X("regardless|irrespective of whether|if ?* ?* ?* before|already|previously|repeat|again|earlier|new", REPEATS, 0)
X("multiple|several|repeat|double|second|further|return ?and ?* count|counts|counted|included|adding|add "
  "?as|too|again|also|separately ?*",
  REPEATS, 0)
X("more than once|twice counts|count|is|are|each|adds", REPEATS, 0)
/* rows of a kind that count, or that do not count */
X("too many|much|few|little|high|low|late|early|long|short|small|big|large|old|young|expensive|cheap|often|slow|fast",
  IDIOM, 0)
X("without|no|not|never|if|have|has|had|having|there|is|are|at|for ?ever any", IDIOM, 0)
X("as well as", IDIOM, 0)
X("up|down|from|until|till ?to and|but including", IDIOM, 0)
X("up to and including", IDIOM, 0)
X("any * but|except|besides", IDIOM, 0)
X("too|included|inclusive|incl", KEPT, 0)
X("as well", KEPT, 0)
X("count|counts|counted ?in too|also", KEPT, 0)
X("count|counts|counted ?in as well", KEPT, 0)
X("or not", KEPT, 0)
X("also|even|including when|if|where ?the|its|their * is|are unknown|missing|empty|unset|blank|null", KEPT, 0)
X("whoever ?it|they|he ?was|were|is|are", KEPT, 0)
X("whether or not ?*", ANY, 0)
X("with or without ?a|an|any|the ?*", ANY, 0)
X("any", ANY, 0)
X("of any|every|all kind|type|sort|status|state", ANY, 0)
X("in|at|with whatever|whichever *", ANY, 0)
X("whatever|whichever ?the|its|their *", ANY, 0)
X("regardless|irrespective|independent of ?the|its|their ?whether *", ANY, 0)
X("no matter which|what|who|how|if|whether ?the|its|their ?*", ANY, 0)
X("including ?the ?*", ANY, 0)
X("excluded|ignored|omitted|disregarded", LEFT_OUT, 0)
X("left aside|out", LEFT_OUT, 0)
X("not counted|included|considered", LEFT_OUT, 0)
X("do|does|should|must not count", LEFT_OUT, 0)
X("exclude|excl|ignore|omit", EXCEPT, 0)
X("leave|leaving aside|out", EXCEPT, 0)
X("not counting|including", EXCEPT, 0)
X("except|besides ?for ?the", EXCEPT, 0)
X("apart|aside from", EXCEPT, 0)
X("other than", EXCEPT, 0)

#undef UNIT
#undef UNITS
#undef PERIODLY
#undef EVENT
#undef SUM
#undef MEAN
#undef AVG
#undef GROUP
#undef THE
#undef BEFORE
#undef AT_ONCE
#undef NIL
#undef WITH_NONE
#undef NONE
#undef EMPTY
#undef MISSING
#undef KNOWN
#undef TIE
#undef PICK
#undef TOP
#undef PLACE
#undef PCT
#undef GROWTH
#undef GREW
#undef MORE
#undef AFTER
#undef RESET
#undef BEGIN
#undef AGAIN
#undef ROLL
#undef LAST
#undef VERSUS
#undef VALUE
#undef DROP
#undef NONE_OR_NOT
#undef SHOW
#undef SHOWN
#undef INCL
#undef NONE_OR_EMPTY
#undef TREAT
#undef SKIP
#undef ALL
#undef COND
#undef LISTS
#undef TOT
#undef AVERAGES
#undef REPEAT
#undef PLAN
#undef COUNTS
