//! Text and a tokenizer to measure with, the same on every machine.

use byteloom_core::Result;
use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{SpecialPosition, TokenizerSpec};
use byteloom_core::special::SpecialMatcher;
use byteloom_core::train::{TrainConfig, Trainer};

/// Xorshift: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Small numbers often, large ones seldom, as words occur.
    fn skewed(&mut self, end: usize) -> usize {
        let (first, second, third) = (self.below(end), self.below(end), self.below(end));
        first.min(second).min(third)
    }
}

const SYLLABLES: [&str; 24] = [
    "th", "e", "in", "an", "re", "st", "on", "at", "or", "ing", "ed", "pro", "con", "ly", "er", "al", "qu",
    "ow", "é", "ü", "tion", "ment", "s", "k",
];
const SENTENCE_ENDS: [&str; 6] = [". ", ", ", "; ", "? ", ".\n", ".\n\n"];

/// About `bytes` bytes of text: sentences, lines of code, numbers, contractions, Cyrillic and CJK.
pub fn text(bytes: usize) -> String {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let words: Vec<String> = (0..4_000)
        .map(|_| (0..=random.below(3)).map(|_| SYLLABLES[random.skewed(SYLLABLES.len())]).collect())
        .collect();
    let mut text = String::with_capacity(bytes + 256);
    while text.len() < bytes {
        match random.below(12) {
            0 => {
                let (name, value) = (&words[random.skewed(4_000)], &words[random.skewed(4_000)]);
                let number = random.below(100_000);
                let line = format!("    if {name}_{value}[{number}] != \"{value}\":\n        return None\n");
                text.push_str(&line);
            }
            1 => text.extend((0..20).filter_map(|_| char::from_u32(0x4E00 + random.skewed(3_000) as u32))),
            2 => text.extend((0..24).filter_map(|_| char::from_u32(0x0430 + random.below(32) as u32))),
            _ => {
                for _ in 0..=random.below(12) {
                    text.push_str(&words[random.skewed(4_000)]);
                    text.push_str(if random.below(40) == 0 { "'s " } else { " " });
                }
                text.push_str(SENTENCE_ENDS[random.below(SENTENCE_ENDS.len())]);
            }
        }
    }
    text
}

/// What `merges` merges learned from `text` make of the `pattern`.
pub fn spec(text: &[u8], pattern: &str, merges: usize) -> Result<TokenizerSpec> {
    let config = TrainConfig { merges, ..TrainConfig::default() };
    let mut trainer = Trainer::new(PreTokenizer::new(pattern)?, SpecialMatcher::new([])?, config)?;
    trainer.feed_documents(&[text], &mut |_| Ok(()))?;
    let (learned, _) = trainer.finish(&mut |_| Ok(()))?;
    TokenizerSpec::from_merges(&learned.merges, PreTokenizer::new(pattern)?, &[], SpecialPosition::Last)
}
