//! Training: from text to the merges of a BPE vocabulary, of bytes or of characters.
//!
//! Text is cut into pre-tokens and counted ([`PretokenCounts`]); then merges are learned from the distinct pre-tokens
//! ([`bpe::learn`]). Same text, same merges, whatever the threads, the batches or the blocks.

pub mod bpe;
mod cells;
mod counts;
mod floor;
mod initial;
pub(crate) mod input;
mod learn;
mod pairs;
mod parallel;
pub(crate) mod progress;
mod queue;
mod reading;
mod run;
mod seeds;
mod sides;
mod start;
mod store;
mod store_file;
mod symbols;
mod taken;
mod tie;
mod trace;
mod unfinished;
pub mod words;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

pub use bpe::{Learned, Stopped};
pub use counts::PretokenCounts;
pub use input::InvalidUtf8;
pub use progress::{Hook, Progress, Stage};
pub use reading::joined;
pub use store::{CountConfig, CountFigures, CountStore, Counting};
pub use symbols::Symbols;
pub use tie::TieBreak;
pub use trace::TraceStep;
pub use unfinished::Unfinished;

use crate::error::{Error, Result};
use crate::pretokenize::PreTokenizer;
use crate::spec::{Alphabet, TokenizerSpec};
use crate::special::{SpecialMatcher, SpecialToken};
use input::Document;
use parallel::{Counter, Splitter};
use progress::Pacer;

/// What to learn, and with how many threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainConfig {
    /// What merging begins with.
    pub symbols: Symbols,
    /// How many merges at most: the vocabulary without its symbols and its special tokens.
    pub merges: usize,
    /// A pair that occurs less often is not merged; at least 1.
    pub min_frequency: u64,
    /// The longest token in symbols, at least 2. Never more than [`MAX_TOKEN_BYTES`] in bytes.
    pub max_token_length: Option<usize>,
    /// The rule for ties.
    pub tie_break: TieBreak,
    /// Strings that no merge may make, though they may stand in the text.
    pub taken: Vec<String>,
    /// How many threads count text; at least 1. They change the time, never the result.
    pub threads: usize,
    /// Tell how each merge was chosen, with this many runners-up.
    pub trace: Option<usize>,
    /// Tokens that must exist, whatever the text says.
    pub seeds: Vec<Vec<u8>>,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            symbols: Symbols::default(),
            merges: 0,
            min_frequency: 2,
            max_token_length: None,
            tie_break: TieBreak::default(),
            taken: Vec::new(),
            threads: 1,
            trace: None,
            seeds: Vec::new(),
        }
    }
}

/// What a training saw and did.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainReport {
    /// Documents fed.
    pub documents: u64,
    /// Bytes of text fed: of documents as given, of files as they stand on disk.
    pub bytes: u64,
    /// Pre-tokens counted.
    pub pretokens: u64,
    /// Distinct pre-tokens.
    pub unique_pretokens: usize,
    /// Bytes of all pre-tokens counted: the text without special tokens.
    pub pretoken_bytes: u64,
    /// Places where the text spelled a special token.
    pub special_tokens_seen: u64,
    /// Bytes of files replaced because they were not UTF-8.
    pub invalid_bytes: u64,
    /// Merges learned.
    pub merges: usize,
    /// Which of them are there for the sake of seeds.
    pub seeded: Range<usize>,
    /// Why there are no more.
    pub stopped: Stopped,
    /// Time spent in feeding.
    pub count_time: Duration,
    /// Time spent in learning merges.
    pub merge_time: Duration,
}

/// Bytes of a file that a thread counts at a time: they stay in its cache from reading to counting.
const BLOCK: usize = 256 << 10;
/// The fewest bytes worth a thread of their own.
const LEAST_SHARE: usize = 256 << 10;

