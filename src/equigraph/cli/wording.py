"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re

# Options of read_graph that the commands have too.
_READING = (
    "groups", "attribute", "intersect", "bins", "node_column", "weight", "format", "header", "delimiter", "symmetrize",
    "missing", "duplicates", "unknown",
)  # fmt: skip
_OTHERS = {
    "n_clusters": "-k",
    "sensitive_features": "--groups",
    "force": "--force",
    "accept_near": "--accept-near",
}
_PHRASES = {
    "pass sensitive_features= to fit, or read the graph with groups": "give --groups FILE and --attribute NAME",
    "pass sensitive_features= to fit": "give --groups FILE and --attribute NAME",
    "no sensitive_features were given": "no --groups were given",
}
_BOUNDS = re.compile(r"size_bounds=\((\w+), (\w+)\)")
_CALL = re.compile(r"read_graph\(\.\.\., ([^()]*)\)")
_VALUE = r"(?:'[^']*'|\"[^\"]*\"|-?[0-9.]+|True|False|None)"
_KEYWORD = re.compile(
    rf"(?<![\w.])(?<!\w\()({'|'.join((*_READING, *_OTHERS))})=({_VALUE}(?:, '[^']*')*(?:,? or '[^']*')?)?(?!\w)"
)


def as_flags(message: str) -> str:
    """Return a message with keywords of Python as options of the command.

    Examples
    --------
    >>> as_flags("Say missing='drop', weight=False or header=False.")
    'Say --missing drop, --weight none or --no-header.'
    """
    for words, others in _PHRASES.items():
        message = message.replace(words, others)
    message = _BOUNDS.sub(lambda match: f"--size-bounds {match[1]},{match[2]}".lower(), message)
    return _KEYWORD.sub(_flag, _CALL.sub(r"\1", message))


def _flag(match: re.Match[str]) -> str:
    name, value = match[1], match[2] or ""
    if name == "header":
        return "--no-header" if value == "False" else "--header"
    flag = _OTHERS.get(name, "--" + name.replace("_", "-"))
    if not value or value == "True":
        return flag
    if value in ("False", "None"):
        return f"{flag} none"
    # A single value with blanks keeps its quotes, as it would be typed.
    single = value.count("'") == 2 and " " in value
    return f"{flag} {value if single else value.replace(chr(39), '')}"
