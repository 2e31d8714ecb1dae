"""A city library: books and their copies, loans, reservations, members, branches and fines. Half of the keys are
declared.
"""

import datetime

SCHEMA = """
CREATE TABLE branch (
  branch_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  opened_on DATE NOT NULL
);
CREATE TABLE book (
  book_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL, -- not unique
  author TEXT, -- NULL: anonymous
  genre TEXT NOT NULL, -- novel, crime, travel, history, children, poetry
  year INTEGER, -- of first publication; NULL: unknown
  pages INTEGER NOT NULL
);
CREATE TABLE copy (
  copy_id INTEGER PRIMARY KEY,
  book_id INTEGER NOT NULL REFERENCES book (book_id),
  branch_id INTEGER NOT NULL, -- where it stands
  bought_on DATE NOT NULL,
  price_cents INTEGER,
  withdrawn_on DATE -- NULL: in stock
);
CREATE TABLE member (
  member_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  category TEXT NOT NULL CHECK (category IN ('adult', 'child', 'student', 'staff')),
  home_branch INTEGER, -- NULL: registered online
  joined_on DATE NOT NULL,
  left_on DATE -- NULL: still a member
);
CREATE TABLE loan (
  loan_id INTEGER PRIMARY KEY,
  copy_id INTEGER NOT NULL,
  member_id INTEGER NOT NULL REFERENCES member (member_id),
  lent_on DATE NOT NULL,
  due_on DATE NOT NULL, -- after all renewals
  returned_on DATE, -- NULL: still out
  renewals INTEGER NOT NULL
);
CREATE TABLE reservation (
  res_id INTEGER,
  book_id INTEGER NOT NULL, -- any copy will do
  member_id INTEGER NOT NULL,
  placed_at TEXT NOT NULL, -- ISO 8601, local: 2024-05-31T23:59
  ready_at TEXT, -- ISO 8601; NULL: not ready (yet)
  status TEXT NOT NULL -- waiting, ready, fetched, expired, cancelled
);
CREATE TABLE fine (
  fine_id INTEGER,
  loan_id INTEGER NOT NULL,
  issued_on DATE NOT NULL,
  amount_cents INTEGER NOT NULL,
  reason TEXT NOT NULL, -- late, damage, lost
  paid_on DATE, -- NULL: not paid
  waived BOOLEAN NOT NULL -- let off: need not be paid
);
"""

