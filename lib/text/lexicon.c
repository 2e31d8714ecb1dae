/* Tables of single words: stop words, number words, abbreviations of database names, irregular forms, and synonyms
 * among the words of field names. On first use, they are collected into one hash table.
 *
 * To add a word, add it to a row. Write synonyms in their base form; they are compared by stem. A word may occur in up
 * to six rows (date: time, year ...). The words of a row are synonyms: users who say one of them may mean a column
 * named by another. */
#include "lib/text/internal.h"

#include <assert.h>
#include <glib.h>
#include <pthread.h>
#include <string.h>

static const char STOP_WORDS[] =
    "a an the this that these those there here it its itself he she they them their theirs his her hers him i me my we "
    "our ours us you your yours of in on at by for from to into onto with within without about above across after "
    "against along among around as before behind below beneath beside besides between beyond during except inside near "
    "off out outside over per through throughout till toward towards under until up upon via than then and or but nor "
    "so yet if because while although though unless whether either neither both each every all any some such only own "
    "same no not is am are was were be been being do does did doing done has have had having can could may might must "
    "shall should will would what which who whom whose when where why how what's who's whats it's that's there's isn't "
    "aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't cannot couldn't won't wouldn't shouldn't "
    "show list find give tell return display get retrieve select want know please provide report present print output "
    "let see identify state also just very too more most less least many much few other others another again once "
    "corresponding respectively different distinct kind kinds along ones one's";

static const struct {
    const char *word;
    double number;
} NUMBERS[] = {
    {"zero", 0},      {"one", 1},       {"two", 2},         {"three", 3},    {"four", 4},      {"five", 5},
    {"six", 6},       {"seven", 7},     {"eight", 8},       {"nine", 9},     {"ten", 10},      {"eleven", 11},
    {"twelve", 12},   {"thirteen", 13}, {"fourteen", 14},   {"fifteen", 15}, {"sixteen", 16},  {"seventeen", 17},
    {"eighteen", 18}, {"nineteen", 19}, {"twenty", 20},     {"thirty", 30},  {"forty", 40},    {"fifty", 50},
    {"sixty", 60},    {"seventy", 70},  {"eighty", 80},     {"ninety", 90},  {"hundred", 100}, {"thousand", 1000},
    {"million", 1e6}, {"billion", 1e9}, {"trillion", 1e12}, {"dozen", 12},
};

/* clang-format off */
/* Abbreviation and expansion. A leading '+' means: expand it only after another word of the same name. Ambiguous
 * abbreviations are excluded: "co" (co-author), "exp" (experience, expense), "st" (street, state), "long" (a length, a
 * longitude). */
