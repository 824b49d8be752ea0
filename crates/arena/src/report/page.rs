//! The page with its tables.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::conditions::MatchConditions;
use crate::plan::{EngineId, EnginePlan, Format};
use crate::report::{EngineSums, Mean, Report, charts};
use crate::stats::{Counts, Estimates, Figure, Sprt, Trinomial, Verdict};
use crate::store::ContentHash;
use crate::takes::Takes;

const STYLE: &str = "
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; } td.text { text-align: left; }
table.facts td { overflow-wrap: anywhere; } select { max-width: 100%; }
pre { overflow-x: auto; border: 1px solid #8884; padding: .5rem; }
#replay { display: flex; gap: 1rem; flex-wrap: wrap; } #board { background: #e8d0aa; color: #000; }
#board td { width: 2.6rem; height: 2.6rem; padding: 0; text-align: center; font-size: 1.8rem; line-height: 1; border: 1px solid #8886; }
#board .dark { background: #b58863; } #board .light { background: #f0d9b5; } #board .last { box-shadow: inset 0 0 0 3px #2a7; }
#board .first { color: #fff; text-shadow: 0 0 2px #000, 0 0 2px #000; } #board .second { color: #000; }
#board.shogi span { color: #000; text-shadow: none; display: inline-block; font-size: 1.4rem; }
#board.shogi .second { transform: rotate(180deg); } #board.shogi .promoted { color: #b00; }
#moves { max-width: 24rem; max-height: 22rem; overflow-y: auto; align-content: start; }
#moves button { border: 0; background: none; color: inherit; padding: .1rem .3rem; font: inherit; }
#moves .book { opacity: .6; } #moves .current { background: #2a74; }
figure { margin: 0; overflow-x: auto; } svg { background: #fff; max-width: 100%; height: auto; }
.swatch { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
.scroll { overflow-x: auto; }
.legend span { margin-right: 1rem; } h1, td.text, th { overflow-wrap: anywhere; }
@media (max-width: 600px) {
  body { margin: 1rem auto; padding: 0 .7rem; } th, td { padding: .2rem .4rem; }
  svg { font-size: 18px; } #board td { width: 2.2rem; height: 2.2rem; }
}
@media print {
  svg, .swatch, #board td { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, h3 { break-after: avoid; } tr, figure, .headed { break-inside: avoid; } .scroll, figure { overflow: visible; }
}
";

pub(super) fn page(report: &Report) -> Markup {
    let plan = report.plan();
    let title = if plan.event.is_empty() { title(&plan.engines) } else { plan.event.clone() };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                p {
                    @if plan.tune.is_some() {
                        "Tuning by SPSA, " (game_name(report)) ". " (report.state.pairs()) " game pairs, each between the "
                        "current values plus and minus a perturbation. The options differ from pair to pair, so the "
                        "results state no strength."
                    } @else {
                        (format_name(plan.format)) ", " (game_name(report)) ". " (report.state.games()) " games."
                    }
                    @match report.state.repeated() {
                        0 => {}
                        count => { " " (count) " games repeat an earlier game move by move: they are no independent evidence." }
                    }
                }
                (conditions(report))
                (parameters(report))
                @if plan.tune.is_none() {
                    @if plan.engines.len() == 2 { (head_to_head(report)) }
                    @if let Some(takes) = report.state.takes() { (takes_test(report, takes)) }
                    (standings(report))
                }
                @if plan.engines.len() > 2 { (crosstable(report)) }
                (ends(report))
                @if !report.failures.kept().is_empty() { (failures(report)) }
                (workers(report))
                (time_use(report))
                (by_score(report))
                div.headed {
                    h2 { "Game length" }
                    (chart(charts::lengths(report.lengths.steps())))
                }
                (slowest(report))
                (openings(report))
                (replay(report))
            }
        }
    }
}

fn title(engines: &[EnginePlan]) -> String {
    match engines {
        [one, other] => format!("{} – {}", one.name, other.name),
        engines => format!("{} engines", engines.len()),
    }
}

