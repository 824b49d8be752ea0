//! The average of networks.

use narikin::network::{Network, NetworkError, NetworkInfo, Weights};

/// Why networks cannot be averaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AverageError {
    /// There is no network.
    #[error("there is no network")]
    Empty,
    /// Architectures or quantizations differ.
    #[error("the networks have different architectures or quantizations")]
    Mixed,
    /// The average is not a valid network.
    #[error("{0}")]
    Network(NetworkError),
}

/// The network whose parameters are the means of those of several networks, rounded to integers. It has the commit of the
/// first one, and the data of all.
///
/// The networks must be trained from the same start, so that their units correspond. Such an average generalizes better
/// than each of them: Wortsman et al., *Model soups* (2022).
///
/// # Errors
/// There is no network, they have different shapes, or the name is invalid.
pub fn average(networks: &[Network], name: &str) -> Result<Network, AverageError> {
    let first = networks.first().ok_or(AverageError::Empty)?;
    let (architecture, quantization) = (first.architecture(), first.quantization());
    let is_same = |network: &Network| {
        network.architecture() == architecture && network.quantization() == quantization
    };
    if !networks.iter().all(is_same) {
        return Err(AverageError::Mixed);
    }
    let mut data = Vec::new();
    for file in networks.iter().flat_map(|network| &network.info().data) {
        if !data.contains(file) {
            data.push(*file);
        }
    }
    let info = NetworkInfo { name: name.to_owned(), commit: first.info().commit.clone(), data };
    let all: Vec<Weights> = networks.iter().map(Network::weights).collect();
    let weights = Weights {
        hidden: means(&all, |network| &network.hidden),
        hidden_biases: means(&all, |network| &network.hidden_biases),
        output: means(&all, |network| &network.output),
        output_biases: means(&all, |network| &network.output_biases),
    };
    Network::new(architecture, quantization, info, &weights).map_err(AverageError::Network)
}

/// The rounded means of lists of integers, which have the same length.
fn means<T: Copy + Into<i64> + TryFrom<i64> + Default>(
    all: &[Weights],
    list: impl Fn(&Weights) -> &Vec<T>,
) -> Vec<T> {
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX).max(1);
    let length = all.first().map_or(0, |network| list(network).len());
    let sum = |index| -> i64 {
        all.iter()
            .filter_map(|network| list(network).get(index))
            .map(|&value| Into::<i64>::into(value))
            .sum()
    };
    // A mean is in the range of its values.
    (0..length).map(|index| T::try_from(rounded(sum(index), count)).unwrap_or_default()).collect()
}

/// The quotient, rounded to the nearest integer, or to the even one of two.
fn rounded(sum: i64, count: i64) -> i64 {
    let (quotient, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
    let is_up = match (rest * 2).cmp(&count) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => quotient % 2 != 0,
        std::cmp::Ordering::Greater => true,
    };
    quotient + i64::from(is_up)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rounds_to_the_nearest_integer_and_ties_to_even() {
        for (sum, count, expected) in
            [(7, 3, 2), (8, 3, 3), (-7, 3, -2), (-8, 3, -3), (1, 2, 0), (3, 2, 2), (-3, 2, -2)]
        {
            assert_eq!(rounded(sum, count), expected, "{sum} / {count}");
        }
    }
}
