import { randomUUID } from 'node:crypto';
import DataLoader from 'dataloader';
import { clientOf } from '../../lib/caller.ts';
import { observed, runInExtension } from '../../lib/extension-code.ts';
import { isObject } from '../../lib/is-object.ts';
import { promised } from '../../lib/maybe-promise.ts';
import { memo } from '../../lib/memo.ts';
import { InputError } from '../domain/input-error.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import type { Exchange } from '../gateway/exchange.ts';
import { failure } from '../gateway/judge.ts';
import { SerializedJson, unjudged } from '../gateway/request-templates.ts';
import { createJudgement } from './backend-judgement.ts';
import { fault, shown } from './faults.ts';
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

const MAX_KEYS = 100;
const KEY = 'idempotency-key';
const KEYS = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The calls of one backend, as resolvers make them. */
export function createBackend(
  extension: string,
  settings: BackendSettings,
  { judge, loginHeader, forward = [] }: BackendOptions<Paths, Writes>,
  codes: Readonly<Record<string, unknown>>,
): Backend<string, string> {
  const { name: backend, forwardToken, viewerHeader, operations, headers: fixed } = settings;
  const judgement = createJudgement(extension, settings, judge, codes);
  /** The reads of each request since its last write, by its scope. */
  const readsOf = new WeakMap<object, Map<string, Promise<unknown>>>();
  const readsFor = (context: ExtensionContext) =>
    memo(readsOf, ResolverContext.keyOf(context), () => new Map<string, Promise<unknown>>());
  /** How many writes of each field of a request's root have had its key. */
  const writesOf = new WeakMap<object, Map<string, number>>();

  function operationOf(name: string, effect: 'read' | 'write') {
    const operation = operations[name];
    if (operation?.effect !== effect) throw fault(`${name} is no operation of its backend`);
    return operation;
  }

  async function begin(context: ExtensionContext, name: string, { path, query }: BackendRequest) {
    const asked = { ...(path && { path }), ...(query && { query }) };
    checkRequest(name, operationOf(name, 'read').path, asked);
    return judgement.read(name, await send(context, name, asked, new Map()));
  }

  async function send(
    context: ExtensionContext,
    name: string,
    { path, query, body }: WriteRequest,
    own: ReadonlyMap<string, string>,
  ): Promise<Exchange> {
    if (viewerHeader !== null && ResolverContext.isShared(context)) {
      throw fault(`${name} sends the viewer’s ${viewerHeader}: nothing that is shared reads it`);
    }
    const caller = await ResolverContext.callerOf(context);
    const headers = new Map(own);
    for (const each of forward) {
      const value = context.header(each);
      const header = each.toLowerCase();
      if (value !== null && !own.has(header)) headers.set(header, value);
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
    return client.call(name, caller, unjudged, {
      ...(path && { path }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
      // Beside a fixed header another of its name would be a second value, of a client's choice.
      headers: [...headers].filter(([header]) => !Object.hasOwn(fixed, header)).flat(),
    });
  }

  /**
   * Returns the request's key, with the name of the field for each write but the first: by one key the second would be
   * answered with the outcome of the first. A repeated request gives each the same key, also where one was not reached before.
   */
  function forwardedKey(context: ExtensionContext): string | null {
    const own = ResolverContext.contextOf(context);
    const isForwarded = forward.some((each) => each.toLowerCase() === KEY);
    const key = isForwarded && own.hasOwnHeaders ? context.header(KEY) : null;
    if (key === null) return null;
    const { name, isFirst } = ResolverContext.rootOf(context);
    const uses = memo(writesOf, own, () => new Map<string, number>());
    const nth = (uses.get(name) ?? 0) + 1;
    uses.set(name, nth);
    if (nth > 1) return `${key}:${name}:${nth}`;
    return isFirst ? key : `${key}:${name}`;
  }

  async function read<Body>(
    context: ExtensionContext,
    operation: string,
    request: BackendRequest = {},
  ): Promise<Body> {
    const key = JSON.stringify([operation, request.path, request.query]);
    const ask = () => begin(context, `${backend}.${operation}`, request);
    return memo(readsFor(context), key, ask) as Promise<Body>;
  }

  async function write<Body>(
    context: ExtensionContext,
    operation: string,
    request: WriteRequest = {},
  ): Promise<Body> {
    const name = `${backend}.${operation}`;
    const { verb, path, refreshes } = operationOf(name, 'write');
    checkRequest(name, path, request);
    await context.proved();
    const { services } = ResolverContext.contextOf(context);
    const { account } = await ResolverContext.scopeOf(context).viewer();
    const caller = await ResolverContext.callerOf(context);
    const { body = verb === 'DELETE' ? undefined : {}, idempotencyKey } = request;
    const headers = new Map([[KEY, idempotencyKey ?? forwardedKey(context) ?? randomUUID()]]);
    if (verb === 'DELETE' && body !== undefined) headers.set('content-type', 'application/json');
    // A write that the backend refuses has been sent, and counts.
    const exchange = await services.writeLimits.write(clientOf(caller), name, async () => {
      const sent = await send(context, name, { ...request, body }, headers);
      if (!sent.sent) throw failure(name, sent, 'unknown');
      return sent;
    });
    // A write whose outcome is unknown may have changed what was read as well.
    readsOf.delete(ResolverContext.keyOf(context));
    for (const list of refreshes) services.live.get(list)?.refresh(account);
    return (await judgement.write(name, exchange)) as Body;
  }

  return {
    read: (context, operation, request) => {
      const asked = readRequest(request);
      return handedOut(async () => read(context, operation, await asked));
    },
    loader<Value, Body>(operation: string, batch: Batch<Value, Body>) {
      const { most = MAX_KEYS, request, pick } = batch ?? {};
      if (typeof request !== 'function' || typeof pick !== 'function') {
        throw fault(`loader('${operation}', …) of the backend ${backend} takes { request, pick }`);
      }
      const loaders = new WeakMap<object, DataLoader<string, Value>>();
      const load = async (context: ExtensionContext, key: string): Promise<Value> => {
        if (typeof key !== 'string')
          throw fault(`a key of ${backend}.${operation} must be a string (it is ${shown(key)})`);
        const loadAll = async (keys: readonly string[]) => {
          const asked = await runInExtension(extension, async () =>
            readRequest(await request(keys)),
          );
          const body = await read<Body>(context, operation, asked);
          // Each key waits for its own, and fails alone.
          const picked = async (each: string) => pick(body, each);
          return runInExtension(extension, () =>
            keys.map((each) => observed(picked(each)) as Value),
          );
        };
        const create = () => new DataLoader<string, Value>(loadAll, { maxBatchSize: most });
        return memo(loaders, readsFor(context), create).load(key);
      };
      return (context, key) => handedOut(() => load(context, key));
    },
    write<Body>(context: ExtensionContext, operation: string, request?: WriteRequest) {
      const asked = readRequest(request);
      const writing = handedOut(async () => write<Body>(context, operation, await asked));
      ResolverContext.noteWrite(context, writing);
      return writing;
    },
  };
}

/** Reads a request in the caller's own context: its getters and `toJSON` are code of the extension. */
function readRequest(given: WriteRequest = {}): Promise<WriteRequest> {
  const read = (): WriteRequest => {
    const { path, query, body, idempotencyKey } = given;
    return {
      ...(path !== undefined && { path: isObject(path) ? { ...path } : path }),
      ...(query !== undefined && { query: isObject(query) ? { ...query } : query }),
      ...(body !== undefined && { body: writtenBody(body) }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
  };
  return observed(promised(read));
}

function writtenBody(body: unknown): SerializedJson {
  const text: unknown = JSON.stringify(body);
  if (typeof text !== 'string') throw fault(`a body is nothing in JSON (it is ${shown(body)})`);
  return new SerializedJson(text);
}

/** Checks what a resolver asks of a backend: an object in place of a string would be sent as `[object Object]`. */
function checkRequest(
  name: string,
  template: string,
  { path = {}, query = {}, idempotencyKey }: WriteRequest,
): void {
  for (const [option, values] of Object.entries({ path, query })) {
    if (!isObject(values)) throw fault(`${option} of ${name} must be an object of strings`);
    const segments = option === 'path' ? (template.match(/(?<=\{)\w+(?=\})/g) ?? []) : [];
    for (const each of new Set([...segments, ...Object.keys(values)])) {
      const value = values[each];
      if (typeof value === 'string') continue;
      throw fault(`${option}.${each} of ${name} must be a string (it is ${shown(value)})`);
    }
  }
  if (idempotencyKey === undefined) return;
  if (typeof idempotencyKey !== 'string') {
    throw fault(`idempotencyKey of ${name} must be a string (it is ${shown(idempotencyKey)})`);
  }
  if (!KEYS.test(idempotencyKey)) {
    throw new InputError('idempotencyKey', 'A key has 1 to 255 printable characters of ASCII.');
  }
}
