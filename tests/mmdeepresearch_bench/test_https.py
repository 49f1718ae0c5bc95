"""Fetching over TLS: the connection goes to the checked address, and the certificate is that of the host's name."""

from __future__ import annotations

import shutil
import ssl
import subprocess

import pytest

from lmms_tasks.mmdeepresearch_bench import transport
from tests.mmdeepresearch_bench.web import ARTICLE, Web, html


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A web behind TLS with a certificate for secure.test, and the file of that certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("certificate")
    names = ["-subj", "/CN=secure.test", "-addext", "subjectAltName=DNS:secure.test"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    web = Web({"/article": (200, {}, html(f"<p>{ARTICLE}</p>"))})
    web._http.socket = context.wrap_socket(web._http.socket, server_side=True)
    with web:
        yield web, folder / "certificate.pem"


def test_a_page_whose_certificate_bears_the_hosts_name_is_read_from_the_checked_address(secured, monkeypatch):
    web, certificate = secured
    monkeypatch.setattr(transport, "certificates", lambda: ssl.create_default_context(cafile=certificate))
    page = web.fetcher(seconds=5).fetch(web.url("/article", "secure.test").replace("http:", "https:"))
    assert page.state == "ok" and ARTICLE[:40] in page.text, page.reason


@pytest.mark.parametrize("host, trusted", [("other.test", True), ("secure.test", False)])
def test_another_name_or_an_unknown_certificate_is_not_read(secured, monkeypatch, host, trusted):
    web, certificate = secured
    context = ssl.create_default_context(cafile=certificate if trusted else None)
    monkeypatch.setattr(transport, "certificates", lambda: context)
    page = web.fetcher(seconds=5).fetch(web.url("/article", host).replace("http:", "https:"))
    assert page.state == "blocked" and not page.text and "certificate verify failed" in page.reason