fn game_name(report: &Report) -> &'static str {
    match report.plan().game {
        readyok_rules::Game::Chess => "chess",
        readyok_rules::Game::Chess960 => "Chess960",
        readyok_rules::Game::Shogi => "shogi",
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::RoundRobin => "Round robin",
        Format::Gauntlet { .. } => "Gauntlet",
        Format::Pyramid => "Pyramid",
        Format::Knockout { .. } => "Knockout",
        Format::Swiss => "Swiss tournament",
        Format::Takes => "Several takes against the first engine",
    }
}

/// The conditions of the match, and the command to repeat it.
fn conditions(report: &Report) -> Markup {
    let plan = report.plan();
    let toml = toml::to_string(plan).unwrap_or_default();
    let parallel = parallel_games(report);
    let concurrency = parallel.map_or(1.0, |parallel| parallel.round().max(1.0));
    let hashes = report.origin.as_ref().map(|origin| &origin.programs);
    let conditions = MatchConditions::new(plan, hashes.unwrap_or(&BTreeMap::new()));
    html! {
        h2 { "Conditions" }
        div.scroll { table {
            tr {
                th { "Engine" } th { "Reported name" } th { "Program" } th { "Limits" } th { "Options" } th { "SHA-256" }
            }
            @for (index, engine) in conditions.engines.iter().enumerate() {
                @let name = report.engines.get(index).map_or("", |sums| sums.info.name.as_str());
                tr {
                    td { (engine_name(report, index)) }
                    td.text { (if name.is_empty() { "–" } else { name }) }
                    td.text { (engine.command) }
                    td.text { (engine.limits_text()) }
                    td.text { (engine.options_text()) }
                    td.text { (short_hash(engine.hash)) }
                }
            }
        } }
        table.facts {
            @for (name, text) in conditions.facts() { (row(name, &text)) }
            @for (engine, file) in conditions.engines.iter().flat_map(|engine| engine.files.iter().map(move |file| (engine, file))) {
                tr {
                    th scope="row" { (file.option) " of " (engine.name) }
                    td.text { (file.path) " " (short_hash(file.hash)) }
                }
            }
            @if let Some(origin) = &report.origin {
                (row(if report.workers.rows().is_empty() { "Machine" } else { "Coordinator" }, &origin.machine()))
                (row("Readyok", &origin.version))
            }
            @if let Some((from, to)) = report.period { (row("Played", &format!("{} to {}", date(from), date(to)))) }
            @if let Some(parallel) = parallel { (row("Parallel games", &format!("{parallel:.1} on average"))) }
        }
        details {
            summary { @if plan.tune.is_some() { "Plan of this tuning" } @else { "Repeat this match" } }
            @if plan.tune.is_none() {
                p { "Save the plan as " code { "match.toml" } ". The programs, openings and networks must be the same." }
                pre { code { (format!("readyok match --plan match.toml --concurrency {concurrency}")) } }
            }
            pre { code { (toml) } }
        }
    }
}

/// The first digits of a hash.
fn short_hash(hash: Option<ContentHash>) -> Markup {
    html! {
        @if let Some(hash) = hash { code { (hash.to_string().get(..12).unwrap_or_default()) } } @else { "–" }
    }
}

/// The mean number of games at the same time.
fn parallel_games(report: &Report) -> Option<f64> {
    let (first, last) = report.period?;
    let length = last.checked_sub(first).filter(|length| *length > 0)?;
    Some(charts::float(report.duration_ms) / charts::float(length))
}

