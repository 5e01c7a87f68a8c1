"""What a command in the sandbox may see and use, and the command line that starts it there.

The folders of a box are given to its user, measured, and taken back.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import shutil
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from skill_eval_nb.disk import remove_tree

BoxKind = Literal["bubblewrap", "none"]
"""How a command is confined. "none" only limits its time and its use of the machine: it can read,
change and reach whatever its user can, so it is only used if the user asked for it."""

Ended = Literal["exit", "time", "disk", "killed"]
"""Why a command ended: by itself, at its time limit, at its disk limit, or because it exceeded
another limit (processes, memory, output) or was cancelled."""

MIB = 1024 * 1024


@dataclass(frozen=True)
class BoxLimits:
    """What one command may use; if it exceeds a limit, all its processes are ended.

    Attributes:
        seconds: wall clock.
        memory_bytes: memory of all its processes together, including files in memory that belong
            to no folder; also the most that one process may request.
        file_bytes: the size of one file that it writes.
        processes: processes at one time.
        disk_bytes: how much its folders may grow; each file counts as at least 4 KiB.
        entries: by how many files and folders its folders may grow.
        output_bytes: how much of stdout, and of stderr, is kept; more is read and dropped, up to
            a hundred times as much.
    """

    seconds: float = 60.0
    memory_bytes: int = 2048 * MIB
    file_bytes: int = 256 * MIB
    processes: int = 128
    disk_bytes: int = 512 * MIB
    entries: int = 100_000
    output_bytes: int = MIB


@dataclass(frozen=True)
class Box:
    """What a command sees: its folder, some read-only paths, and nothing else of the host.

    Attributes:
        folder: read and written, at /box, where the command starts; with kind "none" the folder
            itself.
        readable: pairs of a path inside and the path on the host that is shown there, read-only;
            ignored if the kind is "none".
        limits: what the command may use.
        environment: names and values besides PATH, HOME, LANG, TMPDIR.
        kind: how the command is confined.
        temporary: a folder of the host that is /tmp inside, for files that should last from one
            command to the next; None for a small one in memory that ends with the command.
    """

    folder: Path
    readable: tuple[tuple[str, Path], ...] = ()
    limits: BoxLimits = field(default_factory=BoxLimits)
    environment: tuple[tuple[str, str], ...] = ()
    kind: BoxKind = "bubblewrap"
    temporary: Path | None = None

    def __post_init__(self) -> None:
        """Make paths absolute: what starts the command works in another folder."""
        readable = tuple((inside, host.absolute()) for inside, host in self.readable)
        object.__setattr__(self, "folder", self.folder.absolute())
        object.__setattr__(self, "readable", readable)
        object.__setattr__(self, "temporary", self.temporary and self.temporary.absolute())


@dataclass(frozen=True)
class Ran:
    """How a command went.

    Attributes:
        exit_code: its exit code; 128 + N if signal N ended it.
        stdout: the first `output_bytes` of its output.
        stderr: the first `output_bytes` of its errors.
        cut: whether more was printed than is kept.
        ended: why it ended.
        message: the same in words, with the exceeded limit.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    cut: bool
    ended: Ended
    message: str


INSIDE = "/box"
"""The path of the folder inside a bubblewrap box."""

NOBODY = 65534
"""The user inside. Root really becomes this user: in a user namespace, root without rights would
still own root's files, including /proc/sys and the devices, and the limit of processes does not
apply to root."""

TEMPORARY_BYTES = 64 * MIB
"""Room in a /tmp in memory, and in /dev/shm."""

OPEN_FILES = 4096
"""Open files of a process at one time, if it asks for more than the usual 1,024."""

