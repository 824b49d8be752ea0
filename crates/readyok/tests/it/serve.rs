//! `readyok serve`: the link, the login, file permissions and the shutdown.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::port::free_port;
#[cfg(unix)]
use crate::program::start_nats;
use crate::program::{Dir, Output, Signal, TIMEOUT, finish, readyok, run, set_mode, signal, wait};
#[cfg(unix)]
use crate::real::engine;

/// The host and the token of a printed link.
pub(crate) fn link(line: &str) -> (String, String) {
    let rest = line.trim().strip_prefix("readyok: http://").expect("a link");
    let (host, token) = rest.split_once("/?token=").expect("a token");
    (host.to_owned(), token.to_owned())
}

fn send(host: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(host).expect("a connection");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    stream.write_all(request.as_bytes()).expect("data is sent");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("a response");
    String::from_utf8_lossy(&response).into_owned()
}

fn get(host: &str, path: &str, headers: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}");
    send(host, &format!("{head}\r\n"))
}

/// Logs in with the token of a link. Returns the session key.
pub(crate) fn log_in(host: &str, token: &str) -> Option<String> {
    let body = format!("{{\"token\":\"{token}\"}}");
    let request = format!(
        "POST /api/login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\
        Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let response = send(host, &request);
    let body = response.split_once("\r\n\r\n").expect("a body").1;
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    Some(body.get("session")?.as_str()?.to_owned())
}

/// Whether the server accepts an authenticated request.
fn is_authenticated(host: &str, session: &str) -> bool {
    let headers = format!("Authorization: Bearer {session}\r\n");
    get(host, "/api/choices", &headers).starts_with("HTTP/1.1 200")
}

/// Environments of the processes that use this directory.
fn processes_of(data: &Path) -> Vec<String> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let data = data.to_str().expect("UTF-8");
    all.flatten()
        .filter_map(|process| std::fs::read(process.path().join("environ")).ok())
        .map(|environment| String::from_utf8_lossy(&environment).into_owned())
        .filter(|environment| environment.contains(data))
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_window_is_opened_in_a_chromium_browser() {
    let dir = Dir::new();
    let data = dir.path().join("data");
    let bin = dir.path().join("bin");
    std::fs::create_dir(&bin).expect("a directory");
    let browser = bin.join("chromium");
    let script = format!(
        "#!/bin/sh\ncd '{}'\necho \"$1\" > argument\n\
         /bin/cp \"${{1#--app=file://}}\" copy && /bin/mv copy page\n",
        dir.path().display()
    );
    std::fs::write(&browser, script).expect("it is written");
    set_mode(&browser, 0o755);
    let app = || {
        let mut command = readyok(&dir);
        command.args(["--app", "--data"]).arg(&data);
        command.env("PATH", &bin).env("HOME", dir.path()).env_remove("BROWSER");
        command
    };
    let (child, _, token) = start(&mut app());
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    wait("no window is opened", || read("page").contains(&token));
    // The link has a secret, which arguments would show to other users.
    let argument = read("argument");
    assert!(argument.starts_with("--app=file:///") && !argument.contains("token"), "{argument}");

    // Without a Chromium browser the default one is tried.
    std::fs::remove_file(&browser).expect("it is removed");
    let output = run(&mut app(), b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(
        output.stderr.contains("--app needs Chromium, Chrome, Edge or Brave"),
        "{}",
        output.stderr
    );
    stop(child);
}

#[test]
fn serves_until_an_interrupt() {
    let dir = Dir::new();
    let data = dir.path().join("data");
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--data"]).arg(&data);
    let (child, host, token) = start(&mut command);
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    assert!(get(&host, "/", "").contains("<title>Readyok</title>"));
    let session = log_in(&host, &token).expect("a session");
    assert!(is_authenticated(&host, &session));
    assert!(!is_authenticated(&host, &token));
    assert_eq!(log_in(&host, &token), None);

    // Another start finds the running server.
    let mut again = readyok(&dir);
    again.args(["serve", "--no-open", "--data"]).arg(&data);
    let output = run(&mut again, b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let (same, other) = link(output.text().lines().nth(1).expect("a link"));
    assert_eq!(same, host);
    assert_ne!(other, token);

    stop(child);
    assert!(TcpStream::connect(&host).is_err(), "the port is still open");
    assert!(!data.join("running").exists());
    // The guard exits after the main process.
    wait("a process remains", || processes_of(dir.path()).is_empty());
}

#[test]
fn fails_if_the_port_is_in_use() {
    let dir = Dir::new();
    let taken = TcpListener::bind(("127.0.0.1", free_port())).expect("a port");
    let address = taken.local_addr().expect("an address");
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--port", &address.port().to_string()]);
    command.arg("--data").arg(dir.path().join("data"));
    let output = run(&mut command, b"");
    assert_ne!(output.code(), Some(0));
    assert!(output.stderr.contains(&format!("cannot listen on {address}")), "{}", output.stderr);

    drop(taken);
    let (child, host, _) = start(&mut command);
    // An interrupt immediately after the link is accepted.
    assert_eq!(host, address.to_string());
    stop(child);
}

/// All users of the host can read the arguments of a process.
#[test]
fn browser_arguments_contain_no_token() {
    let dir = Dir::new();
    let browser = dir.write_program(
        "browser.sh",
        "#!/bin/sh\ncd \"$HOME\"\nls -l readyok-* > mode\ncp readyok-* page\necho \"$@\" > arguments\n",
    );
    let mut command = readyok(&dir);
    command.args(["serve", "--data"]).arg(dir.path().join("data"));
    command.env("BROWSER", &browser).env("HOME", dir.path());
    let (child, _, token) = start(&mut command);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    wait("the browser is not started", || read("arguments").ends_with('\n'));
    let arguments = read("arguments");
    assert!(arguments.starts_with("file:///") && !arguments.contains(&token), "{arguments}");
    assert!(read("page").contains(&token), "{}", read("page"));
    assert!(read("mode").starts_with("-rw-------"), "{}", read("mode"));

    stop(child);
    let files = std::fs::read_dir(dir.path()).expect("a directory").flatten();
    let pages = files.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"readyok-"));
    assert_eq!(pages.count(), 0);
}

/// A server, and the host and the token of its link.
fn start(command: &mut Command) -> (Child, String, String) {
    let mut child = command.spawn().expect("the process starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a link");
    let (host, token) = link(&line);
    (child, host, token)
}

fn stop(child: Child) -> Output {
    signal(child.id(), Signal::INT);
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    output
}

#[cfg(unix)]
#[test]
fn root_serves_localhost_only_with_a_warning() {
    let dir = Dir::new();
    let data = dir.path().join("data");
    let (child, host, token) =
        start(readyok(&dir).args(["serve", "--no-open", "--data"]).arg(&data));
    assert!(log_in(&host, &token).is_some());
    let warnings = stop(child).stderr.matches("engines run as root").count();
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(warnings, usize::from(is_root));
    if !is_root {
        return;
    }
    let password = dir.write("password", "correct horse\n");
    set_mode(&password, 0o600);
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--listen", "0.0.0.0", "--allow-host", "here", "--data"]);
    command.arg(&data).arg("--password-file").arg(&password);
    run(&mut command, b"").reports(2, "--allow-root");
    let (child, host, token) = start(command.arg("--allow-root"));
    assert!(log_in(&host, &token).is_some());
    stop(child);
}

#[test]
fn link_works_for_every_listen_address() {
    // Some systems have only one loopback address.
    for address in ["127.0.0.2", "127.0.0.1", "::1"] {
        if TcpListener::bind((address, 0)).is_err() {
            continue;
        }
        let dir = Dir::new();
        let mut command = readyok(&dir);
        command.args(["serve", "--no-open", "--listen", address, "--data"]).arg(dir.path());
        let (child, host, token) = start(&mut command);
        assert!(host.contains(address), "{host}");
        assert!(get(&host, "/", "").contains("<title>Readyok</title>"), "{host}");
        let session = log_in(&host, &token).expect("a session");
        assert!(is_authenticated(&host, &session), "{host}");
        stop(child);
    }
}

#[cfg(unix)]
#[test]
fn data_is_accessible_to_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let dir = Dir::new();
    let data = dir.path().join("data");
    let mode = |path: &Path| path.metadata().expect("metadata").permissions().mode() & 0o777;
    // Permissions as created by another program.
    std::fs::create_dir_all(data.join("matches")).expect("a new file");
    std::fs::write(data.join("matches/1.json"), "{}").expect("a new file");
    for (path, mode) in [("", 0o755), ("matches", 0o755), ("matches/1.json", 0o644)] {
        let mode = PermissionsExt::from_mode(mode);
        std::fs::set_permissions(data.join(path), mode).expect("permissions are set");
    }
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--data"]).arg(&data);
    let (child, ..) = start(&mut command);
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("matches")), 0o700);
    let entries = |path: &Path| path.read_dir().expect("a directory").flatten();
    let all = entries(&data).chain(entries(&data.join("matches"))).map(|entry| entry.path());
    let files: Vec<_> = all.filter(|path| path.is_file()).collect();
    assert!(files.iter().any(|path| path.ends_with("library.sqlite-wal")), "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    stop(child);
}

