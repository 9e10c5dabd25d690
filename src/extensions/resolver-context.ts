import { type GraphQLResolveInfo, Kind } from 'graphql';
import {
  attribute,
  extensionAtFault,
  observed,
  runInCore,
  runInExtension,
} from '../../lib/extension-code.ts';
import { memo } from '../../lib/memo.ts';
import { detached, type Viewer } from '../domain/auth/viewer.ts';
import type { Caller } from '../gateway/caller.ts';
import { GatewayError, isGatewayError } from '../gateway/errors.ts';
import type { Context } from '../schema/context.ts';
import { ERROR_CODES } from '../schema/error-codes.ts';
import { describe } from '../schema/public-error.ts';
import type { Scope } from '../schema/scope.ts';
import { AuthorError, fault } from './faults.ts';
import type { ExtensionContext, InstrumentSource, PositionSource } from './kit.ts';
import { readOnly } from './read-only.ts';

/** Headers that name the viewer: `proved` and `forwardToken` are the ways to them. */
const SECRET: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/** The keys of what shared fields read, apart from the request's own reads, which end with their request. */
const sharedReads = new WeakMap<Scope, object>();

/** The context of an extension's resolver: a few means of the request's own context, and no way to the others. */
export class ResolverContext implements ExtensionContext {
  readonly #context: Context;
  readonly #extension: string;
  readonly #isShared: boolean;
  /** The scope in which the resolver began: it may go on after its deadline, when a `login` has changed the request's. */
  readonly #scope: Scope;
  readonly #info: GraphQLResolveInfo | undefined;
  /** Null until its signal is asked for. */
  #aborting: AbortController | null = null;
  #lateBy: Error | null = null;
  readonly #writes: Promise<unknown>[] = [];

  /** `isShared`: the value is for everybody, so nothing of the viewer may be read for it. */
  constructor(context: Context, extension: string, isShared: boolean, info?: GraphQLResolveInfo) {
    this.#context = context;
    this.#extension = extension;
    this.#isShared = isShared;
    this.#scope = context.scope;
    this.#info = info;
  }

  /** The request's own context, for what a backend does with it. */
  static contextOf(given: ExtensionContext): Context {
    if (!(given instanceof ResolverContext))
      throw fault('this is no context of a resolver that may read');
    return given.#context;
  }

  /** Whether what it reads is for everybody. */
  static isShared(given: ExtensionContext): boolean {
    return given instanceof ResolverContext && given.#isShared;
  }

  static scopeOf(given: ExtensionContext): Scope {
    ResolverContext.contextOf(given);
    return (given as ResolverContext).#scope;
  }

  /** The field of the root below which it is resolved, and whether it is the document's first. */
  static rootOf(given: ExtensionContext): { readonly name: string; readonly isFirst: boolean } {
    ResolverContext.contextOf(given);
    const info = (given as ResolverContext).#info;
    let path = info?.path;
    while (path?.prev) path = path.prev;
    const name = String(path?.key);
    return { name, isFirst: info !== undefined && name === firstField(info) };
  }

