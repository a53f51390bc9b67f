//! The compiled tokenizer from outside: every entry point agrees, cuts fit, errors name their place.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not marked as tests")]

use byteloom_core::Error;
use byteloom_core::cache::DEFAULT_CACHE_BYTES;
use byteloom_core::normalize::{Normalizer, Prefix};
use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{Roles, SpecialPosition, TokenizerSpec};
use byteloom_core::special::SpecialMatcher;
use byteloom_core::stream::StreamDecoder;
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::{SpecialPolicy, SpecialSet, Tokenizer};
use byteloom_core::train::{TrainConfig, Trainer};
use proptest::prelude::*;

const SAMPLE: &str = "Low lower lowest, the café's 1234 naïve — 你好 你好, the the  \n\n the 👍👍🏽 x²!\r\n";
const SPECIALS: [&str; 3] = ["<|end|>", "<|", "<|end|><|end|>"];

fn trained(pattern: &str, position: SpecialPosition, cache_bytes: usize) -> Tokenizer {
    let config = TrainConfig { merges: 120, ..TrainConfig::default() };
    let pretokenizer = PreTokenizer::new(pattern).unwrap();
    let mut trainer = Trainer::new(pretokenizer.clone(), SpecialMatcher::new([]).unwrap(), config).unwrap();
    trainer.feed_documents(&[SAMPLE.as_bytes(), SAMPLE.as_bytes()], &mut |_| Ok(())).unwrap();
    let (learned, _) = trainer.finish(&mut |_| Ok(())).unwrap();
    let names = SPECIALS.map(str::to_owned);
    let mut spec = TokenizerSpec::from_merges(&learned.merges, pretokenizer, &names, position).unwrap();
    Roles { bos: Some("<|"), eos: Some("<|end|>"), pad: None }.assign(&mut spec.special).unwrap();
    Tokenizer::new(spec, cache_bytes).unwrap()
}

fn encode(tokenizer: &Tokenizer, text: &[u8], policy: &SpecialPolicy) -> Vec<TokenId> {
    let mut ids = Vec::new();
    tokenizer.encode_into(text, policy, &mut ids, &mut || Ok(())).unwrap();
    ids
}

fn decode(tokenizer: &Tokenizer, ids: &[TokenId]) -> Vec<u8> {
    let mut bytes = Vec::new();
    tokenizer.decode_into(ids, false, &mut bytes).unwrap();
    bytes
}

