// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The controller itself: a law says what is done by the length of the queue on the flow's own path. All that differs between
 * laws stands in law.h.
 *
 * EXM_CALL marks functions that a BPF verifier checks by themselves (exm.bpf.c has it so), which check the pointers that they
 * are given; elsewhere they are static. Divisions are of what is not negative, and signed numbers are shifted: BPF can do both.
 * No sum here can overflow.
 */
#include "exm.h"
#include "law.h"

#ifndef EXM_CALL
#define EXM_CALL static
#endif

/* What is 1 in shares, windows and multiples. */
#define EXM_UNIT (1ULL << 16)
/* The smallest window: of one packet the ACK may wait at the receiver for another. */
#define EXM_LEAST_WINDOW (2 * EXM_UNIT)
/* More than so long, in targets, no queue counts as. */
#define EXM_LONGEST_QUEUE (4 * EXM_UNIT)
/* The least that an RTT delivers: a packet in sixteen RTTs. */
#define EXM_LEAST_DELIVERED (EXM_UNIT / 16)
#define EXM_MOST_WINDOW ((exm_u64)EXM_MAX_WINDOW << 16)
/* A window may be that of what was delivered times a multiple, and so many packets more: few say little. */
#define EXM_MORE_PACKETS (10 * EXM_UNIT)
/* While a flow begins its window is at most so many times what was delivered. */
#define EXM_FIRST_MOST 4
/* ACKs of so many packets say how far apart the path lets packets come. */
#define EXM_TRAIN 8
/* Where a flow begins again, an RTT must deliver so many times what it did. */
#define EXM_AGAIN_GAIN 2
/* A flow that shares a link begins to with half as much again in each RTT, until the first loss, */
#define EXM_SHARED_FIRST 2
/* sends at three quarters of the RTT over the window, */
#define EXM_SHARED_PACE (EXM_UNIT / 4 * 3)
/* and grows by half a packet in an RTT at least: RFC 9438 4.3 has 0.53. */
#define EXM_SHARED_LEAST (EXM_UNIT / 2)
/*
 * For how long a queue of two targets has stood is in 2^22 ns, of which an RTT is four at most; so long it must have until others are
 * taken to be there, and so long is remembered.
 */
#define EXM_STOOD_SHIFT 22
#define EXM_STOOD_IN_RTT 4
#define EXM_LONG_QUEUE (2 * EXM_UNIT)
#define EXM_STOOD 32
#define EXM_MOST_STOOD 160
/* Smaller windows than eight packets do not tell. */
#define EXM_TELLING_WINDOW (8 << 16)
/* RTTs are in 2^12 ns where they are compared with that of when the queue came. */
#define EXM_RTT_SHIFT 12
/* It is tried so many times as late as at first whether others have gone, at most. */
#define EXM_MOST_PATIENCE 16
/* Others have gone when so many RTTs ended without a queue. */
#define EXM_CLEAR_ROUNDS 3
/* The time of turning of a window of Cubic is in 2^20 ns, of which 28 bits are kept; it is the same farther away than this. */
#define EXM_TURN_SHIFT 20
#define EXM_TURN_BITS 28
#define EXM_FAR (1ULL << 15)
/* How many of their cubes are a cubic second. */
#define EXM_CUBES 867361738ULL
/* What one ACK answers is counted in fours, from three packets on, up to sixty. */
#define EXM_STRETCH 4
#define EXM_MOST_STRETCH 15
/* Of the packets that the first ACK answers no more than two say how fast they come. */
#define EXM_OF_FIRST_ACK 2
/* RTTs, and packets of a quarter of one, are counted to here. */
#define EXM_MOST_ROUNDS ((1 << 16) - 1)
#define EXM_MOST_LOW_PACKETS ((1 << 7) - 1)
/* Silences are in 2^10 ns, of which 28 bits are kept of a time, and a silence counts up to a quarter of a second. */
#define EXM_SILENCE_SHIFT 10
#define EXM_SILENCE_TIMES ((1ULL << 28) - 1)
#define EXM_LONGEST_SILENCE ((1ULL << 18) - 1)
/* So many packets may stand in one though nothing is amiss, and more than so many say no more. */
#define EXM_EVEN (3 * EXM_UNIT)
#define EXM_MOST_PACKETS (64 * EXM_UNIT)
/* Silences make a target longer by so many of the smallest RTT at most. */
#define EXM_MOST_LONGER (4 * EXM_UNIT)
/* One that is longer by this share of the smallest RTT is as silent as it gets, which is so many parts. */
#define EXM_SILENT_RTT (EXM_UNIT / 16)
#define EXM_ALL_SILENT (1 << 8)
/* RTTs that are longer count as 18 minutes, and pauses as ten seconds. */
#define EXM_LONGEST_NS (1ULL << 40)
#define EXM_LONGEST_PAUSE_NS 10000000000ULL
/* There was none yet. */
#define EXM_NEVER ((1ULL << 41) - 1)

