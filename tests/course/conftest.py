"""English that every installation has."""

import re
from pydoc_data.topics import topics

import pytest


@pytest.fixture(scope="session")
def corpus() -> str:
    """Some 24,000 characters of prose about Python."""
    text = " ".join(topics[name] for name in sorted(topics))
    return re.sub(r"\s+", " ", re.sub(r"[^\sA-Za-z0-9.,;:!?'()-]", "", text))[:24_000]
