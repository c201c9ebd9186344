"""`tacit serve`: the service, until Ctrl+C or a signal ends it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from .output import reporting_errors
from .service.options import Config, say
from .service.upkeep import check as check_all


def serve(
    *,
    config: Config = None,
    host: Annotated[
        str | None, typer.Option(help="Where to listen; by default, 127.0.0.1: this machine alone.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 for any that is free.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="The certificate for TLS, with its chain, in PEM.")] = None,
    private_key: Annotated[Path | None, typer.Option(help="The private key of the certificate.")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen without TLS on other than this machine, behind a proxy.")
    ] = False,
    postgres_port: Annotated[
        int | None, typer.Option(help="Also listen here, to clients of PostgreSQL; by default, not.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="How many processes answer.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check all that the service needs.")] = False,
) -> None:
    """Serve data sets to people who may ask about them and may not see them.

    What is given here takes the place of what the configuration says.
    """
    if check:
        check_all(config)
        return
    from ..server.config import Settings

    given = {
        "TACIT_CONFIG": None if config is None else str(config.absolute()),
        "TACIT_SERVICE_HOST": host,
        "TACIT_SERVICE_PORT": port,
        "TACIT_SERVICE_CERTIFICATE": certificate and certificate.absolute(),
        "TACIT_SERVICE_PRIVATE_KEY": private_key and private_key.absolute(),
        "TACIT_SERVICE_PLAIN": "true" if insecure else None,
        "TACIT_SERVICE_WORKERS": workers,
        "TACIT_POSTGRES_PORT": postgres_port,
    }
    environment = {name: str(value) for name, value in given.items() if value is not None}
    with reporting_errors():
        os.environ.update(environment)
        settings = Settings.load(config)
        from ..server.serving import run
        from ..server.store import Store

        Store.open(settings.service.store, create=False).close()  # reports a bad store once, before processes fork

        def ready(serving: Settings) -> None:
            second = serving.postgres.port
            beside = "" if second is None else f" and PostgreSQL at port {second}"
            say(f"Serving {serving.address}{beside}. Press Ctrl+C to end.")

        run(settings, ready)
