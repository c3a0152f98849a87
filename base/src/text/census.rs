//! What a look at bytes finds: LFs counted, CR and NUL seen.

/// Of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Census {
    /// How many LF there are.
    pub breaks: usize,
    /// Whether there is a CR.
    pub has_cr: bool,
    /// Whether there is a NUL.
    pub has_nul: bool,
}

/// Looks with memchr, pass by pass.
fn by_passes(bytes: &[u8]) -> Census {
    Census {
        breaks: super::lines::breaks(bytes),
        has_cr: memchr::memchr(b'\r', bytes).is_some(),
        has_nul: memchr::memchr(0, bytes).is_some(),
    }
}

/// Looks at bytes, which are best in the cache.
pub(super) fn census(bytes: &[u8]) -> Census {
    look::<false>(bytes).0
}

/// The census of bytes that are all ASCII.
pub(super) fn census_of_ascii(bytes: &[u8]) -> Option<Census> {
    let (found, is_ascii) = look::<true>(bytes);
    is_ascii.then_some(found)
}

#[cfg(not(target_feature = "simd128"))]
fn look<const ASCII: bool>(bytes: &[u8]) -> (Census, bool) {
    (by_passes(bytes), ASCII && bytes.is_ascii())
}

/// Looks once. A loop that the compiler vectorises would do, but this crate is built for size, and then it
/// vectorises and unrolls none. Whether there is a NUL is only known where what is sought is there.
#[cfg(target_feature = "simd128")]
fn look<const ASCII: bool>(bytes: &[u8]) -> (Census, bool) {
    use core::arch::wasm32::*;

    /// Vectors that are looked at together.
    const VECTORS: usize = 4;
    /// Times that a lane, which counts to 255, can take one break of each of them.
    const MOST: usize = 255 / VECTORS;

    // Signed, a NUL is the least of ASCII, and what is beyond is less: one minimum tells both.
    let least_of = |a, b| if ASCII { i8x16_min(a, b) } else { u8x16_min(a, b) };
    let (blocks, rest) = bytes.as_chunks::<{ 16 * VECTORS }>();
    let mut found = by_passes(rest);
    let (mut crs, mut least) = (u8x16_splat(0), i8x16_splat(i8::MAX));
    for group in blocks.chunks(MOST) {
        let mut counts = u8x16_splat(0);
        for block in group {
            // What is equal is all ones, which is -1.
            let breaks = |part| u8x16_eq(part, u8x16_splat(b'\n'));
            let cr = |part| u8x16_eq(part, u8x16_splat(b'\r'));
            let [a, b, c, d] = vectors(block);
            let (ab, cd) = (i8x16_add(breaks(a), breaks(b)), i8x16_add(breaks(c), breaks(d)));
            counts = i8x16_sub(counts, i8x16_add(ab, cd));
            crs = v128_or(crs, v128_or(v128_or(cr(a), cr(b)), v128_or(cr(c), cr(d))));
            least = least_of(least, least_of(least_of(a, b), least_of(c, d)));
        }
        found.breaks += sum(counts);
    }
    found.has_cr |= v128_any_true(crs);
    found.has_nul |= !i8x16_all_true(least);
    (found, ASCII && i8x16_bitmask(least) == 0 && rest.is_ascii())
}

/// How many LFs there are, where all bytes are ASCII that a terminal shows as it is: no control characters but tab
/// and LF.
pub(super) fn breaks_of_plain(bytes: &[u8]) -> Option<usize> {
    let (breaks, others) = unshown(bytes);
    // Tabs are rare: they are counted where there may be some.
    let is_plain = others == breaks || others == breaks + memchr::memchr_iter(b'\t', bytes).count();
    is_plain.then_some(breaks)
}

/// How many LFs there are, and how many bytes that are not in `' '..='~'`.
#[cfg(not(target_feature = "simd128"))]
fn unshown(bytes: &[u8]) -> (usize, usize) {
    (super::lines::breaks(bytes), bytes.iter().filter(|byte| !(b' '..=b'~').contains(byte)).count())
}

