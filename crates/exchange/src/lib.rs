//! Networks in the forms of other tools.
//!
//! Each form is a file or folder of its name, with an [`Export`] or an [`Import`], and [`EXPORTS`] and [`IMPORTS`] list them. A form has less than a
//! description, or something else: whatever it does not express, and whatever a description does not take of it, is named in a line of its own, so
//! that nothing is left out unsaid.

mod captures;
mod dot;
mod graphml;
mod inet;
mod linuxptp;
mod lldp;
mod saihu;
mod tc;
mod times;
mod topology;
mod tsnkit;
mod xml;
mod yang;

use tautwire_model::Network;
use tautwire_model::network::{Link, NodeIndex, NodeKind, Port, PortIndex, Traffic};

/// A form in which a network can be written.
#[derive(Clone, Copy, Debug)]
pub struct Export {
    /// Its name at the command.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What a text of it holds.
    pub scope: Scope,
}

/// What a text of a form holds.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// The network.
    Network(fn(&Network) -> Converted),
    /// A file of several.
    Files(fn(&Network) -> Vec<Text>),
    /// A bridge.
    Bridge {
        /// Ending of the name of a file.
        ending: &'static str,
        /// Writes a bridge.
        write: fn(&Network, NodeIndex) -> Converted,
    },
}

/// A text in another form, with the name of its file if there are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Name of the file, with its ending; none for a text of the network.
    pub file: Option<String>,
    /// The text, and what it leaves out.
    pub converted: Converted,
}

impl Export {
    /// Writes the network; or each bridge, or one of them.
    ///
    /// # Errors
    /// A sentence that says why there is no such text.
    pub fn write(&self, network: &Network, node: Option<&str>) -> Result<Vec<Text>, String> {
        let (ending, write) = match (self.scope, node) {
            (Scope::Network(write), None) => {
                return Ok(vec![Text { file: None, converted: write(network) }]);
            }
            (Scope::Files(write), None) => {
                let texts = write(network);
                if texts.is_empty() {
                    return Err(format!("the network has nothing of {}", self.name));
                }
                return Ok(texts);
            }
            (Scope::Network(_) | Scope::Files(_), Some(_)) => {
                return Err(format!("{} is of the network as a whole: it takes no node", self.name));
            }
            (Scope::Bridge { ending, write }, _) => (ending, write),
        };
        if let Some(name) = node.filter(|name| network.nodes.iter().all(|node| node.name != **name)) {
            return Err(format!("the network has no node `{name}`"));
        }
        let chosen = network.nodes.iter().enumerate().filter(|(_, own)| {
            matches!(own.kind, NodeKind::Bridge { .. }) && node.is_none_or(|name| name == own.name)
        });
        let texts: Vec<Text> = chosen
            .map(|(number, own)| Text {
                file: Some(format!("{}.{ending}", own.name)),
                converted: write(network, NodeIndex::at(number)),
            })
            .collect();
        match node {
            _ if !texts.is_empty() => Ok(texts),
            Some(name) => Err(format!("{} is of bridges, and `{name}` is none", self.name)),
            None => Err(format!("{} is of bridges, and the network has none", self.name)),
        }
    }
}

/// A network in another form, or a description of what has another form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// The text; a description is YAML.
    pub text: String,
    /// What the text does not take over, and what a description says without its files; a line each.
    pub left_out: Vec<String>,
    /// Files that the description names, with their texts: they belong into its folder.
    pub files: Vec<(String, String)>,
    /// What is wrong with the files that are read; with any there is no description.
    faults: Vec<String>,
}

impl Converted {
    /// A value; or notes why there is none, so that one reading finds all faults.
    fn keep<T>(&mut self, read: Result<T, String>) -> Option<T> {
        read.map_err(|why| self.fault(why)).ok()
    }

    /// Notes a fault, once.
    fn fault(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.faults.contains(&why) {
            self.faults.push(why);
        }
    }

