"""The distributions as a user installs them: what is in them, and the tasks that a wheel alone brings to lmms-eval."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

PARTS = ("LICENSE", "NOTICE.md", "README.md", "benchmarks", "lmms_tasks", "pyproject.toml", "tests", "utils")


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that knows nothing of this checkout and of the user's judges and rows."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LMMS_TASKS_", "OPENAI_", "PYTHON")) and not name.endswith("_DATA")
    }
    environment = {**inherited, "LMMS_TASKS_HOME": str(cwd / "home"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def has_build_backend() -> bool:
    try:
        return int(version("setuptools").partition(".")[0]) >= 77
    except PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A copy of the checkout, since a build leaves files behind, and takes those that an earlier one has left."""
    folder = tmp_path_factory.mktemp("source")
    for name in PARTS:
        if (CHECKOUT / name).is_dir() and not (CHECKOUT / name).is_symlink():
            shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.partial"))
        else:
            shutil.copy(CHECKOUT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.fixture(scope="module")
def built(source) -> tuple[Path, Path]:
    """(wheel, sdist), the wheel made from the sdist."""
    # Isolation would download the build backend.
    isolation = ["--no-isolation"] if has_build_backend() else []
    run(sys.executable, "-m", "build", *isolation, "--outdir", source / "dist", source, cwd=source.parent)
    (wheel,) = (source / "dist").glob("*.whl")
    (sdist,) = (source / "dist").glob("*.tar.gz")
    return wheel, sdist


def package_files(source: Path) -> set[str]:
    return {str(path.relative_to(source)) for path in (source / "lmms_tasks").rglob("*") if path.is_file()}


def test_the_wheel_holds_the_whole_package_once_and_nothing_else(source, built):
    names = zipfile.ZipFile(built[0]).namelist()
    assert len(names) == len(set(names))
    packaged = {name for name in names if ".dist-info/" not in name}
    # Neither tests nor a second copy of the helpers through the link `utils`: their names would begin otherwise.
    assert packaged == package_files(source)
    endings = {Path(name).suffix or Path(name).name.rpartition("_")[2] for name in packaged}
    assert endings >= {".md", ".parquet", ".py", ".toml", ".txt", ".yaml", "yaml"}
    licences = {Path(name).name for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE.md"}


def test_the_sdist_holds_the_package_with_licence_and_notices(source, built):
    with tarfile.open(built[1]) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    assert names >= package_files(source) | {"LICENSE", "NOTICE.md", "README.md", "pyproject.toml"}
    assert not any(name.startswith("utils/") for name in names)


# What lmms-eval makes of the wheel; printed as JSON on the last line.
_TASKS = """
import json
import lmms_eval.evaluator
from lmms_eval.tasks import TaskManager, get_task_dict
import lmms_tasks
from lmms_tasks.benchmarks import read_catalogue

def unresolved(value, where):
    if isinstance(value, dict):
        return [hit for key, inner in value.items() for hit in unresolved(inner, f"{where}.{key}")]
    if isinstance(value, list):
        return [hit for number, inner in enumerate(value) for hit in unresolved(inner, f"{where}.{number}")]
    return [f"{where}: {value}"] if isinstance(value, str) and value.startswith("lmms_tasks.") else []

manager = TaskManager()
catalogue = read_catalogue()
configs = {name: manager._get_config(name) for name in catalogue.tasks}
samples = [name for name, task in catalogue.tasks.items() if task.on_samples]
loaded = get_task_dict(samples, manager)
print(json.dumps({
    "package": lmms_tasks.__file__,
    "unknown": sorted({*catalogue.tasks, *catalogue.groups} - set(manager.all_tasks)),
    # Metadata may name functions as text; it is ours, and lmms-eval does not look into it.
    "unresolved": [
        hit
        for name, config in configs.items()
        for hit in unresolved({key: value for key, value in config.items() if key != "metadata"}, name)
    ],
    "aggregators": {
        name: [callable(metric["aggregation"]) for metric in config["metric_list"]] for name, config in configs.items()
    },
    "hooks": {name: sorted(key for key, value in config.items() if callable(value)) for name, config in configs.items()},
    "rows": {name: len(loaded[name].eval_docs) for name in samples},
}))
"""


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """A virtual environment with the wheel in it, which sees the dependencies of the running one and not its package.

    A folder that a .pth file names is searched for modules, while its own .pth files, the editable install among them,
    are not read.
    """
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--no-deps", "--no-index", built[0], cwd=folder)
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    paths = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (packages / "dependencies.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
    return folder


def test_the_command_of_the_wheel_lists_the_tasks(installed):
    listed = json.loads(run(installed / "bin" / "lmms-tasks", "list", "--json", cwd=installed))
    assert {"mirage_mmst_id", "mirage_mmst_id_sample"} <= {task["name"] for task in listed["tasks"]}
    folder = Path(run(installed / "bin" / "lmms-tasks", "path", cwd=installed).strip())
    assert folder.is_relative_to(installed) and (folder / "mirage" / "mirage_mmst_id.yaml").is_file()


def test_the_entry_point_of_the_wheel_brings_every_task_to_lmms_eval(installed):
    told = json.loads(run(installed / "bin" / "python", "-c", _TASKS, cwd=installed).splitlines()[-1])
    assert Path(told["package"]).is_relative_to(installed)
    assert told["unknown"] == told["unresolved"] == []
    assert all(all(aggregators) for aggregators in told["aggregators"].values())
    assert all({"process_docs", "process_results", "doc_to_text"} <= set(hooks) for hooks in told["hooks"].values())
    assert told["rows"]["mirage_mmst_id_sample"] == 14
    assert min(told["rows"].values()) > 0


def test_nothing_that_every_run_imports_brings_a_heavy_package(tmp_path):
    """Every run of lmms-eval pays for what the plugin imports; `benchmarks/plugin_load.py` has the seconds."""
    code = (
        "import sys, lmms_tasks.plugin, lmms_tasks.benchmarks; lmms_tasks.benchmarks.read_catalogue()\n"
        "import lmms_tasks.harness\n"
        "print({'openai', 'torch', 'transformers', 'scipy'} & set(sys.modules))"
    )
    assert run(sys.executable, "-c", code, cwd=tmp_path).strip() == "set()"
