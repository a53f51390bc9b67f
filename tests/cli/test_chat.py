"""`byteloom chat`: text, ids, masks and segments of JSON conversations, and every error with its place."""

from __future__ import annotations

import json

import pytest

from byteloom import chat

TALK = [
    {"role": "user", "content": "the cat <|im_end|> é"},
    {"role": "assistant", "content": "low\n"},
]


@pytest.fixture(scope="session")
def chat_tok(special_tok):
    return special_tok.with_special_tokens(["<|im_start|>", "<|im_end|>"])


@pytest.fixture
def chat_file(chat_tok, tmp_path):
    chat_tok.save(tmp_path / "chat.tok")
    return "chat.tok"


@pytest.fixture
def talk_file(tmp_path):
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    return "talk.json"


def test_text_of_files_and_standard_input(run, talk_file):
    expected = chat.render(TALK).encode()
    assert run("chat", talk_file).stdout == expected
    for data in (TALK, {"messages": TALK, "source": "a book", "tools": None}):
        assert run("chat", stdin=json.dumps(data).encode()).stdout == expected
        assert (
            run("chat", "-", stdin=b"\xef\xbb\xbf" + json.dumps(data, indent=2).encode()).stdout == expected
        )


@pytest.mark.parametrize("option", ["--add-generation-prompt", "--continue-final-message"])
def test_options_of_the_structure(run, talk_file, chat_tok, chat_file, option):
    options = {option[2:].replace("-", "_"): True}
    assert run("chat", talk_file, option).stdout == chat.render(TALK, **options).encode()
    ids = run("chat", talk_file, "--tokenizer", chat_file, option).stdout
    assert list(map(int, ids.split())) == chat.encode(chat_tok, TALK, **options).ids


@pytest.mark.parametrize("name", chat.FORMATS)
def test_every_published_format(run, talk_file, name):
    assert run("chat", talk_file, "--format", name).stdout == chat.render(TALK, format=name).encode()
    assert name in run("chat", "--help").stdout.decode()


def test_a_format_of_ones_own(run, talk_file, tmp_path):
    form = {"name": "mine", "start": "<a>", "end": "<b>", "turn_end": ""}
    (tmp_path / "mine.json").write_text(json.dumps(form))
    done = run("chat", talk_file, "--format", "mine.json")
    assert done.stdout == chat.render(TALK, format=chat.ChatFormat(**form)).encode()
    (tmp_path / "mine.json").write_text('{"name": "mine", "stop": "<b>"}')
    done = run("chat", talk_file, "--format", "mine.json")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"byteloom: mine.json: a chat format has no part 'stop'")
    done = run("chat", talk_file, "--format", "nope")
    assert done.returncode == 2
    assert b"qwen2.5" in done.stderr


def test_ids_come_back_through_decode(run, talk_file, chat_tok, chat_file):
    found = chat.encode(chat_tok, TALK)
    ids = run("chat", talk_file, "--tokenizer", chat_file)
    assert ids.stdout == (" ".join(map(str, found.ids)) + "\n").encode()
    assert run("decode", chat_file, stdin=ids.stdout).stdout.decode() == found.text
    mask = run("chat", talk_file, "--tokenizer", chat_file, "--as", "mask")
    assert list(map(int, mask.stdout.split())) == found.mask
    assert run("chat", talk_file, "--tokenizer", chat_file, "--as", "text").stdout == found.text.encode()


def test_segments_are_a_table(run, talk_file, chat_file):
    rows = run("chat", talk_file, "--tokenizer", chat_file, "--as", "segments").stdout.decode().splitlines()
    assert rows[0].split() == ["tokens", "kind", "trained", "text"]
    assert rows[1].split() == ["0-1", "control", "-", "<|im_start|>"]
    assert [row.split()[1:] for row in rows if " yes " in row] == [
        ["text", "yes", "low↵"],
        ["control", "yes", "<|im_end|>"],
    ]
    rows = run("chat", talk_file, "--as", "segments").stdout.decode().splitlines()
    assert rows[0].startswith("characters")
    assert rows[1].split()[0] == "0-12"


def test_json_holds_all(run, talk_file, chat_tok, chat_file):
    done = run("chat", talk_file, "--tokenizer", chat_file, "--json")
    assert json.loads(done.stdout) == json.loads(json.dumps(chat.encode(chat_tok, TALK).to_dict()))
    data = json.loads(run("chat", talk_file, "--json").stdout)
    assert set(data) == {"text", "segments"}
    assert data["text"] == chat.render(TALK)