static const char *const ABBREVIATIONS[][2] = {
    {"abbr", "abbreviation"}, {"abbrev", "abbreviation"}, {"acct", "account"}, {"addr", "address"},
    {"adr", "address"}, {"admin", "administrator"}, {"amt", "amount"}, {"apt", "apartment"}, {"arr", "arrival"},
    {"asst", "assistant"}, {"attr", "attribute"}, {"auth", "author"}, {"avail", "available"}, {"ave", "avenue"},
    {"avg", "average"}, {"bal", "balance"}, {"bday", "birthday"}, {"bldg", "building"}, {"calc", "calculated"},
    {"cd", "code"}, {"cnt", "count"}, {"config", "configuration"}, {"coord", "coordinate"}, {"corp", "corporation"},
    {"crs", "course"}, {"ctry", "country"}, {"cur", "current"}, {"cust", "customer"}, {"cyl", "cylinder"},
    {"dept", "department"}, {"dest", "destination"}, {"desc", "description"}, {"descr", "description"},
    {"dir", "director"}, {"dist", "distance"}, {"div", "division"}, {"dob", "date of birth"}, {"doc", "document"},
    {"docs", "documents"}, {"dt", "date"}, {"dur", "duration"}, {"edu", "education"}, {"emp", "employee"},
    {"eng", "english"}, {"enr", "enrollment"}, {"fac", "faculty"}, {"fname", "first name"}, {"freq", "frequency"},
    {"geo", "geographic"}, {"gov", "government"}, {"govt", "government"}, {"grp", "group"}, {"hosp", "hospital"},
    {"hp", "horsepower"}, {"hq", "headquarters"}, {"hr", "hour"}, {"hrs", "hours"}, {"ht", "height"},
    {"img", "image"}, {"info", "information"}, {"intl", "international"}, {"inv", "invoice"}, {"lang", "language"},
    {"lat", "latitude"}, {"len", "length"}, {"lname", "last name"}, {"loc", "location"}, {"lon", "longitude"},
    {"lng", "longitude"}, {"lvl", "level"}, {"manuf", "manufacturer"}, {"max", "maximum"}, {"med", "medicine"},
    {"mfr", "manufacturer"}, {"mgr", "manager"}, {"min", "minimum"}, {"mktg", "marketing"}, {"mname", "middle name"},
    {"mpg", "miles per gallon"}, {"msg", "message"}, {"natl", "national"}, {"nbr", "number"}, {"num", "number"},
    {"nr", "number"}, {"no", "+number"}, {"ord", "order"}, {"org", "organization"}, {"orig", "original"},
    {"pct", "percent"}, {"perf", "performance"}, {"perc", "percent"}, {"ph", "phone"}, {"pic", "picture"},
    {"pop", "population"}, {"pos", "position"}, {"pref", "preference"}, {"prereq", "prerequisite"},
    {"prev", "previous"}, {"prez", "president"}, {"prod", "product"}, {"prof", "professor"}, {"proj", "project"},
    {"prov", "province"}, {"pts", "points"}, {"purch", "purchase"}, {"pwd", "password"}, {"qty", "quantity"},
    {"ref", "reference"}, {"reg", "registration"}, {"req", "request"}, {"rev", "revenue"}, {"sal", "salary"},
    {"sched", "schedule"}, {"seq", "sequence"}, {"src", "source"}, {"stat", "statistic"}, {"stats", "statistics"},
    {"std", "standard"}, {"stu", "student"}, {"stud", "student"}, {"surname", "last name"}, {"tel", "telephone"},
    {"temp", "temperature"}, {"tot", "total"}, {"trans", "transaction"}, {"txn", "transaction"}, {"txt", "text"},
    {"univ", "university"}, {"usr", "user"}, {"val", "value"}, {"veh", "vehicle"}, {"vol", "volume"},
    {"wgt", "weight"}, {"wt", "weight"}, {"yr", "year"}, {"yrs", "years"},
};

