import { type DocumentNode, GraphQLError, parse, print } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { type Sent, send, TRANSPORTS, type Transport } from '../../support/four-transports.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { startedOnce } from '../../support/started.ts';
import {
  askAndStall,
  LONG_QUESTIONS,
  longField,
  MEGABYTE,
  ROOMY,
  UNTAKEN_BYTES,
  unreadBytes,
} from '../limits/slow-reader.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { seriesValue } from '../operations/scraped.ts';

const LIVE = 'subscription Failing { positionChanges { cursor } }';

interface Parsing {
  readonly params: { readonly source: unknown };
  extendContext(more: object): void;
}

interface Failing {
  readonly plugin: object;
  /** The operation that it fails for. */
  readonly ask: string;
}

interface Hook {
  readonly context: Readonly<Record<string, unknown>>;
  setResultAndStopExecution(result: object): void;
  setExecuteFn(run: () => unknown): void;
}

/** Plugins each of which fails in one hook, for an operation of its own. */
function failing(error: unknown): Readonly<Record<string, Failing>> {
  const fail = (): never => {
    throw error;
  };
  const later = async () => fail();
  const result = { errors: [error] };
  const stop = ({ setResultAndStopExecution }: Hook) => setResultAndStopExecution(result);
  const set = ({ setResult }: { setResult(given: object): void }) => setResult(result);
  const acts: readonly [what: string, hook: string, act: (hook: Hook) => unknown][] = [
    ['onParse', 'onParse', fail],
    ['onValidate', 'onValidate', fail],
    ['onContextBuilding', 'onContextBuilding', fail],
    ['onContextBuilding, later', 'onContextBuilding', later],
    ['onExecute', 'onExecute', fail],
    ['onExecute, later', 'onExecute', later],
    ['setResultAndStopExecution', 'onExecute', stop],
    ['setExecuteFn', 'onExecute', ({ setExecuteFn }) => setExecuteFn(fail)],
    ['onExecuteDone', 'onExecute', () => ({ onExecuteDone: fail })],
    ['onExecuteDone, later', 'onExecute', () => ({ onExecuteDone: later })],
    ['setResult', 'onExecute', () => ({ onExecuteDone: set })],
    ['onSubscribe', 'onSubscribe', fail],
    ['onSubscribe, later', 'onSubscribe', later],
    ['setResultAndStopExecution of events', 'onSubscribe', stop],
    ['onSubscribeResult', 'onSubscribe', () => ({ onSubscribeResult: fail })],
  ];
  const plugins = acts.map(([what, hook, act], at) => {
    const name = `failing${at}x`;
    const onParse = ({ params, extendContext }: Parsing) => {
      const isAsked = String(params.source).includes(name);
      if (isAsked && hook === 'onParse') fail();
      extendContext({ [name]: isAsked });
    };
    const run = (given: Hook) => (given.context[name] === true ? act(given) : undefined);
    const ask =
      hook === 'onSubscribe'
        ? `subscription ${name} { positionChanges { cursor } }`
        : `{ ${name}: __typename }`;
    return [what, { plugin: { [hook]: run, onParse }, ask }] as const;
  });
  return Object.fromEntries(plugins);
}

const HOOKS = Object.keys(failing(null));

function transportsFor(ask: string): readonly Transport[] {
  return ask.startsWith('subscription') ? ['event stream', 'WebSocket'] : TRANSPORTS;
}

function expectError({ errors, data }: Sent, error: object): void {
  expect(data).toBeUndefined();
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject(error);
  expect(JSON.stringify(errors)).not.toMatch(/http|secret/);
}

