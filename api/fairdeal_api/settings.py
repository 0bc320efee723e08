"""Settings of the service: flags, then environment, then a TOML file, then defaults."""

from __future__ import annotations

import os
import re
import tomllib
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)
from pydantic_settings.sources import InitSettingsSource

from fairdeal.errors import FairdealError
from fairdeal.log.cosignature import WitnessKey
from fairdeal_api.system import lies_in
from fairdeal_api.wording import fault_in_words

PREFIX: Final = "FAIRDEAL_"
# What the environment may hold besides: the file of settings, and whose key `fairdeal play` has.
_OTHERS: Final = {PREFIX + "CONFIG", PREFIX + "OPERATOR_KEY"}
_URL = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?")
_TEST = "/test"
_ORIGIN = re.compile(r"[\x21-\x2a\x2c-\x7e]{1,200}")
# pydantic-settings asks the class for its sources, so what the file says has to reach it from
# aside. It is read once: a pipe (`--config <(..)`) has nothing more for who looks again.
_of_file: ContextVar[dict[str, Any] | None] = ContextVar("of_file", default=None)


def mode_of(log_origin: str) -> Literal["live", "test"]:
    """The mode of the service whose log has this origin. Spec: LOG-33."""
    return "test" if log_origin.endswith(_TEST) else "live"


class ConfigurationError(Exception):
    """Something in the settings is wrong; one sentence for each fault."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class WitnessAt(BaseModel):
    """A witness to ask: where it is, and its key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    vkey: str

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        # Settings are shown, so there is no place in them for a password.
        if not _URL.fullmatch(value):
            raise ValueError("must be http:// or https://, a host and a path, and no credentials")
        return value

    @field_validator("vkey")
    @classmethod
    def _check_vkey(cls, value: str) -> str:
        try:
            WitnessKey.parse(value)
        except FairdealError:
            raise ValueError("must be a witness's vkey (of type 0x04)") from None
        return value


