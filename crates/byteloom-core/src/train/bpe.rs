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

use super::floor::Floor;
use super::pairs::{Pair, Pairs};
use super::progress::{Hook, Pacer, Progress, Stage};
use super::queue::{Queue, Ranked};
use super::taken::Taken;
use super::trace::{TraceStep, Tracer};
use super::words::{EDGE, INSIDE, Near, Words};
use crate::error::{Error, Result};
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
    /// Symbols `0..base` are the initial ones; `base + k` is made by merge `k`.
    pub base: u32,
    /// The two symbols of each merge.
    pub merges: Vec<(u32, u32)>,
    /// How often each merge's pair occurred when it was merged, overlaps included.
    pub counts: Vec<u64>,
    /// Why there are no more.
    pub stopped: Stopped,
    /// How each merge was chosen, where that was asked for.
    pub trace: Option<Vec<TraceStep>>,
}

/// Occurrences visited between two looks at the clock.
const CHUNK: usize = 1 << 14;
/// Occurrences read before their turn. They are far apart: read first, with nothing that hangs on the result, the
/// processor waits for all of them at once instead of one by one.
const AHEAD: usize = 16;
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
    check(options.merges, words.base, options.max_token_length)?;
    let mut pacer = Pacer::new(hook);
    let mut learner = Learner::new(words, options, tracer, &mut pacer)?;
    while learner.merges.len() < options.merges {
        let Some(pair) = learner.queue.pop(learner.floor.value(), &mut learner.state) else { break };
        learner.merge(pair, &mut pacer)?;
    }
    pacer.call(learner.progress())?;
    let stopped = learner.stopped();
    let trace = learner.tracer.map(|tracer| tracer.steps);
    Ok(Learned { base: learner.base, merges: learner.merges, counts: learner.counts, stopped, trace })
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
struct State {
    cells: Vec<u32>,
    /// The length of each symbol in cells.
    lengths: Vec<u32>,
    pairs: Pairs,
    /// The occurrences of all pairs, one slice a pair, slices in the order of pairs.
    lists: Vec<u32>,
    order: PairOrder,
}

impl State {
    /// Whether `pair` stands at `position`.
    fn occurs(&self, pair: &Pair, position: u32) -> bool {
        let position = position as usize;
        self.cells[position] == pair.left
            && self.cells[position + self.lengths[pair.left as usize] as usize] == pair.right
    }
}

impl Ranked for State {
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
                while pair.list_len > 0 && !self.occurs(&pair, self.lists[pair.list]) {
                    pair.list += 1;
                    pair.list_len -= 1;
                }
                self.pairs.records[number as usize] = pair;
                self.lists.get(pair.list).map_or(u64::MAX, |&first| u64::from(first))
            }
        }
    }
}

struct Learner {
    base: u32,
    state: State,
    weights: super::words::Weights,
    queue: Queue,
    floor: Floor,
    max_length: u64,
    taken: Taken,
    /// By the symbol left, and right, of the pair being merged.
    left: Side,
    right: Side,
    /// Entries of lists that belong to pairs still in the queue.
    live: usize,
    merges: Vec<(u32, u32)>,
    counts: Vec<u64>,
    wanted: usize,
    tracer: Option<Tracer>,
}

/// What one merge finds on one side of its pair, summed by neighbour.
#[derive(Default)]
struct Side {
    sums: Vec<Sum>,
    /// The neighbours that have a sum.
    touched: Vec<u32>,
    /// Each occurrence of a new pair as (neighbour, position), ascending by position.
    found: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    weight: u64,
    occurrences: u32,
    /// Where the next occurrence goes in the lists; [`DROPPED`] for a pair that is not kept.
    next: usize,
}

const DROPPED: usize = usize::MAX;

impl Side {
    #[inline]
    fn add(&mut self, neighbour: u32, position: u32, weight: u64) {
        let sum = &mut self.sums[neighbour as usize];
        if sum.occurrences == 0 {
            self.touched.push(neighbour);
        }
        sum.occurrences += 1;
        sum.weight += weight;
        self.found.push((neighbour, position));
    }

