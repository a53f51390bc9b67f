"""`PretokenCounts`: the same tokenizers as one pass over the text, however it was counted."""

import random
import signal
import threading
from pathlib import Path

import pytest

import byteloom as bl
from helpers import train_quietly

RULES = ("smallest_pair", "huggingface", "first_seen")
WORDS = ["low", "lower", "newest", "widest", "a", "ab", "aab", "Zürich", "漢字", "x" * 40, "\t", "'s", "12"]


def text(seed: int, words: int = 400) -> str:
    choose = random.Random(seed)
    return "".join(choose.choice(WORDS) + choose.choice([" ", "", "\n", "<|x|>"]) for _ in range(words))


def trained(data, **options):
    options = {"vocab_size": 340, "pattern": "gpt2", "special_tokens": ["<|x|>"]} | options
    return train_quietly(data, options.pop("vocab_size"), **options)


def counted(data=None, **options):
    return bl.PretokenCounts(data, **({"pattern": "gpt2", "special_tokens": ["<|x|>"]} | options))


def report(tok):
    kept = tok.training_report
    del kept["seconds"]
    return kept


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("threads", [1, 3])
def test_counts_train_what_the_text_trains(rule, threads):
    documents = [text(seed) for seed in range(5)]
    expected = trained(documents, tie_break=rule)
    got = trained(counted(documents, threads=threads), tie_break=rule, threads=threads)
    assert got.merges == expected.merges
    assert {**report(got), "threads": 0} == {**report(expected), "threads": 0}
    assert got == expected


@pytest.mark.parametrize("rule", RULES)
def test_shards_merged_in_order_are_the_whole(rule, tmp_path):
    documents = [text(seed) for seed in range(6)]
    expected = trained(documents, tie_break=rule)
    whole = counted()
    for begin in range(0, 6, 2):
        shard = counted(documents[begin : begin + 1]).update(documents[begin + 1])
        path = tmp_path / f"{begin}.counts"
        shard.save(path)
        whole.merge(bl.PretokenCounts.load(path))
    assert trained(whole, tie_break=rule).merges == expected.merges
    again = tmp_path / "whole.counts"
    whole.save(again)
    assert trained(bl.PretokenCounts.load(again), tie_break=rule) == expected


def test_the_order_of_shards_is_the_order_of_the_text():
    first, second = counted("ab ab cd"), counted("cd cd ab")
    one = counted().merge(first).merge(second)
    other = counted().merge(second).merge(first)
    options = {"vocab_size": 258, "tie_break": "first_seen"}
    assert trained(one, **options).merges == trained(["ab ab cd", "cd cd ab"], **options).merges
    assert trained(other, **options).merges == trained(["cd cd ab", "ab ab cd"], **options).merges
    assert trained(one, **options).merges != trained(other, **options).merges


