//! Real floating-point formats as bit patterns, and the one rounding that everything else uses.
//!
//! A format is four numbers (exponent bits, mantissa bits, bias, and which patterns are special); every conversion is
//! computed from them, so a format has no code of its own. Patterns are held in the low bits of a `u64`.

use std::cmp::Ordering;

use super::Float;
use crate::codec::Rounding;

/// Which patterns of a format are not numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    /// All-ones exponent: infinity where the mantissa is zero, else NaN.
    Ieee,
    /// Only the all-ones pattern (of either sign) is NaN, no infinity.
    TopIsNan,
    /// None: every pattern is a number.
    Finite,
    /// The pattern of -0 is the only NaN, no infinity, no -0.
    NegativeZeroIsNan,
    /// A bare exponent: no sign, no zero, no infinity; 0xff is NaN.
    Exponent,
}

/// The four numbers of a format.
#[derive(Debug, Clone, Copy)]
struct Format {
    bits: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

/// Why a value has no pattern in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// Finite, but beyond the largest finite number after rounding.
    TooLarge {
        /// Its sign.
        negative: bool,
    },
    /// An infinity, in a format that has none.
    NoInfinity {
        /// Its sign.
        negative: bool,
    },
    /// NaN, in a format that has none.
    NoNan,
    /// Zero or a negative number, in float8_e8m0fnu.
    NotPositive,
}

impl Float {
    /// Every format, narrow ones first.
    pub const ALL: [Float; 15] = [
        Float::E2M1FN,
        Float::E2M3FN,
        Float::E3M2FN,
        Float::E3M4,
        Float::E4M3,
        Float::E4M3FN,
        Float::E4M3B11FNUZ,
        Float::E4M3FNUZ,
        Float::E5M2,
        Float::E5M2FNUZ,
        Float::E8M0FNU,
        Float::BFloat16,
        Float::F16,
        Float::F32,
        Float::F64,
    ];

    fn format(self) -> Format {
        use Special::{Exponent, Finite, Ieee, NegativeZeroIsNan, TopIsNan};
        let (bits, mantissa, bias, special) = match self {
            Float::E2M1FN => (4, 1, 1, Finite),
            Float::E2M3FN => (6, 3, 1, Finite),
            Float::E3M2FN => (6, 2, 3, Finite),
            Float::E3M4 => (8, 4, 3, Ieee),
            Float::E4M3 => (8, 3, 7, Ieee),
            Float::E4M3FN => (8, 3, 7, TopIsNan),
            Float::E4M3B11FNUZ => (8, 3, 11, NegativeZeroIsNan),
            Float::E4M3FNUZ => (8, 3, 8, NegativeZeroIsNan),
            Float::E5M2 => (8, 2, 15, Ieee),
            Float::E5M2FNUZ => (8, 2, 16, NegativeZeroIsNan),
            Float::E8M0FNU => (8, 0, 127, Exponent),
            Float::BFloat16 => (16, 7, 127, Ieee),
            Float::F16 => (16, 10, 15, Ieee),
            Float::F32 => (32, 23, 127, Ieee),
            Float::F64 => (64, 52, 1023, Ieee),
        };
        Format { bits, mantissa, bias, special }
    }

