//! A clock moved by hand, and a runner for native tests: no runtime, no real time.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::{Host, ImageRequest, ShownImage};

/// A [`Host`] whose time stands still until [`ManualHost::run`] has nothing else to do.
#[derive(Clone, Debug, Default)]
pub struct ManualHost(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    now: Cell<f64>,
    next: Cell<u64>,
    sleepers: RefCell<Vec<(u64, f64, Waker)>>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ManualHost {
    /// Runs a future to its end. Where it waits for time, the clock jumps to the next timer.
    ///
    /// # Panics
    /// When the future waits for something that no timer will bring.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.run_within(future, 1_000_000).expect("the future waits for nothing that is coming")
    }

    /// The same, but gives up (`None`) when nothing is coming or after so many polls.
    pub fn run_within<T>(&self, future: impl Future<Output = T>, polls: usize) -> Option<T> {
        let mut future = pin!(future);
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        for _ in 0..polls {
            if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
                return Some(value);
            }
            if !woken.0.swap(false, Ordering::Relaxed) && !self.advance() {
                return None;
            }
        }
        None
    }

    /// Moves the clock to the earliest timer and wakes it; false if there is none.
    fn advance(&self) -> bool {
        let mut sleepers = self.0.sleepers.borrow_mut();
        let Some(at) = sleepers.iter().map(|sleeper| sleeper.1).min_by(f64::total_cmp) else {
            return false;
        };
        self.0.now.set(self.0.now.get().max(at));
        let (due, later) = sleepers.drain(..).partition(|sleeper| sleeper.1 <= at);
        *sleepers = later;
        drop(sleepers);
        let due: Vec<(u64, f64, Waker)> = due;
        due.into_iter().for_each(|sleeper| sleeper.2.wake());
        true
    }
}

/// Takes its timer back when the sleep is dropped.
struct Timer<'a>(&'a Inner, u64);

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        self.0.sleepers.borrow_mut().retain(|sleeper| sleeper.0 != self.1);
    }
}

impl Host for ManualHost {
    fn now_ms(&self) -> f64 {
        self.0.now.get()
    }

    async fn sleep(&self, ms: f64) {
        let until = self.0.now.get() + ms.max(0.0);
        let id = self.0.next.get();
        self.0.next.set(id + 1);
        let _timer = Timer(&self.0, id);
        poll_fn(|cx| {
            if self.0.now.get() >= until {
                return Poll::Ready(());
            }
            let mut sleepers = self.0.sleepers.borrow_mut();
            sleepers.retain(|sleeper| sleeper.0 != id);
            sleepers.push((id, until, cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// There is nobody here to process one.
    async fn show_image(&self, request: ImageRequest) -> Result<ShownImage, String> {
        if request.processing.is_some() {
            return Err("[Image omitted: there is no image processor.]".into());
        }
        let data = data_encoding::BASE64.encode(&request.bytes);
        Ok(ShownImage { data, mime_type: request.mime_type.into(), hints: String::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_takes_no_time_and_moves_the_clock() {
        let host = ManualHost::default();
        host.run(host.sleep(86_400_000.0));
        assert_eq!(host.now_ms(), 86_400_000.0);
        assert_eq!(host.run_within(std::future::pending::<()>(), 10), None);
    }
}