SHARED_BYTES = 64 * 1024
"""The size of one piece of System V shared memory; there are at most 4,096."""
_FAMILIES = (1, 2, 10, 16)
"""Allowed sockets: local ones, IPv4, IPv6, and netlink. Each network has its own of these; others,
such as those to the host of a virtual machine, are shared."""
_X32 = 0x40000000
_MACHINES = (
    (0xC000003E, 29, 41, 248), (0xC000003E, _X32 | 29, _X32 | 41, _X32 | 248),  # x86-64, x32
    (0x40000003, 395, 359, 286),  # i386
    (0xC00000B7, 194, 198, 217), (0x40000028, 307, 281, 309),  # ARM, 64 and 32
    (0xC00000F3, 194, 198, 217),  # RISC-V
)  # fmt: skip
"""The kernel's numbers: of the machine, its `shmget`, its `socket`, and the first of `add_key`,
`request_key` and `keyctl`."""
_IO_URING, _SOCKETCALL, _IPC, _I386 = 425, 102, 117, 0x40000003
"""Other calls that make sockets, on all machines and on i386; there, `ipc` also makes shared
memory."""

_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/openssl.cnf",
)
_STUBS = {
    "/etc/passwd": b"box:x:%d:%d:box:/tmp:/bin/sh\n" % (NOBODY, NOBODY),
    "/etc/group": b"box:x:%d:\n" % NOBODY,
    "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\n",
    "/etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n",
}
"""The box's own files. They are not mounts: everybody inside can read the list of mounts, which has
the path of each on its disk, and our paths would reveal what the box is for."""
_LIMITED = (
    # dash has -p where bash has -u; an error means that there is a stricter limit already
    "umask 022; {{ ulimit -c 0; ulimit -t {cpu}; ulimit -f {file}; ulimit -d {memory}; "
    "ulimit -u {processes} || ulimit -p {processes}; ulimit -Sn 1024; ulimit -Hn {open}; }} "
    "2>/dev/null; {then}"
)
_BECOME = 'exec "$@"'
_AS_CHILD = 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?'
"""The shell stays as process 1, which no signal from inside can end, and prints nothing itself."""


_SHOW = (
    "set -e; mount -t tmpfs -o mode=755 show {hold}; mkdir -p {hold} {folders}; : {files}; "
    'printf %s "$1" >{hold}/table; mount -a -T {hold}/table; shift; exec "$@"'
)
"""Shows files and folders inside a folder that every user can reach, in its own mount namespace.

One `mount` for all of them, by a table: a process for each would take most of a short command.
A second bubblewrap around the first would do that, too. But its process gives up the right to end
processes of the user nobody, which would then outlive a killed caller.
"""
_HOLDS = ("/mnt", "/media", "/srv", "/opt", "/var/tmp")  # noqa: S108


