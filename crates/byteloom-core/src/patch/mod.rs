//! Cutting bytes into patches: where the next byte is hard to foresee, after spaces, or at equal distances.
//!
//! Whether a byte starts a patch depends on a few bytes before it alone. So blocks of a text, and texts of a batch,
//! are marked independently of each other, and a stream gives the same patches as a whole text.

mod rule;
mod sink;
mod stream;

#[cfg(test)]
mod tests;

use crate::entropy::{ByteSet, EntropyModel};
use crate::error::{Error, Result};
use crate::parallel::in_runs;
use crate::tokenizer::Poll;
use rule::{BLOCK, EntropyRule, Marks, Rule};
pub use sink::{Kept, Lengths, Starts};
use sink::{Limiter, Sink};
pub use stream::PatchStream;

/// Blocks between two looks for a reason to stop.
const BLOCKS_PER_LOOK: usize = 16;

/// Cuts bytes into patches. It never changes: a model that is trained on does not change its patchers.
#[derive(Clone, Debug)]
pub struct Patcher {
    rule: Rule,
    /// No patch is longer.
    longest: Option<usize>,
}

/// Where an entropy patcher cuts.
#[derive(Clone, Debug, Default)]
pub struct EntropyCuts {
    /// A byte starts a patch if its entropy in bits is above this.
    pub theta: Option<f64>,
    /// A byte starts a patch if its entropy is more than this above that of the byte before. With `theta`, both must
    /// hold.
    pub rise: Option<f64>,
    /// A byte behind one of these is as the first byte of a document: it is predicted without context, and starts a
    /// patch.
    pub reset_on: Option<ByteSet>,
}

impl Patcher {
    /// A patcher that asks `model`. The first byte of a text always starts a patch.
    ///
    /// # Errors
    /// [`Error::Patching`] for a threshold that is no number, or where there is none.
    pub fn entropy(
        model: &EntropyModel,
        cuts: EntropyCuts,
        max_patch_length: Option<usize>,
        poll: Poll<'_>,
    ) -> Result<Self> {
        let rule = Rule::Entropy(Box::new(EntropyRule::new(model, cuts, poll)?));
        Ok(Self { rule, longest: longest(max_patch_length)? })
    }

    /// A patcher after the rule of SpaceByte: a patch starts behind a byte that is like a space and does not follow
    /// one. Like spaces are all bytes but ASCII letters and digits and the later bytes of a UTF-8 character.
    pub fn space(max_patch_length: Option<usize>) -> Result<Self> {
        Ok(Self { rule: Rule::Space, longest: longest(max_patch_length)? })
    }

    /// Patches of `size` bytes, the last one of what is left.
    pub fn fixed(size: usize) -> Result<Self> {
        if size == 0 {
            return Err(Error::Patching("the size of patches must be 1 or more, not 0".into()));
        }
        Ok(Self { rule: Rule::Whole, longest: Some(size) })
    }

    /// The model that an entropy patcher asks, and where it cuts.
    pub fn entropy_rule(&self) -> Option<(&EntropyModel, &EntropyCuts)> {
        match &self.rule {
            Rule::Entropy(rule) => Some((&rule.model, &rule.cuts)),
            _ => None,
        }
    }

    /// Whether this is the rule of SpaceByte.
    pub fn is_space(&self) -> bool {
        matches!(self.rule, Rule::Space)
    }

    /// The longest patch there can be.
    pub fn max_patch_length(&self) -> Option<usize> {
        self.longest
    }

    /// Where the patches of `text` start: ascending, 0 first. They go into `room`, which is emptied first, unless the
    /// text has 4 GiB or more.
    pub fn boundaries(&self, text: &[u8], room: Vec<u32>, poll: Poll<'_>) -> Result<Starts> {
        let mut starts = Starts::for_length(text.len());
        if let Starts::Narrow(narrow) = &mut starts {
            *narrow = room;
            narrow.clear();
        }
        self.cut(text, &mut starts, poll)?;
        Ok(starts)
    }

    /// How long the patches of `text` are: their sum is the length of `text`.
    pub fn lengths(&self, text: &[u8], poll: Poll<'_>) -> Result<Lengths> {
        let mut lengths = Lengths::default();
        self.cut(text, &mut lengths, poll)?;
        Ok(lengths)
    }

