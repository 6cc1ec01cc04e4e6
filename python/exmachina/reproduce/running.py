"""Running an experiment: its cases as evaluations whose finished runs are kept, and records of single runs."""

import json
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import tomli_w

from exmachina.engines import Engine
from exmachina.evaluation import Evaluation, Standing, Trace, evaluate, trace
from exmachina.files import FinishedRuns, make_folder, read_file, write_atomically
from exmachina.networks import Toml, merged
from exmachina.reproduce.cast import ALGORITHMS, Cast
from exmachina.reproduce.data import CaseData
from exmachina.reproduce.experiment import RECORDED, Experiment, Moments
from exmachina.schemes import SchemeLike, Table

__all__ = ["Conditions", "Ran", "prepared", "recorded", "run"]

OPPORTUNITY_MBIT = 0.012
"""A line of a recording in mahimahi's format is a chance to deliver 1500 bytes."""
OPERATORS = {"verizon": "Verizon", "att": "AT&T"}


@dataclass(frozen=True)
class Conditions:
    """With what, how much and where experiments are run."""

    cast: Cast
    scale: str
    cache: Path
    engine: Engine
    traces: dict[str, Path] = field(default_factory=dict)
    """Recordings of cellular links, by operator."""
    on_progress: Callable[[str, Standing], None] | None = None
    """Told the case."""


