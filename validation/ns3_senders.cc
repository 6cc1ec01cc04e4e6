/*
 * Senders that come and go over one bottleneck, in ns-3: what `in_ns3.py` compiles and runs.
 *
 * Each sender is on and off by turns. With each on-period a new connection is made; the sender counts as on from when it
 * stands, for a time, or until so many bytes are acknowledged, and has no more in its socket than it is about to send, so
 * that it falls silent when its time is over. Arguments are NAME=VALUE; `library` is what has the socket type, if ns-3 has
 * not. Writes a line for each sender: seconds on, packets of data received, and how long packets waited on average, ms.
 */
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

/* A packet of 1500 bytes on the link: 20 of IP, 32 of TCP with time stamps, 2 of PPP. */
static const uint32_t SEGMENT = 1446, HEADERS = 52, FRAME = 2, MORE = 4 * SEGMENT;
static const uint16_t PORT = 5000;

/* What a socket's buffer holds that was not sent yet. */
struct Inside : TcpSocketBase
{
    static uint32_t Unsent(Ptr<TcpSocketBase> socket)
    {
        const Ptr<TcpTxBuffer> buffer = (*socket).*(&Inside::m_txBuffer);
        const SequenceNumber32 next = ((*socket).*(&Inside::m_tcb))->m_nextTxSequence;
        return std::max(0, buffer->TailSequence() - next);
    }

    static bool IsEmpty(Ptr<TcpSocketBase> socket)
    {
        return ((*socket).*(&Inside::m_txBuffer))->Size() == 0;
    }
};

struct Workload
{
    bool endless; /* on from the beginning, and to the end */
    bool bytes;   /* whether on-periods last for so many bytes, not seconds */
    double on;    /* their mean, of an exponential distribution */
    double off;   /* likewise, s */
};

class Sender
{
  public:
    Sender(Ptr<Node> node, InetSocketAddress to, Workload workload, int64_t stream)
        : m_node(node), m_to(to), m_workload(workload), m_draw(CreateObject<ExponentialRandomVariable>())
    {
        m_draw->SetStream(stream);
        Simulator::Schedule(Seconds(workload.endless ? 0 : Draw(workload.off)), &Sender::Connect, this);
    }

    double OnSeconds() const
    {
        return m_on_s + (m_on ? (Simulator::Now() - m_since).GetSeconds() : 0);
    }

  private:
    double Draw(double mean)
    {
        return m_draw->GetValue(mean, 0);
    }

    void Connect()
    {
        m_socket = DynamicCast<TcpSocketBase>(Socket::CreateSocket(m_node, TcpSocketFactory::GetTypeId()));
        m_socket->Bind();
        m_socket->SetConnectCallback(MakeCallback(&Sender::Begin, this), MakeCallback(&Sender::Failed, this));
        m_socket->Connect(m_to);
    }

    void Failed(Ptr<Socket>)
    {
        NS_FATAL_ERROR("no connection");
    }

    void Begin(Ptr<Socket>)
    {
        m_on = true;
        m_since = Simulator::Now();
        m_left = UINT64_MAX;
        if (m_workload.bytes)
        {
            /* Whole packets, as the simulator counts them: of 1500 bytes. */
            const double packets = std::ceil(Draw(m_workload.on) / (SEGMENT + HEADERS + FRAME));
            m_left = SEGMENT * std::max<uint64_t>(1, packets);
        }
        else if (!m_workload.endless)
        {
            m_end = Simulator::Schedule(Seconds(Draw(m_workload.on)), &Sender::End, this);
        }
        m_socket->TraceConnectWithoutContext("Tx", MakeCallback(&Sender::Sent, this));
        m_socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Sender::Window, this));
        m_socket->SetSendCallback(MakeCallback(&Sender::Acknowledged, this));
        Fill();
    }

    void Fill()
    {
        while (m_on && m_left > 0 && Inside::Unsent(m_socket) < MORE)
        {
            const uint32_t bytes = std::min<uint64_t>(m_left, SEGMENT);
            if (m_socket->Send(Create<Packet>(bytes), 0) <= 0)
            {
                return;
            }
            m_left -= m_left == UINT64_MAX ? 0 : bytes;
        }
    }

    void Sent(Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>)
    {
        Fill();
    }

    void Window(uint32_t, uint32_t)
    {
        Fill();
    }

    void Acknowledged(Ptr<Socket>, uint32_t)
    {
        Fill();
        if (m_on && m_left == 0 && Inside::IsEmpty(m_socket))
        {
            Simulator::ScheduleNow(&Sender::End, this);
        }
    }

    void End()
    {
        if (!m_on)
        {
            return;
        }
        m_on = false;
        m_on_s += (Simulator::Now() - m_since).GetSeconds();
        m_socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
        m_socket->Close();
        Simulator::Schedule(Seconds(Draw(m_workload.off)), &Sender::Connect, this);
    }

    Ptr<Node> m_node;
    Address m_to;
    Workload m_workload;
    Ptr<ExponentialRandomVariable> m_draw;
    Ptr<TcpSocketBase> m_socket;
    EventId m_end;
    bool m_on = false;
    Time m_since;
    double m_on_s = 0;
    uint64_t m_left = 0;
};

