//! Custom regexes: gaps, empty matches, invalid bytes, limits, messages.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not marked as tests")]

use byteloom_core::Error;
use byteloom_core::pretokenize::{BLOCK, PreTokenizer, WINDOW_BYTES, Window};
use proptest::prelude::*;

fn ends(pretokenizer: &PreTokenizer, text: &[u8]) -> Result<Vec<usize>, Error> {
    let mut blocks = pretokenizer.blocks(text);
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while blocks.next(&mut block)? {
        assert!(block.len() <= BLOCK);
        all.extend_from_slice(&block);
    }
    Ok(all)
}

/// The pre-tokens joined by `|`, or the error.
fn split(regex: &str, text: &[u8]) -> String {
    let ends = match PreTokenizer::new(regex).and_then(|pretokenizer| ends(&pretokenizer, text)) {
        Ok(ends) => ends,
        Err(error) => return error.to_string(),
    };
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let pieces = starts.zip(&ends).map(|(start, &end)| text[start..end].escape_ascii().to_string());
    pieces.collect::<Vec<_>>().join("|")
}

/// What a pattern error says; empty for any other outcome, so that no expectation holds.
fn message(result: Result<impl Sized, Error>) -> String {
    match result {
        Err(error @ Error::Pattern { .. }) => error.to_string(),
        _ => String::new(),
    }
}

#[test]
fn a_custom_regex_names_its_engine() {
    for (regex, engine) in [
        (r"\w+|\W", "regex"),
        (r"\p{L}+\x{41}+", "regex"),
        (r"\s+(?!\S)", "fancy-regex"),
        (r"(a|b)\1", "fancy-regex"),
        (r"(?>a+)b", "fancy-regex"),
        (r"\p{L}++", "fancy-regex"),
        (r"\p{N}{1,2}+", "fancy-regex"),
    ] {
        let pretokenizer = PreTokenizer::new(regex).unwrap();
        assert_eq!((pretokenizer.engine(), pretokenizer.name()), (engine, None), "{regex}");
        assert_eq!(pretokenizer.regex(), regex);
        assert_eq!(pretokenizer.safe_split(b"a b c d", 3), None);
    }
    assert_eq!(PreTokenizer::new("none").unwrap().safe_split(b"a b c d", 3), None);
}

/// The versions stated are those in the lock file, and the Unicode version is what both engines have.
#[test]
fn a_custom_regex_states_its_engine_and_unicode_version() {
    let lock = include_str!("../../../Cargo.lock");
    for (regex, package) in [("x", "regex"), ("x(?=y)", "fancy-regex")] {
        let pretokenizer = PreTokenizer::new(regex).unwrap();
        let stated = pretokenizer.unicode_version();
        let entry = lock.split_once(&format!("name = \"{package}\"\nversion = \"")).unwrap().1;
        let version = entry.split('"').next().unwrap();
        let (major_minor, _) = version.rsplit_once('.').unwrap();
        assert_eq!(stated, format!("{package} {major_minor}, Unicode 16.0"));
    }
    for lookahead in ["", "(?=x)"] {
        assert!(PreTokenizer::new(&format!(r"\p{{Age=16.0}}{lookahead}")).is_ok());
        assert!(PreTokenizer::new(&format!(r"\p{{Age=17.0}}{lookahead}")).is_err());
    }
}

#[test]
fn what_is_not_matched_is_a_pre_token() {
    assert_eq!(split("x", b"aaxbxxc"), "aa|x|b|x|x|c");
    assert_eq!(split("x", b"aaa"), "aaa");
    assert_eq!(split("x(?!y)", b"aaxyx"), "aaxy|x");
}

#[test]
fn empty_matches_are_passed_over() {
    assert_eq!(split("x*", b"abcxxd"), "abc|xx|d");
    assert_eq!(split("", "aé".as_bytes()), r"a\xc3\xa9");
    assert_eq!(split(r"x*(?=.|\z)", "é日xx".as_bytes()), r"\xc3\xa9\xe6\x97\xa5|xx");
    assert_eq!(split(r"\b", b"a b"), "a b");
    // An empty match hides what a later alternative would find there, as in every regex iterator.
    assert_eq!(split("|a", b"aa"), "aa");
    // `\K` moves the start of a match, never back into the pre-token before it.
    assert_eq!(split(r"a\Kb", b"abab"), "a|b|a|b");
}

#[test]
fn possessive_quantifiers_are_possessive() {
    // The `regex` crate would read `{1,2}+` as a repeated repetition, and match all five digits.
    assert_eq!(split(r"\p{N}{1,2}+", b"12345"), "12|34|5");
    assert_eq!(split("a?+b", b"aabb"), "a|ab|b");
    assert_eq!(split(r"\++", b"a+++b"), "a|+++|b");
    assert_eq!(split(r"[*+]+", b"a+*b"), "a|+*|b");
}

