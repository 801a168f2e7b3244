"""The panel's state machine: each row of its table, each "also", and any sequence of events."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tui.chat.panel_state import Panel, PanelState

HIDDEN, VISIBLE, PINNED = PanelState.HIDDEN, PanelState.VISIBLE, PanelState.PINNED


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def panel(clock: Clock) -> Panel:
    return Panel(clock=clock, delay=5.0)


def after(panel: Panel, clock: Clock, seconds: float) -> PanelState:
    """Let time pass as a timer would: it rings at the deadline, if there is one."""
    end = clock.now + seconds
    while (deadline := panel.next_deadline()) is not None and deadline <= end:
        clock.now = deadline
        panel.expire()
        assert panel.next_deadline() != deadline, "it rings again and again, and nothing comes of it"
    clock.now = end
    return panel.expire()


class TestTable:
    def test_hidden_and_the_user_sends_a_message_shows_it(self, panel: Panel) -> None:
        assert panel.user_sent() is VISIBLE

    def test_visible_and_the_stream_is_active_starts_the_time_again(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        assert after(panel, clock, 4) is VISIBLE
        assert panel.stream_active(10) is VISIBLE
        assert after(panel, clock, 4.9) is VISIBLE
        assert after(panel, clock, 0.1) is HIDDEN

    def test_visible_hides_after_five_seconds_without_anything(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        assert after(panel, clock, 4.99) is VISIBLE
        assert after(panel, clock, 0.01) is HIDDEN

    def test_visible_and_a_click_in_it_pins_it(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        assert panel.clicked_inside() is PINNED
        assert after(panel, clock, 1000) is PINNED

    def test_visible_and_the_pin_key_pins_it(self, panel: Panel) -> None:
        panel.user_sent()
        assert panel.show_output() is PINNED

    @pytest.mark.parametrize("dismissal", [Panel.clicked_away, Panel.dismiss, Panel.escape])
    def test_pinned_and_dismissed_hides_it(
        self, panel: Panel, dismissal: Callable[[Panel], PanelState]
    ) -> None:
        panel.show_output()
        assert dismissal(panel) is HIDDEN

    def test_escape_does_not_hide_while_a_run_is_to_be_stopped(self, panel: Panel) -> None:
        panel.show_output()
        panel.request_started()
        assert panel.escape() is PINNED

    def test_hidden_and_show_output_pins_it(self, panel: Panel) -> None:
        assert panel.show_output() is PINNED


class TestAlso:
    def test_visible_and_dismissed_hides(self, panel: Panel) -> None:
        panel.user_sent()
        assert panel.dismiss() is HIDDEN

    def test_pinned_stays_pinned_when_the_user_sends(self, panel: Panel) -> None:
        panel.show_output()
        assert panel.user_sent() is PINNED

    def test_a_click_on_the_chat_bar_is_not_away(self, panel: Panel) -> None:
        panel.show_output()
        assert panel.clicked_chat_bar() is PINNED

    def test_a_click_elsewhere_leaves_a_visible_panel(self, panel: Panel) -> None:
        panel.user_sent()
        assert panel.clicked_away() is VISIBLE

    @pytest.mark.parametrize("interaction", [Panel.interacted, Panel.hovered, Panel.clicked_chat_bar])
    def test_interaction_starts_the_time_again(
        self, panel: Panel, clock: Clock, interaction: Callable[[Panel], PanelState]
    ) -> None:
        panel.user_sent()
        after(panel, clock, 4)
        interaction(panel)
        assert after(panel, clock, 4.9) is VISIBLE

    def test_a_terminal_without_focus_stops_the_time(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        after(panel, clock, 3)
        panel.focus_lost()
        assert panel.next_deadline() is None
        assert after(panel, clock, 1000) is VISIBLE
        panel.focus_gained()
        assert after(panel, clock, 1.9) is VISIBLE
        assert after(panel, clock, 0.1) is HIDDEN

    def test_content_that_arrives_without_focus_has_its_whole_time_after_it(
        self, panel: Panel, clock: Clock
    ) -> None:
        panel.user_sent()
        panel.focus_lost()
        after(panel, clock, 60)
        panel.stream_active(5)
        after(panel, clock, 60)
        panel.focus_gained()
        assert after(panel, clock, 4.9) is VISIBLE
        assert after(panel, clock, 0.2) is HIDDEN

    def test_no_time_runs_while_one_reads_above_the_end(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        after(panel, clock, 4)
        panel.stands(at_end=False)
        panel.interacted()
        assert panel.next_deadline() is None
        assert after(panel, clock, 1000) is VISIBLE
        panel.stands(at_end=True)
        assert after(panel, clock, 4.9) is VISIBLE
        panel.stands(at_end=True)
        assert after(panel, clock, 0.1) is HIDDEN

    def test_no_time_runs_while_a_request_is_in_flight(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        panel.request_started()
        assert panel.next_deadline() is None
        assert after(panel, clock, 1000) is VISIBLE
        panel.request_ended()
        assert after(panel, clock, 4.9) is VISIBLE
        assert after(panel, clock, 0.2) is HIDDEN

    def test_a_running_answer_can_be_dismissed_and_stays_so(self, panel: Panel) -> None:
        panel.user_sent()
        panel.request_started()
        assert panel.dismiss() is HIDDEN
        assert panel.stream_active(100) is HIDDEN

    def test_two_requests_need_two_ends(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        panel.request_started()
        panel.request_started()
        panel.request_ended()
        assert after(panel, clock, 60) is VISIBLE

    @pytest.mark.parametrize("dismissal", [Panel.clicked_away, Panel.dismiss, Panel.escape])
    @pytest.mark.parametrize("shown", [Panel.reset, Panel.user_sent, Panel.show_output])
    def test_a_question_pins_the_panel_and_cannot_be_dismissed(
        self,
        panel: Panel,
        clock: Clock,
        shown: Callable[[Panel], PanelState],
        dismissal: Callable[[Panel], PanelState],
    ) -> None:
        shown(panel)
        assert panel.ask_opened("q") is PINNED
        assert dismissal(panel) is PINNED
        assert after(panel, clock, 1000) is PINNED
        panel.ask_closed("q")
        assert dismissal(panel) is HIDDEN

    def test_two_open_approvals_need_two_answers(self, panel: Panel) -> None:
        panel.ask_opened("first")
        panel.ask_opened("second")
        panel.ask_closed("first")
        assert panel.dismiss() is PINNED

    @pytest.mark.parametrize("shown", [Panel.reset, Panel.user_sent, Panel.show_output])
    def test_the_agent_can_keep_its_answer_on_the_screen(
        self, panel: Panel, clock: Clock, shown: Callable[[Panel], PanelState]
    ) -> None:
        shown(panel)
        assert panel.keep_visible() is PINNED
        assert after(panel, clock, 1000) is PINNED
        assert panel.dismiss() is HIDDEN

    def test_an_error_stays_until_the_next_key(self, panel: Panel, clock: Clock) -> None:
        assert panel.error_shown() is VISIBLE
        assert after(panel, clock, 1000) is VISIBLE
        panel.key_pressed()
        assert after(panel, clock, 4.9) is VISIBLE
        assert after(panel, clock, 0.2) is HIDDEN

    def test_an_error_stays_until_the_next_click(self, panel: Panel, clock: Clock) -> None:
        panel.error_shown()
        after(panel, clock, 1000)
        panel.clicked_away()
        assert after(panel, clock, 5.1) is HIDDEN

    def test_a_mouse_that_only_moves_has_not_seen_the_error(self, panel: Panel, clock: Clock) -> None:
        panel.error_shown()
        panel.hovered()
        assert after(panel, clock, 1000) is VISIBLE

    @pytest.mark.parametrize(
        "seen", [Panel.user_sent, Panel.interacted, Panel.clicked_chat_bar, Panel.escape]
    )
    def test_who_acts_in_any_way_has_seen_the_error(
        self, panel: Panel, clock: Clock, seen: Callable[[Panel], PanelState]
    ) -> None:
        panel.error_shown()
        panel.request_started()
        assert seen(panel) is VISIBLE
        panel.request_ended()
        assert after(panel, clock, 5.1) is HIDDEN

    def test_a_key_elsewhere_does_not_keep_the_panel(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        after(panel, clock, 4)
        panel.key_pressed()
        assert after(panel, clock, 1) is HIDDEN

    def test_an_error_leaves_a_pinned_panel_pinned(self, panel: Panel) -> None:
        panel.show_output()
        assert panel.error_shown() is PINNED

    def test_the_delay_is_a_setting(self, clock: Clock) -> None:
        panel = Panel(clock=clock, delay=1.5)
        panel.user_sent()
        assert after(panel, clock, 1.4) is VISIBLE
        assert after(panel, clock, 0.1) is HIDDEN

    def test_reading_time_is_added_only_when_wanted(self, panel: Panel, clock: Clock) -> None:
        slow = Panel(clock=clock, delay=5.0, reading_rate=20.0)
        for each in (slow, panel):
            each.user_sent()
            each.stream_active(400)
        assert panel.next_deadline() == clock.now + 5
        assert slow.next_deadline() == clock.now + 25
        slow.interacted()
        assert slow.next_deadline() == clock.now + 5

    def test_reading_time_counts_all_that_arrived(self, clock: Clock) -> None:
        panel = Panel(clock=clock, delay=5.0, reading_rate=20.0)
        panel.user_sent()
        panel.stream_active(100)
        panel.stream_active(300)
        assert panel.next_deadline() == clock.now + 25

    @pytest.mark.parametrize(
        "seen", [Panel.user_sent, Panel.interacted, Panel.hovered, Panel.dismiss, Panel.reset]
    )
    def test_what_was_read_or_put_away_needs_no_reading_time_later(
        self, clock: Clock, seen: Callable[[Panel], PanelState]
    ) -> None:
        panel = Panel(clock=clock, delay=5.0, reading_rate=20.0)
        panel.user_sent()
        panel.stream_active(400)
        seen(panel)
        panel.error_shown()
        panel.key_pressed()
        assert panel.next_deadline() == clock.now + 5

    def test_focus_that_is_lost_twice_was_lost_the_first_time(self, panel: Panel, clock: Clock) -> None:
        panel.user_sent()
        after(panel, clock, 3)
        panel.focus_lost()
        after(panel, clock, 60)
        panel.focus_lost()
        after(panel, clock, 60)
        panel.focus_gained()
        assert after(panel, clock, 1.9) is VISIBLE
        assert after(panel, clock, 0.1) is HIDDEN

    def test_an_end_without_a_start_is_none(self, panel: Panel) -> None:
        panel.request_ended()
        panel.request_started()
        assert panel.in_flight

    def test_another_persona_may_start_pinned(self, panel: Panel) -> None:
        assert panel.reset(pinned=True) is PINNED

    def test_another_persona_starts_hidden(self, panel: Panel) -> None:
        panel.user_sent()
        panel.request_started()
        panel.ask_opened("q")
        assert panel.reset() is HIDDEN
        assert not panel.asking
        assert not panel.in_flight

    def test_in_full_height_it_is_so_for_another_persona_too(self, panel: Panel) -> None:
        assert panel.enlarge() is PINNED
        panel.reset()
        panel.pane_has_keys()
        assert panel.enlarged
        panel.enlarge()
        assert panel.enlarged
        panel.enlarge()
        assert not panel.enlarged

    @pytest.mark.parametrize("asked", [False, True])
    def test_it_gives_way_to_the_pane_that_has_the_keys(self, panel: Panel, asked: bool) -> None:
        panel.enlarge()
        if asked:
            panel.ask_opened("q")
        assert panel.pane_has_keys() is PINNED
        assert not panel.enlarged
        assert panel.covers_keys() is (PINNED if asked else HIDDEN)


EVENTS: dict[str, Callable[[Panel], PanelState]] = {
    "user_sent": Panel.user_sent,
    "stream_active": Panel.stream_active,
    "clicked_inside": Panel.clicked_inside,
    "clicked_away": Panel.clicked_away,
    "clicked_chat_bar": Panel.clicked_chat_bar,
    "dismiss": Panel.dismiss,
    "escape": Panel.escape,
    "show_output": Panel.show_output,
    "enlarge": Panel.enlarge,
    "pane_has_keys": Panel.pane_has_keys,
    "covers_keys": Panel.covers_keys,
    "interacted": Panel.interacted,
    "hovered": Panel.hovered,
    "key_pressed": Panel.key_pressed,
    "reads_back": lambda panel: panel.stands(at_end=False),
    "reads_end": lambda panel: panel.stands(at_end=True),
    "request_started": Panel.request_started,
    "request_ended": Panel.request_ended,
    "ask_opened": Panel.ask_opened,
    "ask_closed": Panel.ask_closed,
    "keep_visible": Panel.keep_visible,
    "error_shown": Panel.error_shown,
    "focus_lost": Panel.focus_lost,
    "focus_gained": Panel.focus_gained,
    "expire": Panel.expire,
}

ALLOWED = {
    (HIDDEN, VISIBLE): {"user_sent", "error_shown"},
    (HIDDEN, PINNED): {"show_output", "enlarge", "ask_opened", "keep_visible"},
    (VISIBLE, PINNED): {"clicked_inside", "show_output", "enlarge", "ask_opened", "keep_visible"},
    (VISIBLE, HIDDEN): {"dismiss", "escape", "expire", "covers_keys"},
    (PINNED, HIDDEN): {"clicked_away", "dismiss", "escape", "covers_keys"},
    (PINNED, VISIBLE): set(),
}
"""Which events may lead from one state to another."""


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(EVENTS)), st.sampled_from([0.0, 0.5, 2.0, 5.0, 60.0])), max_size=40
    )
)
@settings(max_examples=examples(30))
def test_no_sequence_leaves_the_table_or_hides_a_question(steps: list[tuple[str, float]]) -> None:
    clock = Clock()
    panel = Panel(clock=clock)
    for name, wait in steps:
        clock.now += wait
        before, asking, deadline = panel.state, panel.asking, panel.next_deadline()
        enlarged = panel.enlarged
        state = EVENTS[name](panel)
        assert state is panel.state
        if state is not before:
            assert name in ALLOWED[before, state], (before, name, state)
        stays = enlarged and state is not HIDDEN and name != "pane_has_keys"
        if name == "pane_has_keys" and state is HIDDEN:
            stays = enlarged  # as one looks at other personas
        assert panel.enlarged is (not enlarged if name == "enlarge" else stays)
        if name == "expire" and state is not before:
            assert deadline is not None
            assert deadline <= clock.now
        if panel.asking or (asking and name != "ask_closed"):
            assert state is PINNED
        if panel.next_deadline() is not None:
            assert state is VISIBLE
            assert not panel.in_flight
