"""What a variant of ChatML is: control tokens, names of roles, and the text around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from .errors import ChatError

__all__ = ["FORMATS", "ChatFormat", "role_name", "spelled", "surrogate_fault"]


@dataclass(frozen=True, kw_only=True)
class ChatFormat:
    r"""A variant of ChatML, as data.

    A turn is `start` + role + `role_end` + content + `end` + `turn_end`. A model knows the one format that
    it was trained with; `FORMATS` holds published ones by name, and `dataclasses.replace` makes a new one
    from an old one.

    Args:
        name: What messages of errors call it.
        start: The control token that begins a turn.
        end: The control token that ends it.
        bos: A control token that begins the conversation, before the first turn.
        role_end: Text between role and content.
        turn_end: Text after `end`.
        assistant: The role whose turns are trained, and which the generation prompt opens.
        system: The role that holds instructions.
        default_system: Content of a system turn that is put first where there are messages and the first of
            them is not of the role `system`.
        roles: The roles that messages may have, each with its name in the text. `None` allows every role.

    Raises:
        ChatError: parts that cannot work together, such as two equal control tokens.

    >>> from dataclasses import replace
    >>> from byteloom import chat
    >>> roles = {"human": "user", "gpt": "assistant"}
    >>> ours = replace(chat.FORMATS["chatml"], name="ours", roles=roles)
    >>> chat.render([{"role": "human", "content": "hi"}], format=ours)
    '<|im_start|>user\nhi<|im_end|>\n'
    """

    name: str
    start: str = "<|im_start|>"
    end: str = "<|im_end|>"
    bos: str | None = None
    role_end: str = "\n"
    turn_end: str = "\n"
    assistant: str = "assistant"
    system: str = "system"
    default_system: str | None = None
    roles: Mapping[str, str] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.roles is not None:
            if not isinstance(self.roles, Mapping):
                kind = type(self.roles).__name__
                raise ChatError(f"chat format: 'roles' must map roles to their names, not be a {kind}")
            object.__setattr__(self, "roles", MappingProxyType(dict(self.roles)))
        for part, value in self.to_dict().items():
            if fault := _part_fault(part, value):
                raise ChatError(f"chat format: {part!r} {fault}")
        if fault := self._fault():
            raise ChatError(f"chat format {self.name!r}: {fault}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)  # a mapping proxy cannot be pickled

    @property
    def control_tokens(self) -> tuple[str, ...]:
        """The control tokens, `bos` first where there is one.

        >>> from byteloom import chat
        >>> chat.FORMATS["chatml"].control_tokens
        ('<|im_start|>', '<|im_end|>')
        """
        return (self.start, self.end) if self.bos is None else (self.bos, self.start, self.end)

    def to_dict(self) -> dict[str, Any]:
        """The format as values of JSON."""
        data = {part.name: getattr(self, part.name) for part in fields(self)}
        data["roles"] = None if self.roles is None else dict(self.roles)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ChatFormat:
        """A format from what `to_dict` gave; parts that are left out have their defaults.

        Raises:
            ChatError: an unknown part, or one that cannot be.

        >>> from byteloom import chat
        >>> chat.ChatFormat.from_dict({"name": "short", "start": "<a>", "end": "<b>"}).control_tokens
        ('<a>', '<b>')
        """
        if not isinstance(data, Mapping):
            raise ChatError(f"a chat format is a mapping of its parts, not a {type(data).__name__}")
        known = [part.name for part in fields(cls)]
        for name in data:
            if name not in known:
                raise ChatError(f"a chat format has no part {name!r}; it has {', '.join(known)}")
        if "name" not in data:
            raise ChatError("a chat format needs a 'name'")
        return cls(**data)

    def _fault(self) -> str | None:
        controls = self.control_tokens
        if len(set(controls)) < len(controls):
            return f"its control tokens {list(controls)} are not distinct"
        for part in ("role_end", "turn_end"):
            if found := spelled(getattr(self, part), controls):
                return f"{part!r} spells the control token {found!r}"
        names = [self.assistant, self.system]
        if self.roles is not None:
            names += self.roles.values()
            if self.assistant not in self.roles.values():
                return f"none of its roles has the name of 'assistant', {self.assistant!r}"
        for name in names:
            if fault := _role_fault(self, name):
                return f"the role {name!r} {fault}"
        return None


def role_name(form: ChatFormat, role: str) -> str:
    """The name of `role` in the text of `form`.

    Raises:
        ValueError: the format has no such role, or it could not be told from other text.
    """
    if form.roles is None:
        if fault := _role_fault(form, role):
            raise ValueError(fault)
        return role
    if role not in form.roles:
        raise ValueError(f"is none of the format {form.name!r}, which has {', '.join(map(repr, form.roles))}")
    return form.roles[role]


def _role_fault(form: ChatFormat, name: str) -> str | None:
    """Why `name` cannot stand as a role in the text."""
    if not name:
        return "is empty"
    if "\n" in name or "\r" in name:
        return "holds a line break; a role is one line"
    if form.role_end in name:
        return f"holds {form.role_end!r}, which ends a role"
    if found := spelled(name, form.control_tokens):
        return f"spells the control token {found!r}"
    return None


def _part_fault(part: str, value: object) -> str | None:
    """Why a part of a format cannot be."""
    if part == "roles":
        pairs = value.items() if isinstance(value, dict) else ()
        faults = (_part_fault("role", one) for pair in pairs for one in pair)
        return next((fault for fault in faults if fault), None)
    if value is None and part in ("bos", "default_system"):
        return None
    if not isinstance(value, str):
        return f"must be a string, not {type(value).__name__}"
    if not value and part not in ("turn_end", "default_system", "role"):
        return "is empty"
    return surrogate_fault(value)


def surrogate_fault(text: str) -> str | None:
    """Where a lone surrogate is in `text`, if there is one."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        return f"holds a lone surrogate, U+{code:04X}, at index {error.start}; put U+FFFD in its place"
    return None


def spelled(text: str, tokens: Iterable[str]) -> str | None:
    """The first of `tokens` that is in `text`."""
    return next((token for token in tokens if token in text), None)


_PUBLISHED = (
    # OpenAI's, which no default system text and no list of roles belongs to.
    ChatFormat(name="chatml"),
    # Qwen1.5-*-Chat: a text without a full stop.
    ChatFormat(name="qwen1.5", default_system="You are a helpful assistant"),
    # Qwen2-*-Instruct.
    ChatFormat(name="qwen2", default_system="You are a helpful assistant."),
    # Qwen2.5-*-Instruct without tools. Its template knows these roles, and drops turns of any other.
    ChatFormat(
        name="qwen2.5",
        default_system="You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
        roles={"system": "system", "user": "user", "assistant": "assistant"},
    ),
    # SmolLM2-*-Instruct.
    ChatFormat(
        name="smollm2",
        default_system="You are a helpful AI assistant named SmolLM, trained by Hugging Face",
    ),
    # Yi-*-Chat. (Yi-1.5 has its system text before the first turn, outside of control tokens.)
    ChatFormat(name="yi"),
    # internlm2-chat-*.
    ChatFormat(name="internlm2", bos="<s>"),
)

FORMATS: Mapping[str, ChatFormat] = MappingProxyType({form.name: form for form in _PUBLISHED})
"""Published formats by name, each as the `chat_template` of its models has it."""
