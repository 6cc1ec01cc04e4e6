"""Long flows over one bottleneck in ns-3: the side of `against_ns3.py` that needs the extra `ns3`."""

from typing import Any

from ns import ns

SEGMENT_BYTES = 1446
"""What a packet of 1500 bytes carries: 20 bytes of IP, 32 of TCP with time stamps, 2 of PPP."""
PACKET_BYTES = 1500
DATA_BYTES = 400
"""Mean size from which a flow is one of data, not of ACKs."""
SCHEMES = {
    "newreno": "NewReno",
    "cubic": "Cubic",
    "vegas": "Vegas",
    "ledbat": "Ledbat",
    "dctcp": "Dctcp",
    "bbr1": "Bbr",
}
EDGE_MS = 0.002
"""Delay of the links beside the bottleneck, there and back once."""


def set_defaults(scheme: str, delayed_acks: bool, attributes: dict[str, str]) -> None:
    """What sockets are made with from now on."""
    uint, text = ns.UintegerValue, ns.StringValue
    kind = ns.TypeId.LookupByName("ns3::Tcp" + SCHEMES[scheme])
    ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.TypeIdValue(kind))
    for name, value in {
        "TcpSocket::SegmentSize": uint(SEGMENT_BYTES),
        "TcpSocket::SndBufSize": uint(1 << 24),
        "TcpSocket::RcvBufSize": uint(1 << 24),
        "TcpSocket::InitialCwnd": uint(10),
        "TcpSocket::DelAckCount": uint(2 if delayed_acks else 1),
        "TcpSocket::DelAckTimeout": text("40ms"),
        "TcpSocketBase::MinRto": text("200ms"),
        "TcpL4Protocol::RecoveryType": ns.TypeIdValue(ns.TypeId.LookupByName("ns3::TcpPrrRecovery")),
        "TcpCubic::HyStart": ns.BooleanValue(True),
        "TcpLedbat::SSParam": text("yes"),
        "TcpSocketBase::LimitedTransmit": ns.BooleanValue(True),
    }.items():
        ns.Config.SetDefault("ns3::" + name, value)
    for name, value in attributes.items():
        ns.Config.SetDefault("ns3::" + name, text(value))


def queue_disc(queue: str, packets: int, rate_mbps: float, rtt_ms: float) -> tuple[Any, ...]:
    """The discipline and its settings. The device behind it holds a packet, so thresholds are one less than ours."""
    text, number, flag = ns.StringValue, ns.DoubleValue, ns.BooleanValue
    link = ("LinkBandwidth", text(f"{rate_mbps}Mbps"), "LinkDelay", text(f"{rtt_ms / 2}ms"))
    room = ("MaxSize", text(f"{packets - 1}p"))
    size = ("MeanPktSize", ns.UintegerValue(PACKET_BYTES))
    match queue.partition(":"):
        case ("droptail", _, _):
            return ("ns3::FifoQueueDisc", *room)
        case ("step", _, k):
            # A packet is marked where it finds more than K waiting, the one in the device included.
            low, high = number(int(k) - 0.5), number(int(k) - 0.4)
            average = ("QW", number(1.0), "Gentle", flag(False), "UseEcn", flag(True), "UseHardDrop", flag(False))
            return ("ns3::RedQueueDisc", *room, *size, *link, "MinTh", low, "MaxTh", high, *average)
        case ("red", _, _):
            limits = ("MinTh", number(4.0), "MaxTh", number(14.0), "LInterm", number(10.0))
            return ("ns3::RedQueueDisc", *room, *size, *link, *limits)
        case ("codel", _, _):
            return ("ns3::CoDelQueueDisc", *room)
        case ("fqcodel", _, _):
            return ("ns3::FqCoDelQueueDisc", *room)
        case ("pie", _, _):
            return ("ns3::PieQueueDisc", *room, *size)
    raise ValueError(queue)


def dumbbell(disc: tuple[Any, ...], rate_mbps: float, rtt_ms: float, starts: list[float], seconds: float) -> Any:
    """Senders and receivers, which it returns, and the link between; all is fast but that link's way forward."""
    text = ns.StringValue
    nodes = ns.NodeContainer()
    nodes.Create(2 + 2 * len(starts))
    ns.InternetStackHelper().InstallAll()
    fast, slow = ns.PointToPointHelper(), ns.PointToPointHelper()
    fast.SetDeviceAttribute("DataRate", text("100Gbps"))
    fast.SetChannelAttribute("Delay", text("1us"))
    slow.SetDeviceAttribute("DataRate", text(f"{rate_mbps}Mbps"))
    slow.SetChannelAttribute("Delay", text(f"{rtt_ms / 2}ms"))
    slow.SetQueue("ns3::DropTailQueue", "MaxSize", text("1p"))
    devices = slow.Install(nodes.Get(0), nodes.Get(1))
    devices.Get(1).SetAttribute("DataRate", text("100Gbps"))
    control = ns.TrafficControlHelper()
    control.SetRootQueueDisc(*disc)
    control.Install(devices.Get(0))
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase("10.0.0.0", "255.255.255.0")
    addresses.Assign(devices)
    for i, start in enumerate(starts):
        sender, receiver = nodes.Get(2 + 2 * i), nodes.Get(3 + 2 * i)
        addresses.SetBase(f"10.1.{i}.0", "255.255.255.0")
        addresses.Assign(fast.Install(sender, nodes.Get(0)))
        addresses.SetBase(f"10.2.{i}.0", "255.255.255.0")
        there = addresses.Assign(fast.Install(nodes.Get(1), receiver)).GetAddress(1)
        bulk = ns.BulkSendHelper("ns3::TcpSocketFactory", ns.InetSocketAddress(there, 5000).ConvertTo())
        bulk.SetAttribute("SendSize", ns.UintegerValue(SEGMENT_BYTES))
        source = bulk.Install(sender)
        source.Start(ns.Seconds(start))
        source.Stop(ns.Seconds(seconds))
        anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 5000).ConvertTo()
        ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere).Install(receiver).Start(ns.Seconds(0))
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()
    hosts = ns.NodeContainer()
    for i in range(2, nodes.GetN()):
        hosts.Add(nodes.Get(i))
    return hosts


def run(
    scheme: str,
    queue: str,
    *,
    rate_mbps: float,
    rtt_ms: float,
    packets: int,
    delayed_acks: bool,
    starts: list[float],
    seconds: float,
    seed: int,
    attributes: dict[str, str],
) -> tuple[float, float]:
    """Throughput of all flows together, Mbit/s on the wire, and mean queueing delay of their packets, ms."""
    ns.RngSeedManager.SetRun(seed)
    set_defaults(scheme, delayed_acks, attributes)
    hosts = dumbbell(queue_disc(queue, packets, rate_mbps, rtt_ms), rate_mbps, rtt_ms, starts, seconds)
    helper = ns.FlowMonitorHelper()
    monitor = helper.Install(hosts)
    ns.Simulator.Stop(ns.Seconds(seconds))
    ns.Simulator.Run()
    received, delay_s = 0, 0.0
    for _, flow in monitor.GetFlowStats():
        if flow.rxBytes > DATA_BYTES * flow.rxPackets:
            received += flow.rxPackets
            delay_s += flow.delaySum.GetSeconds()
    ns.Simulator.Destroy()
    service_ms = PACKET_BYTES * 8 / rate_mbps / 1e3
    delay_ms = delay_s / received * 1e3 - rtt_ms / 2 - service_ms - EDGE_MS
    return received * PACKET_BYTES * 8 / seconds / 1e6, delay_ms
