/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A congestion controller that follows a rule table: the state of one flow, and what a transport tells it.
 *
 * No allocation, no floating point, no headers: the same source runs in user space and as a BPF program. A transport keeps
 * one struct exm_flow for each connection, tells it of every ACK, and asks for the window and the pace. Times are in
 * nanoseconds of any clock.
 */
#ifndef EXM_H
#define EXM_H

typedef signed int exm_s32;
typedef unsigned int exm_u32;
typedef signed long long exm_s64;
typedef unsigned long long exm_u64;

/* State of one flow: 80 bytes, of the 104 that Linux gives to congestion control. */
struct exm_flow {
	exm_u64 last_sent_ns;
	exm_u64 last_received_ns;
	exm_u64 min_rtt_ns; /* 0: there was no ACK yet */
	/* Averages of times, in 2^-20 ns: what an average with weight 1/256 loses by rounding stays far below a split's unit. */
	exm_s64 send_ewma;
	exm_s64 ack_ewma;
	exm_s64 slow_ack_ewma;
	exm_u64 rtt_ratio; /* in 2^-16; 0 until the second ACK */
	exm_u64 loss;      /* share of the packets that were lost, in 2^-40 */
	exm_u32 advance;   /* packets from the largest ACK to the latest one */
	exm_u32 window;    /* as the rules count it; see exm_window() */
	exm_u32 rule;      /* the one that was used last */
	exm_u32 reserved;
};

/* An ACK, as the transport sees it. */
struct exm_ack {
	exm_u64 sent_ns;     /* when the latest packet that it acknowledges was sent */
	exm_u64 received_ns; /* when it arrived */
	exm_u64 tick_ns;     /* by how much the clock counts: no RTT is taken to be less */
	exm_u32 advance;     /* packets from the largest ACK before it to this one; 1 where nothing was lost */
	exm_u32 packets;     /* that it acknowledges; a receiver that delays ACKs acknowledges several */
};

/* Before functions that are called from elsewhere; a program that includes exm.c may make them static. */
#ifndef EXM_API
#define EXM_API
#endif

/* A new flow, or one that goes on after a pause. */
EXM_API void exm_start(struct exm_flow *flow);
/* An ACK of new packets. */
EXM_API void exm_on_ack(struct exm_flow *flow, const struct exm_ack *ack);
/* So many packets were lost; before the ACK that shows it. */
EXM_API void exm_on_loss(struct exm_flow *flow, exm_u32 packets);
/* Packets that may be outstanding: at least one, because a transport with none never hears of its path again. */
EXM_API exm_u32 exm_window(const struct exm_flow *flow);
/* Least time between two packets, ns. */
EXM_API exm_u64 exm_intersend_ns(const struct exm_flow *flow);

#endif
