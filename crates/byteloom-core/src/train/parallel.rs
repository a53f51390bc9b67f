//! Counts text on several threads, with the result of one.
//!
//! Each thread takes one contiguous share of the text and counts it into a table of its own; the tables are absorbed
//! in the order of the text, so even the order of first appearance is that of a single thread. The calling thread
//! takes the first share, straight into the table of the whole, and keeps calling the hook.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use super::counts::PretokenCounts;
use super::progress::{Pacer, Progress, Stage};
use crate::error::{Error, Result};
use crate::pretokenize::PreTokenizer;
use crate::special::{Segment, SpecialMatcher};

/// How long the calling thread sleeps at most between two calls of the hook, when it waits for the others.
const NAP: Duration = Duration::from_millis(20);
/// Cuts tried before a text counts as one that cannot be cut.
const TRIES: usize = 8;

/// How text is cut: into special tokens and pre-tokens.
#[derive(Clone, Debug)]
pub(super) struct Splitter {
    pub(super) pretokenizer: PreTokenizer,
    pub(super) specials: SpecialMatcher,
}

/// What counting gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) counts: PretokenCounts,
    pub(super) specials: u64,
}

impl Tally {
    fn count(
        &mut self,
        splitter: &Splitter,
        share: &[&[u8]],
        tick: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
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
    pub(super) threads: usize,
    /// The fewest bytes worth a thread.
    pub(super) least: usize,
    pub(super) tally: Tally,
    /// The tables of the other threads, kept for their memory.
    others: Vec<Tally>,
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
            tally: Tally::default(),
            others: Vec::new(),
            done: 0,
            expected: None,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress { stage: Stage::Count, done: self.done, total: self.expected }
    }

    /// Counts `documents`, each on its own.
    pub(super) fn count(&mut self, documents: &[&[u8]], pacer: &mut Pacer<'_>) -> Result<()> {
        let shares = self.splitter.shares(documents, self.threads, self.least);
        let Some((first, rest)) = shares.split_first() else { return Ok(()) };
        self.others.resize_with(self.others.len().max(rest.len()), Tally::default);
        let done = AtomicU64::new(self.done);
        let stop = AtomicBool::new(false);
        let running = AtomicUsize::new(rest.len());
        let (splitter, tally, expected) = (&self.splitter, &mut self.tally, self.expected);
        let progress = || {
            let done = done.load(Ordering::Relaxed);
            Progress { stage: Stage::Count, done, total: expected }
        };
        let counted = std::thread::scope(|scope| {
            let caller = std::thread::current();
            let mut workers = Vec::new();
            for (share, other) in rest.iter().zip(&mut self.others) {
                let (caller, done, stop, running) = (caller.clone(), &done, &stop, &running);
                let work = move || {
                    // A custom regex has scratch memory that threads would wait for; a clone has its own.
                    let splitter = splitter.clone();
                    let counted = other.count(&splitter, share, &mut |bytes| {
                        done.fetch_add(bytes as u64, Ordering::Relaxed);
                        if stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
                    });
                    running.fetch_sub(1, Ordering::Relaxed);
                    caller.unpark();
                    counted
                };
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        return Err(Error::Training(format!(
                            "no thread to count with: {error}; ask for fewer threads"
                        )));
                    }
                }
            }
            let mut own = tally.count(splitter, first, &mut |bytes| {
                done.fetch_add(bytes as u64, Ordering::Relaxed);
                pacer.look(progress)
            });
            // A thread that panicked is finished without having said so.
            while own.is_ok()
                && running.load(Ordering::Relaxed) > 0
                && !workers.iter().all(ScopedJoinHandle::is_finished)
            {
                std::thread::park_timeout(NAP);
                own = pacer.look(progress);
            }
            if own.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            let others: Vec<Result<()>> = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            own.and_then(|()| others.into_iter().collect::<Result<()>>())
        });
        self.done = done.into_inner();
        counted?;
        for other in &mut self.others[..rest.len()] {
            self.tally.counts.absorb_from(&other.counts)?;
            self.tally.specials += std::mem::take(&mut other.specials);
            other.counts.clear();
        }
        Ok(())
    }
}
