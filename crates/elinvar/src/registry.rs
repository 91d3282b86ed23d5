//! What users bring, known by its name for the rest of the program, so that files with that name can be read.

use std::sync::{Mutex, PoisonError};

use crate::Error;

/// Something with a name in files.
pub(crate) trait Named {
    /// The name.
    fn name(&self) -> &'static str;
}

/// All that has been brought of one kind.
pub(crate) struct Registry<T: 'static> {
    /// The word for the kind in sentences.
    kind: &'static str,
    brought: Mutex<Vec<&'static T>>,
}

impl<T: Named> Registry<T> {
    pub(crate) const fn new(kind: &'static str) -> Self {
        Self { kind, brought: Mutex::new(Vec::new()) }
    }

    /// Adds what `make` makes under this name, of which `is_taken` says whether elinvar has it itself.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a name that is taken or empty; those of `make`.
    pub(crate) fn add(
        &self,
        name: &str,
        is_taken: bool,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<&'static T, Error> {
        let kind = self.kind;
        let refused = |wanted: String, instead: String| Err(Error::Unsupported { wanted, instead });
        if name.is_empty() || name.trim() != name {
            return refused(format!("the name {name:?} of a {kind}"), "give it a word without blanks around it".into());
        }
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        if is_taken || brought.iter().any(|known| known.name() == name) {
            let instead = format!("give each {kind}, with its constants, a name of its own");
            return refused(format!("a second {kind} with the name {name:?}"), instead);
        }
        let entry: &'static T = Box::leak(Box::new(make()?));
        brought.push(entry);
        Ok(entry)
    }

    /// What was brought under this name.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if nothing was.
    pub(crate) fn named(&self, name: &str) -> Result<&'static T, Error> {
        let brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        brought.iter().find(|known| known.name() == name).copied().ok_or_else(|| Error::Unsupported {
            wanted: format!("the {} {name:?}", self.kind),
            instead: "it is nobody's here: register it with Own::register before it is asked for".into(),
        })
    }
}
