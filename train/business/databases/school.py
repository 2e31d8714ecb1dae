"""A secondary school over two school years: classes, pupils, absences, marks and fees. Names are Spanish.

A teacher can be tutor of a class, teach a subject in it, stand in for a colleague, or note an absence.
"""

import datetime

SCHEMA = """
CREATE TABLE profesor (
  id_profesor INTEGER PRIMARY KEY,
  nombre TEXT NOT NULL,
  apellidos TEXT NOT NULL,
  departamento TEXT NOT NULL,
  fecha_alta DATE NOT NULL,
  fecha_baja DATE -- NULL: still at the school
);
CREATE TABLE clase (
  id_clase INTEGER PRIMARY KEY,
  curso TEXT NOT NULL, -- school year: '2022/23' or '2023/24'
  nivel INTEGER NOT NULL,
  grupo TEXT NOT NULL,
  id_tutor INTEGER REFERENCES profesor (id_profesor), -- NULL: no tutor yet
  plazas INTEGER NOT NULL
);
CREATE TABLE alumno (
  id_alumno INTEGER PRIMARY KEY,
  nombre TEXT NOT NULL,
  apellidos TEXT NOT NULL,
  fecha_nacimiento DATE NOT NULL,
  municipio TEXT, -- NULL: unknown
  becado BOOLEAN NOT NULL, -- has a scholarship
  es_prueba BOOLEAN NOT NULL, -- test record of the software
  fecha_baja DATE -- left the school; NULL: did not leave
);
CREATE TABLE matricula (
  id_matricula INTEGER PRIMARY KEY,
  id_alumno INTEGER NOT NULL REFERENCES alumno (id_alumno),
  id_clase INTEGER NOT NULL REFERENCES clase (id_clase),
  desde DATE NOT NULL,
  hasta DATE, -- last day in the class; NULL: still in it
  repite BOOLEAN NOT NULL -- repeats the year
);
CREATE TABLE asignatura (
  id_asignatura INTEGER PRIMARY KEY,
  nombre TEXT NOT NULL,
  horas_semana INTEGER NOT NULL
);
CREATE TABLE imparte (
  id_imparte INTEGER PRIMARY KEY,
  id_clase INTEGER NOT NULL REFERENCES clase (id_clase),
  id_asignatura INTEGER NOT NULL REFERENCES asignatura (id_asignatura),
  id_profesor INTEGER NOT NULL REFERENCES profesor (id_profesor),
  id_sustituto INTEGER REFERENCES profesor (id_profesor) -- stands in; NULL: nobody
);
CREATE TABLE falta (
  id_falta INTEGER PRIMARY KEY,
  id_alumno INTEGER NOT NULL REFERENCES alumno (id_alumno),
  id_imparte INTEGER NOT NULL REFERENCES imparte (id_imparte),
  fecha DATE NOT NULL, -- day of the lesson
  tipo TEXT NOT NULL CHECK (tipo IN ('ausencia', 'retraso')), -- missed the lesson or came late
  minutos INTEGER NOT NULL,
  justificada BOOLEAN, -- excused; NULL: not decided yet
  anotada_por INTEGER NOT NULL REFERENCES profesor (id_profesor),
  anotada_en TIMESTAMP NOT NULL,
  anulada BOOLEAN NOT NULL -- entered by mistake
);
CREATE TABLE nota (
  id_nota INTEGER PRIMARY KEY,
  id_alumno INTEGER NOT NULL REFERENCES alumno (id_alumno),
  id_imparte INTEGER NOT NULL REFERENCES imparte (id_imparte),
  trimestre INTEGER NOT NULL,
  tipo TEXT NOT NULL, -- examen, trabajo, recuperacion (resit)
  puntos NUMERIC(4,1), -- 0 to 10, passed from 5; NULL: did not turn up
  peso INTEGER NOT NULL, -- weight in percent
  fecha DATE NOT NULL,
  publicada_en TIMESTAMP -- NULL: not published
);
CREATE TABLE recibo (
  id_recibo INTEGER PRIMARY KEY,
  id_alumno INTEGER NOT NULL REFERENCES alumno (id_alumno),
  concepto TEXT NOT NULL, -- comedor (canteen), transporte (bus), material
  mes TEXT NOT NULL, -- 'YYYY-MM' that is billed
  importe_cent INTEGER NOT NULL,
  emitido DATE NOT NULL,
  cobrado_en TIMESTAMP, -- money received
  estado TEXT NOT NULL CHECK (estado IN ('emitido', 'cobrado', 'devuelto', 'anulado'))
);
"""

