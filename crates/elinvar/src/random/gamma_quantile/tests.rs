use super::*;

const U: [f64; 7] = [f64::EPSILON / 2.0, 1e-6, 0.02, 0.5, 0.875, 0.999, 1.0 - f64::EPSILON / 2.0];

#[test]
fn agrees_with_40_digit_arithmetic() {
    #[rustfmt::skip]
    let table: [(f64, [f64; 7]); 8] = [
        (0.3, [4.5860102724659714e-54, 6.972699096409348e-21, 1.514147144569685e-06, 0.0731311358669519, 0.739713476679611, 4.618936042791334, 33.16955361260487]),
        (1.0, [1.1102230246251565e-16, 1.0000005000003334e-06, 0.02020270731751945, std::f64::consts::LN_2, 2.0794415416798357, 6.907755278982136, 36.7368005696771]),
        (1.5, [2.7927428785172406e-11, 0.00012090524360062141, 0.09241590951432907, 1.182986942187669, 2.8697067070500024, 8.133118098119064, 38.69815774531044]),
        (2.5, [6.711114655705429e-07, 0.006448080103248548, 0.3759444673895334, 2.1757300955477636, 4.312382661218594, 10.257502826216438, 42.09751611826066]),
        (7.25, [0.0219601322761005, 0.5527317670665133, 2.837450864841526, 6.919529674483392, 10.38796313574527, 18.45638984136478, 54.82954358502221]),
        (40.0, [7.566104372494312, 16.753150234308062, 28.10642204481073, 39.6671650106891, 47.354571922962435, 62.41961200788239, 115.84804307149903]),
        (300.0, [179.08352560817906, 224.7406162512669, 265.5095332343895, 299.66673259043927, 320.02193649727445, 356.3855814426481, 465.06517292873525]),
        (999.0, [761.200137772079, 855.8897936070473, 935.164803436064, 998.6666864467525, 1035.4610789052708, 1099.5292282815751, 1281.0294029220788]),
    ];
    for (shape, expected) in table {
        let quantile = GammaQuantile::new(shape).unwrap();
        for (u, x) in U.into_iter().zip(expected) {
            let error = quantile.at(u) / x - 1.0;
            assert!(error.abs() < 1e-12, "a = {shape}, u = {u}: relative error {error:e}");
        }
    }
}

#[test]
fn expansion_for_large_shapes() {
    // scipy.special.gammaincinv and gammainccinv; the error is measured in standard deviations √a.
    #[rustfmt::skip]
    let table = [
        (1000.0, [762.0705370261866, 856.8146512793919, 936.132320265703, 999.6666864269652, 1036.4792749439575, 1100.5780982933145, 1282.1590384247147]),
        (20_000.0, [18861.030161418472, 19334.94797080018, 19710.62979002868, 19999.66666765434, 20162.79045485996, 20439.87621662943, 21183.232422595927]),
    ];
    for (shape, expected) in table {
        let quantile = GammaQuantile::new(shape).unwrap();
        for (u, x) in U.into_iter().zip(expected) {
            let error = (quantile.at(u) - x) / f64::sqrt(shape);
            let z = normal_quantile(u).abs();
            assert!(error.abs() < 1e-9 * (1.0 + z.powi(4)), "a = {shape}, u = {u}: error {error:e} √a");
        }
    }
}

#[test]
fn never_zero_and_increasing() {
    for shape in [1e-3, 0.05, 0.19, 0.21, 0.9, 1.1, 3.0, 12.0, 150.0, 999.9, 1000.0, 1e9] {
        let quantile = GammaQuantile::new(shape).unwrap();
        let mut last = 0.0;
        for i in 0..4000 {
            let x = quantile.at((f64::from(i) + 0.5) / 4000.0);
            assert!(x >= last && x > 0.0 && x.is_finite(), "a = {shape}, i = {i}: {x} after {last}");
            last = x;
        }
    }
    assert!(GammaQuantile::new(0.0).is_none() && GammaQuantile::new(f64::INFINITY).is_none());
}

#[test]
#[ignore = "a measurement"]
fn nanoseconds_per_quantile() {
    for shape in [0.5, 1.5, 2.5, 5.0, 20.0, 100.0, 500.0, 999.0, 2000.0] {
        let quantile = GammaQuantile::new(shape).unwrap();
        let start = std::time::Instant::now();
        let sum: f64 = (0..100_000).map(|i| quantile.at((f64::from(i) + 0.5) / 1e5)).sum();
        println!("a = {shape}: {:.0} ns (mean {})", start.elapsed().as_nanos() as f64 / 1e5, sum / 1e5);
    }
}
