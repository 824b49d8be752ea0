//! Options that select games.

use readyok_rules::record::{
    self, BoardPattern, Condition, DateRange, EcoRange, Feature, MaterialPattern, NumberRange,
    PlayerColor, PlayerCondition, PlayerResult, PositionPattern, Speed, Tag, TextPattern,
};
use readyok_rules::{Game, GameResult, Side, Termination};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct FilterArgs {
    /// One of the players
    #[arg(short, long, value_name = "NAME")]
    player: Vec<String>,
    /// The color of --player
    #[arg(long, value_enum, requires = "player")]
    color: Option<PlayerColor>,
    /// The opponent of --player
    #[arg(long, value_name = "NAME", requires = "player")]
    opponent: Vec<String>,
    /// White (gote in shogi)
    #[arg(long, value_name = "NAME", visible_alias = "gote")]
    white: Vec<String>,
    /// Black (sente in shogi)
    #[arg(long, value_name = "NAME", visible_alias = "sente")]
    black: Vec<String>,
    /// The result: 1-0, 0-1, draw or *; with --player also win or loss
    #[arg(long, value_name = "RESULT")]
    result: Vec<ResultArg>,
    /// The date: 2020, 2019-05..2021-02-28, 2020.. or ..1999
    #[arg(long, value_name = "RANGE")]
    date: Vec<DateRange>,
    /// The ratings of both players
    #[arg(long, value_name = "RANGE", visible_alias = "elo")]
    rating: Vec<NumberRange>,
    /// The rating of --player, or of at least one player
    #[arg(long, value_name = "RANGE")]
    player_rating: Option<NumberRange>,
    /// The event
    #[arg(long, value_name = "TEXT")]
    event: Vec<String>,
    /// The site
    #[arg(long, value_name = "TEXT")]
    site: Vec<String>,
    /// The round
    #[arg(long, value_name = "TEXT")]
    round: Vec<String>,
    /// A header: NAME, NAME=VALUE, NAME!=VALUE, NAME~TEXT, or NAME>=VALUE for numbers and dates
    #[arg(short, long, value_name = "CONDITION")]
    tag: Vec<String>,
    /// The annotator
    #[arg(long, value_name = "NAME")]
    annotator: Vec<String>,
    /// An engine: a player that is not known to be a human, or the annotator
    #[arg(long, value_name = "NAME")]
    engine: Vec<String>,
    /// The ECO code of the moves, or else of the headers: B90, B9 or B20-B99
    #[arg(long, value_name = "CODE")]
    eco: Vec<EcoRange>,
    /// The name or ECO code of the opening, of the moves or else of the headers
    #[arg(long, value_name = "TEXT")]
    opening: Vec<String>,
    /// The first moves, in any notation: "e4 c5 Nf3" or "7g7f 3c3d"
    #[arg(long, value_name = "MOVES", value_parser = Condition::moves)]
    moves: Vec<Condition>,
    /// A position that occurs in the game: FEN or SFEN, or only its first fields; `?` is any square
    #[arg(long, value_name = "FEN", visible_alias = "fen")]
    position: Vec<PositionPattern>,
    /// Material that occurs in the game, of either color: `KRPvKR`; `*` allows more
    #[arg(long, value_name = "PIECES")]
    material: Vec<MaterialPattern>,
    /// A pattern of positions: `on=Nd5,pe6 balance=2.. for=8`; `readyok convert --help` lists the terms
    #[arg(long, value_name = "TERMS")]
    pattern: Vec<BoardPattern>,
    /// The number of plies
    #[arg(long, value_name = "RANGE")]
    plies: Vec<NumberRange>,
    /// The class of the time control: bullet, blitz, rapid, classical or correspondence
    #[arg(long, value_name = "SPEED", value_parser = speed)]
    speed: Vec<Speed>,
    /// What ended the game, such as checkmate, stalemate, resignation or time-forfeit
    #[arg(long, value_name = "TERMINATION", value_parser = termination)]
    termination: Vec<Termination>,
    /// The game
    #[arg(long, value_enum, ignore_case = true)]
    variant: Vec<Game>,
    /// Annotations that the game has
    #[arg(long, value_enum, value_name = "ANNOTATIONS")]
    has: Vec<Feature>,
    /// Select the games that do not match
    #[arg(short = 'v', long)]
    invert_match: bool,
}

