//! The grammar, construct by construct: precedence, declarations, processes, queries, dialects.

use zonelens_syntax::ast::*;
use zonelens_syntax::{SourceFile, parse_query};

/// An expression with explicit brackets.
fn show(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Error => "<error>".into(),
        ExprKind::Int(n) => n.to_string(),
        ExprKind::Float(f) => f.to_string(),
        ExprKind::Str(s) => format!("{s:?}"),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Name(n) => n.name.to_string(),
        ExprKind::Paren(e) => show(e),
        ExprKind::Unary { op, expr, .. } => format!("({op:?} {})", show(expr)),
        ExprKind::Binary { op, lhs, rhs, .. } => format!("({} {op:?} {})", show(lhs), show(rhs)),
        ExprKind::Assign { op, lhs, rhs, .. } => format!("({} {op:?}= {})", show(lhs), show(rhs)),
        ExprKind::IncDec {
            increment,
            prefix,
            expr,
            ..
        } => {
            let op = if *increment { "++" } else { "--" };
            if *prefix {
                format!("({op}{})", show(expr))
            } else {
                format!("({}{op})", show(expr))
            }
        }
        ExprKind::Cond { cond, then, other } => {
            format!("({} ? {} : {})", show(cond), show(then), show(other))
        }
        ExprKind::Index { base, index } => format!("{}[{}]", show(base), show(index)),
        ExprKind::Field { base, name } => format!("{}.{}", show(base), name.name),
        ExprKind::Call { callee, args } => {
            format!(
                "{}({})",
                show(callee),
                args.iter().map(show).collect::<Vec<_>>().join(", ")
            )
        }
        ExprKind::Rate(e) => format!("{}'", show(e)),
        ExprKind::Quantifier {
            kind, var, body, ..
        } => format!("({kind:?} {} {})", var.name, show(body)),
        ExprKind::Deadlock => "deadlock".into(),
        ExprKind::Comma(list) => format!(
            "({})",
            list.iter().map(show).collect::<Vec<_>>().join(" , ")
        ),
    }
}

fn parse(text: &str) -> SourceFile {
    let file = SourceFile::parse(text, FileKind::Xta);
    assert_eq!(file.errors(), [], "{text}");
    file
}

