import SchemaBuilder from '@pothos/core';
import { steadyClock } from '../../lib/clock.ts';
import { limitsOf } from '../../lib/limits/limit.ts';
import { Limiter } from '../../lib/limits/limiter.ts';
import type { Log } from '../../lib/log.ts';
import { PullStream } from '../../lib/pull-stream.ts';
import { createEngine } from '../create-engine.ts';
import { Documents } from '../documents/documents.ts';
import { createExecutors } from '../execution/compiling-executor.ts';
import { traits } from '../operation/field-traits.ts';
import { ENGINE_LIMITS } from '../operation/limits.ts';

type Room = { readonly messages: readonly { readonly text: string }[] };
let room: Room = { messages: [] };
const readers = new Set<PullStream<Room>>();
/** The room, again whenever it has changed; a slow reader misses what lies between. */
function follow(): PullStream<Room> {
  let seen: Room | undefined;
  const take = () => {
    const isSeen = seen === room;
    seen = room;
    return isSeen ? undefined : room;
  };
  const open = () => readers.add(stream);
  const stream = new PullStream<Room>({ open, take, close: () => readers.delete(stream) });
  return stream;
}
const builder = new SchemaBuilder({});
// It is equal for all who follow the room, so that an event is made once.
const shared = traits({ sharing: 'account' });
const MessageRef = builder.objectRef<{ readonly text: string }>('Message').implement({
  fields: (t) => ({ text: t.exposeString('text', shared) }),
});
const RoomRef = builder.objectRef<Room>('Room').implement({
  fields: (t) => ({ messages: t.expose('messages', { ...shared, type: [MessageRef] }) }),
});
builder.queryType({ fields: (t) => ({ room: t.field({ type: RoomRef, resolve: () => room }) }) });
const say = (_root: object, message: Room['messages'][0]) => {
  room = { messages: [...room.messages, message] };
  for (const reader of readers) reader.wake();
  return room;
};
builder.mutationType({
  fields: (t) => ({
    say: t.field({ type: RoomRef, args: { text: t.arg.string({ required: true }) }, resolve: say }),
  }),
});
builder.subscriptionType({
  fields: (t) => ({
    room: t.field({ ...shared, type: RoomRef, subscribe: follow, resolve: (now) => now }),
  }),
});

/** Serves the room over POST, GET, event streams and WebSockets, with limits and cost. */
export function serveExample(log: Log) {
  const [schema, maxCost] = [builder.toSchema(), 250];
  const perMinute = { rateLimitPerMinute: 600, costLimitPerMinute: 60_000 };
  const limits = { maxDepth: 8, maxAliases: 15, maxDirectives: 20, maxTokens: 1_000 };
  const limiter = new Limiter(limitsOf(ENGINE_LIMITS, { ...perMinute, maxCost }), steadyClock);
  const documents = new Documents({
    schema,
    limits,
    introspection: true,
    executors: createExecutors(schema),
  });
  return createEngine({
    schema,
    documents: { documents },
    limits: { limiter, maxCost, maxBodyBytes: 65_536 },
    log,
  });
}
