/* State of one flow: 96 bytes, of the 104 that Linux gives to congestion control. Windows and packets are in 2^-16. */
struct exm_flow {
	exm_u64 window;
	exm_u64 pause_ns;   /* least time between two packets */
	exm_u64 min_rtt_ns; /* 0: there was no ACK yet */
	exm_u64 srtt_ns;
	exm_u64 spread_ns;
	/* The smallest RTT of this quarter of an RTT and of the one before; when this one began. */
	exm_u64 low_ns;
	exm_u64 low_before_ns;
	exm_u64 low_from_ns;
	/* What the present RTT has delivered, in whole packets, and since when; what the one before did. */
	exm_u64 round_from_ns;
	exm_u64 delivered;
	exm_u32 arrived;
	exm_u32 boost; /* how many times faster than at first it grows, in 2^-16 */
	exm_u32 begins;
	exm_u32 low_packets; /* seen in this quarter */
};

/* What an RTT is taken to be that an ACK does not show: the smoothed one. */
static inline exm_u64 exm_rtt_ns(const struct exm_flow *flow)
{
	return flow->srtt_ns;
}
