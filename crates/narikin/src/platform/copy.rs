//! `memcpy` and `memmove` of executables with musl on x86-64.
//!
//! A search copies positions of a few hundred bytes several times per node. The functions of musl copy with `rep movsq`,
//! whose start takes longer than such a copy. These use the 16-byte registers that every x86-64 CPU has. The symbols are
//! weak, so that another library can define them, too.
#![expect(
    unsafe_code,
    reason = "the linker replaces a function of the C library only by a symbol of the same name"
)]

/// Defines `memcpy` and `memmove` with these names.
///
/// Up to 128 bytes, all loads precede all stores, so both functions are the same. Longer copies load the end before the loop,
/// because a loop of whole blocks does not reach it, and may overwrite it. Assembly language, because a compiler may replace
/// a loop in `memcpy` by a call of `memcpy`.
macro_rules! define {
    ($memcpy:literal, $memmove:literal) => {
        std::arch::global_asm!(
            concat!(".pushsection .text.", $memmove, ",\"ax\",@progbits"),
            ".p2align 6",
            concat!(".weak ", $memmove, ", ", $memcpy),
            concat!(".type ", $memmove, ", @function"),
            concat!(".type ", $memcpy, ", @function"),
            concat!($memmove, ":"),
            ".cfi_startproc",
            "mov rax, rdi",
            "cmp rdx, 128",
            "jbe 20f",
            // If the destination begins within the source, the copy goes from the end to the beginning.
            "mov rcx, rdi",
            "sub rcx, rsi",
            "cmp rcx, rdx",
            "jb 60f",
            // Forward, in blocks of 64 bytes.
            "30:",
            "lea r8, [rdi + rdx - 64]",
            "movups xmm4, [rsi + rdx - 64]",
            "movups xmm5, [rsi + rdx - 48]",
            "movups xmm6, [rsi + rdx - 32]",
            "movups xmm7, [rsi + rdx - 16]",
            "31:",
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + 16]",
            "movups xmm2, [rsi + 32]",
            "movups xmm3, [rsi + 48]",
            "movups [rdi], xmm0",
            "movups [rdi + 16], xmm1",
            "movups [rdi + 32], xmm2",
            "movups [rdi + 48], xmm3",
            "add rsi, 64",
            "add rdi, 64",
            "cmp rdi, r8",
            "jb 31b",
            "movups [r8], xmm4",
            "movups [r8 + 16], xmm5",
            "movups [r8 + 32], xmm6",
            "movups [r8 + 48], xmm7",
            "ret",
            concat!($memcpy, ":"),
            "mov rax, rdi",
            "cmp rdx, 128",
            "ja 50f",
            // 65 to 128 bytes: two parts of 64, which may overlap, as below.
            "20:",
            "cmp edx, 64",
            "jbe 21f",
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + 16]",
            "movups xmm2, [rsi + 32]",
            "movups xmm3, [rsi + 48]",
            "movups xmm4, [rsi + rdx - 64]",
            "movups xmm5, [rsi + rdx - 48]",
            "movups xmm6, [rsi + rdx - 32]",
            "movups xmm7, [rsi + rdx - 16]",
            "movups [rdi], xmm0",
            "movups [rdi + 16], xmm1",
            "movups [rdi + 32], xmm2",
            "movups [rdi + 48], xmm3",
            "movups [rdi + rdx - 64], xmm4",
            "movups [rdi + rdx - 48], xmm5",
            "movups [rdi + rdx - 32], xmm6",
            "movups [rdi + rdx - 16], xmm7",
            "ret",
            // 33 to 64 bytes.
            "21:",
            "cmp edx, 32",
            "jbe 22f",
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + 16]",
            "movups xmm2, [rsi + rdx - 32]",
            "movups xmm3, [rsi + rdx - 16]",
            "movups [rdi], xmm0",
            "movups [rdi + 16], xmm1",
            "movups [rdi + rdx - 32], xmm2",
            "movups [rdi + rdx - 16], xmm3",
            "ret",
            // 16 to 32 bytes.
            "22:",
            "cmp edx, 16",
            "jb 23f",
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + rdx - 16]",
            "movups [rdi], xmm0",
            "movups [rdi + rdx - 16], xmm1",
            "ret",
            // 8 to 15 bytes.
            "23:",
            "cmp edx, 8",
            "jb 24f",
            "mov rcx, [rsi]",
            "mov r8, [rsi + rdx - 8]",
            "mov [rdi], rcx",
            "mov [rdi + rdx - 8], r8",
            "ret",
            // 4 to 7 bytes.
            "24:",
            "cmp edx, 4",
            "jb 25f",
            "mov ecx, [rsi]",
            "mov r8d, [rsi + rdx - 4]",
            "mov [rdi], ecx",
            "mov [rdi + rdx - 4], r8d",
            "ret",
            // 0 to 3 bytes.
            "25:",
            "test edx, edx",
            "je 26f",
            "movzx ecx, byte ptr [rsi]",
            "movzx r8d, byte ptr [rsi + rdx - 1]",
            "mov r9d, edx",
            "shr r9d, 1",
            "movzx r10d, byte ptr [rsi + r9]",
            "mov [rdi], cl",
            "mov [rdi + r9], r10b",
            "mov [rdi + rdx - 1], r8b",
            "26:",
            "ret",
            // Copies of pages: `rep movsq` does not read the destination. The last 8 bytes are separate.
            "50:",
            "cmp rdx, 4096",
            "jb 30b",
            "mov r8, [rsi + rdx - 8]",
            "lea r9, [rdi + rdx - 8]",
            "mov rcx, rdx",
            "shr rcx, 3",
            "rep movsq",
            "mov [r9], r8",
            "ret",
            // Backward, in blocks of 64 bytes.
            "60:",
            "movups xmm4, [rsi]",
            "movups xmm5, [rsi + 16]",
            "movups xmm6, [rsi + 32]",
            "movups xmm7, [rsi + 48]",
            "61:",
            "movups xmm0, [rsi + rdx - 64]",
            "movups xmm1, [rsi + rdx - 48]",
            "movups xmm2, [rsi + rdx - 32]",
            "movups xmm3, [rsi + rdx - 16]",
            "movups [rdi + rdx - 64], xmm0",
            "movups [rdi + rdx - 48], xmm1",
            "movups [rdi + rdx - 32], xmm2",
            "movups [rdi + rdx - 16], xmm3",
            "sub rdx, 64",
            "cmp rdx, 64",
            "ja 61b",
            "movups [rdi], xmm4",
            "movups [rdi + 16], xmm5",
            "movups [rdi + 32], xmm6",
            "movups [rdi + 48], xmm7",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $memmove, ", . - ", $memmove),
            concat!(".size ", $memcpy, ", . - ", $memcpy),
            ".popsection",
        );
    };
}

