//! Data like that of users: a smooth field with quantised noise, and a microscopy-like volume with shot noise. The same
//! bytes in every run.

/// A small generator (SplitMix64): the bytes must not change with a dependency's version.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    /// About normal with deviation 1: the sum of four uniform numbers.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|k| (bits >> (16 * k)) & 0xffff).sum();
        (sum as f32 / 65536.0 - 2.0) * 3f32.sqrt()
    }
}

/// float32, temperature-like: a gradient, waves, and noise, in steps of 1/64 K as packed GRIB has them.
pub fn climate(shape: &[u64; 3]) -> Vec<u8> {
    let mut random = Random::new(7);
    let [nz, ny, nx] = shape.map(|n| n as usize);
    let mut out = Vec::with_capacity(nz * ny * nx * 4);
    let tau = std::f32::consts::TAU;
    for z in 0..nz {
        let day = z as f32;
        for y in 0..ny {
            let lat = y as f32 / ny as f32 * 2.0 - 1.0;
            let base = 263.15 + 25.0 * (lat * tau / 4.0).cos() + 9.0 * (day * tau / 365.25).sin() * lat;
            for x in 0..nx {
                let lon = x as f32 / nx as f32;
                let wave = 3.1 * (tau * 3.0 * lon - 0.23 * day).sin() + 1.1 * (tau * 8.0 * lon - 0.67 * day + 7.0 * lat).sin();
                let value = base + wave * (3.0 * lat).cos() + 0.12 * random.normal();
                out.extend_from_slice(&((value * 64.0).round() / 64.0).to_le_bytes());
            }
        }
    }
    out
}

/// uint16, 12 bits, microscopy-like: blobs on a dark background, with noise that grows with the signal.
pub fn micro(shape: &[u64; 3]) -> Vec<u8> {
    const STEP: usize = 16;
    let mut random = Random::new(11);
    let [nz, ny, nx] = shape.map(|n| n as usize);
    let knots = shape.map(|n| n as usize / STEP + 2);
    let coarse: Vec<f32> = (0..knots.iter().product()).map(|_| random.normal()).collect();
    let at = |z: usize, y: usize, x: usize| coarse[(z * knots[1] + y) * knots[2] + x];
    let split = |i: usize| (i / STEP, (i % STEP) as f32 / STEP as f32);
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let mut out = Vec::with_capacity(nz * ny * nx * 2);
    for z in 0..nz {
        let (kz, tz) = split(z);
        for y in 0..ny {
            let (ky, ty) = split(y);
            let plane = |k: usize| mix(mix(at(kz, ky, k), at(kz, ky + 1, k), ty), mix(at(kz + 1, ky, k), at(kz + 1, ky + 1, k), ty), tz);
            for x in 0..nx {
                let (kx, tx) = split(x);
                let blob = (mix(plane(kx), plane(kx + 1), tx) - 0.4).max(0.0);
                let signal = 110.0 + 900.0 * blob * blob;
                let value = signal + 0.6 * signal.sqrt() * random.normal();
                out.extend_from_slice(&(value.round().clamp(0.0, 4095.0) as u16).to_le_bytes());
            }
        }
    }
    out
}
