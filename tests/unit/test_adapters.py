"""The views of tiktoken and Hugging Face, beside the libraries themselves where they are installed."""

import copy
import pickle

import numpy as np
import pytest

import byteloom as bl
from helpers import SAMPLES

SPECIAL = "<|endoftext|>"


@pytest.fixture(scope="module")
def view(special_tok):
    return special_tok.as_tiktoken()


@pytest.fixture(scope="module")
def hf(special_tok):
    return special_tok.as_huggingface()


def tiktoken_of(tok):
    """The same vocabulary in tiktoken itself."""
    tiktoken = pytest.importorskip("tiktoken")
    special = tok.special_tokens
    ids = [id_ for id_ in range(tok.max_token_id + 1) if id_ not in special.values()]
    ranks = {tok.id_to_bytes(id_): id_ for id_ in ids}
    return tiktoken.Encoding("test", pat_str=tok.pattern, mergeable_ranks=ranks, special_tokens=special)


@pytest.fixture(scope="module")
def enc(special_tok):
    return tiktoken_of(special_tok)


@pytest.fixture(scope="module")
def gpt2(data_dir):
    """GPT-2's ranks as ours: ids and merges are those of its `tokenizer.json`."""
    import json

    model = json.loads((data_dir / "vocab" / "gpt2.tokenizer.json").read_text(encoding="utf-8"))
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in printable)
    letters |= {chr(0x100 + place): byte for place, byte in enumerate(others)}
    vocab = {token: id_ for token, id_ in model["model"]["vocab"].items() if token != SPECIAL}
    ranks = {bytes(letters[letter] for letter in token): id_ for token, id_ in vocab.items()}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2", special_tokens={SPECIAL: 50256})
    return tok.with_special_tokens(pad=SPECIAL)


@pytest.fixture(scope="module")
def theirs(data_dir):
    transformers = pytest.importorskip("transformers")
    path = str(data_dir / "vocab" / "gpt2.tokenizer.json")
    return transformers.PreTrainedTokenizerFast(tokenizer_file=path, pad_token=SPECIAL)


# Both.


@pytest.mark.parametrize("kind", ["as_tiktoken", "as_huggingface"])
def test_views_are_values(special_tok, tok, kind):
    view = getattr(special_tok, kind)()
    assert view == getattr(special_tok, kind)()
    assert hash(view) == hash(getattr(special_tok, kind)())
    assert view != getattr(tok, kind)()
    assert view != special_tok
    for again in (pickle.loads(pickle.dumps(view)), copy.copy(view), copy.deepcopy(view)):
        assert again == view
        assert again.encode("the cat") == view.encode("the cat")
    assert view.name == "cl100k"
    assert getattr(special_tok, kind)("mine") != view


@pytest.mark.parametrize("kind", ["as_tiktoken", "as_huggingface"])
@pytest.mark.parametrize("attribute", ["name", "pad_token", "eot_token", "padding_side", "anything"])
def test_views_cannot_change(special_tok, kind, attribute):
    view = getattr(special_tok, kind)()
    with pytest.raises(AttributeError, match="immutable"):
        setattr(view, attribute, "x")
    with pytest.raises(AttributeError):
        delattr(view, attribute)
    assert not hasattr(view, "__dict__")


def test_the_two_kinds_are_never_equal(special_tok):
    assert special_tok.as_tiktoken() != special_tok.as_huggingface()


# tiktoken.


