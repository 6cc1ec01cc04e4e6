"""Locks between processes: one at a time writes a file, and one design or evaluation at a time writes its results.

They are the kernel's (flock), which lets go of them when a process ends, however it ends: a lock file that is left
behind holds nobody up.
"""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from exmachina.errors import InUseError

__all__ = ["alone", "open_locked"]

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
"""What file systems say that have no locks; there, whoever starts two writers of one file is on their own."""


@contextmanager
def alone(lock: Path, what: str) -> Iterator[None]:
    """Keeps others away who take the same lock, and tells them who is here.

    Args:
        lock: A file, which is made, and is gone at the end.
        what: What would be disturbed, for whoever comes second.

    Raises:
        InUseError: If somebody has the lock.
    """
    try:
        file = open_locked(lock, wait=False)
    except BlockingIOError:
        raise InUseError(f"{what} is in use by {_holder(lock)}; wait for it, or choose another output") from None
    with file:
        since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()} since {since}\n".encode())
        file.flush()
        try:
            yield
        finally:
            # Before the lock is given up, so that it is never somebody else's.
            lock.unlink(missing_ok=True)


def open_locked(path: Path, *, wait: bool) -> BinaryIO:
    """Opens a file for writing, made if missing, that nobody else has open like this.

    Raises:
        BlockingIOError: If somebody has, and not to `wait` is asked for.
    """
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b")
        try:
            _lock(file, wait)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileNotFoundError:
            pass  # whoever had it has renamed or removed it meanwhile
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: BinaryIO, wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _holder(lock: Path) -> str:
    """Who has a lock, as they wrote into it."""
    try:
        return lock.read_text(errors="replace").strip() or "another process"
    except OSError:
        return "another process"