@contextlib.contextmanager
def wrap_command(
    box: Box, argv: Sequence[str], *more: str
) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The command line that runs `argv` in the box, and the open files to pass to it.

    The caller watches the time, the disk limit and the output, and must hold the folder with
    `lend_folders` meanwhile. The caller's environment is not passed on. It can be used for one
    start.

    Args:
        box: what the command may see and use.
        argv: the command and its arguments.
        more: further options of bubblewrap.
    """
    if box.kind == "none":
        assigned = (f"{name}={value}" for name, value in environment(box).items())
        yield ["/usr/bin/env", "-i", *assigned, *limit_command(box, argv)], ()
        return
    with contextlib.ExitStack() as stack:
        files = {path: stack.enter_context(_in_memory(data)) for path, data in _STUBS.items()}
        rules = stack.enter_context(_in_memory(_kernel_filter()))
        options, hands = arrange_box(box)
        for path, file in files.items():
            options += ["--file", str(file), path]
        # whatever is not its own mount is in memory, without a limit
        options += ["--remount-ro", "/", "--chdir", INSIDE, "--seccomp", str(rules)]
        # through a file, since everybody inside can read command lines
        arguments = stack.enter_context(
            _in_memory(b"".join(os.fsencode(option) + b"\0" for option in options))
        )
        # otherwise bubblewrap's own first process would be left for others to collect
        bubblewrap = [program("bwrap"), "--args", str(arguments), "--as-pid-1", *more]
        yield (
            [*hands, *bubblewrap, "--", *limit_command(box, argv)],
            (arguments, rules, *files.values()),
        )


@contextlib.contextmanager
def _in_memory(data: bytes) -> Iterator[int]:
    file = os.memfd_create("box")
    try:
        os.write(file, data)
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


_LOAD, _EQUAL, _GREATER, _GIVE = 0x20, 0x15, 0x25, 0x06
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000
_Step = tuple[int, int, int, int]


@cache
def _kernel_filter() -> bytes:
    """A program for the kernel that refuses calls which namespaces alone would not contain.

    The kernel's keys belong to the caller even from inside, and some sockets reach the host. Large
    pieces of System V shared memory outlive the process that filled them, and appear nowhere else.
    """
    steps = [
        *_refuse(_I386, _SOCKETCALL, [], errno.ENOSYS),
        *_refuse(_I386, _IPC, _test_size(2), errno.ENOMEM),
    ]
    for machine, shmget, socket, keys in _MACHINES:
        steps += _refuse(machine, shmget, _test_size(1), errno.ENOMEM)
        steps += _refuse(machine, socket, _test_family(), errno.EAFNOSUPPORT)
        for call in (keys, keys + 1, keys + 2, _IO_URING | (shmget & _X32)):
            steps += _refuse(machine, call, [], errno.ENOSYS)
    return b"".join(struct.pack("HBBI", *step) for step in (*steps, (_GIVE, 0, 0, _ALLOWED)))


def _refuse(machine: int, call: int, test: list[_Step], error: int) -> list[_Step]:
    """The steps that refuse a call of a machine, unless a test of its arguments lets it pass."""
    rest = [*test, (_GIVE, 0, 0, _REFUSED | error)]
    own = [(_LOAD, 0, 0, 0), (_EQUAL, 0, len(rest), call), *rest]
    return [(_LOAD, 0, 0, 4), (_EQUAL, 0, len(own), machine), *own]


def _test_size(argument: int) -> list[_Step]:
    """Leads to the refusal if an argument is more than `SHARED_BYTES`."""
    low = 16 + 8 * argument
    return [
        *((_LOAD, 0, 0, low + 4), (_EQUAL, 0, 2, 0)),
        *((_LOAD, 0, 0, low), (_GREATER, 0, 1, SHARED_BYTES)),
    ]


def _test_family() -> list[_Step]:
    """Leads to the refusal if the first argument is none of `_FAMILIES`."""
    left = range(len(_FAMILIES), 0, -1)
    pairs = zip(left, _FAMILIES, strict=True)
    return [(_LOAD, 0, 0, 16), *((_EQUAL, to_the_end, 0, one) for to_the_end, one in pairs)]


def arrange_box(box: Box) -> tuple[list[str], list[str]]:
    """The options of bubblewrap for the box, and the commands that must run before it.

    The user nobody cannot reach some folders (in /root or a home). So root first shows these
    folders in a place that nobody can reach, and only then becomes nobody.
    """
    shown = [("--bind", box.folder, INSIDE), *_extra_binds(box)]
    # process 1 of the box has the environment that bubblewrap was started with
    clean = ["/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    if os.geteuid() != 0:
        return _box_options(box, shown), clean
    far = [host for _, host, _ in shown if not _is_reachable(host)]
    hold = _choose_hold(far)
    moved = {host: Path(hold, str(number)) for number, host in enumerate(far)}
    shown = [(flag, moved.get(host, host), inside) for flag, host, inside in shown]
    table = "".join(f"{_as_field(host)} {to} none bind 0 0\n" for host, to in moved.items())
    folders = " ".join(str(to) for host, to in moved.items() if host.is_dir())
    files = " ".join(f">{to}" for host, to in moved.items() if not host.is_dir())
    script = _SHOW.format(hold=hold, folders=folders, files=files)
    show = [program("unshare"), "--mount", "/bin/sh", "-c", script, "show", table]
    become = [program("setpriv"), "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    return _box_options(box, shown), [*clean, *show, *become, "--"]


def _as_field(path: Path) -> str:
    r"""A path in a table of mounts, whose fields end at blanks.

    >>> _as_field(Path("/a b"))
    '/a\\040b'
    """
    return re.sub(r"[ \t\n\r\v\f\\]", lambda found: f"\\{ord(found[0]):03o}", os.fspath(path))


def limit_command(box: Box, argv: Sequence[str]) -> list[str]:
    """`argv` with limits of the kernel, which apply even if nobody watches.

    They are set inside the box: outside, the limit of processes would count everything that the
    user runs on this machine.
    """
    boxed, limits = box.kind != "none", box.limits
    script = _LIMITED.format(
        cpu=math.ceil(limits.seconds) * (os.cpu_count() or 1) + 1,
        file=math.ceil(limits.file_bytes / 512),
        memory=math.ceil(limits.memory_bytes / 1024),
        processes=2 * limits.processes if boxed else "unlimited",
        open=OPEN_FILES,
        then=_AS_CHILD if boxed else _BECOME,
    )
    return ["/bin/sh", "-c", script, "box", *argv]


def environment(box: Box) -> dict[str, str]:
    """The whole environment of a command: no keys, and nothing from the caller."""
    if box.kind == "none":
        home = os.fspath(box.temporary or box.folder)
        path = os.environ.get("PATH", os.defpath)  # it uses the caller's programs
    else:
        home = "/tmp"  # noqa: S108
        own = [os.fspath(folder) for folder in _python() if folder.name == "bin"]
        path = os.pathsep.join([*own, "/usr/local/bin", "/usr/bin", "/bin"])
    usual = {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
    return usual | dict(box.environment)


def python(kind: BoxKind) -> str:
    """Our Python, as a command in a box of this kind.

    It has the standard library, but not what is installed in our environment.
    """
    if kind == "none":
        return sys.executable
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    own = Path(sys.base_prefix, "bin", f"python{version}")
    return os.fspath(own) if own.exists() else "python3"


def program(name: str) -> str:
    """The path of a program; just its name if it is not found."""
    return shutil.which(name) or name


def _extra_binds(box: Box) -> Iterator[tuple[str, Path, str]]:
    if box.temporary is not None:
        yield "--bind", box.temporary, "/tmp"  # noqa: S108
    for inside, host in box.readable:
        yield "--ro-bind", host, inside
    for folder in _python():
        yield "--ro-bind", folder, os.fspath(folder)


def _python() -> list[Path]:
    """The folders of our Python, if it is not the system's."""
    prefix = Path(sys.base_prefix)
    if prefix.is_relative_to("/usr") or prefix == Path("/"):
        return []
    return [folder for name in ("bin", "lib", "lib64") if (folder := prefix / name).is_dir()]


