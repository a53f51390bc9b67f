//! The merge loop: learns byte-pair merges from weighted words of any alphabet.
//!
//! A merge visits the occurrences of its pair and nothing else. Of all pairs only those with a neighbour change:
//! merging `a b` to `c` between `x` and `y` takes one from `x a` and `b y` and gives one to `x c` and `c y`. So
//! changes add up in two dense arrays, by `x` and by `y`, and each distinct neighbour costs one look-up a merge.
//!
//! What keeps this exact:
//! - A list holds every occurrence of its pair, ascending. An entry is alive iff the cells still read `a` and, behind
//!   it, `b`: a cell that was swallowed by a longer symbol never starts the same symbol again.
//! - Counts are exact for every pair kept, and only fall. Pairs below [`Floor::value`] are never kept.
//! - Counts include overlaps (`aaa` has two `a a`); merges go left to right without overlap.

use std::ops::Range;

use super::cells::{Cell, Cells};
use super::floor::Floor;
use super::initial::InitialPairs;
use super::pairs::{Pair, Pairs, key};
use super::progress::{Hook, Pacer, Progress, Stage};
use super::queue::{Queue, Ranked};
use super::sides::{DROPPED, Neighbour, Side};
use super::taken::Taken;
use super::trace::{TraceStep, Tracer};
use super::unfinished::{Unfinished, unfinished};
use super::words::{Made, Width, Words};
use crate::error::{Error, Result};
use crate::large::LargeVec;
use crate::prefetch::prefetch;
use crate::token::MAX_TOKEN_ID;

/// Which of several pairs with the same count is merged first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOrder {
    /// The one with the smaller left id, then the smaller right id.
    SmallestPair,
    /// The one that stands first in the words as they are now.
    FirstSeen,
}

/// What to learn.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many merges at most.
    pub merges: usize,
    /// The smallest count that is merged, at least 1.
    pub min_frequency: u64,
    /// The longest symbol that a merge may make, in initial symbols.
    pub max_token_length: Option<usize>,
    /// The rule for ties.
    pub order: PairOrder,
    /// Sequences of initial symbols that no merge may make.
    pub taken: Vec<Vec<u32>>,
}

/// Why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All merges that were asked for are learned.
    VocabSize,
    /// Every pair left occurs less often than `min_frequency`.
    MinFrequency,
    /// No pair is left that may be merged.
    NoPairs,
}

impl Stopped {
    /// The reason as it stands in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::VocabSize => "vocab_size",
            Self::MinFrequency => "min_frequency",
            Self::NoPairs => "no_pairs",
        }
    }
}

/// The merges learned, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Symbols `0..base` are there before; `base + k` is made by merge `k`.
    pub base: u32,
    /// The two symbols of each merge.
    pub merges: Vec<(u32, u32)>,
    /// How often each merge's pair occurred when it was merged, overlaps included.
    pub counts: Vec<u64>,
    /// Whether another pair occurred as often then, so that the rule for ties decided.
    pub tied: Vec<bool>,
    /// What the merges leave in more than one piece, where that is known.
    pub unfinished: Option<Unfinished>,
    /// Why there are no more.
    pub stopped: Stopped,
    /// How each merge was chosen, where that was asked for.
    pub trace: Option<Vec<TraceStep>>,
}

/// Occurrences visited between two looks at the clock.
const CHUNK: usize = 1 << 14;
/// How many occurrences ahead of their turn memory is asked for: they are far apart in it.
const AHEAD: usize = 24;
/// Pairs looked up together.
const TOGETHER: usize = 32;
/// Dead entries that are not worth tidying up.
const SLACK: usize = 1 << 15;

/// Learns merges from `words`.
///
/// # Errors
/// [`Error::Argument`] when the ids would pass [`MAX_TOKEN_ID`] or no merge is short enough; [`Error::Training`] when
/// 32-bit numbers do not suffice; whatever `hook` returns.
pub fn learn(words: Words, options: &Options, hook: &mut Hook<'_>) -> Result<Learned> {
    learn_with(words, options, None, hook)
}

/// [`learn`], and tells of each merge how it was chosen, with this many runners-up. The merges are the same.
pub fn learn_traced(
    words: Words,
    options: &Options,
    runners_up: usize,
    hook: &mut Hook<'_>,
) -> Result<Learned> {
    learn_with(words, options, Some(Tracer::new(runners_up)), hook)
}

