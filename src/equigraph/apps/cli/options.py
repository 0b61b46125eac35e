"""Options: those of the table ``options.toml``, and those generated from the parameters of a method."""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, cast

import click

import equigraph as eg
from equigraph.methods import METHODS, get_method

Settings = dict[str, Any]  # option values by name

DEFAULT_METHOD = "fair-partition"
DEFAULT_SEED = 0
# Flags of parameters that differ from the name of the parameter.
_FLAGS = {"n_clusters": ("-k", "--n-clusters"), "random_state": ("--seed",)}
# Parameters set by the command itself, with its option.
OWN = {
    "attribute_weights": "--attribute NAME:WEIGHT",
    "callbacks": None,
    "on_conflict": "--on-conflict",
    "rules": "--rules",
    "time_limit": "--time-limit",
    "verbose": None,
}
_METHOD_OPTIONS = "equigraph.options"  # in the context of a command: the options of its method
DEBUG_HELP = "Show the traceback of an error."
_SECTIONS = ("Options", "Parameters", "Rules", "Reading")  # first words of the sections of the help


class SectionOption(click.Option):
    """An option that is listed in a section of the help."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what the help adds, with the bounds of a number in words."""
        extra = super().get_help_extra(ctx)
        if isinstance(self.type, Number) and (words := _bounds(self.type.constraint)):
            extra["range"] = words
        return extra


class Command(click.Command):
    """A command with the options of its table, in sections; repeating a single-valued option is an error."""

    def __init__(self, name: str, **kwargs: Any):
        debug = click.Option(["--debug"], is_flag=True, expose_value=False, help=DEBUG_HELP)
        super().__init__(name, **kwargs | {"params": [*parameters_of(name), debug]})
        # Parameters of the method that are not options here, with a sentence that names the replacement.
        self.replaced: dict[str, str] = _tables()[name].get("replaced", {})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; click would silently take the last value of a repeated option."""
        seen: set[int] = set()
        for parameter in self.make_parser(ctx).parse_args(list(args))[2]:
            may_repeat = not isinstance(parameter, click.Option) or parameter.multiple
            if not may_repeat and id(parameter) in seen:
                flags = " or ".join(sorted({*parameter.opts, *parameter.secondary_opts}, key=len)[-2:])
                raise click.UsageError(f"The option {flags} is given twice: give it once.", ctx)
            seen.add(id(parameter))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; usage errors name its help."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

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


def parse_names(text: str) -> list[str]:
    """Return the names in a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_weighted(text: str) -> tuple[str, float | None]:
    """Return an attribute and its weight; a colon that is not followed by a number belongs to the name.

    >>> parse_weighted("gender"), parse_weighted("needs:2"), parse_weighted("a:b")
    (('gender', None), ('needs', 2.0), ('a:b', None))
    """
    name, _, weight = text.rpartition(":")
    try:
        number = float(weight)
    except ValueError:
        name = ""
    if not name:
        return text, None
    if not math.isfinite(number) or number < 0:
        raise click.BadParameter(f"{text} has the weight {weight}: expected a number of at least 0.")
    return name, number


def parse_node_set(text: str) -> list[str]:
    """Return the names in a list with commas, at least two."""
    names = parse_names(text)
    if len(names) < 2:
        raise click.BadParameter(
            f"{text!r} names fewer than two: expected names with commas between, such as 'Ada,Ben'."
        )
    return names


def parse_bounds(text: str) -> tuple[int | None, int | None]:
    """Return the lower and upper bound in a text such as 25,27 or 25-27 or 25.

    >>> parse_bounds("25,27"), parse_bounds("26"), parse_bounds("25,none")
    ((25, 27), (26, 26), (25, None))
    """
    parts = [part.strip().lower() for part in text.replace("-", ",").split(",")]
    if len(parts) not in (1, 2) or not all(part.isdecimal() or part == "none" for part in parts):
        raise click.BadParameter(f"{text!r} is not two numbers, such as 25,27.")
    least, most = (None if part == "none" else int(part) for part in (parts[0], parts[-1]))
    return least, most


def parse_column(name: str) -> str | int:
    """Return a column as int if it is a number, which may be a position; the reader tries it as a name first."""
    return int(name) if name.isdecimal() and str(int(name)) == name else name


def parse_joint(text: str) -> list[str]:
    """Return the attributes of joint groups; a name with a comma is in double quotes."""
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if len(names) < 2 or "" in names:
        raise click.BadParameter(f"{text} names no two attributes: expected such as gender,needs.")
    return names