/* irregular form, base form */
static const char *const IRREGULAR[][2] = {
    {"people", "person"},     {"persons", "person"},   {"children", "child"},   {"men", "man"},
    {"women", "woman"},       {"feet", "foot"},        {"teeth", "tooth"},      {"mice", "mouse"},
    {"geese", "goose"},       {"lives", "life"},       {"wives", "wife"},       {"halves", "half"},
    {"criteria", "criterion"}, {"indices", "index"},   {"matrices", "matrix"},  {"data", "data"},
    {"won", "win"},           {"bought", "buy"},       {"sold", "sell"},        {"wrote", "write"},
    {"written", "write"},     {"spoke", "speak"},      {"spoken", "speak"},     {"taught", "teach"},
    {"held", "hold"},         {"made", "make"},        {"paid", "pay"},         {"built", "build"},
    {"flew", "fly"},          {"flown", "fly"},        {"flies", "fly"},        {"took", "take"},
    {"taken", "take"},        {"gave", "give"},        {"given", "give"},       {"ran", "run"},
    {"sang", "sing"},         {"sung", "sing"},        {"met", "meet"},         {"lost", "lose"},
    {"led", "lead"},          {"began", "begin"},      {"begun", "begin"},      {"came", "come"},
    {"drove", "drive"},       {"driven", "drive"},     {"grew", "grow"},        {"grown", "grow"},
    {"spent", "spend"},       {"sent", "send"},        {"kept", "keep"},        {"chose", "choose"},
    {"chosen", "choose"},     {"went", "go"},          {"gone", "go"},          {"got", "get"},
    {"fell", "fall"},         {"fallen", "fall"},      {"rose", "rise"},        {"risen", "rise"},
    {"older", "old"},         {"oldest", "old"},       {"younger", "young"},    {"youngest", "young"},
    {"taller", "tall"},       {"tallest", "tall"},     {"shorter", "short"},    {"shortest", "short"},
    {"longer", "long"},       {"longest", "long"},     {"heavier", "heavy"},    {"heaviest", "heavy"},
    {"lighter", "light"},     {"lightest", "light"},   {"cheaper", "cheap"},    {"cheapest", "cheap"},
    {"higher", "high"},       {"highest", "high"},     {"lower", "low"},        {"lowest", "low"},
    {"larger", "large"},      {"largest", "large"},    {"smaller", "small"},    {"smallest", "small"},
    {"bigger", "big"},        {"biggest", "big"},      {"greater", "great"},    {"greatest", "great"},
    {"newer", "new"},         {"newest", "new"},       {"earlier", "early"},    {"earliest", "early"},
    {"later", "late"},        {"latest", "late"},      {"faster", "fast"},      {"fastest", "fast"},
    {"slower", "slow"},       {"slowest", "slow"},     {"richer", "rich"},      {"richest", "rich"},
    {"poorer", "poor"},       {"poorest", "poor"},     {"better", "good"},      {"best", "good"},
    {"worse", "bad"},         {"worst", "bad"},        {"fewer", "few"},        {"fewest", "few"},
    {"closer", "close"},      {"closest", "close"},    {"deeper", "deep"},      {"deepest", "deep"},
    {"wider", "wide"},        {"widest", "wide"},      {"busier", "busy"},      {"busiest", "busy"},
    {"stronger", "strong"},   {"strongest", "strong"}, {"warmer", "warm"},      {"warmest", "warm"},
    {"colder", "cold"},       {"coldest", "cold"},     {"hotter", "hot"},       {"hottest", "hot"},
};

