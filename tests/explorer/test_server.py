"""The server: what it answers, and above all what it does not."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

import byteloom as bl
from byteloom.explorer import Limits, Session, ViewError, assets
from byteloom.explorer.session import choice, flag, integer, number, string

pytest.importorskip("fastapi", reason="the explorer needs FastAPI")
pytest.importorskip("uvicorn", reason="the explorer needs uvicorn")

from byteloom.explorer.server import Server, answer

JSON = {"Content-Type": "application/json"}


def request(server, method, path, body=None, headers=None, *, host=None):
    """Status, headers and body, with nothing that a client would tidy up."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or f"127.0.0.1:{server.port}")
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def ask(server, tab="trial", **question):
    status, _, body = request(server, "POST", f"/api/{tab}", json.dumps(question).encode(), JSON)
    return status, json.loads(body)


# What it answers.


def test_every_asset_is_served_with_its_type(trial_server, trial_tabs):
    kinds = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
    for name in assets.asset_names():
        status, headers, body = request(trial_server, "GET", f"/{'' if name == 'index.html' else name}")
        assert (status, body.decode()) == (200, assets.asset_text(name)), name
        assert headers["Content-Type"] == f"{kinds[name.rpartition('.')[2]]}; charset=utf-8"


def test_the_session_is_described(trial_server, session):
    status, _, body = request(trial_server, "GET", "/api/session")
    described = json.loads(body)
    assert status == 200
    assert described["tabs"] == ["trial", "second"]
    assert [named["name"] for named in described["tokenizers"]] == [n.name for n in session.tokenizers]
    assert described["limits"]["text_bytes"] == 200_000
    assert described["patterns"] == bl.pattern_names()


@pytest.mark.parametrize(
    "text", ["", "low lower", "naïve 日本語 👩‍🌾\n\t", "\0\u202e<|im_end|>", "a" * 50_000]
)
def test_the_strip_is_the_library_s(trial_server, session, text):
    for place, named in enumerate(session.tokenizers):
        tok = named.tokenizer
        status, data = ask(trial_server, text=text, tokenizer=place)
        ids = tok.encode_ordinary(text)
        size = len(text.encode())
        assert status == 200
        assert data["strip"] == {
            "characters": len(text),
            "bytes": size,
            "pretokens": len(tok.pretokens(text)),
            "tokens": len(ids),
            "bytes_per_token": size / len(ids) if ids else None,
            "round_trip": True,
            "unknown_bytes": 0,
        }
        assert [token["id"] for token in data["records"]["ids"]] == ids[:3000]


def test_unknown_bytes_are_counted():
    tok = bl.Tokenizer.train(
        "abc abc", vocab_size=6, alphabet="characters", unk="<unk>", special_tokens=["<unk>"]
    )
    session = Session([("characters", tok)])
    strip = session.strip(session.tokenizers[0], "abx日")
    assert (strip["unknown_bytes"], strip["round_trip"]) == (4, False)


def test_a_text_may_spell_special_tokens(trial_server, session):
    _, data = ask(trial_server, text="<|im_start|>")
    assert session.tokenizers[0].tokenizer.special_tokens["<|im_start|>"] not in [
        token["id"] for token in data["records"]["ids"]
    ]


def test_errors_are_words(trial_server):
    for question, words in [
        ({"fail": True}, "it was told to fail: <b>&amp;"),
        ({"fail": 1}, "fail must be true or false, not 1"),
        ({"text": 5}, "text must be a string, not int"),
        ({"text": None}, "text must be a string, not nothing"),
        ({"text": "x" * 200_001}, "text has 200,001 bytes, and the explorer takes 200,000"),
        ({"text": "é" * 100_001}, "text has 200,002 bytes"),
        ({"text": "ab\ud800"}, "half a surrogate pair (U+D800) at character 2"),
        ({"tokenizer": 9}, "there is no tokenizer 9; there are: built-in, English, built-in, 13 languages"),
        ({"tokenizer": -1}, "there is no tokenizer -1"),
        ({"tokenizer": True}, "there is no tokenizer True"),
        ({"tokenizer": ["x" * 1000]}, "there is no tokenizer ['xxx"),
        ({"word": "w" * 1001}, "word has 1,001 characters"),
        ({"word": "\udfff"}, "word holds half a surrogate pair"),
    ]:
        status, data = ask(trial_server, **question)
        assert status == 200
        assert list(data) == ["error"]
        assert words in data["error"]["message"]
        assert len(data["error"]["message"]) < 400


def test_a_tokenizer_by_name(trial_server, session):
    _, by_name = ask(trial_server, text="日本語", tokenizer="built-in, 13 languages")
    _, by_place = ask(trial_server, text="日本語", tokenizer=1)
    assert by_name == by_place
    assert by_name != ask(trial_server, text="日本語")[1]


