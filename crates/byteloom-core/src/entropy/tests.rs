use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The rules as they are stated, on lists: nothing shared with the model.
struct Plain {
    order: usize,
    alpha: f64,
    counts: BTreeMap<Vec<u8>, BTreeMap<u8, u64>>,
}

impl Plain {
    fn new(order: usize, alpha: f64, documents: &[&[u8]]) -> Self {
        let mut counts: BTreeMap<Vec<u8>, BTreeMap<u8, u64>> = BTreeMap::new();
        for document in documents {
            for (place, &byte) in document.iter().enumerate() {
                for length in 0..order.min(place + 1) {
                    let row = counts.entry(document[place - length..place].to_vec()).or_default();
                    *row.entry(byte).or_default() += 1;
                }
            }
        }
        Self { order, alpha, counts }
    }

    fn backoff(&self, history: &[u8]) -> Vec<f64> {
        let longest = history.len().min(self.order - 1);
        let shortest = longest.min(1);
        let row =
            (shortest..=longest).rev().find_map(|length| self.counts.get(&history[history.len() - length..]));
        let count = |byte: u8| row.and_then(|row| row.get(&byte)).copied().unwrap_or(0) as f64;
        let total: f64 = (0..=255).map(count).sum::<f64>() + 256.0 * self.alpha;
        (0..=255).map(|byte| (count(byte) + self.alpha) / total).collect()
    }

    fn witten_bell(&self, history: &[u8]) -> Vec<f64> {
        let mut prediction = vec![1.0 / 256.0; 256];
        for length in 0..self.order.min(history.len() + 1) {
            let Some(row) = self.counts.get(&history[history.len() - length..]) else { break };
            let (n, t) = (row.values().sum::<u64>() as f64, row.len() as f64);
            for (byte, p) in (0..=255).zip(&mut prediction) {
                *p = (row.get(&byte).copied().unwrap_or(0) as f64 + t * *p) / (n + t);
            }
        }
        prediction
    }
}

fn entropy(prediction: &[f64]) -> f64 {
    prediction.iter().filter(|&&p| p > 0.0).map(|p| -p * p.log2()).sum()
}

fn config(order: usize, smoothing: Smoothing) -> EntropyConfig {
    EntropyConfig::new(order as i128, 0.01, smoothing, None).unwrap()
}

fn trained(config: EntropyConfig, threads: usize, documents: &[&[u8]]) -> EntropyModel {
    let mut training = Training::new(config, threads);
    training.feed_documents(documents, &mut |_| Ok(())).unwrap();
    training.finish(&mut |_| Ok(())).unwrap()
}

fn entropies(model: &EntropyModel, text: &[u8]) -> Vec<f64> {
    model.entropies(text, None, &mut || Ok(())).unwrap()
}

/// Texts that repeat, over few bytes or many.
fn text(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(prop_oneof![Just(b'a'), Just(b'b'), Just(b'\n')], 0..longest),
        vec(any::<u8>(), 0..longest),
        vec(prop_oneof![Just(0_u8), Just(255_u8), Just(b'x')], 0..longest),
    ]
}

