//! Many texts at once, on as many threads as asked for.
//!
//! Threads are started for a call and end with it: there is no pool that a forked child could wait for. Work is
//! handed out in order, in runs of texts, so results and the first error do not depend on the number of threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::encode::{BorrowedWorkspace, with_text_buffer};
use crate::error::{Error, Result};
use crate::token::TokenId;
use crate::tokenizer::{Poll, SpecialPolicy, Tokenizer};

/// A thread is worth starting for about this much text.
const BYTES_PER_THREAD: usize = 1 << 16;
/// Work is handed out in runs of about this much text.
const BYTES_PER_RUN: usize = 1 << 18;
/// The most threads a caller may ask for.
pub const MAX_THREADS: usize = 1024;

/// A text of a batch: bytes, or what has to be brought into UTF-8 when it is its turn.
pub trait BatchText: Sync {
    /// About how many bytes it is.
    fn size(&self) -> usize;

    /// Its bytes, which may be written into `buffer`.
    ///
    /// # Errors
    /// [`Error::Text`] for one that has no UTF-8.
    fn read<'t>(&'t self, buffer: &'t mut Vec<u8>) -> Result<&'t [u8]>;
}

impl<T: AsRef<[u8]> + Sync> BatchText for T {
    fn size(&self) -> usize {
        self.as_ref().len()
    }

    fn read<'t>(&'t self, _: &'t mut Vec<u8>) -> Result<&'t [u8]> {
        Ok(self.as_ref())
    }
}

/// The ids of several texts, one after another, with the end of each.
#[derive(Debug, Default)]
pub struct FlatBatch {
    /// All ids.
    pub ids: Vec<TokenId>,
    /// Where each row ends in `ids`.
    pub ends: Vec<usize>,
}

/// As many threads as there are processors, for work that is handed out here. They are counted only where there is
/// text for more than one: that takes as long as encoding a hundred short texts.
pub const ALL_PROCESSORS: usize = usize::MAX;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many of `threads` are worth starting for so many bytes of text.
fn worth_starting(threads: usize, bytes: usize) -> usize {
    let most = bytes / BYTES_PER_THREAD + 1;
    if threads == ALL_PROCESSORS && most > 1 { processors().min(most) } else { threads.min(most) }
}

/// How many threads to use: the number asked for, or else all processors this process may use.
///
/// # Errors
/// [`Error::Argument`] for 0 or more than [`MAX_THREADS`].
pub fn thread_count(asked: Option<usize>) -> Result<usize> {
    match asked {
        None => Ok(processors()),
        Some(threads) if (1..=MAX_THREADS).contains(&threads) => Ok(threads),
        Some(threads) => {
            Err(Error::Argument(format!("threads must be between 1 and {MAX_THREADS}, not {threads}")))
        }
    }
}

