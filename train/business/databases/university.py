"""A university: units, staff, programmes, courses, sections, enrolments, rooms and fees. Keys are declared."""

import datetime

SCHEMA = """
CREATE TABLE Unit (
  UnitId INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  Kind TEXT NOT NULL CHECK (Kind IN ('faculty', 'department', 'group')),
  ParentId INTEGER REFERENCES Unit (UnitId) -- NULL: a faculty
);
CREATE TABLE Staff (
  StaffId INTEGER PRIMARY KEY,
  FullName TEXT NOT NULL, -- two people may share a name
  UnitId INTEGER NOT NULL REFERENCES Unit (UnitId),
  Position TEXT NOT NULL CHECK (Position IN ('professor', 'lecturer', 'assistant', 'emeritus')),
  SupervisorId INTEGER REFERENCES Staff (StaffId),
  HiredOn DATE NOT NULL,
  LeftOn DATE -- NULL: still employed
);
CREATE TABLE Programme (
  ProgrammeId INTEGER PRIMARY KEY,
  Title TEXT NOT NULL,
  Degree TEXT NOT NULL CHECK (Degree IN ('bachelor', 'master', 'doctorate')),
  UnitId INTEGER NOT NULL REFERENCES Unit (UnitId),
  CreditsNeeded INTEGER NOT NULL
);
CREATE TABLE Student (
  StudentNo INTEGER PRIMARY KEY,
  FullName TEXT NOT NULL,
  BirthDate DATE,
  HomeCountry TEXT NOT NULL, -- ISO code
  AdvisorId INTEGER REFERENCES Staff (StaffId), -- NULL: nobody assigned
  IsExchange BOOLEAN NOT NULL -- guest of another university
);
CREATE TABLE Matriculation (
  MatriculationId INTEGER PRIMARY KEY,
  StudentNo INTEGER NOT NULL REFERENCES Student (StudentNo),
  ProgrammeId INTEGER NOT NULL REFERENCES Programme (ProgrammeId),
  FromDate DATE NOT NULL,
  ToDate DATE, -- last day; NULL: studies on
  Leaving TEXT -- degree, transfer, dropout; NULL: studies on
);
CREATE TABLE Term (
  TermCode TEXT PRIMARY KEY, -- year of its start and W (winter), S (summer) or X (short term)
  StartsOn DATE NOT NULL,
  EndsOn DATE NOT NULL
);
CREATE TABLE Course (
  CourseCode TEXT PRIMARY KEY,
  Title TEXT NOT NULL, -- two courses may share a title
  UnitId INTEGER NOT NULL REFERENCES Unit (UnitId),
  Credits INTEGER NOT NULL,
  PassMark INTEGER NOT NULL -- lowest grade that passes
);
CREATE TABLE Prerequisite (
  CourseCode TEXT NOT NULL REFERENCES Course (CourseCode),
  NeedsCode TEXT NOT NULL REFERENCES Course (CourseCode), -- has to be passed before
  Waivable BOOLEAN NOT NULL,
  PRIMARY KEY (CourseCode, NeedsCode)
);
CREATE TABLE Room (
  RoomCode TEXT PRIMARY KEY,
  Building TEXT NOT NULL,
  Seats INTEGER NOT NULL,
  ClosedSince DATE -- NULL: in use
);
CREATE TABLE Section (
  SectionId INTEGER PRIMARY KEY,
  CourseCode TEXT NOT NULL REFERENCES Course (CourseCode),
  TermCode TEXT NOT NULL REFERENCES Term (TermCode),
  LecturerId INTEGER NOT NULL REFERENCES Staff (StaffId),
  AssistantId INTEGER REFERENCES Staff (StaffId), -- NULL: none
  RoomCode TEXT REFERENCES Room (RoomCode), -- NULL: online
  Capacity INTEGER NOT NULL,
  Cancelled BOOLEAN NOT NULL -- did not take place; has no enrolments
);
CREATE TABLE Meeting (
  MeetingId INTEGER PRIMARY KEY,
  SectionId INTEGER NOT NULL REFERENCES Section (SectionId),
  Weekday INTEGER NOT NULL, -- 1 Monday to 5 Friday, each week of the term
  StartsAt TEXT NOT NULL, -- 'HH:MM'
  Minutes INTEGER NOT NULL
);
CREATE TABLE Enrolment (
  EnrolmentId INTEGER PRIMARY KEY,
  StudentNo INTEGER NOT NULL REFERENCES Student (StudentNo),
  SectionId INTEGER NOT NULL REFERENCES Section (SectionId),
  EnrolledAt TIMESTAMP NOT NULL,
  WithdrawnOn DATE, -- NULL: not withdrawn
  Grade INTEGER, -- 0 to 100; NULL: withdrawn, absent, or not graded yet
  Absent BOOLEAN NOT NULL -- missed the final examination
);
CREATE TABLE Fee (
  FeeId INTEGER PRIMARY KEY,
  StudentNo INTEGER NOT NULL REFERENCES Student (StudentNo),
  TermCode TEXT NOT NULL REFERENCES Term (TermCode),
  AmountCents INTEGER NOT NULL, -- before the scholarship, euro cents
  ScholarshipCents INTEGER NOT NULL, -- part that the university bears
  DueOn DATE NOT NULL,
  PaidOn DATE -- NULL: not paid
);
"""

