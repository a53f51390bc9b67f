//! Many texts at once, on as many threads as asked for.
//!
//! Threads are started for a call and end with it: there is no pool that a forked child could wait for. Work is
//! handed out in order, in runs of texts, so results and the first error do not depend on the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::token::TokenId;
use crate::tokenizer::{Poll, SpecialPolicy, Tokenizer};

/// A thread is worth starting for about this much text.
const BYTES_PER_THREAD: usize = 1 << 16;
/// Work is handed out in runs of about this much text.
const BYTES_PER_RUN: usize = 1 << 18;
/// The most threads a caller may ask for.
pub const MAX_THREADS: usize = 1024;

/// The ids of several texts, one after another, with the end of each.
#[derive(Debug, Default)]
pub struct FlatBatch {
    /// All ids.
    pub ids: Vec<TokenId>,
    /// Where each row ends in `ids`.
    pub ends: Vec<usize>,
}

/// How many threads to use: the number asked for, or else all processors this process may use.
///
/// # Errors
/// [`Error::Argument`] for 0 or more than [`MAX_THREADS`].
pub fn thread_count(asked: Option<usize>) -> Result<usize> {
    match asked {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(threads) if (1..=MAX_THREADS).contains(&threads) => Ok(threads),
        Some(threads) => {
            Err(Error::Argument(format!("threads must be between 1 and {MAX_THREADS}, not {threads}")))
        }
    }
}

/// Does `work` for every run of `items` and gives the results in order.
///
/// `size` is the length of an item in bytes. The calling thread works too, and is the only one that polls. On an
/// error no further run is begun, and of the errors met the one of the first run is returned.
pub fn in_runs<I: Sync, T: Send>(
    items: &[I],
    size: impl Fn(&I) -> usize,
    threads: usize,
    poll: Poll<'_>,
    work: impl Fn(&[I], usize, Poll<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let total: usize = items.iter().map(&size).sum();
    let threads = threads.min(total / BYTES_PER_THREAD + 1).min(items.len().max(1));
    if threads == 1 {
        return Ok(vec![work(items, 0, poll)?]);
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
    let results: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::with_capacity(runs.len()));
    let worker = |poll: Poll<'_>| {
        // Runs are begun in order, so every run before a failed one is begun, and finished.
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(index) else { break };
            let result = work(&items[run.clone()], run.start, poll);
            if let Err(error) = &result {
                failed.store(true, Ordering::Relaxed);
                interrupted.fetch_or(matches!(error, Error::Interrupted), Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                // Only an interrupt of the calling thread ends a run early.
                let mut poll =
                    || if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
                worker(&mut poll);
            });
        }
        worker(poll);
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

impl Tokenizer {
    /// The ids of every text.
    ///
    /// # Errors
    /// As for one text, the message beginning with its index.
    pub fn encode_batch<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        policy: &SpecialPolicy,
        threads: usize,
        poll: Poll<'_>,
    ) -> Result<FlatBatch> {
        let size = |text: &T| text.as_ref().len();
        let batches = in_runs(texts, size, threads, poll, |run, first, poll| {
            let mut batch = FlatBatch { ids: Vec::new(), ends: Vec::with_capacity(run.len()) };
            for (index, text) in (first..).zip(run) {
                self.encode_into(text.as_ref(), policy, &mut batch.ids, poll)
                    .map_err(|error| error.in_item("text", index))?;
                batch.ends.push(batch.ids.len());
            }
            Ok(batch)
        })?;
        Ok(FlatBatch::join(batches))
    }

    /// The number of ids of every text.
    pub fn count_batch<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        policy: &SpecialPolicy,
        threads: usize,
        poll: Poll<'_>,
    ) -> Result<Vec<usize>> {
        let size = |text: &T| text.as_ref().len();
        let counts = in_runs(texts, size, threads, poll, |run, first, poll| {
            (first..)
                .zip(run)
                .map(|(index, text)| {
                    self.count(text.as_ref(), policy, poll).map_err(|error| error.in_item("text", index))
                })
                .collect::<Result<Vec<usize>>>()
        })?;
        Ok(counts.concat())
    }

    /// The bytes of every sequence of ids.
    pub fn decode_batch<T: AsRef<[TokenId]> + Sync>(
        &self,
        sequences: &[T],
        skip_special: bool,
        threads: usize,
        poll: Poll<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        let size = |ids: &T| ids.as_ref().len() * 4;
        let texts = in_runs(sequences, size, threads, poll, |run, first, poll| {
            (first..)
                .zip(run)
                .map(|(index, ids)| {
                    poll()?;
                    let mut bytes = Vec::new();
                    self.decode_into(ids.as_ref(), skip_special, &mut bytes)
                        .map_err(|error| error.in_item("sequence", index))?;
                    Ok(bytes)
                })
                .collect::<Result<Vec<Vec<u8>>>>()
        })?;
        Ok(texts.into_iter().flatten().collect())
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

    fn join(mut batches: Vec<Self>) -> Self {
        if batches.len() == 1 {
            return batches.pop().unwrap_or_default();
        }
        let mut all = Self {
            ids: Vec::with_capacity(batches.iter().map(|batch| batch.ids.len()).sum()),
            ends: Vec::with_capacity(batches.iter().map(|batch| batch.ends.len()).sum()),
        };
        for batch in batches {
            let base = all.ids.len();
            all.ends.extend(batch.ends.iter().map(|end| base + end));
            all.ids.extend_from_slice(&batch.ids);
        }
        all
    }
}
