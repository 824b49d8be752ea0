//! Variable-length integers (LEB128).

/// The bytes end early or contain an impossible value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt;

pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Reads from the start of `bytes` and advances it.
pub(crate) fn get(bytes: &mut &[u8]) -> Result<u64, Corrupt> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Corrupt)?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            return Err(Corrupt);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Corrupt)
}

pub(crate) fn get_u32(bytes: &mut &[u8]) -> Result<u32, Corrupt> {
    u32::try_from(get(bytes)?).map_err(|_| Corrupt)
}

pub(crate) fn get_u8(bytes: &mut &[u8]) -> Result<u8, Corrupt> {
    let (&first, rest) = bytes.split_first().ok_or(Corrupt)?;
    *bytes = rest;
    Ok(first)
}

pub(crate) fn get_u16(bytes: &mut &[u8]) -> Result<u16, Corrupt> {
    let (&value, rest) = bytes.split_first_chunk().ok_or(Corrupt)?;
    *bytes = rest;
    Ok(u16::from_le_bytes(value))
}

/// 0, −1, 1, −2 … as 0, 1, 2, 3 ….
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn reads_what_was_written(values: Vec<u64>) {
            let mut out = Vec::new();
            for &value in &values {
                put(&mut out, value);
            }
            let mut bytes = &out[..];
            for &value in &values {
                prop_assert_eq!(get(&mut bytes), Ok(value));
            }
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn zigzag_is_reversible(value: i64) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
            prop_assert!(zigzag(value >> 32) < 1 << 33);
        }

        #[test]
        fn rejects_truncated_values(value: u64) {
            let mut out = Vec::new();
            put(&mut out, value);
            out.pop();
            prop_assert_eq!(get(&mut &out[..]), Err(Corrupt));
        }
    }

    #[test]
    fn rejects_values_of_more_than_64_bits() {
        let mut bytes = [0xFF; 10];
        bytes[9] = 0x02;
        assert_eq!(get(&mut &bytes[..]), Err(Corrupt));
        bytes[9] = 0x01;
        assert_eq!(get(&mut &bytes[..]), Ok(u64::MAX));
        assert_eq!(get(&mut &[0x80; 11][..]), Err(Corrupt));
    }
}
