"""The records of the pipeline, bytes, split, merges and train tabs are the library's answers."""

import json

import pytest

import byteloom as bl
from byteloom.course import module03
from byteloom.explorer import Session, ViewError
from byteloom.explorer.views import bytes as bytes_view
from byteloom.explorer.views import merges, pipeline, split, train

TEXTS = [
    "",
    "The weavers don't know the lowest thread.",
    "Route66 costs $1,024\t\n",
    "naïve 日本語 🧵 👩‍👩‍👧‍👦 مرحبا\r\n",
    "<|endoftext|> and <|im_start|>",
    "the the the the",
    "a\u0301\u202e\x00\x1b",
]

# The small texts of these tests have fewer pairs than are asked for, on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::byteloom.TrainingWarning")

VIEWS = {"pipeline": pipeline, "bytes": bytes_view, "split": split, "merges": merges, "train": train}


@pytest.fixture(scope="module")
def characters():
    text = "the weaver and the loom " * 3
    return bl.Tokenizer.train(text, 20, alphabet="characters", unk="<unk>", special_tokens=["<unk>"])


@pytest.fixture(scope="module")
def session(characters):
    return Session([("characters", characters)])


@pytest.fixture(params=["built-in, English", "built-in, 13 languages"])
def named(session, request):
    return session.named(request.param)


def ask(session, tab, text="", **options):
    records = VIEWS[tab].view(session, {"text": text, "tokenizer": "built-in, English", **options})
    assert json.loads(json.dumps(records)) == records  # plain data, and nothing that JSON would change
    return records


def joined(pieces):
    return b"".join(bytes.fromhex(piece["bytes"]) for piece in pieces)


@pytest.mark.parametrize("text", TEXTS)
def test_pipeline_is_encode_and_pretokens(session, named, text):
    tok = named.tokenizer
    records = ask(session, "pipeline", text, tokenizer=named.name)
    assert [token["id"] for token in records["tokens"]] == tok.encode_ordinary(text)
    assert [bytes.fromhex(piece["bytes"]).decode() for piece in records["pretokens"]] == tok.pretokens(text)
    assert records["counts"] == {
        "characters": len(text),
        "bytes": len(text.encode()),
        "pretokens": len(tok.pretokens(text)),
        "tokens": tok.count(text, disallowed_special=()),
    }
    for piece in records["pretokens"]:
        start, end = piece["tokens"]
        assert joined(records["tokens"][start:end]) == bytes.fromhex(piece["bytes"])
    assert records["decoded"] == {"same": True, "byte_count": len(text.encode())}
    assert records["left_out"] == {"pretokens": 0, "tokens": 0}


def test_pipeline_words_side_by_side(session, named):
    tok = named.tokenizer
    records = ask(session, "pipeline", "the weavers", tokenizer=named.name)
    known, new, script = records["words"]
    assert (known["role"], new["role"], script["role"]) == ("known", "new", "script")
    assert len(known["tokens"]) == 1 < len(new["tokens"])
    assert len(script["tokens"]) > script["characters"]
    for word in records["words"]:
        assert [token["id"] for token in word["tokens"]] == tok.encode_ordinary(word["text"])
        assert (word["unknown"], word["same"]) == (0, True)
    own = ask(session, "pipeline", "", known="lowest", new="blorp", script="ሰላም")
    assert [word["text"] for word in own["words"]] == ["lowest", "blorp", "ሰላም"]


def test_pipeline_says_where_a_tokenizer_of_characters_loses(session, characters):
    records = ask(session, "pipeline", "the 🧵", tokenizer="characters")
    assert records["decoded"]["same"] is False
    assert [word["unknown"] for word in records["words"]][2] > 0


def test_pipeline_model(session):
    tok = session.named("built-in, English").tokenizer
    records = ask(session, "pipeline", "the the thread", width=10)
    assert records["model"]["rows"] == tok.vocab_size
    assert records["model"]["numbers"] == 10 * tok.vocab_size
    assert records["model"]["used"] == list(dict.fromkeys(tok.encode("the the thread")))


@pytest.mark.parametrize("text", TEXTS)
def test_bytes_are_utf8_and_gpt2_letters(session, text):
    records = ask(session, "bytes", text)
    letters = module03.bytes_to_unicode()
    assert [char["char"] for char in records["characters"]] == list(text)
    for char in records["characters"]:
        assert bytes.fromhex(char["bytes"]) == char["char"].encode()
        assert char["letters"] == [letters[byte] for byte in bytes.fromhex(char["bytes"])]
        assert char["code"] == f"U+{ord(char['char']):04X}"
    assert records["unknown"] == 0
    tok = session.named("built-in, English").tokenizer
    assert [token["id"] for token in records["tokens"]] == tok.encode_ordinary(text)
    assert records["counts"]["bytes"] == len(text.encode())
    assert records["counts"]["wide"] == sum(ord(char) > 127 for char in text)