/// Parses `text` as the initialiser of `int v = …;`.
fn expr(text: &str) -> String {
    let file = parse(&format!("int v = {text};\nsystem P;"));
    match &file.items[0].node.kind {
        ItemKind::Var(v) => match &v.names[0].init {
            Some(Init::Expr(e)) => show(e),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn precedence_follows_the_manual() {
    for (text, expected) in [
        ("a + b * c", "(a Add (b Mul c))"),
        ("a - b - c", "((a Sub b) Sub c)"),
        ("-x ** 2", "((Minus x) Pow 2)"),
        ("a ** b ** c", "((a Pow b) Pow c)"),
        ("a * b ** c", "(a Mul (b Pow c))"),
        ("a << b + c", "(a Shl (b Add c))"),
        ("a <? b << c", "(a Min (b Shl c))"),
        ("a < b <? c", "(a Lt (b Min c))"),
        ("a == b < c", "(a Eq (b Lt c))"),
        ("a & b == c", "(a BitAnd (b Eq c))"),
        ("a ^ b & c", "(a BitXor (b BitAnd c))"),
        ("a | b ^ c", "(a BitOr (b BitXor c))"),
        ("a && b | c", "(a And (b BitOr c))"),
        ("a || b && c", "(a Or (b And c))"),
        ("a imply b or c", "((a Imply b) Or c)"),
        ("a imply b imply c", "((a Imply b) Imply c)"),
        ("a xor b || c", "((a Xor b) Or c)"),
        ("not a && b", "((Not a) And b)"),
        ("!a == b", "((Not a) Eq b)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a || b ? c : d", "((a Or b) ? c : d)"),
        ("a = b = c", "(a Set= (b Set= c))"),
        ("a := b ? c : d", "(a Set= (b ? c : d))"),
        ("a ? b : c = d", "((a ? b : c) Set= d)"),
        ("a += b << 1", "(a Add= (b Shl 1))"),
        (
            "forall (i : T) a[i] && b or c",
            "(Forall i ((a[i] And b) Or c))",
        ),
        ("a && exists (i : T) b || c", "(a And (Exists i (b Or c)))"),
        ("sum (i : int[0,3]) a[i] + 1", "(Sum i (a[i] Add 1))"),
        ("a[i].f(x, y)'", "a[i].f(x, y)'"),
        ("a++ + ++b", "((a++) Add (++b))"),
        ("- -a--", "(Minus (Minus (a--)))"),
        ("(a + b) * c", "((a Add b) Mul c)"),
        ("a =< b and c => d", "((a Le b) And (c Ge d))"),
        ("1.5 + 2e3", "(1.5 Add 2e3)"),
        ("\"text\"", "\"text\""),
    ] {
        assert_eq!(expr(text), expected, "{text}");
    }
}

#[test]
fn declarations_of_every_kind() {
    let file = parse(
        r#"
        const int N = 5, M[2] = { 1, 2 };
        int[0,N-1] a, b[3][int[1,2]] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
        bool flag = true; meta int m; hybrid clock h; clock x, y[N]; double d = 1.5;
        chan c; urgent chan uc; broadcast chan bc; urgent broadcast chan ubc[N];
        typedef scalar[3] pid; typedef int[0,3] small, row[4];
        typedef struct { int x, y[2]; pid p; } point;
        point p = { x: 1, y: { 2, 3 } };
        string s;
        int abs(int exit) { return exit; }
        void f(int &r, const int v, int &a[3]) {
            int i; typedef int[0,1] bit; bit b = 0;
            ; { int j; j = 1; }
            for (i = 0, b = 1; i < 3; i++) r += i;
            for (k : pid) { a[0] = 1; }
            while (i > 0) i--;
            do { i++; } while (i < 3);
            if (i == 0) r = 1; else if (i == 1) r = 2; else { r = 3; }
            assert i > 0;
            return;
        }
        before_update { m = 0 }
        after_update { m = 1, m = 2 }
        chan priority c, ubc[0] < default < uc;
        dynamic D(int i);
        import "lib.so" { int g(int x); };
        process P(const pid id, int &r, chan &ch[N]) { state A; init A; }
        Q(const int[0,1] i) = P(i, a, ubc);
        R = Q(1);
        system R, Q < P;
        progress { a; flag : b[0][1]; }
        gantt { G(i : int[0,3]) : a == i -> 1, for (j : pid) flag -> 2; }
        query { A[] not deadlock }
        "#,
    );
    let kinds: Vec<String> = file
        .items
        .iter()
        .map(|i| {
            format!("{:?}", i.node.kind)
                .split(['(', ' ', '{'])
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "Var",
            "Var",
            "Var",
            "Var",
            "Var",
            "Var",
            "Var",
            "Var",
            "Var",
            "Var",
            "Var",
            "Typedef",
            "Typedef",
            "Typedef",
            "Var",
            "Var",
            "Function",
            "Function",
            "BeforeUpdate",
            "AfterUpdate",
            "ChanPriority",
            "Unsupported",
            "Unsupported",
            "Process",
            "Instantiation",
            "Instantiation",
            "System",
            "Progress",
            "Gantt",
            "Query",
            "Empty"
        ]
    );
}

#[test]
fn processes_with_all_their_parts() {
    let file = parse(
        "process P() {\n clock x; int n; int f() { return 1; } urgent chan c;\n state A { x <= 5 && n < 2; 1 : 2 }, B { ; 3 }, C;\n branchpoint bp;\n commit B; urgent C; init A;\n trans A -> bp { select i : int[0,3], j : bool; guard x > 1; sync c!; assign n = i, x = 0; probability 2; },\n bp -u-> B { probability 3; }, -> C { }, C -> A { sync c?; };\n}\nsystem P;",
    );
    let ItemKind::Process(p) = &file.items[0].node.kind else {
        panic!("no process")
    };
    let edges: Vec<&Edge> = p
        .members
        .iter()
        .filter_map(|m| {
            if let MemberKind::Edge(e) = &m.node.kind {
                Some(e)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(edges.len(), 4);
    assert_eq!(edges[0].select.len(), 2);
    assert_eq!(edges[0].assign.len(), 2);
    assert!(!edges[1].controllable && edges[2].source.is_none());
    assert_eq!(
        edges[0].sync.as_ref().map(|s| s.direction),
        Some(Direction::Send)
    );
    let states = p
        .members
        .iter()
        .find_map(|m| {
            if let MemberKind::States(s) = &m.node.kind {
                Some(s)
            } else {
                None
            }
        })
        .expect("states");
    assert!(
        states[0]
            .exponential_rate
            .as_ref()
            .is_some_and(|(_, second)| second.is_some())
    );
    assert!(states[1].invariant.is_none() && states[1].exponential_rate.is_some());
    assert!(
        p.members
            .iter()
            .any(|m| matches!(&m.node.kind, MemberKind::Var(v) if v.ty.has(Prefix::Urgent)))
    );
    assert!(
        p.members
            .iter()
            .any(|m| matches!(&m.node.kind, MemberKind::Urgent(l) if l.len() == 1))
    );
}

#[test]
fn notations_of_the_papers_and_of_version_3() {
    let file = parse(
        "scalarset pid[3];\ntypedef scalarset[3] proc_id;\nconst N 5, M 6;\nint i := 0;\nint a[pid];\nprocess P(scalarset pid) { state A; init A; trans A -> A { guard i == 0, i =< N; assign i := 1; }; }\nprocess Q(int x, y; const n; chan c) { state A { i<=1, i>=0 }; init A; }\nprocess Z { state A; init A; }\nProcs := P(pid);\nF = forall i in proc_id : P(i);\nsystem Procs, F;",
    );
    assert!(matches!(
        file.items[0].node.kind,
        ItemKind::ScalarsetDecl { .. }
    ));
    let ItemKind::Var(constants) = &file.items[2].node.kind else {
        panic!("no constants")
    };
    assert!(matches!(constants.ty.base, TypeBase::ImplicitInt) && constants.names.len() == 2);
    let ItemKind::Process(q) = &file.items[6].node.kind else {
        panic!("no process")
    };
    let params = q.params.as_ref().expect("parameters");
    assert!(params.legacy);
    let names: Vec<&str> = params.list.iter().map(|p| p.name.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "n", "c"]);
    assert!(
        matches!(params.list[1].ty.base, TypeBase::Int(None))
            && matches!(params.list[2].ty.base, TypeBase::ImplicitInt)
    );
    let ItemKind::Instantiation(f) = &file.items[9].node.kind else {
        panic!("no instantiation")
    };
    assert_eq!(f.binders.len(), 1);
}

#[test]
fn queries_of_every_family() {
    let kind = |text: &str| {
        let q = parse_query(text);
        assert_eq!(q.errors, [], "{text}");
        match &q.kind {
            QueryKind::Path(k, e) => format!("{k:?} {}", show(e)),
            QueryKind::LeadsTo(a, b) => format!("{} --> {}", show(a), show(b)),
            QueryKind::Bounds {
                kind,
                condition,
                exprs,
            } => {
                format!(
                    "{kind:?} {:?} {}",
                    condition.as_ref().map(show),
                    exprs.len()
                )
            }
            other => format!("{other:?}"),
        }
    };
    for (text, expected) in [
        ("A[] not deadlock", "Always (Not deadlock)"),
        ("E<> P(1).cs and x>=3", "Possibly (P(1).cs And (x Ge 3))"),
        ("A<> P.l imply Q.m", "Eventually (P.l Imply Q.m)"),
        ("E[] !P.l", "PotentiallyAlways (Not P.l)"),
        ("E <> true", "Possibly true"),
        ("P.req --> P.cs", "P.req --> P.cs"),
        (
            "A[] forall (i : pid) P(i).cs imply i == id",
            "Always (Forall i (P(i).cs Imply (i Eq id)))",
        ),
        ("sup: x, y", "Sup None 2"),
        ("inf{P.cs}: x", "Inf Some(\"P.cs\") 1"),
        (
            "bounds{P.cs && n > 1}: n",
            "Bounds Some(\"(P.cs And (n Gt 1))\") 1",
        ),
        (
            "sup > 3 --> bool == clock",
            "(sup Gt 3) --> (bool Eq clock)",
        ),
        ("Pr[<=10](<> P.l)", "Unsupported(Statistical)"),
        ("Pr[#<=10]([] P.l) >= 0.5", "Unsupported(Statistical)"),
        ("simulate[<=10; 3] { x, y }", "Unsupported(Statistical)"),
        ("simulate[#<=10] { x, y }", "Unsupported(Statistical)"),
        ("simulate 1 [<=10] { x }", "Unsupported(Statistical)"),
        ("E[<=10; 100](max: x)", "Unsupported(Statistical)"),
        ("control: A[] P.l", "Unsupported(Game)"),
        ("control_t*(1, 2): A<> P.l", "Unsupported(Game)"),
        ("A[ P.l U Q.m ]", "Unsupported(Game)"),
        ("{ x, y } control: A<> P.l", "Unsupported(Game)"),
        ("strategy S = control: A[] P.l", "Unsupported(Strategy)"),
        ("A[] P.l under S", "Unsupported(Strategy)"),
        ("saveStrategy(\"f\", S)", "Unsupported(Strategy)"),
        ("minE(x)[<=10]: <> P.l", "Unsupported(Learning)"),
        ("refinement: A <= B", "Unsupported(Ecdar)"),
        ("/* nothing */", "Heading"),
    ] {
        assert_eq!(kind(text), expected, "{text}");
    }
    for wrong in [
        "A[]",
        "P.l",
        "A[] A<> P.l",
        "E<> (x",
        "A[] x +",
        "p --> ",
        "sup",
    ] {
        assert!(!parse_query(wrong).errors.is_empty(), "{wrong}");
        assert!(
            parse_query(wrong)
                .errors
                .iter()
                .all(|e| e.code == "query/syntax")
        );
    }
}

#[test]
fn expectations_come_from_comments_and_pragmas() {
    let file = SourceFile::parse(
        "/* EXPECT:F,10s */\nA[] true\nE<> true // EXPECT:T\nE[] true\n",
        FileKind::Query,
    );
    let wanted: Vec<Option<bool>> = file
        .queries()
        .iter()
        .map(|q| q.query.expectation.map(|e| e.satisfied))
        .collect();
    assert_eq!(wanted, [Some(false), Some(true), None]);
    let file = parse(
        "process P() { state A; init A; }\nsystem P;\n//@ query A[] P.A\n//@ expect satisfied\n//@ allow lint/dead-end because\n//@ nonsense\n",
    );
    assert_eq!(file.queries().len(), 1);
    assert!(
        file.queries()[0]
            .query
            .expectation
            .is_some_and(|e| e.satisfied)
    );
    let pragmas: Vec<&PragmaKind> = file
        .items
        .iter()
        .flat_map(|i| i.node.pragmas.iter().map(|p| &p.kind))
        .collect();
    assert!(matches!(pragmas[2], PragmaKind::Allow { code, .. } if code == "lint/dead-end"));
    assert!(matches!(pragmas[3], PragmaKind::Unknown(word) if word == "nonsense"));
}

#[test]
fn formulas_continue_after_a_backslash_and_inside_brackets() {
    let file = SourceFile::parse(
        "A[] a && \\\n b\nE<> (c ||\n d)\nA[] (e\nE<> f\n",
        FileKind::Query,
    );
    let texts: Vec<&str> = file
        .queries()
        .iter()
        .map(|q| q.query.text.as_str())
        .collect();
    assert_eq!(texts, ["A[] a && b", "E<> (c || d)", "A[] (e", "E<> f"]);
}

#[test]
fn xml_with_entities_cdata_and_comments() {
    let text = "<nta><declaration>int a; <!-- no --> int b = 1 &lt; 2;</declaration><template><name>P</name><location id=\"id0\"><label kind=\"invariant\"><![CDATA[x <= 5 && ]]>y &lt; 3</label></location><init ref=\"id0\"/><transition><source ref=\"id0\"/><target ref=\"id0\"/><label kind=\"guard\">n &gt;= 1 &amp;&amp; m</label><nail x=\"1\" y=\"2\"/></transition></template><system>system P;</system><queries><query><formula>E&lt;&gt; P._id0</formula><comment>c</comment><result outcome=\"failure\" type=\"quality\"/></query></queries></nta>";
    let file = SourceFile::parse(text, FileKind::Xml);
    assert_eq!(file.errors(), []);
    let process = file
        .items
        .iter()
        .find(|i| matches!(i.node.kind, ItemKind::Process(_)))
        .expect("template");
    let ItemKind::Process(p) = &process.node.kind else {
        return;
    };
    let MemberKind::States(states) = &p.members[0].node.kind else {
        panic!("no location")
    };
    let invariant = states[0].invariant.as_ref().expect("invariant");
    assert_eq!(show(invariant), "((x Le 5) And (y Lt 3))");
    assert!(states[0].anonymous && states[0].name.name == "_id0");
    let base = process.offset + p.members[0].offset;
    let ExprKind::Binary { rhs, .. } = &invariant.kind else {
        panic!("no conjunction")
    };
    assert_eq!(file.slice(rhs.span.shift(base)), "y &lt; 3");
    let query = file.queries()[0];
    assert_eq!(query.query.text, "E<> P._id0");
    assert_eq!(
        file.slice(query.query.span.shift(query.base)),
        "E&lt;&gt; P._id0"
    );
    assert_eq!(query.query.results[0].satisfied, Some(false));
    assert_eq!(query.query.comment.as_deref(), Some("c"));
}

#[test]
fn messages_name_what_was_expected() {
    let message = |text: &str| {
        SourceFile::parse(text, FileKind::Xta).errors()[0]
            .message
            .clone()
    };
    assert_eq!(
        message("int a\nint b;\nsystem P;"),
        "missing `;` after this declaration"
    );
    assert!(message("void f() { x = 1; int y; }\nsystem P;").contains("declarations come first"));
    assert!(
        message("process P() { state A; init A; trans A -> A { sync c!; guard x; }; }\nsystem P;")
            .contains("in this order")
    );
    assert!(
        message("void f() { for (int i = 0; i < 3; i++) { } }\nsystem P;")
            .contains("for (i : int[lo,hi])")
    );
    assert!(message("int a;").contains("no system line"));
    assert!(message("system P;\nint a;").contains("move this before it"));
    assert!(message("int é;\nsystem P;").contains("ASCII"));
}
