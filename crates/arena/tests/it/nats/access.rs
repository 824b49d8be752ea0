//! Who a server lets in, with what it has for that: TLS with its certificate, keys (NKey), and
//! credentials of an account (JWT).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use readyok_arena::queue::nats::{Access, Connection, Matches, NatsDispatcher, Permissions};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Ends, LEASE, Server, offer, open, order, play, results, serve, worker};

fn write(path: &Path, text: &str) -> PathBuf {
    fs::write(path, text).expect("space");
    path.to_owned()
}

/// Makes a certificate for this machine, signed by itself. Tells where it and its key are.
fn certificate(folder: &Path) -> [PathBuf; 2] {
    let settings = "[req]\ndistinguished_name = name\nx509_extensions = more\nprompt = no\n\
                    [name]\nCN = readyok test\n\
                    [more]\nbasicConstraints = CA:FALSE\nsubjectAltName = IP:127.0.0.1\n";
    let settings = write(&folder.join("openssl.cnf"), settings);
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
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

/// A server with this in its settings.
fn server(settings: impl FnOnce(&Path) -> String) -> Option<Server> {
    Server::with(|folder| {
        let settings = settings(folder);
        let file = write(&folder.join("nats.conf"), &settings);
        ["-c".into(), file.into_os_string()].to_vec() as Vec<OsString>
    })
}

fn check_refused(access: &Access) {
    assert!(Connection::open(access).is_err());
}

/// Pairs are played from one end to the other.
fn check_plays(coordinator: &Access, access: &Access) {
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["x", "y"]);
    let coordinator = Connection::open(coordinator).expect("it is let in");
    let (mut dispatcher, reports) = open(&coordinator, &order, false);
    offer(&mut dispatcher, &order, 0..4);
    std::thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        let cache = folder.path().join("cache");
        scope.spawn(move || {
            let connection = Connection::open(access).expect("it is let in");
            let served = serve(&connection, &cache);
            play(&mut served.jobs(worker("w")).expect("a queue"), 0);
        });
        assert_eq!(results(&reports, 4).len(), 4);
    });
}

#[test]
fn a_name_with_a_password_or_a_token_in_the_address() {
    let check = |settings: &str, right: &str, wrong: &str| {
        let Some(server) = server(|_| format!("authorization {{ {settings} }}\n")) else { return };
        let access = |who: &str| {
            let server = format!("nats://{who}127.0.0.1:{}", server.port);
            Access { server, ..Access::default() }
        };
        check_plays(&access(right), &access(right));
        check_refused(&access(wrong));
        check_refused(&access(""));
    };
    check("user: me, password: \"se%:cret\"", "me:se%25%3acret@", "me:secret@");
    check("token: \"some token\"", "some%20token@", "other@");
}

#[test]
fn tls_and_a_key() {
    let user = KeyPair::new_user();
    let server = server(|folder| {
        let [certificate, key] = certificate(folder).map(|path| path.display().to_string());
        format!(
            "tls {{ cert_file: \"{certificate}\", key_file: \"{key}\" }}\n\
             authorization {{ users: [ {{ nkey: {} }} ] }}\n",
            user.public_key()
        )
    });
    let Some(server) = server else { return };
    let folder = server.folder.path();
    let seed = |name: &str, key: &KeyPair| {
        // As files are written that people edit.
        write(&folder.join(name), &format!("{}\n", key.seed().expect("a seed")))
    };
    let right = Access {
        server: format!("tls://127.0.0.1:{}", server.port),
        nkey: Some(seed("user.nk", &user)),
        certificates: Some(folder.join("cert.pem")),
        ..Access::default()
    };
    check_plays(&right, &right);
    let other = seed("other.nk", &KeyPair::new_user());
    check_refused(&Access { nkey: Some(other), ..right.clone() });
    check_refused(&Access { nkey: None, ..right.clone() });
    // Without the certificate nobody knows whose server that is; and it speaks to nobody in the clear.
    check_refused(&Access { certificates: None, ..right.clone() });
    let clear = format!("nats://127.0.0.1:{}", server.port);
    check_refused(&Access { server: clear, certificates: None, ..right });
}

/// What the manual has for the server of many machines.
fn settings_of_the_manual() -> String {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/workers.md");
    let manual = fs::read_to_string(manual).expect("a manual");
    let (_, from) = manual.split_once("```\n# nats.conf\n").expect("settings");
    let (settings, _) = from.split_once("```").expect("their end");
    settings.to_owned()
}

#[test]
fn a_worker_with_the_permissions_of_the_manual_plays_and_can_do_nothing_else() {
    let [coordinator, worker] = [KeyPair::new_user(), KeyPair::new_user()];
    let server = server(|folder| {
        let [certificate, key] = certificate(folder).map(|path| path.display().to_string());
        let mut settings = settings_of_the_manual();
        for (name, value) in [
            ("listen: 0.0.0.0:4222\n", ""),
            // These two are given to it as arguments.
            ("jetstream { store_dir: /var/lib/nats }\n", ""),
            ("/etc/nats/cert.pem", &format!("\"{certificate}\"")),
            ("/etc/nats/key.pem", &format!("\"{key}\"")),
            ("UCOORDINATOR…", &coordinator.public_key()),
            ("UWORKER…", &worker.public_key()),
        ] {
            assert_eq!(settings.matches(name).count(), 1, "{name}: {settings}");
            settings = settings.replace(name, value);
        }
        settings
    });
    let Some(server) = server else { return };
    let [coordinator, worker] =
        [("coordinator", coordinator), ("worker", worker)].map(|(name, key)| {
            let seed = key.seed().expect("a seed");
            Access {
                server: format!("tls://127.0.0.1:{}", server.port),
                nkey: Some(write(&server.folder.path().join(name), &seed)),
                certificates: Some(server.folder.path().join("cert.pem")),
                ..Access::default()
            }
        });
    // A worker that is there first has no match to look at, and may not make a place for them.
    let connection = Connection::open(&worker).expect("it is let in");
    let mut matches = Matches::new(&connection, super::worker("w"));
    let nowhere = server.folder.path().join("cache");
    let none = matches.next(&Permissions::anything(), &nowhere, Duration::ZERO, |_| ());
    assert!(none.expect("a server that answers").is_none());
    check_plays(&coordinator, &worker);
    // It cannot hand out jobs itself.
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["v", "w"]);
    let (sender, _reports) = channel();
    let opened = NatsDispatcher::open(&connection, order, None, LEASE, sender);
    assert!(opened.is_err());
}

/// A claim in the words of NATS, signed by its issuer.
fn token(issuer: &KeyPair, subject: &KeyPair, name: &str, claim: &Value) -> String {
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
fn credentials_of_an_account() {
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
        write(&server.folder.path().join(name), &text)
    };
    let right = Access {
        server: format!("nats://127.0.0.1:{}", server.port),
        credentials: Some(credentials("user.creds", &account)),
        ..Access::default()
    };
    check_plays(&right, &right);
    // An account that the server does not know.
    let stranger = credentials("stranger.creds", &KeyPair::new_account());
    check_refused(&Access { credentials: Some(stranger), ..right.clone() });
    check_refused(&Access { credentials: None, ..right });
}
