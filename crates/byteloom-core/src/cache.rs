//! A bounded memory of pre-tokens and their ids, shared by all threads without a lock.
//!
//! What a pre-token needs is in one cache line of eight words, so that looking it up waits for memory once. A line
//! holds two pre-tokens of up to 16 bytes and three ids, or one of up to 24 bytes and eight ids:
//!
//! ```text
//! header | key key ids | key key ids | third ids of both
//! header | key key key | ids ids ids ids
//! ```
//!
//! The header holds a version that is odd while a writer is at work. A reader that sees the version change, or odd,
//! takes it for a miss; a writer that finds another at work gives up. So a result is either exact or not there, and
//! ids never depend on the cache. All words are atomics: no torn read goes unnoticed.
//!
//! Tables grow by a factor of four up to the limit, each made only when the one before it has filled; the limit
//! covers them all. A miss in the newest table looks into the one before it, so that growth forgets nothing hot. Making
//! one takes no lock either, the first to be done wins: a process forked while another thread held such a lock would
//! wait for ever.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use once_cell::race::OnceBox;

use crate::prefetch::prefetch;
use crate::token::TokenId;

/// The memory a tokenizer uses for remembered pre-tokens unless asked otherwise.
pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;

/// The longest pre-token that is remembered, in bytes.
pub const MAX_KEY: usize = 24;
const KEY_WORDS: usize = MAX_KEY / 8;
const MAX_IDS: usize = 8;
const LINE_BYTES: usize = 64;
const SMALLEST_TABLE: usize = 1 << 18;
const LEVELS: usize = 8;
/// What shares a line with another has at most this many bytes and ids.
const HALF_KEY: u64 = 16;
const HALF_IDS: usize = 3;

#[repr(align(64))]
#[derive(Debug, bytemuck::Zeroable)]
struct Line {
    header: AtomicU64,
    words: [AtomicU64; 7],
}

/// What a header says: the version, whether the line holds one long entry, and the lengths and numbers of ids of its
/// entries. No entry has no ids.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Header {
    version: u64,
    long: bool,
    lengths: [u64; 2],
    counts: [usize; 2],
}

impl Header {
    #[inline]
    fn unpack(word: u64) -> Self {
        Self {
            version: word >> 19,
            long: word >> 18 & 1 == 1,
            lengths: [word & 31, word >> 9 & 31],
            counts: [(word >> 5 & 15) as usize, (word >> 14 & 15) as usize],
        }
    }

    #[inline]
    fn pack(self) -> u64 {
        let entry = |at: usize| self.lengths[at] | (self.counts[at] as u64) << 5;
        self.version << 19 | u64::from(self.long) << 18 | entry(1) << 9 | entry(0)
    }

    #[inline]
    fn busy(self) -> bool {
        self.version & 1 == 1
    }
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
    lines: Box<[Line]>,
    inserted: AtomicUsize,
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

/// A pre-token as it is looked up.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    words: [u64; KEY_WORDS],
    len: u64,
    hash: u64,
}

/// Room for the ids of a pre-token.
pub type Ids = [TokenId; MAX_IDS];

