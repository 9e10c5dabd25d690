import { expect, test } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { countedEnvironment } from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { follow } from '../support/events.ts';

const { proxy, open } = cutLine();

test('the first list at the very first start needs one socket and no answered query', async () => {
  const steps: string[] = [];
  class RecordedWebSocket extends NodeWebSocket {
    constructor(...given: ConstructorParameters<typeof NodeWebSocket>) {
      super(...given);
      steps.push('upgrade');
      this.once('open', () => steps.push('upgraded'));
      this.once('message', () => steps.push('first message'));
    }
    override send(data: string) {
      steps.push(JSON.parse(data).type);
      super.send(data);
    }
  }
  const environment = countedEnvironment({
    WebSocket: RecordedWebSocket as unknown as typeof globalThis.WebSocket,
    // No query is ever answered.
    fetch: () => new Promise(() => {}),
  });
  using core = open({ environment });
  await follow(core);
  expect(proxy.accepted).toBe(1);
  // The client subscribes before the server's first message, so it waits for only two round trips.
  expect(steps).toEqual(['upgrade', 'upgraded', 'connection_init', 'subscribe', 'first message']);
});
