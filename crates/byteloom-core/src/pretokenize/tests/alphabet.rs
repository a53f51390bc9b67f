//! Texts that tests are made of.

/// The units that a family of patterns tells apart: the letters of contractions, an upper, lower and caseless letter,
/// a mark, a digit and another number, white space of each sort, newlines, punctuation, an invalid byte.
pub(super) fn alphabet(name: &str) -> Vec<&'static [u8]> {
    let units: &[&str] = match name {
        "gpt2" => &["a", "s", "l", "e", "v", "S", "日", "1", "²", " ", "\u{a0}", "\n", "'", "!", "\u{301}"],
        "cl100k" | "llama3" | "qwen2" => {
            &["a", "S", "l", "v", "E", "ſ", "日", "1", " ", "\u{2003}", "\n", "\r", "'", "!"]
        }
        "o200k" => &["A", "a", "日", "\u{301}", "s", "l", "ſ", "1", " ", "\u{a0}", "\n", "'", "!", "/"],
        "course-gpt2" => {
            &["a", "s", "e", "r", "日", "1", "²", "_", " ", "\u{a0}", "\u{1c}", "\n", "'", "!", "\u{301}"]
        }
        _ => &["a", "日", "1", "²", "_", " ", "\u{a0}", "\u{1c}", "\n", "!", "\u{301}"],
    };
    units.iter().map(|unit| unit.as_bytes()).chain([b"\xff".as_slice()]).collect()
}

/// The units of all alphabets, and more of the same classes.
pub(super) const LARGE: [&[u8]; 38] = [
    b"a",
    b"s",
    b"t",
    b"r",
    b"e",
    b"v",
    b"m",
    b"l",
    b"d",
    b"A",
    b"S",
    b"T",
    b"L",
    "ſ".as_bytes(),
    "ß".as_bytes(),
    "Ж".as_bytes(),
    "ǅ".as_bytes(),
    "ʰ".as_bytes(),
    "日".as_bytes(),
    "\u{301}".as_bytes(),
    b"1",
    "٣".as_bytes(),
    "Ⅷ".as_bytes(),
    b" ",
    b"\t",
    "\u{85}".as_bytes(),
    "\u{3000}".as_bytes(),
    b"\x1c",
    b"\n",
    b"\r",
    b"'",
    "\u{2019}".as_bytes(),
    b"/",
    b"_",
    b"\0",
    "😀".as_bytes(),
    b"\xe6",
    b"\xff",
];

/// Calls `visit` for each string of exactly `length` units.
pub(super) fn each_string(units: &[&[u8]], length: u32, mut visit: impl FnMut(&[u8])) {
    let mut text = Vec::new();
    for number in 0..units.len().pow(length) {
        text.clear();
        for place in 0..length {
            text.extend_from_slice(units[number / units.len().pow(place) % units.len()]);
        }
        visit(&text);
    }
}

/// A text that has `character` beside units of each class.
pub(super) fn in_context(character: char) -> String {
    let c = character;
    format!("{c}a{c}A{c}{c} {c}1{c}'{c}s'{c}!{c}\n{c}_{c}  {c}/\u{301}{c}日{c}\u{1c}{c}\r ")
}
