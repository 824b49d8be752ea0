//! Credentials for a queue, from files and the environment instead of the command line. The tests with
//! a real server need `nats-server` and `READYOK_REAL_ENGINES`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::program::{Dir, Output, readyok, run, set_mode};
use crate::real::engine;

fn write_secret(dir: &Dir, name: &str, text: &str, mode: u32) -> PathBuf {
    let file = dir.write(name, text);
    set_mode(&file, mode);
    file
}

/// Runs a worker that exits if there is no open match.
fn worker(dir: &Dir, queue: &str, args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = readyok(dir);
    for name in ["NATS_USER", "NATS_PASSWORD", "NATS_TOKEN"] {
        command.env_remove(name);
    }
    command.args(["worker", "--queue", queue, "--idle", "0", "--allow-any"]).args(args);
    run(command.envs(env.iter().copied()), b"")
}

#[test]
fn credentials_are_read_from_a_file_or_the_environment() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    let settings = |name: &str, text: &str| {
        let settings = dir.write(name, &format!("authorization {{ {text} }}\n"));
        ["-c".into(), settings.into_os_string()]
    };
    let start = |name: &str, text: &str| {
        let port = free_port();
        let store = dir.path().join(format!("{name}-data"));
        let server = NatsServer::start(&nats, port, &store, &settings(name, text));
        (server, format!("nats://127.0.0.1:{port}"))
    };
    let (_with_user, user) = start("user", "user: me, password: \"se%:cret\"");
    let (_with_token, token) = start("token", "token: \"some token\"");
    let file = |name: &str, text: &str| {
        let path = write_secret(&dir, name, text, 0o600);
        path.to_str().expect("UTF-8").to_owned()
    };
    let (password, wrong) = (file("password", "se%:cret\n"), file("wrong", "secret\n"));
    let token_file = file("token-file", "some token\n");

    let check = |queue: &str, args: &[&str], env: &[(&str, &str)], code: i32| {
        let output = worker(&dir, queue, args, env);
        assert_eq!(output.code(), Some(code), "{args:?} {env:?}: {}", output.stderr);
    };
    check(&user, &[], &[], 2);
    check(&user, &["--user", "me", "--password-file", &password], &[], 0);
    check(&user, &["--user", "me", "--password-file", &wrong], &[], 2);
    let in_environment = [("NATS_USER", "me"), ("NATS_PASSWORD", "se%:cret")];
    check(&user, &[], &in_environment, 0);
    check(&user, &["--user", "me"], &in_environment[1..], 0);
    check(&user, &["--user", "me", "--password-file", &wrong], &in_environment, 2);
    check(&token, &["--password-file", &token_file], &[], 0);
    check(&token, &[], &[("NATS_TOKEN", "some token")], 0);
    check(&token, &[], &[("NATS_TOKEN", "other")], 2);
}

#[test]
fn world_readable_credentials_are_rejected_or_cause_a_warning() {
    let dir = Dir::new();
    // No server listens on this port.
    let queue = format!("nats://127.0.0.1:{}", free_port());
    let open = write_secret(&dir, "open", "secret\n", 0o644);
    let open = open.to_str().expect("UTF-8");
    let output = worker(&dir, &queue, &["--user", "me", "--password-file", open], &[]);
    output.reports(2, "other users can read it");

    let in_address = queue.replace("//", "//me:secret@");
    let output = worker(&dir, &in_address, &[], &[]);
    output.reports(2, "in the process list");
    // The address is reported without the login.
    assert!(output.stderr.contains(&format!("no queue at {queue}")), "{}", output.stderr);
    let output = worker(&dir, &queue, &[], &[]);
    assert!(!output.stderr.contains("process list"), "{}", output.stderr);
}

#[test]
fn unusable_servers_are_reported_with_their_address() {
    let dir = Dir::new();
    for queue in ["http://127.0.0.1:1", "nats://127.0.0.1:port", "nats://[::"] {
        let output = worker(&dir, queue, &[], &[]);
        assert_eq!(output.code(), Some(2), "{queue}: {}", output.stderr);
        assert!(output.stderr.contains(queue), "{queue}: {}", output.stderr);
    }
    let Some(nats) = engine("nats-server") else { return };
    let port = free_port();
    let _server = NatsServer::start_without_jetstream(&nats, port);
    let queue = format!("nats://127.0.0.1:{port}");
    for command in [&["worker", "--allow-any"][..], &["queue", "list"], &["queue", "workers"]] {
        let output = run(readyok(&dir).args(command).args(["--queue", &queue]), b"");
        assert_eq!(output.code(), Some(2), "{}", output.stderr);
        let expected = format!("no queue at {queue}: the server has no JetStream");
        assert!(output.stderr.contains(&expected), "{}", output.stderr);
    }
}

#[test]
fn a_server_without_storage_is_reported() {
    let Some(nats) = engine("nats-server") else { return };
    let (dir, port) = (Dir::new(), free_port());
    let store = dir.path().join("store").display().to_string();
    let settings = format!(
        "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {store:?}, max_file_store: 10MB }}\n"
    );
    let file = dir.path().join("nats.conf");
    fs::write(&file, settings).expect("space");
    let _server = NatsServer::spawn(Command::new(nats).arg("-c").arg(file), port);
    let queue = format!("nats://127.0.0.1:{port}");
    let args = ["match", "narikin", "narikin", "--nodes", "1", "--queue", &queue];
    // It creates a results file.
    let mut command = readyok(&dir);
    run(command.current_dir(dir.path()).args(args), b"")
        .reports(2, "the server has no 256 MB of storage");
}

#[test]
fn incomplete_or_duplicate_credentials_are_rejected() {
    let dir = Dir::new();
    let queue = format!("nats://127.0.0.1:{}", free_port());
    let file = write_secret(&dir, "password", "secret\n", 0o600);
    let file = file.to_str().expect("UTF-8");
    let with_user = ["--user", "me", "--password-file", file];
    let twice = queue.replace("//", "//me:secret@");
    for (queue, args) in [
        (&twice, with_user.to_vec()),
        (&queue, vec!["--user", "me"]),
        (&queue, [&with_user[..], &["--creds", file]].concat()),
        (&queue, [&with_user[..], &["--nkey", file]].concat()),
    ] {
        let output = worker(&dir, queue, &args, &[]);
        assert_eq!(output.code(), Some(2), "{args:?}: {}", output.stderr);
    }
    run(readyok(&dir).args(["match", "a", "b"]).args(with_user), b"").reports(2, "--queue");
}
