//! Where the starts of patches go: positions, or lengths in the smallest type that holds them.

/// Takes the starts of patches, document by document, in ascending order.
pub(super) trait Sink {
    /// A document begins.
    fn begin(&mut self);
    /// Patches start at `base` plus each of `starts`.
    fn starts(&mut self, base: usize, starts: &[u32]);
    /// The document ends after `length` bytes.
    fn end(&mut self, length: usize);
    /// How many patches there are.
    fn len(&self) -> usize;
    /// Adds what another sink took, as what came later.
    fn append(&mut self, later: Self);
}

/// Positions in a document: of 32 bits, or of 64 where documents have 4 GiB or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Of documents below 4 GiB.
    Narrow(Vec<u32>),
    /// Of longer ones.
    Wide(Vec<i64>),
}

impl Starts {
    /// No positions yet, for documents of up to `length` bytes.
    pub(super) fn for_length(length: usize) -> Self {
        if u32::try_from(length).is_ok() { Self::Narrow(Vec::new()) } else { Self::Wide(Vec::new()) }
    }
}

impl Sink for Starts {
    fn begin(&mut self) {}

    fn starts(&mut self, base: usize, starts: &[u32]) {
        match self {
            Self::Narrow(all) => all.extend(starts.iter().map(|start| base as u32 + start)),
            Self::Wide(all) => {
                all.extend(starts.iter().map(|&start| base.cast_signed() as i64 + i64::from(start)));
            }
        }
    }

    fn end(&mut self, _length: usize) {}

    fn len(&self) -> usize {
        match self {
            Self::Narrow(all) => all.len(),
            Self::Wide(all) => all.len(),
        }
    }

    fn append(&mut self, later: Self) {
        match (self, later) {
            (Self::Narrow(all), Self::Narrow(later)) => all.extend(later),
            (Self::Wide(all), Self::Wide(later)) => all.extend(later),
            // Both were made for the same length.
            (Self::Narrow(_), Self::Wide(_)) | (Self::Wide(_), Self::Narrow(_)) => {}
        }
    }
}

/// Lengths of patches in the smallest type that holds them all.
#[derive(Clone, Debug)]
pub struct Lengths {
    kept: Kept,
    /// Where the patch that is not yet noted starts, if there is one.
    open: Option<usize>,
    scratch: Vec<u32>,
}

/// The lengths themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// All below 2^8.
    U8(Vec<u8>),
    /// All below 2^16.
    U16(Vec<u16>),
    /// All below 2^32.
    U32(Vec<u32>),
    /// All others.
    U64(Vec<u64>),
}

impl Default for Lengths {
    fn default() -> Self {
        Self { kept: Kept::U8(Vec::new()), open: None, scratch: Vec::new() }
    }
}

impl Kept {
    /// Brings the type to one that holds `longest`.
    fn widen(&mut self, longest: u64) {
        let wanted = Self::rank(longest);
        loop {
            *self = match self {
                Self::U8(all) if wanted > 0 => Self::U16(all.iter().map(|&length| length.into()).collect()),
                Self::U16(all) if wanted > 1 => Self::U32(all.iter().map(|&length| length.into()).collect()),
                Self::U32(all) if wanted > 2 => Self::U64(all.iter().map(|&length| length.into()).collect()),
                _ => return,
            }
        }
    }

    fn rank(longest: u64) -> u8 {
        match longest {
            0..0x100 => 0,
            0x100..0x1_0000 => 1,
            0x1_0000..0x1_0000_0000 => 2,
            _ => 3,
        }
    }

    fn extend(&mut self, lengths: &[u32]) {
        match self {
            Self::U8(all) => all.extend(lengths.iter().map(|&length| length as u8)),
            Self::U16(all) => all.extend(lengths.iter().map(|&length| length as u16)),
            Self::U32(all) => all.extend_from_slice(lengths),
            Self::U64(all) => all.extend(lengths.iter().map(|&length| u64::from(length))),
        }
    }

    fn push(&mut self, length: u64) {
        self.widen(length);
        match self {
            Self::U8(all) => all.push(length as u8),
            Self::U16(all) => all.push(length as u16),
            Self::U32(all) => all.push(length as u32),
            Self::U64(all) => all.push(length),
        }
    }
}

impl Lengths {
    #[cfg(test)]
    pub(super) fn kept_ref(&self) -> &Kept {
        &self.kept
    }

    /// The lengths in the type that holds them.
    pub fn into_kept(self) -> Kept {
        self.kept
    }
}

impl Sink for Lengths {
    fn begin(&mut self) {
        self.open = None;
    }

    fn starts(&mut self, base: usize, starts: &[u32]) {
        let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else { return };
        if let Some(open) = self.open.replace(base + last as usize) {
            self.kept.push((base + first as usize - open) as u64);
        }
        let mut longest = 0;
        self.scratch.clear();
        self.scratch.extend(starts.windows(2).map(|pair| {
            let length = pair[1] - pair[0];
            longest = longest.max(length);
            length
        }));
        self.kept.widen(longest.into());
        self.kept.extend(&self.scratch);
    }

    fn end(&mut self, length: usize) {
        if let Some(open) = self.open.take() {
            self.kept.push((length - open) as u64);
        }
    }

    fn len(&self) -> usize {
        match &self.kept {
            Kept::U8(all) => all.len(),
            Kept::U16(all) => all.len(),
            Kept::U32(all) => all.len(),
            Kept::U64(all) => all.len(),
        }
    }

    fn append(&mut self, mut later: Self) {
        loop {
            match (&mut self.kept, &mut later.kept) {
                (Kept::U8(all), Kept::U8(later)) => return all.append(later),
                (Kept::U16(all), Kept::U16(later)) => return all.append(later),
                (Kept::U32(all), Kept::U32(later)) => return all.append(later),
                (Kept::U64(all), Kept::U64(later)) => return all.append(later),
                (a, b) => {
                    // The narrower one goes up to the other.
                    let least = a.least().max(b.least());
                    a.widen(least);
                    b.widen(least);
                }
            }
        }
    }
}

impl Kept {
    /// The smallest length that needs this type.
    fn least(&self) -> u64 {
        match self {
            Self::U8(_) => 0,
            Self::U16(_) => 1 << 8,
            Self::U32(_) => 1 << 16,
            Self::U64(_) => 1 << 32,
        }
    }
}

/// Cuts patches that are too long.
#[derive(Debug)]
pub(super) struct Limiter {
    longest: usize,
    /// Where the present patch starts.
    last: usize,
    limited: Vec<u32>,
}

impl Limiter {
    pub(super) fn new(longest: usize) -> Self {
        Self { longest, last: 0, limited: Vec::new() }
    }

    /// The starts in the block `from..to`, relative to it as `starts` are, with those that the limit adds.
    pub(super) fn limit(&mut self, from: usize, to: usize, starts: &[u32]) -> &[u32] {
        self.limited.clear();
        for &start in starts {
            self.fill(from, from + start as usize);
            self.last = from + start as usize;
            self.limited.push(start);
        }
        self.fill(from, to);
        &self.limited
    }

    /// Adds starts before `end`, so that the present patch is not too long if the next starts there.
    fn fill(&mut self, from: usize, end: usize) {
        while end - self.last > self.longest {
            self.last += self.longest;
            self.limited.push((self.last - from) as u32);
        }
    }
}