/* Takes what arrives, and lets a connection go that its sender has closed. */
static void
Take(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
    }
}

static void
Accept(Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeCallback(&Take));
    socket->SetCloseCallbacks(MakeCallback(+[](Ptr<Socket> closed) { closed->Close(); }),
                              MakeNullCallback<void, Ptr<Socket>>());
}

static std::map<std::string, std::string> given;

static double
Number(const char* name)
{
    return std::stod(given.at(name));
}

static void
SetDefaults()
{
    const auto type = TypeId::LookupByName(given.at("type"));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(type));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 28));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 28));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(Number("ack_packets")));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", StringValue("40ms"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue("200ms"));
}

int
main(int count, char** arguments)
{
    for (int i = 1; i < count; i++)
    {
        const std::string pair = arguments[i];
        const auto at = pair.find('=');
        given[pair.substr(0, at)] = pair.substr(at + 1);
    }
    if (!given["library"].empty() && !dlopen(given["library"].c_str(), RTLD_NOW | RTLD_GLOBAL))
    {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    RngSeedManager::SetRun(static_cast<uint64_t>(Number("seed")));
    SetDefaults();
    const auto senders = static_cast<uint32_t>(Number("senders"));
    NodeContainer nodes(2 + 2 * senders);
    InternetStackHelper().Install(nodes);
    PointToPointHelper fast, slow;
    fast.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    fast.SetChannelAttribute("Delay", StringValue("1us"));
    slow.SetDeviceAttribute("DataRate", StringValue(given.at("rate_mbps") + "Mbps"));
    slow.SetChannelAttribute("Delay", TimeValue(MilliSeconds(Number("rtt_ms")) / 2));
    slow.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    const auto devices = slow.Install(nodes.Get(0), nodes.Get(1));
    devices.Get(1)->SetAttribute("DataRate", StringValue("100Gbps"));
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::" + given.at("queue"), "MaxSize", StringValue(given.at("packets") + "p"));
    control.Install(devices.Get(0));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(devices);
    const Workload workload{Number("endless") > 0, given.at("on_unit") == "bytes", Number("on"), Number("off")};
    std::vector<std::unique_ptr<Sender>> all;
    std::map<Ipv4Address, uint32_t> who;
    NodeContainer hosts;
    for (uint32_t i = 0; i < senders; i++)
    {
        const Ptr<Node> sender = nodes.Get(2 + 2 * i), receiver = nodes.Get(3 + 2 * i);
        addresses.SetBase(("10.1." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        who[addresses.Assign(fast.Install(sender, nodes.Get(0))).GetAddress(0)] = i;
        addresses.SetBase(("10.2." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        const Ipv4Address there = addresses.Assign(fast.Install(nodes.Get(1), receiver)).GetAddress(1);
        const Ptr<Socket> listening = Socket::CreateSocket(receiver, TcpSocketFactory::GetTypeId());
        listening->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&Accept));
        listening->Listen();
        all.push_back(std::make_unique<Sender>(sender, InetSocketAddress(there, PORT), workload, 1 + i));
        hosts.Add(sender);
        hosts.Add(receiver);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    FlowMonitorHelper helper;
    const Ptr<FlowMonitor> monitor = helper.Install(hosts);
    Simulator::Stop(Seconds(Number("seconds")));
    Simulator::Run();

    std::vector<uint64_t> segments(senders);
    std::vector<uint64_t> packets(senders);
    std::vector<double> delay_s(senders);
    const auto classifier = DynamicCast<Ipv4FlowClassifier>(helper.GetClassifier());
    const double second = Number("rate_mbps") * 1e6 / 8, way_s = Number("rtt_ms") / 2e3 + 2e-6;
    for (const auto& [id, flow] : monitor->GetFlowStats())
    {
        const auto from = who.find(classifier->FindFlow(id).sourceAddress);
        /* Their ACKs come from elsewhere. */
        if (from != who.end())
        {
            segments[from->second] += (flow.rxBytes - HEADERS * flow.rxPackets) / SEGMENT;
            packets[from->second] += flow.rxPackets;
            delay_s[from->second] += flow.delaySum.GetSeconds() - flow.rxPackets * way_s -
                                     (flow.rxBytes + FRAME * flow.rxPackets) / second;
        }
    }
    for (uint32_t i = 0; i < senders; i++)
    {
        printf("%.9g,%llu,%.9g\n", all[i]->OnSeconds(), static_cast<unsigned long long>(segments[i]),
               1e3 * delay_s[i] / packets[i]);
    }
    return 0;
}
