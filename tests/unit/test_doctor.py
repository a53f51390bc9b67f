"""`doctor`: each finding on something that has the fault, and none on what has not."""

import base64
import json

import pytest

import byteloom as bl
from byteloom._doctor_patterns import nested_quantifier


def codes(findings, severity=None):
    return [one.code for one in findings if severity in (None, one.severity)]


def only(findings, code):
    found = [one for one in findings if one.code == code]
    assert len(found) == 1, codes(findings)
    assert found[0].mend
    return found[0]


def bytes_and(*tokens):
    return {bytes([byte]): byte for byte in range(256)} | {
        token: 256 + place for place, token in enumerate(tokens)
    }


# Tokenizers.


def test_a_sound_tokenizer(special_tok):
    findings = bl.doctor(special_tok, embedding_rows=302)
    assert codes(findings, "error") == []
    assert codes(findings, "warning") == []


def test_findings_are_data(abc_tok):
    for finding in bl.doctor(abc_tok):
        assert json.loads(json.dumps(finding.to_dict())) == finding.to_dict()
        assert finding.severity in ("error", "warning", "note")


def test_errors_come_first(abc_tok):
    severities = [one.severity for one in bl.doctor(abc_tok, embedding_rows=10)]
    assert severities == sorted(severities, key=("error", "warning", "note").index)
    assert severities[0] == "error"


def test_holes(abc_tok):
    assert "259-299" in only(bl.doctor(abc_tok), "id-holes").message


def test_ids_beyond_the_embedding(abc_tok):
    assert "300" in only(bl.doctor(abc_tok, embedding_rows=300), "ids-beyond-embedding").message
    assert "ids-beyond-embedding" not in codes(bl.doctor(abc_tok, embedding_rows=301))


def test_tokens_that_cannot_be_reached(tmp_path):
    # `ab` is merged first, and `bc` is never there for `abc`.
    path = tmp_path / "merges.json"
    path.write_text(json.dumps({"merges": [[97, 98], [98, 99], [97, 257]]}), encoding="utf-8")
    finding = only(bl.doctor(path), "unreachable-tokens")
    assert finding.severity == "warning"
    assert "1 token " in finding.message
    assert "258 b'abc'" in finding.message
    assert "unreachable-tokens" not in codes(bl.doctor(bl.Tokenizer.train("abc abc", vocab_size=258)))


def test_tokens_that_the_pattern_splits():
    tok = bl.Tokenizer.from_tiktoken(bytes_and(b"ab", b"12345", b" \xe2"), pattern="cl100k")
    finding = only(bl.doctor(tok), "tokens-the-pattern-splits")
    assert "1 token," in finding.message
    assert "12345" in finding.message


@pytest.mark.parametrize(
    ("name", "severity"), [("end", "warning"), (" ", "warning"), ("<s>", "note"), ("[PAD]", "note")]
)
def test_special_tokens_that_text_spells(name, severity):
    tok = bl.Tokenizer.from_tiktoken(bytes_and(), pattern="gpt2", special_tokens={name: 256})
    code = "special-is-a-word" if severity == "warning" else "special-is-a-tag"
    finding = only(bl.doctor(tok), code)
    assert finding.severity == severity
    assert name in finding.message


def test_usual_special_tokens_are_fine():
    names = {"<|endoftext|>": 256, "<|im_start|>": 257, "<\uff5cend\uff5c>": 258}
    tok = bl.Tokenizer.from_tiktoken(bytes_and(), pattern="gpt2", special_tokens=names)
    assert not [code for code in codes(bl.doctor(tok)) if code.startswith("special")]


# Patterns.


@pytest.mark.parametrize("name", [name for name in bl.pattern_names() if name != "none"])
def test_built_in_patterns_have_no_faults(name):
    findings = bl.doctor(name)
    assert codes(findings, "error") == codes(findings, "warning") == []


def test_a_pattern_that_does_not_compile():
    assert "unclosed" in only(bl.doctor("(a"), "pattern-invalid").message


