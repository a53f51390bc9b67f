"""`byteloom patch`."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from byteloom.patching import ByteEntropyModel, Patcher

TEXT = (
    "A patch begins where the next byte is hard to foresee, and goes on as long as it is not.\n"
    "The names of cities, such as København, and numbers such as 1024 are hard.\n"
) * 10
SHORT = "Where does the next patch begin?\nHere."


@pytest.fixture(scope="module")
def model():
    return ByteEntropyModel().train(TEXT)


@pytest.fixture(scope="module")
def model_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "text.entropy"
    model.save(path)
    return path


def bits(model_file, *more):
    return "patch", "-m", model_file, "--theta", "1.5", "--units", "bits", *more


def test_training_saves_the_model_of_the_library(run, tmp_path):
    (tmp_path / "a b.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "c.txt").write_bytes(b"\xff\xfe raw")
    done = run("patch", "--train", "a b.txt", "c.txt", "-o", "m.entropy", "--threads", "2")
    assert done.returncode == 0
    assert done.stdout == b""
    assert b"in 2 documents" in done.stderr
    expected = ByteEntropyModel().train([TEXT, b"\xff\xfe raw"])
    assert ByteEntropyModel.load(tmp_path / "m.entropy") == expected
    refused = run("patch", "--train", "c.txt", "-o", "m.entropy")
    assert refused.returncode == 1
    assert b"--force" in refused.stderr
    assert run("patch", "--train", "c.txt", "-o", "m.entropy", "--force").returncode == 0


def test_training_from_a_pipe_with_options(run, tmp_path):
    done = run(
        "patch", "--train", "-o", "m.entropy", "--order", "6", "--smoothing", "witten-bell", "--json",
        stdin=TEXT.encode(),
    )  # fmt: skip
    said = json.loads(done.stdout)
    expected = ByteEntropyModel(6, smoothing="witten-bell").train(TEXT)
    assert said["fingerprint"] == expected.fingerprint()
    assert (said["order"], said["trained_bytes"]) == (6, len(TEXT.encode()))
    assert ByteEntropyModel.load(tmp_path / "m.entropy") == expected
    piped = run("patch", "--train", "-o", "-", stdin=TEXT.encode())
    assert piped.stdout == ByteEntropyModel().train(TEXT).to_bytes()


def test_patches_can_be_read_without_colour(run, model, model_file):
    expected = model.patcher(theta=1.5, units="bits").patches(SHORT)
    for done in (
        run(*bits(model_file, "--text", SHORT)),
        run(*bits(model_file), stdin=SHORT.encode()),
        run(*bits(model_file, "-", "--color", "never"), stdin=SHORT.encode()),
    ):
        assert done.stderr == b""
        shown, _, summary = done.stdout.decode().rpartition("\n\n")
        plain = shown.replace("↵\n", "\n").replace("·", " ")
        assert plain.split("│") == [patch.decode() for patch in expected]
        assert summary.startswith(f"{len(expected)} patches, {len(SHORT)} bytes, ")


def test_colours_and_bytes_that_are_no_text(run, model_file, tmp_path):
    (tmp_path / "raw").write_bytes(b"a\xff\x00b\x1b[31m")
    done = run("patch", "--rule", "byte", "raw", "--color", "always")
    assert b"\x1b[48;5;" in done.stdout
    assert b"\x1b[31m" not in done.stdout
    assert "⟨FF⟩".encode() in done.stdout
    assert run("patch", "--rule", "space", "--text", "").stdout.decode().strip() == "0 patches, 0 bytes"
    assert "1 patch, 3 bytes" in run("patch", "--rule", "space", "--text", "the").stdout.decode()


def test_lengths_and_boundaries_as_text_and_as_arrays(run, model, model_file, tmp_path):
    patcher = model.patcher(theta=1.5, units="bits", max_patch_length=4, reset_on=b"\n")
    options = bits(model_file, "--max-length", "4", "--reset-lines", "--text", SHORT)
    assert json.loads(run(*options, "--json").stdout)["reset_lines"] is True
    for name, expected in (("lengths", patcher.lengths(SHORT)), ("boundaries", patcher.boundaries(SHORT))):
        printed = run(*options, f"--{name}")
        assert printed.stdout == " ".join(map(str, expected.tolist())).encode() + b"\n"
        piped = np.load(io.BytesIO(run(*options, f"--{name}", "--format", "npy").stdout))
        assert run(*options, f"--{name}", "-o", f"{name}.npy").stdout == b""
        for found in (piped, np.load(tmp_path / f"{name}.npy")):
            assert found.dtype == expected.dtype
            assert found.tolist() == expected.tolist()
        run(*options, f"--{name}", "-o", f"{name}.txt")
        assert (tmp_path / f"{name}.txt").read_bytes() == printed.stdout


def test_an_object_for_programs(run, model, model_file):
    for options, patcher in (
        (("--theta", "1", "--units", "nats"), model.patcher(theta=1.0, units="nats")),
        (("--rise", "0.5", "--units", "bits"), model.patcher(rise=0.5, units="bits")),
        (
            ("--theta", "1", "--rise", "0", "--units", "bits"),
            model.patcher(theta=1.0, rise=0.0, units="bits"),
        ),
    ):
        found = json.loads(run("patch", "-m", model_file, *options, "--text", SHORT, "--json").stdout)
        assert found["boundaries"] == patcher.boundaries(SHORT).tolist()
        assert found["lengths"] == patcher.lengths(SHORT).tolist()
        assert (found["rule"], found["units"]) == (patcher.rule, patcher.units)
        assert (found["bytes"], found["patches"]) == (len(SHORT), len(found["lengths"]))


def test_why_patches_start(run, model, model_file):
    patcher = model.patcher(theta=1.5, units="bits", max_patch_length=6)
    options = bits(model_file, "--max-length", "6", "--text", SHORT, "--explain")
    patches = patcher.explain(SHORT).patches
    shown = run(*options, "--limit", "0").stdout.decode()
    assert shown.startswith(run(*options[:-1]).stdout.decode())
    for patch in patches:
        span = f"bytes {patch.byte_span.start}-{patch.byte_span.end}"
        rule = patch.start.rule.replace("_", " ")
        assert f"  patch {patch.index + 1}, {span}: {rule}; entropy {patch.start.entropy:.3f}" in shown
        assert f"{patch.explained[-1].entropy:.3f}" in shown
    assert "more patches" not in shown
    few = run(*options, "--limit", "2").stdout.decode()
    assert few.endswith(f"\nand {len(patches) - 2} more patches; --limit 0 explains all\n")
    assert "patch 2, " in few
    assert "patch 3, " not in few
    lines = run(*options, "--json").stdout.decode().splitlines()
    assert [json.loads(line) for line in lines] == [patch.to_dict() for patch in patches]
    assert run("patch", "--rule", "space", "--text", "", "--explain", "--json").stdout == b""


def test_explanations_of_bytes_that_are_no_text(run, model_file, tmp_path):
    (tmp_path / "raw").write_bytes(b"a\xff\x00b\x1b[31m")
    for options in (bits(model_file), ("patch", "--rule", "byte")):
        shown = run(*options, "raw", "--explain", "--color", "never").stdout
        assert b"\x1b" not in shown
        assert "⟨FF⟩  patch 2, bytes 1-2: ".encode() in shown


def test_rules_without_a_model(run, special_tok, tok_file):
    for options, patcher in (
        (("space",), Patcher.space()),
        (("space", "--max-length", "2"), Patcher.space(max_patch_length=2)),
        (("static", "--size", "5"), Patcher.static(5)),
        (("byte",), Patcher.byte()),
        (("bpe", "--tokenizer", tok_file), Patcher.bpe(special_tok)),
    ):
        done = run("patch", "--rule", *options, "--lengths", stdin=TEXT.encode())
        assert done.stdout.split() == [b"%d" % length for length in patcher.lengths(TEXT).tolist()]


def test_a_threshold_for_a_mean_size(run, model, model_file, tmp_path):
    (tmp_path / "short.txt").write_text(SHORT, encoding="utf-8")
    options = "patch", "-m", model_file, "--target-size", "3", "short.txt"
    theta = model.threshold_for(SHORT, 3)
    done = run(*options, "--json")
    assert json.loads(done.stdout)["theta"] == theta
    assert done.stderr.decode() == f"theta {theta!r} bits\n"
    rise = model.threshold_for(SHORT, 3, rule="monotonic", units="nats")
    found = json.loads(run(*options, "--json", "--rule", "monotonic", "--units", "nats").stdout)
    assert (found["rule"], found["rise"], found["units"]) == ("monotonic", rise, "nats")
    theta = model.threshold_for(SHORT, 3, rule="both", rise=0.1)
    found = json.loads(run(*options, "--json", "--rule", "both", "--rise", "0.1", "--units", "bits").stdout)
    assert (found["theta"], found["rise"]) == (theta, 0.1)


def test_a_report_for_people_and_for_programs(run, model, special_tok, model_file, tok_file, tmp_path):
    (tmp_path / "short.txt").write_text(SHORT, encoding="utf-8")
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    options = bits(model_file, "--report", "--tokenizer", tok_file, "short.txt", "text.txt")
    report = model.patcher(theta=1.5, units="bits").report([SHORT, TEXT], tokenizer=special_tok)
    found = json.loads(run(*options, "--json").stdout)
    assert found == {"rule": "global", "theta": 1.5, "units": "bits", **report.to_dict()}
    shown = run(*options).stdout.decode()
    for words in (f"{report.patches:,}", f"{report.mean:.2f} bytes", "word starts", "token starts", "█"):
        assert words in shown
    shares = [float(line.split("%")[0].split()[-1]) for line in shown.splitlines() if "█" in line]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert b"bytes         0 in 1 document\n" in run("patch", "--rule", "byte", "--report").stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--model"),
        (("--theta", "1"), "--model"),
        (("-m", "MODEL"), "--theta"),
        (("-m", "MODEL", "--theta", "1"), "--units bits"),
        (("-m", "MODEL", "--rule", "both", "--theta", "1", "--units", "bits"), "--rise"),
        (("-m", "MODEL", "--rule", "global", "--rise", "1", "--units", "bits"), "--theta"),
        (("-m", "MODEL", "--target-size", "3", "--theta", "1", "--units", "bits"), "leave out"),
        (("-m", "MODEL", "--rule", "both", "--target-size", "3"), "one of"),
        (("-m", "MODEL", "--rule", "space"), "--model"),
        (("--rule", "space", "--reset-lines"), "--reset-lines"),
        (("--rule", "static"), "--size"),
        (("--rule", "byte", "--size", "3"), "--size"),
        (("--rule", "byte", "--max-length", "3"), "--max-length"),
        (("--rule", "bpe"), "--tokenizer"),
        (("--rule", "byte", "--tokenizer", "x"), "--tokenizer"),
        (("--rule", "byte", "--lengths", "--boundaries"), "--boundaries"),
        (("--rule", "byte", "--json", "--lengths"), "--json"),
        (("--rule", "byte", "--explain", "--report"), "--explain"),
        (("--rule", "byte", "--limit", "3"), "--explain"),
        (("--rule", "byte", "--explain", "--json", "--limit", "3"), "--json"),
        (("--train", "-o", "x", "--explain"), "second step"),
        (("--rule", "byte", "--format", "npy"), "--lengths"),
        (("--rule", "byte", "one", "two"), "--report"),
        (("--rule", "byte", "one", "--text", "x"), "--text"),
        (("--rule", "byte", "--order", "3"), "--train"),
        (("--train",), "-o"),
        (("--train", "-o", "x", "--rule", "byte"), "second step"),
        (("--train", "-o", "-", "--json"), "-o"),
    ],
    ids=str,
)
def test_calls_that_make_no_sense_say_what_to_give(run, model_file, options, said):
    done = run("patch", *(model_file if option == "MODEL" else option for option in options))
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stdout == b""


def test_what_cannot_be_done_is_said(run, model_file, tok_file, tmp_path):
    for options, said in (
        (bits(model_file, "gone.txt"), "gone.txt"),
        (bits("gone.entropy", "--text", "x"), "gone.entropy"),
        (bits(tok_file, "--text", "x"), "tok.json: "),
        (("patch", "-m", model_file, "--theta", "nan", "--units", "bits", "--text", "x"), "NaN"),
        (("patch", "-m", model_file, "--target-size", "0.2", "--text", "x"), "0.2"),
        (("patch", "-m", model_file, "--target-size", "3", "--text", ""), "no bytes"),
        (("patch", "--rule", "static", "--size", "0", "--text", "x"), "size"),
        (("patch", "--train", "-o", "m", "--order", "0"), "order"),
        (("patch", "--train", "-o", "m", "--alpha", "0"), "alpha"),
        (("patch", "--train", "gone.txt", "-o", "m"), "gone.txt"),
    ):
        done = run(*options)
        assert done.returncode == 1, options
        assert said in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "m").exists()


def test_a_damaged_model_is_refused(run, model, tmp_path):
    whole = bytearray(model.to_bytes())
    whole[len(whole) // 2] ^= 1
    (tmp_path / "bad.entropy").write_bytes(whole)
    done = run("patch", "-m", "bad.entropy", "--theta", "1", "--units", "bits", "--text", "x")
    assert done.returncode == 1
    assert b"bad.entropy: " in done.stderr
