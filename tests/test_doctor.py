"""Each ✗ of the doctor, by breaking that one thing for real."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

import lmms_tasks
from lmms_tasks.benchmarks import find_benchmarks
from lmms_tasks.cli import main
from lmms_tasks.doctor import VARIABLES
from tests.judge_server import Answer, JudgeServer
from tests.sgmri_vqa.conftest import data, slices, volume_row, write_rows  # noqa: F401 - fixtures
from tests.test_sources import local, mmst_row  # noqa: F401 - a fixture

TASK = "mirage_mmst_mg"


@pytest.fixture
def doctor(capsys, home):
    """Run the doctor; return the exit code and its checks by name."""
    home.mkdir(mode=0o700)

    def run(*tasks):
        code = main(["doctor", *tasks, "--json"])
        told = json.loads(capsys.readouterr().out)
        assert told["ok"] == (code == 0)
        return code, {check["name"]: check for check in told["checks"]}

    return run


@pytest.fixture
def volume(data, slices):  # noqa: F811
    """A question about a volume of four slices, which are there."""
    write_rows(data / "volume.json", [volume_row()])
    return slices / "brain"


def judged_by(monkeypatch, tmp_path, server, price=""):
    profile = tmp_path / "profile.toml"
    profile.write_text(
        "[mirage.mmst]\ngenerations = 3\n[[mirage.mmst.judges]]\n"
        f'name = "x"\nmodel = "judge"\nretry_delay = 0.01\n{price}\n'
    )
    monkeypatch.setenv("LMMS_TASKS_JUDGES", str(profile))
    monkeypatch.setenv("LMMS_TASKS_JUDGE_X_BASE_URL", server.base_url)


def broken(checks):
    return {name: check for name, check in checks.items() if check["ok"] is False}


def test_a_healthy_machine_is_exit_code_0(doctor):
    code, checks = doctor("mirage_mmst_sample")
    assert code == 0 and broken(checks) == {}
    assert checks["mirage_mmst_mg_sample rows"]["found"] == "14 rows"


def test_checks_are_readable_lines(capsys, home):
    home.mkdir(mode=0o700)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "✓ filelock: " in out and "✗" not in out


def test_a_home_that_others_can_read(doctor, home):
    home.chmod(0o755)
    code, checks = doctor()
    assert code == 1 and list(broken(checks)) == ["home"]
    assert "chmod 700" in checks["home"]["advice"]


def test_a_home_that_cannot_be_made(doctor, home, monkeypatch):
    (home / "file").write_text("")
    monkeypatch.setenv("LMMS_TASKS_HOME", str(home / "file" / "below"))
    code, checks = doctor()
    assert code == 1 and "set LMMS_TASKS_HOME" in checks["home"]["advice"]


def test_a_home_without_write_permission(doctor, monkeypatch):
    folder = Path("/proc/self/task")  # where nobody writes, root neither
    if not folder.is_dir():
        pytest.skip("needs /proc")
    monkeypatch.setenv("LMMS_TASKS_HOME", str(folder))
    code, checks = doctor()
    assert code == 1 and "cannot be written" in checks["home"]["found"]
    assert "set LMMS_TASKS_HOME" in checks["home"]["advice"]


def test_a_disk_that_is_nearly_full(doctor, monkeypatch, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("may not mount a small disk here")
    try:
        monkeypatch.setenv("LMMS_TASKS_HOME", str(disk))
        code, checks = doctor()
        assert code == 1 and list(broken(checks)) == ["disk"] and "0.0 GiB free" in checks["disk"]["found"]
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_cache_that_cannot_be_opened(doctor, home):
    (home / "judge.sqlite").mkdir()
    code, checks = doctor()
    assert code == 1 and list(broken(checks)) == ["judge cache"]
    assert "in memory only" in checks["judge cache"]["found"]


def test_a_plugin_that_is_switched_off(doctor, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_DISABLE", "1")
    code, checks = doctor()
    assert code == 1 and list(broken(checks)) == ["plugin"]


def test_a_cache_mode_that_does_not_exist(doctor, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_CACHE", "sometimes")
    code, checks = doctor()
    assert code == 1 and list(broken(checks)) == ["judge cache"]


def test_rows_of_a_hub_that_cannot_be_reached(doctor):
    code, checks = doctor(TASK)
    assert code == 1 and list(broken(checks)) == [f"{TASK} rows"]
    assert "MIRAGE_DATA" in checks[f"{TASK} rows"]["advice"]


def test_a_dataset_that_cannot_be_reached_is_asked_for_once(doctor):
    """Each look at a dead hub takes its client half a minute."""
    code, checks = doctor("mirage_mmst")
    assert code == 1 and set(broken(checks)) == {f"mirage_mmst_{name} rows" for name in ("id", "mg", "contextual_mg")}
    assert "mirage_mmst_id" in checks["mirage_mmst_mg rows"]["advice"]


def test_a_slice_that_is_missing(doctor, volume):
    code, checks = doctor("sgmri_vqa_volume")
    assert code == 0 and checks["sgmri_vqa_volume rows"]["ok"]
    lost = sorted(volume.rglob("*.png"))[1]
    lost.unlink()
    code, checks = doctor("sgmri_vqa_volume")
    assert code == 1 and list(broken(checks)) == ["sgmri_vqa_volume rows"]
    assert "_slice_002.png" in checks["sgmri_vqa_volume rows"]["advice"]


def test_a_sentence_encoder_that_is_none(doctor, monkeypatch, tmp_path):
    monkeypatch.setenv("SGMRI_VQA_SENTENCE_ENCODER", str(tmp_path))
    code, checks = doctor("sgmri_vqa_image_sample")
    assert code == 1 and "modules.json" in checks["encoders of SGMRI-VQA"]["advice"]


def test_an_encoder_without_its_layer(doctor, monkeypatch):
    monkeypatch.setenv("SGMRI_VQA_ENCODER", "bert-base-uncased")
    code, checks = doctor("sgmri_vqa_image_sample")
    assert code == 1 and "SGMRI_VQA_LAYER" in checks["encoders of SGMRI-VQA"]["advice"]


def test_a_judge_that_talks_nonsense_is_told(doctor, local, monkeypatch, tmp_path):  # noqa: F811
    from tests.judge_server import completion

    local([mmst_row(0)])
    for words, mark in (("Ready.", True), ("<html>", None), ("", True)):
        with JudgeServer(lambda body, n, words=words: completion(words)) as server:
            judged_by(monkeypatch, tmp_path, server)
            code, checks = doctor(TASK)
        check = judge_check(checks, server)
        assert code == 0 and check["ok"] is mark and ("<html>" in check["found"]) == (mark is None)


@pytest.mark.parametrize(
    ("name", "task"),
    [("LMMS_TASKS_LOCKSTEP", "amigo_synthetic"), ("SGMRI_VQA_DEVICE", "sgmri_vqa_image_sample"), ("RANK", None)],
)
def test_a_variable_whose_value_cannot_be_used(doctor, monkeypatch, name, task):
    monkeypatch.setenv(name, "foo")
    code, checks = doctor(*filter(None, [task]))
    assert code == 1 and any("foo" in check["found"] + check["advice"] for check in broken(checks).values())


def test_a_variable_with_a_slip_of_the_pen(doctor, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_JUDGE", "paper")
    monkeypatch.setenv("LMMS_TASKS_OF_MINE", "1")
    code, checks = doctor()
    assert code == 1 and list(broken(checks)) == ["LMMS_TASKS_JUDGE"]
    assert "LMMS_TASKS_JUDGES" in checks["LMMS_TASKS_JUDGE"]["advice"]
    assert checks["LMMS_TASKS_OF_MINE"]["found"] == "1; nothing reads it"


def test_every_variable_that_is_read_is_told_here_and_in_the_readme(doctor, monkeypatch):
    root = Path(lmms_tasks.__file__).parent
    source = "\n".join(path.read_text() for path in root.rglob("*.py") if "samples" not in path.parts)
    read = set(re.findall(r"\b(?:LMMS_TASKS|MIRAGE|AMIGO|SGMRI_VQA|MMDR)_[A-Z_]*[A-Z]\b", source))
    read -= {name for name in read if name.startswith("LMMS_TASKS_JUDGE_")}
    declared = {name for benchmark, _ in find_benchmarks().values() for name in benchmark.variables}
    declared |= {benchmark.data_variable for benchmark, _ in find_benchmarks().values()} | set(VARIABLES)
    assert read <= declared and len(read) > 20
    readme = (root.parent / "README.md").read_text()
    assert [name for name in sorted(declared) if f"`{name}`" not in readme] == []
    monkeypatch.setenv("MMDR_VEF_GT", "truth.json")
    _, checks = doctor()
    assert checks["MMDR_VEF_GT"]["found"] == "truth.json"
    assert "MMDR_PAIRS" in checks["variables that are not set"]["found"]


def test_an_image_that_is_missing(doctor, local, tmp_path):  # noqa: F811
    local([mmst_row(0)])
    assert doctor(TASK)[0] == 0
    shutil.rmtree(tmp_path / "sample_images")
    code, checks = doctor(TASK)
    assert code == 1 and "sample_images/0.jpg" in checks[f"{TASK} rows"]["advice"]


def test_no_judge_is_told_and_no_error(doctor, local):  # noqa: F811
    local([mmst_row(0)])
    code, checks = doctor(TASK)
    assert code == 0 and checks["judges of mirage.mmst"]["ok"] is None
    assert "lmms-tasks score" in checks["judges of mirage.mmst"]["advice"]


def test_a_judge_profile_that_does_not_exist(doctor, local, monkeypatch):  # noqa: F811
    local([mmst_row(0)])
    monkeypatch.setenv("LMMS_TASKS_JUDGES", "nobody")
    code, checks = doctor(TASK)
    assert code == 1 and list(broken(checks)) == ["judges of mirage.mmst"]


def judge_check(checks, server):
    return checks[f"judge x at 127.0.0.1:{server.port}"]


def test_a_judge_that_refuses_the_key_says_so_in_its_own_words(doctor, local, monkeypatch, tmp_path):  # noqa: F811
    local([mmst_row(0)])
    with JudgeServer(Answer({"error": {"message": "This key is revoked."}}, status=401)) as server:
        judged_by(monkeypatch, tmp_path, server)
        code, checks = doctor(TASK)
        assert code == 1 and "This key is revoked" in judge_check(checks, server)["found"]


def test_a_judge_that_answers_as_another_model(doctor, local, monkeypatch, tmp_path):  # noqa: F811
    from tests.judge_server import completion

    local([mmst_row(0)])
    with JudgeServer(lambda body, n: completion("ready", model="another")) as server:
        judged_by(monkeypatch, tmp_path, server)
        code, checks = doctor(TASK)
        assert code == 1 and judge_check(checks, server)["found"] == "answers as another, was asked as judge"


def test_a_judge_that_is_gone(doctor, local, monkeypatch, tmp_path):  # noqa: F811
    local([mmst_row(0)])
    with JudgeServer("ready") as server:
        judged_by(monkeypatch, tmp_path, server)
    code, checks = doctor(TASK)
    assert code == 1 and list(broken(checks)) == [f"judge x at 127.0.0.1:{server.port}"]


def test_one_tiny_call_a_judge_and_the_calls_tokens_and_money_of_a_run(doctor, local, monkeypatch, tmp_path):  # noqa: F811
    local([mmst_row(0), mmst_row(1)])
    with JudgeServer("ready") as server:
        judged_by(monkeypatch, tmp_path, server, price="price = { input = 2.0 }")
        code, checks = doctor(TASK)
        assert code == 0 and server.count == 1
        assert server.requests[0].body["max_tokens"] == 16
    cost = checks[f"{TASK} by x"]["facts"]
    assert (cost["calls"], cost["cached"]) == (6, 0)  # two rows, three generations
    assert cost["dollars"] == pytest.approx(cost["prompt_tokens"] * 2.0 / 1e6)
    assert 1000 < cost["prompt_tokens"] < 20000


@pytest.fixture
def episode(tmp_path, monkeypatch):
    """An AMIGO episode without attribute tables, and a profile with a table for its oracle."""
    Image.new("RGB", (4, 4), "red").save(tmp_path / "one.png")
    Image.new("RGB", (4, 4), "blue").save(tmp_path / "two.png")
    row = {"episode_id": "e", "images": ["one.png", "two.png"], "gold_idx": 1}
    monkeypatch.setenv("AMIGO_DATA", str(write_rows(tmp_path / "episodes.json", [row])))
    profile = tmp_path / "oracle.toml"
    profile.write_text('[[amigo.oracle.judges]]\nname = "eyes"\nmodel = "eyes-1"\ntries = 1\n')
    monkeypatch.setenv("LMMS_TASKS_JUDGES", str(profile))


def test_an_oracle_that_answers_as_another_model(doctor, episode, monkeypatch):
    from tests.judge_server import completion

    models = ["eyes-1", "another"]
    with JudgeServer(lambda body, n: completion("ready", model=models[n > 0])) as server:
        monkeypatch.setenv("LMMS_TASKS_JUDGE_EYES_BASE_URL", server.base_url)
        (code, healthy), (later, broken_one) = doctor("amigo"), doctor("amigo")
    who = f"oracle eyes at 127.0.0.1:{server.port}"
    assert code == 0 and healthy[who]["ok"]
    assert later == 1 and list(broken(broken_one)) == [who] and "answers as another" in broken_one[who]["found"]


def test_no_oracle_for_episodes_without_tables(doctor, episode, monkeypatch):
    monkeypatch.delenv("LMMS_TASKS_JUDGES")
    code, checks = doctor("amigo")
    assert code == 1 and "[amigo.oracle]" in checks["amigo rows"]["advice"]


def test_keys_are_never_shown(doctor, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    _, checks = doctor()
    assert checks["OPENAI_API_KEY"]["found"] == "(set)"
    assert "sk-planted" not in json.dumps(checks)


def test_a_password_inside_an_address_is_never_shown(doctor, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://someone:planted-password@127.0.0.1:1/v1")
    _, checks = doctor()
    assert "planted-password" not in json.dumps(checks)
    assert checks["OPENAI_BASE_URL"]["found"] == "http://[REDACTED]@127.0.0.1:1/v1"