@pytest.mark.parametrize("pattern", [r"\w+|\s+", "[a-z]+", r"\S+", r".+", r"(?:\w+|\s+)\b"])
def test_a_pattern_that_loses_text(pattern):
    assert only(bl.doctor(pattern), "pattern-loses-text").severity == "warning"
    assert "pattern-loses-text" not in codes(bl.doctor(rf"{pattern}|[\s\S]"))


def test_a_pattern_that_is_not_linear():
    assert "pattern-backtracks" in codes(bl.doctor(r"\w+(?!x)|[\s\S]"))
    assert "pattern-backtracks" not in codes(bl.doctor(r"\w+|[\s\S]"))
    assert only(bl.doctor(r"(?:\w+\s?)+|[\s\S]"), "pattern-nested-repeats").severity == "note"
    assert only(bl.doctor(r"(?:\w+\s?)+(?!x)|[\s\S]"), "pattern-nested-repeats").severity == "warning"


@pytest.mark.parametrize(
    ("pattern", "nested"),
    [
        (r"(a+)+", "(a+)+"),
        (r"x(?:a*b?){2,}", "(?:a*b?){2,}"),
        (r"((a|b+)c?)*", "((a|b+)c?)*"),
        (r"(?:(?:a+))+", "(?:(?:a+))+"),
        (r"(?:a++)+", None),
        (r"(?>a+)+", None),
        (r"(?:a+)++", None),
        (r"(?:a+){2}", None),
        (r"(?:ab)+c+", None),
        (r"[(a+)]+", None),
        (r"[\])(+]+\(a+\)+", None),
        (r"\p{L}+|\p{N}{1,3}", None),
        ("(", None),
        (")*", None),
        ("", None),
    ],
)
def test_nested_repeats(pattern, nested):
    assert nested_quantifier(pattern) == nested


def test_a_pattern_that_other_engines_read_differently():
    pytest.importorskip("tokenizers")
    found = [one for one in bl.doctor(r"\p{N}{1,3}+|[^\p{N}]+") if one.code == "pattern-means-something-else"]
    assert any("Oniguruma" in one.message for one in found)
    # Python counts the separators U+001C to U+001F as space, Rust does not.
    found = [one for one in bl.doctor(r"\s|\S+") if one.code == "pattern-means-something-else"]
    assert any("Python's re " in one.message and "\\x1" in one.message for one in found)
    plain = bl.doctor(r"[a-z]+|[^a-z]")
    assert "pattern-means-something-else" not in codes(plain)


# Files.


def rank_file(folder, lines):
    path = folder / "some.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in lines))
    return path


def test_rank_files(tmp_path):
    lines = list(bytes_and(b"ab").items())
    assert codes(bl.doctor(rank_file(tmp_path, lines), pattern="cl100k"), "error") == []
    assert only(bl.doctor(rank_file(tmp_path, lines)), "no-pattern").severity == "warning"
    twice = bl.doctor(rank_file(tmp_path, [*lines, (b"ab", 300)]), pattern="cl100k")
    assert "line 257" in only(twice, "duplicate-tokens").message
    shared = bl.doctor(rank_file(tmp_path, [*lines, (b"cd", 256)]), pattern="cl100k")
    assert "256" in only(shared, "shared-ids").message
    missing = bl.doctor(rank_file(tmp_path, lines[:10] + lines[12:]), pattern="cl100k")
    assert "0xa, 0xb" in only(missing, "bytes-missing").message
    assert "does-not-load" in codes(missing)
    empty = bl.doctor(rank_file(tmp_path, [*lines, (b"", 300)]), pattern="cl100k")
    assert "empty-tokens" in codes(empty)


def test_files_that_are_damaged_or_not_there(tmp_path, special_tok):
    path = tmp_path / "tok.json"
    special_tok.save(path)
    assert codes(bl.doctor(path), "error") == []
    assert codes(bl.doctor(str(path), embedding_rows=5), "error") == ["ids-beyond-embedding"]
    path.write_bytes(path.read_bytes()[:-40])
    assert {"not-json", "does-not-load"} <= set(codes(bl.doctor(path), "error"))
    for missing in (tmp_path / "none.json", str(tmp_path / "none.tiktoken")):
        with pytest.raises(FileNotFoundError):
            bl.doctor(missing)


