import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithHaproxy } from '../../support/describe-with.ts';
import { type Replicas, startReplicas } from '../../support/replicas.ts';

// A client that may keep a connection for a time leaves some of it for the way of its request.
const LEFT_OVER_MS = 5_000;

describeWithHaproxy('an idle connection to the load balancer', (haproxyPath) => {
  let sandbox: Sandbox;
  let replicas: Replicas;

  beforeAll(async () => {
    sandbox = await startSandbox({ seed: 'idle', instruments: 40, tickMs: 0 });
    replicas = await startReplicas(haproxyPath, { GATEWAY_URL: sandbox.url }, 1);
  });
  afterAll(async () => {
    await replicas?.[Symbol.asyncDispose]();
    await sandbox?.close();
  });

  test('takes a request for as long as its answers announce', async () => {
    const { hostname, port } = new URL(replicas.url);
    const socket = connect(Number(port), hostname);
    const closed = once(socket, 'close').then(() => 'the connection is closed');
    const ask = () => Promise.race([answerOn(socket), closed]);
    try {
      const announced = /^keep-alive: timeout=(\d+)\r$/im.exec(await ask())?.[1];
      expect(Number(announced)).toBeGreaterThanOrEqual(60);
      await delay(Number(announced) * 1_000 - LEFT_OVER_MS);
      expect(await ask()).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      socket.destroy();
    }
  }, 300_000);
});

async function answerOn(socket: Socket): Promise<string> {
  socket.write('GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n');
  const [bytes] = await once(socket, 'data');
  return String(bytes);
}
