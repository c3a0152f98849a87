//! A small executor: tasks, and the queue of those that can go on.
//!
//! wasm-bindgen-futures polls from a microtask, where a panic reaches nobody: the call never settles and a Node
//! process dies. Here tasks run inside the entry that woke them, so that the entry's caller sees what happens.
//! Tasks may call out to code that enters again; a nested entry only adds to the queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use crate::table::Table;

type Task = Pin<Box<dyn Future<Output = ()>>>;
type Ready = Arc<Mutex<VecDeque<Arc<Handle>>>>;

/// Tasks of one thread.
#[derive(Default)]
pub struct Executor {
    tasks: RefCell<Table<u64, Task>>,
    ready: Ready,
    next: Cell<u64>,
    running: Cell<bool>,
}

struct Handle {
    id: u64,
    queued: AtomicBool,
    ready: Ready,
}

impl Wake for Handle {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            let ready = self.ready.clone();
            ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(self);
        }
    }
}

impl Executor {
    /// Adds a task. It is first polled by the next [`Executor::run`], or by the one that is under way.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let id = self.next.get();
        self.next.set(id + 1);
        self.tasks.borrow_mut().insert(id, Box::pin(task));
        let handle = Handle { id, queued: AtomicBool::new(false), ready: self.ready.clone() };
        Arc::new(handle).wake();
    }

    /// Polls until no task can go on. Within a run it does nothing: that run sees to the rest.
    pub fn run(&self) {
        if self.running.replace(true) {
            return;
        }
        while let Some(handle) = self.next_ready() {
            handle.queued.store(false, Ordering::Relaxed);
            // Taken out while it is polled: it may spawn, and nothing is borrowed when it calls out.
            let Some(mut task) = self.tasks.borrow_mut().remove(&handle.id) else { continue };
            let id = handle.id;
            let waker = Waker::from(handle);
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                self.tasks.borrow_mut().insert(id, task);
            }
        }
        self.running.set(false);
    }

    /// How many tasks have not ended.
    pub fn len(&self) -> usize {
        self.tasks.borrow().len()
    }

    /// Whether every task has ended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn next_ready(&self) -> Option<Arc<Handle>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::rc::Rc;
    use std::task::Poll;

    use super::*;
    use crate::env::Abort;

    #[test]
    fn a_task_goes_on_when_it_is_woken() {
        let (executor, flag, done) = (Executor::default(), Abort::default(), Rc::new(Cell::new(0)));
        for _ in 0..3 {
            let (flag, done) = (flag.clone(), done.clone());
            executor.spawn(async move {
                poll_fn(|cx| flag.poll(cx)).await;
                done.set(done.get() + 1);
            });
        }
        executor.run();
        assert_eq!((done.get(), executor.len()), (0, 3));
        flag.raise();
        executor.run();
        assert_eq!((done.get(), executor.len()), (3, 0));
    }

    #[test]
    fn a_nested_run_leaves_the_work_to_the_outer_one() {
        let executor = Rc::new(Executor::default());
        let order = Rc::new(RefCell::new(vec![]));
        let (inner, seen) = (executor.clone(), order.clone());
        executor.spawn(async move {
            let seen_inside = seen.clone();
            inner.spawn(async move { seen_inside.borrow_mut().push("spawned inside") });
            inner.run();
            seen.borrow_mut().push("outer");
        });
        executor.run();
        assert_eq!(*order.borrow(), ["outer", "spawned inside"]);
    }

    #[test]
    fn waking_yourself_while_running_is_not_lost() {
        let (executor, polls) = (Executor::default(), Rc::new(Cell::new(0)));
        let seen = polls.clone();
        executor.spawn(poll_fn(move |cx| {
            seen.set(seen.get() + 1);
            if seen.get() < 3 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        }));
        executor.run();
        assert_eq!((polls.get(), executor.len()), (3, 0));
    }
}
