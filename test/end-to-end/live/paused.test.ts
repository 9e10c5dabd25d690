import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { webSocketClient } from './watcher.ts';

/** Longer than a busy machine takes to freeze the process once it has begun to poll. */
const TIMEOUT_MS = 8_000;
const ANSWER_MS = 100;

test('a first list that arrived while the process was frozen beyond its deadline is sent', async () => {
  const clock = createScriptedClock(Date.now());
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 40, clock });
  await using facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    GATEWAY_TIMEOUT_MS: String(TIMEOUT_MS),
  });
  const token = sandbox.token({ email: 'demo@example.com' });
  await facade.query('{ session { id } }', { token });
  sandbox.fail({ operation: 'getOpenPositions', kind: 'delay', delayMs: ANSWER_MS });
  await using client = webSocketClient(facade, token);
  const watcher = client.watch();
  await eventually(() => expect(sandbox.calls('getOpenPositions')).toBe(1));
  facade.signal('SIGSTOP');
  await clock.advance(ANSWER_MS);
  await delay(TIMEOUT_MS);
  facade.signal('SIGCONT');
  await eventually(() => expect(watcher.events[0]?.status).toBe('LIVE'), watcher.whileOpen);
});
