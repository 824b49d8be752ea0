//! Limits on guesses of passwords: successive wrong ones of an address, and hashes of all addresses.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Maximum number of hashes that begin within [`WINDOW`], for addresses without and with an earlier login. Some are
/// reserved for the latter: guesses from many addresses must not keep a user out.
const MAX_HASHES: (usize, usize) = (7, 3);
const WINDOW: Duration = Duration::from_secs(1);
/// Maximum time that an attempt waits for its hash.
const MAX_DELAY: Duration = Duration::from_secs(3);
/// Maximum number of stored addresses with a login.
const MAX_KNOWN: usize = 1024;

/// The limits of all logins by password.
#[derive(Debug)]
pub(super) struct Throttle {
    failed: FailedLogins,
    /// The sources of logins since the start.
    known: HashSet<IpAddr>,
    for_all: HashBudget,
    for_known: HashBudget,
}

impl Default for Throttle {
    fn default() -> Self {
        let (failed, known) = (FailedLogins::default(), HashSet::new());
        let (for_all, for_known) = MAX_HASHES;
        let (for_all, for_known) = (HashBudget::new(for_all), HashBudget::new(for_known));
        Self { failed, known, for_all, for_known }
    }
}

impl Throttle {
    /// Admits an attempt that computes some hashes. It counts as a wrong password until [`Self::succeed`], so that
    /// concurrent attempts count as well. Returns the time to wait before the hashes.
    ///
    /// # Errors
    /// The waiting time before the next attempt.
    pub(super) fn admit(
        &mut self,
        address: IpAddr,
        hashes: usize,
        now: Instant,
    ) -> Result<Duration, Duration> {
        if let Some(wait) = self.failed.wait(address, now) {
            return Err(wait);
        }
        let delay = if self.known.contains(&source(address)) {
            let reserved = self.for_known.reserve(hashes, now);
            reserved.or_else(|_| self.for_all.reserve(hashes, now))?
        } else {
            self.for_all.reserve(hashes, now)?
        };
        self.failed.count(address, now);
        Ok(delay)
    }

    /// Records a correct password.
    pub(super) fn succeed(&mut self, address: IpAddr) {
        self.failed.forget(address);
        if self.known.len() < MAX_KNOWN {
            self.known.insert(source(address));
        }
    }
}

/// The times of the latest hashes.
#[derive(Debug)]
struct HashBudget {
    max: usize,
    latest: VecDeque<Instant>,
}

impl HashBudget {
    fn new(max: usize) -> Self {
        Self { max, latest: VecDeque::new() }
    }

    /// Reserves some hashes, and returns the time until the last of them may begin.
    ///
    /// # Errors
    /// The time is too long. Nothing is reserved.
    fn reserve(&mut self, hashes: usize, now: Instant) -> Result<Duration, Duration> {
        let mut latest = self.latest.clone();
        let mut at = now;
        for _ in 0..hashes {
            if self.max <= latest.len()
                && let Some(first) = latest.pop_front()
            {
                at = at.max(first + WINDOW);
            }
            latest.push_back(at);
        }
        let delay = at.saturating_duration_since(now);
        if MAX_DELAY < delay {
            return Err(delay);
        }
        self.latest = latest;
        Ok(delay)
    }
}

/// Maximum number of successive wrong passwords of an address.
const MAX_IN_A_ROW: u32 = 10;
/// Time after which one wrong password is forgotten.
const DECAY: Duration = Duration::from_secs(30);
/// Maximum number of stored addresses.
const MAX_ADDRESSES: usize = 4096;

/// Recent wrong passwords by address.
#[derive(Debug, Default)]
struct FailedLogins {
    /// The time at which the last wrong password of an address is forgotten.
    forgotten: HashMap<IpAddr, Instant>,
}

impl FailedLogins {
    /// The waiting time of an address before its next attempt; `None` if it need not wait.
    fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let forgotten = self.forgotten.get(&source(address))?;
        let pending = forgotten.saturating_duration_since(now);
        let wait = pending.saturating_sub(DECAY * (MAX_IN_A_ROW - 1));
        (!wait.is_zero()).then_some(wait)
    }

    /// Counts a wrong password.
    fn count(&mut self, address: IpAddr, now: Instant) {
        let address = source(address);
        if MAX_ADDRESSES <= self.forgotten.len() && !self.forgotten.contains_key(&address) {
            self.forgotten.retain(|_, forgotten| now < *forgotten);
            if MAX_ADDRESSES <= self.forgotten.len()
                && let Some(first) = self
                    .forgotten
                    .iter()
                    .min_by_key(|forgotten| forgotten.1)
                    .map(|forgotten| *forgotten.0)
            {
                self.forgotten.remove(&first);
            }
        }
        let forgotten = self.forgotten.entry(address).or_insert(now);
        *forgotten = (*forgotten).max(now) + DECAY;
    }

    /// Removes an address after a correct password.
    fn forget(&mut self, address: IpAddr) {
        self.forgotten.remove(&source(address));
    }
}

