//! The bytes of a file, from its start to its end: in ranges where the environment has them and the file is large,
//! else whole, and piece by piece from there.

use crate::env::{Abort, Content, Env, FileKind};
use crate::error::{ErrorCode, ToolError};
use crate::image;
use crate::tools::files::Located;

/// A file with more bytes than this is read in ranges: to get all of a smaller one takes no longer than to ask twice.
pub const LARGE: u64 = 1024 * 1024;
/// Bytes that are asked for at once.
pub const RANGE: u64 = 1024 * 1024;
/// Bytes that are looked at at once: they are copied to the same place, which stays in the cache.
const PIECE: usize = 128 * 1024;

/// A file whose beginning is at hand.
pub struct Source<'a, E: Env> {
    env: &'a E,
    path: &'a str,
    /// The first bytes: all of the file, or 128 KB at least.
    pub head: Vec<u8>,
    /// Bytes of the file.
    pub size: u64,
    rest: Rest,
}

enum Rest {
    Whole(Box<dyn Content>),
    Ranges,
}

impl<'a, E: Env> Source<'a, E> {
    /// Reads the beginning.
    ///
    /// # Errors
    /// The environment's.
    pub async fn open(env: &'a E, found: &'a Located) -> Result<Self, ToolError> {
        let path = found.path.as_str();
        let size = size(env, found).await;
        if size > LARGE {
            match env.read_range(path, 0, RANGE).await {
                // One that has nothing to say of a file with bytes is asked for all of it.
                Ok(Some(head)) if !head.is_empty() => {
                    let head = filled(env, path, head).await?;
                    return Ok(Source { env, path, head, size, rest: Rest::Ranges });
                }
                Ok(_) => {}
                // What wraps an environment may have the method, and what is inside not.
                Err(error) if error.code == ErrorCode::NotSupported => {}
                Err(error) => return Err(error),
            }
        }
        let content = env.open_file(path).await?;
        let (mut head, size) = (Vec::new(), content.size());
        content.copy_part(0..size.min(PIECE), &mut head);
        Ok(Source { env, path, head, size: size as u64, rest: Rest::Whole(content) })
    }

    /// Every byte of the file.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub async fn whole(self, abort: &Abort) -> Result<Vec<u8>, ToolError> {
        let mut all = Vec::with_capacity(self.size.min(LARGE) as usize);
        self.read(abort, |bytes| all.extend_from_slice(bytes)).await?;
        Ok(all)
    }

    /// Gives every byte of the file to `look`, in order.
    ///
    /// An empty range ends the file; one that is not full does not, as with any read of a stream. So does its size at
    /// the beginning: one that grows all the time has an end, too.
    ///
    /// # Errors
    /// The environment's; `aborted` between two ranges.
    pub async fn read(self, abort: &Abort, mut look: impl FnMut(&[u8])) -> Result<(), ToolError> {
        let Source { env, path, mut head, size, rest } = self;
        look(&head);
        let mut at = head.len() as u64;
        match rest {
            Rest::Whole(content) => {
                while at < size {
                    let end = (at + PIECE as u64).min(size);
                    // Within a size that was a usize.
                    content.copy_part(at as usize..end as usize, &mut head);
                    look(&head);
                    at = end;
                }
            }
            Rest::Ranges => {
                drop(head);
                while at < size {
                    if abort.is_raised() {
                        return Err(ToolError::aborted());
                    }
                    let part = env.read_range(path, at, at + RANGE).await?.unwrap_or_default();
                    if part.is_empty() {
                        break;
                    }
                    look(&part);
                    at += part.len() as u64;
                }
            }
        }
        Ok(())
    }
}

/// The first bytes, enough of them to tell the kind of the file, where the environment gives few at a time.
async fn filled<E: Env>(env: &E, path: &str, mut head: Vec<u8>) -> Result<Vec<u8>, ToolError> {
    while head.len() < image::HEAD {
        let at = head.len() as u64;
        match env.read_range(path, at, at + RANGE).await? {
            Some(part) if !part.is_empty() => head.extend(part),
            _ => break,
        }
    }
    Ok(head)
}

