//! Times merging by itself: `merge_bench DATA_DIR [vocabulary] [part]`, where a part is `build`, `short`, `cuts` or `long`.
//!
//! DATA_DIR holds `english.txt`, `code.txt`, `multi.txt`, `cjk.txt` and the vocabularies in `vocab/`. Each figure is
//! the best of several rounds.
#![expect(clippy::print_stdout, reason = "it is a report")]
#![expect(clippy::unwrap_used, reason = "a fault ends it")]
#![expect(clippy::too_many_lines, reason = "one part after the other")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use byteloom_core::format::tiktoken;
use byteloom_core::merge::{Ends, MergeScratch, MergeTable, SafeCuts};
use byteloom_core::spec::TokenizerSpec;
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::Tokenizer;

const PREFIX: usize = 4 << 20;

fn best(rounds: usize, mut work: impl FnMut()) -> f64 {
    (0..rounds).fold(f64::INFINITY, |best, _| {
        let start = Instant::now();
        work();
        best.min(start.elapsed().as_secs_f64())
    })
}

/// The distinct pre-tokens of a text that are no token, in order of first appearance.
fn types(text: &[u8], spec: &TokenizerSpec) -> Vec<Vec<u8>> {
    let tokenizer = Tokenizer::new(spec.clone(), 0).unwrap();
    let (mut seen, mut types, mut start) = (HashSet::new(), vec![], 0);
    for end in tokenizer.pretoken_ends(text).unwrap() {
        let piece = &text[start..end];
        if spec.vocab.id(piece).is_none() && seen.insert(piece) {
            types.push(piece.to_vec());
        }
        start = end;
    }
    types
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn pick(&mut self, from: &[char], count: usize) -> String {
        (0..count).map(|_| from[self.below(from.len())]).collect()
    }
}