/// Learns a byte-level BPE vocabulary from text.
///
/// ```
/// use byteloom_core::pretokenize::PreTokenizer;
/// use byteloom_core::special::SpecialMatcher;
/// use byteloom_core::train::{TrainConfig, Trainer};
///
/// let config = TrainConfig { merges: 2, ..TrainConfig::default() };
/// let mut trainer = Trainer::new(PreTokenizer::new(r"\s+|\S+")?, SpecialMatcher::new([])?, config)?;
/// trainer.feed_documents(&[b"low lower lowest"], &mut |_| Ok(()))?;
/// let (learned, report) = trainer.finish(&mut |_| Ok(()))?;
/// assert_eq!(learned.merges, [(u32::from(b'l'), u32::from(b'o')), (256, u32::from(b'w'))]);
/// assert_eq!(learned.counts, [3, 3]);
/// assert_eq!(report.pretokens, 5);
/// # Ok::<(), byteloom_core::Error>(())
/// ```
///
/// After an error a trainer holds part of what was fed last; drop it.
#[derive(Debug)]
pub struct Trainer {
    config: TrainConfig,
    counter: Counter,
    block: usize,
    documents: u64,
    bytes: u64,
    invalid_bytes: u64,
    /// Special tokens in text that was counted elsewhere.
    specials_fed: u64,
    count_time: Duration,
    /// The vocabulary that the training goes on from.
    start: Option<TokenizerSpec>,
}

impl Trainer {
    /// A trainer that has seen no text.
    ///
    /// The strings of the `specials` end and begin documents wherever they stand, and are never counted.
    ///
    /// # Errors
    /// [`Error::Argument`] for a setting out of range.
    pub fn new(pretokenizer: PreTokenizer, specials: SpecialMatcher, config: TrainConfig) -> Result<Self> {
        if config.threads == 0 {
            return Err(Error::Argument("threads is 0; at least one is needed".into()));
        }
        if config.min_frequency == 0 {
            return Err(Error::Argument(
                "min_frequency is 0; a pair that never occurs cannot be merged".into(),
            ));
        }
        if config.symbols == Symbols::Characters && config.tie_break == TieBreak::HuggingFace {
            return Err(Error::Argument(
                "the tie-break \"huggingface\" is an order of bytes; with an alphabet of characters use \
                 \"smallest_pair\" or \"first_seen\""
                    .into(),
            ));
        }
        let symbols = if config.symbols == Symbols::Bytes { 256 } else { 0 };
        bpe::check(config.merges, symbols, config.max_token_length)?;
        let splitter = Splitter { pretokenizer, specials };
        seeds::check(&config, &splitter)?;
        Ok(Self {
            block: BLOCK,
            counter: Counter::new(splitter, config.threads, LEAST_SHARE),
            config,
            documents: 0,
            bytes: 0,
            invalid_bytes: 0,
            specials_fed: 0,
            count_time: Duration::ZERO,
            start: None,
        })
    }

