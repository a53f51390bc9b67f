//! Vocabularies of characters: trained, built from merges, kept in files.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::io::Cursor;
use std::path::Path;

use byteloom_core::Error;
use byteloom_core::format::native;
use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use byteloom_core::special::SpecialMatcher;
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::train::{InvalidUtf8, Learned, Symbols, TieBreak, TrainConfig, Trainer};

const TEXT: &str = "é日 é日 ab é日 ab c";

fn names() -> [String; 2] {
    ["<PAD>", "<UNK>"].map(str::to_owned)
}

fn config(merges: usize) -> TrainConfig {
    TrainConfig {
        symbols: Symbols::Characters,
        merges,
        tie_break: TieBreak::FirstSeen,
        ..TrainConfig::default()
    }
}

fn trainer(config: TrainConfig) -> Result<Trainer, Error> {
    Trainer::new(PreTokenizer::new("simple").unwrap(), SpecialMatcher::new([]).unwrap(), config)
}

fn learned(text: &str, config: TrainConfig) -> (Vec<char>, Learned) {
    let mut trainer = trainer(config).unwrap();
    trainer.feed_documents(&[text.as_bytes()], &mut |_| Ok(())).unwrap();
    let characters = trainer.characters().unwrap();
    (characters, trainer.finish(&mut |_| Ok(())).unwrap().0)
}

fn spec(position: SpecialPosition) -> TokenizerSpec {
    let (characters, learned) = learned(TEXT, config(9));
    let pattern = PreTokenizer::new("simple").unwrap();
    TokenizerSpec::from_character_merges(&characters, "<UNK>", &learned.merges, pattern, &names(), position)
        .unwrap()
}

fn encode(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode_into(text.as_bytes(), tokenizer.ordinary(), &mut ids, &mut || Ok(())).unwrap();
    ids
}

#[test]
fn symbols_are_the_characters_in_code_point_order() {
    let (characters, learned) = learned(TEXT, config(9));
    assert_eq!(characters, [' ', 'a', 'b', 'c', 'é', '日']);
    assert_eq!((learned.base, &learned.merges[..]), (6, &[(4, 5), (1, 2)][..]));
    assert_eq!(learned.counts, [3, 2]);
}

#[test]
fn ids_stand_where_they_should() {
    for (position, first) in [(SpecialPosition::First, 2), (SpecialPosition::Last, 0)] {
        let tokenizer = Tokenizer::new(spec(position), 0).unwrap();
        let unknown = if first == 2 { 1 } else { 9 };
        assert_eq!(tokenizer.spec().alphabet, Alphabet::CharactersOr(unknown));
        assert_eq!(tokenizer.vocab_size(), 10);
        let ids = encode(&tokenizer, "é日 ab🚀x\0abc");
        let wanted = [first + 6, first, first + 7, unknown, unknown, unknown, first + 7, first + 3];
        assert_eq!(ids, wanted);
    }
}

#[test]
fn files_hold_them() {
    for position in [SpecialPosition::First, SpecialPosition::Last] {
        let spec = spec(position);
        let again = native::read(&native::write(&spec)).unwrap();
        assert_eq!(native::write(&again), native::write(&spec));
        let (one, other) = (Tokenizer::new(spec, 0).unwrap(), Tokenizer::new(again, 0).unwrap());
        assert_eq!(one.fingerprint(), other.fingerprint());
        assert_eq!(encode(&one, "é日 ab?"), encode(&other, "é日 ab?"));
    }
}

#[test]
fn merges_that_cannot_be_are_named() {
    let build = |merges: &[(u32, u32)], characters: &[char], unknown: &str| {
        let pattern = PreTokenizer::new("none").unwrap();
        let position = SpecialPosition::First;
        TokenizerSpec::from_character_merges(characters, unknown, merges, pattern, &names(), position)
    };
    let message = |spec: Result<TokenizerSpec, Error>| spec.unwrap_err().to_string();
    let abc = ['a', 'b', 'c'];
    assert!(build(&[(0, 1), (3, 2)], &abc, "<UNK>").is_ok());
    let missing = message(build(&[(0, 1), (4, 2)], &abc, "<UNK>"));
    assert_eq!(missing, "merges[1]: id 6 does not exist yet; only ids below 6 do");
    let again = message(build(&[(0, 1), (1, 2), (0, 4), (3, 2)], &abc, "<UNK>"));
    assert_eq!(again, "merges[3]: makes \"abc\", which is the token 7 already");
    assert_eq!(message(build(&[], &['a', 'b', 'a'], "<UNK>")), "characters[2]: is \"a\" again");
    assert!(matches!(build(&[], &abc, "<unk>"), Err(Error::SpecialToken(_))));
}

#[test]
fn text_that_is_none_is_refused() {
    let mut strict = trainer(config(3)).unwrap();
    strict.feed_documents(&[b"ab"], &mut |_| Ok(())).unwrap();
    let error = strict.feed_documents(&[b"ab", b"a\xFFb"], &mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().starts_with("document 2 is not UTF-8 from byte 1 on"), "{error}");
    let mut keeping = trainer(config(3)).unwrap();
    let kept =
        keeping.feed_reader(&mut Cursor::new(b"a"), Path::new("a.txt"), InvalidUtf8::Keep, &mut |_| Ok(()));
    assert!(matches!(kept, Err(Error::Argument(_))));
    let tie_break = TieBreak::HuggingFace;
    assert!(matches!(trainer(TrainConfig { tie_break, ..config(3) }), Err(Error::Argument(_))));
}

#[test]
fn taken_strings_stay_apart() {
    let text = "<UNK> <UNK> <UNK>x <UNK>x";
    let with = |taken: &[&str]| {
        let taken = taken.iter().map(|&string| string.to_owned()).collect();
        let (characters, learned) = learned(text, TrainConfig { taken, ..config(99) });
        let mut pieces: Vec<String> = characters.iter().map(char::to_string).collect();
        for (left, right) in learned.merges {
            pieces.push(format!("{}{}", pieces[left as usize], pieces[right as usize]));
        }
        pieces
    };
    assert!(with(&[]).contains(&"<UNK>".to_owned()));
    assert!(with(&["<PAD>", "another"]) == with(&[]), "a string that is not there changes nothing");
    let apart = with(&["<UNK>", "<PAD>"]);
    assert!(!apart.contains(&"<UNK>".to_owned()) && apart.contains(&"<UNK".to_owned()), "{apart:?}");
    assert!(apart.contains(&"<UNK>x".to_owned()), "longer strings may hold one: {apart:?}");
}
