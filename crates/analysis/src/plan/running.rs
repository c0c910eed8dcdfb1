//! Which streams run: taking them in and letting them go, and what of the tables that touches.

use super::{NONE, Plan, users};

/// What has another place in the tables than before: analyse it anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// Entries, in any order and perhaps several times.
    pub(crate) entries: Vec<u32>,
    /// Ports, with all that passes them.
    pub(crate) ports: Vec<u32>,
    /// Ports and classes that have other entries than before.
    pub(crate) classes: Vec<(u32, u8)>,
}

impl Plan<'_> {
    /// Lets many streams run at once, none of which did.
    pub(super) fn take_in(&mut self, streams: &[u32]) {
        let mut counts = vec![0_usize; self.ports.len()];
        for entry in streams.iter().flat_map(|stream| self.entries_of(*stream)) {
            counts[self.entries[entry as usize].port as usize] += 1;
        }
        for (users, count) in self.users.iter_mut().zip(counts) {
            users.reserve(count);
        }
        self.start_many(streams);
    }

    /// Lets many streams run at once; all that streams have in common is computed anew.
    pub(crate) fn start_many(&mut self, streams: &[u32]) {
        for stream in streams {
            self.list(*stream);
        }
        for node in 0..self.talks.len() {
            self.settle_host(node);
        }
        for stream in self.talks.concat() {
            self.settle_talker(stream);
        }
        for port in 0..crate::plan::index(self.ports.len()) {
            self.receptions[port as usize] = self.reception(port);
            self.settle_port(port, None);
        }
        for group in 0..crate::plan::index(self.groups.len()) {
            self.settle_group(group);
        }
    }

    /// Lets a stream run.
    pub(crate) fn start(&mut self, stream: u32) -> Touched {
        self.list(stream);
        self.settle(stream)
    }

    /// Lets a stream go.
    pub(crate) fn stop(&mut self, stream: u32) -> Touched {
        for entry in self.entries_of(stream) {
            let of = &self.entries[entry as usize];
            self.users[of.port as usize].remove(usize::from(of.class), entry);
            if of.reception != NONE {
                users::remove(&mut self.received[of.reception as usize], entry);
            }
            if of.group != NONE && of.primary {
                users::remove(&mut self.groups[of.group as usize].entries, entry);
                self.scheduler_users[of.scheduler as usize] -= 1;
            }
        }
        let talker = self.stream(stream).talker.index();
        users::remove(&mut self.talks[talker], stream);
        if let Some(link) = self.stream(stream).virtual_link {
            users::remove(self.sub_links.get_mut(&link.id).expect("it runs"), stream);
        }
        self.links[stream as usize] = None;
        self.settle(stream)
    }

    /// Puts a stream on the lists.
    fn list(&mut self, stream: u32) {
        for entry in self.entries_of(stream) {
            let of = &self.entries[entry as usize];
            self.users[of.port as usize].insert(usize::from(of.class), entry);
            if of.reception != NONE {
                users::insert(&mut self.received[of.reception as usize], entry);
            }
            if of.group != NONE && of.primary {
                users::insert(&mut self.groups[of.group as usize].entries, entry);
                self.scheduler_users[of.scheduler as usize] += 1;
            }
        }
        let talker = self.stream(stream).talker.index();
        users::insert(&mut self.talks[talker], stream);
        if let Some(link) = self.stream(stream).virtual_link {
            users::insert(self.sub_links.entry(link.id).or_default(), stream);
        }
    }

    /// Computes anew what a stream has in common with others, after it came or went.
    fn settle(&mut self, stream: u32) -> Touched {
        let mut touched = Touched::default();
        self.settle_senders(stream, &mut touched);
        for entry in self.entries_of(stream) {
            let of = &self.entries[entry as usize];
            let (port, group, reception) = (of.port, of.group, of.reception);
            touched.classes.push((port, of.class));
            if self.settle_port(port, Some(entry)) {
                touched.ports.push(port);
            }
            if let Some(to) = self.reception_behind(port) {
                let now = self.reception(to);
                // Where stages do not keep up, all that comes counts.
                let all = now.is_some_and(|now| !now.keeps_up()) || now != self.receptions[to as usize];
                self.receptions[to as usize] = now;
                if all {
                    touched.entries.extend_from_slice(&self.received[to as usize]);
                }
            }
            if group != NONE {
                self.settle_group(group);
                let members = self.received[reception as usize].iter().copied();
                touched.entries.extend(members.filter(|other| self.entries[*other as usize].group == group));
            }
        }
        touched
    }

    /// The host of a stream, the streams that it sends too, and those of the same virtual link.
    fn settle_senders(&mut self, stream: u32, touched: &mut Touched) {
        let talker = self.stream(stream).talker.index();
        let of_host = if self.settle_host(talker) { self.talks[talker].clone() } else { Vec::new() };
        let link = self.stream(stream).virtual_link;
        let of_link = link.and_then(|link| self.sub_links.get(&link.id).cloned()).unwrap_or_default();
        let runs = self.talks[talker].binary_search(&stream).is_ok();
        let others = of_host.into_iter().chain(of_link).filter(|other| *other != stream);
        for other in others.chain(runs.then_some(stream)) {
            self.settle_talker(other);
            touched.entries.extend(self.entries_of(other));
        }
    }
}
