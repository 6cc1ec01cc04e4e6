"""The command line. Everything here can be done as shortly from Python: see the package's own documentation."""

import json
import signal
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter

from exmachina import _core
from exmachina.command import progress, terminal
from exmachina.command.deploying import deploy
from exmachina.command.disturbing import disturb
from exmachina.command.hunting import worst
from exmachina.command.measuring import testbed
from exmachina.command.parameters import FIELDS, SHORT, Output, Quiet
from exmachina.command.probing import probe
from exmachina.command.scoring import score, together
from exmachina.command.steadying import steady
from exmachina.command.sweeping import sweep
from exmachina.command.tuning import tune
from exmachina.designing import Budget, DesignOptions
from exmachina.designing import design as design_table
from exmachina.errors import InputError, Stopped
from exmachina.evaluation import TRACE_S, EvaluationOptions, Standing, shipped_scenarios
from exmachina.evaluation import evaluate as evaluate_schemes
from exmachina.evaluation import trace as trace_run
from exmachina.exporting import Form
from exmachina.exporting import export as export_table
from exmachina.files import check_output, program
from exmachina.inspection import InspectOptions
from exmachina.inspection import inspect as inspect_table
from exmachina.networks import Dumbbell, Model, dumbbell, shipped_models
from exmachina.pictures import draw
from exmachina.reproduce import ReproduceOptions
from exmachina.schemes import Table, algorithms

__all__ = ["app", "main"]

USAGE, STOPPED, FAILED = 2, 130, 1
"""Exit codes: something given cannot be used, ctrl-C, the system refused something."""

app = App(
    name="exmachina",
    help="Designs congestion-control algorithms for the network that you describe, by simulation and search.",
    version=lambda: f"{_core.__version__} (build {program().hex()[:12]})",  # a digest: two builds can have a version
    suppress_keyboard_interrupt=False,  # ctrl-C saves a design, and says so
    default_parameter=Parameter(negative=(), show_default=lambda value: value or None),
)


@app.command
def design(
    model: str,
    *,
    output: Annotated[Path, Output],
    options: Annotated[DesignOptions, FIELDS] = DesignOptions(),  # noqa: B008 (frozen)
    start: str | None = None,
    quiet: Quiet = False,
) -> None:
    """Design a rule table for a model. Without a budget it goes on until ctrl-C, which saves and stops.

    Where the senders of a model have names, a table is designed for each name, all of them together.

    Args:
        model: A model file (.toml), or the name of one that comes with the program: see `exmachina models`.
        output: Where to write the table (.dna); of several, that of the senders NAME goes to OUTPUT-NAME.dna. Beside
            it: a checkpoint after every step, and the history.
        options: See `DesignOptions`.
        start: A table to begin with, instead of one rule, or a law, where the model asks for one: a file (.dna), or an
            algorithm of `exmachina list`; or one for each name of senders, with commas between them.
        quiet: Show no progress.
    """
    loaded = Model.load(model)
    first = None if start is None else together(start)
    results, messages = terminal.consoles()
    with (
        progress.computing(messages, options, quiet=quiet) as engine,
        progress.design_display(messages, f"{loaded.name} → {output}", quiet=quiet) as on_progress,
    ):
        result = design_table(loaded, output, options, cluster=engine, start=first, on_progress=on_progress)
    cost = terminal.duration(result.progress.cpu_s)
    names = [str(output.with_name(f"{output.stem}-{name}.dna") if name else output) for name in result.tables]
    sizes = " + ".join(table.size for table in result.tables.values())
    results.print(
        f"{', '.join(names)}: {sizes}, "
        f"{terminal.score_words(result.score, result.starved_share)} on networks that no step saw, "
        f"{result.progress.step} steps, {cost} of CPU time",
        soft_wrap=True,
    )


app.command(score)
app.command(disturb)


