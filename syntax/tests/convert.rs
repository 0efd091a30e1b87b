//! Conversion from `.xml` to `.xta` and back: fixtures, edits of converted files, damaged models.

// Tests print their scores.
#![allow(clippy::print_stdout)]

use crate::round_trip;

use expect_test::expect;
use round_trip::{parse, syntax_errors, xml_round_trip, xta_round_trip};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::convert::{sketches, to_plain_xta, to_xml, to_xta};
use zonelens_test_support::Rng;

/// A model with everything that only XML can contain, and with texts that are hard to convert.
const FULL: &str = r##"<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_2.dtd'>
<nta>
	<declaration>
// global &amp; more
clock x;
const int N = 2; // no line break behind this</declaration>
	<!-- somebody's & a fine comment -->
	<template color="#123456">
		<name x="5" y="-5"> Gate </name>
		<parameter>const int[0,N-1] id // mine</parameter>
		<declaration>int a;
</declaration>
		<location id="id0" x="-20" y="40" color="#a0a0a0">
			<name x="1" y="2">Far</name>
			<label kind="invariant" x="3" y="4">x &lt;= 5 // bound</label>
			<label kind="exponentialrate" x="3" y="5">1 : 2</label>
			<label kind="comments" x="5" y="6">two
lines -- "quoted"</label>
			<committed/>
		</location>
		<location id="id1" x="0" y="0">
			<urgent/>
		</location>
		<location id="id2"><name></name><label kind="invariant" x="0" y="1">/* nothing */</label></location>
		<branchpoint id="id3" x="7" y="8"/>
		<init ref="id0"/>
		<transition controllable="false" action="go">
			<source ref="id0"/>
			<target ref="id3"/>
			<label kind="assignment" x="1" y="1">a = 1,
a = 2
</label>
			<label kind="guard" x="2" y="2"><![CDATA[x > 1 && a < 2]]></label>
			<label kind="testcode">run();</label>
			<nail x="3" y="3"/>
			<nail x="4" y="4"/>
		</transition>
		<transition>
			<source ref="id3"/>
			<target ref="id1"/>
			<label kind="select">i : int[0,3]</label>
			<label kind="synchronisation"></label>
			<label kind="probability" x="9" y="9">3</label>
		</transition>
		<transition><source ref="id1"/><target ref="id2"/></transition>
	</template>
	<instantiation>G = Gate(0);</instantiation>
	<system>system G;</system>
	<queries>
		<option key="--diagnostic" value="1"/>
		<query>
			<formula>A[] not deadlock</formula>
			<comment>safe &amp; sound</comment>
			<option key="--search" value="dfs"/>
			<expect outcome="success" type="quality"><resource type="time" value="1" unit="s"/></expect>
			<result outcome="failure" type="quality" timestamp="2020-01-01">
				<details>one
two</details>
			</result>
		</query>
		<query>
			<formula>E&lt;&gt; // why
  x &gt; 1 /* EXPECT:T */</formula>
			<comment></comment>
		</query>
		<query><formula></formula><comment>a heading</comment></query>
		<query><formula>A[] x &lt; 2</formula><comment></comment></query>
	</queries>
</nta>
"##;

