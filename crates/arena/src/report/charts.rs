//! Charts of the report, as SVG.

use std::fmt;
use std::fmt::{Display, Write as _};
use std::ops::Range;

use crate::match_state::Point;
use crate::report::{Lengths, Mean, ScoreBins};
use crate::takes::TakesPoint;
use crate::tune::{TunePoint, TunedParameter};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
// Space for half of the last label.
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = HEIGHT - 44.0;

/// Roughly the number of grid lines in one direction.
const GRID_LINES: f64 = 8.0;

#[derive(Clone, Copy)]
pub(super) struct Color(u8, u8, u8);

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
pub(super) fn color(engine: usize) -> Color {
    COLORS.get(engine % COLORS.len()).copied().unwrap_or(Color(0, 0, 0))
}

/// Elo by number of games, with its error as a band.
pub(super) fn elo(points: &[Point]) -> String {
    let known: Vec<(f64, f64, f64)> = points
        .iter()
        .filter_map(|point| point.elo_and_error().map(|(elo, error)| (games(point), elo, error)))
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

/// The log-likelihood ratios of several takes by number of pairs, between the bounds.
pub(super) fn takes(points: &[TakesPoint], lower: f64, upper: f64) -> String {
    let all = || points.iter().flat_map(|point| point.llr.iter().copied());
    let (low, high) = (all().fold(lower, f64::min) - 0.3, all().fold(upper, f64::max) + 0.3);
    let last = points.last().map_or(1.0, |point| float(point.pairs));
    let mut chart = Chart::new("game pairs", "LLR", 0.0..last, low..high);
    for bound in [lower, upper] {
        chart.line([(0.0, bound), (last, bound)], color(0), 1);
    }
    for take in 0..points.first().map_or(0, |point| point.llr.len()) {
        let values =
            points.iter().filter_map(|point| Some((float(point.pairs), *point.llr.get(take)?)));
        // The colors of the engines, of which the first is the base.
        chart.line(values, color(take + 1), 2);
    }
    chart.finish()
}

/// The score in percent by number of games.
pub(super) fn score_curve(points: &[Point]) -> String {
    let known: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|point| point.score.map(|score| (games(point), 100.0 * score)))
        .collect();
    let last = known.last().map_or(1.0, |&(games, _)| games);
    let mut chart = Chart::new("games", "score in %", 0.0..last, 0.0..100.0);
    chart.line([(0.0, 50.0), (last, 50.0)], color(1), 1);
    chart.line(known, color(0), 2);
    chart.finish()
}

/// The mean result of games in percent by score, for each engine.
pub(super) fn outcomes(engines: &[Vec<(f64, f64)>]) -> String {
    let side = f64::from(ScoreBins::STEP) * float(ScoreBins::SIDE as u64);
    let mut chart = Chart::new("score in centipawns", "result in %", -side..side, 0.0..100.0);
    for (engine, line) in engines.iter().enumerate() {
        chart.line(line.iter().map(|&(score, points)| (score, 100.0 * points)), color(engine), 2);
    }
    chart.finish()
}

/// The mean of a value of each engine by move number.
pub(super) fn by_move(name: &str, engines: &[&[Mean]]) -> String {
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
    let mut chart = Chart::new("move after the opening", name, 1.0..last, 0.0..high * 1.05);
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

/// The values of a parameter and their averages by number of pairs, within the visited part of its range, with the
/// interval of the best value as a band.
pub(super) fn parameter(tuned: &TunedParameter, index: usize, points: &[TunePoint]) -> String {
    let line = |of: fn(&TunePoint) -> &[f64]| -> Vec<(f64, f64)> {
        let known = points.iter().filter_map(|point| Some((point.pairs, *of(point).get(index)?)));
        known.map(|(pairs, value)| (float(pairs), value)).collect()
    };
    let (values, averages) = (line(|point| &point.values), line(|point| &point.averages));
    let known = || values.iter().map(|&(_, value)| value);
    let low = known().fold(tuned.start, f64::min) - tuned.c;
    let high = known().fold(tuned.start, f64::max) + tuned.c;
    let last = values.last().map_or(1.0, |&(pairs, _)| pairs.max(1.0));
    let mut chart = Chart::new("game pairs", "value", 0.0..last, low..high);
    if tuned.low > tuned.min || tuned.high < tuned.max {
        let corners = [(0.0, tuned.low), (last, tuned.low), (last, tuned.high), (0.0, tuned.high)];
        chart.band(corners, color(2));
    }
    chart.line([(0.0, tuned.start), (last, tuned.start)], color(1), 1);
    chart.line(values, color(0), 1);
    chart.line(averages, color(2), 2);
    chart.finish()
}

fn games(point: &Point) -> f64 {
    float(point.games)
}

#[expect(clippy::cast_precision_loss, reason = "no chart shows the difference")]
pub(super) fn float(count: u64) -> f64 {
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
    let step = factors.into_iter().map(|factor| factor * power).find(|&factor| rough <= factor);
    let step = step.unwrap_or(10.0 * power);
    // Ends of the range may be rounded.
    let (first, end) = ((range.start / step - 1e-9).ceil(), range.end + step * 1e-9);
    (0_u32..)
        .map(move |index| (first + f64::from(index)) * step)
        .take_while(move |&tick| tick <= end)
}

pub(super) fn label(value: f64) -> String {
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
        assert!(svg.contains("points=\"64.0,256.0 840.0,8.0 \""), "{svg}");
    }
}