def parse_numbers(text: str) -> list[float]:
    """Return the numbers in a list with commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not numbers with commas between, such as 0,0.5,1.") from None


class Number(click.ParamType):
    """Parameter type of a number; what it expects is said as of a parameter of a method."""

    name = "number"

    def __init__(self, kind: str, min: float = -math.inf, max: float = math.inf, min_open: bool = False):
        from equigraph._utils.parameters import Integer, Real

        made: Any = {"int": (int, Integer), "float": (float, Real)}
        self._type, constraint = made[kind]
        self.constraint = constraint(low=min, high=max, open_low=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail with what was expected."""
        return self._type(parse_value(self.constraint, str(value)))


def _bounds(constraint: Any) -> str:
    low, high = f"{constraint.low:g}", f"{constraint.high:g}"
    if constraint.high < math.inf:
        return f"above {low}, at most {high}" if constraint.open_low else f"from {low} to {high}"
    if constraint.low == -math.inf:
        return ""
    return f"above {low}" if constraint.open_low else f"at least {low}"


_TYPES: dict[str, Any] = {
    "file": click.Path(dir_okay=False, writable=True, path_type=Path),
    "names": parse_names,
    "node set": parse_node_set,
    "bounds": parse_bounds,
    "numbers": parse_numbers,
    "weighted": parse_weighted,
    "joint": parse_joint,
    "column": parse_column,
    "weight": lambda name: False if name == "none" else parse_column(name),
    "sheet": lambda text: int(text) if text.isdecimal() else text,
    "person": lambda name: None if name.casefold() == "none" else name,
}


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("options.toml").read_text(encoding="utf-8"))


def parameters_of(table: str) -> list[click.Parameter]:
    """Return the arguments and options of a table of ``options.toml``, which explains its keys."""
    entries = _tables()[table]
    section = entries.get("section", "Options")
    found: list[click.Parameter] = []
    for usage, entry in entries.items():
        if usage in ("section", "replaced"):
            continue
        if usage.startswith("@"):
            found += parameters_of(usage[1:])
        elif usage.startswith("-"):
            settings = {"help": entry} if isinstance(entry, str) else entry
            found.append(_option(usage, {"section": section, **settings}))
        else:
            settings = {"dest": entry} if isinstance(entry, str) else dict(entry)
            settings.setdefault("required", not usage.startswith("["))
            found.append(click.Argument([settings.pop("dest")], metavar=usage, **settings))
    return found


def _option(usage: str, settings: Settings) -> SectionOption:
    flags = [word for word in usage.split() if word.startswith("-")]
    metavar = " ".join(usage.split()[len(flags) :]) or None
    bounds = {name: settings.pop(name) for name in ("min", "max", "min_open") if name in settings}
    if bounds or settings.get("type") in ("int", "float"):
        settings["type"] = Number(settings.get("type", "int"), **bounds)
    elif "type" in settings:
        settings["type"] = _TYPES[settings["type"]]
    elif metavar is not None and "|" in metavar:
        settings["type"], metavar = click.Choice(metavar.strip("[]").split("|")), None
    elif metavar is None and "/" not in usage and "default" not in settings:
        settings["is_flag"] = True
    if metavar is not None and "=" in metavar:
        split = str.partition if settings.pop("split", "last") == "first" else str.rpartition
        read = click.types.convert_type(settings.pop("type", str))
        settings |= {"multiple": True, "callback": partial(_assignments, metavar, read, split)}
    if "/" in usage:
        settings.setdefault("default", None)
    if not isinstance(settings.get("default"), bool):
        settings.setdefault("show_default", settings.get("default") is not None)
    names = [settings.pop("dest")] if "dest" in settings else []
    return SectionOption([*flags, *names], metavar=metavar, **settings)


def _assignments(
    expected: str,
    read: click.ParamType,
    split: Callable[[str, str], tuple[str, str, str]],
    ctx: click.Context,
    param: click.Parameter,
    texts: tuple[str, ...],
) -> dict[str, Any]:
    """Return what an option such as ``--bins NAME=NUMBER`` assigns; the name is empty where it may be missing."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in split(text, "="))
        if not (value and equals and name) and not ("[" in expected and value):
            raise click.BadParameter(f"{text!r} is not {expected}.")
        if name in found:
            raise click.BadParameter(f"given twice for {name or 'all'}: give it once.")
        found[name] = read.convert(value, param, ctx)
    return found


def rule_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters ``rules`` and ``on_conflict`` that the options describe; nothing without a rule."""
    rules = rules_of(settings, "together", "apart", "sizes", "friends", "shares")
    return {} if rules is None else {"rules": rules, "on_conflict": settings["on_conflict"]}


