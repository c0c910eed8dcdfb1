//! Names that come near to one that is not there.

/// The `count` names at the least distance, nearest first, those of equal distance in their order.
pub(crate) fn names<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let mut names: Vec<_> = names.map(|name| (distance(wanted, name), name)).collect();
    names.sort_by_key(|(distance, _)| *distance);
    names.truncate(count);
    names.into_iter().map(|(_, name)| name).collect()
}

/// Letters to insert, take out or exchange (Levenshtein 1966).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_known() {
        for (from, to, expected) in
            [("", "", 0), ("camera", "camera", 0), ("camra", "camera", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn the_nearest_come_first() {
        let all = ["audio", "camera-rear", "camera-front", "control"];
        assert_eq!(names("camera-fron", all.into_iter(), 2), ["camera-front", "camera-rear"]);
    }
}