@pytest.mark.parametrize("rule", RULES)
def test_a_tiny_limit_spills_and_changes_nothing(rule, tmp_path):
    choose = random.Random(5)
    big = " ".join(f"w{choose.randrange(10**9)}" for _ in range(250_000))
    documents = [big, *(text(seed) for seed in range(3)), big[: len(big) // 2]]
    path = tmp_path / "big.txt"
    path.write_text(big, encoding="utf-8")
    folder = tmp_path / "spill"
    folder.mkdir()
    counts = counted([path, *documents[1:]], memory_limit="4MiB", folder=folder, threads=2)
    assert counts.info()["spilled_bytes"] > 1_000_000
    assert any(folder.iterdir())
    assert len(counts) == len(counted(documents))
    expected = trained(documents, tie_break=rule)
    assert trained(counts, tie_break=rule).merges == expected.merges
    one, two = tmp_path / "one.counts", tmp_path / "two.counts"
    counts.save(one)
    counted(documents, threads=1).save(two)
    assert bl.PretokenCounts.load(one).most_common(9) == bl.PretokenCounts.load(two).most_common(9)
    del counts
    assert not any(folder.iterdir())


def test_temporary_files_are_gone_after_an_error(tmp_path):
    choose = random.Random(6)
    good = " ".join(f"w{choose.randrange(10**9)}" for _ in range(300_000))
    counts = counted("low", memory_limit="4MiB", folder=tmp_path)
    with pytest.raises(bl.TextError):
        counts.update([good, "\ud800"])
    assert not any(tmp_path.iterdir())
    assert counts.most_common() == [(b"low", 1)]


def test_prune_drops_the_rare():
    counts = counted("low low low lower newest")
    assert len(counts) == 4
    counts.prune(2)
    assert counts.most_common() == [(b" low", 2)]
    assert counts.info()["dropped_pretokens"] == 3
    with pytest.raises(bl.TrainingError, match="min_count"):
        counts.prune(-1)


def test_a_table_reads_back_and_knows_no_order(tmp_path):
    path = tmp_path / "words.tsv"
    counts = counted([text(1), b"\xff\xfe \\ \r\n\t"], errors="keep")
    escaped = counts.to_tsv(path)
    assert escaped > 3
    read = bl.PretokenCounts.from_tsv(path, pattern="gpt2", special_tokens=["<|x|>"])
    assert sorted(read.most_common(10**6)) == sorted(counts.most_common(10**6))
    assert trained(read).merges == trained(counts).merges
    for rule in ("first_seen", "huggingface"):
        with pytest.raises(bl.TrainingError, match="smallest_pair"):
            trained(read, tie_break=rule)


@pytest.mark.parametrize(
    "line", ["low", "low\t", "low\t0", "low\t-1", "\t5", "a\\q\t5", "a\\x4\t1", "a\t1\t2"]
)
def test_broken_tables_are_named_by_line(tmp_path, line):
    path = tmp_path / "words.tsv"
    path.write_text(f"good\t5\n{line}\n", encoding="utf-8")
    with pytest.raises(bl.FormatError, match="line 2"):
        bl.PretokenCounts.from_tsv(path)


def test_sentencepiece_reads_the_table(tmp_path):
    spm = pytest.importorskip("sentencepiece")
    path = tmp_path / "words.tsv"
    counted("low lower lowest newest widest " * 30).to_tsv(path)
    spm.SentencePieceTrainer.train(
        input=str(path),
        input_format="tsv",
        model_prefix=str(tmp_path / "m"),
        vocab_size=24,
        model_type="bpe",
        minloglevel=2,
    )
    assert (tmp_path / "m.model").exists()


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "some.counts"
    counted([text(1), text(2)]).save(path)
    whole = path.read_bytes()
    choose = random.Random(1)
    for place in [0, 5, len(whole) // 2, len(whole) - 1, *(choose.randrange(len(whole)) for _ in range(60))]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises((bl.FormatError, bl.PatternError, bl.SpecialTokenError)):
            bl.PretokenCounts.load(path)
        path.write_bytes(whole[:place])
        with pytest.raises(bl.FormatError):
            bl.PretokenCounts.load(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(bl.FormatError):
        bl.PretokenCounts.load(path)
    path.write_bytes(whole)
    assert len(bl.PretokenCounts.load(path)) > 10


def test_equal_counts_give_equal_files(tmp_path):
    one, two = tmp_path / "one.counts", tmp_path / "two.counts"
    counts = counted([text(1), text(2)], threads=1)
    counts.save(one)
    bl.PretokenCounts.load(one).save(two)
    assert one.read_bytes() == two.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.counts", "two.counts"]


def test_what_does_not_fit_together_is_refused():
    counts = counted("low low")
    with pytest.raises(bl.TrainingError, match=r"gpt2.*cl100k"):
        bl.Tokenizer.train(counts, 258, special_tokens=["<|x|>"])
    with pytest.raises(bl.TrainingError, match="special tokens"):
        bl.Tokenizer.train(counts, 258, pattern="gpt2")
    with pytest.raises((ValueError, bl.TrainingError), match="pattern"):
        counts.merge(bl.PretokenCounts("low", special_tokens=["<|x|>"]))
    with pytest.raises((ValueError, bl.TrainingError), match="special tokens"):
        counts.merge(bl.PretokenCounts("low", pattern="gpt2"))
    with pytest.raises(TypeError):
        counts.merge("low")
    with pytest.raises(TypeError, match="special_tokens"):
        bl.PretokenCounts("low", special_tokens="<|x|>")


@pytest.mark.parametrize("limit", ["2 potatoes", "GB", "", -1, True, 2.5, "1024", 4096])
def test_limits_that_are_none(limit):
    with pytest.raises((ValueError, bl.TrainingError), match="memory_limit"):
        bl.PretokenCounts(memory_limit=limit)


def test_ordinary_special_text_and_characters_work_too():
    plain = bl.PretokenCounts([text(3)], pattern="gpt2")
    options = {"special_text": "ordinary", "pattern": "gpt2", "special_tokens": ["<|x|>"]}
    assert train_quietly(plain, 320, **options) == train_quietly([text(3)], 320, **options)
    options = {"alphabet": "characters", "unk": "<|x|>", "vocab_size": 60}
    assert trained(counted([text(4)]), **options) == trained([text(4)], **options)


def test_ctrl_c_stops_counting_and_leaves_the_counts(tmp_path):
    counts = counted("low")
    path: Path = tmp_path / "big.txt"
    path.write_text(text(1, 20_000) * 40, encoding="utf-8")
    stop = threading.Timer(0.02, signal.raise_signal, [signal.SIGINT])
    stop.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            counts.update([path] * 10_000, threads=2)
    finally:
        stop.join()
    assert counts.most_common() == [(b"low", 1)]
