//! The grammar of a description, read from its JSON Schema: which keys an object may have, and of what kind their values are.

use super::tree::{Path, Step, Tree};

/// A key of a shape: its place in `Grammar::keys`.
pub type KeyIndex = usize;

/// Of what kind a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text, a name or a reference.
    Text,
    /// A number and a unit, and whether it may have a sign.
    Quantity { units: Vec<String>, signed: bool },
    /// From 0 to 1.
    Chance,
    /// `true` or `false`.
    Flag,
    /// An integer from the first to the second.
    Integer(u64, u64),
    /// One of these.
    Word(Vec<String>),
    /// A MAC address.
    MacAddress,
    /// An IPv4 address.
    Ipv4Address,
    /// A shape, by its place.
    Object(usize),
    /// Shapes by the value of their key `type`.
    Tagged(Vec<(String, usize)>),
    /// A mapping from names.
    Names(Box<Self>),
    /// A mapping from numbers up to this.
    Numbers(u64, Box<Self>),
    /// A list with this many elements at least.
    List(usize, Box<Self>),
    /// One of these.
    OneOf(Vec<Self>),
}

/// A key and its place.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// The shape that contains it.
    pub(super) shape: usize,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// What holds where it is not there.
    pub(super) default: Option<Tree>,
}

/// The keys of an object.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) name: String,
    /// In the order of the schema.
    pub(super) keys: Vec<KeyIndex>,
}

/// All shapes and keys. The first shape is that of the description.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub(super) shapes: Vec<Shape>,
    pub(super) keys: Vec<Key>,
}

/// A node of a description that the grammar knows.
#[derive(Clone, Debug)]
pub(super) struct Place<'g> {
    pub(super) path: Path,
    /// The key that contains it, or its list or mapping.
    pub(super) key: Option<KeyIndex>,
    /// Its kind, alternatives chosen by its form.
    pub(super) kind: &'g Kind,
    /// The shape of an object.
    pub(super) shape: Option<usize>,
}

impl Grammar {
    /// The grammar of a JSON Schema as `tautwire schema` gives it.
    ///
    /// # Panics
    /// If it is another one.
    #[must_use]
    pub fn of_schema(schema: &str) -> Self {
        let schema = Tree::read(schema).expect("JSON is YAML");
        let definitions = schema.get("$defs").expect("definitions").entries();
        let named: Vec<&str> =
            std::iter::once("network").chain(definitions.iter().map(|(name, _)| name.as_str())).collect();
        let mut grammar = Self { shapes: Vec::new(), keys: Vec::new() };
        for (index, object) in
            std::iter::once(&schema).chain(definitions.iter().map(|(_, tree)| tree)).enumerate()
        {
            let required: Vec<&str> =
                object.get("required").map_or(&[][..], Tree::items).iter().filter_map(Tree::text).collect();
            let first = grammar.keys.len();
            for (name, value) in object.get("properties").map_or(&[][..], Tree::entries) {
                grammar.keys.push(Key {
                    shape: index,
                    name: name.clone(),
                    kind: kind(value, &named, definitions),
                    required: required.contains(&name.as_str()),
                    default: value.get("default").cloned(),
                });
            }
            let keys = (first..grammar.keys.len()).collect();
            grammar.shapes.push(Shape { name: named[index].to_owned(), keys });
        }
        grammar
    }

    /// How many keys there are, of all shapes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// `stream.priority`: a key with its shape.
    #[must_use]
    pub fn name(&self, key: KeyIndex) -> String {
        let key = &self.keys[key];
        format!("{}.{}", self.shapes[key.shape].name, key.name)
    }

    /// Whether a key only selects the shape of an object.
    #[must_use]
    pub fn is_tag(&self, key: KeyIndex) -> bool {
        matches!(&self.keys[key].kind, Kind::Word(words) if words.len() == 1) && self.keys[key].name == "type"
    }

    /// Every key of a description, once for each occurrence.
    #[must_use]
    pub fn keys_of(&self, description: &Tree) -> Vec<KeyIndex> {
        let with_shape =
            self.places(description).into_iter().filter_map(|place| Some((place.shape?, place.path)));
        let mut found = Vec::new();
        for (shape, path) in with_shape {
            for (name, _) in description.at(&path).map_or(&[][..], Tree::entries) {
                found.extend(self.key(shape, name));
            }
        }
        found
    }

