//! What the opponent's strength says about draws.

use readyok_engine::protocol::{Opponent, Title};

use crate::strength;

/// Against an opponent that is weaker by so many rating points a draw is a centipawn worse.
const POINTS: i64 = 10;

/// The most that an opponent changes, in centipawns.
const MOST: i64 = 100;

/// The rating at which FIDE gives a title (handbook B.01, 2024), for opponents without a rating.
const TITLES: [(&str, i64); 8] = [
    ("GM", 2500),
    ("IM", 2400),
    ("FM", 2300),
    ("CM", 2200),
    ("WGM", 2300),
    ("WIM", 2200),
    ("WFM", 2100),
    ("WCM", 2000),
];

/// How many centipawns a draw is worse than an even position: `set` by the user, and more of it
/// against a weaker opponent, less against a stronger one. `own` is the engine's rating.
pub(super) fn contempt(set: i64, opponent: &str, own: i64) -> i32 {
    let rating = opponent.parse().ok().and_then(|opponent| rating(&opponent));
    let from_rating = rating.map_or(0, |rating| ((own - rating) / POINTS).clamp(-MOST, MOST));
    i32::try_from(set + from_rating).unwrap_or(0)
}

fn rating(opponent: &Opponent) -> Option<i64> {
    let of_title = |title: &Title| TITLES.iter().find(|it| it.0 == title.as_str()).map(|it| it.1);
    opponent.rating().map(i64::from).or_else(|| opponent.title().and_then(of_title))
}

/// The engine's rating at full strength, on its own scale.
pub(super) const OWN: i64 = *strength::ELO.end();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_worth_less_against_the_weaker() {
        let of = |opponent| contempt(0, opponent, 2800);
        assert_eq!(of("GM 2800 human Gary Kasparov"), 0);
        assert_eq!(of("none 2300 computer X"), 50);
        assert_eq!(of("none 3200 computer X"), -40);
        assert_eq!(of("none 800 human X"), 100);
        assert_eq!(of("none 9000 human X"), -100);
        assert_eq!(of("IM none human X"), 40);
        for unknown in ["", "none none computer Shredder", "BOT none computer X", "?"] {
            assert_eq!(of(unknown), 0, "{unknown}");
        }
        assert_eq!(contempt(25, "none 2300 computer X", 2800), 75);
        assert_eq!(contempt(25, "", 2800), 25);
        assert_eq!(contempt(0, "none 2300 computer X", 2300), 0);
    }
}
