//! The charts, as SVG.

use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;

use super::curve::Point;
use super::engines::Mean;
use super::moves::Lengths;

type Drawn = Result<String, Box<dyn Error>>;

const SIZE: (u32, u32) = (860, 300);
/// The colours of engines, told apart by people who do not see all colours (Okabe and Ito).
pub(super) const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(240, 228, 66),
    RGBColor(0, 0, 0),
];

/// The colour of an engine.
pub(super) fn colour(engine: usize) -> RGBColor {
    COLOURS.get(engine % COLOURS.len()).copied().unwrap_or(BLACK)
}

/// Elo by games, with its error as a band.
pub(super) fn elo(points: &[Point]) -> Drawn {
    let known: Vec<(f64, f64, f64)> = points
        .iter()
        .filter_map(|point| point.elo.map(|(elo, error)| (games(point), elo, error)))
        .collect();
    // The first games say nothing, and their error would flatten all the rest.
    let quiet = known.len() / 10;
    let calm = known.get(quiet..).unwrap_or_default();
    let low = calm.iter().map(|(_, elo, error)| elo - error).fold(-5.0, f64::min);
    let high = calm.iter().map(|(_, elo, error)| elo + error).fold(5.0, f64::max);
    let last = known.last().map_or(1.0, |(games, ..)| *games);
    draw("games", "Elo", 0.0..last, low..high, |chart| {
        let upper = known.iter().map(|&(x, elo, error)| (x, (elo + error).clamp(low, high)));
        let lower = known.iter().rev().map(|&(x, elo, error)| (x, (elo - error).clamp(low, high)));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        chart.draw_series([Polygon::new(band, colour(0).mix(0.2))])?;
        let line = known.iter().map(|&(x, elo, _)| (x, elo.clamp(low, high)));
        chart.draw_series(LineSeries::new(line, colour(0).stroke_width(2)))?;
        Ok(())
    })
}

/// The log-likelihood ratio by games, between its bounds.
pub(super) fn llr(points: &[Point], lower: f64, upper: f64) -> Drawn {
    let known: Vec<(f64, f64)> =
        points.iter().filter_map(|point| point.llr.map(|llr| (games(point), llr))).collect();
    let low = known.iter().map(|&(_, llr)| llr).fold(lower, f64::min) - 0.3;
    let high = known.iter().map(|&(_, llr)| llr).fold(upper, f64::max) + 0.3;
    let last = known.last().map_or(1.0, |&(games, _)| games);
    draw("games", "LLR", 0.0..last, low..high, |chart| {
        for (bound, colour) in [(lower, colour(1)), (upper, colour(2))] {
            chart.draw_series(LineSeries::new([(0.0, bound), (last, bound)], colour))?;
        }
        chart.draw_series(LineSeries::new(known.iter().copied(), colour(0).stroke_width(2)))?;
        Ok(())
    })
}

/// The mean time of each engine by the number of the move, in milliseconds.
pub(super) fn time(engines: &[&[Mean]]) -> Drawn {
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
    draw("move after the opening", "ms", 1.0..last, 0.0..high * 1.05, |chart| {
        for (engine, line) in lines.iter().enumerate() {
            let style = colour(engine).stroke_width(2);
            chart.draw_series(LineSeries::new(line.iter().copied(), style))?;
        }
        Ok(())
    })
}

/// How many games had which length.
pub(super) fn lengths(steps: &[u64]) -> Drawn {
    let step = f64::from(u32::try_from(Lengths::STEP)?);
    let bars: Vec<(f64, f64)> = (0_u32..)
        .zip(steps)
        .map(|(index, &count)| (f64::from(index) * step, float(count)))
        .collect();
    let last = bars.last().map_or(step, |&(from, _)| from + step);
    let high = bars.iter().map(|&(_, count)| count).fold(1.0, f64::max);
    draw("plies", "games", 0.0..last, 0.0..high * 1.05, |chart| {
        chart.draw_series(bars.iter().map(|&(from, count)| {
            Rectangle::new([(from, 0.0), (from + step * 0.9, count)], colour(0).filled())
        }))?;
        Ok(())
    })
}

fn games(point: &Point) -> f64 {
    float(point.games)
}

#[expect(clippy::cast_precision_loss, reason = "no chart shows the difference")]
fn float(count: u64) -> f64 {
    count as f64
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

fn draw(
    x_name: &str,
    y_name: &str,
    x: Range<f64>,
    y: Range<f64>,
    series: impl FnOnce(&mut Chart<'_, '_>) -> Result<(), Box<dyn Error>>,
) -> Drawn {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(x, y)
            .map_err(said)?;
        chart
            .configure_mesh()
            .x_desc(x_name)
            .y_desc(y_name)
            .x_label_formatter(&|&value| plain(value))
            .y_label_formatter(&|&value| plain(value))
            .light_line_style(TRANSPARENT)
            .draw()
            .map_err(said)?;
        series(&mut chart)?;
        root.present().map_err(said)?;
    }
    Ok(svg)
}

fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The errors of a drawing hold borrowed parts of it.
fn said(error: impl Error) -> Box<dyn Error> {
    error.to_string().into()
}
