"""A group of restaurants: branches, tables, reservations, orders with voids and comps, shifts, tips. Foreign keys are
declared. Prices are in cents, tips in euros. All branches were closed in August 2024.
"""

import datetime

SCHEMA = """
CREATE TABLE branch (
  branch_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- two branches may share a name
  city TEXT NOT NULL,
  opened_on DATE NOT NULL, -- may lie in the future
  closed_on DATE -- NULL: not given up
);
CREATE TABLE seating ( -- a table in a dining room
  table_id INTEGER PRIMARY KEY,
  branch_id INTEGER NOT NULL REFERENCES branch (branch_id),
  label TEXT NOT NULL, -- unique within a branch
  seats INTEGER NOT NULL,
  area TEXT NOT NULL CHECK (area IN ('inside', 'terrace', 'bar')),
  removed_on DATE -- NULL: still there
);
CREATE TABLE staff (
  staff_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  job TEXT NOT NULL CHECK (job IN ('waiter', 'cook', 'bartender', 'manager')),
  home_branch INTEGER NOT NULL REFERENCES branch (branch_id),
  mentor_id INTEGER REFERENCES staff (staff_id), -- NULL: has no mentor
  hourly_cents INTEGER NOT NULL,
  hired_on DATE NOT NULL,
  left_on DATE -- NULL: still employed
);
CREATE TABLE guest (
  guest_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  phone TEXT, -- NULL: not given
  is_regular BOOLEAN NOT NULL
);
CREATE TABLE reservation (
  res_id INTEGER PRIMARY KEY,
  branch_id INTEGER NOT NULL REFERENCES branch (branch_id),
  guest_id INTEGER NOT NULL REFERENCES guest (guest_id),
  table_id INTEGER REFERENCES seating (table_id), -- NULL: no table assigned
  made_at TIMESTAMP NOT NULL,
  for_at TIMESTAMP NOT NULL, -- when the party wants to sit down
  party_size INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('booked', 'seated', 'no_show', 'cancelled', 'waitlist')),
  deposit_cents INTEGER, -- NULL: none asked
  taken_by INTEGER REFERENCES staff (staff_id) -- NULL: made online
);
CREATE TABLE dish (
  dish_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  vegetarian BOOLEAN NOT NULL,
  delisted_on DATE -- NULL: on the menu
);
CREATE TABLE menu_price (
  dish_id INTEGER NOT NULL REFERENCES dish (dish_id),
  valid_from DATE NOT NULL,
  valid_to DATE, -- last day; NULL: current price
  price_cents INTEGER NOT NULL,
  PRIMARY KEY (dish_id, valid_from)
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  branch_id INTEGER NOT NULL REFERENCES branch (branch_id),
  table_id INTEGER REFERENCES seating (table_id), -- NULL: takeaway
  res_id INTEGER REFERENCES reservation (res_id), -- NULL: walk-in
  waiter_id INTEGER NOT NULL REFERENCES staff (staff_id),
  opened_at TIMESTAMP NOT NULL,
  closed_at TIMESTAMP, -- NULL: never closed
  guests INTEGER NOT NULL
);
CREATE TABLE order_line (
  line_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  dish_id INTEGER NOT NULL REFERENCES dish (dish_id),
  qty INTEGER NOT NULL,
  unit_cents INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('ok', 'void', 'comp')), -- ok charged, void by mistake, comp on the house
  reason TEXT, -- of a void or comp; NULL: not noted
  approved_by INTEGER REFERENCES staff (staff_id) -- of a void or comp
);
CREATE TABLE payment (
  pay_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  paid_at TIMESTAMP NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('card', 'cash', 'voucher')),
  amount_cents INTEGER NOT NULL -- without tips
);
CREATE TABLE tip (
  tip_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  staff_id INTEGER NOT NULL REFERENCES staff (staff_id), -- who got it, not always the waiter of the order
  amount_eur NUMERIC(6,2) NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('card', 'cash'))
);
CREATE TABLE shift (
  shift_id INTEGER PRIMARY KEY,
  staff_id INTEGER NOT NULL REFERENCES staff (staff_id),
  branch_id INTEGER NOT NULL REFERENCES branch (branch_id), -- may differ from the home branch
  planned_start TIMESTAMP NOT NULL,
  planned_end TIMESTAMP NOT NULL,
  clock_in TIMESTAMP, -- NULL: did not turn up
  clock_out TIMESTAMP, -- NULL: did not turn up or forgot to clock out
  break_min INTEGER NOT NULL -- unpaid
);
"""

