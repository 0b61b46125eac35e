"""Store results on disk: arrays as npz, tables as csv, everything else as json, with a manifest of checksums.

A folder has a ``manifest.json`` with the length and the SHA-256 of each of its files. New contents are completed in a
folder inside it, and one rename (to `_NEW`) makes them current; the files are then moved to their places, which the
next writer completes if it was interrupted. Readers look into `_NEW` first, so at every moment there is the old result
or the new one, whole. A single file of JSON is a record: like the manifest it has its own checksum.

Each type defines its files, as a dict of file names and contents, and describes its JSON by a ``TypedDict`` or
a dataclass, from which `decode` checks what is read. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NotRequired, Self, TypedDict

from equigraph._utils.files import (
    can_lock,
    is_at,
    is_locked,
    naming_the_path,
    open_for_lock,
    private_folder,
    sweep,
    try_lock,
    umask,
)
from equigraph._utils.records import write_json
from equigraph.exceptions import EquigraphError, InputError, ParameterError, reason
from equigraph.results.formats import ColumnEntry, Stored, decode, parse_json, write_content

MANIFEST = "manifest.json"
FORMAT, VERSION = "equigraph", 2
_NEW, _LOCK = ".equigraph-new", ".equigraph-lock"
_PATIENCE = 5.0  # seconds to wait for another writer, which takes milliseconds
_EXPECTED = "expected a folder that `save` or a command such as `equigraph cluster` wrote"
# Errors of building an object from unsound entries.
_DAMAGE = (EquigraphError, LookupError, TypeError, ValueError, AttributeError, OverflowError)
# By the name of the file: an object of JSON, the columns of a table, a matrix, or arrays by name.
Contents = Mapping[str, Any]


class FileEntry(TypedDict):
    """Entry of the manifest for a file."""

    bytes: int
    sha256: str


class Manifest(TypedDict):
    """Entries of a manifest; the types add others."""

    kind: str
    files: dict[str, FileEntry]
    columns: dict[str, dict[str, ColumnEntry]]
    raw: bool
    run: NotRequired[dict[str, str]]


class OutputFolder:
    """Output directory locked for exclusive writing while it is entered.

    Entering creates and locks the folder, so that an invalid one is refused before anything is computed, and completes
    or removes the output of killed runs. A new folder that stays empty is removed at the end. It waits up to `patience`
    seconds for the lock of another writer.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with OutputFolder(Path(place) / "out") as out:
    ...         names = out.write("notes", {"notes.json": {"text": "whole"}})
    ...     names, read_stored(Path(place) / "out").json("notes.json", dict[str, str])
    (['notes.json'], {'text': 'whole'})
    """

    def __init__(self, folder: str | os.PathLike[str], *, patience: float = _PATIENCE):
        self.path = Path(folder)
        self._patience = patience

    def __enter__(self) -> Self:
        if os.path.lexists(self.path) and not self.path.is_dir():
            raise ParameterError(f"The output {self.path} is a file: expected a folder, which may be new.")
        self._made = [place for place in (self.path, *self.path.parents) if not os.path.lexists(place)]
        try:
            self._handle = self._lock()
            _tidy(self.path)
            sweep(self.path)
        except (OSError, ValueError) as error:
            self._remove_made()
            if isinstance(error, InputError):
                raise
            cause = getattr(error, "strerror", None) or str(error)
            raise ParameterError(
                f"The output {self.path} cannot be written ({cause}): expected a folder that you may write to, "
                "or a new one."
            ) from error
        return self

    def __exit__(self, *exc: object) -> None:
        with suppress(OSError):
            (self.path / _LOCK).unlink()
        os.close(self._handle)
        self._remove_made()

    def refuse_others(
        self, names: Iterable[str], *, run: Mapping[str, str] | None = None, force: bool = False
    ) -> None:
        """Raise ParameterError if writing these files would replace files of others, unless forced.

        A file that equigraph did not write, or that was changed since, is the user's. The result of another run,
        which is a command and the folder it ran in, is not replaced either.
        """
        found = _own_manifest(self.path)
        if not force and run is not None and found is not None and found.get("run") != run:
            by = f" (`{found['run'].get('command')}`)" if found.get("run") else ""
            raise ParameterError(
                f"{self.path} holds the result of another run{by}: give another folder, or "
                "replace it with the option force."
            )
        for place in (self.path / name for name in names):
            if place.is_dir():
                raise ParameterError(f"{place} is a folder where a file is to be written: move it away.")
            if not force and os.path.lexists(place) and not _is_ours(place, found):
                raise ParameterError(
                    f"{place} was not written by equigraph, or was changed since: give another folder, "
                    "or replace it with the option force."
                )

    def write(
        self,
        kind: str,
        contents: Contents,
        *,
        further: Callable[[Path], Any] | None = None,
        raw: bool = False,
        force: bool = False,
        run: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Replace what equigraph wrote into the folder by new contents, all of them or none.

        Files of an older result that are not written again are removed, so that all files are of one run. `further`
        writes other files, such as pictures, into the folder that it is given. Returns the names of the files.
        """
        with naming_the_path(self.path), private_folder(self.path) as partial:
            columns = {name: write_content(partial / name, one, raw) for name, one in contents.items()}
            if further is not None:
                further(partial)
            names = sorted(os.listdir(partial))
            self.refuse_others(names, force=force)
            entries: dict[str, Any] = {
                "files": {name: _file_entry(partial / name) for name in names},
                "columns": {name: entries for name, entries in columns.items() if entries},
                "raw": raw,
            }
            if run is not None:
                entries["run"] = dict(run)
            write_record(partial / MANIFEST, kind, entries)
            partial.chmod(0o777 & ~umask())
            os.replace(partial, self.path / _NEW)
            self._made = []
            _tidy(self.path)
        return names

    def add(self, name: str) -> None:
        """Add a file that was written into the folder beside its result to the manifest."""
        found = _own_manifest(self.path)
        if found is not None:
            found["files"][name] = _file_entry(self.path / name)
            write_record(self.path / MANIFEST, found.pop("kind"), found)

    def _lock(self) -> int:
        end = time.monotonic() + max(self._patience, 0.2)
        while True:
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                handle = open_for_lock(self.path / _LOCK)
            except FileNotFoundError:
                continue  # the previous writer removed the folder that it had created
            locked = try_lock(handle) or not can_lock(self.path)
            # The previous writer may have removed the opened file: then other processes do not see this lock.
            if locked and is_at(handle, self.path / _LOCK):
                return handle
            os.close(handle)
            if not locked and time.monotonic() >= end:
                raise ParameterError(
                    f"Another run is writing to {self.path}: wait until it is done, or give another folder."
                )
            time.sleep(0.01)

    def _remove_made(self) -> None:
        """Remove the new folders that are empty."""
        for place in self._made:
            with suppress(OSError, ValueError):
                place.rmdir()


