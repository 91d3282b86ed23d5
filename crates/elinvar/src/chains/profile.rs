//! log p along a line, and the law on it that it is (mathematics §11.5).

use crate::special::order;

/// Spacing of the sums over a profile.
pub(super) const SPACING: f64 = 0.1;

/// log p and its slope at a place on a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) t: f64,
    pub(super) log_p: f64,
    pub(super) slope: f64,
}

/// log p along a line: between the places where it was asked for, the cubic with their values and slopes.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    /// Ascending in t.
    places: Vec<Place>,
}

impl Profile {
    /// Of two places or more, in any order.
    pub(super) fn new(mut places: Vec<Place>) -> Self {
        order::ascending(&mut places, |item| item.t);
        places.dedup_by(|a, b| a.t == b.t);
        Self { places }
    }

    /// log p + t²/2 at one of the places, but for a constant.
    pub(super) fn excess(&self, t: f64) -> f64 {
        let place = self.places.iter().find(|place| place.t == t);
        place.map_or(f64::NEG_INFINITY, |place| place.log_p + 0.5 * t * t)
    }

    /// The law of t that the profile is, as (t, probability).
    pub(super) fn law(&self) -> Vec<(f64, f64)> {
        let (first, last) = (self.places[0].t, self.places[self.places.len() - 1].t);
        let n = ((last - first) / SPACING).round() as usize;
        let mut place = 0;
        let mut law: Vec<(f64, f64)> = (0..=n)
            .map(|k| {
                let t = first + k as f64 * SPACING;
                while place + 2 < self.places.len() && self.places[place + 1].t < t {
                    place += 1;
                }
                (t, between(self.places[place], self.places[place + 1], t))
            })
            .collect();
        let top = law.iter().map(|(_, l)| *l).fold(f64::NEG_INFINITY, f64::max);
        law.iter_mut().for_each(|(_, l)| *l = (*l - top).exp());
        let total: f64 = law.iter().map(|(_, p)| p).sum();
        law.iter_mut().for_each(|(_, p)| *p /= total);
        law
    }
}

/// The cubic between two places; beyond the edge of a density there is none.
pub(super) fn between(p: Place, q: Place, t: f64) -> f64 {
    if ![p.log_p, p.slope, q.log_p, q.slope].iter().all(|v| v.is_finite()) {
        return f64::NEG_INFINITY;
    }
    let width = q.t - p.t;
    let (b, a) = ((t - p.t) / width, (q.t - t) / width);
    let ends = a * a * (a + 3.0 * b) * p.log_p + b * b * (b + 3.0 * a) * q.log_p;
    ends + a * b * width * (a * p.slope - b * q.slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard deviation of a law with this log density and slope, as a profile has it.
    fn sd(log_p: impl Fn(f64) -> (f64, f64)) -> f64 {
        let places = [0.0, 1.5, 3.0, 4.0, 5.0, 6.5, 8.0, 10.0, 14.0, 20.0, 30.0];
        let both = places.iter().flat_map(|t| [*t, -*t]).skip(1);
        let profile = Profile::new(both.map(|t| Place { t, log_p: log_p(t).0, slope: log_p(t).1 }).collect());
        profile.law().iter().map(|(t, p)| t * t * p).sum::<f64>().sqrt()
    }

    /// Within 2 %: straight lines in place of cubics promise 2.5 times as much for the first.
    #[test]
    fn the_standard_deviation_of_a_heavy_tail_is_that_of_its_law() {
        // Student's law with five degrees of freedom, up to 30.
        let student = |t: f64| (-3.0 * (t * t / 5.0).ln_1p(), -6.0 * t / (5.0 + t * t));
        assert!((sd(student) / (5.0f64 / 3.0).sqrt() - 1.0).abs() < 0.02, "{}", sd(student));
        // 0.98 N(0, 1) + 0.02 N(0, 8²): variance 0.98 + 1.28, nearly all of it within 30.
        let contaminated = |t: f64| {
            let (narrow, wide) = (0.98 * (-0.5 * t * t).exp(), 0.0025 * (-t * t / 128.0).exp());
            ((narrow + wide).ln(), -(narrow * t + wide * t / 64.0) / (narrow + wide))
        };
        assert!((sd(contaminated) / 2.26f64.sqrt() - 1.0).abs() < 0.02, "{}", sd(contaminated));
        // Exactly quadratic.
        assert!((sd(|t| (-0.5 * t * t, -t)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn beyond_an_edge_there_is_nothing() {
        let at = |t: f64| if t > 1.4 { (f64::NEG_INFINITY, 0.0) } else { (-0.5 * t * t, -t) };
        let places = [-30.0, -5.0, -1.0, 0.0, 1.0, 1.5, 5.0].map(|t| Place { t, log_p: at(t).0, slope: at(t).1 });
        assert!(Profile::new(places.to_vec()).law().iter().all(|(t, p)| *t < 1.05 || *p == 0.0));
    }
}
