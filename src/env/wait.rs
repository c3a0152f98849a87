//! Waiting without a runtime: wakers kept by hand, an abort flag, and the race of two futures.
//!
//! Everything here lives on one thread. A flag is set by whoever polls next; nothing blocks.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Wakers to be woken at the next change.
#[derive(Debug, Default)]
pub struct Wakers(RefCell<Vec<Waker>>);

impl Wakers {
    /// Remembers this task until the next [`Wakers::wake`].
    pub fn register(&self, cx: &Context<'_>) {
        let mut wakers = self.0.borrow_mut();
        if !wakers.iter().any(|known| known.will_wake(cx.waker())) {
            wakers.push(cx.waker().clone());
        }
    }

    /// Wakes everyone who waits; they look for themselves whether the change is theirs.
    pub fn wake(&self) {
        // Taken out first: a waker may register again while it is being woken.
        let woken = std::mem::take(&mut *self.0.borrow_mut());
        woken.into_iter().for_each(Waker::wake);
    }
}

/// A flag that is raised once: the call, or the command, is to end.
///
/// ```
/// let abort = tackroom::env::Abort::default();
/// let same = abort.clone();
/// abort.raise();
/// assert!(same.is_raised());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Abort(Rc<(Cell<bool>, Wakers)>);

impl Abort {
    /// Raises it, for good.
    pub fn raise(&self) {
        if !self.0.0.replace(true) {
            self.0.1.wake();
        }
    }

    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.0.0.get()
    }

    /// Ready once it is raised.
    pub fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        if self.is_raised() {
            return Poll::Ready(());
        }
        self.0.1.register(cx);
        Poll::Pending
    }

    /// `None` if it is raised before the future ends (the future is then dropped).
    pub async fn race<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if self.is_raised() {
                return Poll::Ready(None);
            }
            match future.as_mut().poll(cx) {
                Poll::Ready(value) => Poll::Ready(Some(value)),
                Poll::Pending => self.poll(cx).map(|()| None),
            }
        })
        .await
    }
}

/// A gate for whoever produces: closed while what came before has still to be stored.
///
/// ```
/// let flow = tackroom::env::Flow::default();
/// let same = flow.clone();
/// flow.set_closed(true);
/// assert!(same.is_closed());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Flow(Rc<(Cell<bool>, Wakers)>);

impl Flow {
    /// Closes or opens it; who watches is woken.
    pub fn set_closed(&self, closed: bool) {
        if self.0.0.replace(closed) != closed {
            self.0.1.wake();
        }
    }

    /// Whether a producer is to wait.
    pub fn is_closed(&self) -> bool {
        self.0.0.get()
    }

    /// Whether it is closed; the task is woken when that changes.
    pub fn watch(&self, cx: &Context<'_>) -> bool {
        self.0.1.register(cx);
        self.is_closed()
    }

    /// Ends once it is open.
    pub async fn opened(&self) {
        poll_fn(|cx| if self.watch(cx) { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

/// Polls a future that may be absent: an absent one never ends.
pub fn poll_option<F: Future>(future: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> Poll<F::Output> {
    match future.as_pin_mut() {
        Some(future) => future.poll(cx),
        None => Poll::Pending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_race_ends_with_the_abort_and_drops_the_loser() {
        struct Witness(Rc<Cell<bool>>);
        impl Drop for Witness {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let (abort, dropped) = (Abort::default(), Rc::new(Cell::new(false)));
        let witness = Witness(dropped.clone());
        let mut race = Box::pin({
            let abort = abort.clone();
            async move {
                abort
                    .race(async move {
                        let _held = witness;
                        std::future::pending::<()>().await;
                    })
                    .await
            }
        });
        let mut cx = Context::from_waker(Waker::noop());
        assert!(race.as_mut().poll(&mut cx).is_pending());
        abort.raise();
        assert_eq!(race.as_mut().poll(&mut cx), Poll::Ready(None));
        assert!(dropped.get());
    }
}