DAY = datetime.date
UNITS = [
    ("Science", "faculty", None),
    ("Humanities", "faculty", None),
    ("Economics and Law", "faculty", None),
    ("Mathematics", "department", 1),
    ("Computing", "department", 1),
    ("Physics", "department", 1),
    ("History", "department", 2),
    ("Languages", "department", 2),
    ("Economics", "department", 3),
    ("Law", "department", 3),
    ("Databases", "group", 5),
    ("Robotics", "group", 5),
    ("Optics", "group", 6),
    ("Finance", "group", 9),
    ("Music", "department", 2),
]  # Music has neither staff nor courses
PROGRAMMES = [
    ("Computing", "bachelor", 5, 60),
    ("Mathematics", "bachelor", 4, 60),
    ("Economics", "bachelor", 9, 60),
    ("History", "bachelor", 7, 60),
    ("Computing", "master", 5, 40),
    ("Finance", "master", 14, 40),
    ("Optics", "doctorate", 13, 20),
]  # the last programme has no students
TERMS = [
    ("2022W", DAY(2022, 10, 3), DAY(2023, 2, 3)),
    ("2023S", DAY(2023, 3, 6), DAY(2023, 6, 30)),
    ("2023W", DAY(2023, 10, 2), DAY(2024, 2, 2)),
    ("2024S", DAY(2024, 3, 4), DAY(2024, 6, 28)),
    ("2024X", DAY(2024, 7, 15), DAY(2024, 8, 9)),  # this term offers no courses
    ("2024W", DAY(2024, 9, 30), DAY(2025, 1, 31)),
]
COURSES = [
    ("MAT101", "Linear Algebra", 4, 6, 50),
    ("MAT102", "Calculus", 4, 6, 50),
    ("MAT210", "Statistics", 4, 5, 50),
    ("MAT320", "Stochastic Processes", 4, 7, 50),
    ("CMP101", "Programming", 5, 6, 50),
    ("CMP150", "Algorithms", 5, 6, 50),
    ("CMP220", "Databases", 11, 5, 50),
    ("CMP330", "Query Processing", 11, 7, 60),
    ("CMP340", "Robot Vision", 12, 7, 60),
    ("CMP400", "Seminar", 5, 3, 50),
    ("PHY110", "Mechanics", 6, 6, 50),
    ("PHY230", "Optics", 13, 5, 50),
    ("HIS100", "Ancient World", 7, 5, 40),
    ("HIS200", "Modern Europe", 7, 5, 40),
    ("HIS400", "Seminar", 7, 3, 40),
    ("LNG110", "Latin", 8, 4, 40),
    ("LNG120", "Academic Writing", 8, 3, 40),
    ("ECO101", "Microeconomics", 9, 6, 50),
    ("ECO210", "Econometrics", 9, 6, 50),
    ("FIN310", "Derivatives", 14, 7, 60),
    ("LAW105", "Contract Law", 10, 5, 40),
    ("LAW300", "Competition Law", 10, 5, 40),
]  # LAW300 has never been taught
NEEDS = [
    ("MAT210", "MAT102", False),
    ("MAT320", "MAT210", False),
    ("MAT320", "MAT101", True),
    ("CMP150", "CMP101", False),
    ("CMP220", "CMP101", True),
    ("CMP330", "CMP220", False),
    ("CMP330", "CMP150", False),
    ("CMP340", "MAT101", True),
    ("CMP340", "CMP150", False),
    ("PHY230", "PHY110", True),
    ("HIS400", "HIS200", True),
    ("ECO210", "MAT210", False),
    ("ECO210", "ECO101", False),
    ("FIN310", "ECO210", False),
    ("LAW300", "LAW105", False),
]
ROOMS = [
    ("A-01", "Old Library", 120, None),
    ("A-12", "Old Library", 40, None),
    ("A-13", "Old Library", 40, DAY(2024, 2, 1)),
    ("B-101", "Turing House", 60, None),
    ("B-102", "Turing House", 30, None),
    ("B-210", "Turing House", 24, None),
    ("C-5", "River Hall", 200, None),
    ("C-7", "River Hall", 35, None),
    ("D-1", "Annex", 18, None),
]  # room D-1 is never used
FIRST = ["Ada", "Bo", "Cleo", "Dmitri", "Eva", "Femi", "Greta", "Hugo", "Ines", "Jun", "Karim", "Lea", "Milan", "Noor"]
LAST = ["Adler", "Baptiste", "Costa", "Dahl", "Eriksen", "Fischer", "Gomez", "Haas", "Ito", "Jansen", "Kaya", "Lund"]
COUNTRIES = ["AT", "AT", "AT", "DE", "DE", "IT", "FR", "TR", "JP", "NG"]
TODAY = DAY(2025, 1, 31)