/// Text that mixes whole words of the sample, special tokens, their halves, and any bytes.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(SAMPLE.split_inclusive(' ').collect::<Vec<_>>())
            .prop_map(|word| word.as_bytes().to_vec()),
        prop::sample::select(SPECIALS.to_vec()).prop_map(|special| special.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
        prop::sample::select(vec![" ", "  ", "\n", "é", "👍", "<|en", "|>"])
            .prop_map(|s| s.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_entry_point_agrees(
        text in texts(),
        pattern in prop::sample::select(vec!["cl100k", "gpt2", "o200k", "course-ws", "none", r"\w+"]),
        first in any::<bool>(),
    ) {
        let position = if first { SpecialPosition::First } else { SpecialPosition::Last };
        let tokenizer = trained(pattern, position, DEFAULT_CACHE_BYTES);
        let uncached = tokenizer.with_cache_bytes(0);
        let allow_all = tokenizer.policy(SpecialSet::All, SpecialSet::All).unwrap();
        for policy in [tokenizer.ordinary(), &*allow_all] {
            let ids = encode(&tokenizer, &text, policy);
            prop_assert_eq!(&encode(&tokenizer, &text, policy), &ids, "from the cache");
            prop_assert_eq!(&encode(&uncached, &text, policy), &ids, "without a cache");
            prop_assert_eq!(&decode(&tokenizer, &ids), &text);
            prop_assert_eq!(tokenizer.count(&text, policy, &mut || Ok(())).unwrap(), ids.len());

            let (same, spans) = tokenizer.encode_spans(&text, policy, &mut || Ok(())).unwrap();
            prop_assert_eq!(&same, &ids);
            let joined: Vec<u8> = spans.iter().flat_map(|span| text[span.clone()].to_vec()).collect();
            prop_assert_eq!(&joined, &text);
            for (span, &id) in spans.iter().zip(&ids) {
                prop_assert_eq!(&text[span.clone()], tokenizer.token_bytes(id).unwrap());
            }

            let mut stream = StreamDecoder::new(tokenizer.clone(), false);
            let mut shown = String::new();
            for &id in &ids {
                let piece = stream.feed(&[id]).unwrap();
                shown.push_str(&piece);
            }
            shown.push_str(&stream.flush());
            prop_assert_eq!(&shown, &String::from_utf8_lossy(&text));
            let (whole, starts) = tokenizer.decode_with_starts(&ids, false).unwrap();
            prop_assert_eq!(&whole, &shown);
            prop_assert_eq!(starts.len(), ids.len());
            prop_assert!(starts.is_sorted());
        }
    }

    #[test]
    fn cuts_fit_and_lose_nothing(text in texts(), max_tokens in 1..12usize) {
        let tokenizer = trained("cl100k", SpecialPosition::Last, DEFAULT_CACHE_BYTES);
        let allow_all = tokenizer.policy(SpecialSet::All, SpecialSet::All).unwrap();
        for policy in [tokenizer.ordinary(), &*allow_all] {
            let count = |part: &[u8]| tokenizer.count(part, policy, &mut || Ok(())).unwrap();
            let end = tokenizer.truncate(&text, max_tokens, policy, &mut || Ok(())).unwrap();
            prop_assert!(count(&text[..end]) <= max_tokens);
            prop_assert!(end == text.len() || count(&text) > max_tokens);
            match tokenizer.chunk(&text, max_tokens, policy, &mut || Ok(())) {
                Ok(chunks) => {
                    let mut at = 0;
                    for chunk in chunks {
                        prop_assert_eq!(chunk.start, at);
                        prop_assert!(!chunk.is_empty() && count(&text[chunk.clone()]) <= max_tokens);
                        at = chunk.end;
                    }
                    prop_assert_eq!(at, text.len());
                }
                Err(error) => prop_assert!(max_tokens < 4, "{error}"),
            }
            if let Ok(valid) = std::str::from_utf8(&text) {
                prop_assert!(valid.is_char_boundary(end));
            }
        }
    }

    #[test]
    fn threads_change_nothing(rows in prop::collection::vec(texts(), 0..40), threads in 1..5usize) {
        // Rows long enough that several threads start.
        let rows: Vec<Vec<u8>> = rows.into_iter().map(|row| row.repeat(200)).collect();
        let tokenizer = trained("gpt2", SpecialPosition::Last, 1 << 18);
        let policy = tokenizer.ordinary();
        let batch = tokenizer.encode_batch(&rows, policy, threads, Vec::new(), &mut || Ok(())).unwrap();
        let expected: Vec<Vec<TokenId>> = rows.iter().map(|row| encode(&tokenizer, row, policy)).collect();
        prop_assert_eq!(&batch.ids, &expected.concat());
        let mut ends = Vec::new();
        for row in &expected {
            ends.push(ends.last().copied().unwrap_or(0) + row.len());
        }
        prop_assert_eq!(&batch.ends, &ends);
        let counts = tokenizer.count_batch(&rows, policy, threads, &mut || Ok(())).unwrap();
        prop_assert_eq!(counts, expected.iter().map(Vec::len).collect::<Vec<_>>());
        let decoded = tokenizer.decode_batch(&expected, false, threads, &mut || Ok(())).unwrap();
        prop_assert_eq!(decoded, rows);
    }
}

#[test]
fn allow_and_deny_sets() {
    let tokenizer = trained("gpt2", SpecialPosition::Last, 0);
    let end = tokenizer.spec().special.id_of("<|end|>").unwrap();
    let text = "é<|end|>".as_bytes();
    let denied = |policy: &SpecialPolicy| {
        tokenizer
            .encode_into(text, policy, &mut Vec::new(), &mut || Ok(()))
            .map_err(|error| error.to_string())
    };
    let message = denied(tokenizer.deny_all()).unwrap_err();
    assert!(message.contains("\"<|end|>\" at character 1 (byte 2)"), "{message}");
    let some = |allowed: &'static [&'static str], disallowed| {
        tokenizer.policy(SpecialSet::Names(allowed), disallowed).unwrap().into_owned()
    };
    assert_eq!(encode(&tokenizer, text, &some(&["<|end|>"], SpecialSet::All)).last(), Some(&end));
    assert!(denied(&some(&["<|"], SpecialSet::All)).is_err());
    // `<|` is all that may be found, so it is.
    let only = some(&["<|"], SpecialSet::Names(&[]));
    assert!(encode(&tokenizer, text, &only).contains(&tokenizer.spec().special.id_of("<|").unwrap()));
    assert!(denied(&some(&[], SpecialSet::Names(&["<|end|><|end|>"]))).is_ok());
    let unknown = tokenizer.policy(SpecialSet::Names(&["<x>"]), SpecialSet::All).unwrap_err();
    assert!(unknown.to_string().contains("\"<x>\""));
}

