//! Explanations against the encoding path: ids, spans, ranks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not marked as tests")]

use byteloom_core::explain::{Explainer, Limits, PreToken, Record, SEGMENT};
use byteloom_core::merge::SymbolKind;
use byteloom_core::normalize::Prefix;
use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::{SpecialPolicy, SpecialSet, Tokenizer};
use byteloom_core::vocab::Vocabulary;
use proptest::prelude::*;

const ALL: Limits = Limits { steps: usize::MAX, losers: usize::MAX };

/// `a a`, `aa a`, `a b`, `ab ab`, `b a`.
const MERGES: [(u32, u32); 5] = [(97, 97), (256, 97), (97, 98), (258, 258), (98, 97)];

fn tokenizer(pattern: &str, whole_tokens: bool) -> Tokenizer {
    let names = ["<|x|>".to_owned()];
    let pretokenizer = PreTokenizer::new(pattern).unwrap();
    let mut spec = TokenizerSpec::from_merges(&MERGES, pretokenizer, &names, SpecialPosition::Last).unwrap();
    spec.whole_tokens = whole_tokens;
    Tokenizer::new(spec, 0).unwrap()
}

fn records(tokenizer: &Tokenizer, text: &[u8], policy: &SpecialPolicy, limits: Limits) -> Vec<Record> {
    let mut explainer = Explainer::new(tokenizer, text, policy, limits).unwrap();
    let mut all = Vec::new();
    while let Some(record) = explainer.next(text, &mut || Ok(())).unwrap() {
        all.push(record);
    }
    assert!(explainer.next(text, &mut || Ok(())).unwrap().is_none());
    all
}

fn pretokens(records: &[Record]) -> Vec<&PreToken> {
    let mut all = Vec::new();
    for record in records {
        if let Record::PreToken(pretoken) = record {
            all.push(pretoken.as_ref());
        }
    }
    all
}

