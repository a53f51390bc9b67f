//! Text to ids: the one path that every way to encode, count or measure a text takes.
//!
//! The pre-tokens of a text are worked on in blocks, and a block in passes, so that the processor has many of them
//! in flight at each step:
//!
//! 1. look every pre-token up in the [hot tier](crate::hot), without a branch; list those that need more;
//! 2. prefetch from the shared [cache](crate::cache) what was not found, then look it up there, and merge what is
//!    new;
//! 3. write the ids out, again without a branch for pre-tokens of one or two.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Mutex;

use foldhash::fast::RandomState;

use crate::cache::{Ids, Key};
use crate::error::Result;
use crate::hot::{self, Found, HotTier, Left, NO_SECOND};
use crate::merge::{MergeScratch, SafeCuts};
use crate::pretokenize::Window;
use crate::token::TokenId;
use crate::tokenizer::{Part, Poll, SpecialPolicy, Tokenizer};

/// Pre-tokens of one block.
const BLOCK: usize = hot::GROUP;
/// Pre-tokens of up to this many bytes are looked up whole; longer ones are cut where no token crosses.
const UNCUT: u32 = 16;
/// Texts of up to this many bytes are looked up in a copy that has room behind its end.
const SHORT: usize = 240;
/// A thread keeps buffers of up to this many ids or ends.
const MOST_ROOM: usize = 1 << 18;
/// A thread keeps the hot tiers of this many tokenizers.
const MAX_HOT_TIERS: usize = 4;

/// The bytes of tokens that merges do not make.
pub(crate) type Unmerged = HashSet<Box<[u8]>, RandomState>;

/// Takes ids as they come, a block at a time; an error stops the work.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[TokenId]) -> Result<()>;

/// Buffers of one encoding at a time. They stay small, whatever the text: see [`MergeScratch`].
#[derive(Debug, Default)]
struct Workspace {
    /// A short text, and zeros.
    short: Vec<u8>,
    window: Window,
    /// The ends of the pre-tokens of the window and of the parts that long ones are cut into.
    cut: Vec<u32>,
    block: Block,
    merge: MergeScratch,
    /// With the numbers of the caches they stand before; the last one used is the last.
    hot: Vec<(u64, HotTier)>,
}

impl Workspace {
    /// Gives back the room that an uncommonly long pre-token took.
    fn give_up_room(&mut self) {
        let Self { window, cut, block, merge, .. } = self;
        merge.give_up_room(MOST_ROOM);
        for ends in [&mut window.ends, cut, &mut block.merged, &mut block.many_ids, &mut block.ids] {
            if ends.capacity() > MOST_ROOM {
                *ends = Vec::new();
            }
        }
    }
}

