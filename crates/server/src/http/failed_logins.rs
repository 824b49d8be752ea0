//! Rate limit for wrong passwords, by source address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Number of wrong passwords that an address may send in a row.
const MAX_IN_A_ROW: u32 = 10;
/// Time after which one wrong password is forgotten.
const DECAY: Duration = Duration::from_secs(30);
/// Maximum number of addresses that are remembered.
const MAX_ADDRESSES: usize = 4096;

/// Wrong passwords that are not forgotten yet.
#[derive(Debug, Default)]
pub(super) struct FailedLogins {
    /// When the last wrong password of an address is forgotten.
    forgotten: HashMap<IpAddr, Instant>,
}

impl FailedLogins {
    /// How long an address must wait before its next attempt; `None` if it need not wait.
    pub(super) fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let forgotten = self.forgotten.get(&source(address))?;
        let pending = forgotten.saturating_duration_since(now);
        let wait = pending.saturating_sub(DECAY * (MAX_IN_A_ROW - 1));
        (!wait.is_zero()).then_some(wait)
    }

    /// Counts a wrong password.
    pub(super) fn count(&mut self, address: IpAddr, now: Instant) {
        let address = source(address);
        if MAX_ADDRESSES <= self.forgotten.len() && !self.forgotten.contains_key(&address) {
            self.forgotten.retain(|_, forgotten| now < *forgotten);
            if MAX_ADDRESSES <= self.forgotten.len()
                && let Some(first) = self.forgotten.iter().min_by_key(|it| it.1).map(|it| *it.0)
            {
                self.forgotten.remove(&first);
            }
        }
        let forgotten = self.forgotten.entry(address).or_insert(now);
        *forgotten = (*forgotten).max(now) + DECAY;
    }

    /// Forgets an address, which has sent the right password.
    pub(super) fn forget(&mut self, address: IpAddr) {
        self.forgotten.remove(&source(address));
    }
}

/// What belongs to one client: an address of IPv4, or a network of IPv6, which has 2^64 addresses.
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
    use super::*;
    use crate::time::instant;

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
    fn an_address_waits_after_too_many_wrong_passwords_and_others_do_not() {
        let (now, attacker) = (instant(), address("192.0.2.1"));
        let failed = full(attacker, now);
        assert_eq!(failed.wait(attacker, now), Some(DECAY));
        assert_eq!(failed.wait(address("::ffff:192.0.2.1"), now), Some(DECAY));
        assert_eq!(failed.wait(address("192.0.2.2"), now), None);
    }

    #[test]
    fn wrong_passwords_are_forgotten_with_time() {
        let (now, owner) = (instant(), address("192.0.2.1"));
        let mut failed = full(owner, now);
        assert_eq!(failed.wait(owner, now + DECAY), None);
        failed.count(owner, now + DECAY);
        assert_eq!(failed.wait(owner, now + DECAY), Some(DECAY));
        failed.forget(owner);
        assert_eq!(failed.wait(owner, now), None);
    }

    #[test]
    fn a_network_of_ipv6_is_one_source() {
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