/* The levels of the queue, in targets of 2^-16, and the logarithms to base 2 of how far the next one is. */
EXM_DATA exm_u64 exm_level_at[EXM_LEVELS] = { 0, 1 << 15, 1 << 16, 1 << 17, EXM_LONGEST_QUEUE };
EXM_DATA exm_u32 exm_level_width[EXM_LEVELS - 1] = { 15, 15, 16, 17 };

static exm_u64 exm_min(exm_u64 a, exm_u64 b)
{
	return a < b ? a : b;
}

static exm_u64 exm_max(exm_u64 a, exm_u64 b)
{
	return a > b ? a : b;
}

static exm_u64 exm_clamp(exm_u64 value, exm_u64 least, exm_u64 most)
{
	return exm_min(exm_max(value, least), most);
}

/* A share of another number, at most all of it; both are at most EXM_LONGEST_NS. */
static exm_u64 exm_share(exm_u64 part, exm_u64 whole)
{
	return exm_min((part << 16) / exm_max(whole, 1), EXM_UNIT);
}

/* A place between two lengths of the queue. */
struct exm_level {
	exm_u32 below;
	exm_s64 past;
};

static struct exm_level exm_level_of(exm_u64 length)
{
	struct exm_level level = { 0, 0 };
	int k;

	for (k = 1; k < EXM_LEVELS - 1; k++)
		level.below += length >= exm_level_at[k];
	level.past = (exm_s64)(length - exm_level_at[level.below]);
	return level;
}

static exm_s64 exm_at(struct exm_level level, const exm_s32 values[EXM_LEVELS])
{
	exm_s64 low = values[level.below], high = values[level.below + 1];

	return low + ((high - low) * level.past >> exm_level_width[level.below]);
}

/* The RTT of those that stood in the queue as long as all did: the smallest of the last quarter or two. */
static exm_u64 exm_standing_ns(const struct exm_flow *flow)
{
	return exm_min(flow->low_ns, flow->low_before_ns);
}

static void exm_set_pace(struct exm_flow *flow, exm_u64 pace)
{
	exm_u64 standing = exm_min(exm_standing_ns(flow), EXM_LONGEST_NS);

	flow->pause_ns = exm_clamp(standing * pace / (exm_u64)flow->window, 1, EXM_LONGEST_PAUSE_NS);
}

static exm_u64 exm_rtt(const struct exm_ack *ack)
{
	exm_s64 shown = (exm_s64)(ack->received_ns - ack->sent_ns);
	exm_u64 least = exm_clamp(ack->tick_ns, 1, EXM_LONGEST_NS);

	return shown < 0 ? least : exm_clamp((exm_u64)shown, least, EXM_LONGEST_NS);
}

/* Packets that an RTT is worth, at so many for each ms. */
static exm_u64 exm_of_ms(exm_u64 rtt_ns, exm_u64 packets)
{
	return rtt_ns * packets / 1000000;
}

