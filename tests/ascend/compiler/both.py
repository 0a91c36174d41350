"""Files of two: code for vector cores, and for the cube core of the same cluster."""

import pathlib

MARK = b"BOTHKIND"


def join(parts, path):
    first, second = (pathlib.Path(part).read_bytes() for part in parts)
    pathlib.Path(path).write_bytes(MARK + len(first).to_bytes(8, "little") + first + second)


def split(path):
    """The paths of both; nothing if it is a file of one."""
    content = pathlib.Path(path).read_bytes()
    if not content.startswith(MARK):
        return []
    size = int.from_bytes(content[8:16], "little")
    parts = [f"{path}.1.o", f"{path}.2.o"]
    pathlib.Path(parts[0]).write_bytes(content[16 : 16 + size])
    pathlib.Path(parts[1]).write_bytes(content[16 + size :])
    return parts
