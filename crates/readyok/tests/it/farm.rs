//! `readyok farm`: credentials of workers, their permissions and revocation, on a real server. That needs `nats-server` and
//! `READYOK_REAL_ENGINES`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::stream::Config;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, jetstream};
use futures_util::StreamExt as _;
use futures_util::future::try_join;
use readyok_arena::queue::nats::permissions::{
    WORKER_PUBLISH, WORKER_SUBSCRIBE, name_in_credentials,
};
use readyok_arena::store::Reader;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::matches_real::Running;
use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::program::{Dir, Output, TIMEOUT, readyok, run, wait};
use crate::real::engine;

/// A directory name with characters that have a meaning in the configuration, and in a shell.
const NAME: &str = if cfg!(windows) { "the farm's {$HOME}" } else { "the \"farm's\" {$HOME} \\n" };

/// A farm in a temporary directory.
struct Farm {
    dir: Dir,
    port: u16,
}

impl Farm {
    /// Runs `readyok farm init` with additional arguments.
    fn init(args: &[&str]) -> Self {
        let farm = Self { dir: Dir::new(), port: free_port() };
        let listen = format!("127.0.0.1:{}", farm.port);
        let output = farm.command(&["init", NAME, "--listen", &listen], args);
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        farm
    }

    fn command(&self, command: &[&str], args: &[&str]) -> Output {
        let mut program = readyok(&self.dir);
        run(program.current_dir(self.dir.path()).arg("farm").args(command).args(args), b"")
    }

    /// Runs a command for the farm, which succeeds.
    #[track_caller]
    fn run(&self, command: &[&str]) -> String {
        let output = self.command(command, &["--dir", NAME]);
        assert_eq!(output.code(), Some(0), "{command:?}: {}", output.stderr);
        output.text().to_owned()
    }

    /// Runs a command for the farm, which is a usage error.
    #[track_caller]
    fn rejects(&self, command: &[&str], why: &str) {
        self.command(command, &["--dir", NAME]).reports(2, why);
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(NAME).join(file)
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Starts the server with the configuration only.
    fn start(&self, nats: &Path) -> NatsServer {
        let mut command = Command::new(nats);
        NatsServer::spawn(command.arg("-c").arg(self.path("farm.conf")), self.port)
    }

    async fn connect(&self, credentials: &str, name: &str) -> Result<Connected, ConnectError> {
        let (sender, events) = unbounded_channel();
        let options = ConnectOptions::with_credentials_file(self.path(credentials)).await;
        let client = options
            .expect("credentials")
            .custom_inbox_prefix(format!("_INBOX.{name}"))
            .event_callback(move |event| {
                // The test may have ended.
                let _ = sender.send(event);
                async {}
            })
            .connect(self.url())
            .await?;
        Ok(Connected { client, events })
    }

    async fn check_rejected(&self, credentials: &str, name: &str) {
        let error = self.connect(credentials, name).await.err().expect("an error");
        assert_eq!(error.kind(), ConnectErrorKind::AuthorizationViolation, "{error}");
    }
}

/// A connection with its events.
struct Connected {
    client: Client,
    events: UnboundedReceiver<Event>,
}

impl Connected {
    /// Waits for an event.
    async fn wait<T>(&mut self, what: &str, find: impl Fn(Event) -> Option<T>) -> T {
        let found = async {
            loop {
                let event = self.events.recv().await.expect("a connection");
                if let Some(found) = find(event) {
                    return found;
                }
            }
        };
        timeout(TIMEOUT, found).await.unwrap_or_else(|_| panic!("no event: {what}"))
    }

    /// Waits for the next error of the server, and checks that it denies this.
    async fn check_denied(&mut self, what: &str, subject: &str) {
        let error = self
            .wait(&format!("a denied {what} to `{subject}`"), |event| match event {
                Event::ServerError(error) => Some(error.to_string()),
                _ => None,
            })
            .await;
        let expected =
            format!("permissions violation for {what} to \"{}\"", subject.to_lowercase());
        assert!(error.to_lowercase().contains(&expected), "no `{expected}`: {error}");
    }

    async fn publish(&self, subject: &str) {
        self.client.publish(subject.to_owned(), "x".into()).await.expect("a connection");
    }