fn shapes() -> Vec<(&'static str, String)> {
    let mut random = Random(5);
    let letters: Vec<char> = ('a'..='z').collect();
    let base64: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let latin: Vec<char> = ('\u{C0}'..='\u{FF}').collect();
    let han: Vec<char> = ('\u{4E00}'..='\u{9FFF}').collect();
    let thai: Vec<char> = ('\u{E01}'..='\u{E2E}').collect();
    vec![
        ("a", "a".repeat(1_000_000)),
        ("ab", random.pick(&['a', 'b'], 1_000_000)),
        ("letters", random.pick(&letters, 1_000_000)),
        ("spaces", " ".repeat(1_000_000)),
        ("newlines", "\n".repeat(1_000_000)),
        ("^", "^".repeat(1_000_000)),
        (
            "digits",
            random.pick(&letters[..0].iter().copied().chain('0'..='9').collect::<Vec<_>>(), 1_000_000),
        ),
        ("base64", random.pick(&base64, 1_000_000)),
        ("latin1", random.pick(&latin, 500_000)),
        ("marks", format!("a{}", "\u{301}".repeat(500_000))),
        ("han", random.pick(&han, 333_000)),
        ("thai", random.pick(&thai, 333_000)),
        ("emoji", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}".repeat(55_000)),
    ]
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let data = &arguments[1];
    let name = arguments.get(2).map_or("cl100k_base", String::as_str);
    let part = arguments.get(3).map_or("", String::as_str);
    let file = std::fs::read(format!("{data}/vocab/{name}.tiktoken")).unwrap();
    let pattern = if name.starts_with("o200k") { "o200k" } else { "cl100k" };
    let spec = tiktoken::read(&file, Some(pattern), None).unwrap();
    let table = MergeTable::new(&spec).unwrap();
    let mut lengths = vec![0; spec.max_token_id() as usize + 1];
    for (id, bytes) in spec.vocab.iter() {
        lengths[id as usize] = bytes.len();
    }
    let length_of = |id: TokenId| lengths[id as usize];
    let (mut scratch, mut ids) = (MergeScratch::default(), Vec::new());

    if part.is_empty() || part == "build" {
        let cuts = best(40, || drop(black_box(SafeCuts::of(&spec))));
        let table = best(40, || drop(black_box(MergeTable::new(&spec))));
        println!("table {:.2} ms, of which cuts {:.2} ms", 1e3 * table, 1e3 * cuts);
    }
    if part.is_empty() || part == "short" {
        for corpus in ["english", "code", "multi", "cjk"] {
            let text = std::fs::read(format!("{data}/{corpus}.txt")).unwrap();
            let types = types(&text[..PREFIX.min(text.len())], &spec);
            let mut line = format!("{corpus:8}");
            for (from, to) in [(2, 16), (17, 64)] {
                let pieces: Vec<&Vec<u8>> =
                    types.iter().filter(|piece| (from..=to).contains(&piece.len())).collect();
                let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
                // Some hundred at a time, so that what else runs on this machine spoils few figures.
                let seconds: f64 = pieces
                    .chunks(500)
                    .map(|some| {
                        best(9, || {
                            ids.clear();
                            for piece in some {
                                table.merge(piece, length_of, &mut scratch, &mut ids);
                            }
                        })
                    })
                    .sum();
                let each = seconds * 1e9 / pieces.len() as f64;
                let _ = write!(
                    line,
                    "  {from:2}..={to} B: {each:6.1} ns a type, {:5.1} ns/B of {:6} types,",
                    seconds * 1e9 / bytes as f64,
                    pieces.len()
                );
            }
            println!("{}", line.trim_end_matches(','));
        }
    }
    if part.is_empty() || part == "cuts" {
        let cuts = table.cuts().unwrap();
        for corpus in ["english", "code", "multi", "cjk"] {
            let text = std::fs::read(format!("{data}/{corpus}.txt")).unwrap();
            let pieces = types(&text[..PREFIX.min(text.len())], &spec);
            let pieces: Vec<&Vec<u8>> = pieces.iter().filter(|piece| piece.len() > 16).collect();
            let boundaries: usize = pieces
                .iter()
                .map(|piece| piece.iter().filter(|&&byte| byte & 0xC0 != 0x80).count().saturating_sub(1))
                .sum();
            let (mut ends, mut found) = (Ends::default(), 0);
            let seconds: f64 = pieces
                .chunks(500)
                .map(|some| {
                    best(9, || {
                        ends.clear();
                        for piece in some {
                            let is_valid = std::str::from_utf8(piece).is_ok();
                            cuts.cut(piece, 0..piece.len(), || is_valid, &mut ends);
                        }
                    }) + {
                        found += ends.as_slice().len();
                        0.0
                    }
                })
                .sum();
            println!(
                "{corpus:8} {:4.1} ns a boundary of {boundaries} in {} types of more than 16 B, {:.1} % cut",
                seconds * 1e9 / boundaries as f64,
                pieces.len(),
                100.0 * found as f64 / boundaries as f64
            );
        }
    }
    if part.is_empty() || part == "long" {
        for (shape, text) in shapes() {
            // Before and after there was enough long text to prepare for it.
            let table = MergeTable::new(&spec).unwrap();
            let piece = &text.as_bytes()[..20_000];
            let mut time = |piece: &[u8], rounds| {
                best(rounds, || {
                    ids.clear();
                    table.merge(piece, length_of, &mut scratch, &mut ids);
                })
            };
            let at_first = time(piece, 8) / 0.02;
            let once = time(text.as_bytes(), 1);
            let later = time(piece, 40) / 0.02;
            let whole = time(text.as_bytes(), 4) / (text.len() as f64 / 1e6);
            println!(
                "{shape:10} s/MB: {at_first:.4} at first, {later:.4} later, {whole:.4} in a whole MB; \
                 {:.1} ms for the MB between; {:.2} bytes a token",
                1e3 * once,
                text.len() as f64 / ids.len() as f64
            );
        }
    }
}
