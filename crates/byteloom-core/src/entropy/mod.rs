//! A byte model that says how surprising the next byte is: counts of bytes after short contexts.
//!
//! An [`EntropyModel`] is a value: a [`Training`] makes one, and [`EntropyModel::merged`] makes one of two. What a call needs
//! beyond the counts is compiled when it is first asked for, and kept.

mod compile;
mod count;
mod counts;
mod file;
mod fit;
mod math;
mod rows;
mod trie;
mod walk;

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "exact values are the point")]
mod tests;

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use once_cell::race::OnceBox;

pub use counts::MAX_ORDER;
pub use file::VERSION;
pub(crate) use trie::{Decisions, Trie};

use crate::error::{Error, Result};
use crate::tokenizer::Poll;
use crate::train::input::Document;
use crate::train::progress::Pacer;
use crate::train::{Hook, InvalidUtf8};
use compile::{rows_of, witten_bell};
use count::Counter;
use counts::{GRAM_BYTES, Grams};
use math::log2;
use rows::Rows;
use trie::{LANES, Node};

/// The memory that training and the model may take, if nothing else is asked for.
pub const DEFAULT_MEMORY_LIMIT: usize = 1 << 30;
/// The lowest memory limit: contexts of one byte, which are never dropped, always fit.
pub const LEAST_MEMORY_LIMIT: usize = 4 << 20;
/// The range of `alpha`: far from where numbers of 64 bits lose their precision.
const ALPHAS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;
/// Bytes of a file that are read at a time.
const READ: usize = 1 << 20;
/// Bytes between two looks for a reason to stop.
pub(crate) const BYTES_PER_LOOK: usize = 1 << 16;

/// How counts become probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smoothing {
    /// The longest context that was seen, alone; `alpha` is added to each of 256 counts. Uniform where no context
    /// was seen; without context, the counts of bytes alone.
    Backoff,
    /// All contexts mixed, after Witten and Bell: one that `t` different bytes followed in `n` places leaves
    /// `t / (n + t)` to the next shorter one, and the shortest to the uniform prediction. `alpha` plays no part.
    WittenBell,
}

impl Smoothing {
    /// The name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Backoff => "backoff",
            Self::WittenBell => "witten-bell",
        }
    }
}

impl std::str::FromStr for Smoothing {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "backoff" => Ok(Self::Backoff),
            "witten-bell" => Ok(Self::WittenBell),
            _ => Err(Error::Patching(format!(
                "smoothing must be \"backoff\" or \"witten-bell\", not {name:?}"
            ))),
        }
    }
}

/// What a model is asked to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntropyConfig {
    order: usize,
    alpha: f64,
    smoothing: Smoothing,
    memory_limit: Option<usize>,
}

impl EntropyConfig {
    /// A model of n-grams of `order` bytes: contexts of 0 to `order - 1` bytes.
    ///
    /// # Errors
    /// [`Error::Patching`] for a value out of range.
    pub fn new(order: i128, alpha: f64, smoothing: Smoothing, memory_limit: Option<i128>) -> Result<Self> {
        let order = usize::try_from(order).ok().filter(|order| (1..=MAX_ORDER).contains(order)).ok_or_else(|| {
            Error::Patching(format!(
                "order must be from 1 to {MAX_ORDER} (it counts the byte itself: contexts have up to order - 1 bytes), not {order}"
            ))
        })?;
        if !ALPHAS.contains(&alpha) {
            return Err(Error::Patching(format!(
                "alpha must be a positive number from {:e} to {:e}, not {alpha:?}",
                ALPHAS.start(),
                ALPHAS.end()
            )));
        }
        let memory_limit = memory_limit
            .map(|limit| {
                usize::try_from(limit).ok().filter(|&limit| limit >= LEAST_MEMORY_LIMIT).ok_or_else(|| {
                    Error::Patching(format!(
                        "memory_limit must be from {LEAST_MEMORY_LIMIT} to {} bytes, not {limit}",
                        usize::MAX
                    ))
                })
            })
            .transpose()?;
        Ok(Self { order, alpha, smoothing, memory_limit })
    }

    /// The length of the n-grams: contexts have one byte less.
    pub fn order(&self) -> usize {
        self.order
    }

    /// What is added to each count.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// How counts become probabilities.
    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
    }

    /// The memory that training and the model may take, in bytes; [`DEFAULT_MEMORY_LIMIT`] where it is not given.
    ///
    /// It bounds what counting on one thread takes at its peak, and what counts, compiled form and rows take together.
    /// Beside it there are a few MiB of tables of one size, and an eighth of it for each further thread.
    pub fn memory_limit(&self) -> Option<usize> {
        self.memory_limit
    }

    fn limit(&self) -> usize {
        self.memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT)
    }
}