def name(random):
    return f"{random.choice(FIRST)} {random.choice(LAST)}"


def staff(random):
    """Rows of Staff; the first of a unit is the supervisor of the others."""
    number = 0
    for unit in range(4, 15):
        chief = None
        for position in ["professor", "lecturer", "assistant", random.choice(["lecturer", "assistant", "emeritus"])]:
            number += 1
            hired = DAY(random.randrange(2001, 2023), random.randrange(1, 13), random.randrange(1, 29))
            left = DAY(2024, random.randrange(1, 12), 28) if number % 13 == 0 else None
            yield number, name(random), unit, position, chief, hired, left
            chief = chief or number


def sections(random, people):
    number = 0
    for term, _, _ in TERMS:
        if term == "2024X":
            continue
        for code, _, unit, _, _ in COURSES:
            if code == "LAW300":
                continue
            for _ in range(random.choice([0, 1, 2, 2, 3])):
                number += 1
                own = [p for p in people if p[2] == unit]
                lecturer = random.choice([p[0] for p in own if p[3] != "assistant"])
                helpers = [p[0] for p in people if p[3] == "assistant"]
                room = random.choice([r[0] for r in ROOMS if r[0] != "D-1" and not (r[3] and term > "2023W")] + [None])
                seats = next((r[2] for r in ROOMS if r[0] == room), 90)
                assistant = random.choice(helpers) if random.random() < 0.5 else None
                capacity = min(random.choice([20, 25, 30, 40, 60]), seats + 5)
                yield number, code, term, lecturer, assistant, room, capacity, random.random() < 0.07


def matriculations(random, student):
    start = random.choice([DAY(2022, 9, 1), DAY(2022, 9, 1), DAY(2023, 3, 1), DAY(2023, 9, 1), DAY(2024, 9, 1)])
    programme = random.choices([1, 2, 3, 4, 5, 6], [5, 2, 4, 2, 2, 2])[0]
    while True:
        fate = random.random()
        years = (TODAY - start).days / 365
        if fate < 0.2 and years > 1:
            end = start + datetime.timedelta(days=random.randrange(200, 360))
            yield student, programme, start, end, "transfer"
            start = end + datetime.timedelta(days=random.choice([1, 1, 1, 60]))
            programme = random.choice([p for p in [1, 2, 3, 4] if p != programme])
            continue
        if fate < 0.33:
            end = start + datetime.timedelta(days=random.randrange(60, 700))
            yield student, programme, start, min(TODAY, end), "dropout"
        elif fate < 0.45 and years > 1.8:
            end = DAY(2024, 6, 30) + datetime.timedelta(days=random.choice([0, 31, 92]))
            yield student, programme, start, end, "degree"
        else:
            yield student, programme, start, None, None
        return