def rules_of(settings: Mapping[str, Any], *keywords: str) -> Any:
    """Return the rules of these options, those of the file first, or None if there are none."""
    items = eg.Rules.read(settings["rules_file"]).items if settings.get("rules_file") else ()
    given = {keyword: settings[keyword] for keyword in keywords if settings.get(keyword)}
    items += eg.Rules.from_dict(given).items
    return eg.Rules.of(items) if items else None


def parse_value(constraint: Any, text: str) -> Any:
    """Return the first interpretation of a text that the constraint accepts.

    Tried in this order: a plain value (None, a truth value, a number), plain values separated by commas, the text
    itself.

    >>> from equigraph._utils.parameters import Integer, Real
    >>> parse_value(Integer(low=1), "200"), parse_value(Real(low=0), "1e-3")
    (200, 0.001)
    """
    parts = tuple(map(_plain, text.split(",")))
    plain = [] if str in map(type, parts) else [*(parts if len(parts) == 1 else ()), parts]
    for value in (*plain, text.strip()):
        if constraint.accepts(value):
            return value
    raise click.BadParameter(f"{text!r} is not {describe_values(constraint)}.")


def _plain(text: str) -> Any:
    words = {"none": None, "true": True, "false": False, "yes": True, "no": False}
    text = text.strip()
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def reachable(name: str, constraint: Any) -> bool:
    """Return whether a parameter can be given as text; Python objects cannot."""
    from equigraph._utils.parameters import AnyOf, Instance

    if isinstance(constraint, AnyOf):
        return any(reachable(name, one) for one in constraint.options)
    return name not in OWN and (not isinstance(constraint, Instance) or constraint.accepts((2, 1)))


def describe_values(constraint: Any) -> str:
    """Describe the values that can be typed for a parameter.

    >>> from equigraph._utils.parameters import Integer
    >>> describe_values(Integer(low=1, optional=True))
    'a whole number of at least 1, or none'
    """
    from equigraph._utils.parameters import AnyOf, Boolean, Choice, Instance, Integer, Real, Seed

    if type(constraint) is Choice:
        words = ("one of " if len(constraint.values) > 1 else "") + ", ".join(map(str, constraint.values))
    elif isinstance(constraint, Boolean):
        words = "yes or no"
    elif isinstance(constraint, Seed):
        words = "a whole number of at least 0"
    elif isinstance(constraint, Real):
        kind = "a whole number" if isinstance(constraint, Integer) else "a number"
        words = f"{kind} {_bounds(constraint).replace('at least', 'of at least')}".rstrip()
    elif isinstance(constraint, AnyOf):
        words = ", or ".join(describe_values(one) for one in constraint.options if reachable("", one))
    elif isinstance(constraint, Instance) and constraint.accepts((2, 1)):
        words = "numbers separated by commas"
    else:
        words = constraint._describe()
    return f"{words}, or none" if constraint.optional else words


def flags_of(name: str) -> tuple[str, ...]:
    """Return the flags of a parameter."""
    return _FLAGS.get(name, ("--" + name.replace("_", "-"),))


def default_texts(estimator: Any) -> dict[str, str]:
    """Return the defaults of an estimator's parameters as they would be typed."""
    defaults = estimator().get_params(deep=False)
    if "random_state" in defaults:
        defaults["random_state"] = DEFAULT_SEED
    return {name: _typed(value) for name, value in defaults.items()}


