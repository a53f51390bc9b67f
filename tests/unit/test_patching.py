"""The entropy model, patchers, thresholds and reports, one method after the other."""

import copy
import json
import math
import pickle
import threading

import numpy as np
import pytest

import byteloom as bl
import patching_reference as reference
from byteloom import patching
from byteloom.patching import ByteEntropyModel, Patcher
from helpers import INVALID_BYTES, SAMPLES, raises_cleanly

TEXT = (
    "A patch is cut where the next byte is hard to foresee; the rest of a word follows from its start.\n"
    "Patches of a text, joined, are the text. Numbers such as 1024 and names such as Königsberg are hard.\n"
) * 12
OTHER = "The model of bytes reads 日本語 as well as words; \x00 and \x7f are bytes like any other.\n" * 7
THETA = 1.7


@pytest.fixture(scope="module")
def model():
    return ByteEntropyModel(order=4).train(TEXT)


def texts():
    return [text.encode() for text in SAMPLES] + INVALID_BYTES + [TEXT.encode()[:700], OTHER.encode()]


def patchers(model, tok):
    return {
        "global": model.patcher(theta=THETA, units="bits"),
        "monotonic": model.patcher(rise=0.3, units="bits"),
        "both": model.patcher(theta=1.0, rise=0.1, units="bits", max_patch_length=9),
        "reset": model.patcher(theta=2.5, units="bits", reset_on=b"\n;"),
        "space": Patcher.space(),
        "space, limited": Patcher.space(max_patch_length=3),
        "static": Patcher.static(5),
        "byte": Patcher.byte(),
        "bpe": Patcher.bpe(tok),
        "bpe, limited": Patcher.bpe(tok, max_patch_length=2),
    }


KINDS = [
    "global", "monotonic", "both", "reset", "space", "space, limited", "static", "byte", "bpe",
    "bpe, limited",
]  # fmt: skip


@pytest.fixture(params=KINDS)
def patcher(request, model, tok):
    return patchers(model, tok)[request.param]


# The model.


@pytest.mark.parametrize("smoothing", ["backoff", "witten-bell"])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6, 8])
def test_entropies_and_distributions_are_those_of_the_reference(order, smoothing):
    model = ByteEntropyModel(order, smoothing=smoothing).train([TEXT, OTHER])
    plain = reference.Model(order, smoothing=smoothing).train(TEXT.encode(), OTHER.encode())
    for text in [TEXT.encode()[:300], OTHER.encode()[:200], *INVALID_BYTES]:
        found = model.entropies(text)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, plain.entropies(text), rtol=0, atol=1e-12)
    for history in (b"", b"t", b"the", b"the next", b"zzzzthe", b"\xff\x00\xff", OTHER.encode()[:60]):
        found = model.distribution(history)
        assert found.shape == (256,)
        assert abs(found.sum() - 1) < 1e-12
        np.testing.assert_allclose(found, plain.distribution(history), rtol=0, atol=1e-12)
    for text in (b"", b"a", TEXT.encode()[50:250]):
        assert model.bits_per_byte(text) == pytest.approx(plain.bits_per_byte(text), abs=1e-12)


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.5, 3.0])
def test_alpha_is_that_of_the_reference(alpha):
    model, plain = ByteEntropyModel(3, alpha).train(TEXT), reference.Model(3, alpha).train(TEXT.encode())
    text = TEXT.encode()[:200]
    np.testing.assert_allclose(model.entropies(text), plain.entropies(text), rtol=0, atol=1e-12)
    assert model.alpha == alpha


def test_an_untrained_model_knows_nothing():
    for smoothing in ("backoff", "witten-bell"):
        model = ByteEntropyModel(smoothing=smoothing)
        np.testing.assert_allclose(model.entropies("any"), 8.0, rtol=0, atol=1e-12)
        assert model.bits_per_byte("any") == pytest.approx(8.0, abs=1e-12)
        assert model.info()["documents"] == 0
    assert ByteEntropyModel().entropies("").shape == (0,)


