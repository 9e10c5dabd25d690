import { setImmediate as immediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { browserEnvironment } from '../../src/browser-environment.ts';
import type { AccountState } from '../../src/live/states.ts';
import { offlineAccount } from '../../src/offline-account.ts';
import {
  createMemoryStorage,
  type MemoryStorage,
  type StorageHook,
} from '../support/memory-storage.ts';
import { type Device, type DeviceOptions, startLiveWorld } from './live-world.ts';

const ENTRY = 'trading-graph:account';
const DEMO = '700001';
const PRO = '700002';

/** A phone is one user's at a time. States are kept soon in place of five seconds later. */
const SOON = { isServer: false, hurry: (ms: number) => (ms === 5_000 ? 20 : ms) };

const world = startedForEach(startLiveWorld);
let storage: MemoryStorage;
let key: CryptoKey;
let email: string | null;

beforeEach(async () => {
  storage = createMemoryStorage();
  key = await newKey();
  email = 'demo@example.com';
});

async function newKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}

/** A run of the app. */
function start(options: DeviceOptions = {}): Device & { readonly states: readonly AccountState[] } {
  const device = world.device({
    token: () => (email === null ? null : world.sandbox.token({ email })),
    environment: SOON,
    storage,
    offlineAccount: offlineAccount({ key, login: DEMO }),
    ...options,
  });
  const states: AccountState[] = [];
  device.account((state) => void states.push(state));
  return { ...device, states };
}

const isWhole = ({ status, orders, session }: AccountState) =>
  status === 'LIVE' && orders !== null && session !== null;

/** Leaves the account in the storage, and the app without a line. */
async function leaveBehind(): Promise<AccountState> {
  const device = start();
  await eventually(() => device.account.state(), { until: isWhole });
  await eventually(() => storage.entries.has(ENTRY));
  // It is kept again and again, so that what is left is of the state that is whole.
  storage.entries.delete(ENTRY);
  await eventually(() => {
    world.sandbox.tick();
    return storage.entries.has(ENTRY);
  });
  world.proxy.stall();
  device.dispose();
  return device.account.state();
}

/** The state is read, or is about to be written, and waits until it is let go on. */
function gated(step: 'get' | 'set') {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const waiting: StorageHook = async (at, key) => {
    if (at !== step || key !== ENTRY) return;
    begun.resolve();
    await gate.promise;
  };
  if (step === 'get') storage.after = waiting;
  else storage.before = waiting;
  return { begun: begun.promise, goOn: () => gate.resolve() };
}

test('an app that starts offline shows the last state as stale until the line is back', async () => {
  const { positions, orders } = await leaveBehind();
  expect(atob(storage.entries.get(ENTRY) ?? '')).not.toMatch(/700001|positions/);
  const { account, states, core } = start();
  await eventually(() => account.state().isStale && account.state().status === 'OFFLINE');
  // Prices may have moved once more after it was written.
  expect(account.state()).toMatchObject({
    status: 'OFFLINE',
    error: null,
    isStale: true,
    session: { login: DEMO },
    positions: positions?.map(({ id, symbol }) => ({ id, symbol })),
    orders: orders?.map(({ id }) => ({ id })),
    totals: { count: positions?.length },
    asOf: expect.any(Date),
    ordersAsOf: expect.any(Date),
  });
  world.sandbox.tick();
  await world.proxy.heal();
  await eventually(() => account.state(), { until: isWhole });
  expect(account.state()).toMatchObject({ isStale: false, session: { login: DEMO } });
  expect(states.filter(({ status, isStale }) => isStale && status === 'LIVE')).toEqual([]);
  expect(core.sent[0]).toMatchObject({ after: null });
});

test.each<[string, () => DeviceOptions | Promise<DeviceOptions>]>([
  ['of another login', () => ({ offlineAccount: offlineAccount({ key, login: PRO }) })],
  ['where nobody is signed in', () => ({ offlineAccount: offlineAccount({ key, login: null }) })],
  [
    'under another key',
    async () => ({ offlineAccount: offlineAccount({ key: await newKey(), login: DEMO }) }),
  ],
  ['of other fields', () => ({ positionFields: ['symbol'] })],
  [
    'that is none',
    () => {
      storage.entries.set(ENTRY, '{}');
      return {};
    },
  ],
])('a state %s is not shown, and deleted', async (_which, options) => {
  await leaveBehind();
  const { states } = start(await options());
  await eventually(() => !storage.entries.has(ENTRY));
  expect(states.filter(({ asOf }) => asOf !== null)).toEqual([]);
});

test('where the server names another login than the app, what was shown is gone with it', async () => {
  await leaveBehind();
  email = 'pro@example.com';
  const { account, states } = start();
  await eventually(() => account.state().isStale);
  await world.proxy.heal();
  await eventually(() => account.state().session?.login === PRO && isWhole(account.state()));
  const stale = states.findLastIndex(({ isStale }) => isStale);
  const after = states.slice(stale + 1).map(({ session }) => session?.login ?? PRO);
  expect(new Set(after)).toEqual(new Set([PRO]));
  storage.entries.delete(ENTRY);
  await eventually(() => storage.entries.has(ENTRY));
  world.proxy.stall();
  const next = start({ offlineAccount: offlineAccount({ key, login: PRO }) });
  await eventually(() => next.account.state().isStale);
  expect(next.account.state().session?.login).toBe(PRO);
});

