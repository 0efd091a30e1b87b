//! Models as `.xta` text.

use super::model::{
    Atom, Clock, Condition, END, Edge, Function, Kind, Location, Op, Place, Sync, Test, TestModel,
    Update, Value,
};

impl Op {
    fn text(self) -> &'static str {
        match self {
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Ge => ">=",
            Op::Gt => ">",
            Op::Eq => "==",
            Op::Ne => "!=",
        }
    }

    /// The operator with the sides exchanged.
    fn mirrored(self) -> Op {
        match self {
            Op::Lt => Op::Gt,
            Op::Le => Op::Ge,
            Op::Ge => Op::Le,
            Op::Gt => Op::Lt,
            same => same,
        }
    }
}

/// An index into an array of this size: a number, or the sum of a number and the value of a place.
fn index_text(at: usize, by: Option<String>, size: usize) -> String {
    match by {
        None => format!("{at}"),
        // Values of places are at most 2.
        Some(by) if at == 0 && size == 3 => by,
        Some(by) => format!("({by} + {at}) % {size}"),
    }
}

/// Names with their initial values.
fn list(name: &str, range: std::ops::Range<usize>, first: &[i32]) -> String {
    let one = |k: usize| match first[k] {
        0 => format!("{name}{k}"),
        value => format!("{name}{k} = {value}"),
    };
    range.map(one).collect::<Vec<_>>().join(", ")
}

/// The initial values of the cells of an array.
fn initialiser(first: &[i32]) -> String {
    if first.iter().all(|value| *value == 0) {
        return String::new();
    }
    let values: Vec<String> = first.iter().map(i32::to_string).collect();
    format!(" = {{ {} }}", values.join(", "))
}

impl TestModel {
    /// The model as text.
    pub fn text(&self) -> String {
        let mut out = if self.clock_array {
            let first = initialiser(&self.first_clocks);
            format!("clock x[{}]{first};\n", self.clocks)
        } else {
            let names = list("x", 0..self.clocks, &self.first_clocks);
            format!("clock {names};\n")
        };
        let plain = self.vars - usize::from(self.meta);
        let meta = if self.meta { "meta " } else { "" };
        for (word, range) in [("", 0..plain), ("meta ", plain..self.vars)] {
            if !range.is_empty() {
                let names = list("v", range, &self.first_numbers);
                out += &format!("{word}int[0,2] {names};\n");
            }
        }
        if self.cells > 0 {
            let first = initialiser(&self.first_numbers[self.vars..]);
            out += &format!("{meta}int[0,2] a[{}]{first};\n", self.cells);
        }
        if self.bounded {
            out += "clock g;\n";
        }
        for (k, c) in self.channels.iter().enumerate() {
            let urgent = if c.urgent { "urgent " } else { "" };
            let broadcast = if c.broadcast { "broadcast " } else { "" };
            if !self.channel_array {
                out += &format!("{urgent}{broadcast}chan c{k};\n");
            } else if k == 0 {
                out += &format!("{urgent}{broadcast}chan c[{}];\n", self.channels.len());
            }
        }
        if self.priorities {
            let mut levels = vec![(0, "default".to_owned())];
            for (k, c) in self.channels.iter().enumerate().skip(1) {
                let name = match self.channel_array {
                    true => format!("c[{k}]"),
                    false => format!("c{k}"),
                };
                levels.push((c.priority, name));
            }
            levels.sort();
            let levels: Vec<String> = levels.into_iter().map(|l| l.1).collect();
            out += &format!("chan priority {};\n", levels.join(" < "));
        }
        for (f, function) in self.functions.iter().enumerate() {
            out += &self.function_text(f, function);
        }
        for (word, updates) in ["before", "after"].into_iter().zip(&self.around) {
            if !updates.is_empty() {
                out += &format!("{word}_update {{ {} }}\n", self.updates_text(updates, ""));
            }
        }
        for (p, (locations, edges)) in self.processes.iter().enumerate() {
            out += &self.process_text(p, locations, edges);
        }
        out += "system P0";
        for p in 1..self.processes.len() {
            let higher = self.levels[p] > self.levels[p - 1];
            out += &format!("{} P{p}", if higher { " <" } else { "," });
        }
        out + ";\n"
    }

    pub fn clock_text(&self, clock: Clock) -> String {
        if clock.x == self.clocks {
            "g".to_owned()
        } else if self.clock_array {
            let by = clock.by.map(|v| format!("v{v}"));
            format!("x[{}]", index_text(clock.x, by, self.clocks))
        } else {
            format!("x{}", clock.x)
        }
    }

    pub fn place_text(&self, place: Place) -> String {
        match place {
            Place::Var(v) => format!("v{v}"),
            Place::Cell(at, by) => {
                let by = by.map(|v| format!("v{v}"));
                format!("a[{}]", index_text(at, by, self.cells))
            }
            Place::Select => "s".to_owned(),
        }
    }

    fn value_text(&self, value: Value) -> String {
        match (value.plus.map(|place| self.place_text(place)), value.c) {
            (None, c) => format!("{c}"),
            (Some(place), 0) => place,
            (Some(place), c @ ..0) => format!("{place} - {}", -c),
            (Some(place), c) => format!("{place} + {c}"),
        }
    }