def test_every_kind_of_document_is_counted_apart(tmp_path):
    path = tmp_path / "b.txt"
    path.write_bytes(b"second\xff")
    documents = ["first", path, b"third \xfe", bytearray(b"4th"), ""]
    expected = reference.Model().train(b"first", b"second\xff", b"third \xfe", b"4th")
    one = ByteEntropyModel().train([bytes(d) if isinstance(d, bytearray) else d for d in documents])
    apart = ByteEntropyModel().train("first").update(path).update(b"third \xfe").update("4th").update("")
    assert one == apart
    np.testing.assert_allclose(one.entropies("firsecthi"), expected.entropies(b"firsecthi"), atol=1e-12)
    assert one.info()["documents"] == 5
    assert ByteEntropyModel().train(path) == ByteEntropyModel().train([b"second\xff"])
    assert ByteEntropyModel().train(d for d in ("a", "b")) == ByteEntropyModel().train(["a", "b"])


def test_train_starts_afresh_and_update_adds():
    model = ByteEntropyModel()
    assert model.train(TEXT) is model
    assert model.update(OTHER) is model
    assert model == ByteEntropyModel().train([TEXT, OTHER])
    shared = copy.copy(model)
    assert shared.update("more").to_bytes() == ByteEntropyModel().train([TEXT, OTHER, "more"]).to_bytes()
    assert model.train(OTHER) == ByteEntropyModel().train(OTHER)


def test_what_fails_changes_nothing(tmp_path):
    model = ByteEntropyModel().train(TEXT)
    before = model.to_bytes()
    bad = tmp_path / "latin.txt"
    bad.write_bytes(b"caf\xe9")
    for work in (model.train, model.update):
        with pytest.raises(TypeError, match="1"):
            work(["fine", 7])
        with pytest.raises(OSError, match=r"gone\.txt"):
            work(["fine", tmp_path / "gone.txt"])
        with pytest.raises(bl.TextError, match=r"latin\.txt"):
            work(["fine", bad], errors="strict")
        with pytest.raises(bl.TextError):
            work(["fine", "\ud800"])
        with raises_cleanly(ValueError):
            work("fine", errors="ignore")
    with pytest.raises(bl.PatchingError):
        model.merge(ByteEntropyModel(order=3))
    assert model.to_bytes() == before


def test_errors_of_files(tmp_path):
    bad = tmp_path / "latin.txt"
    bad.write_bytes(b"caf\xe9 caf\xe9")
    assert ByteEntropyModel().train(bad) == ByteEntropyModel().train(b"caf\xe9 caf\xe9")
    assert ByteEntropyModel().train(bad, errors="replace") == ByteEntropyModel().train("caf\ufffd caf\ufffd")


def test_merge_is_training_on_both():
    whole = ByteEntropyModel().train([TEXT, OTHER])
    first, second = ByteEntropyModel().train(TEXT), ByteEntropyModel().train(OTHER)
    kept = second.to_bytes()
    assert first.merge(second) is first
    assert first == whole
    assert first.to_bytes() == whole.to_bytes()
    assert second.to_bytes() == kept
    assert ByteEntropyModel().train(TEXT).merge(ByteEntropyModel()) == ByteEntropyModel().train(TEXT)
    twice = ByteEntropyModel().train(TEXT)
    assert twice.merge(twice) == ByteEntropyModel().train([TEXT, TEXT])


