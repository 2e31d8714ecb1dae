"""CRM of a software vendor: accounts, contacts, deals with the history of their stages, activities, owners with
targets. No key is declared; every table calls its key id. Days are DATE.
"""

import datetime

SCHEMA = """
CREATE TABLE owners (
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  team TEXT NOT NULL,
  hired_on DATE NOT NULL,
  left_on DATE -- NULL: still with us
);
CREATE TABLE accounts (
  id INTEGER NOT NULL,
  name TEXT NOT NULL, -- not unique
  industry TEXT, -- NULL: unknown
  country TEXT NOT NULL, -- ISO code
  employees INTEGER, -- NULL: unknown
  owner_id INTEGER, -- owners.id; NULL: nobody looks after it
  parent_id INTEGER, -- accounts.id of the group; NULL: none
  created_on DATE NOT NULL,
  deleted_on DATE -- NULL: live
);
CREATE TABLE contacts (
  id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT, -- NULL: none known
  role TEXT NOT NULL, -- buyer, user, champion, legal
  opted_out BOOLEAN NOT NULL -- no mailings
);
CREATE TABLE deals (
  id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  contact_id INTEGER, -- NULL: not known yet
  owner_id INTEGER NOT NULL, -- who sells it
  created_by INTEGER NOT NULL, -- owners.id of who found it
  amount NUMERIC(12,2), -- euros; NULL: not quoted yet
  stage TEXT NOT NULL, -- the stage now: lead, qualified, proposal, negotiation, won, lost
  source TEXT NOT NULL,
  created_on DATE NOT NULL,
  expected_on DATE NOT NULL, -- planned close
  closed_on DATE, -- won or lost on; NULL: still open
  lost_reason TEXT -- NULL: not lost, or nobody wrote it down
);
CREATE TABLE deal_stages (
  id INTEGER NOT NULL,
  deal_id INTEGER NOT NULL,
  stage TEXT NOT NULL,
  entered_on DATE NOT NULL,
  left_on DATE -- NULL: the deal is in this stage
);
CREATE TABLE activities (
  id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  deal_id INTEGER, -- NULL: not about a deal
  contact_id INTEGER,
  owner_id INTEGER NOT NULL,
  kind TEXT NOT NULL, -- call, email, meeting, demo
  due_on DATE NOT NULL,
  done_on DATE, -- NULL: not done
  minutes INTEGER -- NULL: not done or not noted
);
CREATE TABLE targets (
  id INTEGER NOT NULL,
  owner_id INTEGER NOT NULL,
  quarter TEXT NOT NULL, -- like 2024-Q1
  amount NUMERIC(12,2) NOT NULL -- thousand euros
);
"""

OWNERS = [
    ("Tom Berg", "north"),
    ("Sara Lind", "north"),
    ("Omar Aziz", "north"),
    ("Eva Klein", "south"),
    ("Jan Kraus", "south"),
    ("Mia Costa", "south"),
    ("Leo Park", "enterprise"),
    ("Nina Roth", "enterprise"),
    ("Tom Berg", "enterprise"),
    ("Ada Fuchs", "partners"),
]  # two owners are called Tom Berg; partners sell nothing
INDUSTRIES = ["retail", "retail", "banking", "energy", "health", "software", None]
WORDS = [
    ["Alpine", "Baltic", "Crown", "Delta", "Echo", "Falcon", "Granite", "Helix"],
    ["Foods", "Energy", "Bank", "Clinics", "Systems", "Stores"],
]
STAGES = ["lead", "qualified", "proposal", "negotiation"]
SOURCES = ["inbound", "inbound", "referral", "cold call", "event", "partner"]
REASONS = ["price", "price", "competitor", "no budget", "timing", None]
LAST_DAY = datetime.date(2024, 12, 31)


def history(random, day):
    """((stage, entered, left), ...) of a deal created on a day; a left of None is the stage now."""
    out, how = [], random.random()
    n_stages = random.choice([1, 2, 3, 4]) if how < 0.55 else 4
    for i, stage in enumerate(STAGES[:n_stages]):
        if stage == "proposal" and random.random() < 0.15:
            continue  # some deals skip the proposal
        left = day + datetime.timedelta(days=random.choice([0, 3, 7, 14, 21, 30, 45, 60]))
        if left.month == 8 and left.year == 2024:
            left = left.replace(month=9, day=min(left.day, 30))  # no stage changes in August 2024
        if left > LAST_DAY or (i == n_stages - 1 and how < 0.18):
            return out + [(stage, day, None)]
        out.append((stage, day, left))
        if stage == "negotiation" and random.random() < 0.12:  # the deal returns to the proposal
            back = left + datetime.timedelta(days=5)
            if back <= LAST_DAY and back.month != 8:
                out.append(("proposal", left, back))
                left = back
        day = left
    return out + [("lost" if how < 0.55 else "won", day, None)]


