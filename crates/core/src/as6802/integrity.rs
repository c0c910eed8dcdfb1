//! A high-integrity device (SAE AS6802): a command/monitor pair.
//!
//! Two lanes run the same machine on the same inputs. A frame of the command lane leaves the device if the monitor
//! lane has made the same frame at the same time; the first frame that it has not made makes the device silent, until
//! it is repaired. So whatever the command lane does, no wrong frame, and none at a wrong time, leaves.

/// The gate of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandMonitor {
    silent: bool,
}

impl CommandMonitor {
    /// Whether what the command lane offers now may leave; `made` is what the monitor lane has made now.
    pub fn passes<Frame: PartialEq>(&mut self, offered: &[Frame], made: &[Frame]) -> bool {
        if planted!(MonitorAsleep) {
            return true;
        }
        self.silent |= offered != made;
        !self.silent
    }

    /// Whether it lets nothing pass.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.silent
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PcfType, ProtocolControlFrame};
    use super::*;

    #[test]
    fn the_first_wrong_frame_makes_the_device_silent() {
        let frame = ProtocolControlFrame {
            integration_cycle: 3,
            membership_new: 1,
            sync_priority: 1,
            sync_domain: 0,
            kind: PcfType::Integration,
            transparent_clock: 0,
        };
        let other = ProtocolControlFrame { integration_cycle: 4, ..frame };
        let mut pair = CommandMonitor::default();
        assert!(pair.passes(&[frame], &[frame]) && pair.passes::<ProtocolControlFrame>(&[], &[]));
        for (offered, made) in [(&[frame, frame][..], &[frame][..]), (&[other], &[frame]), (&[], &[frame])] {
            let mut pair = pair;
            assert!(!pair.passes(offered, made));
            assert!(pair.is_silent() && !pair.passes(&[frame], &[frame]), "until it is repaired");
        }
    }
}
