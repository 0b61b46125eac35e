"""Files for tests."""


def put(folder, name, content):
    """Write a text, line ends as they are, or bytes."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path
