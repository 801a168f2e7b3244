"""Whatever goes wrong on the way to a model, as a `ModelError`: its kind and one sentence for the person.

No secret and no exception chain leaves this module; texts of servers are cut and freed of controls.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.core.model import ErrorKind, ModelError
from agent.core.redaction import Secrets, text_of
from agent.models.anthropic.endpoint import proxy_for, proxy_variables

EXCERPT = 200
"""Characters of a server's text that may stand in a message."""
PAGE_LIMIT = 4 * EXCERPT
"""Bytes of a body that is no event stream, of which an excerpt is shown."""
_MOST_OF_A_COMPLAINT = 4_000  # characters
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,64}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,64}[0-~]"
)


def _printable(text: str) -> str:
    """Return `text` on one line without control characters, and without the rests of escape sequences."""
    text = "".join(
        " " if char in "\t\r\n" else char
        for char in _SEQUENCES.sub("", text)
        if char in "\t\r\n" or char.isprintable()
    )
    return " ".join(text.split())


class ModelFailure(Exception):
    """Something asked of a server failed; `error` says why. Never leaves a model's `stream`."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class Where:
    """What a message may name.

    Attributes:
        endpoint: the server's base URL without secrets.
        model: the model's name.
        key_name: the setting that holds the key, for example `ANTHROPIC_API_KEY`.
        secrets: texts that are cut out of every message.
        has_key: whether there is a key or a token at all.
    """

    endpoint: str = ""
    model: str = ""
    key_name: str = "ANTHROPIC_API_KEY"
    secrets: tuple[str | None, ...] = field(default=(), repr=False)
    has_key: bool = True

    def clean(self, text: str, limit: int = EXCERPT) -> str:
        """Return `text` on one line, without secrets and control characters, at most `limit` characters."""
        secrets = Secrets(*self.secrets)
        # And again once nothing stands in the midst of one any more.
        text = secrets.clean(_printable(secrets.clean(text)))
        return text if len(text) <= limit else text[: limit - 1] + "…"


_KIND_OF_TYPE: Mapping[str, ErrorKind] = {
    "invalid_request_error": "invalid_request",
    "authentication_error": "authentication",
    "billing_error": "spend_limit",
    "permission_error": "permission",
    "not_found_error": "not_found",
    "request_too_large": "too_large",
    "rate_limit_error": "rate_limit",
    "timeout_error": "server",
    "api_error": "server",
    "overloaded_error": "overloaded",
}
_KIND_OF_STATUS: Mapping[int, ErrorKind] = {
    401: "authentication",
    402: "spend_limit",
    403: "permission",
    404: "not_found",
    408: "server",
    409: "server",
    413: "too_large",
    425: "server",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}
_RETRYABLE: frozenset[ErrorKind] = frozenset(
    {"rate_limit", "overloaded", "server", "network", "stall", "protocol", "incomplete"}
)
_SPENDING = re.compile(
    r"spend_limit|billing_(error|unavailable)|billing (hard )?limit|plan and billing|credit balance"
    r"|insufficient[ _](quota|credit|funds)|exceeded your current quota"
    r"|spend(ing)? limit|usage limits? (for|will|until)|budget (has been )?exceeded",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"prompt is too long|context[ _-]?(window|length|size|limit)|exceeds? (the )?(available )?context"
    r"|maximum context|too many (input )?tokens|request_too_large|input (is )?too long",
    re.IGNORECASE,
)
# llama.cpp and others answer 500 for mistakes of the client: trying again cannot help.
_CLIENT_MISTAKE = re.compile(
    r"invalid_request|jinja|chat template|json\.exception|type_error|parse error|failed to parse|unsupported",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a server said in an error body, in whatever shape."""

    type: str
    message: str
    code: str
    is_page: bool = False
    """It is the text of a web page: the API itself answers with JSON."""

    @property
    def text(self) -> str:
        """All of it, for looking for words."""
        return f"{self.type} {self.code} {self.message}"


