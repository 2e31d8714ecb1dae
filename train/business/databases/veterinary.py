"""Veterinary practices: owners, animals, visits, treatments, invoices, payments, weighings and vaccinations that fall
due again. Most foreign keys are declared. The practices were closed in July 2024. The data end on 2025-03-31.
"""

import datetime

SCHEMA = """
CREATE TABLE practice (
  practice_id INTEGER PRIMARY KEY,
  town TEXT NOT NULL,
  opened_on DATE NOT NULL
);
CREATE TABLE vet (
  vet_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  surname TEXT NOT NULL, -- not unique
  practice_id INTEGER NOT NULL REFERENCES practice (practice_id),
  speciality TEXT, -- NULL: general
  supervisor_id INTEGER REFERENCES vet (vet_id), -- NULL: works unsupervised
  left_on DATE -- NULL: still here
);
CREATE TABLE owner (
  owner_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  surname TEXT NOT NULL,
  town TEXT NOT NULL, -- where the owner lives
  phone TEXT, -- NULL: unknown
  client_since DATE NOT NULL,
  reminders BOOLEAN NOT NULL -- wants reminders by text message
);
CREATE TABLE animal (
  animal_id INTEGER PRIMARY KEY,
  owner_id INTEGER NOT NULL REFERENCES owner (owner_id),
  name TEXT NOT NULL,
  species TEXT NOT NULL CHECK (species IN ('dog', 'cat', 'rabbit', 'bird', 'tortoise')),
  breed TEXT, -- NULL: mixed or unknown
  sex TEXT NOT NULL, -- f, m
  neutered BOOLEAN NOT NULL,
  born_on DATE, -- NULL: unknown
  died_on DATE, -- NULL: alive
  chip TEXT -- NULL: not chipped
);
CREATE TABLE visit (
  visit_id INTEGER PRIMARY KEY,
  animal_id INTEGER NOT NULL REFERENCES animal (animal_id),
  practice_id INTEGER NOT NULL REFERENCES practice (practice_id),
  vet_id INTEGER NOT NULL REFERENCES vet (vet_id), -- who is in charge
  booked_at TIMESTAMP NOT NULL, -- when the appointment was made
  starts_at TIMESTAMP NOT NULL, -- time of the appointment
  seen_at TIMESTAMP, -- when the animal was called in; NULL: it was not seen
  reason TEXT NOT NULL, -- checkup, emergency, surgery, vaccination
  status TEXT NOT NULL CHECK (status IN ('done', 'missed', 'cancelled', 'planned'))
);
CREATE TABLE tariff (
  code TEXT PRIMARY KEY,
  label TEXT NOT NULL,
  grp TEXT NOT NULL, -- exam, lab, surgery, drug, vaccine
  list_cents INTEGER NOT NULL -- of one unit
);
CREATE TABLE treatment (
  treatment_id INTEGER PRIMARY KEY,
  visit_id INTEGER NOT NULL REFERENCES visit (visit_id),
  code TEXT NOT NULL REFERENCES tariff (code),
  vet_id INTEGER NOT NULL REFERENCES vet (vet_id), -- who did it, not always the one in charge
  units INTEGER NOT NULL,
  factor_pct INTEGER NOT NULL, -- fee factor: 100 single rate, 200 double, 300 triple
  minutes INTEGER -- NULL: not noted
);
CREATE TABLE invoice (
  invoice_no INTEGER PRIMARY KEY,
  visit_id INTEGER NOT NULL REFERENCES visit (visit_id),
  payer_id INTEGER NOT NULL REFERENCES owner (owner_id), -- not always the owner of the animal
  issued_on DATE NOT NULL,
  due_on DATE NOT NULL,
  net_cents INTEGER NOT NULL,
  vat_pct INTEGER NOT NULL, -- 19 means 19 percent on top of the net amount
  status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'written_off', 'void')),
  dunned INTEGER NOT NULL -- number of reminders sent
);
CREATE TABLE payment (
  payment_id INTEGER PRIMARY KEY,
  invoice_no INTEGER NOT NULL REFERENCES invoice (invoice_no),
  received_on DATE NOT NULL,
  eur NUMERIC(9,2) NOT NULL
);
CREATE TABLE weighing (
  animal_id INTEGER NOT NULL REFERENCES animal (animal_id),
  weighed_on DATE NOT NULL,
  grams INTEGER NOT NULL,
  PRIMARY KEY (animal_id, weighed_on)
);
CREATE TABLE vaccine (
  vaccine_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  species TEXT NOT NULL,
  repeat_months INTEGER -- NULL: once is enough
);
CREATE TABLE vaccination (
  vaccination_id INTEGER PRIMARY KEY,
  animal_id INTEGER NOT NULL REFERENCES animal (animal_id),
  vaccine_id INTEGER NOT NULL REFERENCES vaccine (vaccine_id),
  given_on DATE NOT NULL,
  next_due DATE, -- NULL: need not be repeated
  batch TEXT -- NULL: not noted
);
"""

