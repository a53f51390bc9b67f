//! Counts of pre-tokens for any amount of text: kept, merged, pruned, saved, and trained from.
//!
//! Text is counted in tables of bounded size. A full table becomes a sorted run; whatever is asked of the counts is a
//! merge of all runs. Each entry has its first place: the number of the stretch of text, and its place among what was
//! new there. So counts of shards, merged in their order, give the order of first appearance of one pass over all text.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::input::{Document, InvalidUtf8};
use super::parallel::{Counter, Splitter};
use super::progress::{Hook, Pacer, Progress, Stage};
use super::reading::joined;
use super::run::{Counted, Merge, Run, Writer};
use super::{BLOCK, LEAST_SHARE, PretokenCounts};
use crate::error::{Error, Result};
use crate::pretokenize::PreTokenizer;
use crate::special::{SpecialMatcher, SpecialToken, SpecialTokens};

/// Runs are merged into one when there are more: each holds a file open while they are read.
const MOST_RUNS: usize = 64;
/// Documents from this size on are counted in blocks where memory is limited.
const LARGE: usize = 8 << 20;
/// The smallest limit: a table of each thread and a block take about that.
pub const LEAST_LIMIT: u64 = 4 << 20;

/// How text is counted.
#[derive(Clone, Debug)]
pub struct CountConfig {
    /// What cuts text into pre-tokens.
    pub pretokenizer: PreTokenizer,
    /// Strings that end and begin documents wherever they stand, and are never counted.
    pub special_tokens: Vec<String>,
    /// About how many bytes of memory counting may take; more goes to temporary files.
    pub memory_limit: Option<u64>,
    /// Where temporary files go; the system's folder for them if not said.
    pub folder: Option<PathBuf>,
}

impl CountConfig {
    /// Where a run goes that takes memory if there is no limit.
    fn folder(&self) -> Option<PathBuf> {
        self.memory_limit.map(|_| self.folder.clone().unwrap_or_else(std::env::temp_dir))
    }

    /// How large the tables may get before they are written out: the rest is for sorting them and for blocks of text.
    fn table_limit(&self) -> Option<usize> {
        self.memory_limit.map(|limit| usize::try_from(limit / 2).unwrap_or(usize::MAX))
    }
}

/// What was counted, apart from the pre-tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountFigures {
    /// Documents fed.
    pub documents: u64,
    /// Bytes of text fed.
    pub bytes: u64,
    /// Bytes of files replaced because they were not UTF-8.
    pub invalid_bytes: u64,
    /// Places where the text spelled a special token.
    pub special_tokens_seen: u64,
    /// Pre-tokens that [`CountStore::pruned`] dropped, with all their occurrences.
    pub dropped: u64,
}

impl CountFigures {
    fn plus(self, other: Self) -> Self {
        Self {
            documents: self.documents + other.documents,
            bytes: self.bytes + other.bytes,
            invalid_bytes: self.invalid_bytes + other.invalid_bytes,
            special_tokens_seen: self.special_tokens_seen + other.special_tokens_seen,
            dropped: self.dropped + other.dropped,
        }
    }
}

/// Counts that never change; a clone shares them.
#[derive(Clone, Debug)]
pub struct CountStore {
    pub(super) config: CountConfig,
    pub(super) runs: Vec<Run>,
    /// How many stretches of text places number; `None` where places are not known.
    pub(super) stretches: Option<u64>,
    pub(super) figures: CountFigures,
    /// What the readers of the text said of it, as plain data; null where nobody did.
    pub(super) reading: Value,
}

impl CountStore {
    /// Counts of no text.
    pub fn new(config: CountConfig) -> Result<Self> {
        if let Some(limit @ ..LEAST_LIMIT) = config.memory_limit {
            return Err(Error::Argument(format!(
                "memory_limit is {limit} bytes; counting takes at least {LEAST_LIMIT}"
            )));
        }
        matcher(&config.special_tokens)?;
        Ok(Self {
            config,
            runs: Vec::new(),
            stretches: Some(0),
            figures: CountFigures::default(),
            reading: Value::Null,
        })
    }

    /// How text is counted.
    pub fn config(&self) -> &CountConfig {
        &self.config
    }

