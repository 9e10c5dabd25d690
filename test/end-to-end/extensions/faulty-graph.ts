import { EventEmitter } from 'node:events';
import { GraphQLError } from 'graphql';
import type { Extension } from '../../../src/extensions/kit.ts';
import { throwAtNextRequest } from './faulty-helper.ts';

/** An extension with the mistakes that teams make. Each field makes one of them. */
const extension: Extension = ({ builder, refs, backend, shared, deadline, computed }) => {
  const url = process.env.SIDE_URL ?? '';
  const news = backend({
    name: 'news',
    url,
    retries: false,
    reads: { all: '/news' },
    writes: { add: '/news' },
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
  const thenable = (then: unknown) => Object.fromEntries([['then', then]]);
  const forget = () => {
    // What fails in Node has no line of this file.
    void fetch('http://127.0.0.1:1');
  };
  const lazily = <Value>(value: Value) =>
    thenable((done: (value: Value) => void) => {
      forget();
      done(value);
    }) as unknown as Value;
  class Written {
    toJSON() {
      forget();
      return 'written';
    }
  }
  class Valued {
    readonly #value: unknown;
    constructor(value: unknown) {
      this.#value = value;
    }
    valueOf() {
      forget();
      return this.#value;
    }
  }
  class HttpError extends Error {
    readonly response = undefined as unknown as Response;
    get extensions() {
      return { status: this.response.status };
    }
  }
  const each = news.loader('all', {
    request: () => ({}),
    pick(_body: unknown, key: string) {
      if (key === 'bad') throw new Error('of this key alone');
      return lazily(key);
    },
  });
  const parsed = {
    serialize: (value: unknown) => value,
    parseValue(value: unknown) {
      forget();
      return value;
    },
  };
  const Parsed = builder.scalarType('Parsed' as never, parsed as never);
  const late = {
    serialize: (value: unknown) => value,
    parseValue: async () => Promise.reject('too late'),
  };
  const Late = builder.scalarType('Late' as never, late as never);
  class Request {
    readonly #key = 'of a class';
    get idempotencyKey() {
      return this.#key;
    }
    get body() {
      // The types of TypeScript do not have it yet.
      const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
      return { amount: rawJSON('0.10000000000000000001') };
    }
  }
  const requests: Record<string, () => object> = {
    instance: () => new Request(),
    inherited: () => Object.create({ idempotencyKey: 'inherited', body: { a: 1 } }),
    symbol: () => ({ idempotencyKey: Symbol('no text') }),
    filter: () => ({ query: { account: undefined } }),
    nothing: () => ({ body: () => 'nothing' }),
  };
  const symbols = { EU: Symbol('of Europe'), US: Symbol('of America') };
  const Region = builder.enumType('Region', {
    values: { EU: { value: symbols.EU as never }, US: { value: symbols.US as never } },
  });
  const failures: Record<string, () => unknown> = {
    throws: () => {
      throw new Error('no note');
    },
    rejects: () => Promise.reject(new Error('no note')),
    text: () => Promise.reject('no note'),
    unreadable: () => {
      throw Object.defineProperty(new Error(), 'message', {
        get() {
          throw new Error('no message');
        },
      });
    },
    details: () => {
      const extensions = { code: 'BAD_USER_INPUT', argument: circle };
      throw new GraphQLError('no note', { extensions });
    },
    getters: () => {
      throw new HttpError('no note');
    },
    code: () => {
      const extensions = {
        get code() {
          throw new Error('no code');
        },
      };
      throw new GraphQLError('no note', { extensions });
    },
    elsewhere: () => {
      throw new GraphQLError('no note', { path: ['elsewhere'], extensions: { code: 'ELSEWHERE' } });
    },
    file: () => {
      const error = new Error('no note', { cause: new Error('no file') });
      const extensions = { code: 'RATE_LIMITED', retryable: true };
      throw Object.assign(error, { path: '/notes', extensions });
    },
    itself: () => {
      const error = new Error('no note');
      throw Object.assign(error, { originalError: error });
    },
    never: () => new Promise(() => {}),
    neverNext: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
    neverThen: () => thenable(() => {}),
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
    exits: t.string({
      ...text,
      resolve: () => {
        setTimeout(() => process.exit(3));
        return process.exit(3);
      },
    }),
    helper: t.string({
      ...text,
      resolve: () => {
        throwAtNextRequest();
        return 'fine';
      },
    }),
    left: t.string({
      ...text,
      resolve: (_root, _args, { signal }) => {
        void new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
        return new Promise<string>(() => {});
      },
    }),
    iterated: t.stringList({
      ...text,
      *resolve() {
        forget();
        yield 'a';
      },
    }),
    unending: t.stringList({
      ...text,
      *resolve() {
        for (;;) yield 'a';
      },
    }),
    sharedIterator: t.stringList({
      ...text,
      ...shared({ seconds: 60 }),
      resolve: () => new Map([['k', 'a']]).values() as never,
    }),
    endless: t.field({
      ...text,
      type: 'JSON',
      resolve() {
        const items: unknown[] = [Promise.resolve('x')];
        items.push(items);
        return items;
      },
    }),
    written: t.field({ ...text, type: 'JSON', resolve: () => new Written() }),
    valued: t.float({ ...text, resolve: () => new Valued(1.5) as never }),
    notValued: t.float({ ...text, resolve: () => new Valued({}) as never }),
    valuedItems: t.stringList({
      ...text,
      resolve: () => [new Written(), new Valued('a')] as never,
    }),
    writtenItems: t.field({ ...text, type: ['JSON'], resolve: () => [new Written()] }),
    parsed: t.string({
      ...text,
      args: { value: t.arg({ type: Parsed as never }) },
      resolve: () => 'fine',
    }),
    late: t.string({
      ...text,
      args: { value: t.arg({ type: Late as never }) },
      resolve: () => 'fine',
    }),
    picked: t.string({
      ...text,
      args: { key: t.arg.string({ required: true }) },
      resolve: (_root, { key }, context) => each(context, key),
    }),
    unkeyed: t.string({
      ...text,
      resolve: (_root, _args, context) => each(context, undefined as never),
    }),
    asked: t.string({
      ...text,
      async resolve(_root, _args, context) {
        await news.read(context, 'all', {
          get query() {
            forget();
            return { a: 'b' };
          },
        });
        return 'fine';
      },
    }),
    region: t.string({
      ...text,
      ...shared({ seconds: 60 }),
      args: { of: t.arg({ type: Region, required: true }) },
      resolve: (_root, { of }) => String(of),
    }),
    value: t.field({
      ...text,
      type: 'JSON',
      args: { kind: t.arg.string({ required: true }) },
      resolve: (_root, { kind }) => values[kind]?.(),
    }),
    emptied: t.int({
      ...text,
      resolve: async (_root, _args, context) =>
        ((await context.positions()) as unknown[]).splice(0).length,
    }),
    thenable: t.field({ ...text, type: 'JSON', resolve: () => thenable('no function') }),
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
  const Slow = builder.objectRef<object>('Slow');
  Slow.implement({
    description: 'x',
    fields: (t) => ({
      more: t.field({
        ...text,
        type: Slow,
        resolve: () => new Promise<object>((resolve) => setTimeout(resolve, 700, {})),
      }),
      now: t.boolean({ ...text, resolve: () => true }),
    }),
  });
  const Shelf = builder.objectRef<{ owner?: string }>('Shelf').implement({
    description: 'x',
    fields: (t) => ({
      owner: t.string({
        ...text,
        resolve: async (shelf, _args, context) => (shelf.owner ??= (await context.proved()).login),
      }),
    }),
  });
  const Box = builder.objectRef<object>('Box').implement({
    description: 'x',
    fields: (t) => ({ owner: t.string({ ...text, resolve: () => 'the viewer' }) }),
  });
  const Kept = builder.unionType('Kept', {
    types: [Box],
    resolveType: async (_value: object, context) => {
      await context.proved();
      return Box;
    },
  });
  const Names = builder.inputType('Names', {
    fields: (t) => ({ names: t.stringList({ required: true }) }),
  });
  builder.queryFields((t) => ({
    names: t.stringList({
      ...text,
      args: { by: t.arg({ type: Names, defaultValue: Object.freeze({ names: [] }) }) },
      resolve: async (_root, { by }, context) => {
        by?.names.push((await context.proved()).login);
        return by?.names ?? [];
      },
    }),
    shelf: t.field({ ...text, ...shared({ seconds: 60 }), type: [Shelf], resolve: () => shelves }),
    kept: t.field({ ...text, type: Kept, resolve: () => ({}) }),
  }));
  // Their authors freeze them outside alone.
  const shelves = Object.freeze([{}]);
  const lists = new Set<readonly string[]>();
  builder.objectField(refs.Position, 'named', (t) =>
    t.string({
      ...text,
      ...computed(),
      args: { by: t.arg.string() },
      resolve: ({ id }, args) => (args.by ??= id),
    }),
  );
  builder.objectField(refs.Instrument, 'sharedSlow', (t) =>
    t.string({ ...text, ...shared({ seconds: 60 }), resolve: () => new Promise<string>(() => {}) }),
  );
  const label = Symbol('label');
  class Labels extends Array<string> {
    get joined() {
      return this.join(' ');
    }
  }
  interface Linked {
    readonly [label]: Labels;
    readonly next?: Linked | undefined;
  }
  const LinkedRef = builder.objectRef<Linked>('Linked');
  LinkedRef.implement({
    description: 'x',
    fields: (t) => ({
      label: t.string({ ...text, resolve: (linked) => linked[label].joined }),
      next: t.field({ ...text, type: LinkedRef, resolve: ({ next }) => next }),
    }),
  });
  builder.queryField('linked', (t) =>
    t.field({
      ...text,
      ...shared({ seconds: 60 }),
      type: LinkedRef,
      resolve() {
        const labels = Labels.from(['a', 'b']) as Labels;
        let next: Linked | undefined;
        for (let at = 0; at < 20_000; at += 1) next = { [label]: labels, next };
        return {
          get unasked(): never {
            forget();
            throw new Error('nobody asks for it');
          },
          [label]: labels,
          next,
        };
      },
    }),
  );
  builder.objectFields(refs.Position, (t) => ({
    lists: t.int({
      ...text,
      args: { of: t.arg.stringList({ required: true }) },
      resolve: (_position, { of }) => lists.add(of).size,
    }),
    note: t.field({
      ...text,
      type: 'JSON',
      args: { kind: t.arg.string({ required: true }) },
      resolve: (_position, { kind }) => (values[kind] ?? failures[kind])?.(),
    }),
    changed: t.string({
      ...text,
      resolve: (position) => {
        Object.assign(position, { symbol: 'CHANGED' });
        return 'changed';
      },
    }),
    slow: t.field({
      ...text,
      type: Slow,
      resolve: () => new Promise((resolve) => setTimeout(resolve, 700, {})),
    }),
  }));
  const Cents = builder.scalarType('Cents' as never, { serialize: () => undefined } as never);
  const Hook = builder.objectRef<object>('Hook').implement({
    description: 'x',
    isTypeOf: () => false,
    fields: (t) => ({ now: t.boolean({ ...text, resolve: () => true }) }),
  });
  const Either = builder.unionType('Either', { types: [Box], resolveType: () => 'Hook' as never });
  // Each has a value that its type does not allow.
  const Misfit = builder.objectRef<Record<string, never>>('Misfit').implement({
    description: 'x',
    fields: (t) => ({
      required: t.string({ ...text, nullable: false, resolve: () => null as never }),
      exposed: t.exposeString('nothing', { ...text, nullable: false }),
      choice: t.field({ ...text, type: Region, resolve: () => 'MOON' as never }),
      side: t.field({ ...text, type: 'Side' as never, resolve: () => 'MOON' as never }),
      amount: t.float({ ...text, resolve: () => '1.5 EUR' as never }),
      later: t.float({ ...text, resolve: async () => '1.5 EUR' as never }),
      quick: t.int({ ...text, ...computed(), resolve: () => 1.5 }),
      moment: t.field({ ...text, type: 'DateTime', resolve: () => 'yesterday' }),
      cents: t.field({ ...text, type: Cents as never, resolve: () => 5 as never }),
      some: t.stringList({ ...text, resolve: () => 5 as never }),
      items: t.intList({ ...text, resolve: () => [1, null as never] }),
      words: t.field({ ...text, type: ['JSON'], resolve: () => [1n] }),
      failed: t.stringList({ ...text, resolve: () => [Promise.reject('no item')] as never }),
      fitting: t.stringList({
        description: 'x',
        nullable: false,
        *resolve() {
          forget();
          yield 'a';
        },
      }),
      hook: t.field({ ...text, type: Hook, resolve: () => ({}) }),
      either: t.field({ ...text, type: Either, resolve: () => ({}) }),
    }),
  });
  builder.queryField('misfit', (t) => t.field({ ...text, type: Misfit, resolve: () => ({}) }));
  builder.mutationFields((t) => ({
    sent: t.field({
      ...text,
      type: 'JSON',
      resolve: (_root, _args, context) => news.write(context, 'add', { body: new Written() }),
    }),
    sentAndRead: t.field({
      ...text,
      type: 'JSON',
      resolve: (_root, _args, context) => {
        void news.write(context, 'add');
        return news.read(context, 'all');
      },
    }),
    sentAs: t.field({
      ...text,
      type: 'JSON',
      args: { kind: t.arg.string({ required: true }) },
      resolve: (_root, { kind }, context) => news.write(context, 'add', requests[kind]?.()),
    }),
    lost: t.string({ ...text, resolve: failures.getters as never }),
    neverWritten: t.string({
      ...text,
      ...deadline({ ms: 100 }),
      resolve: () => new Promise<string>(() => {}),
    }),
  }));
};

export default extension;
