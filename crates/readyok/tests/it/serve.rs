//! `readyok serve`: it says where it is, answers there, and leaves nothing behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use crate::port::free_port;
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
fn it_listens_on_the_port_that_it_is_given_or_not_at_all() {
    let dir = Dir::new();
    let taken = TcpListener::bind(("127.0.0.1", free_port())).expect("a port");
    let address = taken.local_addr().expect("an address");
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--allow-root", "--port", &address.port().to_string()]);
    command.arg("--data").arg(dir.path().join("data"));
    let output = run(&mut command, b"");
    assert_ne!(output.code(), Some(0));
    assert!(output.stderr.contains(&format!("cannot listen on {address}")), "{}", output.stderr);

    drop(taken);
    let mut child = command.spawn().expect("the program starts");
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says where it is");
    // Whoever reads this may end it before it has answered anything.
    assert_eq!(link(&line).0, address.to_string());
    signal(child.id(), rustix::process::Signal::INT);
    assert_eq!(finish(child).code(), Some(0));
}

/// What the arguments of a program say is seen by every user of the machine.
#[test]
fn a_browser_is_opened_without_a_secret_among_its_arguments() {
    let dir = Dir::new();
    let browser = dir.write_program(
        "browser.sh",
        "#!/bin/sh\ncd \"$HOME\"\nls -l readyok-* > mode\ncp readyok-* page\necho \"$@\" > said\n",
    );
    let mut command = readyok(&dir);
    command.args(["serve", "--allow-root", "--data"]).arg(dir.path().join("data"));
    command.env("BROWSER", &browser).env("HOME", dir.path());
    let mut child = command.spawn().expect("the program starts");
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says where it is");
    let (_, token) = link(&line);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    wait("no browser is opened", || read("said").ends_with('\n'));
    let arguments = read("said");
    assert!(arguments.starts_with("file:///") && !arguments.contains(&token), "{arguments}");
    assert!(read("page").contains(&token), "{}", read("page"));
    assert!(read("mode").starts_with("-rw-------"), "{}", read("mode"));

    signal(child.id(), rustix::process::Signal::INT);
    assert_eq!(finish(child).code(), Some(0));
    let left = std::fs::read_dir(dir.path()).expect("a folder").flatten();
    let pages = left.filter(|it| it.file_name().as_encoded_bytes().starts_with(b"readyok-"));
    assert_eq!(pages.count(), 0);
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
