"""Tokenizers as Python objects: they never change, importing is light, and errors form one tree."""

import pickle

import pytest

import byteloom as bl
from helpers import run_python


def test_a_tokenizer_never_changes(tok):
    for name in ("vocab_size", "pattern", "merges", "anything", "encode"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(tok, name, 3)
    with pytest.raises((AttributeError, TypeError)):
        del tok.vocab_size


def test_a_tokenizer_cannot_be_made_from_nothing():
    for arguments in ((), (3,), ("x",), (None,)):
        with pytest.raises(TypeError):
            bl.Tokenizer(*arguments)


def test_a_tokenizer_is_a_key(tok):
    assert {tok: 1}[pickle.loads(pickle.dumps(tok))] == 1


def test_errors_form_one_tree():
    parents = {
        bl.TextError: ValueError,
        bl.VocabularyError: ValueError,
        bl.FormatError: ValueError,
        bl.PatternError: ValueError,
        bl.SpecialTokenError: ValueError,
        bl.TrainingError: ValueError,
        bl.ChatError: ValueError,
        bl.PatchingError: ValueError,
        bl.UnknownTokenError: KeyError,
    }
    for error, parent in parents.items():
        assert issubclass(error, bl.ByteloomError)
        assert issubclass(error, parent)
        assert error.__doc__
    assert issubclass(bl.TrainingWarning, UserWarning)


def test_errors_survive_pickle(tok):
    for call in (lambda: tok.decode([999]), lambda: tok.encode("\ud800"), lambda: bl.Tokenizer.train("", 3)):
        with pytest.raises(bl.ByteloomError) as caught:
            call()
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value)
        assert str(again) == str(caught.value)


def test_errors_raised_by_the_engine_are_the_public_classes():
    tok = bl.Tokenizer.train("low lower", 257)
    with pytest.raises(bl.UnknownTokenError) as caught:
        tok.decode([97, 300])
    assert type(caught.value) is bl.UnknownTokenError
    assert caught.value.position == 1
    with pytest.raises(KeyError):
        tok.decode([300])
    with pytest.raises(ValueError, match="surrogate"):
        tok.encode("\udc00")


@pytest.mark.parametrize(
    "module", ["numpy", "tqdm", "click", "tiktoken", "tokenizers", "asyncio", "multiprocessing"]
)
def test_import_loads_nothing_heavy(module):
    assert run_python(f"import sys, byteloom; print({module!r} in sys.modules)").strip() == "False"


def test_training_and_lists_need_no_numpy():
    code = """
        import sys, byteloom as bl
        tok = bl.Tokenizer.train("low lower", 257)
        assert tok.decode(tok.encode("low")) == "low"
        print("numpy" in sys.modules)
    """
    assert run_python(code).strip() == "False"


def test_public_names_are_there():
    for name in bl.__all__:
        assert getattr(bl, name) is not None
    assert bl.__version__.count(".") >= 2


def test_every_public_method_is_documented():
    for name in dir(bl.Tokenizer):
        if not name.startswith("_"):
            assert getattr(bl.Tokenizer, name).__doc__, name
    for name in ("feed", "flush"):
        assert getattr(bl.StreamDecoder, name).__doc__, name
    for name in bl.__all__:
        if not name.startswith("_"):
            assert getattr(bl, name).__doc__, name
