//! All contexts of a model in one pass over its sorted strings: parents before their children, siblings in order.

use super::counts::{Gram, Grams, context_mask};
use crate::error::Result;
use crate::tokenizer::Poll;

/// Contexts walked between two looks for a reason to stop.
const CONTEXTS_PER_LOOK: usize = 1 << 13;

/// Takes what a walk comes by. Of each length one context is open at most.
pub(super) trait Visit {
    /// A context of `length` bytes begins: those that are longer lie inside it.
    fn open(&mut self, length: usize, context: u64);
    /// The strings that belong to the open context of `length` bytes itself, not to a longer one.
    fn strings(&mut self, length: usize, strings: &[Gram]);
    /// The open context of `length` bytes ends.
    fn close(&mut self, length: usize, context: u64);
}

/// Hands all contexts and strings to `visit`.
pub(super) fn walk(grams: &Grams, visit: &mut impl Visit, poll: Poll<'_>) -> Result<()> {
    let context_of = |gram: &Gram| gram.key & !0xFF;
    let mut lists: Vec<(usize, &[Gram])> = grams
        .lists
        .iter()
        .map(|list| list.as_slice())
        .enumerate()
        .filter(|(_, list)| !list.is_empty())
        .collect();
    let mut open: Option<(usize, u64)> = None;
    let mut groups = 0_usize;
    // Of equal keys the shorter context is the parent: the longer one goes on with zeros.
    while let Some(at) = (0..lists.len()).min_by_key(|&at| (context_of(&lists[at].1[0]), lists[at].0)) {
        let (length, list) = lists[at];
        let context = context_of(&list[0]);
        let size = list.iter().take_while(|gram| context_of(gram) == context).count();
        let (strings, rest) = list.split_at(size);
        let first = match open {
            None => 0,
            Some((depth, before)) => {
                let equal = (before ^ context).leading_zeros() as usize / 8;
                let shared = equal.min(depth).min(length);
                close(visit, shared + 1..depth + 1, before);
                shared + 1
            }
        };
        for level in first..=length {
            visit.open(level, context & context_mask(level));
        }
        visit.strings(length, strings);
        open = Some((length, context));
        if rest.is_empty() {
            lists.swap_remove(at);
        } else {
            lists[at].1 = rest;
        }
        groups += 1;
        if groups.is_multiple_of(CONTEXTS_PER_LOOK) {
            poll()?;
        }
    }
    if let Some((depth, context)) = open {
        close(visit, 0..depth + 1, context);
    }
    Ok(())
}

fn close(visit: &mut impl Visit, levels: std::ops::Range<usize>, context: u64) {
    for level in levels.rev() {
        visit.close(level, context & context_mask(level));
    }
}

/// Counts of bytes that are being added up.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    counts: [u64; 256],
    seen: [u64; 4],
}

impl Default for Tally {
    fn default() -> Self {
        Self { counts: [0; 256], seen: [0; 4] }
    }
}

impl Tally {
    #[inline]
    pub(super) fn add(&mut self, byte: u8, count: u64) {
        self.counts[usize::from(byte)] += count;
        self.seen[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    /// Takes everything out, in ascending order of the bytes.
    #[inline]
    pub(super) fn drain(&mut self, mut take: impl FnMut(u8, u64)) {
        for word in 0..4_u8 {
            let mut bits = std::mem::take(&mut self.seen[usize::from(word)]);
            while bits != 0 {
                let byte = word * 64 + bits.trailing_zeros() as u8;
                bits &= bits - 1;
                take(byte, std::mem::take(&mut self.counts[usize::from(byte)]));
            }
        }
    }
}
