//! SentencePiece models from outside: crafted ones, what is refused, damaged ones, and a real one.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests are not marked as tests")]

use byteloom_core::Error;
use byteloom_core::format::sentencepiece::read;
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::Tokenizer;

const NORMAL: u64 = 1;
const UNKNOWN: u64 = 2;
const CONTROL: u64 = 3;
const USER_DEFINED: u64 = 4;
const UNUSED: u64 = 5;
const BYTE: u64 = 6;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn int(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn bytes(number: u64, value: &[u8]) -> Vec<u8> {
    [&varint(number << 3 | 2), &varint(value.len() as u64), value].concat()
}

fn piece(text: &str, score: f32, kind: u64) -> Vec<u8> {
    let score = [&[2 << 3 | 5][..], &score.to_le_bytes()].concat();
    bytes(1, &[bytes(1, text.as_bytes()), score, int(3, kind)].concat())
}

/// A model as parts, so that a test can change one.
#[derive(Clone)]
struct Model {
    pieces: Vec<Vec<u8>>,
    trainer: Vec<Vec<u8>>,
    normalizer: Vec<Vec<u8>>,
    rest: Vec<u8>,
}

impl Model {
    /// `<unk>`, `<s>`, `</s>`, 256 bytes, and then these; the first has id 259.
    fn new(pieces: &[(&str, f32, u64)]) -> Self {
        let head = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)];
        let head = head.map(|(text, kind)| piece(text, 0.0, kind));
        let byte_pieces = (0..=255u8).map(|byte| piece(&format!("<0x{byte:02X}>"), 0.0, BYTE));
        let pieces = pieces.iter().map(|&(text, score, kind)| piece(text, score, kind));
        Self {
            pieces: head.into_iter().chain(byte_pieces).chain(pieces).collect(),
            trainer: vec![int(3, 2), int(35, 1), int(40, 0), int(41, 1), int(42, 2)],
            normalizer: vec![bytes(1, b"identity"), int(3, 1), int(4, 0)],
            rest: Vec::new(),
        }
    }

    fn small() -> Self {
        let pieces = [
            ("ab", -1.0, NORMAL),
            ("\u{2581}a", -2.0, NORMAL),
            ("\u{2581}\u{2581}", -1e9, NORMAL),
            ("\u{2581}\u{2581}\u{2581}", -1e9, NORMAL),
            ("a", -9.0, NORMAL),
            ("b", -9.0, NORMAL),
            ("\u{2581}", -9.0, NORMAL),
            ("[X]", 0.0, USER_DEFINED),
            ("\0", -9.0, NORMAL),
        ];
        Self::new(&pieces)
    }

    fn file(&self) -> Vec<u8> {
        let size = int(4, self.pieces.len() as u64);
        let trainer = bytes(2, &[self.trainer.concat(), size].concat());
        [self.pieces.concat(), trainer, bytes(3, &self.normalizer.concat()), self.rest.clone()].concat()
    }

    fn tokenizer(&self) -> Tokenizer {
        Tokenizer::new(read(&self.file()).unwrap(), 0).unwrap()
    }

    /// What reading says; empty where it is no format error.
    fn message(&self) -> String {
        message(&self.file())
    }
}

fn message(file: &[u8]) -> String {
    match read(file) {
        Err(error @ Error::Format { .. }) => error.to_string(),
        _ => String::new(),
    }
}

fn encode(tokenizer: &Tokenizer, text: &[u8]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    tokenizer.encode_into(text, tokenizer.ordinary(), &mut ids, &mut || Ok(())).unwrap();
    ids
}

fn decode(tokenizer: &Tokenizer, ids: &[TokenId]) -> Vec<u8> {
    let mut text = Vec::new();
    tokenizer.decode_into(ids, true, &mut text).unwrap();
    text
}

