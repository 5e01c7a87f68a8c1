"""What a command in a box can do, and what becomes of one that tries what it must not."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from skill_eval_nb.grading.sandbox import Box, BoxLimits, arun, run
from tests.bubblewrap import needed
from tests.grading.sandbox.made import MIB, boxed, marker, running, until, wrapped_run

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
    assert ran.stdout == b"given/box\n"
    assert ran.stderr == b"oops\n"
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
    said = ran.stdout + ran.stderr
    assert CANARY.encode() not in said
    assert b"root:x:" not in ran.stdout
    assert b"root:*:" not in ran.stdout
    # nor was it linked or copied for others to find
    assert not any(
        CANARY in path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


@pytest.mark.parametrize("place", ["/etc/motd", "/usr/bin/ls", "/made", "/dev/made", "/skill/x"])
def test_nothing_outside_the_folder_is_written(folder, tmp_path, place):
    skill = tmp_path / "skill"
    skill.mkdir()
    (skill / "x").write_text("as it was")
    ran = boxed(folder, f"echo changed > {place}", readable=(("/skill", skill),))
    assert ran.exit_code != 0
    assert (skill / "x").read_text() == "as it was"


@pytest.mark.parametrize(
    "command",
    [
        "echo 1 > /proc/sys/kernel/core_uses_pid",
        "echo '|/box/own' > /proc/sys/kernel/core_pattern",
        "echo b > /proc/sysrq-trigger",
        "chmod 600 /dev/null",
    ],
)
def test_the_machine_is_not_changed(folder, command):
    before = Path("/proc/sys/kernel/core_pattern").read_text(), Path("/dev/null").stat().st_mode
    assert boxed(folder, f"{command} && echo done").stdout == b""
    after = Path("/proc/sys/kernel/core_pattern").read_text(), Path("/dev/null").stat().st_mode
    assert after == before


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
        assert run(Box(folder), ["python3", "-c", code]).stdout == b"refused\nrefused\n"


SEARCH = "env; cat /proc/*/environ; cat /proc/*/cmdline; cat /proc/*/mountinfo >/dev/null"


@pytest.mark.parametrize("way", ["run", "wrapped"])
@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
def test_no_key_is_read_from_the_environment(folder, way, kind):
    """In a process that had the key from its start, as a user's has."""
    look = SEARCH if kind == "bubblewrap" else "env"
    code = f"""
import subprocess, sys
from pathlib import Path
from skill_eval_nb.grading.sandbox import Box, run
from tests.grading.sandbox.made import wrapped_run
box = Box(Path({str(folder)!r}), kind={kind!r})
argv = ["sh", "-c", {look!r}]
if {way!r} == "run":
    said = run(box, argv).stdout
else:
    said = wrapped_run(box, *argv, cwd=box.folder, check=False).stdout
sys.stdout.buffer.write(said)
"""
    environment = {**os.environ, "ANTHROPIC_API_KEY": CANARY, "HOME": "/tmp/home-of-caller"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True, cwd="."
    )
    assert b"PATH=" in ran.stdout  # it did look
    assert CANARY.encode() not in ran.stdout
    assert b"ANTHROPIC" not in ran.stdout
    assert b"home-of-caller" not in ran.stdout


def test_the_folders_place_on_the_host_is_not_in_the_list_of_processes(folder):
    ran = boxed(folder, "cat /proc/*/cmdline | tr '\\0' ' '")
    assert b"ulimit" in ran.stdout  # the first process inside
    assert str(folder.parent).encode() not in ran.stdout


