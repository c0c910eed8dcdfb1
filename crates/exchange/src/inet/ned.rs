//! NED files as far as networks have them: types that extend each other, parameters, submodules and connections.
//!
//! Not here: gates of modules, types in types, loops and conditions of connections, vectors of submodules; they are refused or listed with their
//! line.

/// A network, module or channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Type {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) extends: Option<String>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) submodules: Vec<Submodule>,
    pub(super) connections: Vec<Connection>,
    /// Parts that are not understood, with their lines.
    pub(super) not_understood: Vec<String>,
}

/// A parameter: its name or pattern, and its value as it is written.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) place: String,
    pub(super) name: String,
    pub(super) value: String,
}

impl Parameter {
    /// The value, and whether it is a default that an INI file may replace.
    pub(super) fn value(&self) -> (&str, bool) {
        let inner = self.value.strip_prefix("default(").and_then(|rest| rest.strip_suffix(')'));
        inner.map_or((self.value.as_str(), false), |value| (value.trim(), true))
    }
}

/// A submodule.
#[derive(Clone, Debug)]
pub(super) struct Submodule {
    pub(super) place: String,
    pub(super) name: String,
    /// Its type, or that which `typename` may replace.
    pub(super) kind: String,
    pub(super) parameters: Vec<Parameter>,
}

/// A cable: module and gate at both ends, and its channel.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) place: String,
    pub(super) ends: [(String, String); 2],
    pub(super) channel: Option<(String, Vec<Parameter>)>,
}

/// A word or sign, with its line and where it is in the text.
struct Token<'t> {
    text: &'t str,
    line: usize,
    at: usize,
}

/// Signs of several letters.
const SIGNS: [&str; 5] = ["<-->", "-->", "<--", "++", ".."];

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if letter.is_whitespace() {
            line += usize::from(letter == '\n');
            at += letter.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if letter == '"' {
            let mut is_escaped = false;
            let end = rest[1..].find(|letter| {
                let is_end = letter == '"' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                is_end
            });
            end.map_or(rest.len(), |end| end + 2)
        } else if letter.is_alphanumeric() || matches!(letter, '_' | '@') {
            let is_in = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '@' | '-' | '.');
            let end = rest.find(|letter| !is_in(letter)).unwrap_or(rest.len());
            // An arrow may follow a name at once.
            let word = &rest[..end];
            let end = word.find("--").unwrap_or(end);
            rest[..end].trim_end_matches('.').len().max(1)
        } else {
            SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(letter.len_utf8(), |sign| sign.len())
        };
        found.push(Token { text: &rest[..length], line, at });
        line += rest[..length].matches('\n').count();
        at += length;
    }
    found
}

/// All types of a file.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Type>, String> {
    let mut reader = Reader { name, text, tokens: tokens(text), next: 0 };
    let mut found = Vec::new();
    while let Some(token) = reader.peek() {
        match token {
            "package" | "import" | "property" => reader.skip_statement()?,
            _ if token.starts_with('@') => reader.skip_statement()?,
            "network" | "module" | "channel" | "simple" => found.push(reader.definition()?),
            other => return Err(reader.wrong(&format!("`{other}` where a network or module is expected"))),
        }
    }
    Ok(found)
}