FIRST = ["Ana", "Luis", "Marta", "Pablo", "Carmen", "Diego", "Elena", "Javier", "Nuria", "Hugo", "Irene", "Mateo"]
LAST = ["Ruiz", "Navarro", "Gil", "Vega", "Campos", "Soler", "Prieto", "Molina", "Ibarra", "Lozano"]
SUBJECTS = [
    ("Matemáticas", 5),
    ("Lengua", 4),
    ("Inglés", 3),
    ("Historia", 3),
    ("Biología", 3),
    ("Música", 2),
    ("Latín", 2),
]
DEPARTMENTS = ["Ciencias", "Letras", "Idiomas", "Artes"]
MONTHS = [(9, 0), (10, 0), (11, 0), (12, 0), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)]
FEES = {"comedor": 11850, "transporte": 4200, "material": 2500}


def teachers(random):
    for i in range(1, 27):
        left = datetime.date(2023, random.randrange(1, 9), 28) if i in (4, 11, 19) else None
        name = ("Ana", "Ruiz") if i in (2, 9) else (random.choice(FIRST), random.choice(LAST))  # two share a name
        hired = datetime.date(random.randrange(2004, 2023), random.choice([1, 9]), 1)
        yield i, *name, DEPARTMENTS[i % 4 if i != 26 else 3], hired, left


def day_of(random, year, month, first=1):
    return datetime.date(year, month, random.randrange(first, 29))


def absences(random, pupil, lessons, year, careless):
    """Rows of falta without id: none in February 2024, the new software came then."""
    for _ in range(random.choice([0, 1, 2, 3, 4, 6, 8]) + careless):
        month, later = random.choice(MONTHS)
        day = day_of(random, year + later, month)
        if (day.year, day.month) == (2024, 2):
            continue
        if random.random() < 0.06:
            day = (day.replace(day=28) + datetime.timedelta(days=4)).replace(day=1) - datetime.timedelta(days=1)
        lesson, teacher, stand_in = random.choice(lessons)
        kind = random.choices(["ausencia", "retraso"], [3, 2])[0]
        wait = random.choice([0, 0, 0, 0, 1, 3])
        hour = (23, 59) if day.day > 28 else (random.randrange(8, 18), random.randrange(60))
        at = datetime.datetime.combine(day + datetime.timedelta(days=wait), datetime.time(*hour, 20))
        noted = stand_in if stand_in and random.random() < 0.5 else teacher
        yield (
            pupil,
            lesson,
            day,
            kind,
            55 if kind == "ausencia" else random.choice([5, 10, 10, 15, 20]),
            random.choices([True, False, None], [5, 3, 2])[0],
            noted,
            at,
            random.random() < 0.05,
        )


def marks(random, pupil, lesson, year, skill):
    for term, (month, later) in enumerate([(12, 0), (3, 1), (6, 1)], 1):
        failed = False
        for kind, weight in (("examen", 60), ("trabajo", 40)):
            day = day_of(random, year + later, month)
            points = max(0, min(10, round((skill + random.gauss(0, 1.6)) * 2) / 2)) if random.random() > 0.05 else None
            failed |= kind == "examen" and (points is None or points < 5)
            out = day + datetime.timedelta(days=random.choice([1, 3, 5, 9, 14]))
            open_ = term == 3 and later and year == 2023 and random.random() < 0.15
            yield pupil, lesson, term, kind, points, weight, day, (
                None if open_ else datetime.datetime.combine(out, datetime.time(random.choice([9, 14, 23]), 59))
            )
        if failed and random.random() < 0.5:
            again = datetime.date(year + later, month, 28)
            yield (
                pupil,
                lesson,
                term,
                "recuperacion",
                random.choice([3, 4, 5, 5, 6, None]),
                60,
                again,
                datetime.datetime.combine(again + datetime.timedelta(days=2), datetime.time(10, 0)),
            )


