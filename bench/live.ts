/**
 * What live positions cost, beside a bare loop that makes the same polls and sends the same bytes.
 * `node bench/live.ts [--quick] [--sockets 5000] [--accounts 1000] [--interval 1000]` prints Markdown.
 */
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { startLiveGateway } from './support/live-gateway.ts';
import { loadTable } from './support/live-load.ts';
import { memoryTable } from './support/live-memory.ts';
import { pollTable } from './support/live-polls.ts';
import { stalledTable } from './support/live-stalled.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sockets: { type: 'string', default: '5000' },
    accounts: { type: 'string', default: '1000' },
    interval: { type: 'string', default: '1000' },
  },
});
const large = { sockets: Number(values.sockets), accounts: Number(values.accounts) };
const windowMs = values.quick ? 4_000 : 15_000;
const pace = { intervalMs: Number(values.interval), warmMs: windowMs / 2, windowMs };

pinOwnProcess();
await using gateway = await startLiveGateway();
print(await loadTable(gateway, { sockets: 500, accounts: 100 }, pace));
if (!values.quick) print(await loadTable(gateway, large, pace));
print(await pollTable(gateway, values.quick ? 200 : 1_000, pace));
print(await memoryTable(gateway, values.quick ? 500 : 2_000));
print(await stalledTable(gateway, values.quick ? 5_000 : 60_000));

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
