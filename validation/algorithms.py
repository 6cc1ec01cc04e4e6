"""Takes designs into the package: scores them on networks that no design has seen, and writes docs/algorithms.md.

Usage: algorithms.py [--from FOLDER | --renew] [--only NAME ...]. FOLDER holds what `exmachina design` left: NAME.dna
with its .history.parquet, NAME being that of a model that comes with the program; choosing.json, which says for each
NAME what decided that it was this table (the fields of `exmachina.schemes.Choosing`); and, if designs began with the
tables of others, spent.json with the CPU-seconds of those by name. Beside what was tuned or steadied is
NAME.generations.parquet or NAME.steps.parquet in place of a history. --renew scores the algorithms that are in the
package again, and whatever they are compared with; what is known of their designs stays. Without either, only
docs/algorithms.md is written again. README.md follows.

An algorithm is compared with the authors' published table for the same networks, where `--tables` has one (default:
beside the project), and with schemes that people wrote, on the same specimens.
"""

import argparse
import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import readme
from algorithms_page import write_page
from published import PUBLISHED, TABLES

import exmachina
from exmachina import Model, ScoreReport, Table, _core
from exmachina.files import read_parquet, write_atomically
from exmachina.schemes import Choosing
from exmachina.scoring import BUFFER_BDP, REFERENCE

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "python" / "exmachina" / "algorithms"
SCHEMES = ("cubic", "cubic/sfqcodel", "newreno")
SPECIMENS = 200
SPECIMENS_BESIDE_PUBLISHED = 1000
"""Where there is a published table: what ours are ahead of it is a hundredth here and there."""
SEED = 14_142_135
"""Of the held-out specimens: no design has it, neither for training nor for choosing what to keep.

Who looks at scores on them to choose between tables takes another one for the next page."""
POINTS = 48
"""Of the time-to-score curve, at most."""
DIGITS = 6