def _is_reachable(host: Path) -> bool:
    """Whether the user nobody can reach a file or folder, whatever its own permissions."""
    return all(folder.stat().st_mode & 0o001 for folder in host.resolve().parents)


def _choose_hold(far: list[Path]) -> str:
    """A folder in which to show others; none of them is inside it."""
    above = {
        os.fspath(folder) for host in far for folder in (host.resolve(), *host.resolve().parents)
    }
    holds = [hold for hold in _HOLDS if hold not in above and Path(hold).is_dir()]
    return holds[0] if holds else "/mnt"


def _box_options(box: Box, shown: list[tuple[str, Path, str]]) -> list[str]:
    options = (
        "--unshare-all --unshare-user --disable-userns --die-with-parent --new-session".split()
    )
    options += f"--cap-drop ALL --uid {NOBODY} --gid {NOBODY}".split()
    for name, value in environment(box).items():
        options += ["--setenv", name, value]
    options += ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        place = Path("/", name)
        if place.is_symlink():
            options += ["--symlink", os.fspath(place.readlink()), os.fspath(place)]
        elif place.is_dir():
            options += ["--ro-bind", os.fspath(place), os.fspath(place)]
    for path in _ETC:
        options += ["--ro-bind-try", path, path]
    small = ["--size", str(TEMPORARY_BYTES), "--tmpfs"]
    options += [*small, "/tmp", "--proc", "/proc", "--dev", "/dev", *small, "/dev/shm"]  # noqa: S108
    options += ["--remount-ro", "/dev"]
    for path in filter(os.path.exists, ("/proc/keys", "/proc/key-users")):
        options += ["--ro-bind", os.devnull, path]  # the names of the caller's keys
    for flag, host, inside in shown:
        options += [flag, os.fspath(host), inside]
    return options


SMALLEST = 4096
"""Bytes that a file or folder counts at least: empty ones also fill a disk."""

