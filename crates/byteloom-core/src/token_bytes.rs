//! The bytes of every token, laid out for decoding.

use crate::spec::{Alphabet, TokenizerSpec};
use crate::token::TokenId;

/// Tokens up to this length are copied as this many bytes, whatever their length: one move, no loop.
const CHUNK: usize = 16;

/// Every byte, to be borrowed from.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        bytes[byte] = byte as u8;
        byte += 1;
    }
    bytes
};

/// The bytes of all tokens, special ones included, by id.
#[derive(Debug)]
pub(crate) struct TokenBytes {
    /// The tokens one after another in the order of their ids, and [`CHUNK`] zeros.
    arena: Vec<u8>,
    /// Where each begins; where the next begins it ends. A hole is empty.
    starts: Vec<u32>,
    /// The ids of special tokens, ascending.
    special: Vec<TokenId>,
}

impl TokenBytes {
    pub(crate) fn new(spec: &TokenizerSpec) -> Self {
        let mut special: Vec<TokenId> = Vec::new();
        // Few tokens are not in the vocabulary; they are put in their places between its ids.
        let mut others: Vec<(TokenId, &[u8])> = Vec::new();
        for token in spec.special.tokens() {
            others.push((token.id, token.content.as_bytes()));
            if token.flags.special {
                special.push(token.id);
            }
        }
        if let Alphabet::CharactersAndBytes(ids) = &spec.alphabet {
            others.extend(ids.iter().zip(BYTES.chunks(1)).map(|(&id, byte)| (id, byte)));
        }
        special.sort_unstable();
        others.sort_unstable_by_key(|&(id, _)| id);
        let mut others = others.into_iter().peekable();
        let end = spec.max_token_id() as usize + 1;
        let mut arena = Vec::new();
        let mut starts = Vec::with_capacity(end + 1);
        for id in 0..end as TokenId {
            starts.push(arena.len() as u32);
            arena.extend_from_slice(spec.vocab.bytes(id).unwrap_or_default());
            while let Some((_, bytes)) = others.next_if(|&(other, _)| other == id) {
                arena.truncate(starts[id as usize] as usize);
                arena.extend_from_slice(bytes);
            }
        }
        starts.push(arena.len() as u32);
        arena.extend_from_slice(&[0; CHUNK]);
        Self { arena, starts, special }
    }

    /// The bytes of `id`; `None` for a hole or an id beyond the end.
    #[inline]
    pub(crate) fn get(&self, id: TokenId) -> Option<&[u8]> {
        let &[start, end] = self.starts.get(id as usize..)?.first_chunk()?;
        (start < end).then(|| &self.arena[start as usize..end as usize])
    }

    #[inline]
    pub(crate) fn is_special(&self, id: TokenId) -> bool {
        self.special.binary_search(&id).is_ok()
    }

    /// Appends the bytes of `ids` to `bytes`; where one of them stands for nothing it is false, and nothing changes.
    #[inline(never)]
    pub(crate) fn copy(&self, ids: &[TokenId], bytes: &mut Vec<u8>) -> bool {
        let mut length = 0;
        for &id in ids {
            let Some(&[start, end]) = self.starts.get(id as usize..).and_then(|starts| starts.first_chunk())
            else {
                return false;
            };
            if start == end {
                return false;
            }
            length += (end - start) as usize;
        }
        let begin = bytes.len();
        bytes.resize(begin + length + CHUNK, 0);
        let out = &mut bytes[begin..];
        let mut at = 0;
        for &id in ids {
            let place = id as usize;
            let (start, end) = (self.starts[place] as usize, self.starts[place + 1] as usize);
            let chunk: Option<&[u8; CHUNK]> = self.arena[start..].first_chunk();
            match (chunk, out[at..].first_chunk_mut()) {
                (Some(chunk), Some(room)) if end - start <= CHUNK => *room = *chunk,
                _ => out[at..at + end - start].copy_from_slice(&self.arena[start..end]),
            }
            at += end - start;
        }
        bytes.truncate(begin + length);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::PreTokenizer;
    use crate::spec::SpecialPosition;

    #[test]
    fn copying_is_what_looking_up_is() {
        let merges: Vec<(u32, u32)> = (0..30).map(|at| (if at == 0 { 97 } else { 255 + at }, 98)).collect();
        let pattern = PreTokenizer::new("none").unwrap();
        let names = ["<|a|>".to_owned(), "<a special token of many bytes>".to_owned()];
        let spec = TokenizerSpec::from_merges(&merges, pattern, &names, SpecialPosition::First).unwrap();
        let tokens = TokenBytes::new(&spec);
        let ids: Vec<TokenId> = (0..2000).map(|at| at * 7919 % (spec.max_token_id() + 1)).collect();
        let mut copied = b"before".to_vec();
        assert!(tokens.copy(&ids, &mut copied));
        let expected: Vec<u8> = ids.iter().flat_map(|&id| tokens.get(id).unwrap()).copied().collect();
        assert_eq!(copied, [b"before".to_vec(), expected].concat());
        assert!(tokens.is_special(0) && tokens.is_special(1) && !tokens.is_special(2));
        for unknown in [spec.max_token_id() + 1, TokenId::MAX] {
            assert_eq!(tokens.get(unknown), None);
            let before = copied.clone();
            assert!(!tokens.copy(&[5, unknown], &mut copied));
            assert_eq!(copied, before);
        }
    }
}