def test_only_models_of_one_order_merge():
    with pytest.raises(bl.PatchingError, match="order 4 and 3"):
        ByteEntropyModel().merge(ByteEntropyModel(order=3))
    with pytest.raises(TypeError, match="str"):
        ByteEntropyModel().merge("a model")
    # Counts are counts, whatever is made of them: the other's options do not come along.
    for other in ({"alpha": 0.5}, {"smoothing": "witten-bell"}):
        merged = ByteEntropyModel().train(TEXT).merge(ByteEntropyModel(**other).train(OTHER))
        assert merged == ByteEntropyModel().train([TEXT, OTHER])


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"order": 0}, "0"), ({"order": -1}, "-1"), ({"order": 9}, "9"),
        ({"alpha": 0}, "0"), ({"alpha": -0.1}, "-0.1"), ({"alpha": math.nan}, "(?i)nan"),
        ({"alpha": math.inf}, "(?i)inf"), ({"smoothing": "kneser-ney"}, "kneser-ney"),
    ],
)  # fmt: skip
def test_impossible_options_say_what_was_given(options, given):
    with pytest.raises(bl.PatchingError, match=given):
        ByteEntropyModel(**options)


def test_options_of_another_type():
    for options in ({"order": 2.5}, {"order": "4"}, {"alpha": "much"}, {"alpha": True}, {"smoothing": 3}):
        with pytest.raises(TypeError, match=f"{next(iter(options))} must be"):
            ByteEntropyModel(**options)
    for options in ({"alpha": 10**400}, {"alpha": 1e-320}, {"memory_limit": 2**70}):
        with pytest.raises(bl.PatchingError, match=f"^{next(iter(options))} .{{20,90}}$"):
            ByteEntropyModel(**options)
    model = ByteEntropyModel()
    for wrong in (5, None, ["text"]):
        with pytest.raises(TypeError):
            model.entropies(wrong)
        with pytest.raises(TypeError):
            Patcher.space().lengths(wrong)
    for work in (model.entropies, model.distribution, model.bits_per_byte, Patcher.space().patches):
        with pytest.raises(bl.TextError, match=r"U\+DFFF, at character 2"):
            work("ab\udfff")
    with pytest.raises(bl.TextError, match=r"text 1 .*U\+D800"):
        Patcher.space().batch(["fine", "\ud800"])
    with pytest.raises(bl.TextError, match="encode it yourself"):
        Patcher.space().stream().feed("\ud800")


def test_threads_change_nothing():
    documents = [TEXT[start : start + 40 + start % 90] for start in range(0, len(TEXT), 37)]
    expected = ByteEntropyModel().train(documents, threads=1)
    for threads in (2, 3, 8):
        assert ByteEntropyModel().train(documents, threads=threads).to_bytes() == expected.to_bytes()
        assert ByteEntropyModel().train("".join(documents), threads=threads) == ByteEntropyModel().train(
            "".join(documents), threads=1
        )


def test_progress_is_told_to_a_callable():
    calls = []
    ByteEntropyModel().train([TEXT, OTHER], progress=calls.append)
    assert calls[-1]["done"] == len((TEXT + OTHER).encode())
    assert {"stage", "done", "total", "seconds"} <= calls[-1].keys()
    with pytest.raises(TypeError, match="progress"):
        ByteEntropyModel().train(TEXT, progress="yes")


def test_a_failing_callable_stops_the_training():
    def fail(_):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        ByteEntropyModel().train(TEXT, progress=fail)


def test_save_load_and_pickle_keep_all(tmp_path, model):
    path = tmp_path / "model.entropy"
    model.save(path)
    model.save(path)
    assert path.read_bytes() == model.to_bytes() == ByteEntropyModel().train(TEXT).to_bytes()
    for again in (
        ByteEntropyModel.load(path),
        ByteEntropyModel.load(str(path)),
        ByteEntropyModel.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        copy.copy(model),
        copy.deepcopy(model),
    ):
        assert again == model
        assert again.fingerprint() == model.fingerprint()
        assert again.info() == model.info()
        assert again.entropies(OTHER).tolist() == model.entropies(OTHER).tolist()
        assert again.update("more") != model