LETTERS = [
    chr(byte) if byte in {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)} else None
    for byte in range(256)
]


def byte_level(**changes):
    """A `tokenizer.json` of bytes, `ab` and `<|end|>`."""
    others = iter(range(0x100, 0x200))
    vocab = {letter or chr(next(others)): byte for byte, letter in enumerate(LETTERS)} | {"ab": 256}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    parsed = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": 257, "content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True,
            }
        ],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": vocab, "merges": [["a", "b"]],
        },
    }  # fmt: skip
    return parsed | changes


def saved(folder, parsed, **others):
    """A folder with the file, and others by their names."""
    (folder / "tokenizer.json").write_text(json.dumps(parsed), encoding="utf-8")
    for name, content in others.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_faults_of_a_huggingface_file(tmp_path):
    parsed = byte_level()
    model = parsed["model"]
    model["vocab"] = {letter: id_ for letter, id_ in model["vocab"].items() if letter not in "xy"}
    model["vocab"] |= {"": 300, "cd": 256}
    model["merges"] += [["a", "b"], "q zz"]
    findings = bl.doctor(saved(tmp_path, parsed) / "tokenizer.json")
    assert "'x', 'y'" in only(findings, "bytes-missing").message
    assert "256 for 'ab' and 'cd'" in only(findings, "shared-ids").message
    assert "'zz'" in only(findings, "merge-without-token").message
    assert "merges[1]" in only(findings, "duplicate-merges").message
    assert "empty-tokens" in codes(findings)
    assert findings == bl.doctor(str(tmp_path / "tokenizer.json"))


def test_a_token_that_is_there_twice(tmp_path):
    text = json.dumps(byte_level()).replace('"ab": 256', '"ab": 256, "ab": 258')
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")
    assert "'ab' is there twice" in only(bl.doctor(path), "duplicate-tokens").message


TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.content }}<|end|>[INST]{% endfor %}{# <|no|> #}"
)
BOS = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}]}


@pytest.mark.parametrize("where", ["jinja", "config", "list"])
def test_chat_templates(tmp_path, where):
    config = {"bos_token": {"content": "<|end|>"}}
    if where == "jinja":
        (tmp_path / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    elif where == "config":
        config["chat_template"] = TEMPLATE
    else:
        config["chat_template"] = [{"name": "default", "template": TEMPLATE}]
    processor = {"type": "Sequence", "processors": [BOS]}
    findings = bl.doctor(saved(tmp_path, byte_level(post_processor=processor), tokenizer_config=config))
    unknown = only(findings, "template-token-unknown")
    assert unknown.severity == "error"
    assert "<|im_start|>" in unknown.message
    assert "<|end|>" not in unknown.message
    assert "<|no|>" not in unknown.message
    assert "[INST]" in only(findings, "template-tag-is-text").message
    assert only(findings, "double-bos").severity == "warning"
    plain = bl.doctor(saved(tmp_path, byte_level(), tokenizer_config=config))
    assert "double-bos" not in codes(plain)
    twice = bl.doctor(saved(tmp_path, byte_level(), tokenizer_config=config | {"add_bos_token": True}))
    assert "double-bos" in codes(twice)


# Formats of others: these need their readers.


def test_a_sound_folder(tmp_path):
    folder = saved(
        tmp_path, byte_level(), tokenizer_config={"eos_token": "<|end|>"}, config={"vocab_size": 258}
    )
    assert codes(bl.doctor(folder), "error") == []
    assert "ids-beyond-embedding" in codes(
        bl.doctor(saved(tmp_path, byte_level(), config={"vocab_size": 257}))
    )
    assert "ids-beyond-embedding" not in codes(bl.doctor(folder, embedding_rows=258))


def test_gpt2_is_sound(data_dir):
    findings = bl.doctor(data_dir / "vocab" / "gpt2.tokenizer.json", embedding_rows=50257)
    assert codes(findings, "error") == []