proptest! {
    #[test]
    fn is_the_rule_as_stated(
        order in 1..=8_usize, documents in vec(text(150), 0..4), test in text(200), again in any::<bool>(),
    ) {
        let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
        let test = match documents.first() { Some(first) if again => first, _ => test.as_slice() };
        let plain = Plain::new(order, 0.01, &documents);
        for smoothing in [Smoothing::Backoff, Smoothing::WittenBell] {
            let model = trained(config(order, smoothing), 1, &documents);
            let got = entropies(&model, test);
            prop_assert_eq!(got.len(), test.len());
            let mut bits = 0.0;
            for (place, entropy_got) in got.into_iter().enumerate() {
                let history = &test[..place];
                let want = match smoothing {
                    Smoothing::Backoff => plain.backoff(history),
                    Smoothing::WittenBell => plain.witten_bell(history),
                };
                prop_assert!((entropy_got - entropy(&want)).abs() < 1e-12, "{} at {}", entropy_got, place);
                let got = model.distribution(history, &mut || Ok(())).unwrap();
                prop_assert!(got.iter().zip(&want).all(|(got, want)| (got - want).abs() < 1e-14));
                bits -= want[usize::from(test[place])].log2();
            }
            let got = model.bits_per_byte(test, &mut || Ok(())).unwrap();
            prop_assert!((got - bits / test.len().max(1) as f64).abs() < 1e-11);
        }
    }

    #[test]
    fn merging_is_training_on_both(order in 1..=8_usize, a in vec(text(300), 0..3), b in vec(text(300), 0..3)) {
        let config = config(order, Smoothing::Backoff);
        let (first, second): (Vec<&[u8]>, Vec<&[u8]>) =
            (a.iter().map(Vec::as_slice).collect(), b.iter().map(Vec::as_slice).collect());
        let both = trained(config, 1, &[first.clone(), second.clone()].concat());
        let sum = trained(config, 1, &first).merged(&trained(config, 1, &second), &mut || Ok(())).unwrap();
        prop_assert_eq!(sum.to_bytes(), both.to_bytes());
        let swapped = trained(config, 1, &second).merged(&trained(config, 1, &first), &mut || Ok(())).unwrap();
        prop_assert_eq!(swapped.to_bytes(), both.to_bytes());
    }

    #[test]
    fn threads_and_pieces_change_nothing(order in 1..=8_usize, documents in vec(text(700), 0..6)) {
        let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
        let one = trained(config(order, Smoothing::Backoff), 1, &documents);
        let many = trained(config(order, Smoothing::Backoff), 3, &documents);
        prop_assert_eq!(one.to_bytes(), many.to_bytes());
        prop_assert_eq!(one.trained_bytes(), documents.iter().map(|text| text.len() as u64).sum::<u64>());
        prop_assert_eq!(one.documents(), documents.len() as u64);
    }

    #[test]
    fn a_file_gives_the_same_model(order in 1..=8_usize, document in text(500), damage in any::<(usize, u8)>()) {
        let model = trained(config(order, Smoothing::WittenBell), 1, &[&document]);
        let mut file = model.to_bytes();
        let read = EntropyModel::from_bytes(&file).unwrap();
        prop_assert_eq!(read.to_bytes(), file.clone());
        prop_assert_eq!(read.fingerprint(), model.fingerprint());
        prop_assert_eq!(entropies(&read, &document), entropies(&model, &document));
        let place = damage.0 % file.len();
        prop_assert!(EntropyModel::from_bytes(&file[..place]).is_err());
        file[place] ^= damage.1 | 1;
        let found = matches!(EntropyModel::from_bytes(&file), Err(Error::Format { .. }));
        prop_assert!(found);
    }

    /// Dropping contexts keeps the counts of all shorter ones, and stops at the size asked for.
    #[test]
    fn shrinking_drops_the_rarest(order in 3..=8_usize, document in text(400), most in 40..400_usize) {
        let model = trained(config(order, Smoothing::Backoff), 1, &[&document]);
        let mut grams = model.0.grams.clone();
        grams.shrink(most, &mut || Ok(())).unwrap();
        let pairs = Plain::new(2, 0.01, &[&document]).counts.values().map(BTreeMap::len).sum::<usize>();
        prop_assert!(grams.len() <= most.max(pairs));
        prop_assert_eq!(grams.total(), document.len() as u64);
        // A context that is left has the row it had.
        let small = EntropyModel::with(*model.config(), grams, 1, 0);
        let (small, small_rows) = small.with_rows(&mut || Ok(())).unwrap();
        let (whole, whole_rows) = model.with_rows(&mut || Ok(())).unwrap();
        for end in 0..document.len() {
            for (kept, had) in small.path(&document[..end]).zip(whole.path(&document[..end])) {
                prop_assert_eq!(kept.level, had.level);
                let kept = small_rows[kept.level].get(kept.index).pairs();
                prop_assert!(kept.eq(whole_rows[had.level].get(had.index).pairs()));
            }
        }
    }
}

#[test]
fn the_memory_limit_holds_whatever_the_threads() {
    // Numbers that look random: nearly every string of 8 bytes is new.
    let mut state = 1_u64;
    let mut text = Vec::new();
    for _ in 0..400_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push((state >> 57) as u8);
    }
    let limit = LEAST_MEMORY_LIMIT;
    let config = EntropyConfig::new(8, 0.01, Smoothing::Backoff, Some(limit as i128)).unwrap();
    let models: Vec<_> = [1, 2, 5].map(|threads| trained(config, threads, &[&text])).into();
    let info = models[0].info(&mut || Ok(())).unwrap();
    assert!(info.count_bytes <= limit, "{}", info.count_bytes);
    assert!(info.dropped_contexts > 0);
    assert_eq!(models[0].to_bytes(), models[1].to_bytes());
    assert_eq!(models[0].to_bytes(), models[2].to_bytes());
    // Contexts of one byte are exact.
    let plain = Plain::new(2, 0.01, &[&text]);
    let got = models[0].distribution(&text[..1], &mut || Ok(())).unwrap();
    assert_eq!(got, plain.backoff(&text[..1]));
}

#[test]
fn what_was_asked_first_changes_nothing() {
    let text = b"abracadabra, abracadabra";
    for smoothing in [Smoothing::Backoff, Smoothing::WittenBell] {
        let [entropies_first, bits_first] = [(); 2].map(|()| trained(config(6, smoothing), 1, &[text]));
        let want = entropies(&entropies_first, text);
        let bits = |model: &EntropyModel| model.bits_per_byte(text, &mut || Ok(())).unwrap();
        assert_eq!(bits(&entropies_first), bits(&bits_first));
        assert_eq!(entropies(&bits_first, text), want);
        let size = |model: &EntropyModel| model.info(&mut || Ok(())).unwrap().compiled_bytes;
        assert_eq!(size(&entropies_first), size(&bits_first));
    }
}