/// The counts of bytes after contexts, and what is compiled from them. Cloning is cheap.
///
/// ```
/// use byteloom_core::entropy::{EntropyConfig, Smoothing, Training};
///
/// let config = EntropyConfig::new(4, 0.01, Smoothing::Backoff, None)?;
/// let mut training = Training::new(config, 1);
/// training.feed_documents(&["abracadabra ".repeat(100).as_bytes()], &mut |_| Ok(()))?;
/// let model = training.finish(&mut |_| Ok(()))?;
/// let entropies = model.entropies(b"abra", None, &mut || Ok(()))?;
/// assert!(entropies[3] < entropies[0]);
/// # Ok::<(), byteloom_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EntropyModel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: EntropyConfig,
    grams: Grams,
    documents: u64,
    bytes: u64,
    dropped: u64,
    trie: OnceBox<Arc<Trie>>,
    /// The counts under each context of the trie, for probabilities of single bytes; a [`Rows`] for each level.
    rows: OnceBox<Vec<Rows>>,
}

/// Figures about a model.
#[derive(Clone, Debug)]
pub struct EntropyInfo {
    /// Different strings counted, for each length from 1 to the order.
    pub grams: Vec<usize>,
    /// Different contexts, for each length from 0 to the order less 1.
    pub contexts: Vec<usize>,
    /// Contexts dropped to keep the memory limit.
    pub dropped_contexts: u64,
    /// What the counts take, in bytes.
    pub count_bytes: usize,
    /// What the compiled form takes, in bytes, with the rows where they are kept.
    pub compiled_bytes: usize,
    /// What of that are tables whose size is the same for all models of an order: no limit counts them.
    pub table_bytes: usize,
}

impl EntropyModel {
    /// A model that has seen nothing.
    pub fn new(config: EntropyConfig) -> Self {
        Self::with(config, Grams::new(config.order), 0, 0)
    }

    fn with(config: EntropyConfig, grams: Grams, documents: u64, dropped: u64) -> Self {
        let bytes = grams.total();
        let (trie, rows) = (OnceBox::new(), OnceBox::new());
        Self(Arc::new(Inner { config, grams, documents, bytes, dropped, trie, rows }))
    }

    /// What the model was asked to be.
    pub fn config(&self) -> &EntropyConfig {
        &self.0.config
    }

    /// How many documents were counted.
    pub fn documents(&self) -> u64 {
        self.0.documents
    }

    /// How many bytes were counted.
    pub fn trained_bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Whether both are one and the same value, not only equal.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The model that has seen the text of both: the counts are added. The settings are those of this one.
    ///
    /// Where neither has dropped contexts, this is what training on both texts gives. Else the counts of contexts
    /// that one has dropped come from the other alone; those of shorter contexts are exact.
    ///
    /// # Errors
    /// [`Error::Patching`] where the orders differ, and where the counts leave 63 bits; what `poll` says.
    pub fn merged(&self, other: &Self, poll: Poll<'_>) -> Result<Self> {
        let (own, others) = (self.0.config.order, other.0.config.order);
        if own != others {
            return Err(Error::Patching(format!(
                "models of order {own} and {others} cannot be merged; train both with the same order"
            )));
        }
        let mut grams = self.0.grams.clone();
        grams.add(&other.0.grams)?;
        let mut dropped = self.0.dropped.saturating_add(other.0.dropped);
        let limit = self.0.config.limit();
        if grams.len() > other.0.grams.len() || limit != other.0.config.limit() {
            dropped = dropped.saturating_add(grams.fit(limit, poll)?);
        }
        let documents = self.0.documents.saturating_add(other.0.documents);
        Ok(Self::with(self.0.config, grams, documents, dropped))
    }

    /// The compiled form.
    pub(crate) fn trie(&self, poll: Poll<'_>) -> Result<&Arc<Trie>> {
        // A race makes two equal ones, of which one is kept: no lock that a forked child could wait for.
        self.0.trie.get_or_try_init(|| Ok(self.compile(poll)?.0))
    }

    /// The compiled form, and the rows of its contexts.
    fn with_rows(&self, poll: Poll<'_>) -> Result<(&Trie, &[Rows])> {
        let rows = self.0.rows.get_or_try_init(|| {
            if self.0.trie.get().is_some() {
                return rows_of(&self.0.grams, poll).map(Box::new);
            }
            let (trie, rows) = self.compile(poll)?;
            // Where another thread was faster, its trie is an equal one.
            drop(self.0.trie.set(trie));
            Ok(Box::new(rows))
        })?;
        Ok((self.trie(poll)?, rows))
    }

    #[expect(clippy::redundant_allocation, reason = "a patcher shares what is in the box")]
    fn compile(&self, poll: Poll<'_>) -> Result<(Box<Arc<Trie>>, Vec<Rows>)> {
        let config = &self.0.config;
        let (trie, rows) = Trie::new(&self.0.grams, config.alpha, config.smoothing, poll)?;
        Ok((Box::new(Arc::new(trie)), rows))
    }

