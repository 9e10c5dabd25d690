import { EventEmitter } from 'node:events';
import type { Extension } from '../../../src/extensions/kit.ts';

/** An extension with the mistakes that teams make. Each field makes one of them. */
const extension: Extension = ({ builder, refs, backend, shared, deadline }) => {
  const url = process.env.SIDE_URL ?? '';
  const news = backend({
    ...{ name: 'news', url, retries: false },
    reads: { all: '/news' },
    writes: {
      add: '/news',
      rename: { method: 'PUT', path: '/news/{id}' },
      change: { method: 'PATCH', path: '/news/{id}' },
      drop: { method: 'DELETE', path: '/news/{id}' },
    },
  });
  const judged = backend({
    ...{ name: 'judged', url, reads: { all: '/news' }, writes: { add: '/news' } },
    judge({ status, body }) {
      if (status === 418) throw new Error('a teapot');
      return body ?? 'nothing';
    },
  });
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const deep = () => {
    let value: unknown = null;
    for (let level = 0; level < 100_000; level += 1) value = [value];
    return value;
  };
  const values: Record<string, () => unknown> = {
    circle: () => circle,
    bigint: () => ({ count: 1n }),
    getter: () => ({
      get price() {
        throw new Error('no price');
      },
    }),
    toJson: () => ({
      toJSON() {
        throw new Error('no JSON');
      },
    }),
    deep,
    nothing: () => Symbol('nothing'),
  };
  const text = { description: 'x', nullable: true } as const;

  builder.queryFields((t) => ({
    awaitedLate: t.string({
      ...text,
      resolve: async (_root, _args, context) => {
        const who = context.proved();
        await news.read(context, 'all').catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 5));
        return (await who).login;
      },
    }),
    forgotten: t.string({
      ...text,
      resolve: (_root, _args, context) => {
        void context.proved();
        void context.positions();
        void context.instrument('AAPL');
        void news.read(context, 'all');
        void news.write(context, 'add');
        return 'fine';
      },
    }),
    rejected: t.string({
      ...text,
      resolve: () => {
        void Promise.reject(new Error('forgotten'));
        return 'fine';
      },
    }),
    timer: t.string({
      ...text,
      resolve: () => {
        setTimeout(() => {
          throw new Error('in a timer');
        }, 1);
        return 'fine';
      },
    }),
    handler: t.string({
      ...text,
      resolve: () => {
        emitter.once('it', () => {
          throw new Error('in a handler');
        });
        setImmediate(() => emitter.emit('it'));
        return 'fine';
      },
    }),
    value: t.field({
      ...text,
      type: 'JSON',
      args: { kind: t.arg.string({ required: true }) },
      resolve: (_root, { kind }) => values[kind]?.(),
    }),
    sharedValue: t.field({
      ...text,
      ...shared({ seconds: 60 }),
      type: 'JSON',
      args: { kind: t.arg.string({ required: true }) },
      resolve: (_root, { kind }) => values[kind]?.(),
    }),
    never: t.string({
      ...text,
      ...deadline({ ms: 100 }),
      resolve: () => new Promise<string>(() => {}),
    }),
    neverItem: t.stringList({
      ...text,
      ...deadline({ ms: 100 }),
      resolve: () => ['a', new Promise<string>(() => {})] as string[],
    }),
    aborted: t.string({
      ...text,
      ...deadline({ ms: 100 }),
      resolve: (_root, _args, { signal }) =>
        new Promise<string>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        ),
    }),
    sharedNever: t.string({
      ...text,
      ...shared({ seconds: 60 }),
      ...deadline({ ms: 100 }),
      resolve: () => new Promise<string>(() => {}),
    }),
  }));
  builder.objectFields(refs.Position, (t) => ({
    note: t.field({
      ...text,
      type: 'JSON',
      args: { kind: t.arg.string({ required: true }) },
      resolve: (_position, { kind }) => {
        if (kind === 'throws') throw new Error('no note');
        if (kind === 'rejects') return Promise.reject(new Error('no note'));
        if (kind === 'never') return new Promise(() => {});
        return values[kind]?.();
      },
    }),
  }));
  const Renamed = builder.objectRef<{ readonly result: unknown }>('Renamed').implement({
    description: 'x',
    fields: (t) => ({
      result: t.field({ ...text, type: 'JSON', resolve: ({ result }) => result }),
    }),
  });
  builder.mutationFields((t) => ({
    change: t.field({
      ...text,
      type: Renamed,
      args: {
        by: t.arg.string({ required: true }),
        key: t.arg.string(),
        body: t.arg({ type: 'JSON' }),
      },
      resolve: async (_root, { by, key, body }, context) => {
        const request = {
          ...(by !== 'add' && { path: { id: 'a' } }),
          ...(key != null && { idempotencyKey: key }),
          ...(body !== undefined && { body }),
        };
        return { result: await news.write(context, by as 'add', request) };
      },
    }),
    judged: t.field({
      ...text,
      type: Renamed,
      resolve: async (_root, _args, context) => ({ result: await judged.write(context, 'add') }),
    }),
    neverWritten: t.string({
      ...text,
      ...deadline({ ms: 100 }),
      resolve: () => new Promise<string>(() => {}),
    }),
  }));
};

export default extension;
