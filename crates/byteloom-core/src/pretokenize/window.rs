//! A stretch of pre-tokens.

/// How much text a [`Window`] spans at most; only one long pre-token makes it longer.
pub const WINDOW_BYTES: usize = 16 << 10;

/// A stretch of a text, cut into pre-tokens.
#[derive(Debug, Default)]
pub struct Window {
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends; never inside a pre-token.
    pub end: usize,
    /// Where each of its pre-tokens ends, counted from `start`. Empty where the window is one pre-token too long for
    /// `u32`.
    pub ends: Vec<u32>,
}

impl Window {
    /// Makes it an empty one at `start`.
    pub(super) fn begin(&mut self, start: usize) {
        (self.start, self.end) = (start, start);
        self.ends.clear();
    }

    /// Takes the pre-token that ends at `end`, or says false where the window is full. The first always fits.
    #[inline]
    pub(super) fn take(&mut self, end: usize) -> bool {
        let length = end - self.start;
        if length > WINDOW_BYTES {
            if self.end > self.start {
                return false;
            }
            self.end = end;
            self.ends.extend(u32::try_from(length).ok());
            return true;
        }
        self.end = end;
        self.ends.push(length as u32);
        true
    }
}