#[test]
fn look_around_sees_the_whole_text() {
    let text = "ab".repeat(3 * BLOCK);
    // Each pre-token but the first starts behind an `a`, in another block than it at times.
    let found = ends(&PreTokenizer::new("(?<=a)b|a").unwrap(), text.as_bytes()).unwrap();
    assert_eq!(found, (1..=text.len()).collect::<Vec<_>>());
    assert_eq!(split(r"\ba|a", b"aa"), "a|a");
    assert_eq!(split("(?<=^a)a|a+", b"aaa"), "aaa");
}

/// A gap that a block would cut, at each place around the end of the block.
#[test]
fn blocks_do_not_show() {
    for regex in ["ab", "ab(?=.|$)", "(?<=x)y|ab"] {
        let pretokenizer = PreTokenizer::new(regex).unwrap();
        for before in BLOCK - 4..BLOCK + 4 {
            let text = "ab".repeat(before) + "--xy--" + &"ab-".repeat(BLOCK);
            let expected: Vec<usize> = match regex {
                "(?<=x)y|ab" => (1..=before).map(|n| 2 * n).chain([2 * before + 3, 2 * before + 4]).collect(),
                _ => (1..=before).map(|n| 2 * n).collect(),
            };
            let tail = 2 * before + 6;
            let expected = expected
                .into_iter()
                .chain([tail])
                .chain((0..BLOCK).flat_map(|n| [tail + 3 * n + 2, tail + 3 * n + 3]));
            assert_eq!(
                ends(&pretokenizer, text.as_bytes()).unwrap(),
                expected.collect::<Vec<_>>(),
                "{regex}"
            );
        }
    }
}

#[test]
fn invalid_bytes_are_replacement_characters() {
    // E4 BD begins a character that does not come; each of its bytes is a unit.
    assert_eq!(split(".", b"a\xe4\xbdb\xff"), r"a|\xe4|\xbd|b|\xff");
    assert_eq!(split("\u{fffd}+", b"a\xe4\xbdb\xef\xbf\xbd\xff"), r"a|\xe4\xbd|b|\xef\xbf\xbd\xff");
    assert_eq!(split(r"\w+(?=\W)", "日\u{301}".as_bytes()), r"\xe6\x97\xa5\xcc\x81");
    assert_eq!(split(r"\w+(?=\W)", b"x\xffyy\xfe"), r"x|\xff|yy|\xfe");
}

#[test]
fn a_pattern_that_backtracks_without_end_is_an_error_that_names_the_place() {
    let evil = PreTokenizer::new(r"((a|aa)+)\1c|b").unwrap();
    assert_eq!(evil.engine(), "fancy-regex");
    let text = "b".repeat(5) + &"a".repeat(60) + "b";
    let message = message(ends(&evil, text.as_bytes()));
    assert!(message.contains("at byte 5 of the text") && message.contains("steps"), "{message}");
    // The place is that in the text as given, not in the repaired one.
    let text = [b"b\xff\xff".as_slice(), &[b'a'; 60]].concat();
    assert!(self::message(ends(&evil, &text)).contains("at byte 3 of the text"));
}

#[test]
fn look_around_over_repetition_ends() {
    let pretokenizer = PreTokenizer::new("(?=(a+)+$)a|b").unwrap();
    let text = "a".repeat(2000) + "b";
    assert_eq!(ends(&pretokenizer, text.as_bytes()).unwrap(), [2000, 2001]);
    let text = "a".repeat(2000);
    assert_eq!(ends(&pretokenizer, text.as_bytes()).unwrap().len(), 2000);
}

/// More steps than the first attempt has, for pre-tokens that are long and for one alone.
#[test]
fn long_pre_tokens_may_take_many_steps() {
    let pretokenizer = PreTokenizer::new(r"(?:(?!,).)+|,").unwrap();
    let words = ["x".repeat(3000), "y".repeat(5), "z".repeat(200_000)];
    let found = ends(&pretokenizer, words.join(",").as_bytes()).unwrap();
    assert_eq!(found, [3000, 3001, 3006, 3007, 203_007]);
    // Too long even so: an error, no overflow.
    assert!(message(ends(&pretokenizer, &vec![b'x'; 3_000_000])).contains("at byte 0 of the text"));
}

#[test]
fn a_pattern_that_is_no_regex_is_an_error_with_a_reason() {
    for (regex, reason) in [
        ("(a", "unclosed group"),
        ("[a", "unclosed character class"),
        (r"\p{Nonsense}", "property"),
        ("(?=a", "parenthes"),
        (r"(?<=a)(b", "parenthes"),
        ("a{1000}{1000}{1000}", "larger than"),
        (r"\8", "back reference"),
    ] {
        let message = message(PreTokenizer::new(regex));
        assert!(message.to_lowercase().contains(reason), "{regex}: {message}");
        assert!(message.contains(&format!("{regex:?}")), "{message}");
    }
}

