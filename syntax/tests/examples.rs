//! Every example parses without a syntax error.

use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

#[test]
fn examples_have_no_syntax_errors() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).expect("examples/") {
        let path = entry.expect("entry").path();
        let name = path.to_string_lossy().into_owned();
        if !(name.ends_with(".xta") || name.ends_with(".q") || name.ends_with(".xml")) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let file = SourceFile::parse(text, FileKind::from_path(&name));
        assert_eq!(file.errors(), [], "{name}");
        assert!(!file.queries().is_empty(), "{name} has no query");
        count += 1;
    }
    assert!(count >= 5);
}

#[test]
fn names_keep_their_text() {
    let text = "int a; process P(int b) { state S; init S; } system P;";
    let file = SourceFile::parse(text, FileKind::Xta);
    let tree = format!("{:?}", file.items);
    for name in ["`a`", "`P`", "`b`", "`S`"] {
        assert!(tree.contains(name), "{name} is missing in {tree}");
    }
}
