//! Text to ids: the one path that every way to encode, count or measure a text takes.
//!
//! The pre-tokens of a text are worked on in blocks, and a block in passes, so that the processor has many of them
//! in flight at each step:
//!
//! 1. look every pre-token up in the [hot tier](crate::hot), without a branch; list those that need more;
//! 2. prefetch from the shared [cache](crate::cache) what was not found, then look it up there, and merge what is
//!    new;
//! 3. write the ids out, again without a branch for pre-tokens of one or two.
//!
//! A short text takes a [way of its own](short) through the same tables.

mod short;

use std::cell::RefCell;
use std::sync::Mutex;

use crate::cache::{Ids, Key, Reader};
use crate::error::Result;
use crate::hot::{self, Found, HotTier, NO_SECOND};
use crate::merge::{Ends, MergeScratch, SafeCuts};
use crate::pretokenize::Window;
use crate::token::TokenId;
use crate::tokenizer::{Part, Poll, SpecialPolicy, Tokenizer};
pub use short::SHORT;
use short::Short;

/// Pre-tokens of one block.
const BLOCK: usize = hot::GROUP;
/// Pre-tokens of up to this many bytes are looked up whole; longer ones are cut where no token crosses.
const UNCUT: u32 = 16;
/// A thread keeps buffers of up to this many ids or ends.
const MOST_ROOM: usize = 1 << 18;
/// A thread keeps a buffer for texts of up to this many bytes.
const MOST_TEXT: usize = 1 << 20;
/// A thread keeps the hot tiers of this many tokenizers.
const MAX_HOT_TIERS: usize = 4;

/// Takes ids as they come, a block at a time; an error stops the work.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[TokenId]) -> Result<()>;

/// Buffers of one encoding at a time. They stay small, whatever the text: see [`MergeScratch`].
#[derive(Debug, Default)]
struct Workspace {
    /// A text of a batch that had to be brought into UTF-8.
    text: Vec<u8>,
    short: Box<Short>,
    window: Window,
    /// The numbers of the pre-tokens of the window that are long.
    long: Vec<u32>,
    /// The ends of the pre-tokens of the window and of the parts that long ones are cut into.
    cut: Ends,
    block: Block,
    merge: MergeScratch,
    /// With the numbers of the caches they stand before; the last one used is the last.
    hot: Vec<(u64, HotTier)>,
}

impl Workspace {
    /// Gives back the room that an uncommonly long pre-token took.
    fn give_up_room(&mut self) {
        let Self { window, long, cut, block, merge, .. } = self;
        merge.give_up_room(MOST_ROOM);
        for numbers in [&mut window.ends, long, &mut block.merged, &mut block.many_ids, &mut block.ids] {
            if numbers.capacity() > MOST_ROOM {
                *numbers = Vec::new();
            }
        }
        if cut.capacity() > MOST_ROOM {
            *cut = Ends::default();
        }
    }
}

/// Room for a key of each pre-token of a block.
#[derive(Debug)]
struct Missing(Box<[Key; BLOCK]>);

impl Default for Missing {
    fn default() -> Self {
        Self(bytemuck::zeroed_box())
    }
}

/// One block of pre-tokens on its way.
#[derive(Debug, Default)]
struct Block {
    /// What the first pass found, and then what the second did.
    found: Box<Found>,
    /// The keys in the cache of those that are not in the hot tier.
    missing: Missing,
    /// Pre-tokens with another number of ids than one or two, in order, and where their ids end in `many_ids`.
    many: Vec<(u32, u32)>,
    many_ids: Vec<TokenId>,
    /// The ids of one pre-token that the cache knew.
    known: Ids,
    /// The ids of one pre-token that was merged.
    merged: Vec<TokenId>,
    /// The ids of the block, the first `written` of them.
    ids: Vec<TokenId>,
    written: usize,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Lends this thread's workspace, or a new one where it is in use further up the stack.
fn with_workspace<T>(work: impl FnOnce(&mut Workspace) -> T) -> T {
    WORKSPACE.with(|shared| match shared.try_borrow_mut() {
        Ok(mut workspace) => {
            let result = work(&mut workspace);
            workspace.give_up_room();
            result
        }
        Err(_) => work(&mut Workspace::default()),
    })
}

/// Lends a buffer for texts that stays with this thread, unless it became uncommonly large.
pub(crate) fn with_text_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let mut buffer = WORKSPACE.with(|shared| {
        shared.try_borrow_mut().map_or_else(|_| Vec::new(), |mut own| std::mem::take(&mut own.text))
    });
    let result = work(&mut buffer);
    if buffer.capacity() <= MOST_TEXT {
        WORKSPACE.with(|shared| {
            if let Ok(mut own) = shared.try_borrow_mut() {
                own.text = buffer;
            }
        });
    }
    result
}

