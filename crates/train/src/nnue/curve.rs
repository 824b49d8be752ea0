//! Learning curves.

use std::fmt::Write as _;

/// A point of a learning curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The number of positions of all batches.
    pub positions: u64,
    /// The progress from 0 to 1.
    pub progress: f32,
    /// The learning rate.
    pub rate: f32,
    /// The mean loss of the batches since the last point, each before its step.
    pub training: f64,
    /// The loss on the validation set.
    pub validation: f64,
}

/// The losses of a training run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// The points in order.
    pub points: Vec<Point>,
    /// The loss of the network in the executable on the validation set.
    pub reference: f64,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const MARGIN: f64 = 60.0;
const COLORS: [&str; 3] = ["#4477aa", "#ee6677", "#888888"];

impl Curve {
    /// A table of comma-separated values.
    pub fn csv(&self) -> String {
        let mut text = "positions,rate,training,validation,reference\n".to_owned();
        for Point { positions, rate, training, validation, .. } in &self.points {
            let reference = self.reference;
            let row = format!("{positions},{rate},{training},{validation},{reference}\n");
            text.push_str(&row);
        }
        text
    }

    /// A chart in SVG.
    #[expect(clippy::cast_precision_loss, reason = "coordinates")]
    pub fn svg(&self) -> String {
        let losses = self.points.iter().flat_map(|point| [point.training, point.validation]);
        let losses = losses.chain([self.reference]);
        let (low, high) = losses
            .fold((f64::INFINITY, 0.0_f64), |(low, high), loss| (low.min(loss), high.max(loss)));
        // The first losses would hide all others.
        let high = high.min(2.0 * low).max(1.001 * low);
        let last = self.points.last().map_or(1, |point| point.positions.max(1)) as f64;
        let x = |positions: f64| MARGIN + (WIDTH - 1.5 * MARGIN) * positions / last;
        let y = |loss: f64| {
            let part = (loss.clamp(low, high) - low) / (high - low);
            HEIGHT - MARGIN - (HEIGHT - 1.5 * MARGIN) * part
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let mut line = |points: &[(f64, f64)], color: &str| {
            let points: Vec<_> =
                points.iter().map(|&(at, loss)| format!("{:.1},{:.1}", x(at), y(loss))).collect();
            let points = points.join(" ");
            // Writing to a string does not fail.
            let _ = writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>"
            );
        };
        let series = |of: fn(&Point) -> f64| -> Vec<_> {
            self.points.iter().map(|point| (point.positions as f64, of(point))).collect()
        };
        line(&series(|point| point.training), COLORS[0]);
        line(&series(|point| point.validation), COLORS[1]);
        line(&[(0.0, self.reference), (last, self.reference)], COLORS[2]);
        let names = ["training", "validation", "network in the executable, validation"];
        let mut top = MARGIN / 2.0;
        for (name, color) in names.iter().zip(COLORS) {
            top += 16.0;
            let left = WIDTH / 2.0;
            let _ = writeln!(svg, "<text x=\"{left}\" y=\"{top}\" fill=\"{color}\">{name}</text>");
        }
        for step in 0..=4 {
            let part = f64::from(step) / 4.0;
            let (loss, positions) = (low + (high - low) * part, last * part);
            let (height, bottom) = (y(loss), HEIGHT - MARGIN + 18.0);
            let _ = writeln!(svg, "<text x=\"6\" y=\"{height:.1}\">{loss:.5}</text>");
            let (left, millions) = (x(positions) - 12.0, positions / 1e6);
            let _ = writeln!(svg, "<text x=\"{left:.1}\" y=\"{bottom}\">{millions:.1}</text>");
        }
        let (left, bottom) = (WIDTH / 2.0 - 60.0, HEIGHT - 16.0);
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"{bottom}\">million positions</text>\n</svg>");
        svg
    }
}
