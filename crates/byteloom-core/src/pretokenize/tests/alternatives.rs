//! Which alternative matched: found for every pre-token of the built-in patterns, and the first that matches.

use super::alphabet::{alphabet, each_string};
use super::{SCANNED, ends};
use crate::pretokenize::{Alternatives, Cut, PreTokenizer};

fn cuts(pretokenizer: &PreTokenizer, text: &[u8]) -> Vec<Vec<Cut>> {
    Alternatives::new(pretokenizer).cuts(text, &mut || Ok(())).unwrap()
}

/// The pre-tokens of `text`, each with its alternative.
fn shown(pattern: &str, text: &str) -> String {
    let mut start = 0;
    let parts = cuts(&PreTokenizer::new(pattern).unwrap(), text.as_bytes()).pop().unwrap();
    let parts = parts.iter().map(|cut| {
        let piece = &text[std::mem::replace(&mut start, cut.end)..cut.end];
        let number = cut.alternative.map_or("-".to_owned(), |number| number.to_string());
        format!("{number}:{}", piece.escape_debug()).replace("\\'", "'")
    });
    parts.collect::<Vec<_>>().join("|")
}

fn sources(pattern: &str) -> Vec<String> {
    let alternatives = Alternatives::new(&PreTokenizer::new(pattern).unwrap());
    alternatives.sources().next().unwrap().to_vec()
}

/// An alternative is told only if it is the first that matches and its match is the pre-token. So this says that the
/// scanner and the regex, alternative by alternative, agree.
#[test]
fn one_is_found_for_every_pre_token_of_short_strings() {
    for name in SCANNED.into_iter().chain(["none"]) {
        let pretokenizer = PreTokenizer::new(name).unwrap();
        let alternatives = Alternatives::new(&pretokenizer);
        let mut seen = vec![false; alternatives.sources().next().unwrap().len()];
        for length in 1..=4 {
            each_string(&alphabet(name), length, |text| {
                let found = alternatives.cuts(text, &mut || Ok(())).unwrap().pop().unwrap();
                assert_eq!(found.iter().map(|cut| cut.end).collect::<Vec<_>>(), ends(&pretokenizer, text));
                for cut in found {
                    let Some(number) = cut.alternative else {
                        panic!("{name} on {}: nothing matches before {}", text.escape_ascii(), cut.end)
                    };
                    seen[number as usize] = true;
                }
            });
        }
        // Letters of contractions that the alphabets do not have; all else occurs.
        let unseen: Vec<_> = (0..).zip(&seen).filter(|(_, seen)| !**seen).map(|(number, _)| number).collect();
        let expected: &[u32] = match name {
            "gpt2" => &[1, 2, 4, 6],
            "course-gpt2" => &[1, 3, 4, 5, 6],
            _ => &[],
        };
        assert_eq!(unseen, expected, "{name}");
    }
}

#[test]
fn of_built_in_patterns() {
    assert_eq!(shown("gpt2", "it's 12  a!\n"), "7:it|0:'s|8: 12|10: |7: a|9:!|10:\\n");
    assert_eq!(shown("gpt2", "a \n b"), "7:a|10: \\n|7: b");
    assert_eq!(shown("gpt2", "a\u{a0}b"), "7:a|11:\u{a0}|7:b".replace('\u{a0}', "\\u{a0}").as_str());
    assert_eq!(shown("cl100k", "I'M 123\r\n  \n x  "), "1:I|0:'M|7: |2:123|5:\\r\\n  \\n|1: x|4:  ");
    assert_eq!(shown("o200k", "Word WORD"), "0:Word|1: WORD");
    assert_eq!(shown("simple", "a\u{1c}b"), "1:a|0:\\u{1c}|1:b");
    assert_eq!(shown("course-gpt2", "a_1 __"), "7:a|10:_|8:1|10: __");
    assert_eq!(shown("none", "a b\n"), "0:a b\\n");
}

#[test]
fn of_custom_patterns() {
    assert_eq!(sources(r"a|(b|c)|[|\]]|\||[]|]x"), ["a", "(b|c)", r"[|\]]", r"\|", "[]|]x"]);
    // What lies between two matches has none.
    assert_eq!(shown("[a-z]+|[0-9]+", "ab--12!"), "0:ab|-:--|1:12|-:!");
    // The first that matches counts, also where another would match more.
    assert_eq!(shown("a|ab|[ab]+?b|b", "abb"), "0:a|2:bb");
    assert_eq!(shown("(?i)a+|b+", "aABb"), "0:aA|1:Bb");
    assert_eq!(shown(r"\w+(?=!)|\w|!", "abc! d"), "0:abc|2:!|-: |1:d");
    assert_eq!(shown(r"\bfoo\b|.", "foo xfoo"), "0:foo|1: |1:x|1:f|1:o|1:o");
    // An alternative that refers to a group by number means something else alone.
    assert_eq!(sources(r"(a)|(b)\2"), [r"(a)|(b)\2"]);
    assert_eq!(shown(r"(a)|(b)\2", "abb"), "0:a|0:bb");
    assert_eq!(sources("(?x) a | b # |\n"), ["(?x) a | b # |\n"]);
}

#[test]
fn of_damaged_text() {
    let found = cuts(&PreTokenizer::new("gpt2").unwrap(), b"a\xff\xfe\xe6\x97 b\xf0").pop().unwrap();
    let expected =
        [(1, 7), (5, 9), (7, 7), (8, 9)].map(|(end, number)| Cut { end, alternative: Some(number) });
    assert_eq!(found, expected);
}

#[test]
fn of_a_sequence() {
    let members = [r"\s+|\S+", "[0-9]|[a-z]+"].map(|regex| PreTokenizer::new(regex).unwrap()).to_vec();
    let sequence = PreTokenizer::sequence(members).unwrap();
    let found = cuts(&sequence, b"a12 b!");
    let pairs = |stage: &[Cut]| stage.iter().map(|cut| (cut.end, cut.alternative)).collect::<Vec<_>>();
    assert_eq!(pairs(&found[0]), [(3, Some(1)), (4, Some(0)), (6, Some(1))]);
    assert_eq!(
        pairs(&found[1]),
        [(1, Some(1)), (2, Some(0)), (3, Some(0)), (4, None), (5, Some(1)), (6, None)]
    );
    assert_eq!(found[1].iter().map(|cut| cut.end).collect::<Vec<_>>(), ends(&sequence, b"a12 b!"));
}

/// Longer than the stack of a backtracking engine.
#[test]
fn of_a_run_of_millions() {
    for (name, number) in [("gpt2", 10), ("cl100k", 6), ("course-gpt2", 11)] {
        let text = [&vec![b' '; 2_500_000][..], b"\xc2\xa0x"].concat();
        let found = cuts(&PreTokenizer::new(name).unwrap(), &text).pop().unwrap();
        assert_eq!(found[0], Cut { end: 2_500_000, alternative: Some(number) }, "{name}");
        assert!(found.iter().all(|cut| cut.alternative.is_some()), "{name}");
    }
}