/// Follows the steps of a record by the rule as it is stated.
fn check_steps(record: &PreToken, merges: &[(u32, u32)]) {
    let rank = |left, right| merges.iter().position(|&pair| pair == (left, right));
    let mut state: Vec<(TokenId, usize)> = Vec::new();
    let mut at = 0;
    for &(id, length, _) in &record.symbols {
        state.push((id, at));
        at += length;
    }
    for step in &record.trace.steps {
        let pairs = (0..state.len() - 1).filter_map(|at| Some((rank(state[at].0, state[at + 1].0)?, at)));
        let mut expected: Vec<(usize, usize)> = pairs.collect();
        expected.sort_unstable();
        let shown = std::iter::once(&step.pair).chain(&step.losers);
        let found: Vec<_> = shown.map(|pair| (pair.rank as usize, pair.at)).collect();
        assert_eq!(found, expected);
        for pair in step.losers.iter().chain([&step.pair]) {
            let (left, right) = (state[pair.at], state[pair.at + 1]);
            assert_eq!((pair.left, pair.right, pair.start), (left.0, right.0, left.1));
        }
        state[step.pair.at].0 = step.pair.result;
        state.remove(step.pair.at + 1);
        let end = state.get(step.pair.at + 1).map_or(at, |next| next.1);
        assert_eq!((step.end, step.losers_left_out), (end, 0));
    }
    assert_eq!(state.iter().map(|&(id, _)| id).collect::<Vec<_>>(), record.trace.ids);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn explanation_and_engine_agree(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["a", "b", "ab", "aaa", "abab", " ", "c", "é", "<|x|>", "\n"]), 0..40),
        damage in prop::option::of(any::<u8>()),
        whole in any::<bool>(),
        pattern in prop::sample::select(vec!["gpt2", "none", "[ab]+", "simple"]),
    ) {
        let mut text = pieces.concat().into_bytes();
        text.extend(damage);
        let tokenizer = tokenizer(pattern, whole);
        let policy = tokenizer.policy(SpecialSet::All, SpecialSet::All).unwrap();
        let all = records(&tokenizer, &text, &policy, ALL);
        let (ids, spans) = tokenizer.encode_spans(&text, &policy, &mut || Ok(())).unwrap();
        let characters = Tokenizer::char_spans(&text, &spans);
        let mut found = Vec::new();
        for record in &all {
            match record {
                Record::Special { id, bytes, characters } => found.push((*id, bytes.clone(), characters.clone())),
                Record::PreToken(record) => {
                    for token in &record.tokens {
                        found.push((token.id, token.bytes.clone(), token.characters.clone()));
                    }
                    check_steps(record, &MERGES);
                    let token_ids: Vec<_> = record.tokens.iter().map(|token| token.id).collect();
                    assert!(record.whole || token_ids == record.trace.ids);
                    assert_eq!(&record.piece, &text[record.bytes.clone()]);
                }
            }
        }
        let expected: Vec<_> = ids.into_iter().zip(spans).zip(characters)
            .map(|((id, bytes), characters)| (id, bytes, characters)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_long_pre_token_comes_in_segments() {
    let tokenizer = tokenizer("none", false);
    let text: Vec<u8> = (0..20_000_u32).map(|n| b"aabab"[(n * n / 7 % 5) as usize]).collect();
    let all = records(&tokenizer, &text, tokenizer.ordinary(), ALL);
    let parts = pretokens(&all);
    assert!(parts.len() > 15);
    let mut ids = Vec::new();
    let mut end = 0;
    for (number, part) in parts.iter().enumerate() {
        assert_eq!((part.index, part.segment), (0, (number, parts.len())));
        assert_eq!(part.bytes.start, end);
        assert_eq!(part.matches, [(Some(0), 0..text.len())]);
        assert!(part.piece.len() < SEGMENT + 16);
        // Each segment, merged alone, is what the whole gives there.
        let token_ids: Vec<_> = part.tokens.iter().map(|token| token.id).collect();
        assert_eq!(part.trace.ids, token_ids);
        check_steps(part, &MERGES);
        ids.extend(token_ids);
        end = part.bytes.end;
    }
    assert_eq!(end, text.len());
    let mut expected = Vec::new();
    tokenizer.encode_into(&text, tokenizer.ordinary(), &mut expected, &mut || Ok(())).unwrap();
    assert_eq!(ids, expected);
}

#[test]
fn limits_bound_what_is_told_and_not_what_is_done() {
    let tokenizer = tokenizer("none", false);
    let text = b"ababbaaabab";
    let all = records(&tokenizer, text, tokenizer.ordinary(), ALL);
    let few = records(&tokenizer, text, tokenizer.ordinary(), Limits { steps: 2, losers: 1 });
    let (all, few) = (pretokens(&all)[0], pretokens(&few)[0]);
    assert_eq!((few.trace.steps.len(), few.trace.nodes.len()), (2, all.trace.steps.len()));
    assert_eq!(
        (&few.trace.nodes, &few.trace.roots, &few.trace.ids),
        (&all.trace.nodes, &all.trace.roots, &all.trace.ids)
    );
    for (few, all) in few.trace.steps.iter().zip(&all.trace.steps) {
        assert_eq!(few.losers[..], all.losers[..1]);
        assert_eq!(few.losers.len() + few.losers_left_out, all.losers.len());
    }
}

#[test]
fn a_whole_pre_token_shows_what_it_saved() {
    let tokenizer = tokenizer("gpt2", true);
    let all = records(&tokenizer, b"abab ab", tokenizer.ordinary(), ALL);
    let parts = pretokens(&all);
    assert_eq!((parts[0].whole, parts[0].tokens[0].id, &parts[0].trace.ids[..]), (true, 259, &[259][..]));
    assert_eq!(parts[0].trace.steps.len(), 3);
    assert!(!parts[1].whole);
}

/// Characters as symbols: those without a token become bytes, or are lost; and a prefix that the text does not have.
#[test]
fn characters_and_what_has_no_token() {
    let vocab = [(300, "a"), (301, " "), (302, " a"), (303, "日"), (304, "a日")];
    let mut spec = tokenizer("none", false).spec().clone();
    spec.vocab = Vocabulary::new(vocab).unwrap();
    spec.merges = vec![(301, 300), (300, 303)];
    spec.normalizer.prefix = Prefix::Text;
    let text = "a日é日".as_bytes();
    for lossy in [false, true] {
        spec.alphabet = if lossy {
            Alphabet::CharactersOr(300)
        } else {
            Alphabet::CharactersAndBytes(Box::new(std::array::from_fn(|byte| byte as TokenId)))
        };
        let tokenizer = Tokenizer::new(spec.clone(), 0).unwrap();
        let all = records(&tokenizer, text, tokenizer.ordinary(), ALL);
        let [part] = pretokens(&all)[..] else { panic!("{all:?}") };
        assert_eq!((part.piece.as_slice(), part.bytes.clone()), (" a日é日".as_bytes(), 0..9));
        let kinds: Vec<_> = part.symbols.iter().map(|&(id, length, kind)| (id, length, kind)).collect();
        let known = |id, length| (id, length, SymbolKind::Character);
        let middle = if lossy {
            vec![(300, 2, SymbolKind::Unknown)]
        } else {
            vec![(0xC3, 1, SymbolKind::Fallback), (0xA9, 1, SymbolKind::Fallback)]
        };
        let expected =
            [vec![known(301, 1), known(300, 1), known(303, 3)], middle, vec![known(303, 3)]].concat();
        assert_eq!(kinds, expected);
        let (ids, spans) = tokenizer.encode_spans(text, tokenizer.ordinary(), &mut || Ok(())).unwrap();
        let found: Vec<_> = part.tokens.iter().map(|token| (token.id, token.bytes.clone())).collect();
        assert_eq!(found, ids.into_iter().zip(spans).collect::<Vec<_>>());
        assert_eq!((found[0].clone(), part.tokens[0].characters.clone()), ((302, 0..1), 0..1));
    }
}