/// One block of pre-tokens on its way.
#[derive(Debug, Default)]
struct Block {
    /// What the first pass found; its values are completed, with second ids in the high halves.
    found: Box<Found>,
    /// Those of them that are not in the hot tier, and their keys in the cache.
    missing: Vec<(Left, Option<Key>)>,
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
        with_workspace(|Workspace { short, window, cut, block, merge, hot }| {
            let hot = hot_tier(hot, self.cache().number());
            let cuts = self.merge_table().cuts();
            let mut blocks = self.pretokenizer().blocks(text);
            // Sixteen bytes are read at a time, which at the end of a text takes a detour.
            let text = if text.len() <= SHORT {
                short.clear();
                short.extend_from_slice(text);
                short.extend_from_slice(&[0; 16]);
                &*short
            } else {
                text
            };
            while blocks.next_window(window)? {
                if window.ends.is_empty() {
                    block.merged.clear();
                    self.merge_pretoken(&text[window.start..window.end], &mut block.merged, merge);
                    sink(&block.merged)?;
                }
                let mut start = 0;
                let ends = match cuts {
                    Some(cuts) if any_long(&window.ends) => {
                        cut_long(cuts, self.unmerged(), &text[window.start..window.end], &window.ends, cut);
                        &*cut
                    }
                    _ => &window.ends,
                };
                for ends in ends.chunks(BLOCK) {
                    block.encode(self, &text[window.start..], start, ends, hot, merge);
                    start = ends.last().copied().unwrap_or(start);
                    sink(&block.ids[..block.written])?;
                }
            }
            Ok(())
        })
    }

    /// Appends the ids of one pre-token.
    pub(crate) fn encode_one(&self, piece: &[u8], ids: &mut Vec<TokenId>) {
        with_workspace(|Workspace { merge, .. }| {
            let key = Key::new(piece, 0, piece.len());
            let mut known = Ids::default();
            let count = key.as_ref().map_or(0, |key| self.cache().get(key, &mut known));
            if count > 0 {
                ids.extend_from_slice(&known[..count]);
                return;
            }
            let before = ids.len();
            self.merge_pretoken(piece, ids, merge);
            if let Some(key) = key {
                self.cache().insert(&key, &ids[before..]);
            }
        });
    }

    /// The tokens that only a whole pre-token can be, since merges make something else of their bytes. They are
    /// found when a pre-token is first cut.
    fn unmerged(&self) -> &Unmerged {
        self.unmerged_cell().get_or_init(|| {
            let mut unmerged = Unmerged::default();
            let spec = self.spec();
            if spec.whole_tokens {
                let (mut scratch, mut ids) = (MergeScratch::default(), Vec::new());
                for (id, bytes) in spec.vocab.iter() {
                    ids.clear();
                    self.merge_table().merge(bytes, |id| self.length_of(id), &mut scratch, &mut ids);
                    if ids != [id] {
                        unmerged.insert(Box::from(bytes));
                    }
                }
            }
            Box::new(unmerged)
        })
    }

    fn length_of(&self, id: TokenId) -> usize {
        self.token_bytes(id).map_or(0, <[u8]>::len)
    }

    fn merge_pretoken(&self, piece: &[u8], ids: &mut Vec<TokenId>, scratch: &mut MergeScratch) {
        let spec = self.spec();
        if spec.whole_tokens
            && let Some(id) = spec.vocab.id(piece)
        {
            ids.push(id);
            return;
        }
        self.merge_table().merge(piece, |id| self.length_of(id), scratch, ids);
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

/// Whether any pre-token is long; without a branch, so that it is done by vectors.
fn any_long(ends: &[u32]) -> bool {
    let first = u32::from(ends.first().is_some_and(|&end| end > UNCUT));
    let is_long = |(&start, &end): (&u32, &u32)| u32::from(end - start > UNCUT);
    ends.iter().zip(ends.iter().skip(1)).map(is_long).fold(first, std::ops::BitOr::bitor) != 0
}

/// Copies `ends`, and adds the safe cuts of the long pre-tokens of `text`.
///
/// A token that merges do not make is the token of a whole pre-token, not of a part that looks like one: such a part
/// stays with its neighbour. Then it holds a boundary that no token crosses, and is no token.
fn cut_long(cuts: &SafeCuts, unmerged: &Unmerged, text: &[u8], ends: &[u32], cut: &mut Vec<u32>) {
    cut.clear();
    let mut start = 0;
    for &end in ends {
        let first = cut.len();
        if end - start > UNCUT {
            cuts.cut(&text[start as usize..end as usize], start, cut);
        }
        cut.push(end);
        if !unmerged.is_empty() && cut.len() - first > 1 {
            let mut kept = first;
            let mut from = start;
            for at in first..cut.len() {
                let to = cut[at];
                if unmerged.contains(&text[from as usize..to as usize]) {
                    if to < end {
                        continue;
                    }
                    kept -= 1;
                }
                cut[kept] = to;
                kept += 1;
                from = to;
            }
            cut.truncate(kept);
        }
        start = end;
    }
}

impl Block {
    /// Leaves the ids of the pre-tokens of `text` that end at `ends`, the first of which begins at `start`, in `ids`.
    fn encode(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        start: u32,
        ends: &[u32],
        hot: &mut HotTier,
        merge: &mut MergeScratch,
    ) {
        hot.look_up(text, start, ends, &mut self.found);
        self.find_missing(tokenizer, text, start, ends, hot);
        self.complete(tokenizer, text, start, ends, hot, merge);
        self.write_out(ends.len());
    }

    /// Fetches second ids, and makes the keys of the pre-tokens that the hot tier does not hold.
    #[inline(never)]
    fn find_missing(&mut self, tokenizer: &Tokenizer, text: &[u8], start: u32, ends: &[u32], hot: &HotTier) {
        let Self { found, missing, .. } = self;
        missing.clear();
        for &left in &found.left[..found.count] {
            let number = left.number();
            if left.found() {
                found.second[number] = hot.second(left.place());
                continue;
            }
            let from = if number == 0 { start } else { ends[number - 1] };
            let key = Key::new(text, from as usize, (ends[number] - from) as usize);
            if let Some(key) = &key {
                tokenizer.cache().prefetch(key);
            }
            missing.push((left, key));
        }
    }

    /// The second pass.
    #[inline(never)]
    fn complete(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        start: u32,
        ends: &[u32],
        hot: &mut HotTier,
        merge: &mut MergeScratch,
    ) {
        let cache = tokenizer.cache();
        let remember = cache.remembers();
        let Self { found, missing, many, many_ids, known, merged, .. } = self;
        many.clear();
        many_ids.clear();
        for (left, key) in missing.iter() {
            let number = left.number();
            let from = if number == 0 { start } else { ends[number - 1] } as usize;
            let end = ends[number] as usize;
            let count = key.as_ref().map_or(0, |key| cache.get(key, known));
            let ids: &[TokenId] = match known.get(..count) {
                Some(known) if count > 0 => known,
                _ => {
                    merged.clear();
                    tokenizer.merge_pretoken(&text[from..end], merged, merge);
                    if let Some(key) = key {
                        cache.insert(key, merged);
                    }
                    merged
                }
            };
            match *ids {
                [first] => found.first[number] = first,
                [first, second] => (found.first[number], found.second[number]) = (first, second),
                _ => {
                    many_ids.extend_from_slice(ids);
                    many.push((number as u32, many_ids.len() as u32));
                    continue;
                }
            }
            if remember {
                hot.insert(text, from, end - from, left.place(), ids);
            }
        }
    }

    /// The third pass, for `count` pre-tokens.
    #[inline(never)]
    fn write_out(&mut self, count: usize) {
        let Self { found, many, many_ids, ids, .. } = self;
        let room = 2 * count + many_ids.len();
        if ids.len() < room {
            ids.resize(room.next_power_of_two(), 0);
        }
        let mut at = 0;
        let (mut from, mut taken) = (0, 0);
        for &(number, ids_end) in many.iter().chain([&(count as u32, many_ids.len() as u32)]) {
            let range = from..number as usize;
            for (&first, &second) in found.first[range.clone()].iter().zip(&found.second[range]) {
                if let Some(pair) = ids.get_mut(at..at + 2) {
                    pair.copy_from_slice(&[first, second]);
                }
                at += 1 + usize::from(second != NO_SECOND);
            }
            let some = &many_ids[taken..ids_end as usize];
            ids[at..at + some.len()].copy_from_slice(some);
            at += some.len();
            (from, taken) = (number as usize + 1, ids_end as usize);
        }
        self.written = at;
    }
}
