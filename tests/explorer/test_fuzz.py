"""Ten thousand malformed requests: no crash, no inside of ours in an answer, no leak."""

from __future__ import annotations

import gc
import json
import os
import random
import socket
import sys
import threading
import time

import pytest

from byteloom.explorer import TABS, Limits, Session, assets

pytest.importorskip("fastapi", reason="the explorer needs FastAPI")
pytest.importorskip("uvicorn", reason="the explorer needs uvicorn")

from byteloom.explorer.server import Server, answer

ROUNDS = 10_000
PARTS = 4  # each a test, with a limit of time of its own
FORBIDDEN = (b"Traceback", b'File "', b"root:x:", b"site-packages", b"import annotations")
LONG = 600


def odd_value(rng, depth=0):
    """A value of JSON that no form would send."""
    kind = rng.randrange(14 if depth < 3 else 10)
    if kind < 3:
        return rng.choice(
            [0, -1, 1, 2**31, 2**63, -(2**64), 10**40, True, False, None, 0.5, -0.0, 1e308, 1e-320]
        )
    if kind < 7:
        alphabet = rng.choice(
            [
                "abc ",
                "\0\x1b\n\r\t",
                "\ud800\udc00\udfff",
                "日本🧵\u202e\u200d\ufeff",
                "<>&\"'%/\\{}",
                "()[]*+?|^$\\p{L}",
            ]
        )
        return "".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 3, 20, LONG])))
    if kind < 10:
        return rng.choice(
            [
                "__proto__",
                "constructor",
                "../../etc/passwd",
                "built-in, English",
                "cl100k",
                "<|im_end|>",
                "NaN",
                "global",
            ]
        )
    if kind < 12:
        return [odd_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(odd_value(rng, 3)): odd_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def odd_bytes(rng):
    return rng.randbytes(rng.choice([0, 1, 5, 40, 400]))


def odd_body(rng, names):
    question = {name: odd_value(rng) for name in rng.sample(names, rng.randrange(len(names) + 1))}
    body = json.dumps(question).encode()
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        place = rng.randrange(len(body) + 1)
        body = (
            body[:place]
            + rng.choice([b"", b"\xff", b"\0", b"{", b'"', b"9" * 400, odd_bytes(rng)])
            + body[place + rng.randrange(3) :]
        )
    return body


def odd_request(rng, port, tabs):
    """Bytes that are nearly a request, or not at all."""
    if rng.random() < 0.1:
        return odd_bytes(rng)
    method = rng.choice(
        [
            "GET",
            "POST",
            "POST",
            "POST",
            "HEAD",
            "PUT",
            "DELETE",
            "OPTIONS",
            "TRACE",
            "CONNECT",
            "GE T",
            "",
            "G\0ET",
            "x" * LONG,
        ]
    )
    path = rng.choice(
        [
            "/",
            "/app.js",
            "/api/session",
            *(f"/api/{tab}" for tab in tabs),
            "/../../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/lib/..%2f..%2fserver.py",
            "//",
            "*",
            "http://evil/",
            "/%00",
            "/%ff%fe",
            "/?" + "a" * LONG,
            "/" + "a/" * LONG,
            "",
            "/\x01",
            "/é",
        ]
    )
    headers = {
        "Host": rng.choice([f"127.0.0.1:{port}"] * 8 + ["evil", "", f"localhost:{port}", "\x01"]),
        "Content-Type": rng.choice(
            ["application/json"] * 6 + ["text/plain", "", "application/json; charset=utf-16"]
        ),
    }
    body = odd_body(rng, ["text", "tokenizer", "fail", "word", "n", "options"])
    length = rng.choice([len(body)] * 8 + [len(body) + 1, max(0, len(body) - 1), -1, "x", 10**18, ""])
    if rng.random() < 0.9:
        headers["Content-Length"] = length
    for _ in range(rng.choice([0, 0, 1, 2])):
        name = rng.choice(
            [
                "Transfer-Encoding",
                "Origin",
                "Sec-Fetch-Site",
                "Expect",
                "Upgrade",
                "Connection",
                "Cookie",
                "X" * LONG,
                "Content-Length",
                "Range",
                "Content-Encoding",
                "A b",
                "é",
            ]
        )
        headers[name] = rng.choice(
            [
                "chunked",
                "null",
                "cross-site",
                "100-continue",
                "websocket",
                "close",
                "upgrade",
                "x" * LONG,
                "\0",
                "gzip",
                "a\r\n b",
            ]
        )
    lines = [f"{method} {path} {rng.choice(['HTTP/1.1'] * 9 + ['HTTP/1.0', 'HTTP/9.9', ''])}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    ending = rng.choice(["\r\n"] * 9 + ["\n"])
    data = (ending.join(lines) + ending * 2).encode("utf-8", "surrogatepass") + body
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data) + 1)]
    return data * rng.choice([1, 1, 1, 2])