/// The time in UTC, to the minute.
fn date(millis: u64) -> String {
    let time = i64::try_from(millis).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| "?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

fn chart(svg: String) -> Markup {
    html! { figure { (PreEscaped(svg)) } }
}

fn head_to_head(report: &Report) -> Markup {
    let counts = report.state.head_to_head();
    let counts = counts.unwrap_or_else(|| Counts::Games(Trinomial::default()));
    let figures = Estimates::of(&counts);
    let games = Estimates::of(&Counts::Games(counts.single_games().unwrap_or_default()));
    let points = report.state.curve();
    html! {
        div.headed {
            h2 { "Strength" }
            table.facts {
                (row("Elo", &format!("{:.2}", figures.elo)))
                (row("Normalized Elo", &format!("{:.2}", figures.normalized_elo)))
                (row("Likelihood of superiority", &percent(figures.los)))
                (row("Draws", &percent(games.draw_ratio)))
                @if let Counts::Pairs(_) = &counts { (row("Even pairs", &percent(figures.draw_ratio))) }
                @if let Counts::Pairs(pairs) = &counts {
                    (row("Pairs (0, ½, 1, 1½, 2)", &format!("{:?}", pairs.five())))
                }
                @if let Some(sprt) = report.state.sprt() { (test_rows(sprt, &counts)) }
            }
            @if points.iter().any(|point| point.elo_and_error().is_some()) {
                (chart(charts::elo(&points)))
            } @else if !points.is_empty() {
                p { "Elo is not defined while one engine has won all games or too few were played. The curve is the score." }
                (chart(charts::score_curve(&points)))
            }
        }
        @if let Some(sprt) = report.state.sprt() {
            div.headed {
                h2 { "Sequential test" }
                (chart(charts::llr(&points, sprt.lower(), sprt.upper())))
            }
        }
    }
}

/// The test of several takes.
fn takes_test(report: &Report, takes: &Takes) -> Markup {
    let status = takes.status();
    let points = report.state.takes_curve();
    html! {
        h2 { "Takes" }
        p { (takes_sentence(report, takes)) }
        div.scroll { table {
            tr { th { "Take" } th { "Pairs" } th { "Elo against the first engine" } th { "LLR" } th { "Verdict" } }
            @for take in &status.takes {
                tr {
                    td { (engine_name(report, take.engine.index())) }
                    td { (take.pairs) }
                    td { (format!("{:.2}", Estimates::of(&report.state.take_counts(take.engine)).elo)) }
                    td { (format!("{:.2}", take.llr)) }
                    td.text { (take_verdict(take.verdict)) }
                }
            }
        } }
        (chart(charts::takes(&points, status.lower, status.upper)))
    }
}

fn takes_sentence(report: &Report, takes: &Takes) -> String {
    let end = match takes.end() {
        None => "No take is accepted yet".to_owned(),
        Some(None) => "All takes are dropped".to_owned(),
        Some(Some(accepted)) => format!("{} is accepted", report.state.name(accepted)),
    };
    let (upper, lower) = (takes.upper(), takes.lower());
    format!(
        "{end}. A take is accepted at an LLR of {upper:.2} = ln(takes / α), and dropped at {lower:.2} = ln β."
    )
}

fn take_verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Continue => "–",
        Verdict::AcceptH0 => "dropped",
        Verdict::AcceptH1 => "accepted",
    }
}

fn parameters(report: &Report) -> Markup {
    let Some(tune) = report.state.tune() else { return html! {} };
    let status = tune.status();
    html! {
        h2 { "Parameters" }
        p { (status.gain_text()) }
        div.scroll { table {
            tr {
                th { "Option" } th { "Start" } th { "Result" } th { "Average" } th { "Best value (95 %)" } th { "Last value" }
                th { "Min" } th { "Max" } th { "c_end" } th { "r_end" }
            }
            @for (parameter, tuned) in tune.tuner().parameters().iter().zip(&status.parameters) {
                tr {
                    td { (tuned.name) } td { (charts::label(tuned.start)) } td { (tuned.rounded) }
                    td { (tuned.average_text()) } td { (tuned.interval()) } td { (tuned.value_text()) }
                    td { (charts::label(tuned.min)) } td { (charts::label(tuned.max)) }
                    td { (charts::label(parameter.c_end)) } td { (charts::label(parameter.r_end)) }
                }
            }
        } }
        p {
            "The result is the average of the last values, at most over half of the pairs. The interval contains the best "
            "value with a confidence of 95 %. Without bounds the games do not determine it; an average outside is still on its way."
        }
        p {
            span.swatch style=(format!("background: {}", charts::color(0))) {} "value "
            span.swatch style=(format!("background: {}", charts::color(2))) {} "average "
            span.swatch style=(format!("background: {}", charts::color(1))) {} "start "
            span.swatch style=(format!("background: {}; opacity: 0.3", charts::color(2))) {} "best value (95 %)"
        }
        @for (index, tuned) in status.parameters.iter().enumerate() {
            div.headed {
                h3 { (tuned.name) }
                (chart(charts::parameter(tuned, index, &status.curve)))
            }
        }
    }
}

