//! Chooses at run time between the code for every machine of the architecture, for AVX2 with FMA and for AVX-512.
//!
//! The choice depends on the machine only, so a program gives the same bits whenever it runs on the same machine;
//! machines with and without FMA differ in the last places.

/// Whether the processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2_and_fma() -> bool {
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
}

/// Whether the processor has the parts of AVX-512 that kernels are compiled for: vectors of eight numbers.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512f")
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
