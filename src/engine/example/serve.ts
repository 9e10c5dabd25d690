import SchemaBuilder from '@pothos/core';
import { steadyClock } from '../../lib/clock.ts';
import { traits } from '../../lib/field-traits.ts';
import { limitsOf } from '../../lib/limits/limit.ts';
import { Limiter } from '../../lib/limits/limiter.ts';
import type { Log } from '../../lib/log.ts';
import { PullStream } from '../../lib/pull-stream.ts';
import { createEngine, createExecutors, Documents, ENGINE_LIMITS } from '../index.ts';

type Message = { readonly id: string; readonly text: string };
let messages: readonly Message[] = [];
/** What has changed for those who follow the room: one object for all of them, so that an event is made once. */
let changes: { readonly upserted: readonly Message[] } = { upserted: messages };
const followers = new Set<PullStream<typeof changes>>();

/** The whole room, then what is said in it. */
function follow(): PullStream<typeof changes> {
  let last: typeof changes | null = null;
  const stream = new PullStream<typeof changes>({
    open: () => followers.add(stream),
    take() {
      if (last === changes) return undefined;
      const isFirst = last === null;
      last = changes;
      return isFirst ? { upserted: messages } : changes;
    },
    close: () => followers.delete(stream),
  });
  return stream;
}

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
const ChangesRef = builder.objectRef<typeof changes>('RoomChanges').implement({
  fields: (t) => ({ upserted: t.expose('upserted', { ...shared, type: [MessageRef] }) }),
});
const now = () => messages;
builder.queryType({ fields: (t) => ({ room: t.field({ type: [MessageRef], resolve: now }) }) });
const say = (_root: object, { text }: Pick<Message, 'text'>) => {
  const message = { id: `${messages.length}`, text };
  messages = [...messages, message];
  changes = { upserted: [message] };
  for (const follower of followers) follower.wake();
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
      subscribe: follow,
      resolve: (event) => event,
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
