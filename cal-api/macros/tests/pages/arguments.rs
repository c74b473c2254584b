//! Parameters that are not what the kernel declares.

macro_rules! scale {
    ($($name:ident ($($parameters:tt)*))*) => { $(
        #[recal::kernel]
        fn $name($($parameters)*) {
            "il_ps_2_0
            dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
            dcl_output_generic o0
            dcl_cb cb0[1]
            dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
            sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx
            mul o0, r0, cb0[0].x
            end"
        }
    )* };
}

scale! {
    none_for_the_output(x: &Image<f32>, a: f32)
    one_too_many(x: &Image<f32>, z: &Image<f32>, y: &mut Image<f32>, a: f32)
    two_outputs(x: &Image<f32>, y: &mut Image<f32>, z: &mut Image<f32>, a: f32)
    no_value(x: &Image<f32>, y: &mut Image<f32>)
    two_values(x: &Image<f32>, y: &mut Image<f32>, a: f32, b: f32)
    one_dimension(x: &Buffer<f32>, y: &mut Image<f32>, a: f32)
    integers(x: &Image<[u8; 4]>, y: &mut Image<f32>, a: f32)
    read_only(x @ i0: &mut Image<f32>, y: &mut Image<f32>, a: f32)
    written(x: &Image<f32>, y @ o0: &Image<f32>, a: f32)
    not_there(x @ i1: &Image<f32>, y: &mut Image<f32>, a: f32)
    twice(x @ o0: &mut Image<f32>, y @ o0: &mut Image<f32>, a: f32)
    no_memory(x: &Vec<f32>, y: &mut Image<f32>, a: f32)
}

recal::il! {
    fn more_than_is_written(y: &mut Image<[f32; 4]>) {
        il_ps_2_0
        dcl_output_generic o0.xy
        mov o0.xy, r0
        end
    }

    fn records(x: &mut Buffer<[f32; 2]>) {
        il_cs_2_0
        dcl_num_thread_per_group 64
        dcl_struct_uav_id(0) 12
        uav_struct_store_id(0) mem.x, vAbsTidFlat.x0, vAbsTidFlat.x
        end
    }

    fn a_value_too_many(x @ g: &mut Buffer<f32>, n: u32) {
        il_cs_2_0
        dcl_num_thread_per_group 64
        mov g[vAbsTidFlat.x], vAbsTidFlat.x
        end
    }

    fn not_written(x @ uav0: &mut Buffer<f32>, y @ g: &mut Buffer<f32>) {
        il_cs_2_0
        dcl_num_thread_per_group 64
        dcl_raw_uav_id(0)
        uav_raw_load_id(0) r0, vAbsTidFlat.x
        mov g[vAbsTidFlat.x], r0
        end
    }
}
