"""A command that takes more than it may is ended, with all that it began."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from skill_eval_nb.grading.sandbox import Box, BoxLimits
from tests.bubblewrap import needed
from tests.grading.made import MIB, boxed, marker, python, running, wrapped_run
from tests.running.made_jobs import until

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
MANY = """
import os
os.fork()
own = "PLACE/" + str(os.getpid()); os.mkdir(own); os.chdir(own)
for n in range(LEVELS): os.mkdir("d"); os.chdir("d")
for n in range(250_000):
    os.close(os.open(str(n), os.O_CREAT))
print("made")
"""
DEEP = "import os\nfor _ in range(1000): os.mkdir('deep'); os.chdir('deep')"
PROCESSES = {"processes": 40, "seconds": 30}
DISK = {"file_bytes": 8 * MIB, "disk_bytes": 12 * MIB, "seconds": 50}
FILES = {"entries": 5000, "disk_bytes": 1 << 40, "seconds": 50}
QUARTER = {"memory_bytes": 256 * MIB, "seconds": 50}
FILLING = "i=0; while :; do head -c 4M /dev/zero > f$i; i=$((i+1)); done"


def many(place: str, levels: int = 0) -> list[str]:
    return python(MANY.replace("PLACE", place).replace("LEVELS", str(levels)))


@pytest.mark.parametrize(
    ("command", "limits", "ended", "said"),
    [
        (python(FORKING), PROCESSES, "killed", "more than 40 processes"),
        ("cat /dev/zero > big", DISK, "exit", "a file would have passed 8 MiB"),
        (FILLING, DISK, "disk", "more than 12 MiB"),
        (python(UNLINKED), DISK, "disk", "more than 12 MiB"),  # of files that no folder shows
        (python(TOGETHER), QUARTER | {"memory_bytes": 200 * MIB}, "killed", "200 MiB of memory"),
        # Memory that no process has mapped.
        (python(MEMFD), QUARTER, "killed", "256 MiB of memory"),
        # Each file takes an inode, though next to no room.
        (many("/box"), FILES, "disk", "grew by more than 5,000 files and folders"),
        (many("/box", 150), FILES, "disk", "more than 100 deep"),
        (many("/dev/shm"), FILES, "disk", "more than 5,000 files in memory"),
        # Nobody knows how much is in folders too deep to be read.
        (f'python3 -c "{DEEP}"; sleep 60', {}, "disk", "more than 100 deep"),
        ("yes", {"output_bytes": 1000}, "killed", "printed more than 100,000 bytes"),
    ],
)
def test_what_passes_a_limit_is_ended(tmp_path, command, limits, ended, said):
    ran = boxed(tmp_path, command, **limits)
    assert ran.ended == ended
    assert ran.exit_code != 0
    assert said in ran.message
    assert b"made" not in ran.stdout
    assert sum(len(names) for _, _, names in os.walk(tmp_path)) < 150_000
    if limits is QUARTER:  # a gigabyte of it is not to be had
        assert 0 < int(ran.stdout.split()[-1]) < 800
    if command == "yes":
        assert (ran.cut, ran.stdout) == (True, b"y\n" * 500)
    if "deep" in command:
        assert 1 < sum(1 for _ in os.walk(tmp_path)) <= 101
        shutil.rmtree(tmp_path / "deep")


def test_the_kernel_holds_processes_and_memory_too(tmp_path):
    """Also where nobody looks: `wrapped` is all that another room uses."""
    box = Box(tmp_path, limits=BoxLimits(processes=20))
    count = "for i in $(seq 100); do sleep 30 & done; ls -d /proc/[0-9]* | wc -l"
    assert b"ork" in wrapped_run(box, count).stderr  # cannot fork
    ran = boxed(tmp_path, python("x = b'1' * (400 << 20)"), memory_bytes=200 * MIB)
    assert ran.exit_code != 0
    assert b"MemoryError" in ran.stderr
    for place in ("/tmp/x", "/dev/shm/x"):
        ran = boxed(tmp_path, f"head -c 200M /dev/zero > {place}; stat -c %s {place}")
        assert b"No space left" in ran.stderr
        assert int(ran.stdout) <= 64 * MIB
    # Thirty processes hold the same libraries: some 10 MB together, not 30 × 2.
    command = "for i in $(seq 30); do sleep 0.5 & done; wait"
    assert boxed(tmp_path, command, memory_bytes=32 * MIB).ended == "exit"


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
    ("leave", "kind"),
    [
        ("sleep {} &", "bubblewrap"),
        ("sleep {} &", "none"),
        ("setsid sleep {} >/dev/null 2>&1 &", "bubblewrap"),
        ("(setsid nohup sh -c 'trap \"\" TERM HUP; sleep {}; true' <&- >&- 2>&- &);", "bubblewrap"),
    ],
)
def test_no_child_stays_behind(tmp_path, leave, kind):
    mark = marker()
    ran = boxed(tmp_path, leave.format(mark) + " echo left; exit 7", kind=kind)
    assert (ran.stdout, ran.exit_code, ran.ended) == (b"left\n", 7, "exit")
    assert ran.message == "The command ended with exit code 7."
    until(lambda: not running(mark))  # without a box nobody waits for them


@pytest.mark.parametrize("command", ["kill 0; sleep 0.1; echo on", "kill -9 1; echo on"])
def test_a_command_ends_itself_and_not_the_first_process(tmp_path, command):
    ran = boxed(tmp_path, f"trap '' TERM; {command}; exit 4")
    assert (ran.stdout, ran.exit_code) == (b"on\n", 4)
    assert boxed(tmp_path, "kill $$; echo on").message == "The command was ended by SIGTERM."


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
        until(lambda: (tmp_path / "begun").exists() and len(running(mark)) > 1)
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    until(lambda: not running(mark))
