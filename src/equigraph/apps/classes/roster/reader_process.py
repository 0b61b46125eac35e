"""Read a workbook from standard input and write its cells to standard output, in a separate process.

The compiled reader may panic on a damaged file, or ask for more memory than there is, and end the process it runs in.
This file is run by path and imports nothing of equigraph, so that it starts fast.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any

_MEMORY = 2 << 30
_MOST_TEXT = 100_000_000  # letters in all cells: in memory, cells do not share repeated texts


def limit_memory(most_bytes: int) -> None:
    """Bound the memory of this process."""
    try:
        import resource
    except ImportError:  # not available on Windows
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = most_bytes if most == resource.RLIM_INFINITY else min(most_bytes, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _plain(value: Any) -> Any:
    """Return dates and times as their text."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _sheet(found: Any) -> dict[str, Any]:
    rows = found.to_python(skip_empty_area=False)
    if sum(len(value) for row in rows for value in row if isinstance(value, str)) > _MOST_TEXT:
        raise MemoryError
    for row in rows:
        while row and row[-1] in ("", None):
            row.pop()
    while rows and not rows[-1]:
        rows.pop()
    return {"rows": rows, "merged": found.merged_cell_ranges or []}


def read(raw: bytes, wanted: str | int | None) -> dict[str, Any]:
    """Return the names of all sheets, of the visible ones, and the cells of these and of the requested one."""
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
    hidden = {one.name for one in book.sheets_metadata if not str(one.visible).endswith(".Visible")}
    names = list(book.sheet_names)
    visible = [name for name in names if name not in hidden] or names
    numbers = range(1, len(names) + 1) if type(wanted) is int else names
    chosen = next((name for key, name in zip(numbers, names, strict=True) if key == wanted), None)
    sheets = {name: _sheet(book.get_sheet_by_name(name)) for name in names if name in (*visible, chosen)}
    return {"names": names, "visible": visible, "chosen": chosen, "sheets": sheets}


def main() -> None:
    """Write the cells, or the kind of the error."""
    limit_memory(_MEMORY)
    try:
        answer = read(sys.stdin.buffer.read(), json.loads(sys.argv[1]))
    except MemoryError:
        answer = {"error": "far_more_text"}
    except BaseException as error:  # a panic of the compiled reader is not an Exception
        answer = {"error": "password" if type(error).__name__ == "PasswordError" else "damaged"}
    json.dump(answer, sys.stdout, default=_plain)


if __name__ == "__main__":
    main()
