//! The queue for threads of this process.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{
    Dispatcher, Job, Lease, Progress, QueueError, Report, ReturnReason, Stop, StopToken, WorkerId,
};
use crate::export::Recorder;
use crate::pairing::PairResult;

/// The maximum number of times that a job is delivered to a worker.
pub const DELIVERIES: u32 = 3;

/// Creates a queue for threads of this process: the coordinator's end, and the workers' end. Each worker joins by
/// [`LocalJobs::of`].
pub fn local(reports: Sender<Report>) -> (LocalDispatcher, LocalJobs) {
    let shared = Shared {
        state: Mutex::default(),
        changed: Condvar::new(),
        token: StopToken::default(),
        reports,
    };
    let shared = Arc::new(shared);
    let jobs = LocalJobs { shared: Arc::clone(&shared), recorder: None };
    (LocalDispatcher { shared }, jobs)
}

/// The coordinator's end. Dropping it withdraws waiting jobs. Workers exit after their current job.
#[derive(Debug)]
pub struct LocalDispatcher {
    shared: Arc<Shared>,
}

/// The workers' end.
#[derive(Clone, Debug)]
pub struct LocalJobs {
    shared: Arc<Shared>,
    recorder: Option<Recorder>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    token: StopToken,
    reports: Sender<Report>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Waiting>,
    workers: usize,
    /// All jobs were offered.
    complete: bool,
    closed: bool,
}

struct Waiting {
    job: Job,
    /// The number of previous deliveries.
    deliveries: u32,
}

/// The end of one worker, which leaves when it is dropped.
#[derive(Debug)]
pub struct LocalWorker {
    shared: Arc<Shared>,
    id: WorkerId,
    recorder: Option<Recorder>,
}

struct LocalLease {
    shared: Arc<Shared>,
    id: WorkerId,
    job: Job,
    /// The number of previous deliveries.
    deliveries: u32,
    recorder: Option<Recorder>,
    /// Whether the end of the job was reported.
    ended: bool,
}

impl Dispatcher for LocalDispatcher {
    fn offer(&mut self, job: Job) -> Result<(), QueueError> {
        self.shared.offer(Waiting { job, deliveries: 0 }, VecDeque::push_back);
        Ok(())
    }

    /// Two jobs per worker: the next one is available without waiting for the coordinator.
    fn min_offered(&self) -> usize {
        (2 * self.shared.lock().workers).max(1)
    }

    fn complete(&mut self) {
        self.shared.lock().complete = true;
        self.shared.changed.notify_all();
    }

    fn stop(&mut self, how: Stop) -> Result<(), QueueError> {
        // First, so that no job is taken after the token is set.
        self.shared.close();
        self.shared.token.stop(how);
        Ok(())
    }
}

impl Drop for LocalDispatcher {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl LocalJobs {
    /// Makes workers create the game records.
    #[must_use]
    pub fn recorded_by(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The end of one worker, which joins now.
    pub fn of(&self, id: WorkerId) -> LocalWorker {
        self.shared.lock().workers += 1;
        self.shared.report(Report::Wanted);
        LocalWorker { shared: Arc::clone(&self.shared), id, recorder: self.recorder.clone() }
    }
}

impl LocalWorker {
    /// Waits for a job; `None` at the end of the match.
    pub fn take(&mut self) -> Option<Box<dyn Lease>> {
        let mut state = self.shared.lock();
        // Terminates, since the coordinator closes the queue at the latest when it is dropped. In a complete queue
        // there is no need to wait for returned jobs: the worker that returns one takes it again.
        while state.jobs.is_empty() && !state.complete && !state.closed {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let Waiting { job, deliveries } = state.jobs.pop_front()?;
        drop(state);
        let (shared, id) = (Arc::clone(&self.shared), self.id.clone());
        let recorder = self.recorder.clone();
        Some(Box::new(LocalLease { shared, id, job, deliveries, recorder, ended: false }))
    }

    /// The stop state of the match.
    pub fn stop_token(&self) -> &StopToken {
        &self.shared.token
    }
}

impl Drop for LocalWorker {
    fn drop(&mut self) {
        self.shared.lock().workers -= 1;
    }
}

impl LocalLease {
    fn end(&mut self, why: ReturnReason) {
        self.ended = true;
        self.shared.report(Report::Returned { index: self.job.pairing.index, why });
    }
}

impl Lease for LocalLease {
    fn job(&self) -> &Job {
        &self.job
    }

    fn report(&mut self, progress: Progress) {
        let (worker, index) = (self.id.clone(), self.job.pairing.index);
        self.shared.report(Report::Progress { worker, index, progress });
    }

    fn finish(mut self: Box<Self>, result: PairResult) -> Result<(), QueueError> {
        let records = self.recorder.as_ref().map(|recorder| recorder.records(&result));
        self.ended = true;
        let (worker, result) = (self.id.clone(), Box::new(result));
        self.shared.report(Report::Done { worker, result, records });
        Ok(())
    }

    fn fail(mut self: Box<Self>, why: String) {
        self.end(ReturnReason::Failed(why));
    }

    // Dropping the lease gives the job back.
    fn decline(self: Box<Self>) {}
}

impl Drop for LocalLease {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let deliveries = self.deliveries + 1;
        if self.shared.lock().closed {
            self.end(ReturnReason::Withdrawn);
        } else if deliveries >= DELIVERIES {
            self.end(ReturnReason::TooManyDeliveries);
        } else {
            self.end(ReturnReason::Requeued);
            // In front, to preserve the order of the match.
            let job = self.job.clone();
            self.shared.offer(Waiting { job, deliveries }, VecDeque::push_front);
        }
    }
}

impl Shared {
    /// Adds a job, or withdraws it if the queue is closed.
    fn offer(&self, waiting: Waiting, put: impl FnOnce(&mut VecDeque<Waiting>, Waiting)) {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            self.withdraw(&waiting.job);
        } else {
            put(&mut state.jobs, waiting);
            self.changed.notify_one();
        }
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        self.changed.notify_all();
        for waiting in &jobs {
            self.withdraw(&waiting.job);
        }
    }

    fn withdraw(&self, job: &Job) {
        self.report(Report::Returned { index: job.pairing.index, why: ReturnReason::Withdrawn });
    }

    fn report(&self, report: Report) {
        // Fails without a coordinator, which then needs no report.
        let _ = self.reports.send(report);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("token", &self.token).finish_non_exhaustive()
    }
}