    /// Writes the occurrences to the lists of the pairs kept, and forgets everything.
    fn settle(&mut self, lists: &mut [u32]) {
        for (neighbour, position) in self.found.drain(..) {
            let next = &mut self.sums[neighbour as usize].next;
            if *next != DROPPED {
                lists[*next] = position;
                *next += 1;
            }
        }
        for neighbour in self.touched.drain(..) {
            self.sums[neighbour as usize] = Sum::default();
        }
    }
}

impl Learner {
    fn new(words: Words, options: &Options, tracer: Option<Tracer>, pacer: &mut Pacer<'_>) -> Result<Self> {
        let max_length = options.max_token_length.map_or(u64::MAX, |length| length as u64);
        let taken = Taken::new(options.taken.clone(), words.base);
        let min_frequency = options.min_frequency.max(1);
        // A trace tells of pairs that will not be merged: no bound but the frequency then.
        let floor = if taken.is_empty() && tracer.is_none() {
            let short = words.iter().filter(|(cells, _)| cells.len() as u64 <= max_length);
            Floor::new(short.map(|(_, weight)| weight), options.merges, min_frequency)
        } else {
            Floor::flat(options.merges, min_frequency)
        };
        let start = Progress { stage: Stage::Merge, done: 0, total: Some(options.merges as u64) };
        pacer.call(start)?;
        let mut tally = InitialPairs::new(words.base);
        for (cells, weight) in words.iter() {
            let length = cells.len();
            for position in cells.start..cells.end - 1 {
                tally.add(words.cells[position], words.cells[position + 1], weight)?;
            }
            pacer.spend(length, || start)?;
        }
        let (pairs, mut next) = tally.keep(floor.value(), &taken)?;
        let mut lists = vec![0; next.total];
        for (cells, _) in words.iter() {
            let length = cells.len();
            for position in cells.start..cells.end - 1 {
                if let Some(entry) = next.entry(words.cells[position], words.cells[position + 1]) {
                    lists[entry] = position as u32;
                }
            }
            pacer.spend(length, || start)?;
        }
        drop(next);
        let Words { cells, mut weights, base, .. } = words;
        weights.index(cells.len());
        let numbers = 0..pairs.records.len() as u32;
        let mut learner = Self {
            base,
            live: lists.len(),
            state: State { cells, lengths: vec![1; base as usize], pairs, lists, order: options.order },
            weights,
            queue: Queue::new(),
            floor,
            max_length,
            taken,
            left: Side { sums: vec![Sum::default(); base as usize], ..Side::default() },
            right: Side { sums: vec![Sum::default(); base as usize], ..Side::default() },
            merges: Vec::new(),
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
        Progress { stage: Stage::Merge, done: self.merges.len() as u64, total: Some(self.wanted as u64) }
    }

    /// Merges every occurrence of the pair, left to right.
    fn merge(&mut self, number: u32, pacer: &mut Pacer<'_>) -> Result<()> {
        let pair = *self.state.pairs.get(number);
        if let Some(tracer) = &mut self.tracer {
            let symbols = |state: &State, pair| (state.pairs.get(pair).left, state.pairs.get(pair).right);
            tracer.choose(number, self.floor.value(), &mut self.state, symbols);
            tracer.fell(pair.count, 0);
        }
        let (a, b) = (pair.left, pair.right);
        let merged = self.state.lengths.len() as u32;
        let a_length = self.state.lengths[a as usize] as usize;
        let length = a_length + self.state.lengths[b as usize] as usize;
        self.state.lengths.push(length as u32);
        self.left.sums.push(Sum::default());
        self.right.sums.push(Sum::default());
        // `merged a` that turned into `merged merged` when the next occurrence was merged.
        let mut overtaken = 0;
        let mut position = pair.list;
        let end = pair.list + pair.list_len as usize;
        while position < end {
            let chunk = position..end.min(position + CHUNK);
            pacer.spend(chunk.len() + 8, || self.progress())?;
            position = chunk.end;
            let cells = &mut self.state.cells[..];
            for group in self.state.lists[chunk].chunks(AHEAD) {
                let mut ahead = [(0, Near::default()); AHEAD];
                for (slot, &at) in ahead.iter_mut().zip(group) {
                    *slot = (cells[at as usize], self.weights.near(at));
                }
                for (&at, &(seen, near)) in group.iter().zip(&ahead) {
                    let start = at as usize;
                    if seen != a || cells[start] != a || cells[start + a_length] != b {
                        continue;
                    }
                    let (x, y) = (cells[start - 1], cells[start + length]);
                    // Inner cells first: for a short pair these are its ends, and get the id.
                    cells[start + a_length - 1] = INSIDE;
                    cells[start + a_length] = INSIDE;
                    cells[start] = merged;
                    cells[start + length - 1] = merged;
                    let weight = self.weights.at(at, near);
                    if x == merged {
                        // `merged merged`, listed on the right only; the count of `merged a` was one too high.
                        overtaken += weight;
                        self.right.add(merged, at - length as u32, weight);
                    } else if x != EDGE {
                        self.left.add(x, at - self.state.lengths[x as usize], weight);
                    }
                    if y != EDGE {
                        self.right.add(y, at, weight);
                    } else if x == EDGE {
                        self.floor.word_finished(weight);
                    }
                }
            }
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
        for index in 0..self.left.touched.len() {
            let x = self.left.touched[index];
            let sum = self.left.sums[x as usize];
            self.take(x, a, pair, sum.weight);
            self.left.sums[x as usize].next = self.make(x, merged, sum.weight, sum.occurrences, &mut end)?;
        }
        for index in 0..self.right.touched.len() {
            let y = self.right.touched[index];
            let sum = self.right.sums[y as usize];
            if y != merged {
                self.take(b, y, pair, sum.weight);
            }
            let gain = sum.weight - if y == a { overtaken } else { 0 };
            self.right.sums[y as usize].next = self.make(merged, y, gain, sum.occurrences, &mut end)?;
        }
        let lists = &mut self.state.lists;
        if end > lists.capacity() {
            // Doubling would show in the peak: this is the largest array of all.
            lists.reserve_exact((end - lists.len()).max(lists.len() / 8));
        }
        self.live += end - lists.len();
        lists.resize(end, 0);
        self.left.settle(lists);
        self.right.settle(lists);
        self.file(first_new..self.state.pairs.records.len() as u32);
        if self.state.lists.len() > self.live + self.live / 2 + SLACK {
            self.tidy();
        }
        Ok(())
    }

    /// Takes `weight` from a pair that stood next to the merged one, if it is kept.
    fn take(&mut self, left: u32, right: u32, merged: &Pair, weight: u64) {
        // In `aaa` a neighbouring pair is the merged pair itself, which has no count any more.
        if (left, right) == (merged.left, merged.right) {
            return;
        }
        if let Some(number) = self.state.pairs.find(left, right) {
            let count = &mut self.state.pairs.records[number].count;
            *count -= weight;
            if let Some(tracer) = &mut self.tracer {
                tracer.fell(*count + weight, *count);
            }
        }
    }

    /// Keeps a new pair if it can still be merged; gives the place of its list, which ends at the new `end`.
    ///
    /// `occurrences` may count some that died within the same merge.
    fn make(
        &mut self,
        left: u32,
        right: u32,
        count: u64,
        occurrences: u32,
        end: &mut usize,
    ) -> Result<usize> {
        let length =
            u64::from(self.state.lengths[left as usize]) + u64::from(self.state.lengths[right as usize]);
        if count < self.floor.value()
            || length > self.max_length
            || self.taken.forbids(left, right, length, &self.merges)
        {
            return Ok(DROPPED);
        }
        let list = *end;
        *end += occurrences as usize;
        self.state.pairs.insert(Pair { left, right, count, list, list_len: occurrences })?;
        Ok(list)
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
                self.state.lists.copy_within(pair.list..pair.list + length, end);
                pair.list = end;
                end += length;
            }
        }
        self.state.lists.truncate(end);
        self.live = end;
    }

