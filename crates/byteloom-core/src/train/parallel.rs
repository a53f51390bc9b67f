//! Counts text on several threads, with the result of one.
//!
//! Text is cut into numbered stretches. Each thread takes the next one whenever it is free and counts it into a table
//! of its own, which lasts until everything is counted, and notes how many entries there were before each stretch. So
//! it is known which stretch every entry of every table appeared in first, and the tables are joined stretch by
//! stretch: even the order of first appearance is that of a single thread. The calling thread counts too, and keeps
//! calling the hook.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use super::counts::PretokenCounts;
use super::input::Document;
use super::progress::{Pacer, Progress, Stage};
use crate::error::{Error, Result};
use crate::pretokenize::PreTokenizer;
use crate::special::{Segment, SpecialMatcher};

/// How long the calling thread sleeps at most between two calls of the hook, when it waits for the others.
const NAP: Duration = Duration::from_millis(20);
/// How often the calling thread tries to get at the document before it sleeps in between.
const SPINS: usize = 64;
/// How long it sleeps then; it wakes to call the hook while a slow reader keeps everyone waiting.
const DOZE: Duration = Duration::from_millis(1);
/// The most that is read at a time.
const MOST_READ: usize = 64 << 20;
/// Cuts tried before a text counts as one that cannot be cut.
const TRIES: usize = 8;

/// How text is cut: into special tokens and pre-tokens.
#[derive(Clone, Debug)]
pub(super) struct Splitter {
    pub(super) pretokenizer: PreTokenizer,
    pub(super) specials: SpecialMatcher,
}

/// What one thread counted.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) counts: PretokenCounts,
    pub(super) specials: u64,
    /// The stretches in the order of their numbers, and how many entries there were before each.
    pub(super) stretches: Vec<(u64, usize)>,
}

impl Part {
    fn new(bytes: u64) -> Self {
        Self { counts: PretokenCounts::for_text(bytes), specials: 0, stretches: Vec::new() }
    }

    fn count(&mut self, splitter: &Splitter, number: u64, share: &[&[u8]], tick: Tick<'_>) -> Result<()> {
        self.stretches.push((number, self.counts.len()));
        for text in share {
            for segment in splitter.specials.split(text) {
                match segment {
                    Segment::Ordinary(run) => {
                        self.counts.count_text_with(&splitter.pretokenizer, run, tick)?;
                    }
                    Segment::Special(_) => self.specials += 1,
                }
            }
        }
        Ok(())
    }
}

/// Told of every few thousand bytes counted; an error stops the count.
type Tick<'t> = &'t mut dyn FnMut(usize) -> Result<()>;

impl Splitter {
    /// A place near `target` and at least `margin` before the end where `text` may be cut: no pre-token and no
    /// special token stands across it, whatever stands around `text`.
    pub(super) fn cut(&self, text: &[u8], target: usize, margin: usize) -> Option<usize> {
        let mut target = target.min(text.len());
        let mut step = self.specials.longest().max(8);
        for _ in 0..TRIES {
            let cut = self.pretokenizer.safe_split(text, target)?;
            if cut > 0 && cut.saturating_add(margin) <= text.len() && !self.specials.straddles(text, cut) {
                return Some(cut);
            }
            target = target.checked_sub(step)?;
            step *= 2;
        }
        None
    }

    /// `documents` as at most `threads` contiguous shares of about equal size, none much smaller than `least` bytes.
    pub(super) fn shares<'t>(
        &self,
        documents: &[&'t [u8]],
        threads: usize,
        least: usize,
    ) -> Vec<Vec<&'t [u8]>> {
        let total: usize = documents.iter().map(|text| text.len()).sum();
        let threads = threads.min(total / least.max(1)).max(1);
        let size = total.div_ceil(threads);
        let mut shares = vec![Vec::new()];
        let mut room = size;
        for &document in documents {
            let mut text = document;
            while text.len() > room && shares.len() < threads {
                let cut = if room < least / 2 { Some(0) } else { self.cut(text, room, 1) };
                if cut.is_none() && room >= text.len() / 2 {
                    break; // No place to cut: it goes where more than half of it fits.
                }
                push(&mut shares, &text[..cut.unwrap_or(0)]);
                text = &text[cut.unwrap_or(0)..];
                if shares.last().is_some_and(|share| !share.is_empty()) {
                    shares.push(Vec::new());
                }
                room = size;
                if cut.is_none() {
                    break;
                }
            }
            push(&mut shares, text);
            room = room.saturating_sub(text.len());
        }
        if shares.last().is_some_and(Vec::is_empty) {
            shares.pop();
        }
        shares
    }
}

fn push<'t>(shares: &mut [Vec<&'t [u8]>], text: &'t [u8]) {
    if let Some(share) = shares.last_mut().filter(|_| !text.is_empty()) {
        share.push(text);
    }
}

