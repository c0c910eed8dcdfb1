//! The building blocks of the data plane that have keys of their own: gates, preemption, filters, and what is made of them.
//!
//! A block is a folder. What the description's stages must know of it is one [`Block`], and [`BLOCKS`] lists them: stages go through the
//! list and name none of them. Values of a port are fields of [`Port`](crate::network::Port): machines, runs and bounds read them by their types.

use crate::network::Network;
use crate::resolve::Resolved;
use crate::text::faults::Faults;
use crate::{cqf, frer, gates, preemption, psfp};

/// What the stages of a description know of a building block.
pub(crate) struct Block {
    /// Its name in sentences.
    pub(crate) name: &'static str,
    /// Whether a network has it.
    pub(crate) is_in: fn(&Network) -> bool,
    /// Its keys at a port, a node, a device and the defaults.
    pub(crate) port_keys: &'static [&'static str],
    /// Words by which people look for it: its own keys, where they are at the wrong place, and those of other tools.
    pub(crate) words: &'static [&'static str],
    /// Where its keys are: the help for such a word.
    pub(crate) place: &'static str,
    /// Reports what is wrong with it in a resolved description.
    pub(crate) check: fn(&Resolved<'_, '_>, &mut Faults),
}

/// All of them, in the order of their checks.
pub(crate) static BLOCKS: [&Block; 5] =
    [&gates::BLOCK, &preemption::BLOCK, &psfp::BLOCK, &cqf::BLOCK, &frer::BLOCK];

/// Where the keys of the block are that a word means; none if it means no block.
pub(crate) fn place_of(word: &str) -> Option<&'static str> {
    BLOCKS.iter().find(|block| block.words.contains(&word)).map(|block| block.place)
}

/// Names of the building blocks that a network has: whoever runs networks refuses those that it does not know.
pub fn building_blocks(network: &Network) -> impl Iterator<Item = &'static str> {
    BLOCKS.iter().filter(|block| (block.is_in)(network)).map(|block| block.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever word of a block is at the wrong place, the help is the right one.
    #[test]
    fn a_word_for_a_block_leads_to_its_keys() {
        for block in BLOCKS {
            for word in block.words {
                let text = format!("nodes: {{a: {{type: end-station, clock: {{{word}: 1}}}}}}");
                let loaded = crate::load_text("net.yaml", &text);
                let fault = loaded.diagnostics.iter().find(|fault| fault.code == "form::unknown-key");
                let help = fault.and_then(|fault| fault.help.as_deref());
                assert_eq!(help, Some(block.place), "`{word}`: {:?}", loaded.diagnostics);
                assert_eq!(place_of(word), Some(block.place), "`{word}` is a word of two blocks");
            }
        }
    }
}
