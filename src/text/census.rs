//! What a look at bytes finds: LFs counted; CR, NUL and what is beyond ASCII seen.

/// Of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Census {
    /// How many LF there are.
    pub breaks: usize,
    /// Whether there is a CR.
    pub has_cr: bool,
    /// Whether there is a NUL.
    pub has_nul: bool,
    /// Whether every byte is ASCII.
    pub is_ascii: bool,
}

/// Looks with memchr, pass by pass.
fn by_passes(bytes: &[u8]) -> Census {
    Census {
        breaks: super::lines::breaks(bytes),
        has_cr: memchr::memchr(b'\r', bytes).is_some(),
        has_nul: memchr::memchr(0, bytes).is_some(),
        is_ascii: bytes.is_ascii(),
    }
}

/// Looks at bytes, which are best in the cache.
#[cfg(not(target_feature = "simd128"))]
pub(super) fn census(bytes: &[u8]) -> Census {
    by_passes(bytes)
}

/// Looks at bytes once. A loop that the compiler vectorises would do, but this crate is built for size, and then it
/// vectorises none.
#[cfg(target_feature = "simd128")]
pub(super) fn census(bytes: &[u8]) -> Census {
    use core::arch::wasm32::*;

    /// A lane counts to 255.
    const MOST: usize = 255;
    let (blocks, rest) = bytes.as_chunks::<16>();
    let mut found = by_passes(rest);
    let (mut all, mut crs, mut least) = (u8x16_splat(0), u8x16_splat(0), u8x16_splat(u8::MAX));
    for group in blocks.chunks(MOST) {
        let mut counts = u8x16_splat(0);
        for block in group {
            // One load.
            let block = u128::from_le_bytes(*block);
            let block = u64x2(block as u64, (block >> 64) as u64);
            // What is equal is all ones, which is -1.
            counts = u8x16_sub(counts, u8x16_eq(block, u8x16_splat(b'\n')));
            crs = v128_or(crs, u8x16_eq(block, u8x16_splat(b'\r')));
            least = u8x16_min(least, block);
            all = v128_or(all, block);
        }
        let counts = u32x4_extadd_pairwise_u16x8(u16x8_extadd_pairwise_u8x16(counts));
        let [a, b, c, d] = [
            u32x4_extract_lane::<0>(counts),
            u32x4_extract_lane::<1>(counts),
            u32x4_extract_lane::<2>(counts),
            u32x4_extract_lane::<3>(counts),
        ];
        found.breaks += (a + b + c + d) as usize;
    }
    found.has_cr |= v128_any_true(crs);
    found.has_nul |= !u8x16_all_true(least);
    found.is_ascii &= u8x16_bitmask(all) == 0;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_looking_byte_by_byte() {
        for length in [0_usize, 1, 15, 16, 17, 255 * 16, 256 * 16 + 3] {
            for byte in [b'a', b'\n', b'\r', 0, 0xFF] {
                for at in [0, length / 2, length.saturating_sub(1)] {
                    let mut bytes = vec![b'x'; length];
                    bytes.iter_mut().skip(at).for_each(|place| *place = byte);
                    let looked = Census {
                        breaks: bytes.iter().filter(|&&byte| byte == b'\n').count(),
                        has_cr: bytes.contains(&b'\r'),
                        has_nul: bytes.contains(&0),
                        is_ascii: bytes.is_ascii(),
                    };
                    assert_eq!(census(&bytes), looked, "{length} bytes, {byte} from {at}");
                }
            }
        }
    }
}