#[test]
fn ids_follow_the_scores() {
    let tokenizer = Model::small().tokenizer();
    assert_eq!(tokenizer.spec().pretokenizer.name(), Some("sentencepiece"));
    let (ab, space_a, two, three, a, b, space) = (259, 260, 261, 262, 263, 264, 265);
    let (x, nul, byte) = (266, 267, |byte: u8| 3 + u32::from(byte));
    for (text, ids) in [
        // The higher score first, not the left pair; a space is put before the text.
        ("ab", vec![space, ab]),
        ("a", vec![space_a]),
        ("", vec![]),
        // Of equal scores the leftmost: the run grows from its left end, six spaces with the one before.
        ("     b", vec![three, three, b]),
        (" \u{2581}b", vec![three, b]),
        ("      ", vec![three, three, space]),
        // A symbol that the user defined is an atom, and not the start of the text.
        ("[X]a  [X]", vec![space, x, a, two, x]),
        // What is no piece becomes its bytes; the names of bytes and control symbols are text.
        ("é\0", vec![space, byte(0xC3), byte(0xA9), nul]),
        ("<s>", [vec![space], "<s>".bytes().map(byte).collect()].concat()),
    ] {
        assert_eq!(encode(&tokenizer, text.as_bytes()), ids, "{text:?}");
        assert_eq!(decode(&tokenizer, &ids), text.replace('\u{2581}', " ").as_bytes(), "{text:?}");
    }
    let special = &tokenizer.spec().special;
    assert_eq!((special.bos, special.eos, special.pad), (Some(1), Some(2), None));
    // Control symbols do not count as the start of the text; a byte is never the space that encoding put there.
    assert_eq!(decode(&tokenizer, &[1, space_a, 2, space_a]), b"a a");
    assert_eq!(decode(&tokenizer, &[byte(b' '), space_a]), b"  a");
    assert_eq!(encode(&tokenizer, b"\xffa"), [space, byte(0xFF), a]);
}

