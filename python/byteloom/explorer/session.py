"""What a running explorer knows: its tokenizers, its limits, and results that are worth keeping.

A view is `view(session, request)`. The request is what the page sent: `text`, `tokenizer` and the options of
the tab, all unchecked. The functions here check them and raise `ViewError` with words for the person who
reads the page.
"""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError  # Python 3.10 has another class of its own
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, TypeVar, cast

import byteloom

__all__ = [
    "Limits",
    "NamedTokenizer",
    "Session",
    "ViewError",
    "choice",
    "flag",
    "integer",
    "number",
    "string",
]

T = TypeVar("T")

BUILT_IN = ("built-in, English", "built-in, 13 languages")
CHAT_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


class ViewError(ValueError):
    """A request that cannot be answered; its message is for the person who reads the page."""


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for."""

    text_bytes: int = 200_000
    """The longest text, in bytes of UTF-8."""
    detail_characters: int = 10_000
    """Above this many characters a view gives a summary and the details of a beginning."""
    body_bytes: int = 1_000_000
    """The longest request."""
    seconds: float = 2.0
    """The longest time of a view."""


@dataclass(frozen=True)
class NamedTokenizer:
    """A tokenizer under the name that the page shows."""

    name: str
    tokenizer: byteloom.Tokenizer
    built_in: bool = False

    def summary(self) -> dict[str, Any]:
        """What the page's menu and the head of a tab say about it."""
        tok = self.tokenizer
        return {
            "name": self.name,
            "built_in": self.built_in,
            "vocab_size": tok.vocab_size,
            "pattern": tok.pattern_name,
            "special_tokens": dict(tok.special_tokens),
            "fingerprint": tok.fingerprint,
        }