    /// The registered name (`float8_e4m3fnuz`, `bfloat16`, `float32`).
    pub fn name(self) -> &'static str {
        match self {
            Float::E2M1FN => "float4_e2m1fn",
            Float::E2M3FN => "float6_e2m3fn",
            Float::E3M2FN => "float6_e3m2fn",
            Float::E3M4 => "float8_e3m4",
            Float::E4M3 => "float8_e4m3",
            Float::E4M3FN => "float8_e4m3fn",
            Float::E4M3B11FNUZ => "float8_e4m3b11fnuz",
            Float::E4M3FNUZ => "float8_e4m3fnuz",
            Float::E5M2 => "float8_e5m2",
            Float::E5M2FNUZ => "float8_e5m2fnuz",
            Float::E8M0FNU => "float8_e8m0fnu",
            Float::BFloat16 => "bfloat16",
            Float::F16 => "float16",
            Float::F32 => "float32",
            Float::F64 => "float64",
        }
    }
    /// The format of a registered name.
    pub fn from_name(name: &str) -> Option<Float> {
        Float::ALL.into_iter().find(|f| f.name() == name)
    }
    /// Bits that matter: 4, 6, 8, 16, 32 or 64.
    pub fn bits(self) -> u32 {
        self.format().bits
    }
    /// Bytes of an element in memory: 1 for everything up to eight bits.
    pub fn size(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }
    /// Bits of the stored mantissa, without the implied one.
    pub fn mantissa_bits(self) -> u32 {
        self.format().mantissa
    }
    /// True where a pattern for NaN exists.
    pub fn has_nan(self) -> bool {
        self.format().special != Special::Finite
    }
    /// True where patterns for the infinities exist.
    pub fn has_infinity(self) -> bool {
        self.format().special == Special::Ieee
    }
    /// True where negative numbers exist (all but float8_e8m0fnu).
    pub fn is_signed(self) -> bool {
        self.format().special != Special::Exponent
    }
    /// The canonical NaN: positive, quiet, without payload.
    pub fn nan(self) -> Option<u64> {
        let f = self.format();
        match f.special {
            Special::Ieee => Some(self.infinity_pattern() | (1 << (f.mantissa - 1))),
            Special::TopIsNan => Some(self.sign_bit() - 1),
            Special::NegativeZeroIsNan => Some(self.sign_bit()),
            Special::Exponent => Some(0xff),
            Special::Finite => None,
        }
    }
    /// The pattern of an infinity.
    pub fn infinity(self, negative: bool) -> Option<u64> {
        self.has_infinity().then(|| self.infinity_pattern() | if negative { self.sign_bit() } else { 0 })
    }
    /// The largest finite number.
    pub fn max_finite(self) -> f64 {
        self.to_f64(self.max_pattern())
    }
    /// True for any NaN pattern.
    pub fn is_nan(self, bits: u64) -> bool {
        match self.format().special {
            Special::Ieee => bits & (self.sign_bit() - 1) > self.infinity_pattern(),
            Special::TopIsNan => bits & (self.sign_bit() - 1) == self.sign_bit() - 1,
            Special::NegativeZeroIsNan => bits == self.sign_bit(),
            Special::Exponent => bits == 0xff,
            Special::Finite => false,
        }
    }
    /// True for the patterns of the infinities.
    pub fn is_infinite(self, bits: u64) -> bool {
        self.has_infinity() && bits & (self.sign_bit() - 1) == self.infinity_pattern()
    }

    fn sign_bit(self) -> u64 {
        1 << (self.format().bits - 1)
    }
    /// All-ones exponent, zero mantissa; of [`Special::Ieee`] formats only.
    fn infinity_pattern(self) -> u64 {
        let f = self.format();
        self.sign_bit() - (1 << f.mantissa)
    }
    /// The pattern of the largest finite number.
    fn max_pattern(self) -> u64 {
        match self.format().special {
            Special::Ieee => self.infinity_pattern() - 1,
            Special::TopIsNan => self.sign_bit() - 2,
            Special::Finite | Special::NegativeZeroIsNan => self.sign_bit() - 1,
            Special::Exponent => 0xfe,
        }
    }
    /// The exponent of the smallest normal number.
    fn least_exponent(self) -> i32 {
        let f = self.format();
        if f.special == Special::Exponent { -f.bias } else { 1 - f.bias }
    }

    /// The pattern in the little-endian bytes of an element; bits beyond [`Float::bits`] are dropped.
    pub fn read(self, bytes: &[u8]) -> u64 {
        let raw = bytes.iter().take(self.size()).rev().fold(0u64, |acc, &b| (acc << 8) | u64::from(b));
        if self.bits() < 8 { raw & ((1 << self.bits()) - 1) } else { raw }
    }
    /// Appends the little-endian bytes of an element.
    pub fn write(self, bits: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&bits.to_le_bytes()[..self.size()]);
    }

    /// The value of a pattern; exact, for a float64 holds every number of every format. Payloads of NaN are kept in float64 only.
    ///
    /// ```
    /// use gingham_core::dtype::Float;
    /// assert_eq!(Float::E4M3.to_f64(0x38), 1.0);
    /// assert_eq!(Float::E5M2.from_f64(1.1), 0x3c);
    /// ```
    pub fn to_f64(self, bits: u64) -> f64 {
        match self {
            Float::F64 => return f64::from_bits(bits),
            Float::F32 => return f64::from(f32::from_bits(bits as u32)),
            Float::BFloat16 => return f64::from(f32::from_bits((bits as u32) << 16)),
            _ => {}
        }
        if self.is_nan(bits) {
            return f64::NAN;
        }
        let f = self.format();
        let negative = self.is_signed() && bits & self.sign_bit() != 0;
        let magnitude = if self.is_signed() { bits & (self.sign_bit() - 1) } else { bits & 0xff };
        let value = if self.is_infinite(bits) {
            f64::INFINITY
        } else if f.special == Special::Exponent {
            power_of_two(magnitude as i32 - f.bias)
        } else {
            let exponent = (magnitude >> f.mantissa) as i32;
            let mantissa = magnitude & ((1 << f.mantissa) - 1);
            let (significand, exponent) = if exponent == 0 { (mantissa, 1) } else { (mantissa | (1 << f.mantissa), exponent) };
            significand as f64 * power_of_two(exponent - f.bias - f.mantissa as i32)
        };
        if negative { -value } else { value }
    }

    /// The nearest pattern, ties to even. Beyond the largest finite number: infinity where the format has one, else NaN where it
    /// has one, else the largest finite number of that sign. NaN where the format has none: zero. Zero and negative numbers in
    /// float8_e8m0fnu: NaN. [`Float::narrow`] tells these cases apart.
    pub fn from_f64(self, value: f64) -> u64 {
        match self {
            Float::F64 => return value.to_bits(),
            Float::F32 if !value.is_nan() => return u64::from((value as f32).to_bits()),
            _ => {}
        }
        self.narrow(value, Rounding::NearestEven).unwrap_or_else(|misfit| match misfit {
            Misfit::TooLarge { negative } | Misfit::NoInfinity { negative } => {
                self.infinity(negative).or(self.nan()).unwrap_or(self.max_pattern() | if negative { self.sign_bit() } else { 0 })
            }
            Misfit::NoNan => 0,
            Misfit::NotPositive => self.nan().unwrap_or(0),
        })
    }

    /// The pattern of a value, rounded once. NaN gives the canonical one. The range is checked after rounding, also when
    /// rounding towards zero: 1e300 is too large for a float32 whatever the rounding.
    pub fn narrow(self, value: f64, rounding: Rounding) -> Result<u64, Misfit> {
        if value.is_nan() {
            return self.nan().ok_or(Misfit::NoNan);
        }
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return self.infinity(negative).ok_or(Misfit::NoInfinity { negative });
        }
        let (magnitude, exponent) = decompose(value);
        self.round(negative, u128::from(magnitude), exponent, rounding)
    }

    /// The pattern of an integer, rounded once (an int64 does not go through float64).
    pub fn narrow_integer(self, value: i128, rounding: Rounding) -> Result<u64, Misfit> {
        self.round(value < 0, value.unsigned_abs(), 0, rounding)
    }

    /// The pattern of a decimal number as JSON writes it, rounded once from the decimal, ties to even.
    pub(crate) fn round_decimal(self, text: &str) -> Result<u64, Misfit> {
        let value: f64 = text.parse().unwrap_or(f64::NAN);
        let negative = value.is_sign_negative();
        let wide = match self {
            Float::F64 => Some(value.to_bits()),
            Float::F32 => Some(u64::from(text.parse().unwrap_or(f32::NAN).to_bits())),
            _ => None,
        };
        if let Some(bits) = wide {
            return if self.is_infinite(bits) { Err(Misfit::TooLarge { negative }) } else { Ok(bits) };
        }
        if value.is_infinite() {
            return Err(Misfit::TooLarge { negative });
        }
        if value == 0.0 || value.is_nan() {
            return self.narrow(value, Rounding::NearestEven);
        }
        // Two more bits below the float64: the decimal lies a little above it, a little below, or on it. No format that
        // comes here has more than 11 significant bits, so a quarter of a float64's last place decides every tie.
        let (magnitude, exponent) = decompose(value);
        let round = |quarters: u128| self.round(negative, quarters, exponent - 2, Rounding::NearestEven);
        let quarters = u128::from(magnitude) << 2;
        let (below, above) = (round(quarters - 1), round(quarters + 1));
        if below == above {
            return below;
        }
        match compare_decimal(text, value) {
            Ordering::Less => below,
            Ordering::Equal => round(quarters),
            Ordering::Greater => above,
        }
    }

    /// Rounds ±magnitude × 2^exponent to a pattern.
    fn round(self, negative: bool, magnitude: u128, exponent: i32, rounding: Rounding) -> Result<u64, Misfit> {
        let f = self.format();
        let bare_exponent = f.special == Special::Exponent;
        if bare_exponent && (negative || magnitude == 0) {
            return Err(Misfit::NotPositive);
        }
        let signed = |pattern: u64| match f.special {
            Special::NegativeZeroIsNan if pattern == 0 => 0,
            _ if negative => pattern | self.sign_bit(),
            _ => pattern,
        };
        if magnitude == 0 {
            return Ok(signed(0));
        }
        let least = self.least_exponent();
        let top = 127 - magnitude.leading_zeros() as i32 + exponent;
        let last_place = top.max(least) - f.mantissa as i32;
        let (kept, rest) = split(magnitude, last_place - exponent);
        // The implied one adds itself to the exponent; a bare exponent has none.
        let base = ((top.max(least) - least) as u64) << f.mantissa;
        let pattern = if bare_exponent { (base + kept).saturating_sub(1) } else { base + kept };
        let up = match rounding {
            Rounding::NearestEven => rest == Rest::AboveHalf || rest == Rest::Half && kept & 1 == 1,
            Rounding::NearestAway => rest == Rest::AboveHalf || rest == Rest::Half,
            Rounding::TowardsZero => false,
            Rounding::TowardsPositive => rest != Rest::Nothing && !negative,
            Rounding::TowardsNegative => rest != Rest::Nothing && negative,
        };
        // Below the smallest power of a bare exponent there is nothing to round down to. Its ties go up: without a mantissa,
        // the significand below every tie is the odd number one.
        let pattern = if up && !(bare_exponent && kept == 0) { pattern + 1 } else { pattern };
        if pattern > self.max_pattern() {
            return Err(Misfit::TooLarge { negative });
        }
        Ok(signed(pattern))
    }

    /// The shortest decimal that gives this finite pattern back, as the nearest float64.
    pub(crate) fn shortest(self, bits: u64) -> f64 {
        let exact = self.to_f64(bits);
        match self {
            Float::F64 => exact,
            // At most nine digits, which a float64 holds and prints unchanged.
            Float::F32 => format!("{:e}", f32::from_bits(bits as u32)).parse().unwrap_or(exact),
            _ => (0..5)
                .map(|digits| format!("{exact:.digits$e}"))
                .find(|text| self.round_decimal(text) == Ok(bits))
                .and_then(|text| text.parse().ok())
                .unwrap_or(exact),
        }
    }
}