/// Workspaces of threads that have ended, for those that come: what they hold took work to find.
static PARKED: Mutex<Vec<Workspace>> = Mutex::new(Vec::new());
/// How many are kept.
const MAX_PARKED: usize = 16;

/// A thread that ends soon has a parked workspace for its own while it holds this.
pub(crate) struct BorrowedWorkspace(());

impl BorrowedWorkspace {
    /// Takes a parked workspace, if there is one. The lock is only tried: a process that was forked while another
    /// thread held it would wait for ever.
    pub(crate) fn adopt() -> Self {
        if let Some(parked) = PARKED.try_lock().ok().and_then(|mut parked| parked.pop()) {
            WORKSPACE.with_borrow_mut(|own| *own = parked);
        }
        Self(())
    }
}

impl Drop for BorrowedWorkspace {
    fn drop(&mut self) {
        if let Ok(mut parked) = PARKED.try_lock()
            && parked.len() < MAX_PARKED
        {
            parked.push(WORKSPACE.take());
        }
    }
}

/// The hot tier that stands before the cache with this number; the one used longest ago makes room.
fn hot_tier(tiers: &mut Vec<(u64, HotTier)>, number: u64) -> &mut HotTier {
    let last = tiers.len().wrapping_sub(1);
    if tiers.get(last).is_none_or(|(owner, _)| *owner != number) {
        let tier = if let Some(place) = tiers.iter().position(|(owner, _)| *owner == number) {
            tiers.remove(place)
        } else {
            if tiers.len() == MAX_HOT_TIERS {
                tiers.remove(0);
            }
            (number, HotTier::new())
        };
        tiers.push(tier);
    }
    let last = tiers.len() - 1;
    &mut tiers[last].1
}

impl Tokenizer {
    /// Appends the ids of `text` to `ids`.
    ///
    /// # Errors
    /// [`Error::SpecialToken`](crate::Error::SpecialToken) where the text spells a denied token,
    /// [`Error::Pattern`](crate::Error::Pattern) where a custom pattern runs out of steps, and whatever `poll`
    /// returns.
    pub fn encode_into(
        &self,
        text: &[u8],
        policy: &SpecialPolicy,
        ids: &mut Vec<TokenId>,
        poll: Poll<'_>,
    ) -> Result<()> {
        self.encode_blocks(text, policy, &mut |block| {
            ids.extend_from_slice(block);
            poll()
        })
    }

    /// The number of ids of `text`, without keeping them.
    pub fn count(&self, text: &[u8], policy: &SpecialPolicy, poll: Poll<'_>) -> Result<usize> {
        let mut total = 0;
        self.encode_blocks(text, policy, &mut |block| {
            total += block.len();
            poll()
        })?;
        Ok(total)
    }

    /// Gives the ids of `text` to `sink`, a block at a time.
    pub(crate) fn encode_blocks(&self, text: &[u8], policy: &SpecialPolicy, sink: Sink<'_>) -> Result<()> {
        self.for_each_part(text, policy, &mut |part| match part {
            Part::Token { id, .. } => sink(&[id]),
            Part::Text { text, .. } => self.encode_ordinary(text, sink),
        })
    }

