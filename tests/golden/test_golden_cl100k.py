"""The ids that tiktoken 0.14.0 gives for texts that tokenizers get wrong."""

import json
from pathlib import Path

import pytest

from helpers import assert_entry_points_agree

VECTORS = [
    json.loads(line) for line in Path(__file__).with_name("cl100k.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_cl100k_ids(cl100k, vector):
    assert assert_entry_points_agree(cl100k, vector["text"]) == vector["ids"]
    assert assert_entry_points_agree(cl100k, vector["text"].encode()) == vector["ids"]
    assert cl100k.decode(vector["ids"]) == vector["text"]
