//! A large model for the benchmarks, with many templates in a typical style.

use std::fmt::Write;

/// A model of about `lines` lines.
pub(crate) fn model(lines: usize) -> String {
    let templates = (lines / 39).max(1);
    let mut out = String::from(
        "// Generated for benchmarks.\nconst int N = 4;\ntypedef scalar[N] pid;\nchan go[pid];\n",
    );
    for t in 0..templates {
        template(&mut out, t);
    }
    let names: Vec<String> = (0..templates).map(|t| format!("T{t}")).collect();
    for line in names.chunks(8) {
        let _ = writeln!(out, "// {}", line.join(" "));
    }
    let _ = writeln!(out, "system {};", names.join(", "));
    out
}

fn template(out: &mut String, t: usize) {
    let _ = write!(
        out,
        "
// Worker {t}: takes a job, works on it, gives it back.
int[0,N] count{t};
bool busy{t}[pid];

int free{t}(int limit) {{
    int n = 0;
    for (i : pid) {{
        if (!busy{t}[i]) {{
            n += 1;
        }}
    }}
    return n > limit ? limit : n;
}}

process T{t}(const pid id) {{
    clock x, y;
    int[0,10] tries = 0;
    state idle, ready {{ x <= 5 }}, work {{ x <= 8 && y <= 20 }}, done;
    commit done;
    init idle;
    trans
        idle -> ready {{ guard free{t}(3) > 0 && !busy{t}[id]; sync go[id]?; assign x = 0, busy{t}[id] = true; }},
        idle -> idle {{ guard x > 10; sync go[id]!; assign x = 0; }},
        ready -> work {{
            guard x >= 2 && count{t} < N;
            assign x = 0, y = 0, count{t}++;
        }},
        ready -> idle {{
            guard x == 5;
            assign busy{t}[id] = false, tries = tries < 10 ? tries + 1 : 0;
        }},
        work -> done {{
            guard x > 3 && (y < 15 || tries > 2);
            assign count{t}--;
        }},
        done -> idle {{
            assign busy{t}[id] = false, tries = 0, x = 0;
        }};
}}
"
    );
}

/// A large system: 20,000 lines, 1,000 templates, five processes of each, twenty queries.
pub(crate) fn system() -> String {
    let mut out = String::from(
        "// Generated for benchmarks.\nconst int N = 5;\ntypedef int[0,N-1] id;\nchan go[N];\n",
    );
    for t in 0..1000 {
        small_template(&mut out, t);
    }
    let names: Vec<String> = (0..1000).map(|t| format!("T{t}")).collect();
    let _ = writeln!(out, "system {};", names.join(", "));
    for t in 0..20 {
        let _ = writeln!(out, "//@ query E<> T{t}(1).done");
    }
    out
}

fn small_template(out: &mut String, t: usize) {
    let _ = write!(
        out,
        "
// Worker {t}: takes a job, works on it, gives it back.
int[0,10] count{t};
bool busy{t}[N];

process T{t}(const id i) {{
    clock x, y;
    int[0,10] tries = 0;
    state idle, ready {{ x <= 5 }}, work {{ x <= 8 && y <= 20 }}, done;
    commit done;
    init idle;
    trans
        idle -> ready {{ guard !busy{t}[i]; sync go[i]?; assign x = 0, busy{t}[i] = true; }},
        idle -> idle {{ guard x > 10; sync go[i]!; assign x = 0; }},
        ready -> work {{ guard x >= 2 && count{t} < 10; assign x = 0, y = 0, count{t}++; }},
        ready -> idle {{ guard x == 5; assign busy{t}[i] = false, tries = tries < 10 ? tries + 1 : 0; }},
        work -> done {{ guard x > 3 && (y < 15 || tries > 2); assign count{t}--; }},
        done -> idle {{ assign busy{t}[i] = false, tries = 0, x = 0; }};
}}
"
    );
}