    fn stopped(&self) -> Stopped {
        if self.merges.len() == self.wanted {
            return Stopped::VocabSize;
        }
        let cells = &self.state.cells;
        let length = |symbol: u32| self.state.lengths.get(symbol as usize).map(|&length| length as usize);
        let mut position = 0;
        while position + 1 < cells.len() {
            let Some(left) = length(cells[position]) else {
                position += 1;
                continue;
            };
            let symbol = cells[position];
            position += left;
            let pair_length = length(cells[position]).map(|right| (left + right) as u64);
            if pair_length.is_some_and(|length| {
                length <= self.max_length
                    && !self.taken.forbids(symbol, cells[position], length, &self.merges)
            }) {
                return Stopped::MinFrequency;
            }
        }
        Stopped::NoPairs
    }
}

/// Counts the pairs of initial symbols: in a square table for bytes, by hash for larger alphabets.
struct InitialPairs {
    base: u32,
    square: Vec<Sum>,
    hashed: Pairs,
}

/// The largest alphabet with a square table (1.5 MiB).
const SQUARE: u32 = 256;

impl InitialPairs {
    fn new(base: u32) -> Self {
        let square = if base <= SQUARE { vec![Sum::default(); (base * base) as usize] } else { Vec::new() };
        Self { base, square, hashed: Pairs::new() }
    }

