/* Reads the records of acks.py, gives them to an ns-3 class as a socket would, and writes window and pace after each. */
#include EXM_HEADER

#include "ns3/simulator.h"

#include <cstdio>

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

static Ptr<TcpSocketState> tcb;
static Ptr<EXM_CLASS> control;
static uint32_t lost;

static void
Begin()
{
    tcb = CreateObject<TcpSocketState>();
    tcb->m_segmentSize = 1000;
    tcb->m_maxPacingRate = DataRate(UINT64_MAX);
    control = CreateObject<EXM_CLASS>();
    control->CongestionStateSet(tcb, TcpSocketState::CA_OPEN);
}

static void
Follow(Record record)
{
    TcpRateOps::TcpRateConnection connection;
    TcpRateOps::TcpRateSample sample;

    if (record.kind == 0)
    {
        connection.m_firstSentTime = NanoSeconds(record.sent);
        sample.m_ackedSacked = record.packets * tcb->m_segmentSize;
        sample.m_bytesLoss = lost * tcb->m_segmentSize;
        control->CongControl(tcb, connection, sample);
    }
    else if (record.kind == 2)
    {
        Begin();
    }
    lost = record.kind == 1 ? record.packets : 0;
    const uint64_t rate = tcb->m_pacing ? tcb->m_pacingRate.Get().GetBitRate() : 0;
    const Answer answer = {rate, 0, tcb->m_cWnd / tcb->m_segmentSize};
    fwrite(&answer, sizeof(answer), 1, stdout);
}

int
main()
{
    Record record;

    Begin();
    while (fread(&record, sizeof(record), 1, stdin) == 1)
    {
        Simulator::Schedule(NanoSeconds(record.received), &Follow, record);
    }
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
