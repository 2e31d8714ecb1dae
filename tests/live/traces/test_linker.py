"""Tests the small schema linker: its input features, its training, its constrained output. Its recordings have the
format of any other model's."""

import json, os, random, subprocess, sys

import pytest
import torch

import features, train
from link import Linker
from model import BEGIN, END, FIRST

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")
THINGS = ["singer", "concert", "stadium", "album"]


def column(name, key=False): return {"name": name, "words": name.split("_"), "key": key, "number": key}


def line_of(number, rng):
    """Makes a question for a column of one table, and for another table by name if both are needed."""
    wanted = sorted(rng.sample(range(len(THINGS)), rng.choice((1, 2))))
    words = ["show", "the", "name", "of", *" and ".join(THINGS[t] for t in wanted).split()]
    tables = [{"name": t, "words": [t], "columns": [column(f"{t}_id", True), column("name"), column("year")]}
              for t in THINGS]
    names = [[i, 1, THINGS.index(w), -1, 1.0] for i, w in enumerate(words)
             if w in THINGS] + [[2, 1, t, 1, 0.9] for t in wanted]
    return {"id": str(number), "db": f"db{number % 30}", "question": " ".join(words), "words": words, "names": names,
            "names_weakly": [], "holds": [],
            "tables": tables, "joins": [[[1, 0], [2, 0]]],
            "gold": {"tables": wanted, "columns": [[t, 1] for t in wanted]}}


@pytest.fixture(scope="module")
def lines():
    rng = random.Random(5)
    return [line_of(i, rng) for i in range(400)]


@pytest.fixture(scope="module")
def trained(lines, tmp_path_factory):
    folder = tmp_path_factory.mktemp("linker")
    with open(folder / "lines.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)
    command = [sys.executable, os.path.join(ROOT, "train/linker/train.py"), str(folder / "lines.jsonl"), "--out",
               str(folder / "model"), "--epochs", "20",
               "--width", "32", "--rate", "3e-3"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    return folder


def test_relations_mark_names_of_question(lines):
    words = train.find_words(lines)
    line = lines[0]
    sample = features.read(line, "tables", words)
    first = line["names"][0]
    relation = features.RELATIONS[sample.relations[first[0], len(line["words"]) + first[2]]]
    assert (relation == "word table exactly"
            and sample.marks[len(line["words"]) + first[2], 0, features.MATCHES.index("exactly")] == 1)
    assert sample.names == THINGS and sample.gold == line["gold"]["tables"]
    columns = features.read(line, "columns", words, line["gold"]["tables"])
    assert [columns.names[i] for i in columns.gold] == [f"{THINGS[t]}.name" for t in line["gold"]["tables"]]
    assert features.read(line, "columns", words, []) is None, "nothing to choose from"


def test_thinned_schema_keeps_gold_names(lines):
    words, rng = train.find_words(lines), random.Random(2)
    for line in lines[:40]:
        for stage in features.STAGES:
            sample = features.read(line, stage, words, line["gold"]["tables"])
            gold = {sample.names[i] for i in sample.gold}
            for other in (features.thinned(sample, rng, 0.9), features.shuffled(sample, rng),
                          features.shuffled(features.thinned(sample, rng, 0.5), rng)):
                assert {other.names[i] for i in other.gold} == gold and other.gold == sorted(other.gold)
                for name, position in zip(other.names, other.candidates):
                    assert torch.equal(other.texts[position], sample.texts[sample.candidates[sample.names.index(name)]])


def test_linker_learns_and_orders_names(trained, lines):
    linker, right = Linker(trained / "model"), 0
    for line in lines[:60]:
        trace = linker.record({k: v for k, v in line.items() if k != "gold"}, "tables")
        ids = [t["id"] for t in trace.line["tokens"]]
        assert (ids[-1] == END and ids[:-1] == sorted(set(ids[:-1]))
                and all(FIRST <= i < FIRST + len(THINGS) for i in ids[:-1]))
        right += [i - FIRST for i in ids[:-1]] == line["gold"]["tables"]
    assert right > 45, f"{right} of 60, where one of ten is right by chance"


def test_recorded_state_equals_plain_forward_pass(trained, lines):
    linker, line = Linker(trained / "model"), lines[3]
    inputs = features.batch([features.read(line, "tables", linker.words)])
    fed = torch.tensor([[BEGIN, *(FIRST + t for t in line["gold"]["tables"])]])
    with torch.no_grad(): out = linker.model(**inputs, decoder_input_ids=fed, output_hidden_states=True)
    trace = linker.record(line, "tables")
    assert sorted(trace.states) == list(range(len(out.decoder_hidden_states)))
    for layer, rows in trace.states.items():
        assert torch.allclose(rows.float(), out.decoder_hidden_states[layer][0], atol=2e-2, rtol=2e-2)
    assert [t["gold_id"] for t in trace.line["tokens"]] == [*fed[0, 1:].tolist(), END]


def test_program_reads_recordings(trained):
    for name, folds in (("learn", "0,1,2,3"), ("calibrate", "4,5,6,7,8,9")):
        subprocess.run([sys.executable, os.path.join(ROOT, "train/linker/link.py"), str(trained / "lines.jsonl"),
                        "--model", str(trained / "model"),
                        "--out", str(trained / name), "--folds", folds], check=True, timeout=400)
    run = subprocess.run([os.environ["ASSAY_BINARY"], "link", "train", str(trained / "learn"), "--calibrate-on",
                          str(trained / "calibrate"), "--out",
                          str(trained / "predictor"), "--epochs", "3"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 or "no branching points" in run.stderr, run.stderr
