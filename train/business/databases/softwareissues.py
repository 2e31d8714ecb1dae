"""Issue tracker of a software company: projects, issues, their status changes, comments, labels, releases and
worklogs. Keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE person (
  person_id INTEGER PRIMARY KEY,
  login TEXT NOT NULL UNIQUE,
  full_name TEXT NOT NULL,
  team TEXT, -- NULL: external reporter
  is_bot BOOLEAN NOT NULL,
  deactivated_on DATE -- NULL: active
);
CREATE TABLE project (
  project_key TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  lead_id INTEGER NOT NULL REFERENCES person (person_id),
  archived BOOLEAN NOT NULL
);
CREATE TABLE releases (
  release_id INTEGER PRIMARY KEY,
  project_key TEXT NOT NULL REFERENCES project (project_key),
  version TEXT NOT NULL,
  planned_on DATE NOT NULL,
  shipped_on DATE -- NULL: not yet
);
CREATE TABLE issue (
  issue_id INTEGER PRIMARY KEY,
  project_key TEXT NOT NULL REFERENCES project (project_key),
  summary TEXT NOT NULL,
  issue_type TEXT NOT NULL, -- bug, task, story
  priority INTEGER NOT NULL, -- 1 blocker to 5 trivial
  status TEXT NOT NULL, -- open, in_progress, review, done, wont_fix
  reporter_id INTEGER NOT NULL REFERENCES person (person_id),
  assignee_id INTEGER REFERENCES person (person_id), -- NULL: unassigned
  fix_release_id INTEGER REFERENCES releases (release_id), -- NULL: not scheduled
  estimate_min INTEGER, -- NULL: not estimated
  created_at TIMESTAMP NOT NULL,
  closed_at TIMESTAMP -- set while the status is done or wont_fix
);
CREATE TABLE status_change (
  change_id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issue (issue_id),
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  changed_by INTEGER NOT NULL REFERENCES person (person_id),
  changed_at TIMESTAMP NOT NULL
);
CREATE TABLE remark (
  remark_id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issue (issue_id),
  author_id INTEGER NOT NULL REFERENCES person (person_id),
  written_at TIMESTAMP NOT NULL,
  n_chars INTEGER NOT NULL,
  deleted BOOLEAN NOT NULL
);
CREATE TABLE label (
  label_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
CREATE TABLE issue_label (
  issue_id INTEGER NOT NULL REFERENCES issue (issue_id),
  label_id INTEGER NOT NULL REFERENCES label (label_id),
  PRIMARY KEY (issue_id, label_id)
);
CREATE TABLE worklog (
  worklog_id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issue (issue_id),
  person_id INTEGER NOT NULL REFERENCES person (person_id),
  worked_on DATE NOT NULL,
  minutes INTEGER NOT NULL,
  billable BOOLEAN NOT NULL
);
"""

PEOPLE = [
    ("akumar", "Asha Kumar", "core"),
    ("bstone", "Ben Stone", "core"),
    ("cdiaz", "Carla Diaz", "core"),
    ("dmeyer", "Dirk Meyer", "web"),
    ("efox", "Ella Fox", "web"),
    ("fchen", "Feng Chen", "mobile"),
    ("gross", "Gina Ross", "mobile"),
    ("hvega", "Hugo Vega", "platform"),
    ("ilund", "Ida Lund", "platform"),
    ("bstone2", "Ben Stone", "web"),
    ("jkerr", "Joan Kerr", "support"),
    ("kpark", "Kim Park", "support"),
    ("ext-lee", "Mona Lee", None),
    ("ext-orr", "Tim Orr", None),
    ("ext-ray", "Sam Ray", None),
    ("ci-bot", "CI Bot", "platform"),
]
PROJECTS = [
    ("CORE", "Engine", 1, False),
    ("WEB", "Web Shop", 4, False),
    ("APP", "Mobile App", 6, False),
    ("OPS", "Operations", 8, False),
    ("DOC", "Handbook", 11, False),
    ("OLD", "Legacy Portal", 4, True),
]  # DOC has no issue
LABELS = [
    "regression",
    "security",
    "performance",
    "ui",
    "good first issue",
    "customer",
    "flaky",
    "tech_debt",
]  # no issue has the label good first issue
WORDS = [
    "Crash",
    "Timeout",
    "Typo",
    "Slow query",
    "Login fails",
    "Wrong total",
    "Upgrade",
    "Export",
    "Dark mode",
    "Retry",
]
PLACES = ["on start", "in checkout", "after update", "for admins", "on Android", "in report"]