struct Reader<'t> {
    name: &'t str,
    text: &'t str,
    tokens: Vec<Token<'t>>,
    next: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.next).map(|token| token.text)
    }

    fn place(&self) -> String {
        let line = self.tokens.get(self.next).or(self.tokens.last()).map_or(1, |token| token.line);
        format!("{}.ned:{line}", self.name)
    }

    fn wrong(&self, what: &str) -> String {
        format!("{}: {what}", self.place())
    }

    fn take(&mut self) -> Result<&'t str, String> {
        let found = self.peek().ok_or_else(|| self.wrong("the file ends too early"))?;
        self.next += 1;
        Ok(found)
    }

    fn is(&mut self, wanted: &str) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.next += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.is(wanted) {
            Ok(())
        } else {
            Err(self.wrong(&format!("`{wanted}` is expected before `{}`", self.peek().unwrap_or("the end"))))
        }
    }

    /// What is before one of some signs outside of brackets, as it is written.
    fn until(&mut self, ends: &[&str]) -> Result<&'t str, String> {
        let start = self.tokens.get(self.next).map_or(self.text.len(), |token| token.at);
        let mut open = 0_u32;
        loop {
            let Some(token) = self.tokens.get(self.next) else {
                return Err(self.wrong("the file ends too early"));
            };
            if open == 0 && ends.contains(&token.text) {
                return Ok(self.text[start..token.at].trim());
            }
            open = match token.text {
                "(" | "[" | "{" => open + 1,
                ")" | "]" | "}" => {
                    open.checked_sub(1).ok_or_else(|| self.wrong("a bracket that is not open"))?
                }
                _ => open,
            };
            self.next += 1;
        }
    }

    fn skip_statement(&mut self) -> Result<(), String> {
        self.until(&[";"])?;
        self.expect(";")
    }

    fn definition(&mut self) -> Result<Type, String> {
        let mut own = Type { kind: self.take()?.to_owned(), ..Type::default() };
        own.name = self.take()?.to_owned();
        while !self.is("{") {
            match self.take()? {
                "extends" => own.extends = Some(last(self.take()?)),
                "like" => {
                    self.take()?;
                }
                "," => {}
                other => return Err(self.wrong(&format!("`{other}` where `{{` is expected"))),
            }
        }
        let mut section = "parameters";
        while !self.is("}") {
            let token = self.peek().ok_or_else(|| self.wrong("the file ends too early"))?;
            if ["parameters", "gates", "submodules", "connections", "types"].contains(&token) {
                let place = self.place();
                self.next += 1;
                self.is("allowunconnected");
                self.expect(":")?;
                section = token;
                if section == "types" {
                    own.not_understood.push(format!("{place}: types of {}", own.name));
                }
                continue;
            }
            match section {
                "parameters" => own.parameters.extend(self.parameter()?),
                "submodules" => own.submodules.push(self.submodule()?),
                "connections" => self.connection(&mut own)?,
                "types" => {
                    self.until(&["{"])?;
                    self.skip_braces()?;
                }
                _ => self.skip_statement()?,
            }
        }
        Ok(own)
    }

    fn skip_braces(&mut self) -> Result<(), String> {
        self.expect("{")?;
        self.until(&["}"])?;
        self.expect("}")
    }

    /// A parameter; none for a property or a declaration without a value.
    fn parameter(&mut self) -> Result<Option<Parameter>, String> {
        let place = self.place();
        let text = self.until(&[";"])?;
        self.expect(";")?;
        if text.starts_with('@') {
            return Ok(None);
        }
        let Some((name, value)) = text.split_once('=') else { return Ok(None) };
        // The type before a name, and the unit behind it.
        let name = name.split('@').next().unwrap_or("").split_whitespace().last().unwrap_or("").to_owned();
        Ok(Some(Parameter { place, name, value: value.trim().to_owned() }))
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, String> {
        let mut found = Vec::new();
        let mut is_gates = false;
        while !self.is("}") {
            match self.peek() {
                Some(word @ ("parameters" | "gates")) => {
                    self.next += 1;
                    self.expect(":")?;
                    is_gates = word == "gates";
                }
                _ if is_gates => self.skip_statement()?,
                _ => found.extend(self.parameter()?),
            }
        }
        Ok(found)
    }

    fn submodule(&mut self) -> Result<Submodule, String> {
        let place = self.place();
        let name = self.take()?.to_owned();
        if self.peek() == Some("[") {
            return Err(format!("{place}: a vector of modules, `{name}`, is not supported: write each"));
        }
        self.expect(":")?;
        let kind = if self.is("<") {
            let inner = self.until(&[">"])?;
            self.expect(">")?;
            self.expect("like")?;
            self.take()?;
            let inner =
                inner.strip_prefix("default(").and_then(|text| text.strip_suffix(')')).unwrap_or(inner);
            last(inner.trim_matches('"'))
        } else {
            last(self.take()?)
        };
        if self.is("if") {
            self.until(&["{", ";"])?;
        }
        let parameters = if self.is("{") { self.parameters()? } else { Vec::new() };
        self.is(";");
        Ok(Submodule { place, name, kind, parameters })
    }

    fn connection(&mut self, own: &mut Type) -> Result<(), String> {
        let place = self.place();
        if self.peek() == Some("for") {
            return Err(format!("{place}: a loop of connections is not supported: write each"));
        }
        let first = self.end()?;
        let is_arrow = |text: Option<&str>| matches!(text, Some("<-->" | "-->" | "<--"));
        let arrow = self.take()?;
        let mut channel = None;
        let mut second = self.end()?;
        if self.peek() == Some("{") || is_arrow(self.peek()) {
            let parameters = if self.is("{") { self.parameters()? } else { Vec::new() };
            channel = Some((last(&second.0), parameters));
            self.take()?;
            second = self.end()?;
        }
        if self.peek() == Some("if") {
            return Err(format!("{place}: a connection with a condition is not supported"));
        }
        self.expect(";")?;
        if arrow == "<-->" {
            own.connections.push(Connection { place, ends: [first, second], channel });
        } else {
            own.not_understood.push(format!("{place}: a connection in one direction"));
        }
        Ok(())
    }

    /// `module.gate++` or `module.gate[3]`, or the type of a channel.
    fn end(&mut self) -> Result<(String, String), String> {
        let text = if self.peek() == Some("{") { "" } else { self.take()? };
        let (module, gate) = text.rsplit_once('.').unwrap_or((text, ""));
        let mut gate = gate.to_owned();
        if self.is("++") {
            gate.push_str("++");
        } else if self.is("[") {
            gate = format!("{gate}[{}]", self.until(&["]"])?);
            self.expect("]")?;
        } else {
            // The full text is the type of a channel.
            return Ok((text.to_owned(), gate));
        }
        Ok((module.to_owned(), gate))
    }
}