D, T = datetime.date, datetime.timedelta
PRACTICES = [("Ulm", D(2009, 4, 1)), ("Kempten", D(2014, 9, 15)), ("Lindau", D(2021, 1, 11)), ("Aalen", D(2025, 5, 1))]
FIRST = ["Marta", "Oskar", "Lena", "Timo", "Ruth", "Ivo", "Clara", "Benno", "Greta", "Kurt"]
LAST = ["Maier", "Vogel", "Kraus", "Seitz", "Lang", "Winkler", "Arnold", "Busch", "Horn"]
TOWNS = ["Ulm", "Ulm", "Kempten", "Kempten", "Lindau", "Neu-Ulm", "Immenstadt"]
NAMES = ["Luna", "Balu", "Mimi", "Rocky", "Nala", "Felix", "Kira", "Max", "Coco", "Paula", "Sam", "Minka"]
BREEDS = {
    "dog": ["Dachshund", "Labrador", "Beagle", None],
    "cat": ["European Shorthair", "Maine Coon", None],
    "rabbit": ["Dwarf Lop", None],
    "bird": ["Budgerigar"],
    "tortoise": [None],
}
GRAMS = {"dog": 18000, "cat": 4500, "rabbit": 2100, "bird": 40, "tortoise": 900}
TARIFF = [
    ("E1", "General examination", "exam", 2362),
    ("E2", "Follow-up examination", "exam", 1974),
    ("E3", "Emergency surcharge", "exam", 5000),
    ("L1", "Blood count", "lab", 1850),
    ("L2", "X-ray", "lab", 3540),
    ("L3", "Ultrasound", "lab", 4990),
    ("S1", "Castration", "surgery", 9800),
    ("S2", "Tooth extraction", "surgery", 4450),
    ("D1", "Painkiller", "drug", 890),
    ("D2", "Antibiotic", "drug", 1420),
    ("V1", "Vaccination", "vaccine", 1150),
    ("X9", "Acupuncture", "exam", 4200),
]  # treatment X9 never occurs
VACCINES = [
    ("Rabies", "dog", 36),
    ("DHPP", "dog", 12),
    ("Rabies", "cat", 36),
    ("Cat flu", "cat", 12),
    ("Myxomatosis", "rabbit", 6),
    ("Leptospirosis", "dog", 12),
    ("Kennel cough", "dog", None),
    ("Bordetella cat", "cat", 12),
]  # the vaccine Bordetella cat was never used
BY_REASON = {
    "checkup": ["E1", "E2", "L1", "D1"],
    "emergency": ["E1", "E3", "L1", "L2", "L3", "D1", "D2"],
    "surgery": ["E1", "S1", "S2", "D1", "D2"],
    "vaccination": ["E2", "V1"],
}
START, END = D(2024, 1, 1), D(2025, 3, 31)