/// What rounding drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

/// Drops `shift` low bits (adds zeros where it is negative) and says what was dropped.
fn split(magnitude: u128, shift: i32) -> (u64, Rest) {
    if shift <= 0 {
        return ((magnitude << -shift) as u64, Rest::Nothing);
    }
    if shift > 128 {
        return (0, Rest::BelowHalf);
    }
    let half = 1u128 << (shift - 1);
    let (kept, rest) = if shift == 128 { (0, magnitude) } else { (magnitude >> shift, magnitude & ((1 << shift) - 1)) };
    let rest = match (rest, rest.cmp(&half)) {
        (0, _) => Rest::Nothing,
        (_, Ordering::Less) => Rest::BelowHalf,
        (_, Ordering::Equal) => Rest::Half,
        (_, Ordering::Greater) => Rest::AboveHalf,
    };
    (kept as u64, rest)
}

/// |value| = magnitude × 2^exponent, for finite values.
fn decompose(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let mantissa = bits & ((1 << 52) - 1);
    if exponent == 0 { (mantissa, -1074) } else { (mantissa | (1 << 52), exponent - 1075) }
}

/// 2^exponent for exponents of normal float64 numbers.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Compares the magnitude of a decimal text with that of the float64 nearest to it, digit by digit.
fn compare_decimal(text: &str, value: f64) -> Ordering {
    // 767 significant digits write any float64 exactly.
    let (digits, exponent) = digits_of(text);
    let (exact_digits, exact_exponent) = digits_of(&format!("{:.770e}", value.abs()));
    exponent.cmp(&exact_exponent).then_with(|| digits.cmp(&exact_digits))
}