BRANCHES = ["Central", "Riverside", "Northgate", "Mill Lane", "Bookbus"]  # the Bookbus has no copies yet
GENRES = ["novel", "novel", "crime", "travel", "history", "children"]  # poetry is no longer bought
ADJECTIVES = ["Silent", "Golden", "Last", "Hidden", "Broken", "Wide"]
NOUNS = ["River", "Garden", "Winter", "Letter", "Island", "Tower", "Road"]
AUTHORS = ["A. Brandt", "C. Duval", "E. Fox", "G. Hale", "I. Jansen", "K. Lund", "M. Noor", None]
NAMES = ["Ada", "Bo", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana"]
FAMILIES = ["Abel", "Bauer", "Chan", "Diaz", "Evans", "Faber"]
START, END = datetime.date(2022, 1, 1), datetime.date(2024, 12, 31)
CLOSED = (2023, 8)  # repairs: no loans in August 2023


def day(random, first, last):
    return first + datetime.timedelta(days=random.randrange((last - first).days + 1))


def stamp(random, date):
    return f"{date.isoformat()}T{random.choice(['08:15', '12:30', '17:45', '21:10', '23:59'])}"


def rows(random):
    for i, name in enumerate(BRANCHES, 1):
        yield "branch", (i, name, datetime.date(1990 + 6 * i, 3, 1))
    books = 260
    for i in range(1, books + 1):
        yield "book", (
            i,
            f"{random.choice(ADJECTIVES)} {random.choice(NOUNS)}",
            random.choice(AUTHORS),
            random.choice(GENRES) if i % 40 else "poetry",
            random.randrange(1930, 2024) if random.random() < 0.92 else None,
            10 * random.randrange(6, 80),
        )
    copies = {}
    for book in range(1, books + 1):
        for _ in range(random.choice([0, 1, 1, 2, 2, 3, 5])):
            bought = day(random, datetime.date(2015, 1, 1), datetime.date(2024, 9, 30))
            gone = (
                day(random, datetime.date(2024, 2, 1), datetime.date(2024, 12, 1))
                if random.random() < 0.08 and bought.year < 2024
                else None
            )
            copies[len(copies) + 1] = book, bought, gone
            yield "copy", (
                len(copies),
                book,
                random.choices([1, 2, 3, 4], [5, 3, 2, 2])[0],
                bought,
                random.choice([None, 899, 1290, 1290, 1850, 2400, 3200]),
                gone,
            )
    members = {}
    for i in range(1, 301):
        joined = day(random, datetime.date(2018, 1, 1), datetime.date(2024, 10, 31))
        left = day(random, datetime.date(2023, 6, 1), END) if i % 13 == 0 and joined.year < 2023 else None
        members[i] = joined, left
        yield "member", (
            i,
            f"{random.choice(NAMES)} {random.choice(FAMILIES)}",
            random.choices(["adult", "child", "student", "staff"], [6, 3, 3, 1])[0],
            random.choice([1, 1, 2, 3, 4, None]),
            joined,
            left,
        )
    n_loans = n_fines = 0
    for copy, (book, bought, gone) in copies.items():
        at = max(bought, START) + datetime.timedelta(days=random.randrange(80))
        while at < (gone or END):
            open_to = [
                m for m in random.sample(range(1, 271), 12) if members[m][0] <= at and (members[m][1] or END) > at
            ]  # members from 271 on never borrow
            if open_to and (at.year, at.month) != CLOSED:
                n_loans += 1
                renewals = random.choice([0, 0, 0, 1, 1, 2, 3])
                due = at + datetime.timedelta(days=21 * (1 + renewals))
                back = at + datetime.timedelta(
                    days=random.randrange(2, 21 * (1 + renewals) + random.choice([1, 1, 40]))
                )
                if gone and back > gone:
                    back = gone
                out = back > END or random.random() < 0.006
                yield "loan", (n_loans, copy, open_to[0], at, due, None if out else back, renewals)
                late = min(back, END) > due
                for reason in (
                    ["late"] * (late and random.random() < 0.9)
                    + ["damage"] * (random.random() < 0.03)
                    + ["lost"] * (out and back < END and random.random() < 0.6)
                ):
                    n_fines += 1
                    issued = min(max(back, at), END)
                    amount = {
                        "late": 20 * max((issued - due).days, 1),
                        "damage": random.choice([500, 1000, 1000]),
                        "lost": 2500,
                    }[reason]
                    state = random.choices(["paid", "open", "waived"], [6, 3, 1])[0]
                    yield "fine", (
                        n_fines,
                        n_loans,
                        issued,
                        amount,
                        reason,
                        (
                            min(issued + datetime.timedelta(days=random.randrange(0, 60)), END)
                            if state == "paid"
                            else None
                        ),
                        state == "waived",
                    )
                if out:
                    break
                at = back
            at += datetime.timedelta(days=random.randrange(3, 110))
    for i in range(1, 701):
        member = random.randrange(1, 290)
        placed = day(random, max(members[member][0], START), END)
        status = random.choices(
            ["fetched", "expired", "cancelled", "waiting", "ready"],
            [10, 3, 2, 3, 1] if placed > datetime.date(2024, 10, 1) else [10, 3, 2, 0, 0],
        )[0]
        ready = (
            placed + datetime.timedelta(days=random.randrange(0, 45))
            if status in ("fetched", "expired", "ready")
            else None
        )
        if ready and ready > END:
            ready, status = None, "waiting"
        yield "reservation", (
            i,
            random.choice([random.randrange(1, books + 1), random.randrange(1, 30)]),
            member,
            stamp(random, placed),
            stamp(random, ready)[:11] + "09:00" if ready else None,
            status,
        )
