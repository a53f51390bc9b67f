//! Every way to merge follows the rule.

use std::collections::HashSet;
use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::error::Result;
use crate::pretokenize::PreTokenizer;
use crate::spec::SpecialPosition;
use crate::vocab::Vocabulary;

/// A spec of these tokens and merges.
fn spec(
    vocab: &Vocabulary,
    merges: &[(TokenId, TokenId)],
    ranks: Option<Vec<Rank>>,
    alphabet: Alphabet,
) -> TokenizerSpec {
    let none = PreTokenizer::new("none").unwrap();
    let mut spec = TokenizerSpec::from_merges(&[], none, &[], SpecialPosition::Last).unwrap();
    (spec.vocab, spec.merges) = (vocab.clone(), merges.to_vec());
    (spec.shared_ranks, spec.alphabet) = (ranks, alphabet);
    spec
}

fn table(vocab: &Vocabulary, merges: &[(TokenId, TokenId)]) -> Result<MergeTable> {
    MergeTable::new(&spec(vocab, merges, None, Alphabet::Bytes))
}

/// The rule as it is stated, one merge at a time; the lists of the spec and nothing that is made of them.
fn naive(mut ids: Vec<TokenId>, spec: &TokenizerSpec) -> Vec<TokenId> {
    let (merges, vocab) = (&spec.merges, &spec.vocab);
    let rank = |place: usize| spec.shared_ranks.as_ref().map_or(place as Rank, |ranks| ranks[place]);
    loop {
        let ranked = |at: usize| merges.iter().position(|&pair| pair == (ids[at], ids[at + 1])).map(rank);
        let best = (0..ids.len().saturating_sub(1)).filter_map(|at| Some((ranked(at)?, at))).min();
        let Some((_, at)) = best else { return ids };
        let joined = [vocab.bytes(ids[at]).unwrap(), vocab.bytes(ids[at + 1]).unwrap()].concat();
        ids[at] = vocab.id(&joined).unwrap();
        ids.remove(at + 1);
    }
}

/// The ids that a piece begins with, in plain words.
fn start(piece: &[u8], spec: &TokenizerSpec) -> Vec<TokenId> {
    let mut ids = Vec::new();
    let mut at = 0;
    while at < piece.len() {
        let len = if spec.alphabet == Alphabet::Bytes { 1 } else { unit_len(&piece[at..]) };
        let unit = &piece[at..at + len];
        match (&spec.alphabet, spec.vocab.id(unit).filter(|_| std::str::from_utf8(unit).is_ok())) {
            (Alphabet::Bytes, _) => ids.push(spec.vocab.id(unit).unwrap()),
            (_, Some(id)) => ids.push(id),
            (Alphabet::CharactersAndBytes(bytes), None) => {
                ids.extend(unit.iter().map(|&byte| bytes[byte as usize]));
            }
            (Alphabet::CharactersOr(id), None) => ids.push(*id),
        }
        at += len;
    }
    ids
}

/// Where a piece of a text may be cut, whether the text ends soon, where blocks do not fit, or not.
fn cut(cuts: &SafeCuts, text: &[u8], piece: Range<usize>, is_valid: bool) -> Vec<u32> {
    let (mut ends, mut by_blocks) = (Ends::default(), Ends::default());
    cuts.cut(text, piece.clone(), || is_valid, &mut ends);
    cuts.cut(&[text, &[b'.'; 80]].concat(), piece, || is_valid, &mut by_blocks);
    assert_eq!(ends.as_slice(), by_blocks.as_slice(), "{:?}", text.escape_ascii().to_string());
    ends.as_slice().to_vec()
}

