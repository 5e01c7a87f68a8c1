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
from pathlib import Path

import pytest

from skill_eval_nb.grading.sandbox import Box, lent, run_in_box, used
from tests.bubblewrap import needed
from tests.grading.sandbox.made import boxed, python

pytestmark = needed

CANARY = "canary-5f1d2c"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def secret(tmp_path):
    """A file of the host, outside the folder."""
    made = tmp_path / "secret.txt"
    made.write_text(CANARY)
    return made


def test_it_works_in_its_folder(folder):
    (folder / "in.txt").write_text("given")
    ran = boxed(folder, "cat in.txt; pwd; echo made > out.txt; echo oops >&2; exit 3")
    assert (ran.stdout, ran.stderr) == (b"given/box\n", b"oops\n")
    assert (ran.exit_code, ran.ended, ran.cut) == (3, "exit", False)
    assert ran.message == "The command ended with exit code 3."
    assert (folder / "out.txt").read_text() == "made\n"
    assert (folder / "out.txt").stat().st_uid == os.geteuid()


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/shadow",
        "cat {secret}",
        "cat ../secret.txt",
        "ln -s {secret} link && cat link",
        "ln -s {parent} up && cat up/secret.txt",
        "ln {secret} hard && cat hard",
        "cat /proc/1/root{secret}",
        "cat /proc/1/cwd/../secret.txt",
        "cat /proc/self/root{secret}",
        "cp -r {parent} copy; grep -r . copy",
        "grep -rs canary-5f1 / --exclude-dir=proc --exclude-dir=usr --exclude-dir=lib",
        "ls -a ~ /home /root; cat ~/.bash_history ~/.ssh/*",
        "mount --bind / /mnt; unshare --user --map-root-user cat {secret}",
        "mknod disk b 254 0 && head -c 100 disk",
    ],
)
def test_nothing_outside_the_folder_is_read(folder, secret, command):
    ran = boxed(folder, command.format(secret=secret, parent=secret.parent))
    assert CANARY.encode() not in ran.stdout + ran.stderr
    assert b"root:x:" not in ran.stdout
    assert b"root:*:" not in ran.stdout
    # nor was it linked or copied for others to find
    assert not any(
        CANARY in path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


@pytest.mark.parametrize(
    "command",
    [
        *(f"echo changed > {one}" for one in ("/etc/motd", "/usr/bin/ls", "/made", "/dev/made")),
        "echo changed > /skill/x",
        "echo 1 > /proc/sys/kernel/core_uses_pid",
        "echo '|/box/own' > /proc/sys/kernel/core_pattern",
        "echo b > /proc/sysrq-trigger",
        "chmod 600 /dev/null",
    ],
)
def test_nothing_outside_the_folder_is_changed(folder, secret, command):
    def outside():
        pattern = Path("/proc/sys/kernel/core_pattern").read_text()
        return pattern, Path("/dev/null").stat().st_mode, secret.read_text()

    before = outside()
    box = Box(folder, readable=(("/skill/x", secret),))
    assert run_in_box(box, ["sh", "-c", f"{command} && echo done"]).stdout == b""
    assert outside() == before


def test_no_socket_of_the_host_is_reached(folder):
    name = f"skill-eval-nb-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as listening,
    ):
        listening.bind(f"\0{name}")
        listening.listen()
        code = f"""
import socket
for family, at in ((2, ("127.0.0.1", {server.getsockname()[1]})), (1, "\\0{name}")):
    try:
        socket.socket(family).connect(at)
        print("in")
    except OSError:
        print("refused")
"""
        outside = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert outside.stdout == b"in\nin\n"  # they are there, and answer
        assert boxed(folder, python(code)).stdout == b"refused\nrefused\n"


SYSCALLS = """
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine(), (0, 0))
SESSION, SEARCH, READ, UNLINK, URING = -3, 10, 11, 9, 425

def call(number, *given):
    made = libc.syscall(number, *given)
    return made if made >= 0 else -ctypes.get_errno()
"""
KEY = f"""{SYSCALLS}
found, text = call(keyctl, SEARCH, SESSION, b"user", b"of-the-caller", 0), bytes(99)
print(text[:call(keyctl, READ, found, text, 99)] if found > 0 else found)
print(call(add_key, b"user", b"of-the-box", b"x", 1, SESSION) > 0)
try:
    print(b"of-the-caller" in open("/proc/keys", "rb").read())
except PermissionError:
    print("hidden")
"""


def test_no_key_is_read_from_the_callers_keyring(folder):
    own = {}
    exec(SYSCALLS, own)
    call, canary = own["call"], CANARY.encode()
    planted = call(own["add_key"], b"user", b"of-the-caller", canary, len(canary), own["SESSION"])
    if planted < 0:
        pytest.skip(f"left out: the kernel gives no key here ({os.strerror(-planted)})")
    try:
        outside = subprocess.run([sys.executable, "-c", KEY], capture_output=True, check=True)
        inside = boxed(folder, python(KEY)).stdout
    finally:
        call(own["keyctl"], own["UNLINK"], planted, own["SESSION"])
    assert outside.stdout == f"{canary}\nTrue\nTrue\n".encode()
    assert inside == f"-{errno.ENOSYS}\nFalse\nhidden\n".encode()


