import inspect
import json

import click
import pytest

from equigraph.apps.cli.app import app
from equigraph.apps.cli.cluster import command
from equigraph.apps.cli.options import parameter_options, parameters_of
from equigraph.graph import read_graph
from equigraph.methods import METHODS

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
    values = {row["name"]: row["values"] for row in rows}
    assert values["attribute_weights"] == "a number after the name and a colon"
    assert values["rules"].startswith("a .json or .toml file")
    assert "'tcp://" in values["execution"]


@pytest.mark.parametrize("name", app.list_commands(click.Context(app)))
def test_every_command_has_a_help(run, name):
    answer = run(name, "--help")
    assert "--debug" in answer.stdout


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_every_parameter_has_an_option_and_no_flag_is_taken_twice(method):
    options = parameter_options(method)
    reachable = {option.name for option in options}
    names = set(method.load()._get_param_names())
    assert names - reachable <= ONLY_IN_PYTHON
    assert reachable <= names
    taken = [flag for one in (*command.params, *options) for flag in (*one.opts, *one.secondary_opts)]
    assert len(taken) == len(set(taken))


def test_reading_options_are_those_of_read_graph():
    # Weights stand behind the colon of --attribute.
    expected = set(inspect.signature(read_graph).parameters) - {"graph", "dtype", "attribute_weights"}
    assert {parameter.name for parameter in parameters_of("reading")} == expected
