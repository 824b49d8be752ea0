//! The page, with its charts as SVG and its tables.

use std::fmt;
use std::fmt::{Display, Write as _};
use std::ops::Range;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::plan::{EngineId, EnginePlan, Format};
use crate::report::{Lengths, Mean, Point, Report};
use crate::stats::{Counts, Figure, Figures, Sprt};
use crate::tune::Parameter;

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
                (parameters(report))
                @if plan.engines.len() == 2 { (head_to_head(report)) }
                (standings(report))
                @if plan.engines.len() > 2 { (crosstable(report)) }
                (ends(report))
                @if !report.failures.kept().is_empty() { (failures(report)) }
                (workers(report))
                (time_use(report))
                h2 { "Game length" }
                (chart(lengths(report.lengths.steps())))
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
        (chart(elo(&points)))
        @if let Some(sprt) = &report.sprt {
            h2 { "Sequential test" }
            (chart(llr(&points, sprt.lower(), sprt.upper())))
        }
    }
}

fn parameters(report: &Report) -> Markup {
    let Some(tuner) = &report.tuner else { return html! {} };
    let options = tuner.current_options();
    html! {
        h2 { "Parameters" }
        div.scroll { table {
            tr {
                th { "Option" } th { "Start" } th { "Value" } th { "Rounded" }
                th { "Min" } th { "Max" } th { "c_end" } th { "r_end" }
            }
            @for (parameter, value) in tuner.parameters().iter().zip(tuner.values()) {
                tr {
                    td { (parameter.name) } td { (label(parameter.start)) }
                    td { (format!("{value:.3}")) } td { (options.get(&parameter.name).map_or("", String::as_str)) }
                    td { (label(parameter.min)) } td { (label(parameter.max)) }
                    td { (label(parameter.c_end)) } td { (label(parameter.r_end)) }
                }
            }
        } }
        @for (index, parameter) in tuner.parameters().iter().enumerate() {
            h3 { (parameter.name) }
            (chart(parameter_chart(parameter, &report.values.points(index))))
        }
    }
}

/// The values of an option by number of pairs, within the visited part of its range.
fn parameter_chart(parameter: &Parameter, points: &[(u64, f64)]) -> String {
    let start = [(0.0, parameter.start)];
    let known: Vec<(f64, f64)> = start
        .into_iter()
        .chain(points.iter().map(|&(pairs, value)| (float(pairs), value)))
        .collect();
    let values = || known.iter().map(|&(_, value)| value);
    let low = values().fold(f64::INFINITY, f64::min) - parameter.c_end;
    let high = values().fold(f64::NEG_INFINITY, f64::max) + parameter.c_end;
    let last = known.last().map_or(1.0, |&(pairs, _)| pairs.max(1.0));
    let mut chart = Chart::new("game pairs", "value", 0.0..last, low..high);
    chart.line([(0.0, parameter.start), (last, parameter.start)], color(1), 1);
    chart.line(known, color(0), 2);
    chart.finish()
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
    html! { tr { th scope="row" { (name) } td { (value) } } }
}

fn percent(share: Figure) -> String {
    match share {
        Figure::Number(share) => format!("{:.2} %", share * 100.0),
        other => other.to_string(),
    }
}

fn engine_name(report: &Report, engine: usize) -> Markup {
    let style = format!("background: {}", color(engine));
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
                p { "And " (report.workers.more()) " pairings of other workers." }
            }
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
    let lines: Vec<&[Mean]> = report.engines.iter().map(|sums| sums.time.as_slice()).collect();
    html! {
        h2 { "Time usage" }
        (chart(time(&lines)))
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

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = HEIGHT - 44.0;

/// Roughly the number of grid lines in one direction.
const GRID_LINES: f64 = 8.0;

#[derive(Clone, Copy)]
struct Color(u8, u8, u8);

impl Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rgb({},{},{})", self.0, self.1, self.2)
    }
}

