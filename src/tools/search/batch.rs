//! Many futures at once, without a runtime.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Futures that run together, in the order in which they were begun.
pub(super) struct Batch<'a, T>(VecDeque<Slot<'a, T>>);

enum Slot<'a, T> {
    Running(Pin<Box<dyn Future<Output = T> + 'a>>),
    Done(T),
}

impl<'a, T> Batch<'a, T> {
    pub fn new() -> Self {
        Batch(VecDeque::new())
    }

    /// Begins one more: it runs when the batch is polled.
    pub fn push(&mut self, future: impl Future<Output = T> + 'a) {
        self.0.push_back(Slot::Running(Box::pin(future)));
    }

    /// How many have been begun and not been taken.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lets all that run go on.
    pub fn poll(&mut self, cx: &mut Context<'_>) {
        for slot in &mut self.0 {
            if let Slot::Running(future) = slot
                && let Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *slot = Slot::Done(value);
            }
        }
    }

    /// The outcome of the first, if it has one.
    pub fn take_first(&mut self) -> Option<T> {
        self.take(|slots| slots.front().is_some_and(Slot::is_done).then_some(0))
    }

    /// Any outcome.
    pub fn take_any(&mut self) -> Option<T> {
        self.take(|slots| slots.iter().position(Slot::is_done))
    }

    fn take(&mut self, choose: impl FnOnce(&VecDeque<Slot<'a, T>>) -> Option<usize>) -> Option<T> {
        let at = choose(&self.0)?;
        match self.0.remove(at)? {
            Slot::Done(value) => Some(value),
            Slot::Running(_) => None,
        }
    }

    /// Whether there is an outcome to take: of the first, or of any.
    pub fn has_first(&self) -> bool {
        self.0.front().is_some_and(Slot::is_done)
    }

    pub fn has_any(&self) -> bool {
        self.0.iter().any(Slot::is_done)
    }
}

impl<T> Slot<'_, T> {
    fn is_done(&self) -> bool {
        matches!(self, Slot::Done(_))
    }
}

/// All of them, in order.
pub(super) async fn all<'a, T>(futures: impl IntoIterator<Item = impl Future<Output = T> + 'a>) -> Vec<T> {
    let mut batch = Batch::new();
    futures.into_iter().for_each(|future| batch.push(future));
    let mut outcomes = Vec::new();
    while !batch.is_empty() {
        poll_fn(|cx| {
            batch.poll(cx);
            if batch.has_first() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        outcomes.extend(std::iter::from_fn(|| batch.take_first()));
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Host, ManualHost};

    #[test]
    fn outcomes_are_in_order_and_the_waiting_is_at_once() {
        let host = ManualHost::default();
        let wait = |ms: f64| {
            let host = host.clone();
            async move {
                host.sleep(ms).await;
                ms
            }
        };
        assert_eq!(host.run(all([30.0, 10.0, 20.0].map(wait))), [30.0, 10.0, 20.0]);
        assert_eq!(host.now_ms(), 30.0);
    }
}
