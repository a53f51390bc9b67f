//! The trainer as a whole: blocks, threads, special tokens, invalid bytes, interruption.

use std::io::Cursor;

use super::store::LEAST_LIMIT;
use super::*;
use crate::special::SpecialToken;

const PATTERNS: [&str; 4] = ["gpt2", "cl100k", "none", r"\s+|\w+|[^\w\s]+"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn text(&mut self, pieces: &[&str], length: usize) -> Vec<u8> {
        (0..length).flat_map(|_| pieces[self.below(pieces.len())].bytes()).collect()
    }
}

const PIECES: [&str; 14] = [
    "a",
    "b",
    "the",
    " ",
    " of",
    "\n",
    "  ",
    "é",
    "🚀",
    "漢字",
    "'s",
    "12",
    "<|x|>",
    "a_word_longer_than_16_bytes",
];

fn trainer(pattern: &str, threads: usize) -> Trainer {
    let specials: Vec<SpecialToken> =
        [("<|x|>", 1), (" of\n", 2), ("b<|x", 3)].map(|(content, id)| SpecialToken::new(content, id)).into();
    let config = TrainConfig { merges: 40, threads, ..TrainConfig::default() };
    let specials = SpecialMatcher::new(&specials).unwrap();
    Trainer::new(PreTokenizer::new(pattern).unwrap(), specials, config).unwrap()
}

