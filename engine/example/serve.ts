import SchemaBuilder from '@pothos/core';
import { LogicalClock, steadyClock, systemClock } from '../../lib/clock.ts';
import { traits } from '../../lib/field-traits.ts';
import { limitsOf } from '../../lib/limits/limit.ts';
import { Limiter } from '../../lib/limits/limiter.ts';
import type { ListChanges } from '../../lib/live/list-state.ts';
import { createPollScheduler } from '../../lib/live/poll-scheduler.ts';
import { PolledLists } from '../../lib/live/polled-lists.ts';
import type { Log } from '../../lib/log.ts';
import { createEngine, createExecutors, Documents, ENGINE_LIMITS } from '../index.ts';

type Message = { readonly id: string; readonly text: string };
let messages: readonly Message[] = [];
const times = { pollMs: 1_000, pollMaxMs: 10_000, firstListMs: 5_000 };
const clocks = { clock: systemClock, uptimeMs: steadyClock.now, logicalClock: new LogicalClock() };
/** The room, polled as if it were behind a service that can only be asked. */
const lists = new PolledLists({
  ...times,
  ...clocks,
  random: Math.random,
  scheduler: createPollScheduler(systemClock, 100, Math.random),
  keyOf: ({ id }: Message) => id,
  isSame: Object.is,
  read: async () => ({ rows: messages }),
});
const room = { key: '', of: null, viewer: { tokenHash: '', expiresAtMs: null } };
async function* count(_root: object, { to }: { readonly to: number }) {
  for (let at = 1; at <= to; at += 1) yield at;
}
const required = { required: true } as const;
const builder = new SchemaBuilder({});
// It is equal for all who follow the room, so that an event is made once.
const shared = traits({ sharing: 'account' });
const MessageRef = builder.objectRef<Message>('Message').implement({
  fields: (t) => ({ id: t.exposeID('id', shared), text: t.exposeString('text', shared) }),
});
const ChangesRef = builder.objectRef<ListChanges<Message, null>>('RoomChanges').implement({
  fields: (t) => ({
    cursor: t.exposeString('cursor', shared),
    upserted: t.expose('upserted', { ...shared, type: [MessageRef] }),
  }),
});
const now = () => messages;
builder.queryType({ fields: (t) => ({ room: t.field({ type: [MessageRef], resolve: now }) }) });
const say = (_root: object, { text }: Pick<Message, 'text'>) => {
  messages = [...messages, { id: `${messages.length}`, text }];
  lists.get('')?.pollNow();
  return messages;
};
builder.mutationType({
  fields: (t) => ({
    say: t.field({ type: [MessageRef], args: { text: t.arg.string(required) }, resolve: say }),
  }),
});
builder.subscriptionType({
  fields: (t) => ({
    count: t.int({ args: { to: t.arg.int(required) }, subscribe: count, resolve: (n) => n }),
    room: t.field({
      ...shared,
      type: ChangesRef,
      args: { after: t.arg.string() },
      subscribe: (_root, how) => lists.follow(room, how),
      resolve: (changes) => changes,
    }),
  }),
});

/** Serves the room over POST, GET, event streams and WebSockets, with limits and cost. */
export function serveExample(log: Log) {
  const [schema, maxCost] = [builder.toSchema(), 250];
  const perMinute = { rateLimitPerMinute: 600, costLimitPerMinute: 60_000 };
  const limits = { maxDepth: 8, maxAliases: 15, maxDirectives: 20, maxTokens: 1_000 };
  const limiter = new Limiter(limitsOf(ENGINE_LIMITS, { ...perMinute, maxCost }), steadyClock);
  const executors = createExecutors(schema);
  const documents = new Documents({ schema, limits, introspection: true, executors });
  return createEngine({ schema, log, documents, limiter, maxCost, maxBodyBytes: 65_536 });
}
