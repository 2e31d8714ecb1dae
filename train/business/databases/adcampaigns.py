"""An advertising agency: advertisers, campaigns with budgets, ads, daily statistics and conversions. No key is
declared.
"""

import datetime

SCHEMA = """
CREATE TABLE advertiser (
  advertiserId INTEGER,
  companyName TEXT,
  industry TEXT, -- NULL: not classified
  countryCode TEXT,
  accountManager INTEGER, -- employeeId
  salesRep INTEGER, -- employeeId of who won the client
  isInternal INTEGER -- 1: our own house account
);
CREATE TABLE employee (
  employeeId INTEGER,
  fullName TEXT,
  team TEXT
);
CREATE TABLE campaign (
  campaignId INTEGER,
  advertiserId INTEGER,
  campaignName TEXT,
  channel TEXT, -- search, social, video, display
  goal TEXT,
  startDate DATE,
  endDate DATE, -- planned last day; NULL: open end
  state TEXT -- draft, running, paused, ended
);
CREATE TABLE budget (
  budgetId INTEGER,
  campaignId INTEGER,
  validFrom DATE,
  validTo DATE, -- last day; NULL: until further notice
  dailyMicros BIGINT -- millionths of a euro a day
);
CREATE TABLE ad (
  adId INTEGER,
  campaignId INTEGER,
  headline TEXT,
  format TEXT,
  createdOn DATE,
  rejectedOn DATE, -- NULL: accepted
  deletedOn DATE -- NULL: not deleted
);
CREATE TABLE dailyStat (
  adId INTEGER,
  statDate DATE,
  device TEXT,
  impressions INTEGER,
  clicks INTEGER,
  spendMicros BIGINT
);
CREATE TABLE conversion (
  conversionId INTEGER,
  adId INTEGER,
  clickDate DATE, -- day of the click it goes back to
  convDate DATE, -- day of the conversion
  convType TEXT,
  valueCents INTEGER -- NULL: no value known
);
"""

CHANNELS = ["search", "search", "social", "video", "display"]
FORMATS = {
    "search": ["text"],
    "social": ["image", "carousel", "story"],
    "video": ["clip", "bumper"],
    "display": ["image", "html"],
}
WORDS = ["Solar", "Alpine", "Urban", "Nord", "Velo", "Bella", "Terra"]
KINDS = ["Foods", "Travel", "Bank", "Shoes", "Energy"]
FIRST, LAST = ["Nina", "Tom", "Sara", "Luis", "Petra"], ["Wolf", "Marin", "Berg", "Costa"]
DAY = datetime.timedelta(days=1)
LAST_DAY = datetime.date(2024, 12, 31)


def budgets(random, start, end):
    """(from, to, micros) of the budgets of a campaign, sometimes with a gap."""
    day, amount = start, random.choice([5, 10, 20, 20, 50, 120]) * 1000000
    for part in range(random.choice([0, 1, 1, 2, 3])):
        to = day + DAY * random.randrange(20, 80)
        if end and to >= end or part == 2:
            to = end
        yield day, to, amount
        if to == end:
            return
        day, amount = to + DAY * random.choice([1, 1, 1, 6]), amount * random.choice([1, 2, 3]) // 2


def rows(random):
    for i in range(1, 21):
        yield "employee", (
            i,
            f"{random.choice(FIRST)} {random.choice(LAST)}",
            random.choice(["Sales", "Accounts", "Accounts", "Creative"]),
        )
    for i in range(1, 46):
        kind = random.choice(KINDS)
        yield "advertiser", (
            i,
            f"{random.choice(WORDS)} {kind}",
            kind if random.random() < 0.85 else None,
            random.choice(["DE", "AT", "AT", "CH", "IT"]),
            random.randrange(1, 15),
            random.randrange(1, 15),
            int(i % 22 == 0),
        )
    n_budget = n_ad = n_conversion = 0
    for campaign in range(1, 151):
        channel, start = random.choice(CHANNELS), datetime.date(2023, 1, 1) + DAY * random.randrange(690)
        end = start + DAY * random.choice([13, 29, 29, 60, 89, 180]) if random.random() < 0.8 else None
        state = (
            "draft"
            if random.random() < 0.06
            else "ended" if end and end < LAST_DAY else random.choice(["running", "running", "paused"])
        )
        name = f"{random.choice(['Spring', 'Summer', 'Brand', 'Launch', 'Sale'])} {channel}"
        yield "campaign", (
            campaign,
            random.randrange(1, 41),
            name,
            channel,
            random.choice(["sales", "leads", "awareness"]),
            start,
            end,
            state,
        )
        for first, last, micros in budgets(random, start, end):
            n_budget += 1
            yield "budget", (n_budget, campaign, first, last, micros)
        for _ in range(random.choice([0, 1, 2, 2, 3, 4])):
            n_ad += 1
            rejected = start + DAY if random.random() < 0.08 else None
            deleted = start + DAY * random.randrange(5, 60) if random.random() < 0.12 else None
            yield "ad", (
                n_ad,
                campaign,
                f"{random.choice(['Save now', 'Discover', 'Only today', 'New in', 'Try it'])} {n_ad % 7 + 1}",
                random.choice(FORMATS[channel]),
                start - DAY * random.randrange(0, 10),
                rejected,
                deleted,
            )
            if rejected or state == "draft":
                continue
            rate = random.choice([0.005, 0.01, 0.02, 0.04])
            day, last = start, min(d for d in (end, deleted, LAST_DAY, start + 150 * DAY) if d)
            while day <= last:
                if (day.year, day.month) != (2023, 2):  # nothing ran in February 2023
                    for device in random.sample(["mobile", "desktop", "tablet"], random.choice([1, 1, 2])):
                        shown = random.choice([0, 120, 400, 400, 1500, 5200])
                        clicks = (
                            sum(random.random() < rate for _ in range(shown // 20)) * 20 // random.choice([1, 2, 4])
                            if shown
                            else 0
                        )
                        yield "dailyStat", (
                            n_ad,
                            day,
                            device,
                            shown,
                            clicks,
                            shown * random.choice([1500, 2500, 4000]) + clicks * 150000,
                        )
                        for _ in range(min(2, sum(random.random() < 0.04 for _ in range(clicks)))):
                            n_conversion += 1
                            kind = random.choices(["purchase", "signup", "call"], [5, 4, 1])[0]
                            yield "conversion", (
                                n_conversion,
                                n_ad,
                                day,
                                day + DAY * random.choice([0, 0, 1, 3, 9, 31]),
                                kind,
                                random.choice([1990, 4900, 4900, 12900, None]) if kind == "purchase" else None,
                            )
                day += DAY * random.choice([1, 1, 1, 2, 5])
