//! The merge loop against a recount of everything before every merge.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::collections::HashMap;

use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::special::SpecialMatcher;
use byteloom_core::train::bpe::{Options, PairOrder, learn, learn_traced};
use byteloom_core::train::words::Words;
use byteloom_core::train::{
    Learned, PretokenCounts, Stopped, TieBreak, TraceStep, TrainConfig, Trainer, Unfinished,
};

/// Runners-up that a trace tells of here.
const RUNNERS_UP: usize = 3;

type Corpus = [(Vec<u32>, u64)];

/// What training means: count every pair, take the best by (count, `tie`), merge it, again.
fn recount(
    corpus: &Corpus,
    base: u32,
    options: &Options,
    tie: impl Fn((u32, u32), usize) -> (u64, u64),
) -> Learned {
    let mut words = corpus.to_vec();
    let mut spelled: Vec<Vec<u32>> = (0..base).map(|symbol| vec![symbol]).collect();
    let (mut merges, mut counts, mut tied, mut trace) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let stopped = loop {
        let mut pairs: HashMap<(u32, u32), (u64, usize)> = HashMap::new();
        let mut place = 0;
        for (word, weight) in &words {
            for pair in word.windows(2) {
                pairs.entry((pair[0], pair[1])).or_insert((0, place)).0 += weight;
                place += 1;
            }
        }
        let longest = options.max_token_length.unwrap_or(usize::MAX);
        pairs.retain(|&(left, right), _| {
            let made = [&spelled[left as usize][..], &spelled[right as usize]].concat();
            made.len() <= longest && !options.taken.contains(&made)
        });
        let mut ranking: Vec<_> = pairs.into_iter().collect();
        ranking.sort_by_key(|&(pair, (count, first))| (!count, tie(pair, first)));
        let best = ranking.first().copied();
        let Some(((left, right), (count, _))) = best.filter(|_| merges.len() < options.merges) else {
            break if merges.len() == options.merges { Stopped::VocabSize } else { Stopped::NoPairs };
        };
        if count < options.min_frequency {
            break Stopped::MinFrequency;
        }
        let next = ranking[1..].iter().filter(|(_, (count, _))| *count >= options.min_frequency);
        let as_often = ranking.iter().filter(|(_, (other, _))| *other == count).count() as u64;
        tied.push(as_often > 1);
        trace.push(TraceStep {
            tied: as_often,
            runners_up: next.map(|&(pair, (count, _))| (pair, count)).take(RUNNERS_UP).collect(),
        });
        let new = base + merges.len() as u32;
        for (word, _) in &mut words {
            let mut from = 0;
            let mut out = Vec::new();
            while from < word.len() {
                let here = word[from..].starts_with(&[left, right]);
                out.push(if here { new } else { word[from] });
                from += if here { 2 } else { 1 };
            }
            *word = out;
        }
        spelled.push([&spelled[left as usize][..], &spelled[right as usize]].concat());
        merges.push((left, right));
        counts.push(count);
    };
    let mut unfinished = Unfinished::default();
    for (word, weight) in words.iter().filter(|(word, _)| word.len() > 1) {
        unfinished.words += 1;
        unfinished.weight += weight;
        unfinished.pairs += weight * (word.len() as u64 - 1);
    }
    Learned { base, merges, counts, tied, unfinished: Some(unfinished), stopped, trace: Some(trace) }
}

fn smallest((left, right): (u32, u32), _: usize) -> (u64, u64) {
    (left.into(), right.into())
}

fn first(_: (u32, u32), place: usize) -> (u64, u64) {
    (place as u64, 0)
}

