//! Statements and blocks.

use super::types::declarator;
use super::{Ex, In, Label, Meant, P, ParseError, Tok, ident, misspelt, semi, to_span, tok, word};
use crate::ast::{
    Block, BlockDecl, Case, Expr, Stmt, StmtKind, TypeBase, TypeExpr, Typedef, VarDecl,
};
use crate::token::TokenKind as K;
use chumsky::prelude::*;

enum Part {
    Decl(BlockDecl),
    Stmt(Stmt),
}

pub(super) fn block<'s>(expr: &P<'s, Expr>, ty: &P<'s, TypeExpr>) -> P<'s, Block> {
    recursive(|block| {
        let stmt = recursive(|stmt| {
            let known = statement(expr, ty, stmt, block.boxed());
            known
                .recover_with(via_parser(skip_statement()))
                .labelled(Label::Statement)
        })
        .boxed();
        declaration(expr, ty).map(Part::Decl)
            .or(stmt.map(Part::Stmt))
            .repeated()
            .collect::<Vec<_>>()
            .delimited_by(tok(K::LBrace), tok(K::RBrace))
            .validate(|parts, e, emitter| {
                let mut block = Block { decls: Vec::new(), stmts: Vec::new(), span: to_span(e.span()) };
                let last = parts.len().saturating_sub(1);
                for (i, part) in parts.into_iter().enumerate() {
                    let part = match part {
                        Part::Decl(decl) if i == last || !block.stmts.is_empty() => returned(decl, emitter),
                        part => part,
                    };
                    match part {
                        Part::Decl(decl) => {
                            if !block.stmts.is_empty() {
                                let (BlockDecl::Var(_, span) | BlockDecl::Typedef(_, span)) = &decl;
                                emitter.emit(ParseError::custom(
                                    (span.start..span.end).into(),
                                    "declarations come first in a block: move this before the first statement",
                                ));
                            }
                            block.decls.push(decl);
                        }
                        Part::Stmt(stmt) => block.stmts.push(stmt),
                    }
                }
                block
            })
    })
    .boxed()
}

/// Recognises `retrun x;`, which has the form of a declaration: after statements none is allowed,
/// and at the end of a block it would be useless.
fn returned(decl: BlockDecl, emitter: &mut chumsky::input::Emitter<ParseError>) -> Part {
    let BlockDecl::Var(var, span) = &decl else {
        return Part::Decl(decl);
    };
    let ([name], TypeBase::Named(word), []) = (&var.names[..], &var.ty.base, &var.ty.prefixes[..])
    else {
        return Part::Decl(decl);
    };
    let plain = name.dims.is_empty() && name.init.is_none();
    if !plain || !crate::similar::is_close(&word.name, K::Return.text()) {
        return Part::Decl(decl);
    }
    let at = (word.span.start..word.span.end).into();
    emitter.emit(ParseError::meant(at, Meant::Word(K::Return.text()), ""));
    let value = Expr {
        kind: crate::ast::ExprKind::Name(name.name.clone()),
        span: name.name.span,
    };
    Part::Stmt(Stmt {
        kind: StmtKind::Return(Some(value)),
        span: *span,
    })
}

fn declaration<'s>(expr: &P<'s, Expr>, ty: &P<'s, TypeExpr>) -> P<'s, BlockDecl> {
    let names = declarator(expr.clone(), ty.clone(), true)
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    let var = ty
        .clone()
        .then(names)
        .then_ignore(semi("this declaration"))
        .map_with(|(ty, names), e| BlockDecl::Var(VarDecl { ty, names }, to_span(e.span())));
    let new_names = declarator(expr.clone(), ty.clone(), false)
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    let typedef = tok(K::Typedef)
        .ignore_then(ty.clone())
        .then(new_names)
        .then_ignore(semi("this type definition"))
        .map_with(|(ty, names), e| BlockDecl::Typedef(Typedef { ty, names }, to_span(e.span())));
    typedef.or(var).boxed()
}

