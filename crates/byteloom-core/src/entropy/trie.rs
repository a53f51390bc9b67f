//! The compiled form: for every context that was seen, the entropy of what follows.
//!
//! Contexts are a trie that is read backwards from the byte to predict: a level for each length, sorted, so that
//! siblings stand together and a level needs one byte a context. A level of three bytes or less is found directly.

use std::ops::Range;

/// The length of the longest context that is found by its number, without a search.
pub(super) const DIRECT: usize = 3;
/// A word of eight bytes of 1.
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;
/// Bytes read at once for the number of a direct context.
const WINDOW: usize = 4;
/// Places that are looked up together.
pub(super) const LANES: usize = 128;

/// The contexts of one length, in ascending order of their bytes, the most recent byte first.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// The oldest byte of each context, and 8 bytes more, so that 8 may be read at each.
    pub(super) labels: Vec<u8>,
    /// Where the longer contexts of each context begin on the next level; one more at the end. Empty on the last.
    pub(super) children: Vec<u32>,
    /// The entropy of the next byte, in bits.
    pub(super) entropies: Vec<f64>,
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

/// A context: the level that has its length, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) level: usize,
    pub(super) index: usize,
}

/// Which numbers are there, and how many before each: the place of a context on a level that is found directly.
#[derive(Debug)]
pub(super) struct Ranks {
    words: Vec<(u64, u32)>,
}

impl Ranks {
    /// None of the numbers of `bits` bits.
    pub(super) fn new(bits: usize) -> Self {
        Self { words: vec![(0, 0); (1 << bits) / 64 + 1] }
    }

    pub(super) fn insert(&mut self, number: usize) {
        self.words[number / 64].0 |= 1 << (number % 64);
    }

    /// Counts what was inserted; that is done last.
    pub(super) fn finish(&mut self) {
        let mut before = 0;
        for (word, rank) in &mut self.words {
            *rank = before;
            before += word.count_ones();
        }
    }

    #[inline]
    fn rank(&self, number: usize) -> Option<usize> {
        let (word, before) = self.words[number / 64];
        let below = word & ((1 << (number % 64)) - 1);
        (word >> (number % 64) & 1 == 1).then(|| before as usize + below.count_ones() as usize)
    }
}

/// The number of the last [`DIRECT`] bytes of `history`, the most recent uppermost; zeros where there are fewer.
#[inline]
fn direct_number(history: &[u8]) -> usize {
    match history.last_chunk::<DIRECT>() {
        Some(bytes) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize,
        None => {
            history.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
                << (8 * (DIRECT - history.len()))
        }
    }
}

/// The compiled model.
#[derive(Debug)]
pub(crate) struct Trie {
    /// `levels[k]` holds the contexts of `k` bytes; as many as the order.
    pub(super) levels: Vec<Level>,
    /// Of levels 1 to [`DIRECT`].
    pub(super) ranks: Vec<Ranks>,
    /// What is predicted where no context was seen, and at the start of a document.
    pub(super) unseen: f64,
    pub(super) start: f64,
}

impl Trie {
    /// The length of the longest context.
    pub(crate) fn reach(&self) -> usize {
        self.levels.len() - 1
    }

    /// How many contexts there are of each length.
    pub(super) fn contexts(&self) -> Vec<usize> {
        self.levels.iter().map(|level| level.entropies.len()).collect()
    }

    /// What the compiled form takes in memory, in bytes, and of that the tables whose size is the same for all models.
    pub(super) fn memory(&self) -> (usize, usize) {
        let level = |level: &Level| level.labels.len() + level.children.len() * 4 + level.entropies.len() * 8;
        let tables: usize = self.ranks.iter().map(|ranks| size_of_val(ranks.words.as_slice())).sum();
        (self.levels.iter().map(level).sum::<usize>() + tables, tables)
    }

    /// The longest context that was seen at the end of `history`, of 1 byte at least.
    #[inline]
    pub(super) fn longest(&self, history: &[u8]) -> Option<Node> {
        let reach = self.reach().min(history.len());
        let number = direct_number(history);
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

    /// Gives `visit` all contexts of each of `places`, at most [`LANES`], from the empty one to the longest that was
    /// seen: of each place in this order, those of different places as it comes.
    pub(super) fn visit(&self, text: &[u8], places: Range<usize>, mut visit: impl FnMut(usize, Node)) {
        if self.levels[0].entropies.is_empty() {
            return;
        }
        let mut open = [Lane::default(); LANES];
        let mut count = 0;
        for place in places.clone() {
            visit(place, Node { level: 0, index: 0 });
            let number = direct_number(&text[..place]);
            for level in 1..=self.reach().min(DIRECT).min(place) {
                let Some(index) = self.ranks[level - 1].rank(number >> (8 * (DIRECT - level))) else { break };
                visit(place, Node { level, index });
                if level == DIRECT {
                    open[count & (LANES - 1)] =
                        Lane { place: (place - places.start) as u32, node: index as u32 };
                    count += 1;
                }
            }
        }
        for level in DIRECT..self.reach() {
            let mut left = 0;
            for at in 0..count {
                let mut lane = open[at];
                let place = places.start + lane.place as usize;
                let Some(&oldest) = place.checked_sub(level + 1).and_then(|oldest| text.get(oldest)) else {
                    continue;
                };
                let Some(index) = self.child(level, lane.node as usize, oldest) else { continue };
                visit(place, Node { level: level + 1, index });
                lane.node = index as u32;
                open[left] = lane;
                left += 1;
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