#[test]
fn patterns_beyond_the_limits_are_refused() {
    assert!(message(PreTokenizer::new(&"a".repeat(100_000))).contains("100000 bytes"));
    for pattern in [
        "(".repeat(30_000) + &")".repeat(30_000),
        "(?:".repeat(10_000) + &")".repeat(10_000),
        "[".repeat(30_000) + &"]".repeat(30_000),
        "(?=".repeat(10_000) + &")".repeat(10_000),
        "a".to_owned() + &"+".repeat(60_000),
        r"(?:(?=a)\w{1000}){1000}".to_owned(),
        "(?<x>a\\g<x>?){200}{200}(?=b)".to_owned(),
    ] {
        if let Err(error) = PreTokenizer::new(&pattern) {
            assert!(matches!(error, Error::Pattern { .. }), "{error}");
            assert!(error.to_string().len() < 1000, "{error}");
        }
    }
}

proptest! {
    /// Gaps and matches as the engine's own iterator gives them.
    #[test]
    fn matches_are_those_of_the_iterator(
        text in "[ab é1\u{fffd}\n]{0,60}",
        regex in prop::sample::select(vec!["a+", "b?", "(?m)^.", r"\w+\s?", "a|ab", "[^a]*b", r"\b", ".", "(?s)a.", "é1|"]),
    ) {
        let mut expected = Vec::new();
        for found in regex::Regex::new(regex).unwrap().find_iter(&text).filter(|found| !found.is_empty()) {
            if expected.last().copied().unwrap_or(0) < found.start() {
                expected.push(found.start());
            }
            expected.push(found.end());
        }
        if expected.last().copied().unwrap_or(0) < text.len() {
            expected.push(text.len());
        }
        prop_assert_eq!(&ends(&PreTokenizer::new(regex).unwrap(), text.as_bytes()).unwrap(), &expected);
        // The other engine, made to be used by a look-ahead that always holds.
        let bounded = PreTokenizer::new(&format!("(?:{regex})(?=.|$|\n)")).unwrap();
        prop_assert_eq!(bounded.engine(), "fancy-regex");
        prop_assert_eq!(&ends(&bounded, text.as_bytes()).unwrap(), &expected);
    }
}

/// The ends by windows, the first `before` of them by `next`.
fn ends_by_windows(pretokenizer: &PreTokenizer, text: &[u8], before: usize) -> Vec<usize> {
    let mut blocks = pretokenizer.blocks(text);
    let (mut all, mut block, mut window) = (Vec::new(), Vec::new(), Window::default());
    for _ in 0..before {
        blocks.next(&mut block).unwrap();
        all.extend_from_slice(&block);
    }
    let mut last = all.last().copied().unwrap_or(0);
    while blocks.next_window(&mut window).unwrap() {
        assert_eq!(window.start, last);
        assert!(window.end - last <= WINDOW_BYTES || window.ends.len() == 1);
        all.extend(window.ends.iter().map(|&end| last + end as usize));
        last = window.end;
        assert_eq!(all.last(), Some(&last));
    }
    assert!(!blocks.next_window(&mut window).unwrap() && window.ends.is_empty());
    all
}

/// Windows of every engine, also after blocks, hold the pre-tokens that blocks hold.
#[test]
fn windows_hold_what_blocks_hold() {
    let sequence = |members: &[&str]| {
        PreTokenizer::sequence(members.iter().map(|&member| PreTokenizer::new(member).unwrap()).collect())
            .unwrap()
    };
    let pretokenizers = [
        PreTokenizer::new("gpt2").unwrap(),
        PreTokenizer::new("none").unwrap(),
        PreTokenizer::new(r"[a-z]+|\d").unwrap(),
        PreTokenizer::new(r"\s+(?!\S)|\S+|\s").unwrap(),
        sequence(&["gpt2", r"\d"]),
        sequence(&[r"[^x]+|x+", "llama3", "[a-f]+"]),
        sequence(&["none", "simple"]),
    ];
    let long = "y".repeat(3 * WINDOW_BYTES);
    for text in ["", "one", &"some words, 123 x ".repeat(5000), &format!("a {long} {long}b x 1")] {
        for pretokenizer in &pretokenizers {
            let expected = ends(pretokenizer, text.as_bytes()).unwrap();
            for before in 0..3 {
                let found = ends_by_windows(pretokenizer, text.as_bytes(), before);
                assert!(found == expected, "{} after {before} blocks", pretokenizer.regex());
            }
        }
    }
}
