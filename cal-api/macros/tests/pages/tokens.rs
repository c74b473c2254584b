//! IL as it is: errors stand at its tokens.

recal::il! {
    fn unknown_word(y: &mut Image<f32>) {
        il_ps_2_0
        dcl_output_generic o0
        mull r0, r1, r2
        mov_saturate o0, r0
        end
    }

    fn undeclared(y: &mut Image<f32>) {
        il_ps_2_0
        dcl_output_generic o0
        sample_resource(3)_sampler(0) r0, r1.xyxx
        mov o0, l2
        end
    }

    fn not_closed(y: &mut Image<f32>) {
        il_ps_2_0
        dcl_output_generic o0
        if_logicalnz r0.x
        mov o0, r0
        end
    }
}
