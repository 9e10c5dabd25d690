import DataLoader from 'dataloader';
import { InputError } from '../domain/input-error.ts';
import { jsonOf, refusalOf } from '../gateway/answer-body.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { isSuccess } from '../gateway/classify.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { Answer, Exchange } from '../gateway/exchange.ts';
import { answerOf, contractError, judgeRead } from '../gateway/judge.ts';
import { refusalWords } from '../gateway/wire/bodies.ts';
import type {
  Backend,
  BackendOptions,
  BackendRequest,
  Batch,
  ExtensionContext,
  Paths,
} from './kit.ts';
import { ResolverContext } from './resolver-context.ts';

const MOST_KEYS = 100;

/** The calls of one backend, as resolvers make them. */
export function createBackend(
  settings: BackendSettings,
  { judge, loginHeader, forward = [] }: BackendOptions<Paths, Paths>,
): Backend<string, string> {
  const { name: backend, forwardToken } = settings;
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
    if (judge) return judge(shownOf(name, exchange));
    const { status } = exchange;
    const isAboutSender = status === 401 || status === 403;
    // They are about our own credentials: a user who signed in anew would get them again.
    if (isAboutSender && !forwardToken) {
      throw contractError(name, `status ${status} for our own credentials`);
    }
    return judgeHere();
  }

  /** In doubt the outcome of a write is unknown: it is never sent again. */
  function written(name: string, exchange: Exchange): unknown {
    const answer = answerOf(name, exchange, 'unknown');
    const { status } = answer;
    if (isSuccess(status)) return answer.bytes.length === 0 ? null : bodyOf(name, answer);
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
  ): Promise<Exchange> {
    const caller = await ResolverContext.callerOf(context);
    const headers = new Map<string, string>();
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
    return memo(reads, name, () => begin(context, operation, request)) as Promise<Body>;
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
        return memo(loaders, ResolverContext.keyOf(context), create).load(key);
      };
    },
    async write<Body>(context: ExtensionContext, operation: string, request: BackendRequest = {}) {
      await context.proved();
      const { clientOf, writeLimits } = ResolverContext.contextOf(context).services;
      const caller = await ResolverContext.callerOf(context);
      const name = nameOf(operation);
      return writeLimits.write(clientOf(caller), name, async () => {
        const exchange = await send(context, name, { body: {}, ...request });
        return judged(name, exchange, () => written(name, exchange)) as Body;
      });
    },
  };
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
