//! The games that can be replayed in the page.

use readyok_protocol::Score;
use readyok_rules::{Game, Notation, Position};
use serde::Serialize;

use crate::pairing::{Opening, PairResult};
use crate::plan::Plan;
use crate::result::{EndSentence, MatchGame, MoveRecord};

/// Maximum number of games in a page. Of longer matches it has every n-th pair, and games that engines lost by failures.
const MAX_GAMES: usize = 1000;
const MAX_FAILED: usize = 100;

#[derive(Clone, Debug, Default)]
pub(super) struct Games {
    regular: Vec<ReplayGame>,
    failed: Vec<ReplayGame>,
    stride: u64,
}

/// A game with one list per field of its moves, which is compact.
#[derive(Clone, Debug, Serialize)]
struct ReplayGame {
    /// The pairing and the number of the game, from 1.
    id: String,
    #[serde(skip)]
    pair: u64,
    first: u32,
    second: u32,
    result: &'static str,
    end: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    /// Number of moves of the opening.
    book: usize,
    moves: String,
    /// The moves in SAN or Japanese notation.
    texts: String,
    scores: String,
    depths: String,
    /// In milliseconds.
    times: String,
}

impl ReplayGame {
    fn new(plan: &Plan, pair: &PairResult, number: usize, game: &MatchGame) -> Self {
        let Opening { position, moves: book, .. } = &pair.pairing.opening;
        let sentence = EndSentence::of(plan, game);
        let texts = notate(plan.game, &pair.pairing.opening, &game.moves);
        let moves = book.iter().cloned().chain(game.moves.iter().map(|made| made.mv.to_string()));
        let list = |text: &dyn Fn(usize) -> Option<String>| {
            let items = (0..game.moves.len()).map(|index| text(index).unwrap_or_default());
            items.collect::<Vec<_>>().join(" ")
        };
        let made = |index: usize| game.moves.get(index);
        Self {
            id: format!("{}.{}", pair.pairing.index + 1, number + 1),
            pair: pair.pairing.index,
            first: game.first.0,
            second: game.second.0,
            result: sentence.score(),
            end: sentence.to_string(),
            position: position.clone(),
            book: book.len(),
            moves: moves.collect::<Vec<_>>().join(" "),
            texts: texts.join(" "),
            scores: list(&|index| made(index)?.score.map(score)),
            depths: list(&|index| made(index)?.depth.map(|depth| depth.to_string())),
            times: list(&|index| made(index).map(|made| (made.time_us / 1000).to_string())),
        }
    }
}

/// The moves of a game with its opening: SAN in chess, Japanese notation in shogi.
pub(super) fn notate(game: Game, opening: &Opening, made: &[MoveRecord]) -> Vec<String> {
    let book = opening.moves.iter().map(String::as_str);
    let moves = book.chain(made.iter().map(|made| made.mv.as_str()));
    let start = match &opening.position {
        Some(text) => Position::from_text(game, text).ok(),
        None => Some(Position::start(game)),
    };
    match start {
        Some(start) => start.notate(moves, Notation::Japanese),
        None => moves.map(str::to_owned).collect(),
    }
}

/// Centipawns, or `#` and the plies to mate.
fn score(score: Score) -> String {
    match score {
        Score::Cp(cp) => cp.to_string(),
        Score::MateIn { plies } => format!("#{plies}"),
        Score::MatedIn { plies } => format!("#-{plies}"),
        Score::MateInUnknown | Score::MateGiven => "#".to_owned(),
        Score::MatedInUnknown | Score::Mated => "#-".to_owned(),
    }
}

impl Games {
    pub(super) fn add(&mut self, plan: &Plan, pair: &PairResult) {
        let stride = self.stride.max(1);
        for (number, game) in pair.games.iter().enumerate() {
            if pair.pairing.index.is_multiple_of(stride) {
                self.regular.push(ReplayGame::new(plan, pair, number, game));
            } else if game.end.termination.is_failure() && self.failed.len() < MAX_FAILED {
                self.failed.push(ReplayGame::new(plan, pair, number, game));
            }
        }
        if self.regular.len() > MAX_GAMES {
            let stride = 2 * stride;
            self.stride = stride;
            self.regular.retain(|game| game.pair.is_multiple_of(stride));
        }
    }

    /// The games as JSON for an element of the page.
    pub(super) fn json(&self, plan: &Plan) -> String {
        #[derive(Serialize)]
        struct Data<'a> {
            shogi: bool,
            engines: Vec<&'a str>,
            games: Vec<&'a ReplayGame>,
        }
        let mut games: Vec<&ReplayGame> = self.regular.iter().chain(&self.failed).collect();
        games.sort_by_key(|game| game.pair);
        let engines = plan.engines.iter().map(|engine| engine.name.as_str()).collect();
        let data = Data { shogi: plan.game == Game::Shogi, engines, games };
        let json = serde_json::to_string(&data).unwrap_or_default();
        // No text ends the element.
        json.replace('<', "\\u003c")
    }

    pub(super) fn len(&self) -> usize {
        self.regular.len() + self.failed.len()
    }
}
