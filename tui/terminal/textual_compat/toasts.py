"""The widgets that show notifications, which Textual 8.2.8 keeps private.

Taking a notification back (`App._unnotify`) only empties it: its rows stay, and each later one stands lower. So its
holder is removed, and the rack is moved off the chat bar, which a style sheet alone cannot do: it depends on the rows.
"""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.notifications import Notification
from textual.widgets._toast import ToastHolder
from textual.widgets._toast import ToastRack as ToastRack


def notifications(app: App[Any]) -> list[Notification]:
    """Return those that are shown now, oldest first."""
    return list(app._notifications)


def dismiss(app: App[Any], notification: Notification) -> None:
    """Show a notification no longer, and remove its rows from all screens."""
    app._unnotify(notification, refresh=False)
    for screen in app.screen_stack:
        for holder in screen.query(ToastHolder):
            if holder.id == ToastRack._toast_id(notification):
                holder.remove()
