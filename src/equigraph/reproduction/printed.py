"""What the paper prints in its table of results (k = 5), as (B, Q); on block models (B, accuracy)."""

from __future__ import annotations

# One row per network: FairSC, sFairSC, iFairSC, DMoN, iFairNMTF; None where the paper prints a dash.
_COLUMNS = ("fair-sc", "scalable-fair-sc", "individual-fair-sc", "dmon", "ifair-nmtf")
_ROWS: dict[str, tuple[tuple[float, float] | None, ...]] = {
    "diaries": ((0.708, 0.612), (0.809, 0.684), (0.699, 0.647), (0.263, 0.145), (0.648, 0.640)),
    "facebook": ((0.327, 0.449), (0.602, 0.500), (0.330, 0.448), (0.268, 0.048), (0.514, 0.509)),
    "friendship": ((0.391, 0.483), (0.485, 0.627), (0.374, 0.392), (0.183, 0.140), (0.631, 0.669)),
    "drugnet": ((0.052, 0.263), (0.052, 0.270), (0.061, 0.263), (0.000, 0.326), (0.124, 0.588)),
    "nba": ((0.083, 0.000), (0.323, 0.113), (0.072, 0.000), (0.036, 0.057), (0.286, 0.150)),
    "lastfm": ((0.065, 0.003), (0.056, 0.035), (0.066, 0.002), (0.000, 0.526), (0.069, 0.600)),
    "sbm-2k": ((0.575, 0.588), None, (0.0, 0.799), None, (0.953, 0.958)),
    "sbm-5k": ((0.995, 0.998), None, (0.0, 0.799), None, (0.941, 0.962)),
    "sbm-10k": ((0.999, 0.999), None, (0.0, 0.600), None, (1.0, 1.0)),
}


def printed(network: str, method: str) -> dict[str, float]:
    """Return the printed values by measure; empty where the paper has none.

    >>> printed("drugnet", "ifair-nmtf"), printed("sbm-2k", "dmon"), printed("nba", "fair-partition")
    ({'B': 0.124, 'Q': 0.588}, {}, {})
    """
    if method not in _COLUMNS:
        return {}
    pair = _ROWS[network][_COLUMNS.index(method)]
    if pair is None:
        return {}
    return {"B": pair[0], "accuracy" if network.startswith("sbm") else "Q": pair[1]}