/// Counts on up to `threads` threads.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) splitter: Splitter,
    threads: usize,
    /// The fewest bytes worth a thread.
    pub(super) least: usize,
    /// One a thread; the first is that of the calling thread.
    parts: Vec<Part>,
    /// How many stretches there were.
    pub(super) stretches: u64,
    /// A document is left where the tables take more memory than this.
    pub(super) limit: Option<usize>,
    /// Bytes counted so far, and how many there will be.
    pub(super) done: u64,
    pub(super) expected: Option<u64>,
}

impl Counter {
    pub(super) fn new(splitter: Splitter, threads: usize, least: usize) -> Self {
        Self {
            splitter,
            threads,
            least,
            parts: Vec::new(),
            stretches: 0,
            limit: None,
            done: 0,
            expected: None,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress { stage: Stage::Count, done: self.done, total: self.expected }
    }

    /// Special tokens met.
    pub(super) fn specials(&self) -> u64 {
        self.parts.iter().map(|part| part.specials).sum()
    }

    /// The counts of everything, in the order of first appearance.
    pub(super) fn counts(&mut self) -> Result<&mut PretokenCounts> {
        if self.parts.len() > 1 {
            let specials = self.specials();
            let parts = std::mem::take(&mut self.parts);
            let mut order = Vec::new();
            for (index, part) in parts.iter().enumerate() {
                let ends = part.stretches.iter().skip(1).map(|&(_, begin)| begin);
                for (&(number, begin), end) in part.stretches.iter().zip(ends.chain([part.counts.len()])) {
                    order.push((number, index, begin..end));
                }
            }
            order.sort_unstable_by_key(|(number, ..)| *number);
            let order: Vec<_> = order.into_iter().map(|(_, index, range)| (index, range)).collect();
            let counts = PretokenCounts::join(parts.into_iter().map(|part| part.counts).collect(), &order)?;
            self.parts.push(Part { counts, specials, stretches: vec![(0, 0)] });
        }
        self.need_parts(1);
        if self.parts[0].stretches.is_empty() {
            self.parts[0].stretches.push((self.stretches, 0));
            self.stretches += 1;
        }
        Ok(&mut self.parts[0].counts)
    }

    /// Whether a table has used up its share of `limit` bytes.
    pub(super) fn is_full(&self, limit: usize) -> bool {
        self.parts.iter().any(|part| part.counts.is_full(limit / self.threads.max(1)))
    }

    /// Gives away what was counted and begins anew, with later stretches.
    pub(super) fn take_parts(&mut self) -> Vec<Part> {
        std::mem::take(&mut self.parts)
    }

    fn need_parts(&mut self, parts: usize) {
        let bytes = if self.limit.is_some() { 0 } else { self.expected.unwrap_or(0) };
        while self.parts.len() < parts {
            self.parts.push(Part::new(bytes));
        }
    }

    /// Adds counts made elsewhere, as those of the next stretch.
    pub(super) fn absorb(&mut self, counts: PretokenCounts) -> Result<()> {
        self.counts()?.absorb(counts)
    }

    /// Counts `documents`, each on its own.
    pub(super) fn count(&mut self, documents: &[&[u8]], pacer: &mut Pacer<'_>) -> Result<()> {
        let shares = self.splitter.shares(documents, self.threads, self.least);
        let first = self.stretches;
        self.stretches += shares.len() as u64;
        let next = AtomicUsize::new(0);
        self.on_threads(shares.len(), pacer, |splitter, part, _, tick| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(share) = shares.get(index) else { return Ok(()) };
                part.count(splitter, first + index as u64, share, tick)?;
            }
        })
    }

    /// Counts a document that is read in blocks of about `block` bytes: all of it, or as much as the limit allows.
    ///
    /// Memory is bounded by a block for each thread, except where the pattern has no place to cut the text.
    pub(super) fn count_document(
        &mut self,
        document: &mut Document<'_>,
        block: usize,
        pacer: &mut Pacer<'_>,
    ) -> Result<()> {
        let mut source = Source { document, block, number: self.stretches, waiting: None };
        let mut first = Vec::new();
        source.waiting = source.read(&self.splitter, &mut first)?;
        let threads = if source.document.at_end { 1 } else { self.threads };
        let source = Mutex::new((source, first));
        let share = self.limit.map_or(usize::MAX, |limit| limit / self.threads.max(1));
        let full = AtomicBool::new(false);
        self.on_threads(threads, pacer, |splitter, part, is_caller, tick| {
            let mut text = Vec::new();
            loop {
                let number = {
                    let mut tries = 0;
                    let mut locked = loop {
                        if !is_caller {
                            break source.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        }
                        match source.try_lock() {
                            Ok(locked) => break locked,
                            Err(TryLockError::Poisoned(locked)) => break locked.into_inner(),
                            Err(TryLockError::WouldBlock) if tries < SPINS => std::thread::yield_now(),
                            Err(TryLockError::WouldBlock) => std::thread::park_timeout(DOZE),
                        }
                        tries += 1;
                        tick(0)?;
                    };
                    let (source, first) = &mut *locked;
                    match source.waiting.take() {
                        Some(number) => {
                            std::mem::swap(first, &mut text);
                            Some(number)
                        }
                        None if full.load(Ordering::Relaxed) => None,
                        None => source.read(splitter, &mut text)?,
                    }
                };
                let Some(number) = number else { return Ok(()) };
                part.count(splitter, number, &[&text], tick)?;
                if part.counts.is_full(share) {
                    full.store(true, Ordering::Relaxed);
                }
            }
        })?;
        self.stretches = source.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).0.number;
        Ok(())
    }

    /// Does `work` on up to `threads` threads, each with a part of its own; the calling thread is one of them.
    fn on_threads(
        &mut self,
        threads: usize,
        pacer: &mut Pacer<'_>,
        work: impl Fn(&Splitter, &mut Part, bool, Tick<'_>) -> Result<()> + Sync,
    ) -> Result<()> {
        if threads == 0 {
            return Ok(());
        }
        self.need_parts(threads);
        let done = AtomicU64::new(self.done);
        let stop = AtomicBool::new(false);
        let running = AtomicUsize::new(threads - 1);
        let expected = self.expected;
        let progress = || {
            let done = done.load(Ordering::Relaxed);
            Progress { stage: Stage::Count, done, total: expected }
        };
        let (splitter, work) = (&self.splitter, &work);
        let Some((own, others)) = self.parts.split_first_mut() else { return Ok(()) };
        let outcomes = std::thread::scope(|scope| {
            let caller = std::thread::current();
            let mut workers = Vec::new();
            let mut failed = None;
            for part in &mut others[..threads - 1] {
                let (caller, done, stop, running) = (caller.clone(), &done, &stop, &running);
                let count = move || {
                    // A custom regex has scratch memory that threads would wait for; a clone has its own.
                    let splitter = splitter.clone();
                    let counted = work(&splitter, part, false, &mut |bytes| {
                        done.fetch_add(bytes as u64, Ordering::Relaxed);
                        if stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
                    });
                    if counted.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    running.fetch_sub(1, Ordering::Relaxed);
                    caller.unpark();
                    counted
                };
                match std::thread::Builder::new().spawn_scoped(scope, count) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        failed = Some(Error::Training(format!(
                            "no thread to count with: {error}; ask for fewer threads"
                        )));
                        break;
                    }
                }
            }
            let mut outcome = match failed {
                Some(error) => Err(error),
                None => work(splitter, own, true, &mut |bytes| {
                    done.fetch_add(bytes as u64, Ordering::Relaxed);
                    if stop.load(Ordering::Relaxed) {
                        return Err(Error::Interrupted);
                    }
                    pacer.look(progress)
                }),
            };
            // A thread that panicked is finished without having said so.
            while outcome.is_ok()
                && running.load(Ordering::Relaxed) > 0
                && !workers.iter().all(ScopedJoinHandle::is_finished)
            {
                std::thread::park_timeout(NAP);
                outcome = pacer.look(progress);
            }
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            let others = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            let mut outcomes: Vec<Result<()>> = others.collect();
            outcomes.push(outcome);
            outcomes
        });
        self.done = done.into_inner();
        // Threads that were stopped say so; what stopped them says more.
        let mut interrupted = Ok(());
        for outcome in outcomes {
            match outcome {
                Err(Error::Interrupted) => interrupted = Err(Error::Interrupted),
                outcome => outcome?,
            }
        }
        interrupted
    }
}

/// A document from which threads take one stretch after another.
struct Source<'d, 'r> {
    document: &'d mut Document<'r>,
    block: usize,
    /// The number of the next stretch.
    number: u64,
    /// The number of a stretch that was read and not taken yet.
    waiting: Option<u64>,
}

impl Source<'_, '_> {
    /// Reads the next stretch into `text` and gives its number; `None` at the end.
    fn read(&mut self, splitter: &Splitter, text: &mut Vec<u8>) -> Result<Option<u64>> {
        // A special token that begins before a cut must end before the text known: it might straddle the cut.
        let margin = splitter.specials.longest().max(1);
        while !self.document.at_end {
            // Growing by half keeps the search for a cut linear in texts that have none.
            let more = self.block.max(self.document.text().len() / 2);
            self.document.read(more.min(self.block.max(MOST_READ)))?;
            let known = self.document.text();
            let end = if self.document.at_end {
                Some(known.len())
            } else {
                splitter.cut(known, known.len().saturating_sub(margin), margin)
            };
            if let Some(end) = end {
                self.document.take_front(end, text);
                self.number += 1;
                return Ok(Some(self.number - 1));
            }
        }
        Ok(None)
    }
}