/// Every way to merge gives what the rule gives, and so do the parts between cuts.
fn check(piece: &[u8], spec: &TokenizerSpec, window: usize) -> std::result::Result<(), TestCaseError> {
    let table = MergeTable::new(spec).unwrap();
    let expected = naive(start(piece, spec), spec);
    let length_of = |id: TokenId| spec.vocab.bytes(id).map_or(1, <[u8]>::len);
    let scratch = &mut MergeScratch::default();
    let id_of =
        |made: &[Symbol]| -> Vec<TokenId> { made.iter().map(|&symbol| table.symbols.id(symbol)).collect() };

    let mut ids = vec![];
    table.merge_observed(piece, scratch, &mut ids, |_| ());
    prop_assert_eq!(&ids, &expected, "as stated");
    for path in [Path::best(), Path::Portable, Path::Plain] {
        let mut ids = vec![];
        table.merge_by(path, piece, length_of, scratch, &mut ids);
        prop_assert_eq!(&ids, &expected, "{:?}", path);
        if let Some(cuts) = table.cuts() {
            let (mut ids, mut from) = (vec![], 0);
            // What stands around the piece does not matter.
            let text = [b"before ", piece, "后面".as_bytes()].concat();
            let ends = cut(cuts, &text, 7..7 + piece.len(), false);
            if std::str::from_utf8(piece).is_ok() {
                prop_assert_eq!(&cut(cuts, &text, 7..7 + piece.len(), true), &ends);
                prop_assert_eq!(&cut(cuts, &text[..7 + piece.len()], 7..7 + piece.len(), true), &ends);
            }
            prop_assert!(
                ends.is_sorted() && ends.iter().all(|&end| (8..piece.len() as u32 + 7).contains(&end))
            );
            for end in ends.iter().map(|&end| end as usize - 7).chain([piece.len()]) {
                table.merge_by(path, &piece[from..end], length_of, scratch, &mut ids);
                from = end;
            }
            prop_assert_eq!(&ids, &expected, "cut at {:?}", ends);
        }
    }
    let mut made = vec![];
    table.by_heap(piece, &mut scratch.heap, &mut made);
    prop_assert_eq!(id_of(&made), &expected[..], "heap");
    let length = |symbol: Symbol| length_of(table.symbols.id(symbol));
    if let Some(greedy) = Greedy::new(&table, &length) {
        made.clear();
        assert!(greedy.merge(&table, piece, &mut vec![], &mut scratch.heap, &mut made, usize::MAX >> 20));
        prop_assert_eq!(id_of(&made), &expected[..], "greedy");
    }
    if !matches!(spec.alphabet, Alphabet::CharactersOr(_)) {
        made.clear();
        let length_of = |symbol: Symbol| length_of(table.symbols.id(symbol));
        Windows { size: window, share: 4 }.merge(
            piece,
            length_of,
            scratch,
            &mut made,
            |part, scratch, made| {
                table.by_heap(part, &mut scratch.heap, made);
            },
        );
        prop_assert_eq!(id_of(&made), &expected[..], "windows");
    }
    Ok(())
}

/// A vocabulary over a few base tokens; `picks` choose the parts of each new token, `order` its rank.
fn vocabulary(
    mut pieces: Vec<Vec<u8>>,
    used: std::ops::Range<usize>,
    picks: &[(usize, usize, u32)],
) -> (Vocabulary, Vec<(TokenId, TokenId)>, Vec<Rank>) {
    let base = pieces.len();
    let mut merges = Vec::new();
    for &(left, right, order) in picks {
        let choices: Vec<usize> = used.clone().chain(base..pieces.len()).collect();
        let (left, right) = (choices[left % choices.len()], choices[right % choices.len()]);
        let joined = [pieces[left].as_slice(), &pieces[right]].concat();
        if joined.len() <= 40 && !merges.iter().any(|&(_, pair)| pair == (left as u32, right as u32)) {
            if !pieces.contains(&joined) {
                pieces.push(joined);
            }
            merges.push((order, (left as u32, right as u32)));
        }
    }
    merges.sort_by_key(|&(order, _)| order);
    // Ids in another order than ranks, as files may have them.
    let id = |at: usize| if at < base { at } else { base + pieces.len() - 1 - at } as TokenId;
    let renamed = |(left, right): (u32, u32)| (id(left as usize), id(right as usize));
    let ranks = merges.iter().map(|&(order, _)| order % 8).collect::<Vec<_>>();
    let merges = merges.into_iter().map(|(_, pair)| renamed(pair)).collect();
    (Vocabulary::new(pieces.iter().enumerate().map(|(at, piece)| (id(at), piece))).unwrap(), merges, ranks)
}

