//! Arithmetic with columns: what stands within `I()`, `log()` and the like.

use std::fmt;

use elinvar_data::Table;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::lexer::written;
use super::mistake::{Mistake, Problem};
use super::parser;

/// A number for each row, made of its cells.
#[derive(Clone, Debug, PartialEq)]
pub enum Arithmetic {
    /// The same in every row.
    Number(f64),
    /// A column of the table.
    Column(String),
    /// Terms with their signs.
    Sum(Vec<(Sign, Arithmetic)>),
    /// Factors, multiplied or divided by.
    Product(Vec<(Way, Arithmetic)>),
    /// A power.
    Power(Box<Arithmetic>, Box<Arithmetic>),
    /// A function of a number.
    Call(Function, Box<Arithmetic>),
}

/// How a term enters a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is added.
    Plus,
    /// It is subtracted.
    Minus,
}

/// How a factor enters a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is multiplied by.
    Times,
    /// It is divided by.
    Over,
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Natural logarithm.
    Log,
    /// Exponential.
    Exp,
    /// Square root.
    Sqrt,
    /// Logarithm with base 2.
    Log2,
    /// Logarithm with base 10.
    Log10,
    /// log(1 + x).
    Log1p,
    /// Absolute value.
    Abs,
    /// The number itself: `I()`, which only says that arithmetic is meant.
    Identity,
}

impl Function {
    const ALL: [Function; 8] = [
        Function::Log,
        Function::Exp,
        Function::Sqrt,
        Function::Log2,
        Function::Log10,
        Function::Log1p,
        Function::Abs,
        Function::Identity,
    ];

    /// Its name in a formula.
    pub(super) fn name(self) -> &'static str {
        match self {
            Function::Log => "log",
            Function::Exp => "exp",
            Function::Sqrt => "sqrt",
            Function::Log2 => "log2",
            Function::Log10 => "log10",
            Function::Log1p => "log1p",
            Function::Abs => "abs",
            Function::Identity => "I",
        }
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    fn value(self, x: f64) -> f64 {
        match self {
            Function::Log => x.ln(),
            Function::Exp => x.exp(),
            Function::Sqrt => x.sqrt(),
            Function::Log2 => x.log2(),
            Function::Log10 => x.log10(),
            Function::Log1p => x.ln_1p(),
            Function::Abs => x.abs(),
            Function::Identity => x,
        }
    }
}

impl Arithmetic {
    /// Adds the names of its columns to a list, each once.
    pub(super) fn add_columns(&self, names: &mut Vec<String>) {
        match self {
            Arithmetic::Number(_) => {}
            Arithmetic::Column(name) => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            Arithmetic::Sum(terms) => terms.iter().for_each(|(_, term)| term.add_columns(names)),
            Arithmetic::Product(factors) => factors.iter().for_each(|(_, factor)| factor.add_columns(names)),
            Arithmetic::Power(base, exponent) => [base, exponent].iter().for_each(|part| part.add_columns(names)),
            Arithmetic::Call(_, of) => of.add_columns(names),
        }
    }

    /// Its value in every row of a table; each is finite.
    pub(super) fn values(&self, table: &Table) -> Result<Vec<f64>, Mistake> {
        match self {
            Arithmetic::Number(number) => Ok(vec![*number; table.n_rows()]),
            Arithmetic::Column(name) => self.column(table, name),
            Arithmetic::Sum(terms) => self.folded(table, 0.0, terms, |sum, sign, value| match sign {
                Sign::Plus => sum + value,
                Sign::Minus => sum - value,
            }),
            Arithmetic::Product(factors) => self.folded(table, 1.0, factors, |product, way, value| match way {
                Way::Times => product * value,
                Way::Over => product / value,
            }),
            Arithmetic::Power(base, exponent) => {
                let (mut values, exponents) = (base.values(table)?, exponent.values(table)?);
                for (i, (value, exponent)) in values.iter_mut().zip(exponents).enumerate() {
                    let power = if exponent == 2.0 { *value * *value } else { value.powf(exponent) };
                    if !power.is_finite() {
                        return Err(self.undefined(table, i, *value));
                    }
                    *value = power;
                }
                Ok(values)
            }
            Arithmetic::Call(function, of) => {
                let mut values = of.values(table)?;
                for (i, value) in values.iter_mut().enumerate() {
                    let of_value = function.value(*value);
                    if !of_value.is_finite() {
                        return Err(self.undefined(table, i, *value));
                    }
                    *value = of_value;
                }
                Ok(values)
            }
        }
    }

    /// A column of numbers.
    fn column(&self, table: &Table, name: &str) -> Result<Vec<f64>, Mistake> {
        let j = index(table, name)?;
        if let Some(levels) = table.levels(j) {
            let is_text = |value: f64| levels[value as usize].trim().parse::<f64>().is_err();
            let row = table.column(j).position(is_text).unwrap_or(0);
            let text = levels[table.row(row)[j] as usize].clone();
            return Err(Problem::Text { place: table.place(row, j), text, expression: self.to_string() }.into());
        }
        Ok(table.column(j).collect())
    }

    fn folded<S: Copy>(
        &self,
        table: &Table,
        empty: f64,
        parts: &[(S, Arithmetic)],
        join: impl Fn(f64, S, f64) -> f64,
    ) -> Result<Vec<f64>, Mistake> {
        let mut total = vec![empty; table.n_rows()];
        for (how, part) in parts {
            for (i, (total, value)) in total.iter_mut().zip(part.values(table)?).enumerate() {
                *total = join(*total, *how, value);
                if !total.is_finite() {
                    return Err(self.undefined(table, i, value));
                }
            }
        }
        Ok(total)
    }

