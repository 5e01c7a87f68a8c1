"""The files that a run put out: found, named, handed over."""

import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from skill_eval_nb.widgets.show.files import OutputFile, output_files, transcript_files
from skill_eval_nb.widgets.show.outputs import LISTED, SHOWN, show_outputs
from skill_eval_nb.widgets.ui import read_blob
from tests.widgets.show import zoo
from tests.widgets.trees import find, text


def names(run):
    return [one.name for one in output_files(run)]


def test_results_and_transcripts_are_no_outputs(tmp_path):
    (tmp_path / "outputs" / "src").mkdir(parents=True)
    for name in ("a-10.txt", "a-2.txt", "metrics.json", "src/x.py"):
        (tmp_path / "outputs" / name).write_text("x")
    for name in ("grading.json", "transcript.md", "report.md", "a-2.txt", ".hidden"):
        (tmp_path / name).write_text("x")
    assert names(tmp_path) == ["./a-2.txt", "a-2.txt", "a-10.txt", "report.md", "src/x.py"]
    assert [one.name for one in transcript_files(tmp_path)] == ["transcript.md"]
    (tmp_path / "timing.json").write_text(json.dumps({"executor": "messages-api"}))
    assert "metrics.json" in names(tmp_path)  # of a run made here all outputs are the agent's


def test_no_link_is_followed(tmp_path):
    run, secret = tmp_path / "run", tmp_path / "secret.txt"
    (run / "outputs").mkdir(parents=True)
    secret.write_text("secret")
    (run / "outputs" / "out.txt").symlink_to(secret)
    (run / "outputs" / "out").symlink_to(tmp_path, target_is_directory=True)
    (run / "transcript.md").symlink_to(secret)
    why = "a link; links are not followed"
    found = [(one.name, one.reason) for one in output_files(run)]
    assert found == [("out", why), ("out.txt", why)]
    assert transcript_files(run) == []
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "outputs").symlink_to(run / "outputs", target_is_directory=True)
    found = [(one.name, one.reason) for one in output_files(tmp_path / "other")]
    assert found == [("outputs/", why)]


def test_a_file_that_became_a_link_is_not_read(tmp_path):
    run = tmp_path / "run"
    (run / "outputs" / "sub").mkdir(parents=True)
    (run / "outputs" / "sub" / "a.txt").write_text("mine")
    (file,) = output_files(run)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("secret")
    (run / "outputs" / "sub" / "a.txt").unlink()
    (run / "outputs" / "sub").rmdir()
    (run / "outputs" / "sub").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(OSError, match="leads out of"):
        file.read()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="left out: no pipes here")
def test_a_pipe_is_never_waited_for(tmp_path):
    (tmp_path / "outputs").mkdir()
    os.mkfifo(tmp_path / "outputs" / "pipe")
    (file,) = output_files(tmp_path)
    assert file.reason == "not a regular file (a pipe, a socket or a device)"
    with pytest.raises(OSError, match="not a regular file"):
        OutputFile("pipe", file.path, 0, 0, str(tmp_path)).read()


def downloads(node):
    return {
        one[1]["download"]: one[1]["blob"]
        for one in find(node, tag="button")
        if "download" in one[1]
    }


def test_every_file_has_its_name_its_size_and_a_download(tmp_path):
    run = zoo.build(tmp_path / "run")
    node = show_outputs(output_files(run), key="k")
    offered = downloads(node)
    for name in zoo.files():
        blob = offered[name.replace(zoo.TURNED, "⟨U+202E⟩")]
        data = (run / "outputs" / name).read_bytes()
        assert read_blob(blob) == (data, "application/octet-stream")
    with zipfile.ZipFile(io.BytesIO(read_blob(offered["outputs.zip"])[0])) as packed:
        assert packed.read("greet.py") == zoo.files()["greet.py"]
    assert "a link; links are not followed" in text(node)
    assert "leads-out" not in offered


def test_thousands_of_files_are_named_or_counted_and_few_are_read(tmp_path, monkeypatch):
    read = set()
    opened = OutputFile.open

    def noted(file):
        if Path(file.path).is_relative_to(tmp_path):  # a thread of another test may read, too
            read.add(file.name)
        return opened(file)

    monkeypatch.setattr(OutputFile, "open", noted)
    (tmp_path / "outputs").mkdir()
    for number in range(LISTED + 1_000):
        (tmp_path / "outputs" / f"f{number}.txt").write_text(f"text {number}")
    shown = text(show_outputs(output_files(tmp_path), key="k"))
    assert "2,000 files" in shown
    assert f"f{LISTED - 1}.txt" in shown
    assert f"f{LISTED}.txt" not in shown
    assert "1,000 more files: use Download all." in shown
    assert read == {f"f{number}.txt" for number in range(SHOWN)}


def test_heavy_files_do_not_fill_the_page_and_can_be_had(tmp_path):
    (tmp_path / "outputs").mkdir()
    for number in range(50):
        (tmp_path / "outputs" / f"f{number}.txt").write_text("a row that is not short\n" * 2_000)
    node = show_outputs(output_files(tmp_path), key="k")
    assert "Not shown: the page is full." in text(node)
    assert len(text(node)) < 1_500_000
    assert len(downloads(node)) == 51
