//! The class table and the reading of units.

use crate::pretokenize::unicode::{
    BYTES, DECIMAL, LETTER, LOWER, NUMBER, PY_SPACE, PY_WORD, SPACE, UPPER, flags,
};
use crate::pretokenize::units::unit;
use crate::utf8::scalar;

/// How many scalars satisfy `condition`.
fn count(condition: impl Fn(u8) -> bool) -> usize {
    (0..=0x10_FFFF).filter(|&scalar| condition(flags(scalar))).count()
}

#[test]
fn the_table_has_as_many_scalars_of_each_class_as_unicode_16() {
    assert_eq!(count(|flags| flags & LETTER != 0), 141_028);
    assert_eq!(count(|flags| flags & NUMBER != 0), 1_911);
    assert_eq!(count(|flags| flags & SPACE != 0), 25);
    // Marks are what both halves of an o200k word take without being letters.
    assert_eq!(count(|flags| flags & UPPER != 0 && flags & LOWER != 0 && flags & LETTER == 0), 2_501);
    // Lu is 1,858 and Lt 31; both are upper only. Ll is lower only.
    assert_eq!(count(|flags| flags & (UPPER | LOWER) == UPPER), 1_858 + 31);
    assert_eq!(count(|flags| flags & (UPPER | LOWER) == LOWER), 2_258);
    assert_eq!(count(|flags| flags & DECIMAL != 0), 760);
    assert_eq!(count(|flags| flags & PY_SPACE != 0), 25 + 4);
}

#[test]
fn the_classes_of_a_pattern_share_no_scalar() {
    assert_eq!(
        count(|flags| [LETTER, NUMBER, SPACE].iter().filter(|&&flag| flags & flag != 0).count() > 1),
        0
    );
    assert_eq!(count(|flags| flags & PY_WORD != 0 && flags & PY_SPACE != 0), 0);
    // The safe cuts count on these.
    assert_eq!(count(|flags| flags & (LETTER | NUMBER) != 0 && flags & PY_WORD == 0), 0);
    assert_eq!(count(|flags| flags & SPACE != 0 && flags & PY_SPACE == 0), 0);
    assert_eq!(count(|flags| flags & DECIMAL != 0 && flags & NUMBER == 0), 0);
}

/// An independent look at the table, as long as the regex engine has the Unicode version of the table.
#[test]
fn the_table_agrees_with_the_regex_engine() {
    let later = format!(r"\p{{Age={}.0}}", 17);
    if regex::Regex::new(&later).is_ok() {
        return; // The engine has gone on to a newer version; the counts above still hold.
    }
    let classes = [
        (LETTER, r"\p{L}"),
        (NUMBER, r"\p{N}"),
        (SPACE, r"\s"),
        (UPPER, r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
        (LOWER, r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
        (DECIMAL, r"\d"),
        // Every letter and number, and ideographs have no other value.
        (PY_WORD, r"[\p{L}\p{N}_]"),
        (PY_SPACE, r"[\s\x1c-\x1f]"),
    ];
    for (flag, class) in classes {
        let regex = regex::Regex::new(&format!("^{class}$")).unwrap();
        let mut buffer = [0; 4];
        for character in '\0'..=char::MAX {
            let expected = regex.is_match(character.encode_utf8(&mut buffer));
            assert_eq!(flags(character.into()) & flag != 0, expected, "{class} and {character:?}");
        }
    }
}

#[test]
fn the_ascii_table_is_the_start_of_the_whole() {
    for byte in 0..=u8::MAX {
        assert_eq!(BYTES[usize::from(byte)], if byte < 0x80 { flags(byte.into()) } else { 0 });
    }
    assert_eq!(flags(0xD800) | flags(0x11_0000) | flags(u32::MAX), 0);
}

#[test]
fn every_character_is_one_unit() {
    let mut buffer = [0; 4];
    for character in '\0'..=char::MAX {
        let text = character.encode_utf8(&mut buffer).as_bytes();
        assert_eq!(scalar(text, 0), (character.into(), text.len()));
        assert_eq!(unit(text, 0), (flags(character.into()), text.len()));
    }
    assert_eq!((scalar(b"a", 1), scalar(b"a", 2), unit(b"", 0)), ((0xFFFD, 0), (0xFFFD, 0), (0, 0)));
}

/// Every sequence of bytes up to four from what matters to UTF-8, against the decoder of the standard library.
#[test]
fn invalid_bytes_are_units_of_their_own() {
    const BYTES: [u8; 22] = [
        b'a', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0,
        0xF1, 0xF4, 0xF5, 0xF8, 0xFF,
    ];
    for number in 0..BYTES.len().pow(4) {
        let text: Vec<u8> =
            (0..4).map(|place| BYTES[number / BYTES.len().pow(place) % BYTES.len()]).collect();
        let mut expected = Vec::new();
        for chunk in text.utf8_chunks() {
            expected
                .extend(chunk.valid().chars().map(|character| (u32::from(character), character.len_utf8())));
            expected.extend(chunk.invalid().iter().map(|_| (0xFFFD, 1)));
        }
        let mut at = 0;
        for unit in expected {
            assert_eq!(scalar(&text, at), unit, "{text:x?} at {at}");
            at += unit.1;
        }
    }
}
