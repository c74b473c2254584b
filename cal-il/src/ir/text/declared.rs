//! What a program declares: sizes of groups and of memory, kinds of resources and UAVs.

use std::fmt::{self, Formatter};

use super::reader::{Found, Reader};
use super::{Form, Shown};
use crate::inst::{Block, GroupSize, Resource};
use crate::ir::{Dimension, Uav};

impl Form for GroupSize {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            GroupSize::Exact([x, y, z]) => write!(f, "exact {x} {y} {z}"),
            GroupSize::AtMost(most) => write!(f, "at_most {most}"),
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        if reader.takes_word("at_most") {
            return u32::parse(reader).map(GroupSize::AtMost);
        }
        reader.expect_word("exact")?;
        Ok(GroupSize::Exact([u32::parse(reader)?, u32::parse(reader)?, u32::parse(reader)?]))
    }
}

impl Form for Resource {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Resource { dimension, unnormalized, declared } = self;
        dimension.print(f)?;
        f.write_str(if *unnormalized { " unnormalized" } else { "" })?;
        f.write_str(if *declared { "" } else { " assumed" })
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let dimension = Dimension::parse(reader)?;
        let unnormalized = reader.takes_word("unnormalized");
        Ok(Resource { dimension, unnormalized, declared: !reader.takes_word("assumed") })
    }
}

impl Form for Uav {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Uav::Raw => f.write_str("raw"),
            Uav::Arena => f.write_str("arena"),
            Uav::Structured { stride } => write!(f, "structured {stride}"),
            Uav::Typed { dimension } => write!(f, "typed {}", Shown(dimension)),
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let start = reader.place();
        match reader.word()? {
            "raw" => Ok(Uav::Raw),
            "arena" => Ok(Uav::Arena),
            "structured" => Ok(Uav::Structured { stride: u32::parse(reader)? }),
            "typed" => Ok(Uav::Typed { dimension: Dimension::parse(reader)? }),
            word => Err(reader.wrong_since(start, format!("`{word}` is no kind of UAV"))),
        }
    }
}

impl Form for Block {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Block { bytes, stride } = self;
        write!(f, "{bytes} stride {stride}")
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let bytes = u32::parse(reader)?;
        reader.expect_word("stride")?;
        Ok(Block { bytes, stride: u32::parse(reader)? })
    }
}
