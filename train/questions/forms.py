"""What analytic templates share: periods, measures, kinds of rows, and the forms of SQL that say the same thing."""

import collections, copy, datetime

from questions.ask import *
from questions.of_pair import joined

NOT_SUMMED = re.compile(
    r"\b(age|height|weight|rank\w*|ratings?|score|position|place|lat|long|lng|level|rate|percent\w*|pct|gpa|grade\w*|"
    r"year|advisor|major|d?phone|room|classroom|sequence|round|temperature|speed|dnum|series|season|elevation|"
    r"resolution|share|hour|hr|min|max|aperture|date|order|time|omim|stories|crime|founded|built|opened|launch|elected|"
    r"average|trust|length|divergence|per)\b"
)
NOT_A_FIGURE = re.compile(
    r"\b(lat|long|lng|advisor|major|d?phone|room|classroom|sequence|dnum|omim|date|auth order|end hr|end min)\b"
)
NOT_A_KIND = re.compile(
    r"detail|descri|address|street|mail|phone|comment|note|date|time|initial|first name|last name|hours|slots"
)
TOTAL = ["total", "combined", "summed", "overall"]
QUARTER = "strftime('%Y', {0}) || '-Q' || ((strftime('%m', {0}) + 2) / 3)"
PARTS = {
    "year": ["strftime('%Y', {0})", "substr({0}, 1, 4)"],
    "quarter": [QUARTER],
    "month": ["strftime('%Y-%m', {0})", "substr({0}, 1, 7)"],
    "day": ["date({0})", "substr({0}, 1, 10)"],
}


def amounts(t):
    """Numbers that it makes sense to add up."""
    return [x for x in numbers(t) if not x.n_null and not NOT_SUMMED.search(x.words)]


def figures(t):
    """Numbers that it makes sense to compare and to average."""
    return [x for x in numbers(t) if not x.n_null and not NOT_A_FIGURE.search(x.words)]


def dates(t):
    return [c for c in t.of("is_date") if len(c.distinct) > 2 and not c.n_null]


def kinds(t):
    """What rows are put together by: categories, and codes that have few values."""
    codes = [
        c for c in t.columns if c.is_text and c.name.lower().endswith("code") and len(c.distinct) <= 0.7 * len(c.values)
    ]
    found = [c for c in t.of("is_category") + codes if not c.n_null and 1 < len(c.distinct) <= 30]
    out = [copy.copy(c) for c in found if not NOT_A_KIND.search(c.words) and all(0 < len(v) <= 24 for v in c.distinct)]
    for c in out:
        c.words = re.sub(r" code$", "", words_of(c.name) if c.words == "code" else c.words)
    return out


def named(a, t):
    """The columns that tell rows apart and what people call them: a name, or the key where there is none."""
    label = t.label()
    if label:
        return label, a.single(t)
    (key,) = t.key
    return [key], f"{a.single(t)} {key.words}"


def total_of(words, total="total"):
    return words if words.startswith("total") else f"{total} {words}"


def common(a, column):
    """A value that more than one row has."""
    counts = collections.Counter(column.values)
    return a.one([v for v in column.distinct if counts[v] > 1])


def part(value, unit):
    """The period that a date lies in, for counting how many there are."""
    if unit == "quarter":
        return value[:4], (int(value[5:7]) + 2) // 3
    return value[: {"year": 4, "month": 7, "day": 10}[unit]]


class Period:
    """Rows put together by a unit of time of a date, or by a year that a column holds."""

    def __init__(self, a, column, unit):
        self.column, self.unit = column, unit
        says = re.sub(r"^date (?!of|and|in)(.*)", r"\1 date", column.words)
        says = a.say(re.sub(r"\bfrom date$", "start date", re.sub(r"\bto date$", "end date", says)))
        self.date, self.ly = says, {"day": "daily"}.get(unit, unit + "ly")
        self.by = f"{unit} of {says}" if column.is_date else says if "year" in says else f"{says} year"
        self.part = a.one(PARTS[unit]) if column.is_date else "{0}"

    def sql(self, of=""):
        return self.part.format(of + self.column.sql)


