import { expect, test } from 'vitest';
import { closeInSlices, LastingConnections } from '../../../engine/http/closing-in-slices.ts';
import { createScriptedClock, type ScriptedClock } from '../../support/scripted-clock.ts';

class Connections extends LastingConnections {
  readonly closedAtMs: number[] = [];

  constructor(clock: ScriptedClock, count: number) {
    super();
    const restart = () => this.closedAtMs.push(clock.now());
    for (let one = 0; one < count; one += 1) this.add({ restart });
  }
}

/** The most that close within any so many milliseconds. */
function mostWithin(ms: number, closedAtMs: readonly number[]): number {
  const inOrder = closedAtMs.toSorted((one, other) => one - other);
  let most = 0;
  let first = 0;
  for (const [index, at] of inOrder.entries()) {
    while ((inOrder[first] ?? at) <= at - ms) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), Promise.resolve().then(() => false)]);
}

test('connections close evenly over all of the time', async () => {
  const clock = createScriptedClock(0);
  const connections = new Connections(clock, 40);
  const { closedAtMs } = connections;
  const closing = closeInSlices(connections, { clock, overMs: 2000, endsEarly: false });
  await clock.advance(1999);
  expect(await isSettled(closing)).toBe(false);
  await clock.advance(1);
  await closing;
  expect(closedAtMs).toHaveLength(40);
  expect(mostWithin(200, closedAtMs)).toBeLessThanOrEqual(5);
  const half = closedAtMs.filter((at) => at < 1000).length;
  expect(half).toBeGreaterThanOrEqual(19);
  expect(half).toBeLessThanOrEqual(21);
});

test('where the closing may end early, many connections take all of the time and no more', async () => {
  const clock = createScriptedClock(0);
  const sockets = new Connections(clock, 20_000);
  const closing = closeInSlices(sockets, { clock, overMs: 10_000, endsEarly: true });
  await clock.advance(9900);
  expect(sockets.size).toBeGreaterThan(0);
  expect(sockets.size).toBeLessThan(300);
  await clock.advance(100);
  await closing;
  expect(sockets.closedAtMs).toHaveLength(20_000);
  expect(mostWithin(20, sockets.closedAtMs)).toBeLessThanOrEqual(41);
});
