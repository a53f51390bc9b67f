//! The scanners against their regexes, and what every pattern must keep.

mod alphabet;
mod alternatives;
mod exhaustive;
mod paths;
mod properties;
mod reference;
mod table;

use super::PreTokenizer;

/// The built-in patterns that have a reference: all but `none`.
const SCANNED: [&str; 10] = [
    "gpt2",
    "cl100k",
    "o200k",
    "llama3",
    "qwen2",
    "simple",
    "course-words",
    "course-ws",
    "course-gpt2",
    "sentencepiece",
];

/// The ends of all pre-tokens of `text`.
fn ends(pretokenizer: &PreTokenizer, text: &[u8]) -> Vec<usize> {
    let mut blocks = pretokenizer.blocks(text);
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while blocks.next(&mut block).unwrap() {
        assert!(!block.is_empty() && block.len() <= super::BLOCK);
        all.extend_from_slice(&block);
    }
    assert!(!blocks.next(&mut block).unwrap() && block.is_empty());
    all
}

/// The pre-tokens themselves, for messages.
fn pieces(text: &[u8], ends: &[usize]) -> Vec<String> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| text[start..end].escape_ascii().to_string()).collect()
}

/// Asserts that the pre-tokens tile `text`.
fn assert_tiles(text: &[u8], ends: &[usize]) {
    assert!(ends.is_sorted_by(|a, b| a < b), "{ends:?}");
    assert!(ends.first() != Some(&0));
    assert_eq!(ends.last().copied().unwrap_or(0), text.len());
}

#[test]
fn names_aliases_and_spellings_find_the_scheme() {
    assert_eq!(PreTokenizer::names().len(), 11);
    for &name in PreTokenizer::names() {
        let named = PreTokenizer::new(name).unwrap();
        assert_eq!((named.name(), named.engine()), (Some(name), "scanner"));
        assert_eq!(named.unicode_version(), "16.0.0");
        assert_eq!(PreTokenizer::new(named.regex()).unwrap().name(), Some(name));
    }
    for (alias, name) in [("r50k", "gpt2"), ("p50k", "gpt2"), ("gpt4", "cl100k"), ("gpt4o", "o200k")] {
        assert_eq!(PreTokenizer::new(alias).unwrap().name(), Some(name));
    }
    for (spelling, name) in [
        (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s", "gpt2"),
        (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", "gpt2"),
    ] {
        assert_eq!(PreTokenizer::new(spelling).unwrap().name(), Some(name));
    }
}

#[test]
fn what_the_patterns_are_known_for() {
    let split = |name: &str, text: &str| {
        let ends = ends(&PreTokenizer::new(name).unwrap(), text.as_bytes());
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, &end)| &text[start..end]).collect::<Vec<_>>().join("|")
    };
    // Contractions: in lower case only for GPT-2; with `ſ` for the others; a suffix of the word for o200k.
    assert_eq!(split("gpt2", "it's IT'S '5"), "it|'s| IT|'|S| '|5");
    assert_eq!(split("llama3", "it's IT'S x'\u{17f}y"), "it|'s| IT|'S| x|'ſ|y");
    assert_eq!(split("o200k", "it's IT'S"), "it's| IT'S");
    // The last space of a run goes with the word; only U+0020 does so for numbers and punctuation.
    assert_eq!(split("gpt2", "a   b\u{a0}\u{a0}!"), "a|  | b|\u{a0}|\u{a0}|!");
    // The end of a text that ends in white space with a newline.
    assert_eq!(split("cl100k", "a \n  "), "a| \n  ");
    assert_eq!(split("llama3", "a \n  "), "a| \n|  ");
    // Digits by threes, one by one, all together.
    assert_eq!(split("cl100k", "12345"), "123|45");
    assert_eq!(split("qwen2", "123"), "1|2|3");
    assert_eq!(split("gpt2", " 12345"), " 12345");
    // o200k gives back what follows the last caseless letter, and takes slashes behind punctuation.
    assert_eq!(split("o200k", "日AB."), "日|AB|.");
    assert_eq!(split("o200k", "camelCaseHTTPServer"), "camel|Case|HTTPServer");
    assert_eq!(split("o200k", "//\n/x"), "//\n/|x");
    // Python's classes: a combining mark is no word character, U+001C is white space.
    assert_eq!(split("course-words", "e\u{301}  a\u{1c}"), "e|\u{301}|  |a|\u{1c}");
    assert_eq!(split("course-ws", "\na  b"), "\na|  |b");
    assert_eq!(split("course-gpt2", "a_1 __"), "a|_|1| __");
    // All spaces go with the word, and no other white space is any.
    assert_eq!(split("sentencepiece", "  a\tb   c\n d  "), "  a\tb|   c\n| d|  ");
    assert_eq!(split("none", "a b"), "a b");
}

#[test]
fn an_empty_text_has_no_pre_tokens() {
    for name in PreTokenizer::names().iter().copied().chain(["x", "x*", "(?=x)x"]) {
        assert!(ends(&PreTokenizer::new(name).unwrap(), b"").is_empty(), "{name}");
    }
}

#[test]
fn a_pre_tokenizer_is_shared_between_threads() {
    fn assert_shared<T: Clone + Send + Sync + std::fmt::Debug>(_: &T) {}
    assert_shared(&PreTokenizer::new("gpt2").unwrap());
}
