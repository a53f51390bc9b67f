"""A program that uses all of byteloom's public names, checked by `mypy --strict` and run by a test.

`assert_type` fails the type check where the package says another type than its users rely on.
"""

from __future__ import annotations

import copy
import pickle
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import byteloom as bl
from byteloom import errors
from byteloom import explain as records
from byteloom.course import lesson2, module03, step1
from byteloom.patching import Patcher

AnyIds = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def train() -> bl.Tokenizer:
    """Documents of every kind; options; progress."""

    def documents() -> Iterator[str | bytes | Path]:
        yield "the cat sat on the mat"
        yield b"the cat sat on the other mat"

    seen: list[dict[str, Any]] = []
    tok = bl.Tokenizer.train(
        documents(),
        vocab_size=262,
        pattern="cl100k",
        special_tokens=["<|bos|>", "<|end|>", "<|pad|>"],
        special_position="last",
        bos="<|bos|>",
        eos="<|end|>",
        pad="<|pad|>",
        min_frequency=2,
        max_token_length=16,
        tie_break="smallest_pair",
        errors="strict",
        threads=1,
        progress=seen.append,
        cache_bytes=1 << 20,
        seed_tokens=["x", b"y"],
    )
    assert_type(tok, bl.Tokenizer)
    assert_type(bl.Tokenizer.train("low low", 257), bl.Tokenizer)
    assert_type(bl.Tokenizer.train(b"low low", 257), bl.Tokenizer)
    assert_type(bl.Tokenizer.train(["low low", b"low"], 257), bl.Tokenizer)
    assert_type(tok.training_report, dict[str, Any] | None)
    return tok


def encode(tok: bl.Tokenizer) -> None:
    """Text to ids, in every shape."""
    text = "the cat"
    assert_type(tok.encode(text), list[int])
    assert_type(tok.encode(text.encode()), list[int])
    assert_type(tok.encode(bytearray(b"the")), list[int])
    assert_type(tok.encode(memoryview(b"the")), list[int])
    assert_type(tok.encode(text, allowed_special="all", add_special_tokens=True), list[int])
    assert_type(tok.encode(text, allowed_special={"<|end|>"}, disallowed_special=()), list[int])
    assert_type(tok.encode_ordinary(text, errors="replace"), list[int])
    assert_type(tok.encode_batch([text, b"the"], threads=2), list[list[int]])
    assert_type(tok.encode_array(text), AnyIds)
    assert_type(tok.encode_array(text, dtype="uint16"), AnyIds)
    assert_type(tok.encode_array(text, out=np.zeros(16, np.uint32)), AnyIds)
    assert_type(tok.encode_with_offsets(text, unit="byte"), tuple[list[int], list[tuple[int, int]]])
    assert_type(tok.count(text), int)
    assert_type(tok.count_batch([text, text]), list[int])
    assert_type(tok.truncate(text, 2), str)
    assert_type(tok.truncate(b"the cat", 2), bytes)
    assert_type(tok.chunk(text, 2), list[str])
    assert_type(tok.chunk(b"the cat", 2), list[bytes])
    assert_type(tok.pretokens(text), list[str])
    assert_type(tok.pretokens(b"the cat"), list[bytes])


def batches(tok: bl.Tokenizer) -> None:
    """Rows of different lengths, and the rectangle made of them."""
    batch = tok.encode_batch_array(["the", "the cat"], dtype=np.uint16)
    assert_type(batch, bl.Ragged)
    assert_type(batch.ids, npt.NDArray[np.uint32] | npt.NDArray[np.uint16])
    assert_type(batch.offsets, npt.NDArray[np.int64])
    assert_type(batch.lengths, npt.NDArray[np.int64])
    assert_type(len(batch), int)
    assert_type(batch.tolist(), list[list[int]])
    pad = tok.pad_id
    assert pad is not None
    padded = batch.to_padded(pad, max_length=4, side="left")
    assert_type(padded, bl.Padded)
    assert_type(padded.mask, npt.NDArray[np.bool_])
    assert_type(bl.Ragged.from_rows([[1, 2], []]), bl.Ragged)


def decode(tok: bl.Tokenizer) -> None:
    """Ids to text, at once and as they come."""
    ids = tok.encode("the cat")
    assert_type(tok.decode(ids), str)
    assert_type(tok.decode(np.array(ids, np.int64), errors="ignore", skip_special_tokens=True), str)
    assert_type(tok.decode(tuple(ids)), str)
    assert_type(tok.decode_bytes(ids), bytes)
    assert_type(tok.decode_batch([ids, ids], threads=2), list[str])
    assert_type(tok.decode_with_offsets(ids), tuple[str, list[int]])
    decoder = tok.stream_decoder(skip_special_tokens=True)
    assert_type(decoder, bl.StreamDecoder)
    assert_type(decoder.feed(ids[0]) + decoder.feed(ids[1:]) + decoder.flush(), str)