#[test]
fn full_xml_as_xta() {
    let xta = to_xta(&parse(FULL, FileKind::Xml)).expect("convertible");
    expect![[r##"
        //@ xml <?xml version="1.0" encoding="utf-8"?>&#10;<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_2.dtd'>
        //@ xml <declaration/>

        // global & more
        clock x;
        const int N = 2; // no line break behind this
        //@ xml <template color="#123456"><name x="5" y="-5"> Gate </name><parameter/></template>
        //@ xml <!-- somebody's & a fine comment -->
        process Gate(const int[0,N-1] id // mine
        ) {
            //@ xml <declaration/>
        int a;
  
            state
                //@ xml <location id="id0" x="-20" y="40" color="#a0a0a0"><name x="1" y="2"/><label kind="invariant" x="3" y="4"/><label kind="exponentialrate" x="3" y="5"/><label kind="comments" x="5" y="6">two&#10;lines -- "quoted"</label></location>
                Far { x <= 5 // bound
        ; 1 : 2 },
                //@ xml <location id="id1" x="0" y="0"/>
                _id1,
                //@ xml <location id="id2"><name/><label kind="invariant" x="0" y="1">/* nothing */</label></location>
                _id2;
            branchpoint
                //@ xml <branchpoint id="id3" x="7" y="8"/>
                _id3;
            commit Far;
            urgent _id1;
            init Far;
            trans
                //@ xml <transition controllable="false" action="go"><label kind="assignment" x="1" y="1"/><label kind="guard" x="2" y="2"/><label kind="testcode">run();</label><nail x="3" y="3"/><nail x="4" y="4"/></transition>
                Far -u-> _id3 { guard x > 1 && a < 2; assign a = 1,
        a = 2

        ; },
                //@ xml <transition><label kind="select"/><label kind="synchronisation"/><label kind="probability" x="9" y="9"/></transition>
                _id3 -> _id1 { select i : int[0,3]; probability 3; },
                //@ xml <transition/>
                _id1 -> _id2 { };
        }

        //@ xml <instantiation/>
        G = Gate(0);
        //@ xml <system/>
        system G;
        //@ xml <queries><option key="--diagnostic" value="1"/></queries>
        //@ query A[] not deadlock
        //@ expect satisfied
        //@ xml <query><formula/><comment>safe &amp; sound</comment><option key="--search" value="dfs"/><expect outcome="success" type="quality"><resource type="time" value="1" unit="s"/></expect><result outcome="failure" type="quality" timestamp="2020-01-01">&#10;				<details>one&#10;two</details>&#10;			</result></query>
        //@ query E<> x > 1
        //@ expect satisfied
        //@ xml <query><formula>E&lt;&gt; // why&#10;  x &gt; 1 /* EXPECT:T */</formula><comment></comment></query>
        //@ xml <heading><formula/><comment>a heading</comment></heading>
        //@ query A[] x < 2
    "##]].assert_eq(&xta);
    xml_round_trip(FULL).expect("nothing lost");
    let back = to_xml(&parse(&xta, FileKind::Xta)).expect("convertible");
    for kept in [
        "flat-1_2.dtd",
        "<!-- somebody's & a fine comment -->",
        "const int N = 2; // no line break behind this</declaration>",
        "<name x=\"5\" y=\"-5\"> Gate </name>",
        "<parameter>const int[0,N-1] id // mine</parameter>",
        "<declaration>int a;\n</declaration>",
        "<option key=\"--diagnostic\" value=\"1\"/>",
        "E&lt;&gt; // why\n  x &gt; 1 /* EXPECT:T */</formula>",
        "<details>one\ntwo</details>",
        "<instantiation>G = Gate(0);</instantiation>",
    ] {
        assert!(back.contains(kept), "{kept} is lost in\n{back}");
    }
}

const PLAIN: &str = "// about the model
clock x;
/* the gate */
process Gate(const int id) { // header
    int a; // local
    // before the states
    state Far { x <= 5 /* five */ }, // far away
        Near, Deep { ; 3 };
    branchpoint B;
    commit Near;
    urgent Deep;
    init Far; // start
    trans Far -> Near { guard x > 1; // why -- so
            sync go!; },
        -> Far { },
        -u-> B { assign x = 0, a = 1; },
        B -> Deep { probability 2; }; // last
    // the end
} // behind
int between;
G = Gate(1);
process Other() { state S; init S; }
int late;
system G, Other;
//@ query A[] x < 3 && between == 0
//@ expect violated
// a remark
";

#[test]
fn plain_xta_as_xml() {
    let xml = to_xml(&parse(PLAIN, FileKind::Xta)).expect("convertible");
    expect![[r#"
        <?xml version="1.0" encoding="utf-8"?>
        <!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.6//EN' 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_6.dtd'>
        <nta>
        	<declaration>// about the model
        clock x;
        int between;</declaration>
        	<!--@ xta /* the gate */
        // behind-->
        	<template>
        		<name>Gate</name>
        		<parameter>const int id</parameter>
        		<declaration>// header
            int a; // local
            // before the states</declaration>
        		<location id="id0" x="0" y="0">
        			<name x="-10" y="-34">Far</name>
        			<label kind="invariant" x="-10" y="17">x &lt;= 5 /* five */</label>
        		</location>
        		<!--@ xta // far away-->
        		<location id="id1" x="204" y="0">
        			<name x="194" y="-34">Near</name>
        			<committed/>
        		</location>
        		<location id="id2" x="0" y="136">
        			<name x="-10" y="102">Deep</name>
        			<label kind="exponentialrate" x="-10" y="153">3</label>
        			<urgent/>
        		</location>
        		<branchpoint id="id3" x="204" y="136">
        			<!--@ name B-->
        		</branchpoint>
        		<!--@ xta // start-->
        		<init ref="id0"/>
        		<!--@ xta // why -&#45; so-->
        		<transition>
        			<source ref="id0"/>
        			<target ref="id1"/>
        			<label kind="guard" x="110" y="0">x &gt; 1</label>
        			<label kind="synchronisation" x="110" y="17">go!</label>
        		</transition>
        		<transition>
        			<source ref="id0"/>
        			<target ref="id0"/>
        			<nail x="-25" y="-51"/>
        			<nail x="25" y="-51"/>
        		</transition>
        		<transition controllable="false">
        			<source ref="id0"/>
        			<target ref="id3"/>
        			<label kind="assignment" x="110" y="68">x = 0, a = 1</label>
        		</transition>
        		<!--@ xta // last-->
        		<transition>
        			<source ref="id3"/>
        			<target ref="id2"/>
        			<label kind="probability" x="110" y="136">2</label>
        		</transition>
        		<!--@ xta // the end-->
        	</template>
        	<template>
        		<name>Other</name>
        		<location id="id4" x="0" y="0">
        			<name x="-10" y="-34">S</name>
        		</location>
        		<init ref="id4"/>
        	</template>
        	<system>G = Gate(1);
        int late;
        system G, Other;
        // a remark</system>
        	<queries>
        		<query>
        			<formula>A[] x &lt; 3 &amp;&amp; between == 0</formula>
        			<comment></comment>
        			<expect outcome="failure" type="quality"/>
        		</query>
        	</queries>
        </nta>
    "#]].assert_eq(&xml);
    xta_round_trip(PLAIN).expect("nothing lost");
}

#[test]
fn edits_of_a_converted_file_count() {
    let xta = to_xta(&parse(FULL, FileKind::Xml)).expect("convertible");
    let edited = xta
        .replace("Far", "Away")
        .replace("_id1,", "_id1,\n New { x < 9 },")
        .replace("x < 2\n", "x < 3\n//@ expect violated\n")
        .replace("guard x > 1", "guard x > 7")
        .replace(
            "//@ query A[] not deadlock\n//@ expect satisfied",
            "//@ query A[] deadlock\n//@ expect violated",
        )
        .replace(
            "_id3 -> _id1 { select",
            "New -> New { },\n _id3 -> _id1 { select",
        );
    let xml = to_xml(&parse(&edited, FileKind::Xta)).expect("convertible");
    for (there, wanted) in [
        (true, "<name x=\"1\" y=\"2\">Away</name>"),
        (true, "<name x=\"-30\" y=\"142\">New</name>"),
        (true, "x &gt; 7"),
        (true, "<formula>A[] deadlock</formula>"),
        (true, "<formula>A[] x &lt; 3</formula>"),
        (true, "<expect outcome=\"failure\" type=\"quality\"/>"),
        (true, "safe &amp; sound"),
        (false, "Far"),
        (false, "<resource"),
        (false, "not deadlock"),
    ] {
        assert_eq!(xml.contains(wanted), there, "{wanted} in\n{xml}");
    }
    let errors = syntax_errors(&parse(&xml, FileKind::Xml));
    assert_eq!(errors, [""; 0]);
}

#[test]
fn locations_of_one_name_stay_apart() {
    let text = "<nta><template><name>P</name><location id=\"a\"><name>L</name><committed/></location><location id=\"b\"><name>L</name></location><init ref=\"b\"/><transition><source ref=\"a\"/><target ref=\"b\"/></transition></template><system>system P;</system></nta>";
    xml_round_trip(text).expect("nothing lost");
    let xta = to_xta(&parse(text, FileKind::Xml)).expect("convertible");
    let xml = to_xml(&parse(&xta, FileKind::Xta)).expect("convertible");
    assert!(xml.contains("<init ref=\"b\"/>"), "{xml}");
    assert!(
        xml.contains("<source ref=\"a\"/>\n\t\t\t<target ref=\"b\"/>"),
        "{xml}"
    );
    assert_eq!(xml.matches("<committed/>").count(), 1, "{xml}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let xml = |name: &str| {
        format!(
            "<nta><template><name>P</name><location id=\"a\"><name>{name}</name></location><init ref=\"a\"/></template><system>system P;</system></nta>"
        )
    };
    let refused = |text: &str, kind: FileKind, why: &str| {
        let file = parse(text, kind);
        let result = if kind == FileKind::Xta {
            to_xml(&file)
        } else {
            to_xta(&file)
        };
        let errors = result.expect_err(text);
        assert!(errors[0].message.contains(why), "{}", errors[0].message);
        errors[0].span
    };
    assert!(to_xta(&parse(&xml("fine"), FileKind::Xml)).is_ok());
    let text = xml("init");
    let span = refused(&text, FileKind::Xml, "called `init`");
    assert_eq!(&text[span.range()], "init");
    refused(&xml("two words"), FileKind::Xml, "called `two words`");
    refused(
        "<nta><system>system ;</system></nta>",
        FileKind::Xml,
        "expected",
    );
    refused("A[] x", FileKind::Query, "query file");
    refused("int x\nsystem ;", FileKind::Xta, "");
    refused(
        "process P() { state A; init A; trans A -> B { }; } system P;",
        FileKind::Xta,
        "no location `B`",
    );
    refused(
        "//@ xml <template><name\nprocess P() { state A; init A; } system P;",
        FileKind::Xta,
        "`//@ xml` line",
    );
    refused(
        "process P() { state\n//@ xml <location\nA; init A; } system P;",
        FileKind::Xta,
        "`//@ xml` line",
    );
    refused(
        "system P;\n//@ xml <query><formula/></query>\n",
        FileKind::Xta,
        "must follow a `//@ query` line",
    );
}

/// Texts that are hard to preserve byte for byte, in every place that accepts one.
#[test]
fn texts_are_kept_byte_for_byte() {
    // As the text of a label, and as the text of declarations.
    let texts = [
        ("x", "int x;"),
        (" x", " int x;"),
        ("x ", "int x; "),
        ("x\n", "int x;\n"),
        ("\nx", "\nint x;"),
        ("x // c", "int x; // c"),
        ("x // c\n", "int x; // c\n"),
        ("x\r\n", "int x;\r\n"),
        ("x /* a\nb */", "int x; /* a\nb */"),
        ("\t x &lt; 1\n\n", "\t int x;\n\n"),
        ("/* x */", "/* x */"),
        ("// x", "// x"),
        (" ", " "),
        ("\n", "\n"),
        ("", ""),
    ];
    for (text, declaration) in texts {
        let system = format!(
            "{declaration}\nsystem P;{}",
            declaration.replace("int x;", "")
        );
        let model = format!(
            "<nta><declaration>{declaration}</declaration><template><name>P</name><declaration>{declaration}</declaration>\
             <location id=\"a\"><label kind=\"invariant\">{text}</label><label kind=\"exponentialrate\">{text}</label></location>\
             <init ref=\"a\"/><transition><source ref=\"a\"/><target ref=\"a\"/><label kind=\"guard\">{text}</label>\
             <label kind=\"assignment\">{text}</label><label kind=\"comments\">{text}</label></transition></template>\
             <system>{system}</system><queries><query><formula>{text}</formula><comment>{text}</comment></query></queries></nta>"
        );
        assert_eq!(syntax_errors(&parse(&model, FileKind::Xml)), [""; 0]);
        xml_round_trip(&model).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        let xta = to_xta(&parse(&model, FileKind::Xml)).expect("convertible");
        let xml = to_xml(&parse(&xta, FileKind::Xta)).expect("convertible");
        let wanted = format!("<declaration>{declaration}</declaration>");
        assert_eq!(xml.matches(&wanted).count(), 2, "{wanted:?} in {xml:?}");
        let wanted = format!("<system>{system}</system>");
        assert!(xml.contains(&wanted), "{wanted:?} in {xml:?}");
        for kind in [
            "invariant",
            "exponentialrate",
            "guard",
            "assignment",
            "comments",
        ] {
            let wanted = format!("<label kind=\"{kind}\">{text}</label>");
            assert!(xml.contains(&wanted), "{wanted:?} in {xml:?}");
        }
        for tag in ["formula", "comment"] {
            let wanted = format!("<{tag}>{text}</{tag}>");
            assert!(xml.contains(&wanted), "{wanted:?} in {xml:?}");
        }
    }
}

/// The `text` with a few pieces removed, doubled or moved.
fn damaged(text: &str, numbers: &mut Rng) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + numbers.below(3) {
        let from = numbers.below(chars.len());
        let piece: Vec<char> = chars[from..]
            .iter()
            .take(1 + numbers.below(12))
            .copied()
            .collect();
        match numbers.below(3) {
            0 => {
                chars.drain(from..from + piece.len());
            }
            1 => {
                chars.splice(from..from, piece);
            }
            _ => {
                let to = numbers.below(chars.len());
                chars.splice(to..to, piece);
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn damaged_models_convert_fully_or_not_at_all() {
    let mut numbers = Rng(7);
    let xta = to_xta(&parse(FULL, FileKind::Xml)).expect("convertible");
    let (mut kept, mut lost) = (0, Vec::new());
    for _ in 0..4000 {
        let cases = [
            (FULL, FileKind::Xml),
            (PLAIN, FileKind::Xta),
            (&xta, FileKind::Xta),
        ];
        let (text, kind) = cases[numbers.below(cases.len())];
        let text = damaged(text, &mut numbers);
        if !syntax_errors(&parse(&text, kind)).is_empty() {
            continue;
        }
        let result = match kind {
            FileKind::Xml => xml_round_trip(&text),
            _ => xta_round_trip(&text),
        };
        match result {
            Ok(()) => kept += 1,
            Err(why) if why.starts_with("refused: ") => {}
            Err(why) => lost.push(format!("{why}\n{text}")),
        }
    }
    println!(
        "damaged models without syntax errors: {kept} kept, {} lost",
        lost.len()
    );
    assert!(
        lost.is_empty(),
        "{} lost, the first:\n{}",
        lost.len(),
        lost[0]
    );
    assert!(kept > 300, "only {kept} models were still readable");
}

/// Removing the `//@ xml` lines leaves the model and its queries, and changes nothing else.
#[test]
fn plain_text_contains_only_the_model() {
    let there = to_xta(&parse(FULL, FileKind::Xml)).expect("convertible");
    let plain = to_plain_xta(&parse(FULL, FileKind::Xml)).expect("convertible");
    let kept: Vec<&str> = there
        .lines()
        .filter(|l| !l.trim_start().starts_with("//@ xml"))
        .collect();
    assert_eq!(plain.lines().collect::<Vec<_>>(), kept);
    assert!(plain.contains("//@ query A[] not deadlock"), "{plain}");
    assert_eq!(syntax_errors(&parse(&plain, FileKind::Xta)), [""; 0]);
    // Plain text converts to itself, because it has no lines to remove.
    for text in [&there, &plain] {
        let again = to_plain_xta(&parse(text, FileKind::Xta)).expect("convertible");
        assert_eq!(again, plain);
    }
    let lines = "int a; //@ xml <declaration/>\r\nprocess P() { state s; init s; }\r\n//@ xml <system/>\r\nsystem P;\r\n";
    let plain = to_plain_xta(&parse(lines, FileKind::Xta)).expect("convertible");
    let rest = "int a; \r\nprocess P() { state s; init s; }\r\nsystem P;\r\n";
    assert_eq!(plain, rest);
}

/// The coordinates that an `.xta` file gives are part of its sketch.
#[test]
fn sketches_contain_the_given_coordinates() {
    let there = to_xta(&parse(FULL, FileKind::Xml)).expect("convertible");
    let all = sketches(&parse(&there, FileKind::Xta));
    let [Some(sketch)] = all.as_slice() else {
        panic!("{all:?}");
    };
    let drawn = |graphics: &Option<zonelens_syntax::ast::Graphics>| {
        let graphics = graphics.as_ref().expect("a line");
        graphics.attributes.iter().any(|(name, _)| name == "x")
    };
    let places: Vec<bool> = sketch
        .locations
        .iter()
        .map(|l| drawn(&l.graphics))
        .collect();
    assert_eq!(places, [true, true, false]);
    assert!(sketch.locations[0].initial && drawn(&sketch.branchpoints[0].graphics));
    let kinds: Vec<&str> = sketch.edges[0].labels.iter().map(|(k, _)| *k).collect();
    assert_eq!(kinds, ["guard", "assignment"]);
    let broken = "process P() { state //@ xml <location id=\n s; init s; }\nsystem P;\n";
    assert_eq!(sketches(&parse(broken, FileKind::Xta)), [None]);
}
