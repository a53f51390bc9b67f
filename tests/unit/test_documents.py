"""`byteloom.documents`: texts in files of every kind, complete or accounted for."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sys
from pathlib import Path

import pytest

import byteloom as bl
from helpers import train_quietly

TEXTS = ["low lower lowest", "naïve 日本 🚀", "new\nnewer", "x"]


def lines(texts=TEXTS, field="text"):
    return "".join(json.dumps({"id": 1, field: text}, ensure_ascii=False) + "\n" for text in texts).encode()


def zst(data):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


def write_table(path, columns, **options):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(columns), path, **options)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zst}
packings = pytest.mark.parametrize("packing", PACKERS)


# Kinds of files


def test_lines_are_documents(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines())
    docs = bl.documents(tmp_path / "a.jsonl")
    assert list(docs) == TEXTS
    assert docs.stats.documents == len(TEXTS)
    assert docs.stats.bytes == sum(len(text.encode()) for text in TEXTS)
    assert list(docs) == TEXTS, "a second pass is a pass"
    assert list(bl.documents(str(tmp_path / "a.jsonl"))) == TEXTS


@packings
def test_packed_files(tmp_path, packing):
    for name, data in (("a.txt", "naïve 日本".encode() * 9999), ("a.jsonl", lines())):
        (tmp_path / name).write_bytes(data)
        packed = tmp_path / f"{name}.{packing}"
        packed.write_bytes(PACKERS[packing](data))
        assert list(bl.documents(packed)) == list(bl.documents(tmp_path / name))
        assert train_quietly(packed, 300) == train_quietly(tmp_path / name, 300)


@packings
def test_all_members_are_read(tmp_path, packing):
    pack = PACKERS[packing]
    path = tmp_path / f"a.txt.{packing}"
    path.write_bytes(pack(b"one ") + pack(b"") + pack(b"two"))
    assert list(bl.documents(path)) == ["one two"]
    path.write_bytes(pack(b"one") + b"\0" * 512)
    assert list(bl.documents(path)) == ["one"]


def test_tables(tmp_path):
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())):
        write_table(
            tmp_path / "a.parquet",
            {"n": range(len(TEXTS)), "body": pa.array(TEXTS).cast(kind)},
            row_group_size=2,
        )
        docs = bl.documents(tmp_path / "a.parquet", column="body")
        assert list(docs) == TEXTS
        assert train_quietly(docs, 300) == train_quietly(TEXTS, 300)


def test_a_path_in_training_may_be_any_kind(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines())
    with gzip.open(tmp_path / "b.txt.gz", "wb") as file:
        file.write(b"newest widest")
    expected = train_quietly([*TEXTS, "newest widest", "low"], 300)
    assert train_quietly([tmp_path / "a.jsonl", tmp_path / "b.txt.gz", "low"], 300) == expected
    assert train_quietly(tmp_path, 300) == train_quietly([*TEXTS, "newest widest"], 300)
    counts = bl.PretokenCounts([tmp_path / "a.jsonl", tmp_path / "b.txt.gz", "low"])
    assert train_quietly(counts, 300) == expected
    model = bl.ByteEntropyModel().train([tmp_path / "a.jsonl", tmp_path / "b.txt.gz"])
    assert model == bl.ByteEntropyModel().train([*TEXTS, "newest widest"])


def test_an_open_file_in_training_is_a_document(tmp_path):
    expected = train_quietly(["low lower", "newest"], 300)
    assert train_quietly([io.BytesIO(b"low lower"), "newest"], 300) == expected
    (tmp_path / "a.txt").write_bytes(b"low lower\xff")
    with (tmp_path / "a.txt").open("rb") as file, pytest.raises(bl.TextError, match=r"a\.txt.* 9 "):
        bl.Tokenizer.train([file], 300)
    with pytest.raises(TypeError, match="binary"):
        bl.Tokenizer.train([io.StringIO("low lower")], 300)


def test_an_error_of_reading_passes_unchanged():
    class Failing(io.RawIOBase):
        def read(self, size=-1):
            raise RuntimeError("disk gone")

    class Greedy:
        def read(self, size):
            return b"x" * (size + 1)

    with pytest.raises(RuntimeError, match="disk gone"):
        bl.Tokenizer.train(["a", Failing()], 300)
    with pytest.raises(ValueError, match="more bytes"):
        bl.Tokenizer.train(["a", Greedy()], 300)


@pytest.mark.parametrize("errors", ["strict", "replace", "keep"])
def test_a_packed_text_is_handled_as_the_plain_one(tmp_path, errors):
    data = b"low \xff lower " * 3
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(data))
    if errors == "strict":
        for name in ("a.txt", "a.txt.gz"):
            with pytest.raises(bl.TextError, match=rf"{name}.*byte 4\b"):
                bl.Tokenizer.train(tmp_path / name, 300)
        return
    plain, packed = (train_quietly(tmp_path / name, 300, errors=errors) for name in ("a.txt", "a.txt.gz"))
    assert plain == packed
    for figure in ("bytes", "documents", "invalid_bytes"):
        assert plain.training_report[figure] == packed.training_report[figure]
    docs = bl.documents(tmp_path / "a.txt.gz", errors=errors)
    assert list(docs) == [data if errors == "keep" else data.decode("utf-8", errors)]
    # Another choice of the trainer changes nothing about what these documents are.
    assert train_quietly(docs, 300, errors="strict") == train_quietly(list(docs), 300)


def test_format_overrules_endings(tmp_path):
    (tmp_path / "a.log").write_bytes(lines())
    (tmp_path / "b.log").write_bytes(gzip.compress(lines()))
    assert list(bl.documents(tmp_path / "a.log", format="jsonl")) == TEXTS
    assert list(bl.documents(tmp_path / "b.log", format="jsonl.gz")) == TEXTS
    assert list(bl.documents(tmp_path / "a.log")) == [lines().decode()]
    for form in ("csv", "jsonl.zip", "", ".gz", 3):
        with pytest.raises(ValueError, match="format"):
            bl.documents(tmp_path / "a.log", format=form)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tgz", "a.parquet.gz"])
def test_archives_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(bl.TrainingError, match=name):
        bl.documents(tmp_path / name)
    with pytest.raises(bl.TrainingError, match=name):
        bl.Tokenizer.train(tmp_path / name, 300)


def test_standard_input(monkeypatch):
    def feed(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))

    feed(lines())
    assert list(bl.documents("-", format="jsonl")) == TEXTS
    feed(zlib_text := gzip.compress(b"low lower"))
    assert train_quietly(bl.documents("-", format="text.gz"), 300) == train_quietly("low lower", 300)
    assert not sys.stdin.buffer.closed
    feed(zlib_text)
    with pytest.raises(bl.TextError, match="standard input"):
        list(bl.documents("-"))
    feed(b"low lower")
    assert train_quietly(bl.documents("-", on_error="skip"), 300) == train_quietly("low lower", 300)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(OSError, match="closed"):
        list(bl.documents("-"))


# Separators


def test_a_separator_ends_documents(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one<|x|>two<|x|><|x|>three<|x|>")
    assert list(bl.documents(path, separator="<|x|>")) == ["one", "two", "three"]
    path.write_bytes(b"a\r\nb\n\nc")
    assert list(bl.documents(path, separator="\n")) == ["a\r", "b", "c"]


def test_a_separator_across_the_edge_of_a_block(tmp_path):
    path = tmp_path / "a.txt"
    for before in range((1 << 20) - 4, (1 << 20) + 2):
        path.write_bytes(b"x" * before + b"<|x|>" + b"y" * (1 << 20) + b"<|x|>z")
        assert [len(text) for text in bl.documents(path, separator="<|x|>")] == [before, 1 << 20, 1]


# What JSON allows, and what it does not


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "no JSON"),
        (b'{"text": "a"} x', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"text": "a", "n": ' + b"9" * 5000 + b"}", "no JSON"),
        (b'"text"', "a string where an object"),
        (b"null", "null where an object"),
        (b"[]", "a list where an object"),
        (b'{"content": "a", "id": 1}', "the fields are 'content', 'id'"),
        (b"{}", "the fields are none"),
        (b'{"text": null}', "holds null"),
        (b'{"text": 3}', "holds a number"),
        (b'{"text": ["a"]}', "holds a list"),
        (b'{"text": "a", "text": "b"}', "twice"),
        (b'{"text": "a\xff"}', "UTF-8 at byte 11"),
        (b'{"text": "a\\ud800b"}', r"character 1 .*U\+D800"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
    ],
)
def test_a_faulty_line_is_named_or_counted(tmp_path, line, words):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "good"}\n\n' + line + b'\n{"text": "better"}\n')
    with pytest.raises((bl.FormatError, bl.TextError), match=rf"a\.jsonl:3: .*{words}.*on_error='skip'"):
        list(bl.documents(path))
    with pytest.raises((bl.FormatError, bl.TextError), match=r"a\.jsonl:3: "):
        bl.Tokenizer.train(path, 300)
    docs = bl.documents(path, on_error="skip")
    assert list(docs) == ["good", "better"]
    assert (docs.stats.skipped, sum(docs.stats.reasons.values())) == (1, 1)
    assert "a.jsonl:3" in docs.stats.faults[0]
    assert train_quietly(docs, 300) == train_quietly(["good", "better"], 300)
    assert docs.stats.skipped == 1


def test_replace_repairs_json(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a\\ud800b"}\n{"text": "a\xffb"}\n')
    assert list(bl.documents(path, errors="replace")) == ["a\ufffdb"] * 2


def test_what_lines_may_hold(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"text": "bom"}\r\n\r\n  \n{"type": "text", "text": "value"}\n'
        b'{"meta": {"text": "inner"}, "text": "outer"}\n{"text": ""}\n'
        b'{"text": "\\ud83d\\ude80\xe2\x80\xa8"}\n{"te\\u0078t": "escaped"}\n{"text": "no newline"}'
    )
    docs = bl.documents(path)
    assert list(docs) == ["bom", "value", "outer", "🚀\u2028", "escaped", "no newline"]
    assert docs.stats.skipped == 0


def test_a_long_line_is_one_document(tmp_path):
    text = "low lower " * 500_000
    (tmp_path / "a.jsonl").write_bytes(lines([text, "next"]))
    assert [len(found) for found in bl.documents(tmp_path / "a.jsonl")] == [len(text), 4]


def test_a_line_without_end_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr("byteloom._inputs.readers._LONGEST_LINE", 1000)
    (tmp_path / "a.jsonl").write_bytes(lines(["x" * 5000, "next"]))
    with pytest.raises(bl.FormatError, match=r"a\.jsonl:1: a line of more than"):
        list(bl.documents(tmp_path / "a.jsonl"))
    docs = bl.documents(tmp_path / "a.jsonl", on_error="skip")
    assert (list(docs), docs.stats.reasons) == (["next"], {"line too long": 1})


# Tables that are not as they should be


def test_faulty_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    write_table(path, {"text": pa.array([b"good", None, b"", b"\xff", b"better"])})
    docs = bl.documents(path, on_error="skip")
    assert list(docs) == ["good", "better"]
    assert docs.stats.reasons == {"no string": 1, "invalid UTF-8": 1}
    with pytest.raises(bl.FormatError, match=r"a\.parquet: row 1: null"):
        list(bl.documents(path))
    write_table(path, {"text": pa.array([b"good", b"\xff"])})
    with pytest.raises(bl.TextError, match=r"a\.parquet: row 1: .*byte 0"):
        list(bl.documents(path))
    assert list(bl.documents(path, errors="keep")) == [b"good", b"\xff"]


def test_faulty_tables(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    write_table(path, {"text": ["low"] * 5000, "n": range(5000)})
    with pytest.raises(bl.FormatError, match=r"a\.parquet: .*'body'.*'text', 'n'"):
        list(bl.documents(path, column="body"))
    with pytest.raises(bl.FormatError, match=r"'n' holds int64"):
        list(bl.documents(path, column="n"))
    whole = path.read_bytes()
    (tmp_path / "b.jsonl").write_bytes(lines())
    for damaged in (b"", b"PAR1", whole[:-30], whole[:40] + b"\xff" * 200 + whole[240:]):
        path.write_bytes(damaged)
        with pytest.raises(bl.FormatError, match=r"a\.parquet: "):
            list(bl.documents(path))
        docs = bl.documents([path, tmp_path / "b.jsonl"], on_error="skip")
        assert list(docs)[-len(TEXTS) :] == TEXTS
        assert docs.stats.reasons == {"faulty file": 1}


# Damaged archives


@packings
def test_a_damaged_archive_is_never_taken_for_a_whole_one(tmp_path, packing):
    data = os.urandom(3000).hex().encode()
    whole = PACKERS[packing](data)
    path = tmp_path / f"a.txt.{packing}"
    turned = bytearray(whole)
    turned[len(turned) // 2] ^= 0x55
    damages = {"short": whole[:-10], "half": whole[: len(whole) // 2], "garbage": whole + b"garbage"}
    damages |= {"empty": b"", "text": b"plain text"}
    if packing != "zst":  # whose checksum is optional
        damages["turned"] = bytes(turned)
    for kind, damaged in damages.items():
        path.write_bytes(damaged)
        with pytest.raises(bl.FormatError, match=rf"a\.txt\.{packing}: damaged .*offset \d+"):
            list(bl.documents(path))
        with pytest.raises(bl.FormatError, match=rf"a\.txt\.{packing}: damaged .*offset \d+"):
            bl.Tokenizer.train(path, 300)
        docs = bl.documents([path, path], on_error="skip")
        assert list(docs) == [], kind
        assert docs.stats.reasons == {"faulty file": 2}
        assert train_quietly(docs, 300).training_report["bytes"] == 0
        assert docs.stats.reasons == {"faulty file": 2}


def test_lines_before_the_damage_are_kept_and_the_rest_is_counted(tmp_path):
    data = lines([os.urandom(50).hex() for _ in range(20_000)])
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(data)[:-1000])
    docs = bl.documents(path, on_error="skip")
    found = list(docs)
    assert 0 < len(found) < 20_000
    assert found == [json.loads(line)["text"] for line in data.splitlines()[: len(found)]]
    assert docs.stats.reasons == {"faulty file": 1}
    assert "a.jsonl.gz" in docs.stats.faults[0]
    with pytest.raises(bl.FormatError, match="ends too early"):
        list(bl.documents(path))


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    for name, module, extra in (
        ("a.txt.zst", "zstandard", "zstd"),
        ("a.parquet", "pyarrow", "parquet"),
    ):
        (tmp_path / name).write_bytes(b"x")
        monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, "compression.zstd", None)
        for on_error in ("raise", "skip"):
            with pytest.raises(ImportError, match=rf"byteloom\[{extra}\]"):
                list(bl.documents(tmp_path / name, on_error=on_error))


# Which files


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    for name in (
        "b.txt",
        "a/z.txt",
        "a/b/c.jsonl",
        "a.txt",
        ".hidden.txt",
        ".git/x.txt",
        "notes.md",
        "c.JSONL",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(lines([name]) if name.lower().endswith("jsonl") else name.encode())
    docs = bl.documents(tmp_path)
    assert list(docs) == ["a/b/c.jsonl", "a/z.txt", "a.txt", "b.txt", "c.JSONL"]
    assert [Path(path).name for path in docs.ignored] == ["notes.md"]
    assert docs.stats.ignored == 1
    everything = bl.documents(tmp_path, format="text")
    assert [Path(path).name for path in everything.files][-1] == "notes.md"


def test_globs(tmp_path, monkeypatch):
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "sub/d.md", "x[1].txt", ".h.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)

    def read(pattern):
        return [text.replace(os.sep, "/") for text in bl.documents(pattern)]

    assert read("*.txt") == ["a.txt", "b.txt", "x[1].txt"]
    assert read("x[1].txt") == ["x[1].txt"], "a file of that name comes first"
    assert read("**/*.txt") == ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt", "x[1].txt"]
    assert read("sub/**") == ["sub/c.txt", "sub/d.md", "sub/deep/d.txt"]
    assert read("**/deep/*") == ["sub/deep/d.txt"]
    assert read(f"{tmp_path}/s*/**/d.*") == ["sub/d.md", "sub/deep/d.txt"]
    assert read("s?b") == ["sub/c.txt", "sub/deep/d.txt"]
    for pattern in ("*.nothing", "**/*.nothing", "nothing/**"):
        with pytest.raises(FileNotFoundError):
            bl.documents(pattern)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_in_circles_end(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_text("one")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "linked.txt").symlink_to(tmp_path / "a" / "one.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    assert list(bl.documents(tmp_path)) == ["one", "one"]
    assert list(bl.documents(f"{tmp_path}/**/*.txt")) == ["one", "one"]
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"gone\.txt"):
        list(bl.documents(tmp_path))
    docs = bl.documents(tmp_path, on_error="skip")
    assert (list(docs), docs.stats.reasons) == (["one", "one"], {"unreadable file": 1})
    assert train_quietly(docs, 300) == train_quietly(["one", "one"], 300)


def test_files_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("nothing.txt", tmp_path / "nothing.jsonl", Path("-"), ["-", "nothing.txt"]):
        with pytest.raises(FileNotFoundError):
            bl.documents(path)
    with pytest.raises(bl.TrainingError, match="no file to read"):
        bl.documents(tmp_path)
    with pytest.raises(FileNotFoundError):
        bl.Tokenizer.train(Path("-"), 300)
    for paths in (3, [3], [b"a.txt"], None):
        with pytest.raises(TypeError):
            bl.documents(paths)


# Limits and samples


def test_max_bytes_ends_between_two_characters(tmp_path):
    text = "日本🚀é" * 30_000
    raw = text.encode()
    (tmp_path / "a.txt").write_bytes(raw)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(raw))
    (tmp_path / "a.jsonl").write_bytes(lines([text[:7], text[7:]]))
    for limit in (1, 3, 5, 7, 13, 70_001, 200_000, len(raw) - 1, len(raw), len(raw) + 1):
        expected = raw[:limit].decode("utf-8", "ignore")
        for name in ("a.txt", "a.txt.gz", "a.jsonl"):
            docs = bl.documents(tmp_path / name, max_bytes=limit)
            assert "".join(docs) == expected
            assert docs.stats.limited == (limit <= len(raw))
            assert docs.stats.bytes == len(expected.encode())
            tok = train_quietly(docs, 256, pattern="none")
            assert tok.training_report["bytes"] == docs.stats.bytes == len(expected.encode()), (name, limit)
            assert docs.stats.limited == (limit <= len(raw))


def test_max_bytes_does_not_read_on(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(["x" * 100]) + b"broken\n")
    assert list(bl.documents(tmp_path / "a.jsonl", max_bytes=100)) == ["x" * 100]


def test_a_sample_is_drawn_by_document(tmp_path):
    texts = [str(n) for n in range(4000)]
    (tmp_path / "a.jsonl").write_bytes(lines(texts))
    (tmp_path / "b.txt").write_text("\n".join(texts))
    docs = bl.documents(tmp_path / "a.jsonl", sample=0.25)
    drawn = list(docs)
    assert 850 < len(drawn) < 1150
    assert docs.stats.not_sampled == 4000 - len(drawn)
    assert drawn == list(docs)
    assert drawn == list(bl.documents(tmp_path / "b.txt", separator="\n", sample=0.25))
    assert drawn != list(bl.documents(tmp_path / "a.jsonl", sample=0.25, seed=1))
    assert list(bl.documents(tmp_path / "a.jsonl", sample=1)) == texts
    assert train_quietly(docs, 300) == train_quietly(drawn, 300)
    # A faulty line takes its place in the order: the rest of the sample stays as it was.
    (tmp_path / "c.jsonl").write_bytes(lines(texts[:10]) + b"?\n" + lines(texts[11:]))
    other = list(bl.documents(tmp_path / "c.jsonl", sample=0.25, on_error="skip"))
    assert other == [text for text in drawn if text != "10"]


def test_a_sample_of_whole_files(tmp_path):
    for n in range(100):
        (tmp_path / f"{n:02}.txt").write_text(f"text {n}")
    docs = bl.documents(tmp_path, sample=0.5, seed=7)
    drawn = list(docs)
    assert 25 < len(drawn) < 75
    assert train_quietly(docs, 300) == train_quietly(drawn, 300)
    assert docs.stats.documents == len(drawn)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"sample": 0}, ValueError),
        ({"sample": 1.5}, ValueError),
        ({"sample": float("nan")}, ValueError),
        ({"max_bytes": 0}, ValueError),
        ({"max_bytes": 1.5}, TypeError),
        ({"max_bytes": True}, TypeError),
        ({"seed": "x"}, TypeError),
        ({"separator": ""}, ValueError),
        ({"separator": b"x"}, TypeError),
        ({"field": None}, TypeError),
        ({"column": 3}, TypeError),
        ({"errors": "ignore"}, ValueError),
        ({"on_error": "stop"}, ValueError),
    ],
)
def test_options_out_of_range(tmp_path, options, error):
    (tmp_path / "a.txt").write_text("low")
    with pytest.raises(error, match=next(iter(options))):
        bl.documents(tmp_path, **options)


# Faults of text files


def test_faulty_texts_are_skipped_whole(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"good")
    (tmp_path / "b.txt").write_bytes(b"x" * 3_000_000 + b"\xff")
    (tmp_path / "c.txt").write_bytes("日".encode()[:-1])
    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(b"better"))
    (tmp_path / "e.txt").write_bytes(b"")
    docs = bl.documents(tmp_path, on_error="skip")
    assert list(docs) == ["good", "better"]
    stats = docs.stats.to_dict()
    assert docs.stats.reasons == {"invalid UTF-8": 2}
    assert [fault.split(": ")[1][:33] for fault in docs.stats.faults] == [
        "invalid UTF-8 at byte 3000000; er",
        "invalid UTF-8 at byte 0; errors='",
    ]
    assert train_quietly(docs, 300) == train_quietly(["good", "better"], 300)
    assert docs.stats.to_dict() == stats
    with pytest.raises(bl.TextError, match=r"b\.txt: .*3000000"):
        list(bl.documents(tmp_path))


def test_size_is_known_for_plain_text_only(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 100)
    states = []
    train_quietly(bl.documents(tmp_path, max_bytes=60), 256, progress=states.append)
    assert {state["total"] for state in states if state["stage"] == "count"} == {60}
    (tmp_path / "b.jsonl").write_bytes(lines())
    states.clear()
    train_quietly(bl.documents(tmp_path), 256, progress=states.append)
    assert {state["total"] for state in states if state["stage"] == "count"} == {None}
