//! Units of dates and time spans.

use super::TimeUnit;

const NAMES: [(TimeUnit, &str); 14] = [
    (TimeUnit::Year, "Y"),
    (TimeUnit::Month, "M"),
    (TimeUnit::Week, "W"),
    (TimeUnit::Day, "D"),
    (TimeUnit::Hour, "h"),
    (TimeUnit::Minute, "m"),
    (TimeUnit::Second, "s"),
    (TimeUnit::Milli, "ms"),
    (TimeUnit::Micro, "us"),
    (TimeUnit::Nano, "ns"),
    (TimeUnit::Pico, "ps"),
    (TimeUnit::Femto, "fs"),
    (TimeUnit::Atto, "as"),
    (TimeUnit::Generic, "generic"),
];

impl TimeUnit {
    /// numpy's name of the unit.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(unit, _)| *unit == self).map_or("generic", |(_, name)| name)
    }
    /// The unit of a name; both spellings of the micro sign count as `us`.
    pub fn from_name(name: &str) -> Option<TimeUnit> {
        let name = if matches!(name, "\u{b5}s" | "\u{3bc}s") { "us" } else { name };
        NAMES.iter().find(|(_, n)| *n == name).map(|(unit, _)| *unit)
    }
    /// All names, for messages.
    pub(super) fn all_names() -> String {
        NAMES.map(|(_, name)| name).join(", ")
    }
}
