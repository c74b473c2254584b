//! The kernels of the example on the CPU and on CAL, against the same computed here.

use brook::{Code, Device, Positions, Stream};
use recal_brook_example::particles::{self, Particle};

/// Runs a test on the CPU's device and on the first of CAL, each on a thread of its own: devices are threads'.
fn on_both(test: fn()) {
    let cal = Device::cal().next().expect("CAL has the CPU at least");
    for device in [Device::cpu(), cal] {
        std::thread::spawn(move || {
            device.make_current();
            assert_eq!(Device::current(), device);
            test();
        })
        .join()
        .unwrap_or_else(|e| std::panic::resume_unwind(e));
    }
}

#[test]
fn structs_go_in_and_come_out() {
    on_both(|| {
        let start = [
            Particle { place: [0.5, 0.25, 0.0, 1.0], speed: [4.0, 1.0, 0.0, 0.0], bounces: 7 },
            Particle { place: [0.5, 0.5, 0.0, 1.0], speed: [-4.0, -1.0, 0.0, 0.0], bounces: 0 },
            Particle { place: [0.5, 0.125, 2.0, 1.0], speed: [0.0, 0.0, 8.0, 0.0], bounces: 0 },
        ];
        let before = Stream::from_slice(&start).unwrap();
        let after = Stream::new(&[3]).unwrap();
        particles::r#move(&before, 0.25, &after).unwrap();
        let expected = [
            Particle { place: [0.5, 0.5, 0.0, 1.0], speed: [-4.0, 1.0, 0.0, 0.0], bounces: 8 },
            Particle { place: [0.5, 0.25, 0.0, 1.0], speed: [4.0, -1.0, 0.0, 0.0], bounces: 1 },
            Particle { place: [0.5, 0.125, 4.0, 1.0], speed: [0.0, 0.0, 8.0, 0.0], bounces: 0 },
        ];
        assert_eq!(after.to_vec().unwrap(), expected);
        let (same, highest) = recal_brook_example::simulate(&start, 0).unwrap();
        assert_eq!((same.as_slice(), highest), (start.as_slice(), 0.5));
    });
}

#[test]
fn constant_arrays_gathers_and_positions() {
    on_both(|| {
        let (width, height) = (7u32, 5u32);
        let image: Vec<f32> = (0..width * height).map(|n| (n * n % 31) as f32).collect();
        let mask = [[0.0, 1.0, 0.0], [2.0, 4.0, 3.0], [0.5, 0.25, 8.0]];
        let source = Stream::new(&[width, height]).unwrap();
        source.read(&image).unwrap();
        let result = Stream::new(&[width, height]).unwrap();
        particles::smooth(&source, &mask, &result).unwrap();
        // Inside alone: what lies outside of a gather stream differs between the back ends.
        let expected = |x: u32, y: u32| -> f32 {
            let at = |dx: u32, dy: u32| image[((y + dy - 1) * width + x + dx - 1) as usize];
            (0..3)
                .flat_map(|r| (0..3).map(move |c| (r, c)))
                .map(|(r, c)| mask[r as usize][c as usize] * at(c, r))
                .sum()
        };
        let inside = result.domain(&[1, 1], &[width - 1, height - 1]).unwrap();
        let all: Vec<f32> = (1..height - 1)
            .flat_map(|y| (1..width - 1).map(move |x| (x, y)))
            .map(|(x, y)| expected(x, y))
            .collect();
        assert_eq!(inside.to_vec().unwrap(), all);

        let blank = Stream::new(&[width, height]).unwrap();
        blank.read(&vec![-1.0; image.len()]).unwrap();
        let some = Positions { offset: Some([2, 1, 0, 0]), size: Some([3, 2, 1, 1]) };
        particles::on::smooth(some, &source, &mask, &blank).unwrap();
        for (n, value) in blank.to_vec().unwrap().into_iter().enumerate() {
            let (x, y) = (n as u32 % width, n as u32 / width);
            let ran = (2..5).contains(&x) && (1..3).contains(&y);
            assert_eq!(value, if ran { expected(x, y) } else { -1.0 }, "{x} {y}");
        }
    });
}