describe('an error in', () => {
  const http = { status: 403, headers: { 'x-why': 'role' } };
  const refusals = failing(new GraphQLError('Not you.', { extensions: { code: 'NOT_YOU', http } }));
  const faults = failing(new TypeError('a secret'));
  const startWith = (all: Readonly<Record<string, Failing>>) =>
    startTestApp(
      { POSITIONS_POLL_MS: '100', RATE_LIMIT_PER_MINUTE: '10000' },
      { plugins: Object.values(all).map(({ plugin }) => plugin) },
    );
  const refusing = startedOnce(() => startWith(refusals));
  const faulty = startedOnce(() => startWith(faults));

  test.each(HOOKS)('%s keeps its code, status and headers', async (hook) => {
    const { ask } = refusals[hook] as Failing;
    const extensions = { code: 'NOT_YOU', retryable: false };
    const token = refusing.sandbox.token({ email: 'demo@example.com' });
    for (const transport of transportsFor(ask)) {
      const sent = await send(refusing, transport, ask, { token });
      expectError(sent, { message: 'Not you.', extensions });
      if (transport === 'WebSocket') continue;
      expect([transport, sent.status]).toEqual([transport, 403]);
      expect(sent.headers.get('x-why')).toBe('role');
    }
  });

  test.each(HOOKS)('%s that is a fault is masked, and ends no other operation', async (hook) => {
    const { ask } = faults[hook] as Failing;
    const token = faulty.sandbox.token({ email: 'demo@example.com' });
    const logged = faulty.logged.length;
    using socket = await initializedSocket(faulty, token);
    socket.subscribe('live', 'subscription { positionChanges { cursor } }');
    await socket.until('live', 'next');
    for (const transport of transportsFor(ask)) {
      const sent = await send(faulty, transport, ask, { token });
      expectError(sent, { extensions: { code: 'INTERNAL', requestId: expect.any(String) } });
      if (transport !== 'WebSocket') expect([transport, sent.status]).toEqual([transport, 500]);
    }
    socket.subscribe('failing', ask);
    await socket.until('failing', 'error');
    socket.subscribe('after', '{ __typename }');
    await socket.until('after', 'complete');
    expect(socket.of('failing').map(({ type }) => type)).toEqual(['error']);
    expect(socket.of('live').some(({ type }) => type !== 'next')).toBe(false);
    expect(faulty.logged.slice(logged).some((line) => line.includes('a secret'))).toBe(true);
    await subscriptionsAre(faulty.adminUrl, 1);
  });
});

async function subscriptionsAre(adminUrl: string, expected: number): Promise<void> {
  const series = 'subscriptions{list="positions"}';
  await eventually(async () => expect(await seriesValue({ adminUrl }, series)).toBe(expected));
}

const rejecting = (what: string) => async () => {
  throw new Error(`${what} in vain`);
};
const throwing = (what: string) => () => {
  throw new Error(`${what} in vain`);
};

interface Subscribed {
  readonly result: AsyncIterable<never>;
  setResult(events: object): void;
}

/** What envelop calls without waiting, or as a subscription ends. */
const UNAWAITED: readonly object[] = [
  { onEnveloped: rejecting('onEnveloped') },
  { onParse: rejecting('onParse') },
  { onParse: () => rejecting('the end of onParse') },
  { onValidate: rejecting('onValidate') },
  { onValidate: () => rejecting('the end of onValidate') },
  { onSubscribe: () => ({ onSubscribeResult: rejecting('onSubscribeResult') }) },
  { onSubscribe: () => ({ onSubscribeResult: () => ({ onEnd: throwing('onEnd') }) }) },
  { onSubscribe: () => ({ onSubscribeResult: () => ({ onEnd: rejecting('onEnd, later,') }) }) },
  {
    onSubscribe: () => ({
      onSubscribeResult({ result, setResult }: Subscribed) {
        const own = result[Symbol.asyncIterator]();
        const end = rejecting('the end of events');
        const made = { next: () => own.next(), return: end, throw: end };
        setResult({ ...made, [Symbol.asyncIterator]: () => made });
      },
    }),
  },
];

test('hooks that nobody waits for and that fail end neither the process nor an operation, nor keep a source open', async () => {
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { plugins: UNAWAITED });
  const token = await app.signIn();
  for (const transport of TRANSPORTS) {
    expect((await send(app, transport, '{ customerId }', { token })).errors).toEqual([]);
  }
  for (const transport of ['event stream', 'WebSocket'] as const) {
    const { data } = await send(app, transport, LIVE, { token });
    expect(data.positionChanges.cursor).toBeTypeOf('string');
    await subscriptionsAre(app.adminUrl, 0);
  }
  using socket = await initializedSocket(app, token);
  socket.subscribe('1', LIVE);
  await socket.until('1', 'next');
  socket.say({ id: '1', type: 'complete' });
  await subscriptionsAre(app.adminUrl, 0);
  expect(socket.closed).toBeNull();
  await eventually(() => {
    const told = app.logged.flatMap((line) => /(?<=")[^"]+(?= in vain")/.exec(line)?.[0] ?? []);
    expect(new Set(told).size).toBe(UNAWAITED.length);
  });
});

test('an iterator that fails ends its own subscription alone, with a masked error', async () => {
  const plugin = {
    onSubscribe: () => ({
      onSubscribeResult: ({ setResult }: Subscribed) =>
        setResult({ [Symbol.asyncIterator]: () => ({ next: rejecting('next') }) }),
    }),
  };
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { plugins: [plugin] });
  const token = await app.signIn();
  for (const transport of ['event stream', 'WebSocket'] as const) {
    const { errors, text } = await send(app, transport, LIVE, { token });
    expect([transport, errors.map(({ extensions }) => extensions.code)]).toEqual([
      transport,
      ['INTERNAL'],
    ]);
    expect(text).not.toContain('in vain');
  }
  using socket = await initializedSocket(app, token);
  socket.subscribe('1', LIVE);
  await socket.until('1', 'complete');
  expect(socket.of('1').map(({ type }) => type)).toEqual(['next', 'complete']);
  await subscriptionsAre(app.adminUrl, 0);
});