    fn test_text(&self, test: &Test) -> String {
        let op = if test.equal { "==" } else { "!=" };
        format!(
            "{} {op} {}",
            self.place_text(test.place),
            self.value_text(test.value)
        )
    }

    fn condition_text(&self, condition: &Condition) -> Vec<String> {
        let mut parts: Vec<String> = condition.atoms.iter().map(|a| self.atom_text(a)).collect();
        let test = condition.test.map(|test| self.test_text(&test));
        match test {
            Some(test) if condition.either => parts[0] = format!("({test} || {})", parts[0]),
            test => parts.extend(test),
        }
        let divisor = condition.divisor.map(|place| self.place_text(place));
        parts.extend(divisor.map(|place| format!("1 / {place} == 1")));
        parts
    }

    fn function_text(&self, f: usize, function: &Function) -> String {
        let body = |updates: &[Update]| match updates {
            [] => String::new(),
            _ => self.updates_text(updates, "s").replace(", ", "; ") + "; ",
        };
        format!(
            "void f{f}(const int s) {{ if ({}) {{ {}return; }} {}}}\n",
            self.test_text(&function.test),
            body(&function.then),
            body(&function.other)
        )
    }

    pub fn atom_text(&self, a: &Atom) -> String {
        let right = a.y.map(|y| format!(" - {}", self.clock_text(y)));
        let right = right.unwrap_or_default();
        let left = self.clock_text(a.x) + &right;
        let c = self.value_text(a.c);
        // Some are written the other way round.
        match a.c.c {
            2 => format!("{c} {} {left}", a.op.mirrored().text()),
            _ => format!("{left} {} {c}", a.op.text()),
        }
    }

    fn process_text(&self, p: usize, locations: &[Location], edges: &[Edge]) -> String {
        let mut out = format!("process P{p}() {{\n  state ");
        let states: Vec<String> = locations
            .iter()
            .enumerate()
            .map(|(l, location)| {
                let mut parts = self.condition_text(&location.invariant);
                if self.bounded && !self.ticks && p == 0 {
                    parts.push(format!("g <= {END}"));
                }
                let invariant = if parts.is_empty() {
                    String::new()
                } else {
                    format!(" {{ {} }}", parts.join(" && "))
                };
                format!("l{l}{invariant}")
            })
            .collect();
        out += &format!("{};\n", states.join(", "));
        for (kind, word) in [(Kind::Committed, "commit"), (Kind::Urgent, "urgent")] {
            let names: Vec<String> = (0..locations.len())
                .filter(|l| locations[*l].kind == kind)
                .map(|l| format!("l{l}"))
                .collect();
            if !names.is_empty() {
                out += &format!("  {word} {};\n", names.join(", "));
            }
        }
        out += "  init l0;\n";
        let lines: Vec<String> = edges.iter().map(|e| self.edge_text(e)).collect();
        if !lines.is_empty() {
            out += &format!("  trans\n{};\n", lines.join(",\n"));
        }
        out + "}\n"
    }

    fn edge_text(&self, e: &Edge) -> String {
        let mut out = format!("    l{} -> l{} {{", e.source, e.target);
        if e.select {
            out += " select s : int[0,1];";
        }
        let guard = self.condition_text(&e.guard);
        if !guard.is_empty() {
            out += &format!(" guard {};", guard.join(" && "));
        }
        if let Some(sync) = e.sync {
            out += &format!(" sync {};", self.sync_text(sync));
        }
        if !e.updates.is_empty() {
            let select = if e.select { "s" } else { "" };
            out += &format!(" assign {};", self.updates_text(&e.updates, select));
        }
        out + " }"
    }

    fn sync_text(&self, sync: Sync) -> String {
        let word = if sync.sends { "!" } else { "?" };
        if !self.channel_array {
            return format!("c{}{word}", sync.channel);
        }
        let by = sync.by.map(|place| self.place_text(place));
        let index = index_text(sync.channel, by, self.channels.len());
        format!("c[{index}]{word}")
    }

    /// `select` is the name of the select variable, if there is one.
    fn updates_text(&self, updates: &[Update], select: &str) -> String {
        let text = |update: &Update| match *update {
            Update::Reset(x, c) => format!("{} = {}", self.clock_text(x), self.value_text(c)),
            Update::Copy(x, y) => format!("{} = {}", self.clock_text(x), self.clock_text(y)),
            Update::Assign(place, from, c) => {
                let base = from.map(|f| format!("{} + ", self.place_text(f)));
                let base = base.unwrap_or_default();
                let plus = if select.is_empty() { "" } else { " + " };
                format!("{} = ({base}{c}{plus}{select}) % 3", self.place_text(place))
            }
            Update::Over(place, from, c) => {
                format!(
                    "{} = {} + {c}",
                    self.place_text(place),
                    self.place_text(from)
                )
            }
            Update::Call(f) => {
                let argument = if select.is_empty() { "0" } else { select };
                format!("f{f}({argument})")
            }
        };
        updates.iter().map(text).collect::<Vec<_>>().join(", ")
    }
}
