import pytest

from lmms_tasks.utils.rows import read_json_rows
from lmms_tasks.utils.text_file import read_text


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfgr\xc3\xbcn")
    assert read_text(tmp_path / "a.txt") == "grün"


@pytest.mark.parametrize("content", [b"gr\xfcn", "grün".encode("utf-16")], ids=["latin-1", "utf-16"])
@pytest.mark.parametrize("read", [read_text, read_json_rows])
def test_a_file_that_is_not_utf_8_is_named(tmp_path, content, read):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(SystemExit, match=r"a\.json is not UTF-8 \(byte \d+\): convert it"):
        read(tmp_path / "a.json")


def test_a_folder_and_a_link_to_nothing_are_named(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "gone.json")
    for name, why in ((".", "Is a directory"), ("link.json", "No such file")):
        with pytest.raises(SystemExit, match=f"cannot be read .{why}"):
            read_text(tmp_path / name)