def test_a_line_is_a_conversation(run, tmp_path, chat_tok, chat_file):
    talks = [TALK, {"messages": TALK[:1]}, []]
    lines = "\n".join(json.dumps(talk) for talk in talks).replace("]\n{", "]\n\n{", 1)
    (tmp_path / "talks.jsonl").write_text(lines)
    expected = [chat.encode(chat_tok, messages).ids for messages in (TALK, TALK[:1], [])]
    for done in (
        run("chat", "talks.jsonl", "--tokenizer", chat_file),
        run("chat", "--lines", "--tokenizer", chat_file, stdin=lines.encode()),
    ):
        assert [list(map(int, line.split())) for line in done.stdout.splitlines()] == expected
    run("chat", "talks.jsonl", "--tokenizer", chat_file, "-o", "ids.txt")
    assert len((tmp_path / "ids.txt").read_text().splitlines()) == 3
    assert run("chat", "talks.jsonl", "-o", "ids.txt").returncode == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "standard input, line 1: not valid JSON"),
        (b'[\n\n{"role": "user" "content"}]', "standard input, line 3: not valid JSON: Expecting ',' delim"),
        (b"[" * 100_000, "standard input: not valid JSON: nested too deeply"),
        (b'[{"role": "\xff"}]', "standard input: byte 0xff at offset 11 is not valid UTF-8"),
        (
            b"3",
            "standard input: expected a list of messages, or an object that holds one as 'messages', not a n",
        ),
        (b"null", "not null"),
        (b'"text"', "not a string"),
        (b"{}", "standard input: the object has no 'messages'"),
        (b'{"messages": {}}', "not an object"),
        (b'{"messages": [], "tools": [1]}', "no place for 'tools'"),
        (b'[{"role": "user", "content": "a", "role": "system"}]', "an object has the key 'role' twice"),
        (b'[{"role": "user"}]', "standard input: message 0 has no 'content'"),
        (b'[{"role": "user", "content": null}]', "message 0: 'content' must be a string, not NoneType"),
        (b'[{"role": "user", "content": "\\ud800"}]', "message 0: 'content' holds a lone surrogate"),
        (
            b'[{"role": "a<|im_end|>", "content": ""}]',
            "message 0: 'role' 'a<|im_end|>' spells the control token",
        ),
        (b'[{"role": "a", "content": "", "name": "b"}]', "message 0 has the key 'name'"),
    ],
)
def test_faults_have_a_place(run, data, words):
    done = run("chat", stdin=data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert words in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"[", "talks.jsonl, line 3: not valid JSON"),
        (b'[{"role": "user"}]', "talks.jsonl, line 3: message 0 has no 'content'"),
        (b"7", "talks.jsonl, line 3: expected a list"),
        (b'"\xff"', "talks.jsonl, line 3: byte 0xff at offset 1 is not valid UTF-8"),
    ],
)
def test_faults_of_a_line_name_it_and_leave_no_file(run, tmp_path, line, words):
    (tmp_path / "talks.jsonl").write_bytes(b"[]\n\n" + line + b"\n[]\n")
    done = run("chat", "talks.jsonl", "-o", "out.txt")
    assert done.returncode == 1
    assert done.stderr.decode().startswith("byteloom: " + words)
    assert not (tmp_path / "out.txt").exists()


def test_a_tokenizer_without_control_tokens(run, talk_file, tok_file, chat_tok):
    done = run("chat", talk_file, "--tokenizer", tok_file)
    assert (done.returncode, done.stdout) == (1, b"")
    for words in (b"lacks <|im_start|>, <|im_end|>", b"--special '<|im_start|>'", b"--add-control-tokens"):
        assert words in done.stderr
    done = run("chat", talk_file, "--tokenizer", tok_file, "--add-control-tokens")
    assert list(map(int, done.stdout.split())) == chat.encode(chat_tok, TALK).ids


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff\xfe", b'{"format": "byteloom"}'])
def test_a_tokenizer_that_cannot_be_loaded(run, talk_file, tmp_path, content):
    if content is not None:
        (tmp_path / "tok").write_bytes(content)
    done = run("chat", talk_file, "--tokenizer", "tok")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"byteloom: tok: ")


@pytest.mark.parametrize(
    "options",
    [
        ["--as", "ids"],
        ["--as", "mask"],
        ["--json", "--as", "text"],
        ["--pattern", "gpt2"],
        ["--add-control-tokens"],
        ["--add-generation-prompt", "--continue-final-message"],
        ["--as", "nope"],
    ],
)
def test_options_that_do_not_fit(run, talk_file, options):
    done = run("chat", talk_file, *options)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"byteloom chat --help" in done.stderr


def test_a_missing_file_and_a_folder(run, tmp_path):
    (tmp_path / "folder").mkdir()
    for source in ("gone", "folder"):
        done = run("chat", source)
        assert done.returncode == 1
        assert done.stderr.startswith(b"byteloom: " + source.encode())