  /** The key under which the reads of a backend are memoized. */
  static keyOf(given: ExtensionContext): object {
    const scope = ResolverContext.scopeOf(given);
    if (!(given as ResolverContext).#isShared) return scope;
    return memo(sharedReads, scope, () => ({}));
  }

  /** On whose behalf a backend is called: of an account that is proved its failures are the account's own. */
  static async callerOf(given: ExtensionContext): Promise<Caller> {
    const scope = ResolverContext.scopeOf(given);
    const viewer = scope.caller.token === null ? null : await viewerOf(scope);
    if (!(given as ResolverContext).#isShared) return viewer ?? scope.caller;
    // The client whose request comes first must not be able to abort it for all.
    if (viewer !== null) return detached(viewer);
    const { signal: _, ...caller } = scope.caller;
    return caller;
  }

  static noteWrite(given: ExtensionContext, write: Promise<unknown>): void {
    if (given instanceof ResolverContext) given.#writes.push(write);
  }

  /** Runs the resolver of a mutation: a read that fails beside or after a write of it tells nobody that nothing was done. */
  async writing(operation: string, resolve: () => unknown): Promise<unknown> {
    try {
      return await resolve();
    } catch (cause) {
      if (ERROR_CODES[describe(cause).code].write === 'unknown') throw cause;
      const writes = await Promise.allSettled(this.#writes);
      const isDone = (write: (typeof writes)[number]) =>
        write.status === 'fulfilled' || isGatewayError(write.reason, 'unknown');
      if (!writes.some(isDone)) throw cause;
      throw new GatewayError('unknown', operation, 'failed after its write', { cause });
    }
  }

  get requestId(): string {
    return this.#own().requestId;
  }

  get signal(): AbortSignal {
    this.#aborting ??= this.#createAborting();
    return this.#aborting.signal;
  }

  /** The deadline of the field has passed. */
  abort(reason: Error): void {
    this.#lateBy = reason;
    this.#abort(this.#aborting, reason);
  }

  header(name: string): string | null {
    return SECRET.has(name.toLowerCase()) ? null : this.#own().header(name);
  }

  proved(): Promise<{ readonly login: string }> {
    return handedOut(async () => {
      const { services } = this.#own();
      const viewer = await this.#scope.viewer();
      await services.prover.account(viewer);
      return Object.defineProperty({ login: viewer.login }, Symbol.toPrimitive, {
        value: refuseText,
      });
    });
  }

  instrument(id: string): Promise<InstrumentSource | null> {
    return handedOut(async () => readOnly(await this.#ownScope().instrument(id)));
  }

  positions(): Promise<readonly PositionSource[]> {
    return handedOut(async () => readOnly(await this.#ownScope().positions()));
  }

  #createAborting(): AbortController {
    const aborting = new AbortController();
    // The client whose request comes first must not be able to abort it for all.
    const leaving = this.#isShared ? undefined : this.#scope.caller.signal;
    const leave = () => this.#abort(aborting, leaving?.reason);
    if (this.#lateBy !== null) aborting.abort(this.#lateBy);
    else if (leaving?.aborted) leave();
    else leaving?.addEventListener('abort', leave, { once: true });
    return aborting;
  }

  /** The listeners are code of the extension. */
  #abort(aborting: AbortController | null, reason: unknown): void {
    runInExtension(this.#extension, () => aborting?.abort(reason));
  }

  #ownScope(): Scope {
    this.#own();
    return this.#scope;
  }

  #own(): Context {
    if (this.#isShared) throw fault('a shared field reads nothing of the viewer');
    return this.#context;
  }
}

function firstField({ operation, fragments }: GraphQLResolveInfo): string | undefined {
  let [first] = operation.selectionSet.selections;
  while (first && first.kind !== Kind.FIELD) {
    const of = first.kind === Kind.INLINE_FRAGMENT ? first : fragments[first.name.value];
    first = of?.selectionSet.selections[0];
  }
  return (first?.alias ?? first?.name)?.value;
}

/** Work that the service does for an extension: its failure ends nothing where the extension does not wait for it. */
export function handedOut<Value>(work: () => Promise<Value>): Promise<Value> {
  const failed = (error: unknown) => {
    throw error instanceof AuthorError ? error : attribute(error, extensionAtFault(error));
  };
  return observed(runInCore(() => work().catch(failed)));
}

/** The account would be `[object Object]` in a text, and so would the login that a backend is asked for. */
function refuseText(): never {
  throw fault('proved() resolves with { login }, which is no text itself');
}

/** Null where the token cannot be one of an account. */
async function viewerOf(scope: Scope): Promise<Viewer | null> {
  try {
    return await scope.viewer();
  } catch {
    return null;
  }
}