/* Notes an RTT. */
EXM_CALL int exm_see(struct exm_flow *flow, exm_u64 rtt, exm_u64 now, exm_u64 packets)
{
	exm_u64 off, window, arrived = packets;

	if (!flow)
		return 0;
	if (!flow->min_rtt_ns) {
		arrived = exm_min(packets, EXM_OF_FIRST_ACK);
		flow->min_rtt_ns = rtt;
		window = flow->window + exm_of_ms(rtt, exm_law.first_rate);
		if (exm_law.first_most)
			window = exm_min(window, exm_of_ms(rtt, exm_law.first_most));
		flow->window = exm_clamp(window, EXM_LEAST_WINDOW, EXM_MOST_WINDOW);
		flow->srtt_ns = rtt;
		flow->low_from_ns = now;
		flow->round_from_ns = now;
	}
	if (rtt < flow->min_rtt_ns)
		flow->min_rtt_ns = rtt + ((flow->min_rtt_ns - rtt) * exm_law.min_rtt_keeps >> 16);
	if (rtt > flow->srtt_ns) {
		off = rtt - flow->srtt_ns;
		flow->srtt_ns += off / 8;
	} else {
		off = flow->srtt_ns - rtt;
		flow->srtt_ns -= off / 8;
	}
	flow->spread_ns = flow->spread_ns - flow->spread_ns / 8 + off / 8;
	flow->low_ns = exm_min(flow->low_ns, rtt);
	flow->low_packets = exm_min(flow->low_packets + packets, EXM_MOST_LOW_PACKETS);
	flow->arrived = exm_min(flow->arrived + arrived, EXM_MAX_WINDOW);
	return 0;
}

/* Notes how long no ACK came: before the packet was sent nothing may have been outstanding. */
EXM_CALL int exm_see_silence(struct exm_flow *flow, exm_u64 rtt, exm_u64 received_ns)
{
	exm_u64 now = (received_ns >> EXM_SILENCE_SHIFT) & EXM_SILENCE_TIMES, silence;

	if (!flow)
		return 0;
	silence = exm_min((now - flow->silent_from) & EXM_SILENCE_TIMES, rtt >> EXM_SILENCE_SHIFT);
	flow->silence = exm_max(flow->silence, exm_min(silence, EXM_LONGEST_SILENCE));
	flow->silent_from = now;
	return 0;
}

/* The time between two packets of the flow. */
static exm_u64 exm_gap_ns(const struct exm_flow *flow)
{
	return exm_min(((exm_u64)flow->srtt_ns << 16) / (exm_u64)flow->delivered, EXM_LONGEST_NS);
}

/* What the RTT is longer by than its smallest. */
static exm_u64 exm_queue_ns(const struct exm_flow *flow)
{
	exm_u64 standing = exm_standing_ns(flow);

	return standing - exm_min(standing, flow->min_rtt_ns);
}

/* The whole part of the square root of a number below 2^38. */
EXM_CALL exm_u64 exm_square_root(exm_u64 number)
{
	exm_u64 root = 0, next;
	int bit;

	for (bit = 18; bit >= 0; bit--) {
		next = root + (1ULL << bit);
		if (next * next <= number)
			root = next;
	}
	return root;
}

/* What the target is longer by where an RTT delivers so much, as a share of the smallest RTT. */
static exm_u64 exm_of_roots(exm_u64 delivered)
{
	exm_u64 root;

	if (!exm_law.target_of_root && !exm_law.target_of_fourth)
		return 0;
	root = exm_max(exm_square_root(exm_max(delivered, EXM_UNIT)), 1);
	return (exm_law.target_of_root << 8) / root
		+ (exm_law.target_of_fourth << 12) / exm_max(exm_square_root(root << 16), 1);
}

/* What the target is longer by, as such a share, for what was silent in an RTT and the one before. */
EXM_CALL exm_u64 exm_next_silence(struct exm_flow *flow)
{
	exm_u64 silence, packets, longer;

	if (!flow)
		return 0;
	silence = exm_min(flow->silence, flow->silence_before) << EXM_SILENCE_SHIFT;
	flow->silence_before = flow->silence;
	flow->silence = 0;
	packets = (silence << 16) / exm_max(exm_gap_ns(flow), 1);
	packets = exm_min(packets - exm_min(packets, EXM_EVEN), EXM_MOST_PACKETS);
	longer = (silence * packets >> 16) * exm_law.silence_packets >> 16;
	longer = exm_min(exm_min(longer, silence * exm_law.silence_most >> 16), EXM_LONGEST_NS);
	return exm_min((longer << 16) / exm_max(flow->min_rtt_ns, 1), EXM_MOST_LONGER);
}

