//! The tests of Brook+; see `suite/`.
