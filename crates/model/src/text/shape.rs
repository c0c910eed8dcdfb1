//! What a part of a description may look like: the types of the grammar's tables.

/// The kind of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// A name: letters, digits, `-`, `_`, `.`; or `node:port` where one is meant.
    Name,
    /// The name of a node, or `node:port`.
    Reference,
    /// A duration with its unit.
    Duration,
    /// A duration with its unit, or a fraction of one.
    Period,
    /// A duration that may be negative.
    SignedDuration,
    /// A bit rate with its unit.
    Rate,
    /// A size in octets with its unit.
    Octets,
    /// A size in bits or octets with its unit.
    Bits,
    /// A deviation, in ppm or ppb.
    Deviation,
    /// A deviation that may be negative.
    SignedDeviation,
    /// A chance, `1e-12`.
    Chance,
    /// A length of cable, `5 m`.
    Length,
    /// `true` or `false`.
    Flag,
    /// An integer from the first to the second.
    Integer(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A MAC address.
    MacAddress,
    /// An IPv4 address.
    Ipv4Address,
    /// A mapping with these keys.
    Object(&'static Shape),
    /// A mapping whose key `type` selects its other keys.
    Tagged(&'static [(&'static str, &'static Shape)]),
    /// A mapping from names that the description gives.
    Names(&'static Kind),
    /// A mapping from numbers, from the first to the second.
    Numbers(u64, u64, &'static Kind),
    /// A list of at least the first and at most the second number of elements.
    List(usize, usize, &'static Kind),
    /// One of these, distinguished by form, then by trial.
    OneOf(&'static [Kind]),
}

/// The keys of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What it describes: `a stream`.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// Its keys, in groups that several shapes share.
    pub keys: &'static [&'static [Key]],
}

/// A key of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// What holds where it is not there, if that is one value for all.
    pub default: Option<&'static str>,
    /// The range of its values; all.
    pub range: Range,
    /// Its meaning.
    pub about: &'static str,
}

/// Which values a key takes, as texts of its kind: least and most included. What is in a list is held to it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Least.
    pub min: Option<&'static str>,
    /// Most.
    pub max: Option<&'static str>,
    /// What they are multiples of.
    pub step: Option<&'static str>,
}

impl Range {
    /// All values of the kind.
    pub const ALL: Self = Self { min: None, max: None, step: None };

    /// The range in words; none if there is no limit.
    pub fn words(&self) -> Option<String> {
        let bounds = match (self.min, self.max) {
            (Some(min), Some(max)) => Some(format!("from {min} to {max}")),
            (Some(min), None) => Some(format!("at least {min}")),
            (None, Some(max)) => Some(format!("at most {max}")),
            (None, None) => None,
        };
        let step = self.step.map(|step| format!("in steps of {step}"));
        let parts: Vec<String> = bounds.into_iter().chain(step).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Key {
    /// A key that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: false, default: None, range: Range::ALL, about }
    }

    /// The same, with a default.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The same, whose values are this at least; a text of its kind.
    #[must_use]
    pub const fn at_least(self, min: &'static str) -> Self {
        Self { range: Range { min: Some(min), ..self.range }, ..self }
    }

    /// The same, whose values are this at most.
    #[must_use]
    pub const fn at_most(self, max: &'static str) -> Self {
        Self { range: Range { max: Some(max), ..self.range }, ..self }
    }

    /// The same, whose values are multiples of this.
    #[must_use]
    pub const fn in_steps_of(self, step: &'static str) -> Self {
        Self { range: Range { step: Some(step), ..self.range }, ..self }
    }

    /// A key that must be there.
    #[must_use]
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: true, default: None, range: Range::ALL, about }
    }
}

impl Shape {
    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.keys.iter().copied().flatten()
    }

    /// The key `name`.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

/// The forms of YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Scalar,
    List,
    Map,
}

impl Kind {
    /// The form of the kind; none if it has several.
    pub fn form(&self) -> Option<Form> {
        Some(match self {
            Self::Object(_) | Self::Tagged(_) | Self::Names(_) | Self::Numbers(..) => Form::Map,
            Self::List(..) => Form::List,
            Self::OneOf(_) => return None,
            _ => Form::Scalar,
        })
    }

    /// The expected value, in words.
    pub fn describe(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Name => "a name".to_owned(),
            Self::Reference => "`node` or `node:port`".to_owned(),
            Self::Duration => "a duration such as `125 us`".to_owned(),
            Self::Period => "a duration such as `500 us`, or a fraction of one such as `1/3 ms`".to_owned(),
            Self::SignedDuration => "a duration such as `-3 us`".to_owned(),
            Self::Rate => "a bit rate such as `100 Mbit/s`".to_owned(),
            Self::Octets => "a size such as `1500 B`".to_owned(),
            Self::Bits => "a size such as `12336 bit` or `1542 B`".to_owned(),
            Self::Deviation => "a deviation such as `100 ppm` or `500 ppb`".to_owned(),
            Self::SignedDeviation => "a deviation such as `-20 ppm` or `-500 ppb`".to_owned(),
            Self::Chance => "a chance such as `1e-12`".to_owned(),
            Self::Length => "a length such as `5 m`".to_owned(),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Integer(min, max) => format!("an integer from {min} to {max}"),
            Self::Word(words) => format!("one of `{}`", words.join("`, `")),
            Self::MacAddress => "a MAC address such as `02:00:00:00:00:01`".to_owned(),
            Self::Ipv4Address => "an IPv4 address such as `192.168.0.1`".to_owned(),
            Self::Object(shape) => format!("a mapping that describes {}", shape.name),
            Self::Tagged(_) => "a mapping with the key `type`".to_owned(),
            Self::Names(_) => "a mapping from names".to_owned(),
            Self::Numbers(min, max, _) => format!("a mapping from the numbers {min} to {max}"),
            Self::List(..) => "a list".to_owned(),
            Self::OneOf(kinds) => kinds.iter().map(Kind::describe).collect::<Vec<_>>().join(", or "),
        }
    }
}
