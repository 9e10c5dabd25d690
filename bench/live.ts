/**
 * Measures live positions beside a bare loop that makes the same polls and sends the same bytes.
 * `node bench/live.ts [--quick] [--part account] [--sockets 5000] [--accounts 1000] [--interval 1000]` prints Markdown.
 */
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { accountFigures, accountTable } from './support/live-account.ts';
import { LiveDuel } from './support/live-duel.ts';
import { startLiveGateway } from './support/live-gateway.ts';
import { loadTable } from './support/live-load.ts';
import { memoryTable } from './support/live-memory.ts';
import { packedTables } from './support/live-packed.ts';
import { stalledTable } from './support/live-stalled.ts';
import { targetTable } from './support/live-targets.ts';

const { values } = parseArgs({
  options: {
    /** Only this part of it. */
    part: { type: 'string' },
    quick: { type: 'boolean', default: false },
    sockets: { type: 'string', default: '5000' },
    accounts: { type: 'string', default: '1000' },
    interval: { type: 'string', default: '1000' },
  },
});
const { quick } = values;
const large = { sockets: Number(values.sockets), accounts: Number(values.accounts) };
const pace = {
  intervalMs: Number(values.interval),
  warmEvents: quick ? 12_000 : 60_000,
  settleMs: quick ? 1_500 : 5_000,
  windowMs: quick ? 3_000 : 6_000,
  windows: quick ? 1 : 3,
};

pinOwnProcess();
await using gateway = await startLiveGateway();
if (values.part === 'account') print(accountTable(await accountFigures(gateway, pace)));
else await all();

async function all(): Promise<void> {
  const figures = await loads();
  const account = await accountFigures(gateway, pace);
  print(accountTable(account));
  const memory = await memoryTable(gateway, {
    sockets: quick ? 500 : 2_000,
    settleMs: quick ? 500 : 2_000,
  });
  print(memory.text);
  print(await stalledTable(gateway, quick ? 3_000 : 60_000));
  const packed = await packedTables(gateway, pace);
  print(packed.text);
  print(targetTable({ ...figures, account, memory, packed }));
}

async function loads() {
  await using duel = await LiveDuel.start(gateway, pace);
  await duel.warm();
  const shared = await duel.measure({ sockets: 500, accounts: 100 });
  print(loadTable(shared));
  const apart = await duel.measure({ sockets: 1_000, accounts: 1_000 });
  print(loadTable(apart));
  if (!quick) print(loadTable(await duel.measure(large)));
  return { shared, apart };
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
