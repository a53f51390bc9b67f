"""Files of other libraries without those libraries: what is read, written, refused."""

import base64
import json

import pytest

import byteloom as bl
from helpers import SAMPLES, train_quietly

MINIMAL = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    },
    "post_processor": None,
    "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
}


@pytest.fixture(scope="module")
def gpt2_like():
    """A small tokenizer that every format can hold but for its special token."""
    return train_quietly(" ".join(SAMPLES), 400, pattern="gpt2")


@pytest.fixture
def hf_file(gpt2_like, tmp_path):
    """The path and the parsed JSON of a good `tokenizer.json`."""
    path = tmp_path / "tokenizer.json"
    gpt2_like.save_huggingface(path)
    return path, json.loads(path.read_text("utf-8"))


def rewrite(path, file):
    path.write_text(json.dumps(file), "utf-8")
    return path


def save_all(tok, folder):
    """Every format of `tok`, saved into `folder`: the paths by format."""
    folder.mkdir()
    tok.save(folder / "own.json")
    tok.save_tiktoken(folder / "ranks.tiktoken", lossy=True)
    tok.save_huggingface(folder / "tokenizer.json")
    tok.save_gpt2_files(folder / "gpt2")
    return {
        "own": folder / "own.json",
        "tiktoken": folder / "ranks.tiktoken",
        "huggingface": folder / "tokenizer.json",
        "gpt2": folder / "gpt2",
    }


@pytest.mark.parametrize("kind", ["own", "tiktoken", "huggingface", "gpt2"])
def test_load_save_load_is_stable(gpt2_like, tmp_path, kind):
    options = {"pattern": "gpt2"} if kind == "tiktoken" else {}
    first = bl.Tokenizer.load(save_all(gpt2_like, tmp_path / "a")[kind], **options)
    second_path = save_all(first, tmp_path / "b")[kind]
    second = bl.Tokenizer.load(second_path, **options)
    expected = gpt2_like.encode_batch(SAMPLES)
    assert first.encode_batch(SAMPLES) == second.encode_batch(SAMPLES) == expected
    third = save_all(second, tmp_path / "c")[kind]
    files = [second_path, third] if kind != "gpt2" else [second_path / "vocab.json", third / "vocab.json"]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_a_format_cannot_hold_is_listed(tmp_path):
    tok = train_quietly("low lower lowest", 260, pattern="cl100k", special_tokens=["<|end|>"])
    with pytest.raises(bl.FormatError, match=r"pattern.*special|special.*pattern"):
        tok.save_tiktoken(tmp_path / "x.tiktoken")
    with pytest.raises(bl.FormatError, match="pattern"):
        tok.save_gpt2_files(tmp_path)
    assert list(tmp_path.iterdir()) == []
    tok.save_tiktoken(tmp_path / "x.tiktoken", lossy=True)
    again = bl.Tokenizer.load(tmp_path / "x.tiktoken", pattern="cl100k", special_tokens=tok.special_tokens)
    assert again.encode_batch(SAMPLES) == tok.encode_batch(SAMPLES)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"pre_tokenizer": {"type": "Foo"}}, "pre_tokenizer"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer"),
        ({"normalizer": {"type": "Lowercase"}}, "normalizer"),
        ({"normalizer": {"type": "NFKC"}}, "normalizer"),
        ({"model": {"type": "WordPiece", "vocab": {}}}, "model"),
        ({"post_processor": {"type": "BertProcessing"}}, "post_processor"),
        ({"decoder": {"type": "WordPiece"}}, "decoder"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_part_that_is_not_known_is_named(hf_file, change, place):
    path, file = hf_file
    with pytest.raises(bl.FormatError, match=place):
        bl.Tokenizer.load(rewrite(path, file | change))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"merges": [["a", "zz"]]}, "merges"),
        ({"merges": ["a b c"]}, "merges"),
        ({"merges": [[1, 2]]}, "merges"),
        ({"dropout": 0.1}, "dropout"),
        ({"byte_fallback": True}, "byte_fallback"),
        ({"continuing_subword_prefix": "####"}, "continuing_subword_prefix"),
    ],
)
def test_a_part_of_the_model_that_is_wrong_is_named(hf_file, change, place):
    path, file = hf_file
    file["model"] |= change
    with pytest.raises(bl.FormatError, match=place):
        bl.Tokenizer.load(rewrite(path, file))


def test_ids_of_the_vocabulary_are_checked(hf_file):
    path, file = hf_file
    vocab = file["model"]["vocab"]
    for change in ({"a": vocab["b"]}, {"a": -1}, {"a": 2**40}, {"a": "x"}, {"a": 1.5}):
        damaged = {**file, "model": {**file["model"], "vocab": vocab | change}}
        with pytest.raises((bl.FormatError, bl.VocabularyError)):
            bl.Tokenizer.load(rewrite(path, damaged))
    missing = {letters: i for letters, i in vocab.items() if letters != "a"}
    with pytest.raises((bl.FormatError, bl.VocabularyError)):
        bl.Tokenizer.load(rewrite(path, {**file, "model": {**file["model"], "vocab": missing, "merges": []}}))


def test_a_key_given_twice_is_named(hf_file):
    path, _ = hf_file
    text = path.read_text("utf-8").replace('"vocab":{', '"vocab":{"ab":7,"ab":8,', 1)
    path.write_text(text, "utf-8")
    with pytest.raises(bl.FormatError, match="ab"):
        bl.Tokenizer.load(path)


