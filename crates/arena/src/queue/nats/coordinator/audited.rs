//! The results of audits, and what the coordinator does about them.

use async_nats::jetstream::Message;

use crate::game::Replay;
use crate::queue::WorkerId;
use crate::queue::nats::audits::Finding;
use crate::queue::nats::coordinator::state::Shared;
use crate::queue::nats::messages::{Ended, Grant, StoredResult};
use crate::queue::nats::status::shortened;

impl Shared {
    /// Handles the end of an audit.
    pub(super) fn on_audit_ended(
        &self,
        worker: &str,
        grant: &Grant,
        ended: Ended,
        message: Message,
    ) {
        let now = self.now_ms();
        let (index, held) = {
            let mut state = self.state();
            let is_excluded = state.is_excluded(worker);
            let held = state.audits.held(worker, grant, now).filter(|_| !is_excluded);
            if held.is_none() {
                state.ledger.ignore();
            }
            (grant.index, held)
        };
        let Some(held) = held else { return self.discard(message) };
        let replay = self.state().audits.replay(index).map(Replay::searches);
        match (ended, replay) {
            (Ended::Failed { .. }, _) => self.state().audits.fail(worker, index, now),
            (Ended::Done { result, speed, .. }, None) => {
                let stored = StoredResult { result, speed };
                if let Some(why) = self.contradiction(worker, &held, &stored) {
                    self.state().audits.reject(worker, index, now);
                    return self.on_invalid(worker, index, why, message);
                }
                let StoredResult { result, .. } = stored;
                let findings = self.state().audits.on_done(worker, &held.pairing, &result, now);
                for finding in findings {
                    self.on_finding(index, &finding);
                }
            }
            (Ended::Replayed { agreement, .. }, Some(searches))
                if agreement.equal <= agreement.searches && agreement.searches <= searches =>
            {
                self.state().audits.on_replayed(worker, index, agreement);
                self.warn_of_flagged();
            }
            (Ended::Done { .. } | Ended::Replayed { .. }, _) => {
                self.state().audits.reject(worker, index, now);
                let why = "the result is not that of the job".to_owned();
                return self.on_invalid(worker, index, why, message);
            }
        }
        self.discard(message);
    }

    /// Reports workers whose games are replayed with few equal moves, once.
    fn warn_of_flagged(&self) {
        let new: Vec<WorkerId> = {
            let mut guard = self.state();
            let state = &mut *guard;
            state.status.set_audits(state.audits.status(), state.audits.replays());
            let flagged = state.status.flagged();
            flagged.into_iter().filter(|worker| state.flagged.insert(worker.clone())).collect()
        };
        for worker in new {
            let worker = shortened(&worker.0);
            let text = format!(
                "the worker `{worker}` is suspicious: other workers find fewer of its moves again than of those of the others"
            );
            self.warn(text, None);
        }
    }

    fn on_finding(&self, index: u64, finding: &Finding) {
        match finding {
            Finding::Differing { workers: [one, other] } => {
                let (one, other) = (shortened(one), shortened(other));
                let text = format!(
                    "audit: the workers `{one}` and `{other}` have played different games, another one is asked"
                );
                self.warn(text, Some(index));
            }
            Finding::Accused { worker, others: [one, other] } => {
                if self.exclude(worker) {
                    let [worker, one, other] = [worker, one, other].map(|name| shortened(name));
                    self.warn(
                        format!(
                            "the worker `{worker}` is excluded: `{one}` and `{other}` have played other games of a pair than it"
                        ),
                        Some(index),
                    );
                }
            }
            Finding::NotDeterministic { workers } => {
                let workers = shortened(&workers.join(", "));
                let text = format!(
                    "the engines are not deterministic, and the match is not audited: {workers} have played different games"
                );
                self.warn(text, Some(index));
            }
        }
    }
}