    /// [`Self::boundaries`] of every text, one after another, and where each text's end.
    pub fn batch_boundaries<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        threads: usize,
        poll: Poll<'_>,
    ) -> Result<(Starts, Vec<usize>)> {
        let longest = texts.iter().map(|text| text.as_ref().len()).max().unwrap_or(0);
        self.batch(texts, threads, poll, || Starts::for_length(longest))
    }

    /// [`Self::lengths`] of every text, one after another, and where each text's end.
    pub fn batch_lengths<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        threads: usize,
        poll: Poll<'_>,
    ) -> Result<(Lengths, Vec<usize>)> {
        self.batch(texts, threads, poll, Lengths::default)
    }

    fn batch<T: AsRef<[u8]> + Sync, S: Sink + Send>(
        &self,
        texts: &[T],
        threads: usize,
        poll: Poll<'_>,
        make: impl Fn() -> S + Sync,
    ) -> Result<(S, Vec<usize>)> {
        let size = |text: &T| text.as_ref().len();
        let runs = in_runs(texts, size, threads, poll, |run, _, poll| {
            let (mut sink, mut ends) = (make(), Vec::with_capacity(run.len()));
            for text in run {
                self.cut(text.as_ref(), &mut sink, poll)?;
                ends.push(sink.len());
            }
            Ok((sink, ends))
        })?;
        let mut runs = runs.into_iter();
        let Some((mut all, mut ends)) = runs.next() else { return Ok((make(), Vec::new())) };
        for (sink, more) in runs {
            let base = all.len();
            ends.extend(more.into_iter().map(|end| base + end));
            all.append(sink);
        }
        Ok((all, ends))
    }

    /// Hands the patches of one document to `sink`.
    fn cut(&self, text: &[u8], sink: &mut impl Sink, poll: Poll<'_>) -> Result<()> {
        let mut marks = Marks::new();
        let mut limiter = self.longest.map(Limiter::new);
        sink.begin();
        for (block, from) in (0..text.len()).step_by(BLOCK).enumerate() {
            if block % BLOCKS_PER_LOOK == 0 {
                poll()?;
            }
            let to = text.len().min(from + BLOCK);
            self.rule.mark(text, from, to, &mut marks);
            match &mut limiter {
                None => sink.starts(from, marks.starts()),
                Some(limiter) => sink.starts(from, limiter.limit(from, to, marks.starts())),
            }
        }
        sink.end(text.len());
        Ok(())
    }

    /// A stream for a document that comes in pieces.
    pub fn stream(&self) -> PatchStream {
        PatchStream::new(self.clone())
    }
}

fn longest(max_patch_length: Option<usize>) -> Result<Option<usize>> {
    if max_patch_length == Some(0) {
        return Err(Error::Patching("max_patch_length must be 1 or more, not 0".into()));
    }
    Ok(max_patch_length)
}

/// Cuts patches that start at `starts` in a text of `length` bytes and are longer than `longest`.
///
/// # Errors
/// [`Error::Patching`] where `starts` do not ascend from 0 to below `length`.
pub fn limit_starts(starts: &[u64], length: usize, max_patch_length: Option<usize>) -> Result<Starts> {
    let mut limited = Starts::for_length(length);
    cut_at(starts, length, longest(max_patch_length)?, &mut limited)?;
    Ok(limited)
}

/// The lengths of patches that start at `starts` in a text of `length` bytes.
///
/// # Errors
/// [`Error::Patching`] where `starts` do not ascend from 0 to below `length`.
pub fn lengths_from_starts(starts: &[u64], length: usize) -> Result<Lengths> {
    let mut lengths = Lengths::default();
    cut_at(starts, length, None, &mut lengths)?;
    Ok(lengths)
}

fn cut_at(mut starts: &[u64], length: usize, longest: Option<usize>, sink: &mut impl Sink) -> Result<()> {
    check_starts(starts, length)?;
    let mut limiter = longest.map(Limiter::new);
    let mut relative = Vec::new();
    sink.begin();
    for from in (0..length).step_by(BLOCK) {
        let to = length.min(from + BLOCK);
        let here = starts.partition_point(|&start| start < to as u64);
        relative.clear();
        relative.extend(starts[..here].iter().map(|&start| (start - from as u64) as u32));
        starts = &starts[here..];
        match &mut limiter {
            None => sink.starts(from, &relative),
            Some(limiter) => sink.starts(from, limiter.limit(from, to, &relative)),
        }
    }
    sink.end(length);
    Ok(())
}

fn check_starts(starts: &[u64], length: usize) -> Result<()> {
    match starts.first() {
        Some(0) => {}
        None if length == 0 => {}
        None => return Err(Error::Patching(format!("{length} bytes need a patch, but there is no start"))),
        Some(first) => {
            return Err(Error::Patching(format!("the first patch must start at 0, not at {first}")));
        }
    }
    if let Some(index) = starts.windows(2).position(|pair| pair[0] >= pair[1]) {
        let (before, start) = (starts[index], starts[index + 1]);
        return Err(Error::Patching(format!(
            "starts must ascend, but starts[{}] is {start} after {before}",
            index + 1
        )));
    }
    match starts.last() {
        Some(&last) if last >= length as u64 => {
            Err(Error::Patching(format!("a patch starts at {last}, beyond the last of {length} bytes")))
        }
        _ => Ok(()),
    }
}
