/** How long a user waits for live prices after the line was dead, or a captive portal was there. A part of `npm run bench -- lines`. */
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import { browserEnvironment } from '../client/src/browser-environment.ts';
import { createClient } from '../client/src/create-client.ts';
import { memoryStorage } from '../client/src/storage/memory.ts';
import { type CutProxy, startCutProxy } from '../client/test/support/cut-proxy.ts';
import type { Sandbox } from '../sandbox/start.ts';

const PORTAL_MS = 30_000;

export const RETURNS_HEAD = ['what happens', 'over', 'LIVE again after'];

interface Trouble {
  readonly name: string;
  /** Resolves when the time begins to count. */
  begin(line: CutProxy, backOnline: () => void): Promise<void>;
}

const TROUBLES: readonly Trouble[] = [
  {
    name: 'the address changes, and the platform says that it is back online',
    async begin(line, backOnline) {
      line.strand();
      backOnline();
    },
  },
  {
    name: 'the address changes, and nobody says so',
    async begin(line) {
      line.strand();
    },
  },
  {
    name: 'a captive portal answers for 30 s; from its end',
    async begin(line) {
      line.showPortal();
      await delay(PORTAL_MS);
      await line.heal();
    },
  },
];

export async function measureReturns(service: string, sandbox: Sandbox): Promise<string[][]> {
  const cases = TROUBLES.flatMap((trouble) =>
    [true, false].map((hasSocket) => ({ trouble, hasSocket })),
  );
  return Promise.all(
    cases.map(async ({ trouble, hasSocket }, at) => {
      const line = await startCutProxy(service);
      const listeners = new Set<(why?: 'online') => void>();
      const own = browserEnvironment();
      const token = sandbox.token({ email: `user-${at + 1}@example.com` });
      const client = createClient({
        url: `${line.url}/graphql`,
        token: () => token,
        storage: memoryStorage(),
        environment: {
          WebSocket: hasSocket ? (WebSocket as unknown as typeof globalThis.WebSocket) : null,
          lifecycle: {
            ...own.lifecycle,
            onReturn(listener) {
              listeners.add(listener);
              return () => void listeners.delete(listener);
            },
          },
        },
      });
      // An event that comes after the trouble has begun has a later time of confirmation.
      const after = (sinceMs: number) =>
        new Promise<void>((resolve) => {
          const stop = client.positions(({ status, asOf }) => {
            if (status !== 'LIVE' || Number(asOf) < sinceMs) return;
            setTimeout(() => stop(), 0);
            resolve();
          });
        });
      const stay = client.positions(() => {});
      await after(0);
      await trouble.begin(line, () => {
        for (const listener of listeners) listener('online');
      });
      const beganAt = performance.now();
      await after(Date.now());
      const waited = `${((performance.now() - beganAt) / 1_000).toFixed(1)} s`;
      stay();
      client.dispose();
      await line.close();
      return [trouble.name, hasSocket ? 'a WebSocket' : 'an event stream', waited];
    }),
  );
}
