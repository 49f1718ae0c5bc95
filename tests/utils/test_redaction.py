import pytest

from lmms_tasks.utils.redaction import redact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model=m,api_key=planted,base_url=http://h/v1", "model=m,api_key=[REDACTED],base_url=http://h/v1"),
        ("OPENAI_API_KEY=planted", "OPENAI_API_KEY=[REDACTED]"),
        ("{'model': 'm', 'hf_token': 'planted'}", "{'model': 'm', 'hf_token': [REDACTED]}"),
        ("base_url=http://user:planted@host:1/v1,model=m", "base_url=http://[REDACTED]@host:1/v1,model=m"),
        ("key sk-planted0123456789abcdef", "key [REDACTED]"),
        # What holds no secret stays as it was; `max_new_tokens` is a number of tokens.
        ("pretrained=a/b,max_new_tokens=48,device_map=cpu", "pretrained=a/b,max_new_tokens=48,device_map=cpu"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("", ""),
    ],
)
def test_secrets_are_replaced_and_all_else_stays(text, expected):
    assert redact(text) == expected
