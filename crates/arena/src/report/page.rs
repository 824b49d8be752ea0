//! The page around the charts and tables.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::plan::{EngineId, EnginePlan, Format};
use crate::stats::{Counts, Figure, Figures, Sprt};

use super::{Report, charts};

const STYLE: &str = "
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 0; overflow-x: auto; } svg { background: #fff; max-width: 100%; height: auto; }
.swatch { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
.scroll { overflow-x: auto; }
";

pub(super) fn page(report: &Report) -> Markup {
    let plan = &report.plan;
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
                    (format_name(plan.format)) ", " (game_name(report)) ". "
                    (report.games) " games."
                }
                @if plan.engines.len() == 2 { (head_to_head(report)) }
                (standings(report))
                @if plan.engines.len() > 2 { (crosstable(report)) }
                (ends(report))
                @if !report.failures.kept().is_empty() { (failures(report)) }
                (workers(report))
                (time_use(report))
                h2 { "Length of the games" }
                (chart(charts::lengths(report.lengths.steps())))
                (slowest(report))
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
    match report.plan.game {
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
    }
}

fn chart(svg: String) -> Markup {
    html! { figure { (PreEscaped(svg)) } }
}

fn head_to_head(report: &Report) -> Markup {
    let counts = report.crosstable.counts(0, 1);
    let figures = Figures::of(&counts);
    let points = report.curve.points();
    html! {
        h2 { "Strength" }
        table {
            (row("Elo", &format!("{:.2}", figures.elo)))
            (row("Normalized Elo", &format!("{:.2}", figures.normalized_elo)))
            (row("Likelihood of superiority", &percent(figures.los)))
            (row("Draws", &percent(figures.draw_ratio)))
            @if let Counts::Pairs(pairs) = &counts {
                (row("Pairs (0, ½, 1, 1½, 2)", &format!("{:?}", pairs.five())))
            }
            @if let Some(sprt) = &report.sprt { (test_rows(sprt, &counts)) }
        }
        (chart(charts::elo(&points)))
        @if let Some(sprt) = &report.sprt {
            h2 { "Sequential test" }
            (chart(charts::llr(&points, sprt.lower(), sprt.upper())))
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
            (row("Strength without the bias of stopping", &range))
        }
    }
}

fn row(name: &str, value: &str) -> Markup {
    html! { tr { th scope="row" { (name) } td { (value) } } }
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

fn standings(report: &Report) -> Markup {
    let mut rows: Vec<(usize, Counts, Figures)> = (0..report.plan.engines.len())
        .map(|engine| {
            let counts = report.crosstable.total(engine);
            let figures = Figures::of(&counts);
            (engine, counts, figures)
        })
        .collect();
    let ratings = report.ratings().filter(|_| report.plan.engines.len() > 2);
    let score = |figures: &Figures| figures.score.number().unwrap_or(0.0);
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
                    td { (percent(figures.draw_ratio)) }
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
    let engines = 0..report.plan.engines.len();
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
                        @let counts = report.crosstable.counts(engine, opponent);
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
    html! {
        h2 { "How games ended" }
        div.scroll { table {
            tr { th { "Engine" } th { "End" } th { "Won" } th { "Drawn" } th { "Lost" } }
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

fn failures(report: &Report) -> Markup {
    html! {
        h2 { "Failures of engines" }
        div.scroll { table {
            tr { th { "Pairing" } th { "Game" } th { "Engine" } th { "What happened" } }
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

fn workers(report: &Report) -> Markup {
    html! {
        @if let Some(rows) = report.workers.rows() {
            h2 { "Workers" }
            div.scroll { table {
                tr {
                    th { "Worker" } th { "Pairings" } th { "Games" } th { "Not started" } th { "Crashes" }
                    th { "No answer" } th { "Illegal moves" } th { "Losses on time" }
                }
                @for (worker, sums) in rows {
                    tr {
                        td { @match worker {
                            Some(worker) => (worker),
                            None => "without a queue",
                        } }
                        td { (sums.pairings) } td { (sums.games) } td { (sums.no_starts) }
                        td { (sums.crashes) } td { (sums.stalls) } td { (sums.illegal) }
                        td { (sums.forfeits) }
                    }
                }
            } }
            @if report.workers.more() > 0 {
                p { "And " (report.workers.more()) " pairings of others." }
            }
        }
    }
}

/// Each name once; they come in order.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names
}

fn time_use(report: &Report) -> Markup {
    let lines: Vec<&[super::engines::Mean]> =
        report.engines.iter().map(|sums| sums.time.as_slice()).collect();
    html! {
        h2 { "Use of time" }
        (chart(charts::time(&lines)))
        div.scroll { table {
            tr {
                th { "Engine" } th { "Mean (ms)" } th { "Longest (ms)" }
                th { "On the way (ms)" } th { "Nodes" }
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
            tr { th { "Time (ms)" } th { "Pairing" } th { "Game" } th { "Ply" } th { "Move" } }
            @for slow in report.slowest.moves() {
                tr {
                    td { (slow.time_us / 1000) }
                    td { (slow.pairing + 1) } td { (slow.game) } td { (slow.ply) } td { (slow.mv.as_str()) }
                }
            }
        } }
    }
}
