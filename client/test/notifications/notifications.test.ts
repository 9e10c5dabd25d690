import { beforeEach, expect, test } from 'vitest';
import { ownApp } from '../../../test/support/shared-app.ts';
import { notifications } from '../../src/notifications.ts';
import { createRequests } from '../../src/requests.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const app = ownApp();
let token: string | null;
beforeEach(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
  app.sandbox.clearCalls();
});

/** The environment of an app in the background, which nobody looks at. */
function start(changed: { fetch?: typeof fetch } = {}) {
  const environment = countedEnvironment({ hurry: (ms) => (ms < 15_000 ? 0 : ms), ...changed });
  return createRequests({ url: `${app.url}/graphql`, token: () => token, environment });
}

/** The bodies of the calls that the gateway had. */
const bodies = (operation: 'registerDevice' | 'markNotificationsRead' | 'addCryptoWallet') =>
  app.sandbox.requests(operation).map(({ body }) => JSON.parse(body));

test('a device is registered after a sign-in, again with a new push token, and disabled before a sign-out', async () => {
  const own = notifications(start());
  const device = { deviceId: 'phone-1', platform: 'IOS' } as const;
  expect(await own.registerDevice({ ...device, token: 'push-1' })).toBeNull();
  expect(await own.registerDevice({ ...device, token: 'push-2' })).toBeNull();
  expect(await own.disableDevice('phone-1')).toBeNull();
  expect(bodies('registerDevice')).toMatchObject([
    { deviceId: 'phone-1', platform: 'ios', token: 'push-1', enabled: true },
    { deviceId: 'phone-1', platform: 'ios', token: 'push-2', enabled: true },
    { deviceId: 'phone-1', enabled: false },
  ]);
});

test('where nobody is signed in nothing is sent, and the app is told what that means', async () => {
  token = null;
  const own = notifications(start());
  const device = { deviceId: 'phone-1', token: 'push-1' };
  const unregistered = await own.registerDevice(device);
  expect(unregistered).toMatchObject({ code: 'SIGNED_OUT' });
  expect(unregistered?.message).toContain('would be nobody');
  const enabled = await own.disableDevice('phone-1');
  expect(enabled?.message).toContain('still gets notifications');
  expect(bodies('registerDevice')).toEqual([]);
});

test.each([
  ['whose answer is lost', { kind: 'reset-after', times: 2 }, 0],
  ['whose answer is lost on the way to the phone', { kind: 'delay', delayMs: 0, times: 2 }, 2],
  ['that the gateway fails', { kind: 'status', status: 500, times: 2 }, 0],
] as const)('a mark %s is sent again, in the background too', async (_what, fault, losses) => {
  app.sandbox.fail({ operation: 'markNotificationsRead', ...fault });
  let requests = 0;
  const client = start({
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      requests += 1;
      if (requests <= losses) throw new TypeError('Failed to fetch');
      return answer;
    },
  });
  expect(await notifications(client).markRead(['7', '8'])).toBeNull();
  expect(bodies('markNotificationsRead')).toEqual(Array(3).fill({ ids: [7, 8] }));
});

test('what the gateway refuses, and what is no number, is said', async () => {
  const own = notifications(start());
  expect(await own.markRead(['x'])).toMatchObject({ code: 'BAD_USER_INPUT' });
  const body = { success: false, error: 'TOO_MANY_DEVICES', message: 'Too many devices.' };
  app.sandbox.fail({ operation: 'registerDevice', kind: 'status', status: 200, body });
  const refused = await own.registerDevice({ deviceId: 'phone-1' });
  expect(refused).toMatchObject({ code: 'REJECTED', message: 'Too many devices.' });
});

test('a mutation of which the schema does not say it is not repeated, whatever the app asks for', async () => {
  app.sandbox.fail({ operation: 'addCryptoWallet', kind: 'reset-after' });
  const { errors } = await start().mutate(
    'mutation { addCryptoWallet(input: { address: "a" }) { __typename } }',
    {},
    { repeats: true },
  );
  expect(errors).toMatchObject([{ code: 'OUTCOME_UNKNOWN' }]);
  expect(bodies('addCryptoWallet')).toHaveLength(1);
});
