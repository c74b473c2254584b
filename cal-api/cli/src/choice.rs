//! A device as it is named on the command line, and how it is to behave: `1`, `cpu`, `llvmpipe:faithful`, `cpu:baseline`.

use std::fmt;

use recal::{Config, Context, Device, FloatMode, InstructionSet, Runtime};

use crate::Outcome;

/// A device, before it is looked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    text: String,
    which: Which,
    float: Option<FloatMode>,
    isa: Option<InstructionSet>,
}

#[derive(Clone, Debug, PartialEq)]
enum Which {
    /// As `recal devices` counts.
    Number(u32),
    /// A backend, or a part of the device's name.
    Name(String),
}

/// A device that was opened.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) device: Device,
    pub(crate) context: Context,
}

/// `DEVICE[:WORD…]`
pub(crate) fn choice(text: &str) -> Result<Choice, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        return Err("expected a device by number or by a part of its name".into());
    }
    let which = name.parse().map_or_else(|_| Which::Name(name.to_ascii_lowercase()), Which::Number);
    let mut choice = Choice { text: text.to_owned(), which, float: None, isa: None };
    for word in parts {
        match word {
            "native" => choice.float = Some(FloatMode::Native),
            "faithful" => choice.float = Some(FloatMode::Faithful),
            _ => match InstructionSet::ALL.into_iter().find(|set| set.name() == word) {
                Some(set) => choice.isa = Some(set),
                None => {
                    let sets = InstructionSet::ALL.map(InstructionSet::name).join(", ");
                    return Err(format!("`{word}` is none of native, faithful, {sets}"));
                }
            },
        }
    }
    Ok(choice)
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Choice {
    /// Opens it, in a runtime of its own: the same device may be opened twice.
    pub(crate) fn open(&self) -> Outcome<Opened> {
        let (config, _) = Config::from_env();
        // What is looked into is not captured again.
        let mut config = Config { capture: None, ..config };
        config.isa = self.isa.unwrap_or(config.isa);
        match &self.which {
            Which::Name(name) if name == "cpu" => config.backends = vec!["cpu".into()],
            // Software rasterisers, too: they were named.
            Which::Name(_) if config.backends.is_empty() => {
                config.backends = vec!["vulkan".into(), "cpu".into()];
            }
            _ => {}
        }
        let float = self.float.unwrap_or(config.float);
        let runtime = Runtime::with_config(config)?;
        let ordinal = match &self.which {
            Which::Number(number) => *number,
            Which::Name(name) => {
                let found = runtime.devices_by_backend().position(|(backend, info)| {
                    backend == name || info.name.to_ascii_lowercase().contains(name)
                });
                found.ok_or_else(|| {
                    let known: Vec<&str> = runtime.devices().map(|info| &*info.name).collect();
                    format!("--device {self}: no device is called so; there are {}", known.join(", "))
                })? as u32
            }
        };
        let device = runtime.open_with(ordinal, float)?;
        let context = device.create_context()?;
        let words = self.text.split_once(':').map_or("", |(_, words)| words).replace(':', ", ");
        let name = &device.info().name;
        let name = if words.is_empty() { name.clone() } else { format!("{name}, {words}") };
        Ok(Opened { name, device, context })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_numbers_or_names() {
        assert_eq!(choice("3").unwrap().which, Which::Number(3));
        let exact = choice("LLVMpipe:faithful:avx2").unwrap();
        assert_eq!(exact.which, Which::Name("llvmpipe".into()));
        assert_eq!((exact.float, exact.isa), (Some(FloatMode::Faithful), Some(InstructionSet::Avx2)));
        assert!(choice("").is_err() && choice("cpu:fast").is_err());
    }
}