static const char *const SYNONYMS[] = {
    /* people and roles */
    "customer client buyer shopper purchaser patron consumer",
    "teacher instructor faculty lecturer professor educator tutor",
    "student pupil learner undergraduate", "employee worker staff personnel member employ",
    "boss manager supervisor head leader",
    "doctor physician", "patient sick", "author writer write", "singer vocalist artist",
    "artist musician performer band",
    "player athlete competitor", "driver racer", "user account member", "owner own possess belong",
    "host organizer organize hold",
    "participant attendee contestant attend participate entrant", "candidate nominee applicant",
    "actor actress cast star",
    "director direct filmmaker", "person people individual human resident",
    "resident inhabitant population live tenant",
    "guest visitor visit", "friend buddy", "pet animal", "child kid", "kid son daughter child", "man male gentleman",
    "woman female lady", "sex gender male female", "spouse wife husband married", "coach trainer",
    "captain pilot commander",
    "pilot aviator", "president chairman chief", "ceo chief executive", "advisor mentor adviser supervisor",
    "surgeon physician doctor",
    "passenger traveler traveller", "nurse caregiver", "voter vote elector", "reviewer rater critic",
    "conductor director maestro",
    "researcher scientist", "seller vendor supplier", "supplier vendor provider", "reader subscriber",
    "party organization political",
    /* names, codes, descriptions */
    "name title call called label", "name who whom", "title heading headline", "surname last family",
    "first given forename",
    "nickname alias", "id identifier identification key number code", "code number abbreviation symbol",
    "description detail details text note",
    "detail information info", "type kind category sort class", "category genre class group", "genre style",
    "status state condition",
    "comment remark note review", "summary abstract overview", "keyword tag", "topic subject theme",
    "subject course class",
    "email mail e-mail", "phone telephone mobile cell contact", "website url homepage web site",
    "picture photo image photograph",
    "logo emblem", "version edition release", "format form", "language tongue speak", "religion faith",
    "nationality citizenship country citizen",
    "initial letter", "prefix begin start", "suffix ending end",
    /* place */
    "place location where locate site spot venue position", "city town municipality", "town village",
    "country nation land nationality",
    "state province region", "county district", "region area zone territory", "address street residence live",
    "headquarters headquarter base office",
    "office bureau branch", "building facility property", "apartment flat unit", "room chamber suite",
    "floor storey story level",
    "venue stadium arena hall", "hotel inn lodging", "airport airfield", "station stop terminal", "port harbor harbour",
    "road street route highway",
    "origin source from departure", "destination to arrival target", "home house residence hometown",
    "hometown birthplace", "continent land",
    "mountain peak hill", "river stream", "lake reservoir", "island isle",
    "border neighbor neighbour adjacent boundary", "campus school college",
    "coordinate latitude longitude", "postcode zip zipcode postal", "capital city",
    /* time */
    "date when day time", "year when annual season", "month monthly", "day daily", "time when hour",
    "duration length long time", "age old young birth year",
    "birth born birthday birthdate", "birthday date", "death die died dead", "start begin beginning open from commence",
    "end finish close stop until to",
    "founded established found establish start built opened", "build construct construction built", "arrival arrive",
    "departure depart leave",
    "release publish issue launch publication", "join hire employ enroll start", "hire recruit employ", "season year",
    "recent new late last modern", "early first old",
    "schedule timetable plan", "period term duration", "semester term quarter", "tenure service", "deadline due",
    "frequency often times", "expire expiration expiry",
    "modify update change edit", "create make made creation add", "cancel cancelled cancellation",
    /* money */
    "salary wage pay earn income compensation", "income earnings revenue earn profit", "revenue sales turnover gross",
    "price cost charge fee expensive cheap",
    "cost expense expenditure spend", "amount sum quantity total value", "payment pay paid", "bill invoice charge",
    "budget fund funding finance",
    "discount reduction rebate", "tax duty", "balance account savings saving", "loan credit debt borrow",
    "profit gain margin", "worth value asset rich wealth",
    "donation donate contribution give", "fine penalty", "rent rental lease", "currency money", "bonus reward",
    "interest rate", "sponsor fund support", "investor shareholder invest", "fare ticket price",
    "grant award funding", "market sale", "buy purchase order", "sell sale sold", "deposit saving checking",
    /* measures */
    "height tall high elevation altitude", "elevation altitude high", "weight heavy mass light", "length long distance",
    "distance far mile mileage kilometer", "size big large small area",
    "area surface square size", "width wide", "depth deep", "speed fast velocity slow quick",
    "temperature hot cold warm", "capacity size seat hold maximum", "count number quantity many total",
    "average mean avg", "maximum highest most largest top peak", "minimum lowest least smallest",
    "total sum overall all aggregate", "percentage percent share proportion ratio rate", "rate rating ratio",
    "rating score star grade rank stars", "rank position ranking place standing", "score point points result mark",
    "grade mark gpa score class", "level degree tier", "degree qualification diploma", "stock inventory quantity",
    "quantity amount number", "density crowded", "power horsepower strength", "volume amount", "humidity moisture wet",
    "rainfall precipitation rain", "wind gust", "visibility visible", "damage loss harm",
    "population people inhabitant", "attendance audience spectator crowd viewer", "popularity popular",
    "difference gap", "mileage mpg fuel economy", "enrollment enrolment size", "result outcome score",
    "vote ballot", "win victory winner champion", "lose loss defeat", "strength ability", "skill ability expertise",
    "experience expertise", "quality grade",
    /* work and school */
    "job occupation profession position work role", "role position duty part", "department division unit section",
    "company firm business corporation manufacturer enterprise organization",
    "organization institution association agency",
    "manufacturer maker make producer brand", "brand make label", "industry sector field", "project program programme",
    "school college university academy", "university college institution", "course class module lecture",
    "major field study subject discipline",
    "study major enroll take", "class section", "exam test assessment", "assignment task homework",
    "certificate certification license", "club society association", "team club squad side", "team group",
    "training course", "prerequisite requirement required",
    "department faculty", "employer company", "branch office store", "shop store outlet branch market",
    "warehouse depot", "product item goods merchandise", "item thing article", "part component", "service offering",
    "order purchase transaction booking", "booking reservation reserve book", "transaction payment purchase",
    "shipment delivery ship deliver", "contract agreement policy", "policy insurance", "claim request",
    "complaint issue problem", "fault defect error problem",
    "document file paper record", "paper article publication", "article story news", "book publication novel title",
    "publisher press", "journal magazine periodical", "citation cite reference", "conference workshop meeting",
    "meeting appointment",
    "treatment procedure therapy cure", "procedure operation surgery", "disease illness sickness condition allergy",
    "medicine drug medication prescription prescribe", "symptom sign", "hospital clinic", "appointment visit",
    "machine device equipment", "repair fix maintenance maintain", "tool instrument", "technician engineer",
    "program application software", "system platform", "web internet online", "account user", "login sign logon",
    "password credential",
    "permission access right", "level stage", "problem issue trouble",
    /* culture, sport, travel */
    "film movie picture cinema", "song track music single", "music song melody", "album record cd",
    "show program series performance", "series show tv", "episode part", "channel network station",
    "concert gig show performance", "festival event fair",
    "event occasion competition happening", "competition contest tournament championship game race",
    "tournament cup competition", "match game play", "race contest", "game match sport", "sport game",
    "medal award prize", "award prize honor honour", "trophy cup prize",
    "instrument guitar piano", "band group orchestra", "orchestra symphony", "painting art artwork picture",
    "exhibition exhibit display", "museum gallery", "theme subject", "camera lens", "recipe dish",
    "dish food meal course menu", "restaurant diner cafe eatery", "wine grape", "grape variety",
    "appellation region", "drink beverage", "ingredient component", "flavor taste flavour", "food cuisine",
    "flight trip journey", "trip journey travel ride tour", "travel visit trip", "airline carrier",
    "aircraft airplane plane jet", "car vehicle auto automobile", "vehicle truck van", "ship vessel boat",
    "train railway rail", "route path line", "bike bicycle cycle", "bus coach", "ticket pass", "luggage baggage",
    "attraction sight landmark", "tourist visitor", "club team", "league division conference", "goal point",
    "trainer coach", "stadium capacity arena", "mission assignment", "battle fight war", "weapon gun",
    "crime offense offence criminal", "perpetrator criminal suspect", "killed casualty death kill",
    "injured hurt injure wounded", "case incident", "court judge", "party political", "election vote poll",
    "representative delegate", "law legislation", "nominate nomination nominated",
    "phone smartphone device", "chip processor", "screen display", "memory storage ram", "color colour", "shape form",
    "material fabric", "breed species race", "species kind", "plant crop", "tree wood", "roller coaster ride",
    "gas fuel oil", "station pump", "wrestler fighter", "entrepreneur founder",
    "dorm dormitory residence", "amenity facility feature", "feature characteristic attribute property",
    "characteristic trait attribute", "superpower power ability", "hero superhero", "alignment side",
    "publisher company", "eye vision", "skin hair", "view perspective vista", "review rating comment",
    "follower follow fan", "tweet post message", "post message article", "message text mail",
    "like favorite prefer favourite", "relation relationship connection", "parent father mother", "group set",
    "list catalog catalogue", "assign allocate give", "contain include have", "support help", "use utilize usage",
    "cause reason", "language script",
    "official formal", "common popular frequent", "local regional", "foreign international overseas",
    "complete finish done", "active current valid", "inactive former old", "available free vacant",
    "full complete whole", "serve service", "operate run", "manage run lead", "work serve employ", "live reside stay",
};

