//! How a text becomes tokens, step by step.
//!
//! The ids are those of the one encoding path; the steps are what an observer of the merge rule sees while it runs.
//! Records come one at a time, so that memory stays bounded: a stretch of text between special tokens is cut into
//! pre-tokens at once (some bytes each), and all else is made when its turn comes.

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::Result;
use crate::merge::{MergeScratch, Step, SymbolKind};
use crate::normalize::{Map, Origin};
use crate::pretokenize::Cut;
use crate::token::{Rank, TokenId};
use crate::tokenizer::{Part, Poll, SpecialPolicy, Tokenizer};
use crate::utf8::UnitCursor;

/// Longer pre-tokens are given in segments of about this many bytes, cut between tokens.
///
/// Whether a merge crosses a boundary depends only on the tokens that end up beside it (see [`crate::merge`]), so the
/// merges inside a segment are those of the whole.
pub const SEGMENT: usize = 1024;

/// How much of each pre-token is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most merges.
    pub steps: usize,
    /// The most losing candidates of a merge.
    pub losers: usize,
}

/// A part of an explained text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A special or added token.
    Special {
        /// Its id.
        id: TokenId,
        /// Where it stands, in bytes and in characters.
        bytes: Range<usize>,
        /// In characters.
        characters: Range<usize>,
    },
    /// A pre-token, or a segment of a long one.
    PreToken(Box<PreToken>),
}

/// A pre-token, or a segment of a long one. Offsets are those of the text as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreToken {
    /// The number of the pre-token.
    pub index: usize,
    /// Which segment this is, and of how many.
    pub segment: (usize, usize),
    /// What is merged: normalized text.
    pub piece: Vec<u8>,
    /// Where it stands, in bytes.
    pub bytes: Range<usize>,
    /// For each pattern of a sequence the alternative, and the span of what it matched.
    pub matches: Vec<(Option<u32>, Range<usize>)>,
    /// Whether the vocabulary has the pre-token as a whole, and so no merge decided.
    pub whole: bool,
    /// What merging begins with: id, length in bytes, kind.
    pub symbols: Vec<(TokenId, usize, SymbolKind)>,
    /// The merges.
    pub trace: Trace,
    /// The tokens.
    pub tokens: Vec<Token>,
}

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// Its length in the piece.
    pub length: usize,
    /// In bytes of the text as it was given.
    pub bytes: Range<usize>,
    /// In characters.
    pub characters: Range<usize>,
}

/// The merges of a piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The merges in order, as far as the limit goes.
    pub steps: Vec<MergeStep>,
    /// Every merge as a node: the nodes it joins, its result and its rank. Node `n` below the number of symbols is
    /// that symbol, and the others are merges in order.
    pub nodes: Vec<(u32, u32, TokenId, Rank)>,
    /// The nodes that are left.
    pub roots: Vec<u32>,
    /// The ids that are left.
    pub ids: Vec<TokenId>,
}

/// A pair of symbols that has a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The rank of the merge.
    pub rank: Rank,
    /// The place of the left symbol among the symbols.
    pub at: usize,
    /// Where it begins, in bytes of the piece.
    pub start: usize,
    /// The left symbol.
    pub left: TokenId,
    /// The right symbol.
    pub right: TokenId,
    /// What they become.
    pub result: TokenId,
}

/// A merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeStep {
    /// The pair that is joined.
    pub pair: Pair,
    /// Where the result ends, in bytes of the piece.
    pub end: usize,
    /// The best of the pairs that were not.
    pub losers: Vec<Pair>,
    /// How many more there were.
    pub losers_left_out: usize,
}

/// Looks on while a piece is merged.
struct Observer {
    limits: Limits,
    trace: Trace,
    /// Of the symbols as they are now.
    nodes: Vec<u32>,
    starts: Vec<usize>,
    symbols: u32,
    length: usize,
}

impl Observer {
    fn new(symbols: &[(TokenId, usize, SymbolKind)], limits: Limits) -> Self {
        let mut length = 0;
        let starts = symbols.iter().map(|&(_, len, _)| {
            length += len;
            length - len
        });
        let starts = starts.collect();
        let count = symbols.len() as u32;
        Self { limits, trace: Trace::default(), nodes: (0..count).collect(), starts, symbols: count, length }
    }

    fn pair(&self, step: &Step<'_>, at: usize) -> Option<Pair> {
        let (rank, result) = step.merge_at(at)?;
        let (left, right) = (*step.symbols.get(at)?, *step.symbols.get(at + 1)?);
        Some(Pair { rank, at, start: *self.starts.get(at)?, left, right, result })
    }

