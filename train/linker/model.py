"""The small schema linker: an encoder and a decoder.

The encoder reads words, tables and columns. Its attention uses the relations between them (after RAT-SQL). The decoder
points at the next table or column, or ends the list. The model is a Hugging Face encoder-decoder, so `generate` writes
the list, and the recorder of such models records this one too.

Token 0 begins a list, token 1 ends it, and token 2 + i is candidate i.
"""

import math

import torch
from torch import nn
from torch.nn import functional
from transformers import GenerationConfig, GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

from features import KINDS, LONGEST, MATCHES, RELATIONS

BEGIN, END, FIRST = 0, 1, 2
NEVER = -1e4
SHARES, LEAST = 8, -12.0  # number of shares stored with a state, and the lowest, as logarithms


class LinkerConfig(PretrainedConfig):
    model_type = "assay-schema-linker"

    def __init__(self, words=1000, width=128, heads=4, encoder_layers=3, decoder_layers=3, dropout=0.15, **more):
        self.words, self.width, self.heads, self.dropout = words, width, heads, dropout
        self.encoder_layers, self.decoder_layers = encoder_layers, decoder_layers
        more.update(is_encoder_decoder=True, pad_token_id=BEGIN, decoder_start_token_id=BEGIN, eos_token_id=END,
                    bos_token_id=BEGIN,
                    vocab_size=FIRST + LONGEST, hidden_size=width)
        super().__init__(**more)


class Attention(nn.Module):
    """Attention with relations. `relations` (batch x to x from) adds to the score of each head and to the values."""

    def __init__(self, width, heads, n_relations=0):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.score = nn.Embedding(n_relations, heads) if n_relations else None
        self.value = nn.Embedding(n_relations, width) if n_relations else None
        self.n_relations = n_relations

    def forward(self, x, source, mask, relations=None):
        batch, to, width = x.shape
        part = lambda y: y.view(batch, -1, self.heads, self.size).transpose(1, 2)
        q, k, v = part(self.q(x)), part(self.k(source)), part(self.v(source))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.size)
        if relations is not None: scores = scores + self.score(relations).permute(0, 3, 1, 2)
        weights = scores.masked_fill(~mask, NEVER).softmax(-1)
        read = (weights @ v).transpose(1, 2).reshape(batch, to, width)
        if relations is not None:
            # the attention along each relation, times the value of the relation
            share = torch.zeros(batch, self.heads, to, self.n_relations).scatter_add(3,
                                                                                     relations[:, None].expand(
                                                                                         -1, self.heads, -1, -1),
                                                                                     weights)
            table = self.value.weight.view(self.n_relations, self.heads, self.size).permute(1, 0, 2)
            read = read + (share @ table).transpose(1, 2).reshape(batch, to, width)
        return self.out(read)


class Layer(nn.Module):
    def __init__(self, config, n_relations=0, crosses=False):
        super().__init__()
        width = config.width
        self.attention, self.norm = Attention(width, config.heads, n_relations), nn.LayerNorm(width)
        self.cross = Attention(width, config.heads) if crosses else None
        self.cross_norm = nn.LayerNorm(width) if crosses else None
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.GELU(),
                                  nn.Dropout(config.dropout), nn.Linear(3 * width, width))
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x, mask, relations=None, source=None, source_mask=None):
        y = self.norm(x)
        x = x + self.drop(self.attention(y, y, mask, relations))
        if self.cross: x = x + self.drop(self.cross(self.cross_norm(x), source, source_mask))
        return x + self.drop(self.feed(x))


class Encoder(nn.Module):
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(config.words, config.width, padding_idx=0)
        self.kinds = nn.Embedding(len(KINDS), config.width)
        self.marks = nn.Linear(2 * len(MATCHES), config.width, bias=False)
        self.layers = nn.ModuleList(Layer(config, len(RELATIONS)) for _ in range(config.encoder_layers))
        self.norm, self.drop = nn.LayerNorm(config.width), nn.Dropout(config.dropout)

    def forward(self, input_ids, attention_mask, kinds, marks, relations, **_):
        known = (input_ids != 0).float()
        text = self.words(input_ids).sum(2) / known.sum(2, keepdim=True).clamp(min=1)
        x = self.drop(text + self.kinds(kinds) + self.marks(marks.flatten(2)))
        mask = attention_mask[:, None, None].bool()
        for layer in self.layers: x = layer(x, mask, relations)
        return BaseModelOutput(last_hidden_state=self.norm(x))


def order_code(n, width):
    """Returns a code for the position of each candidate in the order."""
    at = torch.arange(n)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(1000.0) / width))
    return torch.cat([at.sin(), at.cos()], -1)


