"""Options that are made from the constraints of a method, so that no parameter is out of reach."""

from __future__ import annotations

import inspect
from collections.abc import Container
from typing import Any

import click

from equigraph.methods import METHODS, get_method

# Parameters whose option has another name, or a short one.
_FLAGS = {"n_clusters": ("-k", "--n-clusters"), "random_state": ("--seed",)}
# The command sets these itself.
_OWN = ("callbacks", "rules", "on_conflict", "verbose", "time_limit")
_DEST = "parameter_"
DEFAULT_SEED = 0
_SECTIONS = ("Options", "Parameters", "Rules", "Reading")  # first words of the sections of the help


class Command(click.Command):
    """A command that refuses an option that may stand once and stands twice, where click takes the last."""

    def make_parser(self, ctx: click.Context) -> Any:
        """Return click's parser, with a look at what was given."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            found = parse(args)
            _refuse_repeated(found[2], ctx)
            return found

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser


def _refuse_repeated(given: list[click.Parameter], ctx: click.Context) -> None:
    seen: set[int] = set()
    for parameter in given:
        may_repeat = not isinstance(parameter, click.Option) or parameter.multiple or parameter.count
        if not may_repeat and id(parameter) in seen:
            flags = " or ".join(sorted({*parameter.opts, *parameter.secondary_opts}, key=len)[-2:])
            raise click.UsageError(f"The option {flags} is given twice: give it once.", ctx)
        seen.add(id(parameter))


class SectionOption(click.Option):
    """An option that is listed in a section of the help."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.section = section


class ConstrainedValue(click.ParamType):
    """Text that becomes a value which the constraint accepts."""

    name = "value"

    def __init__(self, constraint: Any):
        self.constraint = constraint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, or fail with what was expected."""
        try:
            return parse_value(self.constraint, value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def parse_value(constraint: Any, text: Any) -> Any:
    """Return the first reading of a text that the constraint accepts.

    Tried in this order: None, a truth value, a whole number, a number, numbers (or none) separated by commas, the text
    itself. If it accepts none, a ValueError says what it expects.

    >>> from equigraph._utils.parameters import Integer, Real
    >>> parse_value(Integer(low=1), "200"), parse_value(Real(low=0), "1e-3")
    (200, 0.001)
    """
    if not isinstance(text, str):
        return text
    for value in _readings(text.strip()):
        if constraint.accepts(value):
            return value
    raise ValueError(f"{text!r} is not {describe_values(constraint)}.")


def _readings(text: str) -> list[Any]:
    words = {"none": None, "true": True, "false": False, "yes": True, "no": False}
    values: list[Any] = [words[text.lower()]] if text.lower() in words else []
    for kind in (int, float):
        try:
            # One of several may be none, such as an open bound.
            numbers = tuple(
                None if part.strip().lower() == "none" else kind(part) for part in text.split(",")
            )
        except ValueError:
            continue
        values += [numbers[0]] if len(numbers) == 1 else []
        values.append(numbers)
    return [*values, text]


def reachable(name: str, constraint: Any) -> bool:
    """Return whether a parameter can be given as text; objects of Python code cannot."""
    from equigraph._utils.parameters import AnyOf, Instance

    if name in _OWN:
        return False
    if isinstance(constraint, Instance):
        return constraint.accepts((2, 1))
    if isinstance(constraint, AnyOf):
        return any(reachable(name, option) for option in constraint.options)
    return True


def describe_values(constraint: Any) -> str:
    """Say what can be typed for a parameter.

    >>> from equigraph._utils.parameters import Integer
    >>> describe_values(Integer(low=1, optional=True))
    'a whole number of at least 1, or none'
    """
    from equigraph._utils.parameters import AnyOf, Boolean, Choice, Instance, Seed

    if isinstance(constraint, Choice):
        words = "one of " + ", ".join(map(str, constraint.values))
    elif isinstance(constraint, Boolean):
        words = "yes or no"
    elif isinstance(constraint, Seed):
        words = "a whole number of at least 0"
    elif isinstance(constraint, AnyOf):
        words = ", or ".join(
            describe_values(option) for option in constraint.options if reachable("", option)
        )
    elif isinstance(constraint, Instance) and constraint.accepts((2, 1)):
        words = "numbers separated by commas"
    else:
        words = constraint._describe()
    return f"{words}, or none" if constraint.optional else words


def defaults_of(estimator: Any) -> dict[str, Any]:
    """Return the defaults of an estimator's parameters."""
    signature = inspect.signature(estimator.__init__)
    return {name: parameter.default for name, parameter in signature.parameters.items() if name != "self"}


def flags_of(name: str) -> tuple[str, ...]:
    """Return the flags of a parameter."""
    return _FLAGS.get(name, ("--" + name.replace("_", "-"),))


def parameter_options(method: Any) -> list[click.Option]:
    """Return one option for each parameter of a method that can be given as text."""
    estimator = method.load()
    defaults = defaults_of(estimator)
    return [
        _option(name, constraint, defaults.get(name), f"Parameters of {method.name}")
        for name, constraint in estimator._parameters.items()
        if reachable(name, constraint)
    ]