impl Key {
    /// The key of the pre-token of `length` bytes at `start` of `text`, if it has at most [`MAX_KEY`] bytes.
    #[inline]
    pub fn new(text: &[u8], start: usize, length: usize) -> Option<Self> {
        if length > MAX_KEY {
            return None;
        }
        let mut padded = [0; MAX_KEY];
        match text.get(start..start + MAX_KEY) {
            Some(bytes) => padded.copy_from_slice(bytes),
            None => padded[..length].copy_from_slice(&text[start..start + length]),
        }
        // A word keeps the bytes that belong to the pre-token.
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&padded[at * 8..at * 8 + 8]);
            let kept = length.saturating_sub(at * 8).min(8) as u32;
            u64::from_le_bytes(bytes) & u64::MAX.checked_shr(64 - 8 * kept).unwrap_or(0)
        };
        let words = [word(0), word(1), word(2)];
        let len = length as u64;
        let hash = fold(
            fold(words[0] ^ 0x9E37_79B9_7F4A_7C15, words[1] ^ 0xD1B5_4A32_D192_ED03),
            words[2] ^ len ^ 0x8CB9_2BA7_2F3D_8DD7,
        );
        Some(Self { words, len, hash })
    }
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

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

    /// Writes the ids remembered for `key` into `ids`, and returns how many they are; 0 where there are none.
    #[inline]
    pub fn get(&self, key: &Key, ids: &mut Ids) -> usize {
        let newest = self.newest.load(Ordering::Relaxed);
        let Some(table) = self.levels.get(newest).map(Level::table) else { return 0 };
        let count = table.get(key, ids);
        if count > 0 || newest == 0 { count } else { self.move_on(key, ids, newest) }
    }

    /// Looks into the table before the newest, and moves what is found.
    #[inline(never)]
    fn move_on(&self, key: &Key, ids: &mut Ids, newest: usize) -> usize {
        let count = self.levels[newest - 1].table().get(key, ids);
        if count > 0 {
            self.levels[newest].table().insert(key, &ids[..count]);
        }
        count
    }

    /// Asks the processor to bring the line of `key` near, and does not wait for it.
    #[inline]
    pub(crate) fn prefetch(&self, key: &Key) {
        let newest = self.newest.load(Ordering::Relaxed);
        if let Some(table) = self.levels.get(newest).map(Level::table) {
            prefetch(&table.lines, table.index(key));
        }
    }

    /// Remembers the ids of `key`, unless they are too many or another thread is writing the same line.
    #[inline]
    pub fn insert(&self, key: &Key, ids: &[TokenId]) {
        if ids.len() > MAX_IDS || ids.is_empty() {
            return;
        }
        let newest = self.newest.load(Ordering::Relaxed);
        let Some(table) = self.levels.get(newest).map(Level::table) else { return };
        let inserted = table.insert(key, ids);
        // A line holds two; more than 0.6 of that, and they drive each other out.
        if inserted > table.lines.len() / 4 * 5 && newest + 1 < self.levels.len() {
            let _ = self.newest.compare_exchange(newest, newest + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Table {
    fn new(bytes: usize) -> Self {
        Self { lines: bytemuck::zeroed_slice_box(bytes / LINE_BYTES), inserted: AtomicUsize::new(0) }
    }

    /// Which line `key` belongs to.
    #[inline]
    fn index(&self, key: &Key) -> usize {
        // The number of lines is a power of two; the high bits of the hash are the best mixed.
        (key.hash >> 20) as usize & (self.lines.len() - 1)
    }

    #[inline]
    fn line(&self, key: &Key) -> &Line {
        &self.lines[self.index(key)]
    }

    #[inline]
    fn get(&self, key: &Key, ids: &mut Ids) -> usize {
        let line = self.line(key);
        let word = line.header.load(Ordering::Acquire);
        let header = Header::unpack(word);
        if header.busy() {
            return 0;
        }
        let count =
            if header.long { line.get_long(header, key, ids) } else { line.get_half(header, key, ids) };
        // Everything above was read while this version stood, or it is not used.
        fence(Ordering::Acquire);
        if line.header.load(Ordering::Relaxed) == word { count } else { 0 }
    }

    /// Writes into the line of `key`, over another entry where there is no room; returns how many were written into
    /// this table so far.
    fn insert(&self, key: &Key, ids: &[TokenId]) -> usize {
        let line = self.line(key);
        let old = line.header.load(Ordering::Relaxed);
        let mut header = Header::unpack(old);
        if header.busy() {
            return 0;
        }
        let busy = Header { version: header.version + 1, ..header }.pack();
        if line.header.compare_exchange(old, busy, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return 0;
        }
        fence(Ordering::Release);
        if key.len > HALF_KEY || ids.len() > HALF_IDS {
            line.put_long(&mut header, key, ids);
        } else {
            line.put_half(&mut header, key, ids);
        }
        header.version = header.version.wrapping_add(2);
        line.header.store(header.pack(), Ordering::Release);
        self.inserted.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Line {
    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.words[at].load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, at: usize, word: u64) {
        self.words[at].store(word, Ordering::Relaxed);
    }

    #[inline]
    fn get_half(&self, header: Header, key: &Key, ids: &mut Ids) -> usize {
        let holds = |half: usize| {
            header.lengths[half] == key.len
                && header.counts[half] != 0
                && self.word(3 * half) == key.words[0]
                && self.word(3 * half + 1) == key.words[1]
        };
        let half = if holds(0) {
            0
        } else if holds(1) {
            1
        } else {
            return 0;
        };
        let pair = self.word(3 * half + 2);
        (ids[0], ids[1]) = (pair as TokenId, (pair >> 32) as TokenId);
        ids[2] = (self.word(6) >> (32 * half)) as TokenId;
        header.counts[half]
    }

    fn put_half(&self, header: &mut Header, key: &Key, ids: &[TokenId]) {
        if header.long {
            *header = Header { version: header.version, long: false, lengths: [0; 2], counts: [0; 2] };
        }
        // An empty half, or else the one that the hash says.
        let half = if header.counts[0] == 0 {
            0
        } else if header.counts[1] == 0 {
            1
        } else {
            (key.hash & 1) as usize
        };
        let id = |at: usize| u64::from(ids.get(at).copied().unwrap_or(0));
        self.set(3 * half, key.words[0]);
        self.set(3 * half + 1, key.words[1]);
        self.set(3 * half + 2, id(0) | id(1) << 32);
        let [low, high] = halves(self.word(6));
        let third = if half == 0 { [id(2), u64::from(high)] } else { [u64::from(low), id(2)] };
        self.set(6, third[0] | third[1] << 32);
        header.lengths[half] = key.len;
        header.counts[half] = ids.len();
    }

    fn get_long(&self, header: Header, key: &Key, ids: &mut Ids) -> usize {
        let same = header.lengths[0] == key.len && (0..KEY_WORDS).all(|at| self.word(at) == key.words[at]);
        if !same {
            return 0;
        }
        for (at, pair) in ids.chunks_exact_mut(2).enumerate() {
            pair.copy_from_slice(&halves(self.word(KEY_WORDS + at)));
        }
        header.counts[0]
    }

    fn put_long(&self, header: &mut Header, key: &Key, ids: &[TokenId]) {
        for (at, &word) in key.words.iter().enumerate() {
            self.set(at, word);
        }
        for (at, pair) in ids.chunks(2).enumerate() {
            let high = pair.get(1).map_or(0, |&id| u64::from(id) << 32);
            self.set(KEY_WORDS + at, high | u64::from(pair[0]));
        }
        *header =
            Header { version: header.version, long: true, lengths: [key.len, 0], counts: [ids.len(), 0] };
    }
}

#[inline]
fn halves(word: u64) -> [TokenId; 2] {
    [word as TokenId, (word >> 32) as TokenId]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(cache: &Cache, key: &Key) -> Option<Vec<TokenId>> {
        let mut ids = Ids::default();
        let count = cache.get(key, &mut ids);
        (count > 0).then(|| ids[..count].to_vec())
    }

    fn key(piece: &[u8]) -> Key {
        Key::new(piece, 0, piece.len()).unwrap()
    }

    fn word(number: u64) -> Vec<u8> {
        format!("word{number:x}").into_bytes()
    }

    #[test]
    fn remembers_exactly_and_within_the_limit() {
        for limit in [0, 1 << 18, 3 << 18, 1 << 22, DEFAULT_CACHE_BYTES] {
            let cache = Cache::new(limit);
            assert!(cache.levels.iter().map(|level| level.bytes).sum::<usize>() <= limit);
            let mut hits = 0;
            for round in 0..2 {
                for number in 0..20_000 {
                    let key = key(&word(number));
                    let ids: Vec<TokenId> =
                        (0..=number as TokenId % 8).map(|at| number as TokenId + at).collect();
                    if let Some(found) = get(&cache, &key) {
                        assert_eq!(found, ids);
                        hits += round;
                    } else {
                        cache.insert(&key, &ids);
                    }
                }
            }
            assert_eq!(hits == 0, limit == 0, "limit {limit}");
        }
    }

    #[test]
    fn keys_differ_by_length_and_by_zero_bytes() {
        let cache = Cache::new(1 << 18);
        for (piece, id) in [(&b""[..], 1), (b"\0", 2), (b"\0\0", 3), (b"a", 4), (b"a\0", 5)] {
            cache.insert(&key(piece), &[id]);
        }
        let mut ids = vec![];
        for piece in [&b""[..], b"\0", b"\0\0", b"a", b"a\0"] {
            ids.extend(get(&cache, &key(piece)).unwrap());
        }
        assert_eq!(ids, [1, 2, 3, 4, 5]);
        assert!(Key::new(&[b'x'; 99], 3, MAX_KEY + 1).is_none());
        // What follows a pre-token is no part of its key.
        cache.insert(&Key::new(b"..abc, and so it goes on and on", 2, 3).unwrap(), &[6]);
        assert_eq!(get(&cache, &key(b"abc")).unwrap(), [6]);
    }

    #[test]
    fn readers_never_see_half_a_write() {
        // Few slots and many threads: every word of a slot is fought over.
        let cache = Cache::new(1 << 18);
        std::thread::scope(|scope| {
            for seed in 0..4u64 {
                let cache = &cache;
                scope.spawn(move || {
                    for step in 0..200_000u64 {
                        let number = (step * 7919 + seed * 104_729) % 9_000;
                        let key = key(&word(number));
                        if let Some(ids) = get(cache, &key) {
                            assert_eq!(ids, [number as TokenId; 3]);
                        } else {
                            cache.insert(&key, &[number as TokenId; 3]);
                        }
                    }
                });
            }
        });
    }
}
