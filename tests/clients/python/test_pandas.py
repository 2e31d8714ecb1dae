"""Tests frames of real verdicts and of a real evaluation."""
import json
import os
import subprocess

import pandas
import pytest
from served import SAMPLES

from assay import Engine, MalformedAnswer, Verdict
from assay.pandas import evaluation, verdicts


@pytest.fixture(scope="module")
def replayed(databases, tmp_path_factory):
    out = tmp_path_factory.mktemp("replay") / "verdicts.jsonl"
    subprocess.run([os.environ["ASSAY_TEST_PROGRAM"], "replay", SAMPLES / "questions.jsonl", "--db-root", databases,
                    "--format", "jsonl", "--out", out], check=True, capture_output=True)
    return out


def test_file_of_verdicts(replayed):
    raw = [json.loads(line) for line in replayed.read_text("utf-8").splitlines()]
    frames = verdicts(replayed)
    assert (list(frames.verdicts.id) == [one["id"] for one in raw]
            and list(frames.verdicts.status) == [one["status"] for one in raw])
    assert len(frames.candidates) == sum(len(one["candidates"]) for one in raw)
    assert frames.verdicts.p_correct.dtype == float and frames.verdicts.chosen.dtype == "Int64"
    assert frames.verdicts.validated.sum() == sum(one["status"] in ("validated", "repaired") for one in raw)
    chosen = frames.candidates[frames.candidates.chosen].merge(frames.verdicts, left_on="row", right_index=True,
                                                               suffixes=("", "_verdict"))
    assert (chosen["index"] == chosen.chosen_verdict).all() and (chosen.sql == chosen.sql_verdict).all()
    fired = (frames.candidates[[name for name in raw[0]["candidates"][0]["signals"]]] == "fired").sum(axis=1)
    assert (fired <= frames.candidates.fired).all() and fired.sum() > 0


def test_verdicts_of_any_kind(replayed):
    lines = replayed.read_text("utf-8").splitlines()
    whole = verdicts(replayed)
    for source in (lines, map(json.loads, lines), [Verdict.parse(line) for line in lines],
                   (line.encode() for line in lines)):
        frames = verdicts(source)
        pandas.testing.assert_frame_equal(frames.verdicts, whole.verdicts)
        pandas.testing.assert_frame_equal(frames.candidates, whole.candidates)


def test_no_verdicts_have_the_same_columns(replayed):
    none, some = verdicts([]), verdicts(replayed)
    assert len(none.verdicts) == 0 and list(none.verdicts) == list(some.verdicts)
    assert set(none.candidates) <= set(some.candidates)


def test_failed_verdict(databases):
    with Engine(database_root=databases) as engine:
        frames = verdicts([engine.judge({"db": "nowhere", "question": "q", "candidates": ["SELECT 1"]})])
    assert frames.verdicts.reason[0] == "db_missing" and frames.verdicts.chosen.isna().all()


def test_malformed_verdict_is_reported(replayed):
    with pytest.raises(MalformedAnswer, match="verdict 2: no JSON"):
        verdicts([replayed.read_text("utf-8").splitlines()[0], "{"])


def test_evaluation_frames(databases, tmp_path):
    report = tmp_path / "report.json"
    with open(report, "wb") as out:
        subprocess.run([os.environ["ASSAY_TEST_PROGRAM"], "eval", SAMPLES / "questions.jsonl", "--db-root", databases,
                        "--format", "json"], check=True, stdout=out, stderr=subprocess.DEVNULL)
    raw, frames = json.loads(report.read_text("utf-8")), evaluation(report)
    of_all = frames.selection[frames.selection.level == "all"].set_index("choice")
    assert (of_all.accuracy["assay"] == raw["selection"]["assay"]
            and of_all.low["oracle"] == raw["selection"]["intervals"]["oracle"][0])
    assert set(frames.selection.level) == {"all"} | {one["level"] for one in raw["difficulty"]}
    easy = frames.selection[(frames.selection.level == "easy") & (frames.selection.choice == "assay")].iloc[0]
    assert (easy.questions, easy.low) == (raw["difficulty"][0]["questions"], raw["difficulty"][0]["interval"][0])
    assert list(frames.signals.name) == [one["name"] for one in raw["signals"]] and "all" not in frames.signals
    assert frames.detection.set_index("measure").value["auc"] == raw["detection"]["auc"]
    assert frames.calibration[frames.calibration["of"] == "answers"].n.sum() == raw["calibration"]["answers"]["n"]
    assert list(frames.contrasts.against) == [one["against"] for one in raw["selection"]["contrasts"]]
    assert len(evaluation(raw).signals) == len(frames.signals)
