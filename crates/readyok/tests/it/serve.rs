//! `readyok serve`: it says where it is, answers there, and leaves nothing behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;

use crate::program::{Dir, PATIENCE, finish, readyok, run, signal, wait};

/// What stands between the server's name and the end of a link: host and token.
pub(crate) fn link(line: &str) -> (String, String) {
    let rest = line.trim().strip_prefix("readyok: http://").expect("a link");
    let (host, token) = rest.split_once("/?token=").expect("a token");
    (host.to_owned(), token.to_owned())
}

pub(crate) fn get(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("it can wait");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Processes that were started with this data.
fn processes_of(data: &Path) -> Vec<String> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let data = data.to_str().expect("UTF-8");
    all.flatten()
        .filter_map(|process| std::fs::read(process.path().join("environ")).ok())
        .map(|environment| String::from_utf8_lossy(&environment).into_owned())
        .filter(|environment| environment.contains(data))
        .collect()
}

#[test]
fn the_app_is_served_until_it_is_interrupted() {
    let dir = Dir::new();
    let data = dir.path().join("data");
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--allow-root", "--data"]).arg(&data);
    let mut child = command.spawn().expect("the program starts");
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says where it is");
    let (host, token) = link(&line);
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    assert!(get(&host, "/").contains("<title>Readyok</title>"));
    assert!(get(&host, &format!("/?token={token}")).contains("HttpOnly"));

    // Another start finds the one that runs.
    let mut again = readyok(&dir);
    again.args(["serve", "--no-open", "--allow-root", "--data"]).arg(&data);
    let output = run(&mut again, b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let (same, other) = link(output.text().lines().nth(1).expect("a link"));
    assert_eq!(same, host);
    assert_ne!(other, token);

    signal(child.id(), rustix::process::Signal::INT);
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(TcpStream::connect(&host).is_err(), "it listens still");
    assert!(!data.join("running").exists());
    // The guardian is the last to leave, right after the program.
    wait("something is left", || processes_of(dir.path()).is_empty());
}

#[test]
fn the_administrator_has_to_mean_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = Dir::new();
    let output = run(readyok(&dir).args(["serve", "--no-open", "--data"]).arg(dir.path()), b"");
    assert_eq!(output.code(), Some(2));
    assert!(output.stderr.contains("--allow-root"), "{}", output.stderr);
}

#[test]
fn beyond_this_machine_it_needs_a_password_that_is_one() {
    let dir = Dir::new();
    let serve = |arguments: &[&str]| {
        let mut command = readyok(&dir);
        command.args(["serve", "--no-open", "--allow-root", "--listen", "0.0.0.0", "--data"]);
        let output = run(command.arg(dir.path()).args(arguments), b"");
        assert_eq!(output.code(), Some(2));
        output.stderr
    };
    assert!(serve(&[]).contains("--password-file"));
    let file = dir.write("password", "correct horse\n");
    let path = file.to_str().expect("UTF-8");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .expect("it is ours");
    assert!(serve(&["--password-file", path, "--allow-host", "here"]).contains("others can read"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .expect("it is ours");
    assert!(serve(&["--password-file", path]).contains("--allow-host"));
}
