//! Compares the paths of the built-in pre-tokenizers on random texts: `fuzz_pretokenize SECONDS [PATH [SEED]]`; or
//! on files: `fuzz_pretokenize FILE ...`.
#![allow(clippy::print_stdout, reason = "a program")]
#![allow(clippy::unwrap_used, reason = "a program")]

use std::time::{Duration, Instant};

use byteloom_core::pretokenize::{PreTokenizer, SimdPath, WINDOW_BYTES, Window};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }
}

/// Units of every class that some pattern tells apart.
const UNITS: [&[u8]; 64] = [
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
    b"R",
    b"E",
    b"L",
    b"D",
    b"word",
    b"Word",
    b"WORD",
    "ſ".as_bytes(),
    "ß".as_bytes(),
    "É".as_bytes(),
    "Ж".as_bytes(),
    "я".as_bytes(),
    "ǅ".as_bytes(),
    "ʰ".as_bytes(),
    "日".as_bytes(),
    "本語".as_bytes(),
    "\u{301}".as_bytes(),
    "ि".as_bytes(),
    b"1",
    b"23",
    b"4567",
    "٣".as_bytes(),
    "Ⅷ".as_bytes(),
    "²".as_bytes(),
    "𝟗".as_bytes(),
    b" ",
    b" ",
    b"  ",
    b"\t",
    "\u{85}".as_bytes(),
    "\u{a0}".as_bytes(),
    "\u{3000}".as_bytes(),
    "\u{2028}".as_bytes(),
    b"\x1c",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"'",
    b"'",
    "\u{2019}".as_bytes(),
    b"/",
    b"_",
    b"\0",
    b".",
    b"!?",
    "😀".as_bytes(),
    "。".as_bytes(),
    "\u{ac}".as_bytes(),
    b"\xe6",
    b"\xf0\x9f",
    b"\xff",
];

/// A random text. Few units at a time are mixed, so that rare ones meet.
fn text(random: &mut Random) -> Vec<u8> {
    let length = match random.below(16) {
        0 => random.below(3 * WINDOW_BYTES),
        1..4 => random.below(2000),
        _ => random.below(300),
    };
    let mut text = Vec::with_capacity(length + 300);
    while text.len() < length {
        let stretch = text.len() + 1 + random.below(200);
        match random.below(16) {
            0 => text.extend((0..8).map(|_| random.next() as u8)),
            1 => {
                let scalar = char::from_u32(random.below(0x11_0000) as u32).unwrap_or('x');
                let mut buffer = [0; 4];
                text.extend(scalar.encode_utf8(&mut buffer).bytes());
            }
            2 => {
                let unit = UNITS[random.below(UNITS.len())];
                let most = if random.below(64) == 0 { 16 } else { 8 };
                let times = 1 << random.below(most);
                text.extend(unit.repeat(times));
            }
            3 => {
                while text.len() < stretch {
                    text.extend(UNITS[random.below(UNITS.len())]);
                }
            }
            _ => {
                let few: Vec<_> =
                    (0..2 + random.below(6)).map(|_| UNITS[random.below(UNITS.len())]).collect();
                while text.len() < stretch {
                    text.extend(few[random.below(few.len())]);
                }
            }
        }
    }
    // A cut anywhere, so that characters are torn.
    text.truncate(length);
    text
}

fn ends(pretokenizer: &PreTokenizer, path: SimdPath, text: &[u8], window: &mut Window, all: &mut Vec<usize>) {
    all.clear();
    let mut blocks = pretokenizer.blocks_by(path, text);
    let mut last = 0;
    while blocks.next_window(window).unwrap() {
        assert!(window.start == last && window.end > window.start);
        assert!(window.end - window.start <= WINDOW_BYTES || window.ends.len() == 1);
        all.extend(window.ends.iter().map(|&end| window.start + end as usize));
        assert_eq!(all.last(), Some(&window.end));
        last = window.end;
    }
    assert_eq!(last, text.len());
}

struct Check {
    pretokenizers: Vec<PreTokenizer>,
    paths: Vec<SimdPath>,
    window: Window,
    expected: Vec<usize>,
    found: Vec<usize>,
}

impl Check {
    fn run(&mut self, text: &[u8], what: &str) {
        for pretokenizer in &self.pretokenizers {
            ends(pretokenizer, SimdPath::Scalar, text, &mut self.window, &mut self.expected);
            for &path in &self.paths {
                ends(pretokenizer, path, text, &mut self.window, &mut self.found);
                if self.found == self.expected {
                    continue;
                }
                let same = self.found.iter().zip(&self.expected).take_while(|(a, b)| a == b).count();
                let at = self.expected[same.saturating_sub(3)..].first().copied().unwrap_or(0);
                println!(
                    "{what}: {:?} by {} differs behind end {same}: {:?}, expected {:?}",
                    pretokenizer.name(),
                    path.name(),
                    self.found.get(same),
                    self.expected.get(same)
                );
                println!("from byte {at}: {}", text[at..(at + 200).min(text.len())].escape_ascii());
                std::process::exit(1);
            }
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.get(1).filter(|_| arguments[0].parse::<u64>().is_ok());
    let paths = SimdPath::available().iter().copied().filter(|&known| known != SimdPath::Scalar);
    let mut check = Check {
        pretokenizers: PreTokenizer::names().iter().map(|name| PreTokenizer::new(name).unwrap()).collect(),
        paths: paths.filter(|known| path.is_none_or(|path| path == known.name() || path == "all")).collect(),
        window: Window::default(),
        expected: Vec::new(),
        found: Vec::new(),
    };
    let Some(seconds) = arguments.first().and_then(|first| first.parse().ok()) else {
        for file in &arguments {
            check.run(&std::fs::read(file).unwrap(), file);
            println!("{file}: the same");
        }
        return;
    };
    let seed = arguments.get(2).map_or(1, |seed| seed.parse().unwrap());
    let mut random = Random(seed);
    let (begin, mut rounds, mut bytes) = (Instant::now(), 0_u64, 0_usize);
    while begin.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..64 {
            let text = text(&mut random);
            check.run(&text, &format!("seed {seed}, round {rounds}"));
            rounds += 1;
            bytes += text.len();
        }
    }
    let names: Vec<_> = check.paths.iter().map(|path| path.name()).collect();
    println!("{rounds} texts of {bytes} bytes by {}, seed {seed}: the same", names.join(" and "));
}
