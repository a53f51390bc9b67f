//! The stages of the core, one by one: `cargo bench -p byteloom-core [-- NAME]`.
//!
//! With `BYTELOOM_TEST_DATA` the text is the start of english.txt there and the vocabulary cl100k; else both are made
//! here. Merging is measured with the cache off: every pre-token that is no token goes through its merges.
#![allow(missing_docs, reason = "what Criterion's macros make")]
#![expect(clippy::unwrap_used, reason = "a fault ends it")]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use byteloom_core::format::hf_json;
use byteloom_core::pretokenize::{PreTokenizer, SimdPath, Window};
use byteloom_core::spec::TokenizerSpec;
use byteloom_core::tokenizer::Tokenizer;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

mod sample;

const TEXT_BYTES: usize = 1 << 20;
const TRAINING_BYTES: usize = 256 << 10;
const MERGES: usize = 8_000;
const CACHE_BYTES: usize = 64 << 20;

struct Sample {
    text: Vec<u8>,
    spec: TokenizerSpec,
    /// The vocabulary as `tokenizer.json`.
    file: Vec<u8>,
}

fn sample() -> Sample {
    let Some(data) = std::env::var_os("BYTELOOM_TEST_DATA").map(PathBuf::from) else {
        let text = sample::text(TEXT_BYTES).into_bytes();
        let spec = sample::spec(&text[..TRAINING_BYTES], "cl100k", MERGES).unwrap();
        let file = hf_json::write(&spec, false).unwrap().data;
        return Sample { text, spec, file };
    };
    let mut text = std::fs::read(data.join("english.txt")).unwrap();
    text.truncate(TEXT_BYTES);
    let file = std::fs::read(data.join("vocab/cl100k.json")).unwrap();
    Sample { text, spec: hf_json::read(&file, None).unwrap(), file }
}

fn encode(tokenizer: &Tokenizer, text: &[u8], ids: &mut Vec<u32>) {
    ids.clear();
    tokenizer.encode_into(black_box(text), tokenizer.ordinary(), ids, &mut || Ok(())).unwrap();
}

fn pretokenize(criterion: &mut Criterion) {
    let Sample { text, .. } = sample();
    let mut group = criterion.benchmark_group("pretokenize");
    group.throughput(Throughput::Bytes(text.len() as u64));
    for name in ["gpt2", "cl100k", "o200k"] {
        let pretokenizer = PreTokenizer::new(name).unwrap();
        for &path in SimdPath::available() {
            let mut window = Window::default();
            group.bench_function(format!("{name}/{}", path.name()), |bencher| {
                bencher.iter(|| {
                    let mut blocks = pretokenizer.blocks_by(path, black_box(&text));
                    while blocks.next_window(&mut window).unwrap() {
                        black_box(&window.ends);
                    }
                });
            });
        }
    }
    group.finish();
}

fn encoding(criterion: &mut Criterion) {
    let Sample { text, spec, .. } = sample();
    let tokenizer = Tokenizer::new(spec, CACHE_BYTES).unwrap();
    let mut ids = Vec::with_capacity(text.len());
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Bytes(text.len() as u64));
    encode(&tokenizer, &text, &mut ids);
    group.bench_function("warm", |bencher| bencher.iter(|| encode(&tokenizer, &text, &mut ids)));
    group.bench_function("first", |bencher| {
        bencher.iter_batched_ref(
            || tokenizer.with_cache_bytes(CACHE_BYTES),
            |fresh| encode(fresh, &text, &mut ids),
            BatchSize::LargeInput,
        );
    });
    let merging = tokenizer.with_cache_bytes(0);
    group.bench_function("merges", |bencher| bencher.iter(|| encode(&merging, &text, &mut ids)));
    for length in [13, 100, 1_000] {
        let short = &text[..length];
        group.throughput(Throughput::Bytes(length as u64));
        group.bench_function(format!("{length} bytes"), |bencher| {
            bencher.iter(|| encode(&tokenizer, short, &mut ids));
        });
    }
    group.finish();
}

fn decoding(criterion: &mut Criterion) {
    let Sample { text, spec, .. } = sample();
    let tokenizer = Tokenizer::new(spec, CACHE_BYTES).unwrap();
    let (mut ids, mut bytes) = (Vec::new(), Vec::with_capacity(text.len() + 64));
    encode(&tokenizer, &text, &mut ids);
    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Elements(ids.len() as u64));
    group.bench_function("tokens", |bencher| {
        bencher.iter(|| {
            bytes.clear();
            tokenizer.decode_into(black_box(&ids), false, &mut bytes).unwrap();
        });
    });
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let Sample { file, .. } = sample();
    let mut group = criterion.benchmark_group("load");
    group.bench_function("read", |bencher| bencher.iter(|| hf_json::read(black_box(&file), None).unwrap()));
    let spec = hf_json::read(&file, None).unwrap();
    group.bench_function("compile", |bencher| {
        bencher.iter_batched(
            || spec.clone(),
            |spec| Tokenizer::new(spec, CACHE_BYTES).unwrap(),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn training(criterion: &mut Criterion) {
    let Sample { text, .. } = sample();
    let mut group = criterion.benchmark_group("train");
    group.throughput(Throughput::Bytes(text.len() as u64));
    for merges in [0, 2_000, MERGES] {
        group.bench_function(format!("{merges} merges"), |bencher| {
            bencher.iter(|| sample::spec(black_box(&text), "gpt2", merges).unwrap());
        });
    }
    group.finish();
}

criterion_group! {
    name = stages;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = pretokenize, encoding, decoding, loading, training
}
criterion_main!(stages);