#[test]
fn names_of_rust_and_narrow_types() {
    on_both(|| {
        let bytes = Stream::from_slice(&[[1u8, 2, 3, 250], [255, 255, 255, 255]]).unwrap();
        let table = Stream::from_slice(&[[0i16, 1], [7, -9], [3, 4]]).unwrap();
        let result = Stream::<[i32; 2]>::new(&[2]).unwrap();
        particles::r#match(&bytes, &table, &result).unwrap();
        assert_eq!(result.to_vec().unwrap(), [[256, -9], [1020, -9]]);
    });
}

#[test]
fn scatter_and_reductions() {
    on_both(|| {
        let numbers = Stream::from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let turned = Stream::<i32>::new(&[8]).unwrap();
        particles::turn(&numbers, &turned).unwrap();
        assert_eq!(turned.to_vec().unwrap(), [8, 7, 6, 5, 4, 3, 2, 1]);

        let heights = Stream::from_slice(&[3.0f32, -1.0, 9.5, 2.0, 4.0, 4.5]).unwrap();
        let parts = Stream::<f32>::new(&[3]).unwrap();
        particles::highest(&heights, &parts).unwrap();
        assert_eq!(parts.to_vec().unwrap(), [3.0, 9.5, 4.5]);
        assert_eq!(particles::value::highest(&heights).unwrap(), 9.5);
    });
}

#[test]
fn mistakes_are_errors() {
    on_both(|| {
        let code = |result: brook::Result<()>| result.unwrap_err().code;
        let three = Stream::from_slice(&[1.0f32, 2.0, 3.0]).unwrap();
        assert_eq!(code(three.read(&[1.0])), Code::InvalidParameter);
        assert_eq!(code(three.write(&mut [0.0; 4])), Code::InvalidParameter);
        assert_eq!(code(three.domain(&[1], &[4]).map(drop)), Code::InvalidParameter);
        assert_eq!(code(three.domain(&[1, 1], &[2, 2]).map(drop)), Code::InvalidParameter);
        assert_eq!(code(three.exec_domain(0).map(drop)), Code::InvalidParameter);
        assert_eq!(code(Stream::<f32>::new(&[]).map(drop)), Code::InvalidParameter);
        assert_eq!(code(Stream::<f32>::new(&[4, 0]).map(drop)), Code::InvalidParameter);
        // In and out at once; a result that does not divide; nothing to take over.
        assert_eq!(code(particles::highest(&three, &three.clone())), Code::InvalidParameter);
        assert_eq!(code(particles::highest(&three, &Stream::new(&[2]).unwrap())), Code::InvalidParameter);
        assert_eq!(code(three.assign(&Stream::new(&[3]).unwrap())), Code::Assign);
        assert_eq!(code(three.assign(&Stream::new(&[4]).unwrap())), Code::InvalidParameter);
        // Nothing of it is left behind.
        assert_eq!(three.to_vec().unwrap(), [1.0, 2.0, 3.0]);
        three.finish().unwrap();
    });
}

#[test]
fn streams_of_another_device_are_refused_and_assigned() {
    let cal = Device::cal().next().expect("CAL has the CPU at least");
    std::thread::spawn(move || {
        let before = Device::cpu().make_current();
        let here = Stream::from_slice(&[1.5f32, 2.5]).unwrap();
        assert_eq!(cal.make_current(), Device::cpu());
        let there = Stream::new(&[2]).unwrap();
        let result = particles::highest(&here, &there);
        assert_eq!(result.unwrap_err().code, Code::Kernel);
        there.assign(&here).unwrap();
        assert_eq!(there.to_vec().unwrap(), [1.5, 2.5]);
        assert_eq!((here.device(), there.device()), (Device::cpu(), cal));
        before.make_current();
    })
    .join()
    .unwrap();
}

#[test]
fn inputs_of_another_size_are_repeated() {
    on_both(|| {
        let one = Particle { place: [0.0, 3.0, 0.0, 0.0], speed: [0.0; 4], bounces: 0 };
        let two = Particle { place: [0.0, 4.0, 0.0, 0.0], ..one };
        let result = Stream::new(&[4]).unwrap();
        particles::height(&Stream::from_slice(&[one, two]).unwrap(), &result).unwrap();
        assert_eq!(result.to_vec().unwrap(), [3.0, 3.0, 4.0, 4.0]);
    });
}
