"""Keys take effect in the order in which they were pressed, however close together they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

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
        for namespace, bindings in self.screen._modal_binding_chain:
            if namespace is not self:
                return  # the parents hear the key first
            for binding in bindings.key_to_bindings.get(event.key, ()):
                if not binding.priority and await self.app.run_action(binding.action, self):
                    event.stop()
                    event.prevent_default()
                    return