def _typed(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def parameter_options(method: Any) -> list[click.Parameter]:
    """Return one option for each parameter of a method that can be given as text."""
    from equigraph._utils.parameters import AnyOf, Boolean, Choice

    estimator = method.load()
    defaults = default_texts(estimator)
    options: list[click.Parameter] = []
    for name, constraint in estimator._parameters.items():
        if not reachable(name, constraint):
            continue
        flags = list(flags_of(name))
        settings: Settings = {}
        if isinstance(constraint, Boolean) and not constraint.optional:
            flags = [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"]
            settings["default"] = None
        else:
            readings = constraint.options if isinstance(constraint, AnyOf) else [constraint]
            choices = [one for one in readings if reachable(name, one)]
            words = choices[0].values if len(choices) == 1 and isinstance(choices[0], Choice) else ()
            settings["metavar"] = "[" + "|".join(map(str, words)) + "]" if words else "VALUE"
            settings["type"] = lambda text, constraint=constraint: parse_value(constraint, text)
        required = name == "n_clusters" and defaults[name] != "none"
        default = "required" if required else f"default: {defaults[name]}"
        text, section = f"{constraint.help}  [{default}]", f"Parameters of {method.name}"
        options.append(SectionOption([*flags, name], help=text, section=section, **settings))
    return options


def is_given(name: str) -> bool:
    """Return whether an option was given on the command line."""
    return click.get_current_context().get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def method_parameters(name: str, settings: Settings) -> dict[str, Any]:
    """Collect the parameters of a method that were given, as its options, as ``-P name=value`` or as rules."""
    context = click.get_current_context()
    known = [str(option.name) for option in context.meta[_METHOD_OPTIONS]]
    given = {parameter: settings[parameter] for parameter in known if is_given(parameter)}
    estimator = get_method(name).load()
    constraints = estimator._parameters
    replaced = cast(Command, context.command).replaced
    for typed, text in settings["generic"].items():
        parameter = typed.replace("-", "_")
        if parameter not in known:
            raise click.UsageError(_refusal(name, replaced, parameter, f"parameter {parameter!r}"))
        if parameter in given:
            raise click.UsageError(f"The parameter {parameter!r} is given twice.")
        try:
            given[parameter] = parse_value(constraints[parameter], text)
        except click.BadParameter as error:
            raise click.UsageError(f"-P {parameter}: {error.message}") from None
    if "random_state" in constraints:
        given.setdefault("random_state", DEFAULT_SEED)
    check_one_dial(given)
    rules = rule_parameters(settings)
    if rules and "rules" not in constraints:
        raise click.UsageError(f"The method {name} keeps no rules: leave them out, or use fair-partition.")
    needed = default_texts(estimator).get("n_clusters", "none") != "none"
    if needed and "n_clusters" not in {*given, *replaced}:
        raise click.UsageError(
            f"-k is not given: {name} needs the number of clusters; `equigraph choose-k` compares several."
        )
    return given | rules


def check_one_dial(given: Container[str]) -> None:
    """Raise UsageError if a fairness weight would be ignored because a bound is given."""
    if "fairness" in given and "at_least" in given:
        raise click.UsageError(
            "--at-least asks for fairness in place of a weight: give it or --fairness, not both."
        )


def _refusal(method: str, replaced: Mapping[str, str], name: str, what: str) -> str:
    """Return what is said about a parameter that is no option: what replaces it, or which other methods have it."""
    if name in replaced:
        return replaced[name]
    if name in constraints_of(method):
        instead = f": give {OWN[name]}" if OWN.get(name) else ""
        return f"The {what} of {method} is for Python only{instead}."
    owners = [other for other in METHODS if name in constraints_of(other)]
    more = (
        f"it belongs to {', '.join(owners)}"
        if owners
        else f"`equigraph methods {method}` lists its parameters"
    )
    return f"The method {method} has no {what}; {more}."


def constraints_of(name: str) -> dict[str, Any]:
    """Return the constraints of a method; empty if it cannot be imported."""
    try:
        return get_method(name).load()._parameters
    except (ImportError, AttributeError):
        return {}


class MethodCommand(Command):
    """A command whose options depend on its ``--method``."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the command and those of the method."""
        return [*super().get_params(ctx), *ctx.meta.get(_METHOD_OPTIONS, ())]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the method, then parse with its options; an option of another method is said to be one."""
        parser = self.make_parser(ctx)
        parser.ignore_unknown_options = True
        method = get_method(parser.parse_args(list(args))[0].get("method", DEFAULT_METHOD))
        options = parameter_options(method)
        ctx.meta[_METHOD_OPTIONS] = [one for one in options if one.name not in self.replaced]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            flag = error.option_name.replace("--no-", "--")
            for name in {*self.replaced, *chain.from_iterable(map(constraints_of, METHODS))}:
                if flag in flags_of(name) and name not in OWN:
                    text = _refusal(method.name, self.replaced, name, f"option {error.option_name}")
                    raise click.UsageError(text, error.ctx) from None
            raise
