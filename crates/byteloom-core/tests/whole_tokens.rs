//! Tokens that merges do not make: whole pre-tokens are taken as they are, parts of longer ones are not.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not marked as tests")]

use byteloom_core::merge::{MergeScratch, MergeTable};
use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{SpecialPosition, TokenizerSpec};
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::vocab::Vocabulary;
use proptest::prelude::*;

/// `a a`, `a b`, `aa ab`: `c` and `d` merge with nothing, so that pre-tokens are cut beside them.
const MERGES: [(u32, u32); 3] = [(97, 97), (97, 98), (256, 257)];
/// Two that merges make something else of, one that they make, and one with a cut in it.
const EXTRA: [&[u8]; 4] = [b"ba", b"aba", b"bb", b"cab"];

fn spec(whole_tokens: bool) -> TokenizerSpec {
    let pretokenizer = PreTokenizer::new("gpt2").unwrap();
    let mut spec = TokenizerSpec::from_merges(&MERGES, pretokenizer, &[], SpecialPosition::Last).unwrap();
    let first = spec.vocab.id_end();
    let extra = (first..).zip(EXTRA);
    spec.vocab = Vocabulary::new(spec.vocab.iter().chain(extra)).unwrap();
    spec.whole_tokens = whole_tokens;
    spec
}

/// The ids of a text by the rule: one whole pre-token after another.
fn expected(spec: &TokenizerSpec, merges: &MergeTable, text: &[u8]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    let mut start = 0;
    for end in Tokenizer::new(spec.clone(), 0).unwrap().pretoken_ends(text).unwrap() {
        let piece = &text[start..end];
        match spec.vocab.id(piece) {
            Some(id) if spec.whole_tokens => ids.push(id),
            _ => {
                let length = |id| spec.vocab.bytes(id).map_or(0, <[u8]>::len);
                merges.merge(piece, length, &mut MergeScratch::default(), &mut ids);
            }
        }
        start = end;
    }
    ids
}

proptest! {
    /// Words of up to 40 letters: short ones are whole tokens at times, long ones have such tokens for parts. One
    /// tokenizer meets all texts, so that what it remembers of one meets the next.
    #[test]
    fn a_part_is_not_taken_for_a_whole(
        texts in prop::collection::vec("([abcd]{1,4} ?|[abcd]{15,40} ?){1,30}", 1..8),
        whole_tokens: bool,
        cache_bytes in prop::sample::select(vec![0, 1 << 20]),
    ) {
        let spec = spec(whole_tokens);
        let merges = MergeTable::new(&spec).unwrap();
        let tokenizer = Tokenizer::new(spec.clone(), cache_bytes).unwrap();
        for text in texts.iter().chain(&texts) {
            let mut ids = Vec::new();
            tokenizer.encode_into(text.as_bytes(), tokenizer.ordinary(), &mut ids, &mut || Ok(())).unwrap();
            prop_assert_eq!(ids, expected(&spec, &merges, text.as_bytes()), "{}", text);
        }
    }
}

#[test]
fn tokens_that_merges_do_not_make_are_whole_pretokens_only() {
    let tokenizer = Tokenizer::new(spec(true), 1 << 20).unwrap();
    let encode = |text: &str| {
        let mut ids = Vec::new();
        tokenizer.encode_into(text.as_bytes(), tokenizer.ordinary(), &mut ids, &mut || Ok(())).unwrap();
        ids
    };
    let long = format!("{}ba{}", "d".repeat(10), "c".repeat(10));
    for _ in 0..2 {
        assert_eq!(encode("ba"), [259]);
        assert!(encode(&long).ends_with(&[98, 97, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99]));
    }
}