    /// Refuses a training in which other strings than here end and begin documents.
    pub fn check_special_tokens(&self, names: &[String]) -> Result<()> {
        let ours = &self.config.special_tokens;
        if same_names(ours, names) {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "the counts were made with the special tokens {ours:?}, and the training asks for {names:?} as boundaries \
             of documents; pass the same ones to both"
        )))
    }

    /// What was counted, apart from the pre-tokens.
    pub fn figures(&self) -> CountFigures {
        self.figures
    }

    /// What the readers of the text said of it; null where nobody did.
    pub fn reading(&self) -> &Value {
        &self.reading
    }

    /// The same counts, with what the readers of their text say.
    #[must_use]
    pub fn with_reading(self, reading: Value) -> Self {
        Self { reading, ..self }
    }

    /// Whether it is known which pre-token came first.
    pub fn is_ordered(&self) -> bool {
        self.stretches.is_some()
    }

    /// Bytes of runs in temporary files.
    pub fn spilled_bytes(&self) -> u64 {
        self.runs.iter().filter(|run| !run.in_memory()).map(|run| run.size).sum()
    }

    /// Begins to count text in the same way, apart from what is here.
    pub fn counting(&self, threads: usize) -> Result<Counting> {
        let config = self.config.clone();
        let specials = matcher(&config.special_tokens)?;
        let splitter = Splitter { pretokenizer: config.pretokenizer.clone(), specials };
        let mut counter = Counter::new(splitter, threads.max(1), LEAST_SHARE);
        counter.limit = config.table_limit();
        Ok(Counting { counter, config, runs: Vec::new(), figures: CountFigures::default() })
    }

    /// These counts and then those of `later`, as if its text followed.
    pub fn merged(&self, later: &Self, hook: &mut Hook<'_>) -> Result<Self> {
        let (ours, theirs) = (&self.config, &later.config);
        if ours.pretokenizer.regex() != theirs.pretokenizer.regex() {
            return Err(Error::Argument(format!(
                "counts with the pattern {:?} cannot be merged with counts with the pattern {:?}",
                ours.pretokenizer.regex(),
                theirs.pretokenizer.regex()
            )));
        }
        if !same_names(&ours.special_tokens, &theirs.special_tokens) {
            return Err(Error::Argument(format!(
                "counts with the special tokens {:?} cannot be merged with counts with {:?}",
                ours.special_tokens, theirs.special_tokens
            )));
        }
        let stretches = match (self.stretches, later.stretches) {
            (Some(ours), Some(theirs)) => Some(check_stretches(ours + theirs)?),
            _ => None,
        };
        let shift = self.stretches.unwrap_or(0) << 32;
        let runs = self.runs.iter().cloned().chain(later.runs.iter().map(|run| run.shifted(shift)));
        let all = Self {
            config: ours.clone(),
            runs: runs.collect(),
            stretches,
            figures: self.figures.plus(later.figures),
            reading: joined(self.reading.clone(), later.reading.clone()),
        };
        let in_memory: u64 = all.runs.iter().filter(|run| run.in_memory()).map(|run| run.size).sum();
        let too_much = ours.memory_limit.is_some_and(|limit| in_memory > limit / 2);
        if too_much || all.runs.len() > MOST_RUNS { all.kept(|_| true, hook) } else { Ok(all) }
    }

    /// Without the pre-tokens that occur less often than `least`.
    pub fn pruned(&self, least: u64, hook: &mut Hook<'_>) -> Result<Self> {
        let mut dropped = 0;
        let mut all = self.kept(
            |entry| {
                let keep = entry.count >= least;
                dropped += u64::from(!keep);
                keep
            },
            hook,
        )?;
        all.figures.dropped += dropped;
        Ok(all)
    }

    /// One run of the entries to keep.
    fn kept(&self, mut keep: impl FnMut(&Counted) -> bool, hook: &mut Hook<'_>) -> Result<Self> {
        let folder = self.config.folder();
        let run = Run::write(folder.as_deref(), |writer| {
            self.each(hook, |entry| if keep(entry) { push(writer, entry, folder.as_deref()) } else { Ok(()) })
        })?;
        Ok(Self { runs: vec![run], ..self.clone() })
    }

    /// Every entry, in the order of the bytes.
    pub(super) fn each(
        &self,
        hook: &mut Hook<'_>,
        mut visit: impl FnMut(&Counted) -> Result<()>,
    ) -> Result<()> {
        let mut pacer = Pacer::new(hook);
        let mut merge = Merge::new(&self.runs)?;
        let mut entry = Counted::default();
        let mut done = 0;
        while merge.next(&mut entry)? {
            visit(&entry)?;
            done += 1;
            pacer.spend(8, || Progress { stage: Stage::Sort, done, total: None })?;
        }
        Ok(())
    }

    /// How many distinct pre-tokens there are, and the sum of their counts.
    pub fn sums(&self, hook: &mut Hook<'_>) -> Result<(u64, u64)> {
        let (mut distinct, mut total) = (0, 0);
        self.each(hook, |entry| {
            distinct += 1;
            total = super::counts::sum_of_counts(total, entry.count)?;
            Ok(())
        })?;
        Ok((distinct, total))
    }

    /// The most frequent pre-tokens with their counts; among equal counts by bytes.
    pub fn most_common(&self, number: usize, hook: &mut Hook<'_>) -> Result<Vec<(Vec<u8>, u64)>> {
        let mut heap = std::collections::BinaryHeap::new();
        self.each(hook, |entry| {
            heap.push((std::cmp::Reverse(entry.count), entry.bytes.clone()));
            if heap.len() > number {
                heap.pop();
            }
            Ok(())
        })?;
        Ok(heap.into_sorted_vec().into_iter().map(|(count, bytes)| (bytes, count.0)).collect())
    }

    /// The counts in the order of first appearance, in memory, as training takes them.
    pub fn in_order(&self, hook: &mut Hook<'_>) -> Result<PretokenCounts> {
        let mut bytes = Vec::new();
        let mut entries = Vec::new();
        self.each(hook, |entry| {
            entries.push((entry.place, bytes.len(), entry.bytes.len(), entry.count));
            bytes.extend_from_slice(&entry.bytes);
            Ok(())
        })?;
        if self.is_ordered() {
            entries.sort_unstable();
        }
        let mut counts = PretokenCounts::with_room(entries.len());
        for (_, start, length, count) in entries {
            counts.add(&bytes[start..start + length], count)?;
        }
        Ok(counts)
    }
}

