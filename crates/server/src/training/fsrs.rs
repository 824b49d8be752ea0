//! Free Spaced Repetition Scheduler, version 6, with its default parameters: the formulas of “The Algorithm”, wiki of
//! open-spaced-repetition/fsrs4anki, and J. Ye, J. Su, Y. Cao, *A Stochastic Shortest Path Algorithm for Optimizing
//! Spaced Repetition Scheduling*, KDD 2022. Times are in days.

use crate::wire::ExerciseGrade;

/// The probability of a solution at which an exercise is due. The stability is then the interval.
const RETENTION: f32 = 0.9;

/// The stability after the first review, by grade.
const FIRST_STABILITY: [f32; 4] = [0.212, 1.2931, 2.3065, 8.2956];
/// The difficulty after the first review: that of “again”, and the growth of its decrease.
const FIRST_DIFFICULTY: [f32; 2] = [6.4133, 0.8334];
/// The change of the difficulty per grade, and its reversion to that of “easy”.
const DIFFICULTY: [f32; 2] = [3.0194, 0.001];
/// A success: logarithm of the growth, exponent of the stability, and effect of forgetting.
const SUCCESS: [f32; 3] = [1.8722, 0.1666, 0.796];
/// A failure: factor, exponents of difficulty and stability, and effect of forgetting.
const FAILURE: [f32; 4] = [1.4835, 0.0614, 0.2629, 1.6483];
const HARD_PENALTY: f32 = 0.6014;
const EASY_BONUS: f32 = 1.8729;
/// Reviews on the same day: factor of the grade, its offset, and exponent of the stability.
const SAME_DAY: [f32; 3] = [0.5425, 0.0912, 0.0658];
/// The exponent of forgetting.
const DECAY: f32 = 0.1542;

/// The memory of an exercise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryModel {
    /// The days after which the probability of a solution is 90 percent: 0.001 to 36,500.
    pub(super) stability: f32,
    /// 1 to 10.
    pub(super) difficulty: f32,
}

impl MemoryModel {
    pub(super) fn after_first_review(grade: ExerciseGrade) -> Self {
        let [again, hard, good, easy] = FIRST_STABILITY;
        let stability = match grade {
            ExerciseGrade::Again => again,
            ExerciseGrade::Hard => hard,
            ExerciseGrade::Good => good,
            ExerciseGrade::Easy => easy,
        };
        Self { stability, difficulty: first_difficulty(number(grade)) }.in_range()
    }

    /// The memory after a review this number of days after the last one.
    pub(super) fn after(self, grade: ExerciseGrade, days: u32) -> Self {
        let Self { stability, difficulty } = self.in_range();
        let number = number(grade);
        let next = match (days, grade) {
            (0, _) => {
                let [factor, offset, exponent] = SAME_DAY;
                let growth = (factor * (number - 3.0 + offset)).exp() * stability.powf(-exponent);
                let least = if grade == ExerciseGrade::Again { 0.0 } else { 1.0 };
                stability * growth.max(least)
            }
            (_, ExerciseGrade::Again) => {
                let [factor, by_difficulty, by_stability, by_forgetting] = FAILURE;
                let next = factor
                    * difficulty.powf(-by_difficulty)
                    * ((stability + 1.0).powf(by_stability) - 1.0)
                    * (by_forgetting * forgotten(stability, days)).exp();
                let [same_day, offset, _] = SAME_DAY;
                next.min(stability / (same_day * offset).exp())
            }
            _ => {
                let [growth, exponent, by_forgetting] = SUCCESS;
                let factor = match grade {
                    ExerciseGrade::Hard => HARD_PENALTY,
                    ExerciseGrade::Easy => EASY_BONUS,
                    ExerciseGrade::Again | ExerciseGrade::Good => 1.0,
                };
                let gain = growth.exp()
                    * (11.0 - difficulty)
                    * stability.powf(-exponent)
                    * ((by_forgetting * forgotten(stability, days)).exp() - 1.0)
                    * factor;
                stability * (1.0 + gain)
            }
        };
        let [by_grade, reversion] = DIFFICULTY;
        let harder = difficulty - by_grade * (number - 3.0) * (10.0 - difficulty) / 9.0;
        let difficulty = harder + reversion * (first_difficulty(4.0) - harder);
        Self { stability: next, difficulty }.in_range()
    }

