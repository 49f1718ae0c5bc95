"""Each ✗ of the doctor about what is installed: a Python with other packages, for real."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lmms_tasks
from tests.test_doctor import broken


@pytest.fixture
def elsewhere(tmp_path, home):
    """Run the doctor in a Python whose installed packages are those of this one, some changed or left out."""
    home.mkdir(mode=0o700)
    site = tmp_path / "site-packages"
    site.mkdir()
    for folder in map(Path, sys.path):
        if folder.name == "site-packages":
            for entry in folder.iterdir():
                if not (site / entry.name).exists() and entry.suffix != ".pth":
                    (site / entry.name).symlink_to(entry)

    if not (site / "lmms_tasks").exists():  # an editable install
        (site / "lmms_tasks").symlink_to(Path(lmms_tasks.__file__).parent)

    def run():
        script = "import sys; from lmms_tasks.cli import main; sys.exit(main(['doctor', '--json']))"
        command = [sys.executable, "-S", "-c", script]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site)}, cwd=site
        )
        assert done.stdout, done.stderr
        return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    run.site = site
    return run


def unlink(site: Path, pattern: str) -> list[Path]:
    found = [entry for entry in site.glob(pattern)]
    assert found
    for entry in found:
        entry.unlink()
    return found


def test_a_plugin_that_is_not_installed(elsewhere):
    """The checkout can be imported, but no entry point tells lmms-eval of it."""
    unlink(elsewhere.site, "lmms_tasks-*.dist-info")
    code, checks = elsewhere()
    assert code == 1 and "plugin" in broken(checks) and "pip install ." in checks["plugin"]["advice"]


def test_an_lmms_eval_that_is_missing(elsewhere):
    unlink(elsewhere.site, "lmms_eval-*.dist-info")
    code, checks = elsewhere()
    assert code == 1 and list(broken(checks)) == ["versions"] and "lmms-eval missing" in checks["versions"]["found"]


def test_an_lmms_eval_of_another_version(elsewhere):
    (info,) = (entry.name for entry in elsewhere.site.glob("lmms_eval-*.dist-info"))
    real = (elsewhere.site / info).resolve()
    unlink(elsewhere.site, info)
    (elsewhere.site / "lmms_eval-0.8.0.dist-info").mkdir()
    told = re.sub(r"^Version: .+$", "Version: 0.8.0", (real / "METADATA").read_text(), count=1, flags=re.MULTILINE)
    (elsewhere.site / "lmms_eval-0.8.0.dist-info" / "METADATA").write_text(told)
    code, checks = elsewhere()
    assert code == 1 and list(broken(checks)) == ["versions"] and "pip install" in checks["versions"]["advice"]


def test_a_filelock_without_the_module_that_lmms_eval_imports(elsewhere):
    package = (elsewhere.site / "filelock").resolve()
    unlink(elsewhere.site, "filelock")
    shutil.copytree(package, elsewhere.site / "filelock")
    for file in (elsewhere.site / "filelock").glob("*.py"):
        file.write_text(file.read_text().replace("_api", "_moved"))
    (elsewhere.site / "filelock" / "_api.py").rename(elsewhere.site / "filelock" / "_moved.py")
    code, checks = elsewhere()
    assert code == 1 and list(broken(checks)) == ["filelock"] and "filelock<4.3" in checks["filelock"]["advice"]
