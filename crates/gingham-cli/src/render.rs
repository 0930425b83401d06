//! Numbers, sizes and times as people read them, and the few colours.

/// The colours. They reach a terminal only: every stream that they are written to strips them elsewhere.
pub mod style {
    use anstyle::{AnsiColor, Style};

    /// Errors.
    pub const BAD: Style = AnsiColor::Red.on_default().bold();
    /// Warnings.
    pub const WARN: Style = AnsiColor::Yellow.on_default().bold();
    /// Hints, and what went well.
    pub const GOOD: Style = AnsiColor::Green.on_default();
    /// Labels and what is beside the point.
    pub const DIM: Style = Style::new().dimmed();
    /// Names.
    pub const NAME: Style = Style::new().bold();
}

/// `812 B`, `1.4 GiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut unit = 0;
    let mut value = n as f64;
    while value >= 1023.95 && unit < UNITS.len() - 1 {
        value /= 1024.0;
        unit += 1;
    }
    if value >= 100.0 { format!("{value:.0} {}", UNITS[unit]) } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 chunk`, `3 chunks`; `many` is the noun's plural.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// `366 x 721 x 1440`; `scalar` for no axes.
pub fn shape(lengths: &[u64]) -> String {
    if lengths.is_empty() {
        return "scalar".into();
    }
    lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
}

/// `3.2x`, `150x`.
pub fn ratio(of: f64) -> String {
    if !of.is_finite() {
        "-".into()
    } else if of >= 99.95 {
        format!("{of:.0}x")
    } else if of >= 9.95 {
        format!("{of:.1}x")
    } else {
        format!("{of:.2}x")
    }
}

/// `850 µs`, `12 ms`, `3.4 s`, `2 min 05 s`.
pub fn duration(d: std::time::Duration) -> String {
    let s = d.as_secs_f64();
    match s {
        _ if s < 0.001 => format!("{:.0} µs", s * 1e6),
        _ if s < 0.010 => format!("{:.1} ms", s * 1e3),
        _ if s < 1.0 => format!("{:.0} ms", s * 1e3),
        _ if s < 60.0 => format!("{s:.1} s"),
        _ => format!("{} min {:02} s", d.as_secs() / 60, d.as_secs() % 60),
    }
}

/// Reads `512MiB`, `2G`, `1000` as bytes. Decimal and binary letters alike count in 1024s.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return Err(format!("\"{text}\" is not a size; write it as 512MiB or 2G")),
    };
    let value: f64 = number.parse().map_err(|_| format!("\"{text}\" is not a size; write it as 512MiB or 2G"))?;
    let bytes = value * 1024f64.powi(power);
    // 2^53: every whole number up to there is exact.
    if !(1.0..=9e15).contains(&bytes) {
        Err(format!("\"{text}\" is out of range; the least is 1, the most 8 PiB"))
    } else {
        Ok(bytes as u64)
    }
}

/// Cuts a text to `most` characters, with an ellipsis in place of what is cut; control characters are shown as `\u{..}`.
pub fn short(text: &str, most: usize) -> String {
    let clean: String = text.chars().flat_map(|c| if c.is_control() { c.escape_unicode().collect::<Vec<_>>() } else { vec![c] }).collect();
    if clean.chars().count() <= most {
        return clean;
    }
    clean.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sizes_have_two_or_three_digits() {
        for (n, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (150 * 1024, "150 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (1503238553, "1.4 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(plural(1, "chunk", "chunks"), "1 chunk");
        assert_eq!(plural(1500, "chunk", "chunks"), "1,500 chunks");
    }

    #[test]
    fn sizes_are_read_with_any_usual_unit() {
        assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
        assert_eq!(parse_bytes("1.5 g"), Ok(3 << 29));
        assert_eq!(parse_bytes("1000"), Ok(1000));
        for bad in ["", "x", "-1", "0", "1e9", "nan", "5 parsec", "99999999T", "1.2.3"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn control_characters_never_reach_a_terminal() {
        assert_eq!(short("a\u{1b}[31mb", 40), "a\\u{1b}[31mb");
        assert_eq!(short("abcdefgh", 5), "abcd…");
        assert_eq!(short("日本語", 3), "日本語");
    }

    #[test]
    fn ratios_and_times() {
        assert_eq!(ratio(1.0), "1.00x");
        assert_eq!(ratio(12.34), "12.3x");
        assert_eq!(ratio(150.2), "150x");
        assert_eq!(ratio(f64::NAN), "-");
        assert_eq!(duration(std::time::Duration::from_micros(850)), "850 µs");
        assert_eq!(duration(std::time::Duration::from_millis(12)), "12 ms");
        assert_eq!(duration(std::time::Duration::from_secs(125)), "2 min 05 s");
    }
}
