//! Chooses at run time between the code for every machine of the architecture, for AVX2 with FMA and for AVX-512.
//!
//! The choice depends on the machine only, so a kernel gives the same bits whenever it runs on the same machine. A
//! kernel has no sum whose order depends on the width of vectors, so AVX2 and AVX-512 give the same bits; machines with
//! and without FMA differ in the last places.

/// What kernels may use, if the processor has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// What every machine of the architecture has.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests alone ask for less than the machine has"))]
    Every,
    Avx2,
    Avx512,
}

#[cfg(all(target_arch = "x86_64", not(test)))]
fn allowed() -> Level {
    Level::Avx512
}

#[cfg(all(target_arch = "x86_64", test))]
thread_local! {
    static ALLOWED: std::cell::Cell<Level> = const { std::cell::Cell::new(Level::Avx512) };
}

#[cfg(all(target_arch = "x86_64", test))]
fn allowed() -> Level {
    ALLOWED.get()
}

/// What `compute` gives on each level that this machine has, from the lowest.
#[cfg(all(target_arch = "x86_64", test))]
pub(crate) fn on_each_level<T>(mut compute: impl FnMut() -> T) -> Vec<(Level, T)> {
    let has = [(Level::Every, true), (Level::Avx2, has_avx2_and_fma()), (Level::Avx512, has_avx512())];
    let levels = has.into_iter().filter(|(_, has)| *has).map(|(level, _)| level);
    let found = levels.map(|level| {
        ALLOWED.set(level);
        (level, compute())
    });
    let found = found.collect();
    ALLOWED.set(Level::Avx512);
    found
}

/// Whether the processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2_and_fma() -> bool {
    allowed() >= Level::Avx2 && std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
}

/// Whether the processor has the parts of AVX-512 that kernels are compiled for: vectors of eight numbers.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    allowed() >= Level::Avx512
        && std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
        && std::is_x86_feature_detected!("fma")
}

/// A function that calls `$kernel::<FUSED>` compiled for the best instructions of this machine; the kernel must be
/// inlined.
macro_rules! best_instructions {
    ($(#[$doc:meta])* $name:ident = $kernel:ident($($arg:ident: $type:ty),*)) => {
        $(#[$doc])*
        #[allow(
            unsafe_code,
            reason = "a function compiled for more instructions may only be called after asking the processor"
        )]
        pub(crate) fn $name($($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
                fn avx512($($arg: $type),*) {
                    $kernel::<true>($($arg),*);
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $type),*) {
                    $kernel::<true>($($arg),*);
                }
                if $crate::special::simd::has_avx512() {
                    // SAFETY: the processor has just been found to support these parts of AVX-512 and FMA, the only
                    // condition.
                    return unsafe { avx512($($arg),*) };
                }
                if $crate::special::simd::has_avx2_and_fma() {
                    // SAFETY: the processor has just been found to support AVX2 and FMA, the only condition of the
                    // call.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $kernel::<false>($($arg),*);
        }
    };
}
pub(crate) use best_instructions;

#[cfg(all(target_arch = "x86_64", test))]
mod tests {
    use super::*;

    /// Which code was called, in the first number, and a polynomial of the others.
    #[inline(always)]
    fn polynomial<const FUSED: bool>(values: &mut [f64]) {
        let times_plus = |a: f64, b: f64, c: f64| if FUSED { a.mul_add(b, c) } else { a * b + c };
        for x in &mut *values {
            *x = times_plus(times_plus(times_plus(*x, 0.1, -0.7), *x, 1.3), *x, 0.9);
        }
        values[0] = f64::from(u8::from(FUSED));
    }

    best_instructions! { polynomial_block = polynomial(values: &mut [f64]) }

    fn compute() -> Vec<f64> {
        let mut values: Vec<f64> = (0..1003).map(|i| (f64::from(i) * 0.37).sin()).collect();
        polynomial_block(&mut values);
        values
    }

    #[test]
    fn fused_code_is_called_where_the_processor_has_it() {
        for (level, values) in on_each_level(compute) {
            assert_eq!(values[0], f64::from(u8::from(level > Level::Every)), "{level:?}");
        }
        let best = if has_avx2_and_fma() { 1.0 } else { 0.0 };
        assert_eq!(compute()[0], best);
    }

    #[test]
    fn bits_depend_on_fma_alone_and_by_little() {
        let found = on_each_level(compute);
        assert_eq!(compute(), found[found.len() - 1].1, "the same machine, the same bits");
        for (level, values) in &found[1..] {
            assert_eq!(values, &found[1].1, "{level:?} has the bits of AVX2");
            assert_ne!(values[1..], found[0].1[1..], "rounding once or twice is seen");
            let far = values[1..].iter().zip(&found[0].1[1..]).find(|(a, b)| (*a - *b).abs() > 4.0 * f64::EPSILON);
            assert_eq!(far, None);
        }
    }
}