    fn see(&mut self, step: &Step<'_>) {
        let Some(pair) = self.pair(step, step.at) else { return };
        if self.trace.steps.len() < self.limits.steps {
            let mut losers: Vec<Pair> = Vec::with_capacity(self.limits.losers.min(step.symbols.len()) + 1);
            let mut all = 0;
            for place in (0..step.symbols.len()).filter(|&place| place != step.at) {
                let Some((rank, _)) = step.merge_at(place) else { continue };
                all += 1;
                let before = losers.partition_point(|loser| loser.rank <= rank);
                if before < self.limits.losers {
                    losers.extend(self.pair(step, place));
                    losers[before..].rotate_right(1);
                    losers.truncate(self.limits.losers);
                }
            }
            let end = self.starts.get(pair.at + 2).copied().unwrap_or(self.length);
            let losers_left_out = all - losers.len();
            self.trace.steps.push(MergeStep { pair, end, losers, losers_left_out });
        }
        let made = self.symbols + self.trace.nodes.len() as u32;
        let (left, right) = (self.nodes[pair.at], self.nodes[pair.at + 1]);
        self.trace.nodes.push((left, right, pair.result, pair.rank));
        self.nodes[pair.at] = made;
        self.nodes.remove(pair.at + 1);
        self.starts.remove(pair.at + 1);
    }
}

/// A part of the text that waits for its turn.
#[derive(Debug)]
enum Waiting {
    Token(TokenId, Range<usize>),
    Text(Stretch),
}

/// Ordinary text.
#[derive(Debug)]
struct Stretch {
    /// The text where it was normalized; otherwise it is the text as given at this place.
    normalized: Option<Vec<u8>>,
    given: Range<usize>,
    map: Map,
    from: usize,
    base: usize,
}

impl Stretch {
    fn new(text: &[u8], origin: &Origin<'_>) -> Self {
        let part = origin.from..origin.from + text.len();
        let changed = !origin.map.is_identity();
        Self {
            normalized: changed.then(|| text.to_vec()),
            given: origin.base + part.start..origin.base + part.end,
            map: if changed { origin.map.restricted(part) } else { Map::default() },
            from: origin.from,
            base: origin.base,
        }
    }

    fn text<'t>(&'t self, given: &'t [u8]) -> &'t [u8] {
        self.normalized.as_deref().unwrap_or_else(|| &given[self.given.clone()])
    }

    fn origin(&self) -> Origin<'_> {
        Origin { map: &self.map, from: self.from, base: self.base }
    }
}

/// The stretch whose turn it is.
#[derive(Debug)]
struct Current {
    stretch: Stretch,
    /// By pattern of a sequence; the last are the pre-tokens.
    cuts: Vec<Vec<Cut>>,
    /// For each, which piece is next and where it begins.
    places: Vec<(usize, usize)>,
    /// What is left of a long pre-token.
    long: Option<Long>,
}

/// A pre-token in segments.
#[derive(Debug)]
struct Long {
    ids: Vec<TokenId>,
    /// The next segment, and of how many.
    segment: (usize, usize),
    /// The next id, and where its text begins in the pre-token.
    next: (usize, usize),
}

/// Gives the records of one text. Every call must be given the same text.
#[derive(Debug)]
pub struct Explainer {
    tokenizer: Tokenizer,
    limits: Limits,
    waiting: VecDeque<Waiting>,
    current: Option<Current>,
    index: usize,
    starts: UnitCursor,
    ends: UnitCursor,
    scratch: MergeScratch,
}

impl Explainer {
    /// An explainer of `text`.
    ///
    /// # Errors
    /// [`crate::Error::SpecialToken`] where the text spells a denied token.
    pub fn new(tokenizer: &Tokenizer, text: &[u8], policy: &SpecialPolicy, limits: Limits) -> Result<Self> {
        let mut waiting = VecDeque::new();
        tokenizer.for_each_part(text, policy, &mut |part| {
            waiting.push_back(match part {
                Part::Token { id, span } => Waiting::Token(id, span),
                Part::Text { text, origin } => Waiting::Text(Stretch::new(text, &origin)),
            });
            Ok(())
        })?;
        Ok(Self {
            tokenizer: tokenizer.clone(),
            limits,
            waiting,
            current: None,
            index: 0,
            starts: UnitCursor::default(),
            ends: UnitCursor::default(),
            scratch: MergeScratch::default(),
        })
    }

    /// The number of bytes that the next call has to look at, so that the caller can tell long work from short.
    pub fn work_ahead(&self) -> usize {
        match (&self.current, self.waiting.front()) {
            (None, Some(Waiting::Text(stretch))) => stretch.given.len(),
            _ => SEGMENT,
        }
    }

    /// The next record; `None` at the end of the text.
    ///
    /// # Errors
    /// [`crate::Error::Pattern`] where a custom pattern runs out of steps; whatever `poll` returns.
    pub fn next(&mut self, text: &[u8], poll: Poll<'_>) -> Result<Option<Record>> {
        loop {
            if let Some(mut current) = self.current.take()
                && let Some(record) = self.next_of(&mut current, text)
            {
                self.current = Some(current);
                return Ok(Some(Record::PreToken(Box::new(record))));
            }
            match self.waiting.pop_front() {
                None => return Ok(None),
                Some(Waiting::Token(id, bytes)) => {
                    let characters = self.characters(text, &bytes);
                    return Ok(Some(Record::Special { id, bytes, characters }));
                }
                Some(Waiting::Text(stretch)) => {
                    let cuts = self.tokenizer.alternatives().cuts(stretch.text(text), poll)?;
                    let places = vec![(0, 0); cuts.len()];
                    self.current = Some(Current { stretch, cuts, places, long: None });
                }
            }
        }
    }

