"""Domains of the fake ORM: conditions on the fields of records."""

from datetime import date


def to_day(value):
    return date.fromisoformat(value) if isinstance(value, str) else value


def follow(record, path):
    for name in path.split("."):
        record = getattr(record, name)
    return record


def sortable(value):
    return (value is not False and value is not None, value)


def matches(record, domain):
    """Evaluates a domain in Polish notation; terms without an operator are joined by `&`."""
    terms = list(domain)

    def take():
        term = terms.pop(0)
        if term == "|":
            left, right = take(), take()
            return left or right
        if term == "&":
            left, right = take(), take()
            return left and right
        return compare(record, *term)

    results = []
    while terms:
        results.append(take())
    return all(results)


def compare(record, path, operator, other):
    value = follow(record, path)
    if hasattr(value, "_ids"):
        numbers = set(value._ids) or {False}
        if operator == "child_of":
            return any(other in ancestors(one) for one in value)
        others = other if operator in ("in", "not in") else [other]
        others = {getattr(one, "id", one) for one in (others._ids if hasattr(others, "_ids") else others)}
        return bool(numbers & others) == (operator in ("=", "in"))
    if operator in ("in", "not in"):
        return (value in other) == (operator == "in")
    if operator in ("=", "!="):
        other = to_day(other) if isinstance(value, date) and other else other
        return (value == other) == (operator == "=")
    if value is False or value is None:
        return False  # NULL is compared with nothing
    other = to_day(other) if isinstance(value, date) else other
    return {"<": value < other, "<=": value <= other, ">": value > other, ">=": value >= other}[operator]


def ancestors(record):
    while record:
        yield record.id
        record = record.parent_id
