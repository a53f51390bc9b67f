//! Logarithms and entropies that come out the same, to the last bit, on every machine.
//!
//! The logarithm of the system's library may differ in its last bit from one machine to the next, and a boundary with
//! it. This one uses additions, multiplications and divisions only, which IEEE 754 fixes.

/// The coefficients `2 / ((2k + 1) ln 2)` of the series of `log2((1 + s) / (1 - s))` in odd powers of `s`.
const SERIES: [f64; 12] = {
    let mut series = [0.0; 12];
    let mut k = 0;
    while k < series.len() {
        series[k] = 2.0 * std::f64::consts::LOG2_E / (2 * k + 1) as f64;
        k += 1;
    }
    series
};

/// The logarithm to base 2 of a positive, finite, normal number, within 2 units in the last place; exact for powers
/// of two.
pub(super) fn log2(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    /// The mantissa of the square root of 2.
    const ROOT: u64 = 0x6_A09E_667F_3BCD;
    let bits = x.to_bits();
    let above = u64::from(bits & MANTISSA >= ROOT);
    // x = m · 2^exponent with m between sqrt(1/2) and sqrt(2), so that |s| stays below 0.172.
    let exponent = (bits >> 52).cast_signed() - 1023 + above.cast_signed();
    let m = f64::from_bits((bits & MANTISSA) | (1023 - above) << 52);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    // Two interleaved sums in powers of s⁴: half as long a chain of dependent operations.
    let fourth = square * square;
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in SERIES.as_chunks::<2>().0.iter().rev() {
        even = even * fourth + pair[0];
        odd = odd * fourth + pair[1];
    }
    exponent as f64 + s * (odd * square + even)
}

/// `x · log2(x)`, and 0 for 0.
pub(super) fn x_log2_x(x: f64) -> f64 {
    if x > 0.0 { x * log2(x) } else { 0.0 }
}

/// The entropy in bits of counts smoothed by adding `alpha` to each of 256.
///
/// `counts` are those above 0, ascending, so that the result depends on the counts alone and not on which bytes have
/// them: equal counts give equal entropies, and a rise of exactly 0.
pub(super) fn smoothed_entropy(counts: &[u64], alpha: f64) -> f64 {
    if counts.is_empty() {
        return 8.0;
    }
    let total = counts.iter().sum::<u64>() as f64 + 256.0 * alpha;
    let mut bits = 0.0;
    for run in counts.chunk_by(|a, b| a == b) {
        bits -= run.len() as f64 * x_log2_x((run[0] as f64 + alpha) / total);
    }
    bits -= (256 - counts.len()) as f64 * x_log2_x(alpha / total);
    bits.max(0.0)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "exact values are the point")]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        let mut x = 1.0e-300;
        while x < 1.0e300 {
            for near in [x, x * 1.000_000_1, x * 1.37] {
                let (got, want) = (log2(near), near.log2());
                assert!(
                    (got - want).abs() <= 4e-16 * want.abs().max(f64::MIN_POSITIVE),
                    "{near}: {got} {want}"
                );
            }
            x *= 1.913;
        }
        for near in [1.0 + 1e-15, 1.0 - 1e-15, 0.999, 1.001, std::f64::consts::SQRT_2] {
            assert!((log2(near) - near.log2()).abs() <= 4e-16 * near.log2().abs(), "{near}");
        }
        for exponent in -1000..1000 {
            assert_eq!(log2(2_f64.powi(exponent)), f64::from(exponent));
        }
        assert_eq!(x_log2_x(0.0), 0.0);
    }

    #[test]
    fn entropies_of_known_distributions() {
        assert_eq!(smoothed_entropy(&[], 0.01), 8.0);
        assert!((smoothed_entropy(&[3; 256], 0.01) - 8.0).abs() < 1e-13);
        // One byte seen once: p = 1.01 / 3.56 against 255 times 0.01 / 3.56.
        let (p, q) = (1.01_f64 / 3.56, 0.01_f64 / 3.56);
        let want = -(p * p.log2()) - 255.0 * q * q.log2();
        assert!((smoothed_entropy(&[1], 0.01) - want).abs() < 1e-13);
        assert!(smoothed_entropy(&[u64::from(u32::MAX) << 20], 1e-9) >= 0.0);
    }
}
