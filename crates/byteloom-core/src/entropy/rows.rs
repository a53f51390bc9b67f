//! The counts under each context, for probabilities of single bytes.

/// Which bytes followed each context of a level, and how often.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Where the row of each context ends.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    counts: Counts,
}

/// Counts of 32 bits, which nearly all are, or of 64.
#[derive(Debug)]
enum Counts {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Default for Counts {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Counts {
    #[inline]
    fn get(&self, index: usize) -> u64 {
        match self {
            Self::Narrow(counts) => counts[index].into(),
            Self::Wide(counts) => counts[index],
        }
    }

    #[inline]
    fn push(&mut self, count: u64) {
        match self {
            Self::Wide(counts) => counts.push(count),
            Self::Narrow(counts) => match u32::try_from(count) {
                Ok(count) => counts.push(count),
                Err(_) => {
                    *self = Self::Wide(counts.iter().map(|&count| count.into()).chain([count]).collect());
                }
            },
        }
    }
}

/// What followed one context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'r> {
    /// Ascending.
    pub(super) bytes: &'r [u8],
    counts: &'r Counts,
    /// Where the counts begin.
    start: usize,
    /// The sum of the counts.
    pub(super) total: u64,
}

impl Rows {
    pub(super) fn with_capacity(contexts: usize, entries: usize) -> Self {
        Self {
            ends: Vec::with_capacity(contexts),
            bytes: Vec::with_capacity(entries),
            counts: Counts::Narrow(Vec::with_capacity(entries)),
        }
    }

    /// Adds to the row that is being written.
    #[inline]
    pub(super) fn push(&mut self, byte: u8, count: u64) {
        self.bytes.push(byte);
        self.counts.push(count);
    }

    /// Ends the row that is being written.
    #[inline]
    pub(super) fn end(&mut self) {
        self.ends.push(self.bytes.len() as u32);
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Row<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        let end = self.ends[index] as usize;
        let total = match &self.counts {
            Counts::Narrow(counts) => counts[start..end].iter().map(|&count| u64::from(count)).sum(),
            Counts::Wide(counts) => counts[start..end].iter().sum(),
        };
        Row { bytes: &self.bytes[start..end], counts: &self.counts, start, total }
    }

    /// What the rows take in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let counts = match &self.counts {
            Counts::Narrow(counts) => size_of_val(counts.as_slice()),
            Counts::Wide(counts) => size_of_val(counts.as_slice()),
        };
        size_of_val(self.ends.as_slice()) + self.bytes.len() + counts
    }
}

impl<'r> Row<'r> {
    /// How often `byte` followed.
    #[inline]
    pub(super) fn count(&self, byte: u8) -> u64 {
        self.bytes.binary_search(&byte).map_or(0, |place| self.counts.get(self.start + place))
    }

    /// The bytes that followed, ascending, each with its count.
    #[inline]
    pub(super) fn pairs(self) -> impl Iterator<Item = (u8, u64)> + 'r {
        (self.start..).zip(self.bytes).map(move |(place, &byte)| (byte, self.counts.get(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_more_than_32_bits_fit_too() {
        let mut rows = Rows::with_capacity(2, 3);
        rows.push(1, 7);
        rows.end();
        rows.push(0, 5);
        rows.push(255, 1 << 40);
        rows.end();
        assert_eq!(rows.get(0).pairs().collect::<Vec<_>>(), [(1, 7)]);
        let row = rows.get(1);
        assert_eq!(row.pairs().collect::<Vec<_>>(), [(0, 5), (255, 1 << 40)]);
        assert_eq!((row.total, row.count(255), row.count(1)), ((1 << 40) + 5, 1 << 40, 0));
        assert_eq!(rows.len(), 2);
    }
}
