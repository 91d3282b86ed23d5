//! The coordinates u in which chains move: a Gaussian's, and bent ones inside them (mathematics §11.1, §11.6).

use super::Frame;
use super::bend::Bend;
use super::bending::Cloud;
use super::pinch::{Bench, Pinch};
use super::stretch::Stretch;

/// A map inside those of a Gaussian.
#[derive(Clone, Debug)]
pub(crate) enum Layer {
    /// Linear, with a centre.
    Straight(Frame),
    /// Shifts and widths that depend on one direction.
    Bend(Bend),
    /// A law that is Gaussian given its scales.
    Pinch(Pinch),
    /// One component in other units.
    Stretch(Stretch),
}

/// z = m + L T₁(T₂(… u)).
#[derive(Clone, Debug)]
pub(crate) struct Coordinates {
    frame: Frame,
    layers: Vec<Layer>,
}

/// Where points were before each layer, for the gradients that come back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    places: Vec<Vec<f64>>,
    spare: Vec<f64>,
    bench: Bench,
}

impl Trail {
    fn make_room(&mut self, layers: usize, numbers: usize) {
        self.places.resize_with(layers, Vec::new);
        self.places.iter_mut().for_each(|place| place.resize(numbers, 0.0));
        self.spare.resize(numbers, 0.0);
    }
}

impl Coordinates {
    /// Those of a Gaussian.
    pub(crate) fn straight(frame: Frame) -> Self {
        Self { frame, layers: Vec::new() }
    }

    /// With layers inside.
    pub(crate) fn bent(frame: Frame, layers: Vec<Layer>) -> Self {
        Self { frame, layers }
    }

    /// Number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.frame.dim()
    }

    /// The Gaussian outside.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Whether anything is bent.
    pub(crate) fn are_bent(&self) -> bool {
        !self.layers.is_empty()
    }

    /// The maps inside, outermost first.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The innermost linear map, and this with another one in its place.
    pub(crate) fn innermost(&self) -> &Frame {
        match self.layers.last() {
            Some(Layer::Straight(frame)) => frame,
            _ => &self.frame,
        }
    }

    /// The same with another innermost linear map.
    pub(crate) fn with_innermost(&self, frame: Frame) -> Self {
        let mut layers = self.layers.clone();
        match layers.last_mut() {
            Some(last @ Layer::Straight(_)) => *last = Layer::Straight(frame),
            _ => return Self { frame, layers },
        }
        Self { frame: self.frame.clone(), layers }
    }

    /// z of several points u.
    pub(crate) fn to_z(&self, u: &[f64], z: &mut [f64], trail: &mut Trail) {
        if self.layers.is_empty() {
            return self.frame.to_z(u, z);
        }
        let d = self.dim();
        trail.make_room(self.layers.len(), u.len());
        let Trail { places, spare, bench } = trail;
        let here = &mut spare[..u.len()];
        here.copy_from_slice(u);
        for (layer, place) in self.layers.iter().zip(places).rev() {
            place.copy_from_slice(here);
            match layer {
                Layer::Straight(frame) => frame.to_z(place, here),
                Layer::Bend(bend) => here.chunks_exact_mut(d).for_each(|point| bend.forward(point)),
                Layer::Pinch(pinch) => here.chunks_exact_mut(d).for_each(|point| pinch.forward(point, bench)),
                Layer::Stretch(stretch) => here.chunks_exact_mut(d).for_each(|point| stretch.forward(point)),
            }
        }
        self.frame.to_z(here, z);
    }

    /// u of several points z.
    pub(crate) fn to_u(&self, z: &[f64], u: &mut [f64]) {
        let d = self.dim();
        self.frame.to_x(z, u);
        for layer in &self.layers {
            match layer {
                Layer::Straight(frame) => {
                    let before = u.to_vec();
                    frame.to_x(&before, u);
                }
                Layer::Bend(bend) => u.chunks_exact_mut(d).for_each(|point| bend.backward(point)),
                Layer::Pinch(pinch) => {
                    let mut bench = Bench::default();
                    u.chunks_exact_mut(d).for_each(|point| pinch.backward(point, &mut bench));
                }
                Layer::Stretch(stretch) => u.chunks_exact_mut(d).for_each(|point| stretch.backward(point)),
            }
        }
    }

    /// Gradients of log p(u) by u of gradients of log p(z) by z, after [`Coordinates::to_z`] of the same points, and
    /// log |∂z/∂u| but for a constant.
    pub(crate) fn pull(&self, by_z: &[f64], by_u: &mut [f64], log_jacobian: &mut [f64], trail: &mut Trail) {
        let d = self.dim();
        self.frame.pull(by_z, by_u);
        log_jacobian.fill(0.0);
        let Trail { places, spare, bench } = trail;
        for (layer, place) in self.layers.iter().zip(places) {
            let points = place.chunks_exact_mut(d).zip(by_u.chunks_exact_mut(d)).zip(log_jacobian.iter_mut());
            match layer {
                Layer::Straight(frame) => {
                    let before = &mut spare[..by_u.len()];
                    before.copy_from_slice(by_u);
                    frame.pull(before, by_u);
                }
                Layer::Bend(bend) => points.for_each(|((u, g), log)| *log += bend.pull(u, g)),
                Layer::Pinch(pinch) => points.for_each(|((u, g), log)| *log += pinch.pull(u, g, bench)),
                Layer::Stretch(stretch) => points.for_each(|((u, g), log)| *log += stretch.pull(u, g)),
            }
        }
    }

    /// How far the gradients of the worst component are from those of N(0, I) in bent coordinates: the largest mean of
    /// log(1 + (u_i + ∂_i log p)²). The law of a scale is what it is; of the others it is asked given the scale.
    pub(crate) fn roughness(&self, z: &[f64], by_z: &[f64]) -> f64 {
        let outside = Self { frame: self.frame.clone(), layers: Vec::new() };
        let (x, g, _) = outside.seen_from(z, by_z);
        let mut cloud = Cloud { d: self.dim(), x, g };
        for layer in &self.layers {
            cloud = cloud.within(layer);
            if let Layer::Pinch(pinch) = layer {
                return cloud.worst_residual(pinch.others().iter().copied());
            }
        }
        cloud.worst_residual(0..self.dim())
    }

    /// Whether a scale has coordinates of its own.
    pub(crate) fn are_pinched(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer, Layer::Pinch(_)))
    }

    /// u, gradients by u and log |∂z/∂u| of points with gradients by z.
    pub(crate) fn seen_from(&self, z: &[f64], by_z: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (mut u, mut by_u) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let mut log_jacobian = vec![0.0; z.len() / self.dim()];
        self.to_u(z, &mut u);
        let mut trail = Trail::default();
        if self.are_bent() {
            let mut again = vec![0.0; z.len()];
            self.to_z(&u, &mut again, &mut trail);
        }
        self.pull(by_z, &mut by_u, &mut log_jacobian, &mut trail);
        (u, by_u, log_jacobian)
    }
}
