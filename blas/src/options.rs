//! What the environment says: the variables `CALBLAS_…`, documented in `docs/blas.md`.

use std::path::PathBuf;

/// How products are shared out and cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `CALBLAS_DEVICES`: ordinals of the devices that work; all but the CPU if `None`, or the CPU where nothing else is.
    pub devices: Option<Vec<u32>>,
    /// `CALBLAS_DEVICES=rank`: one of those devices, by this number modulo their count: a process of MPI has its number on its machine.
    pub rank: Option<u32>,
    /// `CALBLAS_THRESHOLD`: products with fewer multiplications (m n k) are the host's.
    pub threshold: f64,
    /// `CALBLAS_SHARE`: the devices' part of the work, 0 to 1; by measured speeds if `None`.
    pub share: Option<f64>,
    /// `CALBLAS_BLOCK`: most rows and columns of a block of the product on a device.
    pub block: usize,
    /// The folder where measurements are kept: `blas` in that of `CAL_CACHE`.
    pub cache: Option<PathBuf>,
    /// `CALBLAS_LOG`: tell at the end what was done where: `1` on standard error, or a file that lines are added to.
    pub log: Option<String>,
}

/// Multiplications below which a product stays on the host: 192 x 192 x 192.
pub const THRESHOLD: f64 = 192.0 * 192.0 * 192.0;

/// Variables by which starters of MPI programs tell a process its number on its machine: Open MPI, MPICH and Intel, MVAPICH, Slurm,
/// PALS.
const RANKS: [&str; 5] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "SLURM_LOCALID",
    "PALS_LOCAL_RANKID",
];

/// Most rows and columns of a block.
pub const BLOCK: usize = 4096;

impl Default for Options {
    fn default() -> Self {
        Options {
            devices: None,
            rank: None,
            threshold: THRESHOLD,
            share: None,
            block: BLOCK,
            cache: None,
            log: None,
        }
    }
}

impl Options {
    /// As the environment says. What is not understood is told in the log and counts as unset.
    pub fn from_env() -> Options {
        let (config, _) = recal::Config::from_env();
        let cache = config.cache.map(|folder| folder.join("blas"));
        Options { cache, ..Options::read(|name| std::env::var(name).ok()) }
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Options {
        let mut options = Options::default();
        let refuse = |name: &str, text: &str, wanted: &str| log::warn!("{name}: `{text}` is not {wanted}");
        let value =
            |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if let Some(text) = value("CALBLAS_DEVICES") {
            let ordinals =
                || text.split(',').map(|part| part.trim().parse().ok()).collect::<Option<Vec<u32>>>();
            match text.as_str() {
                "none" => options.devices = Some(Vec::new()),
                "rank" => match RANKS.iter().find_map(|name| value(name)?.parse().ok()) {
                    Some(rank) => options.rank = Some(rank),
                    None => log::warn!(
                        "CALBLAS_DEVICES: no process of MPI that has a number ({})",
                        RANKS.join(", ")
                    ),
                },
                _ => match ordinals() {
                    Some(list) => options.devices = Some(list),
                    None => refuse("CALBLAS_DEVICES", &text, "a list of ordinals, `rank`, or `none`"),
                },
            }
        }
        if let Some(text) = value("CALBLAS_THRESHOLD") {
            match text.parse::<f64>() {
                Ok(number) if number >= 0.0 => options.threshold = number,
                _ => refuse("CALBLAS_THRESHOLD", &text, "a number of multiplications"),
            }
        }
        if let Some(text) = value("CALBLAS_SHARE").filter(|text| text != "auto") {
            match text.parse::<f64>() {
                Ok(part) if (0.0..=1.0).contains(&part) => options.share = Some(part),
                _ => refuse("CALBLAS_SHARE", &text, "`auto` or a part between 0 and 1"),
            }
        }
        if let Some(text) = value("CALBLAS_BLOCK") {
            match text.parse::<usize>() {
                Ok(side) if (16..=BLOCK).contains(&side) => options.block = side,
                _ => refuse("CALBLAS_BLOCK", &text, "a number of rows between 16 and 4096"),
            }
        }
        options.log = value("CALBLAS_LOG").filter(|text| text != "0");
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> Options {
        Options::read(|asked| (asked == name).then(|| text.to_owned()))
    }

    #[test]
    fn values_are_understood() {
        assert_eq!(of("CALBLAS_DEVICES", "0, 2").devices, Some(vec![0, 2]));
        assert_eq!(of("CALBLAS_DEVICES", "none").devices, Some(vec![]));
        assert_eq!(of("CALBLAS_THRESHOLD", "1e6").threshold, 1e6);
        assert_eq!(of("CALBLAS_SHARE", "0.25").share, Some(0.25));
        assert_eq!(of("CALBLAS_SHARE", "auto").share, None);
        assert_eq!(of("CALBLAS_BLOCK", "64").block, 64);
        assert_eq!(of("CALBLAS_LOG", "1").log.as_deref(), Some("1"));
    }

    #[test]
    fn processes_of_mpi_have_a_device_each() {
        for name in RANKS {
            let options = Options::read(|asked| match asked {
                "CALBLAS_DEVICES" => Some("rank".into()),
                asked => (asked == name).then(|| "3".into()),
            });
            assert_eq!(options, Options { rank: Some(3), ..Options::default() }, "{name}");
            assert_eq!(of(name, "3"), Options::default(), "nobody asked for {name}");
        }
        assert_eq!(of("CALBLAS_DEVICES", "rank"), Options::default());
    }

    #[test]
    fn rubbish_counts_as_unset() {
        for (name, text) in [
            ("CALBLAS_DEVICES", "first"),
            ("CALBLAS_THRESHOLD", "-1"),
            ("CALBLAS_THRESHOLD", "NaN"),
            ("CALBLAS_SHARE", "1.5"),
            ("CALBLAS_BLOCK", "0"),
            ("CALBLAS_BLOCK", "100000"),
            ("CALBLAS_LOG", "0"),
        ] {
            assert_eq!(of(name, text), Options::default(), "{name}={text}");
        }
    }
}