/// Bytes of the file, as far as the environment tells without reading it; 0 where it does not.
async fn size<E: Env>(env: &E, found: &Located) -> u64 {
    match &found.info {
        // Of a link it is that of its target's path.
        Some(info) if info.kind == FileKind::Symlink => match env.canonical_path(&found.path).await {
            Ok(Some(real)) => env.file_info(&real).await.map_or(0, |info| info.size),
            _ => 0,
        },
        Some(info) => info.size,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::env::{FileInfo, ManualHost, MemoryEnv};

    type Asked = Vec<(u64, u64)>;
    type Ranges = Box<dyn Fn(u64, u64) -> Result<Option<Vec<u8>>, ToolError>>;

    /// An environment that answers for ranges as a test wants it, and notes what it was asked.
    struct Odd {
        inner: MemoryEnv,
        said_size: u64,
        ranges: Ranges,
        asked: RefCell<Asked>,
    }

    impl Env for Odd {
        fn cwd(&self) -> &str {
            "/"
        }

        async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
            self.asked.borrow_mut().push((0, u64::MAX));
            self.inner.read_file(path).await
        }

        async fn write_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
            self.inner.write_file(path, content).await
        }

        async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError> {
            self.inner.file_info(path).await
        }

        async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError> {
            self.inner.list_dir(path).await
        }

        async fn read_range(&self, _: &str, start: u64, end: u64) -> Result<Option<Vec<u8>>, ToolError> {
            self.asked.borrow_mut().push((start, end));
            (self.ranges)(start, end)
        }
    }

    const WHOLE: (u64, u64) = (0, u64::MAX);

    /// What a reader gets, and what was asked of the environment.
    fn read(
        content: Vec<u8>,
        said_size: u64,
        ranges: impl Fn(u64, u64) -> Result<Option<Vec<u8>>, ToolError> + 'static,
    ) -> (Result<Vec<u8>, ErrorCode>, Asked) {
        let host = ManualHost::default();
        let inner = MemoryEnv::new(&host).with_file("/f", content);
        let env = Odd { inner, said_size, ranges: Box::new(ranges), asked: RefCell::default() };
        let info = FileInfo {
            name: "f".into(),
            path: "/f".into(),
            kind: FileKind::File,
            size: env.said_size,
            mtime_ms: 0.0,
        };
        let found = Located { shown: "f".into(), path: "/f".into(), info: Some(info) };
        let mut all = Vec::new();
        let outcome = host.run(async {
            let source = Source::open(&env, &found).await?;
            source.read(&Abort::default(), |bytes| all.extend_from_slice(bytes)).await
        });
        (outcome.map(|()| all).map_err(|error: ToolError| error.code), env.asked.take())
    }

    fn part(content: &[u8], start: u64, end: u64) -> Result<Option<Vec<u8>>, ToolError> {
        let within = |at: u64| (at as usize).min(content.len());
        Ok(Some(content[within(start)..within(end)].to_vec()))
    }

    fn numbered(bytes: u64) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn a_file_is_asked_for_whole_up_to_a_size_and_in_ranges_beyond() {
        for (size, asked) in [
            (0, vec![WHOLE]),
            (LARGE, vec![WHOLE]),
            (LARGE + 1, vec![(0, RANGE), (RANGE, 2 * RANGE)]),
            (2 * RANGE, vec![(0, RANGE), (RANGE, 2 * RANGE)]),
            (2 * RANGE + 1, vec![(0, RANGE), (RANGE, 2 * RANGE), (2 * RANGE, 3 * RANGE)]),
        ] {
            let content = numbered(size);
            let answers = content.clone();
            let (all, heard) = read(content.clone(), size, move |start, end| part(&answers, start, end));
            assert_eq!((all, heard), (Ok(content), asked), "{size}");
        }
    }

    #[test]
    fn without_ranges_it_is_whole() {
        let content = numbered(3 * LARGE);
        let (all, asked) = read(content.clone(), 3 * LARGE, |_, _| Ok(None));
        assert_eq!((all, asked), (Ok(content.clone()), vec![(0, RANGE), WHOLE]));
        let refused = |_, _| Err(ToolError::new(ErrorCode::NotSupported, "the one inside has none"));
        assert_eq!(read(content.clone(), 3 * LARGE, refused).0, Ok(content));
    }

    #[test]
    fn a_file_that_shrinks_ends_where_it_ends() {
        let content = numbered(5 * RANGE);
        let answers = numbered(2 * RANGE + 7);
        let (all, asked) = read(content, 5 * RANGE, move |start, end| part(&answers, start, end));
        assert_eq!((all, asked.len()), (Ok(numbered(2 * RANGE + 7)), 4));
    }

    #[test]
    fn an_answer_that_is_short_does_not_end_the_file() {
        let content = numbered(2 * RANGE);
        for most in [100, 65_536, RANGE - 1] {
            let answers = content.clone();
            let few = move |start: u64, end: u64| part(&answers, start, end.min(start + most));
            assert_eq!(read(content.clone(), 2 * RANGE, few).0, Ok(content.clone()), "{most}");
        }
    }

    #[test]
    fn no_answer_at_all_is_no_empty_file() {
        let content = numbered(2 * RANGE);
        let (all, asked) = read(content.clone(), 2 * RANGE, |_, _| Ok(Some(vec![])));
        assert_eq!((all, asked), (Ok(content), vec![(0, RANGE), WHOLE]));
    }

    #[test]
    fn a_file_that_grows_for_ever_has_an_end() {
        let (all, asked) =
            read(vec![], 2 * RANGE + 7, |start, end| Ok(Some(vec![b'x'; (end - start) as usize])));
        assert_eq!((all.map(|all| all.len() as u64), asked.len()), (Ok(3 * RANGE), 3));
    }

    #[test]
    fn a_failure_in_the_middle_is_the_calls() {
        let gone = |start, end| match start {
            0 => part(&numbered(RANGE), start, end),
            _ => Err(ToolError::new(ErrorCode::NotFound, "gone")),
        };
        let (all, asked) = read(vec![], 9 * RANGE, gone);
        assert_eq!((all, asked.len()), (Err(ErrorCode::NotFound), 2));
    }

    #[test]
    fn an_abort_between_two_ranges_ends_it() {
        let host = ManualHost::default();
        let (abort, raised) = (Abort::default(), Abort::default());
        let env = MemoryEnv::new(&host).with_file("/f", numbered(4 * RANGE));
        let info = host.run(env.file_info("/f")).unwrap();
        let found = Located { shown: "f".into(), path: "/f".into(), info: Some(info) };
        raised.raise();
        for (abort, pieces, outcome) in [(abort, 4, None), (raised, 1, Some(ErrorCode::Aborted))] {
            let mut seen = 0;
            let result =
                host.run(async { Source::open(&env, &found).await?.read(&abort, |_| seen += 1).await });
            assert_eq!((result.err().map(|error| error.code), seen), (outcome, pieces));
        }
    }

    #[test]
    fn the_size_of_a_link_is_its_targets() {
        let host = ManualHost::default();
        let env = MemoryEnv::new(&host).with_file("/f", numbered(LARGE + 9)).with_symlink("f", "/link");
        let info = host.run(env.file_info("/link")).unwrap();
        let found = Located { shown: "link".into(), path: "/link".into(), info: Some(info) };
        let source = host.run(Source::open(&env, &found)).unwrap();
        assert_eq!((source.size, source.head.len() as u64), (LARGE + 9, RANGE));
    }
}
