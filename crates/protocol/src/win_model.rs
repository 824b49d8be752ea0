//! Models that convert scores to winning chances, by the names of the programs that use them.

use crate::score::{Score, Wdl};

/// A model of the winning chances of a score.
///
/// | name | source | depends on |
/// |---|---|---|
/// | `lichess` | [lichess.org/page/accuracy](https://lichess.org/page/accuracy) | the score |
/// | `lishogi` | the same curve with the slope of lishogi.org, for shogi | the score |
/// | `sf12` to `sf16.1` | `win_rate_model` in `src/uci.cpp` of Stockfish | score and ply |
/// | `sf17` to `sf18` | `win_rate_params` in `src/uci.cpp` of Stockfish | score and material |
///
/// The models of a website have no draws. A model of Stockfish requires scores of that version: from 15.1 on, 100
/// centipawns are the score with which it wins half of its games.
///
/// ```
/// use readyok_protocol::{GameStage, Score, WinModel};
///
/// let score = Score::Cp(100);
/// assert_eq!(WinModel::Lichess.win_percentage(score, GameStage::default()).round(), 59.0);
///
/// let model = WinModel::from_name("sf17").ok_or("unknown model")?;
/// let opening = GameStage { ply: 4, material: 78 };
/// assert_eq!(model.win_percentage(score, opening).round(), 50.0);
/// // Most of the other games are drawn.
/// assert_eq!((model.expected_score(score, opening) * 100.0).round(), 75.0);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum WinModel {
    /// Lichess.
    Lichess,
    /// Lishogi.
    Lishogi,
    /// Stockfish 12 and 13.
    Sf12,
    /// Stockfish 14 and 14.1.
    Sf14,
    /// Stockfish 15.
    Sf15,
    /// Stockfish 15.1.
    Sf15_1,
    /// Stockfish 16.
    Sf16,
    /// Stockfish 16.1.
    Sf16_1,
    /// Stockfish 17.
    Sf17,
    /// Stockfish 17.1.
    Sf17_1,
    /// Stockfish 18.
    Sf18,
}

crate::names! {
    /// It is that of command lines.
    WinModel:
        Lichess = "lichess", Lishogi = "lishogi", Sf12 = "sf12" | "sf13", Sf14 = "sf14" | "sf14.1", Sf15 = "sf15",
        Sf15_1 = "sf15.1", Sf16 = "sf16", Sf16_1 = "sf16.1", Sf17 = "sf17", Sf17_1 = "sf17.1", Sf18 = "sf18",
}

/// How far a game has advanced when a score is reached.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct GameStage {
    /// Plies since the initial position.
    pub ply: u32,
    /// Material of both sides: 1 for a pawn, 3 for a knight or bishop, 5 for a rook, 9 for a queen.
    pub material: u32,
}

impl Default for GameStage {
    /// The middle game: 30 plies, and the material at which the models of Stockfish are normalized.
    fn default() -> Self {
        Self { ply: 30, material: 58 }
    }
}

/// The winning chances are `1 / (1 + exp((a - x) / b))`; `a` and `b` are polynomials of the stage.
struct Stockfish {
    a: [f64; 4],
    b: [f64; 4],
    stage: Variable,
    unit: Unit,
}

/// The variable of the polynomials.
enum Variable {
    /// Plies divided by 64, at most 240 of them.
    Ply,
    /// Moves divided by 32, from 8 to 120.
    Move,
    /// Material divided by 58, from 17 to 78.
    Material,
}

/// The value `x` of a score.
enum Unit {
    /// Centipawns within ± a limit.
    Centipawns { limit: f64 },
    /// Internal units of the engine, of which a pawn has a constant number. They are within ±4000.
    Pawn(f64),
    /// Internal units, of which a pawn has `a`.
    Normalized,
}