    /// Notes what is left out, each once.
    fn lacks(&mut self, line: impl Into<String>) {
        let line = line.into();
        if !self.left_out.contains(&line) {
            self.left_out.push(line);
        }
    }
}

/// A form that can be read.
#[derive(Clone, Copy, Debug)]
pub struct Import {
    /// Its name at the command.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Commands that get files of this form and read them, a line each.
    pub example: &'static str,
    /// Whether a file may have several configurations, of which one is read.
    has_configurations: bool,
    /// Reads files; its error is the fault behind which nothing can be read, and all others are in what it converted.
    of: fn(&Files<'_>, &mut Converted) -> Result<(), String>,
    /// The same of a form whose files are no texts, by their names and octets.
    of_octets: Option<OfOctets>,
    /// Puts what files say into a description that is there; none if the form cannot.
    onto: Option<Onto>,
}

type OfOctets = fn(&[(String, Vec<u8>)], &mut Converted) -> Result<(), String>;

type Onto = fn(&Files<'_>, &Base<'_>, &mut Converted) -> Result<(), String>;

/// A description into which files are read.
#[derive(Clone, Copy, Debug)]
pub struct Base<'b> {
    /// Its text.
    pub text: &'b str,
    /// Its network.
    pub network: &'b Network,
}

/// Files, and the configuration of them that is read.
struct Files<'f> {
    inputs: &'f [Input],
    configuration: Option<&'f str>,
}

impl Import {
    /// Reads a network; of a file with several configurations the one of this name.
    ///
    /// # Errors
    /// All that is wrong with the files: sentences with the file and the place in it.
    pub fn read(&self, inputs: &[Input], configuration: Option<&str>) -> Result<Converted, Vec<String>> {
        if configuration.is_some() && !self.has_configurations {
            return Err(vec![format!(
                "files of {} have no configurations: leave out the name of one",
                self.name
            )]);
        }
        let mut converted = Converted::default();
        if self.reads_octets() {
            return Err(vec![format!("files of {} are octets, no texts", self.name)]);
        }
        let read = (self.of)(&Files { inputs, configuration }, &mut converted);
        converted.keep(read);
        if converted.faults.is_empty() { Ok(converted) } else { Err(converted.faults) }
    }

    /// Whether its files are octets and no texts: [`Self::read_octets`] reads them.
    #[must_use]
    pub fn reads_octets(&self) -> bool {
        self.of_octets.is_some()
    }

    /// Reads a network of files that are no texts, by their names and octets.
    ///
    /// # Errors
    /// All that is wrong with the files.
    pub fn read_octets(&self, inputs: &[(String, Vec<u8>)]) -> Result<Converted, Vec<String>> {
        let Some(of) = self.of_octets else {
            return Err(vec![format!("files of {} are texts", self.name)]);
        };
        let mut converted = Converted::default();
        let read = of(inputs, &mut converted);
        converted.keep(read);
        if converted.faults.is_empty() { Ok(converted) } else { Err(converted.faults) }
    }

    /// Reads files into a description, whose text changes only where they say something else.
    ///
    /// # Errors
    /// All that is wrong with the files, and what they say that the text cannot take.
    pub fn read_into(&self, inputs: &[Input], base: &Base<'_>) -> Result<Converted, Vec<String>> {
        let Some(onto) = self.onto else {
            let forms: Vec<&str> =
                IMPORTS.iter().filter(|one| one.onto.is_some()).map(|one| one.name).collect();
            return Err(vec![format!(
                "files of {} take no base: those of {} do",
                self.name,
                forms.join(", ")
            )]);
        };
        let mut converted = Converted::default();
        let read = onto(&Files { inputs, configuration: None }, base, &mut converted);
        converted.keep(read);
        if converted.faults.is_empty() { Ok(converted) } else { Err(converted.faults) }
    }
}

