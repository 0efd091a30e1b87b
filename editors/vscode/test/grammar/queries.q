// SYNTAX TEST "source.uppaal-q" "queries"

A[] forall (i : pid) forall (j : pid) Fischer(i).cs && Fischer(j).cs imply i == j
// <--- keyword.control.quantifier.uppaal-q
//  ^^^^^^ keyword.operator.word.uppaal-q
//                                    ^^^^^^^ entity.name.function.uppaal-q
//                                               ^^ variable.other.property.uppaal-q
//                                                  ^^ keyword.operator.logical.uppaal-q
//                                                                   ^^^^^ keyword.operator.word.uppaal-q
A[] not deadlock
//  ^^^ keyword.operator.word.uppaal-q
//      ^^^^^^^^ constant.language.deadlock.uppaal-q
P.req --> P.done
//    ^^^ keyword.control.leadsto.uppaal-q
sup: P.x
// <--- keyword.control.query.uppaal-q
