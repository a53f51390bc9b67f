"""Arguments of every wrong kind, in any mix: documented errors, and never a panic."""

import random

import numpy as np
import pytest

import byteloom as bl
from helpers import ALL_PATTERNS, CLEAN_ERRORS, SAMPLES, train_quietly

WEIRD = [
    *(None, True, -1, 0, 1, 3, 2**31, 2**32, 2**64, 2**200, 1.5, float("nan"), float("inf"), 1j),
    *(object(), int, print, bl.Tokenizer),
    *("", "a", "all", "strict", "replace", "byte", "uint16", "\ud800", b"", b"\xff"),
    *(bytearray(b"ab"), memoryview(b"a")),
    *([], [1], ["a"], [None], [[1, 2]], [2**40], (), {}, {"<a>"}, {"<a>": 5}, {1: 2}, range(3), slice(3)),
    *(np.array([1, 2]), np.array([1.0]), np.array(["a"]), np.zeros((2, 2)), np.zeros(3, np.uint16)),
    *(np.uint16(5), np.float32(1), np.uint32, np.dtype("uint16")),
]  # fmt: skip
METHODS = [
    *(
        "encode",
        "encode_ordinary",
        "encode_batch",
        "encode_array",
        "encode_batch_array",
        "encode_with_offsets",
    ),
    *("count", "count_batch", "truncate", "chunk", "pretokens", "decode", "decode_bytes", "decode_batch"),
    *("decode_with_offsets", "stream_decoder", "id_to_bytes", "id_to_token", "token_to_id", "from_bytes"),
    *("resized", "prune"),
    *("with_special_tokens", "with_cache_bytes", "info", "to_bytes", "explain", "explain_stream"),
]
OPTIONS = [
    *(
        "allowed_special",
        "disallowed_special",
        "add_special_tokens",
        "errors",
        "threads",
        "dtype",
        "out",
        "unit",
    ),
    *("skip_special_tokens", "cache_bytes", "bos", "eos", "pad", "max_steps", "max_losers"),
]
TRAINING_OPTIONS = [
    *(
        "vocab_size",
        "pattern",
        "special_tokens",
        "special_position",
        "bos",
        "min_frequency",
        "max_token_length",
    ),
    *("tie_break", "errors", "threads", "progress", "cache_bytes", "trace", "seed_tokens"),
]
EXTENDING_OPTIONS = ["vocab_size", "special_text", "keep", *TRAINING_OPTIONS[5:-1]]


def call(function, arguments, options):
    try:
        function(*arguments, **options)
    except (*CLEAN_ERRORS, LookupError):  # an unknown handler of `bytes.decode` is a `LookupError`
        pass
    except BaseException as error:  # noqa: BLE001 - a panic is one
        pytest.fail(f"{function}(*{arguments!r:.300}, **{options!r:.300}) raised {type(error)}: {error}")


@pytest.mark.filterwarnings("ignore:Data type alias:DeprecationWarning")  # numpy's word on dtype="a"
@pytest.mark.parametrize("seed", range(3))
def test_methods(seed, small_text):
    seeded = random.Random(seed)
    tokenizers = [
        train_quietly(small_text, 320, pattern=pattern, special_tokens=["<a>", "<a>b", " "], bos="<a>")
        for pattern in ALL_PATTERNS
    ]

    def pick():
        return seeded.choice(SAMPLES if seeded.random() < 0.3 else WEIRD)

    for _ in range(10_000):
        method = getattr(seeded.choice(tokenizers), seeded.choice(METHODS))
        arguments = [pick() for _ in range(seeded.choice([0, 1, 1, 1, 2]))]
        options = {name: pick() for name in seeded.sample(OPTIONS, seeded.choice([0, 0, 1, 1, 2]))}
        call(method, arguments, options)
    for tok in tokenizers:
        assert tok.decode(tok.encode_ordinary(small_text)) == small_text


def test_training(small_text, capfd):
    seeded = random.Random(9)
    for _ in range(1_000):
        options = {"vocab_size": 300} | {
            name: seeded.choice(WEIRD) for name in seeded.sample(TRAINING_OPTIONS, seeded.choice([1, 2]))
        }
        data = small_text if seeded.random() < 0.7 else seeded.choice(WEIRD)
        call(train_quietly, [data], options)
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore::byteloom.TrainingWarning")
def test_changing(small_text, capfd):
    seeded = random.Random(10)
    tok = train_quietly(small_text, 300, special_tokens=["<a>"])
    for _ in range(1_000):
        data = small_text if seeded.random() < 0.6 else seeded.choice(WEIRD)
        options = {"vocab_size": 305} | {
            name: seeded.choice(WEIRD) for name in seeded.sample(EXTENDING_OPTIONS, seeded.choice([1, 2]))
        }
        call(tok.extend, [data], {name: value for name, value in options.items() if name != "keep"})
        names = {"vocab_size", "keep", "errors", "threads", "progress"}
        call(
            tok.prune, [], {name: value for name, value in options.items() if name in names} | {"data": data}
        )
    assert "panicked" not in capfd.readouterr().err


def test_a_number_is_no_path():
    # `open` would take it as a file descriptor, and close somebody else's file.
    for read in (bl.Tokenizer.load, bl.Tokenizer.from_tiktoken):
        with pytest.raises(TypeError):
            read(10**6)