/// Tag of Stockfish and the coefficients there.
fn stockfish(model: WinModel) -> Option<Stockfish> {
    Some(match model {
        WinModel::Lichess | WinModel::Lishogi => return None,
        // sf_12, sf_13
        WinModel::Sf12 => Stockfish {
            a: [-8.244_042_95, 64.238_923_42, -95.730_564_62, 153.864_786_79],
            b: [-3.371_543_71, 28.444_891_98, -56.676_577_41, 72.058_587_51],
            stage: Variable::Ply,
            unit: Unit::Centipawns { limit: 1000.0 },
        },
        // sf_14, sf_14.1
        WinModel::Sf14 => Stockfish {
            a: [-3.683_893_04, 30.070_659_21, -60.528_787_23, 149.533_785_57],
            b: [-2.018_185_7, 15.856_850_38, -29.834_520_23, 47.590_788_27],
            stage: Variable::Ply,
            unit: Unit::Centipawns { limit: 2000.0 },
        },
        // sf_15
        WinModel::Sf15 => Stockfish {
            a: [-0.117_202_460, 0.594_729_104, 11.206_554_6, 122.606_222],
            b: [-1.790_667_59, 11.307_591_93, -17.436_776_12, 36.471_474_79],
            stage: Variable::Ply,
            unit: Unit::Centipawns { limit: 2000.0 },
        },
        // sf_15.1
        WinModel::Sf15_1 => Stockfish {
            a: [-0.582_704_99, 2.685_125_49, 15.246_380_15, 344.497_453_82],
            b: [-2.657_345_62, 15.965_097_99, -20.690_408_36, 73.610_299_37],
            stage: Variable::Ply,
            unit: Unit::Pawn(361.0),
        },
        // sf_16
        WinModel::Sf16 => Stockfish {
            a: [0.380_365_25, -2.820_150_70, 23.178_821_35, 307.367_684_07],
            b: [-2.294_347_33, 13.276_897_88, -14.268_289_04, 63.453_183_30],
            stage: Variable::Ply,
            unit: Unit::Pawn(328.0),
        },
        // sf_16.1
        WinModel::Sf16_1 => Stockfish {
            a: [-1.062_497_02, 7.420_169_37, 0.894_256_29, 348.603_561_74],
            b: [-5.331_221_90, 39.578_315_33, -90.844_737_71, 123.406_207_48],
            stage: Variable::Move,
            unit: Unit::Pawn(356.0),
        },
        // sf_17
        WinModel::Sf17 => Stockfish {
            a: [-37.450_518_76, 121.191_015_39, -132.787_835_73, 420.705_766_92],
            b: [90.262_610_72, -137.265_498_98, 71.101_305_40, 51.352_595_97],
            stage: Variable::Material,
            unit: Unit::Normalized,
        },
        // sf_17.1
        WinModel::Sf17_1 => Stockfish {
            a: [-13.500_301_98, 40.927_808_83, -36.827_535_45, 386.830_040_70],
            b: [96.533_548_96, -165.790_583_88, 90.896_790_19, 49.295_618_89],
            stage: Variable::Material,
            unit: Unit::Normalized,
        },
        // sf_18
        WinModel::Sf18 => Stockfish {
            a: [-72.325_658_36, 185.938_320_38, -144.588_621_93, 416.449_504_46],
            b: [83.867_940_42, -136.061_129_97, 69.988_208_87, 47.629_014_33],
            stage: Variable::Material,
            unit: Unit::Normalized,
        },
    })
}

impl WinModel {
    /// The probability of a win in percent, 0 to 100, from the point of view of the score. 100 if the side mates, 0 if it
    /// is mated.
    pub fn win_percentage(self, score: Score, stage: GameStage) -> f64 {
        100.0 * self.win(score, stage)
    }

    /// The expected score, 0 to 1: the probability of a win and half of that of a draw. 1 if the side mates, 0 if it is
    /// mated.
    pub fn expected_score(self, score: Score, stage: GameStage) -> f64 {
        f64::midpoint(self.win(score, stage), 1.0 - self.win(score.negated(), stage))
    }

    /// The probabilities in permille, each rounded.
    pub fn wdl(self, score: Score, stage: GameStage) -> Wdl {
        let (win, loss) = (self.win(score, stage), self.win(score.negated(), stage));
        let win = permille(win);
        let loss = permille(loss).min(1000 - win);
        Wdl { win, draw: 1000 - win - loss, loss }
    }

    fn win(self, score: Score, stage: GameStage) -> f64 {
        let cp = match score {
            Score::Cp(cp) => f64::from(cp),
            mate if mate.is_mating() => return 1.0,
            _ => return 0.0,
        };
        match stockfish(self) {
            Some(model) => model.win(cp, stage),
            None if self == Self::Lishogi => logistic(0.000_7 * cp),
            None => logistic(0.003_682_08 * cp),
        }
    }
}

