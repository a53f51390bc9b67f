//! From counts to the trie: rows of shorter contexts are sums of rows of longer ones, level by level.

use super::Smoothing;
use super::counts::{Gram, Grams, context_mask};
use super::math::{smoothed_entropy, x_log2_x};
use super::trie::{DIRECT, Level, Ranks, Row, Rows, Trie};
use crate::error::{Error, Result};
use crate::tokenizer::Poll;

/// Contexts compiled between two looks for a reason to stop.
const CONTEXTS_PER_LOOK: usize = 1 << 13;

impl Trie {
    /// The compiled form of `grams`, and the rows it is made from, a [`Rows`] for each level.
    ///
    /// # Errors
    /// [`Error::Patching`] for more than 2^32 contexts of one length; what `poll` says.
    pub(super) fn new(
        grams: &Grams,
        alpha: f64,
        smoothing: Smoothing,
        poll: Poll<'_>,
    ) -> Result<(Self, Vec<Rows>)> {
        let order = grams.lists.len();
        let mut levels: Vec<Level> = Vec::new();
        let mut all_rows = Vec::new();
        let mut ranks = Vec::new();
        let mut longer: (Vec<Gram>, Vec<u64>) = Default::default();
        for length in (0..order).rev() {
            let (rows, contexts) = shortened(&longer.0, &grams.lists[length], length, poll)?;
            if u32::try_from(contexts.len()).is_err() {
                return Err(Error::Patching(
                    "more than 2^32 contexts of one length; lower memory_limit or the order".into(),
                ));
            }
            let children =
                if length + 1 < order { children(&contexts, &longer.1, length) } else { Vec::new() };
            let shift = 64 - 8 * length as u32;
            let oldest = |context: &u64| context.checked_shr(shift).unwrap_or(0) as u8;
            let level = Level {
                labels: contexts.iter().map(oldest).chain([0; 8]).collect(),
                children,
                ..Level::default()
            };
            all_rows.push(split_rows(&rows, contexts.len(), length));
            if length > 0 && length <= DIRECT {
                let numbers = contexts.iter().map(|context| (context >> shift) as usize);
                ranks.push(Ranks::new(8 * length, numbers));
            }
            levels.push(level);
            longer = (rows, contexts);
        }
        drop(longer);
        levels.reverse();
        all_rows.reverse();
        ranks.reverse();
        match smoothing {
            Smoothing::Backoff => back_off(&mut levels, &all_rows, alpha, poll)?,
            Smoothing::WittenBell => interpolate(&mut levels, &all_rows, poll)?,
        }
        let start = levels[0].entropies.first().copied().unwrap_or(8.0);
        let unseen = match smoothing {
            Smoothing::Backoff => 8.0,
            Smoothing::WittenBell => start,
        };
        Ok((Self { levels, ranks, unseen, start }, all_rows))
    }
}

/// The rows alone, as [`Trie::new`] gives them.
pub(super) fn rows_of(grams: &Grams, poll: Poll<'_>) -> Result<Vec<Rows>> {
    let mut all_rows = Vec::new();
    let mut longer = Vec::new();
    for (length, list) in grams.lists.iter().enumerate().rev() {
        let (rows, contexts) = shortened(&longer, list, length, poll)?;
        all_rows.push(split_rows(&rows, contexts.len(), length));
        longer = rows;
    }
    all_rows.reverse();
    Ok(all_rows)
}

/// The rows of the contexts of `length` bytes: those of the next longer contexts added up, and `list` added. Also the
/// contexts themselves.
fn shortened(longer: &[Gram], list: &[Gram], length: usize, poll: Poll<'_>) -> Result<(Vec<Gram>, Vec<u64>)> {
    let mask = context_mask(length);
    let mut rows = Vec::with_capacity(longer.len() / 2 + list.len());
    let mut contexts = Vec::new();
    let mut counts = [0_u64; 256];
    let (mut longer, mut list) = (longer, list);
    while let Some(context) =
        [longer.first(), list.first()].into_iter().flatten().map(|gram| gram.key & mask).min()
    {
        let mut seen = [0_u64; 4];
        for from in [&mut longer, &mut list] {
            while let Some((gram, rest)) = from.split_first().filter(|(gram, _)| gram.key & mask == context) {
                let byte = (gram.key & 0xFF) as usize;
                counts[byte] += gram.count;
                seen[byte / 64] |= 1 << (byte % 64);
                *from = rest;
            }
        }
        for (word, mut bits) in seen.into_iter().enumerate() {
            while bits != 0 {
                let byte = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                rows.push(Gram { key: context | byte as u64, count: std::mem::take(&mut counts[byte]) });
            }
        }
        contexts.push(context);
        if contexts.len() % CONTEXTS_PER_LOOK == 0 {
            poll()?;
        }
    }
    Ok((rows, contexts))
}

/// Where the longer contexts of each context begin.
fn children(contexts: &[u64], longer: &[u64], length: usize) -> Vec<u32> {
    let mask = context_mask(length);
    let mut starts = Vec::with_capacity(contexts.len() + 1);
    let mut place = 0;
    for &context in contexts {
        while longer.get(place).is_some_and(|longer| longer & mask < context) {
            place += 1;
        }
        starts.push(place as u32);
    }
    starts.push(longer.len() as u32);
    starts
}