#[test]
fn the_first_faulty_text_is_named_whatever_the_threads() {
    let tokenizer = trained("gpt2", SpecialPosition::Last, 0);
    let mut rows = vec!["a word ".repeat(20_000); 40];
    rows[11].push_str("<|end|>");
    rows[30].insert_str(0, "<|end|>");
    for threads in [1, 2, 8] {
        let error = tokenizer
            .encode_batch(&rows, tokenizer.deny_all(), threads, Vec::new(), &mut || Ok(()))
            .unwrap_err();
        assert!(error.to_string().starts_with("text 11: "), "{error}");
    }
}

#[test]
fn an_interrupt_ends_long_work() {
    let tokenizer = trained("gpt2", SpecialPosition::Last, 0);
    let rows = vec!["a word ".repeat(20_000); 40];
    for threads in [1, 3] {
        let mut calls = 0;
        let mut poll = || {
            calls += 1;
            if calls > 5 { Err(Error::Interrupted) } else { Ok(()) }
        };
        let result = tokenizer.encode_batch(&rows, tokenizer.ordinary(), threads, Vec::new(), &mut poll);
        assert!(matches!(result, Err(Error::Interrupted)));
        assert_eq!(calls, 6);
    }
}

#[test]
fn unknown_ids_are_named_and_lose_nothing() {
    let tokenizer = trained("gpt2", SpecialPosition::First, 0);
    let end = tokenizer.spec().max_token_id() + 1;
    let error = tokenizer.decode_into(&[5, 6, end], false, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), format!("id {end} at position 2 is not in the vocabulary"));
    let mut stream = StreamDecoder::new(tokenizer.clone(), false);
    let byte = |byte: u8| tokenizer.spec().vocab.id(&[byte]).unwrap();
    assert_eq!(stream.feed(&[byte(0xC3)]).unwrap(), "");
    assert!(stream.feed(&[byte(0xA9), end]).is_err());
    assert_eq!(stream.feed(&[byte(0xA9)]).unwrap(), "é");
}

#[test]
fn specs_that_do_not_fit_together_are_refused() {
    let tokenizer = trained("gpt2", SpecialPosition::Last, 0);
    let taken = [("<x>".to_owned(), Some(65))];
    let error = tokenizer.spec().with_special_tokens(&taken, Roles::default()).unwrap_err();
    assert!(error.to_string().contains("id 65"), "{error}");
    let moved = [("<|end|>".to_owned(), Some(5000))];
    assert!(tokenizer.spec().with_special_tokens(&moved, Roles::default()).is_err());
    let role = Roles { pad: Some("<pad>"), ..Roles::default() };
    assert!(tokenizer.spec().with_special_tokens(&[], role).is_err());
    let more = tokenizer.spec().with_special_tokens(&[("<pad>".to_owned(), None)], role).unwrap();
    assert_eq!(more.special.pad, Some(tokenizer.spec().max_token_id() + 1));
    assert_eq!(more.special.eos, tokenizer.spec().special.eos);
}

