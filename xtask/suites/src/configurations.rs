//! Models of the corpus whose authors ran some queries on another configuration than the saved one,
//! and say so in the file: in a comment on the query, or next to the line to change.

/// A configuration: the rows it is for, the changes, and the place in the file that describes it.
struct Configuration {
    /// A part of the file name.
    file: &'static str,
    /// The start of the formula.
    formula: &'static str,
    /// Texts to replace, wherever they occur.
    edits: &'static [(&'static str, &'static str)],
    says: &'static str,
}

const FIRST_PLACEMENT: (&str, &str) = ("        // Turret0, Turret1,", "        Turret0, Turret1,");
const NOT_FIRST_PLACEMENT: (&str, &str) = (FIRST_PLACEMENT.1, FIRST_PLACEMENT.0);
const THIRD_PLACEMENT: (&str, &str) = (
    "        // Turret14, Turret15,",
    "        Turret14, Turret15,",
);
const NOT_THIRD_PLACEMENT: (&str, &str) = (THIRD_PLACEMENT.1, THIRD_PLACEMENT.0);
const TURRETS: (&str, &str) = ("no_turrets = true", "no_turrets = false");
const NO_TURRETS: (&str, &str) = (TURRETS.1, TURRETS.0);

/// The configurations; the first one that matches is used.
const CONFIGURATIONS: [Configuration; 5] = [
    Configuration {
        file: "/UppaalTD.xml",
        formula: "A<> end_game && main_tower_life_points > 0",
        edits: &[TURRETS, FIRST_PLACEMENT, NOT_THIRD_PLACEMENT],
        says: "configuration 1, as the comment on the query says",
    },
    Configuration {
        file: "/UppaalTD.xml",
        formula: "E<> main_tower_life_points <= 0",
        edits: &[TURRETS, NOT_FIRST_PLACEMENT, THIRD_PLACEMENT],
        says: "configuration 3, as the comment on the query says",
    },
    Configuration {
        file: "/UppaalTD.xml",
        formula: "",
        edits: &[NO_TURRETS],
        says: "`no_turrets` set, as the comment over these queries says",
    },
    Configuration {
        file: "YanaSiao__Uppaal-Formal-Verification",
        formula: "A[]",
        edits: &[
            ("    Frog,", "    //Frog,"),
            ("DiveState10,\n\n    Frog;", "DiveState10;"),
        ],
        says: "without the process `Frog`, as the comments on the query and on the system line say",
    },
    Configuration {
        file: "YanaSiao__Uppaal-Formal-Verification",
        formula: "E<>",
        edits: &[("    //Frog,", "    Frog,")],
        says: "with the process `Frog`, as the comment on the system line says",
    },
];

/// The text in the configuration that the file describes for a formula, and where it does.
pub(crate) fn configured(file: &str, formula: &str, text: &str) -> Option<(String, &'static str)> {
    let fits = |c: &&Configuration| file.contains(c.file) && formula.starts_with(c.formula);
    let configuration = CONFIGURATIONS.iter().find(fits)?;
    let edits = configuration.edits.iter();
    let other = edits.fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    (other != text).then_some((other, configuration.says))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_configured_already_stays() {
        let (file, formula) = ("models/x/UppaalTD.xml", "A[] not deadlock");
        let text = "bool no_turrets = false;";
        let (other, _) = configured(file, formula, text).expect("another one");
        assert_eq!(other, "bool no_turrets = true;");
        assert!(configured(file, formula, &other).is_none());
        assert!(configured("models/y.xml", formula, text).is_none());
    }
}