@pytest.mark.parametrize("text", [*SAMPLES, "\ud83d\ude00 \ud800x\udc00", f"a{SPECIAL}b<|pad|>"])
def test_tiktoken_ids_and_texts(view, enc, text):
    assert view.encode_ordinary(text) == enc.encode_ordinary(text)
    ids = enc.encode(text, allowed_special="all")
    assert view.encode(text, allowed_special="all") == ids
    assert view.encode(text, disallowed_special=()) == enc.encode(text, disallowed_special=())
    assert view.encode_batch([text, "x"], allowed_special="all") == [ids, enc.encode("x")]
    assert view.encode_ordinary_batch([text], num_threads=2) == enc.encode_ordinary_batch([text])
    array = view.encode_to_numpy(text, allowed_special="all")
    assert array.dtype == np.uint32
    assert array.tolist() == ids
    assert view.decode(ids) == enc.decode(ids)
    assert view.decode_bytes(ids) == enc.decode_bytes(ids)
    assert view.decode_batch([ids, []]) == enc.decode_batch([ids, []])
    assert view.decode_batch([ids], errors="ignore") == enc.decode_batch([ids], errors="ignore")
    assert view.decode_bytes_batch([ids]) == enc.decode_bytes_batch([ids])
    assert view.decode_with_offsets(ids) == enc.decode_with_offsets(ids)
    assert view.decode_tokens_bytes(ids) == enc.decode_tokens_bytes(ids)


def test_tiktoken_look_ups(view, enc):
    assert view.token_byte_values() == enc.token_byte_values()
    assert view.special_tokens_set == enc.special_tokens_set
    assert (view.n_vocab, view.max_token_value, view.eot_token) == (
        enc.n_vocab,
        enc.max_token_value,
        enc.eot_token,
    )
    for id_ in range(enc.n_vocab):
        assert view.is_special_token(id_) == enc.is_special_token(id_)
        assert view.decode_single_token_bytes(id_) == enc.decode_single_token_bytes(id_)
        assert view.encode_single_token(enc.decode_single_token_bytes(id_)) == id_
    assert view.encode_single_token(" the") == enc.encode_single_token(" the")


POLICIES = [
    ("a foo", {"disallowed_special": {"foo"}}),
    ("a foo", {"allowed_special": {"foo"}}),
    (f"a{SPECIAL}", {}),
    (f"a{SPECIAL}", {"allowed_special": {SPECIAL}}),
    (f"a{SPECIAL}", {"allowed_special": {SPECIAL}, "disallowed_special": {SPECIAL}}),
    (f"a{SPECIAL}", {"allowed_special": {"<|pad|>"}}),
    (f"a{SPECIAL}", {"disallowed_special": {"<|pad|>"}}),
    (f"a{SPECIAL}<|pad|>", {"allowed_special": {SPECIAL}}),
    (f"a{SPECIAL}<|pad|>", {"allowed_special": {SPECIAL}, "disallowed_special": ()}),
    (f"a{SPECIAL}", {"allowed_special": "all", "disallowed_special": {"endof"}}),
    ("nothing special", {"allowed_special": "all", "disallowed_special": {"endof"}}),
]


@pytest.mark.parametrize(("text", "options"), POLICIES)
def test_tiktoken_policies(view, enc, text, options):
    try:
        ids = enc.encode(text, **options)
    except ValueError:
        for call in (view.encode, view.encode_to_numpy):
            with pytest.raises(bl.SpecialTokenError):
                call(text, **options)
        with pytest.raises(ValueError, match="special token"):
            view.encode_batch(["fine", text], **options)
    else:
        assert view.encode(text, **options) == ids
        assert view.encode_batch([text], **options) == [ids]


@pytest.mark.parametrize(
    ("method", "argument", "error"),
    [
        ("decode", [10**6], KeyError),
        ("decode_bytes", [302], KeyError),
        ("decode_single_token_bytes", 302, KeyError),
        ("decode_tokens_bytes", [302], KeyError),
        ("encode_single_token", "zzzz", KeyError),
        ("encode_single_token", b"\xff\xfe", KeyError),
        ("decode_with_offsets", [0xFF], UnicodeDecodeError),
        ("encode", b"bytes", TypeError),
        ("encode", None, TypeError),
        ("encode_ordinary", 3, TypeError),
    ],
)
def test_tiktoken_errors(view, enc, method, argument, error):
    for one in (enc, view):
        with pytest.raises(error):
            getattr(one, method)(argument)


