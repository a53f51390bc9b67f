"""Files of other libraries, in and out: ids equal those of the library whose format it is."""

import json
import random

import pytest

import byteloom as bl
from helpers import SAMPLES, train_quietly

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

CORPORA = ["english", "code", "multi", "cjk"]
SEPARATOR = "<|endoftext|>"
PATTERNS = [
    "gpt2", "cl100k", "o200k", "llama3", "qwen2",
    "simple", "course-words", "course-ws", "course-gpt2", "none",
]  # fmt: skip


def hf_ids(theirs, text):
    return theirs.encode(text, add_special_tokens=False).ids


def random_texts(count, seed=5):
    """Unicode of many kinds in short runs, with white space, digits and apostrophes."""
    rnd = random.Random(seed)
    alphabet = [chr(c) for c in range(0x20, 0x7F)] + list(" \n\r\t'''  12") + SAMPLES[12:14]
    alphabet += [chr(rnd.randrange(0xA0, 0x2FFF)) for _ in range(200)]
    alphabet += [chr(rnd.randrange(0x4E00, 0x9FFF)) for _ in range(40)] + ["👍🏽", "\u0301", "\u200d"]
    return ["".join(rnd.choice(alphabet) for _ in range(rnd.randrange(60))) for _ in range(count)]


def assert_same(ours, theirs, texts):
    got = ours.encode_batch(texts, allowed_special="all")
    for text, ids in zip(texts, got, strict=True):
        expected = hf_ids(theirs, text)
        if ids != expected:
            at = next(i for i, (a, b) in enumerate(zip([*ids, -1], [*expected, -1], strict=False)) if a != b)
            near = theirs.decode(expected[max(at - 5, 0) : at + 5])
            pytest.fail(f"token {at}: {ids[at : at + 5]} is not {expected[at : at + 5]}, near {near!r}")


@pytest.fixture(scope="module")
def gpt2(data_dir):
    path = data_dir / "vocab" / "gpt2.tokenizer.json"
    return bl.Tokenizer.load(path), tokenizers.Tokenizer.from_file(str(path))


@pytest.mark.parametrize("name", CORPORA)
def test_gpt2_ids_equal_those_of_tokenizers(gpt2, corpus, documents, name):
    ours, theirs = gpt2
    assert_same(ours, theirs, [corpus(name, 1_000_000), *documents(name, 300_000)])


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", CORPORA)
def test_gpt2_ids_on_whole_corpora(gpt2, corpus, documents, name):
    ours, theirs = gpt2
    text = corpus(name)
    assert ours.encode(text, allowed_special="all") == hf_ids(theirs, text)
    assert_same(ours, theirs, documents(name))


def test_gpt2_ids_on_odd_texts(gpt2):
    assert_same(*gpt2, SAMPLES + random_texts(2000))


def test_gpt2s_two_files_are_its_tokenizer_json(gpt2, data_dir):
    vocab = data_dir / "vocab"
    two = bl.Tokenizer.from_gpt2_files(
        vocab / "gpt2_vocab.json", vocab / "gpt2_merges.txt", special_tokens=[SEPARATOR]
    )
    texts = SAMPLES + random_texts(300)
    assert two.encode_batch(texts) == gpt2[0].encode_batch(texts)
    assert two.special_tokens == gpt2[0].special_tokens == {SEPARATOR: 50256}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("position", ["first", "last"])
def test_what_we_export_encodes_the_same_there(tmp_path, pattern, position):
    text = " ".join(SAMPLES) * 3
    ours = train_quietly(
        [text],
        500,
        pattern=pattern,
        special_tokens=[SEPARATOR, "<pad>"],
        special_position=position,
        eos=SEPARATOR,
    )
    path = tmp_path / "tokenizer.json"
    for merges_format in ("pairs", "legacy"):
        ours.save_huggingface(path, merges_format=merges_format)
        theirs = tokenizers.Tokenizer.from_file(str(path))
        texts = [text for text in [*SAMPLES, *random_texts(500), f"a{SEPARATOR} b<pad><pad>"] if text]
        assert_same(ours, theirs, texts)
        again = bl.Tokenizer.load(path)
        assert again.encode_batch(texts, allowed_special="all") == ours.encode_batch(
            texts, allowed_special="all"
        )
    assert theirs.encode("a").ids[-1] == ours.eos_id


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_exported_rank_files_encode_the_same_there(tmp_path, data_dir, corpus, name):
    ours = bl.Tokenizer.load(data_dir / "vocab" / f"{name}_base.tiktoken")
    path = tmp_path / "tokenizer.json"
    ours.save_huggingface(path)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    texts = [*SAMPLES, *random_texts(500), corpus("multi", 200_000), corpus("code", 200_000)]
    assert_same(ours, theirs, texts)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("corpus_name", CORPORA)