fn statement<'s>(
    expr: &P<'s, Expr>,
    ty: &P<'s, TypeExpr>,
    stmt: impl Parser<'s, In<'s>, Stmt, Ex> + Clone + 's,
    block: P<'s, Block>,
) -> P<'s, Stmt> {
    let list = super::expr::comma_expr(expr.clone());
    let stmt = stmt.boxed();
    let body = stmt.clone().map(Box::new);
    let condition = list
        .clone()
        .delimited_by(tok(K::LParen), tok(K::RParen))
        .boxed();

    let iterate = ident()
        .then_ignore(tok(K::Colon))
        .then(ty.clone())
        .delimited_by(tok(K::LParen), tok(K::RParen))
        .then(body.clone())
        .map(|((var, ty), body)| StmtKind::Iterate { var, ty, body });
    let header = list
        .clone()
        .then_ignore(tok(K::Semi))
        .then(list.clone())
        .then_ignore(tok(K::Semi))
        .then(list.clone());
    let classic = header
        .delimited_by(tok(K::LParen), tok(K::RParen))
        .then(body.clone())
        .map(|(((init, cond), step), body)| StmtKind::For {
            init,
            cond,
            step,
            body,
        });
    let loops = choice((
        iterate,
        classic,
        declaring_loop(expr, ty, &list, body.clone()),
    ))
    .boxed();
    let for_loop = tok(K::For).ignore_then(loops.clone());
    let misspelt_for = misspelt("for", &[]).ignore_then(loops);
    let while_loop = tok(K::While)
        .ignore_then(condition.clone())
        .then(body.clone())
        .map(|(cond, body)| StmtKind::While { cond, body });
    let do_loop = tok(K::Do)
        .ignore_then(body.clone())
        .then_ignore(tok(K::While))
        .then(condition.clone())
        .then_ignore(semi("this loop"))
        .map(|(body, cond)| StmtKind::DoWhile { body, cond });
    // `esle` before something that cannot follow a name.
    let begins = any::<In<'s>, Ex>()
        .filter(|t: &Tok<'s>| {
            matches!(t.kind, K::LBrace | K::If | K::Return | K::For | K::While)
                || (t.kind == K::Ident && !t.fresh)
        })
        .rewind();
    let otherwise = tok(K::Else)
        .to(())
        .or(misspelt("else", &[]).then_ignore(begins));
    let arms = condition
        .clone()
        .then(body.clone())
        .then(otherwise.ignore_then(body).or_not())
        .map(|((cond, then), other)| StmtKind::If { cond, then, other })
        .boxed();
    let branch = tok(K::If).ignore_then(arms.clone());
    let misspelt_if = misspelt("if", &[]).ignore_then(arms);
    let give_back = tok(K::Return)
        .ignore_then(expr.clone().or_not())
        .then_ignore(semi("this `return`"))
        .map(StmtKind::Return);
    let assert = tok(K::Assert)
        .ignore_then(expr.clone())
        .then_ignore(semi("this assertion"))
        .map(StmtKind::Assert);
    let jump = word("break")
        .to(StmtKind::Break)
        .or(word("continue").to(StmtKind::Continue))
        .then_ignore(semi("this statement"));
    let simple = list.then_ignore(semi("this statement")).map(StmtKind::Expr);
    // These come after everything that a name can begin, so the words are certainly misspelt
    // keywords.
    let misspelt_while = misspelt("while", &[])
        .ignore_then(condition.clone())
        .then(stmt.clone().map(Box::new))
        .map(|(cond, body)| StmtKind::While { cond, body });
    let misspelt_return = misspelt("return", &[])
        .ignore_then(expr.clone())
        .then_ignore(semi("this `return`"))
        .map(|value| StmtKind::Return(Some(value)));
    let misspelt_switch =
        misspelt("switch", &[]).ignore_then(cases(expr, condition.clone(), stmt.clone()));
    choice((
        block.map(StmtKind::Block),
        tok(K::Semi).to(StmtKind::Empty),
        for_loop,
        while_loop,
        do_loop,
        branch,
        give_back,
        assert,
        jump,
        switch(expr, condition, stmt),
        simple,
        misspelt_while,
        misspelt_return,
        misspelt_switch,
        misspelt_for,
        misspelt_if,
    ))
    .map_with(|kind, e| Stmt {
        kind,
        span: to_span(e.span()),
    })
    .boxed()
}