fn counts(trainer: &mut Trainer) -> Vec<(Vec<u8>, u64)> {
    trainer.counts().unwrap().iter().map(|(word, count)| (word.to_vec(), count)).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of a hook")]
fn go(_: &Progress) -> Result<()> {
    Ok(())
}

fn read(trainer: &mut Trainer, bytes: &[u8], invalid: InvalidUtf8) -> Result<()> {
    trainer.feed_reader(&mut Cursor::new(bytes), Path::new("some.txt"), invalid, &mut go)
}

#[test]
fn threads_and_blocks_do_not_matter() {
    let mut random = Random(1);
    for round in 0..120 {
        let pattern = PATTERNS[round % PATTERNS.len()];
        let documents: Vec<Vec<u8>> = (0..=random.below(6))
            .map(|_| {
                let length = random.below(400);
                random.text(&PIECES, length)
            })
            .collect();
        let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
        let mut plain = trainer(pattern, 1);
        plain.feed_documents(&documents, &mut go).unwrap();
        let expected = counts(&mut plain);
        let bytes = documents.iter().map(|text| text.len() as u64).sum();
        let (learned, report) = plain.finish(&mut go).unwrap();
        assert_eq!((report.bytes, report.documents), (bytes, documents.len() as u64));
        for threads in [1, 2, 3, 8] {
            for in_blocks in [false, true] {
                let mut split = trainer(pattern, threads);
                split.counter.least = 1 + random.below(40);
                split.block = 1 + random.below(60);
                if in_blocks {
                    for text in &documents {
                        read(&mut split, text, InvalidUtf8::Strict).unwrap();
                    }
                } else {
                    let (first, second) = documents.split_at(random.below(documents.len() + 1));
                    split.feed_documents(first, &mut go).unwrap();
                    split.feed_documents(second, &mut go).unwrap();
                }
                assert_eq!(counts(&mut split), expected, "{pattern} {threads} {in_blocks} {documents:?}");
                let (same, again) = split.finish(&mut go).unwrap();
                assert_eq!(same, learned);
                assert_eq!(again.special_tokens_seen, report.special_tokens_seen);
                assert_eq!((again.bytes, again.documents), (report.bytes, report.documents));
            }
        }
    }
}

#[test]
fn work_is_shared_out() {
    let trainer = trainer("gpt2", 4);
    let splitter = &trainer.counter.splitter;
    let words = b"word ".repeat(1000);
    let small: Vec<&[u8]> = vec![&words[..50]; 100];
    let shares = splitter.shares(&small, 4, 100);
    assert_eq!(shares.iter().map(Vec::len).collect::<Vec<_>>(), [25; 4]);
    assert_eq!(splitter.shares(&small[..1], 4, 100).len(), 1, "too little for two");
    // One document that cannot be cut, between small ones.
    let solid = b"x".repeat(20_000);
    let shares = splitter.shares(&[&words[..50], &solid, &words[..50]], 4, 100);
    assert!(shares.len() > 1 && shares.iter().all(|share| !share.is_empty()));
    assert_eq!(shares.concat().concat(), [&words[..50], &solid, &words[..50]].concat());
}

#[test]
fn special_tokens_are_boundaries_and_never_counted() {
    let mut trainer = trainer(r"\s+|\S+", 1);
    trainer.feed_documents(&[b"au<|x|>au", b"<|x|><|x|>", b""], &mut go).unwrap();
    assert_eq!(counts(&mut trainer), [(b"au".to_vec(), 2)]);
    let (learned, report) = trainer.finish(&mut go).unwrap();
    assert_eq!(learned.merges, [(97, 117)]);
    assert_eq!(learned.stopped, Stopped::NoPairs);
    assert_eq!((report.special_tokens_seen, report.documents, report.pretokens), (3, 3, 2));
}

const BROKEN: &[u8] =
    b"ok \xe2\x82\xac \xe2\x82 x\xff\xfe\xf0\x9f\x9a\x80 \xf0\x9f\x9a end\xed\xa0\x80 \xe2\x82";

#[test]
fn invalid_bytes_are_judged_across_blocks() {
    let lossy = String::from_utf8_lossy(BROKEN).into_owned();
    for block in 1..=BROKEN.len() + 1 {
        let blocks_of = |invalid, bytes: &[u8]| {
            let mut trainer = trainer(r"\s+|\S+", 1);
            trainer.block = block;
            read(&mut trainer, bytes, invalid).map(|()| trainer)
        };
        let whole_of = |bytes: &[u8]| {
            let mut trainer = trainer(r"\s+|\S+", 1);
            trainer.feed_documents(&[bytes], &mut go).unwrap();
            counts(&mut trainer)
        };
        let mut replaced = blocks_of(InvalidUtf8::Replace, BROKEN).unwrap();
        assert_eq!(counts(&mut replaced), whole_of(lossy.as_bytes()), "block {block}");
        assert_eq!((replaced.invalid_bytes, replaced.bytes), (12, BROKEN.len() as u64));
        let mut kept = blocks_of(InvalidUtf8::Keep, BROKEN).unwrap();
        assert_eq!(counts(&mut kept), whole_of(BROKEN));
        assert_eq!((kept.invalid_bytes, kept.bytes), (0, BROKEN.len() as u64));
        let error = blocks_of(InvalidUtf8::Strict, BROKEN).unwrap_err();
        assert!(matches!(error, Error::Text(_)));
        assert!(error.to_string().starts_with("some.txt: invalid UTF-8 at byte 7 (0xe2)"), "{error}");
        let error = blocks_of(InvalidUtf8::Strict, b"cut off \xf0\x9f").unwrap_err();
        assert!(error.to_string().contains("at byte 8 (0xf0)"), "{error}");
        assert_eq!(
            counts(&mut blocks_of(InvalidUtf8::Strict, lossy.as_bytes()).unwrap()),
            whole_of(lossy.as_bytes())
        );
    }
}

#[test]
fn files_are_read_and_named() {
    let path = std::env::temp_dir().join(format!("byteloom-train-{}.txt", std::process::id()));
    std::fs::write(&path, b"one two one").unwrap();
    let mut trainer = trainer(r"\s+|\S+", 2);
    let fed = trainer.feed_file(&path, InvalidUtf8::Strict, &mut go);
    std::fs::remove_file(&path).unwrap();
    fed.unwrap();
    assert_eq!(counts(&mut trainer), [(b"one".to_vec(), 2), (b" ".to_vec(), 2), (b"two".to_vec(), 1)]);
    let error = trainer.feed_file(&path, InvalidUtf8::Strict, &mut go).unwrap_err();
    assert!(matches!(error, Error::Io { path: named, .. } if named == path));
}

#[test]
fn the_hook_can_stop_every_stage() {
    let text = b"some words and others, too. ".repeat(100_000);
    // The calling thread alone looks; what share of the work falls to it is chance.
    for (threads, stop_at) in [(1, 3), (3, 1)] {
        let mut calls = 0;
        let mut all = |progress: &Progress| {
            calls += 1;
            assert!(progress.total.is_none_or(|total| progress.done <= total), "{progress:?}");
            Ok(())
        };
        let mut whole = trainer(r"\s+|\S+", threads);
        whole.expect_bytes(text.len() as u64);
        whole.feed_documents(&[&text], &mut all).unwrap();
        let at_count = calls;
        assert!(at_count >= stop_at, "called {at_count} times in counting");
        let mut stopped = trainer(r"\s+|\S+", threads);
        let mut left = stop_at;
        let error = stopped.feed_documents(&[&text], &mut |_| {
            left -= 1;
            if left == 0 { Err(Error::Interrupted) } else { Ok(()) }
        });
        assert!(matches!(error, Err(Error::Interrupted)));
        assert!(stopped.counter.done < text.len() as u64);
    }
    // One long word: a single merge is long.
    let mut counts = PretokenCounts::new();
    counts.add(&b"ab".repeat(100_000), 1).unwrap();
    for stop_at in [1, 2, 10, 20] {
        let mut long = trainer("none", 1);
        long.feed_counts(counts.clone()).unwrap();
        let mut left = stop_at;
        let error = long.finish(&mut |_| {
            left -= 1;
            if left == 0 { Err(Error::Interrupted) } else { Ok(()) }
        });
        assert!(matches!(error, Err(Error::Interrupted)), "stop at call {stop_at}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = |config| {
        let made = Trainer::new(PreTokenizer::new("gpt2").unwrap(), SpecialMatcher::new([]).unwrap(), config);
        matches!(made, Err(Error::Argument(_)))
    };
    let config = TrainConfig::default();
    assert!(refused(TrainConfig { threads: 0, ..config.clone() }));
    assert!(refused(TrainConfig { min_frequency: 0, ..config.clone() }));
    assert!(refused(TrainConfig { max_token_length: Some(1), ..config.clone() }));
    assert!(refused(TrainConfig { merges: 1 << 24, ..config.clone() }));
    assert!(!refused(config));
}

fn count_config(pattern: &str, memory_limit: Option<u64>, folder: &Path) -> CountConfig {
    CountConfig {
        pretokenizer: PreTokenizer::new(pattern).unwrap(),
        special_tokens: ["<|x|>", " of\n", "b<|x"].map(str::to_owned).into(),
        memory_limit,
        folder: Some(folder.to_path_buf()),
    }
}

fn count_folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("byteloom-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn runs_shards_and_files_change_no_count_and_no_order() {
    let mut random = Random(11);
    let folder = count_folder("runs");
    let file = folder.join("some.counts");
    for round in 0..60 {
        let pattern = PATTERNS[round % PATTERNS.len()];
        let documents: Vec<Vec<u8>> = (0..=random.below(8))
            .map(|_| {
                let length = random.below(300);
                random.text(&PIECES, length)
            })
            .collect();
        let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
        let mut plain = trainer(pattern, 1);
        plain.feed_documents(&documents, &mut go).unwrap();
        let expected = counts(&mut plain);
        for (threads, limit) in [(1, None), (3, None), (1, Some(0)), (3, Some(0))] {
            let mut whole = CountStore::new(count_config(pattern, None, &folder)).unwrap();
            // Below what may be asked for: every stretch is written out.
            whole.config.memory_limit = limit;
            let cut = random.below(documents.len() + 1);
            for shard in [&documents[..cut], &documents[cut..]] {
                let mut counting = whole.counting(threads).unwrap();
                counting.small_shares(1 + random.below(40));
                for part in shard.chunks(1 + random.below(3)) {
                    counting.feed_documents(part, &mut go).unwrap();
                }
                whole = whole.merged(&counting.finish(&mut go).unwrap(), &mut go).unwrap();
            }
            let got: Vec<_> = whole.in_order(&mut go).unwrap().iter().map(|(w, c)| (w.to_vec(), c)).collect();
            assert_eq!(got, expected, "{pattern} {threads} {limit:?}");
            assert_eq!(whole.figures().documents, documents.len() as u64);
            whole.write_file(&file, &mut go).unwrap();
            for limit in [None, Some(LEAST_LIMIT)] {
                let read = CountStore::read_file(&file, limit, Some(&folder), &mut go).unwrap();
                assert_eq!(read.figures(), whole.figures());
                let got = read.in_order(&mut go).unwrap();
                assert!(got.iter().eq(expected.iter().map(|(word, count)| (&word[..], *count))));
            }
        }
    }
    std::fs::remove_file(&file).unwrap();
    // Every temporary file is gone.
    std::fs::remove_dir(&folder).unwrap();
}

#[test]
fn damaged_counts_are_refused() {
    let folder = count_folder("damage");
    let file = folder.join("some.counts");
    let store = CountStore::new(count_config("gpt2", None, &folder)).unwrap();
    let mut counting = store.counting(1).unwrap();
    counting.feed_documents(&[b"low lower lowest low", b"newest <|x|> widest"], &mut go).unwrap();
    counting.finish(&mut go).unwrap().write_file(&file, &mut go).unwrap();
    let whole = std::fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        CountStore::read_file(&file, None, None, &mut go).is_err()
    };
    assert!(!refused(&whole));
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        assert!(refused(&bytes), "byte {place}");
        assert!(refused(&whole[..place]), "cut at {place}");
    }
    assert!(refused(&[&whole[..], b"x"].concat()));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_table_is_full_before_growing_takes_it_beyond_the_limit() {
    for limit in [1 << 20, 3 << 20, 5_000_000] {
        let mut counts = PretokenCounts::new();
        let mut words = 0_u64;
        while !counts.is_full(limit) {
            for _ in 0..1_000 {
                counts.add(&words.to_le_bytes(), 1).unwrap();
                words += 1;
            }
        }
        // A batch is 32 kB; half a table would be lost if it were called full too early.
        assert!((limit / 2..limit + 40_000).contains(&counts.memory()), "{} of {limit}", counts.memory());
    }
}