fn bytes() -> Vec<Vec<u8>> {
    (0..=255u8).map(|byte| vec![byte]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1200))]
    #[test]
    fn every_path_follows_the_rule(
        picks in prop::collection::vec((0..50usize, 0..50usize, any::<u32>()), 0..25),
        ordered in any::<bool>(),
        shared in prop::bool::weighted(0.2),
        piece in prop::collection::vec(97..100u8, 0..220),
        window in 2..40usize,
    ) {
        let picks: Vec<_> = (0..).zip(picks)
            .map(|(at, (left, right, order))| (left, right, if ordered { at } else { order }))
            .collect();
        let (vocab, merges, mut ranks) = vocabulary(bytes(), 97..100, &picks);
        ranks.sort_unstable();
        check(&piece, &spec(&vocab, &merges, shared.then_some(ranks), Alphabet::Bytes), window)?;
    }

    /// Tokens that begin and end inside characters, and text that is none in places.
    #[test]
    fn every_path_follows_the_rule_in_other_scripts(
        picks in prop::collection::vec((0..50usize, 0..50usize, any::<u32>()), 0..25),
        parts in prop::collection::vec(
            prop::sample::select(vec![&b"\xc3\xa9"[..], b"\xe4\xb8\x80", b"\xe4\xb8\x81", b"\xf0\x9f\x98\x80", b"a", b"\x80", b"\xe4\xb8"]),
            0..60,
        ),
        window in 6..40usize,
    ) {
        // The base tokens are in place of their bytes' values, so that the parts of new ones are of this text.
        let mut pieces = bytes();
        let used = [0xc3, 0xa9, 0xe4, 0xb8, 0x80, 0x81, 0xf0, 0x9f, 0x98, 0x61u8];
        for (at, &byte) in used.iter().enumerate() {
            let other = pieces.iter().position(|piece| piece == &[byte]).unwrap();
            pieces.swap(at, other);
        }
        let (vocab, merges, _) = vocabulary(pieces, 0..used.len(), &picks);
        check(&parts.concat(), &spec(&vocab, &merges, None, Alphabet::Bytes), window)?;
    }

    #[test]
    fn characters_follow_the_rule(
        picks in prop::collection::vec((0..50usize, 0..50usize, any::<u32>()), 0..25),
        shared in any::<bool>(),
        lossy in any::<bool>(),
        parts in prop::collection::vec(
            prop::sample::select(vec![&b"a"[..], b"\xc3\xa9", b"\xe4\xb8\x80", b"\xe4\xb8\x81", b"\xff", b"z", b"\xe4"]),
            0..70,
        ),
        window in 6..40usize,
    ) {
        let base = ["a", "é", "一", "b"].map(|character| character.as_bytes().to_vec()).to_vec();
        let (vocab, merges, mut ranks) = vocabulary(base, 0..3, &picks);
        ranks.sort_unstable();
        // The lost character goes by the name of one that merges.
        let alphabet = if lossy {
            Alphabet::CharactersOr(1)
        } else {
            Alphabet::CharactersAndBytes(Box::new(std::array::from_fn(|byte| 5000 + byte as TokenId)))
        };
        check(&parts.concat(), &spec(&vocab, &merges, shared.then_some(ranks), alphabet), window)?;
    }
}

