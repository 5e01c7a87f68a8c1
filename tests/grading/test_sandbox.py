"""What a command in a box can do, and what becomes of one that tries what it must not."""

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from skill_eval_nb.grading import sandbox
from skill_eval_nb.grading.sandbox import (
    Box,
    SandboxMissing,
    available,
    lend_folders,
    run_in_box,
    why_not,
)
from tests.bubblewrap import needed
from tests.corpus.build import lay
from tests.grading.made import boxed

CANARY = "canary-5f1d2c"


@pytest.fixture
def folder(tmp_path):
    return lay(tmp_path / "work", {})


@pytest.fixture
def secret(tmp_path):
    """A file of the host, outside the folder."""
    return lay(tmp_path, {"secret.txt": CANARY}) / "secret.txt"


@needed
@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/shadow",
        "cat {secret}",
        "ln -s {secret} link && cat link",
        "ln {secret} hard && cat hard",
        "cat /proc/1/root{secret}",
        "grep -rs canary-5f1 / --exclude-dir=proc --exclude-dir=usr --exclude-dir=lib",
        "ls -a ~ /home /root; cat ~/.bash_history ~/.ssh/*",
        "mount --bind / /mnt; unshare --user --map-root-user cat {secret}",
        "mknod disk b 254 0 && head -c 100 disk",
        # Nor is anything changed.
        *(f"echo > {one} && echo done" for one in ("/etc/motd", "/usr/bin/ls", "/made", "/dev/x")),
        "echo changed > /skill/x && echo done",
        "echo 1 > /proc/sys/kernel/core_uses_pid && echo done",
        "echo '|/box/own' > /proc/sys/kernel/core_pattern && echo done",
        "chmod 600 /dev/null && echo done",
    ],
)
def test_nothing_outside_the_folder_is_read_or_changed(folder, secret, command):
    def outside():
        pattern = Path("/proc/sys/kernel/core_pattern").read_text()
        return pattern, Path("/dev/null").stat().st_mode, secret.read_text()

    before = outside()
    box = Box(folder, readable=(("/skill/x", secret),) if "/skill" in command else ())
    command = command.format(secret=secret, parent=secret.parent)
    ran = run_in_box(box, ["sh", "-c", command])
    for found in (CANARY.encode(), b"root:x:", b"root:*:", b"done"):
        assert found not in ran.stdout + ran.stderr
    # nor was it linked or copied for others to find
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    assert not any(CANARY in path.read_text() for path in files)
    assert outside() == before


@needed
def test_files_and_folders_of_any_name_are_shown(tmp_path):
    """Root shows them by a table whose fields end at blanks and whose lines at ends of lines."""
    names = ["plain", "a b", "tab\tline\nreturn\rfeed\f", "\\040 \\", "#", "--", "'$(id)\" \u3000é"]
    for at, name in enumerate(names):
        folder = lay(tmp_path / str(at) / name, {"in": "in,"})
        given = lay(tmp_path / str(at), {f"of {name}": "file,", f"in {name}/x": "below"})
        readable = (("/skill/file", given / f"of {name}"), ("/skill/folder", given / f"in {name}"))
        box = Box(folder, readable=readable)
        ran = run_in_box(box, ["sh", "-c", "cat in /skill/file /skill/folder/x && echo > made"])
        assert (ran.stdout, ran.stderr) == (b"in,file,below", b"")
        assert (folder / "made").exists()


