import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import DataLoader from 'dataloader';
import { asGuest, observed } from '../../lib/guest-code.ts';
import { InputError } from '../domain/input-error.ts';
import { jsonOf, refusalOf } from '../gateway/answer-body.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { isSuccess } from '../gateway/classify.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { Answer, Exchange } from '../gateway/exchange.ts';
import { answerOf, contractError, judgeRead } from '../gateway/judge.ts';
import { refusalWords } from '../gateway/wire/bodies.ts';
import { DeclaredError } from './declared-error.ts';
import type {
  Backend,
  BackendOptions,
  BackendRequest,
  Batch,
  ExtensionContext,
  Paths,
  WriteRequest,
  Writes,
} from './kit.ts';
import { handedOut, ResolverContext } from './resolver-context.ts';

const MOST_KEYS = 100;
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The calls of one backend, as resolvers make them. */
export function createBackend(
  guest: string,
  settings: BackendSettings,
  { judge, loginHeader, forward = [] }: BackendOptions<Paths, Writes>,
): Backend<string, string> {
  const { name: backend, forwardToken, timeoutMs } = settings;
  /** What is under way or was read, by the scope of a request. */
  const readsOf = new WeakMap<object, Map<string, Promise<unknown>>>();
  const nameOf = (operation: string) => `${backend}.${operation}`;

  async function begin(context: ExtensionContext, operation: string, request: BackendRequest) {
    const name = nameOf(operation);
    const { body: _, ...asked } = request;
    const exchange = await send(context, name, asked);
    return judged(name, exchange, () => bodyOf(name, judgeRead(name, exchange)));
  }

  function judged(name: string, exchange: Exchange, judgeHere: () => unknown): unknown {
    if (!isForJudge(exchange)) return judgeHere();
    if (judge) return asGuest(guest, () => judge(shownOf(name, exchange)));
    const { status } = exchange;
    const isAboutSender = status === 401 || status === 403;
    // They are about our own credentials: a user who signed in anew would get them again.
    if (isAboutSender && !forwardToken) {
      throw contractError(name, `status ${status} for our own credentials`);
    }
    return judgeHere();
  }

  /** In doubt the outcome of a write is unknown, also where what arrived cannot be read: it is never sent again. */
  async function written(name: string, exchange: Exchange): Promise<unknown> {
    if (!isForJudge(exchange)) return writtenHere(name, exchange);
    if (exchange.bytes.length > 0 && jsonOf(exchange) === undefined) {
      throw unknownOutcome(name, `status ${exchange.status}, and no JSON`);
    }
    const late = Promise.withResolvers<never>();
    const error = unknownOutcome(name, 'its judge has not settled');
    const timer = setTimeout(() => late.reject(error), timeoutMs);
    try {
      const verdict = judged(name, exchange, () => writtenHere(name, exchange));
      return await Promise.race([verdict, late.promise]);
    } catch (error) {
      const isVerdict = judge === undefined || error instanceof DeclaredError;
      throw isVerdict ? error : unknownOutcome(name, 'its judge failed', error);
    } finally {
      clearTimeout(timer);
    }
  }

  function writtenHere(name: string, exchange: Exchange): unknown {
    const answer = answerOf(name, exchange, 'unknown');
    const { status } = answer;
    if (isSuccess(status)) return answer.bytes.length === 0 ? null : jsonOf(answer);
    if (status >= 500 || status < 400 || status === 408) {
      throw new GatewayError('unknown', name, `status ${status}`, { status });
    }
    const words = refusalWords(refusalOf(answer))?.message;
    throw new InputError('input', words ?? `${backend} refuses this.`);
  }

  async function send(
    context: ExtensionContext,
    name: string,
    { path, query, body }: BackendRequest,
    idempotencyKey?: string,
  ): Promise<Exchange> {
    checkTexts(name, 'path', path);
    checkTexts(name, 'query', query);
    const caller = await ResolverContext.callerOf(context);
    const headers = new Map<string, string>();
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
    for (const each of forward) {
      const value = context.header(each);
      if (value !== null) headers.set(each.toLowerCase(), value);
    }
    if (loginHeader !== undefined || forwardToken) {
      const { login } = await context.proved();
      // A login alone may be that of several tenants.
      const pairs = caller.forwarded?.pairs ?? [];
      for (let at = 0; at < pairs.length; at += 2)
        headers.set(pairs[at] as string, pairs[at + 1] as string);
      if (loginHeader !== undefined) headers.set(loginHeader.toLowerCase(), login);
    }
    const client = ResolverContext.contextOf(context).services.backends.get(backend);
    if (client === undefined) throw new Error(`the backend ${backend} is not open`);
    return client.call(name, caller, {
      ...(path && { path }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
      headers: [...headers].flat(),
    });
  }

  function read<Body>(
    context: ExtensionContext,
    operation: string,
    request: BackendRequest = {},
  ): Promise<Body> {
    const reads = memo(
      readsOf,
      ResolverContext.keyOf(context),
      () => new Map<string, Promise<unknown>>(),
    );
    const name = JSON.stringify([operation, request.path, request.query]);
    const reading = memo(reads, name, () => handedOut(() => begin(context, operation, request)));
    return reading as Promise<Body>;
  }

  return {
    read,
    loader<Value, Body>(
      operation: string,
      { most = MOST_KEYS, request, pick }: Batch<Value, Body>,
    ) {
      const loaders = new WeakMap<object, DataLoader<string, Value>>();
      return (context: ExtensionContext, key: string): Promise<Value> => {
        const load = async (keys: readonly string[]) => {
          const body = await read<Body>(context, operation, request(keys));
          return keys.map((each) => pick(body, each));
        };
        const create = () => new DataLoader<string, Value>(load, { maxBatchSize: most });
        return observed(memo(loaders, ResolverContext.keyOf(context), create).load(key));
      };
    },
    write<Body>(context: ExtensionContext, operation: string, given: WriteRequest = {}) {
      const { idempotencyKey = randomUUID(), ...request } = given;
      return handedOut(async () => {
        if (!KEY.test(idempotencyKey)) {
          throw new InputError('idempotencyKey', 'A key has 1 to 255 printable characters.');
        }
        await context.proved();
        const { clientOf, writeLimits } = ResolverContext.contextOf(context).services;
        const caller = await ResolverContext.callerOf(context);
        const name = nameOf(operation);
        // Most services expect JSON with any other method.
        const body = settings.writes[name]?.method === 'DELETE' ? {} : { body: {} };
        return writeLimits.write(clientOf(caller), name, async () => {
          const exchange = await send(context, name, { ...body, ...request }, idempotencyKey);
          return (await written(name, exchange)) as Body;
        });
      });
    },
  };
}

/** Values of a path or a query are texts: an object would become `[object Object]`. */
function checkTexts(name: string, part: string, values: Readonly<Record<string, unknown>> = {}) {
  for (const [key, value] of Object.entries(values)) {
    if (typeof value === 'string') continue;
    throw new TypeError(`${part}.${key} of ${name} is no string, but ${inspect(value)}`);
  }
}

function unknownOutcome(name: string, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('unknown', name, reason, { cause });
}

function isForJudge(exchange: Exchange): exchange is Answer {
  return exchange.sent && exchange.answered && exchange.status < 500 && exchange.status !== 429;
}

function shownOf(name: string, answer: Answer) {
  const operation = name.slice(name.indexOf('.') + 1);
  return { operation, status: answer.status, body: jsonOf(answer) };
}

function bodyOf(name: string, answer: Answer): unknown {
  const body = jsonOf(answer);
  if (body === undefined) throw contractError(name, 'no JSON');
  return body;
}

function memo<Key, Value>(
  known: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}