def test_options_are_kept_in_files():
    for model in (ByteEntropyModel(2, 0.25), ByteEntropyModel(6, smoothing="witten-bell").train(OTHER)):
        again = ByteEntropyModel.from_bytes(model.to_bytes())
        assert (again.order, again.alpha, again.smoothing) == (model.order, model.alpha, model.smoothing)
        assert again.entropies(TEXT).tolist() == model.entropies(TEXT).tolist()


def test_a_damaged_file_is_refused(tmp_path, tok):
    path = tmp_path / "model.entropy"
    whole = ByteEntropyModel(3).train("abracadabra").to_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        broken = bytearray(whole)
        broken[place] ^= 0x40
        with raises_cleanly(bl.FormatError):
            ByteEntropyModel.from_bytes(bytes(broken))
        with raises_cleanly(bl.FormatError):
            ByteEntropyModel.from_bytes(whole[:place])
    with raises_cleanly(bl.FormatError):
        ByteEntropyModel.from_bytes(whole + b"\n")
    for other in (b"", b"text", tok.to_bytes()):
        path.write_bytes(other)
        with pytest.raises(bl.FormatError, match=r"model\.entropy: "):
            ByteEntropyModel.load(path)
    with pytest.raises(OSError, match=r"gone\.entropy"):
        ByteEntropyModel.load(tmp_path / "gone.entropy")


def test_memory_has_a_limit():
    random = np.random.default_rng(7).integers(0, 256, 300_000, dtype=np.uint8).tobytes()
    limited = ByteEntropyModel(8, smoothing="witten-bell", memory_limit=4 << 20).train(random)
    info = limited.info()
    assert info["dropped_contexts"] > 0
    assert info["count_bytes"] <= limited.memory_limit == 4 << 20
    assert limited.to_bytes() == ByteEntropyModel.from_bytes(limited.to_bytes()).to_bytes()
    # Contexts of one byte stay, whatever is given up.
    plain = reference.Model(2, smoothing="witten-bell").train(random)
    for history in (b"", random[5:6]):
        np.testing.assert_allclose(
            limited.distribution(history), plain.distribution(history), rtol=0, atol=1e-12
        )
    assert b"".join(limited.patcher(theta=7.0, units="bits").patches(random[:999])) == random[:999]
    with pytest.raises(bl.PatchingError, match="memory_limit"):
        ByteEntropyModel(memory_limit=1000)


def test_what_a_model_says_of_itself(model):
    info = model.info()
    assert json.loads(json.dumps(info)) == info
    assert (info["order"], info["alpha"], info["smoothing"]) == (4, 0.01, "backoff")
    assert (info["documents"], info["trained_bytes"]) == (1, len(TEXT.encode()))
    assert "order=4" in repr(model)
    assert model != ByteEntropyModel().train(OTHER)
    assert model != "model"
    with pytest.raises(TypeError, match="unhashable"):
        hash(model)


def test_it_is_there_without_an_import_of_its_own():
    assert bl.ByteEntropyModel is patching.ByteEntropyModel
    assert bl.patching is patching
    assert all(hasattr(patching, name) for name in patching.__all__)


# Patchers.


def test_boundaries_are_those_of_the_reference(model):
    plain = reference.Model().train(TEXT.encode())
    for text in texts():
        for reset in (None, b"\n", b"e;"):
            bits = plain.entropies(text, reset or b"")
            for options in ({"theta": THETA}, {"rise": 0.3}, {"theta": 1.0, "rise": 0.1}, {"theta": 9.0}):
                expected = reference.by_entropy(text, bits, **options, reset_on=reset or b"")
                for longest in (None, 1, 4, 1000):
                    patcher = model.patcher(**options, units="bits", max_patch_length=longest, reset_on=reset)
                    limited = reference.cut(expected, len(text), longest or 10**9)
                    assert patcher.boundaries(text).tolist() == limited, (text, options, reset, longest)
        assert Patcher.space().boundaries(text).tolist() == reference.by_space(text)
        assert Patcher.static(7).boundaries(text).tolist() == reference.by_size(text, 7)
        assert Patcher.byte().boundaries(text).tolist() == list(range(len(text)))


