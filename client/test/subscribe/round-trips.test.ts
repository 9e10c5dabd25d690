import { expect, test } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { countedEnvironment } from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { follow } from '../support/events.ts';

const { proxy, open } = cutLine();

test('the first list waits for nothing but its socket, at the very first start', async () => {
  const said: string[] = [];
  class HeardWebSocket extends NodeWebSocket {
    constructor(...given: ConstructorParameters<typeof NodeWebSocket>) {
      super(...given);
      said.push('upgrade');
      this.once('open', () => said.push('answer'));
      this.once('message', () => said.push('answer'));
    }
    override send(data: string) {
      said.push(JSON.parse(data).type);
      super.send(data);
    }
  }
  const environment = countedEnvironment({
    WebSocket: HeardWebSocket as unknown as typeof globalThis.WebSocket,
    // Queries leave and are never answered.
    fetch: () => new Promise(() => {}),
  });
  using core = open({ environment });
  await follow(core);
  expect(proxy.accepted).toBe(1);
  expect(said).toEqual(['upgrade', 'answer', 'connection_init', 'subscribe', 'answer']);
});
