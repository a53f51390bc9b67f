//! From counts to the trie: rows of shorter contexts are sums of rows of longer ones.

use super::Smoothing;
use super::counts::{Gram, Grams};
use super::fit::LevelSize;
use super::math::{smoothed_entropy, x_log2_x};
use super::rows::{Row, Rows};
use super::trie::{DIRECT, Level, Ranks, Trie};
use super::walk::{Tally, Visit, walk};
use crate::error::{Error, Result};
use crate::tokenizer::Poll;

/// What a context takes in the compiled form with its rows: label, child, entropy and end of its row.
pub(super) const CONTEXT_BYTES: usize = 1 + 4 + 8 + 4;
/// What a byte that followed a context takes there.
pub(super) const ENTRY_BYTES: usize = 1 + 4;
/// Contexts compiled between two looks for a reason to stop.
const CONTEXTS_PER_LOOK: usize = 1 << 13;

impl Trie {
    /// The compiled form of `grams`, and the rows it is made from, a [`Rows`] for each level.
    ///
    /// # Errors
    /// [`Error::Patching`] for 2^32 contexts of one length or more; what `poll` says.
    pub(super) fn new(
        grams: &Grams,
        alpha: f64,
        smoothing: Smoothing,
        poll: Poll<'_>,
    ) -> Result<(Self, Vec<Rows>)> {
        let sizes = sizes_of(grams, poll)?;
        let order = sizes.len();
        let levels = sizes.iter().enumerate().map(|(length, size)| Level {
            labels: Vec::with_capacity(size.contexts + 8),
            children: Vec::with_capacity(if length + 1 < order { size.contexts + 1 } else { 0 }),
            ..Level::default()
        });
        let ranks = (1..order.min(DIRECT + 1)).map(|length| Ranks::new(8 * length)).collect();
        let mut builder = Builder { levels: levels.collect(), ranks, rows: RowBuilder::new(&sizes) };
        walk(grams, &mut builder, poll)?;
        let Builder { mut levels, mut ranks, rows: RowBuilder { rows, .. } } = builder;
        let contexts: Vec<usize> = levels.iter().map(|level| level.labels.len()).collect();
        for (level, longer) in levels.iter_mut().zip(contexts.into_iter().skip(1)) {
            level.children.push(longer as u32);
        }
        for level in &mut levels {
            level.labels.extend([0; 8]);
        }
        ranks.iter_mut().for_each(Ranks::finish);
        match smoothing {
            Smoothing::Backoff => back_off(&mut levels, &rows, alpha, poll)?,
            Smoothing::WittenBell => interpolate(&mut levels, &rows, poll)?,
        }
        let start = levels[0].entropies.first().copied().unwrap_or(8.0);
        let unseen = match smoothing {
            Smoothing::Backoff => 8.0,
            Smoothing::WittenBell => start,
        };
        Ok((Self { levels, ranks, unseen, start }, rows))
    }
}

/// The rows alone, as [`Trie::new`] gives them.
pub(super) fn rows_of(grams: &Grams, poll: Poll<'_>) -> Result<Vec<Rows>> {
    let mut builder = RowBuilder::new(&sizes_of(grams, poll)?);
    walk(grams, &mut builder, poll)?;
    Ok(builder.rows)
}

/// How much there is of each length: memory is asked for once.
fn sizes_of(grams: &Grams, poll: Poll<'_>) -> Result<Vec<LevelSize>> {
    let sizes = grams.level_sizes(poll)?;
    if sizes.iter().any(|size| u32::try_from(size.contexts.max(size.entries)).is_err()) {
        return Err(Error::Patching(
            "2^32 contexts of one length or more; lower memory_limit or the order".into(),
        ));
    }
    Ok(sizes)
}

/// Adds up the rows of all contexts: that of a context is the sum of its own strings and of longer contexts' rows.
struct RowBuilder {
    rows: Vec<Rows>,
    open: Vec<Tally>,
}

impl RowBuilder {
    fn new(sizes: &[LevelSize]) -> Self {
        let rows = sizes.iter().map(|size| Rows::with_capacity(size.contexts, size.entries)).collect();
        Self { rows, open: vec![Tally::default(); sizes.len()] }
    }
}

impl Visit for RowBuilder {
    fn open(&mut self, _length: usize, _context: u64) {}

    fn strings(&mut self, length: usize, strings: &[Gram]) {
        for gram in strings {
            self.open[length].add(gram.key as u8, gram.count);
        }
    }

    fn close(&mut self, length: usize, _context: u64) {
        let (above, here) = self.open.split_at_mut(length);
        let rows = &mut self.rows[length];
        match above.last_mut() {
            Some(above) => here[0].drain(|byte, count| {
                above.add(byte, count);
                rows.push(byte, count);
            }),
            None => here[0].drain(|byte, count| rows.push(byte, count)),
        }
        rows.end();
    }
}

/// Builds levels without their entropies.
struct Builder {
    levels: Vec<Level>,
    ranks: Vec<Ranks>,
    rows: RowBuilder,
}

impl Visit for Builder {
    fn open(&mut self, length: usize, context: u64) {
        let number = context.checked_shr(64 - 8 * length as u32).unwrap_or(0);
        if let Some(ranks) = length.checked_sub(1).and_then(|above| self.ranks.get_mut(above)) {
            ranks.insert(number as usize);
        }
        let longer = self.levels.get(length + 1).map(|level| level.labels.len());
        let level = &mut self.levels[length];
        level.labels.push(number as u8);
        level.children.extend(longer.map(|longer| longer as u32));
    }

    fn strings(&mut self, length: usize, strings: &[Gram]) {
        self.rows.strings(length, strings);
    }

    fn close(&mut self, length: usize, context: u64) {
        self.rows.close(length, context);
    }
}

/// The entropies of rows smoothed each by itself.
fn back_off(levels: &mut [Level], all_rows: &[Rows], alpha: f64, poll: Poll<'_>) -> Result<()> {
    // Most rows hold one byte, seen a few times.
    let known: Vec<f64> = (0..256).map(|count| smoothed_entropy(&[count], alpha)).collect();
    let mut ascending = Vec::new();
    for (level, rows) in levels.iter_mut().zip(all_rows) {
        let contexts = rows.len();
        level.entropies.reserve_exact(contexts);
        for index in 0..contexts {
            if index % CONTEXTS_PER_LOOK == 0 {
                poll()?;
            }
            let row = rows.get(index);
            let entropy = match row.bytes.len() {
                1 if row.total < 256 => known[row.total as usize],
                _ => {
                    ascending.clear();
                    ascending.extend(row.pairs().map(|(_, count)| count));
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
    let mut entropies: Vec<Vec<f64>> = all_rows.iter().map(|rows| Vec::with_capacity(rows.len())).collect();
    // The predictions on the path to the present context, by length; before the first, the uniform one.
    let mut predictions = vec![[1.0 / 256.0; 256]; levels.len() + 1];
    // The context to go on with on each level: parents come before children, and children in order.
    let mut next = vec![0_usize; levels.len()];
    let mut depth = 0;
    let mut work = 0;
    loop {
        let index = next[depth];
        let is_child = match depth.checked_sub(1) {
            None => index < all_rows[0].len(),
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
            for (byte, count) in row.pairs() {
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
    for (byte, count) in row.pairs() {
        let below = shorter[usize::from(byte)];
        inside += x_log2_x(count as f64 / total + weight * below);
        others -= x_log2_x(below);
        mass -= below;
    }
    (-inside - weight * others - x_log2_x(weight) * mass).max(0.0)
}