SYSCALLS = """
import ctypes, itertools, json, os, platform, socket, sys
from pathlib import Path
libc = ctypes.CDLL(None, use_errno=True)
add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine(), (0, 0))
SESSION, SEARCH, READ, UNLINK, URING = -3, 10, 11, 9, 425

def call(number, *given):
    made = libc.syscall(number, *given)
    return made if made >= 0 else -ctypes.get_errno()
"""
PROBE = f"""{SYSCALLS}
def attempt(does):
    try:
        return does()
    except OSError:
        return False

found, text = call(keyctl, SEARCH, SESSION, b"user", b"of-the-caller", 0), bytes(99)
kinds = itertools.product(range(64), (1, 2, 3, 5))
processes = (one / what for one in Path("/proc").glob("[0-9]*") for what in ("environ", "cmdline"))
print(json.dumps(dict(
    tcp=attempt(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])))) is not False,
    unix=attempt(lambda: socket.socket(1).connect("\\0" + sys.argv[2])) is None,
    key=str(text[:call(keyctl, READ, found, text, 99)]) if found > 0 else found,
    added=call(add_key, b"user", b"of-the-box", b"x", 1, SESSION) > 0,
    listed=b"of-the-caller" in (attempt(Path("/proc/keys").read_bytes) or b""),
    families=sorted({{one for one, kind in kinds if attempt(lambda: socket.socket(one, kind))}}),
    uring=call(URING, 1, ctypes.create_string_buffer(256)),
    environment=str(os.environ),
    processes="".join(attempt(one.read_text) or "" for one in processes),
)))
"""
CALLER = """
import sys
from pathlib import Path
from skill_eval_nb.grading.sandbox import Box
from tests.grading.made import boxed, wrapped_run
for kind in ("bubblewrap", "none"):
    command = f"python3 probe.py {sys.argv[1]} {sys.argv[2]} {kind}"
    box = Box(Path.cwd(), kind=kind)
    for ran in (boxed(box.folder, command, kind=kind), wrapped_run(box, command)):
        sys.stdout.buffer.write(ran.stdout)
"""


