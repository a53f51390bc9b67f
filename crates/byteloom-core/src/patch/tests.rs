use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::entropy::{EntropyConfig, Smoothing, Training};

fn model(order: usize, text: &[u8]) -> EntropyModel {
    let config = EntropyConfig::new(order as i128, 0.01, Smoothing::Backoff, None).unwrap();
    let mut training = Training::new(config, 1);
    training.feed_documents(&[text], &mut |_| Ok(())).unwrap();
    training.finish(&mut |_| Ok(())).unwrap()
}

fn boundaries(patcher: &Patcher, text: &[u8]) -> Vec<u32> {
    match patcher.boundaries(text, Vec::new(), &mut || Ok(())).unwrap() {
        Starts::Narrow(starts) => starts,
        Starts::Wide(_) => panic!("short texts have narrow starts"),
    }
}

fn numbers(lengths: Lengths) -> Vec<u64> {
    match lengths.into_kept() {
        Kept::U8(all) => all.into_iter().map(u64::from).collect(),
        Kept::U16(all) => all.into_iter().map(u64::from).collect(),
        Kept::U32(all) => all.into_iter().map(u64::from).collect(),
        Kept::U64(all) => all,
    }
}

fn streamed(patcher: &Patcher, text: &[u8], pieces: &[usize]) -> Vec<Vec<u8>> {
    let mut stream = patcher.stream();
    let (mut parts, mut rest) = (Vec::new(), text);
    for &piece in pieces.iter().cycle() {
        let (now, later) = rest.split_at(piece.min(rest.len()));
        parts.extend(stream.feed(now));
        assert_eq!(stream.next_starts(), stream.pending().is_empty());
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    parts.extend(stream.finish());
    assert!(stream.next_starts());
    parts
}

/// The rule, position by position, from the entropies.
fn plain(model: &EntropyModel, cuts: &EntropyCuts, longest: Option<usize>, text: &[u8]) -> Vec<u32> {
    let entropies = model.entropies(text, cuts.reset_on.as_ref(), &mut || Ok(())).unwrap();
    let mut starts: Vec<u32> = Vec::new();
    for place in 0..text.len() {
        let first = place == 0 || cuts.reset_on.as_ref().is_some_and(|set| set.has(text[place - 1]));
        let cut = first
            || (cuts.theta.is_none_or(|theta| entropies[place] > theta)
                && cuts.rise.is_none_or(|rise| entropies[place] - entropies[place - 1] > rise));
        let full = longest == starts.last().map(|&start| place - start as usize);
        if cut || (longest.is_some() && full) {
            starts.push(place as u32);
        }
    }
    starts
}

/// Longer than a block, with few different bytes so that contexts repeat.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(prop_oneof![4 => Just(b'a'), 2 => Just(b'b'), 1 => Just(b' '), 1 => Just(b'\n')], 0..300),
        vec(any::<u8>(), 0..40),
        vec(prop_oneof![4 => Just(b'a'), 1 => Just(b'\n'), 1 => Just(0xC3), 1 => Just(0xA9)], 4000..9000),
    ]
}