fn test_rows(sprt: &Sprt, counts: &Counts) -> Markup {
    let name = format!("SPRT of {} against {} ({})", sprt.elo0(), sprt.elo1(), sprt.model());
    let status = sprt.status(counts);
    let text = match &status {
        Ok(status) => {
            format!("{:.2} between {:.2} and {:.2}", status.llr, status.lower, status.upper)
        }
        Err(error) => error.to_string(),
    };
    let estimate = sprt.estimate(counts).ok().flatten();
    html! {
        (row(&name, &text))
        @if let Some(estimate) = estimate {
            @let range = format!("{:.2} ({:.2} to {:.2})", estimate.median, estimate.low, estimate.high);
            (row("Elo, corrected for the stopping bias", &range))
        }
    }
}

fn row(name: &str, value: &str) -> Markup {
    html! { tr { th scope="row" { (name) } td.text { (value) } } }
}

fn percent(share: Figure) -> String {
    match share {
        Figure::Number(share) => format!("{:.2} %", share * 100.0),
        other => other.to_string(),
    }
}

fn engine_name(report: &Report, engine: usize) -> Markup {
    let style = format!("background: {}", charts::color(engine));
    let id = u32::try_from(engine).map(EngineId);
    html! {
        span.swatch style=(style) {}
        @if let Ok(id) = id { (report.name(id)) }
    }
}

/// The colors of the engines in a chart.
fn legend(report: &Report) -> Markup {
    html! {
        p.legend {
            @for engine in 0..report.plan().engines.len() { span { (engine_name(report, engine)) } }
        }
    }
}

fn standings(report: &Report) -> Markup {
    let mut rows: Vec<(usize, Counts, Estimates)> = (0..report.plan().engines.len())
        .map(|engine| {
            let counts = report.state.crosstable().total(engine);
            let figures = Estimates::of(&counts);
            (engine, counts, figures)
        })
        .collect();
    let ratings = report.ratings().filter(|_| report.plan().engines.len() > 2);
    let score = |figures: &Estimates| figures.score.number().unwrap_or(0.0);
    rows.sort_by(|(_, _, a), (_, _, b)| score(b).total_cmp(&score(a)));
    html! {
        h2 { "Standings" }
        div.scroll { table {
            tr {
                th { "Engine" } th { "Games" } th { "Points" } th { "Score" }
                th { "Elo" } @if ratings.is_some() { th { "Rating" } } th { "Draws" } th { "Depth" } th { "Nodes/s" }
            }
            @for (engine, counts, figures) in &rows {
                tr {
                    td { (engine_name(report, *engine)) }
                    td { (counts.games()) }
                    td { (half(counts.half_points())) }
                    td { (percent(figures.score)) }
                    td { (format!("{:.1}", figures.elo)) }
                    @if let Some(ratings) = &ratings {
                        td { (format!("{:.1}", ratings.rating(*engine))) }
                    }
                    td { (percent(Estimates::of(&Counts::Games(counts.single_games().unwrap_or_default())).draw_ratio)) }
                    @if let Some(sums) = report.engines.get(*engine) {
                        td { (number(sums.depth.value(), 1)) }
                        td { (number(sums.nps.value(), 0)) }
                    }
                }
            }
        } }
        @if let Some(ratings) = &ratings {
            p {
                "Elo is that of the score against all others; ratings are maximum-likelihood "
                "estimates from all results, with the mean 0. The advantage of the first move is "
                (format!("{:.1}", ratings.first_move())) " Elo."
            }
        }
    }
}

/// Half points as points.
fn half(half_points: u64) -> String {
    let half = if half_points.is_multiple_of(2) { "" } else { "½" };
    match half_points / 2 {
        0 if !half.is_empty() => half.to_owned(),
        points => format!("{points}{half}"),
    }
}

fn number(value: Option<f64>, places: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.places$}"))
}

