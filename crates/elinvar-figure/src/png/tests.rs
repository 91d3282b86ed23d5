//! Single pixels of small figures.

use std::io::Read;

use super::*;

fn canvas(inside: &str) -> Canvas {
    let svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="fig" width="20" height="10" viewBox="-2 -2 20 10"><style>.fig .a{{fill:#ff0000}} .fig .half{{fill-opacity:0.5}} .fig .b{{fill:none;stroke:#0000ff;stroke-width:2}} .fig .gaps{{stroke-dasharray:4 4}}</style>{inside}</svg>"#
    );
    let scene = Scene::parse(&svg).unwrap();
    let mut canvas = Canvas::new(20, 10);
    scene.shapes.iter().for_each(|shape| canvas.draw(shape, 1.0));
    canvas
}

fn pixel(canvas: &Canvas, x: usize, y: usize) -> [u8; 3] {
    let at = 3 * (y * canvas.width + x);
    canvas.pixels[at..at + 3].try_into().unwrap()
}

const WHITE: [u8; 3] = [255; 3];
const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];

#[test]
fn areas_lines_and_dashes() {
    let areas =
        canvas(r#"<rect class="a" x="0" y="0" width="4" height="4"/><circle class="a half" cx="10" cy="3" r="3"/>"#);
    assert_eq!(
        [pixel(&areas, 2, 2), pixel(&areas, 5, 5), pixel(&areas, 6, 5), pixel(&areas, 1, 2)],
        [RED, RED, WHITE, WHITE]
    );
    assert_eq!([pixel(&areas, 12, 5), pixel(&areas, 12, 9)], [[255, 128, 128], WHITE]);
    let lines = canvas(r#"<line class="b gaps" x1="0" y1="1" x2="16" y2="1"/><path class="b" d="M0 5L16 5"/>"#);
    assert_eq!([2, 5, 6, 9, 10].map(|x| pixel(&lines, x, 3)), [BLUE, BLUE, WHITE, WHITE, BLUE]);
    assert!((2..18).all(|x| pixel(&lines, x, 6) == BLUE && pixel(&lines, x, 8) == WHITE));
}

#[test]
fn groups_hand_down_and_drawings_cut_off() {
    let inner =
        r#"<svg x="4" y="0" width="4" height="4" viewBox="4 0 4 4"><rect x="0" y="-5" width="30" height="30"/></svg>"#;
    let cut = canvas(&format!(r#"<g class="a">{inner}</g>"#));
    assert_eq!([5, 6, 9, 10].map(|x| pixel(&cut, x, 3)), [WHITE, RED, RED, WHITE]);
    assert_eq!([1, 2, 5, 6].map(|y| pixel(&cut, 7, y)), [WHITE, RED, RED, WHITE]);
    let moved = canvas(
        r#"<svg x="4" y="2" width="6" height="6" viewBox="0 0 6 6"><rect class="a" width="1" height="1"/></svg>"#,
    );
    assert_eq!([pixel(&moved, 6, 4), pixel(&moved, 7, 4), pixel(&moved, 2, 2)], [RED, WHITE, WHITE]);
}

#[test]
fn texts_stand_at_their_anchor() {
    let edges = |anchor: &str| {
        let svg = format!(
            r#"<svg width="90" height="30"><text x="40" y="20" font-size="10"{anchor}>Hi &amp;  H</text></svg>"#
        );
        let scene = Scene::parse(&svg).unwrap();
        assert_eq!(scene.shapes[0].words.as_deref(), Some("Hi & H"));
        scene.shapes[0].edges()
    };
    let (start, end) = (edges(""), edges(r#" text-anchor="end""#));
    assert!((40.0..42.0).contains(&start.left) && (38.0..40.0).contains(&end.right));
    assert!((start.bottom - 20.0).abs() < 0.3 && (start.top - 12.7).abs() < 0.3, "{start:?}");
    let middle = edges(r#" text-anchor="middle""#);
    assert!((middle.left + middle.right - start.left - end.right).abs() < 1e-3);
}

#[test]
fn a_file_holds_the_pixels() {
    let file = png(r##"<svg width="3" height="2"><rect width="1" height="2" fill="#0000ff"/></svg>"##, 2.0).unwrap();
    assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&file[16..26], [0, 0, 0, 6, 0, 0, 0, 4, 8, 2]);
    let length = u32::from_be_bytes(file[33..37].try_into().unwrap()) as usize;
    let mut rows = Vec::new();
    flate2::read::ZlibDecoder::new(&file[41..41 + length]).read_to_end(&mut rows).unwrap();
    let first = [&[2][..], &[0, 0, 255].repeat(2), &[255; 12]].concat();
    let same_again = [&[2][..], &[0; 18]].concat();
    assert_eq!(rows, [first, same_again.clone(), same_again.clone(), same_again].concat());
}

#[test]
fn what_is_no_figure_is_refused() {
    assert!(matches!(png("no svg", 1.0), Err(PngError::Raster(_))));
    assert!(matches!(png("<p/>", 1.0), Err(PngError::Raster(_))));
    let image = r#"<svg width="3" height="2"><image/></svg>"#;
    assert_eq!(
        png(image, 1.0).unwrap_err().to_string(),
        "the figure could not be drawn as pixels: <image> is no mark of a figure"
    );
    for scale in [0.0, -1.0, f32::NAN, 1e6] {
        assert!(matches!(png(r#"<svg width="3" height="2"></svg>"#, scale), Err(PngError::Scale(_))));
    }
}