    /// The entropy in bits of the prediction for every byte of `text`, which is one document.
    ///
    /// Behind a byte of `reset_on` the context is forgotten: the next byte is as the first of a document.
    pub fn entropies(&self, text: &[u8], reset_on: Option<&ByteSet>, poll: Poll<'_>) -> Result<Vec<f64>> {
        let trie = self.trie(poll)?;
        let mut entropies = vec![0.0; text.len()];
        for part in parts(text, reset_on) {
            let text = &text[part.clone()];
            let entropies = &mut entropies[part];
            for (block, entropies) in entropies.chunks_mut(BYTES_PER_LOOK).enumerate() {
                poll()?;
                trie.fill(text, block * BYTES_PER_LOOK, entropies);
            }
        }
        Ok(entropies)
    }

    /// The probabilities of the 256 bytes after `history`, of which the last `order - 1` bytes count.
    pub fn distribution(&self, history: &[u8], poll: Poll<'_>) -> Result<Vec<f64>> {
        let (trie, rows) = self.with_rows(poll)?;
        let config = &self.0.config;
        let mut probabilities = vec![1.0 / 256.0; 256];
        match config.smoothing {
            Smoothing::Backoff => {
                let Some(node) = chosen(trie, history) else { return Ok(probabilities) };
                let row = rows[node.level].get(node.index);
                let total = row.total as f64 + 256.0 * config.alpha;
                probabilities.fill(config.alpha / total);
                for (byte, count) in row.pairs() {
                    probabilities[usize::from(byte)] = (count as f64 + config.alpha) / total;
                }
            }
            Smoothing::WittenBell => {
                for node in trie.path(history) {
                    let row = rows[node.level].get(node.index);
                    let (total, weight) = witten_bell(row);
                    for probability in &mut probabilities {
                        *probability *= weight;
                    }
                    for (byte, count) in row.pairs() {
                        probabilities[usize::from(byte)] += count as f64 / total;
                    }
                }
            }
        }
        Ok(probabilities)
    }

    /// How many bits a byte of `text` takes on average where it is coded with these predictions; 0 for no text.
    pub fn bits_per_byte(&self, text: &[u8], poll: Poll<'_>) -> Result<f64> {
        let (trie, rows) = self.with_rows(poll)?;
        let alpha = self.0.config.alpha;
        let mut bits = 0.0;
        for start in (0..text.len()).step_by(LANES) {
            if start % BYTES_PER_LOOK == 0 {
                poll()?;
            }
            let places = start..text.len().min(start + LANES);
            let mut probabilities = [1.0 / 256.0; LANES];
            match self.0.config.smoothing {
                Smoothing::Backoff => {
                    let mut nodes = [None; LANES];
                    // The empty context speaks only where there is no other.
                    trie.visit(text, places.clone(), |place, node| {
                        if node.level > 0 || place == 0 || trie.reach() == 0 {
                            nodes[place - start] = Some(node);
                        }
                    });
                    for ((probability, node), &byte) in
                        probabilities.iter_mut().zip(nodes).zip(&text[places.clone()])
                    {
                        if let Some(node) = node {
                            let row = rows[node.level].get(node.index);
                            *probability =
                                (row.count(byte) as f64 + alpha) / (row.total as f64 + 256.0 * alpha);
                        }
                    }
                }
                Smoothing::WittenBell => trie.visit(text, places.clone(), |place, node| {
                    let row = rows[node.level].get(node.index);
                    let (total, weight) = witten_bell(row);
                    let probability = &mut probabilities[place - start];
                    *probability = weight * *probability + row.count(text[place]) as f64 / total;
                }),
            }
            // Few at a time, and these sums then: in a long text less is lost to rounding.
            bits -= probabilities[..places.len()].iter().map(|&probability| log2(probability)).sum::<f64>();
        }
        Ok(if text.is_empty() { 0.0 } else { bits / text.len() as f64 })
    }

