//! The last step of a training: from counts to merges.

use std::ops::Range;
use std::time::Instant;

use super::bpe::{self, Learned, Stopped};
use super::counts::PretokenCounts;
use super::progress::{Hook, Pacer};
use super::seeds::Bed;
use super::start::Start;
use super::symbols::{Numbers, Symbols};
use super::tie::TieBreak;
use super::words::Words;
use super::{TrainConfig, TrainReport, Trainer};
use crate::error::Result;
use crate::pretokenize::PreTokenizer;
use crate::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use crate::token::{MAX_TOKEN_BYTES, TokenId};

/// What merging begins with, by the numbers of a training.
enum Beginning {
    Symbols(Numbers, TieBreak),
    /// The tokens of a vocabulary, and the id of the first new one.
    Tokens(Box<Start>, TokenId),
}

impl Beginning {
    fn words(&self, counts: &PretokenCounts, merges: usize, pacer: &mut Pacer<'_>) -> Result<Words> {
        match self {
            Self::Symbols(numbers, _) => numbers.words(counts, merges, pacer),
            Self::Tokens(start, _) => start.words(counts, merges, pacer),
        }
    }

    fn taken(&self, strings: &[String], counts: &PretokenCounts) -> Result<Vec<Vec<u32>>> {
        match self {
            Self::Symbols(numbers, _) => Ok(numbers.taken(strings, counts)),
            Self::Tokens(start, _) => start.taken(strings, counts),
        }
    }

    /// Puts ids in the place of the numbers of this training; bytes by their values, where there are no ids yet.
    fn name(&self, learned: &mut Learned) {
        let byte_of = match self {
            Self::Symbols(Numbers::Bytes(_), tie_break) => Some(tie_break.byte_of_symbol()),
            _ => None,
        };
        let name = |symbol: u32| match (self, &byte_of) {
            (Self::Tokens(start, first_new), _) => start.id(symbol, *first_new),
            (_, Some(bytes)) => bytes.get(symbol as usize).map_or(symbol, |&byte| byte.into()),
            _ => symbol,
        };
        let runners_up = learned.trace.iter_mut().flatten().flat_map(|step| &mut step.runners_up);
        for (left, right) in learned.merges.iter_mut().chain(runners_up.map(|(pair, _)| pair)) {
            (*left, *right) = (name(*left), name(*right));
        }
    }
}

/// The longest token in initial symbols.
pub(super) fn longest(config: &TrainConfig) -> usize {
    let most = match config.symbols {
        Symbols::Bytes => MAX_TOKEN_BYTES,
        Symbols::Characters => MAX_TOKEN_BYTES / char::MAX.len_utf8(),
    };
    config.max_token_length.unwrap_or(most).min(most)
}

impl TrainConfig {
    fn learn(
        &self,
        words: Words,
        merges: usize,
        taken: Vec<Vec<u32>>,
        hook: &mut Hook<'_>,
    ) -> Result<Learned> {
        let options = bpe::Options {
            merges,
            min_frequency: self.min_frequency,
            max_token_length: Some(longest(self)),
            order: self.tie_break.order(),
            taken,
        };
        match self.trace {
            None => bpe::learn(words, &options, hook),
            Some(runners_up) => bpe::learn_traced(words, &options, runners_up, hook),
        }
    }