fn learn_with(
    words: Words,
    options: &Options,
    tracer: Option<Tracer>,
    hook: &mut Hook<'_>,
) -> Result<Learned> {
    let base = words.base();
    check(options.merges, words.known(), options.max_token_length)?;
    let mut pacer = Pacer::new(hook);
    match words.sized(options.merges)? {
        (Width::Narrow(cells), made) => run(cells, base, made, options, tracer, &mut pacer),
        (Width::Wide(cells), made) => run(cells, base, made, options, tracer, &mut pacer),
    }
}

fn run<C: Cell>(
    cells: Cells<C>,
    base: u32,
    made: Made,
    options: &Options,
    tracer: Option<Tracer>,
    pacer: &mut Pacer<'_>,
) -> Result<Learned> {
    let mut learner = Learner::new(cells, base, made, options, tracer, pacer)?;
    let mut tied = Vec::new();
    while learner.counts.len() < options.merges {
        let floor = learner.floor.value();
        let Some(pair) = learner.queue.pop(floor, &mut learner.state) else { break };
        tied.push(learner.queue.is_tied(learner.state.count(pair), floor, &mut learner.state));
        learner.merge(pair, pacer)?;
    }
    pacer.call(learner.progress())?;
    let stopped = learner.stopped();
    let unfinished = unfinished(&learner.state.cells, &learner.state.lengths);
    let trace = learner.tracer.map(|tracer| tracer.steps);
    let mut merges = learner.merges;
    merges.drain(..merges.len() - learner.counts.len());
    let base = (learner.state.lengths.len() - merges.len()) as u32;
    let unfinished = Some(unfinished);
    Ok(Learned { base, merges, counts: learner.counts, tied, unfinished, stopped, trace })
}

/// Refuses options that no training can meet.
pub(super) fn check(merges: usize, base: u32, max_token_length: Option<usize>) -> Result<()> {
    if merges as u64 + u64::from(base) > u64::from(MAX_TOKEN_ID) + 1 {
        return Err(Error::Argument(format!(
            "{merges} merges on {base} initial symbols pass the largest id, {MAX_TOKEN_ID}; ask for fewer"
        )));
    }
    if let Some(length @ ..2) = max_token_length {
        return Err(Error::Argument(format!(
            "max_token_length is {length}; a merge makes 2 symbols or more"
        )));
    }
    Ok(())
}

/// What the order of pairs is decided from; apart from the queue so that the queue can ask.
struct State<C> {
    cells: Cells<C>,
    /// The length of each symbol in cells.
    lengths: Vec<u32>,
    pairs: Pairs,
    /// The occurrences of all pairs, one slice a pair, slices in the order of pairs.
    lists: LargeVec<u32>,
    order: PairOrder,
}

impl<C: Cell> State<C> {
    /// Asks for the beginning of the list of a pair.
    fn prefetch_list(&self, pair: &Pair) {
        for entry in [0, AHEAD / 2, AHEAD] {
            prefetch(&self.lists, pair.list as usize + entry);
        }
    }

    /// Asks for the cells of the first occurrences of a pair.
    fn prefetch_cells(&self, pair: &Pair) {
        let list = self.lists.get(pair.list as usize..).unwrap_or_default();
        for &first in list.iter().take(AHEAD.min(pair.list_len as usize)) {
            self.cells.prefetch(first as usize);
        }
    }

    /// Whether `pair` stands at `position`.
    fn occurs(&self, pair: &Pair, position: u32) -> bool {
        let position = position as usize;
        let right = position + self.lengths[pair.left as usize] as usize;
        self.cells.get(position) == C::of(pair.left) && self.cells.get(right) == C::of(pair.right)
    }
}

impl<C: Cell> Ranked for State<C> {
    fn count(&self, pair: u32) -> u64 {
        self.pairs.get(pair).count
    }

