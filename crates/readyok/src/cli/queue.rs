//! `readyok queue`: the matches and workers of a NATS server.

use std::fmt::Write as _;
use std::time::Duration;

use readyok_arena::conditions::SourceConditions;
use readyok_arena::queue::nats::{Admin, Connection, QueuedMatch};
use readyok_arena::queue::status::{
    AuditStatus, Control, MatchStatus, Phase, WorkerActivity, WorkerStatus,
};
use readyok_arena::tune::TuneStatus;
use readyok_arena::worker_stats::WorkerRow;
use serde::Serialize;

use crate::cli::worker::{AccessArgs, queue_failure};
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::matches::take_text;
use crate::terminal::{print, printable};

const HELP: &str = "\
A match is named by the start of its ID, or by its name.

Examples:
  readyok queue list --queue nats://10.0.0.1
  readyok queue priority 3fa1 10 --queue nats://10.0.0.1
  readyok queue exclude 3fa1 host-1234 --queue nats://10.0.0.1
  readyok queue workers --json --queue nats://10.0.0.1 --user me \\
      --password-file nats.password";

/// Show and manage the matches and workers of a NATS server
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the matches
    List {
        /// Include finished matches
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        server: Server,
    },
    /// Show a match with its workers and invalid results
    Show(OneMatch),
    /// Stop giving jobs of a match to workers
    Pause(OneMatch),
    /// Give jobs of a paused match to workers again
    Resume(OneMatch),
    /// End a match after the game pairs in progress
    Stop(OneMatch),
    /// Set the priority of a match: workers play matches with a higher one first
    Priority {
        #[arg(value_name = "MATCH")]
        id: String,
        #[arg(value_name = "N", allow_negative_numbers = true)]
        priority: i32,
        #[command(flatten)]
        server: Server,
    },
    /// Limit the workers or the threads of a match, or remove the limits
    Limit {
        #[arg(value_name = "MATCH")]
        id: String,
        #[arg(
            long,
            value_name = "N",
            value_parser = clap::value_parser!(u32).range(1..),
            help = "Maximum number of workers at the same time [default: no limit]"
        )]
        workers: Option<u32>,
        #[arg(
            long,
            value_name = "N",
            value_parser = clap::value_parser!(u32).range(1..),
            help = "Maximum number of threads of all searching engines [default: no limit]"
        )]
        threads: Option<u32>,
        #[command(flatten)]
        server: Server,
    },
    /// Print the plan of a match, which `readyok match --plan` plays on this host
    Plan(OneMatch),
    /// Delete a finished match, or one without a coordinator, with its results on the server
    Remove(OneMatch),
    /// Discard the results of a worker and accept no more; its game pairs are replayed
    Exclude(OneWorker),
    /// Accept results of an excluded worker again
    Include(OneWorker),
    /// List the workers
    Workers {
        #[command(flatten)]
        server: Server,
    },
}

#[derive(Debug, clap::Args)]
struct Server {
    /// Connect to this NATS server
    #[arg(long, value_name = "URL")]
    queue: String,
    #[command(flatten)]
    access: AccessArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct OneMatch {
    #[arg(value_name = "MATCH")]
    id: String,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, clap::Args)]
struct OneWorker {
    #[arg(value_name = "MATCH")]
    id: String,
    #[arg(value_name = "WORKER")]
    worker: String,
    #[command(flatten)]
    server: Server,
}