    /// Values that are no numbers become those of a new exercise.
    fn in_range(self) -> Self {
        let clamped = |value: f32, [min, max]: [f32; 2], default: f32| {
            if value.is_nan() { default } else { value.clamp(min, max) }
        };
        Self {
            stability: clamped(self.stability, [0.001, 36_500.0], FIRST_STABILITY[0]),
            difficulty: clamped(self.difficulty, [1.0, 10.0], FIRST_DIFFICULTY[0]),
        }
    }
}

/// From 1, “again”, to 4, “easy”.
fn number(grade: ExerciseGrade) -> f32 {
    match grade {
        ExerciseGrade::Again => 1.0,
        ExerciseGrade::Hard => 2.0,
        ExerciseGrade::Good => 3.0,
        ExerciseGrade::Easy => 4.0,
    }
}

fn first_difficulty(number: f32) -> f32 {
    let [again, growth] = FIRST_DIFFICULTY;
    again - (growth * (number - 1.0)).exp() + 1.0
}

/// The probability that an exercise is forgotten after this number of days.
#[expect(clippy::cast_precision_loss, reason = "days")]
fn forgotten(stability: f32, days: u32) -> f32 {
    let factor = RETENTION.powf(-1.0 / DECAY) - 1.0;
    1.0 - (1.0 + factor * days as f32 / stability).powf(-DECAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ExerciseGrade::{Again, Easy, Good, Hard};

    /// Values of the crate `fsrs` 6.6.2 of Open Spaced Repetition.
    #[test]
    fn memories_are_those_of_the_reference_implementation() {
        let first = [
            (Again, 0.212, 6.4133),
            (Hard, 1.2931, 5.112_170_7),
            (Good, 2.3065, 2.118_104),
            (Easy, 8.2956, 1.0),
        ];
        for (grade, stability, difficulty) in first {
            let expected = MemoryModel { stability, difficulty };
            assert_near(MemoryModel::after_first_review(grade), expected);
        }
        let next = [
            (
                2.3,
                2.1,
                0,
                [
                    (0.773_043_2, 7.388_552),
                    (2.3, 4.740_840_4),
                    (2.3, 2.093_128_2),
                    (3.935_664_4, 1.0),
                ],
            ),
            (
                2.3,
                2.1,
                2,
                [
                    (0.606_917_1, 7.388_552),
                    (7.516_03, 4.740_840_4),
                    (10.973_146, 2.093_128_2),
                    (18.543_934, 1.0),
                ],
            ),
            (
                10.0,
                5.0,
                14,
                [
                    (1.449_892_4, 8.341_763),
                    (26.688_267, 6.665_995_6),
                    (37.749_027, 4.990_228),
                    (61.971_153, 3.314_461_5),
                ],
            ),
            (
                100.0,
                9.5,
                30,
                [
                    (3.257_748, 9.820_882),
                    (108.582_27, 9.653_305),
                    (114.270_485, 9.485_728),
                    (126.7272, 9.318_151),
                ],
            ),
            (
                0.3,
                1.0,
                1,
                [
                    (0.147_424_44, 7.026_989_5),
                    (2.780_91, 4.010_608_7),
                    (4.425_225, 1.0),
                    (8.026_134, 1.0),
                ],
            ),
            (
                30_000.0,
                3.0,
                40_000,
                [
                    (23.752_886, 7.684_376),
                    (36_500.0, 5.338_302),
                    (36_500.0, 2.992_228_3),
                    (36_500.0, 1.0),
                ],
            ),
        ];
        for (stability, difficulty, days, expected) in next {
            for (grade, (stable, difficult)) in [Again, Hard, Good, Easy].into_iter().zip(expected)
            {
                let expected = MemoryModel { stability: stable, difficulty: difficult };
                assert_near(MemoryModel { stability, difficulty }.after(grade, days), expected);
            }
        }
    }

    fn assert_near(found: MemoryModel, expected: MemoryModel) {
        let is_near = |found: f32, expected: f32| (found - expected).abs() <= 1e-4 * expected;
        let are_near = is_near(found.stability, expected.stability)
            && is_near(found.difficulty, expected.difficulty);
        assert!(are_near, "{found:?} instead of {expected:?}");
    }
}
