//! What a model takes in memory, and what is dropped where that is too much.
//!
//! Contexts are dropped in steps: the rarest first, in classes of twice the count each, and of one class the longest
//! first. A context is seen at least as often as a longer one that it is the end of, so that what is left after a step has
//! all shorter contexts of what it has. Contexts of one byte and none always stay.

use super::compile::{CONTEXT_BYTES, ENTRY_BYTES};
use super::counts::{GRAM_BYTES, Gram, Grams, MAX_ORDER};
use super::walk::{Tally, Visit, walk};
use crate::error::Result;
use crate::tokenizer::Poll;

/// The shortest contexts that may be dropped.
const LEAST_DROPPED: usize = 2;
/// One more than the last step.
const STEPS: usize = 64 * MAX_ORDER;

/// Figures about counts: how much of what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) grams: usize,
    pub(super) contexts: usize,
    /// Pairs of a context and a byte that followed it.
    pub(super) entries: usize,
}

impl Size {
    /// What the counts, the compiled form and its rows take together, in bytes.
    pub(super) fn memory(self) -> usize {
        let parts = [(self.grams, GRAM_BYTES), (self.contexts, CONTEXT_BYTES), (self.entries, ENTRY_BYTES)];
        parts
            .into_iter()
            .fold(0, |sum: usize, (count, bytes)| sum.saturating_add(count.saturating_mul(bytes)))
    }
}

/// What there is of each length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelSize {
    pub(super) contexts: usize,
    pub(super) entries: usize,
}

/// The step that drops a context of `length` bytes, seen `count` times.
fn step(length: usize, count: u64) -> usize {
    let class = count.next_power_of_two().trailing_zeros() as usize;
    if length < LEAST_DROPPED { STEPS } else { class * MAX_ORDER + (MAX_ORDER - 1 - length) }
}

impl Grams {
    /// Drops contexts until the model takes at most `limit` bytes, counts and compiled form together. Gives the number
    /// of contexts dropped.
    pub(super) fn fit(&mut self, limit: usize, poll: Poll<'_>) -> Result<u64> {
        // What each string could take at most.
        let most = GRAM_BYTES + self.lists.len() * (CONTEXT_BYTES + ENTRY_BYTES);
        if self.len().saturating_mul(most) <= limit {
            return Ok(0);
        }
        self.drop_until(|size| size.memory() <= limit, poll)
    }

    /// Drops contexts until at most `most` strings are left.
    pub(super) fn shrink(&mut self, most: usize, poll: Poll<'_>) -> Result<u64> {
        self.drop_until(|size| size.grams <= most, poll)
    }

    /// What is dropped depends on the counts alone.
    fn drop_until(&mut self, enough: impl Fn(Size) -> bool, poll: Poll<'_>) -> Result<u64> {
        let (mut size, steps) = Survey::of(self, poll)?.steps();
        if enough(size) {
            return Ok(0);
        }
        let contexts = size.contexts;
        let mut left: Vec<usize> = self.lists.iter().map(|list| list.len()).collect();
        let mut last = 0;
        for (step, change) in steps.iter().enumerate() {
            size.contexts -= change.contexts;
            size.entries -= change.vanish;
            for (left, appear) in left.iter_mut().zip(change.appear) {
                *left += appear;
            }
            if let Some(left) = left.get_mut(MAX_ORDER - 1 - step % MAX_ORDER) {
                *left -= change.vanish;
            }
            size.grams = left.iter().sum();
            if change.contexts > 0 {
                last = step;
            }
            if enough(size) {
                break;
            }
        }
        // Of the size they will have: lists that grow leave holes behind.
        let lists = left.into_iter().map(Vec::with_capacity).collect();
        let mut dropper = Dropper { last, open: vec![Open::default(); self.lists.len()], lists };
        walk(self, &mut dropper, poll)?;
        for (list, kept) in self.lists.iter_mut().zip(dropper.lists) {
            *list = kept.into();
        }
        Ok((contexts - size.contexts) as u64)
    }

    /// How many contexts there are, and bytes behind them, for each length of context.
    pub(super) fn level_sizes(&self, poll: Poll<'_>) -> Result<Vec<LevelSize>> {
        let mut sizes = Sizes {
            open: vec![[0; 4]; self.lists.len()],
            levels: vec![LevelSize::default(); self.lists.len()],
        };
        walk(self, &mut sizes, poll)?;
        Ok(sizes.levels)
    }
}

/// Counts contexts and entries.
struct Sizes {
    /// The bytes seen behind each open context.
    open: Vec<[u64; 4]>,
    levels: Vec<LevelSize>,
}

impl Visit for Sizes {
    fn open(&mut self, length: usize, _context: u64) {
        self.levels[length].contexts += 1;
    }

