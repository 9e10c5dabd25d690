import DataLoader from 'dataloader';
import { InputError } from '../domain/input-error.ts';
import { jsonOf, refusalOf } from '../gateway/answer-body.ts';
import type { BackendClient, BackendSettings } from '../gateway/backend-client.ts';
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

type Options = BackendOptions<Paths, Paths>;

/** The calls of one backend, as resolvers make them. */
export class DeclaredBackend implements Backend<string, string> {
  readonly #settings: BackendSettings;
  readonly #judge: Options['judge'];
  readonly #loginHeader: string | null;
  readonly #forward: readonly string[];
  /** What is under way or was read, by the scope of a request. */
  readonly #reads = new WeakMap<object, Map<string, Promise<unknown>>>();

  constructor(settings: BackendSettings, { judge, loginHeader, forward = [] }: Options) {
    this.#settings = settings;
    this.#judge = judge;
    this.#loginHeader = loginHeader ?? null;
    this.#forward = forward;
  }

  read<Body>(
    context: ExtensionContext,
    operation: string,
    request: BackendRequest = {},
  ): Promise<Body> {
    const reads = memo(
      this.#reads,
      ResolverContext.keyOf(context),
      () => new Map<string, Promise<unknown>>(),
    );
    const name = JSON.stringify([operation, request.path, request.query]);
    return memo(reads, name, () => this.#read(context, operation, request)) as Promise<Body>;
  }

  loader<Value, Body>(operation: string, { most = MOST_KEYS, request, pick }: Batch<Value, Body>) {
    const loaders = new WeakMap<object, DataLoader<string, Value>>();
    return (context: ExtensionContext, key: string): Promise<Value> => {
      const load = async (keys: readonly string[]) => {
        const body = await this.read<Body>(context, operation, request(keys));
        return keys.map((each) => pick(body, each));
      };
      const create = () => new DataLoader<string, Value>(load, { maxBatchSize: most });
      return memo(loaders, ResolverContext.keyOf(context), create).load(key);
    };
  }

  async write<Body>(
    context: ExtensionContext,
    operation: string,
    request: BackendRequest = {},
  ): Promise<Body> {
    await context.proved();
    const { clientOf, writeLimits } = ResolverContext.contextOf(context).services;
    const caller = await ResolverContext.callerOf(context);
    const name = this.#nameOf(operation);
    return writeLimits.write(clientOf(caller), name, async () => {
      const exchange = await this.#send(context, name, { body: {}, ...request });
      return this.#judged(name, exchange, () => this.#written(name, exchange)) as Body;
    });
  }

  async #read(context: ExtensionContext, operation: string, request: BackendRequest) {
    const name = this.#nameOf(operation);
    const { body: _, ...asked } = request;
    const exchange = await this.#send(context, name, asked);
    return this.#judged(name, exchange, () => bodyOf(name, judgeRead(name, exchange)));
  }

  #judged(name: string, exchange: Exchange, judgeHere: () => unknown): unknown {
    if (!isForJudge(exchange)) return judgeHere();
    if (this.#judge) return this.#judge(shownOf(name, exchange));
    const { status } = exchange;
    const isAboutSender = status === 401 || status === 403;
    // They are about our own credentials: a user who signed in anew would get them again.
    if (isAboutSender && !this.#settings.forwardToken) {
      throw contractError(name, `status ${status} for our own credentials`);
    }
    return judgeHere();
  }

  /** In doubt the outcome of a write is unknown: it is never sent again. */
  #written(name: string, exchange: Exchange): unknown {
    const answer = answerOf(name, exchange, 'unknown');
    const { status } = answer;
    if (isSuccess(status)) return answer.bytes.length === 0 ? null : bodyOf(name, answer);
    if (status >= 500 || status < 400 || status === 408) {
      throw new GatewayError('unknown', name, `status ${status}`, { status });
    }
    const words = refusalWords(refusalOf(answer))?.message;
    throw new InputError('input', words ?? `${this.#settings.name} refuses this.`);
  }

  async #send(
    context: ExtensionContext,
    name: string,
    { path, query, body }: BackendRequest,
  ): Promise<Exchange> {
    const caller = await ResolverContext.callerOf(context);
    const headers = new Map<string, string>();
    for (const each of this.#forward) {
      const value = context.header(each);
      if (value !== null) headers.set(each.toLowerCase(), value);
    }
    if (this.#loginHeader !== null || this.#settings.forwardToken) {
      const { login } = await context.proved();
      // A login alone may be that of several tenants.
      const pairs = caller.forwarded?.pairs ?? [];
      for (let at = 0; at < pairs.length; at += 2)
        headers.set(pairs[at] as string, pairs[at + 1] as string);
      if (this.#loginHeader !== null) headers.set(this.#loginHeader.toLowerCase(), login);
    }
    return this.#clientOf(context).call(name, caller, {
      ...(path && { path }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
      headers: [...headers].flat(),
    });
  }

  #clientOf(context: ExtensionContext): BackendClient {
    const { backends } = ResolverContext.contextOf(context).services;
    const client = backends.get(this.#settings.name);
    if (client === undefined) throw new Error(`the backend ${this.#settings.name} is not open`);
    return client;
  }

  #nameOf(operation: string): string {
    return `${this.#settings.name}.${operation}`;
  }
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
