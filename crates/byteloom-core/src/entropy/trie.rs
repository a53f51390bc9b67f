//! The compiled form: for every context that was seen, the entropy of what follows.
//!
//! Contexts are a trie that is read backwards from the byte to predict: a level for each length, sorted, so that
//! siblings stand together and a level needs one byte a context. A level of three bytes or less is found directly.

use super::Smoothing;
use super::counts::{Gram, Grams, context_mask};
use super::math::{smoothed_entropy, x_log2_x};
use crate::error::{Error, Result};
use crate::tokenizer::Poll;

/// The length of the longest context that is found by its number, without a search.
const DIRECT: usize = 3;
/// A word of eight bytes of 1.
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;
/// Bytes read at once for the number of a direct context.
const WINDOW: usize = 4;
/// Places that are looked up together.
const LANES: usize = 128;
/// Contexts compiled between two looks for a reason to stop.
const CONTEXTS_PER_LOOK: usize = 1 << 13;

/// The contexts of one length, in ascending order of their bytes, the most recent byte first.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// The oldest byte of each context, and 8 bytes more, so that 8 may be read at each.
    labels: Vec<u8>,
    /// Where the longer contexts of each context begin on the next level; one more at the end. Empty on the last.
    children: Vec<u32>,
    /// The entropy of the next byte, in bits.
    pub(super) entropies: Vec<f64>,
    /// What follows, if rows were asked for.
    pub(super) rows: Rows,
}

/// The children of a context: their places, and the first eight labels.
#[derive(Clone, Copy, Debug, Default)]
struct Family {
    start: u32,
    end: u32,
    labels: u64,
}

impl Level {
    /// The place of the context of `family` whose oldest byte is `oldest`.
    #[inline]
    fn find(&self, family: &Family, oldest: u8) -> Option<u32> {
        // Eight labels at a time, without a branch on which one it is. The lowest byte found equal is equal indeed.
        let pattern = u64::from(oldest) * LOWEST_BITS;
        let (mut start, mut labels) = (family.start, family.labels);
        loop {
            let different = labels ^ pattern;
            let equal = different.wrapping_sub(LOWEST_BITS) & !different & (LOWEST_BITS << 7);
            if equal != 0 {
                // Behind the last sibling stand the children of others.
                return Some(start + equal.trailing_zeros() / 8).filter(|&found| found < family.end);
            }
            start = start.checked_add(8).filter(|&start| start < family.end)?;
            labels = u64::from_le_bytes(*self.labels[start as usize..].first_chunk()?);
        }
    }
}

/// For every context, whether the entropy after it is above a threshold.
#[derive(Debug)]
pub(crate) struct Decisions {
    theta: f64,
    /// Bit by bit, in the order of the contexts of each level.
    levels: Vec<Vec<u64>>,
}

impl Decisions {
    #[inline]
    fn of(&self, node: Node) -> bool {
        self.levels[node.level][node.index / 64] >> (node.index % 64) & 1 == 1
    }
}

/// A place on the way to its longest context.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    place: u32,
    node: u32,
}

/// Memory of places that are looked up together.
struct Lanes {
    open: [Lane; LANES],
    families: [Family; LANES],
}

impl Default for Lanes {
    fn default() -> Self {
        Self { open: [Lane::default(); LANES], families: [Family::default(); LANES] }
    }
}

/// Which bytes followed each context of a level, and how often.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Where the row of each context ends.
    ends: Vec<usize>,
    bytes: Vec<u8>,
    counts: Vec<u64>,
}

impl Rows {
    /// The bytes of a row, ascending, and their counts.
    pub(super) fn get(&self, index: usize) -> (&[u8], &[u64]) {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        (&self.bytes[start..self.ends[index]], &self.counts[start..self.ends[index]])
    }
}

/// A context: the level that has its length, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) level: usize,
    pub(super) index: usize,
}

/// Which numbers are there, and how many before each: the place of a context on a level that is found directly.
#[derive(Debug)]
struct Ranks {
    words: Vec<(u64, u32)>,
}

impl Ranks {
    fn new(bits: usize, numbers: impl Iterator<Item = usize>) -> Self {
        let mut words = vec![(0_u64, 0_u32); (1 << bits) / 64_usize + 1];
        for number in numbers {
            words[number / 64].0 |= 1 << (number % 64);
        }
        let mut before = 0;
        for (word, rank) in &mut words {
            *rank = before;
            before += word.count_ones();
        }
        Self { words }
    }

    #[inline]
    fn rank(&self, number: usize) -> Option<usize> {
        let (word, before) = self.words[number / 64];
        let below = word & ((1 << (number % 64)) - 1);
        (word >> (number % 64) & 1 == 1).then(|| before as usize + below.count_ones() as usize)
    }
}