@needed
def test_neither_keys_nor_sockets_nor_the_environment_of_the_caller_are_reached(folder):
    """By a process that had the key from its start, as a user's has; what is there is found."""
    (folder / "probe.py").write_text(PROBE)
    name, own, canary = f"skill-eval-nb-{os.getpid()}", {}, CANARY.encode()
    environment = {**os.environ, "ANTHROPIC_API_KEY": CANARY, "HOME": "/tmp/home-of-caller"}
    environment["PYTHONPATH"] = str(Path.cwd())
    exec(SYSCALLS, own)
    call, of_caller = own["call"], b"of-the-caller"
    planted = call(own["add_key"], b"user", of_caller, canary, len(canary), own["SESSION"])
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.socket(socket.AF_UNIX) as listening,
        ):
            listening.bind(f"\0{name}")
            listening.listen()
            outside, *inside = (
                json.loads(line)
                for program in (["probe.py"], ["-c", CALLER])
                for line in subprocess.run(
                    [sys.executable, *program, str(server.getsockname()[1]), name],
                    env=environment,
                    capture_output=True,
                    check=True,
                    cwd=folder,
                ).stdout.splitlines()
            )
    finally:
        call(own["keyctl"], own["UNLINK"], planted, own["SESSION"])
    assert (outside["tcp"], outside["unix"]) == (True, True)
    if planted > 0:  # some kernels give no key
        assert (outside["key"], outside["added"], outside["listed"]) == (f"{canary}", True, True)
    assert len(inside) == 4
    of_a_network = {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
    for found in inside[:2]:
        assert [found[one] for one in ("tcp", "unix", "added", "listed")] == [False] * 4
        # No socket is made as a virtual machine has to its host, which no namespace holds.
        assert {socket.AF_UNIX, socket.AF_INET} <= set(found["families"]) <= of_a_network
        assert found["key"] == found["uring"] == -errno.ENOSYS  # it makes sockets, too
        assert "ulimit" in found["processes"]  # the first process inside
        assert "PATH=" in found["processes"]
        hidden = str(folder.parent), CANARY, "ANTHROPIC", "home-of-caller"
        assert not [one for one in hidden if one in found["processes"]]
    for found in inside:
        assert "PATH" in found["environment"]
        assert not [one for one in hidden[1:] if one in found["environment"]]


def test_without_a_sandbox_it_runs_in_the_folder_itself(folder, tmp_path):
    (tmp_path / "tmp").mkdir()
    box = Box(folder, kind="none", temporary=tmp_path / "tmp", environment=(("OWN", "1"),))
    lines = run_in_box(box, ["sh", "-c", "pwd; env; ulimit -c"]).stdout.decode().splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert lines[0] == str(folder)
    assert {"PATH", "HOME", "TMPDIR", "LANG", "OWN"} <= names
    assert not {"USER", "ANTHROPIC_API_KEY"} & names
    assert f"HOME={tmp_path / 'tmp'}" in lines


# ── whether one works here ─────────────────────────────────────────────────────────────────────


@pytest.fixture
def anew():
    """Nothing of what is found out is remembered."""
    available.cache_clear()
    yield
    available.cache_clear()


@pytest.mark.usefixtures("anew")
def test_nothing_runs_unkept_unless_that_is_spelled_out(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox.platform, "system", lambda: "Linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    why = available()
    assert why is not None
    assert "apt install bubblewrap" in why
    assert 'sandbox="none"' in why
    with pytest.raises(SandboxMissing, match="bubblewrap"):
        run_in_box(Box(folder), ["touch", "ran"])
    assert not (folder / "ran").exists()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert why_not("none") is None
    assert run_in_box(Box(folder, kind="none"), ["touch", "ran"]).exit_code == 0
    assert (folder / "ran").exists()


@pytest.mark.usefixtures("anew")
def test_one_that_is_there_but_does_not_work(monkeypatch, tmp_path):
    """As in a container that forbids namespaces: its own words are passed on."""
    false = tmp_path / "bwrap"
    false.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    false.chmod(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(sandbox, "wrap_command", lambda *_: nullcontext(([str(false)], ())))
    why = available()
    assert why is not None
    assert "No permissions to create a new namespace" in why
    assert "--privileged" in why


# ── folders come back as their owner's ─────────────────────────────────────────────────────────


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@needed
def test_files_that_were_closed_come_back_without_rights_of_others_and_links_stay(folder, secret):
    secret.chmod(0o4000)
    bits = "cp /usr/bin/id own; chmod 6755 own; mkdir d; chmod 2777 d"
    made = f"ln -s {secret} link; ln -s nothing nowhere; mkfifo pipe; mkdir -p a/b; echo x > a/b/f"
    assert boxed(folder, f"{bits}; {made}; chmod 000 a/b/f a/b a; chmod 000 .").exit_code == 0
    assert mode(folder) & 0o700 == mode(folder / "a" / "b") & 0o700 == 0o700
    assert mode(folder / "a" / "b" / "f") & 0o400
    assert mode(folder / "own") == 0o755
    assert not mode(folder / "d") & stat.S_ISGID
    assert mode(secret) == 0o4000
    assert (folder / "link").is_symlink()
    owners = {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}
    assert owners == {os.geteuid()}
    shutil.rmtree(folder)


@needed
@pytest.mark.skipif(os.geteuid() != 0, reason="left out: only root can give a folder away")
def test_a_box_that_was_killed_leaves_nothing_to_nobody(folder):
    (folder / "f").touch()
    for path in (folder, folder / "f"):
        os.chown(path, 65534, 65534)
    with lend_folders(Box(folder)):
        assert (folder / "f").stat().st_uid == 65534
    assert (folder / "f").stat().st_uid == folder.stat().st_uid == 0


# ── another user ───────────────────────────────────────────────────────────────────────────────

AS_ANOTHER = """
import sys
from pathlib import Path
from skill_eval_nb.grading.sandbox import Box, BoxLimits, available, run_in_box
assert available() is None, available()
folder = Path(sys.argv[1])
box = Box(folder, limits=BoxLimits(processes=40, seconds=20, disk_bytes=32 << 20))
look = "id -u; cat " + sys.argv[2] + " /etc/shadow; echo x > f; chmod 4700 f"
said = run_in_box(box, ["sh", "-c", look])
assert said.stdout == b"65534\\n", said
assert (folder / "f").stat().st_mode & 0o7777 == 0o700
bomb = run_in_box(box, ["python3", "-c", "import os\\nwhile True: os.fork()"])
assert bomb.ended == "killed", bomb
fill = run_in_box(box, ["sh", "-c", "while :; do i=$((i+1)); head -c 4M /dev/zero > f$i; done"])
assert fill.ended == "disk", fill
print("held")
"""
VERSION = "import sys; raise SystemExit(sys.version_info < (3, 11))"


@needed
@pytest.mark.skipif(os.geteuid() != 0, reason="left out: only root can be another user")
def test_for_a_user_other_than_root_it_holds_as_well():
    python = Path("/usr/bin/python3")
    if not python.exists() or subprocess.run([python, "-c", VERSION], check=False).returncode:
        pytest.skip("left out: the system has no Python 3.11, and ours may be root's alone")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own is root's alone
        Path(name).chmod(0o755)
        folder, secret = Path(name, "work"), Path(name, "secret")
        folder.mkdir()
        os.chown(folder, 65534, 65534)
        secret.write_text(CANARY)
        secret.chmod(0o600)
        other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        ran = subprocess.run(
            [*other, python, "-B", "-c", AS_ANOTHER, folder, secret],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path.cwd()), "HOME": str(folder)},
            capture_output=True,
            check=False,
            cwd="/",
        )
    assert (ran.stdout, ran.stderr) == (b"held\n", b"")