#[test]
fn idle_connections_do_not_block_the_owner() {
    let dir = Dir::new();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256 && exec \"$0\" serve --no-open --data \"$1\""]);
    command.arg(env!("CARGO_BIN_EXE_readyok")).arg(dir.path().join("data"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, host, token) = start(&mut command);
    let connections: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(&host).expect("a connection");
            // The server may already have closed it.
            let _ = stream.write_all(b"POST /api/login HTTP/1.1\r\nHost:");
            stream
        })
        .collect();
    let session = log_in(&host, &token).expect("a session");
    assert!(is_authenticated(&host, &session));
    drop(connections);
    stop(child);
}

#[test]
fn other_addresses_than_localhost_need_a_password() {
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
    set_mode(&file, 0o644);
    assert!(
        serve(&["--password-file", path, "--allow-host", "here"]).contains("other users can read")
    );
    set_mode(&file, 0o600);
    assert!(serve(&["--password-file", path]).contains("--allow-host"));
}

/// The connection to the queue has threads of its own, which the end of the server must not wait for.
#[cfg(unix)]
#[test]
fn a_server_with_a_queue_ends_without_a_panic() {
    let Some(nats) = engine("nats-server") else { return };
    for (is_used, end) in [(false, Signal::TERM), (true, Signal::INT)] {
        let dir = Dir::new();
        let (_nats, address) = start_nats(&nats, &dir);
        let mut command = readyok(&dir);
        command.args(["serve", "--no-open", "--queue", &address]);
        command.arg("--data").arg(dir.path().join("data"));
        let (child, host, token) = start(&mut command);
        if is_used {
            let session = log_in(&host, &token).expect("a session");
            let headers = format!("Authorization: Bearer {session}\r\n");
            let queue = get(&host, "/api/queue", &headers);
            assert!(queue.starts_with("HTTP/1.1 200") && queue.contains("nats:"), "{queue}");
        }
        signal(child.id(), end);
        let output = finish(child);
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let mut lines = output.stderr.lines().filter(|line| !line.contains("engines run as root"));
        assert_eq!(lines.next(), None, "{}", output.stderr);
    }
}

