//! What an editor wants to be launched, as the arguments of the command.

use clap::{Args as _, FromArgMatches as _};
use serde_json::Value;

use super::super::Arguments;

/// The command line that says what the arguments of a launch say.
fn command_line(arguments: &Value) -> Result<Vec<String>, String> {
    let program = arguments["program"].as_str().ok_or("`program` is the kernel's file")?;
    let mut line = vec!["launch".to_owned()];
    for name in ["bind", "save"] {
        let option = format!("--{name}");
        let pairs: Vec<String> = match &arguments[name] {
            Value::Null => Vec::new(),
            Value::Object(pairs) => {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                pairs.iter().map(|(symbol, value)| format!("{symbol}={}", text(value))).collect()
            }
            _ => return Err(format!("`{name}` is an object of symbols, e.g. {{\"i0\": \"in.npy\"}}")),
        };
        line.extend(pairs.into_iter().flat_map(|pair| [option.clone(), pair]));
    }
    for name in ["domain", "grid", "thread"] {
        let text = match &arguments[name] {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(format!("`{name}` is a text, e.g. \"16x16\"")),
        };
        line.extend([format!("--{name}"), text]);
    }
    line.extend(["--".to_owned(), program.to_owned()]);
    Ok(line)
}

/// What an editor wants to be launched.
pub(super) fn arguments(request: &Value) -> Result<Arguments, String> {
    let given = &request["arguments"];
    if let Some(folder) = given["cwd"].as_str() {
        std::env::set_current_dir(folder).map_err(|e| format!("{folder}: {e}"))?;
    }
    let command = Arguments::augment_args(clap::Command::new("launch"));
    let matches = command.try_get_matches_from(command_line(given)?).map_err(|e| e.to_string())?;
    Arguments::from_arg_matches(&matches).map_err(|e| e.to_string())
}
