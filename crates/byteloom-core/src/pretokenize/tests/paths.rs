//! The scanners by blocks against the scalar ones, which `exhaustive.rs` holds to the regexes.

use super::alphabet::{LARGE, alphabet, each_string, in_context};
use super::{SCANNED, pieces};
use crate::pretokenize::unicode::flags;
use crate::pretokenize::{PreTokenizer, SimdPath, WINDOW_BYTES, Window};

/// Compares the paths, with memory that is used again.
pub(super) struct Check {
    pretokenizer: PreTokenizer,
    window: Window,
    expected: Vec<usize>,
    found: Vec<usize>,
}

impl Check {
    pub(super) fn new(name: &str) -> Self {
        let pretokenizer = PreTokenizer::new(name).unwrap();
        Self { pretokenizer, window: Window::default(), expected: Vec::new(), found: Vec::new() }
    }

    pub(super) fn all() -> Vec<Self> {
        SCANNED.into_iter().map(Self::new).collect()
    }

    pub(super) fn run(&mut self, text: &[u8]) {
        let Self { pretokenizer, window, expected, found } = self;
        ends_by(pretokenizer, SimdPath::Scalar, text, window, expected);
        for &path in SimdPath::available() {
            ends_by(pretokenizer, path, text, window, found);
            assert!(
                found == expected,
                "{:?} by {} on {:?}: {:?}, the scalar scanner gives {:?}",
                pretokenizer.name(),
                path.name(),
                text.escape_ascii().to_string(),
                pieces(text, found),
                pieces(text, expected)
            );
        }
    }
}

/// The ends by windows, which must be what their description says.
fn ends_by(
    pretokenizer: &PreTokenizer,
    path: SimdPath,
    text: &[u8],
    window: &mut Window,
    ends: &mut Vec<usize>,
) {
    ends.clear();
    let mut blocks = pretokenizer.blocks_by(path, text);
    let mut last = 0;
    while blocks.next_window(window).unwrap() {
        assert!(window.start == last && window.end > last);
        assert!(window.end - last <= WINDOW_BYTES || window.ends.len() == 1);
        ends.extend(window.ends.iter().map(|&end| last + end as usize));
        last = window.end;
        assert_eq!(ends.last(), Some(&last));
    }
    assert_eq!(last, text.len());
}

/// `inner` behind `offset` bytes and before some more: letters, so that what is at the edge of a block counts.
fn placed(text: &mut Vec<u8>, offset: usize, inner: &[u8]) {
    text.clear();
    text.resize(offset, b'b');
    text.extend_from_slice(inner);
    text.extend_from_slice(b"x \n1");
}

fn check_strings(length: u32, offsets: &(impl Iterator<Item = usize> + Clone)) {
    let mut text = Vec::new();
    for name in SCANNED {
        let mut check = Check::new(name);
        each_string(&alphabet(name), length, |string| {
            for offset in offsets.clone() {
                placed(&mut text, offset, string);
                check.run(&text);
            }
        });
    }
}

#[test]
fn short_strings_at_every_offset_of_a_block() {
    for length in 0..=2 {
        check_strings(length, &(0..130));
    }
    check_strings(3, &(0..64).step_by(7).chain(60..=64));
}

#[test]
#[ignore = "takes minutes; shorter strings run always"]
fn longer_strings_at_every_offset_of_a_block() {
    check_strings(3, &(0..130));
    check_strings(4, &(0..64));
    check_strings(5, &(58..=64).chain([0, 30]));
}

#[test]
#[ignore = "takes many minutes; shorter strings run always"]
fn strings_of_six_units_over_the_edge_of_a_block() {
    check_strings(6, &[59, 61].into_iter());
}

/// Strings that end the text, at every offset: what is behind the end is no text.
#[test]
fn short_strings_at_the_end_of_the_text() {
    let mut text = Vec::new();
    for name in SCANNED {
        let mut check = Check::new(name);
        for length in 1..=2 {
            each_string(&alphabet(name), length, |string| {
                for offset in 0..130 {
                    text.clear();
                    text.resize(offset, b' ');
                    text.extend_from_slice(string);
                    check.run(&text);
                    text[..offset].fill(b'b');
                    check.run(&text);
                }
            });
        }
    }
}

/// Runs of every unit, of every length around one and two blocks, between others.
#[test]
fn long_runs() {
    let mut text = Vec::new();
    for check in &mut Check::all() {
        for unit in LARGE {
            for times in (1..10).chain(15..23).chain(30..34).chain(61..68).chain(126..130) {
                for before in ["", "a", "\n", "! ", "日\n ", "1'"] {
                    for after in ["", "a", "\n", " A", "'s", "1"] {
                        text.clear();
                        text.extend_from_slice(before.as_bytes());
                        text.extend(unit.repeat(times));
                        text.extend_from_slice(after.as_bytes());
                        check.run(&text);
                    }
                }
            }
        }
    }
}

/// Pre-tokens longer than a window, and windows that end anywhere in one.
#[test]
fn windows_of_long_pre_tokens() {
    for check in &mut Check::all() {
        for unit in ["a", "é", "日", " ", "\u{3000}", "\n", "1", "!", "Ab", " a", "\n  ", "'s"] {
            let long = unit.repeat(40_000 / unit.len());
            for text in
                [long.clone(), format!("a {long} b"), format!("{long}\n{long}1"), format!("\n{long}\n")]
            {
                check.run(text.as_bytes());
            }
        }
        for length in WINDOW_BYTES - 70..WINDOW_BYTES + 70 {
            check.run(&b" word".repeat(4000)[..length]);
            check.run("x".repeat(length).as_bytes());
        }
    }
}

/// `character` in contexts of ASCII and of many characters beyond it, at an offset that depends on it.
fn check_scalars(scalars: impl Iterator<Item = char>) {
    let mut checks = Check::all();
    let mut text = Vec::new();
    for c in scalars {
        let offset = u32::from(c) as usize % 61;
        for inner in [in_context(c), format!("日本語{c}日本{c}{c}語の、еж{c}пA{c}é。{c} {c}")] {
            placed(&mut text, offset, inner.as_bytes());
            for check in &mut checks {
                check.run(&text);
            }
        }
    }
}

#[test]
fn scalars_at_the_edges_of_classes() {
    let class_edge = |scalar: u32| {
        flags(scalar) != flags(scalar.wrapping_sub(1))
            || flags(scalar) != flags(scalar + 1)
            || scalar.is_multiple_of(64)
    };
    check_scalars(('\0'..=char::MAX).filter(|&character| class_edge(character.into())));
}

#[test]
#[ignore = "takes a minute; the edges of classes run always"]
fn every_scalar() {
    check_scalars('\0'..=char::MAX);
}

/// Every pair of bytes beyond ASCII, and with a third: torn and overlong characters, surrogates.
#[test]
fn damaged_characters() {
    let mut text = Vec::new();
    let mut checks: Vec<_> = ["gpt2", "llama3", "o200k", "course-ws"].map(Check::new).into();
    for first in 0x80..=0xFF_u8 {
        for second in 0x80..=0xFF_u8 {
            for third in [0x20, 0x61, 0x80, 0x81, 0x9F, 0xA0, 0xBF, 0xE3] {
                for offset in [0, 62] {
                    placed(&mut text, offset, &[first, second, third, b' ', first, second]);
                    text.extend_from_slice("日本語日本語日本".as_bytes());
                    text.extend_from_slice(&[first, second, third, b'a']);
                    for check in &mut checks {
                        check.run(&text);
                    }
                }
            }
        }
    }
}
