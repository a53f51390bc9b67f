"""What readers of files left out: in the report of a training, in counts and in their files."""

import byteloom as bl
from helpers import train_quietly


def faulty(folder):
    path = folder / "a.jsonl"
    path.write_text('{"text": "low lower"}\n{"id": 2}\n{"text": null}\n{"te\n{"text": "lowest"}\n')
    (folder / "b.jsonl").write_text('{"text": "low"}\n{"text": 3}\n')
    (folder / "c.doc").write_text("low")
    return bl.documents(folder, on_error="skip")


LEFT_OUT = {
    "files": 2,
    "documents": 3,
    "bytes": 18,
    "not_sampled": 0,
    "skipped": 4,
    "reasons": {"no such field": 1, "no string": 2, "no JSON": 1},
    "ignored": 1,
    "limited": False,
}


def test_the_report_says_what_was_skipped(tmp_path):
    docs = faulty(tmp_path)
    tok = train_quietly(docs, 260)
    assert tok.training_report["reading"] == LEFT_OUT
    assert docs.stats.to_dict() == {**LEFT_OUT, "faults": docs.stats.faults}
    # In a file too, and there without the names of files.
    saved = tok.to_bytes()
    assert bl.Tokenizer.from_bytes(saved).training_report["reading"] == LEFT_OUT
    assert b"jsonl" not in saved


def test_counts_keep_what_was_skipped(tmp_path):
    folder = tmp_path / "text"
    folder.mkdir()
    counts = bl.PretokenCounts(faulty(folder))
    assert counts.info()["reading"] == LEFT_OUT
    counts.save(tmp_path / "kept.counts")
    loaded = bl.PretokenCounts.load(tmp_path / "kept.counts").prune(1)
    assert loaded.info()["reading"] == LEFT_OUT
    twice = loaded.merge(counts)
    reading = train_quietly(twice, 260).training_report["reading"]
    assert reading["skipped"] == 8
    assert reading["reasons"] == {"no such field": 2, "no string": 4, "no JSON": 2}
    assert bl.PretokenCounts("low").info()["reading"] is None
    assert train_quietly(bl.PretokenCounts("low").merge(counts), 260).training_report["reading"] == LEFT_OUT


def test_folders_among_documents_are_in_the_report(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.txt").write_text("low lower")
        (folder / "b.doc").write_text("lowest")
    reading = train_quietly(["low", tmp_path / "one", tmp_path / "two"], 260).training_report["reading"]
    assert (reading["files"], reading["documents"], reading["ignored"]) == (2, 2, 2)