/* How long the queue is, in targets; at most four. */
static exm_u64 exm_queue(const struct exm_flow *flow)
{
	exm_u64 target = ((exm_u64)flow->min_rtt_ns * (exm_law.target_of_rtt + flow->longer) >> 16)
		+ (exm_gap_ns(flow) * exm_law.target_of_gap >> 16)
		+ ((exm_u64)flow->spread_ns * exm_law.target_of_spread >> 16);

	if (flow->crowded)
		return EXM_LONGEST_QUEUE;
	return exm_min((exm_queue_ns(flow) << 16) / exm_max(target, 1), EXM_LONGEST_QUEUE);
}

static void exm_next_quarter(struct exm_flow *flow, exm_u64 length, exm_u64 now)
{
	exm_u64 faster = exm_min(flow->boost * exm_law.faster >> 16, exm_law.fastest);

	flow->low_before_ns = flow->low_ns;
	flow->low_ns = EXM_NEVER;
	flow->low_from_ns = now;
	flow->low_packets = 0;
	flow->boost = length < EXM_UNIT ? faster : EXM_UNIT;
}

/* Nothing is known of this RTT yet but how long it is. */
static int exm_is_first_round(const struct exm_flow *flow)
{
	return flow->begins && !flow->rounds && !flow->delivered_before;
}

static void exm_next_round(struct exm_flow *flow, exm_u64 now)
{
	exm_u64 elapsed = exm_clamp(now - flow->round_from_ns, 1, EXM_LONGEST_NS), longer, losses = flow->losses;
	exm_u64 least = exm_max((exm_u64)flow->delivered * exm_law.delivered_keeps >> 16, EXM_LEAST_DELIVERED);

	/* What was sent by what the first packets said arrives in the next RTT. */
	if (exm_is_first_round(flow) && flow->delivered > exm_law.first_window)
		least = flow->delivered;
	flow->delivered = exm_clamp((exm_u64)flow->arrived * exm_share(flow->srtt_ns, elapsed), least, EXM_MOST_WINDOW);
	flow->crowded = exm_law.loss_most && losses << 16 > (losses + flow->arrived) * exm_law.loss_most;
	flow->losses = 0;
	flow->arrived = 0;
	flow->round_from_ns = now;
	flow->rounds = exm_min(flow->rounds + 1, EXM_MOST_ROUNDS);
	flow->was_cut = 0;
	flow->stretch /= 2;
	longer = exm_of_roots(flow->delivered);
	if (exm_law.silence_most) {
		exm_u64 for_silence = exm_next_silence(flow);

		flow->silent = exm_min(for_silence * EXM_ALL_SILENT / EXM_SILENT_RTT, EXM_ALL_SILENT);
		longer += flow->begins ? 0 : for_silence;
	}
	flow->longer = longer;
}

/* What the smallest RTT would deliver. */
static exm_u64 exm_without_queue(const struct exm_flow *flow)
{
	return (exm_u64)flow->delivered * exm_share(flow->min_rtt_ns, flow->srtt_ns) >> 16;
}

/* The queue is to be left at once: RTTs in it end with a window of the path. */
static int exm_drains(exm_u64 length)
{
	return exm_law.most_of_path && length == EXM_LONGEST_QUEUE;
}

/* And one has ended. */
static void exm_drain(struct exm_flow *flow)
{
	exm_u64 most = (exm_without_queue(flow) * exm_law.most_of_path >> 16) + EXM_MORE_PACKETS;

	flow->window = exm_min(flow->window, most);
}

/* What the RTT is now is taken for what it is without a queue. */
static void exm_begin_again(struct exm_flow *flow)
{
	flow->begins = 1;
	flow->rounds = 0;
	flow->top = 0;
	flow->delivered_before = exm_max((exm_u64)flow->delivered >> 16, 1);
	flow->min_before_low = flow->min_rtt_ns & ((1 << 20) - 1);
	flow->min_before_high = flow->min_rtt_ns >> 20;
	flow->min_rtt_ns = exm_min(exm_standing_ns(flow), EXM_LONGEST_NS);
}