/// Logs in with a password. Returns the status.
fn try_password(host: &str, password: &str, headers: &str) -> String {
    let body = format!("{{\"password\":\"{password}\"}}");
    let response = send(
        host,
        &format!(
            "POST /api/login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n{headers}\
            Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    );
    response.get(9..12).expect("a status").to_owned()
}

#[test]
fn the_file_of_a_password_can_contain_its_hash() {
    let dir = Dir::new();
    let file = dir.write("password", "correct horse\n");
    set_mode(&file, 0o600);
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--data"]).arg(dir.path().join("data"));
    command.arg("--password-file").arg(&file);
    let hash = |command: &mut Command| {
        let mut output = run(command, b"");
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        assert!(output.stdout.starts_with(b"$argon2id$v=19$m=19456,t=2,p=1$"), "{}", output.text());
        output.stdout.pop();
        output.text().to_owned()
    };
    let mut print = readyok(&dir);
    print.args(["serve", "--print-hash", "--password-file"]).arg(&file);
    let first = hash(&mut print);
    assert_ne!(hash(&mut print), first, "each has its own salt");
    for text in ["correct horse\n", &first] {
        dir.write("password", text);
        let (child, host, _) = start(&mut command);
        assert_eq!(try_password(&host, "correct horse", ""), "200");
        assert_eq!(try_password(&host, "correct hors", ""), "401");
        assert_eq!(try_password(&host, &first, ""), "401");
        stop(child);
    }
    dir.write("password", "$argon2id$v=19$m=19456\n");
    run(&mut command, b"").reports(2, "password`: invalid Argon2 hash");
}

/// A guessing visitor behind a proxy does not keep the owner behind the same proxy out.
#[test]
fn wrong_passwords_behind_a_trusted_proxy_count_by_client() {
    let dir = Dir::new();
    let file = dir.write("password", "correct horse\n");
    set_mode(&file, 0o600);
    let mut command = readyok(&dir);
    command.args(["serve", "--no-open", "--trusted-proxy", "10.0.0.0/8,127.0.0.1", "--data"]);
    command.arg(dir.path().join("data")).arg("--password-file").arg(&file);
    let (child, host, _) = start(&mut command);
    let from = |address: &str| format!("X-Forwarded-For: 198.51.100.9, {address}\r\n");
    let guess = |_| try_password(&host, "wrong", &from("192.0.2.1"));
    let guesses: Vec<String> = (0..12).map(guess).collect();
    assert_eq!(guesses.last().map(String::as_str), Some("429"));
    assert_eq!(try_password(&host, "correct horse", &from("192.0.2.1")), "429");
    assert_eq!(try_password(&host, "correct horse", &from("192.0.2.2")), "200");
    stop(child);
    let output = run(readyok(&dir).args(["serve", "--trusted-proxy", "localhost"]), b"");
    output.reports(2, "`localhost` is not an address");
}
