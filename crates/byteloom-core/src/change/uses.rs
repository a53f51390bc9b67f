//! How often each token of a vocabulary is used in a text of any size.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::token::TokenId;
use crate::tokenizer::{SpecialSet, Tokenizer};
use crate::train::input::Document;
use crate::train::{CountStore, Hook, InvalidUtf8, Progress, Stage, TrainConfig, Trainer};

/// Bytes of a file that are read at a time.
const BLOCK: usize = 1 << 20;

/// Counts how often each token is used when documents are encoded; strings of special tokens are these tokens.
///
/// Where special tokens and a pattern alone cut the text, pre-tokens are counted and each distinct one is encoded once:
/// in pieces, and on several threads. Else documents are encoded as a whole, one after the other.
#[derive(Debug)]
pub struct UseCounter {
    tokenizer: Tokenizer,
    /// The counter of pre-tokens, where these decide the ids.
    pretokens: Option<Box<Trainer>>,
    uses: Vec<u64>,
    bytes: u64,
}

impl UseCounter {
    /// A counter that has seen no text.
    ///
    /// # Errors
    /// [`Error::Argument`] for no threads.
    pub fn new(tokenizer: &Tokenizer, threads: usize) -> Result<Self> {
        let spec = tokenizer.spec();
        let tokens = spec.special.tokens();
        let plain = spec.normalizer.is_identity()
            && tokens.iter().all(|token| !token.flags.loses_text() && !token.flags.single_word)
            && tokens.iter().all(|token| token.flags.normalized == tokens[0].flags.normalized);
        let pretokens = plain.then(|| {
            let config = TrainConfig { threads, ..TrainConfig::default() };
            let specials = crate::special::SpecialMatcher::new(tokens)?;
            Trainer::new(spec.pretokenizer.clone(), specials, config).map(Box::new)
        });
        Ok(Self {
            tokenizer: tokenizer.clone(),
            pretokens: pretokens.transpose()?,
            uses: vec![0; spec.max_token_id() as usize + 1],
            bytes: 0,
        })
    }

    /// Says how many bytes will be fed in all, for progress.
    pub fn expect_bytes(&mut self, bytes: u64) {
        if let Some(pretokens) = &mut self.pretokens {
            pretokens.expect_bytes(bytes);
        }
    }

    /// Adds the uses in text that was counted before.
    ///
    /// # Errors
    /// [`Error::Argument`] where the counts were made with another pattern or other special tokens, or where pre-tokens
    /// of the text as it is do not decide the ids.
    pub fn feed_store(&mut self, store: &CountStore, hook: &mut Hook<'_>) -> Result<()> {
        let Some(pretokens) = &mut self.pretokens else {
            return Err(Error::Argument(
                "counts of pre-tokens do not say how this tokenizer cuts text: it normalizes text first, or its added \
                 tokens take their neighbours along; give it the text"
                    .into(),
            ));
        };
        let names: Vec<String> =
            self.tokenizer.spec().special.tokens().iter().map(|token| token.content.clone()).collect();
        store.check_special_tokens(&names)?;
        pretokens.feed_store(store, hook)
    }

    /// Takes documents.
    pub fn feed_documents(&mut self, documents: &[&[u8]], hook: &mut Hook<'_>) -> Result<()> {
        match &mut self.pretokens {
            Some(pretokens) => pretokens.feed_documents(documents, hook),
            None => documents.iter().try_for_each(|document| self.encode(document, hook)),
        }
    }

    /// Takes a file as one document.
    pub fn feed_file(&mut self, path: &Path, invalid: InvalidUtf8, hook: &mut Hook<'_>) -> Result<()> {
        let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
        self.feed_reader(&mut file, path, invalid, hook)
    }

    /// Takes all of a reader, which messages call `path`, as one document.
    pub fn feed_reader(
        &mut self,
        reader: &mut (dyn Read + Send),
        path: &Path,
        invalid: InvalidUtf8,
        hook: &mut Hook<'_>,
    ) -> Result<()> {
        if let Some(pretokens) = &mut self.pretokens {
            return pretokens.feed_reader(reader, path, invalid, hook);
        }
        let mut document = Document::new(reader, path, invalid);
        while !document.at_end {
            document.read(BLOCK)?;
            hook(&Progress { stage: Stage::Count, done: self.bytes + document.bytes_read(), total: None })?;
        }
        let text = document.text().to_vec();
        self.encode(&text, hook)
    }

    fn encode(&mut self, text: &[u8], hook: &mut Hook<'_>) -> Result<()> {
        let policy = self.tokenizer.policy(SpecialSet::All, SpecialSet::Names(&[]))?;
        let uses = &mut self.uses;
        self.tokenizer.encode_blocks(text, &policy, &mut |ids| {
            for &id in ids {
                uses[id as usize] += 1;
            }
            Ok(())
        })?;
        self.bytes += text.len() as u64;
        hook(&Progress { stage: Stage::Count, done: self.bytes, total: None })
    }

    /// How often each token is used, by id. Special tokens are not counted.
    pub fn finish(mut self, hook: &mut Hook<'_>) -> Result<Vec<u64>> {
        if let Some(pretokens) = &mut self.pretokens {
            let counts = pretokens.counts()?;
            let (total, mut ids) = (Some(counts.len() as u64), Vec::<TokenId>::new());
            for (done, (pretoken, count)) in (0..).zip(counts.iter()) {
                if done % 4096 == 0 {
                    hook(&Progress { stage: Stage::Sort, done, total })?;
                }
                ids.clear();
                self.tokenizer.encode_one(pretoken, &mut ids);
                for &id in &ids {
                    let uses = &mut self.uses[id as usize];
                    *uses = uses.saturating_add(count);
                }
            }
        }
        for token in self.tokenizer.spec().special.tokens() {
            self.uses[token.id as usize] = 0;
        }
        Ok(self.uses)
    }
}
