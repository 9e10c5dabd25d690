/**
 * The bytes that a moving market of ten minutes brings to a phone, and how long its radio is on. A part of
 * `npm run bench -- lines`; `--only cellular` measures nothing else.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createClient } from '../client/src/create-client.ts';
import type { Environment } from '../client/src/environment.ts';
import type { Sandbox } from '../sandbox/start.ts';
import { startRadio } from './support/radio.ts';

const MOVING_MS = 600_000;
const INTERVALS_MS = [1_000, 5_000, 15_000];
/** Holds 25 positions. */
const EMAIL = 'pro@example.com';
const FIVE = ['symbol', 'digits', 'priceCurrent', 'profit'] as const;

export const CELLULAR_HEAD = ['`intervalMs`', 'over', 'received', 'radio on'];

/** One row for each interval and transport, all at once. */
export async function measureCellular(service: string, sandbox: Sandbox): Promise<string[][]> {
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
