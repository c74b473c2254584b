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

#[test]
fn who_sleeps_is_woken_for_its_ticket_alone() {
    models::who_sleeps_is_woken_for_its_ticket_alone();
}

#[test]
fn who_waits_for_less_is_woken_before_who_waits_for_more() {
    models::who_waits_for_less_is_woken_before_who_waits_for_more();
}

#[test]
fn who_sleeps_is_woken_when_nobody_runs_commands() {
    models::who_sleeps_is_woken_when_nobody_runs_commands();
}

#[test]
fn each_part_is_done_once_and_seen_at_the_end() {
    models::each_part_is_done_once_and_seen_at_the_end();
}

#[test]
fn nothing_is_done_once_a_launch_has_ended() {
    models::nothing_is_done_once_a_launch_has_ended();
}
