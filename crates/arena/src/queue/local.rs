//! The queue inside of one program.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{
    DELIVERIES, Dispatcher, Job, Jobs, Lease, Progress, QueueError, Report, ReturnReason, Stop,
    StopToken, WorkerId,
};
use crate::export::Recorder;
use crate::pairing::PairResult;

/// Makes a queue for threads of this program: the coordinator's end, and the workers' end, of which
/// each worker gets one of its own by [`LocalJobs::of`].
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

/// The coordinator's end. Dropping it withdraws what nobody has taken, and sends workers home when
/// they have finished what they play.
#[derive(Debug)]
pub struct LocalDispatcher {
    shared: Arc<Shared>,
}

/// Where workers join.
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
    jobs: VecDeque<Job>,
    /// All jobs have been offered.
    complete: bool,
    closed: bool,
}

struct LocalWorker {
    shared: Arc<Shared>,
    id: WorkerId,
    recorder: Option<Recorder>,
}

struct LocalLease {
    shared: Arc<Shared>,
    id: WorkerId,
    job: Job,
    recorder: Option<Recorder>,
    /// Whether its end was reported.
    ended: bool,
}

impl Dispatcher for LocalDispatcher {
    fn offer(&mut self, job: Job) -> Result<(), QueueError> {
        self.shared.offer(job, VecDeque::push_back);
        Ok(())
    }

    fn complete(&mut self) {
        self.shared.lock().complete = true;
        self.shared.changed.notify_all();
    }

    fn stop(&mut self, how: Stop) -> Result<(), QueueError> {
        // Before the token speaks, so that nobody takes a job that is to be withdrawn.
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
    /// Has workers write the records of what they have played.
    #[must_use]
    pub fn recorded_by(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The end of a worker, which joins with it and leaves when it is dropped.
    pub fn of(&self, id: WorkerId) -> impl Jobs + use<> {
        self.shared.report(Report::Joined(id.clone()));
        LocalWorker { shared: Arc::clone(&self.shared), id, recorder: self.recorder.clone() }
    }
}

impl Jobs for LocalWorker {
    fn take(&mut self) -> Result<Option<Box<dyn Lease>>, QueueError> {
        let mut state = self.shared.lock();
        // It ends: the coordinator closes the queue at the latest when it goes. Of a complete one
        // nobody has to wait for what another may give back: who does so goes on taking.
        while state.jobs.is_empty() && !state.complete && !state.closed {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let Some(job) = state.jobs.pop_front() else { return Ok(None) };
        drop(state);
        let (shared, id) = (Arc::clone(&self.shared), self.id.clone());
        let recorder = self.recorder.clone();
        Ok(Some(Box::new(LocalLease { shared, id, job, recorder, ended: false })))
    }

    fn stop_token(&self) -> &StopToken {
        &self.shared.token
    }
}

impl Drop for LocalWorker {
    fn drop(&mut self) {
        self.shared.report(Report::Left(self.id.clone()));
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

    // There are no other machines: whoever gives a job back is gone for good.
    fn decline(self: Box<Self>) {}
}

impl Drop for LocalLease {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let job = Job { deliveries: self.job.deliveries + 1, ..self.job.clone() };
        if self.shared.lock().closed {
            self.end(ReturnReason::Withdrawn);
        } else if job.deliveries >= DELIVERIES {
            self.end(ReturnReason::TooManyDeliveries);
        } else {
            self.end(ReturnReason::Requeued);
            // Before those that nobody has tried, as their order is that of the match.
            self.shared.offer(job, VecDeque::push_front);
        }
    }
}

impl Shared {
    /// Puts up a job, or withdraws it at once if there are no more takers.
    fn offer(&self, job: Job, put: impl FnOnce(&mut VecDeque<Job>, Job)) {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            self.withdraw(&job);
        } else {
            put(&mut state.jobs, job);
            self.changed.notify_one();
        }
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        self.changed.notify_all();
        for job in &jobs {
            self.withdraw(job);
        }
    }

    fn withdraw(&self, job: &Job) {
        self.report(Report::Returned { index: job.pairing.index, why: ReturnReason::Withdrawn });
    }

    fn report(&self, report: Report) {
        // Without a coordinator nobody wants to know.
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