/* There is a queue. If an RTT delivers little more than before a flow began again, it was one then, too. */
EXM_CALL int exm_end_beginning(struct exm_flow *flow)
{
	exm_u64 before, then_window = exm_law.then_window;

	if (!flow)
		return 0;
	if ((exm_u64)flow->delivered >> 16 < EXM_AGAIN_GAIN * (exm_u64)flow->delivered_before) {
		before = (exm_u64)flow->min_before_high << 20 | flow->min_before_low;
		flow->min_rtt_ns = exm_min(flow->min_rtt_ns, before);
		then_window = EXM_UNIT;
	}
	flow->window = exm_min(flow->window, exm_without_queue(flow) * then_window >> 16);
	flow->begins = 0;
	flow->delivered_before = 0;
	flow->top = 0;
	return 0;
}

/* A share of what the path holds, if packets go on to come as those of a beginning's first window do. */
EXM_CALL exm_u64 exm_train(struct exm_flow *flow, exm_u64 now)
{
	exm_u64 elapsed, in_an_rtt;

	if (!flow || !exm_law.first_train || !exm_is_first_round(flow) || flow->arrived < EXM_TRAIN)
		return 0;
	elapsed = exm_min(now - flow->round_from_ns, EXM_LONGEST_NS) + exm_law.first_train_ns;
	if (!elapsed)
		return 0;
	in_an_rtt = exm_min(((exm_u64)flow->min_rtt_ns << 16) / elapsed, 1ULL << 32);
	in_an_rtt *= (exm_u64)flow->arrived - 1;
	return exm_min(exm_min(in_an_rtt, EXM_MOST_WINDOW) * exm_law.first_train >> 16, EXM_MOST_WINDOW);
}

/* What an ACK does while a flow begins. */
static void exm_begin(struct exm_flow *flow, exm_u64 now, exm_u64 packets)
{
	exm_u64 train = exm_train(flow, now), most;
	exm_u64 window = exm_max(flow->window + packets * exm_law.first_growth, train);

	flow->delivered = exm_max(flow->delivered, train / 2);
	most = EXM_FIRST_MOST * (exm_u64)flow->delivered + EXM_MORE_PACKETS
		+ exm_of_ms(flow->min_rtt_ns, exm_law.first_rate);
	window = exm_min(window, most);
	flow->window = exm_clamp(window, EXM_LEAST_WINDOW, EXM_MOST_WINDOW);
	exm_set_pace(flow, exm_law.first_pace);
}

/* And once a flow has begun. */
EXM_CALL int exm_go_on(struct exm_flow *flow, exm_u64 length, exm_u64 packets)
{
	struct exm_level level = exm_level_of(length);
	exm_s64 growth = exm_at(level, exm_law.growth);
	exm_s64 change;
	exm_u64 window, most, more, less;

	if (!flow)
		return 0;
	window = flow->window;
	if (growth > 0)
		growth = growth * (exm_s64)flow->boost >> 16;
	more = (exm_u64)exm_at(level, exm_law.packets);
	more = more * (EXM_UNIT + exm_law.silence_adds * flow->silent / EXM_ALL_SILENT) >> 16;
	growth += (exm_s64)((more << 16) / exm_max(window, EXM_UNIT));
	change = (exm_s64)packets * growth;
	if (change < 0) {
		less = exm_min((exm_u64)-change, EXM_MOST_WINDOW);
		if (exm_drains(length))
			less = less * exm_share(window, flow->delivered) >> 16;
		window -= exm_min(less, window - window / 2);
	} else
		window += (exm_u64)change;
	most = ((exm_u64)exm_at(level, exm_law.most) * (exm_u64)flow->delivered >> 16) + EXM_MORE_PACKETS;
	flow->window = exm_clamp(exm_min(window, most), EXM_LEAST_WINDOW, EXM_MOST_WINDOW);
	exm_set_pace(flow, (exm_u64)exm_at(level, exm_law.pace));
	return 0;
}

/* So much later than a time, as times of turning are kept. */
static exm_u32 exm_turn_at(exm_u64 now, exm_u64 later)
{
	return (exm_u32)(((now >> EXM_TURN_SHIFT) + later) & ((1U << EXM_TURN_BITS) - 1));
}

