"""docs/adversarial.md: what rounds of training with the worst networks gave, of the numbers of `adversarial.py`."""

import polars as pl

__all__ = ["page"]

HEAD = """\
# Adversarial rounds

The worst networks that a search finds for a law go into its training; then the worst for the new law are searched
for. Does that make it better where nobody looked? `python validation/adversarial.py` does {rounds} such rounds with
`internet-1` [as it was](results/earlier/internet-1-41.dna) before laws told jitter from queues, and writes this page,
[adversarial.csv](results/adversarial.csv), [adversarial-networks.csv](results/adversarial-networks.csv) and the laws
([adversarial](results/adversarial)):

```python
found = exmachina.worst(law, without=["stalls", "outages", "reordered", "queue", "beside"], networks=300, seed=seed)
model = exmachina.hunting.trained_also("internet-1", [*networks, found.network], weight=0.1)
law = exmachina.design(model, start=law, cpu_seconds=200).table
```

A round has three searches, each of which leaves one network, reduced to what matters, and 200 CPU-seconds of
evolution from the law of the round before. The *control* has all of these CPU-seconds on internet-1's model,
without any network found.

## What each round gained

Measured on what no round trained with and nothing was chosen by. *Scattered* are 300 networks spread evenly over
all of the limits of `internet.toml` that models can say: how far the score, the mean of ln(throughput) − ln(RTT),
is behind the best of Cubic, BBRv3 and Copa there (below 0: ahead of all three), in the mean, on the worst tenth of
them, and on how many it is behind at all. After ± are standard errors: of the mean's difference from internet-1,
network by network, and of the worst tenth's mean (the bootstrap). *A fresh search* is the harm that one more search
finds, of a seed of its own. *Held out* is the score on 200 networks of internet-1's model.

| law | scattered, mean | worst tenth | behind on | a fresh search | held out |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
MEASURES = (
    "scattered_mean",
    "scattered_difference_error",
    "scattered_worst",
    "scattered_worst_error",
    "scattered_behind_share",
    "fresh_search",
    "held_out",
)


def page(rows: pl.DataFrame, networks: pl.DataFrame) -> str:
    """The page."""
    lines = []
    for (law,), own in rows.group_by("law", maintain_order=True):
        mean, difference_error, worst, worst_error, behind, fresh, held_out = (
            own.filter(pl.col("measure") == name)["value"].item() for name in MEASURES
        )
        error = f" ± {difference_error:.3f}" if difference_error else ""
        cells = [
            f"{mean:.3f}{error}",
            f"{worst:.2f} ± {worst_error:.2f}",
            f"{100 * behind:.0f} %",
            f"{fresh:.2f}",
            f"{held_out:.3f}",
        ]
        lines.append(f"| {law} | {' | '.join(cells)} |")
    found = [f"| {number} | {harm:.2f} | {network} |" for number, harm, network, _ in networks.iter_rows()]
    rounds = int(networks["round"].max())  # type: ignore[arg-type]
    return "\n".join(
        [
            HEAD.format(rounds=rounds) + "\n".join(lines),
            "",
            "## What was found",
            "",
            "The harm is that for the law that the search was for, on 16 draws of traffic that chose nothing.",
            "",
            "| round | harm | network |",
            "| ---: | ---: | --- |",
            *found,
            "",
        ]
    )
