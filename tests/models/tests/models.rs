//! Runs the models: see `recal_models`.

use recal_models::models;

#[test]
fn a_handle_is_dead_for_all_once_it_is_removed() {
    models::a_handle_is_dead_for_all_once_it_is_removed();
}

#[test]
fn nothing_of_an_old_epoch_survives_a_shutdown() {
    models::nothing_of_an_old_epoch_survives_a_shutdown();
}

#[test]
fn who_polls_an_event_has_started_its_work() {
    models::who_polls_an_event_has_started_its_work();
}

#[test]
fn waits_end_and_failures_are_told_to_their_own_event() {
    models::waits_end_and_failures_are_told_to_their_own_event();
}
