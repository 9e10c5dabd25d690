import { randomUUID } from 'node:crypto';
import type { Core, RequestOptions, Result } from '../../src/core.ts';
import type { Environment } from '../../src/environment.ts';
import { TradingGraphError } from '../../src/errors.ts';
import type { Operation } from '../../src/operation.ts';
import type { ClientStorage } from '../../src/storage.ts';

export interface SimpleCoreOptions {
  readonly url: () => string;
  /** The token of the user who is signed in; null where nobody is. */
  readonly token: () => string | null;
  readonly storage?: ClientStorage | null;
  readonly environment?: Partial<Environment>;
  /** Called where a token was refused. */
  readonly renew?: () => void;
}

export interface SimpleCore extends Core {
  /** The timers that are set. */
  readonly timers: number;
  /** The variables of each request that was sent. */
  readonly sent: readonly unknown[];
  dispose(): void;
}

/** Just enough of a core to place orders over real HTTP. */
export function createSimpleCore(options: SimpleCoreOptions): SimpleCore {
  const { url, token, storage = null, renew = () => {} } = options;
  const timers = new Set<NodeJS.Timeout>();
  const tasks: (() => void)[] = [];
  const sent: unknown[] = [];
  const logins = new Map<string, string>();
  const environment: Environment = {
    fetch: globalThis.fetch,
    WebSocket: null,
    now: () => Date.now(),
    uptime: () => performance.now(),
    random: () => Math.random(),
    randomId: () => randomUUID(),
    after(ms, task) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        task();
      }, ms);
      timers.add(timer);
      return () => {
        clearTimeout(timer);
        timers.delete(timer);
      };
    },
    lifecycle: { isVisible: true, onReturn: () => () => {}, onHide: () => () => {} },
    ...options.environment,
  };

  async function request<Data>(
    query: unknown,
    variables: unknown,
    signal?: AbortSignal,
  ): Promise<Result<Data>> {
    const bearer = token();
    if (bearer === null) return failed('SIGNED_OUT');
    try {
      const response = await environment.fetch(`${url()}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
        body: JSON.stringify({ query, variables }),
        ...(signal && { signal }),
      });
      const body = (await response.json()) as {
        data?: Data | null;
        errors?: { message: string; extensions: Record<string, unknown> }[];
      };
      const errors = (body.errors ?? []).map(
        ({ message, extensions }) =>
          new TradingGraphError(message, {
            code: String(extensions.code),
            retryable: extensions.retryable === true,
            retryAfter: typeof extensions.retryAfter === 'number' ? extensions.retryAfter : null,
            extensions,
          }),
      );
      if (errors.some(({ code }) => code === 'UNAUTHENTICATED')) renew();
      return { data: body.data ?? null, errors };
    } catch (cause) {
      return failed('NETWORK', cause);
    }
  }

  async function account(signal?: AbortSignal): Promise<string> {
    const bearer = token();
    const known = bearer === null ? undefined : logins.get(bearer);
    if (known !== undefined) return known;
    const document = '{ session { login } }';
    const { data, errors } = await request<{ session: { login: string } }>(document, {}, signal);
    if (errors[0]) throw errors[0];
    const login = String(data?.session.login);
    logins.set(String(bearer), login);
    return login;
  }

  const core = {
    environment,
    storage,
    sent,
    get timers() {
      return timers.size;
    },
    async request<Data, Variables>(
      operation: Operation<Data, Variables>,
      variables: Variables,
      { signal, account: login }: RequestOptions = {},
    ): Promise<Result<Data>> {
      if (login !== undefined && logins.get(token() ?? '') !== login) return failed('SIGNED_OUT');
      sent.push(variables);
      return request<Data>(operation, variables, signal);
    },
    subscribe: () => () => {},
    reconnect() {},
    account,
    onAccountChange: () => () => {},
    isDisposed: false,
    onDispose: (task: () => void) => void tasks.push(task),
    dispose: () => {
      for (const task of tasks) task();
    },
  };
  return core;
}

function failed<Data>(code: string, cause?: unknown): Result<Data> {
  return { data: null, errors: [new TradingGraphError(code, { code, retryable: true, cause })] };
}
