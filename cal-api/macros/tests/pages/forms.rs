//! What is no kernel by its form.

#[recal::kernel]
fn returns(x: &Image<f32>) -> f32 {
    "il_ps_2_0 end"
}

#[recal::kernel]
fn generic<T>(x: &Image<T>) {
    "il_ps_2_0 end"
}

#[recal::kernel]
fn statements() {
    let text = "il_ps_2_0 end";
    text
}

#[recal::kernel(cypress)]
fn asks() {
    "il_ps_2_0 end"
}

#[recal::kernel]
fn pattern((x, y): &Image<f32>) {
    "il_ps_2_0 end"
}

recal::il! {
    fn empty() {}
}

recal::il! {}