    /// Waits until the server has processed all commands so far, by a request that is permitted.
    async fn complete_commands(&self) {
        let get = "$JS.API.DIRECT.GET.READYOK_FILES.readyok.files.M";
        self.client.request(get, "".into()).await.expect("an answer");
    }

    async fn check_cannot_publish(&mut self, subject: &str) {
        self.publish(subject).await;
        self.check_denied("publish", subject).await;
    }

    async fn check_cannot_subscribe(&mut self, subject: &str) {
        let _kept = self.client.subscribe(subject.to_owned()).await.expect("a connection");
        self.check_denied("subscription", subject).await;
    }

    /// Checks that nothing was denied so far.
    async fn check_nothing_denied(&mut self) {
        self.check_cannot_publish("readyok.marker").await;
    }
}

fn block_on(test: impl Future<Output = ()>) {
    Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test);
}

/// A subject of a list of permissions.
fn subject(template: &str, name: &str) -> String {
    template.replace("{{name()}}", name).replace('*', "M").replace('>', "x")
}

#[test]
fn invited_workers_connect_without_a_reload_and_may_only_play() {
    let Some(nats) = engine("nats-server") else { return };
    let farm = Farm::init(&[]);
    let _server = farm.start(&nats);
    assert!(farm.path("store").is_dir());
    farm.run(&["invite", "box7"]);
    farm.run(&["invite", "alice/box7"]);
    block_on(async {
        let owner = farm.connect("owner.creds", "owner").await.expect("access");
        create_streams(&owner).await;
        let [mut one, mut other] = [
            farm.connect("box7.creds", "box7").await.expect("access"),
            farm.connect("alice-box7.creds", "alice/box7").await.expect("access"),
        ];
        check_worker(&mut one, "box7", "alice/box7").await;
        check_worker(&mut other, "alice/box7", "box7").await;
        check_answers(&owner, &one, "box7").await;
        check_answers(&owner, &other, "alice/box7").await;
        check_owner(&owner).await;
    });
}

/// The streams that workers read, with one value.
async fn create_streams(owner: &Connected) {
    let context = jetstream::new(owner.client.clone());
    for (name, subject) in
        [("KV_READYOK_MATCHES", "$KV.READYOK_MATCHES"), ("READYOK_FILES", "readyok.files")]
    {
        let config = Config {
            name: name.to_owned(),
            subjects: vec![format!("{subject}.>")],
            allow_direct: true,
            ..Config::default()
        };
        context.create_stream(config).await.expect("permission");
        let ack = context.publish(format!("{subject}.M"), "value".into()).await;
        ack.expect("permission").await.expect("it is stored");
    }
}

/// Checks that the owner may read and write everything in the account.
async fn check_owner(owner: &Connected) {
    let mut all = owner.client.subscribe(">").await.expect("a connection");
    owner.complete_commands().await;
    for subject in ["readyok.state.M", "readyok.results.M.box7", "$KV.READYOK_WORKERS.box7"] {
        owner.publish(subject).await;
        let received =
            async { while all.next().await.expect("a connection").subject.as_str() != subject {} };
        timeout(TIMEOUT, received).await.expect("the message");
    }
    let context = jetstream::new(owner.client.clone());
    for name in ["KV_READYOK_MATCHES", "READYOK_FILES"] {
        let stream = context.get_stream(name).await.expect("permission");
        let consumer = stream.create_consumer(pull::Config::default()).await.expect("permission");
        let mut messages = consumer.fetch().max_messages(1).messages().await.expect("permission");
        let message = messages.next().await.expect("a message").expect("a message");
        message.ack().await.expect("permission");
        stream.purge().await.expect("permission");
        context.delete_stream(name).await.expect("permission");
    }
}

