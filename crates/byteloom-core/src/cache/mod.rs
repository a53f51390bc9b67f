//! A bounded memory of pre-tokens and their ids, shared by all threads without a lock.
//!
//! What a pre-token needs is in one cache line of eight words, so that looking it up waits for memory once. A line
//! holds two pre-tokens of up to 16 bytes and five ids of 19 bits, or one of up to 40 bytes and 15 ids of 21 bits, as
//! far as both fit:
//!
//! ```text
//! header | key key ids | key key ids | rest of the ids of both
//! header | key key key … ids ids
//! ```
//!
//! A pre-token has a place in one of two neighbouring lines; with one alone, a sixth of those of an English text
//! drove each other out. The first says whether anything stands in the second on its account, so that most look-ups
//! wait for one line only.
//!
//! The header holds a version that is odd while a writer is at work. A reader that sees the version change, or odd,
//! takes it for a miss; a writer that finds another at work gives up. So a result is either exact or not there, and
//! ids never depend on the cache. All words are atomics: no torn read goes unnoticed.
//!
//! Tables grow by a factor of four up to the limit, each made only when the one before it has filled; the limit
//! covers them all. A miss in the newest table looks into the one made before it, so that growth forgets nothing hot.
//! Making one takes no lock either, the first to be done wins: a process forked while another thread held such a lock
//! would wait for ever.

mod key;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering, fence};

use once_cell::race::OnceBox;

use crate::large::LargeTable;
use crate::prefetch::prefetch;
use crate::token::TokenId;
pub use key::{Key, MAX_KEY};

/// The memory a tokenizer uses for remembered pre-tokens unless asked otherwise.
pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;

const MAX_IDS: usize = 15;
const LINE_BYTES: usize = 64;
const SMALLEST_TABLE: usize = 1 << 18;
const LEVELS: usize = 8;
/// What shares a line with another has at most this many bytes and ids.
const HALF_KEY: u64 = 16;
const HALF_IDS: usize = 5;
/// The bits of an id in half a line, and in an entry that has a line of its own. The first id is the lowest.
const HALF_BITS: u32 = 19;
const LONG_BITS: u32 = 21;
/// A word of a long entry holds so many ids.
const PACKED: usize = 3;

const WORDS: usize = 7;

#[repr(align(64))]
#[derive(Debug, bytemuck::Zeroable)]
struct Line {
    header: AtomicU64,
    words: [AtomicU64; WORDS],
}

// Of a header: of each entry its length and above it how many ids it has, then these bits, and the version.
const MOST_LENGTH: u64 = 63;
const COUNT_SHIFT: usize = 6;
const MOST_COUNT: u64 = 15;
const ENTRY_BITS: usize = 10;
/// The line holds one long entry.
const LONG: u64 = 1 << 20;
/// An entry that belongs here stands beside.
const BESIDE: u64 = 1 << 21;
const VERSION_SHIFT: u32 = 22;
/// The version is odd.
const BUSY: u64 = 1 << VERSION_SHIFT;

/// What a header says: the version, whether the line holds one long entry, whether an entry that belongs here stands
/// beside, and the lengths and numbers of ids of its entries. No entry has no ids.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Header {
    version: u64,
    long: bool,
    beside: bool,
    lengths: [u64; 2],
    counts: [usize; 2],
}

impl Header {
    #[inline]
    fn unpack(word: u64) -> Self {
        Self {
            version: word >> VERSION_SHIFT,
            long: word & LONG != 0,
            beside: word & BESIDE != 0,
            lengths: [word & MOST_LENGTH, word >> ENTRY_BITS & MOST_LENGTH],
            counts: [0, ENTRY_BITS].map(|shift| (word >> (shift + COUNT_SHIFT) & MOST_COUNT) as usize),
        }
    }

    #[inline]
    fn pack(self) -> u64 {
        let entry = |at: usize| self.lengths[at] | (self.counts[at] as u64) << COUNT_SHIFT;
        let flags = if self.long { LONG } else { 0 } | if self.beside { BESIDE } else { 0 };
        self.version << VERSION_SHIFT | flags | entry(1) << ENTRY_BITS | entry(0)
    }

    /// Whether an entry can be written without driving out another.
    fn has_room(self, key: &Key, ids: &[TokenId]) -> bool {
        let empty = self.counts.map(|count| count == 0);
        if self.busy() {
            return false;
        }
        if is_long(key, ids) { empty == [true; 2] } else { !self.long && empty != [false; 2] }
    }