def test_an_exported_file_on_whole_corpora(tmp_path, data_dir, corpus, documents, corpus_name):
    ours = bl.Tokenizer.load(data_dir / "vocab" / "cl100k_base.tiktoken")
    path = tmp_path / "tokenizer.json"
    ours.save_huggingface(path)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    whole = corpus(corpus_name)
    expected = theirs.encode_batch_fast([whole], add_special_tokens=False)[0].ids
    assert ours.encode(whole, allowed_special="all") == expected
    texts = documents(corpus_name)
    for start in range(0, len(texts), 500):
        batch = texts[start : start + 500]
        expected = [found.ids for found in theirs.encode_batch_fast(batch, add_special_tokens=False)]
        assert ours.encode_batch(batch, allowed_special="all") == expected


@pytest.mark.parametrize(
    "flags",
    [{"lstrip": True}, {"rstrip": True}, {"single_word": True}, {"normalized": True}, {"special": False}],
    ids=lambda flags: next(iter(flags)),
)
def test_flags_of_added_tokens(tmp_path, flags):
    ours = train_quietly([" ".join(SAMPLES)], 400, pattern="gpt2", special_tokens=["<m>"])
    path = tmp_path / "tokenizer.json"
    ours.save_huggingface(path)
    file = json.loads(path.read_text("utf-8"))
    file["added_tokens"][0].update(flags)
    path.write_text(json.dumps(file), "utf-8")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    texts = ["a<m>b", "a <m> b", "a  <m>\n\n<m>  b", "x<m> <m>x <m>", "é<m>é", "<m>", " <m> ", "a\u3000<m>"]
    assert_same(bl.Tokenizer.load(path), theirs, texts)


def test_nfc_is_done_where_the_file_asks(tmp_path):
    ours = train_quietly([" ".join(SAMPLES) + "éåö가"], 400, pattern="gpt2")
    path = tmp_path / "tokenizer.json"
    ours.save_huggingface(path)
    file = json.loads(path.read_text("utf-8"))
    file["normalizer"] = {"type": "NFC"}
    path.write_text(json.dumps(file), "utf-8")
    loaded, theirs = bl.Tokenizer.load(path), tokenizers.Tokenizer.from_file(str(path))
    texts = [*SAMPLES, "e\u0301a\u030ao\u0308", "\u1100\u1161 가", "q\u0301x \u212b"]
    assert_same(loaded, theirs, texts)
    assert loaded.info()["normalizer"] == ["NFC"]
    assert not loaded.info()["lossless"]
    ids, offsets = loaded.encode_with_offsets("xe\u0301y")
    assert offsets[0] == (0, 1)
    assert offsets[-1] == (3, 4)
    assert loaded.decode(ids) == "xéy"


def test_transformers_reads_a_saved_folder(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    ours = train_quietly(
        [" ".join(SAMPLES)], 400, special_tokens=["<s>", "</s>", "<pad>"], bos="<s>", eos="</s>", pad="<pad>"
    )
    template = "{% for m in messages %}<s>{{ m['content'] }}</s>{% endfor %}"
    ours.save_huggingface(tmp_path, chat_template=template)
    theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for text in SAMPLES:
        assert theirs(text)["input_ids"] == ours.encode(text, add_special_tokens=True)
    assert (theirs.bos_token, theirs.eos_token, theirs.pad_token) == ("<s>", "</s>", "<pad>")
    rendered = theirs.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False)
    assert rendered == "<s>hi</s>"
    again = bl.Tokenizer.load(tmp_path)
    assert (again.bos_id, again.eos_id, again.pad_id) == (ours.bos_id, ours.eos_id, ours.pad_id)


@pytest.mark.parametrize("name", ["mistral_v1", "mistral_v3"])
class TestSentencePiece:
    @pytest.fixture
    def pair(self, data_dir, name):
        sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
        path = str(data_dir / "vocab" / f"{name}.model")
        return bl.Tokenizer.load(path), sentencepiece.SentencePieceProcessor(model_file=path)

    def test_ids_and_texts(self, pair, documents):
        ours, theirs = pair
        texts = [*SAMPLES, *random_texts(500), "\u2581a \u2581", "[INST] hi [/INST]", "[REFERENCE_DOC_3]x"]
        texts += [text for corpus in CORPORA for text in documents(corpus, 150_000)]
        texts = [text for text in texts if "\x00" not in text]
        got = [ours.encode_ordinary(text) for text in texts]
        assert got == theirs.encode(texts)
        for text, ids in zip(texts, got, strict=True):
            assert ours.decode(ids) == text.replace("\u2581", " ")

    @pytest.mark.slow
    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize("corpus_name", CORPORA)
    def test_whole_corpora(self, pair, documents, corpus_name):
        ours, theirs = pair
        texts = documents(corpus_name)
        for start in range(0, len(texts), 500):
            batch = texts[start : start + 500]
            assert ours.encode_batch(batch, disallowed_special=()) == theirs.encode(batch)

    def test_roles_and_pieces(self, pair, name):
        ours, theirs = pair
        assert (ours.bos_id, ours.eos_id, ours.pad_id) == (theirs.bos_id(), theirs.eos_id(), None)
        assert ours.vocab_size == theirs.vocab_size()
        assert ours.special_tokens["<s>"] == 1
        assert len(ours.added_tokens) == (20 if name == "mistral_v3" else 0)
