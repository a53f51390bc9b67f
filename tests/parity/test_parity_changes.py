"""Changed vocabularies on real text: published ones, and ours against longer and shorter training."""

import pytest

import byteloom as bl

PUBLISHED = {
    "gpt2": "gpt2.tokenizer.json",
    "cl100k": "cl100k_base.tiktoken",
    "o200k": "o200k_base.tiktoken",
}


@pytest.fixture(scope="module")
def load(data_dir):
    return lambda name: bl.Tokenizer.load(data_dir / "vocab" / PUBLISHED[name])


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "first_seen"])
def test_our_own_are_prefixes_of_each_other(corpus, tie_break):
    text = corpus("multi", 1_500_000)
    options = {"tie_break": tie_break, "special_tokens": ["<|endoftext|>"], "special_position": "first"}
    small, large = (bl.Tokenizer.train(text, size, **options) for size in (3_000, 9_000))
    assert small != large
    assert large.resized(3_000).tokenizer == small
    assert small.extend(text, 9_000, tie_break=tie_break) == large


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_fewer_ranks_are_a_smaller_vocabulary(load, ranks, name):
    tok = load(name)
    small, new_ids, _ = tok.resized(20_000)
    ordinary = 20_000 - len(tok.special_tokens)
    left = {token: rank for token, rank in ranks(PUBLISHED[name][:-9]).items() if rank < ordinary}
    special = sorted(tok.special_tokens, key=tok.special_tokens.__getitem__)
    rebuilt = bl.Tokenizer.from_tiktoken(
        left,
        pattern=tok.pattern_name,
        special_tokens={name: ordinary + at for at, name in enumerate(special)},
    )
    assert small == rebuilt
    assert (new_ids[:ordinary] == range(ordinary)).all()


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("language", ["english", "cjk"])
def test_published_ones_are_pruned_without_a_trace(load, corpus, name, language):
    tok, text = load(name), corpus(language, 400_000)
    small, new_ids, report = tok.prune(data=text)
    assert report.dropped > 10_000
    ids = tok.encode_array(text, allowed_special="all")
    assert (small.encode_array(text, allowed_special="all") == new_ids[ids]).all()
    half = tok.prune(data=text, vocab_size=small.vocab_size // 2).tokenizer
    assert half.vocab_size == small.vocab_size // 2
    assert half.decode(half.encode(text, allowed_special="all")) == text


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_ones_are_extended(load, corpus, name):
    tok, text = load(name), corpus("multi", 400_000)
    more = tok.extend(text, tok.vocab_size + 500)
    assert more.merges[: len(tok.merges)] == tok.merges
    assert more.special_tokens == tok.special_tokens
    first = tok.max_token_id + 1
    assert more.max_token_id == first + 499
    assert more.count(text, allowed_special="all") < tok.count(text, allowed_special="all")
    # Each new token is what its own bytes become, where the pattern leaves them whole.
    for token in range(first, first + 500):
        content = more.id_to_bytes(token)
        if len(tok.pretokens(content)) == 1:
            assert more.encode_ordinary(content) == [token]
    # Joined again, the ids of the longer one are those of the shorter one.
    parts = {first + at: pair for at, pair in enumerate(more.merges[len(tok.merges) :])}
    open_ = more.encode(text, allowed_special="all")[::-1]
    ids = []
    while open_:
        token = open_.pop()
        if token in parts:
            left, right = parts[token]
            open_ += [right, left]
        else:
            ids.append(token)
    assert ids == tok.encode(text, allowed_special="all")
    assert more.resized(tok.vocab_size).tokenizer == tok.resized(tok.vocab_size).tokenizer
