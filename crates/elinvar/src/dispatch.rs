//! Chooses at run time between the code for every machine of the architecture, for AVX2 with FMA and for AVX-512.
//!
//! The choice depends on the machine only, so a program gives the same bits whenever it runs on the same machine;
//! machines with and without FMA differ in the last places.
#![allow(
    unsafe_code,
    reason = "a function compiled for more instructions may only be called after asking the processor"
)]

use crate::model::kernels;

/// A kernel over (y, η → slope, value, curvature), compiled for AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::kernels;

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn logistic(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
        kernels::logistic::<true>(y, eta, value, curvature);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn poisson(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
        kernels::poisson::<true>(y, eta, value, curvature);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn tanh(values: &mut [f64]) {
        kernels::tanh::<true>(values);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn softmax(labels: &[f64], eta: &mut [f64], value: &mut [f64], spare: &mut [f64]) {
        kernels::softmax::<true>(labels, eta, value, spare);
    }
}

/// The same, compiled for AVX-512: vectors of eight numbers.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::kernels;

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    pub(super) fn logistic(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
        kernels::logistic::<true>(y, eta, value, curvature);
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    pub(super) fn poisson(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
        kernels::poisson::<true>(y, eta, value, curvature);
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    pub(super) fn tanh(values: &mut [f64]) {
        kernels::tanh::<true>(values);
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    pub(super) fn softmax(labels: &[f64], eta: &mut [f64], value: &mut [f64], spare: &mut [f64]) {
        kernels::softmax::<true>(labels, eta, value, spare);
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2_and_fma() -> bool {
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
        && std::is_x86_feature_detected!("fma")
}

/// [`kernels::logistic`] with the best instructions of this machine.
pub(crate) fn logistic_block(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the processor has just been found to support these parts of AVX-512 and FMA, the only condition of the call.
        return unsafe { avx512::logistic(y, eta, value, curvature) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2_and_fma() {
        // SAFETY: the processor has just been found to support AVX2 and FMA, the only condition of the call.
        return unsafe { avx2::logistic(y, eta, value, curvature) };
    }
    kernels::logistic::<false>(y, eta, value, curvature);
}

/// [`kernels::poisson`] with the best instructions of this machine.
pub(crate) fn poisson_block(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the processor has just been found to support these parts of AVX-512 and FMA, the only condition of the call.
        return unsafe { avx512::poisson(y, eta, value, curvature) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2_and_fma() {
        // SAFETY: the processor has just been found to support AVX2 and FMA, the only condition of the call.
        return unsafe { avx2::poisson(y, eta, value, curvature) };
    }
    kernels::poisson::<false>(y, eta, value, curvature);
}

/// [`kernels::tanh`] with the best instructions of this machine.
pub(crate) fn tanh_block(values: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the processor has just been found to support these parts of AVX-512 and FMA, the only condition of the call.
        return unsafe { avx512::tanh(values) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2_and_fma() {
        // SAFETY: the processor has just been found to support AVX2 and FMA, the only condition of the call.
        return unsafe { avx2::tanh(values) };
    }
    kernels::tanh::<false>(values);
}

/// [`kernels::softmax`] with the best instructions of this machine.
pub(crate) fn softmax_block(labels: &[f64], eta: &mut [f64], value: &mut [f64], spare: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the processor has just been found to support these parts of AVX-512 and FMA, the only condition of the call.
        return unsafe { avx512::softmax(labels, eta, value, spare) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2_and_fma() {
        // SAFETY: the processor has just been found to support AVX2 and FMA, the only condition of the call.
        return unsafe { avx2::softmax(labels, eta, value, spare) };
    }
    kernels::softmax::<false>(labels, eta, value, spare);
}
