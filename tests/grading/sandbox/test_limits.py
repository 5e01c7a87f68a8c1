"""A command that takes more than it may is ended, with all that it began."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys

import pytest

from skill_eval_nb.grading.sandbox import Box, BoxLimits, arun, run_in_box
from tests.bubblewrap import needed
from tests.grading.sandbox.made import MIB, boxed, marker, python, running, until, wrapped_run

pytestmark = needed

FORKING = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass  # the kernel's limit: tried again
"""
UNLINKED = """
import os, time
kept = []
for n in range(12):
    kept.append(open(f"f{n}", "wb")); os.unlink(f"f{n}")
    kept[-1].write(bytes(4 << 20)); kept[-1].flush()
time.sleep(60)
"""
TOGETHER = "import os, time\nfor _ in range(3): os.fork()\nx = b'1' * (60 << 20); time.sleep(60)"
PROCESSES = {"processes": 40, "seconds": 30}
DISK = {"file_bytes": 8 * MIB, "disk_bytes": 12 * MIB, "seconds": 50}
TOO_MUCH = {
    "forking": (python(FORKING), PROCESSES, "killed", "more than 40 processes"),
    "sleepers": ("while :; do sleep 60 & done", PROCESSES, "killed", "more than 40 processes"),
    "one big file": ("cat /dev/zero > big", DISK, "exit", "a file would have passed 8 MiB"),
    "many files": (
        *("i=0; while :; do head -c 4M /dev/zero > f$i; i=$((i+1)); done", DISK),
        *("disk", "more than 12 MiB"),
    ),
    "files that no folder shows": (python(UNLINKED), DISK, "disk", "more than 12 MiB"),
    "memory of many": (
        *(python(TOGETHER), {"memory_bytes": 200 * MIB, "seconds": 50}),
        *("killed", "200 MiB of memory"),
    ),
}


