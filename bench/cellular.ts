/**
 * The bytes that a moving market of ten minutes brings to a phone, and how long its radio is on. `npm run bench -- cellular`
 * prints Markdown; `-- --seconds` moves it for less.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { createClient } from '../client/src/create-client.ts';
import type { Environment } from '../client/src/environment.ts';
import { type Sandbox, startSandbox } from '../sandbox/start.ts';
import { startFacadeProcess } from '../test/support/facade-process.ts';
import { table } from './support/markdown.ts';
import { startRadio } from './support/radio.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' } } });
const MOVING_MS = Number(values.seconds) * 1_000;
const INTERVALS_MS = [1_000, 5_000, 15_000];
/** Holds 25 positions. */
const EMAIL = 'pro@example.com';
const FIVE = ['symbol', 'digits', 'priceCurrent', 'profit'] as const;

const HEAD = ['`intervalMs`', 'over', 'received', 'radio on'];

const sandbox = await startSandbox({ seed: 'cellular', instruments: 500, tickMs: 1_000 });
const facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url, ORDER_STORE: 'memory' });
console.log(table(HEAD, await measureCellular(facade.url, sandbox)));
await facade.kill();
await sandbox.close();
process.exit(0);

/** One row for each interval and transport, all at once. */
async function measureCellular(service: string, sandbox: Sandbox): Promise<string[][]> {
  const transports: Record<string, Partial<Environment>> = {
    'a WebSocket, packed': { WebSocket: socketOf(true) },
    'a WebSocket, not packed': { WebSocket: socketOf(false) },
    'an event stream': { WebSocket: null },
  };
  const cases = INTERVALS_MS.flatMap((intervalMs) =>
    Object.entries(transports).map(([over, environment]) => ({ intervalMs, over, environment })),
  );
  return Promise.all(
    cases.map(async ({ intervalMs, over, environment }) => {
      await using radio = await startRadio(service);
      const token = sandbox.token({ email: EMAIL });
      const client = createClient({
        url: `${radio.url}/graphql`,
        token: () => token,
        positionFields: FIVE,
        environment,
      });
      await new Promise<void>((resolve) => {
        const listener = ({ status }: { status: string }) => status === 'LIVE' && resolve();
        client.positions(listener, { intervalMs });
      });
      radio.reset();
      await delay(MOVING_MS);
      const { bytes, onShare } = radio.figures();
      client.dispose();
      return [
        String(intervalMs),
        over,
        `${Math.round(bytes / 1_000)} kB`,
        `${Math.round(onShare * 100)} %`,
      ];
    }),
  );
}

function socketOf(isPacked: boolean): typeof globalThis.WebSocket {
  class Socket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { perMessageDeflate: isPacked });
    }
  }
  return Socket as unknown as typeof globalThis.WebSocket;
}
