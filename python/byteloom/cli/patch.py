"""`byteloom patch`: cut bytes into patches, and train the model that says where."""

from __future__ import annotations

import io
import json as jsonlib
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import byteloom
from byteloom.cli.display import show_pieces, wants_color
from byteloom.cli.files import check_output, open_output, read_source, say, shown
from byteloom.cli.options import SIZE, TEXT, load_tokenizer, output_options

if TYPE_CHECKING:
    from byteloom.patching import ByteEntropyModel, Patcher, PatchReport

_ENTROPY_RULES = ("global", "monotonic", "both")
_RULES = (*_ENTROPY_RULES, "space", "static", "byte", "bpe")
# A histogram has a row for each size up to the first of these, then one for each span between two.
_SPANS = (8, 16, 32, 64, 128, 256)
_BAR = 40

Units = Literal["bits", "nats"]


@dataclass(frozen=True)
class _Choice:
    """Which patcher is wanted."""

    model: str | None
    rule: str | None
    theta: float | None
    rise: float | None
    units: Units | None
    target_size: float | None
    size: int | None
    tokenizer: str | None
    max_length: int | None
    reset_lines: bool

    def entropy_rule(self) -> Literal["global", "monotonic", "both"]:
        """The rule asked for, or the one of the thresholds given."""
        if self.rule == "monotonic" or (self.rule is None and self.theta is None and self.rise is not None):
            return "monotonic"
        both = self.theta is not None and self.rise is not None
        return "both" if self.rule == "both" or (self.rule is None and both) else "global"


