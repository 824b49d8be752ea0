//! Levels of 64-bit ARM.

pub(super) mod neon {
    use std::arch::aarch64::{
        int16x8_t, int32x4_t, vaddq_s32, vdupq_n_s16, vdupq_n_s32, vget_low_s16, vmaxq_s16,
        vminq_s16, vmull_high_s16, vmull_s16, vmulq_s16,
    };

    #[inline]
    #[target_feature(enable = "neon")]
    fn madd(a: int16x8_t, b: int16x8_t) -> int32x4_t {
        vaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b))
    }

    level!(
        "neon",
        int16x8_t,
        int32x4_t,
        vdupq_n_s16(0),
        vdupq_n_s32(0),
        vdupq_n_s16,
        vminq_s16,
        vmaxq_s16,
        vmulq_s16,
        madd,
        vaddq_s32
    );
}
