"""The command `byteloom`: one file a command, loaded when it is called for.

Bytes in, bytes out: text is UTF-8 whatever the locale. Progress and messages go to stderr only. Exit codes:
0 done, 1 it could not be done, 2 the call was wrong or the text not UTF-8, 130 interrupted,
141 the reader went away.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import click

import byteloom
from byteloom.cli.files import readable_error, say

__all__ = ["commands", "main"]

_COMMANDS = (
    "train",
    "extend",
    "resize",
    "prune",
    "encode",
    "decode",
    "count",
    "truncate",
    "chat",
    "patch",
    "info",
    "explain",
    "compare",
    "vocab",
    "explore",
    "convert",
    "verify",
    "doctor",
)


class _LazyGroup(click.Group):
    """Commands in the order in which people need them, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"byteloom.cli.{cmd_name}").command
        return command


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(byteloom.__version__, prog_name="byteloom", message="%(prog)s %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Train, use and understand tokenizers.

    Text comes from files or standard input and results go to standard output, so commands can be
    joined by pipes. Text is UTF-8, whatever the locale.

    \b
    Start here:
      byteloom train book.txt -o tok.json --vocab-size 1k
      byteloom encode tok.json --show --text "Hello, world!"
      echo "Hello, world!" | byteloom encode tok.json | byteloom decode tok.json

    `byteloom COMMAND --help` explains a command with examples.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: the console script `byteloom`.

    Args:
        args: Arguments after the program's name; those of the process by default.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        return _run(sys.argv[1:] if args is None else list(args))
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return 130
    except click.UsageError as error:
        say(readable_error(error))
        if error.ctx is not None:
            say(f"'{error.ctx.command_path} --help' shows how it is used", prefix="")
        return 2
    except click.ClickException as error:
        say(readable_error(error))
        return error.exit_code
    except BrokenPipeError:
        _let_go_of_stdout()
        return 141
    except byteloom.TextError as error:
        say(readable_error(error))
        return 2
    except OSError as error:
        # Files are named where they are opened; what is left is a result that could not be printed.
        error.filename = error.filename or "standard output"
        say(readable_error(error))
        _let_go_of_stdout()
        return 1
    except (byteloom.ByteloomError, ValueError, MemoryError) as error:
        say(readable_error(error))
        return 1


def _run(args: list[str]) -> int:
    # Not `commands.main`: what it does with a closed pipe depends on click's version.
    complete = os.environ.get("_BYTELOOM_COMPLETE")
    if complete:
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, "byteloom", "_BYTELOOM_COMPLETE", complete)
    try:
        with commands.make_context("byteloom", args) as ctx:
            commands.invoke(ctx)
        code = 0
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def _let_go_of_stdout() -> None:
    """Keep the interpreter from flushing, at its end, what the reader or the disk does not take."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