    /// The halves of the line that are in use.
    fn used(self) -> isize {
        if self.long { 2 } else { self.counts.iter().filter(|&&count| count > 0).count().cast_signed() }
    }

    #[inline]
    fn busy(self) -> bool {
        self.version & 1 == 1
    }
}

/// Whether an entry takes a line of its own.
fn is_long(key: &Key, ids: &[TokenId]) -> bool {
    key.len > HALF_KEY || ids.len() > HALF_IDS || exceed(ids, HALF_BITS)
}

/// Whether any of `ids` takes more bits than these.
fn exceed(ids: &[TokenId], bits: u32) -> bool {
    ids.iter().fold(0, |all, id| all | id) >> bits != 0
}

/// A table, or its size in bytes until it is needed.
#[derive(Debug)]
struct Level {
    bytes: usize,
    table: OnceBox<Table>,
}

impl Level {
    #[inline]
    fn table(&self) -> &Table {
        self.table.get_or_init(|| Box::new(Table::new(self.bytes)))
    }
}

#[derive(Debug)]
struct Table {
    lines: LargeTable<Line>,
    /// Halves of lines that are in use.
    used: AtomicIsize,
}

/// The cache of one tokenizer.
#[derive(Debug)]
pub struct Cache {
    /// No other cache of this process has it.
    number: u64,
    limit: usize,
    levels: Vec<Level>,
    newest: AtomicUsize,
}

/// Room for the ids of a pre-token.
pub type Ids = [TokenId; MAX_IDS];