def fees(random, pupil, year):
    kinds = random.choice([[], ["comedor"], ["comedor", "transporte"], ["transporte"], ["comedor", "material"]])
    for month, later in MONTHS:
        for kind in kinds:
            if kind == "material" and month != 9:
                continue
            issued = datetime.date(year + later, month, 5)
            state = random.choices(["cobrado", "emitido", "devuelto", "anulado"], [14, 2, 2, 1])[0]
            paid = datetime.datetime.combine(
                issued + datetime.timedelta(days=random.choice([2, 8, 15, 30])),
                datetime.time(random.choice([8, 12, 23]), 59),
            )
            yield pupil, kind, f"{issued:%Y-%m}", FEES[kind], issued, paid if state == "cobrado" else None, state


def rows(random):
    for row in teachers(random):
        yield "profesor", row
    classes = [(year, level, group) for year in (2022, 2023) for level in (1, 2, 3) for group in "AB"] + [
        (2023, 3, "C")
    ]
    tutors = random.sample(range(1, 20), 9)
    for i, (year, level, group) in enumerate(classes, 1):
        tutor = None if group == "C" else tutors[(i * 2) % 9]
        yield "clase", (i, f"{year}/{year - 1999}", level, group, tutor, 20 if group == "A" else 18)
    for i, row in enumerate(SUBJECTS, 1):
        yield "asignatura", (i, *row)
    lessons, n = {}, 0
    for c in range(1, 13):  # Latin is not taught, and 3C has no lessons
        for subject in range(1, 7):
            n += 1
            teacher = random.randrange(1, 21)
            stand_in = random.randrange(21, 25) if random.random() < 0.25 else None
            lessons.setdefault(c, []).append((n, teacher, stand_in))
            yield "imparte", (n, c, subject, teacher, stand_in)
    pupils, gone = {}, {}  # pupil → level in 2022/23; pupil → day of leaving
    for i in range(1, 151):
        start = random.choice([0, 1, 1, 2, 2, 3])
        pupils[i] = start
        gone[i] = day_of(random, 2024, random.choice([3, 4, 6])) if i % 31 == 0 else None
        born = datetime.date(2010 - start, random.randrange(1, 13), random.randrange(1, 29))
        yield "alumno", (
            i,
            random.choice(FIRST),
            f"{random.choice(LAST)} {random.choice(LAST)}",
            born,
            random.choice(["Getafe", "Leganés", "Parla", "Getafe", None]),
            random.random() < 0.25,
            i in (40, 90, 140),
            gone[i],
        )
    counters = dict.fromkeys(["matricula", "falta", "nota", "recibo"], 0)

    def numbered(table, values):
        counters[table] += 1
        return table, (counters[table], *values)

    for i, level in pupils.items():
        skill = random.gauss(6.2, 1.4)
        for year in (2022, 2023):
            repeats = year == 2023 and level > 0 and random.random() < 0.12
            at = level if year == 2022 or repeats else level + 1
            if not 1 <= at <= 3 or i % 50 == 7:
                continue  # some pupils are never enrolled
            c = (year - 2022) * 6 + (at - 1) * 2 + random.choice([1, 2])
            start, end = datetime.date(year, 9, 11), datetime.date(2023, 6, 23) if year == 2022 else None
            if random.random() < 0.08:  # the pupil moves to the parallel class
                moved = datetime.date(year + 1, 1, random.choice([8, 15]))
                yield numbered("matricula", (i, c, start, moved - datetime.timedelta(days=1), repeats))
                start, c = moved, c + (1 if c % 2 else -1)
            if year == 2023:
                end = gone[i]
            yield numbered("matricula", (i, c, start, end, repeats))
            for row in absences(random, i, lessons[c], year, 5 * (i % 20 == 3)):
                yield numbered("falta", row)
            for lesson, _, _ in lessons[c]:
                for row in marks(random, i, lesson, year, skill):
                    yield numbered("nota", row)
            for row in fees(random, i, year):
                yield numbered("recibo", row)
