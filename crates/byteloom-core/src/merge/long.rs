//! Merging pieces that are too long to scan.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pairs::Symbol;
use super::{MergeScratch, MergeTable, NOTHING};
use crate::token::Rank;
use crate::utf8::floor_boundary;

/// The pairs of one stretch of text, by rank.
#[derive(Debug, Default)]
pub(super) struct Heap {
    symbols: Vec<Symbol>,
    /// What each symbol and its right neighbour become, as in [`super::symbols::Symbols::ranked`].
    next: Vec<u64>,
    links: Vec<(u32, u32)>,
    queue: BinaryHeap<Reverse<(Rank, u32)>>,
}

impl Heap {
    /// How many symbols there is room for.
    pub(super) fn room(&self) -> usize {
        self.symbols.capacity().max(self.queue.capacity())
    }
}

impl MergeTable {
    /// Appends the symbols of `piece`, which must be shorter than 2^32 bytes, in n log n.
    pub(super) fn by_heap(&self, piece: &[u8], scratch: &mut Heap, made: &mut Vec<Symbol>) {
        let Heap { symbols, next, links, queue: heap } = scratch;
        symbols.clear();
        self.for_each_base(piece, |symbol, _, _| symbols.push(symbol));
        next.clear();
        next.extend(symbols.windows(2).map(|pair| self.symbols.ranked(pair[0], pair[1])));
        next.resize(symbols.len(), NOTHING);
        let end = symbols.len() as u32;
        links.clear();
        links.extend((0..end).map(|at| (at.wrapping_sub(1), at + 1)));
        heap.clear();
        let push = |heap: &mut BinaryHeap<_>, ranked: u64, at: u32| {
            if ranked != NOTHING {
                heap.push(Reverse(((ranked >> 32) as Rank, at)));
            }
        };
        for (at, &ranked) in (0..).zip(next.iter()) {
            push(heap, ranked, at);
        }
        while let Some(Reverse((rank, at))) = heap.pop() {
            let ranked = next[at as usize];
            // An entry is out of date once its pair is gone; a swallowed symbol has no pair.
            if ranked == NOTHING || (ranked >> 32) as Rank != rank {
                continue;
            }
            let (left, swallowed) = links[at as usize];
            let right = links[swallowed as usize].1;
            symbols[at as usize] = ranked as Symbol;
            next[swallowed as usize] = NOTHING;
            links[at as usize].1 = right;
            next[at as usize] = NOTHING;
            if right < end {
                links[right as usize].0 = at;
                next[at as usize] = self.symbols.ranked(symbols[at as usize], symbols[right as usize]);
                push(heap, next[at as usize], at);
            }
            if left < end {
                next[left as usize] = self.symbols.ranked(symbols[left as usize], symbols[at as usize]);
                push(heap, next[left as usize], left);
            }
        }
        let mut at = 0;
        while at < end {
            made.push(symbols[at as usize]);
            at = links[at as usize].1;
        }
    }
}

/// Windows over a text that overlap, so that they can be joined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// Their size in bytes; it doubles where two do not agree.
    pub(super) size: usize,
    /// Each shares one part in so many with the next.
    pub(super) share: usize,
}

impl Windows {
    /// Appends the symbols of `piece`, merged in windows: see the head of the module above. A window begins at the
    /// boundary of two symbols that leaves a part of the one before it, one in `share`, for both to agree in. Where they
    /// do not, the one before is made again, wider; it must begin with the symbol that was agreed on, or takes back text.
    pub(super) fn merge(
        self,
        piece: &[u8],
        length_of: impl Fn(Symbol) -> usize,
        scratch: &mut MergeScratch,
        made: &mut Vec<Symbol>,
        merge: impl Fn(&[u8], &mut MergeScratch, &mut Vec<Symbol>),
    ) {
        let Self { size: mut window, share } = self;
        let (first, mut start) = (made.len(), 0);
        let mut symbols = std::mem::take(&mut scratch.window);
        let mut following = std::mem::take(&mut scratch.following);
        symbols.clear();
        let mut end = floor_boundary(piece, window);
        merge(&piece[..end], scratch, &mut symbols);
        while end < piece.len() {
            // Keep the symbols up to `seam`; the rest of this window is what the next must agree with.
            let (mut seam, mut kept) = (end, symbols.len());
            while kept > 1 && seam > end - (end - start) / share {
                kept -= 1;
                seam -= length_of(symbols[kept]);
            }
            let next_end = floor_boundary(piece, seam.saturating_add(window));
            following.clear();
            merge(&piece[seam..next_end], scratch, &mut following);
            let agreement = first_agreement(&symbols[kept..], &following, &length_of);
            if let Some((old, new)) = agreement.filter(|_| next_end > end) {
                made.extend_from_slice(&symbols[..kept + old]);
                start = seam + following[..new].iter().map(|&symbol| length_of(symbol)).sum::<usize>();
                following.drain(..new);
                std::mem::swap(&mut symbols, &mut following);
                end = next_end;
            } else if window > u32::MAX as usize / 2 {
                // Two gigabytes without one common token: out of reach for any vocabulary we can think of. The
                // text stays whole; its ids at this seam are those of the window.
                made.extend_from_slice(&symbols[..kept]);
                start = seam;
                std::mem::swap(&mut symbols, &mut following);
                end = next_end;
            } else {
                window *= 2;
                let mut agreed = symbols[0];
                loop {
                    end = floor_boundary(piece, start.saturating_add(window));
                    symbols.clear();
                    merge(&piece[start..end], scratch, &mut symbols);
                    // What stands before this window was right beside the symbol that it began with. Where it begins
                    // with another now, it takes back as much text as it has.
                    if start == 0 || symbols[0] == agreed || window > u32::MAX as usize / 2 {
                        break;
                    }
                    window *= 2;
                    let reach = start.saturating_sub(window / 2);
                    while start > reach && made.len() > first {
                        agreed = made.pop().unwrap_or(agreed);
                        start -= length_of(agreed);
                    }
                }
            }
        }
        made.extend_from_slice(&symbols);
        (scratch.window, scratch.following) = (symbols, following);
    }
}

/// The first place where two sequences that begin at the same byte hold the same symbol: its index in each.
fn first_agreement(
    old: &[Symbol],
    new: &[Symbol],
    length_of: impl Fn(Symbol) -> usize,
) -> Option<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    let (mut old_at, mut new_at) = (0, 0);
    while i < old.len() && j < new.len() {
        if old_at == new_at && old[i] == new[j] {
            return Some((i, j));
        }
        if old_at <= new_at {
            old_at += length_of(old[i]);
            i += 1;
        } else {
            new_at += length_of(new[j]);
            j += 1;
        }
    }
    None
}