    /// Gives the ids of ordinary, normalized text to `sink`, a block at a time.
    pub(crate) fn encode_ordinary(&self, text: &[u8], sink: Sink<'_>) -> Result<()> {
        with_workspace(|workspace| {
            if let Some(count) = self.encode_short(text, workspace) {
                return sink(workspace.short.ids(count));
            }
            let Workspace { short, window, long, cut, block, merge, hot, .. } = workspace;
            let hot = hot_tier(hot, self.cache().number());
            self.cache().expect(text.len());
            let cuts = self.merge_table().cuts();
            let mut blocks = self.pretokenizer().blocks(text);
            // Sixteen bytes are read at a time, which at the end of a text takes a detour.
            let text = if text.len() <= SHORT { short.copy(text) } else { text };
            while blocks.next_window(window)? {
                if window.ends.is_empty() {
                    let piece = &text[window.start..window.end];
                    block.merged.clear();
                    self.merge_pretoken(piece, &Key::of(piece), || true, &mut block.merged, merge);
                    sink(&block.merged)?;
                }
                let (ends, whole_ends) = match cuts {
                    Some(cuts) if list_long(&window.ends, long) => {
                        cut_long(cuts, &text[window.start..], &window.ends, long, cut);
                        (cut.as_slice(), Some(&*window.ends))
                    }
                    _ => (&*window.ends, None),
                };
                let mut stretch = Stretch { text: &text[window.start..], start: 0, ends, whole_ends };
                for ends in ends.chunks(BLOCK) {
                    stretch.ends = ends;
                    block.encode(self, &stretch, hot, merge);
                    stretch.start = ends.last().copied().unwrap_or(stretch.start);
                    sink(&block.ids[..block.written])?;
                }
            }
            Ok(())
        })
    }

    /// Appends the ids of one pre-token.
    pub(crate) fn encode_one(&self, piece: &[u8], ids: &mut Vec<TokenId>) {
        with_workspace(|Workspace { merge, .. }| {
            let key = Key::of(piece);
            let mut known = Ids::default();
            let count = self.cache().get(&key, &mut known);
            if count > 0 {
                ids.extend_from_slice(&known[..count]);
                return;
            }
            let before = ids.len();
            if self.merge_pretoken(piece, &key, || true, ids, merge) {
                self.cache().insert(&key, &ids[before..]);
            }
        });
    }

    fn length_of(&self, id: TokenId) -> usize {
        self.token_bytes(id).map_or(0, <[u8]>::len)
    }

    /// Appends the ids of a piece, which is a whole pre-token or a part of one, and says whether they may be
    /// remembered: only if the same bytes have the same ids as either.
    fn merge_pretoken(
        &self,
        piece: &[u8],
        key: &Key,
        is_whole: impl FnOnce() -> bool,
        ids: &mut Vec<TokenId>,
        scratch: &mut MergeScratch,
    ) -> bool {
        let before = ids.len();
        self.merge_table().merge(piece, |id| self.length_of(id), scratch, ids);
        if !self.whole_tokens().is_some_and(|whole| whole.may_be(key, &ids[before..])) {
            return true;
        }
        let Some(id) = self.spec().vocab.id(piece) else { return true };
        if is_whole() {
            ids.truncate(before);
            ids.push(id);
        }
        self.merge_table().cuts().is_none()
    }

    /// The ends of the pre-tokens of `text`, in bytes; special tokens are not looked for.
    pub fn pretoken_ends(&self, text: &[u8]) -> Result<Vec<usize>> {
        let mut blocks = self.pretokenizer().blocks(text);
        let mut all = Vec::new();
        let mut window = Window::default();
        while blocks.next_window(&mut window)? {
            all.extend(window.ends.iter().map(|&end| window.start + end as usize));
            if window.ends.is_empty() {
                all.push(window.end);
            }
        }
        Ok(all)
    }
}

/// Whether any of the pre-tokens is long.
fn any_long(ends: &[u32]) -> bool {
    let starts = [0].iter().chain(ends);
    ends.iter().zip(starts).any(|(end, start)| end - start > UNCUT)
}

/// Pre-tokens that are looked at together for a long one.
const TOGETHER: usize = 32;

