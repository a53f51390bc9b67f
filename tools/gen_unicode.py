"""Write the class table of the built-in pre-tokenizers, from the pinned Unicode version.

    pip install unicodedata2==16.0.0
    python tools/gen_unicode.py            # writes crates/byteloom-core/src/pretokenize/unicode.rs
    python tools/gen_unicode.py --check    # fails when the file is not what would be written

The table is two-stage: a scalar's high bits select a block, its low bits a byte of class flags in that block.
The output depends on the Unicode version only, never on the Python that runs this.
"""

import argparse
import sys
from pathlib import Path

import unicodedata2

VERSION = "16.0.0"
BLOCK_BITS = 7
SCALARS = 0x110000
LINE_WIDTH = 110
OUTPUT = Path(__file__).parent.parent / "crates/byteloom-core/src/pretokenize/unicode.rs"

FLAGS = {
    "LETTER": "Letters: `\\p{L}`.",
    "NUMBER": "Numbers: `\\p{N}`, which holds `²` and `Ⅷ` too.",
    "SPACE": "White space: `\\s`, the property White_Space.",
    "UPPER": "What o200k may start a word with: Lu, Lt, Lm, Lo, M.",
    "LOWER": "What o200k may end a word with: Ll, Lm, Lo, M.",
    "PY_WORD": "`\\w` of Python's `re`: `str.isalnum()` or `_`. Combining marks are not in it.",
    "PY_SPACE": "`\\s` of Python's `re`: `str.isspace()`, which takes U+001C to U+001F too.",
    "DECIMAL": "`\\d` of Python's `re`: Nd.",
}


def classes(scalar: int) -> set[str]:
    """The names of the flags that `scalar` carries."""
    char = chr(scalar)
    category = unicodedata2.category(char)
    found = set()
    if category[0] == "L":
        found.add("LETTER")
    if category[0] == "N":
        found.add("NUMBER")
    if category[0] == "Z" or 0x09 <= scalar <= 0x0D or scalar == 0x85:
        found.add("SPACE")
    if category in ("Lu", "Lt", "Lm", "Lo") or category[0] == "M":
        found.add("UPPER")
    if category in ("Ll", "Lm", "Lo") or category[0] == "M":
        found.add("LOWER")
    has_value = any(
        value(char, None) is not None
        for value in (unicodedata2.decimal, unicodedata2.digit, unicodedata2.numeric)
    )
    if category[0] == "L" or has_value or char == "_":
        found.add("PY_WORD")
    if category == "Zs" or unicodedata2.bidirectional(char) in ("WS", "B", "S"):
        found.add("PY_SPACE")
    if category == "Nd":
        found.add("DECIMAL")
    return found


def flag_bytes() -> bytes:
    """The flags of every scalar; surrogates, which are no scalars, carry none."""
    bits = {name: 1 << place for place, name in enumerate(FLAGS)}
    table = bytearray(SCALARS)
    for scalar in range(SCALARS):
        if not 0xD800 <= scalar <= 0xDFFF:
            table[scalar] = sum(bits[name] for name in classes(scalar))
    return bytes(table)


def two_stage(table: bytes) -> tuple[list[int], list[bytes]]:
    """For each block of scalars the number of its content, and the distinct contents."""
    size = 1 << BLOCK_BITS
    numbers: dict[bytes, int] = {}
    index = [
        numbers.setdefault(table[start : start + size], len(numbers)) for start in range(0, len(table), size)
    ]
    if len(numbers) > 256:
        raise SystemExit(f"{len(numbers)} distinct blocks do not fit a byte; choose other BLOCK_BITS")
    return index, list(numbers)


def rows(values: list[int], indent: str) -> str:
    """`values` as lines of source that keep to the line width."""
    lines, line = [], indent
    for value in values:
        item = f"{value},"
        if len(line) + len(item) > LINE_WIDTH:
            lines.append(line)
            line = indent
        line += item
    lines.append(line)
    return "\n".join(lines)


def source() -> str:
    """The whole Rust file."""
    index, blocks = two_stage(flag_bytes())
    size = 1 << BLOCK_BITS
    flags = "\n".join(
        f"/// {text}\npub(super) const {name}: u8 = 1 << {place};"
        for place, (name, text) in enumerate(FLAGS.items())
    )
    contents = "\n".join(f"    [\n{rows(list(block), ' ' * 8)}\n    ]," for block in blocks)
    return f"""\
//! Class flags of every Unicode scalar, Unicode {VERSION}.
//!
//! Written by `tools/gen_unicode.py`; do not edit.

/// The Unicode version of the table.
pub(super) const VERSION: &str = "{VERSION}";

{flags}

/// The class flags of `scalar`; none for a number that is no scalar.
#[inline]
pub(super) fn flags(scalar: u32) -> u8 {{
    let block = INDEX.get((scalar >> {BLOCK_BITS}) as usize).copied().unwrap_or(0);
    BLOCKS[block as usize % BLOCKS.len()][(scalar & {size - 1:#x}) as usize]
}}

/// The class flags of each byte, taken as an ASCII character; none from 0x80.
pub(super) static BYTES: [u8; 256] = {{
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {{
        table[byte] = BLOCKS[0][byte];
        byte += 1;
    }}
    table
}};

/// The class flags of scalars below 0x800, which have at most two bytes.
pub(super) static OF_TWO: [u8; 0x800] = {{
    let mut table = [0; 0x800];
    let mut scalar = 0;
    while scalar < table.len() {{
        table[scalar] = BLOCKS[INDEX[scalar >> 7] as usize][scalar & 0x7F];
        scalar += 1;
    }}
    table
}};

#[rustfmt::skip]
static INDEX: [u8; {len(index)}] = [
{rows(index, " " * 4)}
];

#[rustfmt::skip]
static BLOCKS: [[u8; {size}]; {len(blocks)}] = [
{contents}
];
"""


def main() -> int:
    """Write the table, or compare it with the file."""
    parser = argparse.ArgumentParser(description="Write the class table of the pre-tokenizers.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when the file differs")
    check = parser.parse_args().check
    if unicodedata2.unidata_version != VERSION:
        raise SystemExit(
            f"unicodedata2 has Unicode {unicodedata2.unidata_version}, the table is pinned to {VERSION}: "
            f"pip install unicodedata2=={VERSION}"
        )
    text = source()
    if not check:
        OUTPUT.write_text(text, encoding="utf-8")
    elif OUTPUT.read_text(encoding="utf-8") != text:
        sys.stderr.write(f"{OUTPUT.name} is not what tools/gen_unicode.py writes\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