/* clang-format on */

static const char GENERIC_WORDS[] = "name id identifier number code type kind value data record table column field "
                                    "entry info information detail details "
                                    "description item list row key title total count amount";

/* Words that may be half of a name written as one word, besides all abbreviations and synonyms. Also whole words that
 * only look like two halves, such as "valid" (val-id). */
static const char KNOWN_WORDS[] =
    "first last middle full user nick file home work start end birth death begin total unit sub main other line order "
    "post pre street block bed bath check foot head land class ware house hand air water fire sea sun north south east "
    "west black white red blue green high low open close time date name code count year month day title address number "
    "valid invalid mandate";

static GHashTable *table;

static struct lexeme *entry_of(const char *word)
{
    struct lexeme *entry = g_hash_table_lookup(table, word);
    if (entry) return entry;
    entry = g_new0(struct lexeme, 1);
    g_hash_table_insert(table, g_strdup(word), entry);
    return entry;
}

/* Calls `add` with each word of a line. Spaces separate the words. */
static void each_word(const char *line, void (*add)(const char *word, unsigned group), unsigned group)
{
    char word[WORD_MAX];
    while (*line) {
        size_t n = strcspn(line, " ");
        if (n && n < WORD_MAX) {
            memcpy(word, line, n);
            word[n] = '\0';
            add(word, group);
        }
        line += n + (line[n] == ' ');
    }
}

