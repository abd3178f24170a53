"""The options that say where to work: --cluster; --memory, --scratch and --run-size; and --resume, after an end."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from ttt_cli.cli.line.options import Command, given
from ttt_cli.errors import ConfigError, SetupError

COMMAND: Final = "ttt-fit.json"  # in the folder: what was asked for, and where


def _on_cluster(values: dict[str, Any]) -> dict[str, Any]:
    cluster = values.pop("cluster")
    if cluster is None:
        return values
    if values.get("jobs") is not None:
        raise click.UsageError("--jobs and --cluster are one or the other")
    from ttt_cli.config.render import flow

    return values | {"overrides": (*values["overrides"], f"solver.cluster={flow(cluster)}")}


_CLUSTER: Final = click.option(
    "--cluster", metavar="WHERE",
    help="Work on a Dask cluster (docs/cluster.md): the address of its scheduler, or local:N; "
    "default $TTT_CLUSTER, else this machine.",
)  # fmt: skip
# The command sees it as the last of its `overrides`
cluster_option = given([_CLUSTER], _on_cluster)


def storage_options(command: Command) -> Command:
    """The command sees these options as the last of its `overrides`; with --resume, what it saw before."""

    @wraps(command)
    def wrapped(
        *args: Any,
        memory: str | None,
        scratch: str | None,
        run_size: str | None,
        resume: str | None,
        **values: Any,
    ) -> Any:
        before: str | None = None  # what was asked for last time
        if resume is not None:
            if values["files"] or memory or scratch or run_size:
                raise click.UsageError("--resume FOLDER stands alone: everything is as it was asked for")
            folder: Path | None = Path(resume).absolute()
            values |= _asked_for(Path(resume).absolute())
        elif not values["files"]:
            context = click.get_current_context()
            missing = next(param for param in context.command.params if param.name == "files")
            raise click.MissingParameter(ctx=context, param=missing)
        else:
            from ttt_cli.config.render import flow

            sizes = {"memory": memory, "scratch": scratch, "run_size": run_size}
            added = [f"solver.{key}={flow(value)}" for key, value in sizes.items() if value is not None]
            values["overrides"] = (*values["overrides"], *added)
            folder = None if scratch is None else Path(scratch).absolute()
            if folder:
                with suppress(OSError, ValueError):
                    before = (folder / COMMAND).read_text(encoding="utf-8")
                _keep(folder, values)
        try:
            code = command(*args, **values)
        except ConfigError:  # nothing was begun
            if folder and before is not None:
                (folder / COMMAND).write_text(before, encoding="utf-8")
            raise
        if folder:
            (folder / COMMAND).unlink(missing_ok=True)
        return code

    return given(_STORAGE)(wrapped)  # type: ignore[no-any-return]


_STORAGE: Final = (
    click.option(
        "--memory", metavar="SIZE",
        help="Stay within so much memory, as 4GB: what does not fit lies in files (docs/cluster.md). The program alone "
        "takes 0.3 to 0.4 GB; near that it may take 0.1 GB more than SIZE.",
    ),
    click.option(
        "--scratch", metavar="FOLDER",
        help="Where --memory and --cluster keep files: `--resume FOLDER`, or the same command, goes on with a fit "
        "that was ended.",
    ),
    click.option("--resume", metavar="FOLDER", help="Go on with the fit that --scratch FOLDER keeps; alone."),
    click.option(
        "--run-size", metavar="SIZE",
        help="Write a run of at least so much, as 50GB, as a folder with its large tables as Parquet.",
    ),
)  # fmt: skip


def _keep(folder: Path, values: dict[str, Any]) -> None:
    """Write down what is asked for."""
    place = folder / COMMAND
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"folder": str(Path.cwd()), "values": values}), encoding="utf-8")
    except OSError as error:
        raise SetupError(f"{place} cannot be written: {error.strerror}") from error


def _asked_for(folder: Path) -> dict[str, Any]:
    """What was asked for; from now on this process works where that one did."""
    try:
        kept = json.loads((folder / COMMAND).read_text(encoding="utf-8"))
        values: dict[str, Any] = kept["values"]
        lists = {key: tuple(values[key]) for key in ("files", "overrides")}
        os.chdir(kept["folder"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"{folder} keeps no fit that could go on", hint="`ttt fit FILE... --scratch FOLDER` keeps one"
        ) from error
    return values | lists