/// A file in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, without folder and ending.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// All forms that can be read.
pub static IMPORTS: [&Import; 11] = [
    &lldp::IMPORT,
    &linuxptp::IMPORT,
    &graphml::IMPORT,
    &tc::IMPORT,
    &tsnkit::IMPORT,
    &saihu::IMPORT,
    &inet::IMPORT,
    &yang::IMPORT,
    &yang::uni::IMPORT,
    &yang::gptp::IMPORT,
    &captures::IMPORT,
];

/// The form of a name that can be read.
#[must_use]
pub fn import(name: &str) -> Option<&'static Import> {
    IMPORTS.into_iter().find(|import| import.name == name)
}

/// All forms that can be written.
pub static EXPORTS: [&Export; 12] = [
    &tc::EXPORT,
    &yang::JSON,
    &yang::XML,
    &yang::uni::JSON,
    &yang::uni::XML,
    &yang::gptp::JSON,
    &yang::gptp::XML,
    &tsnkit::EXPORT,
    &saihu::EXPORT,
    &inet::EXPORT,
    &dot::EXPORT,
    &graphml::EXPORT,
];

/// The form of a name that can be written.
#[must_use]
pub fn export(name: &str) -> Option<&'static Export> {
    EXPORTS.into_iter().find(|export| export.name == name)
}

/// What a network has in addition to nodes, cables and streams, by the keys of a description.
fn mechanisms(network: &Network) -> Vec<&'static str> {
    let stated = [
        ("tdma", network.tdma.is_some()),
        ("time-triggered", network.time_triggered.is_some()),
        ("stream-reservation", network.srp.is_some()),
        ("gptp", network.gptp.is_some()),
        ("harts", network.harts.is_some()),
        ("test", network.test_bed.is_some()),
        ("virtual-link", network.streams.iter().any(|stream| stream.virtual_link.is_some())),
        ("frer", network.streams.iter().any(|stream| stream.replication.is_some())),
        ("events", !network.events.is_empty()),
    ];
    let stated = stated.into_iter().filter(|(_, is_in)| *is_in).map(|(key, _)| key);
    stated.chain(network.sections.keys()).collect()
}

/// A cable: its first direction, and the ports at its ends.
struct Cable<'n> {
    link: &'n Link,
    ends: [&'n Port; 2],
}

/// The cables of a network, in the order of the description.
fn cables(network: &Network) -> impl Iterator<Item = Cable<'_>> {
    network.links.iter().step_by(2).map(|link| {
        let port = |at: PortIndex| &network.ports[at.index()];
        Cable { link, ends: [port(link.from), port(link.to)] }
    })
}

/// The name of a port's node.
fn node_of<'n>(network: &'n Network, port: &Port) -> &'n str {
    &network.nodes[port.node.index()].name
}

/// The word for a kind of nodes.
fn kind(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::EndStation { .. } => "end-station",
        NodeKind::Bridge { .. } => "bridge",
    }
}

/// A name as a description takes it.
fn valid(name: &str) -> String {
    if name.is_empty() {
        return "unnamed".to_owned();
    }
    let letter = |letter: char| {
        if letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/') { letter } else { '-' }
    };
    name.chars().map(letter).collect()
}

/// A name as a text of YAML, whatever it looks like: `on` and `1e3` are names, too.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// What a form for topologies alone leaves out.
fn topology_lacks(network: &Network, written: &mut Converted) {
    // Frames of protocols are streams of a network, too, but none of its description.
    let streams = network.streams.iter().filter(|stream| stream.traffic != Traffic::Protocol).count();
    if streams > 0 {
        written.lacks(format!("{streams} stream{}", if streams == 1 { "" } else { "s" }));
    }
    for vlan in &network.vlans {
        written.lacks(format!("VLAN {}: its members", vlan.id.number()));
    }
    for port in &network.ports {
        written.lacks(format!("port {}.{}: its queues and classes", node_of(network, port), port.name));
    }
    for key in mechanisms(network) {
        written.lacks(format!("`{key}`"));
    }
}