/* The whole part of the cube root of a number below 2^57. */
EXM_CALL exm_u64 exm_cube_root(exm_u64 number)
{
	exm_u64 root = 0, next;
	int bit;

	for (bit = 18; bit >= 0; bit--) {
		next = root + (1ULL << bit);
		if (next * next * next <= number)
			root = next;
	}
	return root;
}

/* An RTT ends: how many in a row did so without a queue, and how long a long one has stood. */
static void exm_note_queue(struct exm_flow *flow, exm_u64 length, exm_u64 now)
{
	exm_u64 passed = (now >> EXM_STOOD_SHIFT) - (flow->round_from_ns >> EXM_STOOD_SHIFT), stood = flow->stood;

	passed = exm_min(passed, EXM_STOOD_IN_RTT);
	flow->clear = length < EXM_UNIT ? exm_min(flow->clear + 1, EXM_CLEAR_ROUNDS) : 0;
	flow->stood = length >= EXM_LONG_QUEUE ? exm_min(stood + passed, EXM_MOST_STOOD) : stood - exm_min(stood, passed);
}

static exm_u64 exm_rtt_for_watch(const struct exm_flow *flow)
{
	return exm_min(exm_standing_ns(flow) >> EXM_RTT_SHIFT, (1ULL << EXM_TURN_BITS) - 1);
}

/*
 * While a flow does not share: the window when the queue came, the longest RTT since, and whether others fill that queue. Where all
 * give way alike RTTs go down with windows, and nobody gets less of the link for it. Whoever does has others beside.
 */
static void exm_watch(struct exm_flow *flow, exm_u64 length, exm_u64 now)
{
	exm_u64 rtt = exm_rtt_for_watch(flow);

	if (length < EXM_UNIT) {
		flow->top = 0;
		flow->patience = 1;
		return;
	}
	if (!flow->top) {
		flow->top = flow->window;
		flow->turn = rtt;
		return;
	}
	flow->turn = exm_max(flow->turn, rtt);
	if (exm_share(flow->window, flow->top) * flow->turn <= exm_law.shared_below * rtt && flow->stood >= EXM_STOOD &&
	    flow->top >= EXM_TELLING_WINDOW) {
		flow->shares = 1;
		flow->was_cut = 1;
		flow->rounds = 0;
		flow->clear = 0;
		flow->window = flow->top;
		flow->turn = exm_turn_at(now, 0);
	}
}

/* A loss: fast convergence (RFC 9438 4.7), the window, and when it will be back (4.2). */
static void exm_cut(struct exm_flow *flow, exm_u64 now)
{
	exm_u64 window = flow->window, top = window, below, away;

	if (!flow->rises && window < flow->top)
		top = window * ((EXM_UNIT + exm_law.shared_cut) / 2) >> 16;
	window = exm_max(window * exm_law.shared_cut >> 16, EXM_LEAST_WINDOW);
	below = top - exm_min(top, window);
	away = exm_cube_root((below << 14) / exm_law.shared_scale * (EXM_CUBES >> 14));
	flow->top = top;
	flow->window = window;
	flow->turn = exm_turn_at(now, exm_min(away, EXM_FAR));
	flow->rises = 0;
	flow->was_cut = 1;
	flow->arrived = 0;
	flow->round_from_ns = now;
}

/* The window of RFC 9438 4.2 at some time. */
static exm_u64 exm_cubic(const struct exm_flow *flow, exm_u64 at)
{
	exm_u32 past = (exm_turn_at(at, 0) - (exm_u32)flow->turn) << (32 - EXM_TURN_BITS);
	int is_before = past >> 31;
	exm_u64 away = (is_before ? -past : past) >> (32 - EXM_TURN_BITS), off, top = flow->top;

	away = exm_min(away, EXM_FAR);
	off = away * away * away * exm_law.shared_scale / EXM_CUBES;
	return is_before ? top - exm_min(top, off) : top + off;
}