FORKING = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass  # the kernel's limit: tried again
"""
SLEEPERS = "while :; do sleep 60 & done"


@pytest.mark.parametrize("argv", [["python3", "-c", FORKING], ["sh", "-c", SLEEPERS]])
def test_forking_without_end_is_ended(folder, argv):
    ran = run(Box(folder, limits=BoxLimits(processes=40, seconds=30)), argv)
    assert ran.ended == "killed"
    assert "more than 40 processes" in ran.message


def test_a_bomb_that_dies_of_the_kernels_limit_is_over(folder):
    """A shell that cannot fork ends; whether anybody looked while there were many is chance."""
    mark = marker()
    ran = boxed(
        folder, f"bomb() {{ bomb | bomb & }}; bomb; wait; : {mark}", processes=40, seconds=30
    )
    assert ran.ended in ("killed", "exit")
    assert running(mark) == []


def test_the_kernel_holds_the_number_of_processes_too(folder):
    """Also where nobody looks: `wrapped` is all that another room uses."""
    box = Box(folder, limits=BoxLimits(processes=20))
    count = "for i in $(seq 100); do sleep 30 & done; ls -d /proc/[0-9]* | wc -l"
    code = "import sys, subprocess; subprocess.run(sys.argv[1:], close_fds=False)"
    ran = wrapped_run(box, "sh", "-c", count, lead=[sys.executable, "-c", code], check=False)
    assert b"ork" in ran.stderr  # cannot fork


@pytest.mark.parametrize(
    ("command", "ended", "said"),
    [
        ("cat /dev/zero > big", "exit", "a file would have passed 8 MiB"),
        ("i=0; while :; do head -c 4M /dev/zero > f$i; i=$((i+1)); done", "disk", "12 MiB"),
    ],
    ids=["one big file", "many files"],
)
def test_filling_the_disk_is_ended(folder, command, ended, said):
    ran = boxed(folder, command, file_bytes=8 * MIB, disk_bytes=12 * MIB)
    assert ran.ended == ended
    assert ran.exit_code != 0
    assert said in ran.message


def test_filling_the_disk_with_files_that_no_folder_shows(folder):
    code = """
import os, time
kept = []
for n in range(12):
    kept.append(open(f"f{n}", "wb")); os.unlink(f"f{n}")
    kept[-1].write(bytes(4 << 20)); kept[-1].flush()
time.sleep(60)
"""
    limits = BoxLimits(file_bytes=8 * MIB, disk_bytes=32 * MIB, seconds=50)
    ran = run(Box(folder, limits=limits), ["python3", "-c", code])
    assert ran.ended == "disk"


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_what_lies_in_memory_is_bounded(folder, place):
    ran = boxed(folder, f"head -c 200M /dev/zero > {place}/x; stat -c %s {place}/x")
    assert b"No space left" in ran.stderr
    assert int(ran.stdout) <= 64 * MIB


def test_one_process_that_takes_too_much_memory(folder):
    ran = run(
        Box(folder, limits=BoxLimits(memory_bytes=200 * MIB)),
        ["python3", "-c", "x = b'1' * (400 << 20); print(len(x))"],
    )
    assert ran.exit_code != 0
    assert b"MemoryError" in ran.stderr


def test_many_processes_that_take_too_much_memory_together(folder):
    code = "import os, time\nfor _ in range(3): os.fork()\nx = b'1' * (60 << 20); time.sleep(60)"
    limits = BoxLimits(memory_bytes=200 * MIB, seconds=50)
    ran = run(Box(folder, limits=limits), ["python3", "-c", code])
    assert ran.ended == "killed"
    assert "200 MiB of memory" in ran.message


MEMFD = """
import os, time
files = []
for n in range(1024):
    if n % 128 == 0:
        files.append(os.memfd_create("x"))
    os.write(files[-1], bytes(1 << 20))
    print(n, flush=True)
    time.sleep(0.005 if n < 300 else 0.5)  # above the limit a busy machine has time to look
time.sleep(60)
"""
SOCKETS = """
import resource, socket, time
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
kept, sent = [], 0
while sent < 1 << 30:
    near, far = socket.socketpair()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    near.setblocking(False)
    try:
        while True:
            sent += near.send(bytes(65536))
    except BlockingIOError:
        pass
    kept.append({keep})
    print(sent >> 20, flush=True)
    time.sleep(0.01 if sent < 300 << 20 else 0.5)