fn split_rows(rows: &[Gram], contexts: usize, length: usize) -> Rows {
    let mask = context_mask(length);
    let mut split = Rows {
        ends: Vec::with_capacity(contexts),
        bytes: Vec::with_capacity(rows.len()),
        counts: Vec::with_capacity(rows.len()),
    };
    for row in rows.chunk_by(|a, b| a.key & mask == b.key & mask) {
        split.bytes.extend(row.iter().map(|gram| gram.key as u8));
        split.counts.extend(row.iter().map(|gram| gram.count));
        split.ends.push((split.bytes.len(), row.iter().map(|gram| gram.count).sum()));
    }
    split
}

/// The entropies of rows smoothed each by itself.
fn back_off(levels: &mut [Level], all_rows: &[Rows], alpha: f64, poll: Poll<'_>) -> Result<()> {
    // Most rows hold one byte, seen a few times.
    let known: Vec<f64> = (0..256).map(|count| smoothed_entropy(&[count], alpha)).collect();
    let mut ascending = Vec::new();
    for (level, rows) in levels.iter_mut().zip(all_rows) {
        let contexts = rows.ends.len();
        level.entropies.reserve_exact(contexts);
        for index in 0..contexts {
            if index % CONTEXTS_PER_LOOK == 0 {
                poll()?;
            }
            let counts = rows.get(index).counts;
            let entropy = match counts {
                &[count] if count < 256 => known[count as usize],
                _ => {
                    ascending.clear();
                    ascending.extend_from_slice(counts);
                    ascending.sort_unstable();
                    smoothed_entropy(&ascending, alpha)
                }
            };
            level.entropies.push(entropy);
        }
    }
    Ok(())
}

/// The entropies of rows mixed with the prediction of the context that is one byte shorter, after Witten and Bell:
/// where a context was followed by `t` different bytes in `n` places, the shorter one has the weight `t / (n + t)`.
fn interpolate(levels: &mut [Level], all_rows: &[Rows], poll: Poll<'_>) -> Result<()> {
    let mut entropies: Vec<Vec<f64>> =
        all_rows.iter().map(|rows| Vec::with_capacity(rows.ends.len())).collect();
    // The predictions on the path to the present context, by length; before the first, the uniform one.
    let mut predictions = vec![[1.0 / 256.0; 256]; levels.len() + 1];
    // The context to go on with on each level: parents come before children, and children in order.
    let mut next = vec![0_usize; levels.len()];
    let mut depth = 0;
    let mut work = 0;
    loop {
        let index = next[depth];
        let is_child = match depth.checked_sub(1) {
            None => index < all_rows[0].ends.len(),
            Some(above) => index < levels[above].children[next[above]] as usize,
        };
        if !is_child {
            let Some(above) = depth.checked_sub(1) else { break };
            depth = above;
            continue;
        }
        let row = all_rows[depth].get(index);
        next[depth] += 1;
        let inner = depth + 1 < levels.len();
        let (shorter, longer) = predictions.split_at_mut(depth + 1);
        let below = &shorter[depth];
        let parent = depth.checked_sub(1).map_or(8.0, |above| entropies[above][next[above] - 1]);
        let (total, weight) = witten_bell(row);
        entropies[depth].push(mixed_entropy(below, parent, row, total, weight));
        if inner {
            let own = &mut longer[0];
            own.iter_mut().zip(below).for_each(|(own, below)| *own = weight * below);
            for (&byte, &count) in row.bytes.iter().zip(row.counts) {
                own[usize::from(byte)] += count as f64 / total;
            }
            depth += 1;
        }
        work += 1;
        if work % CONTEXTS_PER_LOOK == 0 {
            poll()?;
        }
    }
    for (level, entropies) in levels.iter_mut().zip(entropies) {
        level.entropies = entropies;
    }
    Ok(())
}

/// What the counts of a row are divided by, the number of places and of different bytes together, and the weight of
/// the shorter context.
#[inline]
pub(super) fn witten_bell(row: Row<'_>) -> (f64, f64) {
    let different = row.bytes.len();
    let total = (row.total + different as u64) as f64;
    (total, different as f64 / total)
}

/// The entropy of a row mixed with the `shorter` context's prediction, which has the entropy `parent`. `total` and
/// `weight` are those of [`witten_bell`].
fn mixed_entropy(shorter: &[f64; 256], parent: f64, row: Row<'_>, total: f64, weight: f64) -> f64 {
    // Bytes outside the row have `weight` times what the shorter context says: their share of the sum follows from
    // the whole sum there, less those inside.
    let (mut inside, mut others, mut mass) = (0.0, -parent, 1.0);
    for (&byte, &count) in row.bytes.iter().zip(row.counts) {
        let below = shorter[usize::from(byte)];
        inside += x_log2_x(count as f64 / total + weight * below);
        others -= x_log2_x(below);
        mass -= below;
    }
    (-inside - weight * others - x_log2_x(weight) * mass).max(0.0)
}