/// The significant digits of a decimal text without leading and trailing zeros, and the power of ten of the first.
fn digits_of(text: &str) -> (Vec<u8>, i64) {
    let text = text.trim_start_matches(['-', '+']);
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let leading = all.iter().take_while(|&&b| b == b'0').count();
    let mut digits = all[leading..].to_vec();
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits, exponent + whole.len() as i64 - 1 - leading as i64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The value of a pattern by the definition in format.md 3.5, with no code of the formats above:
    /// (sign bits, exponent bits, mantissa bits, bias, kind).
    fn defined(name: &str, pattern: u32) -> f64 {
        let (exponent_bits, mantissa_bits, bias, kind) = match name {
            "float4_e2m1fn" => (2, 1, 1, "finite"),
            "float6_e2m3fn" => (2, 3, 1, "finite"),
            "float6_e3m2fn" => (3, 2, 3, "finite"),
            "float8_e3m4" => (3, 4, 3, "ieee"),
            "float8_e4m3" => (4, 3, 7, "ieee"),
            "float8_e4m3fn" => (4, 3, 7, "fn"),
            "float8_e4m3b11fnuz" => (4, 3, 11, "fnuz"),
            "float8_e4m3fnuz" => (4, 3, 8, "fnuz"),
            "float8_e5m2" => (5, 2, 15, "ieee"),
            "float8_e5m2fnuz" => (5, 2, 16, "fnuz"),
            "float8_e8m0fnu" => return if pattern == 255 { f64::NAN } else { 2f64.powi(pattern as i32 - 127) },
            other => panic!("{other}"),
        };
        let mantissa = pattern % (1 << mantissa_bits);
        let exponent = (pattern >> mantissa_bits) % (1 << exponent_bits);
        let negative = pattern >> (mantissa_bits + exponent_bits) & 1 == 1;
        let all_ones = exponent == (1 << exponent_bits) - 1;
        match kind {
            "ieee" if all_ones && mantissa > 0 => return f64::NAN,
            "ieee" if all_ones => return if negative { f64::NEG_INFINITY } else { f64::INFINITY },
            "fn" if all_ones && mantissa == (1 << mantissa_bits) - 1 => return f64::NAN,
            "fnuz" if negative && exponent == 0 && mantissa == 0 => return f64::NAN,
            _ => {}
        }
        let fraction = f64::from(mantissa) / f64::from(1 << mantissa_bits);
        let magnitude = if exponent == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(exponent as i32 - bias) };
        if negative { -magnitude } else { magnitude }
    }

    fn narrow_floats() -> impl Iterator<Item = Float> {
        Float::ALL.into_iter().filter(|f| f.bits() <= 8)
    }

    fn finite(float: Float) -> Vec<u64> {
        (0..1u64 << float.bits().min(16)).filter(|&b| float.to_f64(b).is_finite()).collect()
    }

    #[test]
    fn every_pattern_of_every_format_of_at_most_eight_bits_has_the_defined_value() {
        for float in narrow_floats() {
            for pattern in 0..1u64 << float.bits() {
                let (got, want) = (float.to_f64(pattern), defined(float.name(), pattern as u32));
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{float:?} {pattern:#x}: {got} for {want}");
                assert_eq!(float.is_nan(pattern), want.is_nan(), "{float:?} {pattern:#x}");
                assert_eq!(float.is_infinite(pattern), want.is_infinite(), "{float:?} {pattern:#x}");
            }
        }
    }

    #[test]
    fn sixteen_bit_formats_agree_with_the_half_crate() {
        for pattern in 0..=u16::MAX {
            let (f16, bf16) = (half::f16::from_bits(pattern).to_f64(), half::bf16::from_bits(pattern).to_f64());
            for (float, want) in [(Float::F16, f16), (Float::BFloat16, bf16)] {
                let got = float.to_f64(pattern.into());
                assert!(got == want || got.is_nan() && want.is_nan(), "{float:?} {pattern:#x}");
                assert_eq!(float.is_nan(pattern.into()), want.is_nan());
            }
        }
    }

    #[test]
    fn canonical_nan_infinity_and_largest_number_are_those_of_the_registry() {
        let facts = [
            (Float::E2M1FN, None, None, 6.0),
            (Float::E2M3FN, None, None, 7.5),
            (Float::E3M2FN, None, None, 28.0),
            (Float::E3M4, Some(0x78), Some(0x70), 15.5),
            (Float::E4M3, Some(0x7c), Some(0x78), 240.0),
            (Float::E4M3FN, Some(0x7f), None, 448.0),
            (Float::E4M3B11FNUZ, Some(0x80), None, 30.0),
            (Float::E4M3FNUZ, Some(0x80), None, 240.0),
            (Float::E5M2, Some(0x7e), Some(0x7c), 57344.0),
            (Float::E5M2FNUZ, Some(0x80), None, 57344.0),
            (Float::E8M0FNU, Some(0xff), None, 2f64.powi(127)),
            (Float::BFloat16, Some(0x7fc0), Some(0x7f80), 3.3895313892515355e38),
            (Float::F16, Some(0x7e00), Some(0x7c00), 65504.0),
            (Float::F32, Some(0x7fc0_0000), Some(0x7f80_0000), f64::from(f32::MAX)),
            (Float::F64, Some(0x7ff8_0000_0000_0000), Some(0x7ff0_0000_0000_0000), f64::MAX),
        ];
        for (float, nan, infinity, max) in facts {
            assert_eq!(float.nan(), nan, "{float:?}");
            assert_eq!(float.infinity(false), infinity, "{float:?}");
            assert_eq!(float.max_finite(), max, "{float:?}");
            assert_eq!(Float::from_name(float.name()), Some(float));
        }
    }

    #[test]
    fn every_number_comes_back_from_its_value_under_every_rounding() {
        use Rounding::{NearestAway, NearestEven, TowardsNegative, TowardsPositive, TowardsZero};
        for float in Float::ALL.into_iter().filter(|f| f.bits() <= 16) {
            for pattern in finite(float) {
                let value = float.to_f64(pattern);
                for rounding in [NearestEven, NearestAway, TowardsNegative, TowardsPositive, TowardsZero] {
                    assert_eq!(float.narrow(value, rounding), Ok(pattern), "{float:?} {value} {rounding:?}");
                }
                assert_eq!(float.from_f64(value), pattern);
                assert_eq!(float.round_decimal(&format!("{value:e}")), Ok(pattern), "{float:?} {value}");
                assert_eq!(float.round_decimal(&format!("{:e}", float.shortest(pattern))), Ok(pattern), "{float:?} {value}");
            }
        }
    }

    /// Neighbours a < b: a below the middle, b above it, the even one on it, whatever the format.
    #[test]
    fn rounding_between_neighbours_is_to_the_nearest_and_ties_to_even() {
        for float in Float::ALL.into_iter().filter(|f| f.bits() <= 16) {
            let mut numbers: Vec<(f64, u64)> =
                finite(float).into_iter().map(|b| (float.to_f64(b), b)).filter(|(v, _)| v.is_sign_positive()).collect();
            numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
            for pair in numbers.windows(2) {
                let ((low, a), (high, b)) = (pair[0], pair[1]);
                let middle = low + (high - low) / 2.0;
                // Without a mantissa the lower significand of a tie is always odd.
                let even = if a % 2 == 0 && float != Float::E8M0FNU { a } else { b };
                assert_eq!(float.from_f64(middle), even, "{float:?} {middle}");
                assert_eq!(float.from_f64(middle.next_down()), a, "{float:?} below {middle}");
                assert_eq!(float.from_f64(middle.next_up()), b, "{float:?} above {middle}");
                assert_eq!(float.narrow(middle, Rounding::NearestAway), Ok(b));
                assert_eq!(float.narrow(middle, Rounding::TowardsZero), Ok(a));
                assert_eq!(float.narrow(middle, Rounding::TowardsPositive), Ok(b));
                assert_eq!(float.narrow(middle, Rounding::TowardsNegative), Ok(a));
                if float.is_signed() {
                    let no_negative_zero = float.nan() == Some(float.sign_bit());
                    let negative = |pattern: u64| if pattern == 0 && no_negative_zero { 0 } else { pattern | float.sign_bit() };
                    assert_eq!(float.narrow(-middle, Rounding::TowardsPositive), Ok(negative(a)));
                    assert_eq!(float.narrow(-middle, Rounding::TowardsNegative), Ok(negative(b)));
                    assert_eq!(float.from_f64(-middle), negative(even));
                }
            }
        }
    }

    #[test]
    fn beyond_the_largest_number() {
        assert_eq!(Float::F16.from_f64(65519.999), 0x7bff);
        assert_eq!(Float::F16.from_f64(65520.0), 0x7c00);
        assert_eq!(Float::F16.narrow(65520.0, Rounding::NearestEven), Err(Misfit::TooLarge { negative: false }));
        assert_eq!(Float::F16.narrow(65535.0, Rounding::TowardsZero), Ok(0x7bff));
        assert_eq!(Float::F16.narrow(65536.0, Rounding::TowardsZero), Err(Misfit::TooLarge { negative: false }));
        assert_eq!(Float::F32.narrow(-1e300, Rounding::NearestEven), Err(Misfit::TooLarge { negative: true }));
        assert_eq!(Float::E4M3FNUZ.from_f64(-1e9), 0x80);
        assert_eq!(Float::E4M3FN.from_f64(464.0), 0x7e);
        assert_eq!(Float::E4M3FN.from_f64(465.0), 0x7f);
        assert_eq!(Float::E2M1FN.from_f64(f64::NEG_INFINITY), 0xf);
        assert_eq!(Float::E2M1FN.narrow(f64::INFINITY, Rounding::NearestEven), Err(Misfit::NoInfinity { negative: false }));
        assert_eq!(Float::E2M1FN.narrow(f64::NAN, Rounding::NearestEven), Err(Misfit::NoNan));
        assert_eq!(Float::E8M0FNU.narrow(0.0, Rounding::NearestEven), Err(Misfit::NotPositive));
        assert_eq!(Float::E8M0FNU.from_f64(-2.0), 0xff);
        assert_eq!(Float::E8M0FNU.from_f64(1e-300), 0);
        assert_eq!(Float::E4M3FNUZ.from_f64(-1e-9), 0, "no negative zero");
        assert_eq!(Float::E4M3.from_f64(-0.0), 0x80);
    }

    #[test]
    fn integers_do_not_go_through_float64() {
        // 2^60 + 2^36 + 1 is above the middle of two float32; float64 would make it the middle.
        let above = (1i128 << 60) + (1 << 36) + 1;
        assert_eq!(Float::F32.narrow_integer(above, Rounding::NearestEven), Ok(u64::from(0x5d80_0001u32)));
        assert_eq!(Float::F32.narrow_integer(above - 1, Rounding::NearestEven), Ok(u64::from(0x5d80_0000u32)));
        assert_eq!(Float::F32.narrow_integer(-above, Rounding::NearestEven), Ok(u64::from(0xdd80_0001u32)));
        assert_eq!(Float::F64.narrow_integer(i128::from(u64::MAX), Rounding::NearestEven), Ok((u64::MAX as f64).to_bits()));
        assert_eq!(Float::F16.narrow_integer(i128::MIN, Rounding::NearestEven), Err(Misfit::TooLarge { negative: true }));
    }

    #[test]
    fn zs_377_decimals_are_rounded_once() {
        assert_eq!(Float::F32.round_decimal("16777217"), Ok(16777216f32.to_bits().into()));
        assert_eq!(Float::F32.round_decimal("16777219"), Ok(16777220f32.to_bits().into()));
        assert_eq!(Float::F32.round_decimal("1.0000000596046448"), Ok(u64::from(1f32.to_bits() + 1)));
        assert_eq!(Float::F32.round_decimal("1e-46"), Ok(0));
        assert_eq!(Float::F16.round_decimal("2049"), Ok(Float::F16.from_f64(2048.0)));
        // The same just above and just below ties of narrower formats, where the nearest float64 is the tie itself.
        assert_eq!(Float::F16.round_decimal("2049.00000000000000000001"), Ok(Float::F16.from_f64(2050.0)));
        assert_eq!(Float::F16.round_decimal("2050.99999999999999999999"), Ok(Float::F16.from_f64(2050.0)));
        assert_eq!(Float::E4M3.round_decimal("1.0625"), Ok(0x38));
        assert_eq!(Float::E4M3.round_decimal("1.06250000000000000001"), Ok(0x39));
        assert_eq!(Float::BFloat16.round_decimal("1157425104234217473"), Ok(0x5d81), "2^60 + 2^52 + 1, the tie is odd to even");
        assert_eq!(Float::BFloat16.round_decimal("1157425104234217472"), Ok(0x5d80));
        assert_eq!(Float::F16.round_decimal("1e400"), Err(Misfit::TooLarge { negative: false }));
    }

    #[test]
    fn shortest_decimals_are_those_of_the_type() {
        assert_eq!(Float::F32.shortest(0.1f32.to_bits().into()), 0.1);
        assert_eq!(Float::F16.shortest(Float::F16.from_f64(0.1)), 0.1);
        assert_eq!(Float::BFloat16.shortest(Float::BFloat16.from_f64(2.7)), 2.7);
        assert_eq!(Float::F16.shortest(0x7bff), 65500.0);
        assert_eq!(Float::F32.shortest(0x8000_0000).to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn elements_are_read_from_and_written_to_little_endian_bytes() {
        let mut out = Vec::new();
        Float::BFloat16.write(0x7fc0, &mut out);
        Float::E2M1FN.write(0xf, &mut out);
        assert_eq!(out, [0xc0, 0x7f, 0x0f]);
        assert_eq!(Float::BFloat16.read(&out), 0x7fc0);
        assert_eq!(Float::E2M1FN.read(&[0xff]), 0xf, "upper bits are not part of it");
    }
}