impl Cache {
    /// A cache of at most `limit` bytes; less than one table's worth means none.
    pub fn new(limit: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut sizes = Vec::new();
        let mut left = limit;
        let mut size = SMALLEST_TABLE;
        while sizes.len() < LEVELS && left >= SMALLEST_TABLE {
            // The last table is the largest power of two that still fits.
            let fitting = size.min(1 << left.ilog2());
            sizes.push(fitting);
            left -= fitting;
            if fitting < size {
                break;
            }
            size *= 4;
        }
        // A last table that is smaller than the one before it would forget more than it remembers.
        if sizes.len() > 1 && sizes[sizes.len() - 1] <= sizes[sizes.len() - 2] {
            sizes.pop();
        }
        let levels = sizes.into_iter().map(|bytes| Level { bytes, table: OnceBox::new() }).collect();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, limit, levels, newest: AtomicUsize::new(0) }
    }

    /// The number that no other cache of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether there is room for anything.
    pub(crate) fn remembers(&self) -> bool {
        !self.levels.is_empty()
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The table to look into, unless nothing is remembered. What it finds stays right when others write, grow the
    /// cache, or both.
    #[inline]
    pub(crate) fn reader(&self) -> Option<Reader<'_>> {
        let newest = self.newest.load(Ordering::Relaxed);
        let table = self.levels.get(newest)?.table();
        let before = self.levels[..newest].iter().rev().find_map(|level| level.table.get());
        Some(Reader { table, before })
    }

    /// Writes the ids remembered for `key` into `ids`, and returns how many they are; 0 where there are none. Behind a
    /// single one stands [`TokenId::MAX`].
    pub fn get(&self, key: &Key, ids: &mut Ids) -> usize {
        self.reader().map_or(0, |reader| reader.get(key, ids))
    }

    /// Makes room at once for what texts of so many bytes are likely to bring, since growing on the way is work.
    pub(crate) fn expect(&self, bytes: usize) {
        // The first table is enough for less.
        if bytes < 1 << 16 {
            return;
        }
        // Heaps' law. Halves that four corpora filled, over the power: 2.8 (English, Chinese and Japanese) to 3.9 (code).
        let pretokens = 4.0 * (bytes as f64).powf(0.62);
        let newest = self.newest.load(Ordering::Relaxed);
        let enough = self.levels.iter().position(|level| pretokens <= most_halves(level.bytes) as f64);
        let level = enough.unwrap_or(self.levels.len().saturating_sub(1));
        if level > newest {
            let _ = self.newest.compare_exchange(newest, level, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Remembers the ids of `key`, unless they are too many or another thread is writing the same line.
    #[inline]
    pub fn insert(&self, key: &Key, ids: &[TokenId]) {
        let fits = key.len <= MAX_KEY as u64 && key.word_count() + ids.len().div_ceil(PACKED) <= WORDS;
        if ids.len() > MAX_IDS || ids.is_empty() || !fits || exceed(ids, LONG_BITS) {
            return;
        }
        let newest = self.newest.load(Ordering::Relaxed);
        let Some(table) = self.levels.get(newest).map(Level::table) else { return };
        let used = table.insert(key, ids);
        if used > most_halves(table.lines.len() * LINE_BYTES).cast_signed() && newest + 1 < self.levels.len()
        {
            let _ = self.newest.compare_exchange(newest, newest + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// Halves of lines of a table of so many bytes that may be in use before too many drive each other out: 0.6 of all.
fn most_halves(bytes: usize) -> usize {
    bytes / LINE_BYTES / 4 * 5
}

/// The tables of a cache at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    table: &'a Table,
    /// What the cache had before it grew.
    before: Option<&'a Table>,
}

impl Reader<'_> {
    /// Asks the processor to bring the line of `key` near, and does not wait for it.
    #[inline]
    pub(crate) fn prefetch(&self, key: &Key) {
        prefetch(&self.table.lines, self.table.index(key));
    }

    /// See [`Cache::get`].
    #[inline]
    pub(crate) fn get(&self, key: &Key, ids: &mut Ids) -> usize {
        let count = self.table.get(key, ids);
        if count > 0 { count } else { self.move_on(key, ids) }
    }

    /// Looks into the table before the newest, and moves what is found.
    #[inline(never)]
    fn move_on(&self, key: &Key, ids: &mut Ids) -> usize {
        let Some(before) = self.before else { return 0 };
        let count = before.get(key, ids);
        if count > 0 {
            self.table.insert(key, &ids[..count]);
        }
        count
    }
}

impl Table {
    fn new(bytes: usize) -> Self {
        Self { lines: LargeTable::zeroed(bytes / LINE_BYTES), used: AtomicIsize::new(0) }
    }

    /// Which line `key` belongs to.
    #[inline]
    fn index(&self, key: &Key) -> usize {
        // The number of lines is a power of two. The lowest bits say which entry of a full line makes room.
        (key.hash >> 20) as usize & (self.lines.len() - 1)
    }

    /// See [`Cache::get`].
    #[inline]
    fn get(&self, key: &Key, ids: &mut Ids) -> usize {
        let index = self.index(key);
        let line = &self.lines[index];
        let count = line.get(key, ids);
        if count == 0 && line.header.load(Ordering::Relaxed) & BESIDE != 0 {
            return self.get_beside(index, key, ids);
        }
        count
    }

    #[inline(never)]
    fn get_beside(&self, index: usize, key: &Key, ids: &mut Ids) -> usize {
        self.lines[index ^ 1].get(key, ids)
    }

    /// Writes into a line of `key`, over another entry where there is no room; returns how many halves of lines are in
    /// use. Entries that drive each other out again and again do not count, or passes over a known text would make
    /// the cache grow.
    fn insert(&self, key: &Key, ids: &[TokenId]) -> isize {
        let index = self.index(key);
        let [first, second] = [index, index ^ 1].map(|index| &self.lines[index]);
        let has_room = |line: &Line| Header::unpack(line.header.load(Ordering::Relaxed)).has_room(key, ids);
        let line = if !has_room(first) && has_room(second) && first.mark_beside() { second } else { first };
        let more = line.insert(key, ids);
        self.used.fetch_add(more, Ordering::Relaxed) + more
    }
}

impl Line {
    /// See [`Cache::get`]. Which of two entries it is, is no branch.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of a hot loop, and small where it is")]
    fn get(&self, key: &Key, ids: &mut Ids) -> usize {
        let word = self.header.load(Ordering::Acquire);
        let count =
            if word & LONG == 0 { self.get_half(word, key, ids) } else { self.get_long(word, key, ids) };
        // Everything above was read while this version stood, or it is not used.
        fence(Ordering::Acquire);
        let stands = word & BUSY == 0 && self.header.load(Ordering::Relaxed) == word;
        if stands { count } else { 0 }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the same")]
    fn get_half(&self, header: u64, key: &Key, ids: &mut Ids) -> usize {
        // An empty half has no length.
        let holds = |half: usize| {
            let differs = (self.word(3 * half) ^ key.words[0]) | (self.word(3 * half + 1) ^ key.words[1]);
            differs | (header >> (ENTRY_BITS * half) & MOST_LENGTH ^ key.len) == 0
        };
        let (first, second) = (holds(0), holds(1));
        let half = usize::from(second);
        let count = if first | second { header >> (ENTRY_BITS * half + COUNT_SHIFT) & MOST_COUNT } else { 0 };
        let low = if second { self.word(5) } else { self.word(2) };
        let id = |packed: u64| packed as TokenId & ((1 << HALF_BITS) - 1);
        ids[0] = id(low);
        ids[1] = if count == 1 { TokenId::MAX } else { id(low >> HALF_BITS) };
        if count > 2 {
            let rest = self.word(6) >> (32 * half);
            ids[2] = id(low >> (2 * HALF_BITS));
            ids[3] = id(low >> (3 * HALF_BITS) | rest << (64 - 3 * HALF_BITS));
            ids[4] = id((rest << 32 >> 32) >> (4 * HALF_BITS - 64));
        }
        count as usize
    }

    /// Notes that an entry which belongs here stands beside, unless another thread is writing.
    fn mark_beside(&self) -> bool {
        let old = self.header.load(Ordering::Relaxed);
        let marked =
            |new| self.header.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        !Header::unpack(old).busy() && (old & BESIDE != 0 || marked(old | BESIDE))
    }

    /// Writes an entry, unless another thread is writing; returns how many more halves are in use.
    fn insert(&self, key: &Key, ids: &[TokenId]) -> isize {
        let old = self.header.load(Ordering::Relaxed);
        let mut header = Header::unpack(old);
        if header.busy() {
            return 0;
        }
        let before = header.used();
        let busy = Header { version: header.version + 1, ..header }.pack();
        if self.header.compare_exchange(old, busy, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return 0;
        }
        fence(Ordering::Release);
        if is_long(key, ids) {
            self.put_long(&mut header, key, ids);
        } else {
            self.put_half(&mut header, key, ids);
        }
        header.version = header.version.wrapping_add(2);
        self.header.store(header.pack(), Ordering::Release);
        header.used() - before
    }

    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.words[at].load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, at: usize, word: u64) {
        self.words[at].store(word, Ordering::Relaxed);
    }

    fn put_half(&self, header: &mut Header, key: &Key, ids: &[TokenId]) {
        if header.long {
            *header = Header { long: false, lengths: [0; 2], counts: [0; 2], ..*header };
        }
        // An empty half, or else the one that the hash says.
        let half = if header.counts[0] == 0 {
            0
        } else if header.counts[1] == 0 {
            1
        } else {
            (key.hash & 1) as usize
        };
        let packed = ids.iter().rev().fold(0, |packed: u128, &id| packed << HALF_BITS | u128::from(id));
        self.set(3 * half, key.words[0]);
        self.set(3 * half + 1, key.words[1]);
        self.set(3 * half + 2, packed as u64);
        let (shift, rest) = (32 * half as u32, (packed >> 64) as u64);
        self.set(6, self.word(6) & !(u64::from(u32::MAX) << shift) | rest << shift);
        header.lengths[half] = key.len;
        header.counts[half] = ids.len();
    }

    #[inline(never)]
    fn get_long(&self, header: u64, key: &Key, ids: &mut Ids) -> usize {
        let header = Header::unpack(header);
        let key_words = key.word_count();
        let same = header.lengths[0] == key.len && (0..key_words).all(|at| self.word(at) == key.words[at]);
        let count = header.counts[0];
        // No entry is longer than a line, whatever bits a header has.
        if !same || key_words + count.div_ceil(PACKED) > WORDS {
            return 0;
        }
        for (at, packed) in ids.chunks_exact_mut(PACKED).take(count.div_ceil(PACKED)).enumerate() {
            let word = self.word(key_words + at);
            for (at, id) in (0..).zip(packed) {
                *id = (word >> (LONG_BITS * at)) as TokenId & ((1 << LONG_BITS) - 1);
            }
        }
        if count == 1 {
            ids[1] = TokenId::MAX;
        }
        count
    }

    fn put_long(&self, header: &mut Header, key: &Key, ids: &[TokenId]) {
        let key_words = key.word_count();
        for (at, &word) in key.words[..key_words].iter().enumerate() {
            self.set(at, word);
        }
        for (at, ids) in ids.chunks(PACKED).enumerate() {
            let packed = ids.iter().rev().fold(0, |packed, &id| packed << LONG_BITS | u64::from(id));
            self.set(key_words + at, packed);
        }
        *header = Header { long: true, lengths: [key.len, 0], counts: [ids.len(), 0], ..*header };
    }
}
