//! A bounded memory of pre-tokens and their ids, shared by all threads without a lock.
//!
//! A slot is one cache line of eight words: a header, 24 bytes of key, and up to eight ids. The header holds a
//! version that is odd while a writer is at work. A reader that sees the version change, or odd, takes it for a
//! miss; a writer that finds another at work gives up. So a result is either exact or not there, and ids never
//! depend on the cache. All words are atomics: no `unsafe`, no torn reads that go unnoticed.
//!
//! Tables grow by a factor of four up to the limit, each made only when the one before it has filled; the limit
//! covers them all. A miss in the newest table looks into the one before it, so that growth forgets nothing hot. Making
//! one takes no lock either, the first to be done wins: a process forked while another thread held such a lock would
//! wait for ever.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use once_cell::race::OnceBox;

use crate::token::TokenId;

/// The memory a tokenizer uses for remembered pre-tokens unless asked otherwise.
pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;

/// The longest pre-token that is remembered, in bytes.
pub const MAX_KEY: usize = 24;
const KEY_WORDS: usize = MAX_KEY / 8;
const MAX_IDS: usize = 8;
const SLOT_BYTES: usize = 64;
const SMALLEST_TABLE: usize = 1 << 18;
const LEVELS: usize = 8;

/// One cache line.
#[repr(align(64))]
#[derive(Debug, bytemuck::Zeroable)]
struct Slot {
    header: AtomicU64,
    key: [AtomicU64; KEY_WORDS],
    ids: [AtomicU64; MAX_IDS / 2],
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
    slots: Box<[Slot]>,
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

/// The ids of a pre-token, at most eight.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    ids: [TokenId; MAX_IDS],
    count: usize,
}

impl std::ops::Deref for Ids {
    type Target = [TokenId];

    #[inline]
    fn deref(&self) -> &[TokenId] {
        &self.ids[..self.count.min(MAX_IDS)]
    }
}

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

/// Asks the processor to bring a slot near.
#[inline]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "lookups that wait one after another cost twice as much"))]
fn prefetch(slot: &Slot) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing a program can see, and the address is that of a live slot.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(slot).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}

impl Cache {
    /// A cache of at most `limit` bytes; less than one table's worth means none.
    pub fn new(limit: usize) -> Self {
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
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, limit, levels, newest: AtomicUsize::new(0) }
    }

    /// The number that no other cache of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The ids remembered for `key`.
    #[inline]
    pub fn get(&self, key: &Key) -> Option<Ids> {
        let newest = self.newest.load(Ordering::Relaxed);
        let table = self.levels.get(newest).map(Level::table)?;
        if let Some(ids) = table.get(key) {
            return Some(ids);
        }
        let before = self.levels[newest.checked_sub(1)?].table();
        let ids = before.get(key)?;
        table.insert(key, &ids);
        Some(ids)
    }

    /// Asks the processor to bring the slot of `key` near, and does not wait for it.
    #[inline]
    pub(crate) fn prefetch(&self, key: &Key) {
        let newest = self.newest.load(Ordering::Relaxed);
        if let Some(table) = self.levels.get(newest).map(Level::table) {
            prefetch(table.slot(key));
        }
    }

    /// Remembers the ids of `key`, unless they are too many or another thread is writing the same slot.
    #[inline]
    pub fn insert(&self, key: &Key, ids: &[TokenId]) {
        if ids.len() > MAX_IDS {
            return;
        }
        let newest = self.newest.load(Ordering::Relaxed);
        let Some(table) = self.levels.get(newest).map(Level::table) else { return };
        let inserted = table.insert(key, ids);
        if inserted > table.slots.len() / 2 && newest + 1 < self.levels.len() {
            let _ = self.newest.compare_exchange(newest, newest + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Table {
    fn new(bytes: usize) -> Self {
        Self { slots: bytemuck::zeroed_slice_box(bytes / SLOT_BYTES), inserted: AtomicUsize::new(0) }
    }

    #[inline]
    fn slot(&self, key: &Key) -> &Slot {
        // The number of slots is a power of two; the high bits of the hash are the best mixed.
        let index = (key.hash >> 20) as usize & (self.slots.len() - 1);
        &self.slots[index]
    }

    #[inline]
    fn get(&self, key: &Key) -> Option<Ids> {
        let slot = self.slot(key);
        let header = slot.header.load(Ordering::Acquire);
        let (version, len, count) = unpack(header);
        if version & 1 == 1 || len != key.len || count == 0 {
            return None;
        }
        let same = (0..KEY_WORDS).all(|at| slot.key[at].load(Ordering::Relaxed) == key.words[at]);
        if !same {
            return None;
        }
        let mut ids = Ids { ids: [0; MAX_IDS], count };
        for (at, pair) in slot.ids.iter().enumerate() {
            let pair = pair.load(Ordering::Relaxed);
            ids.ids[at * 2] = pair as TokenId;
            ids.ids[at * 2 + 1] = (pair >> 32) as TokenId;
        }
        // Everything above was read while this version stood, or it is not used.
        fence(Ordering::Acquire);
        (slot.header.load(Ordering::Relaxed) == header).then_some(ids)
    }

    /// Writes the slot of `key`, over whatever it held; returns how many were written into this table so far.
    fn insert(&self, key: &Key, ids: &[TokenId]) -> usize {
        let slot = self.slot(key);
        let old = slot.header.load(Ordering::Relaxed);
        let (version, _, _) = unpack(old);
        if version & 1 == 1 {
            return 0;
        }
        let busy = pack(version + 1, 0, 0);
        if slot.header.compare_exchange(old, busy, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return 0;
        }
        fence(Ordering::Release);
        for (word, &value) in slot.key.iter().zip(&key.words) {
            word.store(value, Ordering::Relaxed);
        }
        for (word, pair) in slot.ids.iter().zip(ids.chunks(2)) {
            let high = pair.get(1).map_or(0, |&id| u64::from(id) << 32);
            word.store(high | u64::from(pair[0]), Ordering::Relaxed);
        }
        slot.header.store(pack(version.wrapping_add(2), key.len, ids.len()), Ordering::Release);
        self.inserted.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A version of 48 bits, the length of the key, the number of ids.
#[inline]
fn pack(version: u64, len: u64, count: usize) -> u64 {
    version << 16 | len << 8 | count as u64
}

#[inline]
fn unpack(header: u64) -> (u64, u64, usize) {
    (header >> 16, header >> 8 & 0xFF, (header & 0xFF) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

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
                    if let Some(found) = cache.get(&key) {
                        assert_eq!(*found, ids);
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
            ids.extend_from_slice(&cache.get(&key(piece)).unwrap());
        }
        assert_eq!(ids, [1, 2, 3, 4, 5]);
        assert!(Key::new(&[b'x'; 99], 3, MAX_KEY + 1).is_none());
        // What follows a pre-token is no part of its key.
        cache.insert(&Key::new(b"..abc, and so it goes on and on", 2, 3).unwrap(), &[6]);
        assert_eq!(*cache.get(&key(b"abc")).unwrap(), [6]);
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
                        if let Some(ids) = cache.get(&key) {
                            assert_eq!(*ids, [number as TokenId; 3]);
                        } else {
                            cache.insert(&key, &[number as TokenId; 3]);
                        }
                    }
                });
            }
        });
    }
}
