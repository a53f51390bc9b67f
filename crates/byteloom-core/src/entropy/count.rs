//! Counting text: a table for each block, sorted when the block is done, and sorted blocks merged.
//!
//! Blocks are cut from the stream of documents by length alone, whatever the threads and the calls. So even what is
//! dropped where memory runs out does not depend on them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::counts::{GRAM_BYTES, Gram, Grams, MAX_ORDER, merged};
use crate::error::{Error, Result};
use crate::train::progress::{Pacer, Progress, Stage};

/// Bytes of text that are counted at a time. Longer strings repeat less, and fill the cache sooner.
const BLOCK: usize = if cfg!(test) { 100 } else { 4 << 20 };
const BLOCK_OF_LONG: usize = if cfg!(test) { 100 } else { 1 << 20 };
/// The longest strings that are counted in a table.
const LONGEST_IN_TABLE: usize = 4;
/// The logarithm of the size of the first table.
const FIRST_BITS: u32 = 10;
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
/// Strings at the starts of documents that are gathered before they are sorted.
const MOST_STARTS: usize = BLOCK * 4;
/// How long the calling thread sleeps at most between two calls of the hook.
const NAP: Duration = Duration::from_millis(20);
/// The limit is this many times what a block of text is: its table, its strings and their sorted copy take up to 64 times
/// the block, an eighth of the limit.
const BLOCKS_IN_LIMIT: usize = 512;

/// A stretch of text with the bytes before it that its contexts need.
#[derive(Debug, Default)]
struct Block {
    text: Vec<u8>,
    /// Where documents begin, and, as the first, where the counted part does if it goes on with one.
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    /// How many bytes before `start` belong to the same document.
    known: usize,
}

/// Counts documents into [`Grams`].
#[derive(Debug)]
pub(super) struct Counter {
    order: usize,
    threads: usize,
    limit: usize,
    /// The most strings that are kept.
    most: usize,
    block: Block,
    block_bytes: usize,
    /// Bytes in `block` that are not context only.
    filled: usize,
    full: Vec<Block>,
    scratch: Vec<Scratch>,
    /// Sorted runs of strings of full length, each at least twice as long as the next.
    runs: Vec<Vec<Gram>>,
    /// All shorter strings: of the starts of documents, and of contexts that were dropped.
    grams: Grams,
    starts: Vec<Vec<u64>>,
    pub(super) dropped: u64,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) expected: Option<u64>,
}