    #[inline]
    fn add(&mut self, left: u32, right: u32, weight: u64) -> Result<()> {
        if let Some(sum) = self.square.get_mut(left as usize * self.base as usize + right as usize) {
            sum.weight += weight;
            sum.occurrences += 1;
        } else if let Some(number) = self.hashed.find(left, right) {
            let record = &mut self.hashed.records[number];
            record.count += weight;
            record.list_len += 1;
        } else {
            self.hashed.insert(Pair { left, right, count: weight, list: 0, list_len: 1 })?;
        }
        Ok(())
    }

    /// The pairs with a count from `floor` on that may be merged, and where their occurrences go.
    fn keep(mut self, floor: u64, taken: &Taken) -> Result<(Pairs, InitialLists)> {
        let mut pairs = Pairs::new();
        let mut total = 0;
        let base = self.base.max(1);
        for (index, sum) in (0..).zip(&mut self.square) {
            sum.next = DROPPED;
            let (left, right) = (index / base, index % base);
            if sum.occurrences > 0 && sum.weight >= floor && !taken.forbids(left, right, 2, &[]) {
                let list_len = sum.occurrences;
                pairs.insert(Pair { left, right, count: sum.weight, list: total, list_len })?;
                sum.next = total;
                total += list_len as usize;
            }
        }
        for record in &mut self.hashed.records {
            record.list = DROPPED;
            if record.count >= floor && !taken.forbids(record.left, record.right, 2, &[]) {
                pairs.insert(Pair { list: total, ..*record })?;
                record.list = total;
                total += record.list_len as usize;
            }
        }
        Ok((pairs, InitialLists { tally: self, total }))
    }
}

struct InitialLists {
    tally: InitialPairs,
    total: usize,
}

impl InitialLists {
    /// The place of the next occurrence of a pair, if the pair is kept.
    #[inline]
    fn entry(&mut self, left: u32, right: u32) -> Option<usize> {
        let tally = &mut self.tally;
        let next =
            if let Some(sum) = tally.square.get_mut(left as usize * tally.base as usize + right as usize) {
                &mut sum.next
            } else {
                let number = tally.hashed.find(left, right)?;
                &mut tally.hashed.records[number].list
            };
        let entry = *next;
        (entry != DROPPED).then(|| {
            *next += 1;
            entry
        })
    }
}
