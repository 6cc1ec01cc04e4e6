/*
 * State of one flow: 96 bytes, of the 104 that Linux gives to congestion control. Windows and packets are in 2^-16, and all RTTs
 * at most 2^40 ns. What has no width ends a word, for compilers that would read two at once, as no BPF can.
 */
struct exm_flow {
	exm_u64 window : 36; /* at most 10^6 packets */
	exm_u64 arrived : 20; /* what the present RTT has delivered, in whole packets */
	exm_u64 patience : 5; /* how many times as long as at first until it is tried whether others have gone */
	exm_u64 shares : 1; /* the link, with others that fill the queue, */
	exm_u64 rises : 1; /* and has lost none since */
	exm_u64 lost : 1; /* since the last ACK */
	exm_u64 : 0;
	exm_u64 delivered : 36; /* what the RTT before counts as having delivered */
	exm_u64 delivered_before : 20; /* when the flow began again, in whole packets; 0 otherwise */
	exm_u64 stood : 8; /* for how long a queue of two targets has, in 2^22 ns */
	exm_u64 : 0;
	exm_u64 top : 36; /* the window when the queue came, or before the last loss */
	exm_u64 turn : 28; /* the longest RTT since, in 2^12 ns; or when it is back there, in 2^20 ns */
	exm_u64 : 0;
	exm_u64 pause_ns : 34; /* least time between two packets */
	exm_u64 losses : 20; /* packets lost in this RTT, */
	exm_u64 crowded : 1; /* and whether those of the one before were too many */
	exm_u64 silent : 9; /* how silent the RTT before was, in 2^-8 of as silent as it gets */
	exm_u64 min_rtt_ns : 41; /* 0: there was no ACK yet */
	exm_u64 boost : 23; /* how many times faster than at first it grows, in 2^-16 */
	/* The smallest RTT of this quarter of an RTT and of the one before; when this one began; and this RTT. */
	exm_u64 low_ns : 41;
	exm_u64 min_before_low : 20; /* when the flow began again, the smallest RTT until then: its last 20 bits */
	exm_u64 was_cut : 1; /* a loss was answered in this RTT */
	exm_u64 begins : 1;
	exm_u64 low_before_ns : 41;
	exm_u64 min_before_high : 21; /* and the others */
	exm_u64 clear : 2; /* RTTs in a row that ended without a queue */
	exm_u64 low_from_ns;
	exm_u64 round_from_ns;
	exm_u64 srtt_ns : 41;
	exm_u64 rounds : 16; /* RTTs since the flow began, or began to share, or last tried whether it still must */
	exm_u64 low_packets : 7; /* seen in this quarter */
	exm_u64 spread_ns : 40; /* less than the longest RTT */
	exm_u64 longer : 20; /* what the target is longer by for silences and few packets, as a share of the smallest RTT */
	exm_u64 stretch : 4; /* the most packets that one ACK of half a window answered, in fours, half as many after each RTT */
	exm_u64 silent_from : 28; /* when the latest ACK came; the longest time without one in this RTT and the one before: in 2^10 ns */
	exm_u64 silence : 18;
	exm_u64 silence_before : 18;
};

/* What an RTT is taken to be that an ACK does not show: the smoothed one. */
static inline exm_u64 exm_rtt_ns(const struct exm_flow *flow)
{
	return flow->srtt_ns;
}