@pytest.mark.parametrize("text", TEXTS)
def test_every_cut_is_what_the_decoders_say(session, text):
    """Whatever is before the cut comes whole, so that the records of characters tell of every place."""
    records = ask(session, "bytes", text)
    tok = session.named("built-in, English").tokenizer
    data, before = text.encode(), ""
    at = 0
    for char in records["characters"]:
        assert len(char["cuts"]) == len(char["bytes"]) // 2 - 1
        for kept, cut in enumerate(char["cuts"], 1):
            ids = tok.encode(data[: at + kept], disallowed_special=())
            stream = tok.stream_decoder()
            said = stream.feed(ids)
            assert tok.decode(ids) == before + cut["decoded"]
            assert said == before + cut["streamed"]
            assert cut["held"] == kept
            assert stream.flush() == cut["flushed"] == "\ufffd"
        at += len(char["bytes"]) // 2
        before += char["char"]


def test_bytes_counts_unknown_bytes_of_characters(session, characters):
    assert ask(session, "bytes", "the 🧵🧵", tokenizer="characters")["unknown"] == 8
    assert ask(session, "bytes", "the loom", tokenizer="characters")["unknown"] == 0


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("pattern", [*bl.pattern_names(), r"\w+|\s", r"(?<=a)b|[a-z]+"])
def test_split_is_pretokens(session, text, pattern):
    records = ask(session, "split", text, pattern=pattern)
    (side,) = records["sides"]
    tok = bl.Tokenizer.from_merges([], pattern=pattern)
    assert [bytes.fromhex(piece["bytes"]).decode() for piece in side["pieces"]] == tok.pretokens(text)
    assert side["lossless"] is True
    assert side["count"] == len(tok.pretokens(text))
    assert side["regex"] == tok.pattern
    parts = tok.explain(text, disallowed_special=()).parts
    for piece, part in zip(side["pieces"], parts, strict=True):
        assert piece["alternative"] == part.match.alternative
        assert piece["category"] == part.match.category
    assert side["unmatched"] == sum(part.match.alternative is None for part in parts)


def test_split_starts_with_the_pattern_of_the_tokenizer(session):
    assert ask(session, "split", "x")["sides"][0]["name"] == "cl100k"


def test_split_says_what_is_wrong_with_a_pattern(session):
    records = ask(session, "split", "x", pattern="(", other="gpt2")
    assert "unclosed group" in records["sides"][0]["error"]
    assert "error" not in records["sides"][1]
    assert "differences" not in records


def test_split_bounds_a_pattern_that_backtracks(session):
    side = ask(session, "split", "a" * 30_000 + "c", pattern=r"(a+)+$(?=b)")["sides"][0]
    assert side.get("error") or side["lossless"]


def test_split_differences(session):
    records = ask(session, "split", "I don't say GPT2", pattern="gpt2", other="simple")
    assert records["differences"]["count"] == 3
    pieces = [
        [[bl.render.visible(bytes.fromhex(piece["bytes"])) for piece in side] for side in stretch["pieces"]]
        for stretch in records["differences"]["stretches"]
    ]
    assert pieces == [
        [["·don", "'t"], ["·", "don't"]],
        [["·say"], ["·", "say"]],
        [["·GPT", "2"], ["·", "GPT2"]],
    ]
    same = ask(session, "split", "I don't", pattern="gpt2", other="r50k")
    assert same["differences"] == {"count": 0, "stretches": [], "left_out": 0}


@pytest.mark.parametrize("text", TEXTS)
def test_differences_cover_exactly_what_differs(session, text):
    records = ask(session, "split", text, pattern="gpt2", other="course-gpt2")
    stretches = records["differences"]["stretches"]
    a, b = (bl.Tokenizer.from_merges([], pattern=name).pretokens(text) for name in ("gpt2", "course-gpt2"))
    assert (a == b) is (not stretches)
    for stretch in stretches:
        start, end = stretch["chars"]
        ours, others = ([bytes.fromhex(piece["bytes"]) for piece in side] for side in stretch["pieces"])
        assert ours != others
        assert b"".join(ours) == b"".join(others) == text[start:end].encode()