    /// Whether a key has a default.
    #[must_use]
    pub fn has_default(&self, key: KeyIndex) -> bool {
        self.keys[key].default.is_some()
    }

    /// The description without a key anywhere, and with its default stated everywhere; none if no object may have it, or it has none.
    #[must_use]
    pub fn without_and_stated(&self, key: KeyIndex, description: &Tree) -> Option<[Tree; 2]> {
        let Key { shape, name, default, .. } = &self.keys[key];
        let default = default.as_ref()?;
        let (mut without, mut stated) = (description.clone(), description.clone());
        let places = self.places(description);
        let mut objects = places.iter().filter(|place| place.shape == Some(*shape)).peekable();
        objects.peek()?;
        for place in objects {
            let mut path = place.path.clone();
            path.push(Step::Key(name.clone()));
            without.remove(&path);
            stated.set(&path, default.clone());
        }
        Some([without, stated])
    }

    /// The key `name` of a shape.
    pub(super) fn key(&self, shape: usize, name: &str) -> Option<KeyIndex> {
        self.shapes[shape].keys.iter().copied().find(|key| self.keys[*key].name == name)
    }

    /// All nodes of a description that the grammar knows, each before those below it.
    pub(super) fn places(&self, description: &Tree) -> Vec<Place<'_>> {
        static ROOT: Kind = Kind::Object(0);
        let mut found = Vec::new();
        self.walk(description, &ROOT, None, &mut Vec::new(), &mut found);
        found
    }

    /// All nodes of a part of a description.
    pub(super) fn places_below<'g>(&'g self, part: &Tree, kind: &'g Kind) -> Vec<Place<'g>> {
        let mut found = Vec::new();
        self.walk(part, kind, None, &mut Vec::new(), &mut found);
        found
    }

    fn walk<'g>(
        &'g self,
        node: &Tree,
        kind: &'g Kind,
        key: Option<KeyIndex>,
        path: &mut Path,
        found: &mut Vec<Place<'g>>,
    ) {
        let Some(kind) = by_form(kind, node) else { return };
        let shape = shape_of(kind, node);
        found.push(Place { path: path.clone(), key, kind, shape });
        let mut below = |step: Step, node: &Tree, kind: &'g Kind, key: Option<KeyIndex>| {
            path.push(step);
            self.walk(node, kind, key, path, found);
            path.pop();
        };
        match (kind, node) {
            (Kind::Object(_) | Kind::Tagged(_), Tree::Map(entries)) => {
                for (name, value) in entries {
                    if let Some(index) = shape.and_then(|shape| self.key(shape, name)) {
                        below(Step::Key(name.clone()), value, &self.keys[index].kind, Some(index));
                    }
                }
            }
            (Kind::Names(inner) | Kind::Numbers(_, inner), Tree::Map(entries)) => {
                for (name, value) in entries {
                    below(Step::Key(name.clone()), value, inner, key);
                }
            }
            (Kind::List(_, inner), Tree::List(items)) => {
                for (place, item) in items.iter().enumerate() {
                    below(Step::Item(place), item, inner, key);
                }
            }
            _ => {}
        }
    }
}

/// The alternative that a node's form chooses.
fn by_form<'g>(kind: &'g Kind, node: &Tree) -> Option<&'g Kind> {
    let fits = |kind: &Kind| match node {
        Tree::Map(_) => {
            matches!(kind, Kind::Object(_) | Kind::Tagged(_) | Kind::Names(_) | Kind::Numbers(..))
        }
        Tree::List(_) => matches!(kind, Kind::List(..)),
        Tree::Scalar(_) => !matches!(
            kind,
            Kind::Object(_) | Kind::Tagged(_) | Kind::Names(_) | Kind::Numbers(..) | Kind::List(..)
        ),
        Tree::Nothing => true,
    };
    match kind {
        Kind::OneOf(kinds) => {
            let word = |kind: &&Kind| matches!((kind, node.text()), (Kind::Word(words), Some(text)) if words.iter().any(|word| word == text));
            kinds
                .iter()
                .find(word)
                .or_else(|| kinds.iter().find(|kind| fits(kind) && !matches!(kind, Kind::Word(_))))
        }
        kind => fits(kind).then_some(kind),
    }
}