/* What an ACK does where others fill the queue: the window is Cubic's. */
EXM_CALL int exm_shared(struct exm_flow *flow, exm_u64 now, exm_u64 packets, exm_u32 lost)
{
	exm_u64 window, growth, next, most;

	if (!flow)
		return 0;
	if (flow->clear >= EXM_CLEAR_ROUNDS || flow->rounds >= exm_law.shared_rtts * flow->patience) {
		flow->patience = exm_min(2 * flow->patience, EXM_MOST_PATIENCE);
		flow->shares = 0;
		flow->rounds = 0;
		flow->top = flow->window;
		flow->turn = exm_rtt_for_watch(flow);
		return 0;
	}
	if (lost && !flow->was_cut)
		exm_cut(flow, now);
	window = exm_max(flow->window, EXM_LEAST_WINDOW);
	if (flow->rises) {
		growth = packets * EXM_UNIT / EXM_SHARED_FIRST;
	} else {
		next = exm_clamp(exm_cubic(flow, now + flow->srtt_ns), window, window + window / 2);
		growth = packets * (((next - window) << 16) / window);
		growth = exm_max(growth, (packets * EXM_SHARED_LEAST << 16) / window);
	}
	most = EXM_FIRST_MOST * (exm_u64)flow->delivered + EXM_MORE_PACKETS;
	flow->window = exm_clamp(exm_min(window + growth, most), EXM_LEAST_WINDOW, EXM_MOST_WINDOW);
	exm_set_pace(flow, EXM_SHARED_PACE);
	return 0;
}

EXM_API void exm_on_ack(struct exm_flow *flow, const struct exm_ack *ack)
{
	exm_u64 now = ack->received_ns, packets = exm_max(ack->packets, 1), length;
	exm_u32 lost = flow->lost;

	flow->lost = 0;
	exm_see(flow, exm_rtt(ack), now, packets);
	if (exm_law.silence_most)
		exm_see_silence(flow, exm_rtt(ack), now);
	length = exm_queue(flow);
	if (flow->low_packets >= exm_law.least_packets && now - flow->low_from_ns >= flow->srtt_ns / 4)
		exm_next_quarter(flow, length, now);
	if (now - flow->round_from_ns >= flow->srtt_ns) {
		if (exm_law.shared_below)
			exm_note_queue(flow, length, now);
		exm_next_round(flow, now);
		if (!flow->begins && !flow->shares && exm_drains(length))
			exm_drain(flow);
		if (!flow->begins && !flow->shares && exm_law.again_rtts && flow->rounds >= exm_law.again_rtts) {
			exm_begin_again(flow);
			length = exm_queue(flow);
		}
	}
	if (flow->window < packets << 17)
		flow->stretch = exm_max(flow->stretch, exm_min((packets + 1) / EXM_STRETCH, EXM_MOST_STRETCH));
	if (flow->shares) {
		exm_shared(flow, now, packets, lost);
		return;
	}
	if (flow->begins && length < exm_law.first_until) {
		exm_begin(flow, now, packets);
		return;
	}
	if (flow->begins)
		exm_end_beginning(flow);
	exm_go_on(flow, length, packets);
	if (exm_law.shared_below)
		exm_watch(flow, length, now);
}

EXM_API void exm_on_loss(struct exm_flow *flow, exm_u32 packets)
{
	flow->lost = 1;
	flow->losses = exm_min(flow->losses + (exm_u64)packets, EXM_MAX_WINDOW);
}

EXM_API void exm_start(struct exm_flow *flow)
{
	const struct exm_flow fresh = { 0 };

	*flow = fresh;
	flow->window = exm_law.first_window;
	flow->delivered = exm_law.first_window;
	flow->longer = exm_of_roots(exm_law.first_window);
	flow->pause_ns = exm_law.first_pause_ns;
	flow->low_ns = EXM_NEVER;
	flow->low_before_ns = EXM_NEVER;
	flow->boost = EXM_UNIT;
	flow->begins = 1;
	flow->rises = 1;
	flow->patience = 1;
}

EXM_API exm_u32 exm_window(const struct exm_flow *flow)
{
	exm_u64 held = (exm_u64)(flow->stretch * EXM_STRETCH) << 16;

	return (exm_u32)exm_min((flow->window + exm_law.room + held) >> 16, EXM_MAX_WINDOW);
}

EXM_API exm_u64 exm_intersend_ns(const struct exm_flow *flow)
{
	return flow->pause_ns;
}
