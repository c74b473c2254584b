//! The features `cpu` and `vulkan`: what is compiled in runs kernels, and whoever asks for what is not is told so.

use recal::{CalResult, Config, Domain, Format, Place, Runtime};
use recal_needs::{Arguments, Need, Trial, trial};

const BACKENDS: [(&str, bool); 2] = [("cpu", cfg!(feature = "cpu")), ("vulkan", cfg!(feature = "vulkan"))];

const TEXT: &str = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 1.5, 1.5, 1.5, 1.5\nmov o0, l0\nend\n";

fn runtime(backends: &[&str]) -> Runtime {
    let backends = backends.iter().map(|name| (*name).to_owned()).collect();
    Runtime::with_config(Config { backends, ..Config::default() }).unwrap()
}

fn who_asks_for_what_is_not_compiled_in_is_told_so() {
    for (name, compiled_in) in BACKENDS {
        let runtime = runtime(&[name]);
        let said: Vec<&str> = runtime.backends().flat_map(|(_, remarks)| remarks).map(|r| &*r.text).collect();
        let told = said.iter().any(|text| text.contains(&format!("`{name}` is not compiled in")));
        assert_eq!(told, !compiled_in, "{name}: {said:?}");
        assert!(compiled_in || runtime.devices().count() == 0, "{name}");
    }
}

fn the_default_is_what_is_compiled_in() {
    let runtime = runtime(&[]);
    let asked: Vec<&str> = runtime.backends().map(|(name, _)| name).collect();
    let there: Vec<&str> = BACKENDS.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
    assert_eq!(asked.len(), there.len(), "{asked:?}");
    assert!(there.iter().all(|name| asked.contains(name)), "{asked:?}");
    if there.is_empty() {
        let error = runtime.open(0).err().unwrap();
        assert!(error.to_string().contains("no backend is compiled in"), "{error}");
        assert_eq!(error.result(), CalResult::Error);
    }
}

fn a_kernel_runs(backend: &str) {
    let device = runtime(&[backend]).open(0).unwrap();
    let context = device.create_context().unwrap();
    let module = context.load(&recal::compile(TEXT, device.info().target).unwrap().into()).unwrap();
    let output = device.allocate_2d(64, 4, Format::Float32x1, Place::Local).unwrap();
    module.bind("o0", &output).unwrap();
    context.run(&module, Domain::of(64, 4)).unwrap().wait().unwrap();
    assert_eq!(output.map::<f32>().unwrap()[..256], [1.5; 256]);
}

fn main() -> std::process::ExitCode {
    let mut trials: Vec<Trial> = vec![
        trial(
            "who_asks_for_what_is_not_compiled_in_is_told_so",
            [],
            who_asks_for_what_is_not_compiled_in_is_told_so,
        ),
        trial("the_default_is_what_is_compiled_in", [], the_default_is_what_is_compiled_in),
    ];
    for (name, _) in BACKENDS.into_iter().filter(|(_, compiled_in)| *compiled_in) {
        let need = Need::vulkan(runtime(&[name]).devices().count());
        trials.push(trial(format!("a_kernel_runs::{name}"), [need], move || a_kernel_runs(name)));
    }
    recal_needs::run(&Arguments::from_args(), trials)
}
