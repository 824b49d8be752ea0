//! Levels of x86-64.

pub(super) mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_madd_epi16, _mm512_max_epi16, _mm512_min_epi16,
        _mm512_mullo_epi16, _mm512_set1_epi16, _mm512_setzero_si512,
    };

    level!(
        "avx512bw",
        __m512i,
        __m512i,
        _mm512_setzero_si512(),
        _mm512_setzero_si512(),
        _mm512_set1_epi16,
        _mm512_min_epi16,
        _mm512_max_epi16,
        _mm512_mullo_epi16,
        _mm512_madd_epi16,
        _mm512_add_epi32
    );
}

pub(super) mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_madd_epi16, _mm256_max_epi16, _mm256_min_epi16,
        _mm256_mullo_epi16, _mm256_set1_epi16, _mm256_setzero_si256,
    };

    level!(
        "avx2",
        __m256i,
        __m256i,
        _mm256_setzero_si256(),
        _mm256_setzero_si256(),
        _mm256_set1_epi16,
        _mm256_min_epi16,
        _mm256_max_epi16,
        _mm256_mullo_epi16,
        _mm256_madd_epi16,
        _mm256_add_epi32
    );
}

pub(super) mod sse41 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_madd_epi16, _mm_max_epi16, _mm_min_epi16, _mm_mullo_epi16,
        _mm_set1_epi16, _mm_setzero_si128,
    };

    level!(
        "sse4.1",
        __m128i,
        __m128i,
        _mm_setzero_si128(),
        _mm_setzero_si128(),
        _mm_set1_epi16,
        _mm_min_epi16,
        _mm_max_epi16,
        _mm_mullo_epi16,
        _mm_madd_epi16,
        _mm_add_epi32
    );
}