@click.command("patch")
@click.argument("files", nargs=-1, type=click.Path())
@click.option("-t", "--text", type=TEXT, metavar="TEXT", help="Patch this text instead of a file.")
@click.option("--train", is_flag=True, help="Count FILES into an entropy model, and save it with -o.")
@click.option(
    "--order", type=SIZE, metavar="N",
    help="With --train: bytes of an n-gram, 1 to 8; the context is one less.  [default: 4]",
)  # fmt: skip
@click.option(
    "--smoothing", type=click.Choice(["backoff", "witten-bell"]),
    help="With --train: how contexts are used; witten-bell for orders above 5.  [default: backoff]",
)  # fmt: skip
@click.option(
    "--alpha", type=float, metavar="X",
    help="With --train: what backoff adds to each count.  [default: 0.01]",
)  # fmt: skip
@click.option("-m", "--model", type=click.Path(), metavar="FILE", help="The entropy model that --train made.")
@click.option(
    "--rule", type=click.Choice(_RULES),
    help="Where patches start; by default what --theta and --rise ask for. space, static, byte and bpe need "
    "no model.",
)  # fmt: skip
@click.option("--theta", type=float, metavar="X", help="A byte of more entropy than this starts a patch.")
@click.option("--rise", type=float, metavar="X", help="A byte starts a patch if entropy rises by more.")
@click.option("--units", type=click.Choice(["bits", "nats"]), help="The unit of --theta and --rise.")
@click.option(
    "--target-size", type=float, metavar="X",
    help="Find the threshold that gives this text patches of X bytes on average.",
)  # fmt: skip
@click.option("--size", type=SIZE, metavar="N", help="With --rule static: bytes of a patch.")
@click.option(
    "--tokenizer", type=click.Path(), metavar="FILE",
    help="A tokenizer: for --rule bpe, and for --report to compare with.",
)  # fmt: skip
@click.option("--max-length", type=SIZE, metavar="N", help="Longest patch in bytes; longer ones are cut.")
@click.option("--reset-lines", is_flag=True, help="Patch each line as if it stood alone.")
@click.option("--lengths", is_flag=True, help="Print the lengths of the patches.")
@click.option("--boundaries", is_flag=True, help="Print the places where patches start, in bytes.")
@click.option("--report", is_flag=True, help="Print what the patches of FILES are like.")
@click.option("--explain", is_flag=True, help="Show why each patch starts: entropies, contexts, the rule.")
@click.option(
    "--limit", type=click.IntRange(min=0), metavar="N",
    help="With --explain: at most this many patches, 0 for all.  [default: 20]",
)  # fmt: skip
@click.option(
    "--json", is_flag=True, help="Print an object for programs; with --explain a line for each patch, of all."
)
@click.option(
    "--format", "form", type=click.Choice(["text", "npy"]),
    help="For --lengths and --boundaries: decimal, or a NumPy file, as for -o NAME.npy.",
)  # fmt: skip
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
    help="Colours of the patches shown.",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(min=1), metavar="N",
    help="With --train: threads that count; all processors by default. Results do not depend on it.",
)  # fmt: skip
@click.option(
    "--progress/--no-progress", default=None,
    help="With --train: show progress on stderr; by default only where that is a terminal.",
)  # fmt: skip
@output_options(required=False, what="Where the model is saved, or the result instead of standard output.")
def command(
    *,
    files: tuple[str, ...],
    text: str | None,
    train: bool,
    order: int | None,
    smoothing: Literal["backoff", "witten-bell"] | None,
    alpha: float | None,
    lengths: bool,
    boundaries: bool,
    report: bool,
    explain: bool,
    limit: int | None,
    json: bool,
    form: str | None,
    color: str,
    threads: int | None,
    progress: bool | None,
    output: str | None,
    force: bool,
    **choice: Any,
) -> None:
    """Cut bytes into patches where the next byte is hard to foresee.

    Text of a byte-latent model has no tokens. A small model, trained with --train, says how open each byte
    is, and a patch starts where that is above --theta. Shows the patches of FILE, --text or standard input,
    or prints what --lengths, --boundaries, --report or --json ask for. Bytes are taken as they are.

    \b
    Examples:
      byteloom patch --train books/*.txt -o english.entropy
      byteloom patch -m english.entropy --theta 2 --units bits --text "the model predicts"
      byteloom patch -m english.entropy --target-size 4.5 --report book.txt
      byteloom patch -m english.entropy --theta 2 --units bits book.txt --lengths -o book.npy
      byteloom patch -m english.entropy --theta 2 --units bits --text "the model" --explain

    Next: `byteloom patch -m english.entropy --target-size 4.5 --report FILE` finds a threshold for a text.
    """
    ctx = click.get_current_context()
    wanted = _Choice(**choice)
    if text is not None and files:
        raise click.UsageError("give FILES or --text, not both", ctx)
    check_output(output, force=force)
    if train:
        asked = lengths or boundaries or report or explain or form
        if text is not None or asked or limit is not None or wanted != _nothing():
            raise click.UsageError("--train only counts FILES and saves a model; patch in a second step", ctx)
        if output is None or (output == "-" and json):
            raise click.UsageError("--train saves a model: name a file with -o", ctx)
        options = {"order": order, "smoothing": smoothing, "alpha": alpha}
        model = _train(files, options, threads=threads, progress=progress)
        with open_output(output, force=force) as write:
            write(model.to_bytes())
        _say_trained(model, output, json=json)
        return
    if order is not None or smoothing is not None or alpha is not None:
        raise click.UsageError("--order, --smoothing and --alpha are for --train", ctx)
    _check_results(lengths + boundaries + report + explain, json=json and (lengths or boundaries))
    if limit is not None and (not explain or json):
        raise click.UsageError("--limit is for --explain without --json", ctx)
    npy = form == "npy" or (form is None and (lengths or boundaries) and (output or "").endswith(".npy"))
    if form is not None and not (lengths or boundaries):
        raise click.UsageError("--format is for --lengths or --boundaries", ctx)
    if npy and output is None and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("a NumPy file is not for a terminal; name it with -o", ctx)
    if len(files) > 1 and not report:
        raise click.UsageError("give one FILE; --report takes many, and --train", ctx)
    _check(wanted, report=report)
    documents = [text.encode()] if text is not None else [read_source(file) for file in files or ("-",)]
    patcher = _patcher(wanted, documents)
    with open_output(output, force=force) as write:
        if report:
            tok = None if wanted.tokenizer is None else load_tokenizer(wanted.tokenizer)
            found = patcher.report(documents, tokenizer=tok)
            lines = _json({**_described(patcher), **found.to_dict()}) if json else _table(found)
            write(lines.encode() + b"\n")
        elif npy:
            write(_npy(patcher.lengths(documents[0]) if lengths else patcher.boundaries(documents[0])))
        elif lengths or boundaries:
            numbers = patcher.lengths(documents[0]) if lengths else patcher.boundaries(documents[0])
            write(b" ".join(b"%d" % number for number in numbers.tolist()) + b"\n")
        elif explain and json:
            for patch in patcher.explain_stream(documents[0]):
                write(patch.to_json().encode() + b"\n")
        elif json:
            write(_whole(patcher, documents[0]).encode() + b"\n")
        else:
            most = None if not explain else 20 if limit is None else limit
            for lines in _show(patcher, documents[0], most, color=_in_color(color, output)):
                write(lines.encode() + b"\n")


def _in_color(color: str, output: str | None) -> bool:
    return color == "always" or (output is None and wants_color(color))


def _nothing() -> _Choice:
    return _Choice(None, None, None, None, None, None, None, None, None, reset_lines=False)


# Training.