test('events that are a plugin’s own are sent as those of the service are, on both transports', async () => {
  async function* own() {
    yield { data: { own: 1 } };
    throw new TypeError('a secret');
  }
  const onSubscribe = ({ setResultAndStopExecution }: Hook) => setResultAndStopExecution(own());
  await using app = await startTestApp({}, { plugins: [{ onSubscribe }] });
  const { data, errors } = await send(app, 'event stream', LIVE);
  expect([data, errors]).toEqual([{ own: 1 }, []]);
  using socket = await initializedSocket(app);
  socket.subscribe('1', LIVE);
  await socket.until('1', 'complete');
  expect(socket.of('1')).toMatchObject([
    { payload: { data: { own: 1 } } },
    { payload: { errors: [{ extensions: { code: 'INTERNAL' } }] } },
    { type: 'complete' },
  ]);
  expect(JSON.stringify(socket.messages)).not.toContain('secret');
});

interface Given {
  readonly args: { document: DocumentNode; variableValues?: unknown };
}

test.each<[string, (args: Given['args']) => object, string | undefined]>([
  ['another document', () => ({ document: parse(LIVE.replace('cursor', 'status')) }), 'INTERNAL'],
  ['other variables', () => ({ variableValues: { a: 1 } }), 'INTERNAL'],
  ['a copy of the document', ({ document }) => ({ document: parse(print(document)) }), undefined],
])('a plugin that hands on %s changes nothing in silence', async (_what, changed, code) => {
  const act = ({ args }: Given) => Object.assign(args, changed(args));
  const plugins = [{ onExecute: act, onSubscribe: act }];
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { plugins });
  for (const transport of TRANSPORTS) {
    const { errors } = await send(app, transport, '{ __typename }');
    expect(errors[0]?.extensions.code).toBe(code);
  }
  if (code === undefined) return;
  for (const transport of ['event stream', 'WebSocket'] as const) {
    const { errors } = await send(app, transport, LIVE);
    expect(errors[0]?.extensions.code).toBe(code);
  }
});

test('what hooks of HTTP fail with is no client’s to read', async () => {
  for (const hook of [
    ...['onRequest', 'onRequestParse', 'onParams'],
    ...['onExecutionResult', 'onResultProcess', 'onResponse'],
  ]) {
    const fail = () => {
      throw new TypeError('a secret');
    };
    await using app = await startTestApp({}, { plugins: [{ [hook]: fail }] });
    for (const transport of ['POST', 'GET', 'event stream'] as const) {
      const sent = await send(app, transport, '{ __typename }');
      expectError(sent, { extensions: { code: 'INTERNAL' } });
      expect([hook, transport, sent.status]).toEqual([hook, transport, 500]);
    }
    const unreadable = await fetch(`${app.url}/graphql?query={__typename}&variables={secret`);
    expect(await unreadable.text()).not.toContain('secret');
  }
});

const WATCH = 'subscription { positionChanges(intervalMs: 100) { cursor upserted { id } } }';
const watchAs = (name: string) => WATCH.replace(' {', ` ${name} {`);

interface Watched {
  readonly positionChanges: { cursor: string; readonly upserted: readonly object[] };
}

