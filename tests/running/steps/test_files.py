"""A run's files: what guards their reading that no job would show each time."""

from __future__ import annotations

import subprocess
import sys

from tests.checkout import ROOT

PROGRAM = """
import sys, threading
from pathlib import Path
from skill_eval_nb.running.steps.files import read_document
from skill_eval_nb.documents import Judging, Metrics, Structural, Timing
from tests.checkout import ROOT

sys.setswitchinterval(1e-6)
folder, ready = Path(sys.argv[1]), threading.Barrier(16)
DOCUMENTS = {
    Judging: '{"rubric_scores": {"a": {"score": 1.0}}, "expectations": []}',
    Structural: '{"expectations": [{"text": "x", "passed": true}], "summary": {"passed": 1}}',
    Metrics: '{"tool_calls": {"a": 1}}',
    Timing: '{"status": "done"}',
}
for kind, text in DOCUMENTS.items():
    (folder / kind.__name__).write_text(text)

def read():
    for kind in DOCUMENTS:
        ready.wait()
        assert isinstance(read_document(folder / kind.__name__, kind), kind)

threads = [threading.Thread(target=read) for _ in range(16)]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""


def test_threads_may_read_their_first_documents_at_the_same_time(tmp_path):
    """Guards against a crash: msgspec's first decoder of a type is not safe among threads."""
    for _ in range(8):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
