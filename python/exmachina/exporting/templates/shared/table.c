// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The controller itself. All that differs between tables stands in table.h.
 *
 * EXM_CALL marks functions that a BPF verifier checks by themselves (exm.bpf.c has it so); elsewhere they are static. Such
 * functions check the pointers that they are given, which costs nothing and is what the verifier asks for. EXM_INLINE marks
 * those that are not to be called there: in a kernel a call may take as long as what they do.
 */
#include "exm.h"
#include "table.h"

#ifndef EXM_CALL
#define EXM_CALL static
#endif
#ifndef EXM_INLINE
#define EXM_INLINE static
#endif

/* The signals, in the order of the table's axes. */
enum { EXM_SEND, EXM_ACK, EXM_RATIO, EXM_SLOW, EXM_DIFF, EXM_QUEUEING, EXM_LOSS, EXM_AXES = 8 };

/* Times in 2^-20 ns, ratios in 2^-16. */
struct exm_point {
	exm_s64 at[EXM_AXES];
};

#define EXM_TIME_BITS 20
#define EXM_LOSS_BITS 40
#define EXM_ONE_LOST (1ULL << EXM_LOSS_BITS)
/* Longer times count as this long, 36 minutes: twice as much is no overflow in the units of averages. */
#define EXM_MAX_NS (1LL << 41)
/* Longer RTTs count as this long, 39 hours: a ratio needs 16 bits more. */
#define EXM_MAX_RTT_NS ((1ULL << 47) - 1)
/* After so many losses in a row the share of losses is 1, to 7 digits. */
#define EXM_MOST_LOST 4096
/* So many times a longer way may be no number of 64 bits. */
#define EXM_LONG_WAY (~0ULL / EXM_MOST_IN_ONE)

static exm_s64 exm_clamped(exm_s64 ns)
{
	if (ns > EXM_MAX_NS)
		return EXM_MAX_NS;
	return ns < -EXM_MAX_NS ? -EXM_MAX_NS : ns;
}

/* An average with weight 2^-shift, rounded to nearest, so that it does not drift. */
static exm_s64 exm_averaged(exm_s64 average, exm_s64 ns, int shift)
{
	exm_s64 way = exm_clamped(ns) * (1LL << EXM_TIME_BITS) - average;

	return average + ((way + (1LL << (shift - 1))) >> shift);
}

static exm_u64 exm_rtt(exm_u64 sent_ns, exm_u64 received_ns, exm_u64 tick_ns)
{
	exm_s64 shown = (exm_s64)(received_ns - sent_ns);
	exm_u64 rtt = shown < 0 ? 0 : (exm_u64)shown;

	if (rtt < tick_ns)
		rtt = tick_ns;
	if (rtt > EXM_MAX_RTT_NS)
		return EXM_MAX_RTT_NS;
	return rtt ? rtt : 1;
}

#if EXM_RARE
/* The signals that few tables look at: see the documentation of `exmachina design`. Zero until the second ACK. */
static void exm_rare(const struct exm_flow *flow, struct exm_point *point)
{
	exm_s64 rtt = (exm_s64)(flow->last_received_ns - flow->last_sent_ns);
	exm_s64 diff = rtt < 0 ? 0 : rtt - (exm_s64)flow->min_rtt_ns;
	exm_s64 queueing = flow->ack_ewma;

	if (!flow->rtt_ratio)
		return;
	point->at[EXM_DIFF] = diff < 0 ? 0 : exm_clamped(diff) << EXM_TIME_BITS;
	if (queueing > 0 && flow->advance > (exm_u64)EXM_FAR / (exm_u64)queueing)
		point->at[EXM_QUEUEING] = EXM_FAR;
	else
		point->at[EXM_QUEUEING] = queueing > 0 ? queueing * flow->advance : 0;
	point->at[EXM_LOSS] = (exm_s64)(flow->loss >> (EXM_LOSS_BITS - 16));
}
#endif

/*
 * The number of the rule for a point. Which way a walk goes is reckoned from the sign of a difference: a branch would
 * make the BPF verifier follow every way through the tree. That what is looked at is in the table it sees by the masks.
 */
EXM_INLINE exm_u32 exm_lookup(const struct exm_point *point)
{
	exm_s32 next = EXM_ROOT;
	int step;

	for (step = 0; step < EXM_DEPTH && next >= 0; step++) {
		const struct exm_plane *plane = &exm_planes[next & (EXM_PLANES - 1)];
		exm_u64 below = ((exm_u64)point->at[plane->axis & (EXM_AXES - 1)] - (exm_u64)plane->at) >> 63;

		next = plane->next[below & 1];
	}
	return ~(exm_u32)next & (EXM_RULES - 1);
}

/* Looks up the rule for what the flow remembers, and carries it out. */
EXM_INLINE void exm_act(struct exm_flow *flow)
{
	struct exm_point point = { { 0 } };
	exm_u32 rule;
	exm_s64 wanted;

	point.at[EXM_SEND] = flow->send_ewma;
	point.at[EXM_ACK] = flow->ack_ewma;
	point.at[EXM_RATIO] = (exm_s64)flow->rtt_ratio;
	point.at[EXM_SLOW] = flow->slow_ack_ewma;
#if EXM_RARE
	exm_rare(flow, &point);
#endif
	rule = exm_lookup(&point);
	wanted = (exm_s64)(exm_rules[rule].multiple * flow->window);
	wanted += (exm_s64)exm_rules[rule].increment * (1LL << EXM_MULTIPLE_BITS);
	wanted = wanted < 0 ? 0 : wanted >> EXM_MULTIPLE_BITS;
	flow->window = wanted > EXM_MAX_WINDOW ? EXM_MAX_WINDOW : (exm_u32)wanted;
	flow->rule = rule;
}