DEEPEST = 100
"""Levels of folders that are kept, and LONGEST the bytes of a path: deeper ones can be created step
by step, but hardly be read or removed."""
LONGEST = 2000


@contextlib.contextmanager
def lend_folders(box: Box) -> Iterator[None]:
    """Let the user of a box write in its folders, and take them back afterwards.

    Root gives them to the user nobody, as whom the commands run, and takes them back. After that
    the owner can read and remove all files, whatever was done inside, and no file runs as another
    user.

    Raises:
        OSError: if a folder does not exist, or cannot be given.
    """
    folders = _box_folders(box)
    owners = [_folder_owner(folder) for folder in folders]
    given = box.kind != "none" and os.geteuid() == 0
    try:
        if given:
            for folder in folders:
                _change_owner(folder, NOBODY, NOBODY)
        yield
    finally:
        for folder, (user, group) in zip(folders, owners, strict=True):
            take_back(folder)
            if given:
                _change_owner(folder, user, group)


@dataclass(frozen=True)
class Used:
    """What folders take on disk.

    Attributes:
        bytes: the total size; each file and folder counts as at least 4 KiB.
        entries: the number of files and folders.
        deep: whether some are too deep to be counted.
    """

    bytes: int = 0
    entries: int = 0
    deep: bool = False


def measure_used(box: Box, most: Used | None = None) -> Used:
    """What the folders of a box take; counting stops once that is more than `most`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     measure_used(Box(Path(folder)))
    Used(bytes=0, entries=0, deep=False)
    """
    total = entries = 0
    for folder in _box_folders(box):
        for entry, level in _walk_below(os.fspath(folder)):
            with contextlib.suppress(OSError):  # deleted meanwhile
                total += max(entry.stat(follow_symlinks=False).st_blocks * 512, SMALLEST)
                if _too_deep(entry, level) and entry.is_dir(follow_symlinks=False):
                    return Used(total, entries + 1, deep=True)
            entries += 1
            if most is not None and (total > most.bytes or entries > most.entries):
                return Used(total, entries)
    return Used(total, entries)


def _box_folders(box: Box) -> list[Path]:
    return [box.folder, *([box.temporary] if box.temporary is not None else [])]


def take_back(folder: str | os.PathLike[str]) -> None:
    """Make everything in a folder readable and removable for its owner again.

    Permissions that would run a file as another user are removed, and so are folders too deep to
    be read.
    """
    _allow_owner(os.fspath(folder), Path(folder).stat().st_mode)
    for entry, level in _walk_below(os.fspath(folder)):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            _allow_owner(entry.path, mode)
        if stat.S_ISDIR(mode) and _too_deep(entry, level):
            remove_tree(entry.path)


def _walk_below(top: str) -> Iterator[tuple[os.DirEntry[str], int]]:
    """Every entry below a folder with its level, parents first, links not followed."""
    pending = [(top, 1)]
    while pending:
        path, level = pending.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    yield entry, level
                    if entry.is_dir(follow_symlinks=False) and not _too_deep(entry, level):
                        pending.append((entry.path, level + 1))
        except OSError:  # deleted meanwhile, or not readable
            continue


def _too_deep(entry: os.DirEntry[str], level: int) -> bool:
    return level >= DEEPEST or len(os.fsencode(entry.path)) >= LONGEST


def _allow_owner(path: str, mode: int) -> None:
    own = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
    wanted = (stat.S_IMODE(mode) | own) & ~(stat.S_ISUID | stat.S_ISGID)
    if wanted != stat.S_IMODE(mode):
        with contextlib.suppress(PermissionError):  # another user's, so none of ours changed it
            os.chmod(path, wanted)  # noqa: PTH101


def _folder_owner(folder: Path) -> tuple[int, int]:
    """The owner of a folder; root if a killed box left it to the user nobody."""
    found = folder.stat()
    return (0, 0) if os.geteuid() == 0 and found.st_uid == NOBODY else (found.st_uid, found.st_gid)


def _change_owner(folder: Path, user: int, group: int) -> None:
    os.chown(folder, user, group)
    for entry, _ in _walk_below(os.fspath(folder)):
        with contextlib.suppress(FileNotFoundError):
            os.chown(entry.path, user, group, follow_symlinks=False)
