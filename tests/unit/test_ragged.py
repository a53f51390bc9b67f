"""`Ragged` and `to_padded`."""

import copy
import pickle

import numpy as np
import pytest

import byteloom as bl


@pytest.fixture
def batch(bytes_tok):
    return bytes_tok.encode_batch_array(["abc", "", "d", "ef"])


def test_rows(batch):
    assert len(batch) == 4
    assert batch.ids.dtype == np.uint32
    assert batch.offsets.dtype == np.int64
    assert batch.offsets.tolist() == [0, 3, 3, 4, 6]
    assert batch.lengths.tolist() == [3, 0, 1, 2]
    assert batch.tolist() == [[97, 98, 99], [], [100], [101, 102]]
    assert [row.tolist() for row in batch] == batch.tolist()
    assert batch[-1].tolist() == [101, 102]
    assert np.shares_memory(batch[0], batch.ids)
    assert "rows=4" in repr(batch)


@pytest.mark.parametrize("row", [4, -5, 100])
def test_rows_out_of_range(batch, row):
    with pytest.raises(IndexError, match=str(row)):
        batch[row]


def test_an_empty_batch(bytes_tok):
    batch = bytes_tok.encode_batch_array([])
    assert (len(batch), batch.offsets.tolist(), batch.tolist()) == (0, [0], [])
    ids, mask = batch.to_padded(0)
    assert ids.shape == mask.shape == (0, 0)
    ids, mask = batch.to_padded(0, 5)
    assert ids.shape == mask.shape == (0, 5)


def test_padding_on_either_side(batch):
    padded = batch.to_padded(9)
    assert padded.ids.tolist() == [[97, 98, 99], [9, 9, 9], [100, 9, 9], [101, 102, 9]]
    assert padded.mask.tolist() == [[True] * 3, [False] * 3, [True, False, False], [True, True, False]]
    assert padded.ids.dtype == np.uint32
    assert padded.mask.dtype == np.bool_
    left = batch.to_padded(9, side="left")
    assert left.ids.tolist() == [[97, 98, 99], [9, 9, 9], [9, 9, 100], [9, 101, 102]]
    assert left.mask.tolist() == [[True] * 3, [False] * 3, [False, False, True], [False, True, True]]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("width", [0, 1, 2, 3, 7])
def test_every_width_keeps_the_first_tokens(batch, side, width):
    padded = batch.to_padded(9, width, side=side)
    assert padded.ids.shape == padded.mask.shape == (4, width)
    for row, ids, mask in zip(batch.tolist(), padded.ids, padded.mask, strict=True):
        assert ids[mask].tolist() == row[:width]
        assert (ids[~mask] == 9).all()


def test_padding_in_the_dtype_of_the_ids(bytes_tok):
    batch = bytes_tok.encode_batch_array(["abc", "d"], dtype="uint16")
    assert batch.to_padded(65_535).ids.dtype == np.uint16
    with pytest.raises(ValueError, match="65536"):
        batch.to_padded(65_536)


def test_bad_options(batch):
    for options in ({"pad_id": -1}, {"pad_id": 0, "max_length": -1}, {"pad_id": 0, "side": "middle"}):
        with pytest.raises(ValueError, match=r".+"):
            batch.to_padded(**options)


def test_ragged_can_be_pickled_and_copied(batch):
    for other in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
        assert other.tolist() == batch.tolist()
        assert other.ids.dtype == batch.ids.dtype


def test_from_rows():
    batch = bl.Ragged.from_rows([[1, 2], [], [3]])
    assert batch.tolist() == [[1, 2], [], [3]]
    assert bl.Ragged.from_rows([]).tolist() == []


def test_a_small_array_holds_no_large_buffer():
    """The memory of a dropped result is used again, but not held by a result that needs a fraction of it."""
    tok = bl.Tokenizer.train("low lower", vocab_size=258)
    big = tok.encode_array("low " * 2_000_000)
    assert big.base is not None  # the owner that gives the memory back
    del big
    small = tok.encode_array("low " * 40_000)
    assert small.flags.owndata
    assert small.flags.writeable
    assert np.array_equal(small[:4], tok.encode("low low "))
    again = tok.encode_array("low " * 2_000_000)
    assert len(again) == 50 * len(small)