fn shape_of(kind: &Kind, node: &Tree) -> Option<usize> {
    match kind {
        Kind::Object(shape) => Some(*shape),
        Kind::Tagged(shapes) => {
            let tag = node.get("type")?.text()?;
            shapes.iter().find(|(name, _)| name == tag).map(|(_, shape)| *shape)
        }
        _ => None,
    }
}

/// The shape that a `$ref` names.
fn referred(value: &Tree, named: &[&str]) -> Option<usize> {
    let name = value.get("$ref")?.text()?.strip_prefix("#/$defs/")?;
    named.iter().position(|other| *other == name)
}

fn texts(list: &Tree) -> Vec<String> {
    list.items().iter().filter_map(Tree::text).map(str::to_owned).collect()
}

fn kind(value: &Tree, named: &[&str], definitions: &[(String, Tree)]) -> Kind {
    let inner = |value: &Tree| kind(value, named, definitions);
    let number = |key: &str| value.get(key).and_then(Tree::text).and_then(|text| text.parse::<u64>().ok());
    let has_type = |wanted: &str| {
        value.get("type").is_some_and(|of| {
            of.text() == Some(wanted) || of.items().iter().any(|item| item.text() == Some(wanted))
        })
    };
    if let Some(shape) = referred(value, named) {
        return Kind::Object(shape);
    }
    if let Some(variants) = value.get("oneOf") {
        let tagged = |variant: &Tree| {
            let shape = referred(variant, named)?;
            let tag = definitions[shape - 1].1.get("properties")?.get("type")?.get("const")?.text()?;
            Some((tag.to_owned(), shape))
        };
        return Kind::Tagged(variants.items().iter().filter_map(tagged).collect());
    }
    if let Some(variants) = value.get("anyOf") {
        return Kind::OneOf(variants.items().iter().map(inner).collect());
    }
    if let Some(word) = value.get("const").and_then(Tree::text) {
        return Kind::Word(vec![word.to_owned()]);
    }
    if let Some(words) = value.get("enum").map(texts) {
        return if words.iter().any(|word| word == "true") { Kind::Flag } else { Kind::Word(words) };
    }
    if let Some(of) = value.get("additionalProperties").filter(|_| value.get("propertyNames").is_some()) {
        let pattern =
            value.get("propertyNames").and_then(|names| names.get("pattern")?.text()).unwrap_or_default();
        return match pattern {
            pattern if pattern.starts_with("^[1-9]") => Kind::Numbers(4_094, Box::new(inner(of))),
            pattern if pattern.len() < 10 => Kind::Numbers(7, Box::new(inner(of))),
            _ => Kind::Names(Box::new(inner(of))),
        };
    }
    if let Some(items) = value.get("items") {
        let least = number("minItems").unwrap_or(0);
        return Kind::List(usize::try_from(least).expect("few"), Box::new(inner(items)));
    }
    if has_type("integer") && value.get("minimum").is_some() {
        return Kind::Integer(number("minimum").unwrap_or(0), number("maximum").unwrap_or(u64::MAX));
    }
    if value.get("minimum").is_some() {
        return Kind::Chance;
    }
    if value.get("format").is_some() {
        return Kind::Ipv4Address;
    }
    let pattern = value.get("pattern").and_then(Tree::text).unwrap_or_default();
    let Some(example) = value.get("examples").and_then(|list| list.items().first()?.text()) else {
        return Kind::Text;
    };
    if example.contains(':') {
        return Kind::MacAddress;
    }
    let units = pattern.rsplit_once('(').map_or("", |(_, units)| units.split(')').next().unwrap_or_default());
    Kind::Quantity {
        units: units.split('|').map(|unit| unit.replace("\\/", "/")).collect(),
        signed: pattern.contains("[+-]?"),
    }
}