@dataclass
class Ran:
    """What became of an experiment's cases."""

    cases: dict[str, CaseData] = field(default_factory=dict)
    evaluations: dict[str, Evaluation] = field(default_factory=dict)
    schemes: dict[str, list[SchemeLike]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    cpu_s: float = 0.0
    link_note: str = ""
    """What a reader has to know of the cellular link."""

    def only(self, wanted: Callable[[str], bool]) -> "Ran":
        """The same of those contenders whose labels are wanted, and of the cases that any of them is in."""
        cases = {case: part for case, data in self.cases.items() if (part := data.only(wanted)).contenders}
        schemes = {case: [one for one in own if wanted(_label(one))] for case, own in self.schemes.items()}
        evaluations = {case: own for case, own in self.evaluations.items() if schemes[case] or case in cases}
        return replace(self, cases=cases, evaluations=evaluations, schemes=schemes)

    def is_cellular(self, case: str) -> bool:
        """Whether a case ran on the cellular link."""
        evaluation = self.evaluations.get(case or next(iter(self.evaluations), ""))
        return evaluation is not None and "rate_mbps" not in tomllib.loads(evaluation.text).get(
            "link", {"rate_mbps": 0}
        )


def _label(scheme: SchemeLike) -> str:
    """What results call a contender."""
    return scheme.name if isinstance(scheme, Table) else str(scheme)


def run(experiment: Experiment, conditions: Conditions) -> Ran:
    """Runs what of an experiment's cases is not kept.

    Raises:
        InputError: If a file that is given cannot be used.
        Stopped: At ctrl-C; what is finished is kept.
    """
    ran = Ran(link_note=_link_note(experiment, conditions))
    ran.warnings += [ran.link_note] if ran.link_note else []
    missing: dict[str, None] = {}
    for case in experiment.cases:
        evaluation, schemes, absent = prepared(experiment, case, conditions)
        missing.update(dict.fromkeys(absent))
        if evaluation is None or not (schemes or evaluation.contenders):
            continue
        ran.evaluations[case], ran.schemes[case] = evaluation, schemes
        if experiment.figures and all(figure.kind in RECORDED for figure in experiment.figures):
            continue  # recorded runs are all of it
        title = experiment.cases[case].title
        with _counted(evaluation, schemes, conditions) as cpu:
            results = evaluate(
                evaluation,
                schemes or None,
                cluster=conditions.engine,
                cache=conditions.cache,
                on_progress=_telling(conditions, title or case),
            )
        ran.cpu_s += cpu()
        data = CaseData(results)
        if data.contenders:
            ran.cases[case] = data
        else:
            ran.warnings.append(f"No sender was ever on: {title or case}.")
    if missing:
        ran.warnings.append(f"Not at hand, and left out: {', '.join(missing)}.")
    return ran


def prepared(
    experiment: Experiment, case: str, conditions: Conditions
) -> tuple[Evaluation | None, list[SchemeLike], list[str]]:
    """A case as an evaluation (none if a sender's own algorithm is missing), its contenders, and who is missing."""
    scenario, files = _link(experiment.scenario_of(case, conditions.scale), experiment, conditions)
    scenario, tables, absent = _own_algorithms(scenario, conditions.cast)
    if absent:
        return None, [], absent
    schemes, missing = conditions.cast.contenders(experiment.schemes_of(case))
    evaluation = Evaluation(tomli_w.dumps(scenario), f"{experiment.id}-{case}.toml", {**files, **tables})
    runs, seconds = experiment.runs_of(case, conditions.scale)
    return evaluation.changed(runs=runs, duration_s=seconds), schemes, missing


def _own_algorithms(scenario: Toml, cast: Cast) -> tuple[Toml, dict[str, bytes], list[str]]:
    """The scenario with files for the names of our algorithms that some senders have; the files; who is missing."""
    groups = scenario.get("senders")
    if not isinstance(groups, list):
        return scenario, {}, []
    names = [group["scheme"] for group in groups if group.get("scheme") in ALGORITHMS]
    absent = [name for name in names if name not in cast.ours]
    if absent:
        return scenario, {}, absent
    changed = [{**g, "scheme": f"{g['scheme']}.dna"} if g.get("scheme") in names else g for g in groups]
    return {**scenario, "senders": changed}, {f"{name}.dna": cast.ours[name].dna for name in names}, []


def _link(scenario: Toml, experiment: Experiment, conditions: Conditions) -> tuple[Toml, dict[str, bytes]]:
    """The scenario with the recording of its link, or with a synthetic one."""
    spec = experiment.trace
    if spec is None or "rate_mbps" in scenario["link"]:
        return scenario, {}
    path = conditions.traces.get(spec.name)
    if path is None:
        return merged(scenario, {"link": {"cellular": spec.synthetic}}), {}
    # Every run of the authors' begins where the recording does.
    link: Toml = {"trace": f"{spec.name}.trace", "trace_offset": "none"}
    if spec.told_mbps is not None:
        link["told_mbps"] = spec.told_mbps
    return merged(scenario, {"link": link}), {f"{spec.name}.trace": read_file(path)}


def _link_note(experiment: Experiment, conditions: Conditions) -> str:
    if experiment.trace is None:
        return ""
    name = experiment.trace.name
    path = conditions.traces.get(name)
    if path is None:
        return (
            f"Ran on a synthetic cellular link, not on a recording of {OPERATORS[name]}'s network: none was given "
            f"(--trace-{name}). The paper's numbers are those of its recording."
        )
    times_ms = [int(line) for line in read_file(path).split() if line.isdigit()]
    _, run_s = experiment.runs_of(next(iter(experiment.cases)), conditions.scale)
    seconds = min(run_s, max(times_ms, default=0) / 1e3)
    seen = sum(time_ms <= 1e3 * seconds for time_ms in times_ms)
    mean = seen * OPPORTUNITY_MBIT / seconds if seconds > 0 else 0.0
    return (
        f"Ran on the recording {path.name}, from its beginning: its first {seconds:g} s have {mean:.2f} Mbit/s on "
        f"average, 100 s of the paper's {experiment.trace.paper_mbps}."
    )


def _telling(conditions: Conditions, title: str) -> Callable[[Standing], None] | None:
    tell = conditions.on_progress
    return None if tell is None else lambda standing: tell(title, standing)


@contextmanager
def _counted(
    evaluation: Evaluation, schemes: list[SchemeLike], conditions: Conditions
) -> Iterator[Callable[[], float]]:
    """Adds the CPU time that passes, here and elsewhere, to that of earlier calls; the function gives the sum, s.

    It is kept for each contender, by how many more runs it has, so that what the others took is known when one is
    another; and for each case, so that runs which several experiments share count where they were made.
    """
    changed, cache = evaluation.changed(schemes or None), conditions.cache

    def kept() -> list[FinishedRuns]:
        return [changed.finished_runs(i, cache) for i in range(len(changed.contenders))]

    def now_s() -> float:
        return time.process_time() + conditions.engine.elsewhere_s

    before, began_s = kept(), now_s()
    paths = [make_folder(cache / "cpu") / f"{evaluation.name}-{runs.key}.json" for runs in before]
    spent = [_seconds(path) for path in paths]
    try:
        yield lambda: sum(spent)
    finally:
        more = [after.count - runs.count for after, runs in zip(kept(), before, strict=True)]
        passed_s = now_s() - began_s
        for i, path in enumerate(paths):
            if more[i]:
                spent[i] += passed_s * more[i] / sum(more)
                write_atomically(path, json.dumps(spent[i]).encode(), durable=False)


def _seconds(path: Path) -> float:
    try:
        return float(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return 0.0


def recorded(experiment: Experiment, case: str, scheme: SchemeLike, ran: Ran, scale: str) -> list[Trace]:
    """Runs of a contender packet by packet. In each of them a flow that comes or goes does so a little later."""
    moments, count = experiment.moments, experiment.runs_of(case, scale)[0]
    assert moments is not None, "an experiment of recorded runs says what moves"
    evaluations = [_later(ran.evaluations[case], moments, i / count) for i in range(count)]
    return [trace(later, scheme, duration_s=later.duration_s) for later in evaluations]


def _later(evaluation: Evaluation, moments: Moments, share: float) -> Evaluation:
    """The same, where one sender's instants are later by a share of the time over which they are spread."""
    scenario = tomllib.loads(evaluation.text)
    for arrival in scenario["senders"][moments.sender]["workload"]["on"]["at"]:
        arrival["start_s"] += share * moments.over_s
    later = Evaluation(tomli_w.dumps(scenario), f"{evaluation.name}.toml")
    return later.changed(duration_s=evaluation.duration_s)