def _train(
    files: tuple[str, ...], options: dict[str, Any], *, threads: int | None, progress: bool | None
) -> ByteEntropyModel:
    from byteloom.patching import ByteEntropyModel

    model = ByteEntropyModel(**{name: value for name, value in options.items() if value is not None})
    for file in files:
        if file != "-":
            # A wrong name among many must not end the run after the first files were read.
            os.stat(file)
    documents = (read_source(None) if file == "-" else Path(file) for file in files or ("-",))
    show_progress = progress if progress is not None else sys.stderr is not None and sys.stderr.isatty()
    return model.train(documents, threads=threads, progress=show_progress or None)


def _say_trained(model: ByteEntropyModel, output: str, *, json: bool) -> None:
    info = model.info()
    if json:
        click.echo(_json({"file": output, "fingerprint": model.fingerprint(), **info}))
        return
    count = info["documents"]
    where = "standard output" if output == "-" else shown(output)
    say(f"read   {info['trained_bytes']:,} bytes in {count:,} document{'s' * (count != 1)}", prefix="")
    say(f"saved  an entropy model of order {model.order}, {model.smoothing}, in {where}", prefix="")


# Patching.


def _check_results(asked: int, *, json: bool) -> None:
    """No two results: `json` is whether --json stands with one that it is not for."""
    if asked > 1 or json:
        names = "--lengths, --boundaries, --report, --explain and --json"
        raise click.UsageError(f"{names} each print a result", click.get_current_context())


def _check(wanted: _Choice, *, report: bool) -> None:
    """Options that do not fit each other, before anything is read."""
    ctx = click.get_current_context()
    thresholds = [name for name in ("theta", "rise") if getattr(wanted, name) is not None]
    if wanted.rule not in (None, *_ENTROPY_RULES):
        of_model = [*thresholds, *(n for n in ("model", "units", "target_size") if getattr(wanted, n))]
        if of_model or wanted.reset_lines:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in of_model) or "--reset-lines"
            raise click.UsageError(f"--rule {wanted.rule} goes without {names}", ctx)
        if (wanted.rule == "static") != (wanted.size is not None):
            raise click.UsageError("--rule static and --size go together", ctx)
        if wanted.rule == "bpe" and wanted.tokenizer is None:
            raise click.UsageError("--rule bpe takes the tokens of a tokenizer: give --tokenizer FILE", ctx)
        if wanted.rule in ("static", "byte") and wanted.max_length is not None:
            raise click.UsageError(f"--max-length does nothing for --rule {wanted.rule}", ctx)
    else:
        _check_entropy(wanted, thresholds)
    if wanted.tokenizer is not None and wanted.rule != "bpe" and not report:
        raise click.UsageError("--tokenizer is for --rule bpe and --report", ctx)


def _check_entropy(wanted: _Choice, thresholds: list[str]) -> None:
    ctx = click.get_current_context()
    rule = wanted.entropy_rule()
    if wanted.model is None:
        message = "give --model FILE (--train makes one), or a --rule without: space, static, byte or bpe"
        raise click.UsageError(message, ctx)
    if wanted.size is not None:
        raise click.UsageError("--size is for --rule static", ctx)
    if thresholds and wanted.units is None:
        names = " and ".join(f"--{name}" for name in thresholds)
        message = f"say the unit of {names}: --units bits, or nats as in configurations of BLT"
        raise click.UsageError(message, ctx)
    needed = {"global": ["theta"], "monotonic": ["rise"], "both": ["theta", "rise"]}[rule]
    left = [name for name in needed if name not in thresholds]
    if any(name not in needed for name in thresholds):
        raise click.UsageError(f"--rule {rule} goes by --{needed[0]} alone", ctx)
    if wanted.target_size is None and left:
        names = " and ".join(f"--{name}" for name in left)
        raise click.UsageError(f"give {names}, or --target-size to find the threshold", ctx)
    if wanted.target_size is not None and len(left) != 1:
        found = "give one of --theta and --rise" if left else "leave out the threshold"
        raise click.UsageError(f"--target-size finds one threshold: {found}", ctx)


