//! Strings: constants that can be compared, passed on and kept in arrays.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{Options, Verdict};

#[test]
fn strings_are_compared_by_their_text() {
    let model = common::xta(
        "const string hello = \"hello\"; const string names[2] = {\"a\", \"b\"}; int n = 0;
         bool same(const string& a, const string& b) { return a == b; }
         bool differs(string a) { return a != hello; }
         process P(const string s, int k) { state A, B, C; init A; trans
             A -> B { guard same(s, hello) && s == \"hello\"; assign n = 1; },
             A -> C { guard differs(s); assign n = 2; },
             A -> C { guard s == names[1] && k == 3; assign n = 4; }; }
         X = P(\"hello\", 1); Y = P(\"b\", 3); system X, Y;",
    );
    for (query, expected) in [
        ("E<> X.B", Verdict::Satisfied),
        ("A[] not X.C", Verdict::Satisfied),
        ("E<> Y.B", Verdict::Violated),
        ("E<> Y.C and n == 4", Verdict::Satisfied),
        ("E<> Y.C and n == 2", Verdict::Satisfied),
    ] {
        let verdict = model.verify(query, &Options::default()).verdict;
        assert_eq!(verdict, expected, "{query}");
    }
}
