/**
 * How often a phone's radio wakes in three minutes of a market that stands still, with the app in front. A part of
 * `npm run bench -- lines`; `--only battery` measures nothing else.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../client/src/create-client.ts';
import type { Sandbox } from '../sandbox/start.ts';
import { startRadio } from './support/radio.ts';

const QUIET_MS = 180_000;
const HEARTBEATS = [15, 30, 60];

export const BATTERY_HEAD = ['followed', 'over', 'heartbeat', 'bursts', 'radio on'];

/** One row for each list, transport and heartbeat, all at once. */
export async function measureBattery(service: string, sandbox: Sandbox): Promise<string[][]> {
  const cases = (['positions', 'account'] as const).flatMap((list) =>
    [true, false].flatMap((hasSocket) =>
      HEARTBEATS.map((heartbeatSeconds) => ({ list, hasSocket, heartbeatSeconds })),
    ),
  );
  return Promise.all(
    cases.map(async ({ list, hasSocket, heartbeatSeconds }, at) => {
      await using radio = await startRadio(service);
      const token = sandbox.token({ email: `user-${at + 1}@example.com` });
      const client = createClient({
        url: `${radio.url}/graphql`,
        token: () => token,
        heartbeatSeconds,
        ...(!hasSocket && { environment: { WebSocket: null } }),
      });
      await new Promise<void>((resolve) => {
        client[list](({ status }) => {
          if (status === 'LIVE') resolve();
        });
      });
      // What the start costs is another matter.
      await delay(5_000);
      radio.reset();
      await delay(QUIET_MS);
      const { bursts, onShare } = radio.figures();
      client.dispose();
      return [
        list,
        hasSocket ? 'a WebSocket' : 'an event stream',
        `${heartbeatSeconds} s`,
        String(bursts),
        `${Math.round(onShare * 100)} %`,
      ];
    }),
  );
}
