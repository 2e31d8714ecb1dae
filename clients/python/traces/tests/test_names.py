"""What a linker may write, token by token."""

import pytest

from assay_traces import Names

# "singer" 5 6, "singer_in_concert" 5 6 7, "concert" 8; a comma is 2, a blank 3.
CANDIDATES = {"singer": [5, 6], "singer_in_concert": [5, 6, 7], "concert": [8]}
COMMA = Names(CANDIDATES, separator=[2, 3], end=1)
SLOTS = Names({"a": [5], "b": [6], "c": [7]}, end=1)


@pytest.mark.parametrize("names, written, allowed", [
    (COMMA, [], [1, 5, 8]),                      # nothing yet: any name begins, or there is none
    (COMMA, [5], [6]),                           # "sing"
    (COMMA, [5, 6], [1, 2, 7]),                  # "singer": it ends, another follows, or it is the longer name
    (COMMA, [5, 6, 2], [3]),                     # within the separator
    (COMMA, [5, 6, 2, 3], [5, 8]),               # names behind it, in their order; after a comma something must come
    (COMMA, [5, 6, 7, 2, 3], [8]),
    (COMMA, [8], [1]),                           # the last of the candidates: nothing may follow
    (SLOTS, [], [1, 5, 6, 7]),
    (SLOTS, [6], [1, 7]),
    (SLOTS, [5, 7], [1]),
])
def test_what_may_follow(names, written, allowed):
    assert names.allowed(written) == allowed


def test_every_way_through_reads_back_as_a_set_of_names():
    def walk(names, ids):
        if ids and ids[-1] == names.end: return [ids]
        return [way for token in names.allowed(ids) for way in walk(names, ids + [token])]
    for names in (COMMA, SLOTS):
        ways = walk(names, [])
        assert len(ways) == 8  # each subset of three once
        for way in ways:
            done, rest, _ = names.read(way)
            assert not rest and names.encode([names.names[i] for i in done]) == way


def test_unordered_names_are_written_in_any_order_but_once():
    free = Names({"a": [5], "b": [6]}, end=1, ordered=False)
    assert free.allowed([6]) == [1, 5]
    assert free.allowed([6, 5]) == [1]
    assert free.encode(["b", "a"]) == [6, 5, 1]


@pytest.mark.parametrize("candidates, separator, complaint", [
    ({"a": []}, [], "no tokens"),
    ({"a": [1]}, [], "ends the list"),
    ({"a": [5], "b": [5]}, [2], "same tokens"),
    ({"a": [5], "b": [5, 6]}, [], "separator is needed"),
])
def test_names_that_could_not_be_told_apart_are_refused(candidates, separator, complaint):
    with pytest.raises(ValueError, match=complaint): Names(candidates, separator=separator, end=1)


def test_tokens_that_are_no_names_are_refused():
    for ids in ([7], [5, 6, 2, 8], [5, 1]):
        with pytest.raises(ValueError): COMMA.read(ids)