@pytest.mark.parametrize(("command", "limits", "ended", "said"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_passes_a_limit_is_ended(tmp_path, command, limits, ended, said):
    ran = boxed(tmp_path, command, **limits)
    assert ran.ended == ended
    assert ran.exit_code != 0
    assert said in ran.message


def test_a_bomb_that_dies_of_the_kernels_limit_is_over(tmp_path):
    """A shell that cannot fork ends; whether anybody looked while there were many is chance."""
    mark = marker()
    ran = boxed(tmp_path, f"bomb() {{ bomb | bomb & }}; bomb; wait; : {mark}", **PROCESSES)
    assert ran.ended in ("killed", "exit")
    assert running(mark) == []


def test_the_kernel_holds_the_number_of_processes_too(tmp_path):
    """Also where nobody looks: `wrapped` is all that another room uses."""
    box = Box(tmp_path, limits=BoxLimits(processes=20))
    count = "for i in $(seq 100); do sleep 30 & done; ls -d /proc/[0-9]* | wc -l"
    assert b"ork" in wrapped_run(box, count).stderr  # cannot fork


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_what_lies_in_memory_is_bounded(tmp_path, place):
    ran = boxed(tmp_path, f"head -c 200M /dev/zero > {place}/x; stat -c %s {place}/x")
    assert b"No space left" in ran.stderr
    assert int(ran.stdout) <= 64 * MIB


def test_one_process_that_takes_too_much_memory(tmp_path):
    ran = boxed(tmp_path, python("x = b'1' * (400 << 20)"), memory_bytes=200 * MIB)
    assert ran.exit_code != 0
    assert b"MemoryError" in ran.stderr


def test_memory_that_is_shared_counts_once(tmp_path):
    """Thirty of them hold the same libraries: some 10 MB together, not 30 × 2."""
    command = "for i in $(seq 30); do sleep 1 & done; wait"
    assert boxed(tmp_path, command, memory_bytes=32 * MIB).ended == "exit"


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
    kept.append((near, far))
    print(sent >> 20, flush=True)
    time.sleep(0.01 if sent < 300 << 20 else 0.5)
time.sleep(60)
"""
HELD = {
    "files in memory": MEMFD,
    "sockets": SOCKETS,
}


@pytest.mark.parametrize("code", HELD.values(), ids=HELD)
def test_memory_that_no_process_has_mapped_counts_too(tmp_path, code):
    """A gigabyte of it is not to be had under a limit of a quarter."""
    ran = boxed(tmp_path, python(code), memory_bytes=256 * MIB, seconds=50)
    assert ran.ended == "killed"
    assert "256 MiB of memory" in ran.message
    assert 0 < int(ran.stdout.split()[-1]) < 800


MANY = """
import os
os.fork()
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
def test_half_a_million_files_are_ended_before_there_are_many(tmp_path, place, levels, said):
    """Each takes an inode, though next to no room."""
    code = MANY.format(place=place, levels=levels)
    ran = boxed(tmp_path, python(code), entries=5000, disk_bytes=1 << 40, seconds=50)
    assert (ran.ended, ran.stdout) == ("disk", b""), ran
    assert said in ran.message
    assert sum(len(names) for _, _, names in os.walk(tmp_path)) < 150_000


def test_folders_too_deep_to_be_read_are_removed(tmp_path):
    code = "import os\nfor _ in range(1000): os.mkdir('deep'); os.chdir('deep')"
    ran = boxed(tmp_path, f'python3 -c "{code}"; sleep 60')
    assert ran.ended == "disk"  # nobody knows how much is in there
    assert "more than 100 deep" in ran.message
    assert 1 < sum(1 for _ in os.walk(tmp_path)) <= 101
    shutil.rmtree(tmp_path / "deep")


def test_the_temporary_folder_counts_too(tmp_path):
    work, temporary = tmp_path / "work", tmp_path / "tmp"
    work.mkdir()
    temporary.mkdir()
    box = Box(work, kind="none", temporary=temporary, limits=BoxLimits(disk_bytes=MIB))
    ran = run_in_box(box, ["sh", "-c", "head -c 2M /dev/urandom > $TMPDIR/new; sleep 50"])
    assert ran.ended == "disk"


def test_output_without_end_is_ended(tmp_path):
    ran = boxed(tmp_path, "yes", output_bytes=1000)
    assert (ran.ended, ran.cut, ran.stdout) == ("killed", True, b"y\n" * 500)
    assert "printed more than 100,000 bytes" in ran.message


# ── ending ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
@pytest.mark.parametrize("lead", ["", "trap '' TERM INT HUP; ", "exec >/dev/null 2>&1; "])
def test_sleeping_for_ever_is_ended(tmp_path, kind, lead):
    mark = marker()
    ran = boxed(tmp_path, f"{lead}sleep {mark}; true", kind=kind, seconds=0.5)
    assert (ran.ended, ran.exit_code) == ("time", 137)
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
def test_no_child_stays_behind(tmp_path, leave):
    mark = marker()
    ran = boxed(tmp_path, leave.format(mark) + " echo left")
    assert (ran.stdout, ran.exit_code, ran.ended) == (b"left\n", 0, "exit")
    assert not running(mark)
    assert ran.left >= 1
    assert ran.message == f"The command ended with exit code 0. {ran.left_words}"


LEAVE = """
import os, time
for _ in range({}):
    if os.fork() == 0:
        os.closerange(0, 3)
        time.sleep(600)
os._exit(7)
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("count", "said"), [(0, ""), (5, " 5 processes it left behind were ended.")]
)
def test_what_is_left_behind_is_counted(tmp_path, kind, count, said):
    ran = boxed(tmp_path, python(LEAVE.format(count)), kind=kind)
    assert (ran.left, ran.message) == (count, f"The command ended with exit code 7.{said}")


@pytest.mark.parametrize("command", ["kill 0; sleep 0.1; echo on", "kill -9 1; echo on"])
def test_a_command_does_not_end_the_first_process(tmp_path, command):
    ran = boxed(tmp_path, f"trap '' TERM; {command}; exit 4")
    assert (ran.stdout, ran.exit_code) == (b"on\n", 4)


def test_nothing_stays_behind_where_the_caller_is_killed(tmp_path):
    mark = marker()
    code = f"""
from pathlib import Path
from skill_eval_nb.grading.sandbox import Box, run_in_box
run_in_box(Box(Path({str(tmp_path)!r})),
    ["sh", "-c", "setsid sleep {mark} & touch begun; sleep 60"])
"""
    caller = subprocess.Popen([sys.executable, "-c", code], cwd=".")
    try:
        assert until(lambda: (tmp_path / "begun").exists() and len(running(mark)) > 1)
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    assert until(lambda: not running(mark))


def test_one_that_is_cancelled_is_ended_first(tmp_path):
    mark = marker()

    async def cancelled() -> None:
        task = asyncio.create_task(arun(Box(tmp_path), ["sh", "-c", f"sleep {mark} & sleep 60"]))
        while not running(mark):  # noqa: ASYNC110 (another process is waited for)
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not running(mark)

    asyncio.run(cancelled())
    (tmp_path / "again").mkdir()  # and the folder is the caller's again
    assert tmp_path.stat().st_uid == os.geteuid()
