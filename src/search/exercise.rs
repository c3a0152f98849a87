//! What holds of any pattern, glob and ignore file, for fuzzing and property tests.

use std::rc::Rc;

use super::glob::{FileGlob, FindGlob};
use super::grep::{Line, Parts, Quota, Search, Searchable, decoded, whole};
use super::ignore::{Own, Rules};
use super::pattern::Pattern;
use super::walk::{Entry, Walk};
use super::window::window;

/// Any text as a glob, on any path: it is compiled or refused in few words, and a leading "./" means nothing.
///
/// # Panics
/// Where that does not hold. So it is with all here.
pub fn glob(pattern: &str, path: &str) {
    match FindGlob::compile(pattern) {
        // A "/" at the beginning is no longer one after "./".
        Ok(glob) if !pattern.starts_with('/') && pattern.len() < super::MOST_PATTERN_BYTES - 2 => {
            let dotted = FindGlob::compile(&format!("./{pattern}")).expect("a leading ./ means nothing");
            assert_eq!(glob.matches("/work", path), dotted.matches("/work", path));
        }
        Ok(glob) => drop(glob.matches("/work", path)),
        Err(error) => assert!(error.message.len() < 2000, "{error}"),
    }
    match FileGlob::compile("/work", pattern) {
        Ok(glob) => {
            for is_directory in [false, true] {
                let _ = glob.verdict(&format!("/work/{path}"), is_directory);
            }
        }
        Err(error) => assert!(error.message.len() < 2000, "{error}"),
    }
}

/// Any bytes as ignore files, on any names: a CR before each line's end changes nothing, and what a walk gives out is in
/// order, none twice, and not ignored.
pub fn ignore(own: &Own, entries: &[Entry]) {
    let rules = Rules::within(&Rc::default(), "/work", own);
    let crlf = |bytes: &Option<Vec<u8>>| {
        let lines = bytes.as_deref()?.split(|byte| *byte == b'\n');
        Some(lines.collect::<Vec<_>>().join(&b"\r\n"[..]))
    };
    let same = Own { gitignore: crlf(&own.gitignore), ignore: crlf(&own.ignore), is_top: own.is_top };
    let same = Rules::within(&Rc::default(), "/work", &same);
    let has_cr = [&own.gitignore, &own.ignore].into_iter().flatten().any(|bytes| bytes.contains(&b'\r'));
    let mut walk = Walk::new("/work", Rc::default(), None, vec![]);
    let mut last: Option<Vec<String>> = None;
    let mut listed = 0;
    while let Some(directory) = walk.next_directory() {
        listed += 1;
        // Below some there is nothing.
        walk.listed(&directory, if listed < 4 { entries.to_vec() } else { vec![] }, own);
        while let Some(file) = walk.next_file() {
            if !file.path.contains('/') {
                let path = format!("/work/{}", file.path);
                let verdict = rules.verdict(&path, false);
                assert_ne!(verdict, Some(true), "{path} is ignored");
                assert!(has_cr || same.verdict(&path, false) == verdict, "{path} with CR LF");
            }
            let segments: Vec<String> = file.path.split('/').map(Into::into).collect();
            assert!(last.as_ref().is_none_or(|last| *last < segments), "{last:?} before {segments:?}");
            last = Some(segments);
        }
    }
    assert!(walk.is_over());
}

/// How a pattern is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// As in the arguments of grep.
    pub ignore_case: bool,
    /// Likewise.
    pub literal: bool,
    /// Likewise.
    pub context: u64,
    /// Likewise.
    pub limit: u64,
    /// Bytes of a part of the file, at least 3.
    pub part: usize,
}

/// Any text as a pattern, on any bytes: it is compiled or refused in few words; many lines at once match as one by one;
/// and a file in parts shows what the whole shows.
pub fn pattern(text: &str, bytes: &[u8], manner: Manner) {
    let pattern = match Pattern::compile(text, manner.ignore_case, manner.literal) {
        Ok(pattern) => pattern,
        Err(error) => return assert!(error.message.len() < 4000, "{error}"),
    };
    let searched = decoded(bytes.to_vec());
    let mut at = 0;
    for line in searched.split_inclusive(|byte| *byte == b'\n') {
        let matched = pattern.find(line);
        let found = pattern.next_line(&searched, at).is_some_and(|found| found.start == at);
        assert_eq!(found, matched.is_some(), "{text:?} in {line:?}");
        if let Some(matched) = matched {
            assert!(window(line, matched, 20).0.chars().count() <= 20 + 30);
        }
        at += line.len();
    }
    let search = || Search::new(&pattern, manner.context);
    let quota = Quota { left: manner.limit, is_exceeded: false };
    let (mut expected, mut of_whole) = (Vec::new(), quota);
    let how = whole(bytes.to_vec(), search(), &mut of_whole, &mut |line: Line<'_>| {
        expected.push(format!("{line:?}"));
    });
    let (mut found, mut of_parts) = (Vec::new(), quota);
    let mut show = |line: Line<'_>| found.push(format!("{line:?}"));
    let mut parts = Parts::new(search());
    let mut rest = bytes.chunks(manner.part.max(3));
    while rest.next().is_some_and(|part| parts.push(part, &mut of_parts, &mut show)) {}
    parts.finish(&mut of_parts, &mut show);
    if how == Searchable::All {
        assert_eq!((expected, of_whole), (found, of_parts));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::walk::Kind;
    use super::*;

    fn kind() -> impl Strategy<Value = Kind> {
        prop_oneof![Just(Kind::File), Just(Kind::Directory), Just(Kind::Link)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn globs(pattern in r"[a-c*?/{},\[\]!\\.\-é]{0,12}|\PC{0,20}", path in r"[a-c./é]{0,12}|\PC{0,20}") {
            glob(&pattern, &path);
        }

        #[test]
        fn ignore_files(
            gitignore in r"([a-c*?/!#\\ .\[\]{},é-]{0,8}\n){0,5}|[\PC\n]{0,40}",
            other in proptest::collection::vec(any::<u8>(), 0..30),
            is_top in any::<bool>(),
            entries in proptest::collection::vec((r"[a-c.é ]{1,4}|\PC{0,6}", kind()), 0..8),
        ) {
            let own = Own { gitignore: Some(gitignore.into_bytes()), ignore: Some(other), is_top };
            let entry = |(name, kind)| Entry { name, kind, size: 0 };
            ignore(&own, &entries.into_iter().map(entry).collect::<Vec<_>>());
        }

        #[test]
        fn patterns(
            text in r"[a-c^$.*+?()|\[\]\\bwsdABzx{}0-9é-]{0,10}|\PC{0,20}",
            lines in proptest::collection::vec(r"[a-cé \t]{0,6}(\n|\r\n|\r)?|\PC{0,10}\n", 0..10),
            tail in proptest::collection::vec(any::<u8>(), 0..12),
            start in prop_oneof![Just(&b""[..]), Just(&b"\xEF\xBB\xBF"[..]), Just(&b"\xFF\xFE"[..])],
            ignore_case in any::<bool>(),
            literal in any::<bool>(),
            context in 0..3_u64,
            limit in 0..6_u64,
            part in 3..20_usize,
        ) {
            let bytes = [start, lines.concat().as_bytes(), &tail].concat();
            pattern(&text, &bytes, Manner { ignore_case, literal, context, limit, part });
        }
    }
}
