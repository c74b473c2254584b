//! Particles that bounce, on the device that `BRT_RUNTIME` and `BRT_ADAPTER` choose.

use recal_brook_example::particles::Particle;

fn main() -> Result<(), recal_brook_example::Failure> {
    let particle = |n: u8| {
        let n = f32::from(n);
        Particle { place: [0.5, n / 100.0, 0.0, 1.0], speed: [n / 10.0, 0.1, 0.0, 0.0], bounces: 0 }
    };
    let start: Vec<Particle> = (0..100).map(particle).collect();
    let (end, highest) = recal_brook_example::simulate(&start, 100)?;
    let bounces: i32 = end.iter().map(|p| p.bounces).sum();
    println!("{} particles bounced {bounces} times; the highest is at {highest:.2}", end.len());
    Ok(())
}
