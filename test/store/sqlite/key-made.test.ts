import { copyFileSync, existsSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRandom, pick } from '../../../sandbox/random.ts';
import { keyMadeProblem, keyTime } from '../../../src/domain/trading/key-made.ts';
import type { Task } from '../../../src/store/sqlite/order-task.ts';
import { inFull } from '../../support/in-full.ts';
import { createFolder, openDatabase, reservationOf } from './order-files.ts';

const HISTORIES = inFull(20_000, 400);
const MINUTE_MS = 60_000;

/** An older state, or the same one, comes back to the path in each of these ways; the store is closed meanwhile. */
const LOSSES: readonly ((path: string, copy: string) => void)[] = [
  (path, copy) => copyFileSync(copy, path),
  (path, copy) => {
    copyFileSync(copy, `${path}.new`);
    renameSync(`${path}.new`, path);
  },
  (path, copy) => {
    rmSync(path);
    copyFileSync(copy, path);
  },
  (path, copy) => {
    copyFileSync(copy, path);
    copyFileSync(`${copy}.mark`, `${path}.mark`);
    utimesSync(path, 0, 0);
  },
  (path) => utimesSync(path, new Date(), new Date()),
  (path) => {
    renameSync(path, `${path}.away`);
    renameSync(`${path}.away`, path);
  },
];

/** One history of phones, a machine and a gateway whose clocks differ; how often each key was sent. */
function run(path: string, seed: string) {
  const random = createRandom(seed);
  const between = (from: number, to: number) => Math.round(from + random() * (to - from));
  for (const end of ['', '.mark', '.copy', '.copy.mark']) rmSync(path + end, { force: true });
  let trueMs = Date.parse('2026-11-20T12:00:00Z');
  let boot = 0;
  let machineMs = between(-5, 5) * MINUTE_MS * between(0, 1);
  let gatewayMs = between(0, 4) * MINUTE_MS * between(0, 1);
  let isMeasured = true;
  const clocks = {
    clock: { date: () => trueMs + machineMs },
    gatewaySkewMs: () => (isMeasured ? gatewayMs - machineMs + between(-500, 500) : null),
  };
  const asked = (madeMs: number | null) => ({ ...keyTime(madeMs, clocks), uptimeMs: trueMs });
  const open = () =>
    openDatabase(path, {
      clock: {
        boot: `boot ${boot}`,
        uptimeMs: () => trueMs,
        nowMs: clocks.clock.date,
        skewMs: clocks.gatewaySkewMs,
      },
    });
  const sent = new Map<string, number>();
  const made = new Map<string, number | null>();
  /** Tasks whose clocks were read before something happened, and that reach the store after it. */
  const late: Task[] = [];
  let database = open();
  let taken = 0;
  let gaps = 0;
  const deliver = (task: Task) => {
    const isGap = database.run([]).gapReason !== null;
    if (task.do !== 'reserve' || database.run([task]).answers[0] !== null) return;
    const { key } = task.reservation;
    sent.set(key, (sent.get(key) ?? 0) + 1);
    if (isGap) taken += 1;
    if (random() < 0.7) {
      const outcome = { kind: 'accepted', orderId: key, message: null } as const;
      database.run([{ do: 'settle', reservation: task.reservation, outcome }]);
    }
  };
  const place = (key: string) => {
    const madeMs = made.get(key) ?? null;
    if (keyMadeProblem(madeMs, clocks) !== null) return;
    const reservation = reservationOf(key, `${key} ${late.length} ${sent.size} ${random()}`);
    const task = { do: 'reserve', reservation, keyTime: asked(madeMs) } as const;
    if (random() < 0.1) late.push(task);
    else deliver(task);
  };
  const placeNew = () => {
    const key = `key ${made.size}`;
    // The phone's clock is wrong, or as right as the answers of the server; or the app does not say it.
    const off = pick(random, [
      between(-10, 10) * MINUTE_MS,
      between(55, 65) * 1_000,
      Math.max(machineMs, gatewayMs),
    ]);
    made.set(key, random() < 0.1 ? null : trueMs + off);
    place(key);
  };
  const copy = () => {
    copyFileSync(path, `${path}.copy`);
    copyFileSync(`${path}.mark`, `${path}.copy.mark`);
  };
  // How far the clocks differ is known before anything is lost.
  const reservation = reservationOf('first');
  database.run([{ do: 'reserve', reservation, keyTime: asked(null) }]);
  copy();
  for (let step = 0; step < 24; step += 1) {
    trueMs += pick(random, [5, 500, 3_000, between(0, 90_000)]);
    const dice = random();
    if (dice < 0.35) placeNew();
    else if (dice < 0.7 && made.size > 0) place(pick(random, [...made.keys()]));
    else if (dice < 0.78) copy();
    else if (dice < 0.84) isMeasured = true;
    else if (dice < 0.9) for (const task of late.splice(0)) deliver(task);
    else {
      database.close();
      if (random() < 0.8 && existsSync(`${path}.copy`)) pick(random, LOSSES)(path, `${path}.copy`);
      // On the same machine, or on one whose clock is better.
      if (random() < 0.5) {
        boot += 1;
        late.length = 0;
      }
      machineMs = Math.round(machineMs * pick(random, [1, 1, random()]));
      gatewayMs = Math.round(gatewayMs * pick(random, [1, 1, random()]));
      isMeasured = random() < 0.5;
      gaps += 1;
      database = open();
    }
  }
  database.close();
  return { twice: [...sent].filter(([, times]) => times > 1).map(([key]) => key), taken, gaps };
}

test('in whatever history of orders, losses and wrong clocks, nothing is sent twice, and keys that are young enough are sent', {
  timeout: 1_800_000,
}, () => {
  using folder = createFolder();
  const total = { taken: 0, gaps: 0 };
  for (let at = 0; at < HISTORIES; at += 1) {
    const { twice, taken, gaps } = run(folder.path, `key-made/${at}`);
    expect({ at, twice }).toEqual({ at, twice: [] });
    total.taken += taken;
    total.gaps += gaps;
  }
  expect(total.taken).toBeGreaterThan(HISTORIES / 4);
  expect(total.gaps).toBeGreaterThan(HISTORIES);
});