/// Checks all permissions of a worker.
async fn check_worker(worker: &mut Connected, name: &str, other: &str) {
    for template in WORKER_PUBLISH {
        worker.publish(&subject(template, name)).await;
    }
    let mut kept = Vec::new();
    for template in WORKER_SUBSCRIBE {
        kept.push(worker.client.subscribe(template.replace("{{name()}}", name)).await);
        kept.push(worker.client.subscribe(subject(template, name)).await);
    }
    worker.check_nothing_denied().await;

    for subject in [
        ">",
        "*",
        "_INBOX.>",
        "_INBOX.*",
        "_INBOX.*.x",
        &format!("_INBOX.{other}.>"),
        &format!("_INBOX.{other}.x"),
        "readyok.>",
        "readyok.*.*.*",
        "readyok.state",
        "readyok.state.M.x",
        "readyok.*.M",
        "*.state.M",
        "readyok.results.>",
        &format!("readyok.results.M.{other}"),
        "readyok.take.>",
        "readyok.note.>",
        "readyok.hello.>",
        "readyok.files.>",
        "$KV.>",
        "$KV.READYOK_WORKERS.>",
        "$JS.>",
        "$JS.ACK.>",
        "$SYS.>",
    ] {
        worker.check_cannot_subscribe(subject).await;
    }
    for template in &WORKER_PUBLISH[..5] {
        worker.check_cannot_publish(&subject(template, other)).await;
        // Neither a part of a name, nor a further token.
        worker.check_cannot_publish(&subject(template, &format!("{name}x"))).await;
        worker.check_cannot_publish(&subject(template, &format!("{name}.x"))).await;
    }
    for subject in [
        "readyok.state.M",
        "readyok.files.x",
        "$KV.READYOK_MATCHES.M",
        &format!("_INBOX.{other}.x"),
        &format!("_INBOX.{name}.x"),
        "_INBOX.owner.x",
        "$JS.API.INFO",
        "$JS.API.STREAM.NAMES",
        "$JS.API.STREAM.LIST",
        "$JS.API.STREAM.INFO.KV_READYOK_MATCHES",
        "$JS.API.STREAM.CREATE.X",
        "$JS.API.STREAM.UPDATE.KV_READYOK_MATCHES",
        "$JS.API.STREAM.PURGE.KV_READYOK_MATCHES",
        "$JS.API.STREAM.DELETE.KV_READYOK_MATCHES",
        "$JS.API.STREAM.MSG.GET.KV_READYOK_MATCHES",
        "$JS.API.STREAM.MSG.DELETE.KV_READYOK_MATCHES",
        "$JS.API.STREAM.SNAPSHOT.KV_READYOK_MATCHES",
        "$JS.API.CONSUMER.CREATE.KV_READYOK_MATCHES",
        "$JS.API.CONSUMER.CREATE.KV_READYOK_MATCHES.x",
        "$JS.API.CONSUMER.DURABLE.CREATE.KV_READYOK_MATCHES.x",
        "$JS.API.CONSUMER.MSG.NEXT.KV_READYOK_MATCHES.x",
        "$JS.API.CONSUMER.DELETE.KV_READYOK_MATCHES.x",
        "$JS.API.DIRECT.GET.KV_READYOK_WORKERS.$KV.READYOK_WORKERS.x",
        "$JS.API.DIRECT.GET.READYOK_RESULTS_M.x",
        "$JS.ACK.KV_READYOK_MATCHES.x.1.1.1.1.0",
        "$JS.FC.KV_READYOK_MATCHES.x",
        "$SYS.REQ.ACCOUNT.PING.CONNZ",
    ] {
        worker.check_cannot_publish(subject).await;
    }
    worker.check_nothing_denied().await;
}

/// Checks that a worker gets answers of the owner, announcements, and stored values.
async fn check_answers(owner: &Connected, worker: &Connected, name: &str) {
    let mut requests = owner.client.subscribe("readyok.take.*.*").await.expect("a connection");
    owner.complete_commands().await;
    let answer = async {
        let request = requests.next().await.expect("a request");
        assert_eq!(request.subject.as_str(), format!("readyok.take.M.{name}"));
        let reply = request.reply.expect("a reply subject");
        assert!(reply.starts_with(&format!("_INBOX.{name}.")), "{reply}");
        owner.client.publish(reply, "job".into()).await.expect("a connection");
        Ok(())
    };
    let request = worker.client.request(format!("readyok.take.M.{name}"), "x".into());
    let (answer, ()) = try_join(request, answer).await.expect("an answer");
    assert_eq!(&*answer.payload, b"job");

    let mut state = worker.client.subscribe("readyok.state.*").await.expect("a connection");
    worker.complete_commands().await;
    owner.publish("readyok.state.M").await;
    let announced = timeout(TIMEOUT, state.next()).await.expect("an announcement in time");
    assert_eq!(announced.expect("an announcement").subject.as_str(), "readyok.state.M");

    for stored in ["KV_READYOK_MATCHES.$KV.READYOK_MATCHES.M", "READYOK_FILES.readyok.files.M"] {
        let get = worker.client.request(format!("$JS.API.DIRECT.GET.{stored}"), "".into());
        assert_eq!(&*get.await.expect("an answer").payload, b"value");
    }
}