#[cfg(target_env = "musl")]
define!("memcpy", "memmove");

/// Runs on every x86-64 Linux, not only with musl.
#[cfg(test)]
mod tests {
    define!("narikin_test_memcpy", "narikin_test_memmove");

    unsafe extern "C" {
        fn narikin_test_memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8;
        fn narikin_test_memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8;
    }

    /// Bytes without a period that divides a block.
    fn pattern(len: usize) -> Vec<u8> {
        (0..251).cycle().take(len).collect()
    }

    /// Every length of a branch and both sides of its limits.
    fn lens() -> impl Iterator<Item = usize> {
        (0..=400).chain([1000, 1023, 1024, 4095, 4096, 4097, 4103, 9999])
    }

    #[test]
    fn copies_every_length() {
        for len in lens() {
            for (to_offset, from_offset) in [(0, 0), (1, 0), (0, 3), (7, 9), (16, 8)] {
                let from = pattern(from_offset + len);
                let mut to = vec![255; to_offset + len + 16];
                let place = to[to_offset..].as_mut_ptr();
                // SAFETY: both ranges have `len` bytes and are different allocations.
                let returned =
                    unsafe { narikin_test_memcpy(place, from[from_offset..].as_ptr(), len) };
                assert_eq!(returned, place);
                let (before, rest) = to.split_at(to_offset);
                let (copied, after) = rest.split_at(len);
                assert!(
                    before.iter().chain(after).all(|it| *it == 255),
                    "{len} bytes: writes outside"
                );
                assert!(copied == &from[from_offset..], "{len} bytes");
            }
        }
    }

    #[test]
    fn moves_every_length_by_every_distance() {
        for len in lens() {
            for distance in (0..=130).chain([500, 4000]) {
                for (to, from) in [(0, distance), (distance, 0)] {
                    let mut bytes = pattern(distance + len + 16);
                    let mut expected = bytes.clone();
                    expected.copy_within(from..from + len, to);
                    let begin = bytes.as_mut_ptr();
                    // SAFETY: both ranges are within the allocation.
                    unsafe {
                        let place = begin.add(to);
                        let returned = narikin_test_memmove(place, begin.add(from), len);
                        assert_eq!(returned, place);
                    }
                    assert!(bytes == expected, "{len} bytes from {from} to {to}");
                }
            }
        }
    }
}
