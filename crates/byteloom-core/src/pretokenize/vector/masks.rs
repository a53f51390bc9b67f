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

const LETTER: u8 = 0;
const LOWER: u8 = 1;
const NUMBER: u8 = 2;
const SPACE: u8 = 3;
const BLANK: u8 = 4;
const NEWLINE: u8 = 5;
const QUOTE: u8 = 6;
const EXTRA: u8 = 7;

/// For each byte, a bit for each class that it is in.
const fn class_table(ascii: &Ascii) -> [u8; 256] {
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
        table[byte] = (letter as u8) << LETTER
            | (lower as u8) << LOWER
            | ((ascii.numbers && c.is_ascii_digit()) as u8) << NUMBER
            | (space as u8) << SPACE
            | ((ascii.blank && c == b' ') as u8) << BLANK
            | ((ascii.newline && matches!(c, b'\r' | b'\n')) as u8) << NEWLINE
            | ((ascii.quote && c == b'\'') as u8) << QUOTE
            | (extra as u8) << EXTRA;
        byte += 1;
    }
    table
}

struct Table<C>(std::marker::PhantomData<C>);

impl<C: Classes> Table<C> {
    const BITS: [u8; 256] = class_table(&C::ASCII);
}

/// The bits of eight bytes, turned over the diagonal: byte `c` of the result has bit `c` of each byte.
#[inline(always)]
fn transpose(mut x: u64) -> u64 {
    let mut swap = (x ^ x >> 7) & 0x00AA_00AA_00AA_00AA;
    x ^= swap ^ swap << 7;
    swap = (x ^ x >> 14) & 0x0000_CCCC_0000_CCCC;
    x ^= swap ^ swap << 14;
    swap = (x ^ x >> 28) & 0x0000_0000_F0F0_F0F0;
    x ^ swap ^ swap << 28
}

/// The ASCII classes of a block, in plain Rust: a table for each byte, then eight times eight bits turned over.
#[inline]
pub(super) fn classify_portable<C: Classes>(block: &[u8; BLOCK_BYTES], masks: &mut Masks) {
    let bits = const { &Table::<C>::BITS };
    let mut planes = [[0_u8; 8]; 8];
    let mut high = 0;
    for (place, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let classes = eight.map(|byte| bits[byte as usize]);
        let turned = transpose(u64::from_le_bytes(classes)).to_le_bytes();
        for (plane, byte) in planes.iter_mut().zip(turned) {
            plane[place] = byte;
        }
        // The multiplication moves the top bit of each byte into one byte.
        let top = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        high |= ((top >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
    }
    let [letter, lower, number, space, blank, newline, quote, extra] = planes.map(u64::from_le_bytes);
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
