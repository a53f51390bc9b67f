"""Saving and loading: nothing changes on the way, and damage is found."""

import copy
import json
import pickle
import stat

import pytest

import byteloom as bl
from helpers import SAMPLES, kept_report, raises_cleanly, run_python, train_quietly


@pytest.fixture(scope="module")
def kinds(small_text):
    """Tokenizers that use every part of the file."""
    trained = bl.Tokenizer.train(small_text, 300)
    ranks = {bytes([byte]): 255 - byte for byte in range(256)} | {b"abc": 400, b"ab": 500, b"xyz": 401}
    return {
        "trained": trained,
        "roles": trained.with_special_tokens(["<a>", "<b>", "é\x00\n"], bos="<a>", eos="<b>", pad="<b>"),
        "specials first": bl.Tokenizer.train(
            small_text, 300, special_tokens=["<a>", "<b>"], special_position="first"
        ),
        "first seen": bl.Tokenizer.train(small_text, 300, tie_break="first_seen", pattern="none"),
        "custom regex": bl.Tokenizer.train(small_text, 300, pattern=r"[\w']+|\W", min_frequency=1),
        "ranks with holes": bl.Tokenizer.from_tiktoken(ranks, pattern="o200k", special_tokens={"<e>": 1000}),
        "bytes only": train_quietly("", 256),
        "characters": train_quietly(
            small_text + "é日🚀",
            300,
            pattern="simple",
            alphabet="characters",
            unk="<UNK>",
            special_tokens=["<PAD>", "<UNK>"],
            special_position="first",
            pad="<PAD>",
        ),
    }


KINDS = [
    "trained",
    "roles",
    "specials first",
    "first seen",
    "custom regex",
    "ranks with holes",
    "bytes only",
    "characters",
]


