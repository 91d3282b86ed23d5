//! From a tree to a list of terms: every interaction written out, each once.

use std::collections::HashMap;
use std::ops::Range;

use super::arithmetic::Arithmetic;
use super::mistake::{Mistake, Problem};
use super::parser::MOST_FACTORS;
use super::tree::{Factor, Node, NodeKind};

/// Terms, at most.
const MOST_TERMS: usize = 4096;
/// Combinations that are looked at to find them, at most.
const MOST_WORK: usize = 1 << 18;

/// The right side of a formula, expanded.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) intercept: bool,
    /// In the order in which they were met, with their places in the formula.
    pub(super) factors: Vec<(Factor, Range<usize>)>,
    /// Positions among the factors, ascending; single factors first, then interactions of two, and so on.
    pub(super) terms: Vec<Vec<usize>>,
    pub(super) offsets: Vec<(Arithmetic, Range<usize>)>,
}

/// The terms of a part of a formula, in order and each once.
#[derive(Clone, Debug, Default)]
struct Set {
    list: Vec<Option<Vec<usize>>>,
    places: HashMap<Vec<usize>, usize>,
}

impl Set {
    fn one(term: Vec<usize>) -> Self {
        let mut set = Self::default();
        set.add(term);
        set
    }

    fn add(&mut self, term: Vec<usize>) {
        if !self.places.contains_key(&term) {
            self.places.insert(term.clone(), self.list.len());
            self.list.push(Some(term));
        }
    }

    fn remove(&mut self, term: &[usize]) {
        if let Some(at) = self.places.remove(term) {
            self.list[at] = None;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Vec<usize>> {
        self.list.iter().flatten()
    }
}

struct Expansion<'a> {
    text: &'a str,
    /// The columns that `.` stands for.
    others: &'a [String],
    intercept: bool,
    factors: Vec<(Factor, Range<usize>)>,
    known: HashMap<String, usize>,
    offsets: Vec<(Arithmetic, Range<usize>)>,
    work: usize,
}

/// The terms of the right side; `.` stands for `others`.
pub(super) fn expand(text: &str, node: &Node, others: &[String]) -> Result<Terms, Mistake> {
    let mut expansion = Expansion {
        text,
        others,
        intercept: true,
        factors: Vec::new(),
        known: HashMap::new(),
        offsets: Vec::new(),
        work: 0,
    };
    let set = expansion.sum(node, false)?;
    let mut terms: Vec<Vec<usize>> = set.iter().cloned().collect();
    terms.sort_by_key(Vec::len);
    let Expansion { intercept, factors, offsets, .. } = expansion;
    if !intercept && terms.is_empty() {
        return Err(Mistake::at(text, node.span.clone(), Problem::NoColumns));
    }
    Ok(Terms { intercept, factors, terms, offsets })
}

impl Expansion<'_> {
    /// A part that stands in a sum, where 0 and 1 and offsets mean something.
    fn sum(&mut self, node: &Node, is_taken_out: bool) -> Result<Set, Mistake> {
        match &node.kind {
            NodeKind::One => self.intercept = !is_taken_out,
            NodeKind::Zero => self.intercept = is_taken_out,
            NodeKind::Offset(of) if !is_taken_out => self.offsets.push((of.clone(), node.span.clone())),
            NodeKind::Sum(parts) => {
                let mut sum = Set::default();
                for (is_minus, part) in parts {
                    let terms = self.sum(part, is_taken_out != *is_minus)?;
                    self.count(terms.list.len(), &part.span)?;
                    for term in terms.iter() {
                        if *is_minus {
                            sum.remove(term);
                        } else {
                            sum.add(term.clone());
                        }
                    }
                    self.check(&sum, &part.span)?;
                }
                return Ok(sum);
            }
            _ => return self.part(node),
        }
        Ok(Set::default())
    }

    /// A part of an interaction.
    fn part(&mut self, node: &Node) -> Result<Set, Mistake> {
        let set = match &node.kind {
            NodeKind::One | NodeKind::Zero => {
                let text = self.text[node.span.clone()].into();
                return Err(Mistake::at(self.text, node.span.clone(), Problem::NumberAsTerm { text }));
            }
            NodeKind::Offset(_) => return Err(Mistake::at(self.text, node.span.clone(), Problem::OffsetInTerm)),
            NodeKind::Dot => {
                let mut set = Set::default();
                for name in self.others {
                    set.add(vec![self.factor(Factor::Column(name.clone()), &node.span)]);
                }
                set
            }
            NodeKind::Factor(factor) => Set::one(vec![self.factor(factor.clone(), &node.span)]),
            NodeKind::Sum(_) => self.sum(node, false)?,
            NodeKind::Interaction(parts) => self.joined(parts, &node.span, Self::interactions)?,
            NodeKind::Cross(parts) => self.joined(parts, &node.span, Self::crossed)?,
            NodeKind::Power(base, n) => {
                let base = self.part(base)?;
                let mut power = base.clone();
                for _ in 1..*n {
                    power = self.crossed(&power, &base, &node.span)?;
                }
                power
            }
        };
        self.check(&set, &node.span)?;
        Ok(set)
    }