def test_all_views_of_the_patches_agree(patcher):
    for text in texts():
        boundaries, lengths, patches = (
            patcher.boundaries(text),
            patcher.lengths(text),
            patcher.patches(text),
        )
        assert boundaries.dtype == np.uint32
        assert patches == reference.patches(text, boundaries.tolist())
        assert b"".join(patches) == text
        assert lengths.tolist() == [len(patch) for patch in patches]
        assert all(patches)
        assert patcher.boundaries(bytearray(text)).tolist() == boundaries.tolist()
        assert patcher.patches(memoryview(text)) == patches
        if patcher.max_patch_length is not None:
            assert max(lengths.tolist(), default=0) <= patcher.max_patch_length
    assert patcher.patches("日本語 word") == patcher.patches("日本語 word".encode())


@pytest.mark.parametrize(("longest", "dtype"), [(255, "uint8"), (256, "uint16"), (65_536, "uint32")])
def test_lengths_come_in_the_smallest_type(longest, dtype, bytes_tok):
    text = b"x" * (2 * longest)
    assert Patcher.static(longest).lengths(text).dtype == dtype
    assert Patcher.static(longest).batch([text, b"", b"a"]).lengths.dtype == dtype
    assert ByteEntropyModel().patcher(theta=8.5, units="bits").lengths(text[:longest]).dtype == dtype
    assert Patcher.bpe(bytes_tok).lengths(text[:5]).dtype == "uint8"
    assert Patcher.space().lengths("").dtype == "uint8"


def test_a_batch_is_each_text_alone(patcher):
    many = texts() * 3
    expected = [patcher.lengths(text).tolist() for text in many]
    for threads in (None, 1, 2, 5):
        batch = patcher.batch(many, threads=threads)
        assert batch.tolist() == expected
        assert [row.tolist() for row in batch] == expected
        assert batch.offsets.dtype == np.int64
    assert batch[-1].tolist() == expected[-1]
    assert batch.boundaries(3).tolist() == patcher.boundaries(many[3]).tolist()
    for wrong in (len(many), -len(many) - 1):
        with pytest.raises(IndexError, match=str(wrong)):
            batch[wrong]
    again = pickle.loads(pickle.dumps(batch))
    assert again.tolist() == expected
    assert f"documents={len(many)}" in repr(batch)
    assert len(patcher.batch([])) == 0
    with pytest.raises(TypeError, match="not one str"):
        patcher.batch("one text")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_a_stream_gives_the_same_patches(patcher, size):
    if patcher.rule == "bpe":
        with pytest.raises(bl.PatchingError, match="stream"):
            patcher.stream()
        return
    stream = patcher.stream()
    for text in texts():
        found, starts = [], set(patcher.boundaries(text).tolist())
        for start in range(0, len(text), size):
            # What is to come is known before it comes.
            assert stream.next_starts == (start in starts)
            found += stream.feed(text[start : start + size])
        last = stream.finish()
        assert found + ([last] if last is not None else []) == patcher.patches(text)


def test_a_stream_takes_much_at_once_and_may_be_looked_at_meanwhile(model):
    """Much is fed without the lock of Python, and whoever looks at the stream waits."""
    text = TEXT.encode() * 300
    patcher = model.patcher(theta=THETA, units="bits", max_patch_length=7)
    stream, looks, done = patcher.stream(), [], threading.Event()

    def look():
        while not done.is_set():
            looks.append((stream.next_starts, len(stream.pending)))

    other = threading.Thread(target=look)
    other.start()
    patches = stream.feed(text)
    done.set()
    other.join()
    last = stream.finish()
    assert patches + [last] * (last is not None) == patcher.patches(text)
    assert looks


