import { copyFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { setImmediate as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRandom, pick } from '../../../sandbox/random.ts';
import { keyMadeProblem, keyTime } from '../../../src/domain/trading/key-made.ts';
import { datesOf } from '../../../src/store/order-gap.ts';
import type { Reservation } from '../../../src/store/order-records.ts';
import { openMark } from '../../../src/store/sqlite/order-mark.ts';
import type { Task } from '../../../src/store/sqlite/order-task.ts';
import { inFull } from '../../support/in-full.ts';
import { createFolder, openDatabase, reservationOf } from './order-files.ts';

/** A history has 70 orders and repeats, or more. */
const HISTORIES = inFull(3_600, 300);
/**
 * What the long run has found: a gap that was found by a date a day behind, and no order before the next reboot; a key that was made
 * by a gateway whose clock was ahead, and a gap of just a day; a key that was a minute ahead, and a record of just a day.
 */
const FOUND_LONG = [864, 1_088, 1_343];
const AT_ONCE = 4;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

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

/** The last ways of a loss lose nothing. */
const HARMLESS = 2;

/** A volume that is set back with all that is on it: nothing shows it, so that an operator has to say it. */
function setBackUnseen(path: string, copy: string): void {
  copyFileSync(copy, path);
  using opened = new DisposableStack();
  const before = opened.adopt(openMark(copy), (mark) => mark.close()).read();
  const mark = opened.adopt(openMark(path), (each) => each.close());
  mark.write(before.writes, statSync(path, { bigint: true }).ctimeNs);
}

/**
 * One history of phones, two processes of a machine, and a gateway whose clocks differ; how often each key was sent. The machine may
 * restart with its date wrong by an hour or a day.
 */
function run(path: string, seed: string) {
  const random = createRandom(seed);
  const noise = createRandom(`${seed}/noise`);
  const between = (from: number, to: number) => Math.round(from + random() * (to - from));
  for (const end of ['', '.mark', '.copy', '.copy.mark']) rmSync(path + end, { force: true });
  let trueMs = Date.parse('2026-11-20T12:00:00Z');
  let boot = 0;
  let bootedMs = trueMs - HOUR_MS;
  // One of the two is right: how far the other was from it is known before anything is lost.
  const isGatewayFast = random() < 0.5;
  let machineMs = isGatewayFast ? 0 : between(-5, 5) * MINUTE_MS;
  let gatewayMs = isGatewayFast ? between(0, 4) * MINUTE_MS : 0;
  let isMeasured = true;
  /** By ten answers, by which alone records end. */
  let isKnown = true;
  const clocks = {
    clock: { date: () => trueMs + machineMs },
    gatewaySkewMs: () => (isMeasured ? gatewayMs - machineMs + 1_000 * noise() - 500 : null),
  };
  const uptimeMs = () => trueMs - bootedMs;
  const asked = (madeMs: number | null) => ({ ...keyTime(madeMs, clocks), uptimeMs: uptimeMs() });
  const openOne = () =>
    openDatabase(path, {
      clock: {
        boot: `boot ${boot}`,
        uptimeMs,
        nowMs: clocks.clock.date,
        skewMs: () => (isKnown ? clocks.gatewaySkewMs() : null),
      },
    });
  const open = () => [openOne(), openOne()] as const;
  /** The moments at which each key was sent. */
  const sent = new Map<string, number[]>();
  const made = new Map<string, number | null>();
  /** Tasks whose clocks were read before something happened, and that reach the store after it. */
  const late: Task[] = [];
  const unsettled: Reservation[] = [];
  let databases = open();
  let taken = 0;
  let orders = 0;
  let isWhole = true;
  let gaps = 0;
  const settle = (reservation: Reservation) => {
    const outcome = { kind: 'accepted', orderId: reservation.key, message: null } as const;
    pick(random, databases).run([{ do: 'settle', reservation, outcome }]);
  };
  const deliver = (task: Task) => {
    const database = pick(random, databases);
    const isGap = database.run([]).gapReason !== null;
    orders += 1;
    if (task.do !== 'reserve' || database.run([task]).answers[0] !== null) return;
    const { reservation } = task;
    if (random() < 0.05) {
      // It had no turn, and its key is free again.
      database.run([{ do: 'release', reservation }]);
      return;
    }
    sent.set(reservation.key, [...(sent.get(reservation.key) ?? []), trueMs]);
    if (isGap) taken += 1;
    if (random() < 0.7) settle(reservation);
    else unsettled.push(reservation);
  };
  const place = (key: string) => {
    const madeMs = made.get(key) ?? null;
    // Its proof has measured the gateway's clock; it may have failed where ours is as good as right.
    isMeasured ||= Math.abs(machineMs) > 5 * MINUTE_MS;
    if (keyMadeProblem(madeMs, clocks) !== null) return;
    const id = `${key} ${late.length} ${sent.size} ${random()}`;
    const reservation = {
      ...reservationOf(key, id),
      reservedAtMs: datesOf(clocks.clock.date(), clocks.gatewaySkewMs()).laterMs,
    };
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
      Math.abs(machineMs - gatewayMs) > MINUTE_MS ? gatewayMs : Math.max(machineMs, gatewayMs),
    ]);
    made.set(key, random() < 0.1 ? null : trueMs + off);
    place(key);
  };
  const copy = () => {
    copyFileSync(path, `${path}.copy`);
    copyFileSync(`${path}.mark`, `${path}.copy.mark`);
  };
  const reservation = reservationOf('first');
  databases[0].run([{ do: 'reserve', reservation, keyTime: asked(null) }]);
  copy();
  for (let step = 0; step < 36; step += 1) {
    trueMs += pick(random, [5, 500, 3_000, between(0, 90_000), between(0, 90_000)]);
    if (random() < 0.08) {
      trueMs += between(0, 26) * HOUR_MS;
      // One that has waited so long is not sent.
      late.length = 0;
    }
    const dice = random();
    if (dice < 0.7) {
      for (let n = 0; n < AT_ONCE; n += 1) {
        if (random() < 0.3) placeNew();
        else if (made.size > 0) place(pick(random, [...made.keys()]));
      }
    } else if (dice < 0.78) copy();
    else if (dice < 0.84) isKnown = isMeasured = true;
    else if (dice < 0.88) for (const task of late.splice(0)) deliver(task);
    else if (dice < 0.9) for (const each of unsettled.splice(0)) settle(each);
    else {
      for (const database of databases) database.close();
      const way = random() < 0.5 ? between(0, LOSSES.length) : null;
      if (way === LOSSES.length) setBackUnseen(path, `${path}.copy`);
      else if (way !== null) LOSSES[way]?.(path, `${path}.copy`);
      // On the same machine, or on one whose clock is better.
      if (random() < 0.5) {
        boot += 1;
        bootedMs = trueMs;
        late.length = 0;
        const isRight = Math.abs(machineMs) <= 5 * MINUTE_MS;
        if (!isRight) machineMs = 0;
        else if (random() < 0.5) machineMs = pick(random, [-24, -1, 1, 24]) * HOUR_MS;
      }
      if (Math.abs(machineMs) <= 5 * MINUTE_MS) {
        machineMs = Math.round(machineMs * pick(random, [1, 1, random()]));
      }
      gatewayMs = Math.round(gatewayMs * pick(random, [1, 1, random()]));
      isKnown = isMeasured = random() < 0.5;
      gaps += 1;
      databases = open();
      if (way === LOSSES.length) databases[0].declareIncomplete();
      isWhole &&= way === null || (way < LOSSES.length && way >= LOSSES.length - HARMLESS);
      // An operator knows that nothing is missing.
      if (isWhole && random() < 0.3) databases[1].declareComplete();
    }
  }
  for (const database of databases) database.close();
  // A key of which nobody says when it was made is another order's a day later.
  const isAgain = ([key, [first = 0, second]]: [string, number[]]) =>
    second !== undefined &&
    (made.get(key) !== null || second - first < 24 * HOUR_MS - 10 * MINUTE_MS);
  return { twice: [...sent].filter(isAgain).map(([key]) => key), taken, gaps, orders };
}

test('in whatever history of orders, losses and wrong clocks, nothing is sent twice, and keys that are young enough are sent', {
  timeout: 1_800_000,
}, async () => {
  using folder = createFolder();
  const total = { taken: 0, gaps: 0, orders: 0 };
  for (const at of [...Array(HISTORIES).keys(), ...FOUND_LONG]) {
    // What never pauses would be ended.
    await pause();
    const { twice, taken, gaps, orders } = run(folder.path, `key-made/${at}`);
    expect({ at, twice }).toEqual({ at, twice: [] });
    total.taken += taken;
    total.gaps += gaps;
    total.orders += orders;
  }
  expect(total.taken).toBeGreaterThan(HISTORIES / 4);
  expect(total.gaps).toBeGreaterThan(HISTORIES);
  expect(total.orders).toBeGreaterThan(70 * HISTORIES);
});
