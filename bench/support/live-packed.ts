import {
  type DuelFigures,
  LiveDuel,
  type LivePace,
  perEvent,
  type WindowFigures,
} from './live-duel.ts';
import type { LiveGateway } from './live-gateway.ts';
import { table } from './markdown.ts';
import { placeOrder } from './place-order.ts';
import { median } from './statistics.ts';

const ACCOUNTS = 100;
// With the five that they have, these make 25.
const SYMBOLS = [
  ...['AAPL', 'BRK.B', 'EURUSD', 'BTCUSD', 'XAUUSD', 'US500', 'MSFT', 'NVDA', 'USDJPY', 'GBPUSD'],
  ...['TSLA', 'AMZN', 'GOOGL', 'META', 'DE40', 'ETHUSD', 'XTIUSD', 'XAGUSD', 'AUDUSD', 'USDCHF'],
];
// Enough for the least units of each symbol, however far the market has moved before.
const DOLLARS = 300;
const AT_ONCE = 20;

export interface PackedFigures {
  readonly text: string;
  /** With five readers of each account, as multiples of what plain events take. */
  readonly bytesRatio: number;
  readonly cpuRatio: number;
}

/** Packed and plain events beside each other, of accounts with 25 positions, to five readers and to one of each. */
export async function packedTables(gateway: LiveGateway, pace: LivePace): Promise<PackedFigures> {
  await holdMore(gateway);
  await using duel = await LiveDuel.startPacked(gateway, pace);
  await duel.warm();
  const five = await duel.measure({ sockets: 5 * ACCOUNTS, accounts: ACCOUNTS });
  const one = await duel.measure({ sockets: ACCOUNTS, accounts: ACCOUNTS });
  return {
    text: [five, one].map(tableOf).join('\n\n'),
    bytesRatio: bytesRatioOf(five),
    cpuRatio: five.ratio,
  };
}

function tableOf(figures: DuelFigures): string {
  const { size, eventBytes, ours, beside, ratio } = figures;
  const row = (title: string, read: (window: WindowFigures) => number, unit: string) => [
    title,
    ...[ours, beside].map((windows) => `${median(windows.map(read)).toFixed(1)} ${unit}`),
  ];
  return [
    `### Packed events: ${size.sockets} sockets over ${size.accounts} accounts (${eventBytes} bytes an event)`,
    table(
      ['', 'packed', 'plain'],
      [row('bytes on the wire', bytesPerEvent, 'B'), row('CPU per event', perEvent, 'µs')],
    ),
    `Packed takes ${ratio.toFixed(2)} times the CPU for an event, and ${bytesRatioOf(figures).toFixed(2)} times the bytes.`,
  ].join('\n\n');
}

function bytesRatioOf({ ours, beside }: DuelFigures): number {
  return median(ours.map(bytesPerEvent)) / median(beside.map(bytesPerEvent));
}

function bytesPerEvent({ bytes, events }: WindowFigures): number {
  return bytes / events;
}

/** Each account of the load buys more, in as many symbols. */
async function holdMore(gateway: LiveGateway): Promise<void> {
  const tokens = gateway.tokens(ACCOUNTS, 1);
  for (let at = 0; at < tokens.length; at += AT_ONCE) {
    const some = tokens.slice(at, at + AT_ONCE);
    await Promise.all(some.map((token) => buyMore(gateway, token)));
  }
}

async function buyMore(gateway: LiveGateway, token: string): Promise<void> {
  for (const symbol of SYMBOLS) {
    await placeOrder(gateway, token, { symbol, type: 'amount', amount: DOLLARS });
  }
}