def test_streams_of_one_patcher_do_not_meet(model):
    patcher = model.patcher(theta=THETA, units="bits")
    first, second = patcher.stream(), patcher.stream()
    text = TEXT.encode()[:400]
    found = ([], [])
    for start in range(0, 400, 11):
        found[0].extend(first.feed(text[start : start + 11]))
        found[1].extend(second.feed(text[::-1][start : start + 11]))
    for stream, patches, whole in ((first, found[0], text), (second, found[1], text[::-1])):
        last = stream.finish()
        assert patches + ([last] if last else []) == patcher.patches(whole)


def test_a_patcher_keeps_the_model_it_was_made_from():
    model = ByteEntropyModel().train(TEXT)
    patcher = model.patcher(theta=THETA, units="bits")
    text = OTHER.encode()[:200]
    before, bits = patcher.patches(text), patcher.entropies(text).tolist()
    for change in (
        lambda: model.update(OTHER),
        lambda: model.merge(ByteEntropyModel().train(OTHER)),
        lambda: model.train(OTHER),
    ):
        change()
        assert patcher.patches(text) == before
        assert patcher.entropies(text).tolist() == bits
        assert patcher.model == ByteEntropyModel().train(TEXT)
    patcher.model.update(OTHER)
    assert patcher.model == ByteEntropyModel().train(TEXT)
    assert model.patcher(theta=THETA, units="bits").patches(text) != before