#[test]
fn a_wider_window_may_begin_with_another_symbol() {
    // "一é一" and "é一" agree that "é" stands alone. What joins it, and the "一" before, begins after both windows.
    let [one, e] = ["一", "é"].map(|text| text.as_bytes().to_vec());
    let ones = [one.clone(), one.clone()].concat();
    let tail = [e.clone(), ones.clone()].concat();
    let whole = [one.clone(), tail.clone()].concat();
    let pieces = [one, e, ones, tail, whole.clone()];
    let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
    let alphabet = Alphabet::CharactersAndBytes(Box::new(std::array::from_fn(|byte| 5000 + byte as TokenId)));
    let spec = spec(&vocab, &[(0, 0), (1, 2), (0, 3)], None, alphabet);
    for text in [whole.clone(), whole.repeat(3), [&pieces[0], &whole[..]].concat()] {
        for window in 6..12 {
            check(&text, &spec, window).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    /// Long tokens and short windows, which often turn out to be too short.
    #[test]
    fn windows_too_short_take_text_back(
        picks in prop::collection::vec((0..50usize, 0..50usize, any::<u32>()), 4..40),
        piece in prop::collection::vec(97..99u8, 0..60),
        window in 2..12usize,
    ) {
        let picks: Vec<_> = (0..).zip(picks).map(|(at, (left, right, _))| (left, right, at)).collect();
        let (vocab, merges, _) = vocabulary(bytes(), 97..99, &picks);
        check(&piece, &spec(&vocab, &merges, None, Alphabet::Bytes), window)?;
    }
}

#[test]
fn long_runs_cross_many_windows() {
    let mut pieces = bytes();
    pieces.extend([b"aa".to_vec(), b"aaaa".to_vec()]);
    let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
    let table = table(&vocab, &[(97, 97), (256, 256)]).unwrap();
    let mut ids = Vec::new();
    let text = vec![b'a'; 3 * HEAP_WINDOWS.size + 3];
    for path in [Path::best(), Path::Plain] {
        ids.clear();
        let length_of = |id: TokenId| pieces[id as usize].len();
        table.merge_by(path, &text, length_of, &mut MergeScratch::default(), &mut ids);
        let mut expected = vec![257; 3 * HEAP_WINDOWS.size / 4];
        expected.extend([256, 97]);
        assert_eq!(ids, expected);
    }
}

#[test]
fn a_megabyte_is_merged_from_the_left_as_it_is_by_heaps() {
    let mut pieces = bytes();
    pieces.extend([b"aa".to_vec(), b"ab".to_vec(), b"aaaa".to_vec(), b"abaa".to_vec(), b"cab".to_vec()]);
    let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
    let table = table(&vocab, &[(97, 97), (97, 98), (256, 256), (257, 256), (99, 257)]).unwrap();
    // Letters that look random, and runs of one.
    let mut state = 1_u32;
    let text: Vec<u8> = (0..WORTH_GREEDY)
        .map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if at % 5000 < 1000 { b'a' } else { b'a' + (state >> 24) as u8 % 3 }
        })
        .collect();
    let ids_by = |path| {
        let mut ids = Vec::new();
        let length_of = |id: TokenId| pieces[id as usize].len();
        table.merge_by(path, &text, length_of, &mut MergeScratch::default(), &mut ids);
        ids
    };
    assert!(table.long.greedy.get().is_none());
    let from_the_left = ids_by(Path::best());
    assert!(table.long.greedy.get().is_some_and(Option::is_some));
    assert!(from_the_left == ids_by(Path::Plain));
}

#[test]
fn merges_of_one_token_apart_in_the_list_keep_their_ranks() {
    // "abc" is made in two ways, and only the later one can happen.
    let mut pieces = bytes();
    pieces.extend([b"abc".to_vec(), b"bc".to_vec(), b"cd".to_vec(), b"ab".to_vec()]);
    let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
    let merges = [(259, 99), (98, 99), (99, 100), (97, 257), (97, 98)];
    let spec = spec(&vocab, &merges, None, Alphabet::Bytes);
    for piece in ["abcd", "abc", "xabcdabc", "ab"] {
        check(piece.as_bytes(), &spec, 40).unwrap();
    }
}

#[test]
fn faulty_merges_are_refused() {
    let vocab = Vocabulary::new((0..=255u8).map(|byte| (u32::from(byte), [byte]))).unwrap();
    assert!(table(&vocab, &[(97, 98)]).unwrap_err().to_string().contains("no token"));
    assert!(table(&vocab, &[(97, 300)]).is_err());
    let pieces: Vec<Vec<u8>> = bytes().into_iter().chain([b"ab".to_vec()]).collect();
    let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
    assert!(table(&vocab, &[(97, 98), (97, 98)]).unwrap_err().to_string().contains("merge 1 "));
}

