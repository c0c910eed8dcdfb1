//! The names that a description gives, by what they name, and how a part that comes from another description gets names of its new
//! surroundings.

use super::tree::Tree;
use crate::Dice;

/// What can be named.
const SORTS: usize = 5;

/// The names of a description: end stations, bridges, streams, links, models.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    sorts: [Vec<String>; SORTS],
}

impl Names {
    pub(super) fn of(description: &Tree) -> Self {
        let mut names = Self::default();
        for (name, node) in description.get("nodes").map_or(&[][..], Tree::entries) {
            let is_bridge = node.get("type").and_then(Tree::text) == Some("bridge");
            names.sorts[usize::from(is_bridge)].push(name.clone());
        }
        for (sort, list) in [(2, "streams"), (3, "links")] {
            let named = description.get(list).map_or(&[][..], Tree::items).iter();
            names.sorts[sort].extend(named.filter_map(|item| item.get("name")?.text().map(str::to_owned)));
        }
        for models in ["devices", "hosts"] {
            let named = description.get(models).map_or(&[][..], Tree::entries).iter();
            names.sorts[4].extend(named.map(|(name, _)| name.clone()));
        }
        names
    }

    /// Any of them.
    pub(super) fn any(&self, dice: &mut Dice) -> String {
        let full: Vec<_> = self.sorts.iter().filter(|names| !names.is_empty()).collect();
        if full.is_empty() {
            return "nobody".to_owned();
        }
        let sort = dice.one_of(&full);
        dice.one_of(sort).clone()
    }

    fn sort(&self, name: &str) -> Option<usize> {
        self.sorts.iter().position(|names| names.iter().any(|other| other == name))
    }
}

/// Replaces names of `from` in a part by names of `to`, one by one, each name by the same name wherever it occurs.
pub(super) fn rename(part: &mut Tree, from: &Names, to: &Names, dice: &mut Dice) {
    Renaming { from, to, known: Vec::new() }.rename(part, dice);
}

struct Renaming<'a> {
    from: &'a Names,
    to: &'a Names,
    /// Old and new names.
    known: Vec<(String, String)>,
}

impl Renaming<'_> {
    fn rename(&mut self, part: &mut Tree, dice: &mut Dice) {
        match part {
            Tree::Nothing => {}
            Tree::Scalar(text) => self.rename_text(text, dice),
            Tree::List(items) => items.iter_mut().for_each(|item| self.rename(item, dice)),
            Tree::Map(entries) => {
                for (key, value) in entries {
                    self.rename_text(key, dice);
                    self.rename(value, dice);
                }
            }
        }
    }

    fn rename_text(&mut self, text: &mut String, dice: &mut Dice) {
        let (node, port) =
            text.split_once(':').map_or((text.as_str(), None), |(node, port)| (node, Some(port)));
        let Some(sort) = self.from.sort(node).filter(|sort| !self.to.sorts[*sort].is_empty()) else { return };
        // A name that both have stays, mostly.
        if self.to.sort(node) == Some(sort) && dice.chance(80) {
            return;
        }
        let known = self.known.iter().find(|(old, _)| old == node).map(|(_, new)| new.clone());
        let new = known.unwrap_or_else(|| {
            let all = &self.to.sorts[sort];
            let is_free = |name: &&String| self.known.iter().all(|(_, new)| new != *name);
            let free: Vec<&String> = all.iter().filter(is_free).collect();
            let new = if free.is_empty() { dice.one_of(all) } else { *dice.one_of(&free) };
            self.known.push((node.to_owned(), new.clone()));
            new.clone()
        });
        *text = match port.filter(|_| dice.chance(50)) {
            Some(port) => format!("{new}:{port}"),
            None => new,
        };
    }
}
