import { expect, test } from 'vitest';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, marketOrder, openClient } from './open-client.ts';

test('an order ends with its answer even where its observer throws', async () => {
  const accepted = answer(200, { success: true, orderId: '1', err: '', message: '' });
  await using gateway = await startScriptedGateway((socket) => void socket.write(accepted));
  await using open = openClient(gateway.url, {
    observe() {
      throw new Error('nobody looks');
    },
  });
  expect(await open.client.openPosition(anyCaller, marketOrder)).toMatchObject({ status: 200 });
});
