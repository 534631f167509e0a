"""Stand-in of markupsafe, and the text that a reader of a message sees."""

import html
import re


class Markup(str):
    """Text that is HTML already; what is formatted into it is escaped."""

    def __mod__(self, values):
        values = values if isinstance(values, tuple) else (values,)
        return Markup(str.__mod__(self, tuple(escape(value) for value in values)))

    def join(self, parts):
        return Markup(str.join(self, [escape(part) for part in parts]))

    def __add__(self, other):
        return Markup(str.__add__(self, escape(other)))


def escape(value):
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def visible_text(body):
    """Text that a reader sees: an unknown tag vanishes."""
    paragraphs = re.sub(r"</p>|<br ?/?>", "\n", body)
    return html.unescape(re.sub(r"<[^>]*>", "", paragraphs)).strip()
