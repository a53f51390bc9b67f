"""`byteloom explore`: a page in the browser that shows what tokenizers do with a text."""

from __future__ import annotations

import threading
import webbrowser
from typing import TYPE_CHECKING

import click

from byteloom.cli.files import (
    as_text,
    check_output,
    open_output,
    read_source,
    say,
    short_names,
    shown,
    source_name,
)
from byteloom.cli.options import TEXT, load_one_of_several

if TYPE_CHECKING:
    from byteloom.explorer import Session


@click.command("explore")
@click.argument("tokenizers", nargs=-1, type=click.Path(), metavar="[TOKENIZER]...")
@click.option("-t", "--text", type=TEXT, metavar="TEXT", help="Begin with this text.")
@click.option("-f", "--file", type=click.Path(), metavar="FILE", help="Begin with the text of this file.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Serve on this port of 127.0.0.1; a free one by default.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--out",
    type=click.Path(),
    metavar="FILE",
    help="Write the page to one file with its answers in it, and serve nothing.",
)
@click.option("--force", is_flag=True, help="Replace an output file that exists.")
@click.option("--pattern", type=TEXT, metavar="NAME", help="Pre-tokenizer pattern, for files that hold none.")
def command(
    *,
    tokenizers: tuple[str, ...],
    text: str | None,
    file: str | None,
    port: int,
    no_browser: bool,
    out: str | None,
    force: bool,
    pattern: str | None,
) -> None:
    """See tokenizers think, in the browser, on your own text.

    The page shows each step from text to ids and back, merges and training as they happen, chats, patches,
    and tokenizers side by side. Without a TOKENIZER it shows two small ones that come with byteloom. It is
    served on this machine only, needs no network, and ends with Ctrl-C. --out saves it with all answers
    about one text in a file that anybody can open.

    \b
    Examples:
      byteloom explore
      byteloom explore tok.json other.json --text "A text that matters to you"
      byteloom explore tok.json --file chapter.txt --out page.html

    Next: `byteloom explain tok.json --text "A text"` shows the same steps in the terminal.
    """
    if text is not None and file is not None:
        raise click.UsageError("give --text or --file, not both", click.get_current_context())
    check_output(out, force=force)
    if file is not None:
        text = as_text(read_source(file), source_name(file), errors="strict", advice="name another file")
    session = _session(tokenizers, pattern, text)
    if out is not None:
        from byteloom.explorer.page import page

        content = page(session).encode()
        with open_output(out, force=force) as write:
            write(content)
        say(f"wrote {shown(out)} ({len(content):,} bytes)")
        return
    from byteloom.explorer.server import Server

    try:
        server = Server(session, port)
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(
            f"port {port} of 127.0.0.1: {error.strerror}; --port 0 takes a free one"
        ) from None
    say(f"the explorer is at {server.url} (Ctrl-C ends it)")
    if not no_browser:
        # In a thread: some browsers come back only when they are closed.
        threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
    server.run()


def _session(paths: tuple[str, ...], pattern: str | None, text: str | None) -> Session:
    from byteloom.explorer import Session, ViewError

    named = [
        (name, load_one_of_several(path, pattern))
        for name, path in zip(short_names(paths), paths, strict=True)
    ]
    try:
        session = Session(named, text=text)
        session.checked_text(session.text_at_start, "the text")
    except ViewError as error:
        raise click.ClickException(str(error)) from None
    return session