def test_a_file_keeps_its_own_regex(hf_file):
    path, file = hf_file
    file["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": r"\w|\W"}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        ],
    }
    tok = bl.Tokenizer.load(rewrite(path, file))
    assert tok.pretokens("ab c") == ["a", "b", " ", "c"]


def test_digits_cut_alone(hf_file):
    path, file = hf_file
    file["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [{"type": "Digits", "individual_digits": True}, MINIMAL["pre_tokenizer"]],
    }
    tok = bl.Tokenizer.load(rewrite(path, file))
    assert tok.pretokens("ab 12 c") == ["ab", " ", "1", "2", " c"]
    again = bl.Tokenizer.from_bytes(tok.to_bytes())
    assert again == tok
    assert again.pretokens("ab 12 c") == tok.pretokens("ab 12 c")


def test_merges_txt_faults_name_their_line(gpt2_like, tmp_path):
    gpt2_like.save_gpt2_files(tmp_path)
    merges = tmp_path / "merges.txt"
    good = merges.read_text("utf-8")
    merges.write_text(good.rstrip("\n"), "utf-8")
    assert bl.Tokenizer.load(tmp_path) == gpt2_like
    merges.write_text(good + "a b c\n", "utf-8")
    line = good.count("\n") + 1
    with pytest.raises(bl.FormatError, match=f"line {line}"):
        bl.Tokenizer.load(tmp_path)


def test_minbpe_models(tmp_path):
    path = tmp_path / "a.model"
    path.write_text("minbpe v1\n\n1\n<|end of text|> 300\n97 97\n256 97\n", "utf-8")
    tok = bl.Tokenizer.load(path)
    assert tok.encode("aaaa") == [256, 256]
    assert tok.encode("aaab") == [257, 98]
    assert tok.special_tokens == {"<|end of text|>": 300}
    path.write_text("minbpe v1\n\n0\n97 999\n", "utf-8")
    with pytest.raises(bl.FormatError, match="line 4"):
        bl.Tokenizer.load(path)


def test_the_first_courses_file(tmp_path):
    path = rewrite(tmp_path / "tokenizer.json", {"merges": [[116, 104], [256, 101]]})
    tok = bl.Tokenizer.load(path)
    assert tok.encode("the") == [257]
    assert tok.pattern_name == "course-words"


@pytest.mark.parametrize("data", [b"", b"hello", b"\xff\xfe\x00", b"[1, 2]", b"PK\x03\x04"])
def test_what_is_no_tokenizer_is_refused_by_name(tmp_path, data):
    path = tmp_path / "what"
    path.write_bytes(data)
    with pytest.raises(bl.FormatError, match="what"):
        bl.Tokenizer.load(path)


def test_a_folder_without_a_tokenizer(tmp_path):
    with pytest.raises(bl.FormatError, match=r"tokenizer\.json"):
        bl.Tokenizer.load(tmp_path)


def test_one_of_two_files(gpt2_like, tmp_path):
    gpt2_like.save_gpt2_files(tmp_path)
    assert bl.Tokenizer.load(tmp_path / "vocab.json") == gpt2_like
    assert bl.Tokenizer.load(tmp_path / "merges.txt") == gpt2_like
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(bl.FormatError, match=r"merges\.txt"):
        bl.Tokenizer.load(tmp_path / "vocab.json")


def test_ranks_with_holes_and_limits(tmp_path):
    rows = [base64.b64encode(bytes([byte])) + b" %d" % byte for byte in range(256)]
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"\n".join([*rows, b"YWI= 400"]))
    tok = bl.Tokenizer.load(path, pattern="none")
    assert tok.encode("abcz") == [400, 99, 122]
    for bad in (b"YWI= 2", b"YWI= -1", b"YWI= 99999999999", b"YWI= 4294967294", b"!!! 256", b"YWI= 256 1"):
        path.write_bytes(b"\n".join([*rows, bad]))
        with pytest.raises((bl.FormatError, bl.VocabularyError)):
            bl.Tokenizer.load(path, pattern="none")


def test_a_chat_template_travels(gpt2_like, tmp_path):
    gpt2_like.save_huggingface(tmp_path / "a", chat_template="{{ messages }}")
    tok = bl.Tokenizer.load(tmp_path / "a")
    assert tok.chat_template == "{{ messages }}"
    tok.save(tmp_path / "own.json")
    bl.Tokenizer.load(tmp_path / "own.json").save_huggingface(tmp_path / "b")
    assert (tmp_path / "b" / "chat_template.jinja").read_text("utf-8") == "{{ messages }}"
    for save, path in ((tok.save_huggingface, "t.json"), (tok.save_tiktoken, "t.tiktoken")):
        with pytest.raises(bl.FormatError, match="chat template"):
            save(tmp_path / path)


def test_a_cut_does_not_free_a_word_that_is_special_alone(hf_file):
    path, file = hf_file
    file["added_tokens"] = [
        {"id": 5000, "content": "<m>", "single_word": True, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": True}
    ]
    tok = bl.Tokenizer.load(rewrite(path, file))
    text = "a <m>cat and <m>dog"
    for budget in range(1, 12):
        assert tok.count(tok.truncate(text, budget)) <= budget
        assert "".join(tok.chunk(text, budget)) == text


@pytest.mark.parametrize("metadata", [None, [], 5, {"training": 5}, {"huggingface": "x"}])
def test_odd_metadata_is_refused(gpt2_like, metadata):
    file = json.loads(gpt2_like.to_bytes())
    file["metadata"] = metadata
    with pytest.raises(bl.FormatError, match="metadata"):
        bl.Tokenizer.from_bytes(json.dumps(file).encode())
