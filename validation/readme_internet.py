"""What README.md says of the laws for the Internet, beside the schemes of people, from what internet.py measured."""

from pathlib import Path

import polars as pl
from digests import outdated
from internet_summary import compare, neighbourly

from exmachina import Algorithm

FLAGSHIP, SHARES = "internet-1", "internet-shared-1"
RIVALS = {"cubic": "Cubic", "cubic/fqcodel": "Cubic over FQ-CoDel", "bbr3": "BBRv3", "copa": "Copa", "vegas": "Vegas"}
"""As README.md calls those that docs/internet.md has beside it."""
INTERNET = """
For the Internet as it is there is `internet-1`. On {networks} networks drawn like access links, Wi-Fi, cellular links,
satellites and datacenters, by a seed that chose nothing (those of another seed of the same program were looked at while
it was made), senders with it are ahead of those with {rivals}{near}, by ln(throughput) − ln(RTT), delayed
ACKs and all; they have {throughput} times Cubic's throughput at {rtt} times its RTT
([kind by kind](docs/internet.md)). Beside one flow of Cubic it has {beside} of what both have, in the median: it is for
links of one's own. For those that others share there is `internet-shared-1`: beside one flow of Cubic it has half to
twice an equal share on {cubic} of {flows} networks, beside one of BBRv3 on {bbr} (simulated; [beside the kernel's
own](docs/beside.md){earlier}), and where all have it it is ahead of {shared}{seen}.
"""


def share(value: float) -> str:
    """A share in words."""
    return f"{100 * value:,.0f} %"


def internet(docs: Path) -> str:
    """How the flagship fares beside the schemes of people."""
    rows, flows = (pl.read_csv(docs / "results" / name) for name in ("internet.csv", "internet-beside.csv"))
    against = {words: compare(rows, FLAGSHIP, name) for name, words in RIVALS.items()}
    if not against["Cubic"].ahead.of:
        raise ValueError(f"docs/results/internet.csv: {FLAGSHIP} has not been run there")
    in_kernel = pl.read_csv(docs / "results" / "beside.csv")
    beside = {name: neighbourly(flows, SHARES, name).within for name in ("cubic", "bbr3")}

    def ahead(name: str) -> str:
        shares = [f"{words} on {share(compare(rows, name, by).ahead.value)}" for by, words in RIVALS.items()]
        return f"{', '.join(shares[:-1])} and {shares[-1]}"

    return INTERNET.format(
        networks=against["Cubic"].ahead.of,
        rivals=ahead(FLAGSHIP),
        near=" (what a law near it has was seen before)" if Algorithm(FLAGSHIP).choosing.held_out else "",
        shared=ahead(SHARES),
        earlier=", with the law before" if outdated(in_kernel.filter(contender=SHARES), "contender") else "",
        seen=" (seen before it was chosen)" if Algorithm(SHARES).choosing.held_out else "",
        flows=beside["cubic"].of,
        cubic=share(beside["cubic"].value),
        bbr=share(beside["bbr3"].value),
        throughput=f"{against['Cubic'].throughput:.2f}",
        rtt=f"{against['Cubic'].rtt:.2f}",
        beside=share(neighbourly(flows, FLAGSHIP, "cubic").median_share),
    )
