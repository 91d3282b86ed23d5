//! PNG files of opaque pixels.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// A file with three bytes for each pixel, row by row.
pub(super) fn png(width: usize, pixels: &[u8]) -> Vec<u8> {
    let height = pixels.len() / (3 * width);
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits, colours, and the only kinds of compression, filters and order that there are.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &packed(3 * width, pixels));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Rows packed by zlib, each as its difference from the row above: figures are lines and even areas.
fn packed(row_bytes: usize, pixels: &[u8]) -> Vec<u8> {
    const DIFFERENCE_FROM_ABOVE: u8 = 2;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut above = vec![0; row_bytes];
    let mut line = Vec::with_capacity(1 + row_bytes);
    for row in pixels.chunks_exact(row_bytes) {
        line.clear();
        line.push(DIFFERENCE_FROM_ABOVE);
        line.extend(row.iter().zip(&above).map(|(byte, above)| byte.wrapping_sub(*above)));
        encoder.write_all(&line).expect("a vector takes every byte");
        above.copy_from_slice(row);
    }
    encoder.finish().expect("a vector takes every byte")
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    let mut check = Crc::new();
    check.update(&name);
    check.update(content);
    file.extend((content.len() as u32).to_be_bytes());
    file.extend(name);
    file.extend(content);
    file.extend(check.sum().to_be_bytes());
}
