"""What the doctor sees in tokenizer files without loading them."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._finding import Finding, Severity

__all__ = ["FileReport", "inspect"]

_EXAMPLES = 5
# Names in templates that are control tokens, and those that may well be plain text.
_CONTROL = re.compile("<[|\uff5c][^|<>\uff5c\\s]{1,64}[|\uff5c]>")
_TAG = re.compile(r"</?[A-Za-z]\w{0,40}>|\[/?[A-Z]\w{1,40}\]")


@dataclass
class FileReport:
    """What a file or a folder shows."""

    findings: list[Finding] = field(default_factory=list)
    embedding_rows: int | None = None

    def add(self, severity: Severity, code: str, message: str, mend: str) -> None:
        """One more finding."""
        self.findings.append(Finding(severity, code, message, mend))


def inspect(path: str | os.PathLike[str]) -> FileReport:
    """Look into a file or a folder.

    Raises:
        OSError: it cannot be read.
    """
    report = FileReport()
    place = Path(path)
    if place.is_dir():
        _inspect_folder(place, report)
        return report
    data = place.read_bytes()
    if data.lstrip()[:1] == b"{":
        parsed = _json(data, place, report)
        _inspect_json(parsed, place, report)
    elif re.match(rb"\s*[A-Za-z0-9+/=]+ \d+\s", data[:4096]):
        _inspect_ranks(data, place, report)
    return report


def _json(data: bytes, place: Path, report: FileReport) -> Any:
    """The file as JSON; a key that an object holds twice is a finding."""
    twice: Counter[str] = Counter()

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(items)
        if len(whole) != len(items):
            twice.update(key for key, times in Counter(key for key, _ in items).items() if times > 1)
        return whole

    try:
        parsed = json.loads(data, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        mend = "write the file again with the tool that made it"
        report.add("error", "not-json", f"{place}: not valid JSON: {error}", mend)
        return None
    if twice:
        message = f"{place}: {_some(map(repr, twice))} is there twice, so that one of the two is lost"
        report.add("error", "duplicate-tokens", message, "keep the entry that the model was trained with")
    return parsed


def _inspect_json(parsed: Any, place: Path, report: FileReport) -> None:
    if not isinstance(parsed, dict):
        return
    if isinstance(parsed.get("model"), dict):
        _inspect_huggingface(parsed, place, report)
    elif parsed and all(isinstance(id_, int) for id_ in parsed.values()):
        _inspect_vocab(parsed, {}, place, report)


def _inspect_huggingface(parsed: dict[str, Any], place: Path, report: FileReport) -> None:
    model = parsed["model"]
    vocab = model.get("vocab")
    if not isinstance(vocab, dict):
        return
    vocab = {token: id_ for token, id_ in vocab.items() if isinstance(id_, int)}
    added = _added_tokens(parsed)
    _inspect_vocab(vocab, added, place, report)
    if '"ByteLevel"' in json.dumps([parsed.get("pre_tokenizer"), parsed.get("decoder")]):
        missing = [letter for letter in _byte_letters() if letter not in vocab]
    elif model.get("byte_fallback"):
        missing = [name for name in (f"<0x{byte:02X}>" for byte in range(256)) if name not in vocab]
    else:
        missing = []
    if missing:
        message = f"{place}: {len(missing)} of the 256 bytes have no token: {_some(map(repr, missing))}"
        mend = "add a token for each byte, or text that holds them cannot be encoded"
        report.add("error", "bytes-missing", message, mend)
    _inspect_merges(model.get("merges"), vocab, place, report)


def _inspect_vocab(vocab: dict[str, int], added: dict[str, int], place: Path, report: FileReport) -> None:
    if "" in vocab or "" in added:
        report.add("error", "empty-tokens", f"{place}: a token is empty", "remove it")
    names: dict[int, str] = {}
    shared = []
    for token, id_ in [*vocab.items(), *added.items()]:
        if names.setdefault(id_, token) != token:
            shared.append(f"{id_} for {names[id_]!r} and {token!r}")
    if shared:
        message = f"{place}: two tokens share an id: {_some(shared)}"
        report.add("error", "shared-ids", message, "give each token an id of its own")
    moved = [token for token, id_ in added.items() if vocab.get(token, id_) != id_]
    if moved:
        message = f"{place}: added tokens have another id in the vocabulary: {_some(map(repr, moved))}"
        report.add("error", "duplicate-tokens", message, "keep one of the two ids")


def _inspect_merges(merges: Any, vocab: dict[str, int], place: Path, report: FileReport) -> None:
    if not isinstance(merges, list):
        return
    unknown: list[str] = []
    seen: set[tuple[str, str]] = set()
    twice: list[str] = []
    for index, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(p, str) for p in parts):  # noqa: PLR2004
            continue  # loading says it better
        pair = (parts[0], parts[1])
        if pair in seen:
            twice.append(f"merges[{index}] {pair}")
        seen.add(pair)
        if any(token not in vocab for token in (*pair, "".join(pair))):
            unknown.append(f"merges[{index}] {pair}")
    if unknown:
        message = f"{place}: merges of tokens that the vocabulary does not hold: {_some(unknown)}"
        report.add("error", "merge-without-token", message, "add the tokens, or remove the merges")
    if twice:
        message = f"{place}: merges that are there twice: {_some(twice)}"
        report.add("warning", "duplicate-merges", message, "remove the second ones: they do nothing")


def _inspect_ranks(data: bytes, place: Path, report: FileReport) -> None:
    lines: dict[bytes, int] = {}
    ids: dict[int, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        # An empty token leaves a line that begins with the space.
        parts = line.split() if line[:1] != b" " else [b"", line.strip()]
        try:
            token, rank = base64.b64decode(parts[0], validate=True), int(parts[1])
        except (IndexError, ValueError, binascii.Error):
            continue  # loading says it better
        if not token:
            report.add("error", "empty-tokens", f"{place}: line {number}: the token is empty", "remove it")
        if lines.setdefault(token, number) != number:
            message = f"{place}: {token!r} is in line {lines[token]} and again in line {number}"
            report.add("error", "duplicate-tokens", message, "keep the line that the model was trained with")
        if ids.setdefault(rank, number) != number:
            message = f"{place}: lines {ids[rank]} and {number} share the id {rank}"
            report.add("error", "shared-ids", message, "give each token an id of its own")
        if len(report.findings) > 4 * _EXAMPLES:
            break
    missing = [byte for byte in range(256) if bytes([byte]) not in lines]
    if missing:
        message = f"{place}: {len(missing)} of the 256 bytes have no token: {_some(map(hex, missing))}"
        mend = "add a token for each byte, or text that holds them cannot be encoded"
        report.add("error", "bytes-missing", message, mend)


# Folders.


def _inspect_folder(folder: Path, report: FileReport) -> None:
    parsed: dict[str, dict[str, Any]] = {}
    for name in ("tokenizer.json", "vocab.json", "tokenizer_config.json", "config.json"):
        file = folder / name
        if file.is_file():
            content = _json(file.read_bytes(), file, report)
            parsed[name] = content if isinstance(content, dict) else {}
    for name in ("tokenizer.json", "vocab.json"):
        _inspect_json(parsed.get(name), folder / name, report)
    rows = parsed.get("config.json", {}).get("vocab_size")
    report.embedding_rows = rows if isinstance(rows, int) else None
    tokenizer, config = parsed.get("tokenizer.json", {}), parsed.get("tokenizer_config.json", {})
    model = tokenizer.get("model")
    vocab = model.get("vocab") if isinstance(model, dict) else parsed.get("vocab.json")
    known = {*(vocab if isinstance(vocab, dict) else ()), *_added_tokens(tokenizer)}
    declared = config.get("added_tokens_decoder")
    if isinstance(declared, dict):
        known |= {str(token.get("content")) for token in declared.values() if isinstance(token, dict)}
    bos = _content(config.get("bos_token"))
    for name, template in _templates(folder, config):
        if known:
            _inspect_template(name, template, known, report)
        writes_bos = re.search(r"\bbos_token\b", template) is not None or (bool(bos) and str(bos) in template)
        adds_bos = _adds_bos(tokenizer, bos) or config.get("add_bos_token") is True
        if writes_bos and adds_bos:
            message = f"{name} writes the BOS token {bos!r}, and encoding its text adds it once more"
            mend = "encode rendered chats with add_special_tokens=False"
            report.add("warning", "double-bos", message, mend)


def _templates(folder: Path, config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    file = folder / "chat_template.jinja"
    if file.is_file():
        yield str(file), file.read_bytes().decode("utf-8", "replace")
    for more in sorted((folder / "additional_chat_templates").glob("*.jinja")):
        yield str(more), more.read_bytes().decode("utf-8", "replace")
    template = config.get("chat_template")
    name = str(folder / "tokenizer_config.json")
    if isinstance(template, str):
        yield f"{name}: the chat template", template
    elif isinstance(template, list):
        for one in template:
            if isinstance(one, dict) and isinstance(one.get("template"), str):
                yield f"{name}: the chat template {one.get('name')!r}", one["template"]


def _inspect_template(name: str, template: str, known: set[str], report: FileReport) -> None:
    bare = re.sub(r"\{#.*?#\}", "", template, flags=re.DOTALL)
    missing = sorted({token for token in _CONTROL.findall(bare) if token not in known})
    if missing:
        message = f"{name} writes control tokens that the vocabulary does not hold: {_some(missing)}"
        mend = "add them as special tokens, or take the template that belongs to this tokenizer"
        report.add("error", "template-token-unknown", message, mend)
    tags = sorted({token for token in _TAG.findall(bare) if token not in known})
    if tags:
        message = f"{name} writes {_some(tags)}, which are no tokens and become ordinary text"
        report.add(
            "note", "template-tag-is-text", message, "nothing, unless they are meant as control tokens"
        )


def _adds_bos(tokenizer: dict[str, Any], bos: str | None) -> bool:
    """Whether the post-processor puts a special token before a text."""
    processor = tokenizer.get("post_processor")
    parts = [processor]
    if isinstance(processor, dict) and isinstance(processor.get("processors"), list):
        parts = processor["processors"]
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "TemplateProcessing":
            single = part.get("single")
            if isinstance(single, list) and single and isinstance(single[0], dict):
                first = single[0].get("SpecialToken")
                if isinstance(first, dict) and (bos is None or first.get("id") == bos):
                    return True
    return False


def _added_tokens(tokenizer: dict[str, Any]) -> dict[str, int]:
    tokens = tokenizer.get("added_tokens")
    return {
        token["content"]: token["id"]
        for token in (tokens if isinstance(tokens, list) else ())
        if isinstance(token, dict)
        and isinstance(token.get("content"), str)
        and isinstance(token.get("id"), int)
    }


def _content(token: Any) -> str | None:
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else None


def _byte_letters() -> list[str]:
    """The letters that stand for the 256 bytes in byte-level vocabularies: printable ones for themselves."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def _some(items: Iterable[str]) -> str:
    shown = list(items)
    more = len(shown) - _EXAMPLES
    return ", ".join(shown[:_EXAMPLES]) + (f" and {more} more" if more > 0 else "")