#[test]
fn fingerprints_follow_ids_and_nothing_else() {
    let tokenizer = trained("gpt2", SpecialPosition::Last, 0);
    let mut spec = tokenizer.spec().clone();
    spec.metadata = serde_json::json!({"note": 1});
    assert_eq!(Tokenizer::new(spec.clone(), 1 << 20).unwrap().fingerprint(), tokenizer.fingerprint());
    spec.merges.swap(0, 1);
    assert_ne!(Tokenizer::new(spec, 0).unwrap().fingerprint(), tokenizer.fingerprint());
    let other = trained("cl100k", SpecialPosition::Last, 0);
    assert_ne!(other.fingerprint(), tokenizer.fingerprint());
}

/// The same tokenizer, but for a second pattern that cuts nothing: so no text takes the way of short ones.
fn in_blocks(tokenizer: &Tokenizer) -> Tokenizer {
    let mut spec = tokenizer.spec().clone();
    let members = vec![spec.pretokenizer.clone(), PreTokenizer::new("none").unwrap()];
    spec.pretokenizer = PreTokenizer::sequence(members).unwrap();
    Tokenizer::new(spec, tokenizer.cache_bytes()).unwrap()
}

fn assert_short_way_agrees(short: &Tokenizer, blocks: &Tokenizer, text: &[u8]) {
    let allow_all = short.policy(SpecialSet::All, SpecialSet::All).unwrap();
    let some = short.policy(SpecialSet::Names(&["<|"]), SpecialSet::Names(&[])).unwrap();
    for policy in [short.ordinary(), &*allow_all, &*some] {
        let expected = encode(blocks, text, policy);
        // First as new text, then as known.
        for _ in 0..2 {
            assert_eq!(encode(short, text, policy), expected);
            let ids = short.with_short_ids(text, policy, <[TokenId]>::to_vec);
            assert!(ids.is_none_or(|ids| ids == expected));
        }
        assert_eq!(blocks.with_short_ids(text, policy, <[TokenId]>::len), None);
    }
}

#[test]
fn short_texts_of_every_length_have_the_ids_of_blocks() {
    for pattern in ["gpt2", "cl100k", "o200k", "none"] {
        for cache_bytes in [0, DEFAULT_CACHE_BYTES] {
            let short = trained(pattern, SpecialPosition::Last, cache_bytes);
            let blocks = in_blocks(&short);
            let long = [SAMPLE, "0 1 22 333 ", "é", "\u{1F44D}!?", "a-b", "lowestlowestlowest low "];
            for text in long.map(|text| text.repeat(125)) {
                for length in (0..20).chain(40..50).chain(235..246) {
                    assert_short_way_agrees(&short, &blocks, &text.as_bytes()[..length]);
                }
            }
            assert!(short.with_short_ids(b"low, lowest", short.ordinary(), <[TokenId]>::len).is_some());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn short_texts_have_the_ids_of_blocks(
        texts in prop::collection::vec(texts(), 1..4),
        pattern in prop::sample::select(vec!["gpt2", "cl100k", "o200k", "qwen2", "simple"]),
        nfc in any::<bool>(),
        prefix in prop::sample::select(vec![Prefix::None, Prefix::None, Prefix::Text, Prefix::Segment]),
    ) {
        let mut spec = trained(pattern, SpecialPosition::First, 0).spec().clone();
        spec.normalizer = Normalizer { nfc, space_sign: false, prefix };
        let short = Tokenizer::new(spec, 1 << 18).unwrap();
        let blocks = in_blocks(&short);
        for text in texts {
            assert_short_way_agrees(&short, &blocks, &text);
        }
    }
}
