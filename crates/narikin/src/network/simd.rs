//! Vectors of 16-bit integers, computed by the widest instructions of the CPU.
//!
//! Updates are written once: the compiler vectorizes them for each level. It does not find the
//! instruction that multiplies and adds pairs, so activations use intrinsics.
#![expect(clippy::inline_always, reason = "updates are compiled once per level")]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[macro_use]
mod level;
#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::architecture::{Activation, LANES};

/// A block of numbers, aligned for the widest registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [i16; LANES]);

/// Blocks of a slice, whose length is a multiple of [`LANES`].
pub(super) fn to_blocks(numbers: &[i16]) -> Vec<Lanes> {
    let (blocks, _) = numbers.as_chunks::<LANES>();
    blocks.iter().map(|&block| Lanes(block)).collect()
}

pub(super) fn to_numbers(blocks: &[Lanes]) -> Vec<i16> {
    blocks.iter().flat_map(|block| block.0).collect()
}

/// Weights to add or subtract, as long as the accumulator.
pub(super) type Column<'a> = &'a [Lanes];

/// The activations of both accumulators and their weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output<'a> {
    pub(super) ours: &'a [Lanes],
    pub(super) theirs: &'a [Lanes],
    /// Weights of `ours`, then of `theirs`.
    pub(super) weights: &'a [Lanes],
    /// The upper limit of activations, at most 255.
    pub(super) most: i16,
}

/// A set of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Simd(Level);

/// A level other than `Portable` exists only if the CPU supports it: only [`Simd::levels`] creates one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Sse41,
    #[cfg(target_arch = "aarch64")]
    Neon,
    Portable,
}

/// Calls a function of a level.
macro_rules! dispatch {
    ($level:expr, $function:ident($($argument:expr),*)) => {
        match $level {
            // SAFETY: the function needs only the CPU features of its level, and a level exists only if
            // the CPU supports it.
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "detected by `levels`")]
            Level::Avx512 => unsafe { x86::avx512::$function($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "detected by `levels`")]
            Level::Avx2 => unsafe { x86::avx2::$function($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "detected by `levels`")]
            Level::Sse41 => unsafe { x86::sse41::$function($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            #[expect(unsafe_code, reason = "detected by `levels`")]
            Level::Neon => unsafe { arm::neon::$function($($argument),*) },
            Level::Portable => $function($($argument),*),
        }
    };
}

impl Simd {
    /// The widest supported set.
    pub(super) fn detect() -> Self {
        Self::levels().next().unwrap_or(Self(Level::Portable))
    }

