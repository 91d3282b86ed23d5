use super::*;

/// log f of log Gamma(2), and its slope.
fn log_gamma(t: f64) -> Place {
    Place { t, log_f: 2.0 * t - t.exp(), slope: 2.0 - t.exp() }
}

#[test]
fn a_law_becomes_normal_and_points_come_back() {
    let places: Vec<Place> = (-60..=16).map(|k| log_gamma(0.25 * f64::from(k))).collect();
    let spline = Spline::of(&places).unwrap();
    let stretch = Stretch::new(vec![Some(spline), None]);
    for u in [-4.5, -2.0, -0.3, 0.0, 1.1, 3.7, 6.0] {
        let mut point = [u, u];
        stretch.forward(&mut point);
        // P(2, x) = 1 − e⁻ˣ(1 + x), and its complement, against Φ.
        let x: f64 = point[0].exp();
        if u.abs() < 5.0 {
            let (below, above) = (
                if x < 1e-3 { 0.5 * x * x * (1.0 - 2.0 * x / 3.0) } else { 1.0 - (-x).exp() * (1.0 + x) },
                (-x).exp() * (1.0 + x),
            );
            let ratio = if u < 0.0 { below / normal_cdf(u) } else { above / normal_cdf(-u) };
            assert!((ratio - 1.0).abs() < 2e-3, "{u}: {ratio}");
            // Then the gradient by u is −u.
            let mut gradient = [2.0 - x, 0.7];
            stretch.pull(&[u, u], &mut gradient);
            assert!((gradient[0] + u).abs() < 0.02 && gradient[1] == 0.7, "{u}: {gradient:?}");
        }
        stretch.backward(&mut point);
        assert!((point[0] - u).abs() < 1e-9 && point[1] == u, "{point:?}");
    }
}

#[test]
fn slopes_are_those_of_differences() {
    let places: Vec<Place> = (-60..=16).map(|k| log_gamma(0.25 * f64::from(k))).collect();
    let spline = Spline::of(&places).unwrap();
    for u in [-5.5, -2.03, 0.41, 3.3] {
        let ([_, slope, second], [above, up, _], [below, down, _]) =
            (spline.at(u), spline.at(u + 1e-5), spline.at(u - 1e-5));
        assert!(((above - below) / 2e-5 - slope).abs() < 1e-6 * slope.abs().max(1.0));
        assert!(((up - down) / 2e-5 - second).abs() < 1e-5 * second.abs().max(1.0));
    }
}

#[test]
fn what_is_no_law_gives_no_map() {
    let rising = [(-1.0, 0.0, 1.0), (0.0, 0.5, 0.0), (1.0, 0.2, -0.1), (2.0, 0.4, 0.2)];
    let places: Vec<Place> =
        rising.iter().map(|(t, log_f, slope)| Place { t: *t, log_f: *log_f, slope: *slope }).collect();
    assert!(Spline::of(&places).is_none() && Spline::of(&places[..2]).is_none());
}