def read_complaint(body: object) -> Complaint:
    """Return what an error body says; `body` is decoded JSON, a text, or None. Never raises.

    Understands `{"error": {"type", "message", "details": {"error_code"}}}`, `{"error": "…"}`,
    `{"message": "…"}`, `{"detail": …}` and plain text.
    """
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        if _PAGE.match(body):
            return Complaint("", text_of_page(body), "", is_page=True)
        try:
            decoded = json.loads(body)
        except (ValueError, RecursionError):
            return Complaint("", _text(body), "")
        return read_complaint(decoded) if isinstance(decoded, dict) else Complaint("", _text(body), "")
    if not isinstance(body, Mapping):
        return Complaint("", "", "")
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return Complaint("", _text(error), "")
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, Mapping) else error.get("code")
    message = next((error[key] for key in ("message", "detail", "msg") if error.get(key)), "")
    return Complaint(_word(error.get("type")), _text(message), _word(code))


_PAGE = re.compile(r"\s*<(!doctype html|html)\b", re.IGNORECASE)
_HIDDEN = re.compile(r"<(head|script|style)\b.*?(</\1\s*>|\Z)|<!--.*?(-->|\Z)", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title\b[^>]*>([^<]*)", re.IGNORECASE)
_MOST_OF_A_PAGE = 8_000  # characters


def text_of_page(page: str) -> str:
    """Return what a person reads on a web page, its title where that is nothing; another text as it is."""
    if not _PAGE.match(page):
        return page
    from html import unescape

    page = page[:_MOST_OF_A_PAGE]
    title = _TITLE.search(page)
    text = re.sub(r"<[^>]*(>|\Z)", " ", _HIDDEN.sub(" ", page))
    return unescape(text if text.strip() else title[1] if title else "")


def _word(value: object) -> str:
    return value[:_MOST_OF_A_COMPLAINT] if isinstance(value, str) else ""


def _text(value: object) -> str:
    if isinstance(value, str):
        return value[:_MOST_OF_A_COMPLAINT]
    try:
        return json.dumps(value, ensure_ascii=False)[:_MOST_OF_A_COMPLAINT]
    except (TypeError, ValueError, RecursionError):
        return ""


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait (`retry-after-ms`, `retry-after` in seconds or as a date)."""
    headers = as_headers(headers)
    for key, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(key, "").strip()
        if not value:
            continue
        if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", value):
            return float(value) * unit
        if key == "retry-after":
            from email.utils import parsedate_to_datetime  # rarely needed, and slow to load

            try:
                return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
            except (ValueError, TypeError, OverflowError):
                continue
    return None


def explain_status(
    status: int, body: object, where: Where, headers: Mapping[str, str] | None = None
) -> ModelError:
    """Return the error for an HTTP answer outside 2xx; `body` as for `read_complaint`."""
    headers = as_headers(headers or {})
    complaint = read_complaint(body)
    kind = _kind(status, complaint)
    retryable = kind in _RETRYABLE
    if kind == "server" and status == 500 and _CLIENT_MISTAKE.search(complaint.text):
        kind, retryable = "invalid_request", False
    retryable = retryable and headers.get("x-should-retry") != "false"
    if 300 <= status < 400:
        target = where.clean(headers.get("location", "elsewhere"))
        return ModelError(
            "protocol", f"{_server(where)} redirects to {target}: set that as the base URL.", status=status
        )
    message, proxy = _sentence(kind, status, complaint, where), proxy_for(where.endpoint)
    if status == 407:
        kind = "network"
        message = f"The proxy {proxy or 'in between'} wants a user and a password (407)."
    elif proxy and not complaint.type:  # the API says what kind of error it is
        message = f"{message.rstrip('.')}. It came through the proxy {proxy}."
    return ModelError(
        kind, message, retryable=retryable, retry_after=read_retry_after(headers), status=status
    )


def explain_event(error: object, where: Where) -> ModelError:
    """Return the error for an `error` event inside a stream (`{"type", "message"}`, any shape)."""
    complaint = read_complaint({"error": error})
    kind = _kind(None, complaint)
    return ModelError(kind, _sentence(kind, None, complaint, where), retryable=kind in _RETRYABLE)


def _kind(status: int | None, complaint: Complaint) -> ErrorKind:
    kind: ErrorKind | None = _KIND_OF_TYPE.get(complaint.type)
    if status is not None:
        by_status = _KIND_OF_STATUS.get(status)
        if by_status is not None:
            kind = by_status
        elif status >= 500:
            kind = "server"
        elif kind is None or kind in ("server", "overloaded"):
            kind = "invalid_request"
    elif kind is None:
        kind = "server"
    if kind in ("rate_limit", "permission", "invalid_request", "server") and _SPENDING.search(complaint.text):
        return "spend_limit"
    if kind in ("invalid_request", "server") and _TOO_LONG.search(complaint.text):
        return "too_large"
    return kind


SEND_AGAIN = "Send the message again."


def with_next_step(error: ModelError | None) -> str:
    """Return the message for the person when a run ended with `error`: with what to do where nothing has to be fixed."""
    if error is None:
        return f"The run failed. {SEND_AGAIN}"
    said = error.message.casefold()
    if not error.retryable or "send " in said or "try again" in said:
        return error.message
    message = error.message if error.message.endswith((".", "!", "?", "…", ")")) else f"{error.message}."
    return f"{message} {SEND_AGAIN}"


def ways_to_a_key(key_name: str) -> str:
    """Return how a person gives a key, as part of a sentence; `key_name`: the variable that would hold it."""
    return f"set {key_name}, or paste one with /model in the program"


def _server(where: Where) -> str:
    return f"The server at {where.endpoint}" if where.endpoint else "The server"


def _sentence(kind: ErrorKind, status: int | None, complaint: Complaint, where: Where) -> str:
    said = where.clean(complaint.message)
    if said.strip(".! ").casefold() == kind:  # it only says again what the sentence says
        said = ""
    because = f": {said}" if said else "."
    code = f" ({status})" if status is not None else ""
    server = _server(where)
    match kind:
        case "authentication" | "permission" if complaint.is_page:
            return f"{server} answered with a web page{code}; is something in front of it, such as a firewall, or the base URL wrong?{f' It says: {said}' if said else ''}"
        case "authentication" | "permission" if not where.has_key:
            wants = "wants a key" if kind == "authentication" else "does not allow this"
            return f"{server} {wants}{code}, and no key is set; {ways_to_a_key(where.key_name)}{because}"
        case "authentication":
            return f"{server} does not accept the key{code}; check {where.key_name}{because}"
        case "permission":
            return f"{server} does not allow this with the key in {where.key_name}{code}{because}"
        case "not_found":
            return f"{server} does not know the model {where.model or '?'} or the path{code}; check the model's name and the base URL{because}"
        case "too_large":
            return f"The conversation is too long for {where.model or 'the model'}{code}; start a new one or shorten the prompt{because}"
        case "spend_limit":
            return f"A spending limit or the balance of the account stops the request{code}; look at the account's billing page{because}"
        case "rate_limit":
            return f"{server} asks to slow down{code}{because}"
        case "overloaded":
            return f"{server} is overloaded{code}{because}"
        case "invalid_request":
            return f"{server} refused the request{code}{because}"
        case _:
            return f"{server} failed{code}{because}"


def explain_page(content_type: str, start: bytes, where: Where) -> ModelError:
    """Return the error for a 200 that is no event stream; `start` is how its body begins."""
    kind = where.clean(content_type, 60) or "no content type"
    text = text_of_page(start.decode("utf-8", "replace"))
    return ModelError(
        "protocol",
        f"{_server(where)} answered with {kind} instead of a Messages API stream; check the base URL: {where.clean(text)}",
        status=200,
    )


def explain_exception(error: BaseException, where: Where) -> ModelError:
    """Return the error for an exception of the HTTP client, recognised by class names in its chain.

    By name, so that the HTTP client needs not be imported here.
    """
    chain = _chain(error)
    names = {cls.__name__ for link in chain for cls in type(link).__mro__}
    deepest = where.clean(text_of(chain[-1]), 120)
    cause = next(
        (plain for names_of, plain in _PLAIN if names & names_of or _said(names_of, deepest)), deepest
    )
    because = f": {cause}." if cause and not cause.endswith((".", "…")) else f": {cause}" if cause else "."
    server = _server(where)
    if "UnsupportedProtocol" in names or "InvalidURL" in names or "LocalProtocolError" in names:
        return ModelError(
            "client", f"The base URL {where.endpoint} cannot be used: it must begin with http:// or https://."
        )
    if "UnicodeEncodeError" in names:
        return ModelError(
            "invalid_request", "The conversation holds characters that cannot be sent as UTF-8."
        )
    if "ProxyError" in names:
        message = f"The proxy {proxy_for(where.endpoint)} refused the connection to {where.endpoint}{because}"
        return ModelError("network", message, retryable=not deepest.startswith("4"))
    if "SSLError" in names or "SSLCertVerificationError" in names:
        advice = "If a CA of your own signed it, set SSL_CERT_FILE to the file of that CA, or SSL_CERT_DIR to its folder."
        return ModelError("network", f"The certificate of {where.endpoint} is not trusted{because} {advice}")
    if "ConnectError" in names or "ConnectTimeout" in names or "gaierror" in names:
        if proxy := proxy_for(where.endpoint):
            message = f"Cannot reach {where.endpoint} through the proxy {proxy}{because} Is that the right proxy, and running?"
            return ModelError("network", message, retryable=True)
        return ModelError(
            "network",
            f"Cannot reach {where.endpoint}{because} Is the address right and the server running?",
            retryable=True,
        )
    if "DecodingError" in names:
        return ModelError("protocol", f"{server} sent bytes that cannot be decompressed.", retryable=True)
    if "TransportError" in names or "OSError" in names:
        return ModelError("network", f"The connection to {where.endpoint} broke{because}", retryable=True)
    if "OversizedEvent" in names:
        return ModelError("protocol", f"{server} sent an event that is far too long.")
    return ModelError("client", f"The client failed in an unexpected way ({type(error).__name__}).")


def _said(names: frozenset[str], text: str) -> bool:
    """Whether a text has one of the phrases among names of classes: what has a blank in it is a phrase."""
    return any(" " in name and name in text for name in names)


_PLAIN: Sequence[tuple[frozenset[str], str]] = (
    (frozenset({"ConnectionRefusedError", "Connection refused"}), "the connection was refused"),
    (frozenset({"gaierror", "Name or service not known", "nodename nor servname"}), "the name is not known"),
    (frozenset({"TimeoutException", "TimeoutError", "timed out waiting"}), "nobody answered in time"),
    (
        frozenset(
            {"RemoteProtocolError", "peer closed connection", "Server disconnected", "incomplete chunked"}
        ),
        "it was closed before the answer was whole",
    ),
    (
        frozenset({"ConnectionResetError", "BrokenPipeError", "Connection reset", "Broken pipe"}),
        "the other side closed it",
    ),
)
"""What failed, in plain words: by classes in the chain of an exception, or by phrases of its text."""


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and all(link is not known for known in chain) and len(chain) < 20:
        chain.append(link)
        link = link.__cause__ or link.__context__
    return chain


def explain_construction(error: BaseException, where: Where) -> ModelError:
    """Return the error for a client that could not be built: missing package, proxy, certificates."""
    text = where.clean(text_of(error), 120)
    if isinstance(error, ImportError):
        if socks := proxy_variables("socks"):
            message = f"{socks} names a SOCKS proxy, and the package socksio is missing: pip install socksio"
            return ModelError("client", message)
        missing = getattr(error, "name", None) or "httpx2"
        return ModelError("client", f"The package {missing} cannot be loaded: {text}")
    if isinstance(error, OSError):
        return ModelError(
            "client", f"The certificates cannot be read; check SSL_CERT_FILE and SSL_CERT_DIR: {text}"
        )
    if variables := proxy_variables():  # what the client says of a proxy may be its password
        return ModelError(
            "client", f"A proxy of the environment is not usable; check the address in {variables}."
        )
    return ModelError(
        "client", f"The HTTP client cannot be built; check the proxy settings and the base URL: {text}"
    )


def as_headers(headers: Any) -> dict[str, str]:
    """Return any mapping of headers as a plain dict with lower-case names."""
    return {str(key).lower(): str(value) for key, value in dict(headers).items()}