FAMILIES = f"""{SYSCALLS}
import itertools, socket
made = set()
for family, kind in itertools.product(range(64), (1, 2, 3, 5)):
    try:
        socket.socket(family, kind).close()
        made.add(family)
    except OSError:
        pass
print(sorted(made), call(URING, 1, ctypes.create_string_buffer(256)))
"""


def test_no_socket_reaches_past_the_network_of_the_box(folder):
    """As those of a virtual machine to its host do, which no namespace holds."""
    of_a_network = {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
    made, ring = boxed(folder, python(FAMILIES)).stdout.decode().rsplit(maxsplit=1)
    assert {socket.AF_UNIX, socket.AF_INET} <= set(json.loads(made)) <= of_a_network
    assert int(ring) == -errno.ENOSYS  # it makes sockets, too


LOOKING = """
import sys
from pathlib import Path
from skill_eval_nb.grading.sandbox import Box, run_in_box
from tests.grading.sandbox.made import boxed, wrapped_run
look = "env; cat /proc/*/environ; cat /proc/*/cmdline; cat /proc/*/mountinfo >/dev/null"
here = Path(".")
for kind, command in (("bubblewrap", look), ("none", "env")):
    sys.stdout.buffer.write(boxed(here, command, kind=kind).stdout)
    sys.stdout.buffer.write(wrapped_run(Box(here, kind=kind), command).stdout)
"""


def test_no_key_is_read_from_the_environment(folder):
    """In a process that had the key from its start, as a user's has."""
    environment = {**os.environ, "ANTHROPIC_API_KEY": CANARY, "HOME": "/tmp/home-of-caller"}
    environment["PYTHONPATH"] = str(Path.cwd())
    said = subprocess.run(
        [sys.executable, "-c", LOOKING],
        env=environment,
        capture_output=True,
        check=True,
        cwd=folder,
    ).stdout
    assert said.count(b"PATH=") >= 4  # all four did look
    for hidden in (CANARY.encode(), b"ANTHROPIC", b"home-of-caller"):
        assert hidden not in said


def test_the_folders_place_on_the_host_is_not_in_the_list_of_processes(folder):
    ran = boxed(folder, "cat /proc/*/cmdline | tr '\\0' ' '")
    assert b"ulimit" in ran.stdout  # the first process inside
    assert str(folder.parent).encode() not in ran.stdout


def test_without_a_sandbox_it_runs_in_the_folder_itself(folder, tmp_path):
    (tmp_path / "tmp").mkdir()
    box = Box(folder, kind="none", temporary=tmp_path / "tmp", environment=(("OWN", "1"),))
    lines = run_in_box(box, ["sh", "-c", "pwd; env; ulimit -c"]).stdout.decode().splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert lines[0] == str(folder)
    assert {"PATH", "HOME", "TMPDIR", "LANG", "OWN"} <= names
    assert not {"USER", "ANTHROPIC_API_KEY"} & names
    assert f"HOME={tmp_path / 'tmp'}" in lines


# ── folders come back as their owner's ─────────────────────────────────────────────────────────


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_files_that_were_closed_can_be_read_and_removed(folder):
    made = "mkdir -p a/b; echo x > a/b/f; chmod 000 a/b/f a/b a; chmod 000 ."
    assert boxed(folder, made).exit_code == 0
    assert mode(folder) & 0o700 == mode(folder / "a" / "b") & 0o700 == 0o700
    assert mode(folder / "a" / "b" / "f") & 0o400
    owners = {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}
    assert owners == {os.geteuid()}
    shutil.rmtree(folder)


def test_no_file_makes_who_runs_it_another_user_and_no_link_is_followed(folder, secret):
    secret.chmod(0o4000)
    bits = "cp /usr/bin/id own; chmod 6755 own; mkdir d; chmod 2777 d"
    boxed(folder, f"{bits}; ln -s {secret} link; ln -s nothing nowhere; mkfifo pipe")
    assert mode(folder / "own") == 0o755
    assert not mode(folder / "d") & stat.S_ISGID
    assert mode(secret) == 0o4000
    assert (folder / "link").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="left out: only root can give a folder away")
def test_a_box_that_was_killed_leaves_nothing_to_nobody(folder):
    (folder / "f").touch()
    for path in (folder, folder / "f"):
        os.chown(path, 65534, 65534)
    with lent(Box(folder)):
        assert (folder / "f").stat().st_uid == 65534
    assert (folder / "f").stat().st_uid == folder.stat().st_uid == 0


def test_what_is_used_counts_each_entry_and_follows_no_link(folder, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    box = Box(folder, temporary=temporary)
    (tmp_path / "big").write_bytes(bytes(1 << 20))
    (folder / "link").symlink_to(tmp_path / "big")
    (folder / "d").mkdir()
    (folder / "d" / "empty").touch()
    assert (used(box).bytes, used(box).entries) == (3 * 4096, 3)
    (temporary / "full").write_bytes(os.urandom(1 << 20))
    assert used(box).bytes >= 3 * 4096 + (1 << 20)
    assert used(Box(tmp_path / "not there")).entries == 0


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