def test_tiktoken_without_an_end_of_text(tok):
    with pytest.raises(KeyError):
        _ = tok.as_tiktoken().eot_token
    with pytest.raises(AttributeError, match="unstable"):
        _ = tok.as_tiktoken().encode_with_unstable
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tok.as_tiktoken().nonsense


def test_holes_count_in_n_vocab(abc_tok):
    view = abc_tok.as_tiktoken()
    assert (view.n_vocab, abc_tok.n_vocab) == (301, 260)
    with pytest.raises(KeyError):
        view.decode_single_token_bytes(259)


# Hugging Face, beside transformers and GPT-2's own file.


def plain(value):
    """A result of either library as plain data."""
    if hasattr(value, "keys"):
        return {key: plain(value[key]) for key in value.keys()}  # noqa: SIM118 - a mapping of theirs
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape, value.tolist()
    return value


CALLS = [
    ("hello world", {}),
    (f"hello{SPECIAL}x \U0001f984 é", {"return_offsets_mapping": True}),
    (["a b c", "d"], {"padding": True}),
    (["a b c", "d"], {"padding": "longest", "padding_side": "left", "return_tensors": "np"}),
    (["a b c", "d"], {"padding": "max_length", "max_length": 6, "return_special_tokens_mask": True}),
    (["a b c d e", "d"], {"padding": "max_length", "max_length": 3}),
    (["a b c d e", "d"], {"padding": "max_length", "max_length": 3, "truncation": True}),
    ("a b c d e", {"max_length": 2}),
    ("a b c d e", {"max_length": 2, "truncation": True, "return_offsets_mapping": True}),
    ("a b c d e", {"max_length": 2, "truncation": False}),
    ("a b", {"return_tensors": "np", "return_attention_mask": False}),
    (["a b"], {"return_tensors": "np", "return_offsets_mapping": True}),
    (["a b", "a b c d e"], {"padding": True, "pad_to_multiple_of": 4, "return_length": True}),
    ("", {}),
    ([""], {"padding": True}),
    ("", {"return_tensors": "np"}),
]


@pytest.mark.parametrize(("text", "options"), CALLS)
def test_calls_give_what_transformers_gives(gpt2, theirs, text, options):
    expected = theirs(text, return_token_type_ids=False, **options)
    assert plain(gpt2.as_huggingface()(text, **options)) == plain(expected)


@pytest.mark.parametrize("text", SAMPLES)
def test_ids_tokens_and_texts_of_transformers(gpt2, theirs, text):
    hf = gpt2.as_huggingface()
    ids = theirs.encode(text)
    assert hf.encode(text) == ids
    assert hf.tokenize(text) == theirs.tokenize(text)
    assert hf.convert_ids_to_tokens(ids) == theirs.convert_ids_to_tokens(ids)
    assert hf.convert_tokens_to_ids(theirs.tokenize(text)) == ids
    assert hf.decode(ids) == theirs.decode(ids, clean_up_tokenization_spaces=False)
    assert hf.batch_decode([ids]) == [text]


def test_look_ups_of_transformers(gpt2, theirs):
    hf = gpt2.as_huggingface()
    assert hf.get_vocab() == theirs.get_vocab()
    assert len(hf) == len(theirs)
    for name in (
        "model_max_length", "is_fast", "padding_side", "truncation_side", "unk_token", "unk_token_id",
        "bos_token", "pad_token", "pad_token_id", "all_special_tokens", "all_special_ids",
        "special_tokens_map",
    ):  # fmt: skip
        assert getattr(hf, name) == getattr(theirs, name), name
    for ids in (5, [5, 262], [], [5, 50256]):
        assert hf.convert_ids_to_tokens(ids) == theirs.convert_ids_to_tokens(ids)
        assert hf.decode(ids, skip_special_tokens=True) == theirs.decode(ids, skip_special_tokens=True)
    assert hf.decode([[5, 6], [7]]) == theirs.decode([[5, 6], [7]])
    assert hf.decode(np.array([5, 6])) == theirs.decode(np.array([5, 6]))
    for tokens in ("Ġthe", ["Ġthe", "Ġcat"], "zzqq"):
        assert hf.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)