# Whom it answers.


@pytest.mark.parametrize("path", ["/", "/app.js", "/api/session", "/api/trial", "/nothing"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil:{port}",
        "[::1]:{port}",
        "0:{port}",
        "127.0.0.1:{port}, evil",
        "",
    ],
)
def test_another_host_name_is_refused(trial_server, path, host):
    host = host.format(port=trial_server.port)
    connection = socket.create_connection(("127.0.0.1", trial_server.port), timeout=10)
    with connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        data = connection.makefile("rb").read()
    assert data.split(b" ")[1] in (b"403", b"400")
    assert b"<html" not in data
    assert b"tokenizers" not in data


@pytest.mark.parametrize("name", ["localhost", "LocalHost", "127.0.0.1"])
def test_its_own_names_are_taken(trial_server, name):
    assert request(trial_server, "GET", "/", host=f"{name}:{trial_server.port}")[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:{port}.evil.example",
        "http://localhost:1",
    ],
)
def test_another_origin_is_refused(trial_server, origin):
    headers = {**JSON, "Origin": origin.format(port=trial_server.port)}
    status, answered, body = request(trial_server, "POST", "/api/trial", b'{"text": "x"}', headers)
    assert status == 403
    assert json.loads(body)["error"]["message"] == "the explorer answers only its own page"
    assert "Access-Control-Allow-Origin" not in answered


def test_its_own_origin_is_answered(trial_server):
    headers = {**JSON, "Origin": trial_server.url.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert request(trial_server, "POST", "/api/trial", b'{"text": "x"}', headers)[0] == 200


def test_other_sites_can_link_to_the_page_and_load_nothing(trial_server):
    for site in ("cross-site", "same-site"):
        assert request(trial_server, "GET", "/", headers={"Sec-Fetch-Site": site})[0] == 200
        for path in ("/app.js", "/api/session"):
            assert request(trial_server, "GET", path, headers={"Sec-Fetch-Site": site})[0] == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_what_a_form_of_another_site_can_send_is_refused(trial_server, kind):
    status, _, _ = request(trial_server, "POST", "/api/trial", b'{"text": "x"}', {"Content-Type": kind})
    assert status == 415


def test_there_is_no_preflight(trial_server):
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    status, answered, _ = request(trial_server, "OPTIONS", "/api/trial", headers=headers)
    assert status == 403
    assert not [name for name in answered if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/nothing", 404),
        ("POST", "/", 405),
        ("GET", "/api/trial", 405),
        ("PUT", "/app.js", 405),
        ("TRACE", "/", 405),
    ],
)
def test_every_response_has_the_headers(trial_server, method, path, status):
    found, headers, body = request(trial_server, method, path)
    assert found == status
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Server" not in headers
    if status != 200:
        assert set(json.loads(body)) == {"error"}


def test_it_listens_on_this_machine_only(trial_server):
    assert trial_server.url == f"http://127.0.0.1:{trial_server.port}/"
    table = Path("/proc/net/tcp")
    listening = [line.split() for line in table.read_text().splitlines()[1:]] if table.exists() else []
    port = f"{trial_server.port:04X}"
    found = {
        fields[1].split(":")[0]
        for fields in listening
        if fields[1].endswith(":" + port) and fields[3] == "0A"
    }
    assert found <= {"0100007F"}


@pytest.mark.parametrize(
    "path",
    [
        "/../session.py",
        "/lib/../../session.py",
        "/%2e%2e/session.py",
        "/lib/%2e%2e%2f%2e%2e%2fsession.py",
        "/..%5csession.py",
        "//etc/passwd",
        "/etc/passwd",
        "/file:///etc/passwd",
        "/static/app.js",
        "/lib/",
        "/lib",
        "/tabs/",
        "/views/trial.py",
        "/index.html",
        "/app.js/",
        "/app.js%00",
        "/APP.JS",
        "/server.py",
        "/docs",
        "/openapi.json",
        "/redoc",
        "/api/",
        "/api/nothing",
        "/api/trial/",
        "/api/../api/trial",
        "/.git/config",
        "/lib/dom.js.map",
    ],
)
def test_no_other_path_leads_to_anything(trial_server, path):
    status, _, body = request(trial_server, "GET", path)
    assert status in (404, 405)
    assert set(json.loads(body)) == {"error"}


# How much it answers.


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b'"x"',
        b"null",
        b'{"text": NaN}',
        b'{"text": Infinity}',
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 10_000,
        b'{"n": ' + b"9" * 10_000 + b"}",
        b"{'text': 'x'}",
        b'{"text": "x"} x',
    ],
)
def test_a_body_that_is_no_json_object(trial_server, body):
    status, _, answered = request(trial_server, "POST", "/api/trial", body, JSON)
    assert status == 400
    assert json.loads(answered)["error"]["kind"] == "ViewError"


