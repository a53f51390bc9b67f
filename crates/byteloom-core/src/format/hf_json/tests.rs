//! Unit tests of the translation between engines.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not marked as tests")]

use super::dialect::{read, write};
use crate::pretokenize::PreTokenizer;

fn name(regex: &str) -> Option<&'static str> {
    read(regex).unwrap().name()
}

#[test]
fn built_in_patterns_come_back() {
    for &built_in in PreTokenizer::names() {
        match write(&PreTokenizer::new(built_in).unwrap()).unwrap() {
            Some(regex) => assert_eq!(name(&regex), Some(built_in), "{regex}"),
            None => assert_eq!(built_in, "none"),
        }
    }
    let gpt2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
    assert_eq!(name(gpt2), Some("gpt2"));
    // Spelled for Python or tiktoken, these mean something else in Oniguruma. A name is no regex.
    for known in ["simple", "cl100k", "course-words", "course-ws", "course-gpt2"] {
        let read_as = read(PreTokenizer::new(known).unwrap().regex()).ok().and_then(|found| found.name());
        assert_eq!((read_as, name(known)), (None, None), "{known}");
    }
}

#[test]
fn what_is_exported_for_oniguruma_means_the_same_here() {
    let texts = [
        "x  \n\n  ",
        "12345 67",
        "a\u{1c}b\u{85}c",
        "don't 'S ſ'ſ",
        "é²_١Ⅷ _a__b!?\r\n x",
        "\u{1f}\u{1f} \u{1f}a ",
    ];
    for &built_in in PreTokenizer::names() {
        let scanner = PreTokenizer::new(built_in).unwrap();
        let Some(regex) = write(&scanner).unwrap() else { continue };
        // In parentheses it runs on the general engine, as it stands.
        let general = PreTokenizer::new(&format!("(?:{regex})")).unwrap();
        let mut every: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        every.push((0..0x3000).filter_map(char::from_u32).flat_map(|c| [c, 'a', c, ' ', c, c]).collect());
        for text in every {
            assert_eq!(ends(&scanner, &text), ends(&general, &text), "{built_in}: {text:.40}");
        }
    }
}

fn ends(pretokenizer: &PreTokenizer, text: &str) -> Vec<usize> {
    let mut blocks = pretokenizer.blocks(text.as_bytes());
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while blocks.next(&mut block).unwrap() {
        all.extend_from_slice(&block);
    }
    all
}

#[test]
fn what_engines_read_differently_is_translated() {
    for (onig, ours) in [
        (r"\p{N}{1,3}+", r"(?:\p{N}{1,3})+"),
        (r"a+$", r"a+(?m:$)"),
        (r"(?m:.)x", r"(?s:.)x"),
        (r"(a|b)c{,2}", r"(?:a|b)c{0,2}"),
        (r"\u0041[\x41-\x{45}\-]", r"A[A-E\-]"),
        (r"[^\s\w]+", "[^\\s\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}²³¹¼½¾]+"),
        (r"[!-~&]", r"[!-\~\&]"),
    ] {
        let found = read(onig).unwrap();
        assert_eq!((found.name(), found.regex()), (None, ours));
        let back = write(&found).unwrap().unwrap();
        assert_eq!(read(&back).unwrap().regex(), ours, "{back}");
    }
    let ours = PreTokenizer::new(r"^a|\w{2,3}+|b$").unwrap();
    let word = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\u{200C}\u{200D}]";
    assert_eq!(write(&ours).unwrap().unwrap(), format!(r"\Aa|(?>{word}{{2,3}})|b\z"));
}

#[test]
fn what_cannot_be_translated_is_refused_by_name() {
    for (regex, what) in [
        (r"a*", "nothing at all"),
        (r"\b", r"\b"),
        (r"(?i:ss)", "ignores case"),
        (r"\h+", r"\h"),
        (r"(a)\1", r"\1"),
        (r"[a&&b]", "&&"),
        (r"[[:alpha:]]", "inside a class"),
        (r"a**", "repeats a repetition"),
        (r"^a", "start of a line"),
        (r"(?x) a", "group"),
        (r"\p{Script=Han}", "property"),
        (r"\xff", "code of a character"),
        ("(", "not closed"),
        (")", "too many"),
        ("[", "not closed"),
        ("{", "{"),
        ("a{4,2}", "larger"),
        ("\\", "backslash"),
    ] {
        let fault = read(regex).unwrap_err();
        assert!(fault.contains(what), "{regex}: {fault}");
    }
    let deep = "(".repeat(100_000);
    assert!(read(&deep).unwrap_err().contains("deep"));
}