class Settings(BaseSettings):
    """What an operator may set. Nothing here is secret: keys live in files."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    data: Path = Field(
        default=Path("fairdeal-data"), description="Folder of the database and keys."
    )
    anchor: Path | None = Field(
        default=None,
        description="File that keeps the last checkpoint, outside the data folder and its backups. "
        "By default the data folder's name with `.anchor` behind it.",
    )
    keys: Path | None = Field(default=None, description="Folder of the keys; by default data/keys.")
    # An empty one would be every address of the machine.
    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port; 0 takes a free one.")
    metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="Loopback port of /metrics; none by default."
    )
    origin: str = Field(
        default="fairdeal.localhost/log",
        description="Name of the log: a URL without scheme. Fixed when the data folder is made.",
    )
    mode: Literal["live", "test"] = Field(
        default="live", description="`test` allows fixed seeds, under an origin of its own."
    )
    max_in_flight: int = Field(default=1000, ge=1, description="Requests at a time before 503.")
    max_waiting: int = Field(default=500, ge=0, description="Long polls at a time before 429.")
    head_seconds: int = Field(
        default=10,
        ge=1,
        le=600,
        description="Time to send a request's head in, and to take more of an answer.",
    )
    body_seconds: int = Field(default=10, ge=1, le=600, description="Time to send a body in.")
    log_requests: bool = Field(default=False, description="A log line for every request.")
    cached_tables: int = Field(default=2000, ge=1, description="Tables kept in memory.")

    witnesses: tuple[WitnessAt, ...] = Field(
        default=(),
        max_length=16,
        description="Witnesses to ask for cosignatures: `url` and `vkey` of each.",
    )
    witness_quorum: int | None = Field(
        default=None, ge=1, description="How many must cosign; by default more than half of them."
    )
    witness_policy: Literal["serve", "no_new_hands"] = Field(
        default="serve", description="What happens while the quorum is late."
    )
    witness_patience: int = Field(
        default=60, ge=1, le=86400, description="Seconds after which the quorum is late."
    )
    witness_start: Literal["go_on", "refuse"] = Field(
        default="go_on", description="What a start does if a witness gives no cosignature."
    )

    @model_validator(mode="after")
    def _check_witnesses(self) -> Self:
        if len({one.vkey for one in self.witnesses}) != len(self.witnesses):
            raise ValueError("witnesses: one of them is named twice")
        if self.witness_quorum is not None and self.witness_quorum > len(self.witnesses):
            raise ValueError("witness_quorum: there are fewer witnesses than that")
        return self

    @model_validator(mode="after")
    def _check_anchor(self) -> Self:
        if lies_in(self.anchor_path, self.data):
            raise ValueError(
                "anchor: must be outside the data folder. A copy of the folder that is put back "
                "would bring its own anchor along, and nothing would tell that the log was rolled "
                "back. If it is there already, stop the service, move the file out and name its "
                "new place"
            )
        return self

    @model_validator(mode="after")
    def _check_name(self) -> Self:
        if self.mode == "live" and mode_of(self.origin) == "test":
            raise ValueError(
                f"origin: must not end in `{_TEST}`, as the names of test logs do. "
                "`--mode test` puts it there itself"
            )
        return self

    @property
    def quorum(self) -> int:
        """How many witnesses must cosign a head."""
        if self.witness_quorum is not None:
            return self.witness_quorum
        return len(self.witnesses) // 2 + 1 if self.witnesses else 0

    @field_validator("data", "anchor", "keys", mode="before")
    @classmethod
    def _check_path(cls, value: object) -> object:
        # An empty variable would be the folder that the command happens to be started in.
        text = str(value)
        if value == "" or "\0" in text or not text.isprintable():
            raise ValueError("must be the name of a file or folder, in UTF-8")
        return value

    @field_validator("origin")
    @classmethod
    def _check_origin(cls, value: str) -> str:
        if not _ORIGIN.fullmatch(value):
            raise ValueError("must be visible ASCII without `+`")
        return value

    @property
    def log_origin(self) -> str:
        """The log's origin; that of a test log says so. Spec: LOG-33."""
        return self.origin + _TEST if self.mode == "test" else self.origin

    @property
    def anchor_path(self) -> Path:
        """Where the outside checkpoint is kept."""
        if self.anchor is not None:
            return self.anchor
        # `.` and `..` have no name to put something behind.
        data = self.data if self.data.name not in ("", "..") else Path(os.path.realpath(self.data))
        return data.parent / f"{data.name}.anchor"

    @property
    def keys_path(self) -> Path:
        """Where the keys are kept."""
        return self.keys or self.data / "keys"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags first, then environment, then the file."""
        of_file = _of_file.get()
        if of_file is None:
            return init_settings, env_settings
        return init_settings, env_settings, InitSettingsSource(settings_cls, of_file)


def load(config: Path | None = None, **flags: object) -> Settings:
    """Read the settings.

    Args:
        config: A TOML file; `FAIRDEAL_CONFIG` names one as well.
        flags: Values from the command line; None means not given.

    Raises:
        ConfigurationError: One sentence for each fault; values are not shown.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    path = config or (Path(text) if (text := os.environ.get(PREFIX + "CONFIG")) else None)
    of_file = None if path is None else _read_file(path)
    known = {PREFIX + name.upper() for name in Settings.model_fields} | _OTHERS
    # A misspelt variable would be ignored without a word.
    strangers = sorted(n for n in os.environ if n.startswith(PREFIX) and n not in known)
    if strangers:
        raise ConfigurationError([f"{name} is not a setting." for name in strangers])
    token = _of_file.set(of_file)
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except SettingsError:
        # It is the source that says this, of a variable that has to hold a list.
        raise ConfigurationError([f"{PREFIX}WITNESSES is not JSON."]) from None
    except ValidationError as error:
        raise ConfigurationError([_sentence(fault) for fault in error.errors()]) from None
    finally:
        _of_file.reset(token)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError([f"{path} cannot be read: {error.strerror}."]) from None
    except ValueError as error:
        raise ConfigurationError([f"{path} is not TOML: {error}."]) from None


def _sentence(fault: ErrorDetails) -> str:
    name = ".".join(str(part) for part in fault["loc"])
    text = fault_in_words(fault)
    if fault["type"] == "extra_forbidden":
        return f"{name} is not a setting."
    if not name:
        return f"{text}."
    return f"{name} ({PREFIX}{str(fault['loc'][0]).upper()}): {text}."