def exchange(port, data):
    """What comes back until the server has no more to say."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            parts = []
            while part := connection.recv(1 << 16):
                parts.append(part)
        except (ConnectionResetError, BrokenPipeError):
            return b""
    return b"".join(parts)


def resources():
    """Resident bytes and open files of this process."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("part", range(PARTS))
def test_malformed_requests(trial_server, caplog, part):
    rng = random.Random(part)
    tabs = ["trial", "second"]
    rounds = ROUNDS // PARTS

    def round_of(count):
        for _ in range(count):
            data = odd_request(rng, trial_server.port, tabs)
            got = exchange(trial_server.port, data)
            assert not any(word in got for word in FORBIDDEN), (data, got)
            assert b" 500 " not in got.split(b"\r\n")[0], (data, got)

    round_of(rounds // 3)
    before = resources()
    threads_before = threading.active_count()
    round_of(rounds - rounds // 3)
    after = resources()
    assert after[0] - before[0] < 16 << 20
    assert after[1] - before[1] <= 4
    assert threading.active_count() <= threads_before + 4
    alive = exchange(
        trial_server.port, f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{trial_server.port}\r\n\r\n".encode()
    )
    assert alive.startswith(b"HTTP/1.1 200 ")
    # Nothing of this is a fault of ours to report, also not that somebody hung up.
    assert caplog.records == []


def test_connections_that_say_nothing_do_not_stay(trial_tabs, session, monkeypatch):
    from byteloom.explorer import server as module

    monkeypatch.setattr(module, "_PATIENCE", 0.3)
    with Server(session) as running:
        silent = [socket.create_connection(("127.0.0.1", running.port), timeout=10) for _ in range(20)]
        for connection in silent:
            with connection:
                assert connection.recv(1) == b""


def test_half_a_second_request_does_not_stay(trial_tabs, session, monkeypatch):
    from byteloom.explorer import server as module

    monkeypatch.setattr(module, "_PATIENCE", 0.3)
    with Server(session) as running:
        whole = f"GET /api/session HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", running.port), timeout=10) as connection:
            for _ in range(2):  # a connection that is used stays
                connection.sendall(whole)
                got = b""
                while b'"text":' not in got:
                    got += connection.recv(1 << 16)
                time.sleep(0.6)
            connection.sendall(whole[:-2])
            begin = time.monotonic()
            assert connection.recv(1) == b""
            assert time.monotonic() - begin < 4  # uvicorn closes idle connections after five


def test_who_hangs_up_in_the_middle_is_no_fault(trial_server, caplog):
    head = f"POST /api/trial HTTP/1.1\r\nHost: 127.0.0.1:{trial_server.port}\r\n"
    head += "Content-Type: application/json\r\n"
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", trial_server.port), timeout=10) as connection:
            connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    time.sleep(0.5)
    assert caplog.records == []


@pytest.mark.parametrize("tab", TABS)
def test_odd_options_are_answered_in_words(tab):
    """A view gives records that JSON can hold, or an error in words, whatever its options are."""
    assert tab in assets.available_tabs()
    rng = random.Random(tab)
    options = assets.literal(assets.asset_text(f"tabs/{tab}.js"), "options")
    session = Session(limits=Limits(text_bytes=2000))
    for _ in range(300):
        request = {"text": rng.choice(["", "low lower", "日本語 🧵", odd_value(rng)]), **options}
        for name in rng.sample(["text", "tokenizer", *options], rng.randrange(1, len(options) + 3)):
            request[name] = odd_value(rng)
        result = answer(session, tab, request)
        json.dumps(result, allow_nan=False)
        if "error" in result:
            assert result["error"]["message"], request
            assert result["error"]["kind"] not in ("TypeError", "KeyError", "IndexError"), request