/// Lists the numbers of the long pre-tokens, and says whether there are any.
fn list_long(ends: &[u32], long: &mut Vec<u32>) -> bool {
    long.clear();
    let mut list = |first: usize, ends: &[u32]| {
        let is_long = |pair: &[u32]| pair[1] - pair[0] > UNCUT;
        let numbers = (first as u32..).zip(ends.windows(2));
        long.extend(numbers.filter(|(_, pair)| is_long(pair)).map(|(number, _)| number));
    };
    if let Some(&end) = ends.first() {
        list(0, &[0, end]);
    }
    let mut done = 1;
    while let Some(some) = ends.get(done - 1..).and_then(|ends| ends.first_chunk::<{ TOGETHER + 1 }>()) {
        // One less than each length: the bits above those of `UNCUT - 1` say whether any is long. Without a branch, it
        // is done by vectors.
        let lengths = (0..TOGETHER).map(|at| some[at + 1].wrapping_sub(some[at]).wrapping_sub(1));
        if lengths.fold(0, |all, length| all | length) >= UNCUT {
            list(done, some);
        }
        done += TOGETHER;
    }
    list(done, ends.get(done - 1..).unwrap_or_default());
    !long.is_empty()
}

const _: () = assert!(UNCUT.is_power_of_two());

/// Copies `ends`, and adds the safe cuts of the pre-tokens of `text` that are `long`; text may follow.
fn cut_long(cuts: &SafeCuts, text: &[u8], ends: &[u32], long: &[u32], cut: &mut Ends) {
    cut.clear();
    let mut is_valid = None;
    let mut copied = 0;
    for number in long.iter().map(|&number| number as usize) {
        cut.extend(&ends[copied..number]);
        copied = number;
        let start = number.checked_sub(1).map_or(0, |before| ends[before]);
        let all = ends.last().map_or(0, |&end| end as usize);
        let is_valid = || *is_valid.get_or_insert_with(|| simdutf8::basic::from_utf8(&text[..all]).is_ok());
        cuts.cut(text, start as usize..ends[number] as usize, is_valid, cut);
    }
    cut.extend(&ends[copied..]);
}

/// A stretch of text, cut into pre-tokens and parts of long ones.
struct Stretch<'a> {
    text: &'a [u8],
    /// Where the first of them begins.
    start: u32,
    ends: &'a [u32],
    /// Where the pre-tokens end, if some were cut.
    whole_ends: Option<&'a [u32]>,
}

impl Stretch<'_> {
    #[inline]
    fn range(&self, number: usize) -> (usize, usize) {
        let from = if number == 0 { self.start } else { self.ends[number - 1] };
        (from as usize, self.ends[number] as usize)
    }

    /// Whether it is a pre-token and not a part of one.
    fn is_whole(&self, number: usize) -> bool {
        let (from, end) = self.range(number);
        self.whole_ends.is_none_or(|ends| match ends.binary_search(&(end as u32)) {
            Ok(0) => from == 0,
            Ok(at) => ends[at - 1] as usize == from,
            Err(_) => false,
        })
    }
}

impl Block {
    /// Leaves the ids of a stretch in `ids`.
    fn encode(
        &mut self,
        tokenizer: &Tokenizer,
        stretch: &Stretch<'_>,
        hot: &mut HotTier,
        merge: &mut MergeScratch,
    ) {
        let cache = tokenizer.cache().reader();
        hot.look_up(stretch.text, stretch.start, stretch.ends, &mut self.found);
        self.find_missing(cache.as_ref(), stretch);
        self.complete(tokenizer, cache.as_ref(), stretch, hot, merge);
        self.write_out(stretch.ends.len(), hot);
    }

    /// Makes the keys of the pre-tokens that the hot tier does not hold.
    #[inline(never)]
    fn find_missing(&mut self, cache: Option<&Reader<'_>>, stretch: &Stretch<'_>) {
        let Self { found, missing, .. } = self;
        for (&number, key) in found.misses().iter().zip(missing.0.iter_mut()) {
            let (from, end) = stretch.range(number as usize);
            key.set(stretch.text, from, end - from);
            if let Some(cache) = cache {
                cache.prefetch(key);
            }
        }
    }

