"""What commands share that change a vocabulary: the map of ids, and the report."""

from __future__ import annotations

import io
import json as jsonlib
import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

import byteloom
from byteloom.cli.files import check_output, open_output, say, shown

__all__ = ["check_outputs", "map_option", "write_change"]

F = TypeVar("F", bound=Callable[..., Any])


def map_option(function: F) -> F:
    """`--map`."""
    return click.option(
        "--map",
        "map_file",
        type=click.Path(),
        metavar="FILE",
        help="Write the new id of each old one, -1 for none, to this .npy file of NumPy.",
    )(function)


def check_outputs(output: str, map_file: str | None, *, json: bool, force: bool) -> None:
    """Refuse outputs that could not be written, before the work rather than after it."""
    if output == "-" and json:
        raise click.UsageError("-o - and --json both want standard output", click.get_current_context())
    check_output(output, force=force)
    if map_file is not None:
        if os.path.splitext(map_file)[1].lower() != ".npy":
            raise click.ClickException(f"{shown(map_file)}: the map of ids is written as .npy")
        check_output(map_file, force=force)


def write_change(
    change: byteloom.VocabularyChange, output: str, map_file: str | None, *, json: bool, force: bool
) -> None:
    """Save the tokenizer and the map, and say what became of the vocabulary."""
    with open_output(output, force=force) as write:
        write(change.tokenizer.to_bytes())
    if map_file is not None:
        import numpy as np

        array = io.BytesIO()
        np.save(array, change.new_ids)
        with open_output(map_file, force=force) as write:
            write(array.getvalue())
    report = change.report
    if json:
        whole = {"file": output, "fingerprint": change.tokenizer.fingerprint, **report.to_dict()}
        click.echo(jsonlib.dumps(whole, ensure_ascii=False, indent=2))
        return
    builders = f", {report.builders:,} of them only as parts of others" if report.builders else ""
    special = f", {report.moved_special:,} of them special" if report.moved_special else ""
    moved = f"{report.moved:,} id{'s' if report.moved > 1 else ''}{special}" if report.moved else "no id"
    for line in (
        f"kept     {report.kept:,} tokens of {report.vocab_size_before:,}{builders}",
        f"moved    {moved}",
        f"saved    {report.vocab_size:,} tokens in {'standard output' if output == '-' else shown(output)}",
    ):
        say(line, prefix="")
