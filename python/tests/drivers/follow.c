/* Reads ACKs, losses and restarts (records of acks.py), and writes the rule, the window and the pace after each. */
#include <stdio.h>

#define EXM_API static
#include "exm.c"

struct record {
	exm_u64 sent_ns, received_ns, tick_ns;
	exm_u32 advance, packets, kind, reserved;
};

struct answer {
	exm_u64 intersend_ns;
	exm_u32 rule, window;
};

/* A law has no rules, and no window of 0. */
#ifdef EXM_LAW_H
#define RULE(flow) 0
#define OWN_WINDOW(flow) exm_window(&(flow))
#else
#define RULE(flow) (flow).rule
#define OWN_WINDOW(flow) (flow).window
#endif

enum { ACK, LOSS, RESTART };

int main(void)
{
	struct exm_flow flow;
	struct record record;

	exm_start(&flow);
	while (fread(&record, sizeof(record), 1, stdin) == 1) {
		struct exm_ack ack = { record.sent_ns, record.received_ns, record.tick_ns, record.advance, record.packets };
		struct answer answer;

		if (record.kind == ACK)
			exm_on_ack(&flow, &ack);
		else if (record.kind == LOSS)
			exm_on_loss(&flow, record.packets);
		else
			exm_start(&flow);
		answer.intersend_ns = exm_intersend_ns(&flow);
		answer.rule = RULE(flow);
		answer.window = OWN_WINDOW(flow);
		if (exm_window(&flow) != (answer.window ? answer.window : 1))
			return 1;
		fwrite(&answer, sizeof(answer), 1, stdout);
	}
	return 0;
}
