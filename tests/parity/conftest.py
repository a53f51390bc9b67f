"""Other tokenizers as references: they and the corpora are needed, and their absence is a skip with a reason.

`pytest -m slow tests/parity` runs whole files and larger sweeps.
"""

import base64
import json

import pytest

WHOLE = 10**12


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: minutes; left out unless the -m option names it")


def pytest_collection_modifyitems(config, items):
    if "slow" not in config.option.markexpr:
        left_out = pytest.mark.skip(reason="slow; run it with -m slow")
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(left_out)


@pytest.fixture(scope="session")
def published(data_dir):
    """The published patterns and special tokens of known vocabularies, by name."""
    return json.loads((data_dir / "vocab" / "patterns.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def ranks(data_dir):
    """Reads a rank file, by name, into a mapping of token bytes to ids, without our reader."""

    def read(name):
        rows = (data_dir / "vocab" / f"{name}.tiktoken").read_bytes().split(b"\n")
        return {base64.b64decode(token): int(rank) for token, rank in (row.split() for row in rows if row)}

    return read


@pytest.fixture(scope="session")
def corpus(data_dir):
    """A corpus, by name: `size` bytes of it, taken from four places, or all of it."""

    def read(name, size=WHOLE):
        path = data_dir / f"{name}.txt"
        total = path.stat().st_size
        with path.open("rb") as file:
            if size >= total:
                return file.read().decode()
            parts = []
            for quarter in range(4):
                file.seek(total * quarter // 4)
                parts.append(file.read(size // 4).decode(errors="ignore"))
        return "".join(parts)

    return read


@pytest.fixture(scope="session")
def documents(corpus):
    """The same, cut into documents."""

    def read(name, size=WHOLE):
        text = corpus(name, size)
        parts = text.split("<|endoftext|>")
        return parts if len(parts) > 10 else text.split("\n\n\n")

    return read