/// Colors of engines that color-blind readers can distinguish (Okabe and Ito).
const COLORS: [Color; 8] = [
    Color(0, 114, 178),
    Color(213, 94, 0),
    Color(0, 158, 115),
    Color(204, 121, 167),
    Color(230, 159, 0),
    Color(86, 180, 233),
    Color(240, 228, 66),
    Color(0, 0, 0),
];

/// The color of an engine.
fn color(engine: usize) -> Color {
    COLORS.get(engine % COLORS.len()).copied().unwrap_or(Color(0, 0, 0))
}

/// Elo by number of games, with its error as a band.
pub(super) fn elo(points: &[Point]) -> String {
    let known: Vec<(f64, f64, f64)> = points
        .iter()
        .filter_map(|point| point.elo.map(|(elo, error)| (games(point), elo, error)))
        .collect();
    // The large errors of the first games would flatten the rest.
    let stable = known.get(known.len() / 10..).unwrap_or_default();
    let low = stable.iter().map(|(_, elo, error)| elo - error).fold(-5.0, f64::min);
    let high = stable.iter().map(|(_, elo, error)| elo + error).fold(5.0, f64::max);
    let last = known.last().map_or(1.0, |(games, ..)| *games);
    let mut chart = Chart::new("games", "Elo", 0.0..last, low..high);
    let upper = known.iter().map(|&(x, elo, error)| (x, elo + error));
    let lower = known.iter().rev().map(|&(x, elo, error)| (x, elo - error));
    chart.band(upper.chain(lower), color(0));
    chart.line(known.iter().map(|&(x, elo, _)| (x, elo)), color(0), 2);
    chart.finish()
}

/// The log-likelihood ratio by number of games, between its bounds.
pub(super) fn llr(points: &[Point], lower: f64, upper: f64) -> String {
    let known: Vec<(f64, f64)> =
        points.iter().filter_map(|point| point.llr.map(|llr| (games(point), llr))).collect();
    let low = known.iter().map(|&(_, llr)| llr).fold(lower, f64::min) - 0.3;
    let high = known.iter().map(|&(_, llr)| llr).fold(upper, f64::max) + 0.3;
    let last = known.last().map_or(1.0, |&(games, _)| games);
    let mut chart = Chart::new("games", "LLR", 0.0..last, low..high);
    for (bound, color) in [(lower, color(1)), (upper, color(2))] {
        chart.line([(0.0, bound), (last, bound)], color, 1);
    }
    chart.line(known, color(0), 2);
    chart.finish()
}

/// The mean time of each engine by move number, in milliseconds.
pub(super) fn time(engines: &[&[Mean]]) -> String {
    let lines: Vec<Vec<(f64, f64)>> = engines
        .iter()
        .map(|means| {
            let values = means.iter().map(|mean| mean.value());
            (1_u32..).zip(values).filter_map(|(x, y)| Some((f64::from(x), y?))).collect()
        })
        .collect();
    let all = || lines.iter().flatten();
    let last = all().map(|&(x, _)| x).fold(2.0, f64::max);
    let high = all().map(|&(_, y)| y).fold(f64::MIN_POSITIVE, f64::max);
    let mut chart = Chart::new("move after the opening", "ms", 1.0..last, 0.0..high * 1.05);
    for (engine, line) in lines.into_iter().enumerate() {
        chart.line(line, color(engine), 2);
    }
    chart.finish()
}

/// Number of games by length.
pub(super) fn lengths(counts: &[u64]) -> String {
    let step = float(Lengths::STEP as u64);
    let bars: Vec<(f64, f64)> = (0_u32..)
        .zip(counts)
        .map(|(index, &count)| (f64::from(index) * step, float(count)))
        .collect();
    let last = bars.last().map_or(step, |&(from, _)| from + step);
    let high = bars.iter().map(|&(_, count)| count).fold(1.0, f64::max);
    let mut chart = Chart::new("plies", "games", 0.0..last, 0.0..high * 1.05);
    for (from, count) in bars {
        chart.bar(from..from + step * 0.9, count, color(0));
    }
    chart.finish()
}

fn games(point: &Point) -> f64 {
    float(point.games)
}

