import {
  type Answer,
  TRANSPORTS as NAMES,
  type RequestJson,
  type Server,
  send,
  type Transport,
} from '../../support/four-transports.ts';

export type { RequestJson };
export type Ask = (app: Server, asked: RequestJson, token?: string) => Promise<Answer>;

/** Every transport of GraphQL that the service has. */
export const TRANSPORTS = NAMES.map((name): readonly [string, Ask] => [name, askBy(name)]);

/** The transports that can send several results: their answers are never cached. */
export const STREAMED_TRANSPORTS = TRANSPORTS.filter(([name]) => name !== 'POST' && name !== 'GET');

export function askBy(name: Transport): Ask {
  return async (app, asked, token) => (await send(app, name, asked, { token })).answer;
}

/** The codes of an answer's errors, on any transport. */
export function codesOf({ errors = [] }: Failed): string[] {
  return errors.map(({ extensions }) => String(extensions.code));
}

interface Failed {
  readonly errors?: readonly { readonly extensions: { readonly code?: unknown } }[] | undefined;
}