def rows(random):
    for i, (name, team) in enumerate(OWNERS, 1):
        yield "owners", (
            i,
            name,
            team,
            datetime.date(2020 + i % 4, 1 + i, 1),
            datetime.date(2024, 5, 31) if i == 3 else None,
        )
    n_contacts = n_deals = n_stages = n_activities = 0
    for account in range(1, 301):
        created = datetime.date(2022, 1, 1) + datetime.timedelta(days=random.randrange(900))
        yield "accounts", (
            account,
            " ".join(random.choice(w) for w in WORDS),
            random.choice(INDUSTRIES),
            random.choice(["DE", "DE", "FR", "NL", "PL", "US"]),
            random.choice([None, 20, 50, 50, 120, 400, 1000, 5000]),
            random.choice([None, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
            random.randrange(1, account) if account > 20 and random.random() < 0.2 else None,
            created,
            created + datetime.timedelta(days=400) if random.random() < 0.05 else None,
        )
        people = []
        for _ in range(random.choice([0, 1, 1, 2, 3, 4])):
            n_contacts += 1
            people.append(n_contacts)
            first, last = random.choice(["Amy", "Bo", "Cem", "Dana", "Erik", "Fay"]), random.choice(
                ["Hall", "Ito", "Jensen", "Kurz", "Lopez", "Meyer"]
            )
            yield "contacts", (
                n_contacts,
                account,
                first,
                last,
                f"{first.lower()}{n_contacts}@example.com" if random.random() < 0.85 else None,
                random.choice(["buyer", "user", "user", "champion", "legal"]),
                random.random() < 0.15,
            )
        for _ in range(random.choice([0, 1, 1, 2, 3, 5])):
            day = created + datetime.timedelta(days=random.randrange(0, 700))
            if day > LAST_DAY:
                continue
            n_deals += 1
            seller, steps = random.choices(range(1, 10), [6, 6, 4, 5, 5, 2, 4, 3, 1])[0], history(random, day)
            stage, last, _ = steps[-1]
            closed = last if stage in ("won", "lost") else None
            amount = random.choice([5000, 8000, 12000, 12000, 20000, 35000, 60000, 150000]) + random.choice(
                [0, 0, 250.5, 990]
            )
            yield "deals", (
                n_deals,
                account,
                random.choice(people + [None]),
                seller,
                seller if random.random() < 0.6 else random.randrange(1, 11),
                (
                    None
                    if stage in ("lead", "qualified")
                    and random.random() < 0.5
                    or stage == "lost"
                    and random.random() < 0.1
                    else amount
                ),
                stage,
                random.choice(SOURCES),
                day,
                day + datetime.timedelta(days=random.choice([30, 60, 90, 120])),
                closed,
                random.choice(REASONS) if stage == "lost" else None,
            )
            for step in steps:
                n_stages += 1
                yield "deal_stages", (n_stages, n_deals, *step)
            for _ in range(random.choice([0, 1, 2, 3, 4, 6])):
                n_activities += 1
                yield activity(
                    random,
                    n_activities,
                    account,
                    n_deals,
                    people,
                    seller if random.random() < 0.8 else random.randrange(1, 10),
                    day,
                )
        for _ in range(random.choice([0, 0, 1, 2])):
            n_activities += 1
            yield activity(random, n_activities, account, None, people, random.randrange(1, 11), created)
    for i in range(72):
        yield "targets", (i + 1, i % 9 + 1, f"{2023 + i // 36}-Q{i // 9 % 4 + 1}", random.choice([40, 60, 60, 80, 100]))


def activity(random, number, account, deal, people, owner, first):
    """The row of an activity in the 150 days after a day."""
    due = first + datetime.timedelta(days=random.randrange(150))
    done = due + datetime.timedelta(days=random.choice([-2, 0, 0, 0, 1, 3, 9])) if random.random() < 0.8 else None
    return "activities", (
        number,
        account,
        deal,
        random.choice(people + [None]),
        owner,
        random.choice(["call", "call", "email", "email", "meeting", "demo"]),
        due,
        done,
        random.choice([5, 15, 30, 30, 60, 90, None]) if done else None,
    )