    /// For every byte of `text`, of how many bytes before it the longest context is that the prediction is made from, and
    /// how often training saw that one; 0 and 0 where the model knows nothing.
    ///
    /// `reset_on` is that of [`Self::entropies`].
    pub fn contexts(
        &self,
        text: &[u8],
        reset_on: Option<&ByteSet>,
        poll: Poll<'_>,
    ) -> Result<(Vec<u8>, Vec<u64>)> {
        let (trie, rows) = self.with_rows(poll)?;
        let (mut lengths, mut seen) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()));
        for part in parts(text, reset_on) {
            for end in part.clone() {
                if lengths.len() % BYTES_PER_LOOK == 0 {
                    poll()?;
                }
                let history = &text[part.start..end];
                let node = match self.0.config.smoothing {
                    Smoothing::Backoff => chosen(trie, history),
                    Smoothing::WittenBell => trie.path(history).last(),
                };
                lengths.push(node.map_or(0, |node| node.level as u8));
                seen.push(node.map_or(0, |node| rows[node.level].get(node.index).total));
            }
        }
        Ok((lengths, seen))
    }

    /// Figures about the model. Compiles it.
    pub fn info(&self, poll: Poll<'_>) -> Result<EntropyInfo> {
        let trie = self.trie(poll)?;
        let (compiled, tables) = trie.memory();
        Ok(EntropyInfo {
            grams: self.0.grams.lists.iter().map(|list| list.len()).collect(),
            contexts: trie.contexts(),
            dropped_contexts: self.0.dropped,
            count_bytes: self.0.grams.len() * GRAM_BYTES,
            compiled_bytes: compiled
                + self.0.rows.get().map_or(0, |rows| rows.iter().map(Rows::memory).sum()),
            table_bytes: tables,
        })
    }
}

/// The context that back-off predicts from.
fn chosen(trie: &Trie, history: &[u8]) -> Option<Node> {
    if history.is_empty() || trie.reach() == 0 { trie.path(&[]).next() } else { trie.longest(history) }
}

/// A set of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteSet([bool; 256]);

impl ByteSet {
    /// The set of the bytes in `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let mut set = [false; 256];
        for &byte in bytes {
            set[usize::from(byte)] = true;
        }
        Self(set)
    }

    /// Whether `byte` is in the set.
    #[inline]
    pub fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }

    /// The bytes of the set, ascending.
    pub fn bytes(&self) -> Vec<u8> {
        (0..=255).filter(|&byte| self.has(byte)).collect()
    }
}

/// The parts of a document that know nothing of each other: each ends with a byte of `reset_on`, or with the text.
pub(crate) fn parts<'t>(
    text: &'t [u8],
    reset_on: Option<&'t ByteSet>,
) -> impl Iterator<Item = Range<usize>> + 't {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = match reset_on {
            None => rest.len(),
            Some(set) => rest.iter().position(|&byte| set.has(byte)).map_or(rest.len(), |place| place + 1),
        };
        let part = start..start + length;
        start = part.end;
        Some(part)
    })
}

/// Documents on their way into a model.
#[derive(Debug)]
pub struct Training {
    config: EntropyConfig,
    counter: Counter,
}

impl Training {
    /// A training for a model of `config`. The result does not depend on `threads`.
    pub fn new(config: EntropyConfig, threads: usize) -> Self {
        let counter = Counter::new(config.order, threads.max(1), config.limit());
        Self { config, counter }
    }

    /// Says how many bytes will be fed in all, for progress.
    pub fn expect_bytes(&mut self, bytes: u64) {
        self.counter.expected = Some(bytes);
    }

    /// Counts documents, in the order given; each begins without context.
    ///
    /// # Errors
    /// What `hook` says; the training is of no more use then.
    pub fn feed_documents(&mut self, documents: &[&[u8]], hook: &mut Hook<'_>) -> Result<()> {
        let mut pacer = Pacer::new(hook);
        for document in documents {
            self.counter.begin();
            self.counter.feed(document, &mut pacer)?;
        }
        Ok(())
    }

    /// Counts a file as one document, read in blocks.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read; [`Error::Text`] when it is not UTF-8 and `invalid` is strict.
    pub fn feed_file(&mut self, path: &Path, invalid: InvalidUtf8, hook: &mut Hook<'_>) -> Result<()> {
        let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
        self.feed_reader(&mut file, path, invalid, hook)
    }

    /// [`Self::feed_file`] from an open reader; `path` is its name in messages.
    ///
    /// # Errors
    /// As for a file.
    pub fn feed_reader(
        &mut self,
        reader: &mut (dyn Read + Send),
        path: &Path,
        invalid: InvalidUtf8,
        hook: &mut Hook<'_>,
    ) -> Result<()> {
        let mut pacer = Pacer::new(hook);
        let mut document = Document::new(reader, path, invalid);
        self.counter.begin();
        while !document.at_end {
            document.read(READ)?;
            let length = document.text().len();
            self.counter.feed(document.text(), &mut pacer)?;
            document.drop_front(length);
        }
        Ok(())
    }

    /// A model of what was fed alone; [`EntropyModel::merged`] adds it.
    pub fn finish(self, hook: &mut Hook<'_>) -> Result<EntropyModel> {
        let counter = self.counter.finish(&mut Pacer::new(hook))?;
        let (documents, dropped) = (counter.documents, counter.dropped);
        Ok(EntropyModel::with(self.config, counter.into_grams(), documents, dropped))
    }
}