#[cfg(unix)]
#[test]
fn a_revoked_worker_is_disconnected_and_can_be_invited_again() {
    let Some(nats) = engine("nats-server") else { return };
    let farm = Farm::init(&[]);
    let server = farm.start(&nats);
    farm.run(&["invite", "box7"]);
    farm.run(&["invite", "box8"]);
    fs::copy(farm.path("box7.creds"), farm.path("old.creds")).expect("space");
    block_on(async {
        let mut revoked = farm.connect("box7.creds", "box7").await.expect("access");
        let mut stays = farm.connect("box8.creds", "box8").await.expect("access");

        let output = farm.run(&["revoke", "box7"]);
        let pid = fs::read_to_string(farm.path("nats-server.pid")).expect("a process id");
        assert!(output.contains(&format!("nats-server (process {})", pid.trim())), "{output}");
        revoked.wait("the end", |event| (event == Event::Disconnected).then_some(())).await;
        farm.check_rejected("old.creds", "box7").await;
        stays.check_nothing_denied().await;

        farm.run(&["invite", "box7"]);
        let mut again = farm.connect("box7.creds", "box7").await.expect("access");
        again.check_nothing_denied().await;
        farm.check_rejected("old.creds", "box7").await;

        // The other worker was never disconnected.
        stays.events.close();
        while let Some(event) = stays.events.recv().await {
            assert_ne!(event, Event::Disconnected);
        }
    });
    // The revocation survives a restart.
    drop(server);
    let _server = farm.start(&nats);
    block_on(async {
        farm.check_rejected("old.creds", "box7").await;
        for name in ["box7", "box8", "owner"] {
            farm.connect(&format!("{name}.creds"), name).await.expect("access");
        }
    });
}

/// Starts a worker with these credentials.
fn start_worker(farm: &Farm, credentials: &str, args: &[&str]) -> Running {
    let mut command = readyok(&farm.dir);
    command.args(["worker", "--queue", &farm.url(), "--allow-any", "--cache"]);
    command.arg(farm.dir.path().join("cache")).arg("--creds").arg(farm.path(credentials));
    let log = fs::File::create(farm.path(credentials).with_extension("log")).expect("a log");
    command.args(args).stdout(Stdio::null()).stderr(log);
    Running(command.spawn().expect("a worker"))
}

