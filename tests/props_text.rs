//! What must hold of any text, cut anywhere.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tackroom::text::accumulator::{Accumulator, Stream, Terminal};
use tackroom::text::encoding::{Decoder, LineEndings, decode, line_ending};
use tackroom::text::truncate::{Limits, Truncated, head, line, tail};
use tackroom::text::utf8::{Meter, Utf8Decoder, lossy_len, to_text, utf16_len};
use tackroom::text::{lines, truncate};

/// Text with many breaks, of characters of every length.
fn text() -> impl Strategy<Value = String> {
    vec(prop_oneof![3 => Just('\n'), 1 => Just('\r'), 4 => Just('a'), 2 => Just('é'), 1 => Just('€'), 1 => Just('🙂')], 0..60)
        .prop_map(String::from_iter)
}

/// Bytes that are often valid UTF-8, often nearly so, and sometimes begin with a BOM.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => text().prop_map(String::into_bytes),
        2 => vec(any::<u8>(), 0..6),
        2 => Just("🙂".as_bytes()).prop_flat_map(|c| (0..c.len()).prop_map(move |n| c[..n].to_vec())),
        1 => Just(vec![0xE0, 0x80]),
        1 => Just(vec![0xED, 0xA0, 0x80]),
    ];
    let bom = prop_oneof![
        8 => Just(&b""[..]), 1 => Just(&b"\xEF\xBB\xBF"[..]), 1 => Just(&b"\xFF\xFE"[..]), 1 => Just(&b"\xFE\xFF"[..]),
    ];
    (bom, vec(piece, 0..6)).prop_map(|(bom, pieces)| [bom, &pieces.concat()].concat())
}

fn limits() -> impl Strategy<Value = Limits> {
    (1_usize..12, 1_usize..40).prop_map(|(max_lines, max_bytes)| Limits { max_lines, max_bytes })
}

/// Cuts `bytes` at the given places.
fn parts<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|i| i.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|w| &bytes[w[0]..w[1]]).collect()
}

/// The lines of a text by the book: split at LF, nothing after a final one.
fn naive_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.split('\n').collect();
    if text.is_empty() || text.ends_with('\n') {
        lines.pop();
    }
    lines
}

fn sound(cut: &Truncated<'_>, text: &str, limits: Limits) -> Result<(), TestCaseError> {
    let facts = cut.facts;
    prop_assert_eq!(facts.output_bytes, cut.content.len());
    prop_assert!(cut.content.len() <= limits.max_bytes && facts.output_lines <= limits.max_lines);
    prop_assert_eq!(facts.total_bytes as usize, text.len());
    prop_assert_eq!(facts.total_lines as usize, naive_lines(text).len());
    prop_assert_eq!(facts.truncated, facts.truncated_by.is_some());
    if !facts.truncated {
        prop_assert_eq!(cut.content.trim_end_matches('\n'), text.trim_end_matches('\n'));
        prop_assert!(text.len() - cut.content.len() <= 1);
        prop_assert_eq!(facts.output_lines as u64, facts.total_lines);
    }
    Ok(())
}

