"""Folders of results: written by one at a time, replaced as a whole, and known again by their manifest.

Every such folder has a ``manifest.json`` with the length and the SHA-256 of each file. A new result is completed in a
folder beside its place, and one rename (to `_NEW`) makes it the result; moving its files to where they belong is then
only tidying, which whoever comes next finishes if it was cut short. Reading looks into `_NEW` first, so at every moment
there is the old result or the new one, whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from equigraph._utils.files import (
    can_lock,
    hold,
    is_at,
    is_held,
    naming_the_path,
    open_for_lock,
    private_folder,
    sweep,
    umask,
)
from equigraph.exceptions import InputError, ParameterError

MANIFEST = "manifest.json"
FORMAT, VERSION = "equigraph results", 1
_NEW, _LOCK = ".equigraph-new", ".equigraph-lock"
_PATIENCE = 5.0  # seconds to wait for somebody who writes, which takes milliseconds
_EXPECTED = "expected a folder that `equigraph cluster`, `tradeoff`, `refine` or `demo` wrote, or `save`"


class OutputFolder:
    """A folder that one writer has for itself, from the moment it is entered.

    Entering makes the folder, so that an impossible one is refused before anything is computed, finishes or removes
    what killed runs left in it, and keeps every other writer out. A folder made for nothing is removed at the end.
    Another writer is waited for with `patience`, in seconds; a moment at least, for those who only look.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with OutputFolder(Path(place) / "out") as out, out.writing("notes") as partial:
    ...         _ = (partial / "a.txt").write_text("whole")
    ...     sorted(os.listdir(Path(place) / "out")), read_kept(Path(place) / "out").files["a.txt"]
    (['a.txt', 'manifest.json'], b'whole')
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
            reason = getattr(error, "strerror", None) or str(error)
            raise ParameterError(
                f"The output {self.path} cannot be written ({reason}): expected a folder that you may write to, "
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
        """Refuse to replace what is not ours to replace, unless that is forced.

        A file that is there and was not written by equigraph, or was changed since, is the user's; the result of
        another run, which is a command and the folder it runs in, is not replaced either.
        """
        for name in names:
            if (self.path / name).is_dir():
                raise ParameterError(
                    f"{self.path / name} is a folder where a file is to be written: move it away."
                )
        if force:
            return
        kept = _manifest_of(self.path)
        if run is not None and kept is not None and kept.get("run") != run:
            by = f" (`{kept['run']['command']}`)" if kept.get("run") else ""
            raise ParameterError(
                f"{self.path} holds the result of another run{by}: give another folder, or say "
                f"force=True to replace it."
            )
        for name in names:
            if os.path.lexists(self.path / name) and not _is_ours(self.path / name, kept):
                raise ParameterError(
                    f"{self.path / name} was not written by equigraph, or was changed since: give another folder, "
                    f"or say force=True to replace it."
                )

    @contextmanager
    def writing(self, kind: str, *, force: bool = False, **facts: Any) -> Iterator[Path]:
        """Give a folder to write files to, which become the content of this one if the block succeeds.

        Files of an older result that are not written again are removed, so that all files of ours are of one run. The
        facts are further entries of the manifest.
        """
        with naming_the_path(self.path), private_folder(self.path) as partial:
            yield partial
            names = sorted(os.listdir(partial))
            self.refuse_others(names, force=force)
            files = {name: _facts(partial / name) for name in names}
            write_manifest(partial, {"kind": kind, **facts, "files": files})
            partial.chmod(0o777 & ~umask())
            os.replace(partial, self.path / _NEW)
            self._made = []
            _tidy(self.path)

    def add(self, name: str) -> None:
        """Take note of a file that was written into the folder beside its result."""
        kept = _manifest_of(self.path)
        if kept is not None:
            kept["files"][name] = _facts(self.path / name)
            write_manifest(self.path, kept)

    def _lock(self) -> int:
        end = time.monotonic() + max(self._patience, 0.2)
        while True:
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                handle = open_for_lock(self.path / _LOCK)
            except FileNotFoundError:
                continue  # the writer before removed the folder that it had made
            held = hold(handle) or not can_lock(self.path)
            # The writer before may have removed the file that was opened here: then nobody else sees this lock.
            if held and is_at(handle, self.path / _LOCK):
                return handle
            os.close(handle)
            if not held and time.monotonic() >= end:
                raise ParameterError(
                    f"Another run is writing to {self.path}: wait until it is done, or give another folder."
                )
            time.sleep(0.01)

    def _remove_made(self) -> None:
        """Remove the folders that were made for this and are empty."""
        for place in self._made:
            with suppress(OSError, ValueError):
                place.rmdir()


@dataclass(frozen=True)
class Kept:
    """What a folder holds, checked against its manifest."""

    folder: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, bytes]  # the bytes of the files that were asked for