/// `for (int i = 0; …)`, which the language does not have. It is parsed as a block with the
/// declaration before the loop, so that the message can suggest a replacement.
fn declaring_loop<'s>(
    expr: &P<'s, Expr>,
    ty: &P<'s, TypeExpr>,
    list: &P<'s, Expr>,
    body: impl Parser<'s, In<'s>, Box<Stmt>, Ex> + Clone + 's,
) -> P<'s, StmtKind> {
    let names = declarator(expr.clone(), ty.clone(), true)
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    let decl = ty
        .clone()
        .then(names)
        .map_with(|(ty, names), e| (VarDecl { ty, names }, to_span(e.span())));
    let header = decl
        .then_ignore(tok(K::Semi))
        .then(list.clone())
        .then_ignore(tok(K::Semi))
        .then(list.clone());
    header
        .delimited_by(tok(K::LParen), tok(K::RParen))
        .then(body)
        .validate(|((((decl, span), cond), step), body), e, emitter| {
            emitter.emit(ParseError::coded(
                (span.start..span.end).into(),
                "type/for-declaration",
                "a loop header cannot declare a variable: declare it at the start of the block, or write `for (i : int[lo,hi])`",
            ));
            let init = Expr { kind: crate::ast::ExprKind::Bool(true), span };
            let own = to_span(e.span());
            let stmt = Stmt { kind: StmtKind::For { init, cond, step, body }, span: own };
            StmtKind::Block(Block { decls: vec![BlockDecl::Var(decl, span)], stmts: vec![stmt], span: own })
        })
        .boxed()
}

fn switch<'s>(expr: &P<'s, Expr>, condition: P<'s, Expr>, stmt: P<'s, Stmt>) -> P<'s, StmtKind> {
    word("switch")
        .ignore_then(cases(expr, condition, stmt))
        .boxed()
}

/// The part after `switch`.
fn cases<'s>(expr: &P<'s, Expr>, condition: P<'s, Expr>, stmt: P<'s, Stmt>) -> P<'s, StmtKind> {
    let label = word("case")
        .ignore_then(expr.clone())
        .map(Some)
        .or(tok(K::Default).to(None));
    let arm_ends = choice((
        word("case").to(()),
        tok(K::Default).to(()),
        tok(K::RBrace).to(()),
    ));
    let stmts = arm_ends
        .not()
        .ignore_then(stmt)
        .repeated()
        .collect::<Vec<_>>();
    let case = label
        .then_ignore(tok(K::Colon))
        .then(stmts)
        .map_with(|(value, stmts), e| Case {
            value,
            stmts,
            span: to_span(e.span()),
        });
    condition
        .then(
            case.repeated()
                .at_least(1)
                .collect::<Vec<_>>()
                .delimited_by(tok(K::LBrace), tok(K::RBrace)),
        )
        .map(|(value, cases)| StmtKind::Switch { value, cases })
        .boxed()
}

/// Skips the rest of a broken statement: up to its `;`, or a balanced block.
fn skip_statement<'s>() -> P<'s, Stmt> {
    let balanced = recursive(|balanced| {
        let inside = balanced.or(any::<In<'s>, Ex>()
            .filter(|t: &Tok<'s>| !matches!(t.kind, K::LBrace | K::RBrace))
            .to(()));
        inside
            .repeated()
            .delimited_by(tok(K::LBrace), tok(K::RBrace))
            .to(())
    })
    .boxed();
    let other = any::<In<'s>, Ex>()
        .filter(|t: &Tok<'s>| !matches!(t.kind, K::Semi | K::LBrace | K::RBrace))
        .to(())
        .repeated();
    let to_semi = other.then_ignore(tok(K::Semi)).to(());
    let to_block = other.then_ignore(balanced).to(());
    let to_end = other
        .at_least(1)
        .then_ignore(tok(K::RBrace).rewind())
        .to(());
    choice((to_semi, to_block, to_end))
        .map_with(|(), e| Stmt {
            kind: StmtKind::Error,
            span: to_span(e.span()),
        })
        .boxed()
}
