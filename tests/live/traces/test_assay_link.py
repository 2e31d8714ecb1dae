"""Tests the path from a real model's recordings to a predictor of its errors, and to the linking of a request. `assay
link` reads the output of the package."""

import json, os, random, subprocess

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from assay_traces import Names, Writer, record

# Names of several tokens and a separator, like the output of a large model's tokenizer.
NAMES = Names({"singer": [5, 6], "singer_in_concert": [5, 6, 7], "concert": [8], "stadium": [9, 10]}, separator=[2, 3],
              end=1)


def assay(*args):
    return subprocess.run([os.environ["ASSAY_BINARY"], "link", *args], capture_output=True, text=True, timeout=120)


def write(path, model, seed):
    rng = random.Random(seed)
    with Writer(path, "small") as out:
        for i in range(60):
            for stage in ("tables", "columns"):
                prompt = torch.tensor([[rng.randrange(11, 40) for _ in range(6)]])
                inputs = {"input_ids": prompt, "attention_mask": torch.ones_like(prompt)}
                gold = [name for name in NAMES.names if rng.random() < 0.5]
                out.write(record(model, inputs, NAMES, gold=gold, id=str(i), database="d", question="?", stage=stage))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("recordings")
    model = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=64, n_embd=16, n_layer=2, n_head=2, bos_token_id=0,
                                       eos_token_id=1,
                                       pad_token_id=0)).eval()
    for seed, name in enumerate(("learn", "calibrate", "fresh")): write(folder / name, model, seed)
    return folder


def test_predictor_is_trained_on_output_of_package(recordings):
    run = assay("train", f"{recordings}/learn", "--calibrate-on", f"{recordings}/calibrate", "--out",
                f"{recordings}/predictor",
                "--units", "8", "--epochs", "5")
    assert run.returncode == 0, run.stderr
    run = assay("eval", f"{recordings}/fresh", "--predictor", f"{recordings}/predictor", "--format", "json")
    assert run.returncode == 0, run.stderr
    measures = json.loads(run.stdout)
    lines = [json.loads(line) for line in open(f"{recordings}/fresh.jsonl", encoding="utf-8")]
    for stage in ("tables", "columns"):
        tokens = [t for line in lines if line["stage"] == stage for t in line["tokens"]]
        assert measures[stage]["tokens"] == len(tokens)
        assert measures[stage]["branching"] == sum(t["id"] != t["gold_id"] for t in tokens) > 0
    run = assay("judge", f"{recordings}/fresh", "--predictor", f"{recordings}/predictor")
    assert run.returncode == 0, run.stderr
    linkings = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(linkings) == 60 and all(set(x["linking"]["tables"]) <= set(NAMES.names) for x in linkings)


def test_incomplete_recording_is_refused(recordings):
    with open(f"{recordings}/fresh.jsonl", encoding="utf-8") as f: lines = f.readlines()
    with open(f"{recordings}/half.jsonl", "w", encoding="utf-8") as f: f.writelines(lines[:10])
    os.link(f"{recordings}/fresh.safetensors", f"{recordings}/half.safetensors")
    run = assay("judge", f"{recordings}/half", "--predictor", f"{recordings}/predictor")
    assert run.returncode == 2 and "do not match" in run.stderr
