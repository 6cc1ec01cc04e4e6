"""A controller written from the README.md of a JSON export, by somebody who has nothing else: is it enough?"""

from math import inf, isqrt
from typing import Any

TIMES, LOSSES = 1 << 20, 1 << 40
LEVELS = (0, 32768, 65536, 131072, 262144)


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


class LawByTheReadme:
    """One flow under a law."""

    rule = 0

    def __init__(self, read: dict[str, Any]) -> None:
        self.law, self.max_window = read["law"], read["max_window"]
        self.own = self.delivered = self.law["first_window"]
        self.intersend_ns, self.boost, self.begins, self.begun = self.law["first_pause_ns"], 65536, True, False
        self.low = self.low_before = inf
        self.min_rtt = self.srtt = self.spread = self.low_from = self.round_from = self.low_packets = self.arrived = 0
        self.stretch = 0
        self.rounds = self.min_before = self.delivered_before = self.clear = self.stood = self.top = self.turn = 0
        self.silent_from = self.silence = self.silence_before = self.silent = self.losses = 0
        self.longer = self.of_roots()
        self.rises, self.patience, self.shares, self.lost, self.was_cut = True, 1, False, False, False
        self.crowded = False

    @property
    def window(self) -> int:
        window: int = min((self.own + self.law["room"] + 262144 * self.stretch) >> 16, self.max_window)
        return window

    def at(self, values: list[int], length: int) -> int:
        i = max(i for i in range(4) if LEVELS[i] <= length)
        return values[i] + ((values[i + 1] - values[i]) * (length - LEVELS[i]) >> (15, 15, 16, 17)[i])

    def set_pace(self, share: int) -> None:
        self.intersend_ns = clamp(int(min(self.low, self.low_before, 2**40)) * share // self.own, 1, 10**10)

    def see(self, rtt: int, now: int, k: int) -> None:
        self.arrived += k if self.begun else min(k, 2)
        if not self.begun:
            self.min_rtt = self.srtt = rtt
            self.low_from, self.round_from, self.begun = now, now, True
            self.own += self.of_ms("first_rate")
            if self.law["first_most"] > 0:
                self.own = min(self.own, self.of_ms("first_most"))
            self.own = clamp(self.own, 131072, self.max_window << 16)
        if rtt < self.min_rtt:
            self.min_rtt = rtt + ((self.min_rtt - rtt) * self.law["min_rtt_keeps"] >> 16)
        off = abs(rtt - self.srtt)
        self.srtt += off // 8 if rtt > self.srtt else -(off // 8)
        self.spread += off // 8 - self.spread // 8
        self.low = min(self.low, rtt)
        self.low_packets += k
        if self.law["silence_most"] > 0:
            at = (now >> 10) % 2**28
            self.silence = max(self.silence, min((at - self.silent_from) % 2**28, rtt >> 10, 2**18 - 1))
            self.silent_from = at

    def of_ms(self, number: str) -> int:
        packets: int = self.min_rtt * self.law[number] // 1000000
        return packets

    def of_roots(self) -> int:
        root = isqrt(max(self.delivered, 65536))
        longer: int = (self.law["target_of_root"] << 8) // root
        longer += (self.law["target_of_fourth"] << 12) // isqrt(root << 16)
        return longer

    def next_silence(self) -> int:
        silence = min(self.silence, self.silence_before) << 10
        self.silence_before, self.silence = self.silence, 0
        gap = min((self.srtt << 16) // self.delivered, 2**40)
        packets = min(max((silence << 16) // max(gap, 1) - 196608, 0), 4194304)
        longer: int = (silence * packets >> 16) * self.law["silence_packets"] >> 16
        longer = min(silence * self.law["silence_most"] >> 16, longer, 2**40)
        return min((longer << 16) // self.min_rtt, 262144)

    def queue(self) -> int:
        if self.crowded:
            return 262144
        gap = min((self.srtt << 16) // self.delivered, 2**40)
        law = self.law
        target: int = self.min_rtt * (law["target_of_rtt"] + self.longer) >> 16
        target = max(1, target + (gap * law["target_of_gap"] >> 16) + (self.spread * law["target_of_spread"] >> 16))
        return min((max(int(min(self.low, self.low_before)) - self.min_rtt, 0) << 16) // target, 262144)

    def on_ack(self, sent: int, received: int, *, tick_ns: int, advance: int, packets: int) -> None:  # noqa: ARG002
        now, law, lost = received, self.law, self.lost
        self.lost = False
        self.see(clamp(now - sent, max(tick_ns, 1), 2**40), now, packets)
        length = self.queue()
        if self.low_packets >= law["least_packets"] and (now - self.low_from) % 2**64 >= self.srtt // 4:
            self.low_before, self.low, self.low_from, self.low_packets = self.low, inf, now, 0
            self.boost = min(self.boost * law["faster"] >> 16, law["fastest"]) if length < 65536 else 65536
        if (now - self.round_from) % 2**64 >= self.srtt:
            if law["shared_below"] > 0:
                self.note_queue(length, now)
            elapsed = clamp((now - self.round_from) % 2**64, 1, 2**40)
            share = min((self.srtt << 16) // elapsed, 65536)
            by_train = self.is_first_round() and self.delivered > law["first_window"]
            least = max(self.delivered if by_train else self.delivered * self.law["delivered_keeps"] >> 16, 4096)
            self.delivered = clamp(min(self.arrived, self.max_window) * share, least, self.max_window << 16)
            lost_most = (self.losses + min(self.arrived, self.max_window)) * law["loss_most"]
            self.crowded, self.losses = law["loss_most"] > 0 and self.losses << 16 > lost_most, 0
            self.arrived, self.round_from, self.rounds = 0, now, min(self.rounds + 1, 65535)
            self.longer = self.of_roots()
            if law["silence_most"] > 0:
                longer = self.next_silence()
                self.silent = min(longer * 256 // 4096, 256)
                self.longer += 0 if self.begins else longer
            self.was_cut = False
            self.stretch //= 2
            if not self.begins and not self.shares and law_drains(law, length):
                self.own = min(self.own, (self.without_queue() * law["most_of_path"] >> 16) + 655360)
            if not self.begins and not self.shares and 0 < law["again_rtts"] <= self.rounds:
                self.begin_again()
                length = self.queue()
        if self.own < packets << 17:
            self.stretch = max(self.stretch, min((packets + 1) // 4, 15))
        if self.shares:
            self.share(now, packets, lost=lost)
            return
        if self.begins and length < law["first_until"]:
            train = self.train(now)
            self.delivered = max(self.delivered, train // 2)
            most = 4 * self.delivered + 655360 + self.of_ms("first_rate")
            self.own = min(max(self.own + packets * law["first_growth"], train), most)
            self.own = clamp(self.own, 131072, self.max_window << 16)
            self.set_pace(law["first_pace"])
            return
        if self.begins:
            self.end_beginning()
        self.go_on(length, packets)
        if law["shared_below"] > 0:
            self.watch(length, now)

    def train(self, now: int) -> int:
        elapsed: int = min((now - self.round_from) % 2**64, 2**40) + self.law["first_train_ns"]
        if not self.is_first_round() or self.arrived < 8 or elapsed == 0:
            return 0
        packets = min(self.arrived, self.max_window) - 1
        holds = min(packets * min((self.min_rtt << 16) // elapsed, 2**32), self.max_window << 16)
        train: int = min(holds * self.law["first_train"] >> 16, self.max_window << 16)
        return train

    def is_first_round(self) -> bool:
        return self.begins and self.rounds == 0 and self.delivered_before == 0

    def note_queue(self, length: int, now: int) -> None:
        self.clear = min(self.clear + 1, 3) if length < 65536 else 0
        passed = min(((now % 2**64 >> 22) - (self.round_from % 2**64 >> 22)) % 2**64, 4)
        self.stood = min(self.stood + passed, 160) if length >= 131072 else max(self.stood - passed, 0)

    def rtt_for_watch(self) -> int:
        return min(int(min(self.low, self.low_before)) >> 12, 2**28 - 1)

    def watch(self, length: int, now: int) -> None:
        rtt = self.rtt_for_watch()
        if length < 65536:
            self.top, self.patience = 0, 1
            return
        if self.top == 0:
            self.top, self.turn = self.own, rtt
            return
        self.turn = max(self.turn, rtt)
        less = min((self.own << 16) // self.top, 65536) * self.turn <= self.law["shared_below"] * rtt
        if less and self.stood >= 32 and self.top >= 524288:
            self.shares = self.was_cut = True
            self.rounds = self.clear = 0
            self.own, self.turn = self.top, at(now)

    def share(self, now: int, k: int, *, lost: bool) -> None:
        law = self.law
        if self.clear == 3 or self.rounds >= law["shared_rtts"] * self.patience:
            self.shares, self.rounds, self.top, self.patience = False, 0, self.own, min(2 * self.patience, 16)
            self.turn = self.rtt_for_watch()
            return
        if lost and not self.was_cut:
            less = not self.rises and self.own < self.top
            self.top = self.own * ((65536 + law["shared_cut"]) // 2) >> 16 if less else self.own
            self.own = max(self.own * law["shared_cut"] >> 16, 131072)
            below = max(self.top - self.own, 0)
            self.turn = at(now, min(cube_root((below << 14) // law["shared_scale"] * 52939), 32768))
            self.rises, self.was_cut, self.arrived, self.round_from = False, True, 0, now
        if self.rises:
            growth = k * 32768
        else:
            past = (at(now + self.srtt) - self.turn + 2**27) % 2**28 - 2**27
            off = min(abs(past), 32768) ** 3 * law["shared_scale"] // 867361738
            full = self.top + off if past >= 0 else max(self.top - off, 0)
            full = clamp(full, self.own, self.own + self.own // 2)
            growth = max(k * (((full - self.own) << 16) // self.own), (k * 32768 << 16) // self.own)
        self.own = min(self.own + growth, 4 * self.delivered + 655360)
        self.own = clamp(self.own, 131072, self.max_window << 16)
        self.set_pace(49152)

    def begin_again(self) -> None:
        self.begins, self.rounds, self.top, self.delivered_before = True, 0, 0, max(self.delivered >> 16, 1)
        self.min_before, self.min_rtt = self.min_rtt, int(min(self.low, self.low_before, 2**40))

    def end_beginning(self) -> None:
        then = self.law["then_window"]
        if self.delivered >> 16 < 2 * self.delivered_before:
            self.min_rtt, then = min(self.min_rtt, self.min_before), 65536
        self.own = min(self.own, self.without_queue() * then >> 16)
        self.begins, self.delivered_before, self.top = False, 0, 0

    def without_queue(self) -> int:
        share = min((self.min_rtt << 16) // self.srtt, 65536)
        delivers: int = self.delivered * share >> 16
        return delivers

    def go_on(self, length: int, k: int) -> None:
        growth, packets, most, pace = (self.at(self.law[of], length) for of in ("growth", "packets", "most", "pace"))
        growth = growth * self.boost >> 16 if growth > 0 else growth
        more = packets * (65536 + self.law["silence_adds"] * self.silent // 256) >> 16
        change = k * (growth + (more << 16) // max(self.own, 65536))
        if change < 0:
            part = min((self.own << 16) // self.delivered, 65536) if law_drains(self.law, length) else 65536
            change = -(min(-change, self.max_window << 16) * part >> 16)
        self.own = max(self.own + change, self.own // 2)
        self.own = clamp(min(self.own, (most * self.delivered >> 16) + 655360), 131072, self.max_window << 16)
        self.set_pace(pace)

    def on_loss(self, packets: int) -> None:
        self.lost, self.losses = True, min(self.losses + packets, self.max_window)


def law_drains(law: dict[str, Any], length: int) -> bool:
    return law["most_of_path"] > 0 and length == 262144


def at(now: int, later: int = 0) -> int:
    return ((now % 2**64 >> 20) + later) % 2**28


def cube_root(number: int) -> int:
    root: int = round(float(number) ** (1 / 3))
    while root * root * root > number:
        root -= 1
    return root + 1 if (root + 1) * (root + 1) * (root + 1) <= number else root


def clamp(value: int, least: int, most: int) -> int:
    return min(max(value, least), most)