def look(tok: bl.Tokenizer) -> None:
    """What is in a vocabulary."""
    assert_type(tok.vocab_size, int)
    assert_type(tok.n_vocab, int)
    assert_type(len(tok), int)
    assert_type(tok.max_token_id, int)
    assert_type(tok.id_to_bytes(97), bytes)
    assert_type(tok.id_to_token(97), str)
    assert_type(tok.token_to_id("a"), int | None)
    assert_type(tok.token_to_id(b"a"), int | None)
    assert_type(tok.merges, list[tuple[int, int]])
    assert_type(tok.special_tokens, dict[str, int])
    assert_type(tok.bos_id, int | None)
    assert_type(tok.eos_id, int | None)
    assert_type(tok.pattern, str)
    assert_type(tok.pattern_name, str | None)
    assert_type(tok.fingerprint, str)
    assert_type(tok.info(), dict[str, Any])
    assert_type(bl.pattern_names(), list[str])
    assert_type(bl.__version__, str)


def keep(tok: bl.Tokenizer) -> None:
    """Files, bytes, pickles; tokenizers made from others."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tok.json")
        tok.save(path)
        assert_type(bl.Tokenizer.load(path), bl.Tokenizer)
        assert_type(bl.Tokenizer.load(str(path), cache_bytes=0), bl.Tokenizer)
    assert_type(tok.to_bytes(), bytes)
    assert_type(bl.Tokenizer.from_bytes(tok.to_bytes()), bl.Tokenizer)
    ranks = {bytes([byte]): byte for byte in range(256)}
    assert_type(
        bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2", special_tokens={"<|x|>": 256}), bl.Tokenizer
    )
    assert_type(bl.Tokenizer.from_merges([(97, 98)], pattern="gpt2"), bl.Tokenizer)
    names = ["<UNK>"]
    assert_type(
        bl.Tokenizer.from_merges(tok.merges[:0], characters="ab", unk="<UNK>", special_tokens=names),
        bl.Tokenizer,
    )
    assert_type(
        bl.Tokenizer.train("ab ab", 5, alphabet="characters", unk="<UNK>", special_tokens=names), bl.Tokenizer
    )
    assert_type(tok.with_special_tokens(["<|more|>"], eos="<|more|>"), bl.Tokenizer)
    assert_type(tok.with_special_tokens({"<|far|>": 1000}), bl.Tokenizer)
    assert_type(tok.with_cache_bytes(0), bl.Tokenizer)
    assert_type(copy.deepcopy(tok), bl.Tokenizer)
    again: bl.Tokenizer = pickle.loads(pickle.dumps(tok))
    assert again == tok
    assert {tok: "usable as a key"}[again]


def change(tok: bl.Tokenizer) -> None:
    """Other vocabularies."""
    small, new_ids, report = tok.resized(260)
    assert_type(small, bl.Tokenizer)
    assert_type(new_ids, npt.NDArray[np.int64])
    assert_type(report, bl.ChangeReport)
    assert_type(report.builders, int)
    change = tok.prune(keep=[97, "a", b"b"])
    assert_type(change, bl.VocabularyChange)
    assert_type(change.tokenizer, bl.Tokenizer)
    assert_type(tok.prune(data=["the cat", b"sat"], vocab_size=260, threads=1), bl.VocabularyChange)
    assert_type(
        tok.prune(data=bl.PretokenCounts("a", special_tokens=[*tok.special_tokens])).report.moved, int
    )
    assert_type(tok.extend("mat mat", 263, tie_break="first_seen", trace=True), bl.Tokenizer)


def talk(tok: bl.Tokenizer) -> None:
    """Conversations as segments, text, ids and arrays."""
    form = bl.chat.ChatFormat(name="ours", start="<|bos|>", end="<|end|>", roles={"a": "assistant"})
    assert_type(bl.chat.FORMATS["chatml"].control_tokens, tuple[str, ...])
    messages = [{"role": "a", "content": "hi"}]
    assert_type(bl.chat.render(messages, format=form, add_generation_prompt=True), str)
    for segment in bl.chat.segments(messages, format=form):
        assert_type(segment.message, int | None)
        assert_type(segment.span, tuple[int, int])
    found = bl.chat.encode(tok, messages, format=form, continue_final_message=True)
    assert_type(found, bl.chat.ChatEncoding)
    assert_type(found.truncated(3, side="left").labels(), list[int])
    assert_type(found.arrays(), tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]])
    batch = bl.chat.encode_batch(tok, [messages], format=form)
    assert_type(bl.chat.pad(batch, 0).trained, npt.NDArray[np.bool_])


def courses() -> None:
    """The names of the courses."""
    first = step1.Tokenizer.train("the cat the cat", 270)
    assert_type(first, step1.Tokenizer)
    assert_type(first.encode("the cat"), list[int])
    assert_type(first.special, dict[str, int])
    assert_type(first.to_tokenizer(), bl.Tokenizer)
    merges = lesson2.train("abab", 257)
    assert_type(merges, dict[tuple[int, int], int])
    assert_type(lesson2.decode(lesson2.encode("ab", merges), lesson2.build_vocab(merges)), str)
    assert_type(lesson2.merge(["a", "b"], ("a", "b"), "ab"), list[str])
    assert_type(lesson2.encoding_cost("ab", merges)["tokens"], int)
    third = module03.ByteLevelBPETokenizer(vocab_size=300, pretokenizer="simple")
    assert_type(third.train("ab ab", show_progress=False), dict[str, int])
    assert_type(third.merges, dict[tuple[str, str], str])
    assert_type(third.decode(third.encode("ab", add_special_tokens=True)), str)
    assert_type(module03.gpt2_pretokenize("ab ab"), list[str])
    assert_type(module03.CharTokenizer("ab").stoi, dict[str, int])


def patch(tok: bl.Tokenizer) -> None:
    """The entropy model, patchers and what is made of them."""
    model = bl.ByteEntropyModel(order=3, smoothing="witten-bell").train(["some text", b"some more"])
    assert_type(model, bl.ByteEntropyModel)
    assert_type(model.update("and more").merge(model), bl.ByteEntropyModel)
    assert_type(model.entropies("text"), npt.NDArray[np.float64])
    assert_type(model.bits_per_byte(b"text"), float)
    theta = model.threshold_for("sample", 3.0, rule="global", units="nats")
    assert_type(theta, float)
    patcher = model.patcher(theta=theta, units="nats", max_patch_length=16)
    assert_type(patcher, Patcher)
    assert_type(patcher.patches("text"), list[bytes])
    assert_type(patcher.stream().feed(b"te"), list[bytes])
    assert_type(patcher.stream().finish(), bytes | None)
    assert_type(patcher.batch(["a", b"b"], threads=1).tolist(), list[list[int]])
    report = Patcher.bpe(tok).report("text", tokenizer=tok)
    assert_type(report.word_starts.f1, float | None)
    assert_type(patcher.blt_example("text").tokens, npt.NDArray[np.int64])
    assert_type(bl.patching.byte_entropy([0.5, 0.5]), float)
    explanation = patcher.explain("text")
    assert_type(explanation, bl.explain.PatchExplanation)
    assert_type(explanation.patches[0].explained[0].context, bytes)
    assert_type(explanation.theta, float | None)
    for patch in Patcher.space().explain_stream(b"text", model=model):
        assert_type(patch, records.ExplainedPatch)
        assert_type(patch.start.rule, str)
    assert_type(model.contexts("text").seen, npt.NDArray[np.uint64])
    assert_type(bl.patching.patches_from_boundaries(b"text", [0, 2]), list[bytes])


def inspect(tok: bl.Tokenizer) -> None:
    """Comparisons, vocabularies and pictures."""
    result = bl.compare([tok, tok], {"a": "text", "b": b"text"}, names=["A", "B"], languages=["hi"])
    assert_type(result, bl.Comparison)
    assert_type(result.figures[0].bytes_per_token, float | None)
    assert_type(result.languages[0].parity, float)
    assert_type(result.to_csv("overlaps"), str)
    vocab = bl.Vocabulary(tok)
    assert_type([entry.bytes for entry in vocab.search(re.compile("a"))], list[bytes])
    assert_type(vocab.usage(Path(__file__)).share, float)
    assert_type(bl.render.html(tok, "text"), str)
    assert_type(bl.render.view(tok).terminal(color=False), str)


def fail(tok: bl.Tokenizer) -> None:
    """Errors by their base and by their kind."""
    try:
        tok.decode([10**6])
    except bl.UnknownTokenError as error:
        assert_type(error.position, int | None)
    try:
        tok.encode("<|end|>")
    except (bl.SpecialTokenError, bl.TextError) as error:
        assert isinstance(error, bl.ByteloomError)
        assert isinstance(error, ValueError)
    kinds: list[type[bl.ByteloomError]] = [
        bl.ChatError,
        bl.FormatError,
        bl.PatchingError,
        bl.PatternError,
        bl.TrainingError,
        bl.VocabularyError,
        errors.TextError,
    ]
    assert all(issubclass(kind, bl.ByteloomError) for kind in kinds)
    assert issubclass(bl.TrainingWarning, UserWarning)


def explain(tok: bl.Tokenizer) -> None:
    """Every step as data."""
    explanation = tok.explain("the cat", max_losers=2)
    assert_type(explanation, bl.Explanation)
    assert_type(explanation.ids, list[int])
    for part in tok.explain_stream(b"the cat<|end|>", allowed_special={"<|end|>"}):
        assert_type(part, records.PreToken | records.Special)
        if isinstance(part, records.PreToken):
            assert_type(part.match.alternative, int | None)
            assert_type([step.rank for step in part.steps], list[int])
        assert_type(part.to_dict(), dict[str, Any])
        assert_type(part.to_json(), str)
    traced = bl.Tokenizer.train("low low lower", 258, trace=True, allow_fewer=True)
    assert_type(traced.training_trace(), records.TrainingTrace)
    assert_type(records.replay(traced.training_trace()), list[tuple[int, int]])


def main() -> None:
    """Run it all."""
    tok = train()
    for part in (encode, batches, decode, look, keep, change, talk, patch, explain, inspect, fail):
        part(tok)
    courses()


if __name__ == "__main__":
    main()
