"""One generation of a linker, recorded.

The model's own `generate` runs, greedily, held to the schema's names. With gold names it is taught as it goes: at each
place its own choice is noted, and the right token is what it goes on with. A place where the two differ is a branching
point: what the model would have gone wrong at. (Reliable Text-to-SQL with Adaptive Abstention, section 3.1.)
"""

from dataclasses import dataclass, field

import torch
from transformers import LogitsProcessor, LogitsProcessorList


@dataclass
class Trace:
    """`states`: layer number to a float16 tensor, a row a token: what the model knew when it chose that token."""

    line: dict
    states: dict = field(repr=False)


class _Recorder(LogitsProcessor):
    """Holds `generate` to the names, notes its choice, and goes on with the right token where that is known."""

    def __init__(self, names, begin, forced):
        self.names, self.begin, self.forced, self.choices = names, begin, forced, []

    def __call__(self, input_ids, scores):
        written = input_ids[0, self.begin:].tolist()
        allowed = self.names.allowed(written)
        held = torch.full_like(scores, float("-inf"))
        held[0, allowed] = scores[0, allowed]
        probabilities = torch.softmax(held[0].float(), -1)
        choice = int(probabilities.argmax())
        at = len(written)
        fed = self.forced[at] if at < len(self.forced) else choice
        self.choices.append((choice, fed, float(probabilities[choice])))
        out = torch.full_like(scores, float("-inf"))
        out[0, fed] = 0.0
        return out


def _generate(model, inputs, names, forced, longest, states):
    begin = 1 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
    recorder = _Recorder(names, begin, forced)
    with torch.no_grad():
        out = model.generate(**inputs, logits_processor=LogitsProcessorList([recorder]), do_sample=False, num_beams=1,
                             max_new_tokens=longest, eos_token_id=names.end, output_hidden_states=states,
                             return_dict_in_generate=True, use_cache=True)
    hidden = (out.decoder_hidden_states if model.config.is_encoder_decoder else out.hidden_states) if states else ()
    return recorder.choices, hidden


def _continuation(model, inputs, names, prefix, longest):
    """What the model goes on with after its own choice, up to where the name is whole."""
    if names.is_whole(prefix): return []
    choices, _ = _generate(model, inputs, names, prefix, longest, False)
    written = list(prefix)
    for _, fed, _ in choices[len(prefix):]:
        written.append(fed)
        if names.is_whole(written): break
    return written[len(prefix):]


def record(model, inputs, names, gold=None, layers=None, longest=512, **about):
    """A Trace of one generation.

    model: any Hugging Face causal or encoder-decoder model. inputs: what its tokenizer gave, a batch of one. gold: the
    right names; None: not known, and the model's own choices are what it goes on with. layers: numbers of its hidden
    states, 0 being the embeddings; None: all. longest: tokens at most. about: id, database, question, stage ("tables"
    or "columns").
    """
    if inputs["input_ids"].shape[0] != 1: raise ValueError("one generation at a time: a batch of one")
    forced = names.encode(gold) if gold is not None else []
    if len(forced) > longest: raise ValueError(f"{len(forced)} tokens of gold, of {longest} at most")
    choices, hidden = _generate(model, inputs, names, forced, longest, True)
    tokens = []
    for at, (choice, fed, probability) in enumerate(choices):
        token = {"id": choice, "probability": round(probability, 6)}
        if gold is not None:
            token["gold_id"] = fed
            if choice != fed:
                token["continuation"] = _continuation(model, inputs, names, [*forced[:at], choice], longest)
        tokens.append(token)
    chosen = range(len(hidden[0])) if layers is None else layers
    states = {k: torch.stack([step[k][0, -1] for step in hidden]).to(torch.float16).cpu() for k in chosen}
    candidates = [{"name": name, "ids": ids} for name, ids in zip(names.names, names.ids)]
    return Trace({**about, "candidates": candidates, "separator": names.separator, "end": names.end, "tokens": tokens},
                 states)