@app.command
def inspect(
    table: str,
    *,
    model: str | None = None,
    plotted: Annotated[Dumbbell | None, FIELDS] = None,
    options: Annotated[InspectOptions, FIELDS] = InspectOptions(),  # noqa: B008 (frozen)
    output: Annotated[list[Path] | None, Output] = None,
) -> None:
    """Explain a rule table: which rules fire and when, what they do, and a run over time.

    The time plot is of one of the model's networks, or of one link with what is given of --rate-mbps to --buffer-bdp.

    Args:
        table: A file (.dna), ours or the authors', or an algorithm of `exmachina list`.
        model: Count the uses of rules on networks of this model; if not given, on those the table was designed for.
        plotted: See `Dumbbell`.
        options: See `InspectOptions`.
        output: Write a page (.html) or a picture (.png); may be given twice. If not given: both, here.
    """
    loaded = Table.load(table)
    outputs = output or [Path(f"{loaded.name}.html"), Path(f"{loaded.name}.png")]
    for path in outputs:
        check_output(path, suffixes=(".html", ".png"))
    network = None if plotted is None else dumbbell(plotted)
    inspection = inspect_table(loaded, model, options, network=network)
    for path in outputs:
        draw(inspection, path)
    out, _ = terminal.consoles()
    terminal.show_rules(out, inspection)
    out.print("written: " + ", ".join(map(str, outputs)), soft_wrap=True)


app.command(probe)
app.command(worst)
app.command(steady)
app.command(tune)


@app.command
def export(
    table: str,
    *,
    to: Form,
    output: Annotated[Path, Output],
    name: str | None = None,
) -> None:
    """Write a rule table as sources for a transport: with what builds them, a README.md, and the table as rounded.

    The rounded table is a .dna file beside the sources, for `exmachina score` and `inspect`: at every ACK the sources
    do what the simulator does with it.

    Args:
        table: A file (.dna), ours or the authors', or an algorithm of `exmachina list`.
        to: bpf, a congestion control for the Linux kernel; ns3, one for ns-3; c; rust; json,
            for implementations of one's own.
        output: The folder to write into.
        name: What to call it there; the table's name if not given, of which Linux has room for 13 letters.
    """
    out, _ = terminal.consoles()
    terminal.show_export(out, export_table(table, to=to, output=output, name=name))


app.command(deploy)


@app.command
def evaluate(
    scenario: str,
    *,
    schemes: str | None = None,
    options: Annotated[EvaluationOptions, SHORT] = EvaluationOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path | None, Output] = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    quiet: Quiet = False,
) -> None:
    """Run schemes side by side on the networks of a scenario, packet by packet.

    With --output, finished runs are kept there: after ctrl-C the same command goes on where it was.

    Args:
        scenario: A scenario file (.toml), or the name of one that comes with the program: see `exmachina scenarios`.
        schemes: Names, algorithms of `exmachina list` and .dna files with commas between them, each with a queue if you
            like, such as `cubic,newreno/codel,general-1,mine.dna`; the scenario's if not given.
        options: See `EvaluationOptions`.
        output: Write flows, a summary and the picture of throughput and delay into this folder.
        as_json: Print the summary as JSON.
        quiet: Show no progress.
    """
    out, messages = terminal.consoles()
    names = None if schemes is None else [name for name in schemes.split(",") if name]
    with (
        progress.computing(messages, options, quiet=quiet) as engine,
        progress.bar(messages, "evaluating", _evaluated, engine, quiet=quiet) as on_progress,
    ):
        results = evaluate_schemes(scenario, names, options, cluster=engine, output=output, on_progress=on_progress)
    written = [] if output is None else results.paths(output) + draw(results, output)
    if as_json:
        facts: dict[str, object] = {"scenario": results.name}
        facts |= {"duration_s": results.duration_s, "seed": results.seed}
        facts |= {"summary": results.summary.to_dicts(), "warnings": results.warnings}
        print(json.dumps({**facts, "written": [str(path) for path in written]}))
        return
    terminal.show_results(out, results)
    if written:
        out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


app.command(testbed)
app.command(sweep)


