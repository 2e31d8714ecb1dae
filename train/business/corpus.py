"""Reads the business corpus: descriptions of databases, and questions with their queries.

A database is a module in the folder databases. Its SCHEMA is DDL with the types of TYPES. Its rows(random) yields
(table, values) in an order that the foreign keys allow. The same seed gives the same rows.

A question is a block of a file in the folder questions. README.md has the format.
"""
import dataclasses, datetime, decimal, importlib.util, os, random, re, sqlite3

HERE = os.path.dirname(os.path.abspath(__file__))

# Type of a description: its name in PostgreSQL and in MariaDB. SQLite takes the description as it is.
TYPES = {"TIMESTAMPTZ": ("TIMESTAMP WITH TIME ZONE", "DATETIME"), "TIMESTAMP": ("TIMESTAMP", "DATETIME"),
         "REAL": ("DOUBLE PRECISION", "DOUBLE"), "BOOLEAN": ("BOOLEAN", "BOOLEAN"), "TEXT": ("TEXT", "VARCHAR(190)"),
         "INTEGER": ("INTEGER", "INTEGER"), "BIGINT": ("BIGINT", "BIGINT"), "DATE": ("DATE", "DATE")}
DIALECTS = {"sqlite": None, "postgres": 0, "mariadb": 1}
HELD = {"choosing": ("marketplace", "telecom", "hospital", "adcampaigns"),
        "reporting": ("payments", "hotel", "timesheets", "inventory", "transit")}
COPY_LOSES = 0.08 # share of rows of the tables that no other table references


def names():
    return sorted(f[:-3] for f in os.listdir(os.path.join(HERE, "databases")) if f.endswith(".py"))


def description(name):
    """Returns the module of a database."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, "databases", name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- databases ---

def ddl(name, dialect="sqlite"):
    """Returns the CREATE TABLE statements of a database in a dialect. Only those of SQLite keep their comments."""
    text = description(name).SCHEMA
    place = DIALECTS[dialect]
    if place is None: return text
    text = re.sub(r"--[^\n]*", "", text)
    text = re.sub(r"\b(" + "|".join(TYPES) + r")\b", lambda m: TYPES[m[1]][place], text)
    return text.replace('"', "`") if dialect == "mariadb" else text


def stored(value):
    """Returns a value as SQLite stores it."""
    if isinstance(value, bool): return int(value)
    if isinstance(value, datetime.datetime): return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, datetime.date): return value.isoformat()
    if isinstance(value, decimal.Decimal): return float(value)
    return value


def rows(name, seed=1):
    """Yields (table, tuple of values) for each row, in order of insertion."""
    for table, values in description(name).rows(random.Random(seed)): yield table, tuple(values)


def tables(db):
    return [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def leaf_tables(db):
    """Returns the tables that no declared foreign key references."""
    parents = {key[2].lower() for table in tables(db) for key in db.execute(f'PRAGMA foreign_key_list("{table}")')}
    return [table for table in tables(db) if table.lower() not in parents]


def lose_rows(db, seed=7):
    """Makes the mutated copy: deletes some rows of each leaf table."""
    chance = random.Random(seed)
    for table in leaf_tables(db):
        ids = [i for i, in db.execute(f'SELECT rowid FROM "{table}"')]
        db.executemany(f'DELETE FROM "{table}" WHERE rowid = ?', [(i,) for i in ids if chance.random() < COPY_LOSES])
    db.commit()


def build(name, path=":memory:", copy=False):
    """Returns a connection to a new SQLite database with the rows; with `copy` the mutated copy."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = OFF")
    db.executescript(ddl(name))
    batches = {}
    for table, values in rows(name):
        batches.setdefault((table, len(values)), []).append([stored(v) for v in values])
    for (table, width), values in batches.items():
        db.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * width)})', values)
    db.commit()
    if copy: lose_rows(db)
    return db


# --- questions ---

@dataclasses.dataclass
class Wrong:
    kind: str
    sql: str
    twin: str | None = None          # question that this query answers
    twin_evidence: str | None = None # evidence of the twin; None: that of the question


@dataclasses.dataclass
class Question:
    id: str
    db: str
    work: str # analytic or everyday
    question: str = ""
    evidence: str | None = None
    ambiguous: str | None = None
    right: list = dataclasses.field(default_factory=list)
    wrong: list = dataclasses.field(default_factory=list)


class Malformed(Exception):
    """A line that does not have the format."""


def take_line(question, line, at):
    name, _, value = line.partition(": ")
    value = value.strip()
    if not value: raise Malformed(f"{at}: expected 'name: value'")
    if name in ("question", "evidence", "ambiguous"): setattr(question, name, value)
    elif name == "right": question.right.append(value)
    elif name.startswith("wrong "): question.wrong.append(Wrong(name[6:], value))
    elif name in ("twin", "twin evidence") and question.wrong:
        setattr(question.wrong[-1], name.replace(" ", "_"), value)
    else: raise Malformed(f"{at}: no member '{name}'")


def parse(name, lines):
    """Returns the questions in the lines of NAME.txt. Raises Malformed with file and line."""
    out, member, at = [], "", ""
    for number, line in enumerate([*lines, ""], 1):
        if line.startswith("  ") and member: # continues the previous line
            member += " " + line.strip()
            continue
        if member: take_line(out[-1], member, at)
        member, at = "", f"{name}.txt:{number}"
        head = re.fullmatch(r"\[([\w-]+)\] (analytic|everyday)", line)
        if head: out.append(Question(head[1], name, head[2]))
        elif line and not line.startswith("#"):
            if not out: raise Malformed(f"{at}: expected [ID] analytic or [ID] everyday")
            member = line
    return out


def read(name):
    """Returns the questions of a database; none if it has no file yet. Raises Malformed with file and line."""
    path = os.path.join(HERE, "questions", name + ".txt")
    if not os.path.exists(path): return []
    with open(path, encoding="utf-8") as file: return parse(name, file.read().split("\n"))