fn threshold() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(prop_oneof![-1.0..9.0_f64, Just(0.0), Just(2.0), Just(f64::INFINITY)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn entropy_patches_are_the_rule_as_stated(
        order in 1..=8_usize,
        trained in text(),
        test in text(),
        theta in threshold(),
        rise in threshold(),
        longest in proptest::option::of(1..50_usize),
        reset in proptest::option::of(prop_oneof![Just(&b"\n"[..]), Just(&b"ab"[..]), Just(&b""[..])]),
        pieces in vec(1..400_usize, 1..5),
    ) {
        prop_assume!(theta.is_some() || rise.is_some());
        let model = model(order, &trained);
        let cuts = EntropyCuts { theta, rise, reset_on: reset.map(ByteSet::new) };
        let patcher = Patcher::entropy(&model, cuts.clone(), longest, &mut || Ok(())).unwrap();
        let starts = boundaries(&patcher, &test);
        prop_assert_eq!(&starts, &plain(&model, &cuts, longest, &test));
        check_forms(&patcher, &test, &starts, &pieces)?;
    }

    #[test]
    fn other_patches_are_their_rules(
        test in text(), size in 1..70_usize, longest in proptest::option::of(1..50_usize), pieces in vec(1..400_usize, 1..5),
    ) {
        let fixed = Patcher::fixed(size).unwrap();
        let starts = boundaries(&fixed, &test);
        prop_assert_eq!(&starts, &(0..test.len() as u32).step_by(size).collect::<Vec<_>>());
        check_forms(&fixed, &test, &starts, &pieces)?;

        let space = |byte: u8| !byte.is_ascii_alphanumeric() && !(0x80..=0xBF).contains(&byte);
        let mut want: Vec<u32> = Vec::new();
        for place in 0..test.len() {
            let after = place > 0 && space(test[place - 1]) && !(place > 1 && space(test[place - 2]));
            let full = want.last().is_some_and(|&start| longest == Some(place - start as usize));
            if place == 0 || after || full {
                want.push(place as u32);
            }
        }
        let patcher = Patcher::space(longest).unwrap();
        prop_assert_eq!(boundaries(&patcher, &test), want.clone());
        check_forms(&patcher, &test, &want, &pieces)?;
    }

    #[test]
    fn starts_from_elsewhere(test in text(), longest in 1..50_usize) {
        let free: Vec<u32> = boundaries(&Patcher::space(None).unwrap(), &test);
        let wide: Vec<u64> = free.iter().map(|&start| start.into()).collect();
        let limited = limit_starts(&wide, test.len(), Some(longest)).unwrap();
        prop_assert_eq!(limited, Starts::Narrow(boundaries(&Patcher::space(Some(longest)).unwrap(), &test)));
        let want = Patcher::space(None).unwrap().lengths(&test, &mut || Ok(())).unwrap();
        prop_assert_eq!(lengths_from_starts(&wide, test.len()).unwrap().into_kept(), want.into_kept());
    }
}

/// Lengths, batches and streams say the same as boundaries.
fn check_forms(
    patcher: &Patcher,
    test: &[u8],
    starts: &[u32],
    pieces: &[usize],
) -> std::result::Result<(), TestCaseError> {
    let ends: Vec<usize> = starts.iter().skip(1).map(|&end| end as usize).chain([test.len()]).collect();
    let parts: Vec<&[u8]> =
        starts.iter().zip(&ends).map(|(&start, &end)| &test[start as usize..end]).collect();
    prop_assert_eq!(parts.concat(), test);
    prop_assert!(parts.iter().all(|patch| !patch.is_empty()));
    let lengths = patcher.lengths(test, &mut || Ok(())).unwrap();
    let want: Vec<u64> = parts.iter().map(|patch| patch.len() as u64).collect();
    let narrow = matches!(lengths.kept_ref(), Kept::U8(_));
    prop_assert_eq!(narrow, want.iter().all(|&length| length < 256));
    prop_assert_eq!(numbers(lengths), want.clone());
    prop_assert_eq!(streamed(patcher, test, pieces), parts);
    let texts = [test, b"", &test[..test.len() / 2], test];
    let (flat, ends) = patcher.batch_boundaries(&texts, 3, &mut || Ok(())).unwrap();
    let each: Vec<Vec<u32>> = texts.iter().map(|text| boundaries(patcher, text)).collect();
    prop_assert_eq!(flat, Starts::Narrow(each.concat()));
    let (lengths, same) = patcher.batch_lengths(&texts, 3, &mut || Ok(())).unwrap();
    prop_assert_eq!(&ends, &same);
    prop_assert_eq!(ends.last(), Some(&each.concat().len()));
    prop_assert_eq!(
        numbers(lengths).iter().sum::<u64>(),
        texts.iter().map(|text| text.len() as u64).sum::<u64>()
    );
    Ok(())
}

#[test]
fn a_limit_cuts_long_patches() {
    let lengths = Patcher::space(Some(6)).unwrap().lengths(&[b'a'; 1000], &mut || Ok(())).unwrap();
    let lengths = numbers(lengths);
    assert_eq!((lengths.len(), lengths[0], lengths[166]), (167, 6, 4));
}

#[test]
fn lengths_grow_with_what_they_hold() {
    for (length, rank) in [(255, 0), (256, 1), (65_535, 1), (65_536, 2)] {
        let text = vec![b'a'; length];
        let kept = Patcher::space(None).unwrap().lengths(&text, &mut || Ok(())).unwrap().into_kept();
        let found = match kept {
            Kept::U8(_) => 0,
            Kept::U16(_) => 1,
            Kept::U32(_) => 2,
            Kept::U64(_) => 3,
        };
        assert_eq!(found, rank, "{length}");
    }
    // Shares of a batch that need different types.
    let long = vec![b'a'; 300];
    let (lengths, ends) =
        Patcher::space(None).unwrap().batch_lengths(&[&b"ab c"[..], &long], 1, &mut || Ok(())).unwrap();
    assert_eq!((numbers(lengths), ends), (vec![3, 1, 300], vec![2, 3]));
    let mut mixed = Lengths::default();
    let mut later = Lengths::default();
    later.begin();
    later.starts(0, &[0]);
    later.end(70_000);
    mixed.begin();
    mixed.starts(0, &[0]);
    mixed.end(2);
    mixed.append(later);
    assert_eq!(mixed.into_kept(), Kept::U32(vec![2, 70_000]));
}

#[test]
fn a_patcher_keeps_its_model() {
    let before = model(4, b"the cat and the hat");
    let cuts = EntropyCuts { theta: Some(2.0), ..EntropyCuts::default() };
    let patcher = Patcher::entropy(&before, cuts, None, &mut || Ok(())).unwrap();
    let starts = boundaries(&patcher, b"the cat");
    let _after = before.merged(&model(4, b"no more of that"), &mut || Ok(())).unwrap();
    assert_eq!(boundaries(&patcher, b"the cat"), starts);
}

#[test]
fn what_cannot_be_is_refused() {
    let model = model(4, b"abc");
    let refused = |theta, rise, longest| {
        let cuts = EntropyCuts { theta, rise, reset_on: None };
        matches!(Patcher::entropy(&model, cuts, longest, &mut || Ok(())), Err(Error::Patching(_)))
    };
    assert!(refused(None, None, None));
    assert!(refused(Some(f64::NAN), None, None));
    assert!(refused(None, Some(f64::NAN), None));
    assert!(refused(Some(1.0), None, Some(0)));
    assert!(!refused(Some(1.0), Some(f64::NEG_INFINITY), Some(1)));
    assert!(Patcher::fixed(0).is_err());
    assert!(Patcher::space(Some(0)).is_err());
    for starts in [&[1_u64][..], &[0, 2, 2], &[0, 3, 2], &[0, 5], &[]] {
        assert!(lengths_from_starts(starts, 5).is_err(), "{starts:?}");
    }
    assert!(lengths_from_starts(&[], 0).is_ok());
    assert!(lengths_from_starts(&[0], 0).is_err());
}

#[test]
fn long_work_can_be_stopped() {
    let text = vec![b'a'; 1 << 20];
    let mut looks = 0;
    let result = Patcher::space(None).unwrap().lengths(&text, &mut || {
        looks += 1;
        if looks == 3 { Err(Error::Interrupted) } else { Ok(()) }
    });
    assert!(matches!(result, Err(Error::Interrupted)));
}
