"""A controller written from the README.md of a JSON export, by somebody who has nothing else: is it enough?"""

from typing import Any

TIMES, LOSSES = 1 << 20, 1 << 40


class ByTheReadme:
    """One flow."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table
        self.last_sent = self.last_received = self.min_rtt = self.advance = self.window = self.rule = 0
        self.send_ewma = self.ack_ewma = self.slow_ack_ewma = self.rtt_ratio = self.loss = 0
        self.begun = False
        self.act()

    @property
    def intersend_ns(self) -> int:
        found: int = self.table["rules"][self.rule]["intersend_ns"]
        return found

    def act(self) -> None:
        signals = [self.send_ewma, self.ack_ewma, self.rtt_ratio, self.slow_ack_ewma, 0, 0, 0]
        if self.rtt_ratio:
            signals[4] = max(0, self.last_received - self.last_sent - self.min_rtt) * TIMES
            signals[5] = max(0, self.ack_ewma) * self.advance
            signals[6] = self.loss >> 24
        at = self.table["root"]
        while at >= 0:
            plane = self.table["planes"][at]
            at = plane["below"] if signals[plane["axis"]] < plane["at"] else plane["from_it_on"]
        self.rule = -1 - at
        rule, bits = self.table["rules"][self.rule], self.table["multiple_bits"]
        wanted = (rule["multiple"] * self.window + rule["increment"] * 2**bits) >> bits
        self.window = min(max(wanted, 0), self.table["max_window"])

    def one(self, sent: int, received: int, tick: int, advance: int) -> None:
        rtt = max(received - sent, tick, 1)
        if self.begun:
            self.min_rtt = min(self.min_rtt, rtt)
            self.rtt_ratio = (rtt << 16) // self.min_rtt
            fast, slow = self.table["fast_shift"], self.table["slow_shift"]
            self.send_ewma += averaged(self.send_ewma, sent - self.last_sent, fast)
            self.ack_ewma += averaged(self.ack_ewma, received - self.last_received, fast)
            self.slow_ack_ewma += averaged(self.slow_ack_ewma, received - self.last_received, slow)
        else:
            self.min_rtt, self.begun = rtt, True
        self.last_sent, self.last_received, self.advance = sent, received, advance
        self.loss -= self.loss >> self.table["loss_shift"]
        self.act()

    def on_ack(self, sent: int, received: int, *, tick_ns: int, advance: int, packets: int) -> None:
        begun, from_sent, from_received = self.begun, self.last_sent, self.last_received
        count = min(packets, self.table["most_in_one"])
        for k in range(1, count):
            if begun:
                at = part(from_received, received, k, count)
                self.one(part(from_sent, sent, k, count), at, tick_ns, 1)
            else:
                self.act()
        self.one(sent, received, tick_ns, max(1, advance - (packets - 1)) if packets > 1 else advance)

    def on_loss(self, packets: int) -> None:
        for _ in range(packets):
            self.loss += (LOSSES - self.loss) >> self.table["loss_shift"]


def averaged(average: int, new: int, shift: int) -> int:
    return (new * TIMES - average + (1 << shift - 1)) >> shift


def part(a: int, b: int, k: int, n: int) -> int:
    """Part of the way from one to another, rounded towards the first."""
    way = abs(b - a) * k // n
    return a + (way if b >= a else -way)