pub(super) fn run(args: &Args) -> Result<Code, Failure> {
    match &args.command {
        Command::List { all, server } => {
            let admin = server.open()?;
            let matches = if *all { admin.matches() } else { admin.open_matches() };
            let matches = matches.map_err(Failure::failed)?;
            server.print(&matches, || table_of_matches(&matches))?;
        }
        Command::Show(OneMatch { id, server }) => {
            let admin = server.open()?;
            let found = admin.find(id).map_err(Failure::failed)?;
            server.print(&found, || details(&found))?;
        }
        Command::Pause(found) => found.set(|control| control.paused = true)?,
        Command::Resume(found) => found.set(|control| control.paused = false)?,
        Command::Priority { id, priority, server } => {
            set(server, id, |control| control.priority = *priority)?;
        }
        Command::Limit { id, workers, threads, server } => {
            set(server, id, |control| {
                (control.max_workers, control.max_threads) = (*workers, *threads);
            })?;
        }
        Command::Plan(OneMatch { id, server }) => {
            let found = server.open()?.find(id).map_err(Failure::failed)?;
            let toml = toml::to_string(&found.plan).map_err(Failure::failed)?;
            server.print(&found.plan, || toml.clone())?;
        }
        Command::Exclude(OneWorker { id, worker, server }) => {
            set(server, id, |control| {
                control.excluded.insert(worker.clone());
            })?;
        }
        Command::Include(OneWorker { id, worker, server }) => {
            set(server, id, |control| {
                control.excluded.remove(worker);
            })?;
        }
        Command::Stop(OneMatch { id, server }) => {
            let admin = server.open()?;
            let found = admin.find(id).map_err(Failure::failed)?;
            admin.stop(&found).map_err(Failure::failed)?;
        }
        Command::Remove(OneMatch { id, server }) => {
            let admin = server.open()?;
            let found = admin.find(id).map_err(Failure::failed)?;
            admin.remove(&found).map_err(Failure::failed)?;
        }
        Command::Workers { server } => {
            let workers = server.open()?.workers().map_err(Failure::failed)?;
            server.print(&workers, || table_of_workers(&workers))?;
        }
    }
    Ok(Code::Done)
}

/// Changes the settings of a match, and prints them as JSON on request.
fn set(server: &Server, id: &str, change: impl Fn(&mut Control)) -> Result<(), Failure> {
    let admin = server.open()?;
    let found = admin.find(id).map_err(Failure::failed)?;
    let control = admin.set(&found, change).map_err(Failure::failed)?;
    if server.json { server.print(&control, String::new) } else { Ok(()) }
}

impl OneMatch {
    fn set(&self, change: impl Fn(&mut Control)) -> Result<(), Failure> {
        set(&self.server, &self.id, change)
    }
}

impl Server {
    fn open(&self) -> Result<Admin, Failure> {
        let access = self.access.access(self.queue.clone(), &dirs::env)?;
        Ok(Admin::new(&Connection::open(&access).map_err(queue_failure)?))
    }

    fn print<T: Serialize>(&self, value: &T, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json {
            print(&serde_json::to_string_pretty(value).map_err(Failure::failed)?);
        } else {
            print(text().trim_end());
        }
        Ok(())
    }
}

/// The start of an identifier, for display.
pub(super) fn short_id(id: &str) -> String {
    id.chars().take(8).collect()
}

fn phase(found: &QueuedMatch) -> &'static str {
    match found.phase {
        Phase::Running => "running",
        Phase::Paused => "paused",
        Phase::Stopping => "stopping",
        Phase::Orphaned => "no coordinator",
        Phase::Finished => "finished",
    }
}

fn table_of_matches(matches: &[QueuedMatch]) -> String {
    if matches.is_empty() {
        return "no matches".to_owned();
    }
    let mut rows =
        vec![["ID", "STATE", "PRIO", "PAIRS", "W-D-L", "ELO", "LLR", "NAME"].map(str::to_owned)];
    for found in matches {
        let status = &found.status;
        rows.push([
            short_id(&found.id),
            phase(found).to_owned(),
            found.control.priority.to_string(),
            pairs(status, "/"),
            games(status),
            elo(status),
            llr(status),
            printable(&found.name),
        ]);
    }
    aligned(&rows)
}

fn table_of_workers(workers: &[WorkerStatus]) -> String {
    if workers.is_empty() {
        return "no workers".to_owned();
    }
    let head = ["NAME", "STATE", "CORES", "SLOTS", "SPEED", "PAIRS", "UP", "PLAYING"];
    let mut rows = vec![head.map(str::to_owned)];
    for worker in workers {
        let activity = match worker.activity {
            WorkerActivity::Playing => "playing",
            WorkerActivity::Idle => "idle",
            WorkerActivity::Leaving => "leaving",
        };
        let mut playing: Vec<String> = worker
            .playing
            .iter()
            .map(|pair| format!("{}#{}", short_id(&pair.id), pair.pair))
            .collect();
        playing.extend(worker.rejected.iter().map(|rejected| {
            format!("rejects {}: {}", short_id(&printable(&rejected.id)), printable(&rejected.why))
        }));
        rows.push([
            printable(&worker.name),
            activity.to_owned(),
            worker.cores.to_string(),
            worker.slots.to_string(),
            format!("{:.1} M/s", worker.speed / 1e6),
            worker.finished.to_string(),
            // Both times are of the clock of the worker.
            duration(worker.updated_ms.saturating_sub(worker.started_ms)),
            playing.join(" "),
        ]);
    }
    aligned(&rows)
}

