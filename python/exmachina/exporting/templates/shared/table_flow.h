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

/* The RTT that the latest ACK showed. */
static inline exm_u64 exm_rtt_ns(const struct exm_flow *flow)
{
	return flow->last_received_ns - flow->last_sent_ns;
}