def main() -> None:
    """Measures, writes, and says how each stands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--from", dest="folder", type=Path, metavar="FOLDER")
    source.add_argument("--renew", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--tables", type=Path, default=TABLES)
    parser.add_argument(
        "--specimens", type=int, help=f"default: {SPECIMENS}; {SPECIMENS_BESIDE_PUBLISHED} beside a published table"
    )
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    folder = PACKAGE if given.renew else given.folder
    for model in exmachina.shipped_models() if folder is not None else []:
        paths = outputs(folder, model)
        if all(path.exists() for path in paths) and (given.only is None or model.name in given.only):
            facts = measure(model, paths, given.tables, given.specimens, given.threads)
            for path in paths:
                take(model, path, facts, renew=given.renew)
        elif given.only is not None and model.name in given.only:
            raise SystemExit(f"{' and '.join(map(str, paths))}: expected these files")
    write_page(PROJECT / "docs", exmachina.algorithms())
    readme.renew(PROJECT)


def outputs(folder: Path, model: Model) -> list[Path]:
    """The tables of a design: one, or one for each kind of sender where several are designed together."""
    classes: list[str] = getattr(model, "classes", [""])
    return [folder / (f"{model.name}-{name}.dna" if name else f"{model.name}.dna") for name in classes]


def measure(
    model: Model, paths: list[Path], tables: Path, specimens: int | None, threads: int | None
) -> dict[str, Any]:
    """Scores a design beside all that it is compared with."""
    designed = [Table.load(path) for path in paths]
    for path, table in zip(paths, designed, strict=True):
        check_origin(path, table, model)
    every: list[Any] = [designed if len(designed) > 1 else designed[0]]
    theirs = PUBLISHED.get(model.name.removesuffix("-robust"))
    if theirs is not None and (tables / f"{theirs}.dna").exists():
        every.append(Table((tables / f"{theirs}.dna").read_bytes(), f"{theirs} (published)"))
    elif theirs is not None:
        print(f"{model.name}: {tables / theirs}.dna is not here, and not compared with")
    count = specimens or (SPECIMENS_BESIDE_PUBLISHED if len(every) > 1 else SPECIMENS)
    report = exmachina.score([*every, *SCHEMES], model, specimens=count, seed=SEED, threads=threads)
    facts = {
        "model": model.name,
        "together": [path.stem for path in paths] if len(paths) > 1 else [],
        "objective": model.objective.as_dict(),
        "signals": designed[0].signals,
        "held_out": held_out_facts(report),
        "published": rival_facts(report, every[1].name, str(theirs)) if len(every) > 1 else None,
        "schemes": [rival_facts(report, name, name) for name in SCHEMES],
        "schemes_buffer_bdp": BUFFER_BDP if has_infinite_buffer(model) else None,
    }
    told = [
        ("", facts["held_out"]),
        *((rival["name"], rival) for rival in (facts["published"], *facts["schemes"]) if rival),
    ]
    print(model.name, ", ".join(f"{name} {fact['score']:.3f}".strip() for name, fact in told), flush=True)
    return facts


def take(model: Model, path: Path, measured: dict[str, Any], *, renew: bool) -> None:
    """Puts a table into the package, or, if it is there, what it is worth now."""
    table, known = Table.load(path), PACKAGE / f"{path.stem}.json"
    if renew:
        told = {name: json.loads(known.read_text())[name] for name in ("choosing", "design")}
    else:
        told = {"choosing": choosing_facts(model, path), "design": design_facts(model, path, table)}
    facts = measured | {"rules": len(table), **told}
    PACKAGE.mkdir(exist_ok=True)
    write_atomically(known, (json.dumps(facts, indent=1) + "\n").encode())
    write_atomically(PACKAGE / path.name, table.dna)


def check_origin(path: Path, table: Table, model: Model) -> None:
    """Stops where a table is not what its name says."""
    made = table.provenance
    if made is None or made.model != model.text:
        raise SystemExit(f"{path}: was not designed for the model {model.name} as it comes with the program")
    if made.seed == SEED:
        raise SystemExit(f"{path}: was designed with the seed of the specimens that it is scored on")


def choosing_facts(model: Model, path: Path) -> dict[str, Any]:
    """What decided that it was this table, as whoever decided it wrote down."""
    recorded = path.with_name("choosing.json")
    entry = json.loads(recorded.read_text()).get(model.name) if recorded.exists() else None
    if entry is None:
        raise SystemExit(f"{recorded}: {model.name}: missing; expected by, experiments, held_out and diary")
    return asdict(Choosing(**entry))


def design_facts(model: Model, path: Path, table: Table) -> dict[str, Any]:
    """How it was made, and what that took."""
    made = table.provenance
    assert made is not None
    tuned = path.with_name(f"{model.name}.generations.parquet")
    if tuned.exists():
        return tuned_facts(path.stem, made, tuned)
    search = json.loads(made.search)
    steps = path.with_suffix(".steps.parquet")
    if steps.exists():
        return steadied_facts(path.stem, made, steps)
    if "by_hand" in search.get("tuned", search):
        return by_hand_facts(path.stem, made)
    design = path.with_name(f"{model.name}.dna")
    history = pl.read_parquet(f"{design}.history.parquet")
    spent = path.with_name("spent.json")
    before = json.loads(spent.read_text()).get(model.name, 0) if spent.exists() else 0
    last = history.row(-1, named=True)
    # Progress between measurements: a checkpoint knows the CPU time of the very end, if this version can read it.
    cpu_s, packets = end_of(Path(f"{design}.checkpoint")) or (last["cpu_s"], last["packets"])
    return {
        "version": made.version,
        "seed": made.seed,
        **json.loads(made.search),
        "cpu_s": rounded(cpu_s + before),
        "cpu_s_before": rounded(before),
        "packets": packets,
        "score": rounded(made.score),
        "history": thinned(history),
    }


def tuned_facts(name: str, made: _core.Provenance, generations: Path) -> dict[str, Any]:
    """Of a law that was tuned beside rivals: the design that it began with, and what tuning took besides."""
    begun = json.loads((PACKAGE / f"{name}.json").read_text())["design"]
    read = read_parquet(generations)
    if read is None or begun["seed"] != made.seed:
        raise SystemExit(f"{generations}: expected what `tuned.py` gave, around the law that comes with the program")
    worth = read[0].group_by("generation", maintain_order=True).agg(pl.col("worth").mean())["worth"].to_list()
    cpu_s = rounded(float(read[1]["cpu_s"]))
    tuned = json.loads(made.search)["tuned"] | {"cpu_s": cpu_s, "worth": [rounded(each) for each in worth]}
    earlier = begun.get("tuned", {"cpu_s": 0, "start": None})
    before = earlier.get("cpu_s_before", 0)
    designing = begun["cpu_s"] - earlier["cpu_s"] - before
    if earlier["start"] not in (None, tuned["start"]):
        # Around a law that had been tuned itself.
        before += earlier["cpu_s"]
    tuned |= {"cpu_s_before": rounded(before)} if before else {}
    return begun | {"cpu_s": rounded(designing + before + cpu_s), "tuned": tuned}


def by_hand_facts(name: str, made: _core.Provenance) -> dict[str, Any]:
    """Of a law with other numbers by hand: what it took until then, and which these are."""
    begun, search = json.loads((PACKAGE / f"{name}.json").read_text())["design"], json.loads(made.search)
    tuned = search.get("tuned")
    is_that = begun["seed"] == made.seed and begun["settings"] == search["settings"]
    if not is_that or begun.get("tuned", {}).get("start") != (tuned or {}).get("start"):
        raise SystemExit(f"{name}: expected the law that comes with the program, with other numbers by hand")
    if tuned is None:
        return begun | {"by_hand": search["by_hand"]}
    return begun | {"tuned": begun["tuned"] | {"by_hand": tuned["by_hand"]}}


def steadied_facts(name: str, made: _core.Provenance, steps: Path) -> dict[str, Any]:
    """Of what was steadied: what that took besides, from the algorithm that comes with the program."""
    read, steadied = read_parquet(steps), json.loads(made.search).get("steadied")
    start = f"sha256:{sha256((PACKAGE / f'{name}.dna').read_bytes()).hexdigest()}"
    if read is None or steadied is None or (steadied["start"], steadied["key"]) != (start, read[1]["key"]):
        raise SystemExit(f"{steps}: expected what `exmachina steady` gave, around what comes with the program")
    begun = by_hand_facts(name, made)
    steadied = {each: value for each, value in steadied.items() if each != "before"}
    steadied |= {"cpu_s": rounded(sum(json.loads(read[1]["steps_s"])))}
    if "steadied" in begun:
        steadied |= {"before": begun["steadied"]}
    return begun | {"cpu_s": rounded(begun["cpu_s"] + steadied["cpu_s"]), "steadied": steadied}


def end_of(checkpoint: Path) -> tuple[float, int] | None:
    """CPU-seconds and packets of a design at its end."""
    try:
        progress = _core.Designer.resume(checkpoint.read_text(), str(checkpoint)).progress()
    except (OSError, exmachina.InputError):
        return None
    return progress.cpu_s, progress.packets


def thinned(history: pl.DataFrame) -> dict[str, list[float]]:
    """The time-to-score curve: where the score changed, and no more points than a picture shows."""
    changed = (pl.col("score") != pl.col("score").shift()).fill_null(value=True)
    last = pl.int_range(pl.len()) == pl.len() - 1
    points = history.filter(changed | last)
    while len(points) > POINTS:
        # The point that is closest to the one before, in the ratio of times, is missed least; the first and last stay.
        ratios = (points["cpu_s"] / points["cpu_s"].shift()).slice(1, len(points) - 2)
        drop = 1 + int(ratios.arg_min() or 0)
        points = points.filter(pl.int_range(pl.len()) != drop)
    columns = {name: points[name].to_list() for name in ("cpu_s", "rules", "score")}
    return {name: [rounded(value) for value in values] for name, values in columns.items()}


def held_out_facts(report: ScoreReport) -> dict[str, Any]:
    """What it is worth on specimens that no design has seen."""
    summary = {line["scheme"]: line for line in report.summary.iter_rows(named=True)}
    own, reference = next(iter(summary.values())), summary[REFERENCE]
    facts = {
        name: own[name] for name in ("score", "score_ci95", "starved_share", "normalised_throughput", "delay_ratio")
    }
    facts |= {"reference": reference["score"]}
    facts |= {"below_reference": reference["difference"], "below_reference_ci95": reference["difference_ci95"]}
    size = {"specimens": report.frame["specimen"].n_unique(), "seconds_each": report.seconds_each, "seed": report.seed}
    return size | {name: rounded(value) for name, value in facts.items()}


def rival_facts(report: ScoreReport, scheme: str, name: str) -> dict[str, Any]:
    """What another scheme got on the same specimens, and what the algorithm is ahead of it."""
    line = next(line for line in report.summary.iter_rows(named=True) if line["scheme"] == scheme)
    facts = {"score": line["score"], "score_ci95": line["score_ci95"]}
    facts |= {"lead": -line["difference"], "lead_ci95": line["difference_ci95"], "starved_share": line["starved_share"]}
    return {"name": name} | {key: rounded(value) for key, value in facts.items()} | {"unpaired": line["unpaired"]}


def has_infinite_buffer(model: Model) -> bool:
    """Whether packets of a model are never dropped."""
    return model.held_out(SEED, 1).network(0)["buffer_packets"] is None


def rounded(value: float) -> float:
    """A number with as many digits as mean anything."""
    return float(f"{value:.{DIGITS}g}")


if __name__ == "__main__":
    main()
