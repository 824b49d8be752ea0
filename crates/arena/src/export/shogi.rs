//! Games of shogi as CSA and KIF.

use std::time::Duration;

use jiff::Timestamp;
use readyok_rules::Side;
use readyok_rules::record::{
    self, Evaluation, Format, GameRecord, NodeId, Tag, Termination as End,
};

use crate::pairing::Pairing;
use crate::plan::Plan;
use crate::result::{GameEnd, GameResult, Termination};

/// A game in a format of shogi.
pub(super) fn text(
    format: Format,
    plan: &Plan,
    pairing: &Pairing,
    number: usize,
    game: &GameResult,
) -> Result<String, String> {
    let mut record = GameRecord::new(super::pgn::start(plan, pairing)?);
    headers(&mut record, plan, pairing, number, game);
    let mut last = NodeId::ROOT;
    for word in &pairing.opening.moves {
        last = play(&mut record, word)?;
    }
    for played in &game.moves {
        let side = record.position().turn();
        last = play(&mut record, played.word.as_str())?;
        if let Some(notes) = record.notes_mut(last) {
            notes.elapsed = Some(Duration::from_micros(played.time_us));
            notes.evaluation = played.score.map(|score| Evaluation::by(side, score, played.depth));
        }
    }
    if says_more(&game.termination)
        && let Some(notes) = record.notes_mut(last)
    {
        notes.comments.push(GameEnd::of(plan, game).to_string());
    }
    let end = End::from(&game.termination);
    record.conclude(end, game.termination.result(game.winner));
    let mut out = Vec::new();
    record::write(&record, format, &mut out).map_err(|error| error.to_string())?;
    let mut text = String::from_utf8(out).map_err(|error| error.to_string())?;
    if format == Format::Csa {
        // What separates the games of a file.
        text.push_str("/\n");
    }
    Ok(text)
}

fn headers(
    record: &mut GameRecord,
    plan: &Plan,
    pairing: &Pairing,
    number: usize,
    game: &GameResult,
) {
    let name = |id: crate::plan::EngineId| {
        let engine = usize::try_from(id.0).ok().and_then(|id| plan.engines.get(id));
        engine.map_or("?", |engine| engine.name.as_str())
    };
    for (tag, value) in [(Tag::Event, &plan.event), (Tag::Site, &plan.site)] {
        if !value.is_empty() {
            record.set_header(tag, value.as_str());
        }
    }
    let started = i64::try_from(game.started_ms).ok();
    if let Some(at) = started.and_then(|ms| Timestamp::from_millisecond(ms).ok()) {
        record.set_header(Tag::Date, at.strftime("%Y/%m/%d %H:%M:%S").to_string());
    }
    record.set_header(Tag::Round, format!("{}.{}", pairing.round, number + 1));
    record.set_player(Side::First, name(game.first));
    record.set_player(Side::Second, name(game.second));
}

fn play(record: &mut GameRecord, word: &str) -> Result<NodeId, String> {
    let it = record.position().parse_move(word).map_err(|error| error.to_string())?;
    record.play(it).map_err(|error| error.to_string())
}

/// Whether there is more to say of an end than records have words for.
fn says_more(termination: &Termination) -> bool {
    let is_adjudicated = matches!(
        termination,
        Termination::DrawAdjudication
            | Termination::ResignAdjudication
            | Termination::MateClaim
            | Termination::Tablebase
            | Termination::MoveLimit
    );
    is_adjudicated || termination.is_failure()
}