impl Counter {
    /// A counter that needs `limit` bytes at most on one thread, and an eighth of that for each further one.
    pub(super) fn new(order: usize, threads: usize, limit: usize) -> Self {
        let largest = if order <= LONGEST_IN_TABLE { BLOCK } else { BLOCK_OF_LONG };
        Self {
            order,
            threads,
            limit,
            // While they are merged, all strings are there twice.
            most: limit / 5 * 2 / GRAM_BYTES,
            block: Block::default(),
            block_bytes: largest.min(limit / BLOCKS_IN_LIMIT),
            filled: 0,
            full: Vec::new(),
            scratch: Vec::new(),
            runs: Vec::new(),
            grams: Grams::new(order),
            starts: vec![Vec::new(); order],
            dropped: 0,
            documents: 0,
            bytes: 0,
            expected: None,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress { stage: Stage::Count, done: self.bytes, total: self.expected }
    }

    /// Begins a document; what is fed next belongs to it.
    pub(super) fn begin(&mut self) {
        self.documents += 1;
        // A part that nothing was added to is of no use: it would only grow the list.
        self.block.parts.pop_if(|part| part.start == self.block.text.len());
        self.block.parts.push(Part { start: self.block.text.len(), known: 0 });
    }

    /// Counts the next bytes of the document.
    pub(super) fn feed(&mut self, mut text: &[u8], pacer: &mut Pacer<'_>) -> Result<()> {
        while !text.is_empty() {
            let room = (self.block_bytes - self.filled).min(text.len());
            self.block.text.extend_from_slice(&text[..room]);
            self.filled += room;
            text = &text[room..];
            if self.filled == self.block_bytes {
                let next = self.next_block();
                self.full.push(std::mem::replace(&mut self.block, next));
                self.filled = 0;
                if self.full.len() == self.threads {
                    self.sort_full(pacer)?;
                }
            }
        }
        Ok(())
    }

    /// The block behind the present one: it begins with the context that the document gives it.
    fn next_block(&self) -> Block {
        let Some(part) = self.block.parts.last() else { return Block::default() };
        let known = (self.block.text.len() - part.start + part.known).min(self.order - 1);
        Block {
            text: self.block.text[self.block.text.len() - known..].to_vec(),
            parts: vec![Part { start: known, known }],
        }
    }

    /// Everything counted.
    pub(super) fn finish(mut self, pacer: &mut Pacer<'_>) -> Result<Self> {
        if self.filled > 0 {
            self.full.push(std::mem::take(&mut self.block));
        }
        if !self.full.is_empty() {
            self.sort_full(pacer)?;
        }
        self.collect()?;
        let (progress, limit) = (self.progress(), self.limit);
        self.dropped += self.grams.fit(limit, &mut || pacer.look(|| progress))?;
        pacer.call(progress)?;
        Ok(self)
    }

    pub(super) fn into_grams(self) -> Grams {
        self.grams
    }

    /// Sorts the full blocks, each on a thread of its own, and takes them over in order.
    fn sort_full(&mut self, pacer: &mut Pacer<'_>) -> Result<()> {
        let blocks = std::mem::take(&mut self.full);
        self.scratch.resize_with(self.scratch.len().max(blocks.len()), Scratch::default);
        let order = self.order;
        let stop = AtomicBool::new(false);
        let (Some((first, rest)), Some((own, others))) =
            (blocks.split_first(), self.scratch.split_first_mut())
        else {
            return Ok(());
        };
        let sorted = std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for (block, scratch) in rest.iter().zip(others) {
                let stop = &stop;
                let work = move || {
                    if stop.load(Ordering::Relaxed) { Vec::new() } else { scratch.count(block, order) }
                };
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        return Err(Error::Training(format!(
                            "no thread to count with: {error}; ask for fewer threads"
                        )));
                    }
                }
            }
            let mut sorted = vec![own.count(first, order)];
            while workers.iter().any(|worker| !worker.is_finished()) {
                std::thread::park_timeout(NAP);
            }
            for worker in workers {
                sorted.push(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            Ok(sorted)
        })?;
        for (block, run) in blocks.iter().zip(sorted) {
            self.bytes += block.counted() as u64;
            block.starts(self.order, &mut self.starts);
            self.push_run(run, pacer)?;
            pacer.look(|| self.progress())?;
        }
        Ok(())
    }

    fn push_run(&mut self, mut run: Vec<Gram>, pacer: &mut Pacer<'_>) -> Result<()> {
        while let Some(last) = self.runs.pop() {
            if last.len() / 2 >= run.len() {
                self.runs.push(last);
                break;
            }
            run = merged(&last, &run);
        }
        self.runs.push(run);
        let kept: usize = self.runs.iter().map(Vec::len).sum();
        let starts: usize = self.starts.iter().map(Vec::len).sum();
        if kept + starts + self.grams.len() > self.most || starts > MOST_STARTS {
            self.collect()?;
            // Down to half, so that the next time is not before a quarter of the strings are new.
            if self.grams.len() > self.most / 4 * 3 {
                let progress = self.progress();
                self.dropped += self.grams.shrink(self.most / 2, &mut || pacer.look(|| progress))?;
            }
        }
        Ok(())
    }

    /// Brings everything together in `grams`.
    fn collect(&mut self) -> Result<()> {
        let mut fresh = Grams::new(self.order);
        let run =
            std::mem::take(&mut self.runs).into_iter().rev().reduce(|run, longer| merged(&longer, &run));
        for (list, keys) in fresh.lists.iter_mut().zip(&mut self.starts) {
            keys.sort_unstable();
            *list = counted(keys).into();
            keys.clear();
        }
        if let Some(run) = run {
            fresh.lists[self.order - 1] = run.into();
        }
        self.grams.add(&fresh)
    }
}

impl Block {
    /// The parts of one document each: bytes to count, and how many bytes before them are context.
    fn parts(&self) -> impl Iterator<Item = (&[u8], usize)> {
        let ends = self.parts.iter().skip(1).map(|part| part.start).chain([self.text.len()]);
        self.parts.iter().zip(ends).map(|(part, end)| (&self.text[part.start - part.known..end], part.known))
    }

    /// Hands over the strings of full length, packed.
    #[inline]
    fn each_string(&self, order: usize, mut take: impl FnMut(u64)) {
        for (text, known) in self.parts() {
            let first = known.max(order - 1);
            // The first strings of a block may have less than 8 bytes before them.
            let direct = first.max(MAX_ORDER - 1).min(text.len());
            for end in first..direct {
                let mut window = [0; MAX_ORDER];
                window[MAX_ORDER - 1 - end..].copy_from_slice(&text[..=end]);
                take(pack(window, order));
            }
            let windows = text[(direct + 1).saturating_sub(MAX_ORDER)..].windows(MAX_ORDER);
            for window in windows.filter_map(|window| window.first_chunk()) {
                take(pack(*window, order));
            }
        }
    }

    fn counted(&self) -> usize {
        self.parts().map(|(text, known)| text.len() - known).sum()
    }

    /// Notes the strings that are cut short by the start of their document.
    fn starts(&self, order: usize, starts: &mut [Vec<u64>]) {
        for (text, known) in self.parts() {
            for end in known..text.len().min(order - 1) {
                starts[end].push(key(&text[..=end]));
            }
        }
    }
}

/// The key of a string of at most 8 bytes.
pub(super) fn key(string: &[u8]) -> u64 {
    let Some((&last, context)) = string.split_last() else { return 0 };
    let mut bytes = [0; 8];
    for (to, &from) in bytes.iter_mut().zip(context.iter().rev()) {
        *to = from;
    }
    u64::from_be_bytes(bytes) | u64::from(last)
}

