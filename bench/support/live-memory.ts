import { setTimeout as delay } from 'node:timers/promises';
import { type LiveContestant, type LiveName, QUERY, startLive } from './live-contestants.ts';
import type { LiveGateway } from './live-gateway.ts';
import { table } from './markdown.ts';

const SETTLING_MS = 2_000;
const POLL_MS = 10_000;
const SOCKETS_PER_ACCOUNT = 5;

/** Sockets that are open and quiet, beside the same of the libraries with nothing of ours. */
export async function memoryTable(gateway: LiveGateway, sockets: number): Promise<string> {
  const rows = [];
  for (const name of ['ours', 'libraries alone'] as const) {
    rows.push([name, ...(await memoryOf(name, gateway, sockets))]);
  }
  return [
    `### Memory of an idle socket (${sockets} of them, five per account)`,
    table(
      [
        '',
        'greeted: heap',
        'resident',
        'with a subscription: heap',
        'resident',
        'after they left: heap',
      ],
      rows,
    ),
  ].join('\n\n');
}

async function memoryOf(name: LiveName, gateway: LiveGateway, sockets: number): Promise<string[]> {
  const tokens = await gateway.tokens(sockets / SOCKETS_PER_ACCOUNT, SOCKETS_PER_ACCOUNT);
  await using contestant = await startLive(name, gateway, { intervalMs: POLL_MS });
  const { crowd } = contestant;
  const [warm = '', ...others] = tokens;
  // What is made once, for the first, is no socket's.
  await crowd.connect([warm]);
  await crowd.subscribe(QUERY);
  const before = await held(contestant);
  const each = (bytes: number) => `${(bytes / others.length / 1024).toFixed(1)} kB`;
  const cells: string[] = [];
  const note = async () => {
    const { heap, resident } = await held(contestant);
    cells.push(each(heap - before.heap), each(resident - before.resident));
  };
  await crowd.connect(others);
  await note();
  await crowd.subscribe(QUERY);
  await note();
  crowd.close();
  await note();
  return cells.slice(0, -1);
}

async function held({ process }: LiveContestant): Promise<{ heap: number; resident: number }> {
  await delay(SETTLING_MS);
  const heap = await process.ask({ ask: 'heap' });
  return { heap, resident: await process.ask({ ask: 'memory' }) };
}