    /// For `FirstSeen` the first live occurrence. It moves only when it dies, and then the count falls.
    fn tie(&mut self, number: u32) -> u64 {
        let mut pair = *self.pairs.get(number);
        match self.order {
            PairOrder::SmallestPair => u64::from(pair.left) << 32 | u64::from(pair.right),
            PairOrder::FirstSeen => {
                // Dead entries never come back to life, so they are dropped for good.
                while pair.list_len > 0 && !self.occurs(&pair, self.lists[pair.list as usize]) {
                    pair.list += 1;
                    pair.list_len -= 1;
                }
                self.pairs.records[number as usize] = pair;
                self.lists.get(pair.list as usize).map_or(u64::MAX, |&first| u64::from(first))
            }
        }
    }

    fn prefetch(&self, pair: u32) {
        self.pairs.prefetch_record(pair);
    }
}

struct Learner<C> {
    state: State<C>,
    queue: Queue,
    floor: Floor,
    max_length: u64,
    taken: Taken,
    /// By the symbol left, and right, of the pair being merged.
    left: Side,
    right: Side,
    /// New pairs to be kept, between two merges empty: key, place among the neighbours, count.
    kept: Vec<(u32, u32, u64)>,
    /// Entries of lists that belong to pairs still in the queue.
    live: usize,
    /// The parts of every symbol that is no initial one; those learned here are the last, one a count.
    merges: Vec<(u32, u32)>,
    counts: Vec<u64>,
    wanted: usize,
    tracer: Option<Tracer>,
}

impl<C: Cell> Learner<C> {
    fn new(
        cells: Cells<C>,
        base: u32,
        made: Made,
        options: &Options,
        tracer: Option<Tracer>,
        pacer: &mut Pacer<'_>,
    ) -> Result<Self> {
        let max_length = options.max_token_length.map_or(u64::MAX, |length| length as u64);
        let taken = Taken::new(options.taken.clone(), base);
        let min_frequency = options.min_frequency.max(1);
        // A trace tells of pairs that will not be merged: no bound but the frequency then.
        let floor = if taken.is_empty() && tracer.is_none() {
            let short = cells.words().filter(|(word, _)| word.len() as u64 <= max_length);
            Floor::new(short.map(|(_, weight)| weight), options.merges, min_frequency)
        } else {
            Floor::flat(options.merges, min_frequency)
        };
        let start = Progress { stage: Stage::Merge, done: 0, total: Some(options.merges as u64) };
        pacer.call(start)?;
        let Made { parts: merges, lengths: made } = made;
        let known = base as usize + merges.len();
        let mut tally = InitialPairs::new(known as u32);
        cells.for_pairs(
            base,
            &made,
            || pacer.look(|| start),
            |position, left, right| tally.add(left, right, cells.weight(position)),
        )?;
        let lengths: Vec<u32> = std::iter::repeat_n(1, base as usize).chain(made.iter().copied()).collect();
        let (pairs, mut next) = tally.keep(floor.value(), |left, right| {
            let length = u64::from(lengths[left as usize]) + u64::from(lengths[right as usize]);
            length <= max_length && !taken.forbids(left, right, length, &merges)
        })?;
        // New lists go behind these. As a rule that room is enough; none of it costs anything before it is used.
        let total = next.total as usize;
        let mut lists = LargeVec::with_room(3 * total)
            .or_else(|| LargeVec::with_room(total))
            .ok_or_else(|| {
                Error::Training(format!(
                    "no memory for {total} places of pairs; train on less text, or with a pattern that repeats more"
                ))
            })?;
        lists.set_length(total);
        cells.for_pairs(
            base,
            &made,
            || pacer.look(|| start),
            |position, left, right| {
                if let Some(entry) = next.entry(left, right) {
                    lists[entry as usize] = position as u32;
                }
                Ok(())
            },
        )?;
        drop(next);
        let numbers = 0..pairs.records.len() as u32;
        let mut learner = Self {
            live: lists.len(),
            state: State { cells, lengths, pairs, lists, order: options.order },
            queue: Queue::new(),
            floor,
            max_length,
            taken,
            left: Side::new(known),
            right: Side::new(known),
            kept: Vec::new(),
            merges,
            counts: Vec::new(),
            wanted: options.merges,
            tracer,
        };
        learner.file(numbers);
        Ok(learner)
    }

    /// Puts new pairs into the queue.
    fn file(&mut self, numbers: Range<u32>) {
        for number in numbers {
            self.queue.push(number, &mut self.state);
            if let Some(tracer) = &mut self.tracer {
                tracer.add(number, &mut self.state);
            }
        }
    }