    fn strings(&mut self, length: usize, strings: &[Gram]) {
        for gram in strings {
            let byte = gram.key as u8;
            self.open[length][usize::from(byte / 64)] |= 1 << (byte % 64);
        }
    }

    fn close(&mut self, length: usize, _context: u64) {
        let seen = std::mem::take(&mut self.open[length]);
        self.levels[length].entries += seen.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        if let Some(above) = length.checked_sub(1) {
            self.open[above].iter_mut().zip(seen).for_each(|(above, word)| *above |= word);
        }
    }
}

/// What a step changes.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    contexts: usize,
    /// Entries of the contexts dropped; each was a string of its context by then.
    vanish: usize,
    /// Strings that become those of a shorter context which had none of this byte itself, for each length of that.
    appear: [usize; MAX_ORDER],
}

/// Finds out in one walk what each step would leave.
struct Survey {
    steps: Vec<Change>,
    size: Size,
    open: Vec<Surveyed>,
}

/// A context that is being surveyed.
#[derive(Clone, Debug)]
struct Surveyed {
    count: u64,
    seen: [u64; 4],
    /// For each byte seen, after which step the pair is a string of this context: 0 is from the beginning, and step n
    /// stands as n + 1.
    from: [u16; 256],
}

impl Survey {
    fn of(grams: &Grams, poll: Poll<'_>) -> Result<Self> {
        let blank = Surveyed { count: 0, seen: [0; 4], from: [u16::MAX; 256] };
        let mut survey = Self {
            steps: vec![Change::default(); STEPS],
            size: Size { grams: grams.len(), ..Size::default() },
            open: vec![blank; grams.lists.len()],
        };
        walk(grams, &mut survey, poll)?;
        Ok(survey)
    }

    fn steps(self) -> (Size, Vec<Change>) {
        (self.size, self.steps)
    }
}

impl Visit for Survey {
    fn open(&mut self, _length: usize, _context: u64) {}

    fn strings(&mut self, length: usize, strings: &[Gram]) {
        let open = &mut self.open[length];
        for gram in strings {
            let byte = gram.key as u8;
            open.count += gram.count;
            open.seen[usize::from(byte / 64)] |= 1 << (byte % 64);
            open.from[usize::from(byte)] = 0;
        }
    }

    fn close(&mut self, length: usize, _context: u64) {
        let (above, here) = self.open.split_at_mut(length);
        let (mut above, here) = (above.last_mut(), &mut here[0]);
        let count = std::mem::take(&mut here.count);
        let dropped = step(length, count);
        let mut entries = 0;
        for word in 0..4_u8 {
            let mut bits = std::mem::take(&mut here.seen[usize::from(word)]);
            entries += bits.count_ones() as usize;
            if let Some(above) = &mut above {
                above.seen[usize::from(word)] |= bits;
            }
            while bits != 0 {
                let byte = usize::from(word * 64) + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let from = std::mem::replace(&mut here.from[byte], u16::MAX);
                if let Some(change) =
                    usize::from(from).checked_sub(1).and_then(|step| self.steps.get_mut(step))
                {
                    change.appear[length] += 1;
                }
                if let Some(above) = &mut above {
                    above.from[byte] = above.from[byte].min(dropped as u16 + 1);
                }
            }
        }
        if let Some(above) = &mut above {
            above.count += count;
        }
        self.size.contexts += 1;
        self.size.entries += entries;
        if let Some(change) = self.steps.get_mut(dropped) {
            change.contexts += 1;
            change.vanish += entries;
        }
    }
}

/// Gives the strings of dropped contexts to the longest that is left.
struct Dropper {
    /// The last step to take.
    last: usize,
    open: Vec<Open>,
    lists: Vec<Vec<Gram>>,
}

#[derive(Clone, Debug, Default)]
struct Open {
    count: u64,
    strings: Tally,
}

impl Visit for Dropper {
    fn open(&mut self, _length: usize, _context: u64) {}

    fn strings(&mut self, length: usize, strings: &[Gram]) {
        let open = &mut self.open[length];
        for gram in strings {
            open.count += gram.count;
            open.strings.add(gram.key as u8, gram.count);
        }
    }

    fn close(&mut self, length: usize, context: u64) {
        let (above, here) = self.open.split_at_mut(length);
        let here = &mut here[0];
        let count = std::mem::take(&mut here.count);
        if let Some(above) = above.last_mut() {
            above.count += count;
            if step(length, count) <= self.last {
                here.strings.drain(|byte, count| above.strings.add(byte, count));
                return;
            }
        }
        let list = &mut self.lists[length];
        here.strings.drain(|byte, count| list.push(Gram { key: context | u64::from(byte), count }));
    }
}
