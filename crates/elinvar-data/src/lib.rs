//! Tables from files as design matrices.