/// The limits of workers and threads.
fn limits(control: &Control) -> String {
    let limits = [(control.max_workers, "workers"), (control.max_threads, "threads")];
    let limits = limits.iter().filter_map(|(limit, noun)| Some(format!("{} {noun}", (*limit)?)));
    limits.collect::<Vec<_>>().join(", ")
}

/// The build, the bench and the links of a commit.
fn source_text(conditions: &SourceConditions) -> String {
    let SourceConditions { source, page, difference } = conditions;
    let bench = match source.bench {
        Some(bench) => format!("bench {bench}"),
        None => "bench not verified".to_owned(),
    };
    let commit = if page.is_none() { source.commit.as_str() } else { "" };
    let links = [page.as_deref(), difference.as_deref()].into_iter().flatten();
    let parts = [source.revision.as_str(), commit, &source.build, &bench].into_iter().chain(links);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

/// The number of complete pairs, and of all of them if it is limited.
fn pairs(status: &MatchStatus, of: &str) -> String {
    match status.total {
        0 => status.pairs.to_string(),
        total => format!("{}{of}{total}", status.pairs),
    }
}

fn details(found: &QueuedMatch) -> String {
    let status = &found.status;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<16}{value}");
        }
    };
    line("match", found.id.clone());
    line("name", printable(&found.name));
    line("state", phase(found).to_owned());
    line("coordinator", found.coordinator.as_deref().map(printable).unwrap_or_default());
    line("priority", found.control.priority.to_string());
    line("limits", limits(&found.control));
    for engine in &found.conditions.engines {
        let hash = engine.hash.map(|hash| hash.to_string());
        let hash = hash.as_deref().and_then(|hash| hash.get(..12)).unwrap_or("–");
        let (limits, options) = (engine.limits_text(), engine.options_text());
        let text = format!("{}: {} {hash} {limits} {options}", engine.name, engine.command);
        line("engine", printable(&text));
        if let Some(source) = &engine.source {
            line("", printable(&source_text(source)));
        }
    }
    for (name, value) in found.conditions.facts() {
        line(&name.to_lowercase(), printable(&value));
    }
    let repeat = format!(
        "readyok queue plan {} … > match.toml && readyok match --plan match.toml",
        short_id(&found.id)
    );
    line("repeat", repeat);
    line("pairs", pairs(status, " of "));
    line(
        "games",
        match &status.tune {
            None => format!("{} ({})", status.games, games(status)),
            Some(_) => status.games.to_string(),
        },
    );
    if let Some(score) = status.score_of_two() {
        let [ll, ld, wl, dd, wd, ww] = score.pairs;
        line("pentanomial", format!("{:?}", [ll, ld, wl + dd, wd, ww]));
    }
    if status.tune.is_none() {
        line("Elo", elo(status));
    }
    if let Some(test) = &status.test {
        line("LLR", format!("{:.2} ({:.2}, {:.2})", test.llr, test.lower, test.upper));
    }
    if let Some(takes) = &status.takes {
        line(
            "takes",
            format!("accepted at an LLR of {:.2}, dropped at {:.2}", takes.upper, takes.lower),
        );
        for take in &takes.takes {
            line("", take_text(&printable(found.plan.engine_name(take.engine)), take));
        }
    }
    let rate = status.games_per_minute.filter(|rate| found.coordinator.is_some() && *rate > 0.0);
    if let Some(rate) = rate {
        line("games/min", format!("{rate:.1}"));
        line(
            "remaining",
            status.remaining_games.map(|games| rest(games, rate)).unwrap_or_default(),
        );
    }
    if let Some(end) = &status.end {
        line("end", serde_json::to_string(end).unwrap_or_default());
    }
    let excluded: Vec<String> = found.control.excluded.iter().map(|name| printable(name)).collect();
    line("excluded", excluded.join(" "));
    let counted = |count: u64| if count > 0 { count.to_string() } else { String::new() };
    line("invalid", counted(status.invalid));
    line("skipped", counted(status.skipped));
    line("ignored", counted(status.ignored));
    let has_audits = status.audits != AuditStatus::default();
    line("audits", if has_audits { status.audits.to_string() } else { String::new() });
    if found.coordinator.is_some() && !status.has_verified_names {
        line("workers", "names are not verified: see `readyok farm`".to_owned());
    }
    if let Some(tune) = &status.tune {
        text.push('\n');
        text.push_str(&table_of_parameters(tune));
        text.push_str(&tune.gain_text());
        text.push('\n');
    }
    if !status.workers.is_empty() {
        text.push('\n');
        text.push_str(&table_of_rows(&status.workers, status.tune.is_some()));
    }
    for entry in &status.quarantine {
        let (worker, why) = (printable(&entry.worker.0), printable(&entry.why));
        let _ = writeln!(text, "invalid result of {worker}, pair {}: {why}", entry.index);
    }
    for failed in &status.failed_builds {
        let (worker, engine) = (printable(&failed.worker.0), printable(&failed.engine));
        let _ = writeln!(text, "failed build of {engine} on {worker}: {}", printable(&failed.why));
        for line in failed.output.lines() {
            let _ = writeln!(text, "  {}", printable(line));
        }
    }
    for warning in &status.warnings {
        let _ = writeln!(text, "warning: {}", printable(warning));
    }
    text
}