#[test]
fn invited_workers_play_a_match_under_their_names() {
    let Some(nats) = engine("nats-server") else { return };
    let farm = Farm::init(&[]);
    let _server = farm.start(&nats);
    farm.run(&["invite", "box7"]);
    farm.run(&["invite", "alice/box1"]);
    let _workers =
        ["box7.creds", "alice-box1.creds"].map(|credentials| start_worker(&farm, credentials, &[]));
    let results = farm.dir.path().join("results.jsonl");
    let owner = farm.path("owner.creds");
    let mut command = readyok(&farm.dir);
    command.args(["match", "narikin", "narikin", "--nodes", "20", "--nodes", "2=30"]);
    command.args(["--rounds", "8", "--no-calibration", "--queue", &farm.url(), "--creds"]);
    let output = run(command.arg(&owner).arg("--results").arg(&results), b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let pairs = Reader::open(&results).expect("results");
    let players: Vec<String> =
        pairs.map(|pair| pair.expect("a pair").worker.expect("a worker").0).collect();
    assert_eq!(players.len(), 8);
    let is_invited = |name: &String| ["box7", "alice/box1"].contains(&name.as_str());
    assert!(players.iter().all(is_invited), "{players:?}");
    let mut command = readyok(&farm.dir);
    command.args(["queue", "list", "--all", "--json", "--queue", &farm.url(), "--creds"]);
    let list = run(command.arg(&owner), b"");
    assert!(list.text().contains("\"has_verified_names\": true"), "{}", list.text());
    // Each worker has played some of the pairs of the other one again.
    let list: serde_json::Value = serde_json::from_str(list.text()).expect("JSON");
    let (audits, control) = (&list[0]["status"]["audits"], &list[0]["control"]);
    assert!(audits["made"].as_u64().is_some_and(|made| made >= 3), "{audits}");
    assert_eq!((&audits["differing"], &audits["not_made"]), (&0.into(), &0.into()), "{audits}");
    assert_eq!(control["excluded"], serde_json::json!([]));
}

/// The speed of the engines is measured on both sides, and games are replayed.
#[test]
fn workers_scale_times_and_replay_games_of_other_owners() {
    let Some(nats) = engine("nats-server") else { return };
    let farm = Farm::init(&[]);
    let _server = farm.start(&nats);
    farm.run(&["invite", "box7"]);
    farm.run(&["invite", "alice/box1"]);
    let credentials = ["box7.creds", "alice-box1.creds"];
    let _workers = credentials.map(|credentials| start_worker(&farm, credentials, &[]));
    let owner = farm.path("owner.creds");
    let mut command = readyok(&farm.dir);
    command.args(["match", "narikin", "narikin", "--tc", "2+0.05", "--rounds", "6"]);
    command.args(["--max-moves", "10", "--queue", &farm.url(), "--creds"]).arg(&owner);
    let output = run(command.arg("--results").arg(farm.path("results.jsonl")), b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let log = |credentials: &str| {
        fs::read_to_string(farm.path(credentials).with_extension("log")).expect("a log")
    };
    let logs = credentials.map(log);
    assert!(logs.iter().any(|log| log.contains(", times × ")), "{logs:?}");
    let mut command = readyok(&farm.dir);
    command.args(["queue", "list", "--all", "--json", "--queue", &farm.url(), "--creds"]);
    let list = run(command.arg(&owner), b"");
    let list: serde_json::Value = serde_json::from_str(list.text()).expect("JSON");
    let (audits, control) = (&list[0]["status"]["audits"], &list[0]["control"]);
    assert!(audits["made"].as_u64().is_some_and(|made| made > 0), "{audits}");
    assert_eq!(control["excluded"], serde_json::json!([]), "{list}");
}

#[test]
fn unusable_credentials_of_a_worker_are_reported() {
    let Some(nats) = engine("nats-server") else { return };
    let farm = Farm::init(&[]);
    let server = farm.start(&nats);
    farm.run(&["invite", "box7"]);
    let worker = |credentials: &str, args: &[&str]| {
        let mut command = readyok(&farm.dir);
        command.args(["worker", "--queue", &farm.url(), "--allow-any", "--creds"]);
        run(command.arg(farm.path(credentials)).args(args), b"")
    };
    worker("owner.creds", &[]).reports(2, "these are the credentials of the owner");
    worker("box7.creds", &["--name", "box8"])
        .reports(2, "--name is `box8`, the credentials are for `box7`");
    worker("missing.creds", &[]).reports(2, "cannot be read");
    let mut revoked = start_worker(&farm, "box7.creds", &[]);
    let log = farm.path("box7.log");
    let has_logged = |text: &str| fs::read_to_string(&log).is_ok_and(|log| log.contains(text));
    wait("the worker does not start", || has_logged("waiting for matches"));
    farm.run(&["revoke", "box7"]);
    // A server that is restarted has read the configuration, also where it gets no signal.
    drop(server);
    let _server = farm.start(&nats);
    assert_eq!(revoked.0.wait().expect("a process").code(), Some(2));
    assert!(has_logged("the server rejects the login"), "{:?}", fs::read_to_string(&log));
    worker("box7.creds", &[]).reports(2, "the server rejects the login");
}

#[test]
fn credentials_of_another_farm_are_rejected() {
    let Some(nats) = engine("nats-server") else { return };
    let [farm, other] = [(); 2].map(|()| Farm::init(&[]));
    other.run(&["invite", "box7"]);
    fs::copy(other.path("box7.creds"), farm.path("box7.creds")).expect("space");
    fs::copy(other.path("owner.creds"), farm.path("other.creds")).expect("space");
    let _server = farm.start(&nats);
    block_on(async {
        farm.check_rejected("box7.creds", "box7").await;
        farm.check_rejected("other.creds", "owner").await;
    });
}

#[test]
fn the_server_uses_tls() {
    let Some(nats) = engine("nats-server") else { return };
    let files = Dir::new();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| files.path().join(name));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ])
        .args(["-days", "2", "-subj", "/CN=readyok test", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let [certificate, key] = [&certificate, &key].map(|path| path.to_str().expect("UTF-8"));
    let farm = Farm::init(&["--tls-cert", certificate, "--tls-key", key]);
    let _server = farm.start(&nats);
    let list = |scheme: &str, args: &[&str]| {
        let queue = format!("{scheme}://127.0.0.1:{}", farm.port);
        let mut command = readyok(&farm.dir);
        command.args(["queue", "list", "--queue", &queue]).args(args);
        run(command.arg("--creds").arg(farm.path("owner.creds")), b"")
    };
    let output = list("tls", &["--tls-ca", certificate]);
    assert_eq!((output.code(), output.text()), (Some(0), "no matches\n"), "{}", output.stderr);
    list("tls", &[]).reports(2, "no queue at");
}

#[test]
fn a_farm_is_not_overwritten() {
    let farm = Farm::init(&[]);
    let names = ["farm.conf", "farm.keys", "owner.creds", "workers.toml"];
    let contents = || names.map(|name| fs::read(farm.path(name)).expect("a file"));
    let before = contents();
    farm.command(&["init", NAME], &[]).reports(2, "exists: choose a directory without a farm");
    assert_eq!(contents(), before);
    // Also a part of a farm.
    for name in &names[1..] {
        fs::remove_file(farm.path(name)).expect("a file");
        farm.command(&["init", NAME], &[]).reports(2, "exists: choose");
    }
    farm.rejects(&["invite", "box7"], "no farm in");
    for [from, to] in [["0.0.0.0", "--listen"], ["1.2.3.4:0", "--listen"], ["none", "--tls-cert"]] {
        let output = farm.command(&["init", "other", to, from], &[]);
        assert_eq!(output.code(), Some(2), "{}", output.stderr);
    }
    let missing = ["--tls-cert", "none.pem", "--tls-key", "none.pem"];
    farm.command(&["init", "other"], &missing).reports(2, "cannot read `none.pem`");
    assert!(!farm.dir.path().join("other").exists());
}

#[test]
fn next_commands_and_a_warning_follow_init() {
    let dir = Dir::new();
    let init = |args: &[&str]| {
        let mut command = readyok(&dir);
        run(command.current_dir(dir.path()).args(["farm", "init"]).args(args), b"")
    };
    let output = init(&["open"]);
    output.reports(0, "connections to this server are not encrypted");
    let farm = dir.path().join("open").display().to_string();
    for command in [
        format!("nats-server -c {farm}/farm.conf\n"),
        format!("readyok farm invite NAME --dir {farm}\n"),
        "readyok worker --queue nats://HOST:4222 --creds NAME.creds …\n".to_owned(),
        format!("readyok match --queue nats://HOST:4222 --creds {farm}/owner.creds …\n"),
    ] {
        let command = command.replace('/', std::path::MAIN_SEPARATOR_STR).replace(":\\\\", "://");
        assert!(output.text().contains(&command), "no `{command}`: {}", output.text());
    }
    let output = init(&["local", "--listen", "[::1]:5000"]);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    assert!(output.text().contains("nats://[::1]:5000"), "{}", output.text());
}

#[test]
fn invitations_are_registered() {
    let farm = Farm::init(&[]);
    assert_eq!(farm.run(&["list"]), "no workers\n");
    farm.run(&["invite", "box7"]);
    farm.run(&["invite", "alice/box7"]);
    let name = |file: &str| {
        name_in_credentials(&fs::read_to_string(farm.path(file)).expect("credentials"))
    };
    assert_eq!(name("box7.creds").as_deref(), Some("box7"));
    assert_eq!(name("alice-box7.creds").as_deref(), Some("alice/box7"));
    assert_eq!(name("owner.creds").as_deref(), Some("owner"));

    let long = "x".repeat(33);
    for name in ["", ".", "a.b", "*", ">", "a b", "/a", "a/", "a/b/c", "{{name()}}", "../a", &long]
    {
        farm.rejects(&["invite", name], "is not the name of a worker");
    }
    farm.rejects(&["invite", "owner"], "is the name of the owner");
    farm.rejects(&["invite", "box7"], "is invited already");
    // Its file would be the same.
    farm.rejects(&["invite", "alice-box7"], "alice-box7.creds` exists");
    let before = fs::read(farm.path("box7.creds")).expect("credentials");
    farm.rejects(&["revoke", "box9"], "`box9` is not invited");

    // No server runs.
    let output = farm.run(&["revoke", "box7"]);
    assert!(output.contains("\n  nats-server --signal "), "{output}");
    // The old credentials are useless, and are replaced.
    farm.run(&["invite", "box7"]);
    assert_ne!(fs::read(farm.path("box7.creds")).expect("credentials"), before);
    let elsewhere = farm.dir.path().join("elsewhere");
    let output = elsewhere.to_str().expect("UTF-8");
    farm.run(&["invite", "alice-box7", "--output", output]);
    farm.rejects(&["invite", "box8", "--output", output], "elsewhere` exists");
    let nowhere = farm.dir.path().join("none/box8");
    let nowhere = nowhere.to_str().expect("UTF-8");
    let output = farm.command(&["invite", "box8", "--output", nowhere], &["--dir", NAME]);
    output.reports(1, "cannot write");

    let list = farm.run(&["list"]);
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "OWNER", "INVITED", "REVOKED"]);
    let expected =
        [("box7", "box7", true), ("alice/box7", "alice", false), ("box7", "box7", false)];
    let last = ("alice-box7", "alice-box7", false);
    let found: Vec<_> = rows[1..].iter().map(|row| (row[0], row[1], row[3] != "–")).collect();
    assert_eq!(found, [&expected[..], &[last]].concat());
    let json: serde_json::Value =
        serde_json::from_str(&farm.run(&["list", "--json"])).expect("JSON");
    assert_eq!((&json[1]["name"], &json[1]["owner"]), (&"alice/box7".into(), &"alice".into()));
}