def assert_same(one, other):
    assert one == other
    assert hash(one) == hash(other)
    assert one.fingerprint == other.fingerprint
    assert one.merges == other.merges
    assert one.special_tokens == other.special_tokens
    assert (one.bos_id, one.eos_id, one.pad_id) == (other.bos_id, other.eos_id, other.pad_id)
    assert (one.pattern, one.pattern_name) == (other.pattern, other.pattern_name)
    assert kept_report(one) == kept_report(other)
    assert one.info() == other.info()
    for text in SAMPLES:
        assert one.encode(text) == other.encode(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_file_loads_to_the_same_tokenizer(kinds, kind, tmp_path):
    tok = kinds[kind]
    path = tmp_path / "tok.json"
    tok.save(path)
    loaded = bl.Tokenizer.load(path)
    assert_same(tok, loaded)
    assert_same(tok, bl.Tokenizer.load(str(path)))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes() == tok.to_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(kinds, kind, protocol):
    tok = kinds[kind].with_cache_bytes(1 << 20)
    loaded = pickle.loads(pickle.dumps(tok, protocol=protocol))
    assert_same(tok, loaded)


def test_copies_are_the_tokenizer_itself(tok):
    assert copy.copy(tok) is tok
    assert copy.deepcopy({"a": [tok]})["a"][0] is tok


def test_a_subclass_stays_a_subclass(tmp_path):
    class Mine(bl.Tokenizer):
        pass

    tok = Mine.train("low lower", 257)
    tok.save(tmp_path / "tok.json")
    for made in (
        tok,
        tok.with_special_tokens(["<a>"]),
        tok.with_cache_bytes(0),
        Mine.load(tmp_path / "tok.json"),
    ):
        assert type(made) is Mine
        assert made.encode("low")


def test_equality_is_about_meaning(kinds):
    tokenizers = list(kinds.values())
    for index, one in enumerate(tokenizers):
        assert one == one  # noqa: PLR0124
        assert one != one.fingerprint
        assert one != None  # noqa: E711
        for other in tokenizers[index + 1 :]:
            assert one != other
            assert one.fingerprint != other.fingerprint
    assert len(set(tokenizers)) == len(tokenizers)


def test_equality_sees_specials_roles_and_pattern(tok, small_text):
    with_a = tok.with_special_tokens(["<a>"])
    assert with_a != tok
    assert with_a != tok.with_special_tokens(["<b>"])
    assert with_a != with_a.with_special_tokens(eos="<a>")
    one = bl.Tokenizer.train("low low", 257, pattern="gpt2")
    other = bl.Tokenizer.train("low low", 257, pattern="cl100k")
    assert one.merges == other.merges
    assert one != other


def test_the_fingerprint_is_the_same_in_every_process():
    code = """
        import byteloom as bl
        print(bl.Tokenizer.train("low lower lowest", 260, special_tokens=["<a>", "<b>"]).fingerprint)
    """
    prints = {run_python(code, PYTHONHASHSEED=seed) for seed in ("0", "1", "random")}
    assert len(prints) == 1
    assert (
        prints.pop().strip()
        == bl.Tokenizer.train("low lower lowest", 260, special_tokens=["<a>", "<b>"]).fingerprint
    )


def test_the_file_is_json_with_a_line_a_section(tok):
    text = tok.to_bytes().decode()
    data = json.loads(text)
    assert data["format"] == "byteloom"
    assert isinstance(data["version"], int)
    assert {"pattern", "unicode", "special_tokens", "merges", "sha256"} <= data.keys()
    assert len(text.splitlines()) >= len(data)


def test_a_file_saved_over_an_older_one_replaces_it(tok, special_tok, tmp_path):
    path = tmp_path / "tok.json"
    tok.save(path)
    special_tok.save(path)
    assert bl.Tokenizer.load(path) == special_tok
    assert [entry.name for entry in tmp_path.iterdir()] == ["tok.json"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o400


def test_a_file_that_cannot_be_written_is_an_os_error(tok, tmp_path):
    with raises_cleanly(OSError):
        tok.save(tmp_path / "no such folder" / "tok.json")
    with raises_cleanly(OSError):
        tok.save(tmp_path)
    for bad in (3.5, None, ["x"]):
        with raises_cleanly(TypeError):
            tok.save(bad)


def test_a_file_that_cannot_be_read_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        bl.Tokenizer.load(tmp_path / "nothing.json")
    with raises_cleanly(bl.FormatError):
        bl.Tokenizer.load(tmp_path)


# Damage


@pytest.fixture(scope="module")
def small_file():
    tok = bl.Tokenizer.train("low lower", 259, special_tokens=["<e>"], eos="<e>")
    return tok, tok.to_bytes()


def test_every_flipped_bit_is_found_or_harmless(small_file):
    tok, data = small_file
    silent = []
    for at in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            try:
                loaded = bl.Tokenizer.from_bytes(bytes(damaged))
            except bl.FormatError:
                continue
            else:
                if loaded.fingerprint != tok.fingerprint or loaded.encode("low lower") != tok.encode(
                    "low lower"
                ):
                    silent.append((at, bit, bytes(damaged[at - 20 : at + 20])))
    assert not silent


def test_every_cut_is_found_or_harmless(small_file, tmp_path):
    tok, data = small_file
    for end in range(len(data)):
        try:
            loaded = bl.Tokenizer.from_bytes(data[:end])
        except bl.FormatError:
            continue
        assert loaded == tok, f"cut at {end} of {len(data)}"
    path = tmp_path / "cut.json"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(bl.FormatError, match=r"cut\.json"):
        bl.Tokenizer.load(path)


JUNK = [
    b"",
    b"\n",
    b"{}",
    b"[]",
    b"null",
    b"3",
    b'"text"',
    b"{" * 100_000,
    b"[" * 100_000,
    b'{"format": "byteloom"}',
    b'{"format": "byteloom", "version": 1}',
    b'{"format": "byteloom", "version": 999999}',
    b'{"format": "other", "version": 1}',
    b"\xff\xfe\x00",
    b"\x00" * 100,
    b"\xef\xbb\xbf{}",
    b'{"merges": 3}',
    b'{"merges": [[1]]}',
    b'{"merges": [[97, 98, 99]]}',
    b'{"merges": [["a", "b"]]}',
    b'{"merges": [[97, 256]]}',
    b'{"merges": [[97, 300]]}',
    b'{"merges": [[-1, 97]]}',
    b'{"merges": [[97, 4294967296]]}',
    b'{"merges": [[97, 1e99]]}',
    b'{"merges": [[97, 98], [97, 98]]}',
    b"PK\x03\x04 not text",
    b"hello, this is a novel\n",
]


@pytest.mark.parametrize("data", JUNK, ids=lambda data: repr(data[:40]))
def test_what_is_no_tokenizer_is_a_format_error(data, tmp_path):
    with raises_cleanly(bl.FormatError, bl.VocabularyError):
        bl.Tokenizer.from_bytes(data)
    path = tmp_path / "file.json"
    path.write_bytes(data)
    with raises_cleanly(bl.FormatError, bl.VocabularyError):
        bl.Tokenizer.load(path)


def test_a_field_changed_with_care_fails_the_checksum(small_file):
    _, data = small_file
    document = json.loads(data)
    document["merges"] = document["merges"][:-1]
    with raises_cleanly(bl.FormatError):
        bl.Tokenizer.from_bytes(json.dumps(document).encode())


def test_options_for_other_formats_are_refused(tok, tmp_path):
    tok.save(tmp_path / "tok.json")
    with pytest.raises(bl.FormatError, match="pattern"):
        bl.Tokenizer.load(tmp_path / "tok.json", pattern="gpt2")


def test_the_course_format_loads(tmp_path):
    path = tmp_path / "merges.json"
    path.write_text('{"merges": [[97, 98], [256, 99]]}')
    tok = bl.Tokenizer.load(path)
    assert tok.merges == [(97, 98), (256, 99)]
    assert 257 in tok.encode("abc")
    assert tok.decode(tok.encode("abc ü")) == "abc ü"


def test_from_bytes_wants_bytes(tok):
    for bad in ("text", None, 3):
        with raises_cleanly(TypeError):
            bl.Tokenizer.from_bytes(bad)
    assert bl.Tokenizer.from_bytes(tok.to_bytes(), cache_bytes=0).info()["cache_bytes"] == 0