    fn joined(
        &mut self,
        parts: &[Node],
        span: &Range<usize>,
        join: fn(&mut Self, &Set, &Set, &Range<usize>) -> Result<Set, Mistake>,
    ) -> Result<Set, Mistake> {
        let mut parts = parts.iter();
        let Some(first) = parts.next() else { return Ok(Set::default()) };
        let mut all = self.part(first)?;
        for part in parts {
            let part = self.part(part)?;
            all = join(self, &all, &part, span)?;
        }
        Ok(all)
    }

    /// a, b and a:b.
    fn crossed(&mut self, a: &Set, b: &Set, span: &Range<usize>) -> Result<Set, Mistake> {
        let mut all = a.clone();
        b.iter().for_each(|term| all.add(term.clone()));
        let joint = self.interactions(a, b, span)?;
        joint.iter().for_each(|term| all.add(term.clone()));
        self.check(&all, span)?;
        Ok(all)
    }

    /// a:b for all terms of the one and of the other.
    fn interactions(&mut self, a: &Set, b: &Set, span: &Range<usize>) -> Result<Set, Mistake> {
        let mut all = Set::default();
        for left in a.iter() {
            self.count(b.list.len(), span)?;
            for right in b.iter() {
                let mut term: Vec<usize> = left.iter().chain(right).copied().collect();
                term.sort_unstable();
                term.dedup();
                if term.len() > MOST_FACTORS {
                    let problem = Problem::TooManyFactors { most: MOST_FACTORS };
                    return Err(Mistake::at(self.text, span.clone(), problem));
                }
                all.add(term);
            }
        }
        Ok(all)
    }

    /// The position of a factor, which may be new.
    fn factor(&mut self, factor: Factor, span: &Range<usize>) -> usize {
        let Self { factors, known, .. } = self;
        *known.entry(factor.name()).or_insert_with(|| {
            factors.push((factor, span.clone()));
            factors.len() - 1
        })
    }

    fn check(&self, set: &Set, span: &Range<usize>) -> Result<(), Mistake> {
        if set.list.len() <= MOST_TERMS {
            return Ok(());
        }
        Err(Mistake::at(self.text, span.clone(), Problem::TooManyTerms { most: MOST_TERMS }))
    }

    /// Counts combinations, so that none is looked at without end.
    fn count(&mut self, n: usize, span: &Range<usize>) -> Result<(), Mistake> {
        self.work += n;
        if self.work <= MOST_WORK {
            return Ok(());
        }
        Err(Mistake::at(self.text, span.clone(), Problem::TooManyTerms { most: MOST_TERMS }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::parser;

    fn terms(right: &str) -> String {
        let text = format!("y ~ {right}");
        let tree = parser::formula(&text).unwrap();
        let all = expand(&text, &tree.terms, &["u".into(), "v".into()]).unwrap();
        let name = |term: &Vec<usize>| term.iter().map(|i| all.factors[*i].0.name()).collect::<Vec<_>>().join(":");
        let ones = if all.intercept { "1" } else { "0" };
        std::iter::once(ones.to_string()).chain(all.terms.iter().map(name)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn operators_mean_what_they_mean_in_r() {
        assert_eq!(terms("a*b"), "1 a b a:b");
        assert_eq!(terms("a*b*c"), "1 a b c a:b a:c b:c a:b:c");
        assert_eq!(terms("(a + b + c)^2"), "1 a b c a:b a:c b:c");
        assert_eq!(terms("a*b*c - a:b:c - a"), "1 b c a:b a:c b:c");
        assert_eq!(terms("b:a + a"), "1 a b:a");
        assert_eq!(terms("a + b:a"), "1 a a:b");
        assert_eq!(terms("a:(b + c)"), "1 a:b a:c");
        assert_eq!(terms("a + b - b + a"), "1 a");
        assert_eq!(terms("a:a"), "1 a");
        assert_eq!(terms(". + log(u)"), "1 u v log(u)");
        assert_eq!(terms(".^2 - v"), "1 u u:v");
        assert_eq!(terms("a - (b - a)"), "1 a");
    }

    #[test]
    fn zero_and_one_are_the_intercept() {
        assert_eq!(terms("0 + a"), "0 a");
        assert_eq!(terms("a - 1"), "0 a");
        assert_eq!(terms("-1 + a"), "0 a");
        assert_eq!(terms("0 + a + 1"), "1 a");
        assert_eq!(terms("a - 0"), "1 a");
        assert_eq!(terms("1"), "1");
        assert_eq!(terms("(a + 0) + b"), "0 a b");
    }

    #[test]
    fn an_expansion_without_end_is_refused() {
        let refused = |right: &str| {
            let text = format!("y ~ {right}");
            let tree = parser::formula(&text)?;
            expand(&text, &tree.terms, &[]).map(drop)
        };
        let many: Vec<String> = (0..200).map(|i| format!("x{i}")).collect();
        for right in [
            format!("({})^8", many.join("+")),
            many.join("*"),
            format!("{}(a+b+c+d+e+f+g+h){}", "(".repeat(60), ")^8".repeat(60)),
            "(".repeat(100) + "a" + &")".repeat(100),
            "0".into(),
            "a:1".into(),
            "a - offset(b)".into(),
        ] {
            assert!(refused(&right).is_err(), "{right}");
        }
        assert!(refused(&many.join("+")).is_ok());
    }
}
