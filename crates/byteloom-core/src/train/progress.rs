//! What a running training tells its caller, and how the caller stops it.

use std::time::{Duration, Instant};

use crate::error::Result;

/// The stages of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Text is cut into pre-tokens, which are counted. Measured in bytes of text.
    Count,
    /// Counts are sorted, joined or written. Measured in distinct pre-tokens.
    Sort,
    /// Merges are learned. Measured in merges.
    Merge,
}

impl Stage {
    /// The name of the stage in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sort => "sort",
            Self::Merge => "merge",
        }
    }
}

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is going on.
    pub stage: Stage,
    /// Bytes counted, or merges learned.
    pub done: u64,
    /// What `done` will be at the end of the stage, where that is known.
    pub total: Option<u64>,
}

/// Called several times a second from the thread that asked for the work; an error stops it and is handed through.
pub type Hook<'h> = dyn FnMut(&Progress) -> Result<()> + 'h;

/// The shortest time between two calls of the hook. None in tests, which count calls.
const INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 50 });
/// Units of work (pre-tokens, cells, occurrences) between two looks at the clock: well under a millisecond.
const WORK_PER_LOOK: usize = 1 << 14;

/// Calls a hook often enough to be answered at once, and rarely enough to cost nothing.
pub(crate) struct Pacer<'h> {
    hook: &'h mut Hook<'h>,
    last: Instant,
    work: usize,
}

impl<'h> Pacer<'h> {
    pub(crate) fn new(hook: &'h mut Hook<'h>) -> Self {
        Self { hook, last: Instant::now(), work: 0 }
    }

    /// Notes `work` units done; calls the hook if it is time.
    pub(crate) fn spend(&mut self, work: usize, progress: impl FnOnce() -> Progress) -> Result<()> {
        self.work += work;
        if self.work < WORK_PER_LOOK {
            return Ok(());
        }
        self.work = 0;
        if self.last.elapsed() < INTERVAL {
            return Ok(());
        }
        self.call(progress())
    }

    /// Looks at the clock now; for places that do not come by often.
    pub(crate) fn look(&mut self, progress: impl FnOnce() -> Progress) -> Result<()> {
        self.spend(WORK_PER_LOOK, progress)
    }

    /// Calls the hook now: at the ends of a stage.
    pub(crate) fn call(&mut self, progress: Progress) -> Result<()> {
        self.last = Instant::now();
        (self.hook)(&progress)
    }
}
