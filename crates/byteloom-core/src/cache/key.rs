//! Pre-tokens as they are looked up.

/// The longest pre-token that is remembered, in bytes.
pub const MAX_KEY: usize = 40;
pub(super) const KEY_WORDS: usize = MAX_KEY / 8;

/// A pre-token as it is looked up.
#[derive(Clone, Copy, Debug, bytemuck::Zeroable)]
pub struct Key {
    /// Its bytes, and zeros behind them; of one of at most 16 bytes only the first two are set, and the others are of
    /// an earlier key.
    pub(super) words: [u64; KEY_WORDS],
    pub(super) len: u64,
    pub(super) hash: u64,
}

impl Key {
    /// The key of the pre-token of `length` bytes at `start` of `text`. Nothing is remembered for one of more than
    /// [`MAX_KEY`] bytes.
    #[inline]
    pub fn new(text: &[u8], start: usize, length: usize) -> Self {
        let mut key = Self { words: [0; KEY_WORDS], len: 0, hash: 0 };
        key.set(text, start, length);
        key
    }

    /// Makes it the key of another pre-token: see [`Self::new`]. Word by word, where it stands: of a key that is put
    /// together and then moved, the processor would wait for the words to be written.
    #[inline]
    pub(crate) fn set(&mut self, text: &[u8], start: usize, length: usize) {
        match text.get(start..).and_then(|rest| rest.first_chunk::<16>()) {
            // Almost all are short, and not at the end of their text.
            Some(bytes) if length <= 16 => {
                let [low, high]: [[u8; 8]; 2] = bytemuck::cast(*bytes);
                let [keep_low, keep_high] = KEPT[length];
                let (low, high) = (u64::from_le_bytes(low) & keep_low, u64::from_le_bytes(high) & keep_high);
                self.words[0] = low;
                self.words[1] = high;
                self.len = length as u64;
                self.hash = hash(low, high, self.len);
            }
            _ => *self = Self::padded(text, start, length),
        }
    }

    /// The key of a whole piece.
    #[inline]
    pub fn of(piece: &[u8]) -> Self {
        Self::new(piece, 0, piece.len())
    }

    #[inline(never)]
    fn padded(text: &[u8], start: usize, length: usize) -> Self {
        let mut padded = [0; MAX_KEY];
        if length <= MAX_KEY
            && let Some(piece) = text.get(start..start + length)
        {
            padded[..length].copy_from_slice(piece);
        }
        let words = bytemuck::cast::<_, [[u8; 8]; KEY_WORDS]>(padded).map(u64::from_le_bytes);
        let len = length.min(MAX_KEY + 1) as u64;
        let mut mixed = hash(words[0], words[1], len);
        if length > 16 {
            for pair in words[2..].chunks(2) {
                mixed = hash(mixed ^ pair[0], pair.get(1).copied().unwrap_or(0), len);
            }
        }
        Self { words, len, hash: mixed }
    }

    /// How many words it takes in a line.
    pub(super) fn word_count(&self) -> usize {
        (self.len as usize).div_ceil(8).min(KEY_WORDS)
    }

    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Its first 12 bytes as words, and its length, at most [`MAX_KEY`]` + 1`.
    #[inline]
    pub(crate) fn short(&self) -> ([u32; 3], usize) {
        let [low, high, ..] = self.words;
        ([low as u32, (low >> 32) as u32, high as u32], self.len as usize)
    }
}

/// What a pre-token of each length keeps of two words.
static KEPT: [[u64; 2]; 17] = {
    let mut kept = [[0; 2]; 17];
    let mut length = 0;
    while length <= 16 {
        let mut bit = 0;
        while bit < 8 * length {
            kept[length][bit / 64] |= 1 << (bit % 64);
            bit += 1;
        }
        length += 1;
    }
    kept
};

#[inline]
fn hash(low: u64, high: u64, len: u64) -> u64 {
    fold(low ^ 0x9E37_79B9_7F4A_7C15, high ^ len << 56 ^ 0xD1B5_4A32_D192_ED03)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
