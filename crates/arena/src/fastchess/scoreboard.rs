//! The scores of a match and the periodic report.

use std::collections::BTreeMap;

use std::time::Duration;

use crate::event::Score;
use crate::plan::{
    EngineId, EnginePlan, GamesPerPairing, Limits, OpeningSource, Plan, TimeControl,
};
use crate::result::EngineInfo;
use crate::stats::cutechess;
use crate::stats::fastchess::{Block, RULE, Setup, ranking};
use crate::stats::{Counts, Pentanomial, Sprt, Trinomial};

use super::options::{Options, OutputFormat};

#[derive(Debug)]
pub(super) struct Scoreboard {
    plan: Plan,
    output: OutputFormat,
    penta: bool,
    sprt: Option<Sprt>,
    scores: BTreeMap<(EngineId, EngineId), Score>,
    engine_infos: BTreeMap<EngineId, EngineInfo>,
}

impl Scoreboard {
    pub(super) fn new(plan: &Plan, options: &Options) -> Self {
        Self {
            plan: plan.clone(),
            output: options.output,
            penta: options.penta,
            sprt: plan.sprt.and_then(|sprt| sprt.test().ok()),
            scores: BTreeMap::new(),
            engine_infos: BTreeMap::new(),
        }
    }

    pub(super) fn sprt(&self) -> Option<&Sprt> {
        self.sprt.as_ref()
    }

    pub(super) fn set_engine_info(&mut self, engine: EngineId, info: &EngineInfo) {
        if *info != EngineInfo::default() {
            self.engine_infos.insert(engine, info.clone());
        }
    }

    pub(super) fn update(&mut self, score: Score) {
        self.scores.insert((score.engine, score.opponent), score);
    }

    /// The score line of the cutechess format.
    pub(super) fn score_line(&self, score: &Score) -> Option<String> {
        let name = |engine: EngineId| {
            let index = usize::try_from(engine.0).ok();
            index.and_then(|index| self.plan.engines.get(index)).map_or("?", |it| &it.name)
        };
        let (first, second) = (name(score.engine), name(score.opponent));
        (self.output == OutputFormat::Cutechess)
            .then(|| cutechess::score_line(first, second, score.games()))
    }

    /// The periodic report.
    pub(super) fn report(&self) -> String {
        match (self.output, self.plan.engines.as_slice()) {
            (OutputFormat::Fastchess, [one, other]) => {
                format!("{RULE}\n{}{RULE}", self.block(one, other))
            }
            (OutputFormat::Fastchess, _) => format!("{RULE}\n{}{RULE}", self.ranking()),
            (OutputFormat::Cutechess, [_, _]) => {
                let games = self.first_score().map(Score::games).unwrap_or_default();
                cutechess::report(games, self.sprt())
            }
            (OutputFormat::Cutechess, _) => without_pairs(&self.ranking()),
        }
    }

    /// The score of the first two engines.
    pub(super) fn first_score(&self) -> Option<&Score> {
        self.scores.get(&(EngineId(0), EngineId(1)))
    }

    fn block(&self, one: &EnginePlan, other: &EnginePlan) -> String {
        let (one_time, other_time) = (limit_text(&one.limits), limit_text(&other.limits));
        let [first, second] = [0, 1].map(|id| self.engine_infos.get(&EngineId(id)));
        let book = match &self.plan.openings.source {
            OpeningSource::File { path, .. } => Some(path.as_str()),
            _ => None,
        };
        let counts = match self.first_score() {
            Some(score) => self.counts(score),
            None => Counts::Games(Trinomial::default()),
        };
        let block = Block {
            first: setup(one, first, &one_time),
            second: setup(other, second, &other_time),
            book,
            counts,
            sprt: self.sprt,
        };
        block.to_string()
    }

    fn counts(&self, score: &Score) -> Counts {
        let pairs = self.penta.then_some(GamesPerPairing::Two);
        let pairs = pairs.and_then(|pairs| score.counts(pairs));
        pairs.unwrap_or_else(|| Counts::Games(score.games()))
    }

    fn ranking(&self) -> String {
        let ids = (0_u32..).zip(&self.plan.engines);
        let rows: Vec<(&str, Counts)> =
            ids.map(|(id, engine)| (engine.name.as_str(), self.total_of(EngineId(id)))).collect();
        ranking(&rows)
    }

    /// The score of an engine against all others.
    fn total_of(&self, engine: EngineId) -> Counts {
        let mut games = Trinomial::default();
        let mut pairs = Pentanomial::default();
        for score in self.scores.values() {
            let (own, reversed) = (score.engine == engine, score.opponent == engine);
            if !own && !reversed {
                continue;
            }
            let these = score.games();
            let these = if own { these } else { these.reversed() };
            games = games.plus(these).unwrap_or(games);
            if let Counts::Pairs(these) = self.counts(score) {
                let these = if own { these } else { these.reversed() };
                pairs = pairs.plus(these).unwrap_or(pairs);
            }
        }
        if self.penta { Counts::Pairs(pairs) } else { Counts::Games(games) }
    }
}

/// The settings of an engine: the reported ones if known, otherwise those of the plan.
fn setup<'a>(engine: &'a EnginePlan, info: Option<&'a EngineInfo>, time: &'a str) -> Setup<'a> {
    if let Some(EngineInfo { threads, hash, .. }) = info {
        let (threads, hash) = (threads.as_deref(), hash.as_deref());
        return Setup { name: &engine.name, time, threads, hash };
    }
    let option = |names: [&str; 2]| {
        let is_one = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let mut options = engine.options.iter();
        options.find(|(name, _)| is_one(name)).map(|(_, value)| value.as_str())
    };
    let (threads, hash) = (option(["Threads", "USI_Threads"]), option(["Hash", "USI_Hash"]));
    Setup { name: &engine.name, time, threads, hash }
}

/// Removes the pentanomial column for the cutechess format.
fn without_pairs(table: &str) -> String {
    let lines = table.lines().map(|line| line.trim_end().trim_end_matches("Ptnml(0-2)").trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

/// The limits of an engine: `40/60+0.5`, `0.1/move`, `12 plies` or `5000 nodes`.
fn limit_text(limits: &Limits) -> String {
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
    let base = TimeControl { increment: Duration::ZERO, ..*control }.to_string();
    if control.increment == Duration::ZERO {
        return base;
    }
    format!("{base}+{}", two_digits(control.increment.as_secs_f64()))
}

/// Formats a number like `%.2g` in C, as fastchess formats increments.
fn two_digits(number: f64) -> String {
    let scientific = format!("{number:.1e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    match usize::try_from(1 - exponent) {
        Ok(places) if exponent >= -4 => trim_zeros(&format!("{number:.places$}")).to_owned(),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trim_zeros(digits), exponent.abs())
        }
    }
}

/// Removes trailing zeros of a decimal fraction.
fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::limit_text;
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
            assert_eq!(limit_text(&limits), expected);
        }
    }
}