impl Stockfish {
    fn win(&self, cp: f64, stage: GameStage) -> f64 {
        let m = match self.stage {
            Variable::Ply => f64::from(stage.ply.min(240)) / 64.0,
            Variable::Move => f64::from((stage.ply / 2).saturating_add(1).clamp(8, 120)) / 32.0,
            Variable::Material => f64::from(stage.material.clamp(17, 78)) / 58.0,
        };
        let polynomial = |[c3, c2, c1, c0]: [f64; 4]| ((c3 * m + c2) * m + c1) * m + c0;
        let (a, b) = (polynomial(self.a), polynomial(self.b));
        let x = match self.unit {
            Unit::Centipawns { limit } => cp.clamp(-limit, limit),
            Unit::Pawn(pawn) => (cp * pawn / 100.0).clamp(-4000.0, 4000.0),
            Unit::Normalized => cp * a / 100.0,
        };
        logistic((x - a) / b)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the argument is a probability"
)]
fn permille(probability: f64) -> u16 {
    (0.5 + 1000.0 * probability) as u16
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// The exponential function, which `core` lacks. Arguments are limited to ±700, the relative error is below 1e-14.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the argument is limited"
)]
fn exp(x: f64) -> f64 {
    use core::f64::consts::{LN_2, LOG2_E};
    let x = x.clamp(-700.0, 700.0);
    // x = k ln 2 + r, so exp x = 2^k exp r.
    let k = (x * LOG2_E + if x < 0.0 { -0.5 } else { 0.5 }) as i32;
    let r = x - f64::from(k) * LN_2;
    let series = (1..=16).rev().fold(1.0, |sum, n| 1.0 + sum * r / f64::from(n));
    series * f64::from_bits(((1023 + k) as u64) << 52)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn exponential_function_agrees_with_the_standard_library() {
        for step in -7000..=7000 {
            let x = f64::from(step) / 10.0;
            let expected = x.exp();
            assert!((exp(x) - expected).abs() <= expected * 1e-13, "{x}: {} {expected}", exp(x));
        }
        assert!(logistic(f64::MAX) > 0.999_999 && logistic(f64::MIN) < 1e-6);
    }

    #[track_caller]
    fn check(name: &str, cp: i32, stage: GameStage, expected: [u16; 3]) {
        let model = WinModel::from_name(name).unwrap();
        let Wdl { win, draw, loss } = model.wdl(Score::Cp(cp), stage);
        assert_eq!([win, draw, loss], expected, "{name} {cp} {stage:?}");
    }

    /// The values are those of `chess.engine.Cp.wdl` of python-chess 1.11.2.
    #[test]
    fn models_by_ply_agree_with_python_chess() {
        for (name, values) in [
            ("sf12", [[85, 830, 85], [393, 594, 13], [0, 34, 966], [972, 28, 0]]),
            ("sf14", [[31, 938, 31], [322, 676, 2], [0, 14, 986], [995, 5, 0]]),
            ("sf15", [[15, 970, 15], [286, 713, 1], [0, 17, 983], [993, 7, 0]]),
            ("sf15.1", [[5, 990, 5], [533, 467, 0], [0, 0, 1000], [1000, 0, 0]]),
            ("sf16", [[5, 990, 5], [543, 457, 0], [0, 0, 1000], [1000, 0, 0]]),
            ("sf16.1", [[18, 964, 18], [515, 485, 0], [0, 0, 1000], [1000, 0, 0]]),
            ("lichess", [[500, 0, 500], [591, 0, 409], [285, 0, 715], [751, 0, 249]]),
        ] {
            let inputs = [(0, 30), (100, 30), (-250, 64), (300, 120)];
            for ((cp, ply), expected) in inputs.into_iter().zip(values) {
                check(name, cp, GameStage { ply, ..GameStage::default() }, expected);
            }
        }
    }

    /// 100 centipawns win half of the games, with any material.
    #[test]
    fn models_by_material_are_normalized() {
        for name in ["sf17", "sf17.1", "sf18"] {
            for material in [0, 17, 40, 58, 78, 200] {
                let stage = GameStage { ply: 0, material };
                let model = WinModel::from_name(name).unwrap();
                let win = model.win_percentage(Score::Cp(100), stage);
                assert!((win - 50.0).abs() < 1e-9, "{name} {material}: {win}");
                let even = model.expected_score(Score::Cp(0), stage);
                assert!((even - 0.5).abs() < 1e-9, "{name} {material}: {even}");
            }
        }
        // By the formula of the tag, computed with Python.
        check("sf17", 50, GameStage { ply: 0, material: 58 }, [78, 921, 1]);
        check("sf17.1", 50, GameStage { ply: 0, material: 30 }, [53, 947, 0]);
        check("sf18", -30, GameStage { ply: 0, material: 70 }, [2, 963, 35]);
    }

    #[test]
    fn mates_are_certain() {
        for (_, model) in WinModel::NAMES {
            for (score, expected) in [
                (Score::MateGiven, 1.0),
                (Score::MateIn { plies: 21 }, 1.0),
                (Score::MateInUnknown, 1.0),
                (Score::MatedIn { plies: 2 }, 0.0),
                (Score::Mated, 0.0),
            ] {
                let found = model.expected_score(score, GameStage::default());
                assert!((found - expected).abs() < f64::EPSILON, "{model:?} {score}: {found}");
            }
        }
    }

    #[test]
    fn names_are_unique() {
        for (name, model) in WinModel::NAMES {
            assert_eq!(WinModel::from_name(name), Some(*model));
        }
        assert_eq!(WinModel::from_name("sf11"), None);
    }
}
