//! Smaller and larger vocabularies, and where ids go. Python's tests compare with training and with the oracle.

use super::*;
use crate::pretokenize::PreTokenizer;
use crate::spec::SpecialPosition;
use crate::train::{CountConfig, CountStore, InvalidUtf8, TrainConfig, Trainer};

#[expect(clippy::unnecessary_wraps, reason = "the shape of a hook")]
fn go(_: &crate::train::Progress) -> Result<()> {
    Ok(())
}

/// 256 = ab, 257 = abc, 258 = de, 259 = abcde; `<e>` behind them.
fn tokenizer() -> Tokenizer {
    let merges = [(97, 98), (256, 99), (100, 101), (257, 258)];
    let pattern = PreTokenizer::new("none").unwrap();
    let spec =
        TokenizerSpec::from_merges(&merges, pattern, &["<e>".to_owned()], SpecialPosition::Last).unwrap();
    Tokenizer::new(spec, 0).unwrap()
}

fn made(change: &Change) -> Vec<&[u8]> {
    change.spec.vocab.iter().map(|(_, bytes)| bytes).filter(|bytes| bytes.len() > 1).collect()
}

#[test]
fn the_first_merges_are_kept_and_special_tokens_move_up() {
    let change = tokenizer().resized(259).unwrap();
    assert_eq!(made(&change), [&b"ab"[..], b"abc"]);
    assert_eq!(change.new_ids[255..], [Some(255), Some(256), Some(257), None, None, Some(258)]);
    assert_eq!((change.builders, change.first_merges), (0, Some(2)));
    assert_eq!(change.spec.special.id_of("<e>"), Some(258));
    for size in [0, 256, 262] {
        let error = tokenizer().resized(size).unwrap_err().to_string();
        assert!(error.contains("from 257") && error.contains("to 261"), "{error}");
    }
}

#[test]
fn parts_of_kept_tokens_stay() {
    let wanted: Vec<bool> = (0..261).map(|id| id == 259).collect();
    let change = tokenizer().pruned(&wanted).unwrap();
    assert_eq!(change.spec.merges.len(), 4);
    assert_eq!(change.builders, 3);
    let wanted: Vec<bool> = (0..261).map(|id| id == 258).collect();
    let change = tokenizer().pruned(&wanted).unwrap();
    assert_eq!(made(&change), [b"de"]);
    assert_eq!((change.builders, change.first_merges), (0, None));
    assert!(matches!(tokenizer().pruned(&[true]), Err(Error::Argument(_))));
}

#[test]
fn uses_go_over_to_the_parts() {
    let mut uses = vec![0; 261];
    (uses[257], uses[258], uses[259]) = (3, 5, 4);
    // abcde goes first: nothing is made of it. Then abc has 7 uses and de has 9.
    let change = tokenizer().pruned_to(&uses, 260).unwrap();
    assert_eq!(made(&change), [&b"ab"[..], b"abc", b"de"]);
    let change = tokenizer().pruned_to(&uses, 259).unwrap();
    assert_eq!(made(&change), [&b"ab"[..], b"de"]);
    let change = tokenizer().pruned_to(&uses, 258).unwrap();
    assert_eq!(made(&change), [b"de"]);
    assert!(tokenizer().pruned_to(&uses, 256).is_err());
}

#[test]
fn the_merge_that_happens_is_the_one_that_counts() {
    // Of abc = a + bc and abc = ab + c only the second ever happens: ab merges first.
    let pattern = PreTokenizer::new("none").unwrap();
    let mut spec =
        TokenizerSpec::from_merges(&[(97, 98), (98, 99)], pattern, &[], SpecialPosition::Last).unwrap();
    spec.vocab = Vocabulary::new(spec.vocab.iter().chain([(258, &b"abc"[..])])).unwrap();
    spec.merges.extend([(97, 257), (256, 99)]);
    let tokenizer = Tokenizer::new(spec, 0).unwrap();
    let wanted: Vec<bool> = (0..259).map(|id| id == 258).collect();
    let change = tokenizer.pruned(&wanted).unwrap();
    assert_eq!(made(&change), [&b"ab"[..], b"abc"]);
    assert_eq!(change.spec.merges, [(97, 98), (256, 99)]);
}