def read_kept(folder: str | os.PathLike[str], wanted: Iterable[str] | None = None) -> Kept:
    """Read files of a result, and refuse those that are missing, damaged, or not as they were written.

    By default all; names that the manifest does not have are left out.
    """
    folder = Path(folder)
    wanted = None if wanted is None else set(wanted)
    end, calm = time.monotonic() + _PATIENCE, 0
    while True:
        try:
            manifest = _read_manifest(folder)
            names = [name for name in manifest["files"] if wanted is None or name in wanted]
            files = {name: _checked(folder, name, manifest["files"][name]) for name in names}
            return Kept(folder, manifest, files)
        except InputError:
            # While somebody writes, files and manifest may be of two results; a moment later they are not.
            busy = is_held(folder / _LOCK) and time.monotonic() < end
            calm = 0 if busy else calm + 1
            if calm > 2:
                raise
            time.sleep(0.01)


def write_manifest(folder: Path, entries: Mapping[str, Any]) -> None:
    """Write the manifest of a folder, with a checksum of its own."""
    from equigraph._utils.records import write_json

    content = {"format": FORMAT, "version": VERSION, **entries}
    content.pop("checksum", None)
    write_json(folder / MANIFEST, {**content, "checksum": digest_of(content)})


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what JSON says, whatever the order and the white space."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def parse_json(data: bytes, path: Path) -> dict[str, Any]:
    """Return an object of JSON, or refuse it in one sentence."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON ({error}): expected the file that equigraph wrote.") from None
    if not isinstance(told, dict):
        raise InputError(f"{path} is not what equigraph wrote: expected an object of JSON.")
    return told


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder, if it is one and has not changed."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: {_EXPECTED}.")
    return _parse_manifest(_bytes_of(folder, MANIFEST), folder)


def _parse_manifest(data: bytes | None, folder: Path) -> dict[str, Any]:
    if data is None:
        raise InputError(f"{folder} holds no {MANIFEST}: {_EXPECTED}.")
    told = parse_json(data, folder / MANIFEST)
    if told.get("format") != FORMAT:
        raise InputError(f"{folder / MANIFEST} was not written by equigraph: {_EXPECTED}.")
    checksum = told.pop("checksum", None)
    if checksum != digest_of(told) or not isinstance(told.get("files"), dict):
        raise InputError(f"{folder / MANIFEST} has changed since equigraph wrote it: make the result again.")
    if told.get("version") != VERSION:
        raise InputError(
            f"{folder} has version {told.get('version')!r} of the format, and this equigraph reads {VERSION}: "
            "install the equigraph that wrote it, or make the result again."
        )
    return told


def _checked(folder: Path, name: str, facts: Any) -> bytes:
    data = _bytes_of(folder, name) if Path(name).name == name else None
    if data is None:
        raise InputError(f"{folder / name} is missing: {MANIFEST} lists it; make the result again.")
    if facts != {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}:
        raise InputError(
            f"{folder / name} has changed since equigraph wrote it (its SHA-256 is another): make the result again."
        )
    return data


def _bytes_of(folder: Path, name: str) -> bytes | None:
    for place in (folder / _NEW, folder):
        try:
            return (place / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            raise InputError(f"{place / name} cannot be read ({error}).") from error
    return None


def _manifest_of(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder; None if it has none that is whole."""
    try:
        return _read_manifest(folder)
    except InputError:
        return None


def _is_ours(path: Path, manifest: Mapping[str, Any] | None) -> bool:
    """Return whether a file is as a manifest says."""
    if manifest is None:
        return False
    if path.name == MANIFEST:
        return True
    try:
        return path.name in manifest["files"] and manifest["files"][path.name] == _facts(path)
    except OSError:
        return False


def _facts(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return {"bytes": file.tell(), "sha256": digest.hexdigest()}


def _tidy(target: Path) -> None:
    """Move the files of a new result to their places; what is there already was moved by who was cut short."""
    new = target / _NEW
    if not (new / MANIFEST).is_file():
        with suppress(OSError):
            new.rmdir()  # all was moved, but for the last step
        return
    try:
        names = set(_parse_manifest((new / MANIFEST).read_bytes(), new)["files"])
    except InputError:
        # The disk harmed it: nobody can read it, and nobody could write here as long as it stays.
        shutil.rmtree(new)
        return
    for name in _older_files(target) - names:
        (target / name).unlink()
    for name in sorted(names & set(os.listdir(new))):
        os.replace(new / name, target / name)
    os.replace(new / MANIFEST, target / MANIFEST)
    new.rmdir()


def _older_files(target: Path) -> set[str]:
    """Return the files of the result that a newer one replaces, but for those that somebody has changed."""
    try:
        older = _parse_manifest((target / MANIFEST).read_bytes(), target)
    except (OSError, InputError):
        return set()
    return {name for name in older["files"] if Path(name).name == name and _is_ours(target / name, older)}