D, T = datetime.date, datetime.timedelta
BRANCHES = [
    ("Markthalle", "Graz", D(2015, 3, 2), None),
    ("Markthalle", "Linz", D(2018, 9, 1), None),
    ("Zum Anker", "Linz", D(2012, 5, 15), D(2024, 10, 31)),
    ("Gleis 9", "Wien", D(2020, 2, 20), None),
    ("Donaublick", "Wien", D(2023, 11, 1), None),
    ("Stadtgarten", "Graz", D(2024, 4, 1), None),
    ("Seeterrasse", "Bregenz", D(2025, 6, 1), None),
]  # Seeterrasse has no orders yet
DISHES = [  # name, category, vegetarian, price in cents, delisted
    ("Tomato soup", "starter", True, 640, None),
    ("Beef broth", "starter", False, 590, None),
    ("Goat cheese salad", "starter", True, 1180, None),
    ("Tafelspitz", "main", False, 2450, None),
    ("Wiener Schnitzel", "main", False, 2290, None),
    ("Mushroom risotto", "main", True, 1690, None),
    ("Spinach dumplings", "main", True, 1540, None),
    ("Trout", "main", False, 2190, None),
    ("Asparagus plate", "main", True, 1790, None),  # seasonal, so its prices have gaps
    ("Venison ragout", "main", False, 2390, D(2024, 7, 31)),
    ("Apple strudel", "dessert", True, 690, None),
    ("Sachertorte", "dessert", True, 720, None),
    ("Curd dumplings", "dessert", True, 840, D(2024, 12, 31)),
    ("Veltliner glass", "drink", True, 490, None),
    ("Lager 0.5", "drink", True, 520, None),
    ("Espresso", "drink", True, 290, None),
    ("Tasting menu", "special", False, 7900, None),  # never ordered
]
FIRST = ["Anna", "Jonas", "Mira", "Lukas", "Eva", "Paul", "Sofia", "Emil", "Nora", "Felix"]
LAST = ["Huber", "Gruber", "Wagner", "Pichler", "Moser", "Leitner", "Berger", "Fuchs"]
VOID = ["wrong table", "keyed twice", None]
COMP = ["long wait", "complaint", "birthday", None]
FIRST_DAY, LAST_DAY = D(2024, 1, 1), D(2025, 3, 31)


def prices():
    """(dish, from, to, cents) of the price list; a rise in April 2024 and another in January 2025."""
    for dish, (name, _, _, cents, delisted) in enumerate(DISHES, 1):
        if name == "Asparagus plate":
            yield dish, D(2023, 4, 1), D(2023, 6, 30), cents - 100
            yield dish, D(2024, 4, 1), D(2024, 6, 30), cents
            yield dish, D(2025, 3, 15), None, cents + 150
            continue
        yield dish, D(2023, 1, 1), D(2024, 3, 31), cents
        if delisted:
            yield dish, D(2024, 4, 1), delisted, cents + 60
        elif dish % 3 == 0:
            yield dish, D(2024, 4, 1), None, cents + 60
        else:
            yield dish, D(2024, 4, 1), D(2024, 12, 31), cents + 60
            yield dish, D(2025, 1, 1), None, cents + (20 if dish % 5 == 0 else 130)  # some dishes became cheaper


def price_on(table, dish, day):
    for d, start, end, cents in table:
        if d == dish and start <= day and (end is None or day <= end):
            return cents
    return None


def is_open(branch, day):
    _, _, opened, closed = BRANCHES[branch - 1]
    return day >= opened and (closed is None or day <= closed) and not (day.year == 2024 and day.month == 8)


def at(random, day, hours=(11, 12, 12, 13, 17, 18, 19, 19, 20, 20, 21, 22)):
    return datetime.datetime.combine(day, datetime.time(random.choice(hours), random.randrange(60)))


