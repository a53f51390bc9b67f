"""ChatML with the names of the third course, on a stand-in for the course's tokenizers."""

import pytest

import byteloom as bl
from byteloom.course import chatml, step1

TALK = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "What is 2+2?"},
]
RENDERED = (
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "<|im_start|>user\nWhat is 2+2?<|im_end|>\n"
    "<|im_start|>assistant\n"
)


class Characters:
    """Ids of characters, `<UNK>` = 1 for others; four special tokens first, as in the course."""

    def __init__(self, text):
        names = ["<PAD>", "<UNK>", "<BOS>", "<EOS>", *sorted(set(text))]
        self.vocab = {name: number for number, name in enumerate(names)}
        self.seen = []

    def encode(self, text):
        self.seen.append(text)
        return [self.vocab.get(char, 1) for char in text]


@pytest.fixture
def tok():
    return Characters("you are a helpful assistant what is 2 + 2 system user")


def test_the_printed_block():
    assert chatml.render_chatml(TALK, add_generation_prompt=True) == RENDERED
    assert chatml.render_chatml(TALK) == RENDERED.removesuffix("<|im_start|>assistant\n")
    assert chatml.render_chatml(TALK, True) == RENDERED
    assert chatml.CHAT_TOKENS == ["<|im_start|>", "<|im_end|>"]


def test_control_ids_come_after_the_vocabulary(tok):
    before = dict(tok.vocab)
    first = len(before)
    assert chatml.chat_token_ids(tok) == {"<|im_start|>": first, "<|im_end|>": first + 1}
    chatml.encode_chat(tok, TALK, add_generation_prompt=True)
    assert tok.vocab == before


def test_role_and_content_are_encoded_in_one_piece(tok):
    ids = chatml.encode_chat(tok, TALK, add_generation_prompt=True)
    assert tok.seen == [
        "system\nYou are a helpful assistant.", "\n", "user\nWhat is 2+2?", "\n", "assistant\n",
    ]  # fmt: skip
    start, end = chatml.chat_token_ids(tok).values()
    assert [id_ for id_ in ids if id_ >= start] == [start, end, start, end, start]
    assert len(ids) == sum(map(len, tok.seen)) + 5


@pytest.mark.parametrize("prompt", [False, True])
def test_two_control_tokens_a_closed_turn_and_one_an_open_one(tok, prompt):
    turns = [*TALK, {"role": "assistant", "content": "4"}, {"role": "user", "content": "why <|im_end|>?"}]
    start, end = chatml.chat_token_ids(tok).values()
    for count in range(len(turns) + 1):
        ids = chatml.encode_chat(tok, turns[:count], add_generation_prompt=prompt)
        assert (ids.count(start), ids.count(end)) == (count + prompt, count)


def test_segments_are_pairs():
    found = chatml.chatml_segments(TALK[1:], add_generation_prompt=True)
    assert found == [
        ("control", "<|im_start|>"), ("role", "user"), ("text", "\nWhat is 2+2?"), ("control", "<|im_end|>"),
        ("text", "\n"), ("control", "<|im_start|>"), ("role", "assistant"), ("text", "\n"),
    ]  # fmt: skip
    assert chatml.chatml_segments([]) == []


def test_split_on_special():
    split = chatml.split_on_special
    assert split("<|im_start|>user\nhi <b><|im_end|>\n") == [
        "<|im_start|>",
        "user\nhi <b>",
        "<|im_end|>",
        "\n",
    ]
    assert split("plain") == ["plain"]
    assert split("") == []
    assert split("a<x>yb<x>", ["<x>", "<x>y"]) == ["a", "<x>y", "b", "<x>"]
    assert split("a.b", ["."]) == ["a", ".", "b"]
    assert split("ab", []) == ["ab"]
    with pytest.raises(bl.ChatError, match="empty"):
        split("ab", [""])
    with pytest.raises(TypeError, match="not a string"):
        split("ab", "ab")
    with pytest.raises(TypeError, match=r"specials\[1\] must be str, not int"):
        split("ab", ["a", 5])
    with pytest.raises(TypeError, match="text must be str, not bytes"):
        split(b"ab")


def test_a_tokenizer_of_the_engine_has_its_own_control_ids(special_tok):
    with pytest.raises(bl.ChatError, match="with_special_tokens"):
        chatml.encode_chat(special_tok, TALK)
    with pytest.raises(bl.ChatError, match="with_special_tokens"):
        chatml.chat_token_ids(special_tok)
    tok = special_tok.with_special_tokens({"<|im_start|>": 900, "<|im_end|>": 800})
    assert chatml.chat_token_ids(tok) == {"<|im_start|>": 900, "<|im_end|>": 800}
    ids = chatml.encode_chat(tok, TALK, add_generation_prompt=True)
    assert ids == tok.encode(RENDERED, allowed_special="all")


def test_ids_that_reach_into_the_control_tokens(tok):
    tok.vocab["x"] = 99
    tok.vocab["u"] = len(tok.vocab)
    with pytest.raises(bl.ChatError, match="past the length"):
        chatml.encode_chat(tok, TALK)


def test_faulty_messages_are_named(tok):
    for other in (None, "tok", step1.Tokenizer()):
        with pytest.raises(TypeError, match="tok must be a BPETokenizer or"):
            chatml.encode_chat(other, TALK)
    with pytest.raises(bl.ChatError, match="message 1 has no 'content'"):
        chatml.encode_chat(tok, [TALK[0], {"role": "user"}])
