/* Reads the records of acks.py, gives them to an ns-3 class as a socket would, and writes window and pace after each. */
#include EXM_HEADER

#include "ns3/simulator.h"

#include <cstdio>
#include <vector>

using namespace ns3;

struct Record
{
    uint64_t sent, received, tick;
    uint32_t advance, packets, kind, reserved;
};

struct Answer
{
    uint64_t rate;
    uint32_t reserved, window;
};

/* A connection; a record that says so is the end of one. */
struct Connection
{
    Ptr<TcpSocketState> tcb = CreateObject<TcpSocketState>();
    Ptr<EXM_CLASS> control = CreateObject<EXM_CLASS>();
    SequenceNumber32 acknowledged{0};

    Connection()
    {
        tcb->m_segmentSize = 1000;
        tcb->m_maxPacingRate = DataRate(UINT64_MAX);
        control->CongestionStateSet(tcb, TcpSocketState::CA_OPEN);
    }
};

static std::vector<Connection> connections;
static size_t now;
static uint32_t lost;

/* Packets leave, and are acknowledged in this order. */
static void
Send(size_t connection, uint32_t packets)
{
    const Ptr<TcpSocketState> tcb = connections[connection].tcb;

    tcb->m_highTxMark = tcb->m_highTxMark.Get() + packets * tcb->m_segmentSize;
}

static void
Follow(Record record)
{
    TcpRateOps::TcpRateConnection connection;
    TcpRateOps::TcpRateSample sample;

    if (record.kind == 2)
    {
        now++;
    }
    auto& [tcb, control, acknowledged] = connections[now];
    if (record.kind == 0)
    {
        sample.m_ackedSacked = record.packets * tcb->m_segmentSize;
        sample.m_bytesLoss = lost * tcb->m_segmentSize;
        tcb->m_lastAckedSeq = acknowledged += sample.m_ackedSacked;
        control->CongControl(tcb, connection, sample);
    }
    lost = record.kind == 1 ? record.packets : 0;
    const uint64_t rate = tcb->m_pacing ? tcb->m_pacingRate.Get().GetBitRate() : 0;
    const Answer answer = {rate, 0, tcb->m_cWnd / tcb->m_segmentSize};
    fwrite(&answer, sizeof(answer), 1, stdout);
}

int
main()
{
    std::vector<Record> records;
    Record record;

    connections.emplace_back();
    while (fread(&record, sizeof(record), 1, stdin) == 1)
    {
        records.push_back(record);
        if (record.kind == 0)
        {
            Simulator::Schedule(NanoSeconds(record.sent), &Send, connections.size() - 1, record.packets);
        }
        else if (record.kind == 2)
        {
            connections.emplace_back();
        }
    }
    for (const auto& one : records)
    {
        Simulator::Schedule(NanoSeconds(one.received), &Follow, one);
    }
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
