//! Names that come near to one that is not there.

/// The `count` names at the least distance, nearest first, those of equal distance in their order.
pub(crate) fn names<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let mut names: Vec<_> = names.map(|name| (strsim::osa_distance(wanted, name), name)).collect();
    names.sort_by_key(|(distance, _)| *distance);
    names.truncate(count);
    names.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        let all = ["audio", "camera-rear", "camera-front", "control"];
        assert_eq!(names("camera-fron", all.into_iter(), 2), ["camera-front", "camera-rear"]);
    }
}
