//! What the cache remembers is exact, or not there.

use super::*;

fn get(cache: &Cache, key: &Key) -> Option<Vec<TokenId>> {
    let mut ids = Ids::default();
    let count = cache.get(key, &mut ids);
    (count > 0).then(|| ids[..count].to_vec())
}

fn key(piece: &[u8]) -> Key {
    Key::new(piece, 0, piece.len())
}

fn word(number: u64) -> Vec<u8> {
    format!("word{number:x}").into_bytes()
}

#[test]
fn remembers_exactly_and_within_the_limit() {
    for limit in [0, 1 << 18, 3 << 18, 1 << 22, DEFAULT_CACHE_BYTES] {
        let cache = Cache::new(limit);
        assert!(cache.levels.iter().map(|level| level.bytes).sum::<usize>() <= limit);
        let mut hits = 0;
        for round in 0..2 {
            for number in 0..20_000 {
                let key = key(&word(number));
                let ids: Vec<TokenId> =
                    (0..=number as TokenId % 8).map(|at| number as TokenId + at).collect();
                if let Some(found) = get(&cache, &key) {
                    assert_eq!(found, ids);
                    hits += round;
                } else {
                    cache.insert(&key, &ids);
                }
            }
        }
        assert_eq!(hits == 0, limit == 0, "limit {limit}");
    }
}

#[test]
fn keys_differ_by_length_and_by_zero_bytes() {
    let cache = Cache::new(1 << 18);
    for (piece, id) in [(&b"\0"[..], 2), (b"\0\0", 3), (b"a", 4), (b"a\0", 5)] {
        cache.insert(&key(piece), &[id]);
    }
    let mut ids = vec![];
    for piece in [&b"\0"[..], b"\0\0", b"a", b"a\0"] {
        ids.extend(get(&cache, &key(piece)).unwrap());
    }
    assert_eq!(ids, [2, 3, 4, 5]);
    let long = Key::new(&[b'x'; 99], 3, MAX_KEY + 1);
    cache.insert(&long, &[7]);
    assert_eq!(get(&cache, &long), None);
    // What follows a pre-token is no part of its key.
    cache.insert(&Key::new(b"..abc, and so it goes on and on", 2, 3), &[6]);
    assert_eq!(get(&cache, &key(b"abc")).unwrap(), [6]);
}

#[test]
fn long_pieces_and_many_ids_share_a_line_as_far_as_they_fit() {
    let cache = Cache::new(1 << 20);
    for length in 1..=MAX_KEY + 1 {
        for count in 1..=MAX_IDS + 1 {
            let piece = vec![b'a' + count as u8; length];
            let ids: Vec<TokenId> = (0..count as TokenId).map(|at| 1000 * length as TokenId + at).collect();
            cache.insert(&key(&piece), &ids);
            let fits = if length <= 16 {
                count <= MAX_IDS
            } else {
                length.div_ceil(8) + count.div_ceil(PACKED) <= WORDS
            };
            let known = get(&cache, &key(&piece));
            assert_eq!(
                known,
                (fits && length <= MAX_KEY && count <= MAX_IDS).then_some(ids),
                "{length} {count}"
            );
            // The same but for the last byte is another.
            let mut other = piece;
            other[length - 1] ^= 0x80;
            assert_eq!(get(&cache, &key(&other)), None);
        }
    }
}

#[test]
fn a_single_id_has_none_behind_it_and_large_ids_are_whole_or_not_there() {
    let cache = Cache::new(1 << 20);
    let mut known = [0; MAX_IDS];
    for length in 1..=MAX_KEY {
        for count in 1..=MAX_IDS {
            for (row, bits) in (0..).zip([1, HALF_BITS - 1, HALF_BITS, LONG_BITS - 1, LONG_BITS, 31]) {
                let ids: Vec<TokenId> = (0..count as TokenId).map(|at| 1 << bits | at).collect();
                let piece = vec![16 * row + count as u8; length];
                cache.insert(&key(&piece), &ids);
                let fits = length.div_ceil(8) + count.div_ceil(PACKED) <= WORDS;
                let found = cache.get(&key(&piece), &mut known);
                assert_eq!(found, if fits && bits < LONG_BITS { count } else { 0 });
                assert_eq!(known[..found], ids[..found]);
                assert!(found != 1 || known[1] == TokenId::MAX);
            }
        }
    }
}

#[test]
fn room_is_made_at_once_for_a_large_text() {
    let cache = Cache::new(DEFAULT_CACHE_BYTES);
    let mut ids = Ids::default();
    cache.insert(&key(b"before"), &[7]);
    cache.expect(48 << 20);
    assert!(cache.newest.load(Ordering::Relaxed) > 1);
    assert_eq!(cache.get(&key(b"other"), &mut ids), 0);
    // Levels that were jumped over are never made.
    assert!(cache.levels[1].table.get().is_none());
    Cache::new(0).expect(usize::MAX);
}

#[test]
fn passes_over_a_known_text_do_not_make_it_grow() {
    let cache = Cache::new(DEFAULT_CACHE_BYTES);
    for _ in 0..40 {
        // Not so many that they need more room, but some drive each other out in every pass.
        let keys = (0..most_halves(SMALLEST_TABLE) as u64 - 200).map(|number| key(&word(number)));
        let missing = keys.filter(|key| get(&cache, key).is_none()).inspect(|key| cache.insert(key, &[7]));
        assert!(missing.count() > 0);
        assert_eq!(cache.newest.load(Ordering::Relaxed), 0);
    }
    for number in 0..most_halves(SMALLEST_TABLE) as u64 * 2 {
        cache.insert(&key(&word(number)), &[7]);
    }
    assert_eq!(cache.newest.load(Ordering::Relaxed), 1);
}

#[test]
fn readers_never_see_half_a_write() {
    // Few slots and many threads: every word of a slot is fought over.
    let cache = Cache::new(1 << 18);
    std::thread::scope(|scope| {
        for seed in 0..4u64 {
            let cache = &cache;
            scope.spawn(move || {
                for step in 0..200_000u64 {
                    let number = (step * 7919 + seed * 104_729) % 9_000;
                    let key = key(&word(number));
                    if let Some(ids) = get(cache, &key) {
                        assert_eq!(ids, [number as TokenId; 3]);
                    } else {
                        cache.insert(&key, &[number as TokenId; 3]);
                    }
                }
            });
        }
    });
}
