import { expect, test } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { countedEnvironment } from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { follow } from '../support/events.ts';

const { proxy, open } = cutLine();

test('at the very first start the first list needs only its socket', async () => {
  const messages: string[] = [];
  class RecordedWebSocket extends NodeWebSocket {
    constructor(...given: ConstructorParameters<typeof NodeWebSocket>) {
      super(...given);
      messages.push('upgrade');
      this.once('open', () => messages.push('answer'));
      this.once('message', () => messages.push('answer'));
    }
    override send(data: string) {
      messages.push(JSON.parse(data).type);
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
  expect(messages).toEqual(['upgrade', 'answer', 'connection_init', 'subscribe', 'answer']);
});
