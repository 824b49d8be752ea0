//! Engines that are built from commits of a local Git repository: matches on this host and on a farm, and failed builds.
//! Requires `git`, `make` and `READYOK_REAL_ENGINES`; the farm also `nats-server`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::matches_real::Running;
use crate::program::{Dir, Output, readyok, run, start_nats, wait};
use crate::real::engine;

/// An engine repository with a branch for each case. The program is Narikin behind a script.
struct Repository {
    dir: Dir,
}

/// Branches with their Makefiles, and the benches of their commit messages. The program prints 4242 nodes.
const BRANCHES: [(&str, &str, u64); 8] = [
    ("main", "cp engine.sh $(EXE)", 4242),
    ("one", "cp engine.sh $(EXE) # one", 4242),
    ("two", "cp engine.sh $(EXE) # two", 4242),
    ("broken", "@echo engine.c:7: error: expected expression; false", 4242),
    ("other-bench", "cp engine.sh $(EXE)", 1),
    ("endless", "sleep 600", 4242),
    ("large", "dd if=/dev/zero of=large bs=1048576 count=8 2>/dev/null; sleep 600", 4242),
    ("nothing", "true", 4242),
];

impl Repository {
    /// None without the programs.
    fn new() -> Option<Self> {
        engine("git")?;
        engine("make")?;
        let dir = Dir::new();
        let this = Self { dir };
        fs::create_dir(this.path()).expect("a directory");
        this.git(&["init", "--quiet", "--initial-branch=main"]);
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = bench ]; then echo 4242 nodes 100 nps; exit; fi\nexec '{}' engine\n",
            env!("CARGO_BIN_EXE_readyok")
        );
        for (branch, recipe, bench) in BRANCHES {
            if branch != "main" {
                this.git(&["checkout", "--quiet", "-b", branch, "main"]);
            }
            fs::write(this.path().join("engine.sh"), &script).expect("a file");
            fs::write(
                this.path().join("Makefile"),
                format!("all:\n\t{recipe}\n\t-chmod 755 $(EXE)\n"),
            )
            .expect("a file");
            this.git(&["add", "."]);
            this.git(&[
                "commit",
                "--quiet",
                "--allow-empty",
                "-m",
                &format!("Add {branch}\n\nbench: {bench}"),
            ]);
        }
        Some(this)
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("repository")
    }

    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Me", "-c", "user.email=me@example.org"]);
        command.args(["-c", "commit.gpgsign=false"]).args(args).current_dir(self.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = run(&mut command, b"");
        assert_eq!(done.code(), Some(0), "{}", done.stderr);
    }

    /// The engine argument of a branch.
    fn engine(&self, branch: &str) -> String {
        format!("git:{}@{branch}", self.path().display())
    }

    /// A short match on this host.
    fn play(&self, branch: &str, more: &[&str]) -> Output {
        let mut command = readyok(&self.dir);
        command.args(["match", &self.engine(branch), &self.engine("main")]);
        command.args(["--depth", "1", "--max-moves", "4", "--openings", "built-in", "--plain"]);
        command.args(more).current_dir(self.dir.path());
        run(&mut command, b"")
    }
}

#[test]
fn a_match_builds_both_commits_once() {
    let Some(repository) = Repository::new() else { return };
    let first = repository.play("one", &["--rounds", "2"]);
    first.reports(0, "no network");
    assert!(first.text().contains("one \u{2013} main"), "{}", first.text());
    let builds =
        || fs::read_dir(repository.dir.path().join("readyok/builds")).expect("builds").count();
    assert_eq!(builds(), 2, "a program for each commit, and no remains");
    repository.play("one", &[]).reports(0, "");
    assert_eq!(builds(), 2);
}

#[test]
fn failed_builds_state_the_reason_and_the_output() {
    let Some(repository) = Repository::new() else { return };
    repository.play("broken", &[]).reports(1, "engine.c:7: error: expected expression");
    repository.play("other-bench", &[]).reports(1, "the bench is 4242 instead of 1");
    repository.play("endless", &["--build-time", "1"]).reports(1, "did not end within 1 s");
    repository.play("large", &["--build-disk", "1"]).reports(1, "more than 1048576 bytes of disk");
    repository.play("nothing", &[]).reports(1, "the build command made no program `engine`");
    repository.play("one", &["--program", "1=../x"]).reports(2, "`../x` is not a path within");
    repository.play("one", &["--build-directory", "1=src"]).reports(1, "no directory `src`");
    repository
        .play("no-branch", &[])
        .reports(2, "does not have `no-branch`; a branch may have been deleted");
    let work = fs::read_dir(repository.dir.path().join("readyok/builds")).expect("builds");
    let remains =
        work.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(".work"));
    assert_eq!(remains.count(), 0);
}

#[test]
fn a_farm_builds_commits_of_permitted_repositories() {
    let Some(nats) = engine("nats-server") else { return };
    let Some(repository) = Repository::new() else { return };
    let (_server, address) = start_nats(&nats, &repository.dir);
    let worker = |name: &str, permissions: &[&str]| {
        let mut command = readyok(&repository.dir);
        command.args(["worker", "--queue", &address, "--name", name, "--allow-any", "--cache"]);
        command.arg(repository.dir.path().join(name)).args(permissions);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("a worker"))
    };
    let path = repository.path();
    let permitted = ["--allow-repository", path.to_str().expect("UTF-8")];
    let _workers = [worker("builds", &permitted), worker("rejects", &[])];
    let start = |branch: &str, event: &str| {
        let mut command = readyok(&repository.dir);
        command.args(["match", &repository.engine(branch), &repository.engine("main")]);
        command.args(["--nodes", "50", "--max-moves", "4", "--openings", "built-in", "--plain"]);
        command.args(["--queue", &address, "--event", event, "--rounds", "4"]);
        command.args(["--results", &format!("{event}.jsonl")]).current_dir(repository.dir.path());
        Running(command.spawn().expect("a match"))
    };
    let mut broken = start("broken", "bad");
    let show = || {
        let mut command = readyok(&repository.dir);
        run(command.args(["queue", "show", "bad", "--queue", &address]), b"")
    };
    let shown = || String::from_utf8_lossy(&show().stdout).into_owned();
    // The other worker does not build at all.
    wait("the failures", || {
        let text = shown();
        text.contains("engine.c:7: error") && text.contains("are not allowed here")
    });
    let text = shown();
    assert!(text.contains("the engine `broken` cannot be built"), "{text}");
    // The failed build does not harm the other match.
    let status = start("two", "good").0.wait().expect("the end");
    assert!(status.success(), "{status}");
    broken.0.kill().expect("a running match");
}
