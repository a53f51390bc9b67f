//! A block of 64 bytes as sets of bytes: one bit a byte, the first byte the lowest bit.

/// The bytes of a block.
pub(super) const BLOCK_BYTES: usize = 64;
/// Stands for the bytes behind the end of a text: white space to every pattern, so that white space before the end
/// is not followed by a word. It is neither U+0020 nor a newline.
pub(super) const END_BYTE: u8 = 0x0B;

/// Which bytes of a block belong to which class. A scheme fills those it asks for; the others stay 0.
///
/// A character of several bytes has all of them in its class, so that neighbouring bytes are of one class exactly
/// where the characters are. `inner` tells characters apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// What makes words: letters, of o200k marks too, of the courses' patterns `\w`.
    pub(super) letter: u64,
    pub(super) number: u64,
    pub(super) space: u64,
    /// U+0020.
    pub(super) blank: u64,
    /// `\r` and `\n`.
    pub(super) newline: u64,
    /// The apostrophe.
    pub(super) quote: u64,
    /// The one more ASCII character that a scheme asks for.
    pub(super) extra: u64,
    /// Letters that o200k allows at the start of a word only, and at its end only.
    pub(super) upper: u64,
    pub(super) lower: u64,
    /// Combining marks: in `letter` too.
    pub(super) mark: u64,
    /// All bytes of a character but the first. Until it is painted: the bytes that are not ASCII.
    pub(super) inner: u64,
}

/// Which ASCII characters make words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    None,
    /// `[A-Za-z]`
    Any,
    /// The same, and in `upper` and `lower`.
    Cased,
    /// `[A-Za-z0-9_]`
    Word,
}

/// Which ASCII characters are white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spaces {
    None,
    /// U+0009 to U+000D and U+0020.
    Regex,
    /// U+001C to U+001F too.
    Python,
}

/// The ASCII classes that a scheme asks for.
#[expect(clippy::struct_excessive_bools, reason = "each is a class that is asked for or not")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Ascii {
    pub(super) letters: Letters,
    pub(super) numbers: bool,
    pub(super) spaces: Spaces,
    pub(super) blank: bool,
    pub(super) newline: bool,
    pub(super) quote: bool,
    pub(super) extra: Option<u8>,
}

impl Ascii {
    pub(super) const NONE: Self = Self {
        letters: Letters::None,
        numbers: false,
        spaces: Spaces::None,
        blank: false,
        newline: false,
        quote: false,
        extra: None,
    };
}

/// The classes of a scheme.
pub(super) trait Classes {
    const ASCII: Ascii;
    /// Whether characters beyond ASCII are in any.
    const BEYOND_ASCII: bool = true;

    /// Adds the bytes of a character beyond ASCII to its classes; `flags` are those of `unicode.rs`.
    fn paint(masks: &mut Masks, bytes: u64, flags: u8);
}

/// `bytes` where `flags` has one of `wanted`, else nothing; without a branch.
#[inline(always)]
pub(super) fn where_any(bytes: u64, flags: u8, wanted: u8) -> u64 {
    if flags & wanted != 0 { bytes } else { 0 }
}

// Where each class is in a number of the table.
const LETTER: u32 = 0;
const LOWER: u32 = 1;
const NUMBER: u32 = 2;
const SPACE: u32 = 3;
const BLANK: u32 = 4;
const NEWLINE: u32 = 5;
const QUOTE: u32 = 6;
const EXTRA: u32 = 7;

/// For each byte, a byte for each class, which is 1 where it is in.
const fn class_table(ascii: Ascii) -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        let letter = match ascii.letters {
            Letters::None => false,
            Letters::Any => c.is_ascii_alphabetic(),
            Letters::Cased => c.is_ascii_uppercase(),
            Letters::Word => c.is_ascii_alphanumeric() || c == b'_',
        };
        let lower = matches!(ascii.letters, Letters::Cased) && c.is_ascii_lowercase();
        let space = match ascii.spaces {
            Spaces::None => false,
            Spaces::Regex => matches!(c, 9..=13 | b' '),
            Spaces::Python => matches!(c, 9..=13 | 0x1C..=0x1F | b' '),
        };
        let extra = match ascii.extra {
            Some(extra) => c == extra,
            None => false,
        };
        table[byte] = (letter as u64) << (8 * LETTER)
            | (lower as u64) << (8 * LOWER)
            | ((ascii.numbers && c.is_ascii_digit()) as u64) << (8 * NUMBER)
            | (space as u64) << (8 * SPACE)
            | ((ascii.blank && c == b' ') as u64) << (8 * BLANK)
            | ((ascii.newline && matches!(c, b'\r' | b'\n')) as u64) << (8 * NEWLINE)
            | ((ascii.quote && c == b'\'') as u64) << (8 * QUOTE)
            | (extra as u64) << (8 * EXTRA);
        byte += 1;
    }
    table
}

struct Table<C>(std::marker::PhantomData<C>);

impl<C: Classes> Table<C> {
    const BYTES: [u64; 256] = class_table(C::ASCII);
}

/// Eight by eight bytes, turned over the diagonal.
#[inline(always)]
fn transpose(rows: &mut [u64; 8]) {
    for (step, shift, mask) in
        [(4, 32, u64::MAX >> 32), (2, 16, 0x0000_FFFF_0000_FFFF), (1, 8, 0x00FF_00FF_00FF_00FF)]
    {
        for row in (0..8).filter(|row| row & step == 0) {
            let swap = (rows[row] >> shift ^ rows[row + step]) & mask;
            rows[row] ^= swap << shift;
            rows[row + step] ^= swap;
        }
    }
}

/// The ASCII classes of a block, in plain Rust: a table gives all classes of a byte at once.
#[inline]
pub(super) fn classify_portable<C: Classes>(block: &[u8; BLOCK_BYTES], masks: &mut Masks) {
    let classes = const { &Table::<C>::BYTES };
    let mut rows = [0_u64; 8];
    let mut high = 0;
    for (place, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        // Byte `c` gets a bit for each of the eight, set where it is in class `c`.
        rows[place] = eight.iter().rev().fold(0, |row, &byte| row << 1 | classes[byte as usize]);
        // The multiplication moves the top bit of each byte into one byte.
        let top = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        high |= ((top >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
    }
    transpose(&mut rows);
    let [letter, lower, number, space, blank, newline, quote, extra] = rows;
    *masks = Masks {
        letter: letter | lower,
        number,
        space,
        blank,
        newline,
        quote,
        extra,
        upper: if C::ASCII.letters as u8 == Letters::Cased as u8 { letter } else { 0 },
        lower,
        mark: 0,
        inner: high,
    };
}