/// The code point of the character that shows a byte in GPT-2's files; other ids come after them, in order.
fn shown(id: u32) -> u64 {
    let printable = |byte: u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    match id {
        byte if byte > 255 => 1000 + u64::from(byte),
        byte if printable(byte) => byte.into(),
        byte => 256 + (0..byte).filter(|&lower| !printable(lower)).count() as u64,
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Distinct words over a tiny alphabet with weights, and options.
    fn case(&mut self, alphabet: &[u32], round: u64) -> (Vec<(Vec<u32>, u64)>, Options) {
        let letters = 1 + self.below(5);
        let longest = 1 + self.below(if round.is_multiple_of(7) { 60 } else { 10 });
        let heaviest = 1 + self.below(12);
        let mut corpus: Vec<(Vec<u32>, u64)> = Vec::new();
        for _ in 0..=self.below(30) {
            let word: Vec<u32> =
                (0..=self.below(longest)).map(|_| alphabet[self.below(letters) as usize]).collect();
            if corpus.iter().all(|(known, _)| *known != word) {
                corpus.push((word, 1 + self.below(heaviest)));
            }
        }
        let options = Options {
            merges: self.below(40) as usize,
            min_frequency: 1 + self.below(3),
            max_token_length: [None, Some(2 + self.below(5) as usize)][self.below(2) as usize],
            order: PairOrder::SmallestPair,
            taken: Vec::new(),
        };
        (corpus, options)
    }
}

fn trained(corpus: &Corpus, options: &Options, tie_break: TieBreak) -> Learned {
    let mut counts = PretokenCounts::new();
    for (word, weight) in corpus {
        let bytes: Vec<u8> = word.iter().map(|&symbol| symbol as u8).collect();
        counts.add(&bytes, *weight).unwrap();
    }
    let learn = |trace, counts| {
        let config = TrainConfig {
            merges: options.merges,
            min_frequency: options.min_frequency,
            max_token_length: options.max_token_length,
            tie_break,
            trace,
            ..TrainConfig::default()
        };
        let none = SpecialMatcher::new([]).unwrap();
        let mut trainer = Trainer::new(PreTokenizer::new("none").unwrap(), none, config).unwrap();
        trainer.feed_counts(counts).unwrap();
        trainer.finish(&mut |_| Ok(())).unwrap().0
    };
    let traced = learn(Some(RUNNERS_UP), counts.clone());
    // A trace changes nothing but itself.
    assert_eq!(learn(None, counts), Learned { trace: None, ..traced.clone() });
    traced
}

#[test]
fn every_merge_is_the_best_of_a_recount() {
    let mut random = Random(7);
    // Printable and not, in an order that differs between the two numberings.
    let alphabet = [b'a', b' ', 0xAD, b'b', 0xE9].map(u32::from);
    for round in 0..2_000 {
        let (corpus, options) = random.case(&alphabet, round);
        let seen = |tie_break| trained(&corpus, &options, tie_break);
        let context = || format!("{corpus:?} {options:?}");
        assert_eq!(seen(TieBreak::SmallestPair), recount(&corpus, 256, &options, smallest), "{}", context());
        assert_eq!(seen(TieBreak::FirstSeen), recount(&corpus, 256, &options, first), "{}", context());
        let by_character = |(left, right), _| (shown(left), shown(right));
        assert_eq!(
            seen(TieBreak::HuggingFace),
            recount(&corpus, 256, &options, by_character),
            "{}",
            context()
        );
    }
}

#[test]
fn any_alphabet_will_do() {
    let mut random = Random(8);
    for (base, alphabet) in [(5, [3, 0, 4, 1, 2]), (100_000, [99_999, 7, 65_536, 70_000, 0])] {
        for round in 0..600 {
            let (corpus, mut options) = random.case(&alphabet, round);
            for order in [PairOrder::SmallestPair, PairOrder::FirstSeen] {
                options.order = order;
                let words = |planned| {
                    let mut words = Words::with_capacity(base, planned, 0, 0).unwrap();
                    for (word, weight) in &corpus {
                        words.push(word.iter().copied(), *weight).unwrap();
                    }
                    words
                };
                let learned =
                    learn_traced(words(options.merges), &options, RUNNERS_UP, &mut |_| Ok(())).unwrap();
                // Cells of 16 bits where ids fit, and of 32 bits.
                for planned in [options.merges, 70_000] {
                    let plain = learn(words(planned), &options, &mut |_| Ok(())).unwrap();
                    assert_eq!(plain, Learned { trace: None, ..learned.clone() });
                }
                let expected = match order {
                    PairOrder::SmallestPair => recount(&corpus, base, &options, smallest),
                    PairOrder::FirstSeen => recount(&corpus, base, &options, first),
                };
                assert_eq!(learned, expected, "{corpus:?} {options:?}");
            }
        }
    }
}

#[test]
fn taken_sequences_are_never_made() {
    let mut random = Random(10);
    let alphabet = [1, 0, 3, 2, 4];
    for round in 0..2_000 {
        let (corpus, mut options) = random.case(&alphabet, round);
        for _ in 0..=random.below(3) {
            let sequence = (0..2 + random.below(3)).map(|_| random.below(2) as u32).collect();
            options.taken.push(sequence);
        }
        for order in [PairOrder::SmallestPair, PairOrder::FirstSeen] {
            options.order = order;
            let words = || {
                let mut words = Words::with_capacity(5, options.merges, 0, 0).unwrap();
                for (word, weight) in &corpus {
                    words.push(word.iter().copied(), *weight).unwrap();
                }
                words
            };
            let traced = learn_traced(words(), &options, RUNNERS_UP, &mut |_| Ok(())).unwrap();
            let expected = match order {
                PairOrder::SmallestPair => recount(&corpus, 5, &options, smallest),
                PairOrder::FirstSeen => recount(&corpus, 5, &options, first),
            };
            assert_eq!(traced, expected, "{corpus:?} {options:?}");
            let learned = learn(words(), &options, &mut |_| Ok(())).unwrap();
            assert_eq!(learned, Learned { trace: None, ..traced }, "{corpus:?} {options:?}");
        }
    }
}

fn bytes(words: &[(&str, u64)]) -> Vec<(Vec<u32>, u64)> {
    words.iter().map(|(word, weight)| (word.bytes().map(u32::from).collect(), *weight)).collect()
}

fn options(merges: usize, min_frequency: u64) -> Options {
    let order = PairOrder::SmallestPair;
    Options { merges, min_frequency, max_token_length: None, order, taken: Vec::new() }
}

#[test]
fn small_examples() {
    let learned = trained(&bytes(&[("aaabdaaabac", 1)]), &options(3, 1), TieBreak::FirstSeen);
    assert_eq!(learned.merges, [(97, 97), (256, 97), (257, 98)]);
    assert_eq!(learned.counts, [4, 2, 2]);
    let learned = trained(&bytes(&[("aaaa", 1)]), &options(9, 1), TieBreak::SmallestPair);
    assert_eq!((learned.merges, learned.counts), (vec![(97, 97), (256, 256)], vec![3, 1]));
    assert_eq!(learned.stopped, Stopped::NoPairs);
    let learned = trained(&[], &options(9, 1), TieBreak::SmallestPair);
    assert_eq!((learned.merges.len(), learned.stopped), (0, Stopped::NoPairs));
}

#[test]
fn counts_need_64_bits() {
    let learned = trained(
        &bytes(&[("ab", 3_000_000_000), ("abcd", 3_000_000_000), ("cd", 5)]),
        &options(3, 1),
        TieBreak::SmallestPair,
    );
    assert_eq!(learned.merges, [(97, 98), (99, 100), (256, 257)]);
    assert_eq!(learned.counts, [6_000_000_000, 3_000_000_005, 3_000_000_000]);
    let learned =
        trained(&bytes(&[("ab", 3_000_000_000), ("cd", 5)]), &options(9, 6), TieBreak::SmallestPair);
    assert_eq!((learned.counts, learned.stopped), (vec![3_000_000_000], Stopped::MinFrequency));
}

/// Enough distinct words for several tidy-ups of the lists and for counts on both sides of the bucket limit.
#[test]
fn a_larger_corpus() {
    let mut random = Random(9);
    let mut corpus: Vec<(Vec<u32>, u64)> = Vec::new();
    let mut known = std::collections::HashSet::new();
    while corpus.len() < 6_000 {
        let word: Vec<u32> =
            (0..3 + random.below(9)).map(|_| 97 + (random.below(25) * random.below(2)) as u32).collect();
        if known.insert(word.clone()) {
            corpus.push((word, 1 + 3_000 / (1 + corpus.len() as u64)));
        }
    }
    for tie_break in [TieBreak::SmallestPair, TieBreak::FirstSeen] {
        let options = options(300, 2);
        let expected = match tie_break {
            TieBreak::FirstSeen => recount(&corpus, 256, &options, first),
            _ => recount(&corpus, 256, &options, smallest),
        };
        assert!(expected.counts[0] > 5_000 && expected.counts[299] < 4_000);
        assert_eq!(trained(&corpus, &options, tie_break), expected);
    }
}