class Session:
    """The tokenizers of one explorer, its limits and its caches. Views may run in several threads at once.

    Args:
        tokenizers: The user's tokenizers by name; two small built-in ones follow them.
        text: The text that the page begins with.
        limits: How much a request may ask for.

    >>> session = Session()
    >>> [named.name for named in session.tokenizers]
    ['built-in, English', 'built-in, 13 languages']
    >>> session.tokenizer({"tokenizer": 1}).name
    'built-in, 13 languages'
    """

    def __init__(
        self,
        tokenizers: Iterable[tuple[str, byteloom.Tokenizer]] = (),
        *,
        text: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        own = [NamedTokenizer(name, tokenizer) for name, tokenizer in tokenizers]
        self.tokenizers: tuple[NamedTokenizer, ...] = (*own, *_built_in())
        names = [named.name for named in self.tokenizers]
        if len(set(names)) != len(names):
            raise ValueError(f"two tokenizers have one name: {', '.join(names)}")
        self.text_at_start = text if text is not None else first_text()
        self.limits = limits or Limits()
        self.patience: float | None = None
        """Seconds that `facts` waits; `None` for as long as it takes. A server has a limit to keep."""
        self._kept: OrderedDict[Hashable, object] = OrderedDict()
        self._facts: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._lock = threading.Lock()
        self._todo: deque[tuple[Hashable, Future[Any], Callable[[], Any]]] = deque()
        self._works = False

    def describe(self) -> dict[str, Any]:
        """What the page needs to know before its first question."""
        return {
            "version": byteloom.__version__,
            "tokenizers": [named.summary() for named in self.tokenizers],
            "patterns": byteloom.pattern_names(),
            "limits": asdict(self.limits),
            "text": self.text_at_start,
        }

    # What a request asks for.

    def text(self, request: dict[str, Any]) -> str:
        """The text of a request.

        Raises:
            ViewError: if there is none, it is too long, or holds half a surrogate pair.
        """
        text = request.get("text", "")
        return self.checked_text(text, "text")

    def checked_text(self, text: object, name: str) -> str:
        """`text` if it is a text within the limit; `name` is what the message calls it."""
        if not isinstance(text, str):
            raise ViewError(f"{name} must be a string, not {_kind(text)}")
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            raise ViewError(
                f"{name} holds half a surrogate pair (U+{code:04X}) at character {error.start}, "
                "which is no character; remove it"
            ) from None
        if size > self.limits.text_bytes:
            raise ViewError(
                f"{name} has {size:,} bytes, and the explorer takes {self.limits.text_bytes:,}; "
                "use a part of it, or the command line for the whole"
            )
        return text

    def tokenizer(self, request: dict[str, Any]) -> NamedTokenizer:
        """The tokenizer that a request names: by its place or its name, the first by default."""
        return self.named(request.get("tokenizer", 0))

    def named(self, which: object) -> NamedTokenizer:
        """A tokenizer by its place from 0, or by its name."""
        if isinstance(which, int) and not isinstance(which, bool) and 0 <= which < len(self.tokenizers):
            return self.tokenizers[which]
        for named in self.tokenizers:
            if named.name == which:
                return named
        names = ", ".join(named.name for named in self.tokenizers)
        raise ViewError(f"there is no tokenizer {_shown(which)}; there are: {names}")

    def is_long(self, text: str) -> bool:
        """Whether a text is one for a summary rather than for every detail."""
        return len(text) > self.limits.detail_characters

    # What is worth keeping.

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """`make()`, or what it gave for the same key before; the 32 last used are kept.

        Two threads may make the same thing at once, so it must not matter which of the two is kept.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
        value = make()
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > 32:  # noqa: PLR2004 - said above
                self._kept.popitem(last=False)
        return value

    def facts(self, key: Hashable, make: Callable[[], T], *, wait: bool = True) -> T | None:
        """What belongs to tokenizers and to no text, made once; the 64 last used are kept.

        A vocabulary of 200,000 tokens takes seconds to read: more than a view has. So a thread makes one
        after the other, and goes on after the view gave up.

        Args:
            key: What it is of. There must be few: tokenizers and pairs of them, nothing of a request.
            make: Makes it. It must not ask for facts itself.
            wait: Whether to wait for it at all.

        Returns:
            The value, or `None` where it is not there within `patience`.
        """
        inline = self.patience is None
        with self._lock:
            future = self._facts.get(key)
            new = future is None
            if future is None:
                future = self._facts[key] = Future()
                if not inline:
                    self._todo.append((key, future, make))
            self._facts.move_to_end(key)
            for old in [old for old, known in self._facts.items() if known.done()]:
                if len(self._facts) <= 64:  # noqa: PLR2004 - said above; a view needs 23 at most
                    break
                if old != key:
                    del self._facts[old]
            start = not inline and bool(self._todo) and not self._works
            self._works = self._works or start
        if new and inline:
            self._make(key, future, make)
        if start:
            # One thread: two would take longer, each of them and the views as well. As a daemon it does not
            # hold up the end of the program.
            threading.Thread(target=self._work, name="byteloom-facts", daemon=True).start()
        try:
            return cast("T", future.result(self.patience if wait or self.patience is None else 0))
        except FutureTimeoutError:
            return None

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._todo:
                    self._works = False
                    return
                job = self._todo.popleft()
            self._make(*job)

    def _make(self, key: Hashable, future: Future[Any], make: Callable[[], Any]) -> None:
        try:
            value = make()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            with self._lock:
                self._facts.pop(key, None)
            future.set_exception(error)
        else:
            future.set_result(value)

    def unhurried(self) -> Session:
        """The same session and its caches, for who waits as long as it takes: no answer of it is pending."""
        session = copy.copy(self)
        session.patience = None
        return session

    def entropy_model(
        self, training_text: str | None = None, *, order: int = 4, **options: Any
    ) -> byteloom.ByteEntropyModel:
        """A byte entropy model trained on a text; on the built-in sample for `None`.

        Args:
            training_text: What to train on.
            order: The order of the model.
            options: The other options of `byteloom.ByteEntropyModel`.
        """
        key = ("entropy", training_text, order, *sorted(options.items()))
        return self.remember(
            key,
            lambda: byteloom.ByteEntropyModel(order, **options).train(
                english_sample() if training_text is None else training_text
            ),
        )

    def strip(self, named: NamedTokenizer, text: str) -> dict[str, Any]:
        """The figures that stand above every tab."""
        return self.remember(("strip", named.name, text), lambda: _strip(named.tokenizer, text))


def _strip(tok: byteloom.Tokenizer, text: str) -> dict[str, Any]:
    ids = tok.encode_ordinary(text)
    data = text.encode()
    return {
        "characters": len(text),
        "bytes": len(data),
        "pretokens": len(tok.pretokens(text)),
        "tokens": len(ids),
        "bytes_per_token": len(data) / len(ids) if ids else None,
        "round_trip": tok.decode_bytes(ids) == data,
        "unknown_bytes": _unknown_bytes(tok, text),
    }


def _unknown_bytes(tok: byteloom.Tokenizer, text: str) -> int:
    """Bytes of characters that became an unknown token; a vocabulary of bytes has none."""
    if tok.info()["alphabet"] == "bytes":
        return 0
    return sum(
        len(symbol.bytes)
        for part in tok.explain_stream(text, disallowed_special=())
        for symbol in getattr(part, "symbols", ())
        if symbol.symbol_kind == "unknown"
    )


# Options of a request.


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"  # noqa: PLR2004 - a line of a message


def string(request: dict[str, Any], name: str, default: str = "", *, longest: int = 1_000) -> str:
    """A short text option."""
    value = request.get(name, default)
    if not isinstance(value, str):
        raise ViewError(f"{name} must be a string, not {_kind(value)}")
    if len(value) > longest:
        raise ViewError(f"{name} has {len(value):,} characters; at most {longest:,} are taken")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ViewError(f"{name} holds half a surrogate pair, which is no character")
    return value


def choice(request: dict[str, Any], name: str, choices: Sequence[str], default: str | None = None) -> str:
    """One of several words; the first by default.

    >>> choice({"rule": "global"}, "rule", ["global", "monotonic"])
    'global'
    """
    value = request.get(name, choices[0] if default is None else default)
    if value not in choices or not isinstance(value, str):
        raise ViewError(f"{name} must be one of {', '.join(choices)}, not {_shown(value)}")
    return value


def flag(request: dict[str, Any], name: str, *, default: bool = False) -> bool:
    """A yes or no."""
    value = request.get(name, default)
    if not isinstance(value, bool):
        raise ViewError(f"{name} must be true or false, not {_shown(value)}")
    return value


def integer(request: dict[str, Any], name: str, default: int, *, least: int, most: int) -> int:
    """A whole number within bounds.

    >>> integer({"order": 3}, "order", 4, least=1, most=8)
    3
    """
    value = request.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ViewError(f"{name} must be a whole number, not {_shown(value)}")
    if not least <= value <= most:
        raise ViewError(f"{name} must be from {least:,} to {most:,}, not {_shown(value)}")
    return value


def number(request: dict[str, Any], name: str, default: float, *, least: float, most: float) -> float:
    """A number within bounds."""
    value = request.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ViewError(f"{name} must be a number, not {_shown(value)}")
    if not least <= value <= most:  # also what is no number
        raise ViewError(f"{name} must be from {least:g} to {most:g}, not {_shown(value)}")
    return float(value)


# What comes with the package.


def english_sample() -> str:
    """A page of English, written for byteloom: what the built-in tokenizer and model are trained on."""
    return files("byteloom").joinpath("data/explorer.txt").read_text(encoding="utf-8")


def first_text() -> str:
    """The text that the page begins with."""
    return "The weavers don't know the lowest thread: 2026 looms, naïve 日本語 🧵!"


def _built_in() -> tuple[NamedTokenizer, NamedTokenizer]:
    english, many = BUILT_IN
    texts = [language.text for language in byteloom.languages.parallel_sample()]
    return (
        NamedTokenizer(english, _small([english_sample()], 512), built_in=True),
        NamedTokenizer(many, _small([english_sample(), *texts], 1_024), built_in=True),
    )


def _small(texts: list[str], vocab_size: int) -> byteloom.Tokenizer:
    return byteloom.Tokenizer.train(
        texts, vocab_size=vocab_size, pattern="cl100k", special_tokens=list(CHAT_TOKENS), eos=CHAT_TOKENS[0]
    )