    fn characters(&mut self, text: &[u8], bytes: &Range<usize>) -> Range<usize> {
        self.starts.floor(text, bytes.start)..self.ends.ceil(text, bytes.end)
    }

    fn next_of(&mut self, current: &mut Current, given: &[u8]) -> Option<PreToken> {
        let (last, start, end) = current.piece()?;
        let whole_text = current.stretch.text(given);
        let piece = &whole_text[start..end];
        let spec = self.tokenizer.spec();
        let whole = spec.whole_tokens && spec.vocab.id(piece).is_some();
        let (ids, part, segment) = if let Some(long) = &mut current.long {
            long.segment(piece, &self.tokenizer)
        } else {
            let mut ids = Vec::new();
            self.tokenizer.encode_one(piece, &mut ids);
            if piece.len() <= SEGMENT {
                (ids, 0..piece.len(), (0, 1))
            } else {
                current.long.insert(Long::new(ids, piece, &self.tokenizer)).segment(piece, &self.tokenizer)
            }
        };
        let content = &piece[part.clone()];
        let mut symbols = Vec::new();
        let merges = self.tokenizer.merge_table();
        merges.for_each_symbol(content, |id, length, kind| symbols.push((id, length, kind)));
        let mut observer = Observer::new(&symbols, self.limits);
        let mut made = Vec::new();
        merges.merge_observed(content, &mut self.scratch, &mut made, |step| observer.see(step));
        let mut trace = observer.trace;
        (trace.roots, trace.ids) = (observer.nodes, made);

        let origin = current.stretch.origin();
        let mut at = start + part.start;
        let mut tokens = Vec::with_capacity(ids.len());
        for id in ids {
            let length = self.tokenizer.length_at(id, &whole_text[at..]);
            let bytes = origin.span(at..at + length);
            tokens.push(Token { id, length, bytes, characters: 0..0 });
            at += length;
        }
        let mut record = PreToken {
            index: self.index,
            segment,
            piece: content.to_vec(),
            bytes: origin.span(start + part.start..start + part.end),
            matches: matches(&current.cuts, &mut current.places, start, &origin),
            whole,
            symbols,
            trace,
            tokens,
        };
        for token in &mut record.tokens {
            token.characters = self.characters(given, &token.bytes);
        }
        if segment.0 + 1 == segment.1 {
            current.long = None;
            current.places[last] = (current.places[last].0 + 1, end);
            self.index += 1;
        }
        Some(record)
    }
}

impl Current {
    /// The number of the last pattern, and the span of the next pre-token.
    fn piece(&self) -> Option<(usize, usize, usize)> {
        let last = self.cuts.len().checked_sub(1)?;
        let (next, start) = self.places[last];
        Some((last, start, self.cuts[last].get(next)?.end))
    }
}

/// What each pattern matched around the pre-token that begins at `start`.
fn matches(
    cuts: &[Vec<Cut>],
    places: &mut [(usize, usize)],
    start: usize,
    origin: &Origin<'_>,
) -> Vec<(Option<u32>, Range<usize>)> {
    let mut matches = Vec::with_capacity(cuts.len());
    for (cuts, place) in cuts.iter().zip(places) {
        // The pieces of the patterns before the last hold several of the next.
        while let Some(cut) = cuts.get(place.0)
            && cut.end <= start
        {
            *place = (place.0 + 1, cut.end);
        }
        if let Some(cut) = cuts.get(place.0) {
            matches.push((cut.alternative, origin.span(place.1..cut.end)));
        }
    }
    matches
}

impl Long {
    fn new(ids: Vec<TokenId>, piece: &[u8], tokenizer: &Tokenizer) -> Self {
        let mut long = Self { ids, segment: (0, 0), next: (0, 0) };
        while long.next.0 < long.ids.len() {
            long.advance(piece, tokenizer);
        }
        Self { segment: (0, long.segment.0), next: (0, 0), ids: long.ids }
    }

    /// Goes over the tokens of the next segment.
    fn advance(&mut self, piece: &[u8], tokenizer: &Tokenizer) {
        let (mut id, mut at) = self.next;
        while id < self.ids.len() && at < self.next.1 + SEGMENT {
            at += tokenizer.length_at(self.ids[id], &piece[at..]);
            id += 1;
        }
        self.next = (id, at);
        self.segment.0 += 1;
    }

    /// The ids of the next segment, its span in the pre-token, and which it is.
    fn segment(
        &mut self,
        piece: &[u8],
        tokenizer: &Tokenizer,
    ) -> (Vec<TokenId>, Range<usize>, (usize, usize)) {
        let (first, start) = self.next;
        let segment = self.segment;
        self.advance(piece, tokenizer);
        (self.ids[first..self.next.0].to_vec(), start..self.next.1, segment)
    }
}
