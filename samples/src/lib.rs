//! recal-samples