    /// That it has no value in this row.
    fn undefined(&self, table: &Table, row: usize, value: f64) -> Mistake {
        let mut names = Vec::new();
        self.add_columns(&mut names);
        let column = names.first().and_then(|name| index(table, name).ok()).unwrap_or(0);
        let advice = match self {
            Arithmetic::Call(Function::Log | Function::Log2 | Function::Log10, of) if value <= 0.0 => {
                format!("logarithms need positive numbers: leave the row out, or use log1p({of})")
            }
            Arithmetic::Call(Function::Sqrt, _) => "leave the row out, or use the column without sqrt".into(),
            _ => "correct the cell or leave the row out".into(),
        };
        let problem = "not a finite number";
        Problem::Undefined { place: table.place(row, column), expression: self.to_string(), problem, value, advice }
            .into()
    }

    /// How tightly it holds together: sums least.
    fn strength(&self) -> u8 {
        match self {
            Arithmetic::Sum(_) => 0,
            Arithmetic::Product(_) => 1,
            Arithmetic::Power(..) => 2,
            Arithmetic::Number(number) if *number < 0.0 => 0,
            _ => 3,
        }
    }

    /// In brackets unless it holds together better than `least`.
    fn within(&self, least: u8) -> String {
        if self.strength() > least { self.to_string() } else { format!("({self})") }
    }
}

/// The position of a column.
pub(super) fn index(table: &Table, name: &str) -> Result<usize, Mistake> {
    table.names().iter().position(|known| known == name).ok_or_else(|| {
        let similar = elinvar_data::nearest(name, table.names().iter().map(String::as_str)).map(str::to_string);
        let (file, available) = (table.file().into(), table.names().to_vec());
        Problem::NoSuchColumn { file, name: name.into(), similar, available }.into()
    })
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arithmetic::Number(number) => write!(f, "{number}"),
            Arithmetic::Column(name) => f.write_str(&written(name)),
            Arithmetic::Sum(terms) => {
                for (i, (sign, term)) in terms.iter().enumerate() {
                    f.write_str(match (i, sign) {
                        (0, Sign::Plus) => "",
                        (0, Sign::Minus) => "-",
                        (_, Sign::Plus) => " + ",
                        (_, Sign::Minus) => " - ",
                    })?;
                    f.write_str(&term.within(0))?;
                }
                Ok(())
            }
            Arithmetic::Product(factors) => {
                for (i, (way, factor)) in factors.iter().enumerate() {
                    f.write_str(match (i, way) {
                        (0, _) => "",
                        (_, Way::Times) => " * ",
                        (_, Way::Over) => " / ",
                    })?;
                    f.write_str(&factor.within(1))?;
                }
                Ok(())
            }
            Arithmetic::Power(base, exponent) => write!(f, "{}^{}", base.within(2), exponent.within(2)),
            Arithmetic::Call(function, of) => write!(f, "{}({of})", function.name()),
        }
    }
}

/// As the text that is read back.
impl Serialize for Arithmetic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Arithmetic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parser::arithmetic(&text).map_err(|mistake| serde::de::Error::custom(mistake.problem.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar_data::Columns;

    fn table() -> Table {
        Table::from_csv("t.csv", b"x,size m\n2,3\n-1,0\n", &Columns::All).unwrap()
    }

    fn values(text: &str) -> Vec<f64> {
        parser::arithmetic(text).unwrap().values(&table()).unwrap()
    }

    #[test]
    fn arithmetic_has_the_usual_precedence() {
        assert_eq!(values("1 + 2*x^2 - x/2"), [8.0, 3.5]);
        assert_eq!(values("-x^2"), [-4.0, -1.0]);
        assert_eq!(values("(-x)^2 * (1 - `size m`)"), [-8.0, 1.0]);
        assert_eq!(values("2^3^x"), [512.0, 2f64.powf(1.0 / 3.0)]);
        assert_eq!(values("x - 1 - 1"), [0.0, -3.0]);
        assert_eq!(values("8 / 2 / 2 * exp(0)"), [2.0, 2.0]);
        assert_eq!(values("2^-1 * abs(x)"), [1.0, 0.5]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in
            ["-x^2", "(x + 1) * (x - 2)^3 / (`size m` + 2)", "log1p(abs(x) + 1e-3) - -x", "2^(-x)", "x^(2 + 1)^2"]
        {
            let first = parser::arithmetic(text).unwrap();
            let again = parser::arithmetic(&first.to_string()).unwrap();
            assert_eq!(first.values(&table()).unwrap(), again.values(&table()).unwrap(), "{text}: {first}");
            assert_eq!(first.to_string(), again.to_string());
        }
    }

    #[test]
    fn a_value_outside_the_domain_has_a_place() {
        let message = parser::arithmetic("log(x)").unwrap().values(&table()).unwrap_err().to_string();
        assert!(message.contains("t.csv, line 3, column 1 (x)") && message.contains("log1p(x)"), "{message}");
        assert!(parser::arithmetic("1 / `size m`").unwrap().values(&table()).is_err());
        assert!(parser::arithmetic("exp(1000 * x)").unwrap().values(&table()).is_err());
        assert!(parser::arithmetic("x^0.5").unwrap().values(&table()).is_err());
    }
}
