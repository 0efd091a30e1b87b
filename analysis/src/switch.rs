//! What `--without` leaves out, by name.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use zonelens_syntax::similar;

/// Something that a run can do without: the verdict is the same, or there is none within the
/// limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// A search under LU bounds, where only regions are exact.
    LuBounds,
    /// A search that explores the states nearest to the condition first.
    BestFirst,
    /// Random depth first searches, one seed after the other.
    RandomDepthFirst,
    /// A depth first search.
    DepthFirst,
    /// A search over convex hulls of zones.
    Hulls,
    /// Searches over zones that keep the differences of few clocks only.
    LooseClocks,
    /// Searches for the run that loose clocks could not exclude.
    Guided,
    /// Zones are left out that stored ones simulate.
    Simulation,
}

impl Switch {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Switch; 8] = [
        Switch::LuBounds,
        Switch::BestFirst,
        Switch::RandomDepthFirst,
        Switch::DepthFirst,
        Switch::Hulls,
        Switch::LooseClocks,
        Switch::Guided,
        Switch::Simulation,
    ];

    /// The name that the user writes, which is also the one in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Switch::LuBounds => "lu-bounds",
            Switch::BestFirst => "best-first",
            Switch::RandomDepthFirst => "random-depth-first",
            Switch::DepthFirst => "depth-first",
            Switch::Hulls => "hulls",
            Switch::LooseClocks => "loose-clocks",
            Switch::Guided => "guided",
            Switch::Simulation => "simulation",
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Switch {
    type Err = String;

    /// Finds a switch by name; the message lists all names and the one that was probably meant.
    fn from_str(name: &str) -> Result<Switch, String> {
        let names = || Switch::ALL.into_iter().map(Switch::name);
        if let Some(switch) = Switch::ALL.into_iter().find(|s| s.name() == name) {
            return Ok(switch);
        }
        let meant = similar::closest(name, names());
        let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
        let known = names().collect::<Vec<_>>().join(", ");
        Err(format!("the names are {known}{meant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json_and_read_back() {
        for switch in Switch::ALL {
            assert_eq!(switch.name().parse(), Ok(switch));
            let json = serde_json::to_value(switch).expect("a string");
            assert_eq!(json, switch.name());
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_list() {
        let refused = "huls".parse::<Switch>().expect_err("unknown");
        assert!(refused.contains("lu-bounds, best-first"), "{refused}");
        assert!(refused.ends_with("did you mean `hulls`?"), "{refused}");
        let refused = "symmetry".parse::<Switch>().expect_err("unknown");
        assert!(!refused.contains("did you mean"), "{refused}");
    }
}