    fn progress(&self) -> Progress {
        Progress { stage: Stage::Merge, done: self.counts.len() as u64, total: Some(self.wanted as u64) }
    }

    /// Merges every occurrence of the pair, left to right.
    fn merge(&mut self, number: u32, pacer: &mut Pacer<'_>) -> Result<()> {
        let pair = *self.state.pairs.get(number);
        if let Some(tracer) = &mut self.tracer {
            let symbols = |state: &State<C>, pair| (state.pairs.get(pair).left, state.pairs.get(pair).right);
            tracer.choose(number, self.floor.value(), &mut self.state, symbols);
            tracer.fell(pair.count, 0);
        }
        let (a, b) = (pair.left, pair.right);
        let merged = self.state.lengths.len() as u32;
        let a_length = self.state.lengths[a as usize] as usize;
        let length = a_length + self.state.lengths[b as usize] as usize;
        self.state.lengths.push(length as u32);
        self.left.add_symbol();
        self.right.add_symbol();
        let list = pair.list as usize..(pair.list + pair.list_len) as usize;
        let next = self.queue.likely_next().map(|next| *self.state.pairs.get(next));
        if let Some(next) = next {
            self.state.prefetch_list(&next);
        }
        // `merged a` that turned into `merged merged` when the next occurrence was merged.
        let mut overtaken = 0;
        let (mut from, length_of_list) = (0, list.len());
        while from < length_of_list {
            let to = length_of_list.min(from + CHUNK);
            pacer.spend(to - from + 8, || self.progress())?;
            let State { cells, lists, .. } = &mut self.state;
            let list = &lists[list.clone()];
            for index in from..to {
                if let Some(&later) = list.get(index + AHEAD) {
                    cells.prefetch(later as usize);
                }
                let at = list[index];
                let start = at as usize;
                if cells.get(start) != C::of(a) || cells.get(start + a_length) != C::of(b) {
                    continue;
                }
                let (x, y) = (cells.get(start - 1), cells.get(start + length));
                // Inner cells first: for a short pair these are its ends, and get the id.
                cells.set(start + a_length - 1, C::INSIDE);
                cells.set(start + a_length, C::INSIDE);
                cells.set(start, C::of(merged));
                cells.set(start + length - 1, C::of(merged));
                let weight = cells.weight(start);
                if x == C::of(merged) {
                    // `merged merged`, listed on the right only; the count of `merged a` was one too high.
                    overtaken += weight;
                    self.right.add(x, at - length as u32, weight);
                } else if x != C::EDGE {
                    self.left.add(x, at, weight);
                }
                if y != C::EDGE {
                    self.right.add(y, at, weight);
                } else if x == C::EDGE {
                    self.floor.word_finished(weight);
                }
            }
            from = to;
        }
        if let Some(next) = next {
            self.state.prefetch_cells(&next);
        }
        self.merges.push((a, b));
        self.counts.push(pair.count);
        let record = &mut self.state.pairs.records[number as usize];
        record.count = 0;
        record.list_len = 0;
        self.live -= pair.list_len as usize;
        self.floor.merged();
        self.settle(&pair, merged, overtaken)
    }

