import { setTimeout as delay } from 'node:timers/promises';
import { type LiveContestant, type LiveName, QUERY, startLive } from './live-contestants.ts';
import type { LiveGateway } from './live-gateway.ts';
import { table } from './markdown.ts';

const POLL_MS = 10_000;
const SOCKETS_PER_ACCOUNT = 5;
/** The index of the cell below that shows the resident memory of a socket with a subscription. */
const SUBSCRIBED_RESIDENT = 3;

export interface MemoryOptions {
  readonly sockets: number;
  /** The pause before each measurement. */
  readonly settleMs: number;
}

export interface MemoryFigures {
  readonly text: string;
  readonly sockets: number;
  /** The resident memory of one of our sockets with its subscription. */
  readonly residentKilobytes: number;
}

/** Sockets that are open and quiet, beside the same of the libraries without our code. */
export async function memoryTable(
  gateway: LiveGateway,
  options: MemoryOptions,
): Promise<MemoryFigures> {
  const { sockets } = options;
  const ours = await memoryOf('ours', gateway, options);
  const libraries = await memoryOf('libraries alone', gateway, options);
  const row = (name: string, cells: readonly number[]) => [
    name,
    ...cells.map((kilobytes) => `${kilobytes.toFixed(1)} kB`),
  ];
  const text = [
    `### Memory of an idle socket (${sockets} of them, five per account)`,
    table(
      [
        '',
        'connection_init: heap',
        'resident',
        'with a subscription: heap',
        'resident',
        'after they left: heap',
      ],
      [row('ours', ours), row('libraries alone', libraries)],
    ),
  ].join('\n\n');
  return { text, sockets, residentKilobytes: ours[SUBSCRIBED_RESIDENT] ?? Number.NaN };
}

async function memoryOf(
  name: LiveName,
  gateway: LiveGateway,
  { sockets, settleMs }: MemoryOptions,
): Promise<number[]> {
  const tokens = gateway.tokens(sockets / SOCKETS_PER_ACCOUNT, SOCKETS_PER_ACCOUNT);
  await using contestant = await startLive(name, gateway, { intervalMs: POLL_MS });
  const { crowd } = contestant;
  const [warm = '', ...others] = tokens;
  // The first socket pays for what is made once, so it does not count.
  await crowd.connect([warm]);
  await crowd.subscribe(QUERY);
  const before = await held(contestant, settleMs);
  const each = (bytes: number) => bytes / others.length / 1024;
  const cells: number[] = [];
  const note = async () => {
    const { heap, resident } = await held(contestant, settleMs);
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

async function held(
  { process }: LiveContestant,
  settleMs: number,
): Promise<{ heap: number; resident: number }> {
  await delay(settleMs);
  const heap = await process.ask({ ask: 'heap' });
  return { heap, resident: await process.ask({ ask: 'memory' }) };
}
