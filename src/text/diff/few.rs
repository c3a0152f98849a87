//! The least change between two long lists that differ in little.
//!
//! Myers' greedy search ("An O(ND) Difference Algorithm and Its Variations", 1986), given up after a
//! fixed number of differences. Its work is at most that number times the length of the lists.

/// Steps of (same, removed, added) that turn `old` into `new`, or `None` where it takes more than `most`
/// removed and added items.
pub(super) fn few_changes(old: &[u32], new: &[u32], most: usize) -> Option<Vec<(usize, usize, usize)>> {
    // For each number of differences d: how far `old` is used up on each diagonal -d, -d + 2, …, d.
    let mut reached: Vec<Vec<usize>> = Vec::new();
    for d in 0..=most {
        let mut row = Vec::with_capacity(d + 1);
        for nth in 0..=d {
            let mut x = match reached.last() {
                None => 0,
                Some(last) if came_by_adding(last, nth) => last[nth],
                Some(last) => last[nth - 1] + 1,
            };
            // Beyond either end there is no path.
            let (x_end, y) = (old.len(), (x + d).wrapping_sub(2 * nth));
            if x > x_end || y > new.len() {
                row.push(x);
                continue;
            }
            x += old[x..].iter().zip(&new[y..]).take_while(|(a, b)| a == b).count();
            row.push(x);
            if x == old.len() && x + d - 2 * nth == new.len() {
                reached.push(row);
                return Some(walk_back(&reached, nth));
            }
        }
        reached.push(row);
    }
    None
}

/// Whether the best way to the `nth` diagonal of the next row adds an item of the new list, and does
/// not remove one of the old.
fn came_by_adding(last: &[usize], nth: usize) -> bool {
    nth == 0 || (nth < last.len() && last[nth] > last[nth - 1])
}

fn walk_back(reached: &[Vec<usize>], mut nth: usize) -> Vec<(usize, usize, usize)> {
    let mut steps = Vec::new();
    for d in (1..reached.len()).rev() {
        let last = &reached[d - 1];
        let adding = came_by_adding(last, nth);
        let from = if adding { last[nth] } else { last[nth - 1] };
        let before = if adding { nth } else { nth - 1 };
        // The items that were the same before this step are those that its own row went past.
        let entered = if d == 1 { 0 } else { entry(reached, d - 1, before) };
        steps.push((from - entered, usize::from(!adding), usize::from(adding)));
        nth = before;
    }
    steps.reverse();
    steps
}

/// Where the way to a diagonal of row `d` came in, before it went along what is the same.
fn entry(reached: &[Vec<usize>], d: usize, nth: usize) -> usize {
    let last = &reached[d - 1];
    if came_by_adding(last, nth) { last[nth] } else { last[nth - 1] + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(old: &[u32], new: &[u32], most: usize) -> Option<usize> {
        let steps = few_changes(old, new, most)?;
        let (mut built, mut at, mut changes) = (Vec::new(), 0, 0);
        for (same, removed, added) in steps {
            built.extend_from_slice(&old[at..at + same]);
            at += same + removed;
            let new_at = built.len();
            built.extend_from_slice(&new[new_at..new_at + added]);
            changes += removed + added;
        }
        built.extend_from_slice(&old[at..]);
        assert_eq!(built, new);
        Some(changes)
    }

    #[test]
    fn the_least_change_is_found() {
        assert_eq!(steps(&[], &[], 0), Some(0));
        assert_eq!(steps(&[1], &[1], 0), Some(0));
        assert_eq!(steps(&[1, 2, 3], &[1, 3], 4), Some(1));
        assert_eq!(steps(&[1, 3], &[1, 2, 3, 4], 4), Some(2));
        assert_eq!(steps(&[1, 2, 3, 1, 2, 2, 1], &[3, 2, 1, 2, 1, 3], 9), Some(5));
        assert_eq!(steps(&[1, 2], &[3, 4], 3), None);
        assert_eq!(steps(&[1, 2], &[3, 4], 4), Some(4));
        assert_eq!(steps(&[1, 2, 3], &[], 3), Some(3));
        assert_eq!(steps(&[], &[1, 2, 3], 3), Some(3));
    }

    #[test]
    fn every_short_pair_works() {
        let lists: Vec<Vec<u32>> =
            (0..3u32.pow(4)).map(|n| (0..4).map(|place| n / 3u32.pow(place) % 3).collect()).collect();
        for old in &lists {
            for new in &lists {
                for cut in 0..=4 {
                    assert!(steps(old, &new[..cut], 8).is_some());
                }
            }
        }
    }
}