#[test]
fn an_untrained_model_knows_nothing() {
    for smoothing in [Smoothing::Backoff, Smoothing::WittenBell] {
        for order in 1..=8 {
            let model = EntropyModel::new(config(order, smoothing));
            assert_eq!(entropies(&model, b"any\0\xff"), [8.0; 5]);
            assert_eq!(model.bits_per_byte(b"any", &mut || Ok(())).unwrap(), 8.0);
            assert_eq!(model.bits_per_byte(b"", &mut || Ok(())).unwrap(), 0.0);
            assert_eq!(EntropyModel::from_bytes(&model.to_bytes()).unwrap().to_bytes(), model.to_bytes());
        }
    }
}

#[test]
fn equal_counts_have_equal_entropies() {
    // The same counts 3, 2 and 1 behind `x` and `y`, met in another order.
    let model = trained(config(2, Smoothing::Backoff), 1, &[b"xaxaxaxbxbxc", b"yqyryryryqys"]);
    let got = entropies(&model, b"xyx");
    assert_eq!(got[1], got[2]);
}

#[test]
fn the_context_that_answers_is_the_longest_seen() {
    let documents: [&[u8]; 2] = [b"abcabdabd abcdefgh", b"\0\0a"];
    for smoothing in [Smoothing::Backoff, Smoothing::WittenBell] {
        for order in 1..=8 {
            let model = trained(config(order, smoothing), 1, &documents);
            let plain = Plain::new(order, 0.01, &documents);
            for text in [&b"abdabcxabcdefghabd"[..], b"\0\0\0az", b""] {
                let (lengths, seen) = model.contexts(text, None, &mut || Ok(())).unwrap();
                assert_eq!((lengths.len(), seen.len()), (text.len(), text.len()));
                for end in 0..text.len() {
                    let longest = end.min(order - 1);
                    let shortest = if smoothing == Smoothing::Backoff { longest.min(1) } else { 0 };
                    let found = (shortest..=longest).rev().find_map(|length| {
                        let row = plain.counts.get(&text[end - length..end])?;
                        Some((length as u8, row.values().sum::<u64>()))
                    });
                    assert_eq!((lengths[end], seen[end]), found.unwrap_or((0, 0)), "{order} {end}");
                }
            }
        }
    }
}

#[test]
fn behind_a_reset_a_line_stands_alone() {
    let lines: [&[u8]; 4] = [b"the cat\n", b"\n", b"the hat\n", b"the"];
    let text = lines.concat();
    let model = trained(config(4, Smoothing::Backoff), 1, &[&text]);
    let newline = ByteSet::new(b"\n");
    let whole = model.entropies(&text, Some(&newline), &mut || Ok(())).unwrap();
    let alone: Vec<f64> = lines.iter().flat_map(|line| entropies(&model, line)).collect();
    assert_eq!(whole, alone);
}

#[test]
fn what_cannot_be_is_refused() {
    let new = |order, alpha, limit| EntropyConfig::new(order, alpha, Smoothing::Backoff, limit).map(drop);
    assert!(new(8, 0.01, None).is_ok());
    for order in [-1, 0, 9, i128::MAX] {
        assert!(matches!(new(order, 0.01, None), Err(Error::Patching(_))), "{order}");
    }
    for alpha in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
        assert!(matches!(new(4, alpha, None), Err(Error::Patching(_))), "{alpha}");
    }
    for limit in [-1, 0, 1000] {
        assert!(matches!(new(4, 0.01, Some(limit)), Err(Error::Patching(_))), "{limit}");
    }
    assert!("kneser-ney".parse::<Smoothing>().is_err());
    let (three, four) = (config(3, Smoothing::Backoff), config(4, Smoothing::Backoff));
    assert!(EntropyModel::new(three).merged(&EntropyModel::new(four), &mut || Ok(())).is_err());
}

#[test]
fn a_hook_stops_training_and_leaves_no_model() {
    let mut training = Training::new(config(4, Smoothing::Backoff), 2);
    let text = vec![b'a'; 10_000];
    let result = training.feed_documents(&[&text], &mut |_| Err(Error::Interrupted));
    assert!(matches!(result, Err(Error::Interrupted)));
}

#[test]
fn headers_that_lie_are_found() {
    use sha2::{Digest, Sha256};
    let file = trained(config(3, Smoothing::Backoff), 1, &[b"abcabc"]).to_bytes();
    let end = file.iter().position(|&byte| byte == b'\n').unwrap();
    let header = String::from_utf8(file[..end].to_vec()).unwrap();
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
        ("\"order\":3", "\"order\":4"),
        ("\"order\":3", "\"order\":0"),
        ("\"alpha\":0.01", "\"alpha\":-1"),
        ("\"backoff\"", "\"none\""),
        ("[1,1,3]", "[1,1,4]"),
        ("[1,1,3]", "[1,1,2]"),
        ("[1,1,3]", "[1,1,18446744073709551615]"),
        ("\"documents\":1", "\"documents\":-1"),
    ] {
        let changed = header.replace(from, to);
        assert_ne!(changed, header, "{from}");
        let mut forged = changed.into_bytes();
        forged.extend_from_slice(&file[end..file.len() - 32]);
        let digest = Sha256::digest(&forged);
        forged.extend_from_slice(&digest);
        assert!(matches!(EntropyModel::from_bytes(&forged), Err(Error::Format { .. })), "{to}");
    }
}
