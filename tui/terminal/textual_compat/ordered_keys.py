"""OrderedKeys: a widget that types does its own key bindings at once, so that letters never overtake them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.binding import BindingsMap

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object


class OrderedKeys(_Base):
    """For a widget that types: what its own bindings do to a key is done at once.

    Textual types a letter when the widget hears it, but lets a key with a binding (backspace, an arrow) first rise
    through all parents up to the app. Over SSH the keys of one round trip come together, and letters overtook them.
    """

    async def _on_key(self, event: events.Key) -> None:
        if event.is_printable:
            return
        chain = self.screen._modal_binding_chain
        has_keys = bool(chain) and chain[0][0] is self
        bindings = chain[0][1] if has_keys else self._own_bindings()
        for binding in bindings.key_to_bindings.get(event.key, ()):
            if not binding.priority and await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
        if not has_keys:
            event.stop()  # a key of the app, pressed after it, was quicker: it is nothing to what has the keys now

    def _own_bindings(self) -> BindingsMap:
        """The widget's keys, those of the person's keymap among them."""
        bindings = self._bindings.copy()
        if keymap := self.app._keymap:
            bindings.apply_keymap(keymap)
        return bindings