    /// The second pass.
    #[inline(never)]
    fn complete(
        &mut self,
        tokenizer: &Tokenizer,
        cache: Option<&Reader<'_>>,
        stretch: &Stretch<'_>,
        hot: &mut HotTier,
        merge: &mut MergeScratch,
    ) {
        self.many.clear();
        self.many_ids.clear();
        for at in 0..self.found.misses().len() {
            let Self { found, missing, known, .. } = self;
            let number = found.misses()[at] as usize % BLOCK;
            let key = &missing.0[at % BLOCK];
            let count = cache.map_or(0, |cache| cache.get(key, known));
            if let 1 | 2 = count {
                let [first, second, ..] = *known;
                (found.first[number], found.second[number]) = (first, second);
                hot.insert(key, found, number, first, second);
            } else if count == 0 {
                self.complete_new(tokenizer, stretch, at, hot, merge);
            } else {
                self.many_ids.extend_from_slice(known);
                self.many_ids.truncate(self.many_ids.len() + count - known.len());
                self.many.push((number as u32, self.many_ids.len() as u32));
            }
        }
    }

    /// Merges a pre-token that is new, the one of those missing that is numbered `at`, and remembers its ids.
    #[inline(never)]
    fn complete_new(
        &mut self,
        tokenizer: &Tokenizer,
        stretch: &Stretch<'_>,
        at: usize,
        hot: &mut HotTier,
        merge: &mut MergeScratch,
    ) {
        let Self { found, missing, many, many_ids, merged, .. } = self;
        let (key, number) = (&missing.0[at], found.misses()[at] as usize);
        let (from, end) = stretch.range(number);
        merged.clear();
        let is_whole = || stretch.is_whole(number);
        let may_remember = tokenizer.merge_pretoken(&stretch.text[from..end], key, is_whole, merged, merge);
        let cache = Some(tokenizer.cache()).filter(|cache| may_remember && cache.remembers());
        if let Some(cache) = cache {
            cache.insert(key, merged);
        }
        let (first, second) = match **merged {
            [first] => (first, NO_SECOND),
            [first, second] => (first, second),
            _ => {
                many_ids.extend_from_slice(merged);
                many.push((number as u32, many_ids.len() as u32));
                return;
            }
        };
        (found.first[number], found.second[number]) = (first, second);
        if cache.is_some() {
            hot.insert(key, found, number, first, second);
        }
    }

    /// The third pass, for `count` pre-tokens.
    #[inline(never)]
    fn write_out(&mut self, count: usize, hot: &HotTier) {
        let Self { found, many, many_ids, ids, .. } = self;
        let room = 2 * count + many_ids.len() + hot::EMIT_ROOM;
        if ids.len() < room {
            ids.resize(room.next_power_of_two(), 0);
        }
        let mut at = 0;
        let (mut from, mut taken) = (0, 0);
        for &(number, ids_end) in many.iter() {
            at = hot.emit(found, from, number as usize, ids, at);
            let some = &many_ids[taken..ids_end as usize];
            ids[at..at + some.len()].copy_from_slice(some);
            at += some.len();
            (from, taken) = (number as usize + 1, ids_end as usize);
        }
        self.written = hot.emit(found, from, count, ids, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_pretokens_are_listed_wherever_they_stand() {
        for count in 0..=70_usize {
            for long in 0..=count {
                for length in [0, 15, 16, 17, 300] {
                    let mut end = 0;
                    let ends: Vec<u32> = (0..count)
                        .map(|number| {
                            end += if number == long { length } else { 1 + number as u32 % 16 };
                            end
                        })
                        .collect();
                    let expected = (long < count && length > UNCUT).then_some(long as u32);
                    let mut listed = vec![7];
                    assert_eq!(list_long(&ends, &mut listed), expected.is_some());
                    assert_eq!(listed, Vec::from_iter(expected), "{count} {long} {length}");
                    assert_eq!(any_long(&ends), expected.is_some());
                }
            }
        }
    }
}
