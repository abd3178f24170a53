"""Steps between margins of victory among the parameters of a model: `margin_steps.N` leads to a win by N or more."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator

PREFIX: Final = "margin_steps."
StepPoints = Literal["estimate"] | float
StepSettings = Literal["estimate"] | dict[str, StepPoints]  # by margins, whole numbers as text


def _with_text_keys(settings: Any) -> Any:
    """Margins that are numbers as text, as a config has them."""
    if not isinstance(settings, dict):
        return settings
    return {str(margin): points for margin, points in settings.items()}


def _check(settings: StepSettings) -> StepSettings:
    """The settings by increasing margin. Raises ValueError for margins and steps that are none."""
    if isinstance(settings, str):
        return settings
    for margin, points in settings.items():
        if not (margin.isascii() and margin.isdigit() and 2 <= int(margin) < 10**9):
            raise ValueError(
                f"{margin} is no margin of victory: whole numbers from 2 on, as in {{2: 200, 3: 150}}"
            )
        if not isinstance(points, str) and not points > 0.0:
            raise ValueError(f"the step to a win by {margin} is above 0, points")
    by_margin = {str(int(margin)): points for margin, points in settings.items()}
    return {margin: by_margin[margin] for margin in sorted(by_margin, key=int)}


MarginSteps = Annotated[StepSettings, BeforeValidator(_with_text_keys), AfterValidator(_check)]


def step_key(margin: int) -> str:
    """The key of the step to a margin."""
    return f"{PREFIX}{margin}"


def steps_by_key(settings: StepSettings) -> dict[str, StepPoints]:
    """The steps as configured, by key; none where all of them are to be estimated."""
    return (
        {}
        if isinstance(settings, str)
        else {PREFIX + margin: points for margin, points in settings.items()}
    )


def with_steps(settings: StepSettings, values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with other values, by key."""
    changed: dict[str, Any] = {} if isinstance(settings, str) else dict(settings)
    return changed | {key.removeprefix(PREFIX): value for key, value in values.items()}
