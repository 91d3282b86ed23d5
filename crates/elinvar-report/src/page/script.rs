//! What a browser does with the page once it is there. Nothing on it needs this.

/// One function, so that no name of it is seen from outside.
pub(super) const TEXT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("script/number.js"),
    include_str!("script/trace.js"),
    include_str!("script/table.js"),
    include_str!("script/page.js"),
    "})();"
);
