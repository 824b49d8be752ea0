//! The addresses of clients behind reverse proxies.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;

/// An address or a network of reverse proxies, whose headers with addresses of clients are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedProxy(IpNet);

/// A text is no [`TrustedProxy`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an address or a network, such as 10.0.0.0/8", .0.escape_debug())]
pub struct TrustedProxyError(String);

impl FromStr for TrustedProxy {
    type Err = TrustedProxyError;

    fn from_str(text: &str) -> Result<Self, TrustedProxyError> {
        let address = text.parse().map(|address: IpAddr| IpNet::from(address.to_canonical()));
        let network = address.or_else(|_| text.parse());
        network.map(Self).map_err(|_| TrustedProxyError(text.to_owned()))
    }
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The address of the client, or that of the proxy if the client is unknown.
    pub(super) address: IpAddr,
    /// Whether a proxy has sent it, which may use the connection for several clients.
    pub(super) is_proxied: bool,
}

/// All trusted proxies.
#[derive(Debug, Default)]
pub(super) struct Proxies(pub(super) Vec<TrustedProxy>);

/// The header that most proxies set: addresses, each appended by the proxy that has seen it.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

impl Proxies {
    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|TrustedProxy(network)| network.contains(&address))
    }

    /// The origin of a request of this peer. Headers of other peers than trusted proxies are ignored.
    pub(super) fn origin(&self, peer: IpAddr, headers: &HeaderMap) -> Origin {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return Origin { address: peer, is_proxied: false };
        }
        let addresses = (
            self.last_untrusted(peer, headers, &X_FORWARDED_FOR, address_in),
            self.last_untrusted(peer, headers, &header::FORWARDED, forwarded_for),
        );
        let address = match addresses {
            // A proxy sets one of them, and may pass on the other one as a client has written it.
            (Some(first), Some(second)) if first != second => peer,
            (Some(address), _) | (None, Some(address)) => address,
            (None, None) => peer,
        };
        Origin { address, is_proxied: true }
    }

    /// The last address of a header that is not a trusted proxy: everything before it may be forged. If it is missing
    /// or unreadable, the last known proxy counts.
    fn last_untrusted(
        &self,
        peer: IpAddr,
        headers: &HeaderMap,
        name: &HeaderName,
        read: impl Fn(&str) -> Option<IpAddr>,
    ) -> Option<IpAddr> {
        let mut address = None;
        for value in headers.get_all(name).iter().rev() {
            let known = address.unwrap_or(peer);
            let Ok(value) = value.to_str() else { return Some(known) };
            for element in value.rsplit(',').map(str::trim).filter(|part| !part.is_empty()) {
                match read(element) {
                    None => return Some(address.unwrap_or(peer)),
                    Some(found) if self.trusts(found) => address = Some(found),
                    found => return found,
                }
            }
        }
        address
    }
}

/// An address, with or without a port.
fn address_in(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let address = text.parse().ok().or_else(bracketed);
    let address = address.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// The `for` of an element of `Forwarded` (RFC 7239, section 5.2).
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    let value = value.trim();
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    address_in(unquoted.unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// The address of a client by the headers of a peer.
    fn origin(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let proxies = ["127.0.0.1", "::1", "10.0.0.0/8", "2001:db8:1::/48"];
        let proxies = Proxies(proxies.map(|text| text.parse().expect("a proxy")).to_vec());
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().expect("a value"));
        }
        proxies.origin(address(peer), &headers).address.to_string()
    }

    const X: &str = "x-forwarded-for";
    const F: &str = "forwarded";

    #[test]
    fn the_last_untrusted_address_is_the_client() {
        for (value, expected) in [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:4711", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            // A client has sent the first one.
            ("192.0.2.9, 192.0.2.1", "192.0.2.1"),
            ("127.0.0.1,192.0.2.1", "192.0.2.1"),
            // Proxies in a row.
            ("192.0.2.9, 192.0.2.1, 10.0.0.7, 2001:db8:1::5", "192.0.2.1"),
            ("192.0.2.1, ,", "192.0.2.1"),
            // Clients that are proxies themselves.
            ("10.0.0.8, 10.0.0.7", "10.0.0.8"),
            // Unreadable ones are those of the proxy before them.
            ("192.0.2.9, unknown", "127.0.0.1"),
            ("192.0.2.9, garbage, 10.0.0.7", "10.0.0.7"),
            ("", "127.0.0.1"),
        ] {
            assert_eq!(origin("127.0.0.1", &[(X, value)]), expected, "{value}");
        }
        let lines = [(X, "192.0.2.9"), (X, "192.0.2.1"), (X, "10.0.0.7")];
        assert_eq!(origin("::ffff:127.0.0.1", &lines), "192.0.2.1");
        assert_eq!(origin("127.0.0.1", &[]), "127.0.0.1");
    }

    /// The examples of RFC 7239, section 4.
    #[test]
    fn forwarded_is_read() {
        for (value, expected) in [
            ("for=\"_gazonk\"", "127.0.0.1"),
            ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("for=192.0.2.43, for=198.51.100.17", "198.51.100.17"),
            ("for=192.0.2.43, for=10.0.0.7", "192.0.2.43"),
            ("proto=http", "127.0.0.1"),
            // A client cannot hide the element of the proxy in an open string.
            ("for=\"192.0.2.43, for=198.51.100.17", "198.51.100.17"),
        ] {
            assert_eq!(origin("127.0.0.1", &[(F, value)]), expected, "{value}");
        }
    }

    #[test]
    fn headers_of_others_are_not_believed() {
        for peer in ["192.0.2.1", "127.0.0.2", "2001:db8:2::1"] {
            assert_eq!(origin(peer, &[(X, "198.51.100.17")]), peer);
            assert_eq!(origin(peer, &[(F, "for=198.51.100.17")]), peer);
        }
        // A proxy has set the first and passed on the second.
        let both = [(X, "192.0.2.1"), (F, "for=198.51.100.17")];
        assert_eq!(origin("127.0.0.1", &both), "127.0.0.1");
        let both = [(X, "192.0.2.1"), (F, "for=192.0.2.1")];
        assert_eq!(origin("127.0.0.1", &both), "192.0.2.1");
    }

    #[test]
    fn addresses_and_networks_are_read() {
        for text in ["127.0.0.1", "::1", "10.0.0.0/8", "fd00::/8"] {
            assert!(text.parse::<TrustedProxy>().is_ok(), "{text}");
        }
        for text in ["", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0"] {
            let error = text.parse::<TrustedProxy>().expect_err("no network").to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
