"""Writes measured rows as CSV, each with the commit and the machine that they were measured on.

A row is a dictionary from the name of a column to a plain value; the name has the unit (`p50_ms`). The files are in
bench/results, whose README says which command writes each. Quoting is that of RFC 4180, the encoding UTF-8.
"""
import csv, os, shutil, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "results")
STAMP = ("commit", "machine")


def commit():
    """The short hash of HEAD, with '+' if a tracked file other than a result has changed; empty without git."""
    if not shutil.which("git"): return ""
    git = lambda *command: subprocess.run(["git", *command], cwd=HERE, capture_output=True, text=True, check=False)
    head = git("rev-parse", "--short", "HEAD").stdout.strip()
    dirty = head and git("diff", "--quiet", "HEAD", "--", ":/", ":!/bench/results").returncode
    return head + ("+" if dirty else "")


def machine():
    """The number of cores, the CPU model and the memory of this machine."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((text.split(":", 1)[1].strip() for text in lines if text.startswith("model name")), model)
    with open("/proc/meminfo", encoding="ascii") as lines: memory = round(int(next(lines).split()[1]) / (1 << 20))
    return {"cores": os.cpu_count(), "model": model, "memory_gib": memory}


def stamp():
    on = machine()
    return {"commit": commit(), "machine": f"{on['cores']} x {on['model']}, {on['memory_gib']} GiB"}


def read(path):
    """The rows of a file; none if it does not exist."""
    if not os.path.exists(path): return []
    with open(path, newline="", encoding="utf-8") as file: return list(csv.DictReader(file))


def save(path, rows):
    """Writes the rows to `path`, stamped. Does nothing if `path` is None: the option --csv was not given."""
    if path is None: return
    on = stamp()
    exact = lambda value: round(value, 6) if isinstance(value, float) else value
    rows = [{**{name: exact(value) for name, value in row.items()}, **{name: row.get(name, on[name]) for name in STAMP}}
            for row in rows]
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in STAMP]
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*columns, *STAMP], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write(name, rows, folder=FOLDER, key=None):
    """Writes `folder`/`name`.csv. With `key`, old rows whose value of that column is in no new row stay."""
    path = os.path.join(folder, name + ".csv")
    new = {row[key] for row in rows} if key else set()
    save(path, [row for row in read(path) if key and row[key] not in new] + rows)


def add_option(parser):
    parser.add_argument("--csv", metavar="FILE", help="write the rows to a CSV file too, with commit and machine")
