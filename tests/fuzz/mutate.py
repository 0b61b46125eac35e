"""Damage to files: at single bytes, at numbers, at lines, and inside what is packed or signed."""

import gzip
import hashlib
import io
import json
import struct
import zipfile
import zlib

from equigraph.results.persistence import checksum_of

NUMBERS = [0, 1, 2, 3, 5, 6, 7, 127, 128, 255, 256, 2**15, 2**16, 10**8]
NUMBERS += [2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1]
BYTES = (0, 1, 2, 9, 10, 13, 32, 34, 35, 44, 48, 57, 127, 128, 255)
# What is put in place of a word, or between two bytes.
TOKENS = (
    "-1", "0", "1e308", "1.5e308", "1e-300", "5e-324", "1e400", "nan", "inf", "-inf", "NaN", "NA", "3",
    "999999999", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1_000", "0x10",
    "1,5", "007", "+1", "1.0", '"', '""', "'", "#", "%", ",", ";", "i", "j", "i,j", "sep=;", "source",
    "target", "weight", "true", "label", "]", "[", "&amp;", "&#0;", "]]>", "<graph/>",
    "<default>3</default>", "é", "general", "symmetric", "array", "coordinate", "complex", "pattern",
    "integer", "", " ", "\n", "\r", "\r\n", "\r\r\n", "\n\n", "\t", "\x00", "\ufeff", "\u2028",
    "\x1b[31m", "\x1c", "\x85", "e\u0301",
    "9" * 400, "x" * 200, "x" * 140_000,
)  # fmt: skip


def _flip(data, rng):
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _byte(data, rng):
    if data:
        data[rng.randrange(len(data))] = rng.choice(BYTES)


def _number(data, rng):
    size = rng.choice((2, 4, 4, 8))
    if len(data) < size:
        return
    at = rng.randrange(len(data) - size + 1)
    at -= at % size if rng.random() < 0.5 else 0
    value = rng.choice(NUMBERS) % 2 ** (8 * size)
    data[at : at + size] = value.to_bytes(size, rng.choice(("little", "little", "big")))


def _double(data, rng):
    if len(data) >= 8:
        at = rng.randrange(len(data) - 7)
        value = rng.choice((0.0, -1.0, 1e308, 5e-324, float("nan"), float("inf"), 1e-300))
        data[at : at + 8] = struct.pack("<d", value)


def _span(data, rng):
    start = rng.randrange(len(data) + 1)
    return slice(start, min(start + int(rng.expovariate(0.1)) + 1, len(data)))


def _cut(data, rng):
    del data[_span(data, rng)]


def _truncate(data, rng):
    del data[rng.randrange(len(data) + 1) :]


def _repeat(data, rng):
    part = _span(data, rng)
    data[part.start : part.start] = bytes(data[part]) * rng.choice((1, 1, 2, 50))


def _token(data, rng):
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(TOKENS).encode()


def _field(data, rng):
    """Put something else where a word stands."""
    starts = [
        k for k in range(len(data)) if chr(data[k]).isalnum() and (k == 0 or not chr(data[k - 1]).isalnum())
    ]
    if not starts:
        return
    start = rng.choice(starts)
    stop = start
    while stop < len(data) and (chr(data[stop]).isalnum() or data[stop] in b".-"):
        stop += 1
    data[start:stop] = rng.choice(TOKENS).encode()


def _lines(data, rng):
    lines = bytes(data).splitlines(keepends=True)
    if not lines:
        return
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif what == 1:
        del lines[i]
    elif what == 2:
        lines.insert(i, lines[j])
    else:
        lines[i] = lines[i].rstrip(b"\r\n") + rng.choice((b"", b" ", b",", b"\r", b" \n", b",x\n", b"\n\n"))
    data[:] = b"".join(lines)


STEPS = [
    _flip, _flip, _byte, _number, _number, _double, _cut, _truncate, _repeat, _token, _field, _field, _lines, _lines,
]  # fmt: skip


def damaged(data, rng):
    """Return bytes with one to four kinds of damage."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        rng.choice(STEPS)(result, rng)
    return bytes(result)


def mutated(files, rng):
    """Return the files with one of them damaged."""
    # The graph beside groups stays as it is, so that the groups are reached.
    names = [name for name in files if name.startswith("groups.")] or list(files)
    chosen = rng.choice(names)
    data = files[chosen]
    if chosen.endswith(".gz") and rng.random() < 0.7:
        result = gzip.compress(damaged(gzip.decompress(data), rng), mtime=0)
    elif chosen.endswith((".npz", ".xlsx", ".ods")) and rng.random() < 0.8:
        result = _in_archive(data, rng)
    elif chosen.endswith(".mat") and rng.random() < 0.5:
        result = _in_mat(data, rng)
    else:
        result = damaged(data, rng)
    changed = {**files, chosen: result}
    return changed if rng.random() < 0.3 else _signed(changed)


def _in_archive(data, rng):
    """Damage one part of an npz file or a workbook; the checksums of the archive would hide it from the reader."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = rng.choice(list(members))
    head = members[chosen].find(b"\n") + 1
    if rng.random() < 0.6:
        members[chosen] = members[chosen][:head] + damaged(members[chosen][head:], rng)
    else:
        members[chosen] = damaged(members[chosen], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def _in_mat(data, rng):
    """Damage a mat file behind its text, or inside its packed variables."""
    if len(data) > 136 and data[128:132] == b"\x0f\0\0\0":
        size = struct.unpack("<I", data[132:136])[0]
        inner = zlib.compress(damaged(zlib.decompress(data[136 : 136 + size]), rng))
        return data[:132] + struct.pack("<I", len(inner)) + inner + data[136 + size :]
    return data[:128] + damaged(data[128:], rng)


def _signed(files):
    """Return a result or blocks with the checksums of what is in them now: only a look at the numbers finds damage."""
    name = "blocks.json" if "blocks.json" in files else "manifest.json"
    try:
        meta = json.loads(files[name])
        meta.pop("checksum")
        for one in meta["files"]:
            data = files[one]
            blocks = name == "blocks.json"
            sums = {"crc32": zlib.crc32(data)} if blocks else {"sha256": hashlib.sha256(data).hexdigest()}
            meta["files"][one] = {"bytes": len(data), **sums}
        checksum = checksum_of(meta)
    except (ValueError, KeyError, TypeError, AttributeError):
        return files
    return {**files, name: json.dumps({**meta, "checksum": checksum}).encode()}