    /// A trainer that goes on from the vocabulary of `spec`: text is merged as its tokenizer does, and what is learned
    /// has the ids behind its largest. The strings of its special tokens end and begin documents, unless they are among
    /// those of [`TrainConfig::taken`].
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::Training`] for a tokenizer that changes text before it cuts it.
    pub fn continuing(spec: &TokenizerSpec, config: TrainConfig) -> Result<Self> {
        if !spec.normalizer.is_identity() {
            return Err(Error::Training(format!(
                "this tokenizer changes text before it cuts it ({}), and training counts text as it is; such a \
                 vocabulary cannot be extended",
                spec.normalizer.names().join(", ")
            )));
        }
        let symbols = if spec.alphabet == Alphabet::Bytes { Symbols::Bytes } else { Symbols::Characters };
        let boundaries = spec.special.tokens().iter().filter(|token| !config.taken.contains(&token.content));
        let boundaries: Vec<_> =
            boundaries.map(|token| SpecialToken::new(token.content.as_str(), token.id)).collect();
        let specials = SpecialMatcher::new(&boundaries)?;
        let config = TrainConfig { symbols, ..config };
        let trainer = Self::new(spec.pretokenizer.clone(), specials, config)?;
        Ok(Self { start: Some(spec.clone()), ..trainer })
    }

    /// Says how many bytes will be fed in all, for progress.
    pub fn expect_bytes(&mut self, bytes: u64) {
        self.counter.expected = Some(bytes);
    }

    /// What has been counted so far.
    ///
    /// # Errors
    /// [`Error::Training`] where the sum of all counts leaves 64 bits.
    pub fn counts(&mut self) -> Result<&PretokenCounts> {
        self.counter.counts().map(|counts| &*counts)
    }

    /// The distinct characters of everything fed, ascending: the initial symbols of [`Symbols::Characters`].
    ///
    /// # Errors
    /// [`Error::Text`] for a pre-token that is not UTF-8.
    pub fn characters(&mut self) -> Result<Vec<char>> {
        symbols::distinct_characters(self.counts()?)
    }

    /// Asks for another number of merges, where it follows from the number of characters.
    pub fn set_merges(&mut self, merges: usize) {
        self.config.merges = merges;
    }

    /// Adds counts made elsewhere, as the counts of text that follows what was fed before.
    pub fn feed_counts(&mut self, counts: PretokenCounts) -> Result<()> {
        self.counter.absorb(counts)
    }

    /// Takes counts of text of any size, as those of text that follows what was fed before.
    ///
    /// # Errors
    /// [`Error::Argument`] where they were made with another pattern or other special tokens, or where the rule for
    /// ties asks for places that they do not have.
    pub fn feed_store(&mut self, store: &CountStore, hook: &mut Hook<'_>) -> Result<()> {
        let started = Instant::now();
        let (theirs, ours) = (store.config(), &self.counter.splitter.pretokenizer);
        if theirs.pretokenizer.regex() != ours.regex() {
            let name = |pattern: &PreTokenizer| pattern.name().unwrap_or(pattern.regex()).to_owned();
            return Err(Error::Argument(format!(
                "the counts were made with the pattern {:?}, and the training asks for {:?}; pass the same one",
                name(&theirs.pretokenizer),
                name(ours)
            )));
        }
        if !store.is_ordered() && self.config.tie_break != TieBreak::SmallestPair {
            return Err(Error::Argument(format!(
                "the tie-break \"{}\" asks where pre-tokens stood in the text, which these counts do not say: they \
                 come from a table of words and counts; use \"smallest_pair\"",
                self.config.tie_break
            )));
        }
        let counts = store.in_order(hook)?;
        self.counter.absorb(counts)?;
        let figures = store.figures();
        self.documents += figures.documents;
        self.bytes += figures.bytes;
        self.invalid_bytes += figures.invalid_bytes;
        self.specials_fed += figures.special_tokens_seen;
        self.count_time += started.elapsed();
        Ok(())
    }

    /// Counts documents, in the order given.
    pub fn feed_documents(&mut self, documents: &[&[u8]], hook: &mut Hook<'_>) -> Result<()> {
        let started = Instant::now();
        if self.config.symbols == Symbols::Characters {
            for (index, document) in (self.documents..).zip(documents) {
                std::str::from_utf8(document).map_err(|error| {
                    Error::Text(format!(
                        "document {index} is not UTF-8 from byte {} on, and an alphabet of characters needs text",
                        error.valid_up_to()
                    ))
                })?;
            }
        }
        let mut pacer = Pacer::new(hook);
        self.counter.count(documents, &mut pacer)?;
        self.documents += documents.len() as u64;
        self.bytes += documents.iter().map(|text| text.len() as u64).sum::<u64>();
        self.finish_feed(started, &mut pacer)
    }

    /// Counts a file as one document, read in blocks.
    ///
    /// Memory is bounded by the block, except where the pattern has no place to cut the text.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read; [`Error::Text`] when it is not UTF-8 and `invalid` is strict.
    pub fn feed_file(&mut self, path: &Path, invalid: InvalidUtf8, hook: &mut Hook<'_>) -> Result<()> {
        let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
        self.feed_reader(&mut file, path, invalid, hook)
    }

    /// [`Self::feed_file`] from an open reader; `path` is its name in messages.
    pub fn feed_reader(
        &mut self,
        reader: &mut (dyn Read + Send),
        path: &Path,
        invalid: InvalidUtf8,
        hook: &mut Hook<'_>,
    ) -> Result<()> {
        let started = Instant::now();
        if self.config.symbols == Symbols::Characters && invalid == InvalidUtf8::Keep {
            return Err(Error::Argument(
                "bytes that are not UTF-8 cannot be kept in an alphabet of characters; use \"strict\" or \"replace\""
                    .into(),
            ));
        }
        let mut pacer = Pacer::new(hook);
        let mut document = Document::new(reader, path, invalid);
        self.counter.count_document(&mut document, self.block, &mut pacer)?;
        self.documents += 1;
        self.bytes += document.bytes_read();
        self.invalid_bytes += document.replaced;
        self.finish_feed(started, &mut pacer)
    }

    fn finish_feed(&mut self, started: Instant, pacer: &mut Pacer<'_>) -> Result<()> {
        self.counter.done = self.bytes;
        self.count_time += started.elapsed();
        pacer.call(self.counter.progress())
    }
}
