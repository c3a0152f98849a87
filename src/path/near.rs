//! Names near to one that is not there.
//!
//! Nearness is the Dice coefficient of the names' byte pairs, in one case and with their ends marked: cheap enough
//! for a directory of 100,000 names. Where names are short a slip spoils most pairs, so there the edit distance is
//! asked, too (insertions, deletions, replacements and swaps of neighbours).

use crate::table::sorted;

/// The most names that are given.
pub(super) const MOST: usize = 3;

/// No name is looked at beyond so many bytes; the longest that a POSIX file system has is 255.
const MOST_BYTES: usize = 256;

/// Names up to so many bytes are short.
const SHORT: usize = 24;

/// How near a name must be, from 0 to 1.
const NEAR: f64 = 0.55;

/// Up to three names that are near to `asked`, the nearest first.
///
/// ```
/// use tackroom::path::near;
/// assert_eq!(near("index.tsx", ["README.md", "index.ts", "main.rs"]), ["index.ts"]);
/// assert_eq!(near("readme.md", ["README.md", "src"]), ["README.md"]);
/// assert!(near("a", ["b", "c"]).is_empty());
/// ```
pub fn near<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let own = pairs(asked, Vec::new());
    let mut buffer = Vec::new();
    let mut best: Vec<(f64, &str)> = Vec::with_capacity(MOST + 1);
    for name in names {
        // Names whose lengths alone keep them below the bound need no look.
        let (short, long) = (name.len().min(asked.len()), name.len().max(asked.len()));
        if 2.0 * (short as f64 + 1.0) < NEAR * (short + long + 2) as f64 || name == asked {
            continue;
        }
        buffer = pairs(name, buffer);
        let mut score = dice(&own, &buffer);
        if score < NEAR && long <= SHORT {
            score = 1.0 - distance(asked.as_bytes(), name.as_bytes()) as f64 / long as f64;
        }
        if score < NEAR {
            continue;
        }
        let at = best.partition_point(|other| other.0 > score || (other.0 == score && other.1 <= name));
        best.insert(at, (score, name));
        best.truncate(MOST);
    }
    best.into_iter().map(|(_, name)| name).collect()
}

/// The sorted byte pairs of a name, in the buffer given.
fn pairs(name: &str, mut buffer: Vec<[u8; 2]>) -> Vec<[u8; 2]> {
    buffer.clear();
    let mut before = 0;
    for byte in name.bytes().take(MOST_BYTES) {
        let byte = byte.to_ascii_lowercase();
        buffer.push([before, byte]);
        before = byte;
    }
    buffer.push([before, 0]);
    sorted(buffer)
}

fn dice(one: &[[u8; 2]], other: &[[u8; 2]]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < one.len() && j < other.len() {
        match one[i].cmp(&other[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    2.0 * f64::from(common) / (one.len() + other.len()) as f64
}

/// The optimal string alignment distance of two short names, in one case.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut rows = [[0; SHORT + 1]; 3];
    rows[1] = std::array::from_fn(|j| j);
    let same = |a: u8, b: u8| a.eq_ignore_ascii_case(&b);
    for (i, &a) in one.iter().enumerate() {
        rows[2][0] = i + 1;
        for (j, &b) in other.iter().enumerate() {
            let replaced = rows[1][j] + usize::from(!same(a, b));
            let mut least = replaced.min(rows[1][j + 1] + 1).min(rows[2][j] + 1);
            if i > 0 && j > 0 && same(a, other[j - 1]) && same(one[i - 1], b) {
                least = least.min(rows[0][j - 1] + 1);
            }
            rows[2][j + 1] = least;
        }
        rows.rotate_left(1);
    }
    rows[1][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_three_are_enough() {
        let names = ["index.test.ts", "index.ts", "index.js", "index.mts", "style.css", "main.rs"];
        assert_eq!(near("index.tsx", names), ["index.ts", "index.mts", "index.test.ts"]);
        assert_eq!(near("mian.rs", names), ["main.rs"]);
        assert_eq!(near("sytle.css", names), ["style.css"]);
        assert_eq!(near("scr", ["src", "doc", "lib"]), ["src"]);
        assert_eq!(distance(b"kitten", b"Sitting"), 3);
        assert!(near("Makefile", names).is_empty());
    }

    #[test]
    fn a_directory_of_100_000_names_is_no_matter() {
        let names: Vec<String> = (0..100_000).map(|n| format!("component-{n:06}.tsx")).collect();
        let found = near("component-0423421.tsx", names.iter().map(String::as_str));
        assert_eq!(found.len(), MOST);
        assert!(near(&"x".repeat(4000), [&*"x".repeat(4000), "y"]).is_empty());
    }
}
