"""What a linker may write: names of a schema, in any order or in that of the candidates, with a separator between them,
and an end."""


class Names:
    """Candidates and their tokens.

    candidates: name to token ids. separator: ids between two names; may be empty, if no name's ids begin with
    another's. end: the id that ends the list. ordered: names come in the order of the candidates, so that a set of
    names can be written in one way only.
    """

    def __init__(self, candidates, separator=(), end=1, ordered=True):
        self.names = list(candidates)
        self.ids = [list(ids) for ids in candidates.values()]
        self.separator, self.end, self.ordered = list(separator), end, ordered
        self._check()

    def _check(self):
        seen = {}
        for name, ids in zip(self.names, self.ids):
            if not ids: raise ValueError(f"candidate {name!r} has no tokens")
            if self.end in ids: raise ValueError(f"candidate {name!r} holds the token {self.end}, which ends the list")
            if tuple(ids) in seen:
                raise ValueError(f"candidates {seen[tuple(ids)]!r} and {name!r} have the same tokens")
            seen[tuple(ids)] = name
        if self.separator: return
        for ids in self.ids:
            for n in range(1, len(ids)):
                if tuple(ids[:n]) in seen:
                    raise ValueError(f"the tokens of {seen[tuple(ids[:n])]!r} begin another name: a separator is "
                                     "needed")

    def encode(self, names):
        """The ids of a list of names, the end with them. In candidates' order where names are ordered."""
        numbers = [self.names.index(name) for name in names]
        out = []
        for i in sorted(numbers) if self.ordered else numbers:
            if out: out += self.separator
            out += self.ids[i]
        return out + [self.end]

    def read(self, ids):
        """(numbers of the names that are finished, ids of the one that is not, ids of the separator begun). A name is
        finished when something follows it. ValueError: no list of names begins so."""
        done, rest, of_separator = [], [], 0
        for token in ids:
            if of_separator:
                if token != self.separator[of_separator]: raise ValueError(f"token {token} where the separator goes on")
                of_separator = (of_separator + 1) % len(self.separator)
            elif any(name[:len(rest) + 1] == [*rest, token] for name in self.ids):
                rest.append(token)
            elif rest in self.ids or (token == self.end and not done and not rest):
                if rest: done.append(self.ids.index(rest))
                if token == self.end: return done, [], 0
                rest = [] if self.separator else [token]
                if self.separator: of_separator = 1 % len(self.separator)
            else:
                raise ValueError(f"token {token} continues no name")
        return done, rest, of_separator

    def allowed(self, ids):
        """The ids that may follow."""
        done, rest, of_separator = self.read(ids)
        if of_separator: return [self.separator[of_separator]]
        left = [self.ids[i] for i in self._left(done)]
        out = {name[len(rest)] for name in left if name[:len(rest)] == rest and len(name) > len(rest)}
        if rest in left:
            after = self._left([*done, self.ids.index(rest)])
            if after: out |= {self.separator[0]} if self.separator else {self.ids[i][0] for i in after}
        if rest in left or (not done and not rest): out.add(self.end)
        return sorted(out)

    def _left(self, done):
        first = done[-1] + 1 if self.ordered and done else 0
        return [i for i in range(first, len(self.ids)) if i not in done]

    def is_whole(self, ids):
        """Is the last name of `ids` whole, or none begun?"""
        _, rest, _ = self.read(ids)
        return not rest or rest in self.ids
