//! The logger is the program's: making a runtime, compiling and launching leave the place free. A process of its own,
//! since there is one logger for each.

use recal::{Config, Runtime};

#[test]
fn a_program_sets_up_its_own_logger_after_everything_else() {
    // Something is worth a warning: no device, a folder that cannot be.
    let config = Config { backends: vec!["nosuch".into()], ..Config::default() };
    assert_eq!(Runtime::with_config(config).unwrap().devices().count(), 0);
    let runtime = Runtime::new().unwrap();
    let device = runtime.open(0).unwrap();
    let context = device.create_context().unwrap();
    let text = "il_ps_2_0\ndcl_output_generic o0\nmov o0, r0\nend\n";
    context.load(&recal::compile(text, device.info().target).unwrap().into()).unwrap();
    assert_eq!(log::max_level(), log::LevelFilter::Off);
    env_logger::Builder::new().parse_filters("error").try_init().unwrap();
    // And one that is there stays.
    recal::logger::start(&Config { log: "trace".into(), ..Config::default() });
    assert_eq!(log::max_level(), log::LevelFilter::Error);
}