def pets(random, owners):
    """(id, owner, name, species, breed, sex, neutered, born, died, chip)"""
    n = 0
    for owner in range(1, owners + 1):
        if owner % 17 == 0:
            continue  # an owner whose animals were never entered
        for _ in range(random.choice([1, 1, 1, 2, 2, 3])):
            n += 1
            species = random.choices(list(BREEDS), [9, 9, 3, 1, 1])[0]
            born = None if random.random() < 0.1 else D(2008, 1, 1) + T(random.randrange(6000))
            died = START + T(random.randrange(455)) if random.random() < 0.08 else None
            chip = (
                f"276{random.randrange(10**9):09d}"
                if random.random() < {"dog": 0.85, "cat": 0.6}.get(species, 0.05)
                else None
            )
            yield n, owner, random.choice(NAMES), species, random.choice(BREEDS[species]), random.choice(
                "fm"
            ), random.random() < 0.45, born, died, chip


def rows(random):
    for i, p in enumerate(PRACTICES, 1):
        yield "practice", (i, *p)
    vets = []
    for i in range(1, 14):
        practice = (i - 1) % 3 + 1
        boss = None if i <= 3 or i == 8 else practice
        v = (
            i,
            random.choice(FIRST),
            random.choice(LAST),
            practice,
            random.choice(["surgery", "dentistry", None, None]),
            boss,
            D(2024, 9, 30) if i == 11 else None,
        )
        vets.append(v)
        yield "vet", v
    owners = 150
    for i in range(1, owners + 1):
        phone = None if random.random() < 0.18 else f"0731 {random.randrange(100000, 999999)}"
        since = D(2015, 1, 1) + T(random.randrange(3650))
        yield "owner", (
            i,
            random.choice(FIRST),
            random.choice(LAST),
            random.choice(TOWNS),
            phone,
            since,
            random.random() < 0.6,
        )
    animals = list(pets(random, owners))
    for a in animals:
        yield "animal", a
    for t in TARIFF:
        yield "tariff", t
    for i, v in enumerate(VACCINES, 1):
        yield "vaccine", (i, *v)

    n_visit = n_treat = n_invoice = n_pay = 0
    list_price = {code: cents for code, _, _, cents in TARIFF}
    shots = []
    for a in animals:
        if a[0] % 23 == 0:
            continue  # the animal never came
        weight = int(GRAMS[a[3]] * random.uniform(0.6, 1.5))
        home = random.choice([1, 1, 2, 2, 3])
        day = START + T(random.randrange(90))
        weighed = set()
        while day <= END + T(40):
            if a[8] and day > a[8]:
                break
            if (day.year, day.month) == (2024, 7) or day.weekday() == 6:
                day += T(random.choice([1, 17, 33]))
                continue
            n_visit += 1
            reason = random.choices(["checkup", "emergency", "surgery", "vaccination"], [5, 2, 1, 3])[0]
            if day > END and reason == "emergency":
                reason = "checkup"
            at = datetime.datetime.combine(
                day, datetime.time(random.choice([8, 9, 10, 11, 14, 15, 16]), random.choice([0, 15, 30, 45]))
            )
            if reason == "emergency" and random.random() < 0.4:
                at = at.replace(hour=23, minute=59)
                month_end = (day.replace(day=28) + T(4)).replace(day=1) - T(1)
                if (
                    random.random() < 0.5
                    and month_end <= END
                    and month_end.month != 7
                    and not (a[8] and month_end > a[8])
                ):
                    day = month_end
                    at = datetime.datetime.combine(day, at.time())
            status = (
                random.choices(["done", "missed", "cancelled"], [82, 8, 10])[0] if reason != "emergency" else "done"
            )
            if day > END:
                status = random.choice(["planned", "planned", "planned", "cancelled"])
            team = [v for v in vets if v[3] == home and (v[6] is None or v[6] >= day)]
            vet = random.choice(team)
            booked = at - (
                T(minutes=random.randrange(10, 90))
                if reason == "emergency"
                else T(days=random.choice([0, 1, 2, 5, 9, 20, 40]), hours=random.randrange(1, 20))
            )
            if booked.date() > END:
                booked = datetime.datetime.combine(END, datetime.time(random.randrange(8, 18), random.randrange(60)))
            seen = at + T(minutes=random.choice([-5, 0, 0, 4, 10, 15, 25, 50])) if status == "done" else None
            yield "visit", (n_visit, a[0], home, vet[0], booked, at, seen, reason, status)
            if status == "done":
                net = 0
                wanted = BY_REASON[reason]
                codes = ["V1"] if reason == "vaccination" else []
                codes += random.sample(wanted, random.choice([0, 1, 2, 2, 3][: len(wanted)])) if n_visit % 29 else []
                if n_visit % 29 == 0:
                    codes = []  # treated, but nothing was entered
                for code in codes:
                    n_treat += 1
                    doer = vet if random.random() < 0.85 else random.choice(team)
                    units = random.choice([1, 1, 1, 2, 3]) if code in ("D1", "D2", "S2") else 1
                    factor = random.choice([200, 300]) if reason == "emergency" else random.choice([100, 100, 100, 200])
                    minutes = random.choice([5, 10, 10, 15, 20, 45, None])
                    yield "treatment", (n_treat, n_visit, code, doer[0], units, factor, minutes)
                    net += units * list_price[code] * factor // 100
                if net and random.random() < 0.96:
                    n_invoice += 1
                    issued = day + T(random.choice([0, 0, 0, 1, 3]))
                    if (issued.year, issued.month) == (2024, 7):
                        issued = day
                    payer = a[1] if random.random() < 0.93 else random.randrange(1, owners + 1)
                    state = random.choices(["paid", "open", "written_off", "void"], [84, 11, 2, 3])[0]
                    dunned = (
                        random.choice([0, 1, 1, 2, 3])
                        if state in ("open", "written_off")
                        else random.choice([0, 0, 0, 1])
                    )
                    yield "invoice", (n_invoice, n_visit, payer, issued, issued + T(14), net, 19, state, dunned)
                    gross = round(net * 1.19) / 100
                    parts = (
                        random.choice([1, 1, 1, 2])
                        if state == "paid"
                        else random.choice([0, 0, 1]) if state == "open" else 0
                    )
                    for part in range(parts):
                        n_pay += 1
                        if state == "open":
                            eur = round(gross / 3, 2)
                        else:
                            first = round(gross / parts, 2)
                            eur = round(gross - first * (parts - 1), 2) if part == parts - 1 else first
                        yield "payment", (
                            n_pay,
                            n_invoice,
                            issued + T(random.choice([0, 0, 5, 10, 14, 20, 35]) + 7 * part),
                            eur,
                        )
                if day not in weighed and random.random() < 0.8:
                    weighed.add(day)
                    weight = max(20, int(weight * random.uniform(0.93, 1.08)))
                    yield "weighing", (a[0], day, weight)
                if reason == "vaccination":
                    shots.append((a, day))
            day += T(random.choice([20, 45, 70, 110, 150, 190]))
    n = 0
    for a, day in sorted(shots, key=lambda s: (s[1], s[0][0])):
        fits = [i for i, v in enumerate(VACCINES, 1) if v[1] == a[3] and v[0] != "Bordetella cat"]
        if not fits:
            continue
        for i in random.sample(fits, random.choice([1, 1, 2]) if len(fits) > 1 else 1):
            n += 1
            months = VACCINES[i - 1][2]
            due = None
            if months:
                years, month = divmod(day.month - 1 + months, 12)
                due = D(day.year + years, month + 1, min(day.day, 28))
            yield "vaccination", (
                n,
                a[0],
                i,
                day,
                due,
                None if random.random() < 0.1 else f"B{random.randrange(1, 40):03d}",
            )
