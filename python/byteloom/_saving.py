"""What keeps a tokenizer: its methods that write files."""

from __future__ import annotations

import os

from . import _formats, _native

__all__ = ["SavingTokenizer"]

# Type checkers take it for true; importing `typing` costs more than the rest of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class SavingTokenizer(_native.NativeTokenizer):
    """The methods of `Tokenizer` that write, and the facts that came with it and go into files."""

    __slots__ = ()

    def to_bytes(self) -> bytes:
        """The tokenizer as the bytes of a native file: JSON in UTF-8."""
        return self._to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer as byteloom's own JSON.

        The file is written beside its place, synced and renamed, so that a reader never sees half of it.

        Raises:
            OSError: the file cannot be written; an older one stays as it was.
        """
        _formats.write(path, self._to_json())

    def save_tiktoken(self, path: str | os.PathLike[str], *, lossy: bool = False) -> None:
        """Write a `.tiktoken` rank file.

        Such a file holds tokens and ranks only. A pattern and special tokens are losses: they are listed and
        refused unless `lossy` is true; whoever reads the file must be told them.

        Raises:
            FormatError: something would be lost, or ranks alone would not give the same ids.

        >>> import byteloom as bl, pathlib, tempfile
        >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258, pattern="gpt2")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low.tiktoken")
        ...     tok.save_tiktoken(path, lossy=True)
        ...     bl.Tokenizer.from_tiktoken(path, pattern="gpt2").encode("lowest") == tok.encode("lowest")
        True
        """
        data, losses = self._to_tiktoken()
        losses += self._template_loss()
        _formats.refuse_losses("A .tiktoken file", losses, lossy=lossy)
        _formats.write(path, data)

    def save_huggingface(
        self,
        path: str | os.PathLike[str],
        *,
        lossy: bool = False,
        chat_template: str | None = None,
        merges_format: str = "pairs",
    ) -> None:
        """Write a `tokenizer.json`, or a folder that `transformers.AutoTokenizer` reads.

        Args:
            path: A name that ends in `.json` is the file alone; any other is a folder, which gets
                `tokenizer.json`, `tokenizer_config.json` with the special tokens and their roles, and the
                chat template.
            lossy: Write it even where something is lost.
            chat_template: A Jinja template, written as `chat_template.jinja`; for folders only. By default
                the one that the tokenizer came with.
            merges_format: `"pairs"`, or `"legacy"`: strings, as `tokenizers` before 0.20 needs them.

        Raises:
            FormatError: something would be lost; the message lists it.
            ValueError: another `merges_format`, or a chat template without a folder.

        >>> import byteloom as bl, pathlib, tempfile
        >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258, special_tokens=["<|end|>"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save_huggingface(folder)
        ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
        ['tokenizer.json', 'tokenizer_config.json']
        """
        if merges_format not in ("pairs", "legacy"):
            message = f'merges_format must be "pairs" or "legacy", not {merges_format!r}'
            raise ValueError(message)
        alone = os.fspath(path).endswith(".json")
        data, losses = self._to_huggingface(merges_format == "legacy", not alone)
        losses += self._template_loss() if alone else []
        _formats.refuse_losses("tokenizer.json", losses, lossy=lossy)
        if alone:
            if chat_template is not None:
                message = "a chat template needs a folder to stand in; give a path that does not end in .json"
                raise ValueError(message)
            _formats.write(path, data)
            return
        os.makedirs(path, exist_ok=True)  # noqa: PTH103
        _formats.write(os.path.join(path, "tokenizer.json"), data)  # noqa: PTH118
        if chat_template is None:
            chat_template = self.chat_template
        config = self._huggingface_config(chat_template)
        _formats.write(os.path.join(path, "tokenizer_config.json"), config)  # noqa: PTH118
        if chat_template is not None:
            template = os.path.join(path, "chat_template.jinja")  # noqa: PTH118
            _formats.write(template, chat_template.encode())

    def save_gpt2_files(self, folder: str | os.PathLike[str], *, lossy: bool = False) -> None:
        """Write GPT-2's two files, `vocab.json` and `merges.txt`, into a folder.

        Raises:
            FormatError: something would be lost, such as a pattern that is not GPT-2's; the message lists it.

        >>> import byteloom as bl, tempfile
        >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258, pattern="gpt2")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save_gpt2_files(folder)
        ...     bl.Tokenizer.load(folder) == tok
        True
        """
        vocab, merges, losses = self._to_gpt2_files()
        losses += self._template_loss()
        _formats.refuse_losses("vocab.json with merges.txt", losses, lossy=lossy)
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        _formats.write(os.path.join(folder, "vocab.json"), vocab)  # noqa: PTH118
        _formats.write(os.path.join(folder, "merges.txt"), merges)  # noqa: PTH118

    @property
    def chat_template(self) -> str | None:
        """The Jinja template that came with a Hugging Face folder, or `None`.

        It is kept in native files and written by `save_huggingface`; byteloom does not run it.
        """
        template: str | None = self._facts().get("huggingface", {}).get("chat_template")
        return template

    def _template_loss(self) -> list[str]:
        return [] if self.chat_template is None else ["chat template: it stands in a folder only"]

    def _facts(self) -> dict[str, Any]:
        import json  # noqa: PLC0415 - rarely needed, and not free to import

        facts: dict[str, Any] = json.loads(self._metadata())
        return facts