/// The compiled model.
#[derive(Debug)]
pub(crate) struct Trie {
    /// `levels[k]` holds the contexts of `k` bytes; as many as the order.
    pub(super) levels: Vec<Level>,
    /// Of levels 1 to [`DIRECT`].
    ranks: Vec<Ranks>,
    /// What is predicted where no context was seen, and at the start of a document.
    unseen: f64,
    start: f64,
}

impl Trie {
    /// The compiled form of `grams`, with rows if asked for.
    ///
    /// # Errors
    /// [`Error::Patching`] for more than 2^32 contexts of one length; what `poll` says.
    pub(super) fn new(
        grams: &Grams,
        alpha: f64,
        smoothing: Smoothing,
        with_rows: bool,
        poll: Poll<'_>,
    ) -> Result<Self> {
        let order = grams.lists.len();
        let mut levels: Vec<Level> = Vec::new();
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
            let mut level = Level {
                labels: contexts.iter().map(oldest).chain([0; 8]).collect(),
                children,
                ..Level::default()
            };
            level.rows = split_rows(&rows, contexts.len(), length);
            if length > 0 && length <= DIRECT {
                let numbers = contexts.iter().map(|context| (context >> shift) as usize);
                ranks.push(Ranks::new(8 * length, numbers));
            }
            levels.push(level);
            longer = (rows, contexts);
        }
        drop(longer);
        levels.reverse();
        ranks.reverse();
        match smoothing {
            Smoothing::Backoff => back_off(&mut levels, alpha, poll)?,
            Smoothing::WittenBell => interpolate(&mut levels, poll)?,
        }
        let start = levels[0].entropies.first().copied().unwrap_or(8.0);
        let unseen = match smoothing {
            Smoothing::Backoff => 8.0,
            Smoothing::WittenBell => start,
        };
        if !with_rows {
            levels.iter_mut().for_each(|level| level.rows = Rows::default());
        }
        Ok(Self { levels, ranks, unseen, start })
    }

    /// The length of the longest context.
    pub(crate) fn reach(&self) -> usize {
        self.levels.len() - 1
    }

    /// How many contexts there are of each length.
    pub(super) fn contexts(&self) -> Vec<usize> {
        self.levels.iter().map(|level| level.entropies.len()).collect()
    }

    /// What the compiled form takes in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let level = |level: &Level| {
            let rows = level.rows.ends.len() * 8 + level.rows.bytes.len() * 9;
            level.labels.len() + level.children.len() * 4 + level.entropies.len() * 8 + rows
        };
        let ranks: usize = self.ranks.iter().map(|ranks| size_of_val(ranks.words.as_slice())).sum();
        self.levels.iter().map(level).sum::<usize>() + ranks
    }

    /// The longest context that was seen at the end of `history`, of 1 byte at least.
    #[inline]
    pub(super) fn longest(&self, history: &[u8]) -> Option<Node> {
        let reach = self.reach().min(history.len());
        let recent = history.last_chunk::<DIRECT>();
        let number = match recent {
            Some(bytes) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize,
            None => {
                history.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
                    << (8 * (DIRECT - history.len()))
            }
        };
        let mut level = reach.min(DIRECT);
        let mut index = loop {
            let found = self.ranks[level.checked_sub(1)?].rank(number >> (8 * (DIRECT - level)));
            match found {
                Some(index) => break index,
                None => level -= 1,
            }
        };
        if level == DIRECT {
            while level < reach {
                let oldest = history[history.len() - level - 1];
                let Some(child) = self.child(level, index, oldest) else { break };
                index = child;
                level += 1;
            }
        }
        Some(Node { level, index })
    }

    /// The context that has one byte more, `oldest`, than the one at `index`.
    #[inline]
    pub(super) fn child(&self, level: usize, index: usize, oldest: u8) -> Option<usize> {
        let children = &self.levels[level].children;
        let below = &self.levels[level + 1];
        let (start, end) = (children[index], children[index + 1]);
        let labels = u64::from_le_bytes(*below.labels[start as usize..].first_chunk()?);
        below.find(&Family { start, end, labels }, oldest).map(|child| child as usize)
    }

    /// All contexts of `history`, from the empty one to the longest that was seen.
    pub(super) fn path(&self, history: &[u8]) -> impl Iterator<Item = Node> {
        let reach = self.reach().min(history.len());
        let root = (!self.levels[0].entropies.is_empty()).then_some(Node { level: 0, index: 0 });
        std::iter::successors(root, move |node| {
            let oldest = (node.level < reach).then(|| history[history.len() - node.level - 1])?;
            Some(Node { level: node.level + 1, index: self.child(node.level, node.index, oldest)? })
        })
    }

    /// The entropy of the byte after `history`, which begins where its document does.
    #[inline]
    pub(crate) fn entropy_after(&self, history: &[u8]) -> f64 {
        if history.is_empty() || self.reach() == 0 {
            return self.start;
        }
        match self.longest(history) {
            Some(node) => self.levels[node.level].entropies[node.index],
            None => self.unseen,
        }
    }

    /// The entropy of each byte of `text[from..]`; `text` begins with its document.
    pub(crate) fn fill(&self, text: &[u8], from: usize, entropies: &mut [f64]) {
        self.look_up(
            text,
            from,
            entropies,
            |entropy| entropy,
            |node| self.levels[node.level].entropies[node.index],
        );
    }

    /// Whether each byte of `text[from..]` has an entropy above the threshold of `decisions`.
    pub(crate) fn decide(&self, text: &[u8], from: usize, decisions: &Decisions, above: &mut [bool]) {
        self.look_up(text, from, above, |entropy| entropy > decisions.theta, |node| decisions.of(node));
    }

    /// The decisions of all contexts for one threshold: a bit each, where an entropy takes 64.
    pub(crate) fn decisions(&self, theta: f64) -> Decisions {
        let bits = |level: &Level| {
            let words = level.entropies.chunks(64).map(|chunk| {
                chunk.iter().rev().fold(0, |word, &entropy| word << 1 | u64::from(entropy > theta))
            });
            words.collect()
        };
        Decisions { theta, levels: self.levels.iter().map(bits).collect() }
    }

    /// What `of_node` says of the longest context of each place in `text[from..]`, and `of_entropy` of the entropy
    /// where that is no context or not a direct one.
    #[inline]
    fn look_up<V: Copy>(
        &self,
        text: &[u8],
        from: usize,
        values: &mut [V],
        of_entropy: impl Fn(f64) -> V,
        of_node: impl Fn(Node) -> V,
    ) {
        let near = values.len().min(WINDOW.saturating_sub(from));
        let (first, rest) = values.split_at_mut(if self.reach() < DIRECT { values.len() } else { near });
        for (end, value) in (from..).zip(first) {
            *value = of_entropy(self.entropy_after(&text[..end]));
        }
        let mut lanes = Lanes::default();
        for (block, values) in rest.chunks_mut(LANES).enumerate() {
            self.look_up_lanes(text, from + near + block * LANES, values, &mut lanes, &of_entropy, &of_node);
        }
    }

    /// [`Self::look_up`] for places that all have a direct context. A level and a step at a time for all of them:
    /// where a branch waits for memory, nothing else waits with it.
    #[inline]
    fn look_up_lanes<V: Copy>(
        &self,
        text: &[u8],
        from: usize,
        values: &mut [V],
        lanes: &mut Lanes,
        of_entropy: impl Fn(f64) -> V,
        of_node: impl Fn(Node) -> V,
    ) {
        let Some(ranks) = self.ranks.last() else { return };
        let mut count = 0;
        let windows = text[from - WINDOW..].windows(WINDOW).filter_map(|window| window.first_chunk());
        for (place, (value, window)) in values.iter_mut().zip(windows).enumerate() {
            match ranks.rank((u32::from_le_bytes(*window) >> 8) as usize) {
                Some(index) => {
                    *value = of_node(Node { level: DIRECT, index });
                    lanes.open[count & (LANES - 1)] = Lane { place: place as u32, node: index as u32 };
                    count += 1;
                }
                None => *value = of_entropy(self.entropy_after(&text[..from + place])),
            }
        }
        for level in DIRECT..self.reach() {
            let (above, below) = (&self.levels[level], &self.levels[level + 1]);
            let open = &mut lanes.open[..count];
            for (lane, family) in open.iter().zip(&mut lanes.families) {
                let node = lane.node as usize;
                let (start, end) = (above.children[node], above.children[node + 1]);
                let labels = below.labels[start as usize..].first_chunk().copied().unwrap_or_default();
                *family = Family { start, end, labels: u64::from_le_bytes(labels) };
            }
            let mut left = 0;
            for at in 0..count {
                let (mut lane, family) = (open[at], &lanes.families[at]);
                let end = from + lane.place as usize;
                let Some(&oldest) = end.checked_sub(level + 1).and_then(|place| text.get(place)) else {
                    continue;
                };
                if let Some(child) = below.find(family, oldest) {
                    lane.node = child;
                    open[left] = lane;
                    left += 1;
                }
            }
            for lane in &open[..left] {
                values[lane.place as usize] = of_node(Node { level: level + 1, index: lane.node as usize });
            }
            count = left;
        }
    }

    /// Whether `test` holds for the entropy after each context of [`DIRECT`] bytes, or of the reach if that is less:
    /// bit by bit, at the number of the context, which has the most recent byte uppermost.
    pub(crate) fn direct_bits(&self, test: impl Fn(f64) -> bool) -> Vec<u64> {
        let word_of = |holds: bool| if holds { u64::MAX } else { 0 };
        let Some((last, shorter)) = self.ranks.split_last() else {
            return vec![word_of(test(self.start)); 4];
        };
        let bytes = self.ranks.len();
        let mut bits = Vec::with_capacity((1 << (8 * bytes)) / 64);
        for number in 0..1_u32 << (8 * shorter.len()) {
            // All contexts that end in these bytes have their entropy, unless they were seen themselves.
            let history = number.to_le_bytes();
            let shared =
                if shorter.is_empty() { self.unseen } else { self.entropy_after(&history[..shorter.len()]) };
            bits.extend([word_of(test(shared)); 4]);
        }
        let mut entropies = self.levels[bytes].entropies.iter();
        for (word, &(seen, _)) in bits.iter_mut().zip(&last.words) {
            let mut rest = seen;
            while rest != 0 {
                let bit = rest & rest.wrapping_neg();
                rest ^= bit;
                *word = if entropies.next().is_some_and(|&entropy| test(entropy)) {
                    *word | bit
                } else {
                    *word & !bit
                };
            }
        }
        bits
    }
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
        split.ends.push(split.bytes.len());
    }
    split
}

