//! Every kind of transform against differences, files and points outside.

use super::*;

/// The first six have 10 coordinates of z and 11 of x, the others 1 + 1 + 6 + 6 and 1 + 1 + 6 + 10.
fn every_kind() -> Transforms {
    Transforms::new(vec![
        Transform::Identity,
        Transform::Log,
        Transform::Logit,
        Transform::Interval { low: -2.0, high: 5.0 },
        Transform::Ordered { len: 3 },
        Transform::Simplex { len: 4 },
        Transform::Above { low: 3.0 },
        Transform::Below { high: -1.0 },
        Transform::CovarianceCholesky { len: 3 },
        Transform::CorrelationCholesky { len: 4 },
    ])
    .unwrap()
}

const Z: [f64; 24] = [
    0.3, -0.7, 0.4, 1.1, -0.2, 0.5, -0.9, 0.8, -0.3, 0.25, 0.6, -1.2, 0.1, -0.4, 0.7, 0.35, -0.15, -0.55, 0.9, -0.6,
    0.45, 1.3, -0.8, 0.2,
];
const X: usize = 29;

#[test]
fn a_simplex_keeps_its_smallest_entries() {
    let simplex = Transforms::new(vec![Transform::Simplex { len: 3 }]).unwrap();
    let mut x = [0.0; 3];
    simplex.constrain(&[60.0, 0.0], &mut x);
    // x₂ = x₃ = ½(1 − v₁) with 1 − v₁ = 2e^{−60}/(1 + 2e^{−60}).
    assert!((x[1] / (-60f64).exp() - 1.0).abs() < 1e-12 && x[1] == x[2], "{x:?}");
}

#[test]
fn lengths_beyond_memory_are_refused() {
    let long = Transform::Ordered { len: usize::MAX };
    assert!(Transforms::new(vec![long, long]).is_err());
}

#[test]
fn unconstrain_inverts_constrain() {
    let transforms = every_kind();
    let (mut x, mut z) = ([0.0; X], [0.0; 24]);
    transforms.constrain(&Z, &mut x);
    transforms.unconstrain(&x, &mut z).unwrap();
    assert!(z.iter().zip(&Z).all(|(a, b)| (a - b).abs() < 1e-14), "{z:?}");
    assert!((x[7..11].iter().sum::<f64>() - 1.0).abs() < 1e-15);
    for row in [&x[19..20], &x[20..22], &x[22..25], &x[25..29]] {
        assert!((row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15, "{row:?}");
    }
}

/// Where the entries left of the diagonal stand in a triangle of four rows.
const OFF_DIAGONAL: [usize; 6] = [1, 3, 4, 6, 7, 8];

#[test]
fn the_jacobian_agrees_with_differences_and_its_determinant_with_the_logarithm() {
    let transforms = every_kind();
    let (mut x, mut jacobian) = ([0.0; X], vec![0.0; transforms.jacobian_len()]);
    transforms.constrain(&Z, &mut x);
    transforms.jacobian(&Z, &x, &mut jacobian);
    let mut offset = 0;
    let mut log_det = 0.0;
    for b in transforms.blocks() {
        for j in 0..b.z.len() {
            let (mut up, mut down, mut x_up, mut x_down) = (Z, Z, [0.0; X], [0.0; X]);
            up[b.z.start + j] += 1e-5;
            down[b.z.start + j] -= 1e-5;
            transforms.constrain(&up, &mut x_up);
            transforms.constrain(&down, &mut x_down);
            for i in 0..b.x.len() {
                let difference = (x_up[b.x.start + i] - x_down[b.x.start + i]) / 2e-5;
                assert!((jacobian[offset + j * b.x.len() + i] - difference).abs() < 1e-9);
            }
            // Every block is lower triangular in the entries of x that are free.
            let row = if let Transform::CorrelationCholesky { .. } = b.transform { OFF_DIAGONAL[j] } else { j };
            log_det += jacobian[offset + j * b.x.len() + row].abs().ln();
        }
        offset += b.z.len() * b.x.len();
    }
    assert!((transforms.log_jacobian(&Z) - log_det).abs() < 1e-13);
}

#[test]
fn files_hold_a_list_and_refuse_an_empty_interval() {
    let text = serde_json::to_string(&every_kind()).unwrap();
    assert!(text.starts_with(r#"["identity","log","logit",{"interval":{"low":-2.0,"high":5.0}}"#), "{text}");
    assert_eq!(serde_json::from_str::<Transforms>(&text).unwrap(), every_kind());
    assert!(serde_json::from_str::<Transforms>(r#"[{"interval":{"low":1.0,"high":1.0}}]"#).is_err());
    for refused in ["simplex", "correlation_cholesky", "unit_vector"] {
        assert!(serde_json::from_str::<Transforms>(&format!(r#"[{{"{refused}":{{"len":1}}}}]"#)).is_err());
    }
    assert!(serde_json::from_str::<Transforms>("[]").is_err());
}

#[test]
fn points_outside_the_constraints_are_refused() {
    for (transform, x) in [
        (Transform::Log, vec![0.0]),
        (Transform::Logit, vec![1.0]),
        (Transform::Interval { low: 0.0, high: 2.0 }, vec![2.5]),
        (Transform::Ordered { len: 2 }, vec![1.0, 1.0]),
        (Transform::Simplex { len: 2 }, vec![0.5, 0.6]),
        (Transform::Identity, vec![f64::NAN]),
        (Transform::Above { low: 1.0 }, vec![1.0]),
        (Transform::Below { high: 1.0 }, vec![1.0]),
        (Transform::CovarianceCholesky { len: 2 }, vec![1.0, 0.3, 0.0]),
        (Transform::CorrelationCholesky { len: 2 }, vec![1.0, 0.3, 0.9]),
        (Transform::CorrelationCholesky { len: 2 }, vec![1.0, 0.6, -0.8]),
        (Transform::UnitVector { len: 2 }, vec![0.6, 0.7]),
    ] {
        let transforms = Transforms::new(vec![transform]).unwrap();
        assert!(transforms.unconstrain(&x, &mut vec![0.0; transforms.dim()]).is_err(), "{transform:?}");
    }
}

/// Every group of coefficients is brought back to the units of the columns, and so the Jacobian has each of them.
#[test]
fn the_jacobian_has_the_scales_of_every_group() {
    let columns = vec![ColumnScale { shift: 0.0, scale: 2.0 }, ColumnScale { shift: 0.0, scale: 5.0 }];
    let of = |groups: usize| {
        let transforms = Transforms::identity(2 * groups).with_groups(None, columns.clone(), groups).unwrap();
        transforms.log_jacobian(&vec![0.3; 2 * groups])
    };
    for groups in 1..=3 {
        let expected = -(groups as f64) * 10.0_f64.ln();
        assert!((of(groups) - expected).abs() < 1e-14, "{groups}: {} and {expected}", of(groups));
    }
}
