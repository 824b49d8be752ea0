//! Authentication: TLS with a certificate, keys (NKey), and account credentials (JWT).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use readyok_arena::queue::nats::{Access, Connection, Permissions};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Ends, Hand, Server, find, offer, open, order, results};
use crate::nats_server::NatsServer;
use crate::port::free_port;

fn write(path: &Path, text: &str) -> PathBuf {
    fs::write(path, text).expect("space");
    path.to_owned()
}

/// Creates a self-signed certificate for this host. Returns the paths of certificate and key.
fn certificate(directory: &Path) -> [PathBuf; 2] {
    let settings = "[req]\ndistinguished_name = name\nx509_extensions = more\nprompt = no\n\
                    [name]\nCN = readyok test\n\
                    [more]\nbasicConstraints = CA:FALSE\nsubjectAltName = IP:127.0.0.1\n";
    let settings = write(&directory.join("openssl.cnf"), settings);
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| directory.join(name));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-config"])
        .arg(settings)
        .arg("-out")
        .arg(&certificate)
        .arg("-keyout")
        .arg(&key)
        .output()
        .expect("openssl is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    [certificate, key]
}

/// A server with this configuration.
fn server(settings: impl FnOnce(&Path) -> String) -> Option<Server> {
    Server::with(|directory| {
        let settings = settings(directory);
        let file = write(&directory.join("nats.conf"), &settings);
        ["-c".into(), file.into_os_string()].to_vec() as Vec<OsString>
    })
}

fn check_denied(access: &Access) {
    assert!(Connection::open(access).is_err());
}

/// Pairs are played over the queue.
fn check_plays(coordinator: &Access, access: &Access) {
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["x", "y"]);
    let coordinator = Connection::open(coordinator).expect("access");
    let (mut dispatcher, reports) = open(&coordinator, &order, false);
    offer(&mut dispatcher, &order, 0..4);
    std::thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        let cache = directory.path().join("cache");
        scope.spawn(move || {
            Hand::with(access, "w", &cache, Permissions::anything()).play(0);
        });
        assert_eq!(results(&reports, 4).len(), 4);
    });
}

#[test]
fn logs_in_with_a_password_or_a_token_in_the_address() {
    let check = |settings: &str, right: &str, wrong: &str| {
        let Some(server) = server(|_| format!("authorization {{ {settings} }}\n")) else { return };
        let access = |who: &str| {
            let server = format!("nats://{who}127.0.0.1:{}", server.port);
            Access { server, ..Access::default() }
        };
        check_plays(&access(right), &access(right));
        check_denied(&access(wrong));
        check_denied(&access(""));
    };
    check("user: me, password: \"se%:cret\"", "me:se%25%3acret@", "me:secret@");
    check("token: \"some token\"", "some%20token@", "other@");
}

#[test]
fn reports_an_unusable_server_with_its_address() {
    let port = free_port();
    let access = |server: String| Access { server, ..Access::default() };
    let why = |access: &Access| Connection::open(access).expect_err("no queue").to_string();
    let address = format!("nats://127.0.0.1:{port}");
    let unreachable = why(&access(address.replace("//", "//me:secret@")));
    assert!(unreachable.starts_with(&format!("no queue at {address}: ")), "{unreachable}");
    assert!(!unreachable.contains("secret"), "{unreachable}");
    let Some(_) = Server::start() else { return };
    let _server = NatsServer::start_without_jetstream(&find("nats-server"), port);
    let without = why(&access(address));
    assert!(without.contains("has no JetStream"), "{without}");
}

#[test]
fn tls_and_a_key() {
    let user = KeyPair::new_user();
    let server = server(|directory| {
        let [certificate, key] = certificate(directory).map(|path| path.display().to_string());
        format!(
            "tls {{ cert_file: \"{certificate}\", key_file: \"{key}\" }}\n\
             authorization {{ users: [ {{ nkey: {} }} ] }}\n",
            user.public_key()
        )
    });
    let Some(server) = server else { return };
    let directory = server.directory.path();
    let seed = |name: &str, key: &KeyPair| {
        // With blank lines and comments, like files edited by hand.
        write(&directory.join(name), &format!("{}\n", key.seed().expect("a seed")))
    };
    let right = Access {
        server: format!("tls://127.0.0.1:{}", server.port),
        nkey: Some(seed("user.nk", &user)),
        certificates: Some(directory.join("cert.pem")),
        ..Access::default()
    };
    check_plays(&right, &right);
    let other = seed("other.nk", &KeyPair::new_user());
    check_denied(&Access { nkey: Some(other), ..right.clone() });
    check_denied(&Access { nkey: None, ..right.clone() });
    // Without the certificate, the server is not trusted, and it rejects plain connections.
    check_denied(&Access { certificates: None, ..right.clone() });
    let clear = format!("nats://127.0.0.1:{}", server.port);
    check_denied(&Access { server: clear, certificates: None, ..right });
}

/// A NATS claim, signed by its issuer.
pub(super) fn token(issuer: &KeyPair, subject: &KeyPair, name: &str, claim: &Value) -> String {
    let head = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let body = json!({
        "jti": name, "iat": 1, "iss": issuer.public_key(), "sub": subject.public_key(),
        "name": name, "nats": claim,
    });
    let parts = [head, body].map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes()));
    let text = parts.join(".");
    let signature = issuer.sign(text.as_bytes()).expect("it can sign");
    format!("{text}.{}", BASE64URL_NOPAD.encode(&signature))
}

#[test]
fn logs_in_with_account_credentials() {
    let [operator, system, account] =
        [KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account()];
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1,
        "consumer": -1,
    });
    let is_account = json!({ "type": "account", "version": 2, "limits": limits });
    let is_system = json!({ "type": "account", "version": 2, "limits": {
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1,
    } });
    let is_operator =
        json!({ "type": "operator", "version": 2, "system_account": system.public_key() });
    let server = server(|_| {
        format!(
            "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n{}: {}\n{}: {}\n}}\n",
            token(&operator, &operator, "readyok", &is_operator),
            system.public_key(),
            system.public_key(),
            token(&operator, &system, "system", &is_system),
            account.public_key(),
            token(&operator, &account, "matches", &is_account),
        )
    });
    let Some(server) = server else { return };
    let credentials = |name: &str, issuer: &KeyPair| {
        let user = KeyPair::new_user();
        let is_user = json!({
            "type": "user", "version": 2, "pub": {}, "sub": {},
            "subs": -1, "data": -1, "payload": -1,
        });
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            token(issuer, &user, name, &is_user),
            user.seed().expect("a seed"),
        );
        write(&server.directory.path().join(name), &text)
    };
    let right = Access {
        server: format!("nats://127.0.0.1:{}", server.port),
        credentials: Some(credentials("user.creds", &account)),
        ..Access::default()
    };
    check_plays(&right, &right);
    // An unknown account.
    let stranger = credentials("stranger.creds", &KeyPair::new_account());
    check_denied(&Access { credentials: Some(stranger), ..right.clone() });
    check_denied(&Access { credentials: None, ..right });
}
