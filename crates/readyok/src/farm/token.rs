//! Signed tokens (JWT) in the version 2 of NATS: operator, accounts, users.

use data_encoding::{BASE32_NOPAD, BASE64URL_NOPAD};
use nkeys::KeyPair;
use readyok_arena::queue::nats::permissions::{OWNER, WORKER_PUBLISH, WORKER_SUBSCRIBE};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512_256};

use super::keys::Keys;
use super::register::Register;

type Signed = Result<String, nkeys::error::Error>;

/// The name of operator and account, for the log of the server.
const FARM: &str = "readyok-farm";

/// Maximum number of subscriptions of a worker. It needs one for replies and one for all announcements.
const MAX_WORKER_SUBSCRIPTIONS: u32 = 64;

/// Maximum length of the messages of a worker in bytes: the default of the server.
const MAX_WORKER_MESSAGE_LEN: u32 = 1 << 20;

/// The operator, which names the system account.
pub(super) fn operator(operator: &KeyPair, system: &KeyPair, now: u64) -> Signed {
    let claims = json!({ "type": "operator", "version": 2, "system_account": system.public_key() });
    sign(operator, &operator.public_key(), FARM, now, claims)
}

/// The system account, which needs no user. The server rejects one with JetStream.
pub(super) fn system(operator: &KeyPair, system: &KeyPair, now: u64) -> Signed {
    let claims = account_claims(0);
    sign(operator, &system.public_key(), "system", now, claims)
}

/// The account of the farm, with the permissions of workers and all revocations.
pub(super) fn account(keys: &Keys, register: &Register, now: u64) -> Signed {
    let mut claims = account_claims(-1);
    claims["signing_keys"] = json!([{
        "kind": "user_scope",
        "key": keys.workers.public_key(),
        "role": "worker",
        "template": {
            "pub": { "allow": WORKER_PUBLISH },
            "sub": { "allow": WORKER_SUBSCRIBE },
            "subs": MAX_WORKER_SUBSCRIPTIONS,
            "data": -1,
            "payload": MAX_WORKER_MESSAGE_LEN,
        },
    }]);
    let revoked = register.workers.iter().filter_map(|worker| {
        // Tokens that were issued up to this time are revoked.
        worker.revoked.map(|time| (worker.key.clone(), json!(time)))
    });
    claims["revocations"] = Value::Object(revoked.collect());
    sign(&keys.operator, &keys.account.public_key(), FARM, now, claims)
}

/// The owner, who may do everything in the account.
pub(super) fn owner(account: &KeyPair, user: &KeyPair, now: u64) -> Signed {
    let claims = json!({
        "type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1,
    });
    sign(account, &user.public_key(), OWNER, now, claims)
}

/// A worker. Its token must have no permissions: those of the signing key apply.
pub(super) fn worker(keys: &Keys, user: &KeyPair, name: &str, now: u64) -> Signed {
    let claims = json!({
        "type": "user", "version": 2, "pub": {}, "sub": {},
        "issuer_account": keys.account.public_key(),
    });
    sign(&keys.workers, &user.public_key(), name, now, claims)
}

/// The text of a credentials file.
pub(super) fn credentials(token: &str, user: &KeyPair) -> Signed {
    let seed = user.seed()?;
    Ok(format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    ))
}

/// An account, with this limit of JetStream; −1 is unlimited.
fn account_claims(jetstream: i64) -> Value {
    json!({
        "type": "account",
        "version": 2,
        "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1, "mem_storage": jetstream, "disk_storage": jetstream,
            "streams": jetstream, "consumer": jetstream,
        },
        "default_permissions": { "pub": {}, "sub": {} },
    })
}

#[expect(clippy::needless_pass_by_value, reason = "claims are built for one token")]
fn sign(issuer: &KeyPair, subject: &str, name: &str, now: u64, nats: Value) -> Signed {
    let mut claims = json!({
        "jti": "", "iat": now, "iss": issuer.public_key(), "name": name, "sub": subject, "nats": nats,
    });
    // The identifier of a token is the hash of its claims without one.
    let hash = Sha512_256::digest(claims.to_string());
    claims["jti"] = json!(BASE32_NOPAD.encode(&hash));
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let [header, claims] =
        [header, claims].map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes()));
    let text = format!("{header}.{claims}");
    let signature = BASE64URL_NOPAD.encode(&issuer.sign(text.as_bytes())?);
    Ok(format!("{text}.{signature}"))
}

#[cfg(test)]
mod tests {
    use readyok_arena::queue::nats::permissions::name_in_credentials;

    use super::*;

    #[test]
    fn credentials_have_the_name() {
        let (keys, user) = (Keys::generate(), KeyPair::new_user());
        let token = worker(&keys, &user, "alice/box7", 1).expect("a token");
        let (text, signature) = token.rsplit_once('.').expect("a signature");
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).expect("Base64");
        keys.workers.verify(text.as_bytes(), &signature).expect("a valid signature");
        let text = credentials(&token, &user).expect("credentials");
        assert_eq!(name_in_credentials(&text).as_deref(), Some("alice/box7"));
        assert!(text.contains(&user.seed().expect("a seed")));
    }
}