pub(super) fn matcher(names: &[String]) -> Result<SpecialMatcher> {
    let tokens = (0..).zip(names).map(|(id, name)| SpecialToken::new(name.clone(), id)).collect();
    SpecialMatcher::new(SpecialTokens::new(tokens)?.tokens())
}

/// Whether both name the same special tokens, in whatever order.
pub(super) fn same_names(ours: &[String], theirs: &[String]) -> bool {
    ours.len() == theirs.len() && ours.iter().all(|name| theirs.contains(name))
}

pub(super) fn push<W: Write>(writer: &mut Writer<W>, entry: &Counted, folder: Option<&Path>) -> Result<()> {
    let written = writer.push(&entry.bytes, entry.count, entry.place);
    written.map_err(|error| Error::io(folder.unwrap_or(Path::new("counts in memory")), error))
}

fn check_stretches(stretches: u64) -> Result<u64> {
    if u32::try_from(stretches).is_ok() {
        return Ok(stretches);
    }
    Err(Error::Training("more than 4,294,967,295 stretches of text; feed larger documents or batches".into()))
}

/// Counts text for a [`CountStore`].
///
/// After an error it holds part of what was fed last; drop it.
#[derive(Debug)]
pub struct Counting {
    counter: Counter,
    config: CountConfig,
    runs: Vec<Run>,
    figures: CountFigures,
}

impl Counting {
    /// Says how many bytes will be fed in all, for progress.
    pub fn expect_bytes(&mut self, bytes: u64) {
        self.counter.expected = Some(bytes);
    }

    /// Shares out small documents too; for tests.
    #[cfg(test)]
    pub(super) fn small_shares(&mut self, least: usize) {
        self.counter.least = least;
    }

    /// Adds occurrences of a pre-token.
    pub(super) fn add(&mut self, pretoken: &[u8], count: u64) -> Result<()> {
        self.counter.counts()?.add(pretoken, count)?;
        self.spill_if_full()
    }

