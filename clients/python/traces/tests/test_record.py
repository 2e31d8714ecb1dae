"""Real models of two kinds, small and untrained: what is recorded is what they did."""

import http.server
import json
import threading

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load
from transformers import GPT2Config, GPT2LMHeadModel, T5Config, T5ForConditionalGeneration

from assay_traces import FORMAT, Names, Refused, Writer, message, record, send

NAMES = Names({"singer": [5, 6], "singer_in_concert": [5, 6, 7], "concert": [8], "stadium": [9, 10]},
              separator=[2, 3], end=1)
INPUTS = {"input_ids": torch.tensor([[11, 12, 13, 14]]), "attention_mask": torch.ones(1, 4, dtype=torch.long)}


def encoder_decoder():
    return T5ForConditionalGeneration(T5Config(vocab_size=20, d_model=16, d_kv=4, d_ff=32, num_layers=2,
                                               num_decoder_layers=3,
                                               num_heads=4, decoder_start_token_id=0, pad_token_id=0,
                                               eos_token_id=1)).eval()


def causal():
    return GPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=64, n_embd=16, n_layer=3, n_head=4, bos_token_id=0,
                                      eos_token_id=1, pad_token_id=0)).eval()


MODELS = {"encoder-decoder": encoder_decoder, "causal": causal}


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    torch.manual_seed(3)
    return MODELS[request.param]()


def forward(model, prefix):
    """The last position's hidden states and logits, from one plain forward pass over what was written."""
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            out = model(**INPUTS, decoder_input_ids=torch.tensor([[0, *prefix]]), output_hidden_states=True)
            return out.decoder_hidden_states, out.logits[0, -1]
        ids = torch.cat([INPUTS["input_ids"], torch.tensor([prefix], dtype=torch.long)], 1)
        out = model(input_ids=ids, output_hidden_states=True)
        return out.hidden_states, out.logits[0, -1]


GOLDS = [["singer"], ["concert", "stadium"], ["singer_in_concert", "concert"], []]


@pytest.mark.parametrize("gold", GOLDS, ids=str)
def test_choices_and_states_are_those_of_a_plain_forward_pass(model, gold):
    trace = record(model, INPUTS, NAMES, gold=gold)
    fed = NAMES.encode(gold)
    tokens = trace.line["tokens"]
    assert [t["gold_id"] for t in tokens] == fed
    for at, token in enumerate(tokens):
        hidden, logits = forward(model, fed[:at])
        allowed = NAMES.allowed(fed[:at])
        assert token["id"] == allowed[int(logits[allowed].argmax())]
        assert token["probability"] == pytest.approx(float(torch.softmax(logits[allowed], -1).max()), abs=1e-4)
        for layer, rows in trace.states.items():
            assert torch.allclose(rows[at].float(), hidden[layer][0, -1], atol=2e-2, rtol=2e-2)
        if token["id"] != token["gold_id"]: assert NAMES.is_whole(fed[:at] + [token["id"], *token["continuation"]])
        else: assert "continuation" not in token


def test_without_gold_the_model_goes_its_own_way(model):
    trace = record(model, INPUTS, NAMES)
    ids = [t["id"] for t in trace.line["tokens"]]
    assert ids[-1] == NAMES.end and NAMES.read(ids)[1] == []
    assert all("gold_id" not in t for t in trace.line["tokens"])
    again = record(model, INPUTS, NAMES, gold=[NAMES.names[i] for i in NAMES.read(ids)[0]])
    assert all(t["id"] == t["gold_id"]
               for t in again.line["tokens"]), "its own way taught back to it has no branching point"


def test_some_golds_have_branching_points(model):
    found = [t for gold in GOLDS for t in record(model, INPUTS, NAMES, gold=gold).line["tokens"] if t["id"]
             != t["gold_id"]]
    assert found, "an untrained model that is always right: the test shows nothing"


def test_files_hold_what_was_recorded(model, tmp_path):
    traces = [record(model, INPUTS, NAMES, gold=g, layers=[1, 3], id=str(i), database="d", question="?", stage="tables")
              for i, g in enumerate(GOLDS)]
    with Writer(tmp_path / "t", "small") as out:
        for trace in traces: out.write(trace)
    lines = [json.loads(line) for line in open(tmp_path / "t.jsonl", encoding="utf-8")]
    assert [line["id"] for line in lines] == ["0", "1", "2", "3"]
    assert all(line["format"] == FORMAT for line in lines)
    with safe_open(tmp_path / "t.safetensors", "pt") as states:
        assert sorted(states.keys()) == ["layer_1", "layer_3"] and states.metadata()["format"] == FORMAT
        rows = states.get_tensor("layer_3")
    assert rows.dtype == torch.float16 and rows.shape == (sum(len(line["tokens"]) for line in lines), 16)
    assert torch.equal(rows[:len(lines[0]["tokens"])], traces[0].states[3])


def test_what_cannot_be_recorded_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="batch of one"):
        record(model, {"input_ids": torch.zeros(2, 3, dtype=torch.long)}, NAMES)
    with pytest.raises(ValueError): record(model, INPUTS, NAMES, gold=["no such table"])
    with pytest.raises(ValueError, match="layers"), Writer(tmp_path / "t") as out:
        out.write(record(model, INPUTS, NAMES, gold=["singer"], layers=[1]))
        out.write(record(model, INPUTS, NAMES, gold=["singer"], layers=[2]))
    assert not list(tmp_path.iterdir()), "half a recording is none"


def test_a_message_is_a_file_of_its_own(model):
    trace = record(model, INPUTS, NAMES, gold=["singer"], layers=[2], id="1", database="d", question="wo?",
                   stage="tables")
    bytes_of = message(trace, "small")
    states = load(bytes_of)
    assert list(states) == ["layer_2"] and torch.equal(states["layer_2"], trace.states[2])
    header = json.loads(bytes_of[8:8 + int.from_bytes(bytes_of[:8], "little")])["__metadata__"]
    assert json.loads(header["trace"]) == {"format": FORMAT, **trace.line} and header["model"] == "small"


class Door(http.server.BaseHTTPRequestHandler):
    """A stand-in for `assay serve` that says what it is told to; the real one is in tests/live/test_serve.c."""

    def do_POST(self):
        taken = self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.server.answer
        self.server.seen = (self.path, len(taken))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_): pass


@pytest.fixture
def door():
    server = http.server.HTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_trace_is_sent_and_the_answer_or_the_refusal_comes_back(model, door):
    trace, url = record(model, INPUTS, NAMES, gold=["singer"], stage="tables"), f"http://127.0.0.1:{door.server_port}/"
    door.answer = (200, {"id": "1", "linking": {"uncertain": []}})
    assert send(url, trace) == door.answer[1] and door.seen == ("/v1/linkings", len(message(trace)))
    door.answer = (400, {"detail": "layer 7 is missing"})
    with pytest.raises(Refused, match="layer 7 is missing"): send(url, trace)
    door.answer = (503, {"detail": "shutting down"})
    with pytest.raises(OSError): send(url, trace)