/// How many LFs there are, and how many bytes that are not in `' '..='~'`.
#[cfg(target_feature = "simd128")]
fn unshown(bytes: &[u8]) -> (usize, usize) {
    use core::arch::wasm32::*;

    /// Times that a lane, which counts to 255, can take one of each of four vectors.
    const MOST: usize = 255 / 4;

    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut others = rest.iter().filter(|byte| !(b' '..=b'~').contains(byte)).count();
    let mut breaks = super::lines::breaks(rest);
    // One more, DEL is negative as what is beyond it is.
    let other = |part| i8x16_lt(i8x16_add(part, i8x16_splat(1)), i8x16_splat(0x21));
    let lf = |part| u8x16_eq(part, u8x16_splat(b'\n'));
    for group in blocks.chunks(MOST) {
        let (mut lfs, mut all) = (u8x16_splat(0), u8x16_splat(0));
        for block in group {
            let [a, b, c, d] = vectors(block);
            // What is true is all ones, which is -1.
            lfs = i8x16_sub(lfs, i8x16_add(i8x16_add(lf(a), lf(b)), i8x16_add(lf(c), lf(d))));
            all = i8x16_sub(all, i8x16_add(i8x16_add(other(a), other(b)), i8x16_add(other(c), other(d))));
        }
        breaks += sum(lfs);
        others += sum(all);
    }
    (breaks, others)
}

/// The sum of the lanes.
#[cfg(target_feature = "simd128")]
fn sum(counts: core::arch::wasm32::v128) -> usize {
    use core::arch::wasm32::*;

    let counts = u32x4_extadd_pairwise_u16x8(u16x8_extadd_pairwise_u8x16(counts));
    let [a, b, c, d] = [
        u32x4_extract_lane::<0>(counts),
        u32x4_extract_lane::<1>(counts),
        u32x4_extract_lane::<2>(counts),
        u32x4_extract_lane::<3>(counts),
    ];
    (a + b + c + d) as usize
}

/// The bytes as vectors, a load each. Written out: as a loop it would go through memory.
#[cfg(target_feature = "simd128")]
#[inline(always)]
pub(super) fn vectors(block: &[u8; 64]) -> [core::arch::wasm32::v128; 4] {
    let vector = |part: &[u8; 16]| {
        let part = u128::from_le_bytes(*part);
        core::arch::wasm32::u64x2(part as u64, (part >> 64) as u64)
    };
    let ([a, b, c, d], []) = block.as_chunks::<16>() else { unreachable!("64 is 4 times 16") };
    [vector(a), vector(b), vector(c), vector(d)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_looking_byte_by_byte() {
        for length in [0_usize, 1, 63, 64, 65, 63 * 64, 64 * 64, 256 * 64 + 3] {
            for byte in [b'a', b'\n', b'\r', 0, 0xFF] {
                for at in [0, length / 2, length.saturating_sub(1)] {
                    let mut bytes = vec![b'x'; length];
                    bytes.iter_mut().skip(at).for_each(|place| *place = byte);
                    let looked = Census {
                        breaks: bytes.iter().filter(|&&byte| byte == b'\n').count(),
                        has_cr: bytes.contains(&b'\r'),
                        has_nul: bytes.contains(&0),
                    };
                    assert_eq!(census(&bytes), looked, "{length} bytes, {byte} from {at}");
                    let ascii = bytes.is_ascii().then_some(looked);
                    assert_eq!(census_of_ascii(&bytes), ascii, "{length} bytes, {byte} from {at}");
                }
            }
        }
    }

    #[test]
    fn plain_bytes() {
        for length in [1_usize, 63, 65, 64 * 64 + 3] {
            for byte in 0..=255_u8 {
                for at in [0, length / 2, length - 1] {
                    let mut bytes = vec![b'x'; length];
                    (bytes[0], bytes[at]) = (b'\t', byte);
                    let is_plain = matches!(byte, b'\t' | b'\n' | b' '..=b'~');
                    let want = is_plain.then(|| super::super::lines::breaks(&bytes));
                    assert_eq!(breaks_of_plain(&bytes), want, "{byte} at {at} of {length}");
                }
            }
        }
    }
}