def moment(random, at, most_hours):
    return at + datetime.timedelta(minutes=random.randrange(30, most_hours * 60))


def path(random):
    """Statuses of an issue after open."""
    steps = random.choices(
        [
            [],
            ["in_progress"],
            ["in_progress", "review"],
            ["in_progress", "review", "done"],
            ["wont_fix"],
            ["in_progress", "done"],
            ["in_progress", "review", "in_progress", "review", "done"],
            ["in_progress", "done", "open"],
            ["in_progress", "review", "done", "open", "in_progress", "done"],
        ],
        [3, 2, 2, 9, 2, 5, 3, 1, 2],
    )[0]
    return steps


def rows(random):
    for i, (login, name, team) in enumerate(PEOPLE, 1):
        yield "person", (i, login, name, team, login == "ci-bot", datetime.date(2024, 2, 29) if i in (3, 12) else None)
    for project in PROJECTS:
        yield "project", project
    for i, name in enumerate(LABELS, 1):
        yield "label", (i, name)
    n_release, releases = 0, {}
    for key, _, _, archived in PROJECTS:
        releases[key] = []
        for part in range({"CORE": 6, "WEB": 6, "APP": 5, "OPS": 2, "OLD": 2}.get(key, 0)):
            n_release += 1
            planned = datetime.date(2023, 2, 15) + datetime.timedelta(days=90 * part + random.randrange(10))
            shipped = planned + datetime.timedelta(days=random.choice([-3, 0, 0, 5, 12, 30]))
            releases[key].append(n_release)
            yield "releases", (
                n_release,
                key,
                f"{1 + part // 3}.{part % 3}",
                planned,
                shipped if shipped < datetime.date(2024, 5, 1) else None,
            )
    n_change = n_remark = n_work = 0
    for i in range(1, 901):
        key = random.choices(["CORE", "WEB", "APP", "OPS", "OLD"], [6, 6, 4, 2, 1])[0]
        created = datetime.datetime(2023, 1, 2) + datetime.timedelta(minutes=random.randrange(515 * 1440))
        if created.strftime("%Y-%m") == "2023-08":
            created = created.replace(month=9, day=min(created.day, 30))  # no issue in August 2023
        if i % 60 == 0:
            created = created.replace(month=created.month if created.month != 2 else 3, day=30, hour=23, minute=59)
        kind = random.choices(["bug", "task", "story"], [5, 3, 2])[0]
        steps = path(random)
        reporter = random.choice([n for n in range(1, 17) if n != 9])  # Ida Lund reports nothing
        assignee = (
            None
            if (not steps and random.random() < 0.6) or random.random() < 0.06
            else random.choice([1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, reporter if reporter < 11 else 1])
        )
        at, status, closed, changes = created, "open", None, []
        for step in steps:
            at = moment(random, at, 200)
            if at > datetime.datetime(2024, 5, 31, 23, 59):
                break
            changes.append((status, step, random.choice([assignee or 8, assignee or 8, 16, 8]), at))
            status = step
            closed = at if step in ("done", "wont_fix") else None
        estimate = random.choice([None, None, 60, 120, 240, 480, 480, 960])
        release = random.choice(releases[key]) if releases[key] and random.random() < 0.55 else None
        yield "issue", (
            i,
            key,
            f"{random.choice(WORDS)} {random.choice(PLACES)}",
            kind,
            random.choices([1, 2, 3, 4, 5], [1, 3, 6, 3, 1])[0],
            status,
            reporter,
            assignee,
            release,
            estimate,
            created,
            closed,
        )
        for change in changes:
            n_change += 1
            yield "status_change", (n_change, i, *change)
        for _ in range(random.choice([0, 0, 1, 2, 3, 6])):
            n_remark += 1
            yield "remark", (
                n_remark,
                i,
                random.choice([reporter, assignee or reporter, 11, 16, random.randrange(1, 16)]),
                moment(random, created, 400),
                random.randrange(5, 900),
                random.random() < 0.08,
            )
        for label in random.sample([1, 2, 3, 4, 6, 7, 8], random.choice([0, 0, 1, 1, 2, 3])):
            yield "issue_label", (i, label)
        if steps and steps != ["wont_fix"]:
            for _ in range(random.choice([0, 1, 1, 2, 4])):
                n_work += 1
                yield "worklog", (
                    n_work,
                    i,
                    random.choice([assignee or 2, assignee or 2, 5, 7]),
                    moment(random, created, 300).date(),
                    random.choice([15, 30, 60, 60, 90, 240]),
                    random.random() < 0.6,
                )
