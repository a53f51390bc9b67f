//! JSON as tokenizer files need it: strings that borrow, and no key twice.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use foldhash::fast::RandomState;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Result, excerpt};
use crate::token::{MAX_TOKEN_ID, TokenId};

/// A value. serde_json bounds the depth.
#[derive(Debug, PartialEq)]
pub(super) enum Json<'a> {
    Null,
    Bool(bool),
    /// A whole number; wide enough for all that JSON readers give.
    Integer(i128),
    Float(f64),
    String(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Reads a whole file, with or without a byte order mark.
///
/// # Errors
/// [`Error::Format`] with line and column, also for a key that is there twice.
pub(super) fn parse<'a>(data: &'a [u8], what: &str) -> Result<Json<'a>> {
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    serde_json::from_slice(data).map_err(|error| {
        let place = format!("{what}: line {} column {}", error.line(), error.column());
        let message = error.to_string();
        Error::format(place, message.rsplit_once(" at line ").map_or(message.as_str(), |(fault, _)| fault))
    })
}

impl Json<'_> {
    /// For messages.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::String(value) => excerpt(value),
            Self::List(_) => "a list".to_owned(),
            Self::Object(_) => "an object".to_owned(),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn str_at(&self, place: &str) -> Result<&str> {
        self.as_str().ok_or_else(|| Error::format(place, format!("must be a string, not {}", self.kind())))
    }

    pub(super) fn id_at(&self, place: &str) -> Result<TokenId> {
        match self {
            Self::Integer(id) if (0..=i128::from(MAX_TOKEN_ID)).contains(id) => {
                Ok(TokenId::try_from(*id).unwrap_or(MAX_TOKEN_ID))
            }
            _ => Err(Error::format(
                place,
                format!("{} is no id: ids go from 0 to {MAX_TOKEN_ID}", self.kind()),
            )),
        }
    }
}

/// The value of `key` among `entries`; null where there is none.
pub(super) fn get<'j, 'a>(entries: &'j [(Cow<'a, str>, Json<'a>)], key: &str) -> &'j Json<'a> {
    entries.iter().find(|(name, _)| name == key).map_or(&Json::Null, |(_, value)| value)
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Self::Value, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Self::Value, E> {
        Ok(Json::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Self::Value, E> {
        Ok(Json::Integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Self::Value, E> {
        Ok(Json::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> std::result::Result<Self::Value, E> {
        Ok(Json::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Self::Value, E> {
        Ok(Json::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Self::Value, A::Error> {
        const FEW: usize = 16;
        let mut object: Vec<(Cow<'de, str>, Json<'de>)> = Vec::new();
        let mut seen: HashSet<Cow<'de, str>, RandomState> = HashSet::default();
        while let Some(Key(key)) = entries.next_key()? {
            if object.len() == FEW {
                seen.extend(object.iter().map(|(key, _)| key.clone()));
            }
            let again = if object.len() < FEW {
                object.iter().any(|(other, _)| *other == key)
            } else {
                !seen.insert(key.clone())
            };
            if again {
                return Err(A::Error::custom(format!("the key {} is there twice", excerpt(&key))));
            }
            object.push((key, entries.next_value()?));
        }
        Ok(Json::Object(object))
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match JsonVisitor::key(deserializer)? {
            Json::String(key) => Ok(Self(key)),
            _ => Err(D::Error::custom("a key must be a string")),
        }
    }
}

impl JsonVisitor {
    fn key<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Json<'de>, D::Error> {
        deserializer.deserialize_str(Self)
    }
}