def test_threads_may_add_to_one_model():
    model, documents = ByteEntropyModel(), [f"document {index} " * (index % 7 + 1) for index in range(60)]

    def add(share):
        for document in documents[share::4]:
            model.update(document)
            model.patcher(theta=THETA, units="bits").patches(document)

    workers = [threading.Thread(target=add, args=(share,)) for share in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(100)
    assert model.to_bytes() == ByteEntropyModel().train(documents).to_bytes()


def test_units_are_said_and_converted(model):
    text = TEXT[:300]
    bits = model.patcher(theta=2.0, rise=0.5, units="bits")
    nats = model.patcher(theta=2.0 * math.log(2), rise=0.5 * math.log(2), units="nats")
    assert bits.patches(text) == nats.patches(text)
    assert bits != nats
    assert (nats.units, nats.theta) == ("nats", 2.0 * math.log(2))
    with pytest.raises(TypeError, match="units"):
        model.patcher(theta=2.0)
    assert type(model.patcher(theta=np.float32(2), units="bits").theta) is float
    with pytest.raises(bl.PatchingError, match="bans"):
        model.patcher(theta=2.0, units="bans")


def test_impossible_patchers_say_what_to_do(model, tok):
    with pytest.raises(bl.PatchingError, match="threshold_for"):
        model.patcher(units="bits")
    for name in ("theta", "rise"):
        with pytest.raises(bl.PatchingError, match=f"{name} is NaN"):
            model.patcher(**{name: math.nan}, units="bits")
        for wrong in ("2", True, [1.0], np.zeros(2)):
            with pytest.raises(TypeError, match=f"{name} must be"):
                model.patcher(**{name: wrong}, units="bits")
        with pytest.raises(bl.PatchingError, match=f"{name} is too large"):
            model.patcher(**{name: 10**400}, units="bits")
    with pytest.raises(bl.PatchingError, match=r"max_patch_length .* or less"):
        Patcher.space(max_patch_length=2**70)
    with pytest.raises(bl.PatchingError, match="threads"):
        Patcher.bpe(tok).batch(["a"], threads=0)
    with pytest.raises(TypeError, match="text 1"):
        Patcher.bpe(tok).batch(["a", 5])
    for longest in (0, -3):
        with pytest.raises(bl.PatchingError, match=f"max_patch_length .*{longest}"):
            model.patcher(theta=1.0, units="bits", max_patch_length=longest)
        with pytest.raises(bl.PatchingError, match=str(longest)):
            Patcher.space(max_patch_length=longest)
        with pytest.raises(bl.PatchingError, match=str(longest)):
            Patcher.bpe(tok, max_patch_length=longest)
        with pytest.raises(bl.PatchingError, match=str(longest)):
            Patcher.static(longest)
    for wrong in ("4", 2.5, True, None):
        with pytest.raises(TypeError, match="size"):
            Patcher.static(wrong)
    with pytest.raises(TypeError, match="Tokenizer"):
        Patcher.bpe("tok.json")
    with pytest.raises(TypeError, match="ByteEntropyModel"):
        Patcher.entropy("model", theta=1.0, units="bits")
    with pytest.raises(bl.PatchingError, match="space"):
        Patcher.space().entropies("text")
    for work in (
        lambda: model.patcher(theta=1.0, units="bits", reset_on="\n"),
        lambda: model.threshold_for(TEXT, reset_on="\n"),
        lambda: model.entropies(TEXT, reset_on=10),
    ):
        with pytest.raises(TypeError, match="reset_on must be bytes"):
            work()
    assert model.patcher(theta=1.0, units="bits", reset_on=b"") == model.patcher(theta=1.0, units="bits")


def test_thresholds_without_end_are_thresholds(model):
    text = TEXT[:100]
    assert len(model.patcher(theta=math.inf, units="bits").patches(text)) == 1
    assert len(model.patcher(theta=-math.inf, units="bits").patches(text)) == 100
    assert len(model.patcher(rise=math.inf, units="nats").patches(text)) == 1


def test_bpe_patches_are_tokens(tok, special_tok):
    for text in [*SAMPLES, "<|endoftext|> as text"]:
        for tokenizer in (tok, special_tok):
            tokens = [tokenizer.id_to_bytes(id_) for id_ in tokenizer.encode_ordinary(text)]
            assert Patcher.bpe(tokenizer).patches(text) == tokens


def test_bpe_patches_of_a_tokenizer_that_changes_text(tmp_path):
    transformers = pytest.importorskip("tokenizers")
    raw = transformers.Tokenizer(transformers.models.BPE(unk_token=None))
    raw.normalizer = transformers.normalizers.NFC()
    raw.pre_tokenizer = transformers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = transformers.decoders.ByteLevel()
    trainer = transformers.trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=transformers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    raw.train_from_iterator(["café e\u0301 the cat the cat"], trainer)
    path = tmp_path / "tokenizer.json"
    raw.save(str(path))
    tok = bl.Tokenizer.load(path)
    assert not tok.info()["lossless"]
    text = "cafe\u0301 the cat"
    patches = Patcher.bpe(tok).patches(text)
    assert b"".join(patches) == text.encode()
    assert len(patches) == len({start for start, _ in tok.encode_with_offsets(text, unit="byte")[1]})


def test_patchers_compare_pickle_and_describe_themselves(model, tok):
    made, again = patchers(model, tok), patchers(ByteEntropyModel().train(TEXT), tok)
    for name, patcher in made.items():
        assert patcher == again[name]
        assert hash(patcher) == hash(again[name])
        pickled = pickle.loads(pickle.dumps(patcher))
        assert pickled == patcher
        assert pickled.patches(OTHER) == patcher.patches(OTHER)
        assert patcher.rule in name or name == "reset"
        assert f"rule={patcher.rule!r}" in repr(patcher)
        assert patcher != "patcher"
        for other, one in made.items():
            assert (one == patcher) == (other == name)
    assert made["global"] != ByteEntropyModel().train(OTHER).patcher(theta=THETA, units="bits")
    assert (made["both"].theta, made["both"].rise, made["both"].max_patch_length) == (1.0, 0.1, 9)
    assert (made["static"].size, made["reset"].reset_on, made["bpe"].tokenizer) == (5, b"\n;", tok)
    assert made["space"].model is made["space"].theta is made["space"].units is None


def test_unlimited_takes_the_limit_away(model):
    limited = model.patcher(theta=THETA, units="bits", max_patch_length=2)
    assert limited.unlimited() == model.patcher(theta=THETA, units="bits")
    assert Patcher.byte().unlimited() == Patcher.byte()
