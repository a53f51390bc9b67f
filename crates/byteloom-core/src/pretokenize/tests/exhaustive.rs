//! Every short string over an alphabet with one unit of each class; every scalar in context.

use super::alphabet::{LARGE, alphabet, each_string, in_context};
use super::reference::Reference;
use super::{SCANNED, ends, pieces};
use crate::pretokenize::unicode::flags;
use crate::pretokenize::{PreTokenizer, SimdPath, Window, scheme, vector};

fn assert_agree(name: &str, pretokenizer: &PreTokenizer, reference: &Reference, text: &[u8]) {
    let (found, expected) = (ends(pretokenizer, text), reference.ends(text));
    assert!(
        found == expected,
        "{name} on {:?}: {:?}, the regex gives {:?}",
        text.escape_ascii().to_string(),
        pieces(text, &found),
        pieces(text, &expected)
    );
}

/// The first pre-token of every string. What follows it is a shorter string of the same set, because neither side
/// looks back; so this is all pre-tokens of every string.
fn check_first_pre_tokens(name: &str) {
    let known = scheme::find(name).unwrap();
    let reference = Reference::new(name);
    let mut found = Window::default();
    for length in 1..=5 {
        each_string(&alphabet(name), length, |text| {
            found.begin(0);
            vector::fill(known.scheme, SimdPath::Scalar, text, &mut found);
            assert_eq!(
                found.ends[0] as usize,
                reference.first_end(text),
                "{name} on {}",
                text.escape_ascii()
            );
        });
    }
}

macro_rules! exhaustive {
    ($($test:ident: $($name:literal),+;)+) => {$(
        #[test]
        fn $test() {
            $(check_first_pre_tokens($name);)+
        }
    )+};
}

exhaustive! {
    gpt2_on_every_short_string: "gpt2";
    cl100k_on_every_short_string: "cl100k";
    o200k_on_every_short_string: "o200k";
    llama3_on_every_short_string: "llama3";
    qwen2_on_every_short_string: "qwen2";
    course_gpt2_on_every_short_string: "course-gpt2";
    other_course_patterns_on_every_short_string: "simple", "course-words", "course-ws";
    sentencepiece_on_every_short_string: "sentencepiece";
}

/// Strings of the large alphabet, whole: with what is before a pre-token, across a restart of the scanner.
#[test]
fn short_strings_of_many_units() {
    for name in SCANNED {
        let (pretokenizer, reference) = (PreTokenizer::new(name).unwrap(), Reference::new(name));
        for length in 1..=3 {
            each_string(&LARGE, length, |text| assert_agree(name, &pretokenizer, &reference, text));
        }
    }
}

/// Each pair of units at each place of a 64-byte step.
#[test]
fn short_strings_at_every_offset() {
    for name in SCANNED {
        let (pretokenizer, reference) = (PreTokenizer::new(name).unwrap(), Reference::new(name));
        for offset in 0..64 {
            each_string(&alphabet(name), 2, |pair| {
                let text = [&vec![b'b'; offset], pair, b"x \n1"].concat();
                assert_agree(name, &pretokenizer, &reference, &text);
            });
        }
    }
}

/// Each spelling means the same.
#[test]
fn other_spellings_agree() {
    for known in &scheme::DESCRIPTIONS {
        for spelling in known.spellings {
            let reference = Reference::of(known.name, spelling);
            let pretokenizer = PreTokenizer::new(spelling).unwrap();
            for length in 1..=4 {
                each_string(&alphabet(known.name), length, |text| {
                    assert_agree(known.name, &pretokenizer, &reference, text);
                });
            }
        }
    }
}

fn check_scalars(scalars: &(impl Iterator<Item = char> + Clone)) {
    for name in SCANNED {
        let (pretokenizer, reference) = (PreTokenizer::new(name).unwrap(), Reference::new(name));
        for character in scalars.clone() {
            assert_agree(name, &pretokenizer, &reference, in_context(character).as_bytes());
        }
    }
}

/// Scalars whose class is not that of both neighbours, and every 4096th.
#[test]
fn scalars_at_the_edges_of_classes_in_context() {
    let class_edge = |scalar: u32| {
        flags(scalar) != flags(scalar.wrapping_sub(1))
            || flags(scalar) != flags(scalar + 1)
            || scalar.is_multiple_of(4096)
    };
    check_scalars(&('\0'..=char::MAX).filter(|&character| class_edge(character.into())));
}

#[test]
#[ignore = "takes minutes; the edges of classes run always"]
fn every_scalar_in_context() {
    check_scalars(&('\0'..=char::MAX));
}
