import { setTimeout as delay } from 'node:timers/promises';
import { startLive } from './live-contestants.ts';
import type { LiveGateway } from './live-gateway.ts';
import { table } from './markdown.ts';

const SOCKETS = 100;
const INTERVAL_MS = 100;
const MEGABYTE = 1_048_576;

const ROW =
  '{ id symbol name logo priceCurrent priceOpen profit units invested createdAt updatedAt }';
// Large events, so that the kernel's buffers for a reader are soon full.
const QUERY = `subscription { positionChanges { cursor ${Array.from(
  { length: 28 },
  (_, at) => `copy${at}: upserted ${ROW}`,
).join(' ')} } }`;

/** Sockets that stop reading while the market goes on, then read again. */
export async function stalledTable(gateway: LiveGateway, stalledMs: number): Promise<string> {
  const tokens = gateway.tokens(SOCKETS / 5, 5);
  await using contestant = await startLive('ours', gateway, { intervalMs: INTERVAL_MS });
  const { crowd, process } = contestant;
  await crowd.connect(tokens);
  await crowd.subscribe(QUERY);
  const ticking = setInterval(() => void gateway.tick(), INTERVAL_MS);
  try {
    await delay(2_000);
    const before = await process.ask({ ask: 'heap' });
    crowd.pause();
    await delay(stalledMs);
    const grown = (await process.ask({ ask: 'heap' })) - before;
    crowd.begin(INTERVAL_MS);
    crowd.resume();
    await delay(2_000);
    const { events } = crowd.figures();
    return [
      `### ${SOCKETS} sockets that stop reading for ${stalledMs / 1000} s, ${1000 / INTERVAL_MS} changes a second`,
      table(
        ['', ''],
        [
          ['heap and buffers grew by', `${(grown / MEGABYTE).toFixed(1)} MB`],
          ['changes meanwhile', String(stalledMs / INTERVAL_MS)],
          ['events each, in the two seconds after', (events / SOCKETS).toFixed(0)],
        ],
      ),
    ].join('\n\n');
  } finally {
    clearInterval(ticking);
  }
}
