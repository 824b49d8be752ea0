//! Hints about memory, to the system and to the processor. None of them changes what memory holds.
#![expect(
    unsafe_code,
    reason = "the standard library has no safe form of either; docs/search.md tells what they bring"
)]

use std::mem::MaybeUninit;

/// The size of a large page where there is one (x86-64, and arm64 with small pages of 4 KiB).
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Asks for large pages for memory that is not in use yet. Where the system has none, nothing changes.
#[cfg(target_os = "linux")]
pub(crate) fn large_pages<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(memory);
    let begin = memory.as_mut_ptr().cast::<u8>();
    let before = begin.align_offset(LARGE);
    let Some(len) = bytes.checked_sub(before).map(|len| len - len % LARGE).filter(|len| 0 < *len)
    else {
        return;
    };
    // SAFETY: `before` is at most `bytes`, so that the address is within the memory, or at its end.
    let address = unsafe { begin.add(before) };
    // Miri, which knows no such call, has seen the address by now.
    if cfg!(miri) {
        return;
    }
    // A system without large pages says so, and does well without them.
    // SAFETY: the pages lie wholly within memory that is borrowed here, and large pages hold the same as others
    // (madvise(2), MADV_HUGEPAGE).
    let _ = unsafe { rustix::mm::madvise(address.cast(), len, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn large_pages<T>(_memory: &mut [MaybeUninit<T>]) {}

/// Has the processor fetch what will soon be read.
#[cfg(target_arch = "x86_64")]
pub(crate) fn prefetch<T>(place: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has the instruction, it reads nothing that the program could see, and the
    // address is that of a reference.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn prefetch<T>(_place: &T) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_piece_of_memory_can_be_hinted_at() {
        for (capacity, skipped) in
            [(0, 0), (1, 0), (64, 3), (5 << 20, 0), (5 << 20, 4097), (4 << 20, (4 << 20) - 1)]
        {
            let mut memory = Vec::<u8>::with_capacity(capacity);
            large_pages(&mut memory.spare_capacity_mut()[skipped..]);
            let sevens = vec![7; capacity];
            memory.extend_from_slice(&sevens);
            assert!(memory == sevens);
        }
        let value = [3_u64; 8];
        prefetch(&value);
        assert_eq!(value, [3; 8]);
    }
}