#[expect(clippy::cast_precision_loss, reason = "no chart shows the difference")]
fn float(count: u64) -> f64 {
    count as f64
}

/// An SVG text with axes, to which series are added.
struct Chart {
    svg: String,
    x: Range<f64>,
    y: Range<f64>,
}

impl Chart {
    fn new(x_name: &str, y_name: &str, x: Range<f64>, y: Range<f64>) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">"
        );
        let mut chart = Self { svg, x, y };
        for tick in ticks(&chart.x) {
            let x = chart.x(tick);
            chart.grid_line((x, TOP), (x, BOTTOM));
            chart.text((x, BOTTOM + 16.0), "middle", &label(tick));
        }
        for tick in ticks(&chart.y) {
            let y = chart.y(tick);
            chart.grid_line((LEFT, y), (RIGHT, y));
            chart.text((LEFT - 6.0, y + 4.0), "end", &label(tick));
        }
        chart.text((LEFT.midpoint(RIGHT), HEIGHT - 8.0), "middle", x_name);
        chart.add(format_args!(
            "<text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{y_name}</text>",
            TOP.midpoint(BOTTOM)
        ));
        chart.add(format_args!(
            "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#000\"/>"
        ));
        chart
    }

    fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, color: Color, width: u8) {
        let points = self.points(points);
        self.add(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>"
        ));
    }

    fn band(&mut self, outline: impl IntoIterator<Item = (f64, f64)>, color: Color) {
        let points = self.points(outline);
        self.add(format_args!(
            "<polygon points=\"{points}\" fill=\"{color}\" fill-opacity=\"0.2\"/>"
        ));
    }

    /// A bar from zero.
    fn bar(&mut self, x: Range<f64>, value: f64, color: Color) {
        let (left, right, top) = (self.x(x.start), self.x(x.end), self.y(value));
        let (width, height) = (right - left, self.y(0.0) - top);
        self.add(format_args!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{color}\"/>"
        ));
    }

    fn finish(mut self) -> String {
        self.svg.push_str("</svg>");
        self.svg
    }

    fn grid_line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!("<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#ddd\"/>"));
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    fn points(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut text = String::new();
        for (x, y) in points {
            let y = y.clamp(self.y.start, self.y.end);
            let _ = write!(text, "{:.1},{:.1} ", self.x(x), self.y(y));
        }
        text
    }

    fn add(&mut self, element: fmt::Arguments<'_>) {
        let _ = self.svg.write_fmt(element);
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * share(value, &self.x)
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM + (TOP - BOTTOM) * share(value, &self.y)
    }
}

fn share(value: f64, range: &Range<f64>) -> f64 {
    (value - range.start) / (range.end - range.start).max(f64::MIN_POSITIVE)
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn ticks(range: &Range<f64>) -> impl Iterator<Item = f64> + use<> {
    let rough = ((range.end - range.start) / GRID_LINES).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0];
    let step = factors.into_iter().map(|it| it * power).find(|&it| rough <= it);
    let step = step.unwrap_or(10.0 * power);
    // Ends of the range may be rounded.
    let (first, end) = ((range.start / step - 1e-9).ceil(), range.end + step * 1e-9);
    (0_u32..).map(move |index| (first + f64::from(index)) * step).take_while(move |&it| it <= end)
}

fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_range() {
        let labels = |range| ticks(&range).map(label).collect::<Vec<_>>();
        assert_eq!(labels(0.0..10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-0.3..0.35), ["-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(0.0..0.0), ["0"]);
        assert_eq!(labels(90.0..2000.0), ["500", "1000", "1500", "2000"]);
    }

    #[test]
    fn values_out_of_range_are_clamped() {
        let mut chart = Chart::new("x", "y", 0.0..1.0, 0.0..1.0);
        chart.line([(0.0, -9.0), (1.0, 9.0)], color(0), 2);
        let svg = chart.finish();
        assert!(svg.contains("points=\"64.0,256.0 852.0,8.0 \""), "{svg}");
    }
}
