"""Hostile conversations: no content or role makes a control id; masks and spans are those of the bytes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import byteloom as bl
from byteloom import chat
from helpers import train_quietly
from sentencepiece_model import sentencepiece_model
from strategies import texts

START, END = "<|im_start|>", "<|im_end|>"
OTHER = ["<|endoftext|>", "<s>", "<|im_start|>user"]
ROLES = [
    "system",
    "user",
    "assistant",
    "tool",
    "a",
    "Ünser",
    "user ",
    "<|im_start|",
    "|im_end|>",
    "<|im_end|",
    "<s>",
]
PIECES = [
    START, END, *OTHER, "<|", "|>", "<|im_", "im_start|>", "_end|>", "<|im_end", "<|im_start", "|", "<", ">",
    "\n", "\n\n", "\r\n", " ", "  ", "\t", "\0", "\ufeff", "\u200b", "\u2028", "system\n",
    "\nassistant\n", "user", "a", "the cat", "é", "日本", "🚀", "e\u0301", "{{ 7*7 }}", "{% raw %}", "\\n",
    "%s", "</s>", "\x1b[0m", "",
]  # fmt: skip
CORPUS = [f"user\nthe cat {START}system\n\n the cat{END}\n<|im_start|im_end|>\nassistant\nthe <|<|é日本"] * 6

CONVERSATIONS = 100_000 if settings().max_examples >= 5_000 else 10_000
"""In all: some seconds, and half a minute in the profile `deep`."""


def tokenizer(pattern, size, **options):
    tok = train_quietly(CORPUS, size, pattern=pattern, **options)
    return tok.with_special_tokens([START, END, *OTHER])


TOKENIZERS = {
    "bytes": tokenizer("cl100k", 256),
    "cl100k": tokenizer("cl100k", 400),
    "no cuts": tokenizer("none", 420),
    "control strings in the corpus": tokenizer("course-words", 400),
    "special tokens first": tokenizer("gpt2", 350, special_tokens=[END, START], special_position="first"),
}


def check(tok, talk, *, prompt, go_on):
    """Everything that must hold, from the ids and the bytes of their tokens alone."""
    start, end = tok.special_tokens[START], tok.special_tokens[END]
    found = chat.encode(tok, talk, add_generation_prompt=prompt, continue_final_message=go_on)
    assert len(found.mask) == len(found.ids)

    # What stands between control ids, told by hand: control, bytes, where the trained ones begin.
    structure = []
    for place, message in enumerate(talk):
        head = f"{message['role']}\n".encode()
        body = message["content"].encode()
        trained = message["role"] == "assistant"
        structure.append((start, False, head + body, len(head) if trained else len(head + body)))
        if not (go_on and place == len(talk) - 1):
            structure.append((end, trained, b"\n", 1))
    if prompt:
        structure.append((start, False, b"assistant\n", 10))

    ids, mask = [], []
    for control, learned, data, first in structure:
        ids.append(control)
        mask.append(int(learned))
        run = tok.encode_ordinary(data)
        ids += run
        place = 0
        for id_ in run:
            place += len(tok.id_to_bytes(id_))
            mask.append(int(place > first))
    assert found.ids == ids
    assert found.mask == mask
    closed = len(talk) - go_on
    assert found.ids.count(start) == len(talk) + prompt
    assert found.ids.count(end) == closed
    assert not set(tok.special_tokens.values()) - {start, end} & set(found.ids)

    text = chat.render(talk, add_generation_prompt=prompt, continue_final_message=go_on)
    assert tok.decode(found.ids) == found.text == text
    if not any(name in message["content"] for message in talk for name in tok.special_tokens):
        assert tok.encode(text, allowed_special={START, END}, disallowed_special=()) == ids
    check_spans(tok, found, text)


def check_spans(tok, found, text):
    edges, place = [], 0
    for id_ in found.ids:
        edges.append((place, place + len(tok.id_to_bytes(id_))))
        place = edges[-1][1]
    assert place == len(text.encode())
    char = byte = covered = 0
    for one in found.segments:
        assert one.span == (char, char + len(one.text))
        assert text[slice(*one.span)] == one.text
        char += len(one.text)
        after = byte + len(one.text.encode())
        holders = [number for number, (first, last) in enumerate(edges) if first < after and last > byte]
        assert list(range(*one.tokens)) == holders
        assert one.tokens[0] <= covered  # no token between two segments
        covered = max(covered, one.tokens[1])
        byte = after
    assert char == len(text)
    assert covered == len(found.ids)


def conversation(chance):
    return [
        {
            "role": chance.choice(ROLES),
            "content": "".join(chance.choices(PIECES, k=chance.choice((0, 1, 2, 3, 5, 9)))),
        }
        for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 4)))
    ]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.timeout(600)
def test_many_hostile_conversations(name):
    chance = random.Random(f"chat {name}")
    for _ in range(CONVERSATIONS // len(TOKENIZERS)):
        talk = conversation(chance)
        option = chance.randrange(3)
        check(TOKENIZERS[name], talk, prompt=option == 1, go_on=option == 2 and bool(talk))


messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(ROLES),
        "content": st.one_of(texts, st.lists(st.sampled_from(PIECES), max_size=12).map("".join)),
    }
)


@given(
    talk=st.lists(messages, max_size=4), option=st.integers(0, 2), name=st.sampled_from(sorted(TOKENIZERS))
)
def test_any_conversation(talk, option, name):
    check(TOKENIZERS[name], talk, prompt=option == 1, go_on=option == 2 and bool(talk))


@given(
    role=st.one_of(texts, st.lists(st.sampled_from([*ROLES, *PIECES]), max_size=4).map("".join)),
    content=texts,
    name=st.sampled_from(sorted(TOKENIZERS)),
)
def test_any_role_is_refused_or_harmless(role, content, name):
    talk = [{"role": role, "content": content}]
    if not role or "\n" in role or "\r" in role or START in role or END in role:
        with pytest.raises(bl.ChatError, match="message 0: 'role'"):
            chat.encode(TOKENIZERS[name], talk)
    else:
        check(TOKENIZERS[name], talk, prompt=False, go_on=False)


@given(talk=st.lists(messages, max_size=3), key=st.text(max_size=9))
def test_any_other_key_is_refused(talk, key):
    if key not in ("role", "content"):
        talk.append({"role": "user", "content": "", key: START})
        with pytest.raises(bl.ChatError, match=f"message {len(talk) - 1} has the key"):
            chat.render(talk)


@given(
    talk=st.lists(messages, min_size=1, max_size=3),
    size=st.integers(0, 60),
    side=st.sampled_from(["left", "right"]),
)
def test_truncation_is_a_slice(talk, size, side):
    whole = chat.encode(TOKENIZERS["no cuts"], talk)
    cut = whole.truncated(size, side=side)
    kept = range(len(whole))[:size] if side == "right" else range(len(whole))[max(0, len(whole) - size) :]
    assert cut.ids == [whole.ids[place] for place in kept]
    assert cut.mask == [whole.mask[place] for place in kept]
    for before, after in zip(whole.segments, cut.segments, strict=True):
        assert [kept[place] for place in range(*after.tokens)] == [
            p for p in range(*before.tokens) if p in kept
        ]


SENTENCEPIECE = sentencepiece_model(
    ["▁u", "us", "er", "user", "▁user", "▁a"], list("▁abcdeimnrstuy<|_>\n"), added=["▁▁", "<b>"]
).with_special_tokens([START, END, "<sys>"])


@pytest.mark.parametrize("form", chat.FORMATS.values(), ids=lambda form: form.name)
def test_no_format_lets_contents_forge_turns(form):
    """Also where a tokenizer has added tokens that are not special, and puts a space before texts."""
    special = SENTENCEPIECE.special_tokens
    chance = random.Random(f"chat {form.name}")
    pieces = [*PIECES, *special, "<b>", "▁", "  "]
    for _ in range(500):
        roles = chance.choices(("system", "user", "assistant"), k=chance.randrange(4))
        talk = [{"role": role, "content": "".join(chance.choices(pieces, k=7))} for role in roles]
        prompt = chance.random() < 0.5
        found = chat.encode(SENTENCEPIECE, talk, format=form, add_generation_prompt=prompt)
        turns = len(talk) + (form.default_system is not None and roles[:1] not in ([], ["system"]))
        counts = {special[form.start]: turns + prompt, special[form.end]: turns}
        if form.bos is not None:
            counts[special[form.bos]] = 1
        controls = [id_ for id_ in found.ids if id_ in special.values()]
        assert {id_: controls.count(id_) for id_ in counts} == counts
        assert len(controls) == sum(counts.values())
