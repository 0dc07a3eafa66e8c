"""The cases from the field that are about money and terminals, and the tests that prove each.

A name here is a promise: `test_cases` fails when such a test is not there any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_S, _U = "tests/server/", "tests/unit/"

PROOFS: Final[Mapping[str, tuple[str, ...]]] = {
    "P1": (
        f"{_U}test_sell_card.py::test_second_tap_of_pay_is_dropped",
        f"{_U}payments/test_sandbox.py::test_p1_p6_ten_parallel_calls_of_one_operation_are_one_charge",
    ),
    "P3": (
        f"{_U}payments/test_sandbox.py::test_p3_every_fault_is_unknown_and_asking_again_converges_on_one_charge",
        "tests/matrix/test_providers.py::test_cell",
    ),
    "P8": (f"{_S}test_webhooks.py::test_p8_an_event_for_what_is_not_here_yet_is_parked_and_applied_when_it_appears",),
    "P10": (f"{_S}test_webhooks.py::test_p10_a_refused_and_an_accepted_attempt_in_any_order_and_twice",),
    "P11": (f"{_S}test_webhooks.py::test_p11_one_event_five_times_two_in_parallel_is_one_row",),
    "P12": (
        f"{_S}test_provider_events_over_http.py::test_p12_the_database_is_away_the_provider_sends_again_and_it_is_applied_once",
        f"{_S}test_webhooks.py::test_p12_raw_bytes_are_verified_and_each_refusal_is_counted",
        f"{_S}test_webhooks.py::test_p12_with_the_database_away_the_provider_is_told_to_come_again",
    ),
    "P14": (
        f"{_S}test_webhooks.py::test_p14_every_order_of_a_charges_events_ends_the_same",
        f"{_S}test_provider_machine_back.py::test_p14_p15_p17_money_that_goes_back_ends_the_same_on_both_sides",
    ),
    "P15": (
        f"{_S}test_webhooks.py::test_p15_completed_again_after_everything_changes_nothing",
        f"{_S}test_refund_tickets.py::test_p15_p17_one_of_four_tickets_on_one_payment",
    ),
    "P17": (
        f"{_S}test_refund_tickets.py::test_p15_p17_one_of_four_tickets_on_one_payment",
        f"{_S}test_refund_tickets.py::test_p17_a_refund_without_a_ticket_changes_none_and_asks_a_person",
    ),
    "P18": (f"{_S}test_refund_races.py::test_p18_captured_100_and_two_refunds_of_60_one_is_refused_naming_40",),
    "P19": (
        f"{_S}test_refund_tickets.py::test_p19_cancel_on_authorized_is_a_void",
        f"{_S}test_refund_tickets.py::test_p19_a_void_that_is_refused_leaves_all_as_it_was_and_the_capture_goes_on",
        f"{_S}test_refund_races.py::test_p19_a_void_before_the_capture_and_a_refund_after_it_at_the_provider",
    ),
    "P20": (
        f"{_U}payments/test_sandbox.py::test_p20_the_provider_receives_80_for_80_yen",
        f"{_U}payments/test_exponents.py::test_p20_p21_the_provider_receives_minor_units_of_its_own",
        f"{_U}payments/test_exponents.py::test_p20_p21_p22_stripe_counts_as_its_documentation_says",
        "tests/matrix/test_cases.py::test_p20_the_provider_itself_has_the_amount_in_its_books",
    ),
    "P21": (
        f"{_U}test_currencies.py::test_p21_a_kuwaiti_price_that_no_card_can_be_charged_is_refused_at_entry",
        f"{_U}payments/test_exponents.py::test_p21_stripe_takes_three_decimals_in_tens_only",
        f"{_S}test_refund_expiry.py::test_p21_the_database_refuses_what_does_not_fit_the_step",
    ),
    "P22": (
        f"{_U}payments/test_exponents.py::test_p22_an_unknown_pair_is_refused",
        f"{_U}payments/test_exponents.py::test_p22_a_provider_may_count_a_currency_in_its_own_steps",
    ),
    "P23": (
        f"{_U}test_money.py::test_p23_every_price_up_to_a_hundred_is_exact",
        f"{_U}test_money.py::test_p23_what_is_no_int_is_a_type_error",
    ),
    "P24": (
        f"{_U}test_money.py::test_p24_a_thousand_baskets_sum_to_what_was_shown",
        f"{_S}test_provider_events_over_http.py::test_p24_shown_authorized_and_the_sum_of_the_lines_are_one",
    ),
    "P25": (f"{_U}test_money.py::test_p25_7007_at_seven_per_cent",),
    "P26": (f"{_S}test_refund_expiry.py::test_p26_a_capture_on_day_eight_of_a_seven_day_authorization",),
    "P30": (
        f"{_U}payments/test_sandbox.py::test_p30_an_enquiry_that_fails_leaves_the_operation_unknown",
        f"{_S}test_webhooks.py::test_p30_a_hint_has_the_provider_asked_and_says_nothing_itself",
        "tests/matrix/test_providers.py::test_cell",
    ),
    "P31": (
        f"{_S}test_webhooks.py::test_p31_an_event_that_was_signed_too_long_ago_is_refused_and_not_stored",
        f"{_S}test_webhooks.py::test_p31_it_is_checked_at_receipt_not_at_processing",
    ),
    "P32": (
        f"{_S}test_reconciliation_worker.py::test_p32_a_part_that_fails_never_stops_the_others",
        f"{_S}test_reconciliation_worker.py::test_p32_one_bad_row_never_stops_the_payment_worker_and_becomes_an_item",
    ),
    "T1": (
        f"{_U}devices/test_zvt_driver.py::test_t1_a_line_lost_at_any_point_is_unknown_and_the_truth_is_asked",
        "tests/matrix/test_tills.py::test_cell",
    ),
    "T3": (
        f"{_U}devices/test_zvt_driver.py::test_t3_a_terminal_that_falls_silent_is_unknown_after_the_deadline",
        f"{_U}test_sell_unknown.py::test_lost_line_is_unknown_and_resolved_by_asking",
    ),
    "T4": (
        f"{_U}devices/test_recovery.py::test_t4_amount_time_and_a_newer_trace_together_are_a_match",
        f"{_U}test_resume_sales.py::test_unknown_card_is_asked_about_at_start",
        "tests/matrix/test_tills.py::test_cell",
    ),
    "T6": (
        f"{_U}devices/test_zvt_driver.py::test_t6_a_reversal_names_its_receipt",
        f"{_U}devices/test_zvt_driver.py::test_t6_a_terminal_that_reverses_its_last_booking_instead_is_found_out",
    ),
    "T7": (
        f"{_U}devices/test_zvt_driver.py::test_t7_each_frame_moves_the_deadline",
        f"{_U}devices/test_zvt_driver.py::test_t7_but_not_for_ever",
    ),
    "T9": (
        f"{_U}devices/test_zvt_driver.py::test_t9_an_approval_that_crosses_the_abort_wins",
        f"{_U}test_sell_card.py::test_approval_that_crosses_an_abort_wins",
    ),
    "T10": (f"{_U}devices/test_zvt_driver.py::test_an_approval_is_booked_once_and_told_whole",),
    "B5": (f"{_S}test_refund_tickets.py::test_b5_two_of_five_tickets_come_back_and_are_sold_again",),
    "B14": (
        "tests/matrix/test_cases.py::test_b14_an_api_that_dies_after_the_capture_leaves_tickets_or_a_refund",
        f"{_S}test_web_workers.py::test_b14_an_issuer_that_dies_before_it_moves_its_cursor_issues_nothing_twice",
    ),
    "B15": ("tests/matrix/test_cases.py::test_b15_a_printer_that_fails_costs_no_sale_and_is_seen_and_tried_again",),
    "I5": (
        f"{_S}test_reconciliation_api.py::test_i5_a_spreadsheet_reads_the_file_and_runs_nothing_of_it",
        f"{_U}test_inbox.py::test_the_file_has_harmless_texts_and_amounts_that_are_numbers_i5",
    ),
}  # fmt: skip
"""Case → tests, `file::name`."""
