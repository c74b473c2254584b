//! IL as strings and files: the line is shown in the words.

#[recal::kernel]
fn lines(y: &mut Image<f32>) {
    r"il_ps_2_0
    dcl_output_generic o0
    mull r0, r1, r2   ; a comment
    mov o0, r0
    end"
}

#[recal::kernel]
fn escapes(y: &mut Image<f32>) {
    "il_ps_2_0\n\
     dcl_output_generic o0\n\
     mul o0, r0\n\
     end\n"
}

#[recal::kernel]
fn file(y: &mut Image<f32>) {
    include_str!("mistake.il")
}

#[recal::kernel]
fn no_file(y: &mut Image<f32>) {
    include_str!("nowhere.il")
}
