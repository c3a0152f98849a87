//! One mutation of a file after the other, in the order in which they were asked for.
//!
//! Two edits of one file that run side by side would each read the old content, and the second write would undo
//! the first. So a mutation takes a ticket, synchronously, when it is asked for; tickets find out their key (the
//! canonical path) in order; then a ticket waits only for earlier ones with the same key. Every stage can be
//! dropped at any time: the ticket goes, and whoever waited moves up.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::{Rc, Weak};
use std::task::Poll;

use super::wait::Wakers;

/// The queue of one environment. Clones are the same queue.
#[derive(Clone, Debug, Default)]
pub struct MutationQueue(Rc<State>);

#[derive(Debug, Default)]
struct State {
    next: Cell<u64>,
    /// Tickets in order; `None` until the key is known.
    tickets: RefCell<Vec<(u64, Option<String>)>>,
    changed: Wakers,
}

impl MutationQueue {
    /// Takes the next ticket. Call it when the mutation is asked for, before anything is awaited.
    pub fn ticket(&self) -> Ticket {
        let id = self.0.next.get();
        self.0.next.set(id + 1);
        self.0.tickets.borrow_mut().push((id, None));
        Ticket { state: self.0.clone(), id }
    }

    /// The queue, without keeping it alive.
    pub fn downgrade(&self) -> WeakQueue {
        WeakQueue(Rc::downgrade(&self.0))
    }

    /// How many mutations hold or wait for a place.
    pub fn len(&self) -> usize {
        self.0.tickets.borrow().len()
    }

    /// Whether nobody holds or waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A queue that lives as long as someone else uses it.
#[derive(Clone, Debug)]
pub struct WeakQueue(Weak<State>);

impl WeakQueue {
    /// The queue, if it is in use.
    pub fn upgrade(&self) -> Option<MutationQueue> {
        self.0.upgrade().map(MutationQueue)
    }
}

/// A place in the queue; dropping it gives the place up.
#[derive(Debug)]
pub struct Ticket {
    state: Rc<State>,
    id: u64,
}

impl Ticket {
    /// Waits for the earlier tickets to know their keys, finds out this one's, and waits for the earlier ones
    /// with the same key to be gone. The file is this ticket's until it is dropped.
    ///
    /// # Errors
    /// Those of `key`; the place is kept, so drop the ticket.
    pub async fn enter<K: AsRef<str>, E>(&self, key: impl Future<Output = Result<K, E>>) -> Result<K, E> {
        self.until(|tickets, at| tickets[..at].iter().all(|ticket| ticket.1.is_some())).await;
        let found = key.await?;
        let key = found.as_ref();
        {
            let mut tickets = self.state.tickets.borrow_mut();
            if let Some(own) = tickets.iter_mut().find(|ticket| ticket.0 == self.id) {
                own.1 = Some(key.to_owned());
            }
        }
        self.state.changed.wake();
        self.until(|tickets, at| tickets[..at].iter().all(|ticket| ticket.1.as_deref() != Some(key))).await;
        Ok(found)
    }

    async fn until(&self, ready: impl Fn(&[(u64, Option<String>)], usize) -> bool) {
        poll_fn(|cx| {
            let tickets = self.state.tickets.borrow();
            let at = tickets.iter().position(|ticket| ticket.0 == self.id).unwrap_or(0);
            if ready(&tickets, at) {
                return Poll::Ready(());
            }
            self.state.changed.register(cx);
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.state.tickets.borrow_mut().retain(|ticket| ticket.0 != self.id);
        self.state.changed.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    async fn key(name: &str) -> Result<String, Infallible> {
        Ok(name.into())
    }

    #[test]
    fn same_file_waits_other_files_do_not() {
        let queue = MutationQueue::default();
        let mut cx = Context::from_waker(Waker::noop());
        let (first, second, other) = (queue.ticket(), queue.ticket(), queue.ticket());
        {
            let mut second_enters = pin!(second.enter(key("a")));
            assert!(second_enters.as_mut().poll(&mut cx).is_pending(), "the first has no key yet");
            assert!(pin!(first.enter(key("a"))).poll(&mut cx).is_ready());
            assert!(second_enters.as_mut().poll(&mut cx).is_pending());
            assert!(pin!(other.enter(key("b"))).poll(&mut cx).is_ready());
            drop(first);
            assert!(second_enters.as_mut().poll(&mut cx).is_ready());
        }
        drop((second, other));
        assert!(queue.is_empty());
    }

    #[test]
    fn a_weak_queue_lives_as_long_as_somebody_uses_it() {
        let queue = MutationQueue::default();
        let (weak, ticket) = (queue.downgrade(), queue.ticket());
        drop(queue);
        assert_eq!(weak.upgrade().map(|same| same.len()), Some(1));
        drop(ticket);
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn a_waiter_that_gives_up_lets_the_next_one_in() {
        let queue = MutationQueue::default();
        let mut cx = Context::from_waker(Waker::noop());
        let (first, second, third) = (queue.ticket(), queue.ticket(), queue.ticket());
        assert!(pin!(first.enter(key("a"))).poll(&mut cx).is_ready());
        drop(second);
        let mut third_enters = pin!(third.enter(key("a")));
        assert!(third_enters.as_mut().poll(&mut cx).is_pending());
        drop(first);
        assert!(third_enters.as_mut().poll(&mut cx).is_ready());
    }
}
