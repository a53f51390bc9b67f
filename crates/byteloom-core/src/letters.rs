//! GPT-2's printable spelling of bytes, used in `tokenizer.json`, `vocab.json` and our own files.
//!
//! Printable Latin-1 characters stand for themselves; the other 68 bytes, in order, for U+0100 and up. So a space
//! is `Ġ` and a newline `Ċ`.

/// The letter of each byte.
pub const LETTERS: [char; 256] = letters();

const fn is_printable(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

const fn letters() -> [char; 256] {
    let mut letters = ['\0'; 256];
    let mut shifted = 0u8;
    let mut byte = 0usize;
    while byte < 256 {
        letters[byte] = if is_printable(byte as u8) {
            byte as u8 as char
        } else {
            shifted += 1;
            match char::from_u32(0xFF + shifted as u32) {
                Some(letter) => letter,
                None => '\0',
            }
        };
        byte += 1;
    }
    letters
}

/// The byte of each letter, by its code; 256 where there is none.
const CODES: [u16; 0x144] = codes();

const fn codes() -> [u16; 0x144] {
    let mut codes = [256; 0x144];
    let mut byte = 0usize;
    while byte < 256 {
        codes[LETTERS[byte] as usize] = byte as u16;
        byte += 1;
    }
    codes
}

/// The byte that `letter` stands for.
#[inline]
pub fn byte_of(letter: char) -> Option<u8> {
    CODES.get(letter as usize).and_then(|&code| u8::try_from(code).ok())
}

/// `bytes` in letters.
pub fn spell(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| LETTERS[byte as usize]).collect()
}

/// The bytes that `letters` spell; `None` if a character is no letter.
pub fn unspell(letters: &str) -> Option<Vec<u8>> {
    letters.chars().map(byte_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_letter() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unspell(&spell(&all)), Some(all));
        assert_eq!(spell(b" \n\tA\x00\xad\xff"), "ĠĊĉAĀŃÿ");
        assert_eq!((unspell(" "), unspell("ń")), (None, None));
    }
}