#[test]
fn more_tokens_come_behind_all_others() {
    let spec = tokenizer().spec().extended(&[(120, 121), (261, 259)]).unwrap();
    assert_eq!(spec.vocab.bytes(261), Some(&b"xy"[..]));
    assert_eq!(spec.vocab.bytes(262), Some(&b"xyabcde"[..]));
    assert_eq!(spec.special.id_of("<e>"), Some(260));
    assert_eq!(spec.vocab_size(), 263);
    for faulty in [(120, 262), (260, 97), (97, 98)] {
        assert!(matches!(tokenizer().spec().extended(&[faulty]), Err(Error::Vocabulary(_))), "{faulty:?}");
    }
    let change = Tokenizer::new(spec, 0).unwrap().resized(262).unwrap();
    assert_eq!(change.new_ids[259..], [Some(259), Some(260), Some(261), None]);
}

#[test]
fn uses_are_counted_by_pre_tokens_and_by_whole_documents_alike() {
    let mut spec = tokenizer().spec().clone();
    let plain = Tokenizer::new(spec.clone(), 0).unwrap();
    // A flag that pre-tokens alone do not tell of, and that changes nothing here.
    let flags = crate::special::TokenFlags { single_word: true, ..Default::default() };
    let tokens = spec.special.tokens().iter().map(|token| SpecialToken { flags, ..token.clone() });
    spec.special = SpecialTokens::new(tokens.collect()).unwrap();
    let flagged = Tokenizer::new(spec, 0).unwrap();
    let documents: [&[u8]; 3] = [b"abcde <e> abc", b"de", b""];
    let mut all = Vec::new();
    for tokenizer in [&plain, &flagged] {
        let mut counter = UseCounter::new(tokenizer, 1).unwrap();
        counter.feed_documents(&documents, &mut go).unwrap();
        let mut file = std::io::Cursor::new(b"abab\xff");
        counter.feed_reader(&mut file, "x".as_ref(), InvalidUtf8::Keep, &mut go).unwrap();
        all.push(counter.finish(&mut go).unwrap());
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0][256..], [2, 1, 1, 1, 0]);
    assert_eq!((all[0][32], all[0][255]), (2, 1));
    let config = CountConfig {
        pretokenizer: PreTokenizer::new("none").unwrap(),
        special_tokens: vec!["<e>".to_owned()],
        memory_limit: None,
        folder: None,
    };
    let store = CountStore::new(config).unwrap();
    assert!(UseCounter::new(&plain, 1).unwrap().feed_store(&store, &mut go).is_ok());
    assert!(UseCounter::new(&flagged, 1).unwrap().feed_store(&store, &mut go).is_err());
}

#[test]
fn training_goes_on_where_it_stopped() {
    let text: [&[u8]; 1] = [b"abcdabcdeabcdeabcabdeabedcbabcdabcde bcd bcd abed"];
    let learn = |start: Option<&TokenizerSpec>, merges, max_token_length| {
        let config = TrainConfig { merges, max_token_length, min_frequency: 1, ..TrainConfig::default() };
        let mut trainer = if let Some(spec) = start {
            Trainer::continuing(spec, config).unwrap()
        } else {
            let specials = crate::special::SpecialMatcher::new([]).unwrap();
            Trainer::new(PreTokenizer::new("cl100k").unwrap(), specials, config).unwrap()
        };
        trainer.feed_documents(&text, &mut go).unwrap();
        trainer.finish(&mut go).unwrap().0
    };
    for longest in [None, Some(3), Some(7)] {
        let all = learn(None, 12, longest);
        for first in 0..all.merges.len() {
            let pattern = PreTokenizer::new("cl100k").unwrap();
            let spec = TokenizerSpec::from_merges(&all.merges[..first], pattern, &[], SpecialPosition::Last)
                .unwrap();
            let rest = learn(Some(&spec), 12 - first, longest);
            assert_eq!(rest.merges, all.merges[first..]);
            assert_eq!(rest.counts, all.counts[first..]);
            assert_eq!((rest.stopped, rest.base), (all.stopped, 256 + first as u32));
        }
    }
}

#[test]
fn what_changes_text_is_not_extended() {
    let mut spec = tokenizer().spec().clone();
    spec.normalizer.nfc = true;
    let error = Trainer::continuing(&spec, TrainConfig::default()).unwrap_err().to_string();
    assert!(error.contains("changes text"), "{error}");
}
