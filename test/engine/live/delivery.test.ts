import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { FollowedEvents, packResult } from '../../../engine/live/delivery.ts';
import { FairScheduler } from '../../../lib/fair-scheduler.ts';
import { PackedText } from '../../../lib/packed-text.ts';
import { PullStream } from '../../../lib/pull-stream.ts';

type Text = (event: unknown, isPacked: boolean) => string | Promise<string>;

/** A subscription whose reader takes each result when the test says so. */
function deliver(
  text: Text = (event) => `result ${event}`,
  reportsEnd = false,
  takesPacked = false,
) {
  const state = { newest: 0, sent: 0, ended: 0, isOver: false };
  const events = new PullStream<unknown>({
    open: () => {},
    // Only the newest is ever sent, as a feed does.
    take: () => {
      if (state.sent === state.newest) return undefined;
      state.sent = state.newest;
      return state.sent;
    },
    close: () => {},
  });
  const sent: string[] = [];
  const leaving: (() => void)[] = [];
  const room: { isFull: boolean; ready: (() => void) | null } = { isFull: false, ready: null };
  const followed = new FollowedEvents(events, {
    text,
    failure: (error) =>
      reportsEnd ? null : { errors: [new GraphQLError((error as Error).message)] },
    ended: () => {
      state.ended += 1;
    },
  });
  const delivery = followed.deliver({
    takesPacked,
    hasRoom: (ready) => {
      room.ready = ready;
      return !room.isFull;
    },
    send: (result, left) => {
      sent.push(String(result));
      leaving.push(left);
    },
  });
  const over = delivery.next().then(() => {
    state.isOver = true;
  });
  return {
    state,
    events,
    sent,
    room,
    delivery,
    over,
    emit(event: number) {
      state.newest = event;
      events.wake();
    },
    /** The reader takes what was sent last. */
    taken: () => leaving.shift()?.(),
  };
}

test('while there is no room for its client no result is made, and events are merged', async () => {
  const { sent, emit, taken, room, events, over } = deliver();
  room.isFull = true;
  emit(1);
  emit(2);
  room.ready?.();
  expect(sent).toEqual([]);
  room.isFull = false;
  room.ready?.();
  expect(sent).toEqual(['result 2']);
  taken();
  expect(sent).toHaveLength(1);
  room.isFull = true;
  emit(3);
  events.end(null);
  room.ready?.();
  await over;
  expect(sent).toHaveLength(1);
});

test('the reason of the end is the last result, behind the one that is being taken', async () => {
  const { sent, state, events, emit, taken, over } = deliver();
  emit(1);
  events.end(new Error('over'));
  expect(sent).toEqual(['result 1']);
  taken();
  expect(sent.map((each) => each.slice(0, 30))).toEqual([
    'result 1',
    '{"errors":[{"message":"over"}]',
  ]);
  await Promise.resolve();
  expect(state.isOver).toBe(false);
  taken();
  await over;
  expect(state.ended).toBeGreaterThan(0);
});

test('a result that cannot be made ends the subscription with the reason', async () => {
  for (const text of [
    () => {
      throw new Error('broken');
    },
    async () => {
      throw new Error('broken');
    },
  ]) {
    const { sent, events, emit, taken, over } = deliver(text);
    emit(1);
    await new Promise(setImmediate);
    expect(sent[0]).toContain('broken');
    taken();
    await over;
    expect(events.ending.aborted).toBe(true);
  }
});

test('a client that has disconnected is sent nothing more, even if a result is in flight', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { sent, events, delivery, emit, over } = deliver(() => promise);
  emit(1);
  await delivery.return();
  await over;
  resolve('late');
  await new Promise(setImmediate);
  emit(2);
  expect(sent).toEqual([]);
  expect(events.ending.aborted).toBe(true);
});

test('a client whose token is refused while a result is in flight is sent the reason alone', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { sent, events, emit, taken, over } = deliver(() => promise);
  emit(1);
  events.end(new Error('over'));
  resolve('late');
  await new Promise(setImmediate);
  expect(sent.map((each) => each.slice(0, 30))).toEqual(['{"errors":[{"message":"over"}]']);
  taken();
  await over;
});

test('results are packed at once, large ones off the event loop, and short ones not at all', async () => {
  const scheduler = new FairScheduler();
  const medium = JSON.stringify({ text: 'x'.repeat(2_000) });
  expect(packResult(medium, scheduler, 'a')).toBeInstanceOf(PackedText);
  for (const large of [medium.repeat(50), [Buffer.from(medium)]]) {
    const packing = packResult(large, scheduler, 'a');
    expect(packing).toBeInstanceOf(Promise);
    expect(await packing).toBeInstanceOf(PackedText);
  }
  for (const short of ['{}', [Buffer.from('{}')]]) {
    expect(packResult(short, scheduler, 'a')).toBe(short);
  }
});