#[test]
fn without_a_prefix_and_with_spaces_inside_pieces() {
    let mut model = Model::small();
    model.normalizer[1] = int(3, 0);
    assert_eq!(encode(&model.tokenizer(), b"ab"), [259]);
    assert_eq!(decode(&model.tokenizer(), &[260]), b" a");
    model.pieces.push(piece("b\u{2581}a", -0.5, NORMAL));
    // The last merge of the new piece: `▁a` has the higher score than `b▁`, which is no piece.
    let tokenizer = model.tokenizer();
    assert_eq!(tokenizer.spec().pretokenizer.name(), Some("none"));
    assert_eq!(encode(&tokenizer, b"b a"), [268]);
    // A space in a user-defined symbol is no reason to cut nothing.
    let mut model = Model::small();
    model.pieces.push(piece("x\u{2581}y", 0.0, USER_DEFINED));
    let tokenizer = model.tokenizer();
    assert_eq!(tokenizer.spec().pretokenizer.name(), Some("sentencepiece"));
    assert_eq!(encode(&tokenizer, b"a x y x\xe2\x96\x81y"), [260, 265, 268, 265, 268]);
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    let with = |change: fn(&mut Model)| {
        let mut model = Model::small();
        change(&mut model);
        model.message()
    };
    for (message, words) in [
        (with(|m| m.trainer[0] = int(3, 1)), ["trainer_spec.model_type", "UNIGRAM"]),
        (with(|m| m.trainer[0] = int(3, 4)), ["trainer_spec.model_type", "CHAR"]),
        (with(|m| drop(m.trainer.remove(0))), ["trainer_spec.model_type", "UNIGRAM"]),
        (with(|m| m.trainer[1] = int(35, 0)), ["trainer_spec.byte_fallback", "lost"]),
        (with(|m| m.trainer.push(int(24, 1))), ["treat_whitespace_as_suffix", "not supported"]),
        (with(|m| m.trainer.push(int(43, 7))), ["trainer_spec.pad_id", "<pad>"]),
        (with(|m| m.trainer[3] = int(41, 2)), ["trainer_spec.bos_id", "<s>"]),
        (
            with(|m| m.normalizer = vec![bytes(1, b"nmt_nfkc"), bytes(2, b"x"), int(4, 0)]),
            ["nmt_nfkc", "lost"],
        ),
        (with(|m| m.normalizer[0] = bytes(1, b"nmt_nfkc")), ["nmt_nfkc", "missing"]),
        (with(|m| drop(m.normalizer.remove(2))), ["remove_extra_whitespaces", "runs of spaces"]),
        (with(|m| m.normalizer.push(int(5, 0))), ["escape_whitespaces", "off"]),
        (with(|m| m.normalizer.push(int(7, 0))), ["normalizer_spec", "field 7"]),
        (with(|m| m.rest = bytes(5, &bytes(2, b"x"))), ["denormalizer_spec", "changes text"]),
        (with(|m| m.rest = bytes(6, b"")), ["byte ", "no field 6"]),
        (with(|m| m.rest = bytes(3, b"")), ["byte ", "twice"]),
        (with(|m| m.pieces.push(piece("c", 0.0, UNUSED))), ["pieces[268]", "UNUSED"]),
        (with(|m| m.pieces.push(piece("c", 0.0, 7))), ["pieces[268]", "type 7"]),
        (with(|m| m.pieces.push(piece("ab", 0.0, CONTROL))), ["pieces[268]", "pieces[259] too"]),
        (with(|m| m.pieces.push(piece("", 0.0, NORMAL))), ["pieces[268]", "no text"]),
        (with(|m| m.pieces.push(piece("a b", 0.0, NORMAL))), ["pieces[268]", "U+2581"]),
        (with(|m| m.pieces.push(piece("ac", 0.0, NORMAL))), ["pieces[268]", "no piece by itself"]),
        (with(|m| m.pieces.push(piece("c", f32::NAN, NORMAL))), ["pieces[268]", "score"]),
        (with(|m| m.pieces.push(piece("<u>", 0.0, UNKNOWN))), ["pieces[268]", "second UNKNOWN"]),
        (with(|m| m.pieces[0] = piece("<unk>", 0.0, CONTROL)), ["pieces", "UNKNOWN"]),
        (with(|m| m.pieces.push(bytes(1, &bytes(1, b"\xff")))), ["pieces[268]", "UTF-8"]),
        (with(|m| m.pieces.push(bytes(1, &int(1, 5)))), ["pieces[268]", "must be bytes"]),
        (with(|m| drop(m.pieces.remove(265))), ["U+2581", "bytes of that sign"]),
        (
            with(|m| m.pieces.push(piece(&"a".repeat(4 << 20), 0.0, NORMAL))),
            ["pieces[268]", "allowed is 65536"],
        ),
    ] {
        assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message:?}");
    }
    // Bytes: two upper-case digits, each byte once, all of them.
    for text in ["<0x-1>", "<0xZZ>", "<0x100>", "<0x4>", "<0x4a>", "<0x+4>", "0x41", "<0x41", "A"] {
        let mut model = Model::small();
        model.pieces[3 + 0x41] = piece(text, 0.0, BYTE);
        assert!(model.message().contains("pieces[68]"), "{text}: {}", model.message());
    }
    let mut model = Model::small();
    model.pieces.push(piece("<0x41>", 0.0, BYTE));
    assert!(model.message().contains("pieces[68] too"));
    model.pieces.pop();
    model.pieces[3 + 0x41] = piece("c", 0.0, NORMAL);
    assert!(model.message().contains("<0x41> is missing"));
}