def span(a, t, least=3, most=60, units=("day", "month", "quarter", "year"), busy=False):
    """A period that the rows of a table spread over; a busy one has several rows in some of its periods."""
    fits = [
        (c, u)
        for c in dates(t)
        for u in units
        if least <= len({part(v, u) for v in c.distinct}) <= min(most, len(c.values) * (0.8 if busy else 1))
    ]
    if "year" in units:
        fits += [
            (c, "year")
            for c in t.of("is_year")
            if not c.n_null and least <= len(c.distinct) <= min(most, len(c.values) * (0.8 if busy else 1))
        ]
    return Period(a, *a.one(fits))


# What is counted or summed up: its words, a question for it, the right SQL and wrong SQL.
Measure = collections.namedtuple("Measure", "words ask sql others column")


def measure(a, t, many, of=""):
    """The number of rows or the sum of an amount."""
    found = amounts(t)
    if not found or a.rng.random() < 0.35:
        others = [f"SUM({of}{x.sql})" for x in found[:1]] + [f"COUNT(DISTINCT {of}{x.sql})" for x in kinds(t)[:1]]
        return Measure(f"number of {many}", f"how many {many} are there", "COUNT(*)", others, None)
    x = a.one(found)
    says = a.say(x.words)
    words = f"{total_of(says, a.one(TOTAL))} of {many}"
    others = [f"AVG({of}{x.sql})", "COUNT(*)", f"MAX({of}{x.sql})"]
    return Measure(words, f"what is the {words}", f"SUM({of}{x.sql})", others, x)


def upon(a, inner, select, rest="", name="x"):
    """A query upon another one, which is a CTE or a derived table."""
    if a.rng.random() < 0.5:
        return f"WITH {name} AS ({inner}) SELECT {select} FROM {name}{rest}"
    return f"SELECT {select} FROM ({inner}) AS {name}{rest}"


def hits(a, condition):
    """The number of rows for which a condition holds."""
    return a.one(
        [
            f"COUNT(CASE WHEN {condition} THEN 1 END)",
            f"SUM(CASE WHEN {condition} THEN 1 ELSE 0 END)",
            f"COUNT(*) FILTER (WHERE {condition})",
            f"SUM({condition})",
            f"SUM(IIF({condition}, 1, 0))",
        ]
    )


def sum_where(a, column, condition):
    """The sum of a column over the rows for which a condition holds, 0 where there is none."""
    return a.one(
        [
            f"SUM(CASE WHEN {condition} THEN {column} ELSE 0 END)",
            f"COALESCE(SUM({column}) FILTER (WHERE {condition}), 0)",
            f"SUM(IIF({condition}, {column}, 0))",
            f"SUM({column} * ({condition}))",
        ]
    )


def mean_where(a, column, condition):
    return a.one([f"AVG(CASE WHEN {condition} THEN {column} END)", f"AVG({column}) FILTER (WHERE {condition})"])


def percent(a, some, whole):
    """Some of a whole in percent, never by a division of whole numbers."""
    return a.one([f"100.0 * {some} / {whole}", f"{some} * 100.0 / {whole}", f"CAST({some} AS REAL) / {whole} * 100"])


def an(words):
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def day_after(day, n=1):
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=n)).isoformat()


def within(a, ref, first, after):
    """A date on or after the first day and before another one."""
    last = day_after(after, -1)
    return a.one(
        [
            f"{ref} >= '{first}' AND {ref} < '{after}'",
            f"date({ref}) BETWEEN '{first}' AND '{last}'",
            f"date({ref}) >= '{first}' AND date({ref}) <= '{last}'",
            f"substr({ref}, 1, 10) BETWEEN '{first}' AND '{last}'",
            f"NOT ({ref} < '{first}' OR {ref} >= '{after}')",
        ]
    )


def in_order(a, made, by, columns="1"):
    """A question with its queries, at times with the rows sorted by their first columns."""
    q, right, slips = made
    if a.rng.random() < 0.6:
        return made
    q += a.one([f" Sort by {by}.", f" Order the rows by {by}."]) if q[-1] in ".?" else f", sorted by {by}"
    return q, f"{right} ORDER BY {columns}", [f"{s} ORDER BY {columns}" for s in slips]


def told(a, ways):
    """One of several ways to ask, at times in the short words of a note."""
    q = a.one(ways)
    if a.rng.random() < 0.12:
        for word, short in SHORT.items():
            q = re.sub(rf"\b{word}\b", short, q)
    return q