def _option(name: str, constraint: Any, default: Any, section: str) -> click.Option:
    from equigraph._utils.parameters import AnyOf, Boolean, Choice

    flags = flags_of(name)
    shown = DEFAULT_SEED if name == "random_state" else default
    text = f"{constraint.help or 'No description.'}"
    if isinstance(constraint, Boolean) and not constraint.optional:
        pair = f"{flags[0]}/--no-{flags[0].removeprefix('--')}"
        settings: dict[str, Any] = {"help": f"{text}  [default: {'yes' if shown else 'no'}]"}
        return SectionOption([pair, _DEST + name], default=None, section=section, **settings)
    options = [
        option
        for option in (constraint.options if isinstance(constraint, AnyOf) else [constraint])
        if reachable(name, option)
    ]
    needs_number = name == "n_clusters" and default is not None
    values = options[0].values if len(options) == 1 and isinstance(options[0], Choice) else ()
    return SectionOption(
        [*flags, _DEST + name],
        type=ConstrainedValue(constraint),
        metavar="[" + "|".join(map(str, values)) + "]" if values else "VALUE",
        help=f"{text}  [{'required' if needs_number else f'default: {default_text(shown)}'}]",
        section=section,
    )


def default_text(value: Any) -> str:
    """Return a default as it would be typed."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def is_given(ctx: click.Context, name: str) -> bool:
    """Return whether an option was typed, and not left at its default."""
    return ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def method_parameters(method: Any, ctx: click.Context, generic: tuple[str, ...]) -> dict[str, Any]:
    """Collect the parameters that were given, as options or as ``-P name=value``."""
    given = {
        name.removeprefix(_DEST): value
        for name, value in ctx.params.items()
        if name.startswith(_DEST) and is_given(ctx, name)
    }
    constraints = method.load()._parameters
    for assignment in generic:
        name, equals, text = assignment.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise click.UsageError(f"-P {assignment} is not an assignment: expected name=value.", ctx)
        if name not in constraints or not reachable(name, constraints[name]):
            raise click.UsageError(_unknown(method, f"parameter {name!r}", name), ctx)
        if name in given:
            raise click.UsageError(f"The parameter {name!r} is given twice.", ctx)
        try:
            given[name] = parse_value(constraints[name], text)
        except ValueError as error:
            raise click.UsageError(f"-P {name}: {error}", ctx) from None
    if "random_state" in constraints:
        given.setdefault("random_state", DEFAULT_SEED)
    return given


def check_n_clusters(ctx: click.Context, method: Any, given: Container[str]) -> None:
    """Refuse to guess the number of clusters of a method that needs one."""
    if "n_clusters" not in given and defaults_of(method.load()).get("n_clusters") is not None:
        raise click.UsageError(
            f"-k is not given: {method.name} needs the number of clusters; `equigraph choose-k` compares several.",
            ctx,
        )


def check_one_dial(ctx: click.Context, given: Container[str]) -> None:
    """Refuse a weight beside the fairness asked for, where it would be ignored."""
    if "fairness" in given and "at_least" in given:
        raise click.UsageError(
            "--at-least asks for fairness in place of a weight: give it or --fairness, not both.", ctx
        )


def _unknown(method: Any, what: str, name: str) -> str:
    """Say that a method has no such parameter, and which methods do."""
    owners = [other.name for other in METHODS.values() if name in constraints_of(other.name)]
    if not owners:
        return (
            f"The method {method.name} has no {what}; `equigraph methods {method.name}` lists its parameters."
        )
    return f"The method {method.name} has no {what}; it belongs to {', '.join(owners)}."


def constraints_of(name: str) -> dict[str, Any]:
    """Return the constraints of a method; of one that cannot be imported here, none."""
    try:
        return get_method(name).load()._parameters
    except (ImportError, AttributeError):
        return {}


class SectionCommand(Command):
    """A command that shows its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        for title, records in sorted(sections.items(), key=lambda item: _SECTIONS.index(item[0].split()[0])):
            with formatter.section(title):
                formatter.write_dl(records)


class MethodCommand(SectionCommand):
    """A command whose options depend on its ``--method``."""

    default_method = "fair-partition"
    # Parameters of the method for which the command has options of its own.
    replaced: Container[str] = ()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the command and those of the method."""
        options = ctx.meta.get("equigraph.options", ())
        kept = [one for one in options if one.name.removeprefix(_DEST) not in self.replaced]
        return [*super().get_params(ctx), *kept]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the method, then parse with its options."""
        method = get_method(self._method_name(args))
        ctx.meta["equigraph.options"] = parameter_options(method)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            self._explain(error, method)
            raise

    def _method_name(self, args: list[str]) -> str:
        for i, argument in enumerate(args):
            if argument in ("--method", "-m") and i + 1 < len(args):
                return args[i + 1]
            if argument.startswith("--method="):
                return argument.removeprefix("--method=")
        return self.default_method

    def _explain(self, error: click.NoSuchOption, method: Any) -> None:
        """Replace click's message where the option belongs to another method."""
        name = error.option_name.lstrip("-").replace("-", "_")
        name = {"k": "n_clusters", "seed": "random_state"}.get(name, name).removeprefix("no_")
        if any(name in constraints_of(other.name) for other in METHODS.values()):
            raise click.UsageError(_unknown(method, f"option {error.option_name}", name), error.ctx) from None