#[test]
fn a_part_that_is_missing_is_named() {
    let model = Model::small();
    let (pieces, file) = (model.pieces.concat(), model.file());
    assert!(message(&pieces).starts_with("trainer_spec: is missing"));
    let normalizer = bytes(3, &model.normalizer.concat());
    assert!(message(&file[..file.len() - normalizer.len()]).starts_with("normalizer_spec: is missing"));
    assert!(message(&file[pieces.len()..]).starts_with("pieces: is missing"));
    assert!(message(&file[model.pieces[0].len()..]).starts_with("trainer_spec.vocab_size"));
    assert!(message(b"").contains("missing") && message(b"{}").starts_with("byte "));
    // More pieces than were trained are fine.
    let more = [&file[..], &piece("c", -9.0, NORMAL)].concat();
    assert_eq!(read(&more).unwrap().vocab.id(b"c"), Some(268));
}

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Bits flipped, bytes cut out, doubled or replaced: an error with a place, or a tokenizer that works.
fn damage(file: &[u8], times: usize, random: &mut Random) {
    for _ in 0..times {
        let mut file = file.to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(file.len());
            match random.below(4) {
                0 => file[at] ^= 1 << random.below(8),
                1 => drop(file.drain(at..(at + 1 + random.below(20)).min(file.len()))),
                2 => file[at] = [0, 0x7F, 0x80, 0xFF][random.below(4)],
                _ => file.truncate(at.max(1)),
            }
        }
        match read(&file) {
            Ok(spec) => {
                let tokenizer = Tokenizer::new(spec, 0).unwrap();
                let ids = encode(&tokenizer, b" ab  [X]\xe6a\0");
                decode(&tokenizer, &ids);
            }
            Err(error) => {
                let placed = matches!(&error, Error::Format { place, .. } if !place.is_empty());
                assert!(placed, "no format error with a place: {error}");
            }
        }
    }
}

#[test]
fn damaged_models_give_an_error_or_work() {
    let file = Model::small().file();
    damage(&file, 10_000, &mut Random(1));
    for end in 0..file.len() {
        assert!(!message(&file[..end]).is_empty(), "cut at {end}");
    }
}

#[test]
fn a_damaged_real_model_gives_an_error_or_works() {
    let Some(file) = real_model() else { return };
    let random = &mut Random(2);
    for _ in 0..300 {
        assert!(!message(&file[..random.below(file.len())]).is_empty());
    }
    damage(&file, 60, random);
}

#[test]
fn a_real_model_gives_known_ids() {
    let Some(file) = real_model() else { return };
    let tokenizer = Tokenizer::new(read(&file).unwrap(), 1 << 20).unwrap();
    assert_eq!(tokenizer.vocab_size(), 32_768);
    assert_eq!(tokenizer.spec().pretokenizer.name(), Some("sentencepiece"));
    // From sentencepiece 0.2.3.
    for (text, ids) in KNOWN {
        assert_eq!(encode(&tokenizer, text.as_bytes()), *ids, "{text:?}");
    }
}

const KNOWN: &[(&str, &[TokenId])] = &[
    ("Hello, world!  The café\n", &[23325, 29493, 2294, 29576, 29473, 1183, 29113, 781]),
    ("a[REFERENCE_DOC_7] b", &[1032, 763, 1055]),
    ("x                    y", &[2086, 1127, 3055, 1105]),
    (
        "日本語 \u{1f469}\u{200d}\u{1f469} 한국",
        &[
            29473, 29910, 29887, 31089, 29473, 1011, 930, 916, 940, 30042, 1011, 930, 916, 940, 29473, 30050,
            31547,
        ],
    ),
    ("[INST]<s>\u{2581}\u{2581}1234", &[1501, 17057, 15394, 29481, 29535, 1027, 29508, 29518, 29538, 29549]),
];

fn real_model() -> Option<Vec<u8>> {
    let Some(folder) = std::env::var_os("BYTELOOM_TEST_DATA") else {
        eprintln!("skipped: BYTELOOM_TEST_DATA is not set");
        return None;
    };
    Some(std::fs::read(std::path::Path::new(&folder).join("vocab/mistral_v3.model")).unwrap())
}