fn crosstable(report: &Report) -> Markup {
    let engines = 0..report.plan().engines.len();
    html! {
        h2 { "Crosstable" }
        div.scroll { table {
            tr {
                th { "Engine" }
                @for opponent in engines.clone() { th { (opponent + 1) } }
            }
            @for engine in engines.clone() {
                tr {
                    td { (engine + 1) ". " (engine_name(report, engine)) }
                    @for opponent in engines.clone() {
                        @let counts = report.state.crosstable().counts(engine, opponent);
                        td {
                            @if counts.games() > 0 { (half(counts.half_points())) "/" (counts.games()) }
                        }
                    }
                }
            }
        } }
    }
}

fn ends(report: &Report) -> Markup {
    if report.plan().tune.is_some() {
        return tuning_ends(report);
    }
    html! {
        h2 { "Terminations" }
        div.scroll { table {
            tr { th { "Engine" } th { "Termination" } th { "Won" } th { "Drawn" } th { "Lost" } }
            @for (engine, sums) in report.engines.iter().enumerate() {
                @let names = names(sums.ends.keys().map(|(name, _)| name.as_str()));
                @for name in names {
                    @let count = |outcome| sums.ends.get(&(name.to_owned(), outcome)).copied().unwrap_or(0);
                    tr {
                        td { (engine_name(report, engine)) }
                        td { (name) } td { (count(1)) } td { (count(0)) } td { (count(-1)) }
                    }
                }
            }
        } }
    }
}

/// The terminations of a tuning: a score of plus against minus has no meaning.
fn tuning_ends(report: &Report) -> Markup {
    let mut games: BTreeMap<&str, i64> = BTreeMap::new();
    for ((name, outcome), count) in report.engines.iter().flat_map(|sums| &sums.ends) {
        // A decided game is counted by its winner, a drawn one by both players.
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        *games.entry(name).or_default() +=
            count * i64::from(*outcome != -1) * if *outcome == 0 { 1 } else { 2 };
    }
    html! {
        h2 { "Terminations" }
        div.scroll { table {
            tr { th { "Termination" } th { "Games" } }
            @for (name, twice) in games { tr { td { (name) } td { (twice / 2) } } }
        } }
    }
}

fn failures(report: &Report) -> Markup {
    html! {
        h2 { "Failures of engines" }
        div.scroll { table {
            tr { th { "Pairing" } th { "Game" } th { "Engine" } th { "Reason" } }
            @for failure in report.failures.kept() {
                tr {
                    td { (failure.pairing + 1) } td { (failure.game) }
                    td { (report.name(failure.engine)) } td { (failure.what) }
                }
            }
        } }
        @if report.failures.more() > 0 { p { "And " (report.failures.more()) " more." } }
    }
}

