"""The face of notebooks and of HTML pages. Everything that comes from outside is escaped here, in `_text`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby

from ._blocks import Block, Chip, Heading, Inline, Node, Note, Sparkline, Strip, Table, Tree
from ._signs import chip_directions, clean, runs

__all__ = ["STYLE", "to_html", "to_page"]

# Colours are translucent and text inherits, so that light and dark notebooks both work; boundaries are lines.
STYLE = """
.byteloom{line-height:1.6;font-family:system-ui,sans-serif;max-width:70em}
.byteloom h1,.byteloom h2,.byteloom h3{font-size:1.05em;font-weight:bold;margin:.9em 0 .3em;line-height:1.4}
.byteloom h1{font-size:1.25em}
.byteloom p{margin:.25em 0}
.byteloom .strip{margin:.3em 0;line-height:2.1;overflow-wrap:anywhere}
.byteloom .label{font-size:.85em;opacity:.75}
.byteloom .t{font-family:ui-monospace,monospace;white-space:pre-wrap;
border:1px solid rgba(128,128,128,.7);
border-radius:3px;padding:.08em .14em;margin:0 1px;
-webkit-box-decoration-break:clone;box-decoration-break:clone}
.byteloom .t i{font-style:normal;opacity:.55}
.byteloom .t b{font-weight:normal;white-space:nowrap;font-size:.82em;border-bottom:1px dotted}
.byteloom .s0{background:rgba(64,132,255,.22)}.byteloom .s1{background:rgba(40,180,99,.22)}
.byteloom .s2{background:rgba(255,165,0,.24)}.byteloom .s3{background:rgba(236,72,153,.2)}
.byteloom .s4{background:rgba(139,92,246,.22)}.byteloom .s5{background:rgba(20,184,166,.22)}
.byteloom .special{font-weight:bold;border:2px solid;border-radius:1px;background:rgba(200,40,40,.25)}
.byteloom .on{border-bottom:3px solid}.byteloom .off{opacity:.6}
.byteloom .wide{overflow-x:auto}
.byteloom table{border-collapse:collapse;margin:.4em 0;font-size:.92em}
.byteloom caption{text-align:left;font-weight:bold;padding:.2em 0}
.byteloom.byteloom th,.byteloom.byteloom td{text-align:left;padding:.15em .7em .15em 0;
border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top;background:none}
.byteloom td:not(.n){min-width:6em}
.byteloom.byteloom td.n,.byteloom.byteloom th.n{text-align:right;font-variant-numeric:tabular-nums}
.byteloom ul{list-style:none;margin:0;padding-left:1.4em;border-left:1px solid rgba(128,128,128,.5)}
.byteloom ul.root{border:0;padding-left:0}
.byteloom li{margin:.15em 0}
.byteloom details{margin:.5em 0}.byteloom summary{cursor:pointer}
.byteloom .bars{display:flex;align-items:flex-end;height:3.2em;margin:.2em 0;overflow-x:auto;
border-bottom:1px solid rgba(128,128,128,.7)}
.byteloom .bars span{flex:0 0 6px;background:rgba(64,132,255,.65);margin-right:1px;min-height:1px}
.byteloom .bars .start{border-left:2px solid;margin-left:1px}
""".strip()


def to_html(blocks: Iterable[Block]) -> str:
    """The blocks as a piece of HTML that brings its style."""
    return f'<div class="byteloom"><style>{STYLE}</style>{_blocks(blocks)}</div>'


def to_page(views: Iterable[Iterable[Block]], title: str) -> str:
    """A whole document. It loads nothing and runs nothing."""
    body = "".join(f"<section>{_blocks(blocks)}</section>" for blocks in views)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(title)}</title>\n<style>body{{margin:1.5em}}{STYLE}</style>\n</head>\n"
        f'<body class="byteloom">\n{body}\n</body>\n</html>\n'
    )


def _blocks(blocks: Iterable[Block]) -> str:
    return "".join(map(_block, blocks))


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_inline(block.text)}</h{block.level}>"
    if isinstance(block, Note):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Strip):
        return _strip(block)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Tree):
        return f'<ul class="root">{_node(block.root)}</ul>'
    if isinstance(block, Sparkline):
        return _sparkline(block)
    return f"<details><summary>{_text(block.summary)}</summary>{_blocks(block.blocks)}</details>"


def _text(text: str) -> str:
    """The one way by which foreign text enters the HTML."""
    return escape(clean(text), quote=True)


def _inline(inline: Inline) -> str:
    if isinstance(inline, str):
        return f"<bdi>{_text(inline)}</bdi>" if not inline.isascii() else _text(inline)
    if isinstance(inline, Chip):
        return _chip(inline)
    return "".join(map(_inline, inline))


def _chip(chip: Chip) -> str:
    inner = ""
    for kind, text in runs(chip.data):
        safe = escape(text, quote=True)
        inner += {"text": safe, "sign": f"<i>{safe}</i>", "bytes": f"<b>{safe}</b>"}[kind]
    classes = ["t"]
    if chip.kind == "special":
        classes.append("special")
    elif chip.kind == "token":
        classes.append(f"s{chip.shade % 6}")
    if chip.mark is not None:
        classes.append("on" if chip.mark else "off")
    title = f' title="{_text(chip.title)}"' if chip.title else ""
    return f'<bdi class="{" ".join(classes)}"{title}>{inner}</bdi>'


def _strip(strip: Strip) -> str:
    base, directions = chip_directions([chip.data for chip in strip.chips])
    shown = ""
    # Chips of the other direction stay together, so that a word reads as it would in the text.
    for direction, run in groupby(zip(strip.chips, directions, strict=True), key=lambda pair: pair[1]):
        chips = "".join(_chip(chip) + ("<br>" if chip.data.endswith(b"\n") else "<wbr>") for chip, _ in run)
        shown += chips if direction == base else f'<span dir="{direction}">{chips}</span>'
    label = f'<div class="label">{_text(strip.label)}</div>' if strip.label else ""
    return f'{label}<div class="strip" dir="{base}">{shown}</div>'


def _table(table: Table) -> str:
    def cells(row: Iterable[Inline], tag: str, scope: str = "") -> str:
        shown = ""
        for column, cell in enumerate(row):
            number = ' class="n"' if column in table.numbers else ""
            shown += f"<{tag}{scope}{number}>{_inline(cell)}</{tag}>"
        return f"<tr>{shown}</tr>"

    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    names = cells(table.columns, "th", ' scope="col"')
    head = f"<thead>{names}</thead>" if any(table.columns) else ""
    body = "".join(cells(row, "td") for row in table.rows)
    return f'<div class="wide"><table>{caption}{head}<tbody>{body}</tbody></table></div>'


def _node(node: Node) -> str:
    children = f"<ul>{''.join(map(_node, node.children))}</ul>" if node.children else ""
    return f"<li>{_inline(node.label)}{children}</li>"


def _sparkline(block: Sparkline) -> str:
    bars = ""
    for place, value in enumerate(block.values):
        level = min(max(value / block.top, 0.0), 1.0) if block.top else 0.0
        start = ' class="start"' if place in block.starts else ""
        bars += f'<span{start} style="height:{level * 100:.0f}%" title="{value:.3f}"></span>'
    label = f'<div class="label">{_text(block.label)}</div>' if block.label else ""
    return f'{label}<div class="bars" role="img" aria-label="{len(block.values)} values">{bars}</div>'