    /// All supported sets, the widest one first.
    pub(super) fn levels() -> impl Iterator<Item = Self> {
        let levels = [
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("avx512bw"), Level::Avx512),
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("avx2"), Level::Avx2),
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("sse4.1"), Level::Sse41),
            #[cfg(target_arch = "aarch64")]
            (std::arch::is_aarch64_feature_detected!("neon"), Level::Neon),
            (true, Level::Portable),
        ];
        levels.into_iter().filter(|(supported, _)| *supported).map(|(_, level)| Self(level))
    }

    /// Writes the sum of an accumulator and changes.
    pub(super) fn update<const A: usize, const S: usize>(
        self,
        to: &mut [Lanes],
        from: &[Lanes],
        added: [Column<'_>; A],
        removed: [Column<'_>; S],
    ) {
        dispatch!(self.0, update(to, from, added, removed));
    }

    /// Adds changes to an accumulator.
    pub(super) fn update_in_place<const A: usize, const S: usize>(
        self,
        sums: &mut [Lanes],
        added: [Column<'_>; A],
        removed: [Column<'_>; S],
    ) {
        dispatch!(self.0, update_in_place(sums, added, removed));
    }

    /// The sum of weighted activations.
    pub(super) fn output(self, activation: Activation, output: Output<'_>) -> i64 {
        match activation {
            Activation::ClippedRelu => dispatch!(self.0, clipped(output)),
            Activation::SquaredClippedRelu => dispatch!(self.0, squared(output)),
        }
    }
}

/// Inlined, so that each level compiles it.
#[inline(always)]
fn update<const A: usize, const S: usize>(
    to: &mut [Lanes],
    from: &[Lanes],
    added: [Column<'_>; A],
    removed: [Column<'_>; S],
) {
    let blocks = to.len().min(from.len());
    let Some((added, removed)) = columns(blocks, added, removed) else { return };
    for (block, (to, from)) in to.iter_mut().zip(from).enumerate() {
        *to = sum(
            *from,
            added.map(|weights| &weights[block]),
            removed.map(|weights| &weights[block]),
        );
    }
}

/// Inlined, so that each level compiles it.
#[inline(always)]
fn update_in_place<const A: usize, const S: usize>(
    sums: &mut [Lanes],
    added: [Column<'_>; A],
    removed: [Column<'_>; S],
) {
    let Some((added, removed)) = columns(sums.len(), added, removed) else { return };
    for (block, sums) in sums.iter_mut().enumerate() {
        *sums = sum(
            *sums,
            added.map(|weights| &weights[block]),
            removed.map(|weights| &weights[block]),
        );
    }
}

/// Columns with this number of blocks, so that loops need no further checks.
#[inline(always)]
fn columns<'a, const A: usize, const S: usize>(
    blocks: usize,
    added: [Column<'a>; A],
    removed: [Column<'a>; S],
) -> Option<([Column<'a>; A], [Column<'a>; S])> {
    let complete = added.iter().chain(&removed).all(|weights| weights.len() >= blocks);
    debug_assert!(complete, "columns have the length of the accumulator");
    complete.then(|| {
        (added.map(|weights| &weights[..blocks]), removed.map(|weights| &weights[..blocks]))
    })
}

#[inline(always)]
fn sum<const A: usize, const S: usize>(
    mut sums: Lanes,
    added: [&Lanes; A],
    removed: [&Lanes; S],
) -> Lanes {
    for weights in added {
        for (sum, weight) in sums.0.iter_mut().zip(weights.0) {
            *sum = sum.wrapping_add(weight);
        }
    }
    for weights in removed {
        for (sum, weight) in sums.0.iter_mut().zip(weights.0) {
            *sum = sum.wrapping_sub(weight);
        }
    }
    sums
}

/// The output of activations that are clipped.
fn clipped(output: Output<'_>) -> i64 {
    dot(output, |active, weight| active * weight)
}

/// The output of activations that are clipped and squared.
fn squared(output: Output<'_>) -> i64 {
    dot(output, |active, weight| active * active * weight)
}

fn dot(Output { ours, theirs, weights, most }: Output<'_>, term: impl Fn(i32, i32) -> i32) -> i64 {
    let blocks = ours.iter().chain(theirs).zip(weights);
    let pairs = blocks.flat_map(|(sums, weights)| sums.0.into_iter().zip(weights.0));
    pairs.map(|(sum, weight)| i64::from(term(sum.clamp(0, most).into(), weight.into()))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{MAX_HIDDEN, tests::RandomNumbers};

    fn blocks(numbers: &mut RandomNumbers, units: usize, most: i16) -> Vec<Lanes> {
        let numbers: Vec<i16> = (0..units).map(|_| numbers.weight(most)).collect();
        to_blocks(&numbers)
    }

    /// The number of random cases.
    const CASES: u64 = if cfg!(miri) { 3 } else { 300 };

    #[test]
    fn all_levels_compute_the_same_updates() {
        let mut numbers = RandomNumbers(5);
        for case in 0..CASES {
            let units = LANES * usize::try_from(1 + case % 9).expect("small");
            let [from, a, b, s, t] = [(); 5].map(|()| blocks(&mut numbers, units, i16::MAX));
            let (a, b, s, t) = (a.as_slice(), b.as_slice(), s.as_slice(), t.as_slice());
            let expected = |added: &[Column<'_>], removed: &[Column<'_>]| {
                let mut sums = to_numbers(&from);
                for (index, sum) in sums.iter_mut().enumerate() {
                    let lane = |column: &Column<'_>| to_numbers(column)[index];
                    for it in added {
                        *sum = sum.wrapping_add(lane(it));
                    }
                    for it in removed {
                        *sum = sum.wrapping_sub(lane(it));
                    }
                }
                sums
            };
            for simd in Simd::levels() {
                macro_rules! check {
                    ($added:expr, $removed:expr) => {{
                        let mut to = blocks(&mut numbers, units, 9);
                        simd.update(&mut to, &from, $added, $removed);
                        let expected = expected(&$added, &$removed);
                        assert_eq!(to_numbers(&to), expected, "{simd:?}");
                        let mut sums = from.clone();
                        simd.update_in_place(&mut sums, $added, $removed);
                        assert_eq!(to_numbers(&sums), expected, "{simd:?}");
                    }};
                }
                check!([a], []);
                check!([], [s]);
                check!([a], [s]);
                check!([a], [s, t]);
                check!([a, b], [s, t]);
            }
        }
    }

    #[test]
    fn all_levels_compute_the_same_output() {
        let mut numbers = RandomNumbers(6);
        for case in 0..CASES {
            let units = LANES * usize::try_from(1 + case % 9).expect("small");
            let most = i16::try_from(1 + numbers.below(255)).expect("small");
            // Some numbers are above the limit and some below 0.
            let range = [most, 2 * most, i16::MAX][usize::try_from(case % 3).expect("small")];
            let [ours, theirs] = [(); 2].map(|()| blocks(&mut numbers, units, range));
            for (activation, largest) in [
                (Activation::ClippedRelu, i16::MAX),
                (Activation::SquaredClippedRelu, i16::MAX / most),
            ] {
                let weights = blocks(&mut numbers, 2 * units, largest);
                let output = Output { ours: &ours, theirs: &theirs, weights: &weights, most };
                let expected = Simd(Level::Portable).output(activation, output);
                for simd in Simd::levels() {
                    assert_eq!(
                        simd.output(activation, output),
                        expected,
                        "{simd:?} {activation:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_largest_output_does_not_overflow() {
        let most = 255;
        let ours = vec![Lanes([i16::MAX; LANES]); MAX_HIDDEN / LANES];
        for (activation, weight, power) in
            [(Activation::ClippedRelu, i16::MAX, 1), (Activation::SquaredClippedRelu, 128, 2)]
        {
            let weights = vec![Lanes([weight; LANES]); 2 * MAX_HIDDEN / LANES];
            let output = Output { ours: &ours, theirs: &ours, weights: &weights, most };
            let units = i64::try_from(2 * MAX_HIDDEN).expect("small");
            let expected = units * i64::from(most).pow(power) * i64::from(weight);
            for simd in Simd::levels() {
                assert_eq!(simd.output(activation, output), expected, "{simd:?} {activation:?}");
            }
        }
    }
}
