import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startLaggingGateway } from '../../support/lagging-gateway.ts';
import { ACCOUNT, webSocketClient } from './watcher.ts';

const DELAY_MS = 400;

test('what is shown as the time of an answer is when its call was sent', async () => {
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 10 });
  await using gateway = await startLaggingGateway('700001');
  gateway.delayMs.getSession = DELAY_MS;
  gateway.delayMs.getOpenPositions = DELAY_MS;
  await using app = await startTestApp({ GATEWAY_URL: gateway.url }, { gateway: sandbox });
  const token = sandbox.token({ email: 'demo@example.com' });
  const calledAtMs: number[] = [];
  gateway.onCall = () => calledAtMs.push(Date.now());
  const { data } = await app.query('{ session { fetchedAt } }', { token });
  expect(Date.parse(data.session.fetchedAt)).toBeLessThanOrEqual(calledAtMs[0] ?? 0);

  const client = webSocketClient(app, token);
  const watcher = client.watch({}, ACCOUNT);
  await eventually(() => watcher.accountEvents.length > 0);
  const [event] = watcher.accountEvents;
  const shown = [event?.asOf, event?.orders?.fetchedAt, event?.session?.fetchedAt];
  for (const each of shown) {
    expect(Date.parse(each ?? '')).toBeLessThanOrEqual(calledAtMs.at(-1) ?? 0);
  }
  await client.dispose();
});