/// Does `work` for every run of `items`, and hands each result to `take`, in order.
///
/// `size` is the length of an item in bytes. The calling thread works too, and is the only one that polls. A result is
/// used again for a later run once `take` has seen it, so that memory stays bounded by what is under way. On an error
/// no further run is begun, and of the errors met the one of the first run is returned.
fn in_order<I: Sync, T: Default + Send>(
    items: &[I],
    size: impl Fn(&I) -> usize,
    threads: usize,
    poll: Poll<'_>,
    work: impl Fn(&[I], usize, Poll<'_>, &mut T) -> Result<()> + Sync,
    take: impl FnMut(&mut T) + Send,
) -> Result<()> {
    let total: usize = items.iter().map(&size).sum();
    let threads = worth_starting(threads, total).min(items.len().max(1));
    let mut take = take;
    if threads == 1 {
        let mut result = T::default();
        work(items, 0, poll, &mut result)?;
        take(&mut result);
        return Ok(());
    }
    let mut runs = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (index, item) in items.iter().enumerate() {
        bytes += size(item);
        if bytes >= BYTES_PER_RUN.min(total / threads + 1) {
            runs.push(from..index + 1);
            (from, bytes) = (index + 1, 0);
        }
    }
    if from < items.len() {
        runs.push(from..items.len());
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let interrupted = AtomicBool::new(false);
    let done =
        Mutex::new(InOrder { next: 0, waiting: BTreeMap::new(), spare: Vec::new(), error: None, take });
    let worker = |poll: Poll<'_>| {
        // Runs are begun in order, so every run before a failed one is begun, and finished.
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(index) else { break };
            let mut result = lock(&done).spare.pop().unwrap_or_default();
            let outcome = work(&items[run.clone()], run.start, poll, &mut result);
            if let Err(error) = &outcome {
                failed.store(true, Ordering::Relaxed);
                interrupted.fetch_or(matches!(error, Error::Interrupted), Ordering::Relaxed);
            }
            lock(&done).add(index, result, outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let started = std::thread::Builder::new().spawn_scoped(scope, || {
                let _workspace = BorrowedWorkspace::adopt();
                // Only an interrupt of the calling thread ends a run early.
                let mut poll =
                    || if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
                worker(&mut poll);
            });
            // Where the system has no more threads, those there are do the work.
            if started.is_err() {
                break;
            }
        }
        worker(poll);
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.error.map_or(Ok(()), |(_, error)| Err(error))
}

/// Does `work` for every run of `items` and gives the results in order; see [`in_order`].
pub fn in_runs<I: Sync, T: Send>(
    items: &[I],
    size: impl Fn(&I) -> usize,
    threads: usize,
    poll: Poll<'_>,
    work: impl Fn(&[I], usize, Poll<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    let work = |run: &[I], first: usize, poll: Poll<'_>, result: &mut Option<T>| {
        *result = Some(work(run, first, poll)?);
        Ok(())
    };
    in_order(items, size, threads, poll, work, |result| all.extend(result.take()))?;
    Ok(all)
}

/// The results of runs, handed on in order.
struct InOrder<T, F> {
    next: usize,
    /// Results whose turn has not come.
    waiting: BTreeMap<usize, T>,
    /// Results that were handed on, to be filled again.
    spare: Vec<T>,
    /// The error of the earliest run that has one.
    error: Option<(usize, Error)>,
    take: F,
}

impl<T, F: FnMut(&mut T)> InOrder<T, F> {
    fn add(&mut self, index: usize, result: T, outcome: Result<()>) {
        if let Err(error) = outcome {
            if self.error.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                self.error = Some((index, error));
            }
            return;
        }
        self.waiting.insert(index, result);
        while let Some(mut result) = self.waiting.remove(&self.next) {
            (self.take)(&mut result);
            self.spare.push(result);
            self.next += 1;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tokenizer {
    /// The ids of every text, in `ids`, which is emptied first.
    ///
    /// # Errors
    /// As for one text, the message beginning with its index.
    pub fn encode_batch<T: BatchText>(
        &self,
        texts: &[T],
        policy: &SpecialPolicy,
        threads: usize,
        ids: Vec<TokenId>,
        poll: Poll<'_>,
    ) -> Result<FlatBatch> {
        let mut all = FlatBatch { ids, ends: Vec::with_capacity(texts.len()) };
        all.ids.clear();
        let total = texts.iter().map(T::size).sum();
        self.cache().expect(total);
        let encode = |run: &[T], first: usize, poll: Poll<'_>, batch: &mut FlatBatch| {
            with_text_buffer(|buffer| {
                for (index, text) in (first..).zip(run) {
                    text.read(buffer)
                        .and_then(|text| self.encode_into(text, policy, &mut batch.ids, poll))
                        .map_err(|error| error.in_item("text", index))?;
                    batch.ends.push(batch.ids.len());
                }
                Ok(())
            })
        };
        if worth_starting(threads, total) == 1 {
            encode(texts, 0, poll, &mut all)?;
        } else {
            in_order(texts, T::size, threads, poll, encode, |batch| all.append(batch))?;
        }
        Ok(all)
    }

    /// The number of ids of every text.
    pub fn count_batch<T: BatchText>(
        &self,
        texts: &[T],
        policy: &SpecialPolicy,
        threads: usize,
        poll: Poll<'_>,
    ) -> Result<Vec<usize>> {
        let mut all = Vec::with_capacity(texts.len());
        self.cache().expect(texts.iter().map(T::size).sum());
        let count = |run: &[T], first: usize, poll: Poll<'_>, counts: &mut Vec<usize>| {
            with_text_buffer(|buffer| {
                for (index, text) in (first..).zip(run) {
                    let count = text.read(buffer).and_then(|text| self.count(text, policy, poll));
                    counts.push(count.map_err(|error| error.in_item("text", index))?);
                }
                Ok(())
            })
        };
        in_order(texts, T::size, threads, poll, count, |counts| all.append(counts))?;
        Ok(all)
    }

    /// The bytes of every sequence of ids.
    pub fn decode_batch<T: AsRef<[TokenId]> + Sync>(
        &self,
        sequences: &[T],
        skip_special: bool,
        threads: usize,
        poll: Poll<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::with_capacity(sequences.len());
        let size = |ids: &T| ids.as_ref().len() * 4;
        let decode = |run: &[T], first: usize, poll: Poll<'_>, texts: &mut Vec<Vec<u8>>| {
            for (index, ids) in (first..).zip(run) {
                poll()?;
                let mut bytes = Vec::new();
                self.decode_into(ids.as_ref(), skip_special, &mut bytes)
                    .map_err(|error| error.in_item("sequence", index))?;
                texts.push(bytes);
            }
            Ok(())
        };
        in_order(sequences, size, threads, poll, decode, |texts| all.append(texts))?;
        Ok(all)
    }
}

impl FlatBatch {
    /// The same rows, each with `bos` before and `eos` after it.
    #[must_use]
    pub fn framed(self, bos: Option<TokenId>, eos: Option<TokenId>) -> Self {
        if bos.is_none() && eos.is_none() {
            return self;
        }
        let mut framed = Self {
            ids: Vec::with_capacity(self.ids.len() + 2 * self.ends.len()),
            ends: Vec::with_capacity(self.ends.len()),
        };
        let mut start = 0;
        for end in self.ends {
            framed.ids.extend(bos);
            framed.ids.extend_from_slice(&self.ids[start..end]);
            framed.ids.extend(eos);
            framed.ends.push(framed.ids.len());
            start = end;
        }
        framed
    }

    /// Moves the rows of `other` behind these.
    fn append(&mut self, other: &mut Self) {
        let base = self.ids.len();
        self.ends.extend(other.ends.drain(..).map(|end| base + end));
        self.ids.append(&mut other.ids);
    }
}