def enrolments(random, student, periods, offered, filled):
    """Rows without number of the enrolments of a student; mostly of courses not passed yet."""
    passed = set()
    mean = random.gauss(64, 11)
    marks = {code: mark for code, _, _, _, mark in COURSES}
    for term, starts, ends in TERMS:
        if not any(a <= starts and (b is None or b >= starts) for a, b in periods):
            continue
        wanted = random.choice([0, 4, 5, 6, 7, 8])
        codes = [code for code, *_ in COURSES if code not in passed]
        for code in random.sample(codes, min(wanted, len(codes))):
            choice = [s for s in offered if s[1] == code and s[2] == term and not s[7] and filled.get(s[0], 0) < s[6]]
            missing = [n for c, n, _ in NEEDS if c == code and n not in passed]
            if not choice or (missing and random.random() < 0.75):
                continue
            section = random.choice(choice)[0]
            filled[section] = filled.get(section, 0) + 1
            at = datetime.datetime.combine(starts, datetime.time(8))
            at -= datetime.timedelta(hours=random.randrange(1, 700))
            if random.random() < 0.03:
                at = datetime.datetime(starts.year, starts.month, 1)
                at -= datetime.timedelta(seconds=random.choice([1, 30]))
            withdrawn = absent = grade = None
            fate = random.random()
            if fate < 0.1:
                withdrawn = starts + datetime.timedelta(days=random.randrange(2, 60))
            elif fate < 0.16 and term != "2024W":
                absent = True
            elif term != "2024W" or random.random() < 0.3:
                grade = max(0, min(100, round(random.gauss(mean, 14))))
                if grade >= marks[code]:
                    passed.add(code)
            yield student, section, at, withdrawn, grade, bool(absent)


def fees(random, student, periods):
    for term, starts, _ in TERMS:
        if term != "2024X" and any(a <= starts and (b is None or b >= starts) for a, b in periods):
            amount = random.choice([38000, 38000, 38000, 76000])
            part = random.choice([0, 0, 0, amount // 2, amount])
            due = starts + datetime.timedelta(days=14)
            paid = due + datetime.timedelta(days=random.randrange(-20, 30)) if random.random() < 0.9 else None
            yield student, term, amount, part, due, None if paid and paid > TODAY else paid


def rows(random):
    for number, row in enumerate(UNITS, 1):
        yield "Unit", (number, *row)
    people = list(staff(random))
    for row in people:
        yield "Staff", row
    for number, row in enumerate(PROGRAMMES, 1):
        yield "Programme", (number, *row)
    for table, values in [("Term", TERMS), ("Course", COURSES), ("Prerequisite", NEEDS), ("Room", ROOMS)]:
        for row in values:
            yield table, row
    offered = list(sections(random, people))
    n_meetings = n_enrolments = n_fees = n_periods = 0
    for row in offered:
        yield "Section", row
        for weekday in random.sample([1, 2, 3, 4, 5], random.choice([1, 1, 2])):
            n_meetings += 1
            start = random.choice(["08:15", "09:00", "10:15", "13:00", "14:15", "16:00", "18:30"])
            yield "Meeting", (n_meetings, row[0], weekday, start, random.choice([45, 90, 90, 90, 135]))
    filled = {}
    for i in range(480):
        student = 30001 + i * 7
        birth = DAY(random.randrange(1996, 2006), random.randrange(1, 13), random.randrange(1, 29))
        if random.random() < 0.04:
            birth = None
        exchange = i % 17 == 0
        advisor = None
        if random.random() < 0.8:
            advisor = random.choice([p[0] for p in people if p[3] in ("professor", "lecturer")])
        yield "Student", (student, name(random), birth, random.choice(COUNTRIES), advisor, exchange)
        if i % 40 == 39:  # admitted, but never enrolled
            continue
        periods = list(matriculations(random, student))
        for row in periods:
            n_periods += 1
            yield "Matriculation", (n_periods, *row)
        spans = [(p[2], p[3]) for p in periods]
        for row in enrolments(random, student, spans, offered, filled):
            n_enrolments += 1
            yield "Enrolment", (n_enrolments, *row)
        for row in fees(random, student, spans):
            n_fees += 1
            yield "Fee", (n_fees, *row)
