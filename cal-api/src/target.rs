//! The historical devices (CAL 1.4: `CALtarget`): names, generation, and the limits that programs were told.

use recal_hal::Attributes;
use recal_il::isa::Family;

/// One value of `CALtarget`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Value.
    pub value: u32,
    /// Name without `CAL_TARGET_`.
    pub name: &'static str,
    /// Generation.
    pub family: Family,
}

const fn target(value: u32, name: &'static str, family: Family) -> Target {
    Target { value, name, family }
}

/// All targets that the compiler accepts, in order of their values.
pub const TARGETS: [Target; 27] = [
    target(0, "600", Family::R600),
    target(1, "610", Family::R600),
    target(2, "630", Family::R600),
    target(3, "670", Family::R600),
    target(4, "7XX", Family::R700),
    target(5, "770", Family::R700),
    target(6, "710", Family::R700),
    target(7, "730", Family::R700),
    target(8, "CYPRESS", Family::Evergreen),
    target(9, "JUNIPER", Family::Evergreen),
    target(10, "REDWOOD", Family::Evergreen),
    target(11, "CEDAR", Family::Evergreen),
    target(12, "SUMO", Family::Evergreen),
    target(13, "SUPERSUMO", Family::Evergreen),
    target(14, "WRESTLER", Family::Evergreen),
    target(15, "CAYMAN", Family::NorthernIslands),
    target(16, "KAUAI", Family::NorthernIslands),
    target(17, "BARTS", Family::NorthernIslands),
    target(18, "TURKS", Family::NorthernIslands),
    target(19, "CAICOS", Family::NorthernIslands),
    target(20, "TAHITI", Family::NorthernIslands),
    target(21, "PITCAIRN", Family::NorthernIslands),
    target(22, "CAPEVERDE", Family::NorthernIslands),
    target(23, "DEVASTATOR", Family::NorthernIslands),
    target(24, "SCRAPPER", Family::NorthernIslands),
    target(25, "OLAND", Family::NorthernIslands),
    target(26, "BONAIRE", Family::NorthernIslands),
];

/// Cypress: what a device reports unless told otherwise.
pub const CYPRESS: u32 = 8;

impl Target {
    /// The target with this value.
    pub fn from_value(value: u32) -> Option<Target> {
        TARGETS.get(value as usize).copied()
    }

    /// By value (`8`), name (`cypress`), or name with a prefix (`CAL_TARGET_CYPRESS`, `rv770`).
    pub fn parse(text: &str) -> Option<Target> {
        let upper = text.trim().to_ascii_uppercase();
        let name = upper.trim_start_matches("CAL_TARGET_").trim_start_matches("RV").trim_start_matches('R');
        if let Ok(value) = name.parse::<u32>()
            && let Some(found) = Target::from_value(value)
        {
            return Some(found);
        }
        // `REDWOOD` lost its first letter above.
        TARGETS.iter().copied().find(|t| t.name == name || t.name == upper)
    }

    /// True if a device that reports `device` runs code made for `self`: the same generation or an older one. Our
    /// devices run IL, so newer generations run what older ones did.
    pub fn runs_on(self, device: Target) -> bool {
        self.family <= device.family
    }

    /// Changes the reported attributes of a device to what a board of this target would say.
    pub(crate) fn lower(self, attributes: &mut Attributes) {
        attributes.target = self.value;
        if self.family < Family::Evergreen {
            attributes.max_width_1d = attributes.max_width_1d.min(8192);
            attributes.max_width_2d = attributes.max_width_2d.min(8192);
            attributes.max_height_2d = attributes.max_height_2d.min(8192);
            attributes.uavs = attributes.uavs.min(1);
            attributes.shader_engines = 1;
        }
        if self.family < Family::R700 {
            attributes.compute = false;
            attributes.uavs = 0;
        }
        // Small chips ran smaller waves, and of each family the largest alone had doubles.
        match self.value {
            1 | 2 | 7 | 11 => attributes.wavefront_size = 32,
            6 => attributes.wavefront_size = 16,
            _ => {}
        }
        if matches!(self.value, 0..=2 | 6 | 7 | 9..=14 | 16..=19) {
            attributes.double_precision = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_up() {
        for (index, target) in TARGETS.iter().enumerate() {
            assert_eq!(target.value as usize, index);
        }
    }

    #[test]
    fn names_and_numbers_are_found() {
        for (text, value) in [
            ("8", 8),
            ("cypress", 8),
            ("CAL_TARGET_CYPRESS", 8),
            ("rv770", 5),
            ("770", 5),
            ("CAL_TARGET_7XX", 4),
            ("redwood", 10),
            ("r600", 0),
        ] {
            assert_eq!(Target::parse(text).map(|t| t.value), Some(value), "{text}");
        }
        for text in ["", "27", "-1", "hawaii", "8.0"] {
            assert_eq!(Target::parse(text), None, "{text}");
        }
    }

    #[test]
    fn chips_report_their_waves_and_doubles() {
        for (value, wave, doubles) in [
            (2, 32, false),
            (3, 64, true),
            (5, 64, true),
            (6, 16, false),
            (7, 32, false),
            (8, 64, true),
            (11, 32, false),
            (15, 64, true),
            (17, 64, false),
            (19, 64, false),
            (20, 64, true),
        ] {
            let mut attributes =
                Attributes { wavefront_size: 64, double_precision: true, ..Attributes::default() };
            Target::from_value(value).unwrap().lower(&mut attributes);
            assert_eq!((attributes.wavefront_size, attributes.double_precision), (wave, doubles), "{value}");
        }
    }

    #[test]
    fn newer_generations_run_older_code_only() {
        let of = |v| Target::from_value(v).unwrap();
        assert!(of(5).runs_on(of(8)));
        assert!(of(8).runs_on(of(8)));
        assert!(!of(15).runs_on(of(8)));
    }
}