    /// Puts the merges of seeds behind those of the text, and what there is room for behind both.
    fn plant(
        &self,
        learned: &mut Learned,
        counts: &PretokenCounts,
        numbers: &Numbers,
        pretokenizer: &PreTokenizer,
        hook: &mut Hook<'_>,
    ) -> Result<Range<usize>> {
        let seeds = self.seeds.iter().enumerate().map(|(index, seed)| numbers.spell_seed(index, seed));
        let taken: Vec<Vec<u32>> =
            self.taken.iter().filter_map(|name| numbers.spell_bytes(name.as_bytes()).ok()).collect();
        let bed = Bed {
            base: learned.base,
            merges: &learned.merges,
            seeds: &seeds.collect::<Result<Vec<_>>>()?,
            taken: &taken,
        };
        let planted = bed.plant(self.merges)?;
        let text_has_more = planted.learned < learned.merges.len();
        learned.merges.truncate(planted.learned);
        learned.counts.truncate(planted.learned);
        learned.tied.truncate(planted.learned);
        learned.merges.extend(planted.added);
        learned.counts.resize(learned.merges.len(), 0);
        learned.tied.resize(learned.merges.len(), false);
        let seeded = planted.learned..learned.merges.len();
        let left = self.merges - learned.merges.len();
        if left == 0 {
            learned.stopped = Stopped::VocabSize;
        } else if text_has_more {
            // One merge of the text more would have made the seeds longer than there is room.
            let spec = numbers.spec(&learned.merges, pretokenizer)?;
            let first_new = learned.base + learned.merges.len() as u32;
            let beginning = Beginning::Tokens(Box::new(Start::new(&spec, self.tie_break)?), first_new);
            let words = beginning.words(counts, left, &mut Pacer::new(hook))?;
            let mut more = self.learn(words, left, beginning.taken(&self.taken, counts)?, hook)?;
            beginning.name(&mut more);
            learned.merges.extend(more.merges);
            learned.counts.extend(more.counts);
            learned.tied.extend(more.tied);
            learned.stopped = more.stopped;
        }
        let whole = Start::new(&numbers.spec(&learned.merges, pretokenizer)?, self.tie_break)?;
        learned.unfinished = Some(whole.words(counts, 0, &mut Pacer::new(hook))?.unfinished()?);
        Ok(seeded)
    }
}

impl Numbers {
    /// The vocabulary of these symbols and of some merges, without special tokens; ids are the numbers.
    fn spec(&self, merges: &[(u32, u32)], pretokenizer: &PreTokenizer) -> Result<TokenizerSpec> {
        let pretokenizer = pretokenizer.clone();
        match self {
            Self::Bytes(_) => TokenizerSpec::from_merges(merges, pretokenizer, &[], SpecialPosition::Last),
            Self::Characters(characters) => {
                let unknown = ["unknown".to_owned()];
                TokenizerSpec::from_character_merges(
                    characters,
                    &unknown[0],
                    merges,
                    pretokenizer,
                    &unknown,
                    SpecialPosition::Last,
                )
            }
        }
    }
}

impl Trainer {
    /// Learns the merges from everything fed. They are pairs of ids; bytes have their values for ids and characters
    /// their places, unless the training goes on from a vocabulary.
    pub fn finish(self, hook: &mut Hook<'_>) -> Result<(Learned, TrainReport)> {
        let started = Instant::now();
        let Self {
            config,
            mut counter,
            documents,
            bytes,
            invalid_bytes,
            specials_fed,
            count_time,
            start,
            ..
        } = self;
        let special_tokens_seen = counter.specials() + specials_fed;
        let mut counts = std::mem::take(counter.counts()?);
        let pretokenizer = counter.splitter.pretokenizer.clone();
        drop(counter);
        let (pretokens, unique_pretokens) = (counts.total(), counts.len());
        let pretoken_bytes = counts.bytes();
        let beginning = if let Some(spec) = &start {
            Beginning::Tokens(Box::new(Start::new(spec, config.tie_break)?), spec.max_token_id() + 1)
        } else {
            let numbers = Numbers::new(config.symbols, config.tie_break, &counts)?;
            Beginning::Symbols(numbers, config.tie_break)
        };
        let words = beginning.words(&counts, config.merges, &mut Pacer::new(hook))?;
        let taken = beginning.taken(&config.taken, &counts)?;
        if config.seeds.is_empty() {
            counts = PretokenCounts::new(); // its memory is better used by the merge loop
        }
        let mut learned = config.learn(words, config.merges, taken, hook)?;
        beginning.name(&mut learned);
        // Characters that are lost, or spelled in bytes, are in no word.
        if start.as_ref().is_some_and(|spec| spec.alphabet != Alphabet::Bytes) {
            learned.unfinished = None;
        }
        let mut seeded = 0..0;
        if let Beginning::Symbols(numbers, _) = &beginning
            && !config.seeds.is_empty()
        {
            seeded = config.plant(&mut learned, &counts, numbers, &pretokenizer, hook)?;
        }
        let report = TrainReport {
            documents,
            bytes,
            pretokens,
            unique_pretokens,
            pretoken_bytes,
            special_tokens_seen,
            invalid_bytes,
            merges: learned.merges.len(),
            seeded,
            stopped: learned.stopped,
            count_time,
            merge_time: started.elapsed(),
        };
        Ok((learned, report))
    }
}
