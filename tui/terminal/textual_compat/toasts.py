"""The widgets that show notifications, which Textual 8.2.8 keeps private.

Taking a notification back (`App._unnotify`) only empties it: its rows stay, and each later one stands lower. So its
holder is removed, and the rack is moved off the chat bar, which a style sheet alone cannot do: it depends on the rows.
"""

from __future__ import annotations

from textual.notifications import Notification
from textual.screen import Screen
from textual.widgets._toast import ToastHolder
from textual.widgets._toast import ToastRack as ToastRack


def remove_toast(screen: Screen[object], notification: Notification) -> None:
    """Remove the toast of a notification from a screen, with its rows."""
    for holder in screen.query(ToastHolder):
        if holder.id == ToastRack._toast_id(notification):
            holder.remove()
