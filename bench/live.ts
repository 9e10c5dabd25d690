/**
 * Live positions beside a bare loop that makes the same polls and sends the same bytes; the whole account beside the positions
 * alone. `npm run bench -- live [--quick] [--part loop|account]` prints Markdown.
 */
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import {
  type ClientCount,
  COMPARISONS,
  type ComparisonFigures,
  type LivePace,
  openComparison,
  perEvent,
  type WindowFigures,
} from './support/live-comparison.ts';
import { startLiveGateway } from './support/live-gateway.ts';
import { table } from './support/markdown.ts';
import { median } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    part: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const { quick, part } = values;
const SHARED = { sockets: 500, accounts: 100 };
const APART = { sockets: 1_000, accounts: 1_000 };
const LARGE = { sockets: 5_000, accounts: 1_000 };
const SIZES: Readonly<Record<string, readonly ClientCount[]>> = {
  loop: quick ? [SHARED, APART] : [SHARED, APART, LARGE],
  account: [APART],
};

const pace: LivePace = {
  intervalMs: 1_000,
  warmClients: quick ? SHARED : { sockets: 2_000, accounts: 400 },
  warmEvents: quick ? 2_000 : 60_000,
  settleMs: quick ? 1_500 : 5_000,
  windowMs: quick ? 3_000 : 6_000,
  windows: quick ? 1 : 3,
};

pinOwnProcess();
await using gateway = await startLiveGateway();
for (const [name, opponents] of Object.entries(COMPARISONS)) {
  if (part !== undefined && part !== name) continue;
  await using comparison = await openComparison(gateway, pace, opponents);
  const names = opponents.map((opponent) => opponent.name);
  for (const size of SIZES[name] ?? []) {
    process.stdout.write(`${comparisonTable(size, names, await comparison.measure(size))}\n\n`);
  }
}

function comparisonTable(
  size: ClientCount,
  names: readonly string[],
  { eventBytes, windows, ratio }: ComparisonFigures,
) {
  const row = (title: string, read: (window: WindowFigures) => number, digits: number) => [
    title,
    ...windows.map((of) => median(of.map(read)).toFixed(digits)),
  ];
  const head = `${size.sockets} sockets over ${size.accounts} accounts, ${eventBytes} bytes an event`;
  const rows = [
    row('events per second', ({ events, seconds }) => events / seconds, 0),
    row('share of one core, %', ({ cpu, seconds }) => cpu / seconds / 10_000, 1),
    row('CPU per event, µs', perEvent, 1),
    row('bytes on the wire, each', ({ bytes, events }) => bytes / events, 0),
    row('longest hold of the event loop, ms', ({ holdMs }) => holdMs, 1),
  ];
  return `${table([head, ...names], rows)}\n\n${ratio.toFixed(2)} times the CPU for an event.`;
}