time.sleep(60)
"""
HELD = {
    "files in memory": MEMFD,
    "sockets": SOCKETS.format(keep="(near, far)"),
    "sockets closed by who sent": SOCKETS.format(keep="far"),
}


@pytest.mark.parametrize("code", HELD.values(), ids=HELD)
def test_memory_that_no_process_has_mapped_counts_too(folder, code):
    """A gigabyte of it is not to be had under a limit of a quarter."""
    limits = BoxLimits(memory_bytes=256 * MIB, seconds=50)
    ran = run(Box(folder, limits=limits), ["python3", "-c", code])
    assert ran.ended == "killed"
    assert "256 MiB of memory" in ran.message
    assert 0 < int(ran.stdout.split()[-1]) < 800


MANY = """
import os
if {fork}: os.fork()
own = f"{place}/{{os.getpid()}}"; os.mkdir(own); os.chdir(own)
for n in range({levels}): os.mkdir("d"); os.chdir("d")
for n in range(250_000):
    os.close(os.open(str(n), os.O_CREAT))
print("made")
"""


@pytest.mark.parametrize(
    ("place", "levels", "said"),
    [
        ("/box", 0, "grew by more than 5,000 files and folders"),
        ("/box", 150, "more than 100 deep"),
        ("/dev/shm", 0, "more than 5,000 files in memory"),
    ],
)
def test_half_a_million_files_are_ended_before_there_are_many(folder, place, levels, said):
    """Each takes an inode, though next to no room."""
    limits = BoxLimits(entries=5000, disk_bytes=1 << 40, seconds=50)
    code = MANY.format(place=place, levels=levels, fork=True)
    ran = run(Box(folder, limits=limits), ["python3", "-c", code])
    assert (ran.ended, ran.stdout) == ("disk", b""), ran
    assert said in ran.message
    assert sum(len(names) for _, _, names in os.walk(folder)) < 150_000


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
@pytest.mark.parametrize("lead", ["", "trap '' TERM INT HUP; ", "exec >/dev/null 2>&1; "])
def test_sleeping_for_ever_is_ended(folder, kind, lead):
    mark = marker()
    ran = boxed(folder, f"{lead}sleep {mark}; true", kind=kind, seconds=0.5)
    assert ran.ended == "time"
    assert ran.exit_code == 137
    assert "longer than 0.5 s" in ran.message
    assert not running(mark)


@pytest.mark.parametrize(
    "leave",
    [
        "sleep {} &",
        "setsid sleep {} >/dev/null 2>&1 &",
        "(setsid nohup sh -c 'trap \"\" TERM HUP; sleep {}; true' <&- >&- 2>&- &);",
    ],
)
def test_no_child_stays_behind(folder, leave):
    mark = marker()
    ran = boxed(folder, leave.format(mark) + " echo left")
    assert ran.stdout == b"left\n"
    assert (ran.exit_code, ran.ended) == (0, "exit")
    assert not running(mark)
    assert ran.left >= 1
    assert ran.message == f"The command ended with exit code 0. {ran.left_words}"


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, ""),
        (1, " 1 process it left behind was ended."),
        (5, " 5 processes it left behind were ended."),
    ],
)
def test_what_is_left_behind_is_counted(folder, kind, count, said):
    ran = run(Box(folder, kind=kind), ["python3", "-c", LEAVE, str(count)])
    assert (ran.left, ran.message) == (count, f"The command ended with exit code 7.{said}")


@pytest.mark.parametrize("command", ["kill 0; sleep 0.1; echo on", "kill -9 1; echo on"])
def test_a_command_does_not_end_the_first_process(folder, command):
    ran = boxed(folder, f"trap '' TERM; {command}; exit 4")
    assert (ran.stdout, ran.exit_code) == (b"on\n", 4)


def test_nothing_stays_behind_where_the_caller_is_killed(folder):
    mark = marker()
    code = f"""
from pathlib import Path
from skill_eval_nb.grading.sandbox import Box, run
run(Box(Path({str(folder)!r})), ["sh", "-c", "setsid sleep {mark} & sleep 60"])
"""
    caller = subprocess.Popen([sys.executable, "-c", code], cwd=".")
    try:
        inside = until(lambda: [pid for pid in running(mark) if _is_sleep(pid)])
        assert inside
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    assert until(lambda: not running(mark))


def _is_sleep(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep")
    except OSError:
        return False


def test_output_without_end_is_ended(folder):
    ran = boxed(folder, "yes", output_bytes=1000)
    assert ran.ended == "killed"
    assert ran.stdout == b"y\n" * 500
    assert ran.cut
    assert "printed more than 100,000 bytes" in ran.message


LEAVE = """
import os, sys, time
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.closerange(0, 3)
        time.sleep(600)