/// The entropies of rows smoothed each by itself.
fn back_off(levels: &mut [Level], alpha: f64, poll: Poll<'_>) -> Result<()> {
    // Most rows hold one byte, seen a few times.
    let known: Vec<f64> = (0..256).map(|count| smoothed_entropy(&[count], alpha)).collect();
    let mut ascending = Vec::new();
    for level in levels {
        let contexts = level.rows.ends.len();
        level.entropies.reserve_exact(contexts);
        for index in 0..contexts {
            if index % CONTEXTS_PER_LOOK == 0 {
                poll()?;
            }
            let (_, counts) = level.rows.get(index);
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
fn interpolate(levels: &mut [Level], poll: Poll<'_>) -> Result<()> {
    let mut entropies: Vec<Vec<f64>> =
        levels.iter().map(|level| Vec::with_capacity(level.rows.ends.len())).collect();
    // The predictions on the path to the present context, by length; before the first, the uniform one.
    let mut predictions = vec![[1.0 / 256.0; 256]; levels.len() + 1];
    // The context to go on with on each level: parents come before children, and children in order.
    let mut next = vec![0_usize; levels.len()];
    let mut depth = 0;
    let mut work = 0;
    loop {
        let index = next[depth];
        let is_child = match depth.checked_sub(1) {
            None => index < levels[0].rows.ends.len(),
            Some(above) => index < levels[above].children[next[above]] as usize,
        };
        if !is_child {
            let Some(above) = depth.checked_sub(1) else { break };
            depth = above;
            continue;
        }
        let (bytes, counts) = levels[depth].rows.get(index);
        next[depth] += 1;
        let inner = depth + 1 < levels.len();
        let (shorter, longer) = predictions.split_at_mut(depth + 1);
        let below = &shorter[depth];
        let parent = depth.checked_sub(1).map_or(8.0, |above| entropies[above][next[above] - 1]);
        let total = (counts.iter().sum::<u64>() + counts.len() as u64) as f64;
        let weight = counts.len() as f64 / total;
        entropies[depth].push(mixed_entropy(below, parent, bytes, counts, total));
        if inner {
            let own = &mut longer[0];
            own.iter_mut().zip(below).for_each(|(own, below)| *own = weight * below);
            for (&byte, &count) in bytes.iter().zip(counts) {
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

/// The entropy of a row of `counts` mixed with the `shorter` context's prediction, which has the entropy `parent`.
/// `total` is the number of places and of different bytes together.
fn mixed_entropy(shorter: &[f64; 256], parent: f64, bytes: &[u8], counts: &[u64], total: f64) -> f64 {
    let weight = counts.len() as f64 / total;
    // Bytes outside the row have `weight` times what the shorter context says: their share of the sum follows from
    // the whole sum there, less those inside.
    let (mut inside, mut others, mut mass) = (0.0, -parent, 1.0);
    for (&byte, &count) in bytes.iter().zip(counts) {
        let below = shorter[usize::from(byte)];
        inside += x_log2_x(count as f64 / total + weight * below);
        others -= x_log2_x(below);
        mass -= below;
    }
    (-inside - weight * others - x_log2_x(weight) * mass).max(0.0)
}