test('nothing is kept while nobody knows whose the line is', async () => {
  const steps: string[] = [];
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  storage.before = (step, at) => {
    if (step === 'delete' || (step === 'set' && at === ENTRY)) steps.push(step);
  };
  const device = start({
    environment: {
      ...SOON,
      async fetch(input, init) {
        if (email === 'pro@example.com') {
          asked.resolve();
          await gate.promise;
        }
        return fetch(input, init);
      },
    },
  });
  await eventually(() => device.account.state(), { until: isWhole });
  await eventually(() => storage.entries.has(ENTRY));
  email = 'pro@example.com';
  // The line of another token: its events come before the answer to whose it is.
  world.proxy.cut();
  await eventually(() => expect(device.account.state().session?.login).toBe(PRO));
  await asked.promise;
  steps.length = 0;
  world.sandbox.tick();
  const profits = () => device.account.state().totals?.profit;
  const before = profits();
  world.sandbox.tick();
  await eventually(() => profits() !== before);
  await new Promise((resolve) => device.environment.after(5_000, () => resolve(null)));
  expect(steps).toEqual([]);
  gate.resolve();
  await eventually(() => expect(steps).toContain('set'));
  expect(steps[0]).toBe('delete');
});

test.each<[string, boolean]>([
  ['waits to be kept', false],
  ['waits for the login to be asked', true],
])(
  "a state that %s while another login signs in is not kept as the other's",
  async (_what, isAsked) => {
    const held: (() => void)[] = [];
    const gate = Promise.withResolvers<void>();
    let isSlow = false;
    const { core, account } = start({
      token: async () => {
        if (isSlow) await gate.promise;
        return world.sandbox.token({ email: email ?? '' });
      },
      environment: {
        isServer: false,
        after(ms, task) {
          if (ms !== 5_000) return browserEnvironment().after(ms, task);
          held.push(task);
          return () => void held.splice(0, held.length, ...held.filter((one) => one !== task));
        },
      },
    });
    core.onAccountChange(() => {
      for (const task of held) task();
    });
    await eventually(() => isWhole(account.state()) && core.login === DEMO);
    isSlow = isAsked;
    if (isAsked) for (const task of held) task();
    email = 'pro@example.com';
    const changed = core.tokenChanged();
    gate.resolve();
    await changed;
    await eventually(() => account.state().session?.login === PRO && core.login === PRO);
    expect(storage.entries.has(ENTRY)).toBe(false);
  },
);

test('signing out deletes it, also while it is being written', async () => {
  const { begun, goOn } = gated('set');
  const deleted = Promise.withResolvers<void>();
  storage.after = (step) => {
    if (step === 'delete') deleted.resolve();
  };
  const { core } = start();
  await begun;
  email = null;
  await core.tokenChanged();
  goOn();
  await deleted.promise;
  expect(storage.entries.has(ENTRY)).toBe(false);
});

test('what is read while somebody signs out is not shown', async () => {
  await leaveBehind();
  const { begun, goOn } = gated('get');
  const { core, account, states } = start();
  await begun;
  email = null;
  await core.tokenChanged();
  goOn();
  email = 'demo@example.com';
  await world.proxy.heal();
  await core.tokenChanged();
  await eventually(() => account.state(), { until: isWhole });
  expect(states.filter(({ isStale }) => isStale)).toEqual([]);
});

test('a storage that is slower than the line changes nothing', async () => {
  await leaveBehind();
  await world.proxy.heal();
  const { begun, goOn } = gated('get');
  const { account, states } = start();
  await begun;
  await eventually(() => account.state(), { until: isWhole });
  goOn();
  // The decryption takes a moment of its own.
  for (let turn = 0; turn < 50; turn += 1) await immediate();
  expect(account.state().isStale).toBe(false);
  expect(states.filter(({ isStale }) => isStale)).toEqual([]);
});

test('a storage that refuses leaves the account as it is without', async () => {
  for (const step of ['get', 'set', 'delete'] as const) storage.failing.add(step);
  const { account, core } = start();
  await eventually(() => account.state(), { until: isWhole });
  world.sandbox.tick();
  email = null;
  await core.tokenChanged();
  await eventually(() => expect(account.state().asOf).toBe(null));
});

test('nothing is kept without a key', async () => {
  const { account } = world.device({ storage });
  account(() => {});
  await eventually(() => account.state(), { until: isWhole });
  expect(storage.entries.has(ENTRY)).toBe(false);
  const given = { key: 'secret' as unknown as CryptoKey, login: DEMO };
  expect(() => offlineAccount(given)).toThrow('is an AES-GCM key of Web Crypto');
});

test('texts of all scripts are kept, and times stay times', async () => {
  const { core } = world.device({ storage, environment: SOON });
  const state = { name: 'Zürich 漢字 😀 \u2028', asOf: new Date(0), ordersAsOf: null };
  const kept = () => offlineAccount({ key, login: DEMO })<object>(core, 'texts');
  kept().keep(state);
  await eventually(() => storage.entries.has(ENTRY));
  const read: object[] = [];
  await kept().read((one) => read.push(one));
  expect(read).toEqual([{ ...state, isStale: true }]);
});
