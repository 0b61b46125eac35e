import inspect
import json
from contextlib import suppress

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph._utils.parameters import AnyOf, Boolean, Choice, Instance, Integer, Real, Seed
from equigraph.apps.cli.app import app
from equigraph.apps.cli.options import parameter_options, parameters_of, parse_value
from equigraph.graph import read_graph
from equigraph.methods import METHODS

CORE = [method for method in METHODS.values() if method.extra is None]
# Weights stand behind the colon of --attribute, rules have options of the command.
ONLY_IN_PYTHON = {
    "callbacks", "penalty", "representation", "attribute_weights", "rules", "on_conflict", "time_limit", "verbose",
}  # fmt: skip


def test_options_of_a_method_that_the_command_has(run):
    rows = json.loads(run("methods", "fair-partition", "--json").stdout)["parameters"]
    told = {row["name"]: row["option"] for row in rows}
    names = {flag for parameter in parameters_of("cluster") for flag in parameter.opts}
    assert {told[name] for name in ("rules", "on_conflict", "time_limit")} <= names
    assert told["verbose"] == "(only in Python: verbose)"


@pytest.mark.parametrize("name", app.list_commands(click.Context(app)))
def test_every_command_has_a_help(run, name):
    answer = run(name, "--help")
    assert "--debug" in answer.stdout


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_every_parameter_has_an_option(method):
    options = {option.name.removeprefix("parameter_") for option in parameter_options(method)}
    names = set(method.load()._get_param_names())
    assert names - options <= ONLY_IN_PYTHON
    assert options <= names


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_no_flag_is_taken_twice(method):
    from equigraph.apps.cli.cluster import command

    taken = [flag for option in command.params for flag in (*option.opts, *option.secondary_opts)]
    for option in parameter_options(method):
        taken += [*option.opts, *option.secondary_opts]
    assert len(taken) == len(set(taken))


@pytest.mark.parametrize(
    ("constraint", "text", "value"),
    [
        (Integer(low=1), "3", 3),
        (Integer(low=1, optional=True), "none", None),
        (Real(low=0), "1e-4", 1e-4),
        (Choice(values=("a", "b")), "b", "b"),
        (Choice(values=(0.25, 0.5)), "0.5", 0.5),
        (Boolean(), "yes", True),
        (Boolean(), "false", False),
        (Seed(), "12", 12),
        (Seed(), "none", None),
        (Instance(methods=("__iter__",)), "8,4", (8, 4)),
        (Instance(methods=("__iter__",)), "8", (8,)),
        (AnyOf(options=(Integer(low=1), Choice(values=("auto",)))), "auto", "auto"),
    ],
)
def test_texts_become_values(constraint, text, value):
    parsed = parse_value(constraint, text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize("text", ["", "none", "1.5", "0", "true", "1,2", "x"])
def test_texts_that_are_refused(text):
    with pytest.raises(ValueError, match="a whole number of at least 1"):
        parse_value(Integer(low=1), text)


@settings(max_examples=50, deadline=None)
@given(st.text("0123456789.,+-eEinfatrues _", max_size=8))
def test_whatever_is_accepted_the_constraint_accepts(text):
    for constraint in (Integer(low=1), Real(low=0, high=1), Choice(values=("a",)), Boolean(), Seed()):
        with suppress(ValueError):
            assert constraint.accepts(parse_value(constraint, text))


def test_reading_options_are_those_of_read_graph():
    # Weights stand behind the colon of --attribute.
    expected = set(inspect.signature(read_graph).parameters) - {"graph", "dtype", "attribute_weights"}
    assert {parameter.name for parameter in parameters_of("reading")} == expected
