//! Places in a source that mutants of the sample change.

use std::collections::HashMap;
use std::ops::Range;

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr};

use crate::state::{Genre, Mutant};

/// One place, and what its mutants make of it.
pub(crate) struct Node {
    pub(crate) range: Range<usize>,
    pub(crate) change: Change,
}

pub(crate) enum Change {
    /// A function returns at once: the values.
    Body(Vec<(usize, String)>),
    /// An arm does not exist; where its pattern ends.
    Arm { id: usize, pattern_end: usize },
    /// A guard is true, or false. `binds`: it has a `let`.
    Guard { always: Option<usize>, never: Option<usize>, binds: bool },
    /// Fields come from the base: their bytes, with the comma.
    Fields(Vec<(usize, Range<usize>)>),
    /// Other operators between the same operands.
    Operator { left: Range<usize>, right: Range<usize>, others: Vec<(usize, String)> },
    /// The operand alone.
    Operand { id: usize, operand: Range<usize> },
}

/// Finds the places of `wanted`; for some it says instead why they stand behind no switch.
pub(crate) struct Finder {
    /// What was not met yet, by place.
    pub(crate) wanted: HashMap<(Genre, usize, usize), Vec<(usize, String)>>,
    /// How many constants, patterns and lengths we are inside of, where nothing can ask for a switch.
    constants: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) refused: Vec<(usize, &'static str)>,
}

impl Finder {
    pub(crate) fn new<'m>(wanted: impl Iterator<Item = &'m Mutant>) -> Self {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        for mutant in wanted {
            let place = (mutant.genre, mutant.line, mutant.column);
            places.entry(place).or_default().push((mutant.id, mutant.replacement.clone()));
        }
        Self { wanted: places, constants: 0, nodes: Vec::new(), refused: Vec::new() }
    }

    /// The mutants at a place, unless it is one of a constant.
    fn take(&mut self, genre: Genre, start: LineColumn) -> Vec<(usize, String)> {
        let found = self.wanted.remove(&(genre, start.line, start.column + 1)).unwrap_or_default();
        if self.constants > 0 {
            self.refused.extend(found.iter().map(|(id, _)| (*id, "in a constant or a pattern")));
            return Vec::new();
        }
        found
    }

    fn push(&mut self, range: Range<usize>, change: Change) {
        self.nodes.push(Node { range, change });
    }

    fn body(&mut self, block: &Block) {
        let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) else { return };
        let values = self.take(Genre::FnValue, first.span().start());
        if !values.is_empty() {
            self.push(bytes(first).start..bytes(last).end, Change::Body(values));
        }
    }

    fn guard(&mut self, guard: &Expr) {
        let binds = has_let(guard);
        let found = self.take(Genre::MatchArmGuard, guard.span().start());
        let of = |value: &str| found.iter().find(|(_, one)| one == value).map(|(id, _)| *id);
        let (mut always, never) = (of("true"), of("false"));
        if binds {
            self.refused.extend(always.take().map(|id| (id, "a guard whose bindings the arm uses")));
        }
        if always.is_some() || never.is_some() {
            self.push(bytes(guard), Change::Guard { always, never, binds });
        }
    }

    fn in_constant(&mut self, inside: impl FnOnce(&mut Self)) {
        self.constants += 1;
        inside(self);
        self.constants -= 1;
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.body(&item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.body(&item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.in_constant(|finder| visit::visit_item_const(finder, item));
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.in_constant(|finder| visit::visit_impl_item_const(finder, item));
    }

    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.in_constant(|finder| visit::visit_item_static(finder, item));
    }

    fn visit_type_array(&mut self, array: &'a syn::TypeArray) {
        self.in_constant(|finder| visit::visit_type_array(finder, array));
    }

    fn visit_pat(&mut self, pattern: &'a syn::Pat) {
        if let syn::Pat::Guard(guarded) = pattern {
            self.visit_pat(&guarded.pat);
            self.guard(&guarded.guard);
            self.visit_expr(&guarded.guard);
        } else {
            self.in_constant(|finder| visit::visit_pat(finder, pattern));
        }
    }

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
        self.in_constant(|finder| finder.visit_expr(&repeat.len));
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let others = self.take(Genre::BinaryOperator, binary.op.span().start());
        if matches!(binary.op, BinOp::And(_)) && (has_let(&binary.left) || has_let(&binary.right)) {
            self.refused.extend(others.iter().map(|(id, _)| (*id, LET_CHAIN)));
        } else if !others.is_empty() {
            let (left, right) = (bytes(&binary.left), bytes(&binary.right));
            self.push(bytes(binary), Change::Operator { left, right, others });
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        for (id, _) in self.take(Genre::UnaryOperator, unary.op.span().start()) {
            self.push(bytes(unary), Change::Operand { id, operand: bytes(&unary.expr) });
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        for (id, _) in self.take(Genre::MatchArm, arm.span().start()) {
            self.push(bytes(arm), Change::Arm { id, pattern_end: bytes(&arm.pat).end });
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, literal: &'a syn::ExprStruct) {
        let mut fields = Vec::new();
        for pair in literal.fields.pairs() {
            let field = bytes(pair.value());
            let end = pair.punct().map_or(field.end, |comma| comma.span().byte_range().end);
            for (id, _) in self.take(Genre::StructField, pair.value().span().start()) {
                fields.push((id, field.start..end));
            }
        }
        if !fields.is_empty() {
            self.push(bytes(literal), Change::Fields(fields));
        }
        visit::visit_expr_struct(self, literal);
    }
}

/// `||` beside a `let` is no Rust.
pub(crate) const LET_CHAIN: &str = "`||` in a chain of `let`";

fn bytes(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}