class SchemaLinker(PreTrainedModel, GenerationMixin):
    config_class = LinkerConfig
    main_input_name = "input_ids"
    _supports_cache_class = False

    def __init__(self, config):
        super().__init__(config)
        width = config.width
        self.encoder = Encoder(config)
        self.order = nn.Linear(width, width)
        self.begin, self.end = nn.Parameter(torch.randn(width) * 0.1), nn.Parameter(torch.randn(width) * 0.1)
        self.decoder = nn.ModuleList(Layer(config, crosses=True) for _ in range(config.decoder_layers - 1))
        self.last = Layer(config, crosses=True)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.point, self.pointed = nn.Linear(width, width), nn.Linear(width, width)
        self.chosen, self.doubt = nn.Linear(width, width), nn.Linear(4, width)
        self.needed = nn.Linear(width, 1)
        self.generation_config = GenerationConfig.from_model_config(config)
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, nn.Linear): nn.init.xavier_uniform_(module.weight)
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1 if module.embedding_dim > self.config.heads else 0.02)

    def get_encoder(self):
        return self.encoder

    def prepare_inputs_for_generation(self, decoder_input_ids, encoder_outputs=None, attention_mask=None,
                                      candidates=None, **_):
        return {"decoder_input_ids": decoder_input_ids, "encoder_outputs": encoder_outputs,
                "attention_mask": attention_mask,
                "candidates": candidates}

    def _scores(self, state, choices, exists):
        scores = self.point(state) @ self.pointed(choices).transpose(1, 2) / math.sqrt(self.config.width)
        return scores.masked_fill(~exists[:, None], NEVER)

    def forward(self, input_ids=None, attention_mask=None, kinds=None, marks=None, relations=None, candidates=None,
                encoder_outputs=None,
                decoder_input_ids=None, output_hidden_states=None, return_dict=None, **_):
        if encoder_outputs is None: encoder_outputs = self.encoder(input_ids, attention_mask, kinds, marks, relations)
        seen = (encoder_outputs.last_hidden_state if hasattr(encoder_outputs, "last_hidden_state")
                else encoder_outputs[0])
        batch, steps = decoder_input_ids.shape
        rows = torch.arange(batch)[:, None]
        named = seen[rows, candidates.clamp(min=0)] + self.order(order_code(candidates.shape[1], self.config.width))
        # the choices, END first, and the earlier choices
        choices = torch.cat([self.end.expand(batch, 1, -1), named], 1)
        exists = torch.cat([torch.ones(batch, 1, dtype=torch.bool), candidates >= 0], 1)
        x = torch.cat([self.begin.expand(batch, 1, -1), choices], 1)[rows, decoder_input_ids]
        causal = torch.ones(steps, steps, dtype=torch.bool).tril()[None, None]
        states, source = [x], torch.cat([seen, choices], 1)
        source_mask = torch.cat([attention_mask.bool(), exists], 1)[:, None, None]
        for layer in self.decoder:
            x = layer(x, causal, None, source, source_mask)
            states.append(x)
        # a first choice and its uncertainty; the last layer may revise the choice
        first = self._may_follow(self._scores(self.norms[0](x), choices, exists), decoder_input_ids)
        share = first.softmax(-1)
        top = share.topk(min(2, share.shape[-1])).values
        doubt = torch.stack([top[..., 0], top[..., -1], -(share * share.clamp(min=1e-9).log()).sum(-1), share[..., 0]],
                            -1)
        x = x + self.chosen(share @ choices) + self.doubt(doubt)
        x = self.last(x, causal, None, source, source_mask)
        states.append(x)
        scores = self._may_follow(self._scores(self.norms[1](x), choices, exists), decoder_input_ids)
        logits = torch.full((batch, steps, self.config.vocab_size), NEVER)
        logits[..., END:END + scores.shape[-1]] = scores
        hidden = (tuple(self._with_shares(x, self.norms[x is states[-1]], choices, exists, decoder_input_ids)
                        for x in states) if output_hidden_states else None)
        out = Seq2SeqLMOutput(logits=logits, decoder_hidden_states=hidden)
        out.first, out.scores, out.item_scores = first, scores, self.needed(seen).squeeze(-1)
        return out

    def _with_shares(self, state, norm, choices, exists, tokens):
        """Returns a state as it is recorded: with the highest shares of a choice made from it, in descending order. The
        scores of a vocabulary follow from the state alone; those of a pointer depend on the candidates too."""
        shares = self._may_follow(self._scores(norm(state), choices, exists), tokens).log_softmax(-1)
        top = shares.topk(min(SHARES, shares.shape[-1])).values.clamp(min=LEAST)
        return torch.cat([state, functional.pad(top, (0, SHARES - top.shape[-1]), value=LEAST)], -1)

    @staticmethod
    def _may_follow(scores, tokens):
        """Masks choices that cannot follow. Names are written in their order, each once, so only later names or the end
        may follow."""
        reached = tokens[..., None] - END  # index of the last choice among the choices; 0 if there was none
        place = torch.arange(scores.shape[-1])
        return scores.masked_fill((place <= reached) & (place > 0), NEVER)
