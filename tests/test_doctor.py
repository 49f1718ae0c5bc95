"""Each ✗ of the doctor, by breaking that one thing for real."""

from __future__ import annotations

import json
import shutil

import pytest

from lmms_tasks.cli import main
from tests.judge_server import Answer, JudgeServer
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
