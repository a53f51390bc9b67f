//! Foreign formats: what they hold comes back, what they cannot hold is named, and no damage does harm.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not marked as tests")]

use byteloom_core::Error;
use byteloom_core::format::{gpt2_files, hf_json, minbpe, native, tiktoken};
use byteloom_core::pretokenize::{BLOCK, PreTokenizer};
use byteloom_core::spec::{Roles, SpecialPosition, TokenizerSpec};
use byteloom_core::tokenizer::Tokenizer;
use serde_json::{Value, json};

fn spec(pattern: &str, position: SpecialPosition) -> TokenizerSpec {
    let merges = [(b't'.into(), b'h'.into()), (256, b'e'.into()), (b' '.into(), 257)];
    let names = ["<|end|>".to_owned(), "< a>".to_owned()];
    let mut spec =
        TokenizerSpec::from_merges(&merges, PreTokenizer::new(pattern).unwrap(), &names, position).unwrap();
    let roles = Roles { bos: Some("< a>"), eos: Some("<|end|>"), pad: None };
    roles.assign(&mut spec.special).unwrap();
    spec
}

fn fingerprint(spec: TokenizerSpec) -> String {
    Tokenizer::new(spec, 0).unwrap().fingerprint().to_owned()
}

fn sample() -> Value {
    serde_json::from_slice(&hf_json::write(&spec("llama3", SpecialPosition::Last), false).unwrap().data)
        .unwrap()
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut file = sample();
    change(&mut file);
    match hf_json::read(file.to_string().as_bytes(), None) {
        Err(error @ Error::Format { .. }) => error.to_string(),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn tokenizer_json_holds_all_of_a_trained_tokenizer() {
    for &pattern in PreTokenizer::names() {
        for position in [SpecialPosition::First, SpecialPosition::Last] {
            for strings in [false, true] {
                let spec = spec(pattern, position);
                let written = hf_json::write(&spec, strings).unwrap();
                assert!(written.losses.is_empty(), "{:?}", written.losses);
                let again = hf_json::read(&written.data, None).unwrap();
                assert_eq!(hf_json::write(&again, strings).unwrap(), written);
                assert_eq!(fingerprint(again), fingerprint(spec), "{pattern}");
            }
        }
    }
}

#[test]
fn special_tokens_stand_in_the_vocabulary_where_their_ids_need_it() {
    let first = hf_json::write(&spec("gpt2", SpecialPosition::First), false).unwrap().data;
    let last = hf_json::write(&spec("gpt2", SpecialPosition::Last), false).unwrap().data;
    let held = |file: &[u8]| {
        let file: Value = serde_json::from_slice(file).unwrap();
        file["model"]["vocab"].get("<|end|>").is_some()
    };
    assert_eq!((held(&first), held(&last)), (true, false));
}

#[test]
fn a_sequence_of_patterns_is_read_and_written() {
    let mut file = sample();
    file["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"String": "+"}, "behavior": "Isolated", "invert": false},
        {"type": "Digits", "individual_digits": true},
        {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    ]});
    let spec = hf_json::read(file.to_string().as_bytes(), None).unwrap();
    let written = hf_json::write(&spec, false).unwrap();
    let again = hf_json::read(&written.data, None).unwrap();
    assert_eq!(hf_json::write(&again, false).unwrap(), written);
    let native = native::write(&spec);
    assert_eq!(native::write(&native::read(&native).unwrap()), native);

    let text = "12+ab 3é\u{661}  x+".repeat(400);
    let mut blocks = spec.pretokenizer.blocks(text.as_bytes());
    let (mut all, mut block) = (vec![0], Vec::new());
    while blocks.next(&mut block).unwrap() {
        assert!(block.len() <= BLOCK);
        all.extend_from_slice(&block);
    }
    let pieces: Vec<&str> = all.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
    assert_eq!(pieces[..12], ["1", "2", "+", "ab", " ", "3", "é", "\u{661}", " ", " x", "+", "1"]);
    assert_eq!(pieces.concat(), text);
    assert_eq!(spec.pretokenizer.safe_split(text.as_bytes(), 100), None);
    assert_eq!(
        PreTokenizer::sequence(vec![PreTokenizer::new("gpt2").unwrap()]).unwrap().name(),
        Some("gpt2")
    );
}

#[test]
fn what_cannot_be_honoured_is_named() {
    let place = |place: &str, change: fn(&mut Value)| {
        let message = refusal(change);
        assert!(message.starts_with(place), "{place}: {message}");
    };
    place("model.type", |file| file["model"]["type"] = json!("WordPiece"));
    place("model.dropout", |file| file["model"]["dropout"] = json!(0.1));
    place("model.byte_fallback", |file| file["model"]["byte_fallback"] = json!(true));
    place("model.continuing_subword_prefix", |file| file["model"]["continuing_subword_prefix"] = json!("##"));
    place("model.novelty", |file| file["model"]["novelty"] = json!(1));
    place("novelty", |file| file["novelty"] = json!(null));
    place("truncation", |file| file["truncation"] = json!({}));
    place("pre_tokenizer: ", |file| file["pre_tokenizer"] = json!(null));
    place("pre_tokenizer.pretokenizers[0].type", |file| {
        file["pre_tokenizer"]["pretokenizers"][0]["type"] = json!("Foo");
    });
    place("pre_tokenizer.pretokenizers[0].behavior", |file| {
        file["pre_tokenizer"]["pretokenizers"][0]["behavior"] = json!("Removed");
    });
    place("pre_tokenizer.pretokenizers[0].pattern.Regex", |file| {
        file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = json!("(a");
    });
    place("pre_tokenizer.pretokenizers[1].add_prefix_space", |file| {
        file["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = json!(true);
    });
    place("normalizer.type", |file| file["normalizer"] = json!({"type": "NFKC"}));
    place("normalizer.normalizers[0].type", |file| {
        file["normalizer"] = json!({"type": "Sequence", "normalizers": [{"type": "Lowercase"}]});
    });
    place("decoder.type", |file| file["decoder"] = json!({"type": "WordPiece"}));
    place("post_processor.type", |file| file["post_processor"] = json!({"type": "BertProcessing"}));
    place("added_tokens[1].id", |file| file["added_tokens"][1]["id"] = json!(1e300));
    place("added_tokens[1].lstrip", |file| file["added_tokens"][1]["lstrip"] = json!(1));
    place("model.merges[1]", |file| file["model"]["merges"][1] = json!(["t", "q"]));
    place("model.merges[2]", |file| file["model"]["merges"][2] = json!("a b c"));
    place("model.merges[2]", |file| file["model"]["merges"][2] = json!(["t", "h"]));
    place("model.vocab", |file| file["model"]["vocab"]["the"] = json!(0));
    place("model.vocab[\"the\"]", |file| file["model"]["vocab"]["the"] = json!(-1));
    place("model.vocab[\"a b\"]", |file| file["model"]["vocab"]["a b"] = json!(500));
    let missing = refusal(|file| {
        file["model"]["vocab"].as_object_mut().unwrap().shift_remove("Ġ");
    });
    assert!(missing.contains("0x20"), "{missing}");
    let file = sample().to_string().replacen("\"th\":256", "\"th\":256,\"th\":900", 1);
    let error = hf_json::read(file.as_bytes(), None).unwrap_err().to_string();
    assert!(error.contains("\"th\" is there twice"), "{error}");
    assert!(hf_json::read("[".repeat(100_000).as_bytes(), None).is_err());
}

#[test]
fn a_config_gives_names_and_must_agree() {
    let mut spec = spec("gpt2", SpecialPosition::Last);
    spec.special.pad = spec.special.eos;
    let file = hf_json::write(&spec, false).unwrap();
    assert_eq!(file.losses, [hf_json::PAD_LOSS]);
    let config = hf_json::write_config(&spec, None);
    let again = hf_json::read(&file.data, Some(&config)).unwrap();
    assert_eq!(again.special, spec.special);
    assert_eq!(hf_json::write_config(&again, None), config);
    for (from, to) in
        [("\"< a>\"", "\"<b>\""), ("\"lstrip\": false", "\"lstrip\": true"), ("\"259\"", "\"7\"")]
    {
        let text = String::from_utf8(config.clone()).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        assert!(hf_json::read(&file.data, Some(text.replacen(from, to, 1).as_bytes())).is_err(), "{from}");
    }
    let contrary = hf_json::read(&file.data, Some(br#"{"add_bos_token": false}"#));
    assert!(contrary.unwrap_err().to_string().contains("add_bos_token"));
}

#[test]
fn gpt2_files_come_back() {
    let spec = spec("gpt2", SpecialPosition::First);
    let files = gpt2_files::write(&spec).unwrap();
    assert_eq!(files.losses.len(), 1, "{:?}", files.losses);
    let special = [("<|end|>".to_owned(), None), ("< a>".to_owned(), Some(1))];
    let again = gpt2_files::read(&files.vocab, &files.merges, "gpt2", &special).unwrap();
    assert_eq!(gpt2_files::write(&again).unwrap(), files);
    assert_eq!((&again.merges, again.vocab == spec.vocab), (&spec.merges, true));

    let text = String::from_utf8(files.merges.clone()).unwrap();
    let cut = text.trim_end();
    let kept = gpt2_files::read(&files.vocab, cut.as_bytes(), "gpt2", &special).unwrap();
    assert_eq!(kept.merges, spec.merges);
    let windows = text.replace('\n', "\r\n");
    assert!(gpt2_files::read(&files.vocab, windows.as_bytes(), "gpt2", &special).is_ok());
    for bad in ["t h e", "th", " th e", "t q", "t h"] {
        let error =
            gpt2_files::read(&files.vocab, format!("{text}{bad}").as_bytes(), "gpt2", &special).unwrap_err();
        assert!(error.to_string().starts_with("merges.txt: line 5"), "{bad}: {error}");
    }
    assert!(
        gpt2_files::read(&files.vocab, &files.merges, "gpt2", &[]).unwrap_err().to_string().contains("< a>")
    );
}

#[test]
fn rank_files_hold_what_ranks_can_say() {
    for position in [SpecialPosition::First, SpecialPosition::Last] {
        let spec = spec("cl100k", position);
        let written = tiktoken::write(&spec).unwrap();
        assert_eq!(written.losses.len(), 2, "{:?}", written.losses);
        let special = Some(spec.special.tokens().to_vec());
        let again = tiktoken::read(&written.data, Some("cl100k"), special).unwrap();
        assert!(again.vocab == spec.vocab && again.merges == spec.merges);
        assert_eq!(tiktoken::write(&again).unwrap(), written);
    }
    let mut swapped = spec("cl100k", SpecialPosition::Last);
    swapped.merges.swap(1, 2);
    assert!(tiktoken::write(&swapped).unwrap_err().to_string().contains("\"the\""));
    let mut unreachable = spec("cl100k", SpecialPosition::Last);
    unreachable.merges.pop();
    assert!(tiktoken::write(&unreachable).unwrap_err().to_string().contains("\" the\""));
}

/// A small generator of numbers, so that a failure comes again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// A damaged copy: bits, cuts, copies of stretches, numbers, words of the format in another place.
    fn damage(&mut self, file: &[u8]) -> Vec<u8> {
        const NUMBERS: [&str; 8] =
            ["-1", "4294967296", "99999999999999999999", "1e999", "0", "null", "true", "[[[]]]"];
        let mut file = file.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(file.len());
            let to = at + self.below(24).min(file.len() - at);
            match self.below(6) {
                0 if at < file.len() => file[at] ^= 1 << self.below(8),
                1 => file.truncate(at),
                2 => drop(file.drain(at..to)),
                3 => {
                    let copy = file[at..to].to_vec();
                    let place = self.below(file.len());
                    drop(file.splice(place..place, copy));
                }
                4 => {
                    let digits = |&place: &usize| file[place].is_ascii_digit();
                    let start = (at..file.len()).find(digits).unwrap_or(file.len());
                    let end = (start..file.len()).find(|place| !digits(place)).unwrap_or(file.len());
                    let number = NUMBERS[self.below(NUMBERS.len())].bytes();
                    drop(file.splice(start..end, number));
                }
                _ => {
                    let place = self.below(file.len());
                    let width = (to - at).min(file.len() - place);
                    for offset in 0..width {
                        file.swap(at + offset, place + offset);
                    }
                }
            }
        }
        file
    }
}

/// Reads damaged copies of `file`; what is read must be a tokenizer that is written and read again as it is.
fn damaged(file: &[u8], read_and_rewrite: impl Fn(&[u8]) -> Result<(), Error>) {
    read_and_rewrite(file).unwrap();
    let mut random = Random(7);
    let mut refused = 0;
    for _ in 0..10_000 {
        match read_and_rewrite(&random.damage(file)) {
            Ok(()) => {}
            Err(
                Error::Format { .. } | Error::Vocabulary(_) | Error::SpecialToken(_) | Error::Pattern { .. },
            ) => refused += 1,
            Err(other) => unreachable!("{other:?} is no error of a file"),
        }
    }
    assert!(refused > 3_000, "{refused}");
}

#[test]
fn damaged_native_files_are_refused_or_the_same() {
    let spec = spec("gpt2", SpecialPosition::First);
    let expected = fingerprint(spec.clone());
    damaged(&native::write(&spec), |data| {
        assert_eq!(fingerprint(native::read(data)?), expected);
        Ok(())
    });
}

#[test]
fn damaged_minbpe_models_do_no_harm() {
    let file = b"minbpe v1\n\\w+|\\W+\n2\n<|end|> 260\n<|a b|> 261\n97 97\n256 97\n98 99\n257 258\n";
    damaged(file, |data| {
        let spec = minbpe::read(data)?;
        let tokenizer = Tokenizer::new(spec.clone(), 0)?;
        assert_eq!(fingerprint(native::read(&native::write(&spec))?), tokenizer.fingerprint());
        Ok(())
    });
}

#[test]
fn damaged_tokenizer_json_does_no_harm() {
    for (pattern, strings) in [("llama3", false), ("gpt2", true)] {
        let file = hf_json::write(&spec(pattern, SpecialPosition::First), strings).unwrap().data;
        damaged(&file, |data| {
            let spec = hf_json::read(data, None)?;
            let tokenizer = Tokenizer::new(spec.clone(), 0)?;
            // A special token may be spelled like a token; the format cannot hold that, and says so.
            let written = hf_json::write(&spec, false)?;
            let again = hf_json::read(&written.data, None).unwrap();
            assert_eq!(hf_json::write(&again, false).unwrap().data, written.data);
            if written.losses.is_empty() && again.pretokenizer.regex() == spec.pretokenizer.regex() {
                assert_eq!(fingerprint(again), tokenizer.fingerprint());
            }
            Ok(())
        });
    }
}

#[test]
fn damaged_gpt2_files_do_no_harm() {
    let files = gpt2_files::write(&spec("gpt2", SpecialPosition::First)).unwrap();
    let special = [("<|end|>".to_owned(), None), ("< a>".to_owned(), None)];
    let check = |vocab: &[u8], merges: &[u8]| {
        let spec = gpt2_files::read(vocab, merges, "gpt2", &special)?;
        let tokenizer = Tokenizer::new(spec.clone(), 0)?;
        let written = gpt2_files::write(&spec)?;
        let again = gpt2_files::read(&written.vocab, &written.merges, "gpt2", &special).unwrap();
        assert_eq!(fingerprint(again), tokenizer.fingerprint());
        Ok(())
    };
    damaged(&files.vocab, |vocab| check(vocab, &files.merges));
    damaged(&files.merges, |merges| check(&files.vocab, merges));
}

#[test]
fn damaged_rank_files_do_no_harm() {
    let file = tiktoken::write(&spec("gpt2", SpecialPosition::First)).unwrap().data;
    damaged(&file, |data| {
        let spec = tiktoken::read(data, Some("gpt2"), None)?;
        let tokenizer = Tokenizer::new(spec.clone(), 0)?;
        let written = tiktoken::write(&spec).unwrap();
        let again = tiktoken::read(&written.data, Some("gpt2"), None).unwrap();
        assert_eq!(fingerprint(again), tokenizer.fingerprint());
        Ok(())
    });
}

/// Real files, where there are any.
#[test]
fn published_files_come_back() {
    let Ok(folder) = std::env::var("BYTELOOM_TEST_DATA") else {
        eprintln!("skipped: BYTELOOM_TEST_DATA is not set");
        return;
    };
    let path = |name: &str| std::path::Path::new(&folder).join("vocab").join(name);
    for name in ["gpt2.tokenizer.json", "cl100k.json"] {
        let Ok(data) = std::fs::read(path(name)) else {
            eprintln!("skipped: {name} is not there");
            continue;
        };
        let spec = hf_json::read(&data, None).unwrap();
        let tokenizer = Tokenizer::new(spec.clone(), 0).unwrap();
        let written = hf_json::write(&spec, false).unwrap();
        let again = hf_json::read(&written.data, None).unwrap();
        assert_eq!(hf_json::write(&again, false).unwrap().data, written.data);
        assert_eq!(fingerprint(again), tokenizer.fingerprint());
        let ranks = tiktoken::write(&spec).unwrap();
        assert_eq!(tiktoken::read(&ranks.data, Some("gpt2"), None).unwrap().vocab.len(), spec.vocab.len());
    }
}