fn table_of_parameters(tune: &TuneStatus) -> String {
    let head = ["OPTION", "START", "RESULT", "AVERAGE", "BEST VALUE (95 %)", "LAST", "RANGE"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(tune.parameters.iter().map(|tuned| {
        [
            printable(&tuned.name),
            printable(&tuned.rounded_start),
            printable(&tuned.rounded),
            tuned.average_text(),
            tuned.interval(),
            tuned.value_text(),
            format!("{} to {}", tuned.min, tuned.max),
        ]
    }));
    aligned(&rows)
}

fn table_of_rows(workers: &[WorkerRow], is_tuning: bool) -> String {
    let head =
        ["WORKER", "PAIRS", "PENTANOMIAL", "TIME LOSSES", "CRASHES", "INVALID", "NPS", "FLAGS"];
    let mut rows = vec![head.map(str::to_owned)];
    for row in workers {
        let flags: Vec<String> = row.flags.iter().map(ToString::to_string).collect();
        rows.push([
            printable(&row.worker.0),
            row.counts.pairs.to_string(),
            // Plus and minus have other options in each pair.
            if is_tuning { "–".to_owned() } else { format!("{:?}", row.counts.pentanomial) },
            row.counts.time_losses.to_string(),
            row.counts.crashes.to_string(),
            row.counts.invalid.to_string(),
            row.nps.map_or_else(|| "–".to_owned(), |nps| format!("{nps:.0}")),
            flags.join(", "),
        ]);
    }
    aligned(&rows)
}

fn games(status: &MatchStatus) -> String {
    status.score_of_two().map_or_else(
        || "–".to_owned(),
        |score| format!("{}-{}-{}", score.wins, score.draws, score.losses),
    )
}

fn elo(status: &MatchStatus) -> String {
    // A zero has no sign.
    let number = |elo: f64| format!("{:.1}", (10.0 * elo).round() / 10.0 + 0.0);
    match status.elo.map(|rating| (rating.elo, rating.error)) {
        Some((Some(elo), Some(error))) => format!("{} ± {error:.1}", number(elo)),
        Some((Some(elo), None)) => number(elo),
        _ => "–".to_owned(),
    }
}

fn llr(status: &MatchStatus) -> String {
    status.test.map_or_else(|| "–".to_owned(), |test| format!("{:.2}", test.llr))
}

/// The duration of games at a rate per minute; empty if it is not known.
#[expect(clippy::cast_precision_loss, reason = "a duration to the minute")]
fn rest(games: u64, per_minute: f64) -> String {
    let time = Duration::try_from_secs_f64(60.0 * games as f64 / per_minute).ok();
    let millis = time.and_then(|time| u64::try_from(time.as_millis()).ok());
    millis.map(duration).unwrap_or_default()
}

fn duration(ms: u64) -> String {
    let minutes = ms / 60_000;
    match (minutes / (24 * 60), minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes:02} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// Aligns the columns of a table.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uptime_of_a_worker_depends_on_its_own_clock_only() {
        let hour_ms = 3_600_000;
        let worker = format!(
            r#"{{"name":"w","host":"h","version":"1","system":"x","cores":1,"slots":1,"speed":1e6,"started_ms":{},
                "updated_ms":{},"activity":"idle","playing":[],"finished":0,"rejected":[]}}"#,
            hour_ms,
            3 * hour_ms
        );
        let worker: WorkerStatus = serde_json::from_str(&worker).expect("a worker");
        let table = table_of_workers(&[worker]);
        assert!(table.contains(" 2 h 00 min"), "{table}");
    }
}