def read_stored(folder: str | os.PathLike[str], wanted: Collection[str] | None = None) -> Stored:
    """Read files of a folder; raise InputError if one is missing, damaged, or changed since it was written.

    By default all files are read; names that are not in the manifest are skipped.
    """
    folder = Path(folder)
    end, failures = time.monotonic() + _PATIENCE, 0
    while True:
        try:
            manifest = _read_manifest(folder)
            names = [name for name in manifest["files"] if wanted is None or name in wanted]
            files = {name: _checked(folder, name, manifest["files"][name]) for name in names}
            return Stored(folder, manifest, files)
        except InputError:
            # During a write, files and manifest may be of two results, so try again.
            busy = is_locked(folder / _LOCK) and time.monotonic() < end
            failures = 0 if busy else failures + 1
            if failures > 2:
                raise
            time.sleep(0.01)


def record(kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of JSON with format, version, kind and a checksum, for a file of its own."""
    entries = {"format": FORMAT, "version": VERSION, "kind": kind, **content}
    return {**entries, "checksum": checksum_of(entries)}


def write_record(path: Path, kind: str, content: Mapping[str, Any]) -> None:
    """Write a record: an object of JSON in a file of its own, complete or not there."""
    write_json(path, record(kind, content))


def read_record(path: str | os.PathLike[str], kind: str | None, schema: Any) -> Any:
    """Return the content of a record of a kind, or of any if None, checked against a schema; see `decode`."""
    path = Path(path)
    data = _read(path, path, f"expected a {kind or 'result'} that equigraph wrote")
    content = parse_json(data, path)
    if content.get("format") != FORMAT or kind not in (None, content.get("kind")):
        raise InputError(f"{path} is no {kind or 'result'} that equigraph wrote.")
    if content.get("version") != VERSION:
        raise InputError(
            f"{path} has version {content.get('version')!r} of the format, and this equigraph reads {VERSION}: "
            "install the equigraph that wrote it, or make it again."
        )
    if content.pop("checksum", None) != checksum_of(content):
        raise InputError(f"{path} has changed since equigraph wrote it: make it again.")
    # The kind is an entry only where any is allowed.
    outer = ("format", "version") if kind is None else ("format", "version", "kind")
    return decode({name: content[name] for name in content if name not in outer}, schema, path)


def _read(path: Path, shown: Path, otherwise: str) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{shown} cannot be read ({cause}): {otherwise}.") from None


def checksum_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an object of JSON, whatever the order of its entries and the white space."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextmanager
def refusing_damage(path: Path) -> Iterator[None]:
    """Convert errors of building an object from a file to an InputError with the path."""
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, InputError) and str(path) in str(error):
            raise
        text = str(error) if isinstance(error, EquigraphError) else f"{type(error).__name__}: {reason(error)}"
        raise InputError(f"{path} is damaged: {text.rstrip('.')}.") from error


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder; raise InputError if it is absent or has changed."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: {_EXPECTED}.")
    path = _current(folder, MANIFEST)
    if not path.exists():
        raise InputError(f"{folder} holds no {MANIFEST}: {_EXPECTED}.")
    return read_record(path, None, Manifest)


def _own_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest in a folder itself, not that of its new contents; None if absent or damaged."""
    try:
        return read_record(folder / MANIFEST, None, Manifest)
    except InputError:
        return None


def _current(folder: Path, name: str) -> Path:
    """Return where a file is: among the new contents, or in its place."""
    new = folder / _NEW / name
    return new if new.exists() else folder / name


def _checked(folder: Path, name: str, entry: FileEntry) -> bytes:
    """Return the bytes of a file that is as the manifest says."""
    if Path(name).name != name:
        raise InputError(f"{folder / MANIFEST} lists {name!r}, which is no name of a file.")
    data = _read(_current(folder, name), folder / name, f"{MANIFEST} lists it; make the result again")
    if entry != {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}:
        raise InputError(
            f"{folder / name} has changed since equigraph wrote it (its SHA-256 is another): make the result again."
        )
    return data


def _is_ours(path: Path, manifest: Mapping[str, Any] | None) -> bool:
    """Return whether a file is as a manifest says."""
    if manifest is None or path.name == MANIFEST:
        return manifest is not None
    try:
        return manifest["files"].get(path.name) == _file_entry(path)
    except OSError:
        return False


def _file_entry(path: Path) -> FileEntry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return {"bytes": file.tell(), "sha256": digest.hexdigest()}


def _tidy(target: Path) -> None:
    """Move the files of new contents to their places; an interrupted writer may have moved some already.

    Files of the result that is replaced are removed, except those that were changed since.
    """
    new = target / _NEW
    if not (new / MANIFEST).is_file():
        with suppress(OSError):
            new.rmdir()  # all files were moved, but the last step is missing
        return
    manifest, older = _own_manifest(new), _own_manifest(target)
    if manifest is None:
        # Damaged on disk: it cannot be read, and would block every later write.
        shutil.rmtree(new)
        return
    names = set(manifest["files"])
    for name in set(older["files"]) - names if older is not None else ():
        if Path(name).name == name and _is_ours(target / name, older):
            (target / name).unlink()
    for name in sorted(names & set(os.listdir(new))):
        os.replace(new / name, target / name)
    os.replace(new / MANIFEST, target / MANIFEST)
    new.rmdir()
