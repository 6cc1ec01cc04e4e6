/* State of one flow: 96 bytes, of the 104 that Linux gives to congestion control. Windows and packets are in 2^-16. */
struct exm_flow {
	exm_u64 window;
	exm_u64 pause_ns;   /* least time between two packets */
	exm_u64 min_rtt_ns; /* 0: there was no ACK yet */
	/* The smallest RTT of this quarter of an RTT and of the one before; when this one began. */
	exm_u64 low_ns;
	exm_u64 low_before_ns;
	exm_u64 low_from_ns;
	/* What the present RTT has delivered, in whole packets (below), and since when; what the one before did. */
	exm_u64 round_from_ns;
	exm_u64 delivered;
	exm_u64 srtt_ns : 41; /* all RTTs are at most 2^40 */
	exm_u64 rounds : 16; /* RTTs since the flow began */
	exm_u64 low_packets : 7; /* seen in this quarter */
	exm_u64 spread_ns : 41;
	exm_u64 boost : 23; /* how many times faster than at first it grows, in 2^-16 */
	/* When the flow began again: the smallest RTT until then, and what an RTT delivered, in whole packets; 0 otherwise. */
	exm_u64 min_before_ns : 41;
	exm_u64 begins : 1;
	exm_u32 delivered_before;
	exm_u32 arrived;
};

/* What an RTT is taken to be that an ACK does not show: the smoothed one. */
static inline exm_u64 exm_rtt_ns(const struct exm_flow *flow)
{
	return flow->srtt_ns;
}
