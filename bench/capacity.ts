/**
 * The CPU and the gateway's calls of each unit of work within a mixed load of half a core, by which docs/scale.md plans.
 * `node bench/capacity.ts [--quick] [--rounds 9]` prints Markdown.
 */
import { parseArgs } from 'node:util';
import { capacityTable, measureCapacity } from './support/capacity-figures.ts';
import { pinOwnProcess } from './support/cores.ts';
import { startLiveGateway } from './support/live-gateway.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '9' },
  },
});
const pace = values.quick
  ? { ...{ warmRounds: 0, rounds: 1, windowMs: 300, settleMs: 50 }, polled: 50, more: 200 }
  : {
      ...{ warmRounds: 1, rounds: Number(values.rounds), windowMs: 2_000, settleMs: 500 },
      polled: 300,
      more: 1_500,
    };

pinOwnProcess();
await using gateway = await startLiveGateway({ instruments: 5_000 });
const figures = await measureCapacity(gateway, { ...pace, intervalMs: values.quick ? 300 : 1_000 });
process.stdout.write(`${capacityTable(figures)}\n`);
