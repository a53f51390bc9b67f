"""Whatever is written to files comes back: all of it, in order, or accounted for."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import byteloom as bl
from byteloom._inputs.find import _fits
from helpers import train_quietly
from strategies import bad_bytes, byte_texts, few, texts

PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
packings = st.sampled_from(sorted(PACK))
some_texts = st.lists(texts, max_size=8)


def written(data, name):
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, name)
    path.write_bytes(data)
    return folder, path


@given(some_texts, packings, st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n \n"]))
def test_lines(documents, packing, ascii_only, end):
    data = "".join(json.dumps({"text": text}, ensure_ascii=ascii_only) + end for text in documents).encode()
    folder, path = written(PACK[packing](data), f"a.jsonl{packing}")
    with folder:
        docs = bl.documents(path)
        expected = [text for text in documents if text]
        assert list(docs) == expected
        assert docs.stats.bytes == sum(len(text.encode()) for text in expected)
        assert train_quietly(docs, 270) == train_quietly(expected, 270)


@given(st.lists(byte_texts, max_size=6), st.sampled_from(["\n", "<|x|>", "aa"]), packings)
def test_pieces_between_separators(parts, separator, packing):
    data = separator.encode().join(parts)
    folder, path = written(PACK[packing](data), f"a.txt{packing}")
    with folder:
        docs = bl.documents(path, separator=separator, errors="keep")
        assert list(docs) == [part for part in data.split(separator.encode()) if part]


@given(texts, st.integers(1, 60), packings, st.integers(1, 3))
def test_a_limit_gives_a_prefix(text, limit, packing, files):
    folder, path = written(PACK[packing](text.encode()), f"a.txt{packing}")
    with folder:
        docs = bl.documents([path] * files, max_bytes=limit)
        whole = (text * files).encode()
        found = "".join(docs).encode()
        assert found == docs_prefix(text, files, limit)
        assert whole.startswith(found)
        report = train_quietly(docs, 256).training_report
        assert report["bytes"] == docs.stats.bytes == len(found)
        assert report["documents"] == docs.stats.documents


def docs_prefix(text, files, limit):
    return (text * files).encode()[:limit].decode("utf-8", "ignore").encode()


@given(st.lists(st.one_of(texts.map(str.encode), bad_bytes), max_size=8))
def test_texts_given_out_and_skipped_are_all_there_are(parts):
    data = b"<|x|>".join(parts)
    folder, path = written(data, "a.txt")
    with folder:
        docs = bl.documents(path, separator="<|x|>", on_error="skip")
        found = list(docs)
        split = [part for part in data.split(b"<|x|>") if part]
        assert len(found) + docs.stats.skipped == len(split)
        assert found == [part.decode() for part in split if part.decode("utf-8", "ignore").encode() == part]


@few
@given(st.binary(min_size=1, max_size=300), st.sampled_from([".gz", ".bz2", ".xz"]), st.data())
def test_a_shortened_archive_is_always_a_fault(data, packing, draw):
    whole = PACK[packing](data)
    kept = draw.draw(st.integers(0, len(whole) - 1))
    folder, path = written(whole[:kept], f"a.txt{packing}")
    with folder:
        docs = bl.documents(path, on_error="skip", errors="keep")
        assert list(docs) == []
        assert docs.stats.skipped == 1


@given(st.lists(st.text("ab", min_size=1, max_size=2), min_size=1, max_size=4), st.data())
def test_globs_fit_as_those_of_pathlib(names, draw):
    parts = draw.draw(
        st.lists(st.sampled_from(["**", "*", "a", "b", "a*", "?b", "ab"]), min_size=1, max_size=4)
    )

    def fits(names, parts):
        if not parts:
            return not names
        if parts[0] == "**":
            return fits(names, parts[1:]) or (bool(names) and fits(names[1:], parts))
        return bool(names) and Path(names[0]).match(parts[0]) and fits(names[1:], parts[1:])

    assert _fits("/".join(names), parts) == fits(names, parts)