proptest! {
    /// Pieces of several blocks, at any place, near the end of their text or not.
    #[test]
    fn valid_text_is_cut_as_any_text_is(
        parts in prop::collection::vec(prop::sample::select(vec!["a", "b ", "é", "ж", "日", "本", "語", "\u{2AEA0}", "😀"]), 0..120),
        before in "[ab]{0,9}",
        behind in 0..80_usize,
        merges in prop::collection::vec((0..9_usize, 0..9_usize), 0..40),
    ) {
        let characters = ["a", "b", " ", "é", "ж", "日", "本", "語", "😀"];
        let single = (0..=255_u8).map(|byte| vec![byte]);
        let pairs: HashSet<Vec<u8>> =
            merges.iter().map(|&(left, right)| [characters[left], characters[right]].concat().into_bytes()).collect();
        // Tokens that begin or end inside a character too.
        let parts_of = pairs.iter().flat_map(|pair| [&pair[1..], &pair[..pair.len() - 1]]).map(<[u8]>::to_vec);
        let tokens: HashSet<Vec<u8>> = parts_of.chain(pairs.iter().cloned()).filter(|token| token.len() > 1).collect();
        let vocab = Vocabulary::new((0..).zip(single.chain(tokens))).unwrap();
        let (cuts, piece) = (SafeCuts::new(&vocab), parts.concat());
        let text = [before.as_bytes(), piece.as_bytes(), &vec![b'.'; behind]].concat();
        let range = before.len()..before.len() + piece.len();
        prop_assert_eq!(cut(&cuts, &text, range.clone(), true), cut(&cuts, &text, range, false));
    }
}

/// A published vocabulary, where the test data are there.
fn published(name: &str) -> Option<(TokenizerSpec, String)> {
    let data = std::env::var("BYTELOOM_TEST_DATA").ok()?;
    let file = std::fs::read(format!("{data}/vocab/{name}.tiktoken")).ok()?;
    let pattern = if name.starts_with("o200k") { "o200k" } else { "cl100k" };
    Some((crate::format::tiktoken::read(&file, Some(pattern), None).unwrap(), data))
}

#[test]
fn no_token_is_cut() {
    // Characters of one to four bytes side by side.
    let joined = ["\u{9230}\u{2C70}", "\u{2AEA0}\u{20A20}", "漢字", "é\u{300}", "aé", "日a"];
    for text in joined {
        let bytes = text.as_bytes();
        let split = text.char_indices().nth(1).unwrap().0;
        let mut merges: Vec<(TokenId, TokenId)> = Vec::new();
        let mut token = |part: &[u8]| {
            part[1..].iter().fold(TokenId::from(part[0]), |token, &byte| {
                merges.push((token, byte.into()));
                255 + merges.len() as TokenId
            })
        };
        let both = (token(&bytes[..split]), token(&bytes[split..]));
        merges.push(both);
        let pretokenizer = PreTokenizer::new("cl100k").unwrap();
        let spec = TokenizerSpec::from_merges(&merges, pretokenizer, &[], SpecialPosition::Last).unwrap();
        check(text.repeat(4).as_bytes(), &spec, 8).unwrap();
        let cuts = SafeCuts::new(&spec.vocab);
        for (_, token) in spec.vocab.iter() {
            for is_valid in [false, std::str::from_utf8(token).is_ok()] {
                let ends = cut(&cuts, token, 0..token.len(), is_valid);
                assert!(ends.is_empty(), "{text} {ends:?}");
            }
        }
    }
    for name in ["cl100k_base", "o200k_base", "llama3", "qwen3"] {
        let Some((spec, _)) = published(name) else { continue };
        let cuts = SafeCuts::new(&spec.vocab);
        for (_, token) in spec.vocab.iter() {
            let ends = cut(&cuts, token, 0..token.len(), std::str::from_utf8(token).is_ok());
            assert!(ends.is_empty(), "{name} {token:?}");
        }
    }
}

