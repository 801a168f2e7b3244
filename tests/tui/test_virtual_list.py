"""The list of rows: ten thousand are no more work than ten."""

from __future__ import annotations

import time

from textual.app import App, ComposeResult

from tui.widgets.virtual_list import Row, VirtualList


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield VirtualList(empty="nothing [/]")

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        self.chosen.append(event.key)


def rows(count: int) -> list[Row]:
    return [Row(str(number), f"row {number} [/]") for number in range(count)]


async def test_keys_move_and_choose_and_the_cursor_stays_on_its_row() -> None:
    app = Host()
    async with app.run_test(size=(30, 8)) as pilot:
        table = app.query_one(VirtualList)
        table.focus()
        table.set_rows(rows(50))
        await pilot.press("j", "down", "k", "enter", "end", "enter", "pageup", "g")
        assert app.chosen == ["1", "49"]
        assert table.key == "0"
        table.select("30")
        await pilot.pause()
        assert table.scroll_offset.y <= 30 < table.scroll_offset.y + 8
        table.set_rows([Row("x", "new"), *rows(50)])
        assert table.key == "30"
        table.set_rows([])
        assert table.key is None
        await pilot.press("j", "enter", "end")
        assert app.chosen == ["1", "49"]


async def test_a_click_opens_a_row_and_one_below_the_last_does_nothing() -> None:
    app = Host()
    async with app.run_test(size=(30, 8)) as pilot:
        app.query_one(VirtualList).set_rows(rows(3))
        await pilot.click(VirtualList, offset=(2, 1))
        await pilot.click(VirtualList, offset=(2, 6))
        assert app.chosen == ["1"]


async def test_ten_thousand_rows_draw_as_fast_as_ten() -> None:
    app = Host()
    async with app.run_test(size=(30, 8)):
        table = app.query_one(VirtualList)

        def frame(count: int) -> float:
            table.set_rows(rows(count))
            best = float("inf")
            for _ in range(5):
                begun = time.thread_time()
                for _ in range(10):
                    table.cursor = (table.cursor + 1) % count
                    [table.render_line(y) for y in range(8)]
                best = min(best, time.thread_time() - begun)
            return best

        assert frame(10_000) < 20 * frame(10)
