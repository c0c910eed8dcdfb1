//! Ports of a node: classes, limits of queues, selection, gates; and how long a switch keeps a frame.

use super::super::CLASSES;
use super::super::value::{Unit, Value};
use super::{Class, Gate, Node, Port, Reader};

impl Reader<'_> {
    /// Ports, classes, gates and the delay of a node.
    pub(super) fn node(&mut self, node: &mut Node) {
        let name = node.name.clone();
        let is_shaped = self.flag(&format!("{name}.hasEgressTrafficShaping"));
        let is_shaped = self.converted.keep(is_shaped).unwrap_or(false);
        for (number, port) in node.ports.iter_mut().enumerate() {
            let queue = format!("{name}.eth[{number}].macLayer.queue");
            if is_shaped {
                let classes = self.classes(&queue, port);
                self.converted.keep(classes);
                continue;
            }
            let limit = self.limit(&queue);
            if let Some(limit) = self.converted.keep(limit).flatten() {
                port.classes.entry(0).or_default().limit = Some(limit);
            }
        }
        if node.is_switch {
            let relay = self.relay(&name);
            (node.delay, node.untags) = self.converted.keep(relay).unwrap_or_default();
        }
    }

    /// How long a switch keeps a frame, and whether it takes tags off.
    fn relay(&self, name: &str) -> Result<((u64, u64), bool), String> {
        let layer = format!("{name}.bridging.directionReverser");
        let is_delayed =
            self.text(&format!("{layer}.delayer.typename"))?.is_some_and(|kind| kind == "PacketDelayer");
        let delay = if is_delayed { self.delay(&format!("{layer}.delayer.delay"))? } else { (0, 0) };
        let excluded = self.value(&format!("{layer}.reverser.excludeEncapsulationProtocols"), 0)?;
        let untags = excluded.is_some_and(|(value, _)| {
            value.list().unwrap_or(&[]).iter().any(|one| one.text() == Some("ieee8021qctag"))
        });
        Ok((delay, untags))
    }

    /// A delay, constant or uniform.
    fn delay(&self, path: &str) -> Result<(u64, u64), String> {
        let Some((value, place)) = self.value(path, 0)? else { return Ok((0, 0)) };
        let found = match &value {
            Value::Call(name, values) if name == "uniform" && values.len() == 2 => {
                values[0].whole(Unit::Time).zip(values[1].whole(Unit::Time))
            }
            value => value.whole(Unit::Time).map(|time| (time, time)),
        };
        found.filter(|(least, most)| least <= most).ok_or_else(|| {
            format!("{place}: a delay is a time, or `uniform(least, most)`, in whole picoseconds")
        })
    }

    fn classes(&mut self, queue: &str, port: &mut Port) -> Result<(), String> {
        let count = self.whole(&format!("{queue}.numTrafficClasses"), Unit::None)?.unwrap_or(8);
        if !(1..=8).contains(&count) {
            return Err(format!("{queue}: {count} traffic classes; there are 1 to 8"));
        }
        let column = usize::try_from(count - 1).expect("it is below 8");
        port.table = CLASSES.map(|row| row[column]);
        if let Some((value, place)) = self.value(&format!("{queue}.classifier.mapping"), 0)? {
            let rows: Option<Vec<u64>> = value
                .list()
                .unwrap_or(&[])
                .iter()
                .map(|row| {
                    row.list().and_then(|row| row.get(column)).and_then(|class| class.whole(Unit::None))
                })
                .collect();
            port.table = rows
                .and_then(|rows| rows.try_into().ok())
                .ok_or_else(|| format!("{place}: a mapping has eight rows of eight classes"))?;
        }
        port.untagged = self.whole(&format!("{queue}.classifier.defaultGateIndex"), Unit::None)?.unwrap_or(0);
        if port.untagged >= count || port.table.iter().any(|class| *class >= count) {
            return Err(format!("{queue}.classifier: a class that is not there"));
        }
        for class in 0..count {
            let own = self.class(queue, class);
            port.classes.extend(self.converted.keep(own).map(|own| (class, own)));
            let gate = self.gate(&format!("{queue}.transmissionGate[{class}]"), port);
            port.gates.extend(self.converted.keep(gate).flatten().map(|gate| (class, gate)));
        }
        Ok(())
    }

    fn class(&self, queue: &str, class: u64) -> Result<Class, String> {
        let path = format!("{queue}.transmissionSelectionAlgorithm[{class}]");
        let mut own = Class { limit: self.limit(&format!("{queue}.queue[{class}]"))?, ..Class::default() };
        let kind_of_queue = self.text(&format!("{queue}.queue[{class}].typename"))?;
        match self.text(&format!("{path}.typename"))?.as_deref() {
            None | Some("") => {}
            Some("Ieee8021qCreditBasedShaper" | "Ieee8021qCreditBasedGate") => {
                let slope = self.whole(&format!("{path}.idleSlope"), Unit::Rate)?;
                own.idle_slope =
                    Some(slope.ok_or_else(|| format!("{path}: a credit-based shaper without `idleSlope`"))?);
            }
            Some("EligibilityTimeGate" | "Ieee8021qAsynchronousShaper") => own.is_ats = true,
            Some(other) => return Err(format!("{path}: the selection `{other}` is not supported")),
        }
        let is_ordered = kind_of_queue.as_deref() == Some("EligibilityTimeQueue");
        if !is_ordered
            && kind_of_queue.as_deref().is_some_and(|kind| kind != "PacketQueue" && kind != "DropTailQueue")
        {
            return Err(format!(
                "{queue}.queue[{class}]: the type {} is not supported",
                kind_of_queue.unwrap_or_default()
            ));
        }
        if is_ordered != own.is_ats {
            return Err(format!(
                "{queue}: class {class} has one of EligibilityTimeQueue and EligibilityTimeGate alone"
            ));
        }
        Ok(own)
    }

    fn gate(&self, path: &str, port: &mut Port) -> Result<Option<Gate>, String> {
        let is_open = self.bool(&format!("{path}.initiallyOpen"))?.unwrap_or(true);
        let durations = self.value(&format!("{path}.durations"), 0)?;
        let offset = self.whole(&format!("{path}.offset"), Unit::Time)?.unwrap_or(0);
        if self.bool(&format!("{path}.enableImplicitGuardBand"))? == Some(false) {
            port.guard = false;
        }
        let Some((value, place)) = durations else {
            return Ok((!is_open).then(|| Gate { is_open, durations: Vec::new(), offset: 0 }));
        };
        let durations: Option<Vec<u64>> = value
            .list()
            .unwrap_or(&[])
            .iter()
            .map(|one| one.whole(Unit::Time).filter(|time| *time > 0))
            .collect();
        let durations = durations
            .filter(|durations| durations.len() % 2 == 0)
            .ok_or_else(|| format!("{place}: durations are an even number of times, in whole picoseconds"))?;
        Ok((!is_open || !durations.is_empty()).then_some(Gate { is_open, durations, offset }))
    }

    /// The limit of a queue.
    fn limit(&self, queue: &str) -> Result<Option<(u64, bool)>, String> {
        let path = format!("{queue}.packetCapacity");
        let dropper = self.text(&format!("{queue}.dropperClass"))?;
        let Some((value, place)) = self.value(&path, 0)? else { return Ok(None) };
        let Some(frames) = value.whole(Unit::None) else {
            return match value.number(Unit::None) {
                Some(number) if number.is_negative() => Ok(None),
                _ => Err(format!("{place}: a capacity is a whole number of packets")),
            };
        };
        let is_oldest = match dropper.as_deref().map(|name| name.rsplit("::").next().unwrap_or("")) {
            None | Some("" | "PacketAtCollectionEndDropper") => false,
            Some("PacketAtCollectionBeginDropper") => true,
            Some(other) => return Err(format!("{queue}: the dropper `{other}` is not supported")),
        };
        Ok(Some((frames, is_oldest)))
    }
}