/// The addresses of one client: an IPv4 address, or an IPv6 network with 2^64 addresses.
fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::time::instant;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn full(address: IpAddr, now: Instant) -> FailedLogins {
        let mut failed = FailedLogins::default();
        for _ in 0..MAX_IN_A_ROW {
            assert_eq!(failed.wait(address, now), None);
            failed.count(address, now);
        }
        failed
    }

    #[test]
    fn the_rate_of_hashes_is_limited_for_all_addresses_together() {
        let (begin, (max, _)) = (instant(), MAX_HASHES);
        let mut throttle = Throttle::default();
        let mut begun = Vec::new();
        let mut rejected = 0;
        // A thousand local addresses guess for ten seconds.
        for number in 0..1000u32 {
            let now = begin + Duration::from_millis(10) * number;
            match throttle.admit(IpAddr::V4((0x7F00_0001 + number).into()), 1, now) {
                Ok(delay) => begun.push(now + delay),
                Err(wait) => {
                    assert!(MAX_DELAY < wait);
                    rejected += 1;
                }
            }
        }
        assert!(0 < rejected && 10 * max <= begun.len(), "{rejected} {}", begun.len());
        for hashes in begun.windows(max + 1) {
            assert!(WINDOW <= hashes[max] - hashes[0]);
        }
    }

    #[test]
    fn an_address_with_a_login_is_admitted_while_others_guess() {
        let (now, owner) = (instant(), address("192.0.2.1"));
        let mut throttle = Throttle::default();
        throttle.admit(owner, 2, now).expect("the first attempt");
        throttle.succeed(owner);
        let mut guesses = (0..1000u32).map(|bits| throttle.admit(IpAddr::V4(bits.into()), 2, now));
        assert!(guesses.any(|admitted| admitted.is_err()));
        assert_eq!(throttle.admit(owner, 2, now), Ok(Duration::ZERO));
        assert!(throttle.admit(address("192.0.2.2"), 2, now).is_err());
    }

    #[test]
    fn attempts_count_before_their_hash_is_computed() {
        let (now, attacker) = (instant(), address("192.0.2.1"));
        let mut throttle = Throttle::default();
        let concurrent = (0..100).filter(|_| throttle.admit(attacker, 1, now).is_ok()).count();
        assert_eq!(concurrent, MAX_IN_A_ROW as usize);
    }

    #[test]
    fn an_address_waits_after_too_many_wrong_passwords_and_others_do_not() {
        let (now, attacker) = (instant(), address("192.0.2.1"));
        let failed = full(attacker, now);
        assert_eq!(failed.wait(attacker, now), Some(DECAY));
        assert_eq!(failed.wait(address("::ffff:192.0.2.1"), now), Some(DECAY));
        assert_eq!(failed.wait(address("192.0.2.2"), now), None);
    }

    #[test]
    fn wrong_passwords_expire() {
        let (now, owner) = (instant(), address("192.0.2.1"));
        let mut failed = full(owner, now);
        assert_eq!(failed.wait(owner, now + DECAY), None);
        failed.count(owner, now + DECAY);
        assert_eq!(failed.wait(owner, now + DECAY), Some(DECAY));
        failed.forget(owner);
        assert_eq!(failed.wait(owner, now), None);
    }

    #[test]
    fn an_ipv6_network_is_one_source() {
        let now = instant();
        let failed = full(address("2001:db8::1"), now);
        assert!(failed.wait(address("2001:db8::ffff:1"), now).is_some());
        assert!(failed.wait(address("2001:db8:0:1::1"), now).is_none());
    }

    #[test]
    fn the_number_of_addresses_is_limited() {
        let (now, attacker) = (instant(), address("192.0.2.1"));
        let mut failed = full(attacker, now);
        for number in 0..2 * u32::try_from(MAX_ADDRESSES).expect("a small number") {
            failed.count(IpAddr::V4(number.into()), now);
        }
        assert_eq!(failed.forgotten.len(), MAX_ADDRESSES);
        // Those with the most wrong passwords are remembered.
        assert!(failed.wait(attacker, now).is_some());
    }
}
