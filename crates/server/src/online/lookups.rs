//! Answers about positions: they are cached, and requested one at a time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use super::OnlineError;
use crate::time::instant;
use crate::wire::{Explorer, OnlineService, TablebaseView};

/// Maximum number of cached answers of a service.
const MAX_CACHED: usize = 500;

/// The answers of the services about positions.
#[derive(Default)]
pub(crate) struct Lookups {
    pub(crate) explorer: Lookup<Explorer>,
    pub(crate) tablebases: Lookup<TablebaseView>,
}

/// The answers of a service.
pub(crate) struct Lookup<T> {
    /// By position, the latest one last.
    cached: Mutex<VecDeque<(String, T)>>,
    /// Locked during a request. The service accepts no request before this moment.
    turn: tokio::sync::Mutex<Option<(Instant, OnlineService)>>,
}

impl<T> Default for Lookup<T> {
    fn default() -> Self {
        Self { cached: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }
}

impl<T: Clone> Lookup<T> {
    /// The answer about a position, which is requested if it is not known. A page that no longer waits for it drops
    /// this future: then nothing is requested.
    pub(crate) async fn answer(
        &self,
        key: String,
        request: impl Future<Output = Result<T, OnlineError>>,
    ) -> Result<T, OnlineError> {
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        let mut blocked = self.turn.lock().await;
        // An earlier one can have requested the same.
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        let now = Instant::from_std(instant());
        if let Some((until, service)) = *blocked
            && now < until
        {
            return Err(OnlineError::RateLimited(service, until - now));
        }
        let answer = request.await;
        match &answer {
            Ok(found) => self.keep(key, found.clone()),
            Err(OnlineError::RateLimited(service, wait)) => {
                *blocked = Some((Instant::from_std(instant()) + *wait, *service));
            }
            Err(_) => (),
        }
        answer
    }

    fn known(&self, key: &str) -> Option<T> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let index = cached.iter().position(|(known, _)| known == key)?;
        let entry = cached.remove(index)?;
        let answer = entry.1.clone();
        cached.push_back(entry);
        Some(answer)
    }

    fn keep(&self, key: String, answer: T) {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if MAX_CACHED <= cached.len() {
            cached.pop_front();
        }
        cached.push_back((key, answer));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn answers_are_cached_up_to_a_limit() {
        let lookup = Lookup::<u32>::default();
        let never = async || -> Result<u32, OnlineError> { panic!("it is cached") };
        for number in 0..600 {
            let request = async { Ok(number) };
            assert_eq!(lookup.answer(number.to_string(), request).await, Ok(number));
        }
        assert_eq!(lookup.answer("599".to_owned(), never()).await, Ok(599));
        assert_eq!(lookup.answer("100".to_owned(), never()).await, Ok(100));
        assert_eq!(lookup.answer("99".to_owned(), async { Ok(7) }).await, Ok(7));
    }

    #[tokio::test]
    async fn after_a_rate_limit_nothing_is_requested() {
        let lookup = Lookup::<u32>::default();
        let service = OnlineService::LichessExplorer;
        let limited = |wait| async move { Err(OnlineError::RateLimited(service, wait)) };
        let hour = Duration::from_hours(1);
        let first = lookup.answer("a".to_owned(), limited(hour)).await;
        assert_eq!(first, Err(OnlineError::RateLimited(service, hour)));
        let second = lookup.answer("b".to_owned(), async { panic!("it is limited") }).await;
        assert!(matches!(second, Err(OnlineError::RateLimited(_, wait)) if wait <= hour));
    }

    /// A page that has moved on drops its request, and the next one is sent.
    #[tokio::test]
    async fn a_dropped_request_frees_the_turn() {
        let lookup = Lookup::<u32>::default();
        let stale = lookup.answer("a".to_owned(), std::future::pending());
        tokio::select! {
            biased;
            _ = stale => panic!("it never ends"),
            () = std::future::ready(()) => (),
        }
        assert_eq!(lookup.answer("b".to_owned(), async { Ok(2) }).await, Ok(2));
    }
}