    /// Counts documents, in the order given.
    pub fn feed_documents(&mut self, documents: &[&[u8]], hook: &mut Hook<'_>) -> Result<()> {
        let mut pacer = Pacer::new(hook);
        let mut rest = documents;
        while let Some(first) = rest.first() {
            let is_large = |text: &&[u8]| self.config.memory_limit.is_some() && text.len() >= LARGE;
            if is_large(first) {
                let mut reader = *first;
                let mut document = Document::new(&mut reader, Path::new("document"), InvalidUtf8::Keep);
                self.count_document(&mut document, &mut pacer)?;
                rest = &rest[1..];
            } else {
                let small = rest.iter().position(is_large).unwrap_or(rest.len());
                self.counter.count(&rest[..small], &mut pacer)?;
                self.spill_if_full()?;
                rest = &rest[small..];
            }
        }
        self.figures.documents += documents.len() as u64;
        self.figures.bytes += documents.iter().map(|text| text.len() as u64).sum::<u64>();
        self.counter.done = self.figures.bytes;
        pacer.call(self.counter.progress())
    }

    /// Counts a file as one document, read in blocks.
    pub fn feed_file(&mut self, path: &Path, invalid: InvalidUtf8, hook: &mut Hook<'_>) -> Result<()> {
        let mut file = std::fs::File::open(path).map_err(|error| Error::io(path, error))?;
        self.feed_reader(&mut file, path, invalid, hook)
    }

    /// [`Self::feed_file`] from an open reader; `path` is its name in messages.
    pub fn feed_reader(
        &mut self,
        reader: &mut (dyn Read + Send),
        path: &Path,
        invalid: InvalidUtf8,
        hook: &mut Hook<'_>,
    ) -> Result<()> {
        let mut pacer = Pacer::new(hook);
        let mut document = Document::new(reader, path, invalid);
        self.count_document(&mut document, &mut pacer)?;
        self.figures.documents += 1;
        self.figures.bytes += document.bytes_read();
        self.figures.invalid_bytes += document.replaced;
        self.counter.done = self.figures.bytes;
        pacer.call(self.counter.progress())
    }

    fn count_document(&mut self, document: &mut Document<'_>, pacer: &mut Pacer<'_>) -> Result<()> {
        while !document.at_end {
            self.counter.count_document(document, BLOCK, pacer)?;
            self.spill_if_full()?;
        }
        Ok(())
    }

    fn spill_if_full(&mut self) -> Result<()> {
        check_stretches(self.counter.stretches)?;
        match (self.config.table_limit(), self.config.folder()) {
            (Some(limit), Some(folder)) if self.counter.is_full(limit) => self.spill(Some(&folder)),
            _ => Ok(()),
        }
    }

    /// Writes every table out as a run.
    fn spill(&mut self, folder: Option<&Path>) -> Result<()> {
        for part in self.counter.take_parts() {
            self.figures.special_tokens_seen += part.specials;
            if part.counts.is_empty() {
                continue;
            }
            let mut order: Vec<u32> = (0..part.counts.len() as u32).collect();
            let bytes = |index: u32| part.counts.get(index as usize).map_or(&[][..], |(bytes, _)| bytes);
            order.sort_unstable_by(|&a, &b| bytes(a).cmp(bytes(b)));
            let run = Run::write(folder, |writer| {
                for index in order {
                    let Some((bytes, count)) = part.counts.get(index as usize) else { continue };
                    // The last stretch that began at or before this entry is the one it appeared in.
                    let stretch = part.stretches.partition_point(|&(_, begin)| begin <= index as usize) - 1;
                    let (number, begin) = part.stretches[stretch];
                    let place = number << 32 | (index as usize - begin) as u64;
                    let written = writer.push(bytes, count, place);
                    written.map_err(|error| Error::io(folder.unwrap_or(Path::new("counts")), error))?;
                }
                Ok(())
            })?;
            self.runs.push(run);
        }
        if self.runs.len() > MOST_RUNS {
            let store = self.store()?;
            self.runs = store.kept(|_| true, &mut |_| Ok(()))?.runs;
        }
        Ok(())
    }

    fn store(&mut self) -> Result<CountStore> {
        Ok(CountStore {
            config: self.config.clone(),
            runs: std::mem::take(&mut self.runs),
            stretches: Some(check_stretches(self.counter.stretches)?),
            figures: self.figures,
            reading: Value::Null,
        })
    }

    /// The counts of everything fed.
    pub fn finish(mut self, hook: &mut Hook<'_>) -> Result<CountStore> {
        // What is left in the tables fits the limit, and so do runs made of it: they are smaller.
        self.spill(if self.runs.is_empty() { None } else { self.config.folder() }.as_deref())?;
        let store = self.store()?;
        hook(&Progress { stage: Stage::Sort, done: 0, total: None })?;
        Ok(store)
    }
}
