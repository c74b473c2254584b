//! Types of kernels: scalars, short vectors, structs of them.

use std::fmt;

pub use brook_abi::{Class, Scalar};

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Nothing.
    Void,
    /// One to four numbers.
    Vector(Scalar, u8),
    /// A struct, by its number in [`Structs`].
    Struct(u16),
    /// What a wrong expression has: no further errors come of it.
    Unknown,
}

impl Type {
    /// One `float`.
    pub const FLOAT: Type = Type::Vector(Scalar::Float, 1);
    /// One `int`.
    pub const INT: Type = Type::Vector(Scalar::Int, 1);

    /// The scalar of a vector.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Vector(scalar, _) => Some(scalar),
            _ => None,
        }
    }

    /// Components of a vector; 0 for others.
    pub fn width(self) -> u8 {
        match self {
            Type::Vector(_, n) => n,
            _ => 0,
        }
    }

    /// By its name: `float`, `uint3` …
    pub fn named(name: &str) -> Option<Type> {
        let (base, width) = match name.as_bytes().last()? {
            digit @ b'2'..=b'4' => (&name[..name.len() - 1], digit - b'0'),
            _ => (name, 1),
        };
        let scalar = Scalar::named(base)?;
        (scalar != Scalar::Double || width <= 2).then_some(Type::Vector(scalar, width))
    }
}

/// A struct that streams may hold.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Name of the type.
    pub name: String,
    /// Members in order.
    pub members: Vec<(String, Type)>,
}

/// The types of a file that have names: structs, and what `typedef` calls numbers, vectors and structs.
#[derive(Clone, Debug, Default)]
pub struct Structs(pub Vec<Struct>, Vec<(String, Option<Type>)>);

/// A number or vector inside a struct, or the type itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Names on the way to it, joined by `.`; empty for the type itself.
    pub path: String,
    /// Its scalar.
    pub scalar: Scalar,
    /// Its components.
    pub width: u8,
}

impl Leaf {
    /// Its type.
    pub fn ty(&self) -> Type {
        Type::Vector(self.scalar, self.width)
    }
}

impl Structs {
    /// The struct.
    pub fn get(&self, id: u16) -> &Struct {
        &self.0[usize::from(id)]
    }

    /// The struct called `name`, or what that is another name of.
    pub fn find(&self, name: &str) -> Option<Type> {
        let of = self.0.iter().position(|s| s.name == name).map(|at| Type::Struct(at as u16));
        of.or_else(|| self.1.iter().find(|(of, _)| of == name)?.1)
    }

    /// Another name of a type. One of two types, as behind `#ifdef` and `#else`, is none.
    pub fn call(&mut self, name: &str, ty: Type) {
        match self.1.iter_mut().find(|(of, _)| of == name) {
            Some((_, other)) => *other = other.filter(|other| *other == ty),
            None => self.1.push((name.to_owned(), Some(ty))),
        }
    }

    /// All such names, with what they stand for.
    pub fn other_names(&self) -> impl Iterator<Item = (&str, Type)> {
        self.1.iter().filter_map(|(name, ty)| Some((name.as_str(), (*ty)?)))
    }

    /// What the memory of a type is made of, nested structs flattened, in order.
    pub fn leaves(&self, ty: Type) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(ty, String::new(), &mut leaves);
        leaves
    }

    fn collect(&self, ty: Type, path: String, into: &mut Vec<Leaf>) {
        match ty {
            Type::Vector(scalar, width) => into.push(Leaf { path, scalar, width }),
            Type::Struct(id) => {
                for (name, member) in &self.get(id).members {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    self.collect(*member, path, into);
                }
            }
            Type::Void | Type::Unknown => {}
        }
    }

    /// Number of leaves of a type.
    pub fn count(&self, ty: Type) -> usize {
        match ty {
            Type::Vector(..) => 1,
            Type::Struct(id) => self.get(id).members.iter().map(|(_, t)| self.count(*t)).sum(),
            Type::Void | Type::Unknown => 0,
        }
    }

    /// A type as it is written.
    pub fn show(&self, ty: Type) -> String {
        match ty {
            Type::Struct(id) => self.get(id).name.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => f.write_str("void"),
            Type::Vector(scalar, 1) => f.write_str(scalar.name()),
            Type::Vector(scalar, n) => write!(f, "{}{n}", scalar.name()),
            Type::Struct(_) => f.write_str("struct"),
            Type::Unknown => f.write_str("?"),
        }
    }
}