/// Words of the corpora, and fragments of tokens at random: every path, whole and cut.
#[test]
fn published_vocabularies_follow_the_rule() {
    for name in ["cl100k_base", "o200k_base", "llama3", "qwen3"] {
        let Some((spec, data)) = published(name) else { continue };
        let table = MergeTable::new(&spec).unwrap();
        let cuts = table.cuts().unwrap();
        let length = |id: TokenId| spec.vocab.bytes(id).unwrap().len();
        let symbol_length = |symbol: Symbol| length(table.symbols.id(symbol));
        let greedy = Greedy::new(&table, &symbol_length).unwrap();
        let scratch = &mut MergeScratch::default();
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        for corpus in ["english", "code", "multi", "cjk"] {
            let text = std::fs::read(format!("{data}/{corpus}.txt")).unwrap();
            let text = &text[..300_000];
            let mut start = 0;
            let tokenizer = crate::tokenizer::Tokenizer::new(spec.clone(), 0).unwrap();
            for end in tokenizer.pretoken_ends(text).unwrap() {
                pieces.push(text[start..end].to_vec());
                start = end;
            }
        }
        let tokens: Vec<&[u8]> = spec.vocab.iter().map(|(_, bytes)| bytes).collect();
        let mut random = 88_172_645_463_325_252_u64;
        let mut below = |end: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % end as u64) as usize
        };
        for _ in 0..4000 {
            let mut piece = Vec::new();
            for _ in 0..below(30) {
                let token = tokens[below(tokens.len())];
                let from = below(token.len());
                piece.extend_from_slice(&token[from..from + 1 + below(token.len() - from)]);
            }
            pieces.push(piece);
        }
        for piece in &pieces {
            let (mut expected, mut made) = (vec![], vec![]);
            table.merge_by(Path::Plain, piece, length, scratch, &mut expected);
            for path in [Path::best(), Path::Portable] {
                let (mut ids, mut parts, mut from) = (vec![], vec![], 0);
                table.merge_by(path, piece, length, scratch, &mut ids);
                assert_eq!(ids, expected, "{name} {path:?} {:?}", piece.escape_ascii().to_string());
                let ends = cut(cuts, piece, 0..piece.len(), std::str::from_utf8(piece).is_ok());
                for end in ends.iter().map(|&end| end as usize).chain([piece.len()]) {
                    table.merge_by(path, &piece[from..end], length, scratch, &mut parts);
                    from = end;
                }
                assert_eq!(parts, expected, "{name} cut {:?}", piece.escape_ascii().to_string());
            }
            assert!(greedy.merge(&table, piece, &mut vec![], &mut scratch.heap, &mut made, usize::MAX >> 40));
            let ids: Vec<TokenId> = made.iter().map(|&symbol| table.symbols.id(symbol)).collect();
            assert_eq!(ids, expected, "{name} greedy {:?}", piece.escape_ascii().to_string());
        }
    }
}

/// Random vocabularies and texts for as many seconds as `BYTELOOM_FUZZ_SECONDS` says.
#[test]
#[ignore = "takes as long as it is told to"]
fn fuzz() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let seconds =
        std::env::var("BYTELOOM_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let start = std::time::Instant::now();
    let mut runner = TestRunner::default();
    let picks = prop::collection::vec((0..60usize, 0..60usize, any::<u32>()), 0..40);
    let letters = prop::collection::vec(97..101u8, 0..400);
    let odd = prop::bool::weighted(0.3);
    let mut rounds = 0u64;
    while start.elapsed().as_secs() < seconds {
        let mut draw = || (&picks, &letters, &odd, &odd, 2..40usize).new_tree(&mut runner).unwrap().current();
        let (picks, text, unordered, shared, window) = draw();
        let picks: Vec<_> = (0..)
            .zip(picks)
            .map(|(at, (left, right, order))| (left, right, if unordered { order } else { at }))
            .collect();
        let (vocab, merges, mut ranks) = vocabulary(bytes(), 97..101, &picks);
        ranks.sort_unstable();
        let spec = spec(&vocab, &merges, (shared && unordered).then_some(ranks), Alphabet::Bytes);
        check(&text, &spec, window).unwrap();
        rounds += 1;
    }
    assert!(rounds > 0);
    std::fs::write(std::env::temp_dir().join("byteloom-fuzz-merge-rounds"), rounds.to_string()).unwrap();
}
