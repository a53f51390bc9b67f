//! The vocabulary: which bytes each id stands for, and which id some bytes have.

use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table};
use std::hash::BuildHasher;

use crate::error::{Error, Result};
use crate::token::{MAX_TOKEN_BYTES, MAX_TOKEN_ID, MAX_VOCABULARY_BYTES, TokenId};

/// The ordinary tokens of a tokenizer. Ids may have holes between them; no two ids share bytes.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    arena: Vec<u8>,
    /// Start and length in the arena by id; a length of 0 is a hole.
    spans: Vec<(u32, u32)>,
    index: HashTable<Entry>,
    hasher: RandomState,
}

/// A token with its place in the arena, so that a look-up need not ask for the place by id: that would wait for
/// memory once more.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: TokenId,
    start: u32,
    len: u32,
}

impl Entry {
    #[inline]
    fn bytes(self, arena: &[u8]) -> &[u8] {
        &arena[self.start as usize..(self.start + self.len) as usize]
    }
}

impl Vocabulary {
    /// A vocabulary of `tokens`, in any order.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] for an empty or over-long token, an id out of range, an id or bytes given twice.
    pub fn new<B: AsRef<[u8]>>(tokens: impl IntoIterator<Item = (TokenId, B)>) -> Result<Self> {
        let mut vocabulary = Self {
            arena: Vec::new(),
            spans: Vec::new(),
            index: HashTable::new(),
            // Seeded at random, so that a crafted file cannot make all its tokens collide.
            hasher: RandomState::default(),
        };
        let tokens = tokens.into_iter();
        // No more than any vocabulary may have, whatever an iterator says of itself.
        let expected = tokens.size_hint().0.min(MAX_TOKEN_ID as usize + 1);
        let Self { arena, index, hasher, .. } = &mut vocabulary;
        index.reserve(expected, |entry| hasher.hash_one(entry.bytes(arena)));
        for (id, bytes) in tokens {
            vocabulary.insert(id, bytes.as_ref())?;
        }
        Ok(vocabulary)
    }

    fn insert(&mut self, id: TokenId, bytes: &[u8]) -> Result<()> {
        let shown = bytes.escape_ascii();
        if bytes.is_empty() {
            return Err(Error::Vocabulary(format!("token with id {id} is empty")));
        }
        if bytes.len() > MAX_TOKEN_BYTES {
            return Err(Error::Vocabulary(format!(
                "token with id {id} has {} bytes; the longest allowed is {MAX_TOKEN_BYTES}",
                bytes.len()
            )));
        }
        if id > MAX_TOKEN_ID {
            return Err(Error::Vocabulary(format!(
                "token \"{shown}\" has id {id}; the largest id is {MAX_TOKEN_ID}"
            )));
        }
        if let Some(other) = self.bytes(id) {
            return Err(Error::Vocabulary(format!(
                "tokens \"{}\" and \"{shown}\" share the id {id}",
                other.escape_ascii()
            )));
        }
        let Self { arena, spans, index, hasher } = self;
        let same = |entry: &Entry| entry.bytes(arena) == bytes;
        let vacant = match index
            .entry(hasher.hash_one(bytes), same, |entry| hasher.hash_one(entry.bytes(arena)))
        {
            hash_table::Entry::Vacant(vacant) => vacant,
            hash_table::Entry::Occupied(other) => {
                let other = other.get().id;
                return Err(Error::Vocabulary(format!("token \"{shown}\" has two ids, {other} and {id}")));
            }
        };
        if arena.len() + bytes.len() > MAX_VOCABULARY_BYTES {
            return Err(Error::Vocabulary(format!(
                "the tokens up to id {id} have more than {MAX_VOCABULARY_BYTES} bytes together"
            )));
        }
        let (start, len) = (arena.len() as u32, bytes.len() as u32);
        vacant.insert(Entry { id, start, len });
        arena.extend_from_slice(bytes);
        let at = id as usize;
        if at >= spans.len() {
            spans.resize(at + 1, (0, 0));
        }
        spans[at] = (start, len);
        Ok(())
    }

    /// The bytes of `id`; `None` for a hole, a special token or an id beyond the end.
    #[inline]
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        match self.spans.get(id as usize) {
            Some(&(start, len)) if len > 0 => Some(&self.arena[start as usize..(start + len) as usize]),
            _ => None,
        }
    }

    /// The id of the token with these bytes.
    #[inline]
    pub fn id(&self, bytes: &[u8]) -> Option<TokenId> {
        let hash = self.hasher.hash_one(bytes);
        self.index.find(hash, |entry| entry.bytes(&self.arena) == bytes).map(|entry| entry.id)
    }

    /// The number of tokens; holes do not count.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// One more than the largest id.
    pub fn id_end(&self) -> TokenId {
        self.spans.len() as TokenId
    }

    /// Ids and bytes, ascending by id.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        (0..self.id_end()).filter_map(|id| Some((id, self.bytes(id)?)))
    }

    /// The ids of the 256 bytes.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] naming the bytes that have no token of their own.
    pub fn byte_ids(&self) -> Result<[TokenId; 256]> {
        let mut ids = [0; 256];
        let mut missing = Vec::new();
        for byte in 0..=255u8 {
            match self.id(&[byte]) {
                Some(id) => ids[byte as usize] = id,
                None => missing.push(format!("0x{byte:02X}")),
            }
        }
        if missing.is_empty() {
            return Ok(ids);
        }
        let count = missing.len();
        if count > 8 {
            missing.truncate(8);
            missing.push("…".to_owned());
        }
        Err(Error::Vocabulary(format!(
            "{count} of the 256 bytes have no token ({}); without them some text cannot be encoded",
            missing.join(" ")
        )))
    }
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.spans.len() == other.spans.len()
            && (0..self.id_end()).all(|id| self.bytes(id) == other.bytes(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_allowed_and_shared_ids_are_not() {
        let vocabulary = Vocabulary::new([(5, b"ab".as_slice()), (2, b"c")]).unwrap();
        assert_eq!(vocabulary.bytes(5), Some(&b"ab"[..]));
        assert_eq!((vocabulary.bytes(0), vocabulary.bytes(6)), (None, None));
        assert_eq!((vocabulary.id(b"c"), vocabulary.id(b"cc")), (Some(2), None));
        assert_eq!((vocabulary.len(), vocabulary.id_end()), (2, 6));
        assert!(Vocabulary::new([(1, b"a"), (1, b"b")]).is_err());
        assert!(Vocabulary::new([(1, b"a"), (2, b"a")]).is_err());
        assert!(Vocabulary::new([(1, b"")]).is_err());
        assert!(Vocabulary::new([(TokenId::MAX, b"a")]).is_err());
    }

    #[test]
    fn missing_bytes_are_named() {
        let vocabulary = Vocabulary::new((0..=254u8).map(|byte| (TokenId::from(byte), [byte]))).unwrap();
        assert!(vocabulary.byte_ids().unwrap_err().to_string().contains("0xFF"));
    }
}