# Hugging Face, what holds for ours alone.


def test_roles_are_added_by_default(bytes_tok):
    hf = bytes_tok.as_huggingface()
    assert hf("ab", return_offsets_mapping=True, return_special_tokens_mask=True) == {
        "input_ids": [258, 97, 98, 256],
        "special_tokens_mask": [1, 0, 0, 1],
        "attention_mask": [1, 1, 1, 1],
        "offset_mapping": [(0, 0), (0, 1), (1, 2), (0, 0)],
    }
    assert hf("ab", add_special_tokens=False).input_ids == [97, 98]
    assert hf("abcdef", truncation=True, max_length=4).input_ids == [258, 97, 98, 256]
    assert hf.encode_batch(["a", "b"]) == [[258, 97, 256], [258, 98, 256]]
    assert hf.encode_batch(["a"], add_special_tokens=False) == [[97]]
    assert hf.num_special_tokens_to_add() == 2
    assert hf.decode([258, 97, 256], skip_special_tokens=True) == "a"
    assert hf.decode([258, 97, 256]) == "<|bos|>a<|end|>"
    assert hf.all_special_tokens == ["<|bos|>", "<|end|>", "<|pad|>"]
    assert (hf.bos_token_id, hf.eos_token_id, hf.pad_token_id) == (258, 256, 257)
    assert (hf.vocab_size, len(hf)) == (256, 259)
    with pytest.raises(ValueError, match="max_length=1 leaves no room"):
        hf("abc", truncation=True, max_length=1)


def test_encodings_have_attributes(hf):
    encoding = hf("the cat")
    assert encoding.input_ids is encoding["input_ids"]
    assert dict(**encoding).keys() == {"input_ids", "attention_mask"}
    with pytest.raises(AttributeError, match="not 'offset_mapping'"):
        _ = encoding.offset_mapping
    assert pickle.loads(pickle.dumps(encoding)) == encoding
    assert hf.encode_plus("the cat") == encoding
    assert hf.batch_encode_plus(["the cat"]).input_ids == [encoding.input_ids]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"text_pair": "b"}, ValueError, "text_pair"),
        ({"return_tensors": "pt"}, ValueError, "return_tensors"),
        ({"padding": "middle"}, ValueError, "padding must"),
        ({"padding": True, "padding_side": "top"}, ValueError, "padding_side"),
        ({"truncation": "only_second"}, ValueError, "truncation"),
        ({"return_overflowing_tokens": True}, TypeError, "return_overflowing_tokens"),
    ],
)
def test_what_is_not_there_is_an_error(hf, options, error, words):
    with pytest.raises(error, match=words):
        hf("a", **options)


def test_errors_of_the_huggingface_view(tok, hf):
    with pytest.raises(ValueError, match="pad token"):
        tok.as_huggingface()(["a", "bc"], padding=True)
    with pytest.raises(ValueError, match="several lengths"):
        hf(["a", "the cat sat"], return_tensors="np")
    with pytest.raises(TypeError, match="not int"):
        hf([3])
    with pytest.raises(KeyError):
        hf.decode([10**6])
    with pytest.raises(bl.TextError):
        hf("a\ud800")
    with pytest.raises(ValueError, match="clean_up"):
        hf.decode([5], clean_up_tokenization_spaces=True)
    with pytest.warns(UserWarning, match="without a max_length"):
        assert hf("a", truncation=True).input_ids == hf("a").input_ids


def test_a_batch_of_nothing(hf):
    assert hf([]) == {"input_ids": [], "attention_mask": []}
    assert hf.encode_batch([]) == []