/// The longest run of lines, growing by `next`, that keeps within the limits, joined by LF.
fn naive_cut<'a>(lines: &[&'a str], limits: Limits, run: impl Fn(usize) -> Vec<&'a str>) -> String {
    (0..=lines.len().min(limits.max_lines))
        .map(|n| run(n).join("\n"))
        .take_while(|shown| shown.len() <= limits.max_bytes)
        .last()
        .unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn head_keeps_the_longest_start(text in text(), limits in limits()) {
        let cut = head(&text, limits);
        sound(&cut, &text, limits)?;
        prop_assert!(text.starts_with(cut.content));
        let lines = naive_lines(&text);
        if cut.facts.truncated {
            prop_assert_eq!(cut.content, naive_cut(&lines, limits, |n| lines[..n].to_vec()));
        }
        prop_assert_eq!(cut.facts.first_line_exceeds_limit, lines.first().is_some_and(|l| l.len() > limits.max_bytes));
    }

    #[test]
    fn tail_keeps_the_longest_end(text in text(), limits in limits()) {
        let cut = tail(&text, limits);
        sound(&cut, &text, limits)?;
        let lines = naive_lines(&text);
        if cut.facts.last_line_partial {
            let last = lines[lines.len() - 1];
            prop_assert!(last.ends_with(cut.content) && last.len() > limits.max_bytes);
            prop_assert!(cut.content.len() + 4 > limits.max_bytes);
            prop_assert_eq!(cut.facts.last_line_bytes, Some(last.len() as u64));
        } else if cut.facts.truncated {
            prop_assert_eq!(cut.content, naive_cut(&lines, limits, |n| lines[lines.len() - n..].to_vec()));
        }
    }

    #[test]
    fn a_line_is_cut_at_a_character(text in text(), max in 0_usize..40) {
        let (shown, cut) = line(&text, max);
        prop_assert_eq!(cut, utf16_len(&text) > max);
        prop_assert_eq!(utf16_len(&text), text.encode_utf16().count());
        let kept = if cut { shown.strip_suffix(truncate::LINE_MARK).unwrap() } else { &shown };
        prop_assert!(text.starts_with(kept) && utf16_len(kept) <= max.max(kept.len() * usize::from(!cut)));
        prop_assert!(!cut || utf16_len(kept) + 1 >= max);
    }

    #[test]
    fn lines_are_counted_as_by_the_book(bytes in bytes(), n in 0_usize..20) {
        let text = to_text(&bytes);
        let naive = naive_lines(&text);
        prop_assert_eq!(lines::count(&bytes), naive.len());
        let starts: Vec<_> = lines::ranges(text.as_bytes()).map(|r| r.start).collect();
        prop_assert_eq!(starts.len(), naive.len());
        prop_assert_eq!(lines::line_start(text.as_bytes(), n), n.checked_sub(1).and_then(|i| starts.get(i).copied()));
    }

    #[test]
    fn utf8_decodes_the_same_cut_anywhere(bytes in bytes(), cuts in vec(any::<Index>(), 0..12)) {
        let want = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(lossy_len(&bytes), want.len());
        prop_assert_eq!(to_text(&bytes), want.clone());
        let (mut decoder, mut meter, mut out) = (Utf8Decoder::default(), Meter::default(), String::new());
        for part in parts(&bytes, &cuts) {
            decoder.push(part, &mut out);
            meter.push(part);
        }
        decoder.finish(&mut out);
        meter.finish();
        prop_assert_eq!(&out, &want);
        prop_assert_eq!(meter.bytes() as usize, want.len());
        prop_assert_eq!(meter.lines() as usize, naive_lines(&want).len());
        prop_assert_eq!(meter.replaced(), std::str::from_utf8(&bytes).is_err());
    }

    #[test]
    fn any_encoding_decodes_the_same_cut_anywhere(bytes in bytes(), cuts in vec(any::<Index>(), 0..12)) {
        let want = decode(&bytes);
        let (mut decoder, mut endings, mut out) = (Decoder::default(), LineEndings::default(), String::new());
        for part in parts(&bytes, &cuts) {
            decoder.push_with(part, |t| out.push_str(t));
            endings.push(part);
        }
        decoder.finish_with(|t| out.push_str(t));
        prop_assert_eq!((out, decoder.encoding(), decoder.replaced()), (want.text.into_owned(), want.encoding, want.replaced));
        prop_assert_eq!(endings.finish(), line_ending(&bytes));
    }

    #[test]
    fn a_stream_ends_like_its_whole(bytes in bytes(), cuts in vec(any::<Index>(), 0..40), limits in limits()) {
        let decoded = decode(&bytes);
        let mut output = Accumulator::with(limits, Terminal::Raw);
        for part in parts(&bytes, &cuts) {
            output.push(part, Stream::Stdout);
        }
        output.finish();
        prop_assert_eq!(output.snapshot(), tail(&decoded.text, limits));
        prop_assert_eq!(output.is_empty(), decoded.text.is_empty());
    }

    #[test]
    fn two_streams_cut_anywhere(
        pieces in vec((bytes(), any::<bool>(), vec(any::<Index>(), 0..6)), 0..8), limits in limits(),
    ) {
        let (mut whole, mut cut) = (Accumulator::new(limits), Accumulator::new(limits));
        for (bytes, is_error, cuts) in &pieces {
            let stream = if *is_error { Stream::Stderr } else { Stream::Stdout };
            whole.push(bytes, stream);
            for part in parts(bytes, cuts) {
                cut.push(part, stream);
            }
            prop_assert_eq!(whole.snapshot(), cut.snapshot());
        }
        whole.finish();
        cut.finish();
        prop_assert_eq!(whole.snapshot(), cut.snapshot());
    }
}
