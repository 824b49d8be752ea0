//! A set of instructions.

/// Defines the functions of a level, from names of vector functions in scope. `sums` are vectors of
/// 32-bit integers. `madd` multiplies 16-bit integers and adds pairs of products.
macro_rules! level {
    (
        $feature:literal,
        $vector:ty,
        $sums:ty,
        $zero:expr,
        $zero_sums:expr,
        $splat:ident,
        $min:ident,
        $max:ident,
        $mul:ident,
        $madd:ident,
        $add:ident
    ) => {
        use crate::network::simd::{self, Column, Lanes, Output};

        /// Vectors per block.
        const VECTORS: usize = size_of::<Lanes>() / size_of::<$vector>();

        #[inline]
        #[target_feature(enable = $feature)]
        fn load(block: &Lanes) -> [$vector; VECTORS] {
            // SAFETY: both types have the same size, and all bit patterns are valid integers.
            #[expect(unsafe_code, reason = "the standard library has no safe conversion")]
            unsafe {
                std::mem::transmute::<[i16; simd::LANES], [$vector; VECTORS]>(block.0)
            }
        }

        #[inline]
        #[target_feature(enable = $feature)]
        fn horizontal_sum(sums: $sums) -> i64 {
            // SAFETY: both types have the same size, and all bit patterns are valid integers.
            #[expect(unsafe_code, reason = "the standard library has no safe conversion")]
            let sums = unsafe {
                std::mem::transmute::<$sums, [i32; size_of::<$sums>() / size_of::<i32>()]>(sums)
            };
            sums.into_iter().map(i64::from).sum()
        }

        #[target_feature(enable = $feature)]
        pub(in crate::network::simd) fn update<const A: usize, const S: usize>(
            to: &mut [Lanes],
            from: &[Lanes],
            added: [Column<'_>; A],
            removed: [Column<'_>; S],
        ) {
            simd::update(to, from, added, removed);
        }

        #[target_feature(enable = $feature)]
        pub(in crate::network::simd) fn update_in_place<const A: usize, const S: usize>(
            sums: &mut [Lanes],
            added: [Column<'_>; A],
            removed: [Column<'_>; S],
        ) {
            simd::update_in_place(sums, added, removed);
        }

        #[target_feature(enable = $feature)]
        pub(in crate::network::simd) fn clipped(output: Output<'_>) -> i64 {
            dot::<false>(output)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::network::simd) fn squared(output: Output<'_>) -> i64 {
            dot::<true>(output)
        }

        #[inline]
        #[target_feature(enable = $feature)]
        fn dot<const SQUARED: bool>(output: Output<'_>) -> i64 {
            let Output { ours, theirs, weights, most } = output;
            let (first, second) = weights.split_at(ours.len().min(weights.len()));
            let mut value = 0;
            for (sums, weights) in [(ours, first), (theirs, second)] {
                // At most 1024 / 32 blocks add two products of at most 255 * 32767: they fit.
                let mut totals = [$zero_sums; VECTORS];
                for (sums, weights) in sums.iter().zip(weights) {
                    let vectors = load(sums).into_iter().zip(load(weights));
                    for ((sum, weight), total) in vectors.zip(&mut totals) {
                        let active = $min($max(sum, $zero), $splat(most));
                        // The product of an activation and a weight fits into 16 bits.
                        let weight = if SQUARED { $mul(active, weight) } else { weight };
                        *total = $add(*total, $madd(active, weight));
                    }
                }
                for total in totals {
                    value += horizontal_sum(total);
                }
            }
            value
        }
    };
}
