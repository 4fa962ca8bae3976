"""Which elements of an array that grew or shrank are the same ones, changed or not.

Edits can change an element, remove it, or append at the end. An array told in those words keeps the text of
whatever was not touched; one that is set as a whole does not.
"""

# Pairs of elements that are compared at most: past it the array is set as a whole.
MAX_PAIRS = 4096

# How far an element is looked for from its old place in an array of the same length.
MAX_SHIFT = 4

REMOVED = 1.0
APPENDED = 1.0


def align(before, after, may_append, same):
    """For each element of `after` its index in `before`, None if it is appended; None if there is no such way."""
    rows, columns = len(before), len(after)
    if rows * columns > MAX_PAIRS:
        return None
    endless = float("inf")
    # cost[i][j]: the least cost of turning before[i:] into after[j:].
    last = [APPENDED * (columns - j) if may_append or j == columns else endless for j in range(columns + 1)]
    cost = [None] * rows + [last]
    for i in range(rows - 1, -1, -1):
        below = cost[i + 1]
        row = [0.0] * (columns + 1)
        row[columns] = REMOVED + below[columns]
        for j in range(columns - 1, -1, -1):
            row[j] = min(REMOVED + below[j], _change(before[i], after[j], same) + below[j + 1])
        cost[i] = row
    if cost[0][0] == endless:
        return None
    places, i, j = [], 0, 0
    while j < columns:
        if i == rows:
            places.append(None)
            j += 1
        elif cost[i][j] == REMOVED + cost[i + 1][j]:
            i += 1
        else:
            places.append(i)
            i, j = i + 1, j + 1
    return places


def shifted(before, after, same):
    """Whether elements of an array that kept its length moved forward, as when one was removed and one appended."""
    for index, new in enumerate(after):
        if before[index] is new or same(before[index], new):
            continue
        return any(same(old, new) for old in before[index + 1 : index + 1 + MAX_SHIFT])
    return False


def _change(old, new, same):
    """What it costs to call `new` a changed `old`: nothing if they are equal, less the more they share."""
    if same(old, new):
        return 0.0
    if isinstance(old, dict) and isinstance(new, dict):
        members = len(old.keys() | new.keys())
        shared = sum(1 for key in old.keys() & new.keys() if same(old[key], new[key]))
        return 1.5 - shared / members
    return 1.5 if type(old) is type(new) else 1.9
