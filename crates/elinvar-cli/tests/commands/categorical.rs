//! Classes without an order, from the table to new rows.

use crate::resume::words;
use crate::story::{Story, Uniforms, number};

/// Three ways to work, of people at different distances; `code` numbers the same classes.
fn table(n: usize) -> String {
    let mut uniforms = Uniforms::new(8);
    let mut text = String::from("way,code,distance,rain\n");
    for _ in 0..n {
        let (distance, rain) = (5.0 + 2.0 * uniforms.normal(), uniforms.normal());
        // Against a bus: the car gains with distance, the walk loses with it.
        let weights = [1.0, (0.5 * (distance - 5.0)).exp(), (5.0 - distance).exp()];
        let mut left = uniforms.next() * weights.iter().sum::<f64>();
        let class = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        let class = class.unwrap_or(2);
        text += &format!("{},{},{distance},{rain}\n", ["bus", "car", "walk"][class], [10, 20, 30][class]);
    }
    text
}

#[test]
fn classes_are_explained_relative_to_the_first_and_predicted() {
    let story = Story::new();
    story.write("t.csv", table(400));
    let fit = story.json(&words("fit categorical t.csv --target way --features distance,rain --out run"));
    assert_eq!(fit["verdict"], "trust", "{fit}");
    let parameters = fit["parameters"].as_array().unwrap();
    let names: Vec<&str> = parameters.iter().map(|p| p["name"].as_str().unwrap()).collect();
    let expected = ["car:intercept", "car:distance", "car:rain", "walk:intercept", "walk:distance", "walk:rain"];
    assert_eq!(names, expected);
    // Within four standard deviations of what made the table.
    for (name, truth) in [("car:distance", 0.5), ("walk:distance", -1.0), ("car:rain", 0.0), ("walk:intercept", 5.0)] {
        let found = parameters.iter().find(|p| p["name"] == name).unwrap();
        let (mean, sd) = (number(&found["mean"]), number(&found["sd"]));
        assert!((mean - truth).abs() < 4.0 * sd && sd < 1.0, "{name}: {mean} {sd}");
    }
    assert_eq!(fit["model_check"]["fits"], true, "{fit}");
    story.write("new.csv", "distance,rain\n2,0\n9,0\n");
    let predicted = story.ok(&words("predict run new.csv"));
    let mut lines = predicted.lines();
    assert_eq!(lines.next(), Some("p_bus,p_car,p_walk"));
    for (line, most) in lines.zip([2, 1]) {
        let p: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p.iter().all(|q| *q <= p[most]), "{line}");
    }
    let link = story.ok(&words("predict run new.csv --link --quantiles 50"));
    assert!(link.starts_with("mean_1,sd_1,q50_1,mean_2,sd_2,q50_2\n"), "{link}");
    let loo = story.ok(&words("loo run"));
    assert!(loo.contains("elpd_loo"), "{loo}");
    let page = story.ok(&words("fit categorical t.csv --target way --features distance,rain --test-fraction 0.25"));
    assert!(page.contains("log_loss") || page.contains("log loss"), "{page}");
    assert!(page.contains("the reference is bus") || page.contains("car:distance"), "{page}");
}

#[test]
fn numbers_and_a_formula_name_the_same_classes() {
    let story = Story::new();
    story.write("t.csv", table(200));
    let by_formula = story.json(&["fit", "categorical", "t.csv", "code ~ distance"]);
    let by_target = story.json(&words("fit categorical t.csv --target code --features distance"));
    let names = |fit: &serde_json::Value| {
        let all = fit["parameters"].as_array().unwrap();
        all.iter().map(|p| (p["name"].clone(), p["mean"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&by_formula), names(&by_target));
    assert_eq!(names(&by_target)[0].0, "20:intercept");
}

#[test]
fn too_few_and_too_many_classes_are_refused_and_a_class_of_few_rows_is_named() {
    let story = Story::new();
    story.write("t.csv", table(60) + "boat,40,5.0,0.1\n");
    story.write("one.csv", "y,x\na,1\na,2\na,3\n");
    story.write("two.csv", "y,x\na,1\nb,2\na,3\n");
    let many: String = (0..80).map(|i| format!("c{},{}\n", i % 40, (i * 7) % 13)).collect();
    story.write("many.csv", format!("y,x\n{many}"));
    for (file, count) in [("one.csv", "1 (\"a\")"), ("two.csv", "2 (\"a\", \"b\")"), ("many.csv", "40 (")] {
        for line in [vec!["fit", "categorical", file, "--target", "y"], vec!["fit", "categorical", file, "y ~ x"]] {
            let ended = story.run(&line);
            let said = ended.stderr.replace('\n', " ");
            assert!(ended.code == Some(2) && said.contains("classes of this model are 3 to 32"), "{line:?}: {said}");
            assert!(said.contains(count), "{line:?}: {said}");
        }
    }
    let fit = story.json_good_or_not(&words("fit categorical t.csv --target way --features distance,rain"));
    let warnings = fit["warnings"].to_string();
    assert!(warnings.contains("has 1 row"), "{warnings}");
    assert!(warnings.contains("boat"), "{warnings}");
}
