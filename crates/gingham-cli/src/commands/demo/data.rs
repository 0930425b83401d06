//! A data set out of arithmetic: the same bytes on every machine, in well under a second.
//!
//! - `temperature`: three years of daily maps (2023 to 2025, 1096 x 90 x 180), a smooth field rounded to 0.01 K, as archives keep it
//! - `time`, `lat`, `lon`: its coordinates
//! - `volume`: a microscope's stack (128 x 256 x 256), blobs on a noisy background

use gingham::core::codec::{BloscCompressor, BloscShuffle, Codec};
use gingham::core::dtype::Float;
use gingham::core::json::{Map, Value};
use gingham::store::Store;
use gingham::{Array, DataType, Format, Grid, Group, NewArray, Result, Selection};
use serde_json::json;

/// Days of each month of 2023 to 2025; 2024 is a leap year.
pub const MONTHS: [u64; 36] = [
    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, //
    31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, //
    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
];
/// Days, latitudes and longitudes of the temperature.
pub const FIELD: [u64; 3] = [1096, 90, 180];
/// Chunks of the temperature, as small as old archives have them.
pub const FIELD_CHUNKS: [u64; 3] = [8, 30, 30];
/// Slices, rows and columns of the volume.
pub const VOLUME: [u64; 3] = [128, 256, 256];
/// Chunks of the volume.
pub const VOLUME_CHUNKS: [u64; 3] = [16, 32, 32];

/// Writes the data set in format 2.
pub fn make(store: &Store, options: &gingham::Options) -> Result<()> {
    Group::create(
        store,
        "",
        Format::V2,
        attributes(&json!({ "title": "A made-up atmosphere and a made-up cell", "Conventions": "CF-1.11" })),
    )?;
    let float = DataType::Float(Float::F32);
    let coordinate = |name: &str, bytes: Vec<u8>, data_type: DataType, length: u64, about: Value| {
        put(store, name, data_type, &[length], &[length], &[name], about, bytes, options)
    };
    let days: Vec<u8> = (0..FIELD[0] as i64).flat_map(i64::to_le_bytes).collect();
    coordinate("time", days, DataType::Int64, FIELD[0], json!({ "units": "days since 2023-01-01", "calendar": "standard" }))?;
    let lat: Vec<u8> = (0..FIELD[1]).flat_map(|i| latitude(i).to_le_bytes()).collect();
    coordinate("lat", lat, float.clone(), FIELD[1], json!({ "units": "degrees_north", "standard_name": "latitude" }))?;
    let lon: Vec<u8> = (0..FIELD[2]).flat_map(|i| longitude(i).to_le_bytes()).collect();
    coordinate("lon", lon, float.clone(), FIELD[2], json!({ "units": "degrees_east", "standard_name": "longitude" }))?;
    let about = json!({ "units": "K", "standard_name": "air_temperature", "cell_methods": "time: mean" });
    put(store, "temperature", float, &FIELD, &FIELD_CHUNKS, &["time", "lat", "lon"], about, temperature(), options)?;
    put(
        store,
        "volume",
        DataType::UInt16,
        &VOLUME,
        &VOLUME_CHUNKS,
        &["z", "y", "x"],
        json!({ "voxel_um": [0.5, 0.2, 0.2] }),
        volume(),
        options,
    )
}

fn attributes(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

#[allow(clippy::too_many_arguments)] // all that an array is, once
fn put(
    store: &Store,
    name: &str,
    data_type: DataType,
    shape: &[u64],
    chunks: &[u64],
    dimensions: &[&str],
    about: Value,
    bytes: Vec<u8>,
    options: &gingham::Options,
) -> Result<()> {
    let typesize = data_type.size().unwrap_or(1);
    let mut new = NewArray::new(data_type, Grid::regular(shape, chunks)?);
    new.format = Format::V2;
    new.codecs = Some(vec![Codec::Blosc { cname: BloscCompressor::Lz4, clevel: 5, shuffle: BloscShuffle::Byte, typesize, blocksize: 0 }]);
    new.dimension_names = Some(dimensions.iter().map(|d| Some(d.to_string())).collect());
    new.attributes = attributes(&about);
    new.options = options.clone();
    Array::create(store, name, new)?.write_bytes(Selection::All, &bytes)
}

fn latitude(i: u64) -> f32 {
    -89.0 + 2.0 * i as f32
}

fn longitude(i: u64) -> f32 {
    2.0 * i as f32
}

/// Warm at the equator, seasons that are opposite in the two hemispheres, and weather: waves that drift with time.
fn temperature() -> Vec<u8> {
    use std::f64::consts::TAU;
    let [days, lats, lons] = FIELD;
    let mut out = Vec::with_capacity((days * lats * lons * 4) as usize);
    let wave = |cycles: f64, phase: f64| (0..lons).map(|x| (TAU * (cycles * x as f64 / lons as f64 + phase)).sin()).collect::<Vec<f64>>();
    for day in 0..days {
        let t = day as f64;
        let season = (TAU * (t - 105.0) / 365.25).sin();
        // Three waves around the globe, each with its own speed.
        let waves = [wave(3.0, t / 11.0), wave(5.0, -t / 6.5), wave(8.0, t / 4.3)];
        for y in 0..lats {
            let latitude = f64::from(latitude(y)).to_radians();
            let base = 300.0 - 45.0 * latitude.sin().powi(2) + 14.0 * season * latitude.sin();
            let storm = 5.0 * latitude.cos() * (2.0 * latitude).sin().abs();
            let gain = [storm, 0.6 * storm * (t / 17.0 + 3.0 * latitude).sin(), 0.4 * storm];
            for x in 0..lons as usize {
                let value = base + gain[0] * waves[0][x] + gain[1] * waves[1][x] + gain[2] * waves[2][x];
                let rounded = (value * 100.0).round() / 100.0;
                out.extend_from_slice(&(rounded as f32).to_le_bytes());
            }
        }
    }
    out
}

/// Blobs of light on a background of 100 counts with noise of 4 bits.
fn volume() -> Vec<u8> {
    let [slices, rows, columns] = VOLUME.map(|n| n as usize);
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut light: Vec<u16> = (0..slices * rows * columns).map(|_| 100 + (noise.next() >> 60) as u16).collect();
    for _ in 0..160 {
        let mut within = |n: usize| (noise.next() % n as u64) as i64;
        let centre = [within(slices), within(rows), within(columns)];
        let (radius, peak) = (4 + within(10), 500.0 + 50.0 * within(60) as f64);
        let around = |c: i64, n: usize| (c - 2 * radius).max(0) as usize..((c + 2 * radius + 1).max(0) as usize).min(n);
        for z in around(centre[0], slices) {
            for y in around(centre[1], rows) {
                for x in around(centre[2], columns) {
                    let far = [z, y, x].iter().zip(centre).map(|(&a, c)| (a as i64 - c).pow(2)).sum::<i64>();
                    let add = peak * (-(far as f64) / (radius * radius) as f64).exp();
                    let at = &mut light[(z * rows + y) * columns + x];
                    *at = at.saturating_add(add as u16);
                }
            }
        }
    }
    light.into_iter().flat_map(u16::to_le_bytes).collect()
}

/// Numbers that look random (splitmix64).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_years_of_months_are_all_the_days() {
        assert_eq!(MONTHS.iter().sum::<u64>(), FIELD[0]);
    }

    #[test]
    fn the_numbers_look_random_and_are_always_the_same() {
        let mut noise = Noise(0);
        assert_eq!(noise.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(noise.next(), 0x6e78_9e6a_a1b9_65f4);
    }
}