/// Sorted keys as strings and counts.
fn counted(keys: &[u64]) -> Vec<Gram> {
    keys.chunk_by(|a, b| a == b).map(|run| Gram { key: run[0], count: run.len() as u64 }).collect()
}

/// The window's last `order` bytes packed without gaps: the last of them moved below the others.
#[inline]
fn pack(window: [u8; MAX_ORDER], order: usize) -> u64 {
    let gap = 8 * (MAX_ORDER - order);
    let last = u64::from(window[MAX_ORDER - 1]);
    (u64::from_le_bytes(window) >> gap << 8) & (u64::MAX >> gap) | last
}

fn unpack(packed: u64, order: usize) -> u64 {
    (packed >> 8 << 8 << (8 * (MAX_ORDER - order))) | packed & 0xFF
}

/// Memory that counting uses again and again.
#[derive(Debug, Default)]
struct Scratch {
    table: Table,
    packed: Vec<u64>,
    other: Vec<u64>,
}

impl Scratch {
    /// The strings of full length in `block`, sorted, with their counts.
    ///
    /// Short strings repeat so much that a table of them stays in the cache. Of long ones every second is new: they
    /// are sorted, which reads and writes memory in long strides.
    fn count(&mut self, block: &Block, order: usize) -> Vec<Gram> {
        if order <= LONGEST_IN_TABLE {
            block.each_string(order, |packed| self.table.add(packed));
            return self.table.drain(order);
        }
        self.packed.clear();
        block.each_string(order, |packed| self.packed.push(packed));
        sort(&mut self.packed, &mut self.other, order, |&packed| packed);
        let runs = self.packed.chunk_by(|a, b| a == b);
        let mut grams = Vec::with_capacity(self.packed.len() / 2);
        grams.extend(runs.map(|run| Gram { key: unpack(run[0], order), count: run.len() as u64 }));
        grams.shrink_to_fit();
        grams
    }
}

/// Counts of packed strings of up to 4 bytes: open addressing, at most half full. A slot is the string and, in its
/// lower half, the count, since blocks are shorter than 2^32; 0 is free.
#[derive(Debug)]
struct Table {
    slots: Vec<u64>,
    used: usize,
    shift: u32,
}

impl Default for Table {
    fn default() -> Self {
        Self { slots: vec![0; 1 << FIRST_BITS], used: 0, shift: 64 - FIRST_BITS }
    }
}

impl Table {
    #[inline]
    fn add(&mut self, packed: u64) {
        let mask = self.slots.len() - 1;
        let mut place = self.place(packed);
        loop {
            let slot = &mut self.slots[place & mask];
            if *slot >> 32 == packed && *slot != 0 {
                *slot += 1;
                return;
            }
            if *slot == 0 {
                *slot = packed << 32 | 1;
                self.used += 1;
                if self.used * 2 > self.slots.len() {
                    self.grow();
                }
                return;
            }
            place += 1;
        }
    }

    #[inline]
    fn place(&self, packed: u64) -> usize {
        (packed.wrapping_mul(MIX) >> self.shift) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; self.slots.len() * 2];
        let slots = std::mem::replace(&mut self.slots, larger);
        self.shift -= 1;
        let mask = self.slots.len() - 1;
        for slot in slots.into_iter().filter(|&slot| slot != 0) {
            let mut place = self.place(slot >> 32);
            while self.slots[place & mask] != 0 {
                place += 1;
            }
            self.slots[place & mask] = slot;
        }
    }

    /// Everything counted, sorted; the table is then empty.
    fn drain(&mut self, order: usize) -> Vec<Gram> {
        let mut found: Vec<u64> = Vec::with_capacity(self.used);
        found.extend(self.slots.iter().filter(|&&slot| slot != 0));
        self.slots.fill(0);
        self.used = 0;
        sort(&mut found, &mut Vec::new(), order, |&slot| slot >> 32);
        let gram = |slot: u64| Gram { key: unpack(slot >> 32, order), count: slot & u64::from(u32::MAX) };
        found.into_iter().map(gram).collect()
    }
}

/// Sorts by radix, from the lowest of the `bytes` of a key up.
fn sort<T: Copy + Default>(items: &mut Vec<T>, other: &mut Vec<T>, bytes: usize, key: impl Fn(&T) -> u64) {
    let digit_of = |item: &T, digit: usize| (key(item) >> (8 * digit)) as usize & 0xFF;
    let mut histograms = [[0_usize; 256]; MAX_ORDER];
    for item in items.iter() {
        for (digit, histogram) in histograms.iter_mut().take(bytes).enumerate() {
            histogram[digit_of(item, digit)] += 1;
        }
    }
    other.clear();
    other.resize(items.len(), T::default());
    for (digit, histogram) in histograms.iter().take(bytes).enumerate() {
        let mut next = 0;
        let mut places = histogram.map(|count| {
            next += count;
            next - count
        });
        for item in items.iter() {
            let place = &mut places[digit_of(item, digit)];
            other[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, other);
    }
}