impl FilterArgs {
    pub(super) fn condition(self) -> Condition {
        let mut all = vec![];
        let mut any = |conditions: Vec<Condition>| {
            if !conditions.is_empty() {
                all.push(Condition::Any(conditions));
            }
        };
        let texts = |texts: &[String]| -> Vec<TextPattern> {
            texts.iter().map(|text| TextPattern::new(text)).collect()
        };
        let tags = |tag: Tag, values: &[String]| {
            texts(values).into_iter().map(|pattern| Condition::Tag(tag, pattern)).collect()
        };
        let named = |color, names: &[String]| {
            let player = |name| PlayerCondition { name, color: Some(color), ..Default::default() };
            texts(names).into_iter().map(player).map(Condition::Player).collect()
        };
        let annotator = |names: &[String]| -> Vec<Condition> {
            let test = |pattern| Condition::Header {
                name: "Annotator".to_owned(),
                test: record::HeaderTest::Contains(pattern),
            };
            texts(names).into_iter().map(test).collect()
        };
        any(self.players());
        any(named(PlayerColor::White, &self.white));
        any(named(PlayerColor::Black, &self.black));
        if self.player.is_empty() {
            let results = self.result.iter().map(|result| match result {
                ResultArg::Game(result) => Condition::Result(*result),
                ResultArg::Player(PlayerResult::Draw) => Condition::Result(GameResult::Draw),
                // Without a player, a decided game.
                ResultArg::Player(_) => Condition::Any(
                    Side::BOTH.map(|side| Condition::Result(GameResult::Win(side))).to_vec(),
                ),
            });
            any(results.collect());
        }
        any(self.date.into_iter().map(Condition::Date).collect());
        any(self.rating.into_iter().map(Condition::ratings).collect());
        any(tags(Tag::Event, &self.event));
        any(tags(Tag::Site, &self.site));
        any(tags(Tag::Round, &self.round));
        any(annotator(&self.annotator));
        let engines = texts(&self.engine).into_iter().map(Condition::Engine);
        any(engines.chain(annotator(&self.engine)).collect());
        any(self.eco.into_iter().map(Condition::Eco).collect());
        any(texts(&self.opening).into_iter().map(Condition::Opening).collect());
        any(self.moves);
        any(self.position.into_iter().map(Condition::Position).collect());
        any(self.material.into_iter().map(Condition::Material).collect());
        any(self.pattern.into_iter().map(Condition::Pattern).collect());
        any(self.plies.into_iter().map(Condition::Plies).collect());
        any(self.speed.into_iter().map(Condition::Speed).collect());
        any(self.termination.into_iter().map(Condition::Termination).collect());
        any(self.variant.into_iter().map(Condition::Game).collect());
        // Each of these must hold, unlike the values of other options.
        all.extend(self.tag.iter().map(|text| Condition::header(text)));
        all.extend(self.has.into_iter().map(Condition::Has));
        let condition = Condition::all(all);
        if self.invert_match { Condition::Not(Box::new(condition)) } else { condition }
    }

    /// Conditions on one player, for each combination of names and results.
    fn players(&self) -> Vec<Condition> {
        if self.player.is_empty() && self.player_rating.is_none() {
            return Vec::new();
        }
        // One empty pattern instead of none matches any name.
        let names = |names: &[String]| -> Vec<TextPattern> {
            let names = names.iter().map(|name| TextPattern::new(name));
            if names.len() == 0 { vec![TextPattern::default()] } else { names.collect() }
        };
        let results: Vec<Option<ResultArg>> = if self.result.is_empty() || self.player.is_empty() {
            vec![None]
        } else {
            self.result.iter().copied().map(Some).collect()
        };
        let mut conditions = Vec::new();
        for name in names(&self.player) {
            for opponent in names(&self.opponent) {
                conditions.extend(results.iter().map(|result| {
                    let player = Condition::Player(PlayerCondition {
                        name: name.clone(),
                        opponent: opponent.clone(),
                        color: self.color,
                        result: match result {
                            Some(ResultArg::Player(result)) => Some(*result),
                            _ => None,
                        },
                        rating: self.player_rating,
                    });
                    match result {
                        Some(ResultArg::Game(result)) => {
                            Condition::All(vec![Condition::Result(*result), player])
                        }
                        _ => player,
                    }
                }));
            }
        }
        conditions
    }
}

/// A result, of the game or of a player.
#[derive(Clone, Copy, Debug)]
enum ResultArg {
    Game(GameResult),
    Player(PlayerResult),
}

impl std::str::FromStr for ResultArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "win" | "won" => Self::Player(PlayerResult::Win),
            "loss" | "lost" => Self::Player(PlayerResult::Loss),
            "draw" | "drawn" => Self::Game(GameResult::Draw),
            "unknown" | "unfinished" => Self::Game(GameResult::Unknown),
            text => Self::Game(
                GameResult::from_text(text)
                    .ok_or("expected 1-0, 0-1, 1/2-1/2, draw, *, win or loss")?,
            ),
        })
    }
}

fn speed(text: &str) -> Result<Speed, String> {
    let found = Speed::ALL.into_iter().find(|speed| speed.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("expected one of {}", Speed::ALL.map(Speed::name).join(", ")))
}

fn termination(text: &str) -> Result<Termination, String> {
    let name = text.trim().to_ascii_lowercase().replace([' ', '_'], "-");
    // Names of PGN, of other programs and of USI.
    let name = match &*name {
        "mate" => "checkmate",
        "threefold-repetition" | "sennichite" => "repetition",
        "resign" | "toryo" => "resignation",
        "time" | "timeout" => "time-forfeit",
        "draw-agreement" | "mutual-agreement" => "agreement",
        "abandoned" => "forfeit",
        name => name,
    };
    Termination::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Termination::ALL.iter().map(|termination| termination.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}
