//! The output of an analysed position: a JSON line, or an annotated EPD.

use readyok_client::{GameStage, SearchResult, WinModel};
use readyok_protocol::{MoveList, Score};
use readyok_rules::judgement::game_stage;
use readyok_rules::{Epd, EpdError, FenForm, Game, Move, Notation, Operation, Position};
use serde::Serialize;

use super::MoveFormatter;
use super::input::Item;
use super::search::{Analysed, Outcome, Solution};
use super::suite::Judgement;
use super::view::{BestMoveRecord, InfoRecord};

/// How results are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) is_epd: bool,
    pub(crate) notation: Notation,
    /// Adds winning chances by this model.
    pub(crate) model: Option<WinModel>,
}

/// A JSON line, see `docs/readyok.md`. Missing values are omitted.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "position")]
struct Record<'a> {
    index: u64,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ply: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sfen: Option<String>,
    engine: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_name: Option<&'a str>,
    #[serde(flatten)]
    best: Option<BestMoveRecord>,
    #[serde(flatten)]
    info: Option<InfoRecord>,
    #[serde(flatten)]
    chances: Option<Chances>,
    /// The variations, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variations: Vec<InfoRecord>,
    #[serde(flatten)]
    judgement: &'a Judgement,
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<&'a Solution>,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Winning chances from the point of view of the side to move.
#[derive(Debug, Serialize)]
struct Chances {
    win_percentage: f64,
    expected_score: f64,
}

impl Chances {
    fn of(model: WinModel, score: Score, stage: GameStage) -> Self {
        let rounded = |value: f64| (value * 10_000.0).round() / 10_000.0;
        Self {
            win_percentage: rounded(model.win_percentage(score, stage)),
            expected_score: rounded(model.expected_score(score, stage)),
        }
    }
}

impl Form {
    /// The line of a position and an engine.
    ///
    /// # Errors
    /// The EPD cannot be written.
    pub(super) fn line(
        self,
        item: &Item,
        file: &str,
        engine: &str,
        outcome: &Outcome,
    ) -> Result<String, LineError> {
        if self.is_epd { Ok(epd(item, outcome)?) } else { self.json(item, file, engine, outcome) }
    }

    fn json(
        self,
        item: &Item,
        file: &str,
        engine: &str,
        outcome: &Outcome,
    ) -> Result<String, LineError> {
        let formatter = MoveFormatter::new(item.position.clone(), self.notation);
        let is_shogi = item.position.game() == Game::Shogi;
        let text = item.text();
        let (fen, sfen) = if is_shogi { (None, Some(text)) } else { (Some(text), None) };
        let score = outcome.score();
        let chances = score
            .zip(self.model)
            .map(|(score, model)| Chances::of(model, score, game_stage(&item.position)));
        let result = match &outcome.analysed {
            Ok(Analysed::Searched { result, .. }) => Some(&**result),
            Ok(Analysed::Over(_)) | Err(_) => None,
        };
        let record = Record {
            index: item.number,
            file,
            line: item.line,
            game: item.game,
            ply: Some(item.ply).filter(|_| item.game.is_some() || item.ply > 0),
            id: item.id.as_deref(),
            fen,
            sfen,
            engine,
            engine_name: outcome.engine_name.as_deref(),
            best: match &outcome.analysed {
                Ok(Analysed::Searched { result, .. }) => {
                    Some(BestMoveRecord::new(result, &formatter))
                }
                Ok(Analysed::Over(_)) => Some(BestMoveRecord::none()),
                Err(_) => None,
            },
            info: match &outcome.analysed {
                Ok(Analysed::Searched { result, .. }) => {
                    Some(InfoRecord::of_result(&result.info, &formatter))
                }
                Ok(Analysed::Over(score)) => Some(InfoRecord::of_score(*score)),
                Err(_) => None,
            },
            chances,
            variations: result.map_or_else(Vec::new, |result| variations(result, &formatter)),
            judgement: &outcome.judgement,
            solution: outcome.solution.as_ref(),
            error: outcome.analysed.as_ref().err().map(String::as_str),
        };
        Ok(serde_json::to_string(&record)?)
    }
}

/// The operations of the input, with those of the analysis in the place of earlier ones.
fn epd(item: &Item, outcome: &Outcome) -> Result<String, EpdError> {
    let mut operations = item.own_operations();
    let analysis = analysis(&item.position, outcome);
    if !analysis.is_empty() {
        let opcodes: Vec<&str> = analysis.iter().map(Operation::opcode).collect();
        // An old value would not belong to the new analysis; `dm` is a part of the problem.
        let is_old = |opcode: &str| matches!(opcode, "pv" | "ce" | "acd" | "acn" | "acs");
        operations.retain(|operation| {
            let opcode = operation.opcode();
            !is_old(opcode) && !opcodes.contains(&opcode)
        });
    }
    operations.extend(analysis);
    Epd { position: item.position.clone(), operations }.text(FenForm::XFen)
}

/// Why a line cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error(transparent)]
    Epd(#[from] EpdError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

fn variations(result: &SearchResult, formatter: &MoveFormatter) -> Vec<InfoRecord> {
    if result.lines.iter().count() < 2 {
        return Vec::new();
    }
    result.lines.iter().map(|info| InfoRecord::new(info, formatter)).collect()
}

/// The operations of an analysis. Empty if it failed.
fn analysis(position: &Position, outcome: &Outcome) -> Vec<Operation> {
    let mut operations = Vec::new();
    let Some(score) = outcome.score() else { return operations };
    match score {
        Score::Cp(value) => operations.push(Operation::Centipawns(value)),
        mate => operations.extend(mate.mate_plies().map(|plies| {
            let moves = i32::try_from(plies.div_ceil(2)).unwrap_or(i32::MAX);
            Operation::DirectMate(if mate.is_mated() { -moves } else { moves })
        })),
    }
    let Ok(Analysed::Searched { result, .. }) = &outcome.analysed else { return operations };
    operations.extend(result.info.depth.map(Operation::Depth));
    operations.extend(result.info.nodes.map(Operation::Nodes));
    operations.push(Operation::Seconds(result.time().as_secs()));
    let line = legal_line(position, result);
    if !line.is_empty() {
        operations.push(Operation::PredictedVariation(line));
    }
    operations
}

/// The variation of the best move up to its first illegal move, or else the best move.
fn legal_line(position: &Position, result: &SearchResult) -> Vec<Move> {
    let mut position = position.clone();
    let best = result.best_move();
    let pv: Vec<&str> = result.info.pv.iter().flat_map(MoveList::tokens).collect();
    let best = best.as_ref().map(readyok_protocol::Move::as_str);
    let moves = match best {
        Some(best) if pv.first() != Some(&best) => vec![best],
        Some(_) | None => pv,
    };
    let mut line = Vec::new();
    for text in moves {
        let Ok(mv) = position.parse_move(text) else { break };
        if position.play(mv).is_err() {
            break;
        }
        line.push(mv);
    }
    line
}
