//! cal-api
