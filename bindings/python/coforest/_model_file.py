"""What a model file keeps beside the model for this package: a section of its own, which other readers skip.

docs/model-format.md describes both. Without the section, values are the texts of the file.
"""
import json
import os
import struct
import zlib

from ._core import CoforestIOError

_TAG = 64
_HEAD = 24  # bytes before the sections


def _sections(data):
    """(tag, content) of every section."""
    at, end = _HEAD, len(data) - 4
    while at + 12 <= end:
        tag, length = struct.unpack_from("<IQ", data, at)
        yield tag, data[at + 12 : at + 12 + length]
        at += 12 + length


def with_note(data, note):
    """The bytes of a model file with a note, which is a dict for JSON."""
    text = json.dumps(note).encode()
    sections = data[_HEAD:-4] + struct.pack("<IQ", _TAG, len(text)) + text
    whole = data[: _HEAD - 8] + struct.pack("<Q", len(sections)) + sections
    return whole + struct.pack("<I", zlib.crc32(whole))


def note_of(data):
    """The note of a model file that was found sound; {} if it has none."""
    return next((json.loads(content) for tag, content in _sections(data) if tag == _TAG), {})


def read_note(path):
    """The note of a model file that the library has read."""
    with open(path, "rb") as file:
        return note_of(file.read())


def write(path, data):
    """All of the file or nothing: what was there before stays until the new one is complete."""
    path = os.path.realpath(os.fspath(path))
    made = f"{path}.{os.getpid()}.tmp"
    try:
        with open(made, "xb") as file:
            file.write(data)
        os.replace(made, path)
    except OSError as error:
        if os.path.exists(made):
            os.unlink(made)
        raise CoforestIOError(f"cannot write '{path}': {error.strerror}") from error


def plain(value):
    """Whether JSON gives a value back as it was."""
    try:
        return json.loads(json.dumps(value)) == value
    except (TypeError, ValueError):
        return False