#[test]
fn other_lines_of_the_configuration_are_kept() {
    let farm = Farm::init(&[]);
    farm.run(&["invite", "box7"]);
    let path = farm.path("farm.conf");
    let text = fs::read_to_string(&path).expect("a configuration");
    fs::write(&path, format!("http: 8222 # monitoring\n{text}# end\n")).expect("space");
    farm.run(&["revoke", "box7"]);
    let changed = fs::read_to_string(&path).expect("a configuration");
    let differing: Vec<_> = text.lines().filter(|line| !changed.contains(line)).collect();
    assert_eq!(differing.len(), 1, "{differing:?}");
    assert!(changed.starts_with("http: 8222 # monitoring\n") && changed.ends_with("# end\n"));
    // A repeated revocation repairs the configuration.
    fs::write(&path, &text).expect("space");
    farm.run(&["revoke", "box7"]);
    assert_ne!(fs::read_to_string(&path).expect("a configuration"), text);
    // Without the token nothing is changed.
    farm.run(&["invite", "box8"]);
    let other = text.lines().filter(|line| !line.starts_with("  ")).collect::<Vec<_>>().join("\n");
    fs::write(&path, &other).expect("space");
    let output = farm.command(&["revoke", "box8"], &["--dir", NAME]);
    output.reports(1, "does not have the token of the account");
    assert_eq!(fs::read_to_string(&path).expect("a configuration"), other);
    assert!(farm.run(&["list"]).lines().last().is_some_and(|line| line.ends_with('–')));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_keys_and_credentials() {
    use std::os::unix::fs::PermissionsExt as _;

    let farm = Farm::init(&[]);
    farm.run(&["invite", "box7"]);
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&farm.path("")), 0o700);
    let files = ["farm.keys", "farm.conf", "owner.creds", "box7.creds", "workers.toml"];
    for file in files {
        assert_eq!(mode(&farm.path(file)), 0o600, "{file}");
    }
    // The server may run as another user.
    crate::program::set_mode(&farm.path("farm.conf"), 0o640);
    farm.run(&["revoke", "box7"]);
    assert_eq!(mode(&farm.path("farm.conf")), 0o640);
    let entries = fs::read_dir(farm.path("")).expect("a directory");
    assert_eq!(entries.count(), files.len(), "temporary files remain");
}

#[test]
fn concurrent_invitations_are_all_registered() {
    let farm = Farm::init(&[]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let farm = &farm;
            scope.spawn(move || farm.run(&["invite", &format!("box{number}")]));
        }
    });
    assert_eq!(farm.run(&["list"]).lines().count(), 1 + 8);
}
