//! Characters in bytes that may not be valid UTF-8.
//!
//! A *unit* is a well-formed character, or one byte that is part of none. Offsets in characters count units, which
//! is how Python's `surrogateescape` handler counts.

/// The scalar value (U+FFFD for an invalid byte) and the length of the unit at `at`; a length of 0 at the end.
#[inline]
pub fn scalar(text: &[u8], at: usize) -> (u32, usize) {
    const INVALID: (u32, usize) = (0xFFFD, 1);
    let tail = |byte: u8| u32::from(byte & 0x3F);
    match *text.get(at..).unwrap_or_default() {
        [] => (0xFFFD, 0),
        [a @ 0..0x80, ..] => (u32::from(a), 1),
        [a @ 0xC2..=0xDF, b @ 0x80..=0xBF, ..] => (u32::from(a & 0x1F) << 6 | tail(b), 2),
        [a @ 0xE0..=0xEF, b @ 0x80..=0xBF, c @ 0x80..=0xBF, ..] => {
            let scalar = u32::from(a & 0x0F) << 12 | tail(b) << 6 | tail(c);
            if scalar < 0x800 || (0xD800..0xE000).contains(&scalar) { INVALID } else { (scalar, 3) }
        }
        [a @ 0xF0..=0xF4, b @ 0x80..=0xBF, c @ 0x80..=0xBF, d @ 0x80..=0xBF, ..] => {
            let scalar = u32::from(a & 0x07) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d);
            if (0x10000..0x11_0000).contains(&scalar) { (scalar, 4) } else { INVALID }
        }
        _ => INVALID,
    }
}

/// The length in bytes of the unit at the start of `bytes`; 0 for none.
#[inline]
pub fn unit_len(bytes: &[u8]) -> usize {
    scalar(bytes, 0).1
}

/// The largest cut at or below `at` that does not split a unit of `text`.
pub fn floor_boundary(text: &[u8], at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    for back in 1..=3.min(at) {
        let start = at - back;
        if text[start] & 0xC0 != 0x80 {
            return if start + unit_len(&text[start..]) > at { start } else { at };
        }
    }
    at
}

/// Turns ascending byte offsets of one text into offsets in units.
#[derive(Debug)]
pub struct UnitIndex<'t> {
    text: &'t [u8],
    cursor: UnitCursor,
}

impl<'t> UnitIndex<'t> {
    /// An index over `text`.
    pub fn new(text: &'t [u8]) -> Self {
        Self { text, cursor: UnitCursor::default() }
    }

    /// The number of units that end at or before byte `at`; `at` never falls from one call to the next.
    pub fn floor(&mut self, at: usize) -> usize {
        self.cursor.floor(self.text, at)
    }

    /// The number of units that begin before byte `at`; may be mixed with [`Self::floor`].
    pub fn ceil(&mut self, at: usize) -> usize {
        self.cursor.ceil(self.text, at)
    }
}

/// [`UnitIndex`] for who cannot hold on to the text; it must be the same one at every call.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnitCursor {
    byte: usize,
    unit: usize,
}

impl UnitCursor {
    /// As [`UnitIndex::floor`].
    pub fn floor(&mut self, text: &[u8], at: usize) -> usize {
        while self.byte < at {
            let next = self.byte + unit_len(&text[self.byte..]);
            if next > at {
                break;
            }
            self.byte = next;
            self.unit += 1;
        }
        self.unit
    }

    /// As [`UnitIndex::ceil`].
    pub fn ceil(&mut self, text: &[u8], at: usize) -> usize {
        let floor = self.floor(text, at);
        floor + usize::from(self.byte < at)
    }
}

/// Appends `bytes` to `text`, with U+FFFD for each maximal ill-formed part; what may still become a character is
/// left, and its length returned.
pub fn push_lossy(bytes: &[u8], text: &mut String) -> usize {
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return 0;
            }
            Err(error) => {
                let (valid, after) = rest.split_at(error.valid_up_to());
                text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                let Some(bad) = error.error_len() else { return after.len() };
                text.push(char::REPLACEMENT_CHARACTER);
                rest = &after[bad..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_damaged_text() {
        let text = b"a\xc3\xa9\xff\xe2\x82\xf0\x9f\x91\x8d";
        let mut starts = vec![];
        let mut at = 0;
        while at < text.len() {
            starts.push(at);
            at += unit_len(&text[at..]);
        }
        assert_eq!(starts, [0, 1, 3, 4, 5, 6]);
        for at in 0..=text.len() {
            let expected =
                starts.iter().copied().chain([text.len()]).filter(|&start| start <= at).max().unwrap();
            assert_eq!(floor_boundary(text, at), expected, "at {at}");
        }
    }

    #[test]
    fn ill_formed_parts_are_replaced_as_cpython_does() {
        for (bytes, expected) in [
            (&b"\xf0\x9f\x91!"[..], "\u{fffd}!"),
            (b"\xe0\x80A", "\u{fffd}\u{fffd}A"),
            (b"\xc0\xaf", "\u{fffd}\u{fffd}"),
            (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xf4\x90\x80\x80", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
        ] {
            let mut text = String::new();
            assert_eq!(push_lossy(bytes, &mut text), 0);
            assert_eq!(text, expected);
        }
        let mut text = String::new();
        assert_eq!(push_lossy(b"a\xe2\x82", &mut text), 2);
        assert_eq!(text, "a");
    }
}