/* Remembers one packet's worth of news. */
EXM_INLINE void exm_remember(struct exm_flow *flow, exm_u64 sent_ns, exm_u64 received_ns, exm_u64 tick_ns, exm_u32 advance)
{
	exm_u64 rtt = exm_rtt(sent_ns, received_ns, tick_ns);

	if (!flow->min_rtt_ns) {
		flow->min_rtt_ns = rtt;
	} else {
		exm_s64 sent = (exm_s64)(sent_ns - flow->last_sent_ns);
		exm_s64 received = (exm_s64)(received_ns - flow->last_received_ns);

		if (rtt < flow->min_rtt_ns)
			flow->min_rtt_ns = rtt;
		flow->send_ewma = exm_averaged(flow->send_ewma, sent, EXM_FAST_SHIFT);
		flow->ack_ewma = exm_averaged(flow->ack_ewma, received, EXM_FAST_SHIFT);
		flow->slow_ack_ewma = exm_averaged(flow->slow_ack_ewma, received, EXM_SLOW_SHIFT);
		flow->rtt_ratio = (rtt << 16) / flow->min_rtt_ns;
	}
	flow->last_sent_ns = sent_ns;
	flow->last_received_ns = received_ns;
	flow->advance = advance;
	flow->loss -= flow->loss >> EXM_LOSS_SHIFT;
}

/* The instant k of n parts of the way from one to another, which may be earlier on clocks that are set back. */
static exm_u64 exm_between(exm_u64 from, exm_u64 to, exm_u32 k, exm_u32 n)
{
	exm_s64 way = (exm_s64)(to - from);
	exm_u64 far = way < 0 ? 0 - (exm_u64)way : (exm_u64)way;
	exm_u64 part = far <= EXM_LONG_WAY ? far * k / n : far / n * k + far % n * k / n;

	return way < 0 ? from - part : from + part;
}

/* An ACK of several packets, and the one before it. */
struct exm_stretch {
	exm_u64 from_sent_ns;
	exm_u64 from_received_ns;
	struct exm_ack ack;
	exm_u32 begun; /* there was one before it */
	exm_u32 parts;
};

/* The k-th of the packets of such an ACK. */
EXM_CALL int exm_part(struct exm_flow *flow, const struct exm_stretch *stretch, exm_u32 k)
{
	const struct exm_ack *ack;
	exm_u64 sent_ns, received_ns;

	if (!flow || !stretch)
		return 0;
	ack = &stretch->ack;
	if (k == stretch->parts) {
		exm_remember(flow, ack->sent_ns, ack->received_ns, ack->tick_ns, ack->advance);
	} else if (stretch->begun) {
		sent_ns = exm_between(stretch->from_sent_ns, ack->sent_ns, k, stretch->parts);
		received_ns = exm_between(stretch->from_received_ns, ack->received_ns, k, stretch->parts);
		exm_remember(flow, sent_ns, received_ns, ack->tick_ns, 1);
	}
	exm_act(flow);
	return 0;
}

/*
 * An ACK of several packets is as many packets' worth of news, spaced evenly from the ACK before it to this one. Of a
 * flow's first packets nothing is known but that they arrived.
 */
EXM_API void exm_on_ack(struct exm_flow *flow, const struct exm_ack *ack)
{
	exm_u32 packets = ack->packets < 1 ? 1 : ack->packets;
	exm_u32 advance = ack->advance;
	struct exm_stretch stretch = { 0 };
	exm_u32 k;

	stretch.from_sent_ns = flow->last_sent_ns;
	stretch.from_received_ns = flow->last_received_ns;
	stretch.ack = *ack;
	stretch.begun = flow->min_rtt_ns != 0;
	stretch.parts = packets > EXM_MOST_IN_ONE ? EXM_MOST_IN_ONE : packets;
	if (packets > 1 && advance > 1)
		stretch.ack.advance = advance > packets ? advance - (packets - 1) : 1;
	for (k = 1; k <= EXM_MOST_IN_ONE && k <= stretch.parts; k++)
		exm_part(flow, &stretch, k);
}

EXM_CALL int exm_lose(struct exm_flow *flow, exm_u32 packets)
{
	exm_u32 k;

	if (!flow)
		return 0;
	for (k = 0; k < EXM_MOST_LOST && k < packets; k++)
		flow->loss += (EXM_ONE_LOST - flow->loss) >> EXM_LOSS_SHIFT;
	return 0;
}

EXM_API void exm_on_loss(struct exm_flow *flow, exm_u32 packets)
{
	exm_lose(flow, packets);
}

EXM_API void exm_start(struct exm_flow *flow)
{
	const struct exm_flow fresh = { 0 };

	*flow = fresh;
	exm_act(flow);
}

EXM_API exm_u32 exm_window(const struct exm_flow *flow)
{
	return flow->window ? flow->window : 1;
}

EXM_API exm_u64 exm_intersend_ns(const struct exm_flow *flow)
{
	return exm_rules[flow->rule & (EXM_RULES - 1)].intersend_ns;
}