/// The last part of a name with packages.
fn last(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read() {
        let text = "package a.b; // one\nimport inet.node.tsn.TsnSwitch;\n@namespace(x);\nchannel C extends DatarateChannel { delay = 5ns; }\n\
            network N extends inet.networks.base.TsnNetworkBase\n{\n parameters:\n  *.eth[*].bitrate = default(100Mbps);\n  @display(\"a;b\");\n submodules:\n  a: <default(\"TsnDevice\")> like IEthernetNetworkNode { @display(\"p=1,2\"); }\n  s: TsnSwitch { hasEgressTrafficShaping = true; }\n connections:\n  a.ethg++ <--> C { length = 3m; } <--> s.ethg[0];\n  s.ethg++<-->EthernetLink<-->a.ethg++;\n}\n";
        let found = read("net", text).unwrap();
        let network = &found[1];
        assert_eq!((found[0].name.as_str(), found[0].parameters[0].value.as_str()), ("C", "5ns"));
        assert_eq!((network.name.as_str(), network.extends.as_deref()), ("N", Some("TsnNetworkBase")));
        assert_eq!(network.parameters[0].value(), ("100Mbps", true));
        assert_eq!(
            (network.submodules[0].kind.as_str(), network.submodules[1].kind.as_str()),
            ("TsnDevice", "TsnSwitch")
        );
        assert_eq!(network.submodules[1].parameters[0].name, "hasEgressTrafficShaping");
        let cables = &network.connections;
        assert_eq!(cables[0].ends[1], ("s".to_owned(), "ethg[0]".to_owned()));
        assert_eq!(cables[0].channel.as_ref().unwrap().1[0].value, "3m");
        assert_eq!(
            (cables[1].place.as_str(), cables[1].channel.as_ref().unwrap().0.as_str()),
            ("net.ned:15", "EthernetLink")
        );
        for wrong in [
            "network",
            "network N {",
            "network N { submodules: a[3]: X; }",
            "network N { connections: for i=0..3 { a.b++ <--> b.c++; } }",
            "x",
            "network N } {",
        ] {
            assert!(read("net", wrong).is_err(), "{wrong}");
        }
    }
}