def test_split_trained_is_training(session):
    text = "The clerk's stamp isn't dry. " * 30
    records = ask(session, "split", text, pattern="gpt2", other="simple", train=True)
    for trained, pattern in zip(records["trained"], ("gpt2", "simple"), strict=True):
        tok = bl.Tokenizer.train(text, 300, pattern=pattern)
        assert trained["merges"] == len(tok.merges)
        assert trained["tokens"] == tok.count(text)
        assert trained["same"] is True
        learned = [bytes.fromhex(piece["bytes"]) for piece in trained["learned"]]
        assert learned == [tok.id_to_bytes(a) + tok.id_to_bytes(b) for a, b in tok.merges][: len(learned)]
    assert records["trained"][0]["learned"] != records["trained"][1]["learned"]


@pytest.mark.parametrize("text", TEXTS)
def test_merges_are_those_of_explain(session, named, text):
    tok = named.tokenizer
    records = ask(session, "merges", text, tokenizer=named.name)
    parts = tok.explain(text, disallowed_special=(), max_losers=4).parts
    assert len(parts) == len(records["parts"]) == records["pretokens"]
    for place, part in zip(records["parts"], parts, strict=True):
        piece = records["pieces"][place["piece"]]
        assert bytes.fromhex(piece["bytes"]) == part.bytes
        assert place["chars"] == list(part.char_span)
        assert tuple(token["id"] for token in piece["tokens"]) == part.ids
        assert tuple(symbol["id"] for symbol in piece["symbols"]) == tuple(one.id for one in part.symbols)
        for ours, step in zip(piece["steps"], part.steps, strict=True):
            assert (ours["rank"], ours["at"]) == (step.rank, step.at)
            assert (ours["left"]["id"], ours["right"]["id"], ours["result"]["id"]) == (
                step.left,
                step.right,
                step.result,
            )
            assert tok.merges[ours["rank"]] == (step.left, step.right)
            assert [one["rank"] for one in ours["losers"]] == [one.rank for one in step.losers]
            assert all(one["rank"] >= ours["rank"] for one in ours["losers"])


def test_merges_of_a_word_that_comes_again_are_told_once(session):
    records = ask(session, "merges", " the the the")
    assert len(records["pieces"]) == 1
    assert [part["piece"] for part in records["parts"]] == [0, 0, 0]


def test_trees_unwind_to_bytes(session):
    tok = session.named("built-in, English").tokenizer

    def leaves(node):
        if "left" not in node:
            return [node["bytes"]]
        assert tok.merges[node["rank"]] == (node["left"]["id"], node["right"]["id"])
        return leaves(node["left"]) + leaves(node["right"])

    for piece in ask(session, "merges", "The weavers know the lowest thread")["pieces"]:
        for token in piece["tokens"]:
            assert leaves(token["tree"]) == [f"{byte:02x}" for byte in bytes.fromhex(token["bytes"])]


@pytest.mark.parametrize("tie_break", ["smallest_pair", "first_seen", "huggingface"])
def test_train_is_training(session, tie_break):
    text = "low low lower lowest newest widest wider winner " * 3
    records = ask(session, "train", text, vocab_size=280, tie_break=tie_break, pattern="simple")
    tok = bl.Tokenizer.train(text, 280, pattern="simple", tie_break=tie_break, trace=True)
    trace = tok.training_trace()
    assert [(step["left"]["id"], step["right"]["id"]) for step in records["steps"]] == tok.merges
    for ours, step in zip(records["steps"], trace.steps, strict=True):
        assert (ours["count"], ours["tied"], ours["decided_by"]) == (step.count, step.tied, step.decided_by)
        assert [one["count"] for one in ours["runners_up"]] == [one.count for one in step.runners_up]
    assert records["stopped"] == trace.stopped
    assert records["tied"] == sum(step.tied > 1 for step in trace.steps)


def test_the_curve_is_that_of_smaller_trainings(session):
    text = "the weaver and the loom, the thread and the wall. " * 4
    records = ask(session, "train", text, vocab_size=270)
    assert records["curve"][0]["tokens"] == len(text)
    for point in records["curve"]:
        smaller = bl.Tokenizer.train(text, point["vocab_size"], pattern="gpt2")
        assert smaller.count(text) == point["tokens"]
        assert point["bytes_per_token"] == len(text.encode()) / point["tokens"]


