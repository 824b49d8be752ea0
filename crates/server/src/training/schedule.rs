//! The schedule of exercises, by the Free Spaced Repetition Scheduler (FSRS).

use crate::training::fsrs::MemoryModel;
use crate::wire::{ExerciseGrade, ExerciseStage};

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;
/// The time until an exercise that was not solved is repeated.
const AGAIN: u64 = 10 * MINUTE;
/// The stability of a learned exercise, in days.
pub(crate) const LEARNED: f32 = 21.0;

/// The memory of an exercise. Times are Unix times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Memory {
    /// The number of days after which the exercise is solved with a probability of 90 percent.
    pub(crate) stability: f32,
    /// From 1 to 10.
    pub(crate) difficulty: f32,
    pub(crate) reviewed: u64,
    pub(crate) due: u64,
}

impl Memory {
    pub(crate) fn stage(memory: Option<&Self>) -> ExerciseStage {
        match memory {
            None => ExerciseStage::New,
            Some(memory) if memory.stability < LEARNED => ExerciseStage::Learning,
            Some(_) => ExerciseStage::Learned,
        }
    }

    /// The memory after a review now.
    pub(crate) fn after(before: Option<&Self>, grade: ExerciseGrade, now: u64) -> Self {
        let next = match before {
            None => MemoryModel::after_first_review(grade),
            Some(&Self { stability, difficulty, reviewed, .. }) => {
                let days = now.saturating_sub(reviewed) / DAY;
                let days = u32::try_from(days).unwrap_or(u32::MAX);
                MemoryModel { stability, difficulty }.after(grade, days)
            }
        };
        let wait = if grade == ExerciseGrade::Again { AGAIN } else { whole_days(next.stability) };
        Self {
            stability: next.stability,
            difficulty: next.difficulty,
            reviewed: now,
            due: now.saturating_add(wait),
        }
    }

    /// The times until the next review after each grade, from “again” to “easy”.
    pub(crate) fn intervals(before: Option<&Self>, now: u64) -> [u64; 4] {
        use ExerciseGrade::{Again, Easy, Good, Hard};
        [Again, Hard, Good, Easy].map(|grade| Self::after(before, grade, now).due - now)
    }
}

/// At least one day, less a few hours: a review at another time of the day is possible.
fn whole_days(days: f32) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is between 1 and 36500"
    )]
    let days = days.round().clamp(1.0, 36_500.0) as u64;
    days * DAY - DAY / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_700_000_000_000;

    fn days(memory: &Memory) -> u64 {
        (memory.due - memory.reviewed).div_ceil(DAY)
    }

    #[test]
    fn better_grades_have_longer_intervals() {
        let [again, hard, good, easy] = Memory::intervals(None, START);
        assert_eq!(again, AGAIN);
        assert!(again < hard && hard <= good && good < easy, "{again} {hard} {good} {easy}");
    }

    #[test]
    fn intervals_grow_with_successes_and_shrink_after_a_failure() {
        let mut memory = Memory::after(None, ExerciseGrade::Good, START);
        let mut last = days(&memory);
        assert_eq!(Memory::stage(Some(&memory)), ExerciseStage::Learning);
        for _ in 0..4 {
            memory = Memory::after(Some(&memory), ExerciseGrade::Good, memory.due + DAY / 4);
            assert!(last < days(&memory), "{last} days, then {}", days(&memory));
            last = days(&memory);
        }
        assert_eq!(Memory::stage(Some(&memory)), ExerciseStage::Learned);
        let failed = Memory::after(Some(&memory), ExerciseGrade::Again, memory.due);
        assert!(failed.stability < memory.stability);
        assert_eq!(failed.due - failed.reviewed, AGAIN);
    }

    #[test]
    fn a_damaged_memory_is_replaced() {
        let damaged =
            Memory { stability: f32::NAN, difficulty: -3.0, reviewed: u64::MAX, due: u64::MAX };
        let memory = Memory::after(Some(&damaged), ExerciseGrade::Good, START);
        assert!(memory.stability.is_finite() && START < memory.due, "{memory:?}");
    }
}