os._exit(7)
"""


def test_many_run_at_once(tmp_path):
    """Each waits for all the others."""
    shared = tmp_path / "shared"
    shared.mkdir()
    wait = f"touch {shared}/$0; until [ $(ls {shared} | wc -l) = 6 ]; do sleep 0.02; done"
    boxes = [Box(tmp_path / str(n), kind="none") for n in range(6)]
    for box in boxes:
        box.folder.mkdir()

    async def every():
        commands = (arun(box, ["sh", "-c", wait, str(n)]) for n, box in enumerate(boxes))
        return await asyncio.gather(*commands)

    assert [ran.exit_code for ran in asyncio.run(every())] == [0] * 6


def test_one_that_is_cancelled_is_ended_first(folder):
    mark = marker()

    async def cancelled() -> None:
        task = asyncio.create_task(arun(Box(folder), ["sh", "-c", f"sleep {mark} & sleep 60"]))
        while not running(mark):  # noqa: ASYNC110 (another process is waited for)
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not running(mark)

    asyncio.run(cancelled())
    (folder / "again").mkdir()  # and the folder is the caller's again
    assert folder.stat().st_uid == os.geteuid()


def test_without_a_sandbox_it_runs_in_the_folder_itself(folder, tmp_path):
    (tmp_path / "tmp").mkdir()
    box = Box(folder, kind="none", temporary=tmp_path / "tmp", environment=(("OWN", "1"),))
    ran = run(box, ["sh", "-c", "pwd; env; ulimit -c"])
    names = {line.partition("=")[0] for line in ran.stdout.decode().splitlines()}
    assert ran.stdout.decode().splitlines()[0] == str(folder)
    assert {"PATH", "HOME", "TMPDIR", "LANG", "OWN"} <= names
    assert not {"USER", "ANTHROPIC_API_KEY"} & names
    assert f"HOME={tmp_path / 'tmp'}" in ran.stdout.decode()


AS_ANOTHER = """
import sys
from pathlib import Path
from skill_eval_nb.grading.sandbox import Box, BoxLimits, available, run
assert available() is None, available()
folder = Path(sys.argv[1])
box = Box(folder, limits=BoxLimits(processes=40, seconds=20, disk_bytes=32 << 20))
look = "id -u; cat " + sys.argv[2] + " /etc/shadow; echo x > f; chmod 4700 f"
said = run(box, ["sh", "-c", look])
assert said.stdout == b"65534\\n", said
assert (folder / "f").stat().st_mode & 0o7777 == 0o700
bomb = run(box, ["python3", "-c", "import os\\nwhile True: os.fork()"])
assert bomb.ended == "killed", bomb
fill = run(box, ["sh", "-c", "while :; do i=$((i+1)); head -c 4M /dev/zero > f$i; done"])
assert fill.ended == "disk", fill
print("held")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="left out: only root can be another user")
def test_for_a_user_other_than_root_it_holds_as_well(tmp_path):
    python = Path("/usr/bin/python3")
    if not python.exists() or _version(python) < (3, 11):
        pytest.skip("left out: the system has no Python 3.11, and ours may be root's alone")
    with _open_folder() as folder:
        (folder.parent / "secret").write_text(CANARY)
        (folder.parent / "secret").chmod(0o600)
        other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        ran = subprocess.run(
            [*other, python, "-B", "-c", AS_ANOTHER, folder, folder.parent / "secret"],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path.cwd()), "HOME": str(folder)},
            capture_output=True,
            check=False,
            cwd="/",
        )
    assert (ran.stdout, ran.stderr) == (b"held\n", b"")


def _version(python):
    code = "import sys; print(*sys.version_info[:2])"
    return tuple(map(int, subprocess.check_output([python, "-c", code]).split()))


@contextlib.contextmanager
def _open_folder():
    """A folder that every user comes to, which pytest's are not."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        folder = Path(name, "work")
        folder.mkdir()
        os.chown(folder, 65534, 65534)
        yield folder
