//! What limits an engine, as fastchess prints it.

use std::time::Duration;

use crate::plan::{Limits, TimeControl};

/// `40/60+0.5`, `0.1/move`, `12 plies` or `5000 nodes`.
pub(super) fn text(limits: &Limits) -> String {
    if let Some(control) = limits.tc {
        return clock(&control);
    }
    let seconds = |millis: u64| Duration::from_millis(millis).as_secs_f64();
    match (limits.byoyomi_ms, limits.move_time_ms, limits.depth, limits.nodes) {
        (Some(byoyomi), ..) => format!("0+{} byoyomi", seconds(byoyomi)),
        (_, Some(time), ..) => format!("{}/move", seconds(time)),
        (.., Some(plies), _) => format!("{plies} plies"),
        (.., Some(nodes)) => format!("{nodes} nodes"),
        (None, None, None, None) => String::new(),
    }
}

fn clock(control: &TimeControl) -> String {
    let whole = TimeControl { increment: Duration::ZERO, ..*control }.to_string();
    if control.increment == Duration::ZERO {
        return whole;
    }
    format!("{whole}+{}", two_digits(control.increment.as_secs_f64()))
}

/// A number as `%.2g` of C writes it, of which increments get no more.
fn two_digits(number: f64) -> String {
    let scientific = format!("{number:.1e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    match usize::try_from(1 - exponent) {
        Ok(places) if exponent >= -4 => shortened(&format!("{number:.places$}")).to_owned(),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", shortened(digits), exponent.abs())
        }
    }
}

/// Without zeros that say nothing.
fn shortened(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::plan::Limits;

    #[test]
    fn increments_have_two_digits() {
        for (control, expected) in [
            ("10+0.1", "10+0.1"),
            ("40/1:02.5+12.5", "40/62.5+12"),
            ("8+0.08", "8+0.08"),
            ("7.843+0.078", "7.843+0.078"),
            ("1+0.125", "1+0.12"),
            ("1+1.999", "1+2"),
            ("1+99.9", "1+1e+02"),
            ("0+0.001", "0+0.001"),
            ("60", "60"),
        ] {
            let limits = Limits { tc: control.parse().ok(), ..Limits::default() };
            assert_eq!(text(&limits), expected);
        }
    }
}