test('onNext sees each event of its subscriber on both transports, may change it for that one alone, and ends it by failing', async () => {
  const seen: string[] = [];
  const plugin: Plugin = {
    onSubscribe: ({ args: { operationName } }) => ({
      onSubscribeResult: () => ({
        onNext({ result, setResult }) {
          const { positionChanges } = result.data as unknown as Watched;
          seen.push(`${operationName} ${positionChanges.upserted.length > 0}`);
          if (operationName === 'Fails') throw new TypeError('a secret');
          if (operationName === 'Seen') return;
          const errors = [new GraphQLError('mine', { extensions: { code: 'MINE' } })];
          positionChanges.cursor = 'none';
          setResult({ ...result, errors, extensions: { mine: 1 } });
        },
        onEnd: () => seen.push(`${operationName} ended`),
      }),
    }),
  };
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { plugins: [plugin] });
  const token = await app.signIn();
  for (const transport of ['event stream', 'WebSocket'] as const) {
    seen.length = 0;
    const ask = (name: string) => {
      return send(app, transport, { query: watchAs(name), operationName: name }, { token });
    };
    const [own, changed, failed] = await Promise.all(['Seen', 'Changed', 'Fails'].map(ask));
    expect(own?.data.positionChanges.cursor).not.toBe('none');
    expect(own?.errors).toEqual([]);
    expect(changed?.data.positionChanges).toEqual({
      ...own?.data.positionChanges,
      cursor: 'none',
    });
    expect(changed?.errors).toMatchObject([{ extensions: { code: 'MINE', retryable: false } }]);
    expect(changed?.answer.extensions).toEqual({ mine: 1 });
    expect(failed?.errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
    expect(failed?.text).not.toContain('secret');
    await subscriptionsAre(app.adminUrl, 0);
    await eventually(() => seen.filter((each) => each.endsWith('ended')).length >= 2);
    expect(seen).toEqual(expect.arrayContaining(['Seen true', 'Changed true', 'Fails true']));
  }
});

test('an iterator that asks for two events at once gets both in their order, large ones too, and ends where its client leaves', async () => {
  let hasEnded = false;
  async function* inPairs(events: AsyncIterable<never>) {
    const own = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        for (const step of await Promise.all([own.next(), own.next()])) {
          if (step.done) return;
          yield step.value;
        }
      }
    } finally {
      hasEnded = true;
    }
  }
  const onSubscribeResult = ({ result, setResult }: Subscribed) => setResult(inPairs(result));
  const plugin = { onSubscribe: () => ({ onSubscribeResult }) };
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { plugins: [plugin] });
  // An account of 25 positions, of which an event is sent packed to those who take it.
  const token = app.sandbox.token({ email: 'pro@example.com' });
  using socket = await initializedSocket(app, token);
  socket.subscribe('1', WATCH.replace('{ id }', '{ id symbol side units priceOpen profit }'));
  await eventually(() => {
    app.sandbox.tick();
    return socket.of('1').length >= 4;
  });
  const versions = socket
    .of('1')
    .map(({ payload }) => Number.parseInt(payload.data.positionChanges.cursor, 36));
  expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other));
  socket.say({ id: '1', type: 'complete' });
  await eventually(() => expect(hasEnded).toBe(true));
});

test('a plugin is asked for no event of a reader whose client leaves too much unread, and for those of others', async () => {
  const seen: unknown[] = [];
  const plugin: Plugin = {
    onSubscribe: ({ args: { operationName } }) => ({
      onSubscribeResult: () => ({ onNext: () => void seen.push(operationName) }),
    }),
  };
  const events = (of: string) => seen.filter((name) => name === of).length;
  await using app = await startTestApp(
    { ...LONG_QUESTIONS, POSITIONS_POLL_MS: '100' },
    {
      plugins: [plugin],
      connections: { ...ROOMY, unreadBytes: 64 * MEGABYTE, clock: createScriptedClock(0) },
    },
  );
  const token = await app.signIn();
  const watching = async (operationName: string, as: string) => {
    const socket = await initializedSocket(app, as);
    const payload = { query: watchAs(operationName), operationName };
    socket.say({ id: '1', type: 'subscribe', payload });
    await socket.until('1', 'next');
    return socket;
  };
  using _held = await watching('Held', token);
  using _other = await watching('Other', await app.signIn('pro@example.com'));
  const untilMore = (of: string, count: number) => {
    const before = events(of);
    return eventually(() => {
      app.sandbox.tick();
      return events(of) >= before + count;
    });
  };
  using unread = await askAndStall(app, `{ ${longField(UNTAKEN_BYTES)} }`, { token });
  await eventually(async () => expect(await unreadBytes(app)).toBeGreaterThan(5 * MEGABYTE));
  // One had been asked for before.
  const most = events('Held') + 1;
  await untilMore('Other', 5);
  expect(events('Held')).toBeLessThanOrEqual(most);
  unread.socket.destroy();
  await untilMore('Held', 2);
});