def test_a_body_that_is_too_long(trial_server):
    body = b'{"text": "' + b"x" * 1_000_000 + b'"}'
    status, _, answered = request(trial_server, "POST", "/api/trial", body, JSON)
    assert (status, json.loads(answered)["error"]["message"]) == (
        413,
        "the request is longer than 1,000,000 bytes",
    )


def test_a_view_that_is_too_slow_is_not_waited_for(trial_tabs, session):
    quick = Session(limits=Limits(seconds=0.2))
    with Server(quick) as server:
        start = time.monotonic()
        status, data = ask(server, text="x", wait=1)
        assert status == 503
        assert data["error"]["message"] == "this took longer than 0.2 seconds; try a shorter text"
        assert time.monotonic() - start < 0.9
        assert ask(server, text="x")[0] == 200  # the others are not kept waiting
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(ask(server, text="x", wait=1)[0])) for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [503] * 12
        time.sleep(1)
        assert ask(server, text="x")[0] == 200


@pytest.mark.parametrize("question", [{"break": True}, {"nan": True}])
def test_a_fault_of_ours_shows_nothing_of_the_inside(trial_server, question, caplog):
    with caplog.at_level(logging.ERROR):
        status, data = ask(trial_server, text="x", **question)
    if "break" in question:
        assert status == 500
        assert data == {
            "error": {
                "kind": "Failure",
                "message": "the explorer failed on this request; the terminal says how",
            }
        }
        assert "secret of the inside" in caplog.text
    else:
        assert status >= 400
    assert "Traceback" not in json.dumps(data)
    assert ask(trial_server, text="x")[0] == 200


def test_a_port_that_is_taken(trial_server, session):
    with pytest.raises(OSError, match="in use"):
        Server(session, trial_server.port)


def test_it_ends(trial_tabs, session):
    server = Server(session)
    server.start()
    assert ask(server, text="x")[0] == 200
    server.stop()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=1)
    assert not [thread for thread in threading.enumerate() if thread.name == "byteloom-explorer-server"][1:]


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_a_missing_extra_is_named(monkeypatch, session, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install 'byteloom\[explorer\]'"):
        Server(session)


# The session.


def test_what_a_session_keeps_is_bounded(session):
    for number_ in range(100):
        assert session.remember(("test", number_), lambda number_=number_: number_) == number_
    assert len(session._kept) <= 32
    assert session.remember(("test", 99), lambda: "again") == 99
    assert session.remember(("test", 0), lambda: "again") == "again"


def test_entropy_models_are_trained_once(session):
    model = session.entropy_model("abab" * 10, order=2)
    assert session.entropy_model("abab" * 10, order=2) is model
    assert model.fingerprint() == bl.ByteEntropyModel(2).train("abab" * 10).fingerprint()
    assert session.entropy_model().info()["trained_bytes"] > 3000


def test_the_users_tokenizers_come_first(tok):
    session = Session([("mine", tok)])
    assert [named.name for named in session.tokenizers] == [
        "mine",
        "built-in, English",
        "built-in, 13 languages",
    ]
    assert session.tokenizer({}).tokenizer is tok
    with pytest.raises(ValueError, match="two tokenizers have one name"):
        Session([("mine", tok), ("mine", tok)])


def test_options():
    assert choice({"rule": "b"}, "rule", ["a", "b"]) == "b"
    assert flag({}, "on") is False
    assert integer({"n": 3.0}, "n", 1, least=1, most=9) == 3
    assert number({"x": 2}, "x", 1, least=0, most=8) == 2.0
    assert string({}, "s", "x") == "x"
    for call, words in [
        (lambda: choice({"rule": "c"}, "rule", ["a", "b"]), "rule must be one of a, b, not 'c'"),
        (lambda: choice({"rule": []}, "rule", ["a", "b"]), "rule must be one of a, b, not []"),
        (lambda: integer({"n": 10**30}, "n", 1, least=1, most=9), "n must be from 1 to 9, not 1000"),
        (lambda: integer({"n": 1.5}, "n", 1, least=1, most=9), "n must be a whole number, not 1.5"),
        (lambda: integer({"n": "3"}, "n", 1, least=1, most=9), "n must be a whole number, not '3'"),
        (lambda: number({"x": float("nan")}, "x", 1, least=0, most=8), "x must be from 0 to 8, not nan"),
        (lambda: number({"x": None}, "x", 1, least=0, most=8), "x must be a number, not None"),
    ]:
        with pytest.raises(ViewError) as caught:
            call()
        assert words in str(caught.value)


def test_an_answer_without_a_server(session):
    assert answer(session, "trial", {"text": "low"})["strip"]["characters"] == 3