    /// Carries the sums of a merge over to the counts of old and new pairs.
    fn settle(&mut self, pair: &Pair, merged: u32, overtaken: u64) -> Result<()> {
        let (a, b) = (pair.left, pair.right);
        let first_new = self.state.pairs.records.len() as u32;
        let mut end = self.state.lists.len();
        let (mut left, mut right) = (std::mem::take(&mut self.left), std::mem::take(&mut self.right));
        // All of this before new pairs are there: `b merged` would be taken for one that was.
        left.met().chunks(TOGETHER).for_each(|together| self.take(together, pair, |x| (x, a)));
        right.met().chunks(TOGETHER).for_each(|together| self.take(together, pair, |y| (b, y)));
        let mut kept = std::mem::take(&mut self.kept);
        for (place, x) in left.met().iter_mut().enumerate() {
            x.before = self.state.lengths[x.symbol as usize];
            if self.keeps(x.symbol, merged, x.weight) {
                kept.push((key(x.symbol, merged).1, place as u32, x.weight));
            }
        }
        for (place, y) in right.met().iter().enumerate() {
            let gain = y.weight - if y.symbol == a { overtaken } else { 0 };
            if self.keeps(merged, y.symbol, gain) {
                kept.push((key(merged, y.symbol).1, place as u32, gain));
            }
        }
        kept.sort_unstable_by_key(|(key, ..)| *key);
        for (key, place, count) in kept.drain(..) {
            // Only `merged` beside itself has an even key on the right.
            let is_left = key % 2 == 0 && key != 2 * merged;
            let beside = &mut if is_left { left.met() } else { right.met() }[place as usize];
            let (x, y) = if is_left { (beside.symbol, merged) } else { (merged, beside.symbol) };
            // Some of the occurrences may have died within this merge.
            let (list, list_len) = (end as u32, beside.occurrences);
            beside.list = list;
            end += list_len as usize;
            if end >= DROPPED as usize {
                return Err(super::initial::too_many_occurrences());
            }
            self.state.pairs.push(Pair { left: x, right: y, count, list, list_len })?;
        }
        self.state.pairs.close_symbol();
        self.kept = kept;
        let lists = &mut self.state.lists;
        self.live += end - lists.len();
        lists.set_length(end + 1);
        left.settle(lists);
        right.settle(lists);
        lists.set_length(end);
        (self.left, self.right) = (left, right);
        self.file(first_new..self.state.pairs.records.len() as u32);
        if self.state.lists.len() > self.live + self.live / 2 + SLACK {
            self.tidy();
        }
        Ok(())
    }

    /// Takes the weights of some neighbours from the pairs that they were in, as far as these are kept.
    fn take(&mut self, met: &[Neighbour], merged: &Pair, old: impl Fn(u32) -> (u32, u32)) {
        let pairs = &mut self.state.pairs;
        for neighbour in met {
            let (left, right) = old(neighbour.symbol);
            pairs.prefetch(left, right);
        }
        let mut numbers = [None; TOGETHER];
        for (number, neighbour) in numbers.iter_mut().zip(met) {
            let (left, right) = old(neighbour.symbol);
            // In `aaa` a neighbouring pair is the merged pair itself, which has no count any more.
            *number = pairs.find(left, right).filter(|_| (left, right) != (merged.left, merged.right));
            if let Some(number) = *number {
                pairs.prefetch_record(number);
            }
        }
        for (number, neighbour) in numbers.into_iter().zip(met) {
            let Some(number) = number else { continue };
            let count = &mut pairs.records[number as usize].count;
            *count -= neighbour.weight;
            if let Some(tracer) = &mut self.tracer {
                tracer.fell(*count + neighbour.weight, *count);
            }
        }
    }

    /// Whether a new pair can still be merged.
    fn keeps(&self, left: u32, right: u32, count: u64) -> bool {
        if count < self.floor.value() {
            return false;
        }
        let lengths = &self.state.lengths;
        let length = u64::from(lengths[left as usize]) + u64::from(lengths[right as usize]);
        length <= self.max_length && !self.taken.forbids(left, right, length, &self.merges)
    }

    /// Moves the lists that are still of use together, in place: they stand in the order of the pairs.
    fn tidy(&mut self) {
        let floor = self.floor.value();
        let mut end = 0;
        for pair in &mut self.state.pairs.records {
            let length = pair.list_len as usize;
            if pair.count < floor {
                pair.list_len = 0;
            } else if length > 0 {
                let list = pair.list as usize;
                self.state.lists.copy_within(list..list + length, end);
                pair.list = end as u32;
                end += length;
            }
        }
        self.state.lists.set_length(end);
        self.live = end;
    }

    fn stopped(&self) -> Stopped {
        if self.counts.len() == self.wanted {
            return Stopped::VocabSize;
        }
        let cells = &self.state.cells;
        let length = |symbol: u32| u64::from(self.state.lengths[symbol as usize]);
        let may = |left: u32, right: u32| {
            let length = length(left) + length(right);
            length <= self.max_length && !self.taken.forbids(left, right, length, &self.merges)
        };
        // Symbols that merges made are those behind the base.
        let base = self.state.lengths.len() - self.merges.len();
        let mut pairs = cells.pairs(base as u32, &self.state.lengths[base..]);
        if pairs.any(|(_, left, right)| may(left, right)) {
            return Stopped::MinFrequency;
        }
        Stopped::NoPairs
    }
}