@app.command
def trace(
    scenario: str,
    *,
    scheme: str | None = None,
    run: int = 0,
    duration: float = TRACE_S,
    seed: int | None = None,
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Record one run of a scenario packet by packet, and draw it: packets, windows, round-trip times, queues.

    Args:
        scenario: A scenario file (.toml), or the name of one that comes with the program.
        scheme: A name, an algorithm of `exmachina list` or a .dna file, with a queue if you like; the scenario's first
            if not given.
        run: Which run of an evaluation.
        duration: Simulated seconds, at most those of the scenario.
        seed: Of networks, traffic and losses; the scenario's if not given.
        output: The folder to write into; SCENARIO-trace if not given.
    """
    recorded = trace_run(scenario, scheme, run=run, duration_s=duration, seed=seed)
    folder = output or Path(f"{recorded.name}-trace")
    written = recorded.save(folder) + draw(recorded, folder)
    out, _ = terminal.consoles()
    terminal.show_trace(out, recorded)
    out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


@app.command(name="list")
def list_algorithms() -> None:
    """List the algorithms that come with the program, and what they are worth."""
    out, _ = terminal.consoles()
    terminal.show_algorithms(out, algorithms())


@app.command
def scenarios() -> None:
    """List the scenarios that come with the program."""
    out, _ = terminal.consoles()
    terminal.show_names(out, [(scenario.name, scenario.description) for scenario in shipped_scenarios()])


@app.command
def models() -> None:
    """List the models that come with the program."""
    out, _ = terminal.consoles()
    terminal.show_names(out, [(model.name, model.description) for model in shipped_models()])


@app.command
def reproduce(
    *experiments: str,
    list_only: Annotated[bool, Parameter(name="--list")] = False,
    options: Annotated[ReproduceOptions, FIELDS] = ReproduceOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path, Output] = Path("reproduced"),
    trace_verizon: Path | None = None,
    trace_att: Path | None = None,
    quiet: Quiet = False,
) -> None:
    """Reproduce figures and tables of the papers, and measure what they claim: all on one page.

    Finished runs are kept: a second call only draws, and after ctrl-C the same command goes on where it was.

    Args:
        experiments: Their ids, or `all`.
        list_only: List the experiments.
        options: See `ReproduceOptions`.
        output: The folder to write the report, pictures and results into.
        trace_verizon: A recording of Verizon's LTE downlink in mahimahi's format; a synthetic link if not given.
        trace_att: Likewise of AT&T's.
        quiet: Show no progress.
    """
    from exmachina.command.reproduction import run_command  # noqa: PLC0415 (plotting takes a second to load)

    traces = {"verizon": trace_verizon, "att": trace_att}
    run_command(
        list(experiments),
        options,
        list_only=list_only,
        output=output,
        traces={name: path for name, path in traces.items() if path is not None},
        quiet=quiet,
    )


@app.command
def demo(
    *,
    output: Annotated[Path, Output] = Path("out"),
    budget: Annotated[Budget, FIELDS] = Budget(),  # noqa: B008 (frozen)
    specimens: int = 1000,
    threads: int | None = None,
    quiet: Quiet = False,
) -> None:
    """Design for the model `demo` in about two minutes, score the result, and show it all on one page.

    The design takes 90 seconds if no budget is given.

    Args:
        output: The folder to write demo.html, demo.png, demo.dna and the results into.
        budget: See `Budget`.
        specimens: How many networks to score it on.
        threads: All processors if not given.
        quiet: Show no progress.
    """
    from exmachina.command.demo import run_demo  # noqa: PLC0415 (plotting takes a second to load)

    out, messages = terminal.consoles()
    with progress.design_display(messages, "designing for the model demo", quiet=quiet) as on_progress:
        result = run_demo(
            output,
            budget=budget,
            specimens=specimens,
            threads=threads,
            on_progress=on_progress,
        )
    terminal.show_scores(out, result.report)
    out.print(f"The page: {result.page}\nThe picture: {result.picture}", soft_wrap=True)


def _evaluated(now: Standing) -> progress.Count:
    words = f"{now.done} of {now.runs} runs, {terminal.si(now.packets_per_s)} packets/s"
    return progress.Count(now.contender, now.done / now.runs, words, now.left_s)


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line; the process ends with 0, or 2 for what cannot be used, 130 for ctrl-C, 1 for the rest."""
    # In the background a shell makes its children deaf to ctrl-C; whoever sends it means it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app(arguments, exit_on_error=False, print_error=False, help_on_error=False)
    except CycloptsError as error:
        _leave(str(error), USAGE)
    except InputError as error:
        _leave(str(error), USAGE)
    except Stopped as stopped:
        _leave(str(stopped), STOPPED)
    except KeyboardInterrupt:
        _leave("Stopped.", STOPPED)
    except OSError as error:
        _leave(f"{error.filename or 'output'}: {(error.strerror or str(error)).lower()}", FAILED)


def _leave(message: str, code: int) -> None:
    print(f"exmachina: {message}", file=sys.stderr)
    sys.exit(code)