def _patcher(wanted: _Choice, documents: list[bytes]) -> Patcher:
    from byteloom.patching import ByteEntropyModel, Patcher

    if wanted.rule == "space":
        return Patcher.space(max_patch_length=wanted.max_length)
    if wanted.rule == "byte":
        return Patcher.byte()
    if wanted.rule == "static" and wanted.size is not None:
        return Patcher.static(wanted.size)
    if wanted.rule == "bpe" and wanted.tokenizer is not None:
        return Patcher.bpe(load_tokenizer(wanted.tokenizer), max_patch_length=wanted.max_length)
    model = ByteEntropyModel.load(str(wanted.model))
    units = wanted.units or "bits"
    theta, rise = wanted.theta, wanted.rise
    limits: dict[str, Any] = {
        "max_patch_length": wanted.max_length,
        "reset_on": b"\n" if wanted.reset_lines else None,
    }
    if wanted.target_size is not None:
        rule = wanted.entropy_rule()
        found = model.threshold_for(
            documents, wanted.target_size, rule=rule, units=units, theta=theta, rise=rise, **limits
        )
        find_theta = theta is None and rule != "monotonic"
        theta, rise = (found, rise) if find_theta else (theta, found)
        say(f"{'theta' if find_theta else 'rise'} {found!r} {units}", prefix="")
    return model.patcher(theta=theta, rise=rise, units=units, **limits)


def _described(patcher: Patcher) -> dict[str, Any]:
    names = ("rule", "theta", "rise", "units", "size", "max_patch_length")
    described = {name: value for name in names if (value := getattr(patcher, name)) is not None}
    return described | ({"reset_lines": True} if patcher.reset_on else {})


def _json(data: dict[str, Any]) -> str:
    return jsonlib.dumps(data, ensure_ascii=False, indent=2)


def _whole(patcher: Patcher, data: bytes) -> str:
    starts = patcher.boundaries(data)
    return jsonlib.dumps(
        {
            **_described(patcher),
            "bytes": len(data),
            "patches": len(starts),
            "boundaries": starts.tolist(),
            "lengths": patcher.lengths(data).tolist(),
        }
    )


def _npy(numbers: Any) -> bytes:
    import numpy as np

    file = io.BytesIO()
    np.save(file, numbers, allow_pickle=False)
    return file.getvalue()


def _show(patcher: Patcher, data: bytes, most: int | None, *, color: bool) -> Iterator[str]:
    """The patches, and why at most `most` of them start, 0 for all; `None` for no reasons."""
    patches = patcher.patches(data)
    ratio = f", {len(data) / len(patches):.2f} bytes per patch" if patches else ""
    summary = f"{len(patches):,} patch{'es' * (len(patches) != 1)}, {len(data):,} bytes{ratio}"
    pieces = show_pieces(((patch, False) for patch in patches), color=color, mark_lines=True)
    yield f"{pieces}\n\n{click.style(summary, dim=True) if color else summary}"
    if most is None:
        return
    rest = len(patches)
    for patch in islice(patcher.explain_stream(data), most or None):
        yield "\n" + byteloom.render.terminal(patch, color=color)
        rest = len(patches) - patch.index - 1
    if rest:
        yield f"\nand {rest:,} more patch{'es' * (rest != 1)}; --limit 0 explains all"


def _table(found: PatchReport) -> str:
    rows = [
        ("bytes", f"{found.bytes:,} in {found.documents:,} document{'s' * (found.documents != 1)}"),
        ("patches", f"{found.patches:,}"),
        ("mean size", f"{found.mean:.2f} bytes"),
        ("compute", f"{found.relative_compute:.2f} of a model that runs on each byte"),
    ]
    if found.percentiles:
        *parts, (_, longest) = found.percentiles.items()
        shares = ", ".join(f"{percent} % up to {size}" for percent, size in parts)
        rows.append(("sizes", f"{shares}, longest {longest}"))
    for name, agreement in (("word starts", found.word_starts), ("token starts", found.token_starts)):
        if agreement is not None:
            shares = ", ".join(
                f"{label} {'-' if value is None else format(value, '.2f')}"
                for label, value in (
                    ("precision", agreement.precision),
                    ("recall", agreement.recall),
                    ("F1", agreement.f1),
                )
            )
            rows.append((name, shares))
    lines = [f"{name:<13} {text}" for name, text in rows]
    return "\n".join([*lines, *_histogram(found.histogram)])


def _histogram(histogram: dict[int, int]) -> list[str]:
    """A bar for each size, or span of sizes where they get long."""
    if not histogram:
        return []
    ends = [*range(1, _SPANS[0] + 1), *_SPANS[1:], math.inf]
    bars: list[tuple[str, int]] = []
    begin = 1
    for end in ends:
        count = sum(number for size, number in histogram.items() if begin <= size <= end)
        name = f"{begin}+" if end == math.inf else str(begin) if begin == end else f"{begin}-{end}"
        bars.append((name, count))
        begin = int(end) + 1 if end < math.inf else begin
    while not bars[-1][1]:
        bars.pop()
    total, most = sum(histogram.values()), max(count for _, count in bars)
    return ["", "size          share"] + [
        f"{name:<12} {100 * count / total:5.1f} %  {'█' * round(_BAR * count / most)}".rstrip()
        for name, count in bars
    ]
