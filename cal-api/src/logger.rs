//! Where the log goes. The crate logs through the facade `log` and leaves the logger to the program; the C library and
//! the command, whose users have none, set one up here.

use std::sync::Once;

use crate::config::Config;

/// Logs to standard error from now on, as `CAL_LOG` says, if the program has no logger yet. For programs that want what
/// the C library does:
///
/// ```
/// recal::logger::start(&recal::Config::from_env().0);
/// ```
pub fn start(config: &Config) {
    // A program with a logger of its own keeps it.
    let _ = env_logger::Builder::new().parse_filters(&config.log).try_init();
}

/// [`start`] and [`report`] for a compiler that is used without a runtime.
pub(crate) fn start_from_env() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let (config, warnings) = Config::from_env();
        start(&config);
        report(&config, &warnings);
    });
}

/// Logs, once a process, what the environment said.
pub(crate) fn report(config: &Config, warnings: &[String]) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for warning in warnings {
            log::warn!("{warning}");
        }
        log::info!("reCAL {}: {}", env!("CARGO_PKG_VERSION"), config.summary());
    });
}