def people(random):
    """(id, name, job, branch, mentor, wage, hired, left)"""
    for i in range(1, 49):
        branch = (i - 1) % 6 + 1
        job = ["manager", "waiter", "waiter", "cook", "waiter", "bartender", "cook", "waiter"][(i - 1) // 6]
        wage = {"manager": 2600, "waiter": 1500, "cook": 1800, "bartender": 1600}[job] + 50 * random.randrange(-2, 5)
        hired = max(BRANCHES[branch - 1][2], D(2019, 1, 1)) + T(random.randrange(-20, 600))
        hired = min(hired, D(2024, 9, 15))
        left = D(2024, 10, 31) if branch == 3 and i > 6 else None
        if i % 17 == 0:
            left = D(2024, 6, 30)
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        mentor = None if i <= 12 or i % 5 == 0 else (i - 12 if i % 3 else branch)
        yield i, name, job, branch, mentor, wage, hired, left


def visits(random, branch, tables, day):
    """One reservation or None, and one order or None: (res, order), each a dict."""
    when = at(random, day)
    table = random.choice(tables)
    size = min(random.choice([1, 2, 2, 2, 3, 4, 4, 5, 6, 8]), table[1] + 1)
    res = order = None
    if random.random() < 0.6:
        status = random.choices(["seated", "no_show", "cancelled"], [14, 3, 3])[0]
        if day < D(2024, 2, 15) and random.random() < 0.08:
            status = "waitlist"
        made = when - T(days=random.choice([0, 1, 1, 2, 3, 5, 7, 14, 30, 45]), hours=random.randrange(1, 6))
        res = dict(made=made, when=when, size=size, status=status, table=table[0] if random.random() < 0.9 else None)
        if status == "seated" and random.random() < 0.92:
            order = dict(
                when=when + T(minutes=random.randrange(-5, 25)),
                table=table[0],
                guests=max(1, size - (random.random() < 0.15)),
            )
    else:
        away = random.random() < 0.3
        order = dict(when=when, table=None if away else table[0], guests=random.choice([1, 1, 2]) if away else size)
    return res, order


def rows(random):
    for i, b in enumerate(BRANCHES, 1):
        yield "branch", (i, *b)
    tables, n = {}, 0
    for branch in range(1, 8):
        tables[branch] = []
        for k in range(1, [12, 10, 9, 12, 11, 10, 6][branch - 1]):
            n += 1
            area = "inside" if k < 7 else "terrace" if k < 10 else "bar"
            seats = random.choice([2, 2, 4, 4, 4, 6, 8])
            gone = D(2024, 5, 31) if n % 19 == 0 else None
            yield "seating", (n, branch, f"T{k}", seats, area, gone)
            tables[branch].append((n, seats))
    staff = list(people(random))
    for s in staff:
        yield "staff", s
    guests = 220
    for g in range(1, guests + 1):
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        yield "guest", (
            g,
            name,
            None if random.random() < 0.2 else f"+43 660 {random.randrange(1000000, 9999999)}",
            g % 9 == 0,
        )
    for i, (name, category, vegetarian, _, delisted) in enumerate(DISHES, 1):
        yield "dish", (i, name, category, vegetarian, delisted)
    table_of_prices = list(prices())
    for row in table_of_prices:
        yield "menu_price", row

    def team(branch, day, jobs):
        return [
            s[0] for s in staff if s[3] == branch and s[2] in jobs and s[6] <= day and (s[7] is None or s[7] >= day)
        ]

    n_res = n_order = n_line = n_pay = n_tip = 0
    day = FIRST_DAY
    while day <= LAST_DAY + T(14):
        for branch in range(1, 7):
            if not is_open(branch, day):
                continue
            waiters, bosses = team(branch, day, ("waiter",)), team(branch, day, ("manager", "bartender"))
            if not waiters:
                waiters = team(branch, day, ("manager",)) or [branch]
            for _ in range(random.choice([0, 0, 1, 1, 2]) + (day.weekday() >= 4 and random.random() < 0.5)):
                if branch == 6 and day.weekday() == 0:
                    continue  # Stadtgarten is closed on Mondays
                res, order = visits(random, branch, tables[branch], day)
                if day > LAST_DAY:
                    if res is None or res["made"].date() > LAST_DAY:
                        continue
                    res["status"], order = random.choice(["booked", "booked", "booked", "cancelled"]), None
                res_id = None
                if res:
                    n_res += 1
                    res_id = n_res
                    deposit = random.choice([1000, 2000, 5000]) if res["size"] >= 5 and random.random() < 0.7 else None
                    taker = None if random.random() < 0.55 else random.choice(waiters + bosses[:1])
                    guest = min(int(random.expovariate(1 / 60)) + 1, guests - 12)  # the last 12 guests never reserved
                    yield "reservation", (
                        n_res,
                        branch,
                        guest,
                        res["table"],
                        res["made"],
                        res["when"],
                        res["size"],
                        res["status"],
                        deposit,
                        taker,
                    )
                if not order:
                    continue
                n_order += 1
                when = order["when"]
                if n_order % 97 == 0 and (day + T(1)).day == 1 or n_order % 211 == 0:
                    month_end = (day.replace(day=28) + T(4)).replace(day=1) - T(1)
                    if is_open(branch, month_end) and month_end <= LAST_DAY:
                        when = datetime.datetime.combine(month_end, datetime.time(23, 59, 30))
                waiter = random.choice(waiters)
                closed = (
                    None if n_order % 83 == 0 else when + T(minutes=random.choice([20, 45, 60, 60, 75, 90, 120, 150]))
                )
                yield "orders", (n_order, branch, order["table"], res_id, waiter, when, closed, order["guests"])
                total = 0
                for _ in range(0 if n_order % 101 == 0 else random.choice([1, 2, 3, 3, 4, 5])):
                    dish = random.randrange(1, 17)
                    cents = price_on(table_of_prices, dish, when.date())
                    if cents is None:
                        continue
                    if random.random() < 0.03:
                        cents -= 50  # entered with a price that differs from the list
                    qty = random.choice([1, 1, 1, 2, 2, 3])
                    state = random.choices(["ok", "void", "comp"], [90, 6, 4])[0]
                    reason = (
                        random.choice(VOID) if state == "void" else random.choice(COMP) if state == "comp" else None
                    )
                    approver = random.choice(bosses) if state != "ok" and bosses and random.random() < 0.8 else None
                    n_line += 1
                    yield "order_line", (n_line, n_order, dish, qty, cents, state, reason, approver)
                    total += qty * cents if state == "ok" else 0
                if total and closed and random.random() < 0.97:
                    parts = 2 if total > 6000 and random.random() < 0.3 else 1
                    for part in range(parts):
                        n_pay += 1
                        amount = total // parts if part else total - total // parts * (parts - 1)
                        method = random.choices(["card", "cash", "voucher"], [6, 3, 1])[0]
                        yield "payment", (n_pay, n_order, closed + T(minutes=part), method, amount)
                    for k in range(random.choices([0, 1, 2], [3, 6, 1])[0]):
                        n_tip += 1
                        getter = waiter if random.random() < 0.85 else random.choice(waiters + bosses)
                        eur = round(max(0.5, total / 100 * random.choice([0.05, 0.08, 0.1, 0.12])) * 2) / 2
                        yield "tip", (n_tip, n_order, getter, eur, random.choice(["card", "card", "cash"]))
        day += T(1)

    n = 0
    for sid, _, job, branch, _, _, hired, left in staff:
        if sid in (23, 38):
            continue  # on leave for the whole period
        day = max(FIRST_DAY, hired)
        while day <= min(LAST_DAY, left or LAST_DAY):
            where = branch if random.random() < 0.9 else random.choice([1, 2, 4, 5])
            if is_open(where, day):
                n += 1
                start = datetime.datetime.combine(day, datetime.time(random.choice([10, 11, 16, 17]), 0))
                end = start + T(hours=random.choice([4, 6, 6, 8]))
                came = random.random() < 0.95
                clock_in = start + T(minutes=random.choice([-10, -5, -2, 0, 0, 3, 8, 20])) if came else None
                clock_out = (
                    end + T(minutes=random.choice([-30, -5, 0, 0, 10, 25, 60]))
                    if came and random.random() < 0.96
                    else None
                )
                yield "shift", (n, sid, where, start, end, clock_in, clock_out, random.choice([0, 30, 30, 45]))
            day += T(random.choice([3, 6, 9, 12, 15]))