/// The workers of a match on a queue.
fn workers(report: &Report) -> Markup {
    let rows = report.workers.rows();
    let is_tuning = report.plan().tune.is_some();
    let others =
        rows.iter().fold(report.state.pairs(), |rest, row| rest.saturating_sub(row.counts.pairs));
    html! {
        @if !rows.is_empty() {
            h2 { "Workers" }
            div.scroll { table {
                tr {
                    th { "Worker" } th { "Pairs" } th { "Games" } @if !is_tuning { th { "Pairs (0, ½, 1, 1½, 2)" } }
                    th { "Losses on time" } th { "Crashes and stalls" } th { "Nodes/s" } th { "Anomalies" }
                }
                @for row in &rows {
                    tr {
                        td { (row.worker) } td { (row.counts.pairs) } td { (row.counts.games) }
                        @if !is_tuning { td { (format!("{:?}", row.counts.pentanomial)) } }
                        td { (row.counts.time_losses) } td { (row.counts.crashes) }
                        td { (number(row.nps, 0)) }
                        td.text { (row.flags.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")) }
                    }
                }
            } }
            @if others > 0 { p { "Without a worker of this list: " (others) " pairs." } }
        }
    }
}

/// The distinct names of a sorted sequence.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names
}

fn time_use(report: &Report) -> Markup {
    let lines = |of: fn(&EngineSums) -> &[Mean]| report.engines.iter().map(of).collect::<Vec<_>>();
    html! {
        div.headed {
            h2 { "Time, depth and nodes by move" }
            (legend(report))
            (chart(charts::by_move("ms", &lines(|sums| &sums.time))))
        }
        (chart(charts::by_move("depth", &lines(|sums| &sums.depths))))
        (chart(charts::by_move("nodes", &lines(|sums| &sums.node_counts))))
        div.scroll { table {
            tr {
                th { "Engine" } th { "Mean (ms)" } th { "Longest (ms)" }
                th { "Latency (ms)" } th { "Nodes" }
            }
            @for (engine, sums) in report.engines.iter().enumerate() {
                tr {
                    td { (engine_name(report, engine)) }
                    td { (number(sums.all_time.value(), 2)) }
                    td { (sums.longest_us / 1000) }
                    td { (number(sums.latency.value(), 2)) }
                    td { (number(sums.nodes.value(), 0)) }
                }
            }
        } }
    }
}

fn slowest(report: &Report) -> Markup {
    html! {
        h2 { "Slowest moves" }
        div.scroll { table {
            tr { th { "Engine" } th { "Time (ms)" } th { "Pairing" } th { "Game" } th { "Ply" } th { "Move" } }
            @for (engine, sums) in report.engines.iter().enumerate() {
                @for slow in sums.slowest.moves() {
                    tr {
                        td { (engine_name(report, engine)) } td { (slow.time_us / 1000) }
                        td { (slow.pairing + 1) } td { (slow.game) } td { (slow.ply) } td { (slow.mv) }
                    }
                }
            }
        } }
    }
}

fn by_score(report: &Report) -> Markup {
    let lines: Vec<Vec<(f64, f64)>> =
        report.engines.iter().map(|sums| sums.by_score.points()).collect();
    html! {
        @if lines.iter().any(|line| line.len() > 1) {
            div.headed {
                h2 { "Score and outcome" }
                p { "The mean result of games in percent by the score that an engine reported. Mates count as the largest score." }
                (legend(report))
                (chart(charts::outcomes(&lines)))
            }
        }
    }
}

/// Maximum number of openings in the table.
const MAX_OPENINGS: usize = 300;

fn openings(report: &Report) -> Markup {
    let (rows, other_games) = report.openings.rows();
    let is_tuning = report.plan().tune.is_some();
    let first = report.plan().engines.first().map_or("", |engine| engine.name.as_str());
    let more = rows.len().saturating_sub(MAX_OPENINGS);
    html! {
        @if rows.len() > 1 {
            h2 { "Openings" }
            details {
                summary { (rows.len()) " openings" }
                div.scroll { table {
                    tr {
                        th { "Opening" } th { "Games" } th { "First player won" } th { "Drawn" } th { "Lost" }
                        @if !is_tuning { th { "Points of " (first) } }
                    }
                    @for sum in rows.iter().take(MAX_OPENINGS) {
                        @let [wins, draws, losses] = sum.results;
                        @let (points, games) = sum.first_engine;
                        tr {
                            td { (sum.name) } td { (sum.games) } td { (wins) } td { (draws) } td { (losses) }
                            @if !is_tuning { td { (half(points)) "/" (games) } }
                        }
                    }
                } }
                @if more > 0 { p { "And " (more) " openings with fewer games." } }
                @if other_games > 0 { p { "And " (other_games) " games of other openings." } }
            }
        }
    }
}

const REPLAY: &str = include_str!("replay.js");

fn replay(report: &Report) -> Markup {
    let count = report.replay.len();
    let is_shogi = report.plan().game == readyok_rules::Game::Shogi;
    html! {
        @if count > 0 {
            h2 { "Games" }
            @if (count as u64) < report.state.games() { p { (count) " of " (report.state.games()) " games." } }
            p { label { "Game " select id="game" {} } }
            p id="players" {}
            div id="replay" tabindex="0" {
                div {
                    p id="hand-second" {}
                    table id="board" class=(if is_shogi { "shogi" } else { "chess" }) {}
                    p id="hand-first" {}
                    p {
                        button type="button" id="to-start" aria-label="start" { "|◀" } " "
                        button type="button" id="back" aria-label="back" { "◀" } " "
                        button type="button" id="forward" aria-label="forward" { "▶" } " "
                        button type="button" id="to-end" aria-label="end" { "▶|" }
                    }
                    p id="info" {}
                }
                div id="moves" {}
            }
            script type="application/json" id="games" { (PreEscaped(report.replay.json(report.plan()))) }
            script { (PreEscaped(REPLAY)) }
        }
    }
}
