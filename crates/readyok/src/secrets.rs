//! Environment variables with passwords and tokens. Engines do not inherit them.

use std::ffi::{OsStr, OsString};

/// The token of `readyok provide`, in the variable of the reference provider.
pub(crate) const LICHESS_API_TOKEN: &str = "LICHESS_API_TOKEN";
/// The password of `readyok csa`.
pub(crate) const CSA_PASSWORD: &str = "CSA_PASSWORD";
/// Credentials of a match queue.
pub(crate) const NATS_USER: &str = "NATS_USER";
/// See [`NATS_USER`].
pub(crate) const NATS_PASSWORD: &str = "NATS_PASSWORD";
/// See [`NATS_USER`].
pub(crate) const NATS_TOKEN: &str = "NATS_TOKEN";

/// Includes variables of other NATS clients, such as `NATS_CREDS`.
const PREFIXES: [&str; 3] = [LICHESS_API_TOKEN, CSA_PASSWORD, "NATS_"];

fn is_secret(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    PREFIXES.iter().any(|prefix| {
        let start = name.get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    })
}

/// The names of secret variables in the environment of this process.
pub(crate) fn variables() -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| is_secret(name)).collect()
}