def test_the_sample_at_any_size_is_what_the_smaller_tokenizer_gives(session):
    """The page applies the merges below a rank; the first n merges alone must do the same."""
    text = "the weaver and the loom, the thread and the wall, naïve 日本 日本. " * 3
    records = ask(session, "train", text, vocab_size=300, pattern="simple")
    tok = bl.Tokenizer.train(text, 300, pattern="simple")
    for size in range(len(tok.merges) + 1):
        smaller = bl.Tokenizer.from_merges(tok.merges[:size], pattern="simple")
        for part in records["sample"]:
            state = [symbol["id"] for symbol in part["symbols"]]
            for step in part["steps"]:
                if step["rank"] >= size:
                    break
                state[step["at"] : step["at"] + 2] = [step["id"]]
            assert state == smaller.encode(bytes.fromhex(part["bytes"]))


@pytest.mark.parametrize("text", ["ab" * 3_000, "a" * 5_000 + " and more", "aabbccaabbdd" * 400])
def test_a_text_of_one_pretoken_has_the_exact_curve_and_a_sample_of_its_beginning(session, text):
    records = ask(session, "train", text, vocab_size=275, pattern="none")
    tok = bl.Tokenizer.train(text, 275, pattern="none")
    for point in records["curve"]:
        smaller = bl.Tokenizer.from_merges(tok.merges[: point["merges"]], pattern="none")
        assert point["tokens"] == smaller.count(text)
    beginning = joined(records["sample"])
    assert records["sample_cut"] == len(beginning) if len(text) > 4_000 else records["sample_cut"] is None
    assert beginning == text.encode()[: len(beginning)]
    last = [symbol["id"] for symbol in records["sample"][0]["symbols"]]
    for step in records["sample"][0]["steps"]:
        last[step["at"] : step["at"] + 2] = [step["id"]]
    assert last == tok.encode(beginning.decode())


def test_a_sample_ends_before_a_very_long_pretoken(session):
    records = ask(session, "train", "low lower " + "x" * 90_000, vocab_size=260)
    assert joined(records["sample"]) == b"low lower"
    assert records["sample_cut"] is None


def test_training_on_nothing(session):
    records = ask(session, "train", "")
    assert (records["steps"], records["vocab_size"]) == ([], 256)
    assert records["curve"] == [{"merges": 0, "vocab_size": 256, "tokens": 0, "bytes_per_token": None}]


@pytest.mark.parametrize("tab", VIEWS)
def test_long_texts_are_cut_and_what_is_left_out_is_counted(session, tab):
    text = "The weavers of the low valley, naïve 日本 🧵. " * 2000
    records = ask(session, tab, text)
    assert len(json.dumps(records)) < 300_000
    tok = session.named("built-in, English").tokenizer
    if tab == "pipeline":
        assert records["left_out"]["pretokens"] == len(tok.pretokens(text)) - len(records["pretokens"]) > 0
        assert records["left_out"]["tokens"] == tok.count(text) - len(records["tokens"]) > 0
    elif tab == "bytes":
        assert records["left_out"] == len(text) - len(records["characters"]) > 0
    elif tab == "split":
        side = records["sides"][0]
        assert side["left_out"] == side["count"] - len(side["pieces"]) > 0
    elif tab == "merges":
        assert records["left_out"] == len(tok.pretokens(text)) - len(records["parts"]) > 0
    else:
        assert records["left_out"] == 0
        assert records["characters"] == len(text)


@pytest.mark.parametrize("tab", VIEWS)
def test_one_endless_word(session, tab):
    records = ask(session, tab, "ab" * 50_000, pattern="none")
    assert len(json.dumps(records)) < 500_000
    if tab == "pipeline":
        assert records["left_out"]["pretokens"] == 1
        assert records["left_out"]["tokens"] == 100_000 - len(records["tokens"])
    elif tab == "merges":
        assert records["left_out"] == 1


@pytest.mark.parametrize(
    ("tab", "options", "message"),
    [
        ("pipeline", {"text": 3}, "text must be a string"),
        ("bytes", {"text": "\ud800"}, "half a surrogate pair"),
        ("merges", {"tokenizer": "none of these"}, "there is no tokenizer"),
        ("pipeline", {"width": -1}, "width must be from"),
        ("pipeline", {"known": "x" * 100}, "known has 100 characters"),
        ("split", {"pattern": "x" * 5000}, "pattern has 5,000 characters"),
        ("split", {"train": "yes"}, "train must be true or false"),
        ("train", {"vocab_size": 100_000}, "vocab_size must be from"),
        ("train", {"tie_break": "largest"}, "tie_break must be one of"),
        ("train", {"pattern": "("}, "unclosed group"),
        ("train", {"min_frequency": 0}, "min_frequency must be from"),
    ],
)
def test_bad_requests_are_told_in_words(session, tab, options, message):
    with pytest.raises(ViewError, match=message):
        VIEWS[tab].view(session, {"text": "x", "tokenizer": 1, **options})
