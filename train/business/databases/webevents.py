"""Web analytics of a small software site: visitors, sessions, page views, funnel events, signups and ad costs. No
key is declared.
"""

import datetime

SCHEMA = """
CREATE TABLE sources (
  code TEXT, -- as in utm_source
  label TEXT,
  channel TEXT, -- 'search', 'social', 'mail', 'direct', 'partner'
  paid BOOLEAN
);
CREATE TABLE visitors (
  visitor_id INTEGER,
  first_seen TIMESTAMP, -- of the cookie; may lie before the first session that we kept
  device TEXT, -- 'desktop', 'mobile', 'tablet'
  country TEXT, -- ISO code; NULL: not known
  is_bot BOOLEAN -- crawlers and our own monitoring
);
CREATE TABLE sessions (
  session_id INTEGER,
  visitor_id INTEGER,
  source_code TEXT,
  started_at TIMESTAMP,
  ended_at TIMESTAMP, -- NULL: the end was never seen
  landing_path TEXT
);
CREATE TABLE page_views (
  view_id INTEGER,
  session_id INTEGER,
  path TEXT,
  viewed_at TIMESTAMP,
  load_ms INTEGER, -- milliseconds; NULL: not measured
  seconds_on_page INTEGER -- NULL: last page of the session
);
CREATE TABLE events (
  event_id INTEGER,
  session_id INTEGER,
  name TEXT, -- steps of the funnel: 'pricing', then 'form', then 'card', then 'done'; besides 'chat' and 'download'
  happened_at TIMESTAMP
);
CREATE TABLE signups (
  signup_id INTEGER,
  visitor_id INTEGER,
  session_id INTEGER, -- in which the visitor signed up
  signed_up_at TIMESTAMP,
  confirmed_at TIMESTAMP, -- NULL: mail not confirmed yet
  plan TEXT, -- 'free', 'pro', 'team'
  price_cents INTEGER -- a month; 0 for free
);
CREATE TABLE ad_costs (
  month TEXT, -- 'YYYY-MM'
  source_code TEXT,
  cost_eur NUMERIC(10,2)
);
"""

SOURCES = [
    ("google", "Google", "search", False),
    ("gads", "Google", "search", True),
    ("bing", "Bing", "search", False),
    ("fbads", "Facebook", "social", True),
    ("linkedin", "LinkedIn", "social", False),
    ("news", "Newsletter", "mail", False),
    ("direct", "Direct", "direct", False),
    ("review", "Review sites", "partner", True),
    ("podcast", "Podcast", "partner", True),
]
PATHS = ["/", "/pricing", "/features", "/blog/budget", "/blog/api_keys", "/blog/api-keys", "/docs", "/about", "/signup"]
COUNTRIES = ["DE", "DE", "DE", "AT", "CH", "FR", "US", "US", None]
PRICES = {"free": 0, "pro": 1200, "team": 4900}
STEPS = ["pricing", "form", "card", "done"]


def starts(random, first):
    """Starts of the sessions of a visitor."""
    at = first
    for _ in range(random.choice([0, 1, 1, 1, 2, 3, 4, 6])):
        if random.random() < 0.04:
            at = (at.replace(day=1) + datetime.timedelta(days=32)).replace(
                day=1, hour=0, minute=0, second=0
            ) - datetime.timedelta(seconds=30)
        if at.year > 2024:
            return
        if at.year == 2024:
            yield at
        at += datetime.timedelta(days=random.choice([0, 1, 3, 7, 12, 30, 45, 90]), minutes=random.randrange(40, 900))


def rows(random):
    seconds = lambda n: datetime.timedelta(seconds=n)
    for row in SOURCES:
        yield "sources", row
    n_sessions = n_views = n_events = n_signups = 0
    for visitor in range(1, 641):
        first = datetime.datetime(2023, 11, 15) + datetime.timedelta(
            days=random.randrange(405), seconds=random.randrange(86400)
        )
        bot = random.random() < 0.07
        yield "visitors", (
            visitor,
            first,
            random.choices(["desktop", "mobile", "tablet"], [5, 4, 1])[0],
            random.choice(COUNTRIES),
            bot,
        )
        signed = False
        for start in starts(random, first):
            n_sessions += 1
            source = random.choices([s[0] for s in SOURCES[:8]], [7, 5, 2, 4, 2, 3, 6, 2])[0]
            at, pages, landing = (
                start,
                random.choice([1, 1, 1, 2, 3, 4, 5, 8]) * (3 if bot else 1),
                random.choice(PATHS[:7]),
            )
            for page in range(pages):
                n_views += 1
                stay = None if page == pages - 1 else (1 if bot else random.choice([4, 10, 10, 25, 60, 180]))
                yield "page_views", (
                    n_views,
                    n_sessions,
                    random.choice(PATHS) if page else landing,
                    at,
                    None if random.random() < 0.08 else random.choice([180, 250, 250, 400, 900, 2600]),
                    stay,
                )
                at += seconds(stay or 5)
            yield "sessions", (n_sessions, visitor, source, start, None if random.random() < 0.1 else at, landing)
            if random.random() < 0.12:
                n_events += 1
                yield "events", (n_events, n_sessions, random.choice(["chat", "chat", "download"]), start + seconds(20))
            if bot:
                continue
            depth = random.choices([0, 1, 2, 3, 4], [9, 5, 3, 2, 3])[0]
            if depth == 4 and (signed or (start + seconds(210)).month == 8):
                depth = 3  # the last step was broken in August
            for i, step in enumerate(STEPS[:depth]):
                for _ in range(random.choice([1, 1, 1, 2]) if step != "done" else 1):  # a step may be repeated
                    n_events += 1
                    yield "events", (
                        n_events,
                        n_sessions,
                        step,
                        start + seconds(30 + 45 * i + 2 * random.randrange(40)),
                    )
            if depth == 4:
                n_signups += 1
                signed = True
                plan = random.choices(["free", "pro", "team"], [4, 4, 1])[0]
                done = start + seconds(210)
                yield "signups", (
                    n_signups,
                    visitor,
                    n_sessions,
                    done,
                    (
                        None
                        if random.random() < 0.2
                        else done + datetime.timedelta(hours=random.choice([0, 0, 1, 5, 30, 80]), minutes=7)
                    ),
                    plan,
                    PRICES[plan],
                )
    for month in range(1, 13):
        for code, cost in (("gads", 900), ("fbads", 600), ("review", 250), ("podcast", 400)):
            if code == "fbads" and month in (6, 7):
                continue  # the campaign was paused
            yield "ad_costs", (f"2024-{month:02}", code, cost + random.choice([0, 50, 50, 120.5]))
