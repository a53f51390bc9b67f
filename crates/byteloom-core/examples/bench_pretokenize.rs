//! Megabytes a second of the built-in pre-tokenizers, by path.
//!
//! `bench_pretokenize FILE [PATTERN ...]`: interleaved rounds, the best of each piece. `bench_pretokenize --short`: texts of
//! a few bytes, in nanoseconds.
#![allow(clippy::print_stdout, reason = "a program")]
#![allow(clippy::unwrap_used, reason = "a program")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use byteloom_core::pretokenize::{PreTokenizer, SimdPath, Window};

fn scan(pretokenizer: &PreTokenizer, path: SimdPath, text: &[u8], window: &mut Window) -> usize {
    let mut blocks = pretokenizer.blocks_by(path, text);
    let mut count = 0;
    while blocks.next_window(window).unwrap() {
        count += black_box(&window.ends).len();
    }
    count
}

fn short() {
    let text = b"Some text, it's short: a line or so of English, 1234 of it.\n";
    for length in [13, 30, 60, 100, 150, 200, 300, 500, 1000] {
        let text: Vec<u8> = text.iter().copied().cycle().take(length).collect();
        for name in ["gpt2", "llama3", "o200k"] {
            let pretokenizer = PreTokenizer::new(name).unwrap();
            let mut line = format!("{length:5} {name:8}");
            for &path in SimdPath::available() {
                let mut window = Window::default();
                let best = (0..40).map(|_| {
                    let start = Instant::now();
                    for _ in 0..500 {
                        scan(&pretokenizer, path, black_box(&text), &mut window);
                    }
                    start.elapsed() / 500
                });
                let _ = write!(line, "  {} {:6} ns", path.name(), best.min().unwrap_or_default().as_nanos());
            }
            println!("{line}");
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((file, names)) = arguments.split_first().filter(|(file, _)| *file != "--short") else {
        return short();
    };
    let text = std::fs::read(file).unwrap();
    let text = &text[..text.len().min(8 << 20)];
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = if all.is_empty() { PreTokenizer::names() } else { &all };
    for name in names.iter().filter(|name| **name != "none") {
        let pretokenizer = PreTokenizer::new(name).unwrap();
        let paths = SimdPath::available();
        let mut best = vec![Duration::ZERO; paths.len()];
        let mut window = Window::default();
        let mut count = 0;
        // The best of each short piece: on a machine that has other work, a whole text is never left alone.
        for piece in text.chunks(1 << 18) {
            let mut piece_best = vec![Duration::MAX; paths.len()];
            for _ in 0..9 {
                for (best, &path) in piece_best.iter_mut().zip(paths) {
                    let start = Instant::now();
                    count += scan(&pretokenizer, path, piece, &mut window);
                    *best = start.elapsed().min(*best);
                }
            }
            for (best, piece) in best.iter_mut().zip(piece_best) {
                *best += piece;
            }
        }
        count /= 9 * paths.len();
        let mut line = format!("{name:14} {count:9} pre-tokens");
        for (best, path) in best.iter().zip(paths) {
            let _ =
                write!(line, "  {} {:5.0} MB/s", path.name(), text.len() as f64 / 1e6 / best.as_secs_f64());
        }
        println!("{line}");
    }
}