static void add_stop(const char *word, unsigned group)
{
    (void)group;
    entry_of(word)->is_stop = true;
}

static void add_generic(const char *word, unsigned group)
{
    (void)group;
    entry_of(word)->is_generic = true;
}

static void add_known(const char *word, unsigned group)
{
    (void)group;
    entry_of(word)->is_known = true;
}

static void add_synonym(const char *word, unsigned group)
{
    const struct lexeme *known = g_hash_table_lookup(table, word);
    char stem[WORD_MAX];
    if (known && known->is_stop)
        g_strlcpy(stem, word, sizeof stem); /* a stop word is its own stem */
    else
        stem_raw(known && known->base ? known->base : word, stem);
    struct lexeme *entry = entry_of(stem);
    for (unsigned i = 0; i < entry->n_groups; i++)
        if (entry->groups[i] == group) return;
    if (entry->n_groups < G_N_ELEMENTS(entry->groups)) entry->groups[entry->n_groups++] = (uint16_t)group;
}

static void build(void)
{
    table = g_hash_table_new(g_str_hash, g_str_equal);
    each_word(STOP_WORDS, add_stop, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(NUMBERS); i++) {
        struct lexeme *entry = entry_of(NUMBERS[i].word);
        entry->is_number = true;
        entry->number = NUMBERS[i].number;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(ABBREVIATIONS); i++) {
        struct lexeme *entry = entry_of(ABBREVIATIONS[i][0]);
        entry->expands_inside = ABBREVIATIONS[i][1][0] == '+';
        entry->expansion = ABBREVIATIONS[i][1] + entry->expands_inside;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(IRREGULAR); i++) entry_of(IRREGULAR[i][0])->base = IRREGULAR[i][1];
    each_word(GENERIC_WORDS, add_generic, 0);
    each_word(KNOWN_WORDS, add_known, 0);
    static_assert(G_N_ELEMENTS(SYNONYMS) < TEXT_MAX_GROUPS, "group numbers are below TEXT_MAX_GROUPS");
    for (size_t i = 0; i < G_N_ELEMENTS(SYNONYMS); i++) each_word(SYNONYMS[i], add_synonym, (unsigned)i + 1);
}

const struct lexeme *lexeme_find(const char *word)
{
    static pthread_once_t built = PTHREAD_ONCE_INIT; /* not g_once: ThreadSanitizer does not see into GLib */
    pthread_once(&built, build);
    return g_hash_table_lookup(table, word);
}
