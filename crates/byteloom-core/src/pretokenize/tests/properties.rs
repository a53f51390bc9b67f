//! What must hold for random texts.

use proptest::collection::vec;
use proptest::prelude::*;

use super::paths::Check;
use super::reference::Reference;
use super::{SCANNED, assert_tiles, ends, pieces};
use crate::pretokenize::{BLOCK, PreTokenizer};

/// A run of one unit, so that runs are long often.
fn stretch() -> impl Strategy<Value = Vec<u8>> {
    let unit = prop_oneof![
        4 => prop::sample::select(vec![
            "a", "e", "l", "s", "S", "v", "B", "ſ", "日", "ǅ", "\u{301}", "1", "²", " ", "\u{a0}", "\u{1c}", "\n",
            "\r", "\t", "'", "'ll", "'re", "!", ".", "/", "_", "。", "，", "\u{fffd}", "😀",
        ])
        .prop_map(|unit| unit.as_bytes().to_vec()),
        1 => any::<char>().prop_map(|character| character.to_string().into_bytes()),
        1 => vec(any::<u8>(), 1..4),
    ];
    (unit, prop_oneof![8 => 1..3_usize, 1 => 1..70_usize]).prop_map(|(unit, times)| unit.repeat(times))
}

fn text(stretches: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(stretch(), 0..stretches).prop_map(|parts| parts.concat())
}

fn built_in(names: &[&str]) -> Vec<(String, PreTokenizer)> {
    names.iter().map(|&name| (name.to_owned(), PreTokenizer::new(name).unwrap())).collect()
}

#[test]
fn scanners_agree_with_their_regexes_on_random_texts() {
    let schemes: Vec<_> =
        SCANNED.iter().map(|name| (PreTokenizer::new(name).unwrap(), Reference::new(name))).collect();
    proptest!(|(text in text(40))| {
        for (pretokenizer, reference) in &schemes {
            let (found, expected) = (ends(pretokenizer, &text), reference.ends(&text));
            prop_assert!(
                found == expected,
                "{:?}: {:?}, the regex gives {:?}",
                pretokenizer.name(), pieces(&text, &found), pieces(&text, &expected)
            );
        }
    });
}

#[test]
fn paths_agree_on_random_texts() {
    let checks = std::cell::RefCell::new(Check::all());
    proptest!(|(text in prop_oneof![text(60), vec(any::<u8>(), 0..300)])| {
        checks.borrow_mut().iter_mut().for_each(|check| check.run(&text));
    });
    proptest!(ProptestConfig::with_cases(16), |(text in text(6000))| {
        checks.borrow_mut().iter_mut().for_each(|check| check.run(&text));
    });
}

#[test]
fn blocks_do_not_show() {
    let schemes: Vec<_> =
        SCANNED.iter().map(|name| (PreTokenizer::new(name).unwrap(), Reference::new(name))).collect();
    proptest!(ProptestConfig::with_cases(8), |(text in text(3000).prop_filter("long", |text| text.len() > 6 * BLOCK))| {
        for (pretokenizer, reference) in &schemes {
            prop_assert_eq!(ends(pretokenizer, &text), reference.ends(&text));
        }
    });
}

#[test]
fn pre_tokens_tile_any_bytes() {
    let custom = [r"\w+", "x*", "[ab]+(?=c)", r"(?<=\s)\S", r"\p{L}++|\s", "(?s).", "é|😀|\u{fffd}"];
    let patterns = built_in(PreTokenizer::names()).into_iter().chain(built_in(&custom));
    for (name, pretokenizer) in patterns {
        proptest!(|(text in prop_oneof![vec(any::<u8>(), 0..400), text(30)])| {
            let ends = ends(&pretokenizer, &text);
            assert_tiles(&text, &ends);
            // No character is cut in two: that would make an id sequence that no text has.
            let inside = |&end: &usize| end < text.len() && std::str::from_utf8(&text).is_ok_and(|t| !t.is_char_boundary(end));
            prop_assert!(!ends.iter().any(inside), "{}", name);
        });
    }
}

#[test]
fn safe_splits_move_no_boundary() {
    for (name, pretokenizer) in built_in(&SCANNED) {
        proptest!(|(before in "\\PC{0,3}", text in text(30), target in 0..200_usize)| {
            if let Some(cut) = pretokenizer.safe_split(&text, target) {
                prop_assert!(0 < cut && cut < text.len());
                // In every left context.
                for before in [b"".as_slice(), before.as_bytes()] {
                    let (text, cut) = ([before, &text].concat(), before.len() + cut);
                    let (left, right) = text.split_at(cut);
                    let mut joined = ends(&pretokenizer, left);
                    joined.extend(ends(&pretokenizer, right).iter().map(|end| cut + end));
                    prop_assert_eq!(joined, ends(&pretokenizer, &text), "{} at {}", name, cut);
                }
            }
        });
    }
}

#[test]
fn safe_splits_are_found_near_the_target() {
    let cut =
        |name: &str, text: &str, target| PreTokenizer::new(name).unwrap().safe_split(text.as_bytes(), target);
    for name in SCANNED {
        // At the target or the nearest before it, else after it; never an empty side.
        assert_eq!(cut(name, "ab cd ef", 5), Some(5));
        assert_eq!(cut(name, "ab cd ef", 4), Some(2));
        assert_eq!(cut(name, "ab cd ef", 0), Some(2));
        assert_eq!(cut(name, "ab cd ef", usize::MAX), Some(5));
        assert_eq!(cut(name, "日\n1\t.", 9), (name != "sentencepiece").then_some(5));
        // A newline behind punctuation may belong to it, a blank behind blanks never starts a pre-token.
        assert_eq!(cut(name, ".\n  x", 3), None);
        assert_eq!(cut(name, "", 0), None);
        // Text without blanks; `simple` takes it whole.
        assert_eq!(cut(name, "日本，語。", 9), (!matches!(name, "simple" | "sentencepiece")).then_some(6));
        // The search ends.
        let far = "x".repeat(70_000) + " y";
        assert_eq!((cut(name, &far, 1000), cut(name, &far, 10_000)), (None, Some(70_000)));
    }
    assert_eq!(cut("none", "ab cd", 3), None);
}
